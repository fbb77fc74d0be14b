"""Make tiny models of random weights, one of each family, and record their hidden states.

Run with torch and transformers installed: ``python tests/golden/encoders/make.py``. Beside this script it writes a
folder a family: the model as the hub lays it out, and ``expected.npz`` with the pieces of three lines (`ids`), where
they start (`offsets`) and the hidden states of all layers (`states`, the first those of the embeddings). The file
``versions.txt`` says which versions computed them.
"""

from pathlib import Path

import numpy as np
import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertModel,
    DistilBertConfig,
    DistilBertForMaskedLM,
    MPNetConfig,
    MPNetModel,
    RobertaConfig,
    RobertaForMaskedLM,
)

HERE = Path(__file__).resolve().parent
SPECIAL = ["<s>", "<pad>", "</s>", "[UNK]"]
WORDS = [*SPECIAL, *"abcdefghijklmnopqrstuvwxyz"]
LENGTHS = (140, 1, 17)
# RoBERTa and MPNet start at row 2 of their position embeddings.
POSITIONS = max(LENGTHS) + 2 + 2
SIZES = {
    "hidden_size": 8,
    "num_attention_heads": 2,
    "intermediate_size": 12,
    "num_hidden_layers": 2,
    "vocab_size": len(WORDS),
    "max_position_embeddings": POSITIONS,
    "pad_token_id": 1,
}
MODELS = {
    "bert": BertModel(BertConfig(**SIZES, hidden_act="gelu")),
    "distilbert": DistilBertForMaskedLM(
        DistilBertConfig(
            dim=8,
            n_heads=2,
            hidden_dim=12,
            n_layers=2,
            vocab_size=len(WORDS),
            max_position_embeddings=POSITIONS,
            pad_token_id=1,
            activation="relu",
        )
    ),
    "mpnet": MPNetModel(MPNetConfig(**SIZES)),
    "roberta": RobertaForMaskedLM(RobertaConfig(**SIZES, hidden_act="gelu_new")),
}


def randomise(model: torch.nn.Module, seed: int) -> None:
    """Give all weights, those of normalisations too, values that matter."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in sorted(model.named_parameters()):
            around = 1.0 if "norm" in name.lower() and name.endswith("weight") else 0.0
            weight.copy_(around + 0.5 * torch.randn(weight.shape, generator=generator))


def make_tokenizer() -> Tokenizer:
    """Cut at blanks; one letter a piece."""
    tokenizer = Tokenizer(models.WordLevel({word: code for code, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return tokenizer


def main() -> None:
    """Write all."""
    generator = np.random.default_rng(12)
    lines = [" ".join(generator.choice(WORDS[len(SPECIAL) :], length)) for length in LENGTHS]
    tokenizer = make_tokenizer()
    pieces = [tokenizer.encode(line).ids for line in lines]
    for seed, (family, whole) in enumerate(MODELS.items()):
        randomise(whole, seed)
        whole.eval().save_pretrained(HERE / family)
        tokenizer.save(str(HERE / family / "tokenizer.json"))
        (HERE / family / "tokenizer_config.json").write_text('{"tokenizer_class": "PreTrainedTokenizerFast"}\n')
        (HERE / family / "generation_config.json").unlink(missing_ok=True)
        states = []
        for ids in pieces:
            with torch.inference_mode():
                found = whole(input_ids=torch.tensor([ids]), output_hidden_states=True).hidden_states
            states.append(np.stack([each[0].numpy() for each in found]))
        np.savez_compressed(
            HERE / family / "expected.npz",
            ids=np.concatenate(pieces).astype(np.int32),
            offsets=np.cumsum([0, *map(len, pieces)]),
            states=np.concatenate(states, axis=1),
        )
    versions = f"transformers {transformers.__version__}, torch {torch.__version__}\n"
    (HERE / "versions.txt").write_text(versions, encoding="utf-8")


if __name__ == "__main__":
    main()
