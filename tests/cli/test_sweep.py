"""`softbleu sweep`."""

from __future__ import annotations

import csv
import io
import json
import os
import random
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from softbleu.cli.examples import EXAMPLES
from softbleu.engine.checkpoint import Checkpoint

TAIL = ["threshold", "score", "signature"]


@pytest.fixture
def options(files: Any) -> list[Any]:
    return ["-c", files.candidate, "-c", files.second, "-r", files.reference, "--vectors", files.vectors]


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("metric", ["bleu", "gleu"])
def test_every_row_is_a_run_of_its_own(command: Any, files: Any, options: list[Any], metric: str) -> None:
    more = ["--metric", metric, *(["--source", files.candidate] if metric == "gleu" else [])]
    done = command(
        "sweep", *options, *more, "--matcher", "exact", "--matcher", "xleu", "-t", "0.5:0.9:0.2,p99", "-f", "csv"
    )
    assert (done.code, done.err) == (0, "")
    rows = rows_of(done.out)
    assert list(rows[0]) == ["system", "metric", "matcher", "quantile", *TAIL]
    assert len(rows) == 2 * (1 + 4)
    for row in rows:
        threshold = ["-t", row["quantile"] or row["threshold"]] if row["threshold"] else []
        alone = command("score", *options, *more, "--matcher", row["matcher"], *threshold, "-f", "json")
        (system,) = [each for each in json.loads(alone.out)["systems"] if each["name"] == row["system"]]
        assert float(row["score"]) == system["score"]
        assert row["signature"] == json.loads(alone.out)["signature"]


def test_any_setting_varies(command: Any, options: list[Any]) -> None:
    vary = ("--vary", "order=1,2", "--vary", 'vectors-postprocess=none,"mean,pc:2"')
    done = command("sweep", *options, "--matcher", "vleu", "-t", "0.5", *vary, "-f", "csv")
    assert (done.code, done.err) == (0, "")
    rows = rows_of(done.out)
    assert len(rows) == 2 * 4
    for row in rows:
        own = ("--order", row["order"], "--vectors-postprocess", row["vectors_postprocess"])
        alone = command("score", *options, "--matcher", "vleu", "-t", "0.5", *own, "-f", "json")
        (system,) = [each for each in json.loads(alone.out)["systems"] if each["name"] == row["system"]]
        assert float(row["score"]) == system["score"]
        assert row["signature"] == json.loads(alone.out)["signature"]


@pytest.mark.parametrize("name", ["csv", "tsv", "json", "jsonl", "parquet"])
def test_tables_have_the_same_values(command: Any, files: Any, options: list[Any], name: str) -> None:
    expected = rows_of(command("sweep", *options, "-t", "0.5", "-f", "csv").out)
    path = files.folder / f"table.{name}"
    done = command("sweep", *options, "-t", "0.5", "--output", path)
    assert (done.code, done.out, done.err) == (0, "", "")
    read: dict[str, Any] = {
        "csv": lambda: rows_of(path.read_text()),
        "tsv": lambda: list(csv.DictReader(io.StringIO(path.read_text()), delimiter="\t", quoting=csv.QUOTE_NONE)),
        "json": lambda: json.loads(path.read_text())["rows"],
        "jsonl": lambda: [json.loads(line) for line in path.read_text().splitlines()],
        "parquet": lambda: pyarrow.parquet.read_table(path).to_pylist(),
    }
    found = [{key: "" if value is None else str(value) for key, value in row.items()} for row in read[name]()]
    assert found == expected
    assert names_in(files.folder) == {"candidate.txt", "reference.txt", "second.txt", "vectors.txt", path.name}


def test_the_sample_corpus_as_text(command: Any) -> None:
    done = command("sweep", "--matcher", "vleu", "-t", "0.7,0.8")
    assert done.code == 0
    assert done.err.count("\n") == 1
    assert "bundled sample corpus" in done.err
    assert done.out.split()[:4] == ["system", "metric", "matcher", "threshold"]
    assert command("sweep", "--matcher", "vleu", "-t", "0.7,0.8", "--quiet").err == ""


def test_defaults(command: Any, options: list[Any]) -> None:
    rows = rows_of(command("sweep", *options, "-f", "csv").out)
    assert {row["matcher"] for row in rows} == {"exact", "sleu", "vleu", "xleu"}
    assert [row["threshold"] for row in rows if row["matcher"] == "vleu"][:20] == [
        str(number / 20) for number in range(20)
    ]


def test_jobs_change_nothing(program: Any, options: list[Any]) -> None:
    arguments = ("sweep", *options, "--matcher", "vleu", "-t", "0.5,0.8", "-f", "csv")
    one, two = program(*arguments), program(*arguments, "--jobs", "2")
    assert one.code == two.code == 0
    assert one.out == two.out != ""


@pytest.mark.parametrize("option", ["--plot", "--plot-ranks"])
@pytest.mark.parametrize(("name", "magic"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_pictures(command: Any, files: Any, options: list[Any], name: str, magic: bytes, option: str) -> None:
    paths = [files.folder / f"{number}.{name}" for number in (1, 2)]
    for path in paths:
        done = command("sweep", *options, "--matcher", "vleu", "-t", "0.5,0.8", option, path)
        assert (done.code, done.err) == (0, "")
        assert done.out
    first, second = (path.read_bytes() for path in paths)
    assert first == second
    assert first.startswith(magic)


def test_ranks_of_one_system_are_refused_at_once(command: Any, files: Any) -> None:
    before = names_in(files.folder)
    given = ("-c", files.candidate, "-r", files.reference, "--vectors", files.vectors)
    done = command("sweep", *given, "--plot-ranks", files.folder / "x.svg", "-o", files.folder / "x.csv")
    assert (done.code, done.err) == (2, "softbleu: error: ranks need two systems or more, here are 1\n")
    assert names_in(files.folder) == before


def test_without_matplotlib_nothing_is_begun(
    command: Any, files: Any, options: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = names_in(files.folder)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = command("sweep", *options, "-o", files.folder / "x.csv", "--plot", files.folder / "x.svg")
    assert (done.code, done.out) == (2, "")
    assert done.err == "softbleu: error: pictures need another package: pip install 'softbleu[plots]'\n"
    assert names_in(files.folder) == before


def test_without_pyarrow(command: Any, files: Any, options: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    done = command("sweep", *options, "-t", "0.5", "-o", files.folder / "x.parquet")
    assert done.code == 2
    assert done.err == "softbleu: error: Parquet needs another package: pip install 'softbleu[parquet]'\n"
    assert not (files.folder / "x.parquet").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-t", "high"], "not 'high'"),
        (["-t", "0:1"], "from:to:step"),
        (["-t", "1:0:0.1"], "goes up"),
        (["-t", "0.5,2"], "between 0 and 1"),
        (["-t", "p200"], "quantile such as p99.9"),
        (["-m", "vlue"], "did you mean 'vleu'"),
        (["-f", "xml"], "valid: text, json, jsonl, tsv, markdown, latex, csv, parquet"),
        (["--plot", "x.gif"], "unknown picture format 'gif'; valid: svg, png, pdf"),
        (["--plot-ranks", "x.gif"], "unknown picture format 'gif'"),
        (["--plot", "none/x.svg"], "there is no folder"),
        (["--composition", "average"], "unknown composition"),
        (["--metric", "gleu"], "source"),
        (["--vary", "order=2,4", "--order", "3"], "order has one value already"),
        (["--vary", "ordre=2,4"], "unknown setting 'ordre' (did you mean 'order'?)"),
        (["--vary", "order=x"], "order must be a whole number, not 'x'"),
        (["--vary", "order=0"], "order must lie between 1 and 16, not 0"),
        (["--vary", "order"], "--vary takes NAME=V1,V2"),
        (["--vary", "matcher=exact,vleu"], "of a setting other than metric, matcher, threshold"),
        (["--vary", "beta=1,2"], "--vary beta: no metric and no matcher here has that setting"),
        (["--jobs", "0"], "number of jobs"),
        (["--digits", "-1"], "digits"),
        (["--vectors", "none.txt"], "none.txt"),
        (["-c", "none.txt"], "no such file"),
    ],
)
def test_bad_input(
    command: Any,
    files: Any,
    options: list[Any],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(files.folder)
    before = names_in(files.folder)
    done = command("sweep", *options, *arguments, "--output", "out.txt")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("softbleu: error: ")
    assert message in done.err
    assert done.err.count("\n") == 1
    assert names_in(files.folder) == before


def test_parquet_needs_a_file(command: Any, options: list[Any]) -> None:
    done = command("sweep", *options, "-f", "parquet")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert "name a file with --output" in done.err


@pytest.mark.parametrize("option", ["-o", "--plot", "--plot-ranks"])
def test_inputs_are_not_written_over(command: Any, files: Any, options: list[Any], option: str) -> None:
    path = files.write("input.svg", files.candidate.read_bytes())
    done = command("sweep", "-c", path, *options, option, path)
    assert done.code == 2
    assert "is an input" in done.err
    assert path.read_bytes() == files.candidate.read_bytes()


def test_a_device_has_no_journal_beside_it(command: Any, options: list[Any]) -> None:
    done = command("sweep", *options, "--matcher", "vleu", "-t", "0.5", "-o", os.devnull)
    assert (done.code, done.err) == (0, "")
    assert not Path("/dev/.null.sweep").exists()


@pytest.mark.parametrize("example", EXAMPLES["sweep"].values())
def test_examples_run(command: Any, files: Any, monkeypatch: pytest.MonkeyPatch, example: str) -> None:
    for name in ("a.txt", "b.txt", "reference.txt"):
        files.write(name, files.candidate.read_bytes())
    monkeypatch.chdir(files.folder)
    name, *arguments = shlex.split(example)
    done = command(*arguments)
    assert (name, done.code) == ("softbleu", 0), done.err
    assert done.out or (files.folder / "scores.csv").read_text().startswith("system,")


def test_help_shows_the_examples(command: Any) -> None:
    shown = " ".join(command("sweep", "--help", environment={"COLUMNS": "200"}).out.split())
    assert all(example in shown for example in EXAMPLES["sweep"].values())


# killed


@pytest.fixture
def slow(files: Any) -> list[Any]:
    """A sweep that takes a while for each of three systems."""
    draw = random.Random(4)
    words = [f"w{number}" for number in range(400)]
    files.write("large.txt", [f"{word} {' '.join(f'{draw.gauss(0.5, 1):.3f}' for _ in range(8))}" for word in words])
    for name in ("s1.txt", "s2.txt", "s3.txt", "ref.txt"):
        files.write(name, [" ".join(draw.choices(words, k=22)) for _ in range(60)])
    systems = [part for name in ("s1.txt", "s2.txt", "s3.txt") for part in ("-c", files.folder / name)]
    grid = ["--matcher", "sleu", "--matcher", "vleu", "--matcher", "xleu", "-t", "0:0.9:0.1"]
    return [*systems, "-r", files.folder / "ref.txt", "--vectors", files.folder / "large.txt", *grid]


KILLED = """
import os, signal
from softbleu.cli import main
from softbleu.engine.checkpoint import Checkpoint

write = Checkpoint.write

def once(*given):
    write(*given)
    os.kill(os.getpid(), signal.SIGKILL)

Checkpoint.write = once
main()
"""


@pytest.mark.skipif(os.name != "posix", reason="kills as POSIX does")
@pytest.mark.parametrize("torn", [False, True])
def test_a_killed_sweep_goes_on_where_it_was(
    command: Any, files: Any, slow: list[Any], torn: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    output, place = files.folder / "out.csv", files.folder / ".out.csv.sweep"
    arguments = ["sweep", *slow, "-o", output]
    done = subprocess.run([sys.executable, "-c", KILLED, *map(str, arguments)], check=False)
    assert (done.returncode, output.exists()) == (-signal.SIGKILL, False)
    (part,) = place.iterdir()
    if torn:
        part.write_bytes(part.read_bytes()[:-100])
    known: list[int] = []
    read = Checkpoint.read

    def seen(*given: Any) -> Any:
        found = read(*given)
        known.append(found[0])
        return found

    monkeypatch.setattr(Checkpoint, "read", seen)
    done = command(*arguments)
    assert (done.code, done.out, done.err) == (0, "", "")
    assert known == [0 if torn else 60, 0, 0]
    assert not place.exists()
    assert output.read_text() == command("sweep", *slow, "-f", "csv").out


def test_a_file_where_the_checkpoint_would_lie_stays(command: Any, files: Any, options: list[Any]) -> None:
    place = files.folder / ".out.csv.sweep"
    place.write_text('{"sweep": "of something else"}\n')
    done = command("sweep", *options, "-t", "0.5", "-o", files.folder / "out.csv")
    assert (done.code, "no checkpoint of an interrupted run" in done.err) == (2, True)
    assert place.read_text() == '{"sweep": "of something else"}\n'


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_closed_folder(command: Any, files: Any, options: list[Any]) -> None:
    closed = files.folder / "closed"
    closed.mkdir(mode=0o555)
    done = command("sweep", *options, "-o", closed / "x.csv")
    assert done.code == 2
    assert "no permission" in done.err
    assert list(closed.iterdir()) == []
