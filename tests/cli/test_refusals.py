"""What is refused: one line, exit code 2, nothing on standard output, and every file as it was, inputs among them.

`refusals.toml` has a row for each case, whose files lie in the folder where it runs. `notes.toml` has all notes of
commands, in the same way.
"""

import gzip
import json
import os
import shlex
import sys
from pathlib import Path
from shutil import copytree
from typing import Any
from unittest.mock import Mock

import pyarrow.parquet
import pytest
from cli.conftest import CANDIDATE, DEFINITIONS, LINES, TEXTS
from tables import each_row

from softbleu.embeddings.convert import convert_vectors
from softbleu.embeddings.neighbours import import_faiss
from softbleu.encoders.convert import convert_encoder
from softbleu.io.arguments import FACTOR, Limit
from softbleu.language import VALUES
from softbleu.metrics.bleu import Bleu
from softbleu.version import __version__

# Handed out together: one by one, so many take longer.
pytestmark = [pytest.mark.xdist_group("refusals"), pytest.mark.usefixtures("few_lines_tested")]

ENCODER = Path(__file__).resolve().parents[1] / "golden" / "encoders" / "bert"
WITHOUT_OUTPUT = ("embeddings convert", "experiments run")
WEIGHTS = {"constant": 0, "coefficients": dict.fromkeys(VALUES, 1), "fluency": [0, 1]}
NO_LISTS = enumerate((None, 3, "x", [None]))
FILES: dict[str, list[str] | bytes] = {
    **LINES,
    "bad.txt": b"the cat\nna\xefve dog\nrain\n",
    "corpus.txt": ["The cat sat on the mat.", "A small dog barked at the cat!"] * 20,
    "deep.jsonl": ['{"candidate": ' + "[" * 100_000],
    "digits.jsonl": ['{"candidate": 1' + "0" * 5000 + "}"],
    "long.json": ['{"system": "A", "score": 1' + "0" * 5000 + "}"],
    **{f"m{n}.json": [json.dumps({"systems": [{"name": "a", "score": 1, "segments": it}]})] for n, it in NO_LISTS},
    "mark.txt": b"\xef\xbb\xbf",
    "none.vec": b"c\xff 1 2\n",
    "own.json": [json.dumps(WEIGHTS)],
    "strange.txt": b"fine\nstr\xffnge\n",
    "turned.json": [json.dumps({**WEIGHTS, "fluency": [1, 0]})],
    "underscore.tsv": ["system\tscore", "A\t1_0", "B\t1", "C\t2", "D\t3"],
    "underscore.txt": ["a 1 2", "b 1_0 2"],
    "wide.tsv": ["x" * 200_000],
}


@each_row("cli/refusals.toml", "run", "more", "says")
def test_commands_are_refused_in_one_line(
    refused: Any, files: Any, run: str, more: str, says: list[str], monkeypatch: Any
) -> None:
    monkeypatch.setattr("softbleu.io.reading._PAUSE", 0.0)
    monkeypatch.setattr("softbleu.corpora.generate.FRUITLESS", 100)
    # A limit set by --limits is not for other tests.
    monkeypatch.setenv(FACTOR, "1")
    for name, content in FILES.items():
        if name.split("/")[0].partition(".")[0] in f"{run} {more}":
            files.write(name, content)
    # Files that are there survive, also one to be written over.
    files.write("out.txt", ["precious"])
    for name in ("empty", "place.2"):
        (files.folder / name).mkdir()
    output = None if run.startswith(WITHOUT_OUTPUT) else "set" if run == "embeddings train" else "out.txt"
    message = refused(*shlex.split(f"{run.replace('ENCODER', str(ENCODER))} {more}"), output=output)
    assert all(part in message for part in says), message


@each_row("cli/notes.toml", "run", "more", notes=())
def test_commands_print_these_notes_alone(command: Any, files: Any, run: str, more: str, notes: list[str]) -> None:
    files.lay(run, more)
    done = command(*shlex.split(f"{run} {more}"))
    assert done.code == 0
    expected = [f"softbleu: note: {note}".replace("VERSION", __version__) for note in notes]
    assert done.err.splitlines() == expected


def test_tracebacks_are_for_debugging_and_faults_of_the_program_are_not_hidden(command, files, monkeypatch):
    arguments = ("score", "-c", "missing.txt", "-r", "reference.txt")
    assert "Traceback" not in command(*arguments).err
    debugged = command(*arguments, "--debug")
    assert (debugged.code, "Traceback" in debugged.err) == (2, True)
    assert debugged.err.endswith("softbleu: error: no such file: missing.txt\n")
    monkeypatch.setattr(Bleu, "score", Mock(side_effect=RuntimeError("a fault")))
    with pytest.raises(RuntimeError, match="a fault"):
        command("score", *TEXTS)


@pytest.mark.skipif(os.name == "nt", reason="names of bytes")
def test_names_that_are_no_text(command, files):
    odd, store = os.fsdecode(b"odd\xff"), os.fsdecode(b"store\xff")
    files.write(odd, CANDIDATE)
    done = command("sweep", "-c", odd, *TEXTS[2:], "-m", "exact", "-t", "0.5", "--quiet", "-o", "out.parquet")
    assert (done.code, done.err) == (0, "")
    assert pyarrow.parquet.read_table("out.parquet")["system"].to_pylist() == ["odd\\udcff"]
    assert command("embeddings", "convert", "vectors.txt", store, "--licence", odd, "--quiet").code == 0
    done = command("embeddings", "info", store)
    assert (done.code, done.err, "odd\\udcff" in done.out) == (0, "", True)


@pytest.mark.parametrize(
    ("missing", "line", "extra"),
    [
        ("matplotlib", ["sweep", *TEXTS, "-m", "exact", "chrf", "--plot", "x.svg"], "plots"),
        ("textalloc", ["experiments", "run", "tiny.toml"], "plots"),
        ("pyarrow", ["compare", *TEXTS, "-o", "x.parquet"], "parquet"),
        ("fsspec.core", ["score", "-c", "s3://texts/c.txt", *TEXTS[2:]], "remote"),
        ("faiss", ["explain", *TEXTS, "-m", "vleu", "--neighbours", "5"], "neighbours"),
        ("gensim.models", ["embeddings", "train", "corpus.txt", "-o", "store"], "train"),
    ],
)
def test_the_extra_is_named_where_it_is_missing(command, refused, files, monkeypatch, missing, line, extra):
    files.lay("tiny.toml")
    files.write("corpus.txt", FILES["corpus.txt"])
    import_faiss.cache_clear()
    monkeypatch.setitem(sys.modules, missing, None)
    assert refused(*line, output=None).endswith(f": pip install '.[{extra}]' in a clone\n")
    if missing == "textalloc":
        assert command(*line, "--no-picture").code == 0


def test_a_required_package_that_is_missing_has_one_line(refused, monkeypatch):
    monkeypatch.setitem(sys.modules, "rapidfuzz.distance.Levenshtein", None)
    said = refused("score", *TEXTS, "-m", "ter", output=None)
    assert said.startswith("softbleu: error: the package 'rapidfuzz")
    assert "pip install" in said


LONG = "a dog barked\n" + "x " * 40 + "\nrain\n"


@pytest.mark.parametrize("name", ["long.txt", "long.txt.gz", "long.utf16"])
@pytest.mark.parametrize("where", ["-c", "--pairs"])
def test_a_line_that_is_too_long(command, refused, files, monkeypatch, name, where):
    content = (LONG.replace("\n", " ||| a\n") if where == "--pairs" else LONG).encode(encoding_of(name))
    files.write(name, gzip.compress(content) if name.endswith("gz") else content)
    given = ("score", where, name, *(() if where == "--pairs" else ("-r", name)), "--encoding", encoding_of(name))
    monkeypatch.setenv("SOFTBLEU_LONGEST_LINE", "50")
    said = refused(*given)
    assert name in said
    assert "a line of more than 50 bytes: cut it, or set SOFTBLEU_LONGEST_LINE to more" in said
    monkeypatch.setenv("SOFTBLEU_LONGEST_LINE", "100")
    assert command(*given).code == 0


def encoding_of(name):
    return "utf-16" if name == "long.utf16" else "utf-8"


def test_a_vector_that_is_too_long(refused, files, monkeypatch):
    monkeypatch.setenv("SOFTBLEU_LONGEST_LINE", "100")
    files.write("long.vec", ["a 1 2 3", "b " + "1 " * 60])
    scored = ("score", *TEXTS, "-m", "vleu", "--vectors", "long.vec")
    for arguments in (scored, ("embeddings", "train", "long.vec", "-o", "set")):
        assert "long.vec, line 2: a line of more than 100 bytes" in refused(*arguments)


def test_every_command_allows_more(command, refused, files, monkeypatch):
    monkeypatch.setenv(FACTOR, "1")
    monkeypatch.setattr("softbleu.metrics.meteor._LIMIT", Limit("meteor", "pairs of words", 1, "none"))
    arguments = "score", *TEXTS, "-m", "meteor", "--stages", "exact"
    assert "allow more by --limits " in refused(*arguments)
    assert command(*arguments, "--limits", "100").code == 0


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("encoder") / "made"
    convert_encoder(ENCODER, folder)
    return folder


@pytest.fixture
def _place(files: Any, encoder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with vectors as a file and as a store, text within a store, and a definition."""
    monkeypatch.setattr("softbleu.embeddings.measure.PAIRS", 100)
    convert_vectors("vectors.txt", "store")
    files.write("store/card.md", ["the cat sat on a mat"] * 20)
    files.write("out/vocab.txt", LINES["vectors.txt"])
    Path("same.txt").hardlink_to("vectors.txt")
    Path("link.txt").symlink_to("vectors.txt")
    files.lay("words.txt", "my.cfg")
    files.write("input.svg", CANDIDATE)
    files.write("texts/a.txt", CANDIDATE)
    copytree(encoder, "encoder")


@pytest.mark.usefixtures("_place")
@each_row("cli/inputs.toml", "run", "more")
def test_output_over_an_input(refused: Any, run: str, more: str) -> None:
    message = refused(*run.split(), *more.split(), output=None)
    assert " is an input: write to another file" in message or " holds the input " in message


@pytest.mark.usefixtures("_place")
def test_another_file_of_a_store_may_be_written(command: Any) -> None:
    assert command("embeddings", "info", "store", "-o", "store/card.md").code == 0
    assert command("embeddings", "similarity", "dog", "hound", "--vectors", "store").code == 0


@pytest.mark.parametrize("candidate", ["x.csv", "x.tsv", "*.csv", "x.manifest.json"])
def test_experiments_never_write_over_their_input(refused: Any, files: Any, candidate: str) -> None:
    options = ["-f", "tsv"] if candidate == "x.tsv" else []
    files.write(candidate.replace("*", "x"), CANDIDATE)
    files.write("x.toml", DEFINITIONS["texts"]["sweep"].replace("candidate.txt", candidate).encode())
    message = refused("experiments", "run", "x.toml", "--no-picture", *options, output=None)
    assert "is an input: write to another file" in message


@pytest.mark.parametrize("kind", ["sweep", "spurious"])
@pytest.mark.parametrize("link", [False, True])
def test_notes_where_a_journal_would_lie(refused: Any, files: Any, kind: str, link: bool) -> None:
    files.write("x.toml", DEFINITIONS["texts"][kind].encode())
    path = files.write("notes" if link else "x.unfinished", ["my notes"])
    if link:
        Path("x.unfinished").symlink_to(path)
    message = refused("experiments", "run", "x.toml", "--no-picture", output=None)
    assert "x.unfinished: no checkpoint of an interrupted run" in message
    assert Path("x.unfinished").is_symlink() == link
