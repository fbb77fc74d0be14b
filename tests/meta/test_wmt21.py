"""WMT's protocol on people's scores of WMT21 zh-en (MQM, z), against mt-metrics-eval's definitions word by word."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from oracles import metaeval as oracle
from sacrebleu import sentence_chrf
from shared_data import shared

from softbleu.corpora.judgements import Assessments, ScoreTable, read_assessments
from softbleu.meta.accuracy import assessment_accuracies, soft_accuracy
from softbleu.meta.agreement import agreements, join_assessments

pytestmark = pytest.mark.slow
SYSTEMS = ("Borderline", "Facebook-AI", "NiuTrans", "Online-W", "SMU")
SEED, SAMPLES = 7, 6


@cache
def chrf() -> ScoreTable:
    folder = shared("data", "wmt21-into-en", "zh-en")
    references = (folder / "reference-A.en").read_text().splitlines()
    outputs = {name: (folder / "system-outputs" / f"{name}.txt").read_text().splitlines() for name in SYSTEMS}
    scores = {
        name: np.array(
            [sentence_chrf(*pair).score for pair in zip(lines, ([each] for each in references), strict=True)]
        )
        for name, lines in outputs.items()
    }
    return ScoreTable("chrf", {}, scores)


def rows_of(judged: Assessments) -> dict[int, list[tuple[str, float, float]]]:
    """Of each segment what was judged: system, people's score, the metric's."""
    found: dict[int, list[tuple[str, float, float]]] = {}
    for people, (system,), segment in zip(judged.scores, judged.systems, judged.segments, strict=True):
        if system in SYSTEMS:
            found.setdefault(segment, []).append((system, float(people), float(chrf().segments[system][segment])))
    return found


@pytest.mark.parametrize(("kind", "outputs"), [("mqm", 650 * 5), ("da", 7874)])
def test_the_protocol_of_wmt(kind: str, outputs: int) -> None:
    judged = read_assessments(str(shared("data", "wmt21-into-en", "zh-en", f"{kind}-segments.tsv")))
    rows = rows_of(judged)
    segments = sorted(rows)
    assert sum(map(len, rows.values())) == outputs
    drawn = np.random.default_rng(SEED).integers(len(segments), size=(SAMPLES, len(segments)))
    # Accuracy grouped by item, in the whole and in samples of whole segments.
    (found,) = assessment_accuracies(chrf(), "people", judged, samples=SAMPLES, seed=SEED)
    literal = [[pair[1:] for pair in rows[segment]] for segment in segments]
    assert (found.value, found.epsilon) == pytest.approx(oracle.optimized_accuracy(literal), abs=1e-9)
    samples = [oracle.optimized_accuracy([literal[n] for n in each])[0] for each in drawn]
    assert found.drawn == pytest.approx(samples, abs=1e-9)
    assert found.interval == pytest.approx(tuple(np.percentile(samples, (2.5, 97.5))), abs=1e-9)
    # Pearson, and that of all differences within segments, in the same samples.
    (agreement,) = agreements(join_assessments([chrf()], "people", judged), samples=SAMPLES, seed=SEED)
    for name, pairs in (("pearson", lambda row: row), ("pearson_within", differences)):
        values = [np.corrcoef(np.array([pair for n in each for pair in pairs(literal[n])]).T)[0, 1] for each in drawn]
        assert agreement.correlations[name].drawn == pytest.approx(values, abs=1e-9)
    # Soft pairwise accuracy: on segments with all scores, the published function on two tables.
    whole = [segment for segment in segments if len(rows[segment]) == len(SYSTEMS)]
    tables = [[[dict_of(rows[n], side)[name] for n in whole] for name in SYSTEMS] for side in (1, 2)]
    parts = {name: np.array(row) for name, row in zip(SYSTEMS, tables[1], strict=True)}
    given = [(score, [name], n) for name, row in zip(SYSTEMS, tables[0], strict=True) for n, score in enumerate(row)]
    scores, systems, numbers = zip(*given, strict=True)
    soft = soft_accuracy(
        ScoreTable("chrf", {}, parts), Assessments(np.array(scores), systems, numbers), "x", 200, SEED
    )
    assert soft is not None
    flips = (np.rint(np.random.default_rng(SEED).random((200, len(whole)), np.float32)) == 0).tolist()
    assert soft.value == pytest.approx(oracle.soft_pairwise_accuracy(*tables, flips), abs=1e-9)
    assert soft.pairs == 10


def dict_of(row: list[tuple[str, float, float]], side: int) -> dict[str, Any]:
    return {each[0]: each[side] for each in row}


def differences(row: list[tuple[float, float]]) -> list[tuple[float, float]]:
    return [(a[0] - b[0], a[1] - b[1]) for i, a in enumerate(row) for j, b in enumerate(row) if i != j]
