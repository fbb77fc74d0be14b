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


def contents() -> dict[str, bytes]:
    """Bodies by their names."""
    return {
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


class Hostile(http.server.BaseHTTPRequestHandler):
    """Answers by the name of what is asked for."""

    bodies = contents()
    over = threading.Event()

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        with suppress(OSError):
            name = self.path.partition("?")[0].rpartition("/")[2]
            getattr(self, f"send_{name}", self.send_body)(name)

    def begin(self, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key.replace("_", "-"), value)
        self.end_headers()

    def send_body(self, name: str) -> None:
        body = self.bodies.get(name, b"")
        self.begin(200 if body else 404, Content_Length=str(len(body)))
        self.wfile.write(body)

    def send_silent(self, _: str) -> None:
        self.over.wait(100)

    def send_stalled(self, _: str) -> None:
        self.begin(Content_Length="1000")
        self.wfile.write(GOOD)
        self.over.wait(100)

    def send_half(self, _: str) -> None:
        self.begin(Content_Length="1000")
        self.wfile.write(GOOD)

    def send_endless(self, _: str) -> None:
        self.begin()
        while not self.over.is_set():
            self.wfile.write(bytes(1 << 20))

    def send_ranges(self, _: str) -> None:
        """Say that the file is small and is read in ranges, and send no end of it."""
        self.begin(206, Content_Range="bytes 0-0/500")
        while not self.over.is_set():
            self.wfile.write(bytes(1 << 20))

    def send_huge(self, _: str) -> None:
        self.begin(206, Content_Range=f"bytes 0-0/{1 << 50}")

    def send_odd(self, _: str) -> None:
        self.begin(206, Content_Range="bytes 0-0/-7")
        self.wfile.write(GOOD)

    def send_packed(self, _: str) -> None:
        """A body that unpacks on the way."""
        self.begin(Content_Encoding="gzip", Content_Length=str(len(self.bodies["bomb.gz"])))
        self.wfile.write(self.bodies["bomb.gz"])

    def send_round(self, _: str) -> None:
        self.begin(302, Location="round")

    def send_busy(self, _: str) -> None:
        self.send_error(503)


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
