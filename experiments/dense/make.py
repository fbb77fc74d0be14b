"""Train a tiny model by TRL's GRPOTrainer from chrF, whole or token by token.

python experiments/dense/make.py     (needs torch 2.13, trl 1.16)

The model is a Llama of two layers with random weights; a prompt is a line of four to seven made-up words, and its
reference the line of their translations. Writes curves.csv: the mean chrF of the samples of each step, by way and
seed. The same seed has the same weights, the same prompts and the same settings; the rate was not tuned for any way.
"""

from __future__ import annotations

import csv
import random
import sys
import tempfile
from pathlib import Path

import numpy as np
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, set_seed
from trl import GRPOConfig, GRPOTrainer

from softbleu import Reward

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "integrations"))
from trl_dense import DenseGRPOTrainer  # noqa: E402

SOURCE = ["pes", "kočka", "vlak", "strom", "dům", "voda", "chléb", "město", "kniha", "řeka"]
TARGET = ["dog", "cat", "train", "tree", "house", "water", "bread", "town", "book", "river"]
SEEDS, STEPS, RATE = range(5), 100, 1e-3
WAYS = {"whole": None, "by token": 1.0, "by token, discount .9": 0.9, "by token, discount .5": 0.5}


def tokenizer() -> PreTrainedTokenizerFast:
    """Words are tokens."""
    words = {word: place for place, word in enumerate(["<pad>", "<s>", "</s>", "→", *SOURCE, *TARGET])}
    made = Tokenizer(models.WordLevel(words, unk_token="<pad>"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<pad>", bos_token="<s>", eos_token="</s>", padding_side="left"
    )


def data(seed: int) -> Dataset:
    """Draw prompts and references."""
    draw, rows = random.Random(seed), []
    for _ in range(STEPS * 8):
        places = [draw.randrange(len(SOURCE)) for _ in range(draw.randint(4, 7))]
        prompt = " ".join(SOURCE[place] for place in places)
        rows.append({"prompt": f"{prompt} →", "references": " ".join(TARGET[place] for place in places)})
    return Dataset.from_list(rows)


def curve(seed: int, discount: float | None) -> list[float]:
    """Train, and return the mean reward of the samples of each step."""
    set_seed(seed)
    words = tokenizer()
    shape = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4}
    known = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
    model = LlamaForCausalLM(LlamaConfig(vocab_size=len(words), **shape, **known))
    with tempfile.TemporaryDirectory() as folder:
        settings = GRPOConfig(
            output_dir=folder,
            num_generations=8,
            per_device_train_batch_size=64,
            max_completion_length=10,
            max_steps=STEPS,
            learning_rate=RATE,
            lr_scheduler_type="constant",
            logging_steps=1,
            report_to="none",
            save_strategy="no",
            use_cpu=True,
            bf16=False,
            seed=seed,
            disable_tqdm=True,
        )
        given = {"args": settings, "train_dataset": data(seed), "processing_class": words}
        if discount is None:
            trainer = GRPOTrainer(model, [Reward("chrf")], **given)
        else:
            more = {"dense": Reward("chrf", dense=True), "discount": discount}
            trainer = DenseGRPOTrainer(model, [Reward("chrf")], **given, **more)
        trainer.train()
    return [row["reward"] for row in trainer.state.log_history if "reward" in row]


def main() -> None:
    """Train in all ways, and write."""
    rows = []
    for way, discount in WAYS.items():
        for seed in SEEDS:
            found = curve(seed, discount)
            rows.append([way, seed, *(f"{each:.4f}" for each in found)])
            print(way, seed, *np.mean(np.reshape(found, (-1, 20)), axis=1).round(3), flush=True)  # noqa: T201
            with (HERE / "curves.csv").open("w", encoding="utf-8", newline="") as stream:
                csv.writer(stream, lineterminator="\n").writerows([["way", "seed", *range(1, STEPS + 1)], *rows])


if __name__ == "__main__":
    main()
