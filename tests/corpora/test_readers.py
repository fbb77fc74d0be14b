"""Readers of texts: parallel files, whole segments in one file, gold edits in `.m2` files, and what each refuses."""

import bz2
import gzip
import io
import json
import lzma
import os
import sys
import tomllib
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import pyarrow
import pytest
from refusing import refused
from shared_data import shared
from tables import each_row

import softbleu
from softbleu.corpora import ParallelFiles, Segments, name_files, read_m2, read_segments
from softbleu.corpora import files as corpus_files
from softbleu.corpora.edits import Annotation, Edit, GoldReferences, GoldSegment, _tokenized, write_m2
from softbleu.corpora.files import look_at, look_at_systems, open_text, opened
from softbleu.corpora.generate import read_aligned
from softbleu.corpora.grammar import parse_grammar
from softbleu.corpora.judgements import read_assessments, read_rankings, read_scores, read_spans
from softbleu.corpora.logs import read_log
from softbleu.corpora.recordings import read_segmentation
from softbleu.errors import InputError
from softbleu.io.progress import ProgressBar
from softbleu.language import read_arpa
from softbleu.language.values import WordList
from softbleu.metrics.bleu import Bleu
from softbleu.metrics.cleme import Cleme
from softbleu.metrics.edits import edit_texts
from softbleu.metrics.gleu import Gleu
from softbleu.results.api import score_corpus
from softbleu.results.explain import explain_corpus

# Handed out together: one by one, so many take longer.
pytestmark = pytest.mark.xdist_group("readers")

TEXT = ["a cat", "", "naïve 日本", "  blanks  ", "last"]
ENCODINGS = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig", "gb18030")
READ = [
    *(
        (mark + (end.join(TEXT) + last).encode(), "utf-8", TEXT)
        for mark, end in product((b"", b"\xef\xbb\xbf"), ("\n", "\r\n"))
        for last in ("", end)
    ),
    (b"a\r\nb\nc\r\n", "utf-8", ["a", "b", "c"]),
    *((b"\n" * count, "utf-8", [""] * count) for count in (1, 2)),
    (b"a\n\n", "utf-8", ["a", ""]),
    (b"na\xefve\n\xa0caf\xe9\n", "latin-1", ["naïve", "\u00a0café"]),
    *((f"a{each}b\nc\n".encode(), "utf-8", [f"a{each}b", "c"]) for each in "\r\x0b\x0c\x1c\x85\u2028\u2029"),
    *(("\n".join(TEXT).encode(encoding), encoding, TEXT) for encoding in ENCODINGS),
]


PACKING = [gzip.compress, bz2.compress, lzma.compress, partial(pyarrow.compress, codec="zstd", asbytes=True)]


@pytest.fixture(params=[(1024, 1 << 20), (1, 1), (2, 3), (3, 7), (5, 2)], ids=str)
def _sizes(request, monkeypatch):
    """Blocks of so many lines, files read in pieces of so many bytes."""
    block, piece = request.param
    monkeypatch.setattr("softbleu.corpora.corpus.BLOCK", block)
    monkeypatch.setattr("softbleu.corpora.files._PIECE", piece)


def loaded(corpus):
    """Candidates by system and references of all blocks, read as lines, after seeing that bytes say the same."""
    candidates, references = {system: [] for system in corpus.systems}, []
    for block in corpus.blocks():
        part = block.load()
        assert len(part) == len(block)
        for system, texts in part.candidates.items():
            candidates[system] += texts
        references += part.references
        assert_bytes_are_lines(block.references, zip(*part.references, strict=True))
        assert_bytes_are_lines(block.candidates, part.candidates.values())
    assert len(references) == len(corpus)
    return candidates, references


def assert_bytes_are_lines(texts, expected):
    assert all(text.endswith(b"\n") for text in texts)
    found = [[line.split() for line in text.decode().removesuffix("\n").split("\n")] for text in texts]
    assert found == [[line.split() for line in lines] for lines in expected]


def test_earlier_parameters_of_files_change_nothing_and_warn() -> None:
    path = __file__
    with pytest.warns(DeprecationWarning, match="jobs of ParallelFiles.open changes nothing any more"):
        opened_files = ParallelFiles.open([path], [path], jobs=2)
    with opened_files as corpus, ParallelFiles.open([path], [path]) as plain:
        assert len(corpus) == len(plain) > 0


def read_back(path, encoding="utf-8"):
    """Candidate lines of a file."""
    with ParallelFiles.open([path], [path], encoding=encoding) as corpus:
        candidates, references = loaded(corpus)
    (lines,) = candidates.values()
    assert [(text,) for text in lines] == references
    return lines


@pytest.mark.usefixtures("_sizes")
class TestLines:
    @pytest.mark.parametrize(("content", "encoding", "expected"), READ)
    @pytest.mark.parametrize("packed", [False, True])
    def test_line_ends_and_encodings_are_read(self, content, encoding, expected, packed, written):
        assert read_back(written(gzip.compress(content) if packed else content), encoding) == expected

    @pytest.mark.parametrize(("encoding", "end"), [("utf-8-sig", "\r\n"), ("utf-16", "\n")])
    def test_standard_input_is_read_in_its_encoding(self, encoding, end, written, monkeypatch):
        path = written("\n".join(TEXT).encode(encoding))
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(end.join(TEXT).encode(encoding))))
        with ParallelFiles.open(["-"], [path], encoding=encoding.removesuffix("-sig")) as corpus:
            assert loaded(corpus)[0] == {"-": TEXT}

    def test_pipes_are_read_once(self, written):
        """As the shell's process substitution gives them: a pipe that cannot be opened a second time."""
        reader, writer = os.pipe()
        try:
            os.write(writer, "\n".join(TEXT).encode())
            os.close(writer)
            with ParallelFiles.open([f"/dev/fd/{reader}"], [written(TEXT)]) as corpus:
                assert list(loaded(corpus)[0].values()) == [TEXT]
        finally:
            os.close(reader)

    @pytest.mark.parametrize("pack", PACKING)
    def test_packed_files_are_recognised_by_content_whatever_their_name(self, pack, written, monkeypatch):
        packed = pack("\n".join(TEXT).encode())
        assert read_back(written(packed, "c.txt")) == TEXT
        monkeypatch.setattr(sys, "stdin", stdin := SimpleNamespace(buffer=io.BytesIO(packed)))
        assert list(open_text("-")) == TEXT
        assert not stdin.buffer.closed

    def test_text_that_begins_as_bzip2_does_is_text(self, written):
        assert read_back(written(b"BZh9 is a name\nBZh\n")) == ["BZh9 is a name", "BZh"]

    @pytest.mark.parametrize("line", [1, 3, 5])
    @pytest.mark.parametrize("kernels", ["numpy", "numba"])
    def test_invalid_utf8_names_file_line_and_byte(self, line, kernels, written):
        if kernels == "numba":
            pytest.importorskip("numba", reason="numba (extra 'fast') is missing")
        lines = [text.encode() for text in TEXT]
        lines[line - 1] = "né".encode() + b"\xff" + lines[line - 1]
        with (
            ParallelFiles.open([written(b"\n".join(lines), "bad.txt")], [written(TEXT)]) as corpus,
            pytest.raises(InputError, match=rf"^\S*bad.txt, line {line}, byte 4: not UTF-8 \(0xff\)"),
        ):
            score_corpus(corpus, Bleu(), kernels=kernels)
        refused(InputError, r"line 3, byte 4: not UTF-8 \(0xc3\)", read_back, written(b"a\nb\ncaf\xc3"))

    @pytest.mark.parametrize("block", [1, 3, 1 << 20])
    @pytest.mark.parametrize("data", [b"\xff", b"ab\n\xe4\xb8z\n" * 2, b"a\nxyz\xe4\xb8", b"\xe4\xb8\xad\xe4\xb8\n"])
    def test_bytes_that_are_no_text_end_the_copy_of_a_pipe(self, block, data, written, monkeypatch, tmp_path):
        monkeypatch.setattr(corpus_files, "_PIECE", block)
        said = []
        for name in ("-", written(data, "c.txt")):
            monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
            with pytest.raises(InputError) as caught:
                list(opened(look_at(name), "utf-8", SimpleNamespace(path=tmp_path), block=2).all_lines())
            said.append(str(caught.value).removeprefix(name))
        assert said[0] == said[1]

    def test_a_file_is_looked_at_once(self, written, monkeypatch):
        """From the names of systems to their texts."""
        seen, form_of = [], corpus_files.form_of
        monkeypatch.setattr(corpus_files, "form_of", lambda head, name: seen.append(name) or form_of(head, name))
        names = [written(TEXT, "c.txt"), written(TEXT, "r.txt")]
        with ParallelFiles.open(look_at_systems(names[:1]), names[1:]) as corpus:
            assert loaded(corpus)[0] == {"c": TEXT}
        assert seen == names

    @pytest.mark.parametrize("changed", [b"", b"a\nb\nc", b"a\nb\nc\nddd"])
    def test_a_file_that_changes_while_it_is_read_is_refused(self, changed, written, tmp_path):
        file = opened(look_at(written(b"a\nb\nc\nd\ne\n", "c.txt")), "utf-8", SimpleNamespace(path=tmp_path), block=2)
        Path(file.name).write_bytes(changed)
        refused(InputError, "c.txt: changed while it was read", lambda: list(file.all_lines()))


def test_other_encodings_damaged_gzip_and_files_that_make_no_sense(written, tmp_path):
    for content, encoding, message in (
        ("a b\n".encode("utf-16") + b"A", "utf-16", "bad.txt.*not utf-16"),
        ("a\ud83d".encode("utf-16", "surrogatepass"), "utf-16", "bad.txt.*not utf-16"),
        (b"\x80\x81\xff\n", "gb18030", r"bad.txt: not gb18030 \(0x80\); name its encoding"),
        (b"a\n", "utf-9", r"unknown encoding 'utf-9'; e\.g\. utf-8"),
    ):
        refused(InputError, message, read_back, written(content, "bad.txt"), encoding)
    for pack in PACKING:
        packed = pack(bytes(range(256)))
        for content in (packed[:12], packed[:25], packed[:-1]):
            refused(InputError, r"c\.txt\.gz: damaged packed file", read_back, written(content, "c.txt.gz"))
    packed = gzip.compress(bytes(range(256)))
    refused(InputError, "damaged packed file", read_back, written(packed[:-6] + bytes(6), "c.txt.gz"))
    for candidates, references, message in (
        ([written("a\n")], [str(tmp_path)], "is a folder: name a file in it"),
        ([], ["r"], "no candidate file: name one with candidates"),
        (["c"], [], "no reference file: name one with references"),
        (["-"], ["-"], "can be read once only"),
        (["c", "c"], ["r"], "the same candidate file is named twice"),
    ):
        refused(InputError, message, ParallelFiles.open, candidates, references)


def test_copies_go_when_files_are_closed_or_refused(written, tmp_path, monkeypatch):
    copies = tmp_path / "copies"
    copies.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(copies))
    packed, short = written(gzip.compress(b"a\nb\n"), "c.gz"), written(gzip.compress(b"a\n"), "short.gz")
    with ParallelFiles.open([packed], [packed]):
        assert len(list(copies.rglob("*.txt"))) == 2
    assert list(copies.iterdir()) == []
    refused(InputError, "different numbers of lines", ParallelFiles.open, [packed], [short])
    assert list(copies.iterdir()) == []


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        ("a/x.1.txt a/y.txt.gz a/z.de.xz", "x.1 y z"),
        ("a/x.txt b/x.txt", "a/x.txt b/x.txt"),
        ("a/x.txt a/x.out", "x.txt x.out"),
        ("x -", "x -"),
        ("a/x.txt a/x.txt.gz", "x.txt x.txt.gz"),
    ],
)
def test_files_are_named_by_the_part_that_differs(paths, expected):
    assert name_files(paths.split()) == dict(zip(expected.split(), paths.split(), strict=True))


ESSAYS = "### essay_id = 7\n\nhe go home\nit rain\n\n### essay_id = b 2\nall is well\n"


def test_essays_are_read_without_their_headings(written):
    """Headings and blank lines are no segments; a reference may lack an essay, or have it in other lines."""
    source, one = written(ESSAYS), written(ESSAYS.replace("go", "goes").replace("rain", "rains"), "1.md")
    some = written("### essay_id=7\nhe went home\nit rained", "2.md")
    whole = written("### essay_id = b 2\nall is well\n\n### essay_id = 7\nhe went home it rains", "c.md")
    with ParallelFiles.open([whole], [one, some], source, resegment=True, blank_references="missing") as corpus:
        (block,) = corpus.blocks()
        assert corpus.documents.numbers.tolist() == [0, 0, 1]
        assert block.load().source == ["he go home", "it rain", "all is well"]
        assert block.load().candidates["c"] == ["he went home", "it rains", "all is well"]
        assert block.load().present()[1:] == [("it rains", "it rained"), ("all is well",)]
    # A merged and a split sentence are one segment each.
    split = written(ESSAYS.replace("home\nit", "home, it").replace("is well", "is well.\nVery well."), "3.md")
    with ParallelFiles.open([whole], [split], source, resegment=True) as corpus:
        (block,) = corpus.blocks()
        assert corpus.documents.numbers.tolist() == [0, 1]
        assert block.load().source == ["he go home it rain", "all is well"]
        assert block.load().references == [("he go home, it rain",), ("all is well. Very well.",)]
        assert block.load().candidates["c"] == ["he went home it rains", "all is well"]
    plain, twice = written("a\nb\nc\n", "p.txt"), written(ESSAYS.replace("b 2", "7"))
    for candidate, reference, said in (
        (whole, one, "essay '7': .*c.md has 1 line, .*1.md has 2: .*resegment"),
        (some, one, "2.md lacks essay 'b 2', which .*1.md has"),
        (one, some, "has an essay 'b 2', which .*2.md lacks"),
        (plain, one, "1.md has essays .*p.txt does not begin with one"),
        (twice, one, "line 6: a second essay '7'"),
    ):
        refused(InputError, said, ParallelFiles.open, [candidate], [reference])


@pytest.mark.parametrize("kernels", ["numpy", pytest.param("numba", marks=pytest.mark.slow)])
def test_blank_references_are_missing_where_sources_are_given(kernels, written, monkeypatch):
    """Missing for metrics that take the source, in files as in memory; a few of many segments are empty texts."""
    if kernels == "numba":
        pytest.importorskip("numba", reason="numba (extra 'fast') is missing")
    lines, one, two = ["a b c d", "b c", "", "d"], ["a b c x", "b c", "", "d e"], ["a b y d", " ", "", "\u3000"]
    ragged = [tuple(filter(str.strip, texts)) or texts for texts in zip(one, two, strict=True)]
    gleu, bleu, cleme = metrics = [Gleu(iterations=9), Bleu(order=2), Cleme()]

    def scores(corpus, *metrics):
        found = score_corpus(corpus, list(metrics), kernels=kernels)
        return [(each.score, "|blank:missing|" in each.signature) for each in found]

    without = scores(Segments.of({"c": lines}, ragged, lines), *metrics)
    for many in (1, 101):
        monkeypatch.setattr("softbleu.corpora.corpus.BLOCK", 2 * many)
        pairs = list(zip(one, two, strict=True)) * many
        made = Segments.of({"c": lines * many}, pairs, lines * many)
        assert made.blank == 2 * many
        empty = scores(Segments.of({"c": lines * many}, pairs), bleu)
        paths = [written(text * many, name) for name, text in zip("c12", (lines, one, two), strict=True)]
        with ParallelFiles.open(paths[:1], paths[1:], paths[0]) as corpus:
            found = scores(corpus, *metrics)
            assert found == scores(made, *metrics)
            assert [missing for _, missing in found] == [True, False, True]
            assert found[1:2] == scores(corpus, bleu) == empty
            assert found[::2] == scores(corpus, gleu, cleme)
        for chosen in ("empty", "missing"):
            with ParallelFiles.open(paths[:1], paths[1:], paths[0], blank_references=chosen) as corpus:
                found = scores(corpus, *metrics)
                assert found == scores(replace(made, blank_references=chosen), *metrics)
                assert [missing for _, missing in found] == [chosen == "missing"] * 3
                assert (
                    chosen != "missing"
                    or many > 1
                    or [score for score, _ in found] == [score for score, _ in without]
                )
    few = Segments.of(["a"] * 200, [["a", ""], *[["a", "b"]] * 199], ["a"] * 200)
    assert scores(few, gleu)[0][1] is False


RAGGED = [("the cat", "one cat"), ("empty",), ("",)]


@pytest.fixture
def read(written):
    return lambda content, name, **options: read_segments(written(content, name), **options)


@pytest.mark.parametrize(
    ("name", "last", "source"),
    [
        ("corpus.txt", ("",), None),
        ("corpus.tsv", ("", ""), ["S1", "S2", "S3"]),
        ("corpus.jsonl", ("", ""), ["S1", "S2", "S3"]),
    ],
)
def test_formats_and_kinds_of_files(name, last, source, read, monkeypatch):
    data = Path(__file__).with_name(name).read_bytes()
    expected = Segments({"candidate": ["a cat", "", "x"]}, [*RAGGED[:2], last], source)
    # The format goes before the suffix.
    assert read(data, "other.txt", file_format=name.split(".")[1].replace("txt", "pairs")) == expected
    assert read(gzip.compress(data), f"{name}.gz") == expected
    for other in (data, data.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + data, data.removesuffix(b"\n")):
        assert read(other, name) == expected
    for encoding in ("utf-16", "latin-1"):
        assert read(data.decode().encode(encoding), name, encoding=encoding) == expected
    monkeypatch.setattr("softbleu.corpora.files._PIECE", 1)
    assert read(data, name) == expected
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    if name == "corpus.txt":
        assert read_segments("-").references == RAGGED


@pytest.mark.parametrize(
    ("name", "content", "references", "source"),
    [
        ("x.tsv", 'A, "b".\tR\nc; d\tS\n', [("R",), ("S",)], None),
        ("x.tsv", 'A, "b".\tR\tQ\nc; d\tS\n', [("R", "Q"), ("S",)], None),
        ("x.tsv", 'src\tMT\tref\tscore\ns\tA, "b".\tR\t1\nt\tc; d\tS\t0\n', [("R",), ("S",)], ["s", "t"]),
        ("x.csv", 'candidate,reference\n"A, ""b"".",R\nc; d,S\n\n', [("R",), ("S",)], None),
        ("x.csv", 'source;candidate;reference;n\ns;"A, ""b"".";R;1\nt;"c; d";S;2\n', [("R",), ("S",)], ["s", "t"]),
        ("x.csv", '"A, ""b"".",R\nc; d,S\n', [("R",), ("S",)], None),
        ("x.csv", '"A, ""b"".";"R, Q"\n"c; d";S\n', [("R, Q",), ("S",)], None),
        ("x.csv", 'A, "b".\tR\nc; d\tS\n', [("R",), ("S",)], None),
        ("x.csv.xz", 'hypothesis,reference_a,ref\n"A, ""b"".",R,x\nc; d,S,y\n', [("R", "x"), ("S", "y")], None),
    ],
)
def test_tables_of_other_programs_with_a_header_or_without(name, content, references, source, read):
    made = read(lzma.compress(content.encode()) if name.endswith("xz") else content, name)
    assert made.candidates == {"candidate": ['A, "b".', "c; d"]}
    assert ([*map(tuple, made.references)], made.source) == (references, source)


def test_tables_of_several_systems_are_read(read):
    expected = {"A": ["a1", "a2"], "B": ["b1", "b2"]}
    tsv = "candidate:A\treference\tcandidate:B\na1\tr1\tb1\na2\tr2\tb2\n"
    assert read(tsv, "x.tsv").candidates == expected
    rows = ({"candidate": {"A": f"a{n}", "B": f"b{n}"}, "reference": f"r{n}"} for n in (1, 2))
    assert read("\n".join(map(json.dumps, rows)), "x.jsonl").candidates == expected


@pytest.mark.parametrize("piece", [1, 3, 1 << 20])
def test_damaged_bytes_are_refused_by_line_and_byte(piece, read, tmp_path, monkeypatch):
    monkeypatch.setattr("softbleu.corpora.files._PIECE", piece)
    said = r"c.txt, line 3, byte 2: not UTF-8 \(0xff\); name its encod"
    refused(InputError, said, read, b"a ||| b\nc ||| d\ne\xff ||| f\n", "c.txt")
    refused(InputError, r"c.txt, line 1, byte 10: not UTF-8 \(0xc3\)", read, b"a ||| caf\xc3", "c.txt")
    refused(InputError, "c.txt.gz: damaged packed file", read, gzip.compress(b"a ||| b\n")[:-4], "c.txt.gz")
    refused(InputError, "no such file", read_segments, str(tmp_path / "nothing.tsv"))
    assert read("a\rb ||| \x85c\nd ||| e\u2028\n", "c.txt").candidates == {"candidate": ["a\rb", "d"]}


@pytest.mark.parametrize("count", [3])
def test_square_lists_of_references_that_look_transposed_are_warned_of(count):
    candidates = ["the cat sat on a mat", "it rained all night", "we stayed at home"][:count]
    references = [[f"{text} {more}" for more in ("today", "again", "now")[:count]] for text in candidates]
    assert Segments.of(candidates, references).references == list(map(tuple, references))
    with pytest.warns(UserWarning, match=f"{count} lists of {count} references look transposed"):
        Segments.of(candidates, list(zip(*references, strict=True)))


def test_segments_in_memory(monkeypatch):
    assert Segments.of(["a", "b"], ["c", ["d", "e"]]).references == [("c",), ("d", "e")]
    assert Segments.of(["a", "b"], [["c", None], [None, "e"]]).references == [("c",), ("e",)]
    assert Segments.of(["a"], ["b"]).systems == ("candidate",)
    assert Segments.of({"A": ["a"], "B": ["b"]}, ["c"]).systems == ("A", "B")
    monkeypatch.setattr("softbleu.corpora.corpus.BLOCK", 2)
    corpus = Segments.of({"A": list("abcde")}, list("vwxyz"), list("12345"))
    blocks = list(corpus.blocks())
    assert [len(block) for block in blocks] == [2, 2, 1]
    assert [text for block in blocks for text in block.candidates["A"]] == list("abcde")
    assert [texts for block in blocks for texts in block.references] == corpus.references
    assert [text for block in blocks for text in block.source or ""] == list("12345")
    assert Segments.of(["a"], ["b"], ["s"]).source == ["s"]
    refused(InputError, "1 segment but 2 source texts", Segments.of, ["a"], ["b"], ["s", "t"])
    refused(InputError, "source, number 1: text is needed, not int", Segments.of, ["a"], ["b"], [5])
    refused(InputError, "source texts are a list .*, not one text", Segments.of, ["a"], ["b"], "no")


TRANSPOSED = (
    r"^3 candidates( of 'A')? but 2 lists of references of 3 each: they look transposed, as in sacrebleu; "
    r"pass the references segment by segment, e\.g\. list\(zip\(\*references\)\)$"
)


@pytest.mark.parametrize(
    ("candidates", "references", "message"),
    [
        ("abc", ["a", "b", "c"], "a list with an entry per segment, .* not one text"),
        (["a"], "a", "a list with an entry per segment, .* not one text"),
        (["a", 5], ["a", "b"], "candidate of 'candidate', number 2: text is needed, not int"),
        ([None], ["a"], "candidate of 'candidate', number 1: text is needed, not NoneType"),
        ([b"a"], ["a"], "text is needed, not bytes"),
        ({"A": None}, ["a"], "candidates of 'A' are a list .*, not NoneType"),
        (3, ["a"], "candidates are a list .*, not int"),
        (["a"], b"no", "references are a list .*, not bytes"),
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
        *((texts, [list("abc"), list("def")], TRANSPOSED) for texts in (list("abc"), {"A": list("abc")})),
        (list("abc"), [["a"], ["b", "c"]], "^3 candidates but references for 2 segments$"),
        ({"A": list("abc")}, [["a"], ["b", "c"]], "^3 candidates of 'A' but references for 2 segments$"),
        *((["a", "b"], [["a"], entry], "segment 2 has no reference") for entry in (None, [], [None], (None, None))),
    ],
)
def test_texts_that_make_no_corpus_are_refused(candidates, references, message):
    refused(InputError, message, Segments.of, candidates, references)


GOLD = Path(__file__).with_name("gold.m2").read_text(encoding="utf-8")


def test_edits_of_a_file_are_read_and_make_references(written):
    segments = read_m2(written(GOLD))
    first, second, third = segments
    assert first.source == "He eat a apple ."
    edits = (Edit(1, 2, "Vform", ("eats",)), Edit(2, 3, "ArtOrDet", ("an", "the")))
    assert first.annotations == (Annotation(0, edits), Annotation(2, ()))
    assert second == GoldSegment("All is well .", (Annotation(0, (), absent=True),))
    assert third.source == "They they go home"
    edits = (Edit(1, 2, "Dup", ("",), comment="twice"), Edit(4, 4, "Mec", (".",), "OPTIONAL"))
    assert third.annotations == (Annotation(0, (Edit(2, 3, "Um", ()),)), Annotation(1, edits))
    others = [("All is well .",), ("They they -NONE- home", "They go home .")]
    assert [each.references() for each in segments] == [("He eats an apple .", "He eat a apple ."), *others]
    references = GoldReferences(segments)
    assert (len(references), references[1:3][1][1], references[0][1]) == (3, "They go home .", "He eat a apple .")
    coded = third.coded(lambda text: tuple(map(len, text.split())))
    assert coded.annotators == (0, 1)
    assert coded.edits == (((2, 3, ((),)),), ((1, 2, ((),)), (4, 4, ((1,),))))


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ([(0, 0, "x"), (0, 0, "y")], "x y a b"),
        ([(2, 2, "z"), (1, 2, "w")], "a w z"),
        ([(1, 1, "i"), (1, 2, "w")], "a i w"),
        ([(0, 2, "")], "a b"),
        ([(0, 1, ""), (1, 2, "")], "a"),
        ([(0, 1, "one,two")], "one , two b"),
        ([(0, 2, "x"), (1, 2, "w")], "x"),
        ([(1, 2, "w v"), (0, 2, "x")], "x v"),
        ([(0, 0, "x"), (0, 2, "")], "x a b"),
    ],
)
def test_edits_that_meet_are_applied_in_order(edits, expected):
    annotation = Annotation(0, tuple(Edit(start, end, "X", (text,)) for start, end, text in edits))
    assert GoldSegment("a b", (annotation,)).references() == (expected,)


def test_words_that_need_no_tokenizer_are_left_alone_by_it():
    from nltk.tokenize.destructive import NLTKWordTokenizer

    for text in ("a", "well-known", "eats an apple", "x , y ; z", "end .", "3 apples", "cannot", "gonna go", "it's"):
        assert _tokenized(text) == NLTKWordTokenizer().tokenize(text)


def test_forms_of_the_file(written):
    expected = read_m2(written(GOLD))
    spaced = GOLD.replace("\n\n", "\n\n\n") + "\n\n"
    for name, data in {
        "zipped.m2.gz": gzip.compress(b"\xef\xbb\xbf" + GOLD.replace("\n", "\r\n").encode()),
        "spaced.m2": spaced.encode(),
        "unfinished.m2": GOLD.rstrip("\n").encode(),
        "noted.m2": GOLD.replace("A 1 2|||V", "I note\nA 1 2|||V").encode(),
    }.items():
        assert read_m2(written(data, name)) == expected, name
    assert read_m2(written("S é\n".encode("latin-1")), "latin-1")[0].source == "é"
    assert read_m2(written("S\n\nS b\n"))[0] == GoldSegment("", (Annotation(0, (), absent=True),))


LINE = "A {} {}|||{}|||{}|||REQUIRED|||-NONE-|||{}\n"
ANSWERS = "S 我 昨 天 去 学 校 了 。\nT0-A0 我 昨 天 去 了 学 校 。\n" + LINE.format(4, 4, "M", "了", 0)
ANSWERS += (
    LINE.format(6, 7, "R", "-NONE-", 0) + "T0-A1 我 昨 天 去 了 学 校 。\n" + LINE.format(4, 7, "W", "了 学 校", 0)
)
ANSWERS += "T1-A0 我 昨 天 去 学 校 了 。\n" + LINE.format(-1, -1, "noop", "-NONE-", 1)


def test_edits_are_in_order_whatever_the_file_has(written):
    (segment,) = read_m2(written("S a b c\n" + LINE.format(2, 3, "R", "C", 0) + LINE.format(0, 1, "R", "A", 0)))
    assert [edit.start for edit in segment.annotations[0].edits] == [0, 2]
    assert softbleu.score(["A b C"], gold=[segment], metrics="m2").score == 100


def test_each_text_of_a_file_of_cherrant_is_an_annotator(written):
    (segment,) = read_m2(written(ANSWERS))
    assert [each.annotator for each in segment.annotations] == [0, 1]
    assert segment.annotations[0].edits[1] == Edit(6, 7, "R", ("",))
    assert segment.annotations[0].variants == (Edit(4, 7, "W", ("了 学 校",)),)
    assert segment.references() == ("我 昨 天 去 了 学 校 。", "我 昨 天 去 学 校 了 。")
    texts = ["我昨天去了学校。", "我 昨 天 去 了 学 校 。", "我昨天 去了 学校 。", "我昨天去学校了。"]
    for text, metric in product(texts, ("errant", "m2", "cleme")):
        assert softbleu.score([text], gold=[segment], metrics=metric).score == 100, (text, metric)
    assert softbleu.score(["我昨天去了。"], gold=[segment], metrics="errant").score < 100


def test_outputs_are_shown_as_they_are_where_edits_count_twice_or_not_at_all(written):
    text = "S a b b c\nT0-A0 a b c\n" + LINE.format(1, 2, "R", "-NONE-", 0)
    text += "T0-A1 a b c\n" + LINE.format(2, 3, "R", "-NONE-", 0)
    corpus = Segments.of_gold(["a b c"], read_m2(written(text)))
    for metric, count in {"errant": 2, "errant(edit_size=multi)": 0}.items():
        (shown,) = explain_corpus(corpus, metric)
        assert (shown.candidate, len(shown.edits.edits)) == (("a", "b", "c"), count), metric
    gold = written("S a b c d e\n" + LINE.format(0, 1, "U", "-NONE-", 0) + LINE.format(2, 4, "R", "x y", 0))
    (shown,) = explain_corpus(Segments.of_gold(["b x y e"], read_m2(gold)), "errant(edit_size=multi)")
    assert [edit.spans for edit in shown.edits.gold] == [(2, 4, 1, 3)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("我们去了学校", "我们 去 了 学校"),
        ("我 们 去 了 学 校", "我们 去 了 学校"),
        ("我们 去了 学校", "我们 去 了 学校"),
        ("他们去过学校", "他 们 去 过 学校"),
        ("", ""),
    ],
)
def test_outputs_are_cut_into_the_words_of_gold_edits(written, tmp_path, text, expected):
    gold = written("S 我们 去 学校\n" + LINE.format(2, 2, "M", "了", 0), "gold.m2")
    assert list(Segments.of_gold([text], read_m2(gold)).candidates["candidate"]) == [expected]
    with ParallelFiles.open([written(f"{text}\n", "A.txt")], [], gold=gold) as corpus:
        assert list(next(iter(corpus.blocks())).load().candidates["A"]) == [expected]


@pytest.mark.parametrize(
    ("source", "edits"),
    [
        ("I   like it now", [(1, 2, "U:SPACE", ""), (3, 4, "R", "this")]),
        ("I  like it now", [(1, 2, "U:SPACE", ""), (3, 4, "R", "this")]),
        ("I   like it now", [(3, 4, "R", "this")]),
        ("  I like it now", [(3, 4, "R", "this")]),
        ("I  like it now", [(2, 3, "R", "this")]),
        (" I like it now ", [(2, 3, "R", "this")]),
    ],
)
def test_edits_behind_doubled_blanks_are_of_their_words(written, source, edits):
    (segment,) = read_m2(written(f"S {source}\n" + "".join(LINE.format(*edit, 0) for edit in edits)))
    assert segment.references() == ("I like this now",)
    assert softbleu.score(["I like this now"], gold=[segment], metrics="errant").score == 100


LACKING = "S a b\n" + LINE.format(0, 1, "R", "A", 0) + "\nS c d\n" + LINE.format(0, 1, "R", "C", 2)
LACKING += "\nS e f\n" + LINE.format(-1, -1, "noop", "-NONE-", 0) + LINE.format(0, 1, "R", "E", 2) + "\nS g h\n\n"


def test_annotators_without_a_line_are_noted_and_count_as_is_asked(written, capsys):
    file, texts = written(LACKING, "g.m2"), ["a b", "c d", "e f", "g h"]
    with ProgressBar(quiet=False):
        left_out, unchanged = read_m2(file), read_m2(file, absent_annotators="unchanged")
    said = (
        "g.m2: an annotator without a line, where others have one, {}: annotator 0 in 1, 2 in 1 of 3 sentences (the"
    )
    lines = capsys.readouterr().err.splitlines()
    for line, taken in zip(lines, ("does not count there", "counts as having changed nothing"), strict=True):
        assert said.format(taken) in line
    assert [len(segment.annotations) for segment in left_out] == [1, 1, 2, 1]
    assert [len(segment.annotations) for segment in unchanged] == [2, 2, 2, 1]
    for metric in ("m2", "errant", "cleme"):
        results = [softbleu.score(texts, gold=gold, metrics=metric) for gold in (left_out, unchanged)]
        assert (results[0].score < results[1].score, results[1].score) == (True, 100)
        assert ["absent:unchanged" in result.signature for result in results] == [False, True]
    refused(InputError, "unknown way to count absent annotators", read_m2, file, absent_annotators="right")


def test_files_of_cherrant_are_written_as_they_are_read(written):
    text = ANSWERS + "\nS 的 啊\nT0 无法标注\n" + LINE.format(-1, -1, "NA", "-NONE-", 0)
    segments = read_m2(written(text))
    assert segments[0].annotations[0].variants
    assert read_m2(written("".join(write_m2(segments)))) == segments


def test_sentences_without_a_correction_in_files_of_cherrant(written, capsys):
    """Texts without an error are the source; those that nobody could correct are not judged."""
    text = "S 我 去 了\nT0 没有错误\n" + LINE.format(-1, -1, "noop", "-NONE-", 0)
    text += "\nS 的 啊\nT0 无法标注\n" + LINE.format(-1, -1, "NA", "-NONE-", 0)
    text += "\nS 书 本\nT0 无法标注\n" + LINE.format(-1, -1, "NA", "-NONE-", 0)
    text += "T1-A0 书\n" + LINE.format(1, 2, "R", "-NONE-", 1)
    with ProgressBar(quiet=False):
        gold = read_m2(written(text, "g.m2"))
    assert "g.m2: 1 sentence that could not be corrected (NA)" in capsys.readouterr().err
    assert [segment.references() for segment in gold] == [("我 去 了",), ("的 啊",), ("书",)]
    for line, (right, wrong, missed) in {"的": (1, 0, 0), "的 啊": (1, 0, 0)}.items():
        numbers = softbleu.score(["我去了", line, "书"], gold=gold, metrics="errant").numbers
        assert (numbers.true_positives, numbers.false_positives, numbers.false_negatives) == (right, wrong, missed)
    numbers = softbleu.score(["我去", "的", "书"], gold=gold, metrics="errant").numbers
    assert (numbers.correct_sentences, numbers.false_alarms) == (50.0, 100.0)  # Of two sentences, and of one
    refused(
        InputError,
        "line 4: another text T0",
        read_m2,
        written("S 我\nT0-A0 你\n" + LINE.format(0, 1, "S", "你", 0) + "T0-A1 他\n"),
    )


def test_every_text_may_have_its_own_number_of_answers(written, capsys):
    with ProgressBar(quiet=False):
        read_m2(written(ANSWERS + "\nS 我 去 了\nT0-A0 我 去\n" + LINE.format(2, 3, "R", "-NONE-", 0)))
    assert not capsys.readouterr().err


def test_overlapping_edits_are_noted(written, capsys):
    file = written("S a b c\n" + LINE.format(0, 2, "R", "A", 0) + LINE.format(1, 3, "R", "B", 0), "g.m2")
    with ProgressBar(quiet=False):
        read_m2(file)
    assert "g.m2, line 3: 1 edit overlaps with another one of the same annotator" in capsys.readouterr().err


def test_segments_with_gold_edits(written):
    gold = read_m2(written(GOLD))
    segments = Segments.of_gold({"x": ["one", "two", "three"]}, gold)
    assert (len(segments), segments.systems, segments.only("x").gold) == (3, ("x",), gold)
    refused(InputError, "2 candidates but gold edits for 3 segments", Segments.of_gold, ["one", "two"], gold)
    refused(InputError, "2 candidates of 'x'", Segments.of_gold, {"x": ["one", "two"]}, gold)
    source = ["He eat a apple .", "Else", "They they go home"]
    refused(InputError, "source, line 2: not the sentence", Segments.of_gold, list("abc"), gold, source)
    refused(InputError, r"pass softbleu\.corpora\.read_m2", Segments.of_gold, ["one"], ["one"])


def test_written_edits_are_read_back(tmp_path, written):
    edits = (Edit(0, 1, "", ("",)), Edit(1, 1, "x", ("a b", "c"), "OPTIONAL", "why"), Edit(2, 3, "y", ("", "e")))
    segments = [
        GoldSegment("a b c", (Annotation(0, ()), Annotation(3, (*edits, Edit(3, 3, "z", ()))))),
        GoldSegment("", (Annotation(0, (), absent=True),)),
    ]
    assert read_m2(written("".join(write_m2(segments)))) == segments
    barred = edit_texts(["a", "b"], ["a || b |", "| &#124; b &verbar; &verbarx;"])
    file = tmp_path / "barred.m2"
    file.write_text("".join(write_m2(barred)), encoding="utf-8")
    assert read_m2(str(file)) == barred


@pytest.mark.parametrize("name", ["gold.m2", "errant/references.m2"])
def test_real_files_are_written_as_they_are_read(written, name):
    segments = read_m2(str(shared("data", "conll14", *name.split("/"))))
    assert read_m2(written("".join(write_m2(segments)))) == segments


KNOWN = tomllib.loads(Path(__file__).with_name("refusals.toml").read_text(encoding="utf-8"))
READERS = {
    "rankings": read_rankings,
    "scores": read_scores,
    "assessments": read_assessments,
    "spans": read_spans,
    "m2": read_m2,
    "segments": read_segments,
    "arpa": read_arpa,
    "words": WordList.read,
    "aligned": lambda path: list(read_aligned(path)),
    "logs": read_log,
    "segmentations": read_segmentation,
    "grammars": lambda path: parse_grammar(path, Path(path).read_text(encoding="utf-8").splitlines()),
}


@each_row("corpora/refusals.toml", "reader", "says", of=None, old="", new="", text="", name="bad")
def test_damaged_files_are_refused_in_one_line(reader, says, of, old, new, text, name, written):
    known = KNOWN["texts"].get(of, "")
    assert old in known
    path = written(known.replace(old, new, 1) + text, name)
    said = refused(InputError, "", READERS[reader], path)
    assert said.startswith(path)
    assert all(part in said for part in says), said
