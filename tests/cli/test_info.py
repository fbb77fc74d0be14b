"""`softbleu embeddings info` and `softbleu embeddings similarity`."""

from __future__ import annotations

import json

import pytest

from softbleu.embeddings import open_vectors
from softbleu.embeddings.inspection import describe_vectors
from softbleu.embeddings.measure import WordMeasure
from softbleu.engine.vectors import compare_words


@pytest.fixture
def comparable(files):
    """More words than the vectors of the other tests have, for densities and neighbours."""
    rows = [f"w{n} {n % 5 - 1.3:.2f} {n % 7 - 2.1:.2f} {n % 3 + 0.2:.2f} {n / 9:.3f}" for n in range(30)]
    return files.write("words.txt", rows)


def test_info_of_the_default_set(command):
    done = command("embeddings", "info", "--format", "json")
    assert (done.code, done.err) == (0, "")
    facts = describe_vectors(open_vectors("glove-6b-100d"))
    text = json.dumps(json.loads(done.out))
    for name, value in facts.items():
        assert json.dumps(name) in text
        assert json.dumps(value) in text


@pytest.mark.parametrize(
    ("options", "measure"),
    [
        ((), WordMeasure()),
        (("--similarity", "csls"), WordMeasure("csls")),
        (("--vectors-postprocess", "mean,pc:1"), WordMeasure(vectors_postprocess="mean,pc:1")),
        (("--neighbours", 2, "--mutual"), WordMeasure(neighbours=2, mutual=True)),
    ],
)
def test_similarity(command, comparable, options, measure):
    done = command("embeddings", "similarity", "w3", "w12", "--vectors", comparable, *options, "--format", "json")
    assert (done.code, done.err) == (0, "")
    expected = compare_words(open_vectors(str(comparable)), "w3", "w12", measure)
    (row,) = next(value for value in json.loads(done.out).values() if isinstance(value, list))
    assert row == {"one": "w3", "other": "w12", "similarity": expected.similarity, "percentile": expected.percentile}
