"""A conversion that is killed, or runs out of disk, leaves the old store or the new one, whole; the next tidies up.

A driver in a process of its own forks a child for each moment, so that a kill costs no start-up.
"""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from softbleu.embeddings import open_vectors
from softbleu.embeddings.convert import convert_vectors
from softbleu.embeddings.store import StoreWriter
from softbleu.errors import VectorError

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and limits as POSIX has them")

DRIVER = r"""
import json, os, signal, sys, time
from pathlib import Path

import numpy as np

from softbleu.io import files
from softbleu.embeddings import measure, open_vectors
from softbleu.embeddings.convert import convert_vectors
from softbleu.embeddings.store import StoreWriter

measure.PAIRS = 100
mode, folder, old = sys.argv[1], Path(sys.argv[2]), sys.argv[3] == "old"
OLD = {f"old{number}": [float(number + 1), 1.0] for number in range(7)}
NEW = folder / "new.bin"
rows = np.random.default_rng(3).normal(size=(3000, 12)).astype("<f4")
NEW.write_bytes(b"3000 12\n" + b"".join(b"w%d " % n + row.tobytes() for n, row in enumerate(rows)))
FINISHED = 77
CHANGES = {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "shutil.rmtree"}


def content(place):
    if not os.path.lexists(place):
        return "absent"
    try:
        source = open_vectors(place)
        words, values = source.head()
        return ["old", "new"][len(words) == 3000] if len(words) in (7, 3000) else f"{len(words)} words"
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def convert_new(place):
    return convert_vectors(NEW, place, dtype="int8", force=True)


def prepare(number):
    place = folder / f"{number}" / "store"
    place.parent.mkdir()
    if old:
        convert_vectors(OLD, place)
        (place / "card.md").write_text("a card")
    return place


def in_child(work):
    child = os.fork()
    if not child:
        work()
        os._exit(FINISHED)
    return child


def report(number, place, status):
    killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    finished = os.WIFEXITED(status) and os.WEXITSTATUS(status) == FINISHED
    found = {"number": number, "killed": killed, "finished": finished, "content": content(place)}
    found["left"] = sorted(path.name.split(".")[-1] for path in place.parent.iterdir() if path != place)
    found["after"] = [convert_new(place).words, content(place)]
    found["names"] = sorted(path.name for path in place.parent.iterdir())
    found["files"] = sorted(path.name for path in place.iterdir())
    print(json.dumps(found), flush=True)


if mode in ("steps", "two steps"):
    if mode == "two steps":
        files.exchange = lambda one, other: False
    for number in range(200):
        place = prepare(number)
        seen = 0

        def step(event, arguments):
            # The system is asked to change something of ours: end before it does.
            global seen
            ours = any(str(place.parent) in str(argument) for argument in arguments)
            if event in CHANGES and ours:
                seen += 1
                if seen > number:
                    os.kill(os.getpid(), signal.SIGKILL)

        def work():
            sys.addaudithook(step)
            convert_new(place)

        _, status = os.waitpid(in_child(work), 0)
        report(number, place, status)
        if os.WIFEXITED(status):
            break
else:
    add = StoreWriter.add

    def slow(self, words, rows):
        for start in range(0, len(words), 200):
            add(self, words[start : start + 200], rows[start : start + 200])
            time.sleep(0.005)

    StoreWriter.add = slow
    place = prepare("timing")
    start = time.monotonic()
    os.waitpid(in_child(lambda: convert_new(place)), 0)
    lasts = time.monotonic() - start
    moments = [*np.linspace(0, lasts, 16), *np.linspace(lasts * 0.75, lasts * 1.1, 10)]
    for number, moment in enumerate(moments):
        place = prepare(number)
        child = in_child(lambda: convert_new(place))
        time.sleep(moment)
        try:
            os.kill(child, signal.SIGKILL)
        except ProcessLookupError:
            pass
        _, status = os.waitpid(child, 0)
        report(number, place, status)
"""


def drive(mode: str, folder: Path, *, old: bool) -> list[dict[str, Any]]:
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    arguments = [sys.executable, "-c", DRIVER, mode, str(folder), "old" if old else "none"]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


STORE = ["meta.json", "scales.npy", "vectors.npy", "vocab.txt"]
SCRAP = ".meta.json."
Runs = list[dict[str, Any]]


def check(runs: Runs, *, old: bool) -> None:
    for run in runs:
        assert run["killed"] != run["finished"], run
        assert run["content"] in ({"old", "new"} if old else {"absent", "new"}), run
        assert run["after"] == [3000, "new"], run
        assert run["names"] == ["store"], run
        files = [name for name in run["files"] if not name.startswith(SCRAP)]
        assert files == [*(["card.md"] if old else []), *STORE], run


@pytest.fixture(scope="module", params=[True, False], ids=["old store", "no store"])
def steps(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[bool, Runs]:
    return request.param, drive("steps", tmp_path_factory.mktemp("steps"), old=request.param)


def test_killed_at_each_step(steps: tuple[bool, Runs]) -> None:
    old, runs = steps
    assert [run["killed"] for run in runs] == [True] * (len(runs) - 1) + [False]
    check(runs, old=old)
    contents = [run["content"] for run in runs]
    # Once the new store is there it stays; before that it is not.
    assert contents == sorted(contents, key="new".__eq__)
    assert len(runs) > 12
    assert len(set(contents[:-1])) == 2
    assert sum(run["left"] == ["draft"] for run in runs) > 5


def test_nothing_half_written_stays_within_a_store(steps: tuple[bool, Runs]) -> None:
    assert not [name for run in steps[1] for name in run["files"] if name.startswith(SCRAP)]


def test_killed_at_many_moments(tmp_path: Path) -> None:
    runs = drive("moments", tmp_path, old=True)
    assert len(runs) >= 20
    # How many moments fall within a conversion depends on the machine; each step of one is killed above.
    assert any(run["killed"] for run in runs)
    check(runs, old=True)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere this is what the other tests do")
def test_where_folders_cannot_change_places_the_next_conversion_mends(tmp_path: Path) -> None:
    """Two renames then; a kill between them leaves the old store beside its place, where it is put back."""
    runs = drive("two steps", tmp_path, old=True)
    between = [run for run in runs if run["content"] == "absent"]
    assert len(between) == 1
    assert between[0]["left"] == ["draft", "former"]
    check([run for run in runs if run not in between], old=True)
    assert between[0]["after"] == [3000, "new"]
    assert between[0]["names"] == ["store"]
    assert between[0]["files"] == ["card.md", *STORE]


# what others left


def left_by(process: int, place: Path, kind: str) -> Path:
    left = place.with_name(f".{place.name}.{process}.{kind}")
    left.mkdir()
    (left / "vectors.npy").write_bytes(b"half")
    return left


def dead_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


@pytest.fixture(autouse=True)
def _few_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("softbleu.embeddings.measure.PAIRS", 100)


def test_a_draft_of_a_living_process_stays(tmp_path: Path) -> None:
    dead, living = left_by(dead_process(), tmp_path / "store", "draft"), left_by(1, tmp_path / "store", "draft")
    convert_vectors({"a": [1.0]}, tmp_path / "store")
    assert living.exists()
    assert not dead.exists()


def test_what_belongs_to_others_stays(tmp_path: Path) -> None:
    process = dead_process()
    others = [
        tmp_path / f".other.{process}.draft",
        tmp_path / ".store.12x.draft",
        tmp_path / f".store.{process}.mine",
    ]
    for other in others:
        other.mkdir()
    convert_vectors({"a": [1.0]}, tmp_path / "store")
    assert all(other.exists() for other in others)


def test_a_conversion_that_fails_puts_back_what_was_moved_away(tmp_path: Path) -> None:
    convert_vectors({"old": [1.0]}, tmp_path / "store")
    (tmp_path / "store").rename(tmp_path / f".store.{dead_process()}.former")
    (tmp_path / "bad.txt").write_text("a 1 2\nb 1\n")
    with pytest.raises(VectorError, match="line 2"):
        convert_vectors(tmp_path / "bad.txt", tmp_path / "store", force=True)
    assert open_vectors(tmp_path / "store").head()[0] == ["old"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.txt", "store"]


def test_what_is_put_back_is_not_replaced_unasked(tmp_path: Path) -> None:
    convert_vectors({"old": [1.0]}, tmp_path / "store")
    (tmp_path / "store").rename(tmp_path / f".store.{dead_process()}.former")
    with pytest.raises(VectorError, match="exists already"):
        convert_vectors({"new": [1.0]}, tmp_path / "store")
    assert open_vectors(tmp_path / "store").head()[0] == ["old"]


def test_a_draft_of_an_earlier_process_of_the_same_number(tmp_path: Path) -> None:
    left_by(os.getpid(), tmp_path / "store", "draft")
    convert_vectors({"a": [1.0]}, tmp_path / "store")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["store"]


def test_drafts_beside_a_name_with_special_letters(tmp_path: Path) -> None:
    left = left_by(dead_process(), tmp_path / "store[1]*", "draft")
    convert_vectors({"a": [1.0]}, tmp_path / "store[1]*")
    assert not left.exists()


# a full disk


def big_file(folder: Path) -> Path:
    rows = np.random.default_rng(4).normal(size=(3000, 20)).astype("<f4")
    place = folder / "big.bin"
    place.write_bytes(b"3000 20\n" + b"".join(b"w%d " % n + row.tobytes() for n, row in enumerate(rows)))
    return place


def state(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("limit", [100, 10_000, 100_000])
@pytest.mark.parametrize("old", [True, False])
def test_a_file_that_may_not_grow(old: bool, limit: int, tmp_path: Path) -> None:
    source = big_file(tmp_path)
    if old:
        convert_vectors({"old": [1.0]}, tmp_path / "store")
    before = state(tmp_path)
    code = (
        f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}));"
        "from softbleu.cli import main; main()"
    )
    arguments = ["embeddings", "convert", str(source), str(tmp_path / "store"), "--force"]
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(
        f"softbleu: error: {tmp_path / 'store'}: the disk is full (File too large); make room"
    )
    assert done.stderr.count("\n") == 1
    assert state(tmp_path) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["big.bin", *(["store"] if old else [])]


@pytest.mark.parametrize("step", ["add", "finish", "fsync"])
@pytest.mark.parametrize("old", [True, False])
def test_no_space_left(old: bool, step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if old:
        convert_vectors({"old": [1.0]}, tmp_path / "store")
    before = state(tmp_path)

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if step == "fsync":
        monkeypatch.setattr("os.fsync", full)
    else:
        monkeypatch.setattr(StoreWriter, step, full)
    with pytest.raises(
        VectorError, match=r"store: the disk is full \(No space left on device\).*nothing was changed"
    ):
        convert_vectors({"new": [1.0]}, tmp_path / "store", force=True)
    assert state(tmp_path) == before
    assert [path.name for path in tmp_path.iterdir()] == (["store"] if old else [])


@pytest.mark.parametrize("old", [True, False])
@pytest.mark.parametrize("call", [1, 2])
def test_no_space_left_for_what_is_known_of_a_store(
    old: bool, call: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = {"new": [1.0, 0.0], "newer": [0.0, 1.0]}
    if old:
        convert_vectors({"old": [1.0]}, tmp_path / "store")
    before = state(tmp_path)
    calls = []
    write_text = Path.write_text

    def full(path: Path, content: str, **options: Any) -> int:
        calls.append(path)
        if len(calls) == call:
            write_text(path, content[:9], **options)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write_text(path, content, **options)

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(VectorError, match=r"the disk is full \(No space left on device\).*nothing was changed"):
        convert_vectors(new, tmp_path / "store", force=True)
    assert state(tmp_path) == before
