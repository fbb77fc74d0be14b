"""The examples that help shows: each runs, in the order in which it stands, and is shown whole."""

from __future__ import annotations

import gzip
import shlex
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from judged_systems import OUTPUTS, REFERENCE
from meteor_data import write_meteor_data

from softbleu.cli.examples import EXAMPLES
from softbleu.corpora.generate import GenerationSettings, generate
from softbleu.embeddings import write_store

PAIRS = GenerationSettings(grammar="alternations", pairing="paraphrase", count=40)
JUDGED = ["srcIndex,judgeId,system1Id,system1rank,system2Id,system2rank"] + [
    f"{segment},ann,{better},1,{worse},2" for segment in range(2) for better, worse in ("ab", "bc", "ac", "bd", "dc")
]
SWEEP = ['kind = "sweep"', "[corpus]", 'candidates = ["a.txt", "b.txt"]', 'references = ["reference.txt"]']
SWEEP += ["[sweep]", 'matchers = ["exact"]']
RUN = '{"schema": 1, "signature": "metric:bleu", "systems": [{"name": "a", "score": %s}]}'
TEXTS: dict[str, list[str]] = {
    **{f"{name}.txt": lines * 4 for name, lines in OUTPUTS.items()},
    **dict.fromkeys(("reference.txt", "ref1.txt", "ref2.txt", "source.txt"), REFERENCE * 4),
    "system.txt": OUTPUTS["b"] * 4,
    "corpus.txt": ["the cat sat ||| a cat sat"] * 20,
    "gold.m2": [line for text in REFERENCE * 4 for line in (f"S {text}", "")],
    "vectors.txt": ["cat 1 0 1", "dog 1 0 0.9", "mat 0 1 0"],
    "words.txt": ["cat", "dog"],
    "my.cfg": ["S -> N V", "N -> 'Ann' | 'Bob'", "V -> 'ran' | 'sat'"],
    "rankings.csv": JUDGED,
    "human.tsv": ["A 0.5", "B 0.4", "C 0.3", "D 0.1"],
    "one.tsv": ["A 40", "B 30", "C 20", "D 10"],
    "two.tsv": ["A 40", "B 10", "C 30", "D 20"],
    "assessed.tsv": ["LP\tsource\ttranslation\treference\tHUMAN_score"]
    + [f"x-y\ts\tit is {word}\tit 's all right\t{number}" for number, word in enumerate(("wrong", "all", "right"))],
    "nbest.jsonl": ['{"candidates": ["a cat sat", "the cat sat", "the dog sat"]}', '["it rains", "so be it"]'],
    "brackets.txt": ["the [big] (dog|hound) barked"] * 3,
    "my-sweep.toml": SWEEP,
    **{f"{day}.json": [RUN % score] for day, score in (("monday", 20.5), ("tuesday", 21.5))},
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Any) -> Path:
    """A folder with all that examples name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("softbleu.embeddings.measure.PAIRS", 100)
    for name, lines in TEXTS.items():
        Path(name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    Path("pairs.jsonl").write_text("".join(generate(PAIRS).lines("jsonl")), encoding="utf-8")
    Path("corpus.txt.gz").write_bytes(gzip.compress(b"the cat sat\n" * 9))
    Path("my-data.toml").write_text('[mine]\ntitle = ""\nsource = ""\nlicence = "CC0-1.0"\n')
    Path("my-data.sha256").touch()
    write_meteor_data(Path("meteor"))
    monkeypatch.setenv("SOFTBLEU_METEOR_DATA", "meteor")
    made = command("networks", "make", "-r", "brackets.txt", "--notation", "brackets", "-o", "networks.jsonl")
    assert made.code == 0
    return tmp_path


def make_store(place: Path) -> None:
    words = ["cat", "dog", "car", "truck", *(f"w{number}" for number in range(700))]
    rows = np.random.default_rng(4).normal(size=(len(words), 20))
    write_store(place, words, rows, dtype="float32", name="set", source="made up", licence="CC0-1.0")


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_run_in_their_order(command: Any, place: Path, name: str) -> None:
    shown = " ".join(command(*name.split(), "--help").out.replace("│", " ").split())
    assert len(EXAMPLES[name]) >= 1
    if name not in ("embeddings convert", "embeddings train"):
        make_store(place / "my-vectors")
    for example in EXAMPLES[name].values():
        assert example in shown
        # What comes from a file comes through a pipe, too.
        piped = b""
        for part in example.split(" | "):
            program, *arguments = shlex.split(part)
            arguments += ["--meteor-data", "meteor"] if "--synonym-cost" in arguments else []
            if program == "cat":
                piped = Path(arguments[0]).read_bytes()
            elif program == "softbleu":
                done = command(*arguments, stdin=piped)
                assert done.code == 0, done.err
                assert done.out or {"-o", "--output", "--output-folder", "--output-prefix", "run"} & set(arguments)
                piped = done.out.encode()
            else:
                assert shutil.which(program) or program == "dot"
