"""A conversion that is killed, or runs out of disk, leaves the old store or the new one; the next tidies up."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from softbleu.embeddings import open_vectors
from softbleu.embeddings.convert import convert_vectors
from softbleu.embeddings.store import StoreWriter
from softbleu.errors import VectorError

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")

# A driver in a process of its own forks a child for each step, so that a kill costs no start-up.
DRIVER = r"""
import json, os, signal, sys
from pathlib import Path

from softbleu.io import files
from softbleu.embeddings import measure, open_vectors
from softbleu.embeddings.convert import convert_vectors

measure.PAIRS = 100
mode, folder = sys.argv[1], Path(sys.argv[2])
OLD = {f"old{number}": [float(number + 1), 1.0] for number in range(7)}
NEW = {f"w{number}": [float(number + 1), 2.0] for number in range(30)}
CHANGES = {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "shutil.rmtree"}


def content(place):
    if not os.path.lexists(place):
        return "absent"
    return {7: "old", 30: "new"}[len(open_vectors(place).head()[0])]


def kill_before(number, place):
    seen = 0

    def step(event, arguments):
        # The system is asked to change something of ours: end before it does.
        global seen
        if event in CHANGES and any(str(place.parent) in str(argument) for argument in arguments):
            seen += 1
            if seen > number:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(step)


if mode == "two renames":
    files.exchange = lambda one, other: False
for number in range(200):
    place = folder / f"{number}" / "store"
    place.parent.mkdir()
    if mode != "no store":
        convert_vectors(OLD, place)
        (place / "card.md").write_text("a card")
    seen = 0
    child = os.fork()
    if not child:
        kill_before(number, place)
        convert_vectors(NEW, place, force=True)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    found = {"killed": os.WIFSIGNALED(status), "content": content(place)}
    found["left"] = sorted(path.name.split(".")[-1] for path in place.parent.iterdir() if path != place)
    found["after"] = [convert_vectors(NEW, place, force=True).words, content(place)]
    found["names"] = sorted(path.name for path in place.parent.iterdir())
    found["files"] = sorted(path.name for path in place.iterdir())
    print(json.dumps(found), flush=True)
    if not found["killed"]:
        break
"""


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["old store", "no store", "two renames"])
def test_killed_at_each_step(mode, tmp_path):
    """A kill between two renames leaves the old store beside its place, where the next conversion puts it back."""
    arguments = [sys.executable, "-c", DRIVER, mode, str(tmp_path)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    runs = [json.loads(line) for line in done.stdout.splitlines()]
    assert [run["killed"] for run in runs] == [True] * (len(runs) - 1) + [False]
    files = ["meta.json", "vectors.npy", "vocab.txt"]
    for run in runs:
        assert run["after"] == [30, "new"], run
        assert run["names"] == ["store"], run
        assert run["files"] == (files if mode == "no store" else ["card.md", *files]), run
    contents = [run["content"] for run in runs]
    if mode == "two renames" and sys.platform.startswith("linux"):
        between = contents.index("absent")
        assert runs[between]["left"] == ["draft", "former"]
        contents[between] = "old"
    # Once the new store is there it stays; before that the old one is there, or none.
    assert contents == sorted(contents, key="new".__eq__)
    assert set(contents) == {"absent" if mode == "no store" else "old", "new"}
    assert sum(run["left"] == ["draft"] for run in runs) > 5


@pytest.fixture(autouse=True)
def _few_pairs(monkeypatch):
    monkeypatch.setattr("softbleu.embeddings.measure.PAIRS", 100)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_where_folders_cannot_change_places(tmp_path, monkeypatch):
    monkeypatch.setattr("softbleu.io.files.exchange", lambda one, other: False)
    for word in ("old", "new"):
        convert_vectors({word: [1.0]}, tmp_path / "store", force=True)
    assert open_vectors(tmp_path / "store").head()[0] == ["new"]
    assert names(tmp_path) == ["store"]


@pytest.fixture(scope="module")
def dead():
    """The number of a process that is no more."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


@pytest.mark.parametrize("name", ["store", "store[1]*"])
def test_drafts_that_others_left(name, dead, tmp_path):
    kept = {f".{name}.1.draft", f".other.{dead}.draft", f".{name}.12x.draft", f".{name}.{dead}.mine"}
    for left in {f".{name}.{dead}.draft", f".{name}.{os.getpid()}.draft", *kept}:
        (tmp_path / left).mkdir()
        (tmp_path / left / "vectors.npy").write_bytes(b"half")
    convert_vectors({"a": [1.0]}, tmp_path / name)
    assert set(names(tmp_path)) == {name, *kept}


def test_what_was_moved_away_is_put_back(dead, tmp_path):
    (tmp_path / "bad.txt").write_text("a 1 2\nb 1\n")
    convert_vectors({"old": [1.0]}, tmp_path / "store")
    for source, force, message in ((tmp_path / "bad.txt", True, "line 2"), ({"new": [1.0]}, False, "exists already")):
        (tmp_path / "store").rename(tmp_path / f".store.{dead}.former")
        with pytest.raises(VectorError, match=message):
            convert_vectors(source, tmp_path / "store", force=force)
        assert open_vectors(tmp_path / "store").head()[0] == ["old"]
        assert names(tmp_path) == ["bad.txt", "store"]


@pytest.mark.parametrize("step", ["add", "finish", "fsync", "first text", "second text"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EFBIG])
@pytest.mark.parametrize("old", [True, False])
def test_a_full_disk(old, number, step, tmp_path, monkeypatch):
    def state():
        return {str(path): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    def full(*_, **__):
        raise OSError(number, os.strerror(number))

    write_text, texts = Path.write_text, []

    def half(path, content, **options):
        texts.append(path)
        if len(texts) == ["first text", "second text"].index(step) + 1:
            write_text(path, content[:9], **options)
            full()
        return write_text(path, content, **options)

    if old:
        convert_vectors({"old": [1.0]}, tmp_path / "store")
    before = state()
    if "text" in step:
        monkeypatch.setattr(Path, "write_text", half)
    elif step == "fsync":
        monkeypatch.setattr("os.fsync", full)
    else:
        monkeypatch.setattr(StoreWriter, step, full)
    with pytest.raises(VectorError, match=r"store: the disk is full .*nothing was changed") as caught:
        convert_vectors({"new": [1.0, 0.0], "newer": [0.0, 1.0]}, tmp_path / "store", force=True)
    assert os.strerror(number) in str(caught.value)
    assert state() == before
    assert names(tmp_path) == (["store"] if old else [])
