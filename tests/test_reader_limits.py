"""What takes more time than its size warrants is refused, by a line that names the limit and what raises it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import softbleu
from softbleu import InputError
from softbleu.corpora.grammar import parse_grammar
from softbleu.corpora.judgements import Comparisons
from softbleu.corpora.m2 import read_m2
from softbleu.embeddings.index import range_graph
from softbleu.meta.accuracy import JudgedPairs
from softbleu.metrics.m2 import count_edits

GOLD = "S a b\n" + "".join(f"A 0 1|||X|||c|||REQUIRED|||-NONE-|||{annotator}\n" for annotator in range(5)) + "\n"
ROWS = np.arange(4.0)
CASES: dict[str, tuple[Callable[[Path], object], str]] = {
    "metrics.m2.metric": (lambda _: count_edits((1, 2), (1, 3), []), "2 source and 2 candidate words is"),
    "corpora.m2": (lambda path: read_m2(str(path)), "gold.m2, line 5 is"),
    "corpora.grammar": (lambda _: parse_grammar("g", ["S -> 'a' | 'b'"]), "g is"),
    "results.pairs": (lambda _: softbleu.select([["a", "b"]], "bleu"), "list 1 is"),
    "meta.accuracy": (lambda _: JudgedPairs.among(ROWS, ROWS), "a table of 4 rows is"),
    "corpora.judgements.comparisons": (
        lambda _: Comparisons.of([(0, "a", "b", 1, "x"), (0, "c", "d", 1, "x")]).tallies(),
        "a ranking is",
    ),
    "embeddings.index": (lambda _: range_graph(np.ones((2, 1)), np.ones((2, 1)), 0.5), "a search for 2 words is"),
}


@pytest.mark.parametrize("module", CASES)
def test_too_much_is_refused_until_more_is_allowed(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, said = CASES[module]
    path = tmp_path / "gold.m2"
    path.write_text(GOLD)
    limit = import_module(f"softbleu.{module}")._LIMIT
    monkeypatch.setattr(f"softbleu.{module}._LIMIT", replace(limit, most=3))
    line = rf"{said} too much for {limit.user} .* {limit.counted}, 3 are allowed.*--limits 2 "
    with pytest.raises(InputError, match=line):
        work(path)
    monkeypatch.setenv("SOFTBLEU_LIMITS", "2")
    work(path)


def test_references_of_hyter(monkeypatch: pytest.MonkeyPatch) -> None:
    limit = import_module("softbleu.metrics.hyter").MOST_REFERENCES
    monkeypatch.setattr("softbleu.metrics.hyter.MOST_REFERENCES", replace(limit, most=1))
    with pytest.raises(InputError, match=r"too much for hyter \(2 references, 1 are allowed\): leave some out"):
        softbleu.score(["a"], [["a", "b"]], metric="hyter")
    monkeypatch.setenv("SOFTBLEU_LIMITS", "2")
    assert softbleu.score(["a"], [["a", "b"]], metric="hyter").score == 0
