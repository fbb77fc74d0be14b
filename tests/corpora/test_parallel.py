"""Parallel text files: what is a line, what is a blank, and what is wrong with a file."""

import gzip
import io
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from types import SimpleNamespace

import pytest
from refusing import refused

from softbleu import InputError
from softbleu.corpora import ParallelFiles, Segments, name_files
from softbleu.corpora.parallel import joined
from softbleu.metrics import Bleu, Cleme, Gleu
from softbleu.results.api import score_corpus

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


@pytest.fixture(params=[(1024, 1 << 20), (1, 1), (2, 3), (3, 7), (5, 2)], ids=str)
def _sizes(request, monkeypatch):
    """Blocks of so many lines, files read in pieces of so many bytes."""
    block, piece = request.param
    monkeypatch.setattr("softbleu.corpora.parallel.BLOCK", block)
    monkeypatch.setattr("softbleu.corpora.files._BLOCK", piece)


def loaded(corpus):
    """Candidates by system and references of all blocks, read as lines, after seeing that bytes say the same."""
    candidates, references = {system: [] for system in corpus.systems}, []
    for block in corpus.blocks():
        part = block.load()
        assert len(part) == len(block)
        for system, texts in part.candidates.items():
            candidates[system] += texts
        references += part.references
        by_reference, by_system, _ = block.texts()
        assert_bytes_are_lines(by_reference, zip(*part.references, strict=True))
        assert_bytes_are_lines(by_system, part.candidates.values())
    assert len(references) == len(corpus)
    return candidates, references


def assert_bytes_are_lines(texts, expected):
    assert all(text.endswith(b"\n") for text in texts)
    found = [[line.split() for line in text.decode().removesuffix("\n").split("\n")] for text in texts]
    assert found == [[line.split() for line in lines] for lines in expected]


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
    def test_ends_and_encodings(self, content, encoding, expected, packed, written):
        assert read_back(written(gzip.compress(content) if packed else content), encoding) == expected

    @pytest.mark.parametrize(("encoding", "end"), [("utf-8-sig", "\r\n"), ("utf-16", "\n")])
    def test_standard_input(self, encoding, end, written, monkeypatch):
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

    def test_threads_find_the_same_lines(self, written, monkeypatch):
        started = []

        def make(threads):
            started.append(threads)
            return ThreadPoolExecutor(threads)

        monkeypatch.setattr("softbleu.corpora.parallel.ThreadPoolExecutor", make)
        monkeypatch.setattr(os, "cpu_count", lambda: 3)
        path, found = written("\n".join(TEXT)), []
        for jobs in (1, 2, 1000):
            with ParallelFiles.open([path], [path], jobs=jobs) as corpus:
                found.append([block.load() for block in corpus.blocks()])
        assert started == [2, 3]
        assert found[1:] == found[:1] * 2

    def test_joined_blocks_are_those_of_the_same_lines(self, written):
        path = written("\n".join(TEXT), "c")
        with ParallelFiles.open([path], [path]) as corpus:
            parts = [block.load() for block in joined(list(corpus.blocks()))]
            assert [text for part in parts for text in part.candidates["c"]] == TEXT
            assert [text for part in parts for (text,) in part.references] == TEXT
            carried = [block.carried() for block in corpus.blocks()]
            assert list(joined(carried)) == carried
        with ParallelFiles.open([path], [], gold=written([f"S {text}\n" for text in "abcde"], "g.m2")) as corpus:
            blocks = list(corpus.blocks())
            found = list(joined(blocks))
            assert len(found) == -(-len(blocks) // 4)
            assert [gold for block in found for gold in block.gold or ()] == list(corpus.gold or ())
            assert [text for block in found for text in block.load().candidates["c"]] == TEXT


@pytest.mark.parametrize(
    ("content", "encoding", "message"),
    [
        ("a b\n".encode("utf-16") + b"A", "utf-16", "bad.txt.*not utf-16"),
        ("a\ud83d".encode("utf-16", "surrogatepass"), "utf-16", "bad.txt.*not utf-16"),
        (b"\x80\x81\xff\n", "gb18030", r"bad.txt: not gb18030 \(0x80\); name its encoding"),
        (b"a\n", "utf-9", r"unknown encoding 'utf-9'; e\.g\. utf-8"),
    ],
)
def test_other_encodings(content, encoding, message, written):
    refused(InputError, message, read_back, written(content, "bad.txt"), encoding)


def test_damaged_gzip_and_files_that_make_no_sense(written, tmp_path):
    packed = gzip.compress(bytes(range(256)), mtime=0)
    for content in (packed[:5], packed[:12], packed[:25], packed[:-1], packed[:-6] + bytes(6)):
        refused(InputError, r"c\.txt\.gz: broken gzip data", read_back, written(content, "c.txt.gz"))
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
        ("a/x.1.txt a/y.txt.gz", "x.1 y"),
        ("a/x.txt b/x.txt", "a/x.txt b/x.txt"),
        ("a/x.txt a/x.out", "x.txt x.out"),
        ("x -", "x -"),
        ("a/x.txt a/x.txt.gz", "x.txt x.txt.gz"),
    ],
)
def test_name_files(paths, expected):
    assert name_files(paths.split()) == dict(zip(expected.split(), paths.split(), strict=True))


ESSAYS = "### essay_id = 7\n\nhe go home\nit rain\n\n### essay_id = b 2\nall is well\n"


def test_essays(written):
    """Headings and blank lines are no segments; a reference may lack an essay, or have it in other lines."""
    source, one = written(ESSAYS), written(ESSAYS.replace("go", "goes").replace("rain", "rains"), "1.md")
    some = written("### essay_id=7\nhe went home\nit rained", "2.md")
    whole = written("### essay_id = b 2\nall is well\n\n### essay_id = 7\nhe went home it rains", "c.md")
    with ParallelFiles.open([whole], [one, some], source, resegment=True) as corpus:
        (block,) = corpus.blocks()
        assert corpus.documents.numbers.tolist() == [0, 0, 1]
        assert (block.load().source, block.load().candidates["c"]) == (
            ["he go home", "it rain", "all is well"],
            ["he went home", "it rains", "all is well"],
        )
        assert block.load().present()[1:] == [("it rains", "it rained"), ("all is well",)]
    # A merged and a split sentence are one segment each.
    split = written(ESSAYS.replace("home\nit", "home, it").replace("is well", "is well.\nVery well."), "3.md")
    with ParallelFiles.open([whole], [split], source, resegment=True) as corpus:
        (block,) = corpus.blocks()
        assert corpus.documents.numbers.tolist() == [0, 1]
        assert (block.load().source, block.load().references, block.load().candidates["c"]) == (
            ["he go home it rain", "all is well"],
            [("he go home, it rain",), ("all is well. Very well.",)],
            ["he went home it rains", "all is well"],
        )
    refused(
        InputError, "essay '7': .*c.md has 1 lines, .*1.md has 2: .*resegment", ParallelFiles.open, [whole], [one]
    )
    refused(InputError, "2.md lacks essay 'b 2', which .*1.md has", ParallelFiles.open, [some], [one])
    refused(InputError, "has an essay 'b 2', which .*2.md lacks", ParallelFiles.open, [one], [some])
    plain = written("a\nb\nc\n", "p.txt")
    refused(InputError, "1.md has essays .*p.txt has none", ParallelFiles.open, [plain], [one])
    twice = written(ESSAYS.replace("b 2", "7"))
    refused(InputError, "line 6: a second essay '7'", ParallelFiles.open, [twice], [one])


@pytest.mark.parametrize("kernels", ["numpy", "numba"])
def test_blank_references(kernels, written, monkeypatch):
    """They are missing beside others with text, in files as in memory; of many segments a few are empty texts."""
    if kernels == "numba":
        pytest.importorskip("numba", reason="numba (extra 'fast') is missing")
    monkeypatch.setattr("softbleu.corpora.parallel.BLOCK", 2)
    lines, one, two = ["a b c d", "b c", "", "d"], ["a b c x", "b c", "", "d e"], ["a b y d", " ", "", "\u3000"]
    ragged = [tuple(filter(str.strip, texts)) or texts for texts in zip(one, two, strict=True)]

    def scores(corpus):
        metrics = [Gleu(iterations=9), Bleu(order=2), Cleme()]
        return [(found.score, found.signature) for found in score_corpus(corpus, metrics, kernels=kernels)]

    without = scores(Segments.of({"c": lines}, ragged, lines))
    for chosen, many in ((None, 1), ("missing", 101), (None, 101), ("empty", 1)):
        pairs = list(zip(one, two, strict=True)) * many
        made = Segments.of({"c": lines * many}, pairs, lines * many)
        assert (made.blank, made.blank_references) == (2 * many, "missing")
        paths = [written(text * many, name) for name, text in zip("c12", (lines, one, two), strict=True)]
        with ParallelFiles.open(paths[:1], paths[1:], paths[0], blank_references=chosen) as corpus:
            if chosen == "empty":
                assert scores(corpus) != scores(made)
                assert all("blank" not in signature for _, signature in scores(corpus))
            else:
                assert scores(corpus) == scores(made)
                assert many > 1 or [score for score, _ in scores(made)] == [score for score, _ in without]
                assert all("|blank:missing|" in signature for _, signature in scores(corpus))
    few = Segments.of(["a"] * 200, [["a", ""], *[["a", "b"]] * 199])
    assert (few.blank, few.blank_references) == (1, "empty")
