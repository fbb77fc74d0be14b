"""Segments in memory: checked once, when they are put together."""

from __future__ import annotations

import pytest
from refusing import refused

from softbleu import InputError
from softbleu.corpora import Segments


def test_what_segments_are_made_of():
    assert Segments.of(["a", "b"], ["c", ["d", "e"]]).references == [("c",), ("d", "e")]
    assert Segments.of(["a", "b"], [["c", None], [None, "e"]]).references == [("c",), ("e",)]
    assert Segments.of(["a"], ["b"]).systems == ("candidate",)
    assert Segments.of({"A": ["a"], "B": ["b"]}, ["c"]).systems == ("A", "B")


def test_blocks(monkeypatch):
    monkeypatch.setattr("softbleu.corpora.segments.BLOCK", 2)
    corpus = Segments.of({"A": list("abcde")}, list("vwxyz"), list("12345"))
    blocks = list(corpus.blocks())
    assert [len(block) for block in blocks] == [2, 2, 1]
    assert [text for block in blocks for text in block.candidates["A"]] == list("abcde")
    assert [texts for block in blocks for texts in block.references] == corpus.references
    assert [text for block in blocks for text in block.source or ""] == list("12345")


@pytest.mark.parametrize("systems", [list("abc"), {"A": list("abc")}])
def test_transposed_references_are_refused(systems):
    message = (
        r"^3 candidates( of 'A')? but 2 lists of references of 3 each: they look transposed, as sacrebleu has them; "
        r"pass the references segment by segment, e\.g\. list\(zip\(\*references\)\)$"
    )
    references = [list("abc"), list("def")]
    refused(InputError, message, Segments.of, systems, references)
    # The advice works; other lengths are not called transposed.
    found = Segments.of(systems, list(zip(*references, strict=True)))
    assert found.references == [("a", "d"), ("b", "e"), ("c", "f")]
    with pytest.raises(InputError, match=r"^3 candidates( of 'A')? but references for 2 segments$"):
        Segments.of(systems, [["a"], ["b", "c"]])


@pytest.mark.parametrize(
    ("candidates", "references", "message"),
    [
        ("abc", ["a", "b", "c"], "a list with an entry a segment, .* not one text"),
        (["a"], "a", "a list with an entry a segment, .* not one text"),
        (["a", 5], ["a", "b"], "candidate of 'candidate', number 2: text is needed, not int"),
        ([None], ["a"], "candidate of 'candidate', number 1: text is needed, not NoneType"),
        ([b"a"], ["a"], "text is needed, not bytes"),
        (["a"], [["a", 5]], "reference of segment 1, number 2: text is needed, not int"),
        (["a", "b"], ["a", 5], "segment 2.* text is needed, not int"),
        (["a"], [b"a"], "segment 1.* text is needed, not bytes"),
        (["a"], [[["a"]]], "reference of segment 1, number 1: text is needed, not list"),
    ],
)
def test_anything_but_text(candidates, references, message):
    refused(InputError, message, Segments.of, candidates, references)


def test_source():
    assert Segments.of(["a"], ["b"], ["s"]).source == ["s"]
    refused(InputError, "1 segments but 2 source texts", Segments.of, ["a"], ["b"], ["s", "t"])
    refused(InputError, "source, number 1: text is needed, not int", Segments.of, ["a"], ["b"], [5])
