"""What is kept of lines: found again, not trusted when damaged, thrown away oldest first."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from softbleu.errors import InputError
from softbleu.io.line_cache import kept_lines, read_lines, write_lines


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SOFTBLEU_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "lines.sqlite"


def entries(count: int, size: int = 10) -> dict[bytes, bytes]:
    return {b"%08d" % number: bytes([number % 251]) * size for number in range(count)}


def test_what_was_written_is_found_and_nothing_else():
    assert read_lines([b"x"]) == {}
    wanted = entries(1203)
    write_lines(wanted)
    assert read_lines([*wanted, b"x"]) == wanted
    write_lines({b"00000000": b"new"})
    assert read_lines([b"00000000"]) == {b"00000000": b"new"}


def test_lines_are_judged_once():
    made = kept_lines("lengths", ["one"], lambda some: iter([{line: bytes([len(line)]) for line in some}]))
    again = kept_lines("lengths", ["one", "one"], lambda some: iter([dict.fromkeys(some, b"none")]))
    assert made == again == {"one": bytes([3])}


def test_a_damaged_entry_counts_as_missing(place: Path):
    write_lines(entries(3))
    with closing(sqlite3.connect(place)) as file, file:
        file.execute("UPDATE lines SET content = ? WHERE key = ?", (b"other", b"00000001"))
    assert set(read_lines(list(entries(3)))) == {b"00000000", b"00000002"}


@pytest.mark.parametrize("content", [b"no database " * 1000, b""])
def test_a_damaged_file_is_begun_anew(place: Path, content: bytes):
    write_lines(entries(2))
    place.write_bytes(content)
    assert read_lines(list(entries(2))) == {}
    write_lines(entries(2))
    assert read_lines(list(entries(2))) == entries(2)


def test_a_truncated_file_is_begun_anew(place: Path):
    write_lines(entries(50, 1000))
    place.write_bytes(place.read_bytes()[:20_000])
    found = read_lines(list(entries(50, 1000)))
    assert all(entries(50, 1000)[key] == value for key, value in found.items())
    write_lines({b"x": b"y"})
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


def test_nothing_is_kept_where_the_limit_is_nothing(place: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SOFTBLEU_CACHE_LIMIT", "0")
    write_lines(entries(2))
    assert not place.exists()


@pytest.mark.parametrize("limit", ["-1", "1e3", "many", "9" * 10, ""])
def test_a_limit_that_is_none(limit: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SOFTBLEU_CACHE_LIMIT", limit)
    with pytest.raises(InputError, match=r"SOFTBLEU_CACHE_LIMIT must be a whole number of megabytes"):
        write_lines(entries(2))


def test_a_place_that_cannot_be_written_costs_nothing_but_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("SOFTBLEU_CACHE", str(tmp_path / "file"))
    write_lines(entries(2))
    assert read_lines(list(entries(2))) == {}


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
