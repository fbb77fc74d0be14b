"""Values from outside: sacrebleu as installed, the tables of Morgan 2014, and independent programs."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from adversarial.test_differential import assert_same
from complete import complete
from sacrebleu.metrics import BLEU
from shared_data import SHARED, shared

from softbleu.corpora import ParallelFiles, Segments
from softbleu.kernels import KernelName
from softbleu.metrics.bleu import Bleu, BleuScore
from softbleu.metrics.reading import read_metric
from softbleu.results.api import score_corpus
from softbleu.text.tokens import Whitespace, make_tokenizer

GOLDEN = Path(__file__).parent / "golden"
MORGAN: dict[str, Any] = json.loads((GOLDEN / "morgan2014.json").read_text())
SOFT_SCORES: dict[str, Any] = json.loads((GOLDEN / "soft_scores.json").read_text())
SYSTEMS = sorted(SHARED.glob("data/wmt13-de-en/system-outputs/*.txt"))


@cache
def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")


@pytest.mark.slow
@pytest.mark.parametrize(("tokenize", "kernels"), [("none", "numba"), ("13a", "numpy")])
def test_all_systems_of_wmt13(tokenize: str, kernels: KernelName) -> None:
    if kernels == "numba":
        pytest.importorskip("numba", reason="numba (extra 'fast') is missing")
    path = shared("data", "wmt13-de-en", "reference.en")
    assert len(SYSTEMS) == 23
    # Of what is split anew a third, for sacrebleu takes long.
    systems = SYSTEMS if tokenize == "none" else SYSTEMS[::3]
    with ParallelFiles.open([str(system) for system in systems], [str(path)]) as corpus:
        results = score_corpus(corpus, complete(Bleu(), make_tokenizer(tokenize)), kernels=kernels)
    metric = BLEU(tokenize=tokenize, force=True, references=[lines(path)])
    for result, system in zip(results, systems, strict=True):
        assert result.name == system.stem
        assert_same(result.numbers, metric.corpus_score(lines(system), None))


def morgan(count: int | None = None) -> Segments:
    candidate, reference = (lines(shared("data", "morgan2014", name)) for name in ("umd.2922.txt", "reference.en"))
    return Segments.of(candidate[:count], reference[:count])


def test_morgan_matches_standard_bleu_preset_and_printed_scores() -> None:
    found = score_corpus(morgan(), complete(Bleu(), Whitespace()))[0].numbers
    assert isinstance(found, BleuScore)
    assert found.matches == MORGAN["exact_matches"]
    assert found.candidate_length == MORGAN["candidate_length"]
    assert found.reference_length == MORGAN["reference_length"]
    assert found.score == pytest.approx(MORGAN["standard_bleu"], abs=5e-5)
    bleu, xleu = (
        score_corpus(morgan(), read_metric("bleu", preset="morgan2014", **more))[0].numbers
        for more in ({}, {"matcher": "xleu", "threshold": 1.0})
    )
    assert (bleu.totals, xleu.totals) == (MORGAN["reference_totals"], MORGAN["xleu_totals"])
    # The paper's program printed twelve digits.
    assert bleu.score / 100 == pytest.approx(MORGAN["printed"]["BLEU"]["score"], abs=1e-12)
    # Matches are printed with one decimal.
    for printed in MORGAN["printed"].values():
        lengths = (MORGAN["candidate_length"], MORGAN["reference_length"])
        found = Bleu(smooth="none").score_counts(printed["matches"], MORGAN["reference_totals"], *lengths)
        assert found.score == pytest.approx(100 * printed["score"], abs=1e-4)


def soft(count: int | None, entry: dict[str, Any]) -> Any:
    """A case of so many lines, or of all, in the second tier."""
    name = "-".join(str(value) for key, value in entry.items() if key not in ("score", "matches"))
    return pytest.param(count, entry, id=f"{count or 'all'}-{name}", marks=[] if count else [pytest.mark.slow])


SOFT = [soft(150, entry) for entry in SOFT_SCORES["first_150_lines"]]
SOFT += [soft(None, entry) for entry in SOFT_SCORES["all_lines"]]


@pytest.mark.parametrize(("count", "entry"), SOFT)
def test_soft_scores_are_the_golden_ones(count: int | None, entry: dict[str, Any]) -> None:
    options = {name: entry[name] for name in ("threshold", "assignment") if name in entry}
    options |= {"tokenize": "none", "vector_case": entry["case"]}
    path = shared("data", "googlenews-26k", "googlenews-26k-300d.bin")
    found = score_corpus(morgan(count), read_metric(entry["matcher"], vectors=path, **options))[0].numbers
    assert found.score == pytest.approx(entry["score"], abs=5.1e-6 if count else 1e-8)
    assert found.matches == pytest.approx(entry.get("matches", found.matches), abs=5.1e-5)
