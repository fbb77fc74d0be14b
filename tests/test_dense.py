"""Rewards of tokens in a trainer, beside literal loops."""

from pathlib import Path
from runpy import run_path

import numpy as np
import pytest

import softbleu

FILE = Path(__file__).resolve().parents[1] / "integrations" / "trl_dense.py"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("discount", [1.0, 0.5])
def test_dense_rewards_become_advantages_of_tokens(discount: float, tmp_path: Path) -> None:
    """By TRL itself, beside literal loops."""
    trl = pytest.importorskip("trl", reason="needs torch and trl 1.16")
    from datasets import Dataset
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    known = {word: place for place, word in enumerate(["<pad>", "</s>", "the", "cat", "sat", "on", "a", "mat"])}
    words = Tokenizer(models.WordLevel(known, unk_token="<pad>"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, pad_token="<pad>", eos_token="</s>")
    sizes = {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1}
    model = LlamaForCausalLM(LlamaConfig(vocab_size=len(known), pad_token_id=0, eos_token_id=1, **sizes))
    rows = [{"prompt": "the cat", "references": "the cat sat"}, {"prompt": "on", "references": "a mat"}]
    settings = trl.GRPOConfig(
        str(tmp_path), num_generations=4, per_device_train_batch_size=8, max_completion_length=5, use_cpu=True
    )
    make = run_path(str(FILE))["DenseGRPOTrainer"]
    dense = softbleu.Reward("chrf", dense=True)
    more = {"args": settings, "train_dataset": Dataset.from_list(rows), "processing_class": tokenizer}
    trainer = make(model, [softbleu.Reward("chrf")], dense=dense, discount=discount, **more)
    given = [row for row in rows for _ in range(4)]
    batch = trainer._generate_and_score_completions(given)
    for first in (0, 4):
        worth: list[list[float]] = []
        for row in range(first, first + 4):
            count = int(batch["completion_mask"][row].sum())
            spoken = [tokenizer.convert_ids_to_tokens(int(each)) for each in batch["completion_ids"][row][:count]]
            ends = [len(" ".join(w for w in spoken[: end + 1] if w not in ("<pad>", "</s>"))) for end in range(count)]
            text = " ".join(word for word in spoken if word not in ("<pad>", "</s>"))
            (due,) = dense([text], [given[row]["references"]], offsets=[[*zip([0, *ends[:-1]], ends, strict=True)]])
            worth.append([sum(discount ** (j - i) * due[j] for j in range(i, count)) for i in range(count)])
        means = [np.mean([row[at] for row in worth if at < len(row)]) for at in range(max(map(len, worth)))]
        apart = [[each - means[at] for at, each in enumerate(row)] for row in worth]
        spread = np.sqrt(np.mean([each**2 for row in apart for each in row])) + 1e-4
        for row, expected in enumerate(apart, start=first):
            found = batch["advantages"][row]
            assert found[: len(expected)].tolist() == pytest.approx([each / spread for each in expected], abs=1e-4)
            assert not found[len(expected) :].any()
    assert len(FILE.read_text(encoding="utf-8").splitlines()) <= 60
