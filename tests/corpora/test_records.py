"""Whole segments in one file: pairs, TSV and JSONL, and everything that can be wrong with them."""

import gzip
import io
import json
import sys
from types import SimpleNamespace

import pytest
from refusing import refused

from softbleu import InputError
from softbleu.corpora import Segments, read_segments

PAIRS = "a cat ||| the cat ||| one cat\n||| empty\nx|||\n"
TSV = "id\tsource\tcandidate\treference\treference2\n1\tS1\ta cat\tthe cat\tone cat\n2\tS2\t\tempty\n3\tS3\tx\t\t\n"
JSONL = (
    '{"candidate": "a cat", "references": ["the cat", "one cat"], "source": "S1"}\n'
    '{"candidate": "", "reference": "empty", "source": "S2", "more": [1]}\n'
    '{"candidate": "x", "references": ["", null, ""], "source": "S3"}\n'
)
RAGGED = [("the cat", "one cat"), ("empty",), ("",)]


@pytest.fixture
def read(written):
    return lambda content, name, **options: read_segments(written(content, name), **options)


@pytest.mark.parametrize(
    ("content", "name", "last", "source"),
    [
        (PAIRS, "corpus.txt", ("",), None),
        (TSV, "corpus.tsv", ("", ""), ["S1", "S2", "S3"]),
        (JSONL, "corpus.jsonl", ("", ""), ["S1", "S2", "S3"]),
    ],
)
def test_formats(content, name, last, source, read):
    found = read(content, name)
    assert found == Segments({"candidate": ["a cat", "", "x"]}, [*RAGGED[:2], last], source)
    # The format goes before the suffix.
    assert read(content, "other.txt", file_format=name.split(".")[1].replace("txt", "pairs")) == found


def test_several_systems(read):
    expected = {"A": ["a1", "a2"], "B": ["b1", "b2"]}
    tsv = "candidate:A\treference\tcandidate:B\na1\tr1\tb1\na2\tr2\tb2\n"
    assert read(tsv, "x.tsv").candidates == expected
    rows = ({"candidate": {"A": f"a{n}", "B": f"b{n}"}, "reference": f"r{n}"} for n in (1, 2))
    assert read("\n".join(map(json.dumps, rows)), "x.jsonl").candidates == expected


@pytest.mark.parametrize(("content", "name"), [(PAIRS, "c.txt"), (TSV, "c.tsv"), (JSONL, "c.jsonl")])
def test_kinds_of_files(content, name, read, monkeypatch):
    expected, data = read(content, name), content.encode()
    assert read(gzip.compress(data), f"{name}.gz") == expected
    for other in (data.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + data, data.removesuffix(b"\n")):
        assert read(other, name) == expected
    for encoding in ("utf-16", "latin-1"):
        assert read(content.encode(encoding), name, encoding=encoding) == expected
    monkeypatch.setattr("softbleu.corpora.files._BLOCK", 1)
    assert read(data, name) == expected
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(PAIRS.encode())))
    assert read_segments("-").references == RAGGED


@pytest.mark.parametrize("piece", [1, 3, 1 << 20])
def test_bytes(piece, read, tmp_path, monkeypatch):
    monkeypatch.setattr("softbleu.corpora.files._BLOCK", piece)
    with pytest.raises(InputError, match=r"c.txt, line 3, byte 2: not UTF-8 \(0xff\); name its encod"):
        read(b"a ||| b\nc ||| d\ne\xff ||| f\n", "c.txt")
    refused(InputError, r"c.txt, line 1, byte 10: not UTF-8 \(0xc3\)", read, b"a ||| caf\xc3", "c.txt")
    refused(InputError, "c.txt.gz: broken gzip data", read, gzip.compress(b"a ||| b\n")[:-4], "c.txt.gz")
    refused(InputError, "no such file", read_segments, str(tmp_path / "nothing.tsv"))
    assert read("a\rb ||| \x85c\nd ||| e\u2028\n", "c.txt").candidates == {"candidate": ["a\rb", "d"]}


def test_segments_in_memory(monkeypatch):
    assert Segments.of(["a", "b"], ["c", ["d", "e"]]).references == [("c",), ("d", "e")]
    assert Segments.of(["a", "b"], [["c", None], [None, "e"]]).references == [("c",), ("e",)]
    assert Segments.of(["a"], ["b"]).systems == ("candidate",)
    assert Segments.of({"A": ["a"], "B": ["b"]}, ["c"]).systems == ("A", "B")
    monkeypatch.setattr("softbleu.corpora.segments.BLOCK", 2)
    corpus = Segments.of({"A": list("abcde")}, list("vwxyz"), list("12345"))
    blocks = list(corpus.blocks())
    assert [len(block) for block in blocks] == [2, 2, 1]
    assert [text for block in blocks for text in block.candidates["A"]] == list("abcde")
    assert [texts for block in blocks for texts in block.references] == corpus.references
    assert [text for block in blocks for text in block.source or ""] == list("12345")
    assert Segments.of(["a"], ["b"], ["s"]).source == ["s"]
    refused(InputError, "1 segments but 2 source texts", Segments.of, ["a"], ["b"], ["s", "t"])
    refused(InputError, "source, number 1: text is needed, not int", Segments.of, ["a"], ["b"], [5])


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
        ("abc", ["a", "b", "c"], "a list with an entry per segment, .* not one text"),
        (["a"], "a", "a list with an entry per segment, .* not one text"),
        (["a", 5], ["a", "b"], "candidate of 'candidate', number 2: text is needed, not int"),
        ([None], ["a"], "candidate of 'candidate', number 1: text is needed, not NoneType"),
        ([b"a"], ["a"], "text is needed, not bytes"),
        (["a"], [["a", 5]], "reference of segment 1, number 2: text is needed, not int"),
        (["a", "b"], ["a", 5], "segment 2 are text, or a list of texts, not int"),
        (["a"], [b"a"], "segment 1 are text, or a list of texts, not bytes"),
        (["a"], [{"a": "b"}], "segment 1 are text, or a list of texts, not dict"),
        (["a"], [{"a", "b"}], "segment 1 are text, or a list of texts, not a set, which has no order"),
        ({"a", "b"}, ["a", "b"], "candidates are .*, not a set, which has no order"),
        ({"A": frozenset("ab")}, ["a", "b"], "candidates of 'A' are .*, not a frozenset, which has no order"),
        (["a", "b"], {"a", "b"}, "references are .*, not a set, which has no order"),
        ({1: ["a"], "1": ["b"]}, ["a"], "two systems are called '1': 1 and '1' are the same text"),
        (["a"], [[["a"]]], "reference of segment 1, number 1: text is needed, not list"),
        ([], [], "an empty corpus"),
        ({"A": []}, [], "an empty corpus"),
        ({}, ["a"], "no candidates at all"),
        (["a", "b"], [["a"], ["b"], ["c"]], "2 candidates but references for 3 segments"),
        ({"A": list("abc"), "B": list("ab")}, list("abc"), "2 candidates of 'B' but references for 3"),
        *((["a", "b"], [["a"], entry], "segment 2 has no reference") for entry in (None, [], [None], (None, None))),
    ],
)
def test_what_is_no_corpus(candidates, references, message):
    refused(InputError, message, Segments.of, candidates, references)
