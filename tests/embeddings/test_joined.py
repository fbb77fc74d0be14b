"""Sets side by side: cosines are weighted means, wherever words are found."""

from __future__ import annotations

import numpy as np
import pytest

from softbleu import score
from softbleu.embeddings import open_vectors, write_store
from softbleu.embeddings.locate import JoinedSource
from softbleu.errors import VectorError

ONE = {"cat": [1.0, 0.0], "dog": [3.0, 4.0], "Sun": [0.0, 1.0]}
OTHER = {"cat": [0.0, 2.0, 0.0], "dog": [0.0, 1.0, 1.0], "moon": [1.0, 0.0, 0.0]}


def cosine(rows):
    units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return float(units[0] @ units[1])


@pytest.mark.parametrize("weights", [(1.0, 1.0), (2.0, 0.5), (0.25, 3.0)])
def test_cosines_are_weighted_means(weights):
    joined = JoinedSource((open_vectors(ONE), open_vectors(OTHER)), weights)
    rows = joined.select(["cat", "dog"]).rows.astype(float)
    expected = (weights[0] * 0.6 + weights[1] * 2**-0.5) / sum(weights)
    assert cosine(rows) == pytest.approx(expected, abs=1e-6)


def test_a_word_of_one_set_has_the_other_part_zero():
    joined = JoinedSource((open_vectors(ONE), open_vectors(OTHER)), (1.0, 4.0))
    found = joined.select(["moon", "sun", "SUN", "Sun", "stone"])
    assert found.rows.tolist() == [[0, 0, 2, 0, 0], [0] * 5, [0] * 5, [0, 1, 0, 0, 0], [0] * 5]
    assert found.known.tolist() == [True, False, False, True, False]


def test_the_first_set_says_which_words_come_first():
    words, rows = JoinedSource((open_vectors(OTHER), open_vectors(ONE)), (1.0, 1.0)).head(2)
    assert words == ["cat", "dog"]
    np.testing.assert_allclose(rows[0], [0, 1, 0, 1, 0])


def test_names_weights_and_content_are_its_identity(tmp_path):
    rows = np.eye(2, dtype=np.float32)
    for name in ("one", "other"):
        write_store(tmp_path / name, ["a", "b"], rows, dtype="float32", name=name, source="-", licence="-")
    joined = open_vectors(f"{tmp_path}/one*2+{tmp_path}/other")
    assert joined.name == "one*2+other"
    assert joined.dimension == 4
    assert open_vectors(f"{tmp_path}/one+{tmp_path}/other").fingerprint != joined.fingerprint
    assert open_vectors(f"{tmp_path}/one*2.0+{tmp_path}/other").fingerprint == joined.fingerprint


def test_a_file_whose_name_has_a_plus_is_a_file(tmp_path):
    path = tmp_path / "a+b.txt"
    path.write_text("cat 1 2\ndog 3 4\n")
    assert open_vectors(str(path)).dimension == 2


@pytest.mark.parametrize(
    "text", ["glove-6b-100d+", "+glove-6b-100d", "glove-6b-100d*0+glove-6b-100d", "glove-6b-100d+no"]
)
def test_what_cannot_be_joined(text):
    with pytest.raises(VectorError, match=r"^[^\n]+$"):
        open_vectors(text)


def test_scores_with_a_set_joined_to_itself_are_those_of_the_set():
    arguments = (["a dog barks loudly"], [["the dog barked"]])
    settings = {"matcher": "vleu", "threshold": 0.5}
    alone = score(*arguments, **settings)
    twice = score(*arguments, **settings, vectors="glove-6b-100d+glove-6b-100d")
    assert twice.score == pytest.approx(alone.score, abs=1e-4)
    assert "vectors:glove-6b-100d+glove-6b-100d#" in twice.signature
