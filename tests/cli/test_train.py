"""`softbleu embeddings train` and `softbleu language train`."""

from __future__ import annotations

import json
import os
from dataclasses import fields

import pytest

from softbleu.embeddings.training import TrainingSettings, train_vectors
from softbleu.io.streams import TextCorpus
from softbleu.language import read_arpa, train_ngrams
from softbleu.text.tokens import Tokenizer

TEXT = ["The cat sat on the mat.", "A small dog barked at the cat!", "The dog and the cat sat."] * 20
SMALL = ("--dimension", 4, "--min-count", 1, "--bucket", 50)


@pytest.fixture
def text(files):
    return files.write("corpus.txt", TEXT)


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_train(command, files, text):
    target = files.folder / "set"
    done = command("embeddings", "train", text, "--output", target, *SMALL, "--tokenize", "13a", "--lowercase")
    assert (done.code, done.err) == (0, "")
    assert sorted(contents(target)) == ["card.md", "meta.json", "vectors.npy", "vocab.txt"]
    lines = dict(line.split(maxsplit=1) for line in done.out.splitlines()[:2])
    assert lines == {"store": str(target), "words": "13"}
    assert "WordSim-353" in done.out
    meta = json.loads((target / "meta.json").read_text())
    assert meta["training"]["settings"]["dimension"] == 4
    assert (meta["training"]["tokenizer"], meta["training"]["lowercase"]) == ("13a", True)
    card = (target / "card.md").read_text()
    assert meta["sha256"] in card
    assert "| tokenizer | 13a |" in card
    assert (target / "vocab.txt").read_text().startswith("the\n")
    scored = command(
        "score", "-c", files.candidate, "-r", files.reference, "-m", "vleu(threshold=0.8)", "--vectors", target
    )
    assert (scored.code, scored.err) == (0, "")


def test_as_the_library_trains(command, files, text):
    from_command, from_library = files.folder / "one", files.folder / "two"
    assert command("embeddings", "train", text, "-o", from_command, *SMALL, "--tokenize", "13a").code == 0
    settings = TrainingSettings(dimension=4, min_count=1, bucket=50)
    train_vectors(TextCorpus([text], Tokenizer("13a").splitter), from_library, settings)
    for name in ("vectors.npy", "vocab.txt"):
        assert (from_command / name).read_bytes() == (from_library / name).read_bytes()


def test_every_setting_is_an_option(command, files, text):
    values = {
        **{"algorithm": "fasttext", "architecture": "cbow", "dimension": 6, "window": 2, "min_count": 2, "epochs": 2},
        **{"negative": 3, "hierarchical_softmax": True, "sample": 0.01, "alpha": 0.04, "min_alpha": 0.002},
        **{"min_ngram": 2, "max_ngram": 4, "bucket": 70, "seed": 11, "workers": 2},
    }
    assert set(values) == {field.name for field in fields(TrainingSettings)}
    assert all(values[field.name] != field.default for field in fields(TrainingSettings))
    options = [
        part
        for name, value in values.items()
        for part in ((f"--{name.replace('_', '-')}",) if value is True else (f"--{name.replace('_', '-')}", value))
    ]
    target = files.folder / "set"
    done = command("embeddings", "train", text, "-o", target, *options, "--dtype", "int8", "--name", "mine")
    assert (done.code, done.err) == (0, "")
    meta = json.loads((target / "meta.json").read_text())
    assert meta["training"]["settings"] == values
    assert (meta["dtype"], meta["name"], meta["licence"]) == ("int8", "mine", "not stated")


def test_help_names_the_defaults_of_the_library(command):
    shown = " ".join(command("embeddings", "train", "--help", environment={"COLUMNS": "300"}).out.split())
    for field in fields(TrainingSettings):
        if field.name != "hierarchical_softmax":
            line = shown.partition(f"--{field.name.replace('_', '-')} ")[2]
            assert line.partition("(default: ")[2].startswith(f"{field.default})"), field.name


def test_a_pipe_can_be_read_only_once(refused):
    os.mkfifo("pipe")
    assert "no regular file" in refused("embeddings", "train", "pipe", output="set")


# language models


def test_a_language_model(command, files):
    text = files.write("small.txt", TEXT[:3])
    target = files.folder / "m.arpa.gz"
    options = ("--order", 2, "--least-word", 2, "--least-ngram", 2, "--tokenize", "13a", "--lowercase")
    done = command("language", "train", text, "-o", target, *options, "-f", "json")
    assert (done.code, done.err) == (0, "")
    lines = [line.lower().replace(".", " .").replace("!", " !").split() for line in TEXT[:3]]
    model, same = read_arpa(target), train_ngrams(lines, 2, least_word=2, least_ngram=2)
    assert list(model.words) == list(same.words)
    assert model.judge(lines).log_probabilities == pytest.approx(same.judge(lines).log_probabilities, abs=1e-4)
    found = json.loads(done.out)
    assert found["model"] == str(target)
    sizes = [row["ngrams"] for row in found["rows"]]
    assert sizes == [len(table.keys) for table in model.tables] == [8, 7]
