"""The one place that knows where the shared data lies; tests that need it skip with a reason elsewhere."""

import csv
import gzip
import html
import os
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("SOFTBLEU_SHARED", Path(__file__).resolve().parents[2] / "shared"))


def shared(*parts: str) -> Path:
    """Path below the shared data, e.g. ``shared("data", "morgan2014", "reference.en")``.

    Without the shared data the test is skipped; where only this file is missing, it fails.
    """
    path = SHARED.joinpath(*parts)
    if not SHARED.is_dir():
        pytest.skip(f"needs the shared data, not found: {SHARED}")
    if not path.exists():
        pytest.fail(f"the shared data lacks {path}")
    return path


def expected_rows(*parts: str) -> list[dict[str, str]]:
    """Rows of a table that other programs made; lines that begin with # say how."""
    text = shared("expected", *parts).read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader((line for line in text if not line.startswith("#")), delimiter="\t"))


def published_rows(name: str) -> list[tuple[str, int, str]]:
    """System, number and score of the segments of CoNLL-2014, as published."""
    path = shared("data", "conll14", "published", f"{name}.sentence.tsv.gz")
    rows = [line.split("\t")[3:6] for line in gzip.decompress(path.read_bytes()).decode().splitlines()]
    return [(system, int(place), score) for system, place, score in rows]


def judged_lines(direction: str) -> list[list[str]]:
    """Translation and reference of the judged segments of WMT17."""
    folder = shared("data", "wmt17-into-en")
    reference = folder / "references" / f"newstest2017-{direction.replace('-', '')}-ref.en"
    references = reference.read_text(encoding="utf-8").split("\n")
    with (folder / "DA-seglevel.csv").open(encoding="utf-8", newline="") as handle:
        rows = [row for row in csv.DictReader(handle, delimiter=" ") if row["LP"] == direction]
    found = []
    for row in rows:
        # Systems with the same output stand together.
        system, place = row["SYSTEM"].split("+")[0], int(row["SID"]) - 1
        output = folder / "system-outputs" / direction / f"newstest2017.{system}.{direction}"
        translations = output.read_text(encoding="utf-8").split("\n")
        found.append([html.unescape(text) for text in (translations[place], references[place])])
    return found
