"""Sweeps: every row is what a run for itself gives, however often interrupted; experiments as TOML files."""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusing import refused

from softbleu.corpora import Segments
from softbleu.embeddings import choice
from softbleu.engine import runner
from softbleu.engine.checkpoint import remove_checkpoint
from softbleu.engine.plan import threshold_of
from softbleu.engine.runner import Runner, Worker
from softbleu.errors import InputError, VectorError
from softbleu.meta import SweepPoint, SweepRow, sweep_corpus, sweep_points
from softbleu.meta.experiments import Definition, Outcome, run_definition
from softbleu.meta.sweep import MOST_STEPS, rank_by_score, read_thresholds, read_variations, sweep, table_of
from softbleu.metrics.base import make_metric
from softbleu.metrics.bleu import Bleu
from softbleu.metrics.protocols import matcher_of
from softbleu.metrics.scores import Scores
from softbleu.report.experiments import outcome_pictures
from softbleu.results.api import score, score_corpus

WORDS = ("the", "The", "cat", "dog", "hound", "mat", "rug", "sat", "lay", "on", "oov")


def vectors_of(seed: int = 5) -> dict[str, list[float]]:
    rows = np.random.default_rng(seed).normal(size=(len(WORDS), 4)) + 0.6
    return dict(zip(WORDS, rows.round(3).tolist(), strict=True)) | {"oov": [0.0] * 4}


VECTORS = vectors_of()
BASE: dict[str, Any] = {"vectors": VECTORS}


def corpus_of(seed: int = 1, segments: int = 12, systems: Sequence[str] = ("A", "B", "C")) -> Segments:
    choose = np.random.default_rng(seed)

    def line() -> str:
        return " ".join(choose.choice(WORDS, int(choose.integers(0, 8))))

    return Segments.of(
        {system: [line() for _ in range(segments)] for system in systems},
        [[line() for _ in range(int(choose.integers(1, 4)))] for _ in range(segments)],
        [line() for _ in range(segments)],
    )


CORPUS = corpus_of()


def as_json(rows: Sequence[SweepRow]) -> list[dict[str, Any]]:
    """Rows as JSON: lists and tuples are the same."""
    kept: list[dict[str, Any]] = json.loads(json.dumps([asdict(row) for row in rows]))
    return kept


def assert_as_alone(rows: Sequence[SweepRow], points: Sequence[SweepPoint], corpus: Segments = CORPUS) -> None:
    """Compare with a run for each system and point: score, numbers and signature, to the last digit."""
    expected = [
        (system, point.label, result.score, result.numbers.as_dict(), result.signature)
        for system in corpus.systems
        for point in points
        for result in score_corpus(corpus.only(system), point.metric)
    ]
    found = [(row.system, row.label, row.score, {**row.numbers, "score": row.score}, row.signature) for row in rows]
    assert found == expected


VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "aligned": {"composition": "aligned"},
    "sif": {"composition": "sif"},
    "sequential": {"assignment": "sequential"},
    "morgan": {"preset": "morgan2014"},
    "optimal": {"assignment": "optimal"},
    "unigrams": {"order": 1},
    "lower case": {"lowercase": True},
    "centred": {"vectors_postprocess": "mean"},
    "function words": {"function_words": "exact"},
    "neighbours": {"neighbours": 3},
    "long vectors": {"normalize": False},
    "unsmoothed": {"smooth": "none", "denominator": "all"},
    "other vectors": {"vectors": vectors_of(6)},
    "gleu": {"metric": "gleu", "iterations": 20},
}


def test_all_variants_at_once() -> None:
    points = sweep_points(BASE, {"matcher": ["exact", "vleu"], "threshold": [0.4, 0.9]}, VARIANTS)
    rows = sweep_corpus(CORPUS, points)
    assert_as_alone(rows, points)
    scores = {name: [row.score for row in rows if row.label == name] for name in VARIANTS}
    assert [name for name in VARIANTS if scores[name] == scores["plain"]] == ["plain"]


def test_quantiles(monkeypatch: pytest.MonkeyPatch) -> None:
    variants = {"": {}, "centred": {"vectors_postprocess": "mean"}}
    matchers = ["exact", "sleu", "vleu", "xleu"]
    points = sweep_points(BASE, {"matcher": matchers, "threshold": ["p90", 0.5, "p99"]}, variants)
    assert len(points) == 2 * (1 + 3 * 3)
    rows = sweep_corpus(CORPUS, points)
    assert_as_alone(rows, points)
    by_point = {(row.label, row.varied.get("quantile")): row for row in rows if row.varied["matcher"] == "vleu"}
    high = by_point["", "p99"].threshold
    assert high is not None
    assert 0 < high <= 1
    assert high != by_point["centred", "p99"].threshold
    assert by_point["", None].threshold == 0.5
    assert "|quantile:p99|" in by_point["", "p99"].signature
    assert "|quantile:none|" in by_point["", None].signature
    settings = ["metric", "matcher", "vectors_postprocess", "quantile"]
    assert table_of(rows).columns == ["system", "variant", *settings, "threshold", "score", "signature"]
    asked: list[float] = []
    original = choice.similarity_quantile
    monkeypatch.setattr(choice, "similarity_quantile", lambda *given: asked.append(given[1]) or original(*given))
    sweep_corpus(CORPUS, sweep_points(BASE, {"matcher": ["sleu", "vleu", "xleu"], "threshold": ["p90", "p99"]}))
    assert asked == [90.0, 99.0]


def test_points_in_order() -> None:
    values = {"matcher": ["vleu", "exact", "vleu"], "threshold": [0.9, 0.1, 0.9]}
    found = [
        (point.label, matcher_of(point.metric).name, threshold_of(point.metric), point.metric.order)  # type: ignore[attr-defined, union-attr]
        for point in sweep_points(BASE, values, {"b": {}, "a": {"order": 2}})
    ]
    expected = [("vleu", 0.9), ("vleu", 0.1), ("exact", None)]
    assert found == [(label, *each, order) for label, order in (("b", 4), ("a", 2)) for each in expected]
    assert sweep_points(BASE, values, {}) == sweep_points(BASE, values)


def test_points_that_are_none() -> None:
    for matchers, thresholds in (([], [0.5]), (["vleu"], [])):
        vary: Any = {"matcher": matchers, "threshold": thresholds}
        refused(InputError, "at least one value of everything that varies", sweep_points, BASE, vary)
    said = "unknown setting 'colour'.*valid: .*assignment, .*beta"
    refused(InputError, said, sweep_points, BASE, {"matcher": ["vleu"], "threshold": [0.5]}, {"x": {"colour": 1}})


@dataclass(frozen=True)
class Errors(Bleu):
    """A toy whose lower scores are better."""

    name = "errors"
    higher_is_better = False


@pytest.mark.parametrize(("metric", "ranks"), [(Bleu(), {"poor": 2, "good": 1}), (Errors(), {"poor": 1, "good": 2})])
def test_ranks_follow_what_is_better(metric: Bleu, ranks: dict[str, int]) -> None:
    systems = {"poor": ["a dog sat there now"], "good": ["a cat sat there now"]}
    rows = sweep(systems, ["a cat sat there now"], metric=metric, tokenize="none", vary={"order": [2, 3]})
    assert len(rows) == 4
    for order in ("2", "3"):
        assert rank_by_score([row for row in rows if row.varied["order"] == order]) == ranks


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Systems whose text was scored, in order."""
    systems: list[str] = []
    current: list[str] = []
    collect, score = Runner.collect, Worker.__call__

    def collected(runner: Runner, measures: Any, **more: Any) -> Any:
        current[:] = [more["system"]]
        return collect(runner, measures, **more)

    def scored(work: Worker, *given: Any, **more: Any) -> Any:
        systems.extend(name for name in current if name not in systems)
        return score(work, *given, **more)

    monkeypatch.setattr(Runner, "collect", collected)
    monkeypatch.setattr(Worker, "__call__", scored)
    return systems


def points_of(base: dict[str, Any]) -> list[SweepPoint]:
    soft = [{**base, "matcher": "vleu", "threshold": threshold} for threshold in (0.5, "p90")]
    return [
        *(SweepPoint("", make_metric(**settings)) for settings in (base, *soft)),
        *(SweepPoint("gleu", make_metric("gleu", iterations=5, **settings)) for settings in (base, *soft)),
    ]


POINTS = points_of(BASE)


def interrupted(journal: Path, after: int) -> None:
    def stop(done: int, total: int) -> None:
        if done == after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep_corpus(CORPUS, POINTS, checkpoint=journal, progress=stop)


@pytest.mark.parametrize("after", [[1], [3], [1, 2]])
def test_an_interrupted_sweep_goes_on(tmp_path: Path, computed: list[str], after: list[int]) -> None:
    """Only what is missing is computed, and nothing else comes out than in one run."""
    for count in after:
        interrupted(tmp_path / "journal", count)
    assert computed == ["A", "B", "C"][: after[-1]]
    computed.clear()
    rows = sweep_corpus(CORPUS, POINTS, checkpoint=tmp_path / "journal")
    assert computed == ["A", "B", "C"][after[-1] :]
    assert as_json(rows) == as_json(sweep_corpus(CORPUS, POINTS))


@pytest.mark.parametrize(
    "other",
    [
        (corpus_of(2), POINTS),
        (CORPUS, POINTS[:-1]),
        (CORPUS, points_of({**BASE, "order": 3})),
        (replace(CORPUS, source=[""] * len(CORPUS)), POINTS),
        (CORPUS, points_of({**BASE, "vectors": vectors_of(9)})),
        (CORPUS, POINTS),
    ],
    ids=["text", "fewer points", "settings", "source", "vectors", "version"],
)
def test_the_journal_of_another_sweep_is_left_alone(
    tmp_path: Path, computed: list[str], other: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = tmp_path / "journal"
    interrupted(journal, 2)
    computed.clear()
    if other == (CORPUS, POINTS):
        monkeypatch.setattr(runner, "__version__", "99")
    rows = sweep_corpus(*other, checkpoint=journal)
    assert computed == ["A", "B", "C"]
    assert as_json(rows) == as_json(sweep_corpus(*other))


def test_nothing_is_noted_of_a_sweep_that_cannot_begin_and_progress_counts_systems(tmp_path: Path) -> None:
    points = sweep_points({"vectors": str(tmp_path / "none.txt")}, {"matcher": ["vleu"], "threshold": [0.5]})
    with pytest.raises(VectorError):
        sweep_corpus(CORPUS, points, checkpoint=tmp_path / "journal")
    assert list(tmp_path.iterdir()) == []
    calls: list[tuple[int, int]] = []
    for _ in range(2):
        sweep_corpus(CORPUS, POINTS[:1], checkpoint=tmp_path / "journal", progress=lambda *found: calls.append(found))
    assert calls == [(1, 3), (2, 3), (3, 3)] * 2


def test_a_checkpoint_that_another_sweep_removed_is_not_begun_anew(tmp_path: Path) -> None:
    def remove(done: int, total: int) -> None:
        remove_checkpoint(tmp_path / "journal")

    rows = sweep_corpus(CORPUS, POINTS, checkpoint=tmp_path / "journal", progress=remove)
    assert as_json(rows) == as_json(sweep_corpus(CORPUS, POINTS))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["1"], [1.0]),
        ([" 0.7 , 0.8 "], [0.7, 0.8]),
        (["0.8", "0.7"], [0.8, 0.7]),
        (["0.7,0.7", "0.70"], [0.7]),
        (["0:1:0.3"], [0.0, 0.3, 0.6, 0.9]),
        (["0:1:9e999999"], [0.0]),
        (["0.7:0.9:0.1,0.75,p99.9", "p50"], [0.7, 0.8, 0.9, 0.75, "p99.9", "p50"]),
        ([".5,5e-1"], [0.5]),
    ],
)
def test_what_can_be_read(texts: list[str], expected: list[float | str]) -> None:
    found = read_thresholds(texts)
    assert found == expected
    assert [type(entry) for entry in found] == [type(entry) for entry in expected]
    assert len(read_thresholds(["0:1:0.0001"])) == MOST_STEPS == 10_001


@given(st.integers(0, 100), st.integers(0, 100), st.integers(1, 50), st.integers(0, 6))
def test_ranges_are_exact_decimals(start: int, more: int, step: int, digits: int) -> None:
    def text(number: int) -> str:
        return f"{number}e-{digits}"

    found = read_thresholds([f"{text(start)}:{text(start + more)}:{text(step)}"])
    scale = Fraction(1, 10**digits)
    assert found == [float(number * scale) for number in range(start, start + more + 1, step)]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["", "0.7,"], "thresholds are numbers, .* not ''"),
        (["high", "nan", "-inf", "0.7;0.8", "0::0.1", "0:1:x", "0:inf:0.1"], "thresholds are numbers, .* not '{}'"),
        (["0:1", "0:1:0.1:2"], "a range of thresholds is 'from:to:step', .* not '{}'"),
        (["0:1:0", "0:1:-0.1", "1:0:0.1", "0:1:0.00009"], "goes up, in at most 10,001 steps, not '{}'"),
        (["0:9e999999:1e-9", "-9e999999:9e999999:9e999999", "0:1e9999999:1"], "goes up"),
    ],
)
def test_what_cannot(texts: list[str], message: str) -> None:
    for text in texts:
        refused(InputError, message.format(text), read_thresholds, [text])


def test_values_that_are_no_row() -> None:
    said = "takes values with commas between them, in one line"
    for values in ("2\n3", "2\r3", "9" * 140_000):
        refused(InputError, said, read_variations, [f"order={values}"])


def test_scores_of_other_programs_have_a_row_each() -> None:
    corpus = Segments.of({"A": ["a cat", "b"], "B": ["a dog", "b"]}, ["a cat", "b"])
    outside = SweepPoint("", Scores("COMET", {"A": [0.5, 1.0], "B": [0.25, 0.25]}))
    rows = sweep_corpus(corpus, [outside, *sweep_points({"metric": "chrf"}, {})])
    shown = [(row["system"], row["metric"], row["score"]) for row in table_of(rows).records()]
    chrf = [result.score for result in score_corpus(corpus, "chrf")]
    assert shown == [("A", "COMET", 0.75), ("A", "chrf", chrf[0]), ("B", "COMET", 0.25), ("B", "chrf", chrf[1])]
    assert "tokenize" not in table_of(rows).columns


FEW_VECTORS = {"dog": [1.0, 0.1], "hound": [0.9, 0.3], "cat": [0.2, 1.0]}
TEXTS = {"a.txt": ["a dog barks", "the cat sat"], "b.txt": ["the hound barks", "a cat sat"]}
TEXTS |= {"ref.txt": ["the dog barks", "the cat sat"]}
PLAIN = """
kind = "sweep"
title = "Tiny"
[corpus]
candidates = ["data/a.txt", "data/b.txt"]
references = ["data/ref.txt"]
[settings]
vectors = "data/vectors.txt"
order = 2
[sweep]
matchers = ["exact", "vleu"]
thresholds = ["0.5:0.7:0.1", 0.9]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    data = tmp_path / "data"
    data.mkdir()
    for name, lines in TEXTS.items():
        (data / name).write_text("".join(f"{line}\n" for line in lines))
    vectors = (f"{word} {' '.join(map(str, numbers))}\n" for word, numbers in FEW_VECTORS.items())
    (data / "vectors.txt").write_text("".join(vectors))
    return tmp_path


def write(folder: Path, content: str | bytes, name: str = "tiny.toml") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def rows_of(outcome: Outcome) -> list[dict[str, object]]:
    return table_of(outcome.sweep).records()


CANDIDATES = 'candidates = ["data/a.txt", "data/b.txt"]'
SOURCE = 'source = "data/source.txt"\nencoding = "latin-1"\n[settings]\nmetric = "gleu"'


@pytest.mark.parametrize(
    ("old", "new", "files", "rows"),
    [
        ("[settings]", "[settings]", ("a.txt", "b.txt", "ref.txt"), 10),
        (CANDIDATES, 'candidates = ["data/[ab]*.txt"]', ("a.txt", "b.txt", "ref.txt"), 10),
        (f'{CANDIDATES}\nreferences = ["data/ref.txt"]', 'pairs = "data/pairs.txt"', ("pairs.txt",), 5),
        ("[settings]", SOURCE, ("a.txt", "b.txt", "ref.txt", "source.txt"), 10),
    ],
    ids=["names", "a pattern", "pairs", "a source in Latin-1"],
)
def test_which_files_a_definition_names(folder: Path, old: str, new: str, files: tuple[str, ...], rows: int) -> None:
    write(folder, "a dog barks ||| the dog barks\n", "data/pairs.txt")
    write(folder, "a d\xf6g bark\nthe cat sit\n".encode("latin-1"), "data/source.txt")
    outcome = run_definition(write(folder, PLAIN.replace(old, new)))
    assert set(outcome.manifest()["inputs"]) == {"tiny.toml", *(f"data/{name}" for name in files)}
    assert len(outcome.sweep or ()) == rows
    assert all(("metric:gleu|" in signature) == (new == SOURCE) for signature in outcome.manifest()["signatures"])


def test_a_run_is_that_of_its_settings(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(folder, PLAIN)
    definition = Definition.read(path)
    assert (definition.name, definition.kind, definition.title) == ("tiny", "sweep", "Tiny")
    assert set(definition.tables) == {"corpus", "settings", "sweep"}
    assert definition.settings() == {"vectors": str(folder / "data/vectors.txt"), "order": 2}
    assert definition.variants() is None
    # Paths are relative to the file, wherever it is run from.
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    outcome = run_definition(path)
    expected = []
    for name in ("a.txt", "b.txt"):
        for options in ({}, *({"matcher": "vleu", "threshold": t} for t in (0.5, 0.6, 0.7, 0.9))):
            texts = [[line] for line in TEXTS["ref.txt"]]
            given = {"vectors": str(folder / "data/vectors.txt"), "order": 2, **options}
            result = score(TEXTS[name], texts, **given)
            expected.append((result.score, result.signature))
    assert [(row["score"], row["signature"]) for row in rows_of(outcome)] == expected
    assert [row["threshold"] for row in rows_of(outcome)] == [None, 0.5, 0.6, 0.7, 0.9] * 2
    # All thresholds of a matcher are one line of the manifest.
    exact, soft = expected[0][1], expected[1][1].replace("|threshold:0.5|", "|threshold:*|")
    assert outcome.manifest()["signatures"] == [exact, soft]
    assert len(outcome.sweep) == 10


def test_variants(folder: Path) -> None:
    other = PLAIN + '[variants]\nplain = {}\nlow = { order = 1 }\n"other set" = { vectors = "./data/other.txt" }\n'
    (folder / "data/other.txt").write_text("dog 1 0\nhound 0 1\n")
    path = write(folder, other)
    assert (Definition.read(path).variants() or {})["other set"] == {"vectors": str(folder / "data/other.txt")}
    rows = rows_of(run_definition(path))
    assert [row["variant"] for row in rows[:15]] == ["plain"] * 5 + ["low"] * 5 + ["other set"] * 5
    scores = {(row["variant"], row["threshold"]): row["score"] for row in rows if row["system"] == rows[-1]["system"]}
    assert len({scores[name, 0.9] for name in ("plain", "low", "other set")}) == 3


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"kind = ", r"tiny\.toml: no TOML \(Invalid value \(at end of document\)\)"),
        (b"\xff", r"tiny\.toml: not UTF-8 \(byte 1\)"),
        (b"", r"tiny\.toml: unknown kind of experiment 'None'; valid: sweep, spurious"),
        (b'kind = "sweeps"', "'sweeps' .did you mean 'sweep'.*; valid: sweep, spurious"),
        (b'kind = ["sweep"]', "kind of experiment"),
        (b'kind = "sweep"\n[colours]', "table 'colours' .*; valid: corpus, settings, sweep, variants"),
        (b'kind = "sweep"\nsweep = 3', r"'sweep' must be a table: write \[sweep\] on a line of its own"),
    ],
)
def test_files_that_are_no_definitions(folder: Path, content: bytes, message: str) -> None:
    refused(InputError, message, lambda: Definition.read(write(folder, content)))


MATCHERS, REFERENCES, THRESHOLDS = 'matchers = ["exact", "vleu"]', '["data/ref.txt"]', '["0.5:0.7:0.1", 0.9]'


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("order = 2", "colour = 2", r"tiny\.toml, \[settings\]: unknown key 'colour'; valid: aggregate"),
        ("matchers =", "matcher =", r"\[sweep\]: unknown key 'matcher' .did you mean 'matchers'"),
        (f"{MATCHERS}\nthresholds = {THRESHOLDS}", "", r"\[sweep\]: it needs 'matchers', 'thresholds'"),
        (f"references = {REFERENCES}", "", r"\[corpus\]: it needs 'references'"),
        ('"exact", "vleu"', '"vlue"', "did you mean 'vleu'"),
        ("0.9]", "1.9]", "between 0 and 1, not 1.9"),
        ("0.5:0.7:0.1", "0.5:0.7", "'from:to:step'"),
        ("data/b.txt", "data/none*.txt", r"no file matches 'data/none\*\.txt'"),
        ("data/b.txt", "data/**none.txt", r"no file matches 'data/\*\*none\.txt'"),
        ("data/b.txt", f"{'a' * 300}/*", r"tiny\.toml: .*(cannot be looked for \(File name|no file matches 'a*)"),
        ("data/ref.txt", "data/none.txt", r"no such file: .*data/none\.txt"),
        ("data/vectors.txt", "data/none.txt", r"data/none\.txt"),
        # values of another kind
        ('["exact", "vleu"]', '"vleu"', r"tiny\.toml, \[sweep\]: 'matchers' must be a list"),
        (REFERENCES, "[1]", r"'references' must be a list of text"),
        (REFERENCES, f"{REFERENCES}\nsource = 1", r"'source' must be text"),
        ("order = 2", 'order = "2"', "order"),
        ("order = 2", "metric = 2", r"\[settings\]: a metric is a name, an expression or a value, not int"),
        ("order = 2", "threshold = [0.5]", r"\[settings\]: threshold must be a number or text, not \[0.5\]"),
        ('["exact", "vleu"]', "[1979-05-27]", r"'matchers' must be a list of text"),
        ("[sweep]", "[sweep]\nmetrics = true", r"'metrics' must be a list of text"),
        ("[sweep]", "[sweep]\nvary = { order = [[2]] }", r"\[sweep\]: 'vary' must be a table of lists"),
        ("[sweep]", '[variants]\nlow = "order"\n[sweep]', r"\[variants.low\]: must be a table"),
        ("[sweep]", "[variants]\nlow = { colour = 1 }\n[sweep]", "unknown key 'colour'"),
    ],
)
def test_definitions_that_are_wrong(folder: Path, old: str, new: str, message: str) -> None:
    assert old in PLAIN
    refused(ValueError, message, lambda: run_definition(write(folder, PLAIN.replace(old, new))))


@pytest.mark.skipif(os.name != "posix", reason="pipes with names")
def test_a_pipe_is_no_text_of_an_experiment(folder: Path) -> None:
    """It would be waited for without end; texts are read more than once."""
    os.mkfifo(folder / "data" / "pipe")
    definition = Definition.read(write(folder, PLAIN.replace("data/ref.txt", "data/pipe")))
    refused(InputError, r"data/pipe: no plain file", definition.files)


def test_pictures(folder: Path) -> None:
    outcome = run_definition(write(folder, PLAIN))
    drawn = dict(outcome_pictures(outcome))
    assert list(drawn) == ["", ".ranks"]
    assert all(b"<svg" in each for each in drawn.values())
    assert outcome.sweep is not None
    one = replace(outcome, sweep=[row for row in outcome.sweep if row.system == outcome.sweep[0].system])
    assert list(dict(outcome_pictures(one, "pdf"))) == [""]
    assert list(outcome_pictures(Outcome(outcome.definition, outcome.started, 0.0))) == []
