"""Files of other places by their URLs, as fsspec reads and writes them (the extra ``remote``)."""

from __future__ import annotations

import io
import re
import time
from collections.abc import Callable
from importlib import import_module
from socket import gaierror
from typing import IO, Any, TypeGuard, TypeVar, cast

from softbleu.errors import InputError, MissingExtraError

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_HTTP = re.compile(r"(?:^|::)(https?)://")
_AS_IT_IS = {"Accept-Encoding": "identity"}
_ATTEMPTS = 3
_PART = 1 << 20  # Bytes that are read at once
_PAUSE = 0.5  # Seconds before reading is tried again; the next pause is twice as long
_FINAL = (
    *(FileNotFoundError, PermissionError, ValueError, ImportError, InputError, NotADirectoryError),
    TimeoutError,
)
"""Errors that no other attempt mends."""
SILENCE = 30.0  # Seconds without a byte after which a server is given up
_NO_ANSWER = (ConnectionRefusedError, TimeoutError, gaierror)
_PARTIAL, _NO_RANGE, _SERVER_FAILS = 206, 416, 500  # HTTP's numbers; the last is the first of many

_Found = TypeVar("_Found")


def is_url(name: object) -> TypeGuard[str]:
    """Whether a name is a URL, not a path.

    >>> is_url("s3://bucket/key"), is_url("C:/folder/file"), is_url("-")
    (True, False, False)
    """
    return isinstance(name, str) and _SCHEME.match(name) is not None


def file_name(url: str) -> str:
    """Name of the file at a URL, without the query, which may be secret.

    >>> file_name("http://host/sets/v.txt?X-Amz-Signature=ab12")
    'v.txt'
    """
    return url.partition("?")[0].rpartition("/")[2]


def read_range(url: str, start: int, stop: int) -> bytes:
    """Read the bytes from `start` up to `stop`."""
    return _tried(url, lambda files, path: _range(files, path, start, stop)) if start < stop else b""


def url_size(url: str) -> int | None:
    """Bytes of a file that can be read in ranges; None where it is read as a whole only."""

    def measured(files: Any, path: str) -> int | None:
        if not _by_http(files):
            return cast("int | None", files.info(path)["size"])
        try:
            with _open(files, path, "bytes=0-0") as stream:
                size = stream.r.headers.get("Content-Range", "").rpartition("/")[2]
                return int(size) if stream.r.status == _PARTIAL and re.fullmatch("[0-9]{1,18}", size) else None
        except Exception as error:
            # An empty file has no such range.
            if getattr(error, "status", 0) == _NO_RANGE:
                return None
            raise

    return _tried(url, measured)


def _range(files: Any, path: str, start: int, stop: int) -> bytes:
    if not _by_http(files):
        return cast("bytes", files.cat_file(path, start=start, end=stop))
    content = bytearray()
    with _open(files, path, f"bytes={start}-{stop - 1}") as stream:
        if stream.r.status != _PARTIAL:
            raise ValueError("the server does not read ranges any more")
        while part := stream.read(stop - start - len(content)):
            content += part
    return bytes(content)


def _by_http(files: Any) -> bool:
    return isinstance(files.protocol, tuple) and "http" in files.protocol


def _open(files: Any, path: str, ranges: str = "") -> Any:
    """Open a file; by HTTP as a stream, of which no more is taken than is read, however much the server sends."""
    if not _by_http(files):
        return files.open(path, "rb")
    headers = {**_AS_IT_IS, **({"Range": ranges} if ranges else {})}
    # With a size the server is not asked for it.
    return files.open(path, "rb", block_size=0, size=1, headers=headers)


def url_state(url: str) -> str:
    """State that changes when a file does: its checksum, version or time, as the place tells."""
    return _tried(url, lambda files, path: str(files.ukey(path)))


def open_url(url: str) -> IO[bytes]:
    """Open a file for reading, from its begin to its end."""
    return io.BufferedReader(_Stream(url, _tried(url, _open)), _PART)


class _Stream(io.RawIOBase):
    """A file that is read as it comes; what goes wrong on the way names the URL."""

    def __init__(self, url: str, stream: Any) -> None:
        self._url, self._stream, self._over = url, stream, False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            # A response that is read on at its end warns of an endless loop.
            content = b"" if self._over else self._stream.read(len(buffer))
        except Exception as error:
            raise _failure(self._url, error, "read") from error
        self._over = not content
        buffer[: len(content)] = content
        return len(content)

    def close(self) -> None:
        self._stream.close()
        super().close()


def write_url(url: str, content: bytes) -> None:
    """Write a file as a whole."""
    _tried(url, lambda files, path: files.pipe_file(path, content), "written")


def find_urls(url: str) -> list[str]:
    """Files of a folder; none where there is no such folder."""
    return _tried(url, lambda files, path: [files.unstrip_protocol(name) for name in files.find(path)])


def remove_urls(urls: list[str]) -> None:
    """Remove files."""
    for url in urls:
        _tried(url, lambda files, path: files.rm_file(path), "removed")


def _tried(url: str, work: Callable[[Any, str], _Found], done: str = "read") -> _Found:
    """Do something with a file, again where it fails as networks do."""
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            return work(*_file_system(url))
        # What goes wrong on the way is of as many kinds as there are kinds of places.
        except Exception as raised:
            if isinstance(raised, InputError | MissingExtraError):
                raise
            error = _cause(raised)
            if isinstance(error, _FINAL) or attempt == _ATTEMPTS:
                raise _failure(url, raised, done) from error
            time.sleep(_PAUSE * 2 ** (attempt - 1))
    raise AssertionError


def _file_system(url: str) -> tuple[Any, str]:
    try:
        core: Any = import_module("fsspec.core")
    except ImportError:
        raise MissingExtraError(f"{url}: URLs need other packages: pip install 'softbleu[remote]'") from None
    files, path = core.url_to_fs(url, **{scheme: _http_options() for scheme in _HTTP.findall(url)})
    return files, path


def _http_options() -> dict[str, Any]:
    """How long a server may be silent; what it sends is taken as it is, not unpacked."""
    timeout = import_module("aiohttp").ClientTimeout(total=None, sock_connect=SILENCE, sock_read=SILENCE)
    return {"client_kwargs": {"timeout": timeout, "auto_decompress": False}, "headers": _AS_IT_IS}


def _failure(url: str, error: Exception, done: str) -> InputError:
    return InputError(f"{url}: cannot be {done} ({_reason(_cause(error))})")


def _cause(error: Exception) -> Exception:
    """Describe an error: by HTTP a file counts as missing where nothing answers, or the server fails, too."""
    cause: Any = error
    while cause is not None:
        if isinstance(cause, _NO_ANSWER) or getattr(cause, "status", 0) >= _SERVER_FAILS:
            return cast("Exception", cause)
        cause = cause.__cause__
    return error


def _reason(error: Exception) -> str:
    if isinstance(error, _NO_ANSWER):
        return "nothing answers there"
    if isinstance(error, FileNotFoundError):
        return "there is no such file, folder or bucket"
    said = str(error).partition("\n")[0]
    if isinstance(error, PermissionError):
        return f"no permission{f': {said}' if said else ''}"
    return said or type(error).__name__
