"""JSON, TOML and arrays that others wrote: what is out of bounds is refused in one line."""

import os
import re
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusing import refused

from softbleu.errors import InputError
from softbleu.io.reading import (
    LONGEST_LINE,
    bounded_lines,
    longest_line,
    map_array,
    parse_json,
    parse_score,
    parse_whole,
    read_json,
    read_toml,
)

DEEP = 100_000


def refusal(read: Callable[[Path], object], path: Path) -> str:
    return refused(InputError, f"^{re.escape(str(path))}", read, path)


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        *((read_json, text, "more than 64 deep") for text in ("[" * DEEP, '{"a":' * DEEP, "[" * 65 + "]" * 65)),
        (read_json, "9" * 5000, "more than 18 digits"),
        (read_json, '{"a": [' + "1" * 19 + "]}", "more than 18 digits"),
        (read_json, "[1e400]", "1e400 is no finite number"),
        *((read_json, text, f"{text} is no finite number") for text in ("NaN", "-Infinity")),
        (read_json, "[1,\n2,\n}", "line 3, column 1: not JSON"),
        (read_toml, "a = " + "[" * DEEP, "more than 64 deep"),
        (read_toml, "a = " + "{a=" * DEEP, "more than 64 deep"),
        (read_toml, ".".join(["a"] * 2000) + " = 1", "more than 64 deep"),
        *((read_toml, "a = " + "9" * size, "more than 18 digits") for size in (19, 5000)),
        (read_toml, "a = nan", "nan is no finite number"),
        (read_toml, "a = [-inf]", "-inf is no finite number"),
        (read_toml, 'a = ["x\\u0000"]', "a text with a NUL"),
        (read_toml, "a = ", "no TOML"),
        (read_toml, b"a = '\xff'", "not UTF-8 (byte 6)"),
    ],
)
def test_out_of_bounds(read: Callable[[Path], object], text: str | bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert message in refusal(read, path)


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


@pytest.mark.parametrize("read", [read_json, read_toml])
def test_a_file_that_is_too_large_is_not_read(read: Callable[[Path], object], tmp_path: Path) -> None:
    with (tmp_path / "large").open("wb") as stream:
        stream.truncate((64 << 20) + 1)
    assert "larger than 64 MiB" in refusal(read, tmp_path / "large")


@pytest.mark.parametrize("dtype", ["int8", "<f2", "<f4", ">f8", "<u4", "bool"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 0), (1, 2, 3)])
def test_arrays(dtype: str, shape: tuple[int, ...], tmp_path: Path) -> None:
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


def test_every_flip_of_a_header_is_told_or_harmless(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.save(path, values)
    content = path.read_bytes()
    refused = 0
    for place in range(128):
        for flip in (1, 4, 16, 64):
            path.write_bytes(content[:place] + bytes([content[place] ^ flip]) + content[place + 1 :])
            try:
                # What passes differs by the order of bytes, by the number format, or by a blank.
                assert map_array(path).nbytes == values.nbytes
            except InputError:
                refused += 1
    assert refused > 300


@pytest.mark.parametrize("text", ["9" * 20, "9" * 5000, "x", ""])
def test_whole_numbers_out_of_bounds(text: str) -> None:
    with pytest.raises(ValueError, match=r"digits|invalid literal"):
        parse_whole(text)


@pytest.mark.parametrize("value", ["1e308", "-1e101", 1e-320, "nan", "inf", True, None, [], "9" * 400, 10**400])
def test_scores_out_of_bounds(value: object) -> None:
    with pytest.raises(ValueError, match=r"a number is needed, 0 or of size 1e-100 to 1e\+100"):
        parse_score(value)


@given(st.floats(1e-100, 1e100), st.floats(1e-100, 1e100))
def test_scores_within_bounds_have_squares(one: float, other: float) -> None:
    first, second = parse_score(str(one)), parse_score(-other)
    assert (first, second) == (one, -other)
    assert 0 < first**2 + second**2 < np.inf


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
def test_the_length_of_a_line(end: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LONGEST_LINE, "10")
    content = b"short\n" + b"x" * 10 + end
    assert b"".join(bounded_lines(BytesIO(content), "text")) == content
    with pytest.raises(InputError, match=r"^text, line 2: a line of more than 10 bytes: .*SOFTBLEU_LONGEST_LINE"):
        list(bounded_lines(BytesIO(b"short\n" + b"x" * 11 + end), "text"))


@pytest.mark.parametrize("value", ["0", "-1", "many", "1e6", "9" * 30])
def test_limits_that_are_none(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LONGEST_LINE, value)
    with pytest.raises(InputError, match="SOFTBLEU_LONGEST_LINE must be a whole number from 1 to"):
        longest_line()
