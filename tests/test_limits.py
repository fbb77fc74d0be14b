"""What is too much work is refused by a line that names what allows it; what people have is far below."""

import re
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name, walk_packages
from typing import Any

import numpy as np
import pytest
from made_up_encoder import MadeUpEncoder
from refusing import refused

import softbleu
from softbleu import InputError
from softbleu.corpora import Segments, read_m2
from softbleu.corpora.grammar import parse_grammar
from softbleu.corpora.judgements import Comparisons
from softbleu.embeddings.choice import VectorChoice
from softbleu.embeddings.neighbours import NeighbourIndex
from softbleu.engine.prepare import CorpusWords
from softbleu.io.arguments import Limit
from softbleu.matching.context import ContextVectors
from softbleu.meta.measures import JudgedPairs
from softbleu.metrics.m2 import find_edits
from softbleu.report.pages import make_page

VECTORS = {"a": [1.0, 0.0], "b": [0.5, 0.5], "c": [0.0, 1.0]}
Work = Callable[[int], object]
"""What is done with so many segments of the same length."""


def texts(count: int) -> tuple[list[str], list[str], list[str]]:
    """Candidates, references and sources; each segment but the first has words of its own."""
    names = ["", *map(str, range(1, count))]
    lines = ("a{0} b c{0} d", "b a{0} d{0} x", "a d{0} x y{0}")
    return tuple([line.format(name) for name in names] for line in lines)  # type: ignore[return-value]


def scored(metric: str, **options: Any) -> Work:
    def work(count: int) -> object:
        candidates, references, sources = texts(count)
        more: Any = (None if metric == "refless" else references, sources)
        return softbleu.score(candidates, *more, metrics=metric, **options)

    return work


CASES: dict[str, tuple[str, int, Work]] = {
    "softbleu": ("metrics.softbleu._LIMIT", 8, scored("softbleu", vectors=VECTORS)),
    "meteor": ("metrics.meteor._LIMIT", 8, scored("meteor", stages="exact")),
    "imeasure": ("metrics.imeasure._LIMIT", 100, scored("imeasure")),
    "chrf, partial by characters": ("kernels.prefixes._LIMIT", 1, scored("chrf(partial_by=characters)")),
    "ter": ("metrics.ter._LIMIT", 1, scored("ter")),
    "words, vleu": ("matching.matchers.MATCHED_WORDS", 7, scored("vleu", vectors=VECTORS)),
    "n-grams, vleu": ("matching.matchers._LIMIT", 8, scored("vleu", vectors=VECTORS)),
    "optimal": ("matching.matchers.OPTIMAL", 1, scored("vleu", vectors=VECTORS, assignment="optimal", threshold=0.1)),
    "gleu, vleu": ("matching.matchers.MATCHED_WORDS", 7, scored("gleu", matcher="vleu", vectors=VECTORS)),
    "gleu": ("metrics.gleu._LIMIT", 11, scored("gleu")),
    "green": ("metrics.green._LIMIT", 11, scored("green")),
    "hyter": ("metrics.hyter._LIMIT", 15, scored("hyter")),
    "bertscore": ("metrics.bertscore._LIMIT", 8, scored("bertscore", vectors=MadeUpEncoder())),
    "cleme": ("metrics.bertscore._LIMIT", 8, scored("cleme", weights="similarity", vectors=MadeUpEncoder())),
    "uot": ("metrics.uot._LIMIT", 1, scored("uot")),
    "trained": ("metrics.trained._LIMIT", 8, scored("trained", vectors=VECTORS)),
    "refless": ("metrics.refless._LIMIT", 7, scored("refless")),
    "explain": ("results.explain._LIMIT", 7, lambda count: softbleu.explain(*texts(count)[:2])),
    "page": ("analysis.excerpt._LIMIT", 7, lambda count: make_page(Segments.of(*texts(count)[:2])).scores.results),
}


@pytest.fixture(autouse=True)
def _nothing_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # What is kept of an encoder would not be encoded again.
    monkeypatch.setenv("SOFTBLEU_CACHE", str(tmp_path))
    monkeypatch.setattr("softbleu.metrics.imeasure.MOST_PAIRS", 0)
    monkeypatch.setattr("softbleu.metrics.ter._LONG", 1)


@pytest.mark.parametrize("case", CASES)
def test_input_above_a_limit_is_refused_until_more_is_allowed(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place, most, work = CASES[case]
    limit = resolve_name(f"softbleu.{place}")

    def set_limit(most: int) -> None:
        monkeypatch.setattr(f"softbleu.{place}", replace(limit, most=most))

    if case in ("n-grams, vleu", "optimal"):
        monkeypatch.setattr("softbleu.matching.matchers.LONG_CELLS", 1)
        monkeypatch.setattr("softbleu.matching.matchers.BATCH_CELLS", 1)
    expected = [work(count) for count in (1, 25)]
    set_limit(most)
    counted = rf"\(([\d,]+) {limit.counted}, {most:,} are allowed\)"
    remedy = rf"{limit.remedy}, or allow more by SOFTBLEU_LIMITS=(\d+)"
    message = rf"^[^\n]+ is too much for {limit.user} {counted}: {remedy}$"
    needed = int(re.findall(message, refused(InputError, message, work, 1))[0][0].replace(",", ""))
    assert needed > most
    # Each of many segments may have a tenth of the limit.
    set_limit(10 * needed)
    assert [work(count) for count in (1, 25)] == expected
    set_limit(most)
    monkeypatch.setenv("SOFTBLEU_LIMITS", "10000")
    assert work(1) == expected[0]


def test_limits_are_ten_times_what_people_have() -> None:
    names = [module.name for module in walk_packages(softbleu.__path__, "softbleu.")]
    # Those of torch, which may not be installed, have no limits.
    modules = [import_module(name) for name in names if not re.search("__main__|numba_soft|torch_", name)]
    found = {each for module in modules for each in vars(module).values() if isinstance(each, Limit)}
    assert len(found) > 20
    for limit in found:
        *_, number = re.findall(r"\d[\d,]*", limit.ordinary)
        # More pairs would not fit into memory.
        times = 3 if limit.user in ("softbleu", "m2", "a GGUF file") else 10
        assert times * int(number.replace(",", "")) <= limit.most, (limit.user, limit.ordinary)


def test_a_vocabulary_is_no_line() -> None:
    words = [f"word{number}" for number in range(20_000)]
    made = CorpusWords.in_context(VectorChoice("minilm-l6").resolved(), words)
    assert isinstance(made.words.vectors, ContextVectors)
    assert np.flatnonzero(made.words.vectors.known_words).tolist() == list(range(20_000))


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "x", "9999999", "٣"])
def test_the_factor_of_limits_is_a_number(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOFTBLEU_LIMITS", text)
    monkeypatch.setattr("softbleu.metrics.meteor._LIMIT", Limit("meteor", "pairs of words", 8, "none"))
    message = "SOFTBLEU_LIMITS must be a whole number from 1 to 1000000"
    refused(InputError, message, scored("meteor", stages="exact"), 1)


GOLD = "S a b\n" + "".join(f"A 0 1|||X|||c|||REQUIRED|||-NONE-|||{annotator}\n" for annotator in range(5)) + "\n"
ROWS, COMPARED = np.arange(4.0), Comparisons.of([(0, "a", "b", 1, "x"), (0, "c", "d", 1, "x")])
READERS: dict[str, tuple[Callable[[Path], object], str]] = {
    "metrics.hyter.MOST_REFERENCES": (
        lambda _: softbleu.Hyter().sentence_score("a", [*"abcd"]),
        r"(?=.* \(4 references, .*: leave some out)a segment is",
    ),
    "metrics.m2.metric._LIMIT": (lambda _: find_edits((1, 2), (1, 3), []), "2 source and 2 candidate words is"),
    "corpora.edits._LIMIT": (lambda path: read_m2(str(path)), "gold.m2, line 5 is"),
    "corpora.grammar._LIMIT": (lambda _: parse_grammar("g", ["S -> 'a' | 'b'"]), "g is"),
    "results.pairs._LIMIT": (lambda _: softbleu.pairwise(["a", "b"]), "list 1 is"),
    "meta.measures._LIMIT": (lambda _: JudgedPairs.among(ROWS, ROWS), "a table of 4 rows is"),
    "corpora.judgements.comparisons._LIMIT": (lambda _: COMPARED.tallies(), "a ranking is"),
    "embeddings.neighbours._LIMIT": (
        lambda _: NeighbourIndex(np.ones((2, 1))).above(np.ones((2, 1)), 0.5, np.full(2, -1)),
        "a search for 2 words is",
    ),
}


@pytest.mark.parametrize("name", READERS)
def test_input_that_takes_too_long_for_its_size_is_refused(name, tmp_path, monkeypatch):
    work, said = READERS[name]
    path = tmp_path / "gold.m2"
    path.write_text(GOLD)
    limit = resolve_name(f"softbleu.{name}")
    monkeypatch.setattr(f"softbleu.{name}", replace(limit, most=3))
    line = rf"{said} too much for {limit.user} .* {limit.counted}, 3 are allowed.*{limit.remedy}.*SOFTBLEU_LIMITS=2"
    refused(InputError, line, work, path)
    monkeypatch.setenv("SOFTBLEU_LIMITS", "2")
    work(path)
