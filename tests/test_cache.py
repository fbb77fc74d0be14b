"""The cache: where it lies, and that losing it does no harm."""

import os
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from softbleu.errors import InputError
from softbleu.io.files import cache_folder, keep_folder, kept_arrays
from softbleu.io.line_cache import kept_lines, read_lines, write_lines


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SOFTBLEU_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def place(cache: Path) -> Path:
    return cache / "lines.sqlite"


@pytest.mark.parametrize(
    ("own", "xdg", "expected"),
    [
        ("/a/mine", "/b", "/a/mine"),
        ("", "/b", "/b/softbleu"),
        (None, "/b", "/b/softbleu"),
        (None, "", "/home/me/.cache/softbleu"),
        (None, "relative", "/home/me/.cache/softbleu"),
        (None, None, "/home/me/.cache/softbleu"),
    ],
)
def test_place(own: str | None, xdg: str | None, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: Path("/home/me"))
    for name, value in (("SOFTBLEU_CACHE", own), ("XDG_CACHE_HOME", xdg)):
        monkeypatch.delenv(name, raising=False)
        if value is not None:
            monkeypatch.setenv(name, value)
    assert cache_folder() == Path(expected)


def test_no_home_and_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def home() -> Path:
        raise RuntimeError("no home")

    monkeypatch.setattr(Path, "home", home)
    monkeypatch.delenv("SOFTBLEU_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_folder() is None
    assert kept_arrays("some/name", lambda: {"values": np.arange(2)})["values"].tolist() == [0, 1]
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("SOFTBLEU_CACHE", str(tmp_path / "file" / "below"))
    assert kept_arrays("one", lambda: {"values": np.arange(3)})["values"].tolist() == [0, 1, 2]
    write_lines(entries(2))
    assert read_lines(list(entries(2))) == {}


def test_arrays_damaged_at_every_byte_are_made_again(cache: Path) -> None:
    def found() -> list[int]:
        return kept_arrays("one", lambda: {"values": np.arange(3)})["values"].tolist()  # type: ignore[no-any-return]

    found()
    for path in (cache / "one" / "values.npy", cache / "one" / "sums.json"):
        content = path.read_bytes()
        flips = [content[:n] + bytes([content[n] ^ 0xFF]) + content[n + 1 :] for n in range(len(content))]
        for damaged in (*flips, content[:-1]):
            path.write_bytes(damaged)
            assert found() == [0, 1, 2]
    np.save(cache / "one" / "values.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    assert found() == [0, 1, 2]


def test_large_arrays_are_made_once_and_then_mapped(cache: Path) -> None:
    made = kept_arrays("numbers/two", lambda: {"values": np.arange(3)})
    again = kept_arrays("numbers/two", lambda: {})
    assert made["values"].tolist() == again["values"].tolist() == [0, 1, 2]
    assert isinstance(again["values"], np.memmap)


def test_a_folder_is_made_once_and_again_where_it_is_damaged(tmp_path: Path) -> None:
    target = tmp_path / "copies" / "one"
    for text in ("first", "second"):
        keep_folder(target, lambda folder, text=text: (folder / "text").write_text(text))  # type: ignore[misc]
        assert (target / "text").read_text() == "first"
    (target / "text").write_text("")
    keep_folder(target, lambda folder: (folder / "text").write_text("third"))
    assert (target / "text").read_text() == "third"


def test_another_process_may_make_a_folder_first(tmp_path: Path) -> None:
    keep_folder(tmp_path / "other", lambda folder: (folder / "text").write_text("theirs"))

    def beaten(folder: Path) -> None:
        (tmp_path / "other").rename(tmp_path / "one")
        raise OSError(39, "Directory not empty")

    keep_folder(tmp_path / "one", beaten)
    assert (tmp_path / "one" / "text").read_text() == "theirs"


def entries(count: int, size: int = 10) -> dict[bytes, bytes]:
    return {b"%08d" % number: bytes([number % 251]) * size for number in range(count)}


def test_what_was_written_is_found_and_nothing_else():
    assert read_lines([b"x"]) == {}
    wanted = entries(1203)
    write_lines(wanted)
    assert read_lines([*wanted, b"x"]) == wanted
    write_lines({b"00000000": b"new"})
    assert read_lines([b"00000000"]) == {b"00000000": b"new"}
    # Lines are judged once.
    made = kept_lines("lengths", ["one"], lambda some: iter([{line: bytes([len(line)]) for line in some}]))
    again = kept_lines("lengths", ["one", "one"], lambda some: iter([dict.fromkeys(some, b"none")]))
    assert made == again == {"one": bytes([3])}


@pytest.mark.parametrize("content", [b"other", b"\0" * 10, None, "text", 3, 2.5])
def test_a_damaged_entry_counts_as_missing_and_is_made_anew(
    place: Path, content: object, monkeypatch: pytest.MonkeyPatch
):
    write_lines(entries(3))
    with closing(sqlite3.connect(place)) as file, file:
        file.execute("UPDATE lines SET content = ? WHERE key = ?", (content, b"00000001"))
    assert set(read_lines(list(entries(3)))) == {b"00000000", b"00000002"}
    monkeypatch.setenv("SOFTBLEU_CACHE_LIMIT", "1")
    write_lines({b"00000001": b"new", **{b"%09d" % number: bytes(1000) for number in range(1500)}})
    assert read_lines([b"%09d" % 1499]) != {}
    write_lines({b"00000001": b"new"})
    assert read_lines([b"00000001"]) == {b"00000001": b"new"}


@pytest.mark.skipif(os.name != "posix", reason="modes and links")
def test_nobody_else_reads_the_cache_and_nothing_leads_out_of_it(cache: Path, place: Path, tmp_path: Path):
    write_lines(entries(3))
    assert [stat.S_IMODE(path.stat().st_mode) for path in (cache, place)] == [0o700, 0o600]
    # Earlier versions left it to all.
    place.chmod(0o644)
    write_lines(entries(3))
    assert stat.S_IMODE(place.stat().st_mode) == 0o640
    place.rename(tmp_path / "mine")
    before = (tmp_path / "mine").read_bytes()
    for aim in (tmp_path / "mine", "/dev/zero", tmp_path / "nowhere"):
        place.unlink(missing_ok=True)
        place.symlink_to(aim)
        assert read_lines(list(entries(3))) == {}
        write_lines(entries(2))
        assert (place.is_symlink(), read_lines(list(entries(2)))) == (False, entries(2))
    place.unlink()
    os.mkfifo(place)
    write_lines(entries(2))
    assert read_lines(list(entries(2))) == {}
    assert (tmp_path / "mine").read_bytes() == before
    # So it is with folders of arrays.
    for name, aim in (("values.npy", "/dev/zero"), ("sums.json", tmp_path / "mine"), ("", tmp_path / "away")):
        assert kept_arrays("one", lambda: {"values": np.arange(3)})["values"].tolist() == [0, 1, 2]
        path = cache / "one" / name
        path.rename(tmp_path / f"former{name}")
        path.symlink_to(aim)
    assert kept_arrays("one", lambda: {"values": np.arange(3)})["values"].tolist() == [0, 1, 2]
    assert (tmp_path / "mine").read_bytes() == before
    assert not (tmp_path / "away").exists()


@pytest.mark.parametrize("content", [b"no database " * 1000, b"", None, "another table"])
def test_a_damaged_file_is_begun_anew(place: Path, content: bytes | str | None):
    written = entries(50, 1000)
    write_lines(written)
    if isinstance(content, str):
        with closing(sqlite3.connect(place)) as file:
            file.executescript("DROP TABLE lines; CREATE TABLE lines (key TEXT)")
    else:
        place.write_bytes(place.read_bytes()[:20_000] if content is None else content)
    found = read_lines(list(written))
    assert all(written[key] == value for key, value in found.items())
    assert content is None or found == {}
    for _ in range(2):
        write_lines({b"x": b"y"})
    assert read_lines([b"x"]) == {b"x": b"y"}


def test_the_oldest_make_room(place: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SOFTBLEU_CACHE_LIMIT", "1")
    for start in range(0, 2000, 100):
        write_lines({key: value for key, value in entries(start + 100, 1000).items() if int(key) >= start})
        assert place.stat().st_size < 1_300_000
    kept = read_lines(list(entries(2000)))
    assert b"00001999" in kept
    assert b"00000000" not in kept
    assert 450 < len(kept) < 1000


def test_what_was_asked_for_lately_stays(place: Path, monkeypatch: pytest.MonkeyPatch):
    write_lines(entries(900, 1000))
    with closing(sqlite3.connect(place)) as file, file:
        file.execute("UPDATE lines SET day = day - 3")
    assert len(read_lines([b"00000000"])) == 1
    monkeypatch.setenv("SOFTBLEU_CACHE_LIMIT", "1")
    write_lines({b"%08d" % number: bytes(1000) for number in range(900, 1100)})
    assert set(read_lines([b"00000000", b"00000001"])) == {b"00000000"}


@pytest.mark.parametrize("limit", ["-1", "1e3", "many", "9" * 10, ""])
def test_a_limit_that_is_none(limit: str, place: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SOFTBLEU_CACHE_LIMIT", "0")
    write_lines(entries(2))
    assert not place.exists()
    monkeypatch.setenv("SOFTBLEU_CACHE_LIMIT", limit)
    with pytest.raises(InputError, match=r"SOFTBLEU_CACHE_LIMIT must be a whole number of megabytes"):
        write_lines(entries(2))


WRITE_SOME = """
import sys
from softbleu.io.line_cache import kept_lines, read_lines, write_lines
start = int(sys.argv[1])
keys = [b"%08d" % number for number in range(start, start + 30)]
for key in keys:
    write_lines({key: key[-2:]})
print(len(read_lines(keys)))
"""


def test_several_processes_at_once():
    commands = [[sys.executable, "-c", WRITE_SOME, str(start)] for start in (0, 20, 40)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for command in commands]
    assert [process.communicate(timeout=60)[0] for process in running] == ["30\n"] * 3
    assert read_lines([b"%08d" % 45]) == {b"%08d" % 45: b"45"}
