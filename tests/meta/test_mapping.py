"""Maps learned from files of judgements."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made_up_encoder import MadeUpEncoder
from refusing import refused

from softbleu import InputError
from softbleu.embeddings.choice import VectorChoice
from softbleu.embeddings.maps import VectorMap
from softbleu.embeddings.vectors import unit_rows
from softbleu.meta.mapping import JudgedFile, judged_states, learn_map, mapped_scores
from softbleu.metrics.trained import Trained
from softbleu.text.tokens import Whitespace

WORDS = ["cat", "sat", "mats", "rained", "dog", "barked"]


@pytest.fixture
def judged(tmp_path: Path) -> Path:
    """A table of 80 judged outputs, some of them twice, with a gap and a column that nobody reads."""
    draw = np.random.default_rng(4)
    rows = ["system\tHuman\tmt\tref\tnote"]
    for number in range(80):
        reference = draw.choice(WORDS, 5)
        kept = draw.random(5) < draw.random()
        candidate = np.where(kept, reference, draw.choice(WORDS, 5))
        score = "" if number == 7 else f"{kept.mean():.2f}"
        rows.append(f"A\t{score}\t{' '.join(candidate)}\t{' '.join(reference)}\tx")
    path = tmp_path / "judged.tsv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_a_map_of_an_encoder_is_learned_and_read_again(judged: Path, tmp_path: Path) -> None:
    encoder = MadeUpEncoder()
    learned = learn_map([str(judged)], encoder, licence="CC0-1.0")
    found = learned.map
    assert (found.vectors, found.layers, found.facts["licence"]) == ("made up", "2", "CC0-1.0")
    assert found.facts["sets"] == [{"name": "judged", "sha256": JudgedFile.read(str(judged)).sha256, "outputs": 79}]
    ((name, outputs, held_out, plain, mapped),) = learned.table.rows
    assert (name, outputs) == ("judged", 79)
    assert 3 <= held_out < 30
    assert found.facts["held_out"] == {"judged": [79, held_out, round(plain, 4), round(mapped, 4)]}
    (tmp_path / "own.npz").write_bytes(found.content())
    again = VectorMap.of(str(tmp_path / "own.npz"))
    scores = [
        Trained(vectors=encoder, map=each).sentence_score("cat sat", ["cats sat"]).score for each in (found, again)
    ]
    assert scores[0] == scores[1]


def test_scores_of_states_are_those_of_trained(judged: Path) -> None:
    """Else a study of maps measures another score than users get."""
    encoder, file = MadeUpEncoder(), JudgedFile.read(str(judged))
    made = replace(learn_map([str(judged)], encoder).map, prices=(0.2, 0.3, 0.5, 0.9))
    with judged_states([file], VectorChoice(encoder).resolved(), Whitespace()) as states:
        found = mapped_scores(states, np.arange(len(states)), made)
    metric = Trained(vectors=encoder, map=made)
    pairs = zip(file.candidates, file.references, strict=True)
    expected = [metric.sentence_score(candidate, [reference]).score for candidate, reference in pairs]
    assert 100 * found == pytest.approx(expected, abs=0.1)


def test_states_are_those_of_the_encoder(judged: Path) -> None:
    encoder = MadeUpEncoder()
    file = JudgedFile.read(str(judged))
    with judged_states([file], VectorChoice(encoder).resolved(), Whitespace()) as states:
        for pair in (0, 40):
            for line, text in (
                (states.candidates[pair], file.candidates[pair]),
                (states.references[pair], file.references[pair]),
            ):
                pieces = encoder.tokenize([text.split()])
                places = slice(*states.offsets[[line, line + 1]])
                expected = unit_rows(encoder.encode(pieces, (2,)))
                assert states.rows[places] == pytest.approx(expected, abs=1e-3)
                assert (states.inner[places] == (pieces.words >= 0)).all()
        assert len(states.offsets) - 1 == len({*file.candidates, *file.references})
        assert states.scores.mean() == pytest.approx(0, abs=1e-9)


def test_faults_of_judged_tables_are_named(judged: Path, tmp_path: Path) -> None:
    encoder = MadeUpEncoder()
    few = tmp_path / "few.tsv"
    few.write_text("\n".join(judged.read_text(encoding="utf-8").splitlines()[:20]) + "\n", encoding="utf-8")
    refused(InputError, "a map needs 50 judged outputs or more", learn_map, [str(few)], encoder)
    refused(
        InputError, "line 1: no column mqm; this file has system human mt ref note", JudgedFile.read, str(few), "mqm"
    )
    few.write_text("human\tmt\tref\n1\ta\tb\n1\tc\td\n1\te\tf\n", encoding="utf-8")
    refused(InputError, "judgements or more that differ", JudgedFile.read, str(few))
    few.write_text("human\tmt\tref\ngood\ta\tb\n", encoding="utf-8")
    refused(InputError, "few.tsv, line 2", JudgedFile.read, str(few))
