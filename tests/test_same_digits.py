"""Who does the work, and with which kernels, changes no digit: operations × executors × kernels.

The expected result is that of one process, of the NumPy kernels and of texts in memory; the others read files.
Processes of a cluster are tested in `cli/test_cluster.py`.
"""

import multiprocessing
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import softbleu
from softbleu.corpora import ParallelFiles, Segments
from softbleu.engine.plan import make_metrics
from softbleu.io import executors
from softbleu.meta import sweep_corpus, sweep_points
from softbleu.meta.spurious import CREDIT_TABLES, spurious
from softbleu.report import Layout
from softbleu.report.html import write_html
from softbleu.report.pages import make_page
from softbleu.results.api import compare_corpus, score_corpus
from softbleu.results.explain import explain_corpus
from softbleu.results.pairs import pair_systems, score_pairs, score_systems
from softbleu.results.significance import SignificanceSettings

pytestmark = pytest.mark.xdist_group("same digits")

WORDS = [f"w{number}" for number in range(30)]
SOFT = "vleu(threshold=p80, neighbours=9, vectors_postprocess=pc:1)"
CORPUS: dict[str, list[str]] = {}
for _seed, _name in enumerate(("one", "two", "first", "second", "source")):
    _draw = np.random.default_rng(_seed)
    CORPUS[_name] = [" ".join(_draw.choice([*WORDS, "W3", "oov"], size)) for size in _draw.integers(0, 12, 50)]
SYSTEMS = {name: CORPUS[name] for name in ("one", "two")}
REFERENCES = list(zip(CORPUS["first"], CORPUS["second"], strict=True))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The corpus as files, and vectors."""
    made = tmp_path_factory.mktemp("texts")
    rows = np.random.default_rng(9).normal(0.4, 1, (len(WORDS), 5))
    vectors = [f"{word} {' '.join(f'{x:.4f}' for x in row)}" for word, row in zip(WORDS, rows, strict=True)]
    for name, lines in {**CORPUS, "vectors": vectors}.items():
        (made / name).write_text("".join(f"{line}\n" for line in lines))
    return made


def measures(vectors: Path, *metrics: str) -> Any:
    return make_metrics(list(metrics), vectors=str(vectors))


def score_at(level: Any, *metrics: str) -> Callable[..., Any]:
    return lambda corpus, vectors, **how: score_corpus(corpus, measures(vectors, *metrics), level=level, **how)


def compare_all(corpus: Any, vectors: Path, **how: Any) -> Any:
    how["significance"] = SignificanceSettings(samples=20)
    return [table.records() for table in compare_corpus(corpus, measures(vectors, "bleu", SOFT), **how)]


def sweep_all(corpus: Any, vectors: Path, **how: Any) -> Any:
    vary = {"matcher": ["exact", "sleu", "vleu", "xleu"], "threshold": [0.3, "p80"], "order": [2, 4]}
    return sweep_corpus(corpus, sweep_points({"vectors": str(vectors)}, vary), **how)


def matrix_of(corpus: Any, vectors: Path, **how: Any) -> Any:
    found = []
    for each in measures(vectors, "chrf", "softbleu"):
        found.append(score_systems(pair_systems(corpus), [[*SYSTEMS], ["first", "second"]], each, **how))
        found.append(softbleu.pairwise(CORPUS["one"][:9], metrics=each, **how))
        found += score_pairs(pair_systems(corpus), each, **how)
    return [each.records() for each in found]


def metaeval_all(corpus: Any, vectors: Path, **how: Any) -> Any:
    metrics = {"bleu": "bleu", "soft": f"vleu(threshold=0.5, vectors='{vectors}')"}
    people = {"people": {name: float(place) for place, name in enumerate(CORPUS)}}
    return softbleu.metaeval(
        "systems", metrics=metrics, candidates=CORPUS, references=CORPUS["first"], human=people, samples=20, **how
    ).table


def spurious_all(corpus: Any, vectors: Path, **how: Any) -> Any:
    given: dict[str, Any] = {"grammar": "alternations", "count": 70, "variants": ["plain", "neighbours"]}
    found = spurious(**given, matchers=["vleu"], thresholds=["0.5:0.9:0.2"], **how)
    return [found.table(name) for name in CREDIT_TABLES], [each.tally.histogram.tolist() for each in found.analyses]


def page_of(corpus: Any, vectors: Path, **how: Any) -> Any:
    return "".join(write_html(make_page(corpus, *measures(vectors, "vleu(threshold=0.5)"), **how), Layout()))


def explain_some(corpus: Any, vectors: Path, **how: Any) -> Any:
    """Done here, whatever else may do it."""
    return [asdict(each) for each in explain_corpus(corpus, *measures(vectors, SOFT), [1, 30, 7])]


BY_WORDS = ("bleu", "chrf++", "ter", "gleu(iterations=9)", "green")
ALL = (*BY_WORDS, "sleu(threshold=0.5)", SOFT, "xleu(assignment=optimal, composition=sif)", "softbleu")
OPERATIONS: dict[str, Callable[..., Any]] = {
    "scores of a corpus": score_at("corpus", *ALL),
    "scores of segments": score_at("segment", *ALL),
    "means of segments": score_at("macro", *ALL),
    "scores of references": score_at("reference", "gleu"),
    "scores of edits": score_at("segment", "cleme(weights=length)", "cleme2"),
    "partial scores": score_at(
        "segment", "bleu(partial=yes)", "vleu(partial=yes)", "gleu(partial=yes)", "chrf(partial_by=characters)"
    ),
    "comparison": compare_all,
    "sweep": sweep_all,
    "matrix": matrix_of,
    "meta-evaluation": metaeval_all,
    "spurious matches": spurious_all,
    "page": page_of,
    "explanation": explain_some,
}
each_operation = pytest.mark.parametrize("operation", OPERATIONS)


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several tasks of each operation."""
    for name, size in (("corpora.corpus.BLOCK", 16), ("engine.runner.BLOCK", 16), ("meta.spurious.MINI_BATCH", 30)):
        monkeypatch.setattr(f"softbleu.{name}", size)


@pytest.fixture(scope="module")
def how(request: pytest.FixtureRequest) -> Iterator[dict[str, Any]]:
    """Options of a run that say who does it."""
    if request.param == "here":
        yield {}
        return
    spawn = multiprocessing.get_context("spawn")
    with ThreadPoolExecutor(2) if request.param == "threads" else ProcessPoolExecutor(2, spawn) as executor:
        yield {"executor": executor}


@pytest.fixture(scope="module")
def expected(folder: Path) -> Callable[[str], Any]:
    """What one process makes of texts in memory, with the NumPy kernels."""
    corpus = Segments.of(SYSTEMS, REFERENCES, CORPUS["source"])
    return cache(lambda operation: OPERATIONS[operation](corpus, folder / "vectors"))


def corpus_of(folder: Path) -> Any:
    names = {name: str(folder / name) for name in CORPUS}
    systems = {name: names[name] for name in SYSTEMS}
    return ParallelFiles.open(systems, [names["first"], names["second"]], names["source"])


@each_operation
@pytest.mark.parametrize(
    ("how", "kernels"),
    [
        *((where, "numpy") for where in ("here", "threads")),
        pytest.param("processes", "numpy", marks=pytest.mark.slow),
        # Compiled once, and then read by processes.
        *(pytest.param(where, "numba", marks=pytest.mark.slow) for where in ("here", "threads", "processes")),
    ],
    indirect=["how"],
    scope="module",
)
def test_digits_do_not_depend_on_who_does_the_work(operation, kernels, how, folder, expected, monkeypatch):
    pytest.importorskip(kernels)
    before = expected(operation)
    # From this size on, compiled kernels are taken.
    monkeypatch.setattr("softbleu.kernels.LARGE", 0 if kernels == "numba" else sys.maxsize)
    with corpus_of(folder) as corpus:
        assert OPERATIONS[operation](corpus, folder / "vectors", **how) == before


class _AskedError(Exception):
    """Workers of this machine are wanted."""


@pytest.mark.parametrize("operation", [name for name in OPERATIONS if name != "explanation"])
def test_jobs_are_workers(operation: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are asked for; that they change no digit is the test above."""

    def local(jobs: int, **_: Any) -> Executor:
        raise _AskedError(jobs)

    monkeypatch.setattr(executors, "local_executor", local)
    with corpus_of(folder) as corpus, pytest.raises(_AskedError, match=r"^2$"):
        OPERATIONS[operation](corpus, folder / "vectors", jobs=2)
