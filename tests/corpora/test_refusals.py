"""What readers of corpora refuse in one line; `refusals.toml` has a row for each case."""

import tomllib
from pathlib import Path

import pytest
from refusing import refused

from softbleu.corpora import read_m2, read_segments
from softbleu.corpora.aligned import read_aligned
from softbleu.corpora.grammar import parse_grammar
from softbleu.corpora.judgements import read_assessments, read_rankings, read_scores, read_spans
from softbleu.errors import InputError

KNOWN = tomllib.loads(Path(__file__).with_name("refusals.toml").read_text(encoding="utf-8"))
ROWS = [(reader, row) for reader, rows in KNOWN["refused"].items() for row in rows]
READERS = {
    "rankings": read_rankings,
    "scores": read_scores,
    "assessments": read_assessments,
    "spans": read_spans,
    "m2": read_m2,
    "segments": read_segments,
    "aligned": lambda path: list(read_aligned(path)),
    "grammars": lambda path: parse_grammar(path, Path(path).read_text(encoding="utf-8").splitlines()),
}


@pytest.mark.parametrize(("reader", "row"), ROWS)
def test_refused(reader, row, written):
    text, old = KNOWN["texts"].get(row.get("of"), ""), row.get("old", "")
    assert old in text
    path = written(text.replace(old, row.get("new", ""), 1) + row.get("text", ""), row.get("name", "bad"))
    said = refused(InputError, "", READERS[reader], path)
    assert said.startswith(path)
    assert all(part in said for part in row["said"].split(" … ")), said
