from __future__ import annotations

import gzip
import os
import pickle
import struct

import pyarrow.parquet
import pytest

from softbleu.metrics.bleu import Bleu
from softbleu.text.tokens import TOKENIZERS


@pytest.fixture
def misused(refused):
    texts = ("-c", "candidate.txt", "-r", "reference.txt")
    return lambda *more, command="score", inputs=True: refused(command, *(texts if inputs else ()), *more)


MANY = "9" * 26
FILES = {
    "short.txt": b"one line\n",
    "empty.txt": b"",
    "bad.txt": b"the cat\nna\xefve dog\nrain\n",
    "c.pairs": b"a ||| b\nalone\n",
    "c.tsv": b"candidate\treference\na\tb\nalone\n",
    "c.jsonl": b'{"candidate": "a", "references": ["b"]}\n{"candidate": "a", "references": [null]}\n',
    "gold.m2": f"S a b\nA 0 1|||V|||c|||REQUIRED|||-NONE-|||{MANY}\n".encode(),
    "scores.tsv": b"system\tscore\nA\t1\nB\t2\nC\t3\nD\t4\n",
    "great.tsv": b"system\tscore\nA\t1e308\nB\t1\nC\t2\nD\t3\n",
    "small.json": b'{"system": "A", "score": 1e-320}\n{"system": "B", "score": 1}\n{"system": "C", "score": 2}\n',
    "long.json": b'{"system": "A", "score": 1' + b"0" * 5000 + b"}\n",
    **{
        f"m{n}.json": b'{"schema": 1, "systems": [{"name": "a", "score": 1, "segments": %s}]}\n' % segments
        for n, segments in enumerate((b"null", b"3", b'"x"', b"[null]"))
    },
}


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("score -c missing.txt -r reference.txt", ["no such file: missing.txt"]),
        ("score -c candidate.txt -r reference.txt -r short.txt", ["short.txt has 1", "reference.txt has 3"]),
        ("score -c empty.txt -r empty.txt", ["empty corpus", "empty.txt"]),
        ("score --pairs empty.txt", ["empty corpus", "empty.txt"]),
        ("score -c bad.txt -r reference.txt", ["bad.txt, line 2, byte 3: not UTF-8"]),
        ("score -c candidate.txt -r reference.txt --matcher vleu --vectors no-such-vectors", ["glove-6b-100d"]),
        ("score --pairs c.pairs --input-format pairs", ["c.pairs, line 2", "no reference"]),
        ("score --pairs c.tsv", ["c.tsv, line 3", "no reference"]),
        ("score --pairs c.jsonl", ["c.jsonl, line 2", "no reference"]),
        ("score -c candidate.txt -r reference.txt --pairs candidate.txt", ["--pairs"]),
        ("score -c candidate.txt -r reference.txt --input-format tsv", ["--input-format"]),
        ("score -r reference.txt", ["candidate"]),
        ("score -c candidate.txt", ["reference"]),
        ("score -c - -r -", ["standard input"]),
        ("score --pairs candidate.txt --input-format yaml", ["'yaml'"]),
        ("score -c short.txt --metric m2 --gold gold.m2", ["gold.m2, line 2: start, end and annotator are whole"]),
        (f"corpora generate --count {MANY}", ["count must lie between 1 and 1e+15"]),
        ("metaeval --scores scores.tsv --human great.tsv", ["great.tsv", "a number is needed"]),
        ("metaeval --scores scores.tsv --human small.json", ["small.json", "a number is needed"]),
        ("metaeval --scores scores.tsv --human long.json", ["long.json", "digits"]),
        *((f"metaeval --scores m{n}.json --human m{n}.json", [f"m{n}.json: no scores; JSON is"]) for n in range(4)),
    ],
)
def test_input_that_cannot_be_used(refused, files, line, parts):
    for name, content in FILES.items():
        files.write(name, content)
    message = refused(*line.split())
    assert all(part in message for part in parts), message


def test_more_neighbours_than_there_are_words(command, files):
    arguments = ("embeddings", "neighbours", "dog", "--vectors", files.vectors, "--format", "json")
    assert command(*arguments, "--count", MANY).out == command(*arguments, "--count", 5).out


@pytest.mark.parametrize(
    ("option", "value", "valid"),
    [
        ("--matcher", "vlue", ["exact", "sleu", "vleu", "xleu"]),
        ("--tokenize", "14a", TOKENIZERS),
        ("--preset", "morgan", ["morgan2014", "terp", "networks", "paraphrases"]),
        ("--level", "document", ["corpus", "segment", "macro", "reference"]),
        ("--format", "yaml", ["text", "json", "jsonl", "tsv", "markdown", "latex", "csv", "parquet", "html"]),
    ],
)
def test_unknown_names_list_the_valid_ones(misused, option, value, valid):
    matcher = () if option == "--matcher" else ("--matcher", "vleu")
    message = misused(option, value, *matcher)
    assert repr(value) in message
    assert message.rstrip().endswith(f"valid: {', '.join(valid)}")


@pytest.mark.parametrize("matcher", ["exact", "vleu"])
@pytest.mark.parametrize("threshold", ["-0.1", "1.01", "nan", "inf"])
def test_threshold_lies_between_0_and_1(misused, matcher, threshold):
    assert "between 0 and 1" in misused("--matcher", matcher, "--threshold", threshold)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--threshold", "high"),
        ("--order", "2.5"),
        ("--jobs", "many"),
        ("--order", "0"),
        ("--jobs", "0"),
        ("--digits", "-1"),
        ("--smooth-value", "1"),
        ("--encoding", "utf-99"),
    ],
)
def test_numbers_that_make_no_sense(misused, option, value):
    assert value in misused(option, value) or option == "--smooth-value"


@pytest.mark.parametrize("arguments", ["score --treshold 1", "score --order", "scor", "score stray"])
def test_usage_errors_say_where_help_is(command, arguments):
    done = command(*arguments.split())
    assert (done.code, done.err.count("\n"), done.err[:17]) == (2, 1, "softbleu: error: ")
    assert "treshold" not in arguments or ("--threshold" in done.err and "--help" in done.err)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"the 1 2 3\ncat 1 2\n", ["line 2"]),
        (b"the 1 2 3\ncat 1 nan 3\n", ["cat"]),
        (pickle.dumps({"the": [1.0]}), ["pickle"]),
        (b"2 3\nthe " + struct.pack("<3f", 1, 2, 3) + b"cat " + struct.pack("<2f", 1, 2), ["vectors"]),
    ],
    ids=["wrong dimension", "NaN", "pickle", "truncated"],
)
def test_vector_files_that_cannot_be_trusted(misused, files, content, words):
    path = files.write("odd.bin" if b"\x00" in content else "odd.txt", content)
    message = misused("--matcher", "vleu", "--vectors", path)
    assert str(path) in message
    assert all(word in message for word in words)


@pytest.mark.parametrize("text", ["0", "4", "2-9", "3-1", "x", "-2", "1-", "1.5", "²", ""])
def test_segments_that_are_not_there(misused, text):
    message = misused(f"--segment={text}", command="explain")
    assert "segment" in message


@pytest.mark.parametrize(
    ("where", "words"), [("no/such/out.txt", "no folder"), ("candidate.txt/out.txt", "no folder"), (".", "folder")]
)
def test_output_that_cannot_be_written(misused, where, words):
    assert words in misused("-o", where)


def test_existing_output_survives_an_error(misused, files):
    files.write("out.txt", ["precious"])
    misused("-c", "missing.txt")


def test_traceback_only_for_debugging(command, files):
    arguments = ("score", "-c", "missing.txt", "-r", files.reference)
    assert "Traceback" not in command(*arguments).err
    debugged = command(*arguments, "--debug")
    assert debugged.code == 2
    assert "Traceback" in debugged.err
    assert debugged.err.endswith("softbleu: error: no such file: missing.txt\n")


def test_faults_of_the_program_are_not_hidden(command, files, monkeypatch):
    def fail(*_):
        raise RuntimeError("a fault")

    monkeypatch.setattr(Bleu, "score", fail)
    with pytest.raises(RuntimeError, match="a fault"):
        command("score", "-c", files.candidate, "-r", files.reference)


@pytest.mark.parametrize("content", ['{"candidate": 1%s}' % ("0" * 5000), '{"candidate": %s' % ("[" * 100_000)])
def test_json_lines_out_of_bounds(misused, files, content):
    path = files.write("deep.jsonl", [content])
    message = misused("--pairs", path, inputs=False)
    assert f"{path}, line 1" in message
    assert "digits" in message or "deep" in message


@pytest.mark.skipif(os.name == "nt", reason="names of bytes")
def test_names_that_are_no_text(command, files):
    odd = os.fsdecode(b"odd\xff")
    candidate = files.write(odd, ["the cat sat on a mat", "a small dog barked loudly", "rain fell all night"])
    place = files.folder / "out.parquet"
    arguments = ("-c", candidate, "-r", files.reference, "-m", "exact", "-t", "0.5", "--quiet")
    done = command("sweep", *arguments, "--output", place)
    assert (done.code, done.err) == (0, "")
    assert pyarrow.parquet.read_table(place)["system"].to_pylist() == ["odd\\udcff"]
    store = files.folder / os.fsdecode(b"store\xff")
    assert command("embeddings", "convert", files.vectors, store, "--licence", odd, "--quiet").code == 0
    done = command("embeddings", "info", store)
    assert (done.code, done.err) == (0, "")
    assert "odd\\udcff" in done.out


LONG = b"a dog barked\n" + b"x " * 40 + b"\nrain\n"


@pytest.mark.parametrize("name", ["long.txt", "long.txt.gz", "long.utf16"])
@pytest.mark.parametrize("where", ["-c", "--pairs"])
def test_a_line_that_is_too_long(command, files, monkeypatch, name, where):
    content = LONG.replace(b"\n", b" ||| a\n") if where == "--pairs" else LONG
    encoded = content.decode().encode("utf-16") if name == "long.utf16" else content
    path = files.write(name, gzip.compress(encoded) if name.endswith("gz") else encoded)
    inputs = (where, path, *(() if where == "--pairs" else ("-r", path)))
    encoding = ("--encoding", "utf-16") if name == "long.utf16" else ()
    monkeypatch.setenv("SOFTBLEU_LONGEST_LINE", "50")
    done = command("score", *inputs, *encoding)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert str(path) in done.err
    assert "a line of more than 50 bytes: cut it, or set SOFTBLEU_LONGEST_LINE to more" in done.err
    monkeypatch.setenv("SOFTBLEU_LONGEST_LINE", "100")
    assert command("score", *inputs, *encoding).code == 0


def test_a_vector_that_is_too_long(command, files, monkeypatch):
    monkeypatch.setenv("SOFTBLEU_LONGEST_LINE", "100")
    path = files.write("long.vec", ["a 1 2 3", "b " + "1 " * 60])
    done = command("score", "-c", files.candidate, "-r", files.reference, "-m", "vleu", "--vectors", path)
    assert done.code == 2
    assert f"{path}, line 2: a line of more than 100 bytes" in done.err
    done = command("embeddings", "train", path, "-o", files.folder / "store")
    assert done.code == 2
    assert f"{path}, line 2: a line of more than 100 bytes" in done.err
