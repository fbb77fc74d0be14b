"""What is written is complete or not there at all, and never in the place of what is read."""

import os
import re
import sqlite3
import stat
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import closing
from io import BytesIO
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from refusing import refused

from softbleu.errors import InputError
from softbleu.io import files, line_cache, reading
from softbleu.io.files import TemporaryFolder, draft_folder, open_own, put_in_place, write_output, write_whole
from softbleu.io.line_cache import kept_lines, read_lines, write_lines
from softbleu.io.progress import ProgressBar
from softbleu.io.reading import bounded_lines, map_array, parse_json, parse_score, parse_whole, read_json, read_toml


def test_a_folder_that_holds_an_input(tmp_path: Path) -> None:
    (tmp_path / "store" / "deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to("store")
    (tmp_path / "away").symlink_to("store/deep/text")
    for target in ("store", "link"):
        for source in ("store/deep/text", "link/deep/text", "away"):
            refused(InputError, "holds the input", files.check_apart, tmp_path / target, [tmp_path / source])
    files.check_apart(tmp_path / "store" / "deep", [tmp_path / "store" / "text", tmp_path / "storey"])


@pytest.mark.parametrize("content", [["one\n", "two \udc80\n"], b"one\ntwo \\udc80\n"])
def test_text_and_bytes_are_written_with_the_mode_of_the_file(tmp_path: Path, content: bytes | list[str]) -> None:
    write_whole(tmp_path / "out", content)
    assert (tmp_path / "out").read_bytes() == b"one\ntwo \\udc80\n"
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o666 & ~mask
    (tmp_path / "out").chmod(0o604)
    write_whole(tmp_path / "out", b"")
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o604
    # A link that a user named leads somewhere, one in a folder of ours does not.
    (tmp_path / "link").symlink_to("real")
    write_output(tmp_path / "link", ["text"])
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "text"
    refused(OSError, "", open_own, tmp_path / "link", "ab")
    write_whole(tmp_path / "link", content)
    assert not (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "text"


@pytest.mark.skipif(os.name != "posix", reason="pipes")
def test_pipes_folders_and_devices_are_never_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    refused(OSError, "a folder, a pipe or a device is there", write_whole, tmp_path / "pipe", b"text")
    refused(OSError, "no plain file", open_own, tmp_path / "pipe", "rb")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_output(tmp_path / "pipe", b"text")
    assert os.read(reader, 9) == b"text"
    os.close(reader)
    # Nor is a folder of ours reached through a link.
    (tmp_path / "away").mkdir()
    (tmp_path / "store").symlink_to("away")
    with draft_folder(tmp_path / "store") as draft:
        put_in_place(draft, tmp_path / "store")
    assert not (tmp_path / "store").is_symlink()
    assert {path.name for path in tmp_path.iterdir()} == {"away", "pipe", "store"}


def test_a_failed_write_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> Iterator[str]:
        yield "half"
        raise ValueError("no more")

    (tmp_path / "one").write_text("before")
    refused(ValueError, "no more", write_whole, tmp_path / "one", fail())
    monkeypatch.setattr(Path, "replace", Mock(side_effect=OSError("disk full")))
    refused(OSError, "disk full", write_whole, tmp_path / "one", b"new")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"one": "before"}


def put(target: Path, text: str) -> None:
    with draft_folder(target) as draft:
        (draft / "words").write_text(text)
        # A draft has no draft of its own.
        with draft_folder(draft) as inner:
            assert {path.name for path in target.parent.glob(".*")} == {draft.name}
            put_in_place(inner, draft)
        put_in_place(draft, target)


def test_outputs_that_differ_by_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folds in (False, True):
        monkeypatch.setattr(files, "_FOLDS", folds)
        twice = ["a.csv", None, str(tmp_path / "a.csv")]
        refused(InputError, "would be written twice", files.check_different, twice)
        files.check_different(["a.csv", "b.csv" if folds else "A.csv", os.devnull, os.devnull])
    refused(InputError, "A.csv would be written twice", files.check_different, ["a.csv", "A.csv"])


def test_a_store_that_is_open_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows renames no folder in which a file is open."""
    monkeypatch.setattr(files, "exchange", lambda *_: False)
    put(tmp_path / "store", "before")
    rename = Path.rename

    def only_away(path: Path, target: Path) -> Path:
        if path.suffix == ".draft":
            raise PermissionError(13, "in use")
        return rename(path, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", only_away)
        refused(PermissionError, "in use", put, tmp_path / "store", "after")
    assert {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")} == {"store", "store/words"}
    assert (tmp_path / "store" / "words").read_text() == "before"
    put(tmp_path / "store", "after")
    assert (tmp_path / "store" / "words").read_text() == "after"


def test_windows_is_sent_no_signal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Signal 0 is Ctrl-C there."""
    monkeypatch.setattr(os, "kill", kill := Mock())
    monkeypatch.setattr(files.os, "name", "nt")
    assert files._lives(1)
    assert not kill.called


def test_drafts_of_killed_processes_go(tmp_path: Path, dead: int) -> None:
    own, living = f".out.{os.getpid()}.abc.draft", ".out.1.abc.draft"
    kept = {living, f".other.{dead}.abc.draft", ".out.12x.abc.draft", f"out.{dead}.abc.draft", f".out.{dead}.draft"}
    for name in {own, f".out.{dead}.abc.draft", *kept}:
        (tmp_path / name).write_text("half")
    with files.draft_file(tmp_path / "out") as draft:
        # A second one at the same time, as of another thread.
        write_whole(tmp_path / "out", ["whole"])
        draft.write_text("last")
    assert {path.name for path in tmp_path.iterdir()} == {"out", *kept}
    assert (tmp_path / "out").read_text() == "last"


def test_temporary_folders_of_killed_processes_go(tmp_path: Path, dead: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with TemporaryFolder() as name:
        before, number, after = Path(name).name.partition(str(os.getpid()))
        assert number
    left = [f"{before}{process}{after}" for process in (dead, os.getpid())]
    kept = [f"{before}1{after}", f"{before}x{after}", f"softbleu-elsewhere-{dead}-abc", f"other-{dead}-abc"]
    for place in [*left, *kept]:
        (tmp_path / place).mkdir()
        (tmp_path / place / "text").write_text("large")
    (tmp_path / f"{before}{dead}-link").symlink_to(tmp_path / kept[-1])
    with TemporaryFolder() as one, TemporaryFolder() as other:
        both = {Path(one).name, Path(other).name}
        assert {path.name for path in tmp_path.iterdir()} == {*both, f"{before}{dead}-link", *kept}
    assert (tmp_path / kept[-1] / "text").exists()


# The cache: where it lies, and that losing it does no harm.


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
        *((own, "/b", "/b/softbleu") for own in ("", None)),
        *((None, xdg, "/home/me/.cache/softbleu") for xdg in ("", "relative", None)),
    ],
)
def test_the_cache_lies_where_the_environment_says(
    own: str | None, xdg: str | None, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "home", lambda: Path("/home/me"))
    for name, value in (("SOFTBLEU_CACHE", own), ("XDG_CACHE_HOME", xdg)):
        monkeypatch.delenv(name, raising=False)
        if value is not None:
            monkeypatch.setenv(name, value)
    assert files.cache_folder() == Path(expected)


def kept() -> NDArray[np.int64]:
    return files.kept_arrays("some/name", lambda: {"values": np.arange(3)})["values"]


def test_no_home_and_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", Mock(side_effect=RuntimeError("no home")))
    monkeypatch.delenv("SOFTBLEU_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert files.cache_folder() is None
    assert kept().tolist() == [0, 1, 2]
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("SOFTBLEU_CACHE", str(tmp_path / "file" / "below"))
    assert kept().tolist() == [0, 1, 2]
    write_lines(entries(2))
    assert read_lines(list(entries(2))) == {}


def test_arrays_are_made_once_and_then_mapped_and_damaged_at_any_byte_are_made_again(cache: Path) -> None:
    assert kept().tolist() == files.kept_arrays("some/name", lambda: {})["values"].tolist() == [0, 1, 2]
    assert isinstance(kept(), np.memmap)
    for path in (cache / "some" / "name" / name for name in ("values.npy", "sums.json")):
        content = path.read_bytes()
        flips = [content[:n] + bytes([content[n] ^ 0xFF]) + content[n + 1 :] for n in range(len(content))]
        for damaged in (*flips, content[:-1]):
            path.write_bytes(damaged)
            assert kept().tolist() == [0, 1, 2]
    np.save(cache / "some" / "name" / "values.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    assert kept().tolist() == [0, 1, 2]


def test_a_folder_is_made_once_and_again_where_it_is_damaged(tmp_path: Path) -> None:
    def made(name: str, text: str) -> str:
        files.keep_folder(tmp_path / "copies" / name, lambda folder: (folder / "text").write_text(text))
        return (tmp_path / "copies" / name / "text").read_text()

    assert [made("one", "first"), made("one", "second")] == ["first", "first"]
    (tmp_path / "copies" / "one" / "text").write_text("")
    assert made("one", "third") == "third"

    def beaten(folder: Path) -> None:
        (tmp_path / "copies" / "one").rename(tmp_path / "other")
        raise OSError(39, "Directory not empty")

    # Another process may make a folder first.
    files.keep_folder(tmp_path / "other", beaten)
    assert (tmp_path / "other" / "text").read_text() == "third"


def entries(count: int, size: int = 10) -> dict[bytes, bytes]:
    return {b"%08d" % number: bytes([number % 251]) * size for number in range(count)}


def test_written_entries_are_found_and_no_others():
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
        assert kept().tolist() == [0, 1, 2]
        path = cache / "some" / "name" / name
        path.rename(tmp_path / f"former{name}")
        path.symlink_to(aim)
    assert kept().tolist() == [0, 1, 2]
    assert (tmp_path / "mine").read_bytes() == before
    assert not (tmp_path / "away").exists()


@pytest.mark.parametrize("lock", ["EXCLUSIVE", "IMMEDIATE"])
def test_a_file_that_stays_locked_is_waited_for_once(place: Path, lock: str, monkeypatch: pytest.MonkeyPatch, capsys):
    write_lines(entries(3))
    monkeypatch.setattr(line_cache, "_PATIENCE", 0.01)
    monkeypatch.setattr(line_cache, "_given_up", set())
    with ProgressBar(quiet=False), closing(sqlite3.connect(place)) as file:
        file.execute("UPDATE lines SET day = 0")
        file.commit()
        file.execute(f"BEGIN {lock}")
        # Readers of a file that is about to be written wait only where they write, too.
        assert read_lines(list(entries(3))) == ({} if lock == "EXCLUSIVE" else entries(3))
        monkeypatch.setattr(sqlite3, "connect", Mock(side_effect=AssertionError))
        write_lines(entries(4))
        assert read_lines(list(entries(3))) == {}
    assert (
        capsys.readouterr().err == f"softbleu: note: {place} is locked by another process: this run caches no lines\n"
    )


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


def test_entries_read_lately_stay(place: Path, monkeypatch: pytest.MonkeyPatch):
    write_lines(entries(900, 1000))
    with closing(sqlite3.connect(place)) as file, file:
        file.execute("UPDATE lines SET day = day - 3")
    assert len(read_lines([b"00000000"])) == 1
    monkeypatch.setenv("SOFTBLEU_CACHE_LIMIT", "1")
    write_lines({b"%08d" % number: bytes(1000) for number in range(900, 1100)})
    assert set(read_lines([b"00000000", b"00000001"])) == {b"00000000"}


def test_limits_of_the_cache(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOFTBLEU_CACHE_LIMIT", "0")
    write_lines(entries(2))
    assert not place.exists()
    for limit in ("-1", "1e3", "many", "9" * 10, ""):
        monkeypatch.setenv("SOFTBLEU_CACHE_LIMIT", limit)
        refused(InputError, "SOFTBLEU_CACHE_LIMIT must be a whole number of megabytes", write_lines, entries(2))


WRITE_SOME = """
import sys
from softbleu.io.line_cache import read_lines, write_lines
keys = [b"%08d" % (int(sys.argv[1]) + number) for number in range(30)]
for key in keys:
    write_lines({key: key[-2:]})
print(len(read_lines(keys)))
"""


def test_several_processes_at_once():
    begin = [sys.executable, "-c", WRITE_SOME]
    running = [subprocess.Popen([*begin, start], stdout=subprocess.PIPE, text=True) for start in ("0", "20", "40")]
    assert [process.communicate(timeout=60)[0] for process in running] == ["30\n"] * 3
    assert read_lines([b"%08d" % 45]) == {b"%08d" % 45: b"45"}


# JSON, TOML and arrays that others wrote: what is out of bounds is refused in one line.


BOUNDS = tomllib.loads(Path(__file__).with_name("bounds.toml").read_text(encoding="utf-8"))


def refusal(read: Callable[[Path], object], path: Path) -> str:
    return refused(InputError, f"^{re.escape(str(path))}", read, path)


@pytest.mark.parametrize(("read", "text"), [(read_json, '{"a": 1}'), (read_toml, "a = 1")])
def test_a_mark_of_unicode_may_stand_before_json_and_toml(tmp_path: Path, read: Any, text: str) -> None:
    file = tmp_path / "marked"
    file.write_text(f"\ufeff{text}", encoding="utf-8")
    assert read(file) == {"a": 1}


@pytest.mark.parametrize("read", [read_json, read_toml])
def test_files_out_of_bounds_are_refused(read: Callable[[Path], object], tmp_path: Path) -> None:
    for message, texts in BOUNDS[read.__name__.removeprefix("read_")].items():
        for begin, text, times, *end in texts:
            (tmp_path / "x").write_text("".join([begin, text * times, *end]))
            assert message in refusal(read, tmp_path / "x"), (begin, text, times)
    (tmp_path / "x").write_bytes(b"a = '\xff'")
    assert "not UTF-8 (byte 6)" in refusal(read, tmp_path / "x")
    with (tmp_path / "large").open("wb") as stream:
        stream.truncate((64 << 20) + 1)
    assert "larger than 64 MiB" in refusal(read, tmp_path / "large")


def test_json_within_bounds() -> None:
    assert parse_json("[" * 64 + "]" * 64, "x") is not None
    assert parse_json(f'{{"a": {"9" * 18}, "b": "\\ud83d\\ude00\\u0000"}}', "x") == {"a": 10**18 - 1, "b": "😀\0"}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes")
@pytest.mark.parametrize("read", [read_json, read_toml, map_array])
def test_only_plain_files_are_opened(read: Callable[[Path], object], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "no plain file" in refusal(read, tmp_path / "pipe")
    assert "no plain file" in refusal(read, tmp_path)
    assert "No such file" in refusal(read, tmp_path / "none")
    (tmp_path / "zeros").symlink_to("/dev/zero")
    assert "no plain file" in refusal(read, tmp_path / "zeros")


@pytest.mark.parametrize("dtype", ["int8", "<f2", "<f4", ">f8", "<u4", "bool"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 0), (1, 2, 3)])
def test_arrays_are_mapped_as_they_were_saved(dtype: str, shape: tuple[int, ...], tmp_path: Path) -> None:
    values = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    np.save(tmp_path / "x.npy", values)
    found = map_array(tmp_path / "x.npy")
    assert found.dtype == values.dtype
    assert found.shape == shape
    np.testing.assert_array_equal(found, values)
    assert not found.flags.writeable or not found.size


NUMBERS, BYTES = "no array of numbers", "bytes, where its header says"


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (("<f4", True, "(2, 3)"), "kept by columns"),
        *((("<f4", False, f"({size}, 9)"), BYTES) for size in ("9" * 18, "1", "2")),
        *((("<f4", False, shape), NUMBERS) for shape in ("(-2, -3)", f"(1{'0' * 18},)")),
        *(((kind, False, "(3,)"), NUMBERS) for kind in ("|O", "<f9")),
        *((text, NUMBERS) for text in ("(" * 200, "'''", "  x\n y", "__import__('os')")),
    ],
    ids=str,
)
def test_headers_that_are_refused(header: str | tuple[str, bool, str], message: str, tmp_path: Path) -> None:
    if isinstance(header, tuple):
        header = "{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}".format(*header)
    text = header.encode("latin-1")
    (tmp_path / "x.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(24))
    assert message in refusal(map_array, tmp_path / "x.npy")


def test_every_flip_of_a_header_is_refused_or_harmless(tmp_path: Path) -> None:
    path, values, told = tmp_path / "x.npy", np.arange(6, dtype=np.float32).reshape(2, 3), 0
    np.save(path, values)
    content = path.read_bytes()
    for place, flip in product(range(128), (1, 4, 16, 64)):
        path.write_bytes(content[:place] + bytes([content[place] ^ flip]) + content[place + 1 :])
        try:
            # What passes differs by the order of bytes, by the number format, or by a blank.
            assert map_array(path).nbytes == values.nbytes
        except InputError:
            told += 1
    assert told > 300


NO_SCORES = ["1e308", "-1e101", 1e-320, "nan", "inf", True, None, [], "9" * 400, 10**400]


@pytest.mark.parametrize(
    ("parse", "value", "message"),
    [
        *((parse_whole, text, r"digits|invalid literal") for text in ("9" * 20, "9" * 5000, "x", "")),
        *((parse_score, value, r"a number is needed, 0 or of size 1e-100 to 1e\+100") for value in NO_SCORES),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)[:20]),
)
def test_numbers_out_of_bounds(parse: Callable[[Any], object], value: Any, message: str) -> None:
    refused(ValueError, message, parse, value)


@given(st.floats(1e-100, 1e100), st.floats(1e-100, 1e100))
def test_scores_within_bounds_have_squares(one: float, other: float) -> None:
    first, second = parse_score(str(one)), parse_score(-other)
    assert (first, second) == (one, -other)
    assert 0 < first**2 + second**2 < np.inf


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
def test_the_length_of_a_line(end: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(reading.LONGEST_LINE, "10")
    content = b"short\n" + b"x" * 10 + end
    assert b"".join(bounded_lines(BytesIO(content), "text")) == content
    with pytest.raises(InputError, match=r"^text, line 2: a line of more than 10 bytes: .*SOFTBLEU_LONGEST_LINE"):
        list(bounded_lines(BytesIO(b"short\n" + b"x" * 11 + end), "text"))
    for value in ("0", "-1", "many", "1e6", "9" * 30):
        monkeypatch.setenv(reading.LONGEST_LINE, value)
        refused(InputError, "SOFTBLEU_LONGEST_LINE must be a whole number from 1 to", reading.longest_line)
