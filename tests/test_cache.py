"""The cache: where it lies, and that losing it does no harm."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from softbleu.io.cache import cache_folder, keep_folder, kept_arrays
from softbleu.io.files import write_whole


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SOFTBLEU_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


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


def test_no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def home() -> Path:
        raise RuntimeError("no home")

    monkeypatch.setattr(Path, "home", home)
    monkeypatch.delenv("SOFTBLEU_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_folder() is None
    assert kept_arrays("some/name", lambda: {"values": np.arange(2)})["values"].tolist() == [0, 1]


def test_arrays_damaged_at_every_byte_are_made_again(cache: Path) -> None:
    kept_arrays("one", lambda: {"values": np.arange(3)})
    for path in (cache / "one" / "values.npy", cache / "one" / "sums.json"):
        content = path.read_bytes()
        for place in range(len(content)):
            path.write_bytes(content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :])
            assert kept_arrays("one", lambda: {"values": np.arange(3)})["values"].tolist() == [0, 1, 2]
        path.write_bytes(content[:-1])
        assert kept_arrays("one", lambda: {"values": np.arange(3)})["values"].tolist() == [0, 1, 2]


def test_what_is_no_array_of_numbers_is_not_kept(cache: Path) -> None:
    kept_arrays("one", lambda: {"values": np.arange(3)})
    np.save(cache / "one" / "values.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    assert kept_arrays("one", lambda: {"values": np.arange(3)})["values"].tolist() == [0, 1, 2]


def test_nothing_is_left_of_a_failed_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError("disk full")

    (tmp_path / "kept").write_bytes(b"old")
    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_whole(tmp_path / "kept", b"new")
    assert os.listdir(tmp_path) == ["kept"]  # noqa: PTH208
    assert (tmp_path / "kept").read_bytes() == b"old"


def test_large_arrays_are_made_once_and_then_mapped(cache: Path) -> None:
    made = kept_arrays("numbers/two", lambda: {"values": np.arange(3)})
    again = kept_arrays("numbers/two", lambda: {})
    assert made["values"].tolist() == again["values"].tolist() == [0, 1, 2]
    assert isinstance(again["values"], np.memmap)
    with (cache / "numbers" / "two" / "values.npy").open("r+b") as stream:
        stream.seek(-1, os.SEEK_END)
        stream.write(b"1")
    assert kept_arrays("numbers/two", lambda: {"values": np.arange(4)})["values"].tolist() == [0, 1, 2, 3]


def test_large_arrays_that_cannot_be_kept_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("SOFTBLEU_CACHE", str(tmp_path / "file" / "below"))
    assert kept_arrays("one", lambda: {"values": np.arange(3)})["values"].tolist() == [0, 1, 2]


def test_a_folder_is_made_once_and_again_where_it_is_damaged(tmp_path: Path) -> None:
    target = tmp_path / "copies" / "one"
    for text in ("first", "second"):
        keep_folder(target, lambda folder, text=text: (folder / "text").write_text(text))  # type: ignore[misc]
        assert (target / "text").read_text() == "first"
    (target / "text").write_text("")
    keep_folder(target, lambda folder: (folder / "text").write_text("third"))
    assert (target / "text").read_text() == "third"
