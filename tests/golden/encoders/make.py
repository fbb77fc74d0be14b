"""Make tiny models of random weights, one of each family, and record their hidden states.

Run with torch, transformers and sentencepiece installed: ``python tests/golden/encoders/make.py``, maybe with names
of models. Beside this script it writes a folder a family: the model as the hub lays it out, and ``expected.npz`` with
the pieces of three lines (`ids`), where they start (`offsets`) and the hidden states of all layers (`states`, the
first those of the embeddings). Multilingual models are laid out as those of these names are, their tokenizers trained
on the lines of ``multilingual.txt``, of which the pieces are. The file ``versions.txt`` says which versions computed
them.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import sentencepiece
import torch
import transformers
from tokenizers import BertWordPieceTokenizer, Tokenizer, models, pre_tokenizers, processors

HERE = Path(__file__).resolve().parent
SPECIAL = ["<s>", "<pad>", "</s>", "[UNK]"]
WORDS = [*SPECIAL, *"abcdefghijklmnopqrstuvwxyz"]
LENGTHS = (140, 1, 17)
# RoBERTa and MPNet start at row 2 of their position embeddings.
POSITIONS = max(LENGTHS) + 2 + 2
SIZES = {
    **{"hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 12, "num_hidden_layers": 2},
    **{"vocab_size": len(WORDS), "max_position_embeddings": POSITIONS, "pad_token_id": 1},
}
OF_DISTILBERT = {
    **{"dim": 8, "n_heads": 2, "hidden_dim": 12, "n_layers": 2, "activation": "relu"},
    **{name: SIZES[name] for name in ("vocab_size", "max_position_embeddings", "pad_token_id")},
}
MODELS = {
    "bert": transformers.BertModel(transformers.BertConfig(**SIZES, hidden_act="gelu")),
    "distilbert": transformers.DistilBertForMaskedLM(transformers.DistilBertConfig(**OF_DISTILBERT)),
    "mpnet": transformers.MPNetModel(transformers.MPNetConfig(**SIZES)),
    "roberta": transformers.RobertaForMaskedLM(transformers.RobertaConfig(**SIZES, hidden_act="gelu_new")),
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


def write(name: str, seed: int, whole: transformers.PreTrainedModel, pieces: list[list[int]]) -> None:
    """Write a model and its hidden states."""
    randomise(whole, seed)
    whole.eval().save_pretrained(HERE / name)
    (HERE / name / "generation_config.json").unlink(missing_ok=True)
    states = []
    for ids in pieces:
        with torch.inference_mode():
            found = whole(input_ids=torch.tensor([ids]), output_hidden_states=True).hidden_states
        states.append(np.stack([each[0].numpy() for each in found]))
    np.savez_compressed(
        HERE / name / "expected.npz",
        ids=np.concatenate(pieces).astype(np.int32),
        offsets=np.cumsum([0, *map(len, pieces)]),
        states=np.concatenate(states, axis=1),
    )


def by_sentencepiece(lines: Path) -> transformers.XLMRobertaTokenizer:
    """Train the tokenizer of XLM-R and multilingual MiniLM: Unigram, with a map of characters."""
    with TemporaryDirectory() as folder:
        rules = Path(folder) / "rules.tsv"
        rules.write_text("FB01\t66 69\nFF26\t46\n3000\t20\n", encoding="utf-8")
        sentencepiece.SentencePieceTrainer.train(
            input=str(lines),
            model_prefix=f"{folder}/sentencepiece.bpe",
            vocab_size=150,
            hard_vocab_limit=False,
            normalization_rule_tsv=str(rules),
        )
        return transformers.XLMRobertaTokenizer.from_pretrained(folder)


def by_wordpiece(lines: Path) -> transformers.BertTokenizerFast:
    """Train the tokenizer of multilingual BERT and LaBSE: WordPiece with cases."""
    trained = BertWordPieceTokenizer(lowercase=False, strip_accents=False)
    trained.train([str(lines)], vocab_size=150, min_frequency=1, show_progress=False)
    return transformers.BertTokenizerFast(vocab=trained.get_vocab(), do_lower_case=False)


def multilingual() -> dict[str, tuple[transformers.PreTrainedModel, transformers.PreTrainedTokenizerBase]]:
    """Models as those of these names are, the heads that they were trained with among them."""
    lines = HERE / "multilingual.txt"
    unigram, wordpiece = by_sentencepiece(lines), by_wordpiece(lines)
    sizes = {**SIZES, "max_position_embeddings": 80, "hidden_act": "gelu"}
    of_bert = transformers.BertConfig(**{**sizes, "vocab_size": len(wordpiece), "pad_token_id": 0})
    of_minilm = transformers.BertConfig(**{**sizes, "vocab_size": len(unigram), "pad_token_id": 0})
    of_xlm = transformers.XLMRobertaConfig(
        **{**sizes, "vocab_size": len(unigram), "type_vocab_size": 1, "layer_norm_eps": 1e-5}
    )
    return {
        "labse": (transformers.BertModel(of_bert), wordpiece),
        "mbert": (transformers.BertForMaskedLM(of_bert), wordpiece),
        "multilingual-minilm": (transformers.BertModel(of_minilm), unigram),
        "xlm-roberta": (transformers.XLMRobertaForMaskedLM(of_xlm), unigram),
    }


def main() -> None:
    """Write those that are named, or all."""
    names = sys.argv[1:]
    generator = np.random.default_rng(12)
    letters = [" ".join(generator.choice(WORDS[len(SPECIAL) :], length)) for length in LENGTHS]
    tokenizer = make_tokenizer()
    for seed, (name, whole) in enumerate(MODELS.items()):
        if not names or name in names:
            write(name, seed, whole, [tokenizer.encode(line).ids for line in letters])
            tokenizer.save(str(HERE / name / "tokenizer.json"))
            (HERE / name / "tokenizer_config.json").write_text('{"tokenizer_class": "PreTrainedTokenizerFast"}\n')
    lines = (HERE / "multilingual.txt").read_text(encoding="utf-8").splitlines()
    for seed, (name, (whole, trained)) in enumerate(multilingual().items(), start=len(MODELS)):
        if not names or name in names:
            write(name, seed, whole, trained(lines)["input_ids"])
            trained.save_pretrained(HERE / name)
    versions = f"{', '.join(names) or 'all'}: transformers {transformers.__version__}, torch {torch.__version__}\n"
    with (HERE / "versions.txt").open("a" if names else "w", encoding="utf-8") as file:
        file.write(versions)


if __name__ == "__main__":
    main()
