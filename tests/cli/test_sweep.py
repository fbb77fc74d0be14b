"""`softbleu sweep`."""

from __future__ import annotations

import csv
import io
import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

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


def test_defaults(command: Any, options: list[Any]) -> None:
    rows = rows_of(command("sweep", *options, "-f", "csv").out)
    assert {row["matcher"] for row in rows} == {"exact", "sleu", "vleu", "xleu"}
    assert [row["threshold"] for row in rows if row["matcher"] == "vleu"][:20] == [
        str(number / 20) for number in range(20)
    ]


@pytest.mark.parametrize(
    ("name", "magic", "option"),
    [("svg", b"<?xml", "--plot"), ("png", b"\x89PNG", "--plot-ranks"), ("pdf", b"%PDF", "--plot")],
)
def test_pictures(command: Any, files: Any, options: list[Any], name: str, magic: bytes, option: str) -> None:
    paths = [files.folder / f"{number}.{name}" for number in (1, 2)]
    for path in paths:
        done = command("sweep", *options, "--matcher", "vleu", "-t", "0.5,0.8", option, path)
        assert (done.code, done.err) == (0, "")
        assert done.out
    first, second = (path.read_bytes() for path in paths)
    assert first == second
    assert first.startswith(magic)


def test_ranks_of_one_system_are_refused_at_once(refused: Any, files: Any) -> None:
    given = ("-c", files.candidate, "-r", files.reference, "--vectors", files.vectors)
    message = refused("sweep", *given, "--plot-ranks", "x.svg", "-o", "x.csv", output=None)
    assert message == "softbleu: error: ranks need two systems or more, here are 1\n"


@pytest.mark.parametrize(
    ("missing", "arguments", "said"),
    [
        ("matplotlib", ["--plot", "x.svg"], "pictures need another package: pip install 'softbleu[plots]'"),
        ("pyarrow", ["-o", "x.parquet"], "Parquet needs another package: pip install 'softbleu[parquet]'"),
    ],
)
def test_without_a_package_nothing_is_written(
    command: Any, files: Any, options: list[Any], monkeypatch: Any, missing: str, arguments: list[str], said: str
) -> None:
    before = names_in(files.folder)
    monkeypatch.chdir(files.folder)
    monkeypatch.setitem(sys.modules, missing, None)
    done = command("sweep", *options, "-t", "0.5", *arguments)
    assert (done.code, done.out, done.err) == (2, "", f"softbleu: error: {said}\n")
    # What is done may be noted for the next run.
    assert names_in(files.folder) <= before | {".x.parquet.sweep"}


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
def test_bad_input(refused: Any, options: list[Any], arguments: list[str], message: str) -> None:
    assert message in refused("sweep", *options, *arguments)


def test_a_device_has_no_journal_beside_it(command: Any, options: list[Any]) -> None:
    done = command("sweep", *options, "--matcher", "vleu", "-t", "0.5", "-o", os.devnull)
    assert (done.code, done.err) == (0, "")
    assert not Path("/dev/.null.sweep").exists()


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
