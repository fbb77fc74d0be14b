"""`softbleu sweep`."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from cli.conftest import names_in

GLEU = ["-m", "gleu", "-s", "candidate.txt"]
VARIED = ["--vary", "order=1,2", "--vary", 'vectors-postprocess=none,"mean,pc:2"']
TAIL = ["threshold", "score", "signature"]


@pytest.fixture
def options(files: Any) -> list[Any]:
    return ["-c", files.candidate, "-c", files.second, "-r", files.reference, "--vectors", files.vectors]


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


@pytest.mark.parametrize(
    ("more", "vary", "columns"),
    [
        ([], ["--matcher", "exact", "xleu", "-t", "0.5:0.9:0.2,p99"], ["matcher", "quantile"]),
        (GLEU, ["--matcher", "exact", "xleu", "-t", "0.5,0.7,0.9,p99"], ["matcher", "quantile"]),
        (["--matcher", "vleu", "-t", "0.5"], VARIED, ["matcher", "order", "vectors_postprocess"]),
    ],
)
def test_every_row_is_a_run_of_its_own(
    command: Any, files: Any, options: list[Any], monkeypatch: Any, more: Any, vary: Any, columns: list[str]
) -> None:
    monkeypatch.chdir(files.folder)
    done = command("sweep", *options, *more, *vary, "-f", "csv")
    assert (done.code, done.err) == (0, "")
    rows = rows_of(done.out)
    assert list(rows[0]) == ["system", "metric", *columns, *TAIL]
    assert len(rows) == 2 * (4 if "order" in columns else 5)
    for row in rows:
        own = [part for name in columns if name != "quantile" for part in (f"--{name.replace('_', '-')}", row[name])]
        threshold = row.get("quantile") or row["threshold"]
        own += ["-t", threshold] if threshold else []
        alone = json.loads(command("score", *options, *more, *own, "-f", "json").out)
        (system,) = [each for each in alone["systems"] if each["name"] == row["system"]]
        assert (float(row["score"]), row["signature"]) == (system["score"], alone["signature"])


def test_defaults(command: Any, options: list[Any]) -> None:
    rows = rows_of(command("sweep", *options, "-f", "csv").out)
    assert {row["matcher"] for row in rows} == {"exact", "sleu", "vleu", "xleu"}
    thresholds = [row["threshold"] for row in rows if row["matcher"] == "vleu"]
    assert thresholds[:20] == [str(number / 20) for number in range(20)]


def test_pictures(command: Any, files: Any, options: list[Any]) -> None:
    paths = [files.folder / name for name in ("lines.svg", "ranks.png")]
    plots = ("--plot", paths[0], "--plot-ranks", paths[1])
    done = command("sweep", *options, "--matcher", "vleu", "-t", "0.5,0.8", *plots)
    assert (done.code, done.err) == (0, "")
    assert done.out
    assert [path.read_bytes()[:4] for path in paths] == [b"<?xm", b"\x89PNG"]


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


def test_a_device_has_no_journal_beside_it(command: Any, options: list[Any]) -> None:
    done = command("sweep", *options, "--matcher", "vleu", "-t", "0.5", "-o", os.devnull)
    assert (done.code, done.err) == (0, "")
    assert not Path("/dev/.null.sweep").exists()
