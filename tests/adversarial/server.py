"""A server on this machine whose answers are not what was asked for."""

import gzip
import http.server
import io
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

SIZE = 1 << 24  # Bytes of what is small when packed
GOOD = b"one\n"


def tar_of(*members: tarfile.TarInfo) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for member in members:
            archive.addfile(member, io.BytesIO(bytes(member.size)) if member.isreg() else None)
    return packed.getvalue()


def member(name: str, size: int = 0, link: str = "") -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.size = size
    if link:
        made.type, made.linkname = tarfile.SYMTYPE, link
    return made


BODIES = {
    "good.txt": GOOD,
    "good.gz": gzip.compress(GOOD),
    "bomb.gz": gzip.compress(bytes(SIZE)),
    "cut.gz": gzip.compress(bytes(SIZE))[:-9],
    "flipped.gz": gzip.compress(bytes(range(256)))[:-20] + bytes(20),
    "large.tar.gz": tar_of(member("a", SIZE)),
    "behind.tar.gz": tar_of(member("x", SIZE), member("a", 1)),
    "link.tar.gz": tar_of(member("a", link="a")),
    "long.tar.gz": tar_of(member("n" * SIZE), member("a", 1)),
    "other.tar.gz": tar_of(member("b", 1)),
}
WAIT, FLOOD = "wait", "flood"
ANSWERS: dict[str, tuple[int, dict[str, str], bytes, str]] = {
    "silent": (0, {}, b"", WAIT),
    "stalled": (200, {"Content-Length": "1000"}, GOOD, WAIT),
    "half": (200, {"Content-Length": "1000"}, GOOD, ""),
    "endless": (200, {}, b"", FLOOD),
    # Says that the file is small and is read in ranges.
    "ranges": (206, {"Content-Range": "bytes 0-0/500"}, b"", FLOOD),
    "huge": (206, {"Content-Range": f"bytes 0-0/{1 << 50}"}, b"", ""),
    "odd": (206, {"Content-Range": "bytes 0-0/-7"}, GOOD, ""),
    # Unpacks on the way.
    "packed": (
        200,
        {"Content-Encoding": "gzip", "Content-Length": str(len(BODIES["bomb.gz"]))},
        BODIES["bomb.gz"],
        "",
    ),
    "round": (302, {"Location": "round"}, b"", ""),
    "busy": (503, {}, b"", ""),
}
"""Status, headers, body, and what follows it; 0 is no answer."""


class Hostile(http.server.BaseHTTPRequestHandler):
    """Answers by the name of what is asked for."""

    over = threading.Event()

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        name = self.path.partition("?")[0].rpartition("/")[2]
        body = BODIES.get(name, b"")
        plain = 200 if body else 404, {"Content-Length": str(len(body))}, body, ""
        status, headers, body, then = ANSWERS.get(name, plain)
        with suppress(OSError):
            if status:
                self.send_response(status)
                for header in headers.items():
                    self.send_header(*header)
                self.end_headers()
                self.wfile.write(body)
            while then == FLOOD and not self.over.is_set():
                self.wfile.write(bytes(1 << 20))
            if then == WAIT:
                self.over.wait(100)


@contextmanager
def hostile_server() -> Iterator[str]:
    """The address of the server."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hostile) as server:
        server.daemon_threads = True
        Hostile.over.clear()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            Hostile.over.set()
            server.shutdown()
