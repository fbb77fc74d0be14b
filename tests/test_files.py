"""What is written is complete or not there at all, and never in the place of what is read."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from refusing import refused

from softbleu.errors import InputError
from softbleu.io import files
from softbleu.io.files import (
    TemporaryFolder,
    check_apart,
    check_different,
    draft_file,
    draft_folder,
    open_own,
    put_in_place,
    write_output,
    write_whole,
)


def test_a_folder_that_holds_an_input(tmp_path: Path) -> None:
    (tmp_path / "store" / "deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to("store")
    (tmp_path / "away").symlink_to("store/deep/text")
    for target in ("store", "link"):
        for source in ("store/deep/text", "link/deep/text", "away"):
            refused(InputError, "holds the input", check_apart, tmp_path / target, [tmp_path / source])
    check_apart(tmp_path / "store" / "deep", [tmp_path / "store" / "text", tmp_path / "storey"])


@pytest.mark.parametrize("content", [["one\n", "two \udc80\n"], b"one\ntwo \\udc80\n"])
def test_text_and_bytes(tmp_path: Path, content: bytes | list[str]) -> None:
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
def test_what_is_no_file_is_never_replaced(tmp_path: Path) -> None:
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


def test_all_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError("disk full")

    place = tmp_path / "one"
    place.write_text("before")

    def fail() -> Iterator[str]:
        yield "half"
        raise ValueError("no more")

    refused(ValueError, "no more", write_whole, place, fail())
    monkeypatch.setattr(Path, "replace", full)
    refused(OSError, "disk full", write_whole, place, b"new")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"one": "before"}


def test_a_draft_has_no_draft_of_its_own(tmp_path: Path) -> None:
    with draft_folder(tmp_path / "model") as draft:
        with draft_folder(draft) as inner:
            (inner / "weights").write_text("whole")
            assert [path.name for path in tmp_path.iterdir()] == [draft.name]
            put_in_place(inner, draft)
        put_in_place(draft, tmp_path / "model")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    assert (tmp_path / "model" / "weights").read_text() == "whole"


@pytest.mark.parametrize("folds", [False, True])
def test_outputs_that_differ_by_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folds: bool) -> None:
    monkeypatch.setattr(files, "_FOLDS", folds)
    monkeypatch.chdir(tmp_path)
    refused(InputError, "would be written twice", check_different, ["a.csv", None, str(tmp_path / "a.csv")])
    check_different(["a.csv", "b.csv", os.devnull, os.devnull])
    if folds:
        refused(InputError, "A.csv would be written twice", check_different, ["a.csv", "A.csv"])
    else:
        check_different(["a.csv", "A.csv"])


def test_a_store_that_is_open_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows renames no folder in which a file is open."""
    monkeypatch.setattr(files, "exchange", lambda *_: False)
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "words").write_text("before")
    rename = Path.rename

    def only_away(path: Path, target: Path) -> Path:
        if path.suffix == ".draft":
            raise PermissionError(13, "in use")
        return rename(path, target)

    def replace_store() -> None:
        with draft_folder(tmp_path / "store") as draft:
            (draft / "words").write_text("after")
            put_in_place(draft, tmp_path / "store")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", only_away)
        refused(PermissionError, "in use", replace_store)
    assert {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")} == {"store", "store/words"}
    assert (tmp_path / "store" / "words").read_text() == "before"
    replace_store()
    assert (tmp_path / "store" / "words").read_text() == "after"


def test_windows_is_sent_no_signal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Signal 0 is Ctrl-C there."""
    sent: list[int] = []
    monkeypatch.setattr(os, "kill", lambda process, _: sent.append(process))
    monkeypatch.setattr(files.os, "name", "nt")
    assert files._lives(1)
    assert sent == []


def test_drafts_of_killed_processes_go(tmp_path: Path, dead: int) -> None:
    own, living = f".out.{os.getpid()}.abc.draft", ".out.1.abc.draft"
    kept = {living, f".other.{dead}.abc.draft", ".out.12x.abc.draft", f"out.{dead}.abc.draft", f".out.{dead}.draft"}
    for name in {own, f".out.{dead}.abc.draft", *kept}:
        (tmp_path / name).write_text("half")
    with draft_file(tmp_path / "out") as draft:
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
