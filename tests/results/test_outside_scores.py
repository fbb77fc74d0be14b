"""Scores that other programs gave, and runs of systems: the numbers of NumPy and of literal loops."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracles.runs import compare
from refusing import refused

import softbleu
from softbleu import Scores
from softbleu.corpora import Segments
from softbleu.corpora.judgements.scores import ScoreTable, sentinel_of
from softbleu.corpora.labels import Documents, intraclass_correlation
from softbleu.engine.runner import collect_statistics
from softbleu.errors import InputError
from softbleu.io.progress import ProgressBar
from softbleu.metrics.scores import by_name, corpus_of, read_outside
from softbleu.results.api import compare_corpus
from softbleu.results.comparison import approximate_randomization, bootstrap_scores
from softbleu.results.significance import SignificanceSettings
from softbleu.results.slices import compare_runs, outputs_family

GENERATOR = np.random.default_rng(45)
TABLE = {name: GENERATOR.normal(shift, 1, 60).round(3).tolist() for name, shift in (("A", 0), ("B", 0.3), ("C", 0.1))}
GAPS = {
    name: [None if (name, n) in {("B", 4), ("C", 9)} else score for n, score in enumerate(own)]
    for name, own in TABLE.items()
}


@pytest.mark.parametrize(("statistic", "take"), [("mean", np.mean), ("median", np.median), ("sum", np.sum)])
@pytest.mark.parametrize("table", [TABLE, GAPS], ids=["whole", "with gaps"])
@pytest.mark.parametrize("size", [1, 3])
def test_numbers_are_those_of_literal_loops(statistic: str, take: Any, table: Any, size: int) -> None:
    """Of segments, or of documents of three segments, which are drawn as wholes."""
    metric = Scores("judge", table, statistic=statistic, missing="leave-out")
    documents = Documents.of([n // size for n in range(60)]) if size > 1 else None
    scores = np.array([*TABLE.values()])
    units = [[n for n in range(d, d + size) if table is TABLE or n not in (4, 9)] for d in range(0, 60, size)]
    units = [unit for unit in units if unit]
    there = np.concatenate(units)
    assert [result.score for result in metric.results()] == [take(own[there]) for own in scores]
    (statistics,) = collect_statistics(corpus_of([metric]), [metric], keep_rows=True)
    drawn = np.random.default_rng(3).integers(len(units), size=(40, len(units)))
    literal = [[take(own[[n for unit in some for n in units[unit]]]) for some in drawn] for own in scores]
    how = SignificanceSettings(samples=40, trials=200, seed=3, documents=documents)
    family = outputs_family(statistics, "A", how)
    np.testing.assert_allclose(bootstrap_scores(family)[0][:, 0], literal, rtol=1e-12)
    test = partial(approximate_randomization, family)
    if statistic == "median":
        refused(InputError, "no test by randomisation", test)
        return
    flips, p_values = np.random.default_rng(3).integers(2, size=(200, 60 // size))[:, there // size], test()
    for place, another in ((0, 1), (1, 2)):
        one, other = scores[place][there], scores[another][there]
        apart = [abs(take(np.where(flip, other, one)) - take(np.where(flip, one, other))) for flip in flips]
        beyond = sum(each >= abs(take(one) - take(other)) - 1e-9 for each in apart)
        assert p_values[place, another, 0] == (beyond + 1) / 201


def test_scores_in_memory_are_distinguished_by_name() -> None:
    judges = [Scores(name, TABLE) for name in ("COMET", "an LLM")]
    rows = softbleu.compare({name: ["x"] * 60 for name in TABLE}, ["x"] * 60, metrics=judges).records()
    assert [row["metric"] for row in rows][::3] == ["scores(table=COMET)", 'scores(table="an LLM")']


def test_missing_scores_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    said = "judge: 2 scores are missing (B segment 5, C segment 10): "
    advice = "missing='leave-out' leaves 2 of 60 segments out of every system"
    assert refused(InputError, "", Scores("judge", GAPS).results) == said + advice
    with ProgressBar(quiet=False):
        found = compare_corpus(corpus_of([made := Scores("judge", GAPS, missing="leave-out")]), made)
    assert f"{said}2 of 60 segments are left out of every system" in capsys.readouterr().err
    pair = found.pair("B", "A")
    assert pair.wins + pair.ties + pair.losses == 58
    scored = softbleu.score_corpus(corpus_of([made]), made, level="segment")
    assert [row["score"] for row in scored[1].records()][3:5] == [GAPS["B"][3], None]


@pytest.mark.parametrize(("count", "more"), [(3, ""), (4, ", …")])
def test_three_missing_scores_are_named_and_more_are_counted(count: int, more: str) -> None:
    lacking = {**TABLE, "B": [*[None] * count, *TABLE["B"][count:]]}
    said = f"judge: {count} scores are missing (B segment 1, B segment 2, B segment 3{more}): "
    assert refused(InputError, "", Scores("judge", lacking).results).startswith(said)


def test_scores_of_other_systems_or_segments_are_refused() -> None:
    texts = {"A": ["a"] * 60, "D": ["a"] * 60}
    said = "judge: unknown system 'D'; valid: A, B, C"
    refused(InputError, said, softbleu.score, texts, ["a"] * 60, metrics=Scores("judge", TABLE))
    said = "judge: 60 segments of A with scores, the corpus has 2"
    refused(InputError, said, softbleu.score, {"A": ["a", "b"]}, ["a", "b"], metrics=Scores("judge", TABLE))
    refused(InputError, "there is no text for bleu", corpus_of, [Scores("judge", TABLE), softbleu.Bleu()])
    uneven = [Scores("x", {"A": [1]}), Scores("y", {"A": [1, 2]})]
    refused(InputError, r"different numbers of segments: x \(A\) has 1, y \(A\) has 2", corpus_of, uneven)
    refused(InputError, "unknown system 'candidate'", Scores("judge", TABLE).sentence_score, "a", "b")
    refused(InputError, "scores of 'A' must be numbers", Scores, "judge", {"A": ["high"]})


def test_alarms_are_false_as_often_as_said_where_documents_are_drawn() -> None:
    """Two equal systems, whose differences have an intraclass correlation of .3, 10 segments a document."""
    generator, alarms = np.random.default_rng(5), {"segments": 0, "documents": 0}
    labels = np.repeat(np.arange(30), 10)
    documents, correlations = Documents.of(labels.tolist()), []
    for seed in range(300):
        shared, alone = generator.normal(0, np.sqrt(0.3), 30)[labels], generator.normal(0, np.sqrt(0.7), 300)
        metric = Scores("judge", {"A": (shared + alone).tolist(), "B": [0] * 300})
        (statistics,) = collect_statistics(corpus_of([metric]), [metric], keep_rows=True)
        correlations.append(intraclass_correlation((shared + alone)[None], labels))
        for drawn, named in (("segments", None), ("documents", documents)):
            how = SignificanceSettings(trials=199, seed=seed, documents=named)
            p_values = approximate_randomization(outputs_family(statistics, "A", how), [0])
            alarms[drawn] += p_values[0, 1, 0] < 0.05
    assert np.mean(correlations) == pytest.approx(0.3, abs=0.03)
    assert 0.03 <= alarms["documents"] / 300 <= 0.07
    assert alarms["segments"] / 300 > 0.2


def test_documents_are_in_the_signature_and_must_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("docs.tsv").write_text("id\tdocument\n" + "".join(f"{n}\td{n // 3}\n" for n in range(60)), encoding="utf-8")
    compared = partial(compare_corpus, corpus_of([metric := Scores("judge", TABLE)]), metric)
    found = compared(significance=SignificanceSettings(documents="docs.tsv:document"))
    assert "|test-documents:docs.tsv:document#" in found.signature
    assert "documents" not in compared().signature
    again, _ = SignificanceSettings.from_signature(found.signature)
    assert compared(significance=again).signature == found.signature
    short = SignificanceSettings(documents=["a", "b"])
    refused(InputError, "documents has 2 labels for 60 segments", compared, significance=short)
    refused(InputError, "docs.tsv has several columns: name one", Documents.read, "docs.tsv")


def test_documents_of_a_file_of_scores_are_noted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "wide.tsv"
    shift = {name: GENERATOR.normal(0, 2, 20) for name in "AB"}
    rows = [(s, n + 1, f"d{n // 3}", shift[s][n // 3] + GENERATOR.normal()) for s in "AB" for n in range(60)]
    lines = ["\t".join(map(str, row)) for row in [("system", "segment", "doc", "COMET"), *rows]]
    path.write_text("\n".join(lines), encoding="utf-8")
    metric = Scores("COMET", f"{path}:COMET")
    with ProgressBar(quiet=False):
        compare_corpus(corpus_of([metric]), metric)
        assert "similar within a document (intraclass correlation 0." in capsys.readouterr().err
        # Its column names them: the label of a segment is in the row of each system.
        assert Documents.read(f"{path}:doc").numbers.tolist() == [n // 3 for n in range(60)]
        compare_corpus(corpus_of([metric]), metric, significance=SignificanceSettings(documents=f"{path}:doc"))
        assert "intraclass" not in capsys.readouterr().err
    path.write_text("\n".join([*lines, "A\t60\td0\t1"]), encoding="utf-8")
    refused(InputError, "line 122: segment 60 has the label 'd0', and 'd19' above", Documents.read, f"{path}:doc")


def test_runs_and_segments_are_drawn() -> None:
    generator = np.random.default_rng(3)
    scores = {name: generator.random(20) for name in ("A.1", "A.2", "A.3", "C.1", "C.2", "B")}
    metric = softbleu.Scores("m", {name: column.tolist() for name, column in scores.items()})
    how = SignificanceSettings(samples=50, seed=5)
    rows = compare_runs(corpus_of([metric]), [metric], how).rows
    assert [(row.system, row.runs) for row in rows] == [("A", 3), ("C", 2), ("B", 1)]
    drawn = np.random.default_rng(5).integers(20, size=(50, 20))
    expected = compare({"A": ["A.1", "A.2", "A.3"], "C": ["C.1", "C.2"], "B": ["B"]}, scores, drawn)
    for row in rows:
        values = (row.score, row.between_runs, row.between_segments, row.lower, row.upper)
        beside = (row.difference, row.difference_lower, row.difference_upper, row.p_value)
        assert (*values, *beside) == pytest.approx(expected[row.system], rel=1e-9)
    least, most = sorted(row.p_value for row in rows[1:] if row.p_value is not None)
    corrected = sorted(row.corrected for row in rows[1:] if row.corrected is not None)
    assert corrected == pytest.approx([min(1, 2 * least), max(most, min(1, 2 * least))])
    same = softbleu.Scores("m", {"A.1": [1.0, 2.0], "A.2": [1.0, 2.0], "B": [1.0, 2.0], "C": [2.0, 3.0]})
    assert [row.p_value for row in compare_runs(corpus_of([same]), [same]).rows] == [None, 1.0, 0.0]


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(3, 3), (3, 1)])
@pytest.mark.parametrize("between", [0.05, 0.3])
def test_equal_systems_seldom_differ_significantly(sizes: tuple[int, int], between: float) -> None:
    """At .05, on made-up scores that vary by run, by segment, and by system within a segment."""
    generator, trials, alarms = np.random.default_rng(8), 400, 0
    for _ in range(trials):
        scores, segments = {}, generator.normal(size=60)
        for system, runs in zip("AB", sizes, strict=True):
            usual = segments + generator.normal(0, 0.5, 60)
            for run in range(runs):
                scores[f"{system}.{run}"] = usual + generator.normal(0, between) + generator.normal(size=60)
        metric = softbleu.Scores("m", {name: column.tolist() for name, column in scores.items()})
        _, other = compare_runs(corpus_of([metric]), [metric], SignificanceSettings(samples=100)).rows
        alarms += (other.p_value or 1) < 0.05
    assert alarms <= 0.08 * trials


def test_runs_of_a_system_are_compared_by_their_mean() -> None:
    corpus = Segments.of({"A.1": ["a cat", "b"], "A.2": ["a dog", "b"], "B.1": ["x", "b"]}, ["a cat", "b"])
    one, other = compare_runs(corpus, "chrf", SignificanceSettings(samples=9)).rows
    single = [softbleu.score(texts, ["a cat", "b"], metrics="chrf").score for texts in corpus.candidates.values()]
    assert [one.score, other.score] == pytest.approx([np.mean(single[:2]), single[2]])
    single_runs = Segments.of({"A": ["a"], "B.1": ["a"]}, ["a"])
    refused(InputError, "no system has several runs", compare_runs, single_runs)


@pytest.mark.parametrize(
    ("name", "low", "said"),
    [
        ("MetricX-24", 1.0, "MetricX-24: lower is better"),
        ("num_errors", 1.0, "num_errors: lower is better"),
        ("MetricX-24", -20.0, ""),
        ("xCOMET", 0.1, ""),
        ("1-TER", 0.1, "assuming that higher is better for 1-TER"),
    ],
)
def test_names_tell_which_way_is_better(capsys: pytest.CaptureFixture[str], name: str, low: float, said: str) -> None:
    """Unless no score is above 0."""
    metric = Scores(name, {"A": [low, low], "B": [low + 8, low + 7]})
    with ProgressBar(quiet=False):
        metric.results()
    assert metric.higher_is_better == ("lower" not in said)
    assert capsys.readouterr().err.startswith(f"softbleu: note: {said}" if said else "")


@pytest.mark.parametrize(
    ("name", "lower"),
    [
        *(("mqm", True), ("mqm_score", True), ("GEMBA-MQM", True), ("xCOMET-MQM", False), ("gemba", False)),
        *(("score", False), ("avg_score", False), ("toxicity_score", None), ("risk score", None)),
    ],
)
def test_scores_and_mqm_by_name(name: str, lower: bool | None) -> None:
    assert by_name(ScoreTable(name, {}, {"A": np.array([9.0, 8, 9]), "B": np.array([1.0, 1, 10])}, name)) is lower


@pytest.mark.parametrize(
    ("odd", "others", "noted"),
    [
        *((-1, [60, 80], True), (-1, [0, 1, 0.5], False), (-1, [0.6, 0.9], True), (-999, [0.6, 0.9], True)),
        *((999, [61, 89], True), (99, [1, 5], True), (99, [98, 98.1], False), (999, [0, 700], False)),
        (-9, [-1, 2], False),
    ],
)
def test_numbers_apart_from_all_scores_may_be_missing_ones(odd: float, others: list[float], noted: bool) -> None:
    found = sentinel_of([np.array([odd, *others], np.float64)])
    assert (found[0] if found else None) == (odd if noted else None)


def test_a_value_stands_for_a_missing_score(capsys: pytest.CaptureFixture[str]) -> None:
    """From 0 to 100 -1 is noted; left out, it is as if it were not there."""
    table = {"A": [90, -1, 70], "B": [60, 80, 50]}
    with ProgressBar(quiet=False):
        Scores("judge", table).results()
        found = Scores("judge", table, missing_value=-1).results()
    assert [result.score for result in found] == [80, 55]
    said = capsys.readouterr().err
    assert "1 score is -1 among scores from 50 to 90: missing_value=-1 leaves them out" in said
    assert "1 of 3 segments are left out of every system" in said


def test_texts_beside_scores_are_those_of_the_candidates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [f"line {number}" for number in range(20)]
    for name, shown in (("same", lines), ("one", ["other", *lines[1:]]), ("moved", [*lines[1:], "x"])):
        rows = [{"mt": text, "COMET": 0.5} for text in shown]
        (tmp_path / f"{name}.json").write_text(json.dumps({"c.txt": rows}))
        run = partial(softbleu.score, {"c": lines}, lines, metrics=read_outside([f"{tmp_path}/{name}.json"]))
        if name == "moved":
            refused(InputError, "20 of 20 texts of c are not those given", run)
            continue
        with ProgressBar(quiet=False):
            run()
        said = "1 of 20 texts of c are not those given (segment 1: 'other', 'line 0')"
        assert (said in capsys.readouterr().err) == (name == "one")


def test_files_that_count_otherwise_are_refused_and_a_last_line_may_be_missing(tmp_path: Path) -> None:
    for name, numbers in (("zero", range(4)), ("one", range(1, 4)), ("short", range(3))):
        rows = [f"{s}\t{n}\t{n}" for s in "AB" for n in numbers]
        (tmp_path / f"{name}.tsv").write_text("\n".join(["system\tsegment\tscore", *rows]))
    zero, one, short = ([str(tmp_path / f"{name}.tsv")] for name in ("zero", "one", "short"))
    said = "one.tsv has segments 1 to 3, .*zero.tsv has segments 0 to 3: count from 0 in both, or from 1"
    refused(InputError, said, corpus_of, read_outside([*zero, *one]))
    refused(InputError, "segments 1 to 3", softbleu.metaeval, scores=zero, assessments=one[0])
    refused(InputError, "different numbers of segments", corpus_of, read_outside([*zero, *short]))
    metrics = [replace(metric, missing="leave-out") for metric in read_outside([*zero, *short])]
    found = softbleu.score_corpus(corpus_of(metrics), metrics)
    assert [result.score for result in found] == [1.5, 1.5, 1, 1]
