"""Values from outside: sacrebleu as installed, the tables of Morgan 2014, and independent programs."""

from __future__ import annotations

import json
import logging
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from complete import complete
from sacrebleu.metrics import BLEU
from sacrebleu.metrics.bleu import BLEUScore
from shared_data import SHARED, shared

from softbleu import score
from softbleu.corpora import ParallelFiles, Segments
from softbleu.kernels import KernelName
from softbleu.metrics import Bleu, BleuScore, Score
from softbleu.metrics.making import make_metric
from softbleu.results import score_corpus
from softbleu.text.tokens import Tokenizer

GOLDEN = Path(__file__).parent / "golden"
MORGAN: dict[str, Any] = json.loads((GOLDEN / "morgan2014.json").read_text())
SOFT_SCORES: dict[str, Any] = json.loads((GOLDEN / "soft_scores.json").read_text())
SYSTEMS = sorted(SHARED.glob("data/wmt13-de-en/system-outputs/*.txt"))
RELATIVE = 1e-12


@cache
def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")


def reference() -> Path:
    return shared("data", "wmt13-de-en", "reference.en")


def outputs(count: int, start: int = 0) -> list[list[str]]:
    """Outputs of some of the systems."""
    reference()
    return [lines(path) for path in SYSTEMS[start : start + count]]


@pytest.fixture(autouse=True)
def _no_advice(caplog: pytest.LogCaptureFixture) -> None:
    """Sacrebleu advises against segment scores without effective order, thousands of times."""
    caplog.set_level(logging.ERROR, logger="sacrebleu")


def assert_same(ours: Score, theirs: BLEUScore, *, smooth: str = "exp") -> None:
    assert isinstance(ours, BleuScore)
    if smooth != "add-k":  # sacrebleu gives the counts after adding k
        assert ours.matches == list(theirs.counts)
        assert ours.totals == list(theirs.totals)
    assert ours.candidate_length == theirs.sys_len
    assert ours.reference_length == theirs.ref_len
    assert ours.brevity_penalty == pytest.approx(theirs.bp, rel=RELATIVE, abs=0)
    assert ours.precisions == pytest.approx(theirs.precisions, rel=RELATIVE, abs=0)
    assert ours.score == pytest.approx(theirs.score, rel=RELATIVE, abs=0)
    assert f"{ours.score:.2f} {'/'.join(f'{p:.1f}' for p in ours.precisions)}" in str(theirs)


# sacrebleu


@pytest.mark.slow
@pytest.mark.parametrize(("tokenize", "kernels"), [("none", "numba"), ("13a", "numpy")])
def test_all_systems_of_wmt13(tokenize: str, kernels: KernelName) -> None:
    if kernels == "numba":
        pytest.importorskip("numba", reason="numba (extra 'fast') is missing")
    path = reference()
    assert len(SYSTEMS) == 23
    with ParallelFiles.open([str(system) for system in SYSTEMS], [str(path)]) as corpus:
        results = score_corpus(corpus, complete(Bleu(), Tokenizer(tokenize)), kernels=kernels)
    metric = BLEU(tokenize=tokenize, force=True, references=[lines(path)])
    for result, system in zip(results, SYSTEMS, strict=True):
        assert result.name == system.stem
        assert_same(result.numbers, metric.corpus_score(lines(system), None))


SMOOTHINGS = [("none", None), ("floor", None), ("floor", 0.5), ("add-k", None), ("add-k", 0.25), ("exp", None)]


def both(
    candidates: list[str],
    references: list[list[str | None]],
    *,
    level: str = "corpus",
    smooth: str = "exp",
    smooth_value: float | None = None,
    tokenize: str = "none",
    order: int = 4,
    **settings: bool,
) -> list[tuple[Score, BLEUScore]]:
    """Scores of ours and of sacrebleu, side by side; `references` are given one list a reference."""
    by_segment = [[text for text in texts if text is not None] for texts in zip(*references, strict=True)]
    settings |= {"smooth_value": smooth_value, "tokenize": tokenize}  # type: ignore[dict-item]
    ours = score(candidates, by_segment, level=level, smooth=smooth, order=order, **settings)  # type: ignore[call-overload]
    theirs = BLEU(force=True, smooth_method=smooth, max_ngram_order=order, **settings)
    if level == "corpus":
        return [(ours.numbers, theirs.corpus_score(candidates, references))]
    return [
        (segment, theirs.sentence_score(candidate, texts))
        for segment, candidate, texts in zip(ours.segments, candidates, by_segment, strict=True)
    ]


@pytest.mark.parametrize("effective_order", [False, True])
@pytest.mark.parametrize(("smooth", "value"), SMOOTHINGS)
def test_smoothing_at_corpus_level(smooth: str, value: float | None, effective_order: bool) -> None:
    """The whole corpus, where smoothing hardly matters, and a few of its lines, where it does."""
    candidates, other = outputs(2)
    options = {"smooth": smooth, "smooth_value": value, "effective_order": effective_order}
    for size in (400, 3, 2, 1):
        for start in (0, 700):
            part = slice(start, start + size)
            for pair in both(candidates[part], [lines(reference())[part], other[part]], **options):
                assert_same(*pair, smooth=smooth)


SETTINGS: list[dict[str, Any]] = [
    *({"order": order} for order in (1, 2, 6)),
    *({"tokenize": name, "lowercase": case} for name in ("none", "13a", "intl", "zh") for case in (False, True)),
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_settings(settings: dict[str, Any]) -> None:
    candidates, other = outputs(2)
    for pair in both(candidates[:300], [lines(reference())[:300], other[:300]], **settings):
        assert_same(*pair)


@pytest.mark.parametrize("level", ["corpus", "segment"])
@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("ragged", [False, True])
def test_references(count: int, ragged: bool, level: str) -> None:
    """As many of each segment, or of some segments more than of others."""
    candidates, *others = outputs(count)
    texts: list[list[str | None]] = [list(lines(reference())[:300])]
    for number, other in enumerate(others, start=2):
        texts.append([text if place % number or not ragged else None for place, text in enumerate(other[:300])])
    for pair in both(candidates[:300], texts, level=level, effective_order=level == "segment"):
        assert_same(*pair)


@pytest.mark.parametrize("effective_order", [False, True])
@pytest.mark.parametrize(("smooth", "value"), SMOOTHINGS)
def test_segments(smooth: str, value: float | None, effective_order: bool) -> None:
    candidates, other = outputs(2, start=5)
    # Short lines on purpose, too: the first words of some.
    cut = [
        " ".join(text.split()[: number % 5]) if number % 3 else text for number, text in enumerate(candidates[:300])
    ]
    options = {"level": "segment", "smooth": smooth, "smooth_value": value, "effective_order": effective_order}
    pairs = both(cut, [lines(reference())[:300], other[:300]], **options)
    assert len(pairs) == 300
    assert any(pair[1].score == 0 for pair in pairs)
    for pair in pairs:
        assert_same(*pair, smooth=smooth)


# Morgan 2014


def morgan(count: int | None = None) -> Segments:
    candidate, reference = (lines(shared("data", "morgan2014", name)) for name in ("umd.2922.txt", "reference.en"))
    return Segments.of(candidate[:count], reference[:count])


def test_morgan_matches_and_standard_bleu() -> None:
    found = score_corpus(morgan(), complete(Bleu(), Tokenizer("none")))[0].numbers
    assert isinstance(found, BleuScore)
    assert found.matches == MORGAN["exact_matches"]
    assert found.candidate_length == MORGAN["candidate_length"]
    assert found.reference_length == MORGAN["reference_length"]
    assert found.score == pytest.approx(MORGAN["standard_bleu"], abs=5e-5)


def test_morgan_preset() -> None:
    bleu, xleu = (
        score_corpus(morgan(), make_metric("bleu", preset="morgan2014", **more))[0].numbers
        for more in ({}, {"matcher": "xleu", "threshold": 1.0})
    )
    assert (bleu.totals, xleu.totals) == (MORGAN["reference_totals"], MORGAN["xleu_totals"])
    # The paper's program printed twelve digits.
    assert bleu.score / 100 == pytest.approx(MORGAN["printed"]["BLEU"]["score"], abs=1e-12)


@pytest.mark.parametrize("name", ["BLEU", "SLEU", "VLEU"])
def test_morgan_printed_matches_give_printed_scores(name: str) -> None:
    printed = MORGAN["printed"][name]
    lengths = (MORGAN["candidate_length"], MORGAN["reference_length"])
    found = Bleu(smooth="none").score_counts(printed["matches"], MORGAN["reference_totals"], *lengths)
    # Matches are printed with one decimal.
    assert found.score == pytest.approx(100 * printed["score"], abs=1e-4)


# soft scores


def soft_score(corpus: Segments, entry: dict[str, Any]) -> BleuScore:
    options = {name: entry[name] for name in ("threshold", "assignment") if name in entry}
    options |= {"tokenize": "none", "vector_case": entry["case"]}
    path = shared("data", "googlenews-26k", "googlenews-26k-300d.bin")
    found = score_corpus(corpus, make_metric(entry["matcher"], vectors=path, **options))[0].numbers
    assert isinstance(found, BleuScore)
    return found


def name_of(entry: dict[str, Any]) -> str:
    return "-".join(str(value) for key, value in entry.items() if key not in ("score", "matches"))


@pytest.mark.parametrize("entry", SOFT_SCORES["first_150_lines"], ids=name_of)
def test_soft_scores_of_150_lines(entry: dict[str, Any]) -> None:
    found = soft_score(morgan(150), entry)
    assert found.score == pytest.approx(entry["score"], abs=5.1e-6)
    assert found.matches == pytest.approx(entry.get("matches", found.matches), abs=5.1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("entry", SOFT_SCORES["all_lines"], ids=name_of)
def test_soft_scores_of_all_lines(entry: dict[str, Any]) -> None:
    assert soft_score(morgan(), entry).score == pytest.approx(entry["score"], abs=1e-8)
