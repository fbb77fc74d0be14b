from __future__ import annotations

import json

import pytest

from softbleu.language import read_arpa, train_ngrams

TEXT = ["The cat sat on the mat.", "A small dog barked at the cat!", "The dog and the cat sat."]


@pytest.fixture
def text(files):
    return files.write("corpus.txt", TEXT)


def test_train(command, files, text):
    target = files.folder / "m.arpa.gz"
    options = ("--order", 2, "--least-word", 2, "--least-ngram", 2, "--tokenize", "13a", "--lowercase")
    done = command("language", "train", text, "-o", target, *options, "-f", "json")
    assert (done.code, done.err) == (0, "")
    lines = [line.lower().replace(".", " .").replace("!", " !").split() for line in TEXT]
    model, same = read_arpa(target), train_ngrams(lines, 2, least_word=2, least_ngram=2)
    assert list(model.words) == list(same.words)
    assert model.judge(lines).log_probabilities == pytest.approx(same.judge(lines).log_probabilities, abs=1e-4)
    found = json.loads(done.out)
    assert found["model"] == str(target)
    sizes = [row["ngrams"] for row in found["rows"]]
    assert sizes == [len(table.keys) for table in model.tables] == [8, 7]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["corpus.txt", "-o", "nowhere/m.arpa"], "nowhere"),
        (["corpus.txt", "-o", "m.arpa", "-n", "6"], "an n-gram model has an order from 1 to 5, not 6"),
        (["missing.txt", "-o", "m.arpa"], "no such file: missing.txt"),
        (["empty.txt", "-o", "m.arpa"], "no text to train on: it has no lines"),
    ],
)
def test_what_cannot_be_trained(refused, files, text, options, said):
    files.write("empty.txt", [])
    assert said in refused("language", "train", *options, output=None)
