"""Text, vectors and results at URLs: on S3 (a server on this machine), by HTTP, in memory and as files."""

import gzip
import hashlib
import http.server
import re
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import fetch
import fsspec
import pytest
from adversarial.server import hostile_server
from cli.conftest import TEXTS
from cli.conftest import contents as contents_of
from refusing import refused as refused_call
from tables import each_row

from softbleu.engine import checkpoint
from softbleu.errors import InputError
from softbleu.io import reading
from softbleu.io.reading import find_urls, open_url, remove_urls, write_url

pytestmark = pytest.mark.xdist_group("S3")
S3 = pytest.param("s3", marks=pytest.mark.slow)
LINES = 4500


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """A bucket of a server on this machine."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    with pytest.MonkeyPatch.context() as patch:
        host, port = server.get_host_and_port()
        access = {"ENDPOINT_URL": f"http://{host}:{port}", "ACCESS_KEY_ID": "nobody", "DEFAULT_REGION": "us-east-1"}
        for name, value in {**access, "SECRET_ACCESS_KEY": "nothing"}.items():
            patch.setenv(f"AWS_{name}", value)
        fsspec.filesystem("s3").mkdir("texts")
        yield "s3://texts"
    server.stop()


@pytest.fixture(autouse=True)
def _hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_PAUSE", 0.0)


def corpus_of(place: str, *, ending: str = "") -> list[str]:
    """Write two texts there; the last line lacks its end, and lines are of one to forty bytes."""
    names = [f"{place}/c.txt{ending}", f"{place}/r.txt{ending}"]
    for name, word, most, last in zip(names, "ab", (30, 20), "é ", strict=True):
        text = "\n".join(f"line {number} of {word * (number % most)}{last}".strip() for number in range(LINES))
        content = gzip.compress(text.encode()) if ending else text.encode()
        if reading.is_url(name):
            write_url(name, content)
        else:
            Path(name).write_bytes(content)
    return names


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize("place", [S3, "memory", "file"])
def test_texts_at_urls(command: Any, request: Any, tmp_path: Path, place: str, ending: str) -> None:
    url = {"memory": "memory://texts", "file": f"file://{tmp_path}"}.get(place) or request.getfixturevalue("s3")
    (tmp_path / "here").mkdir()
    candidate, reference = corpus_of(str(tmp_path / "here"))
    expected = command("score", "-c", candidate, "-r", reference, "-f", "jsonl")
    candidate, reference = corpus_of(url, ending=ending)
    output = f"{url}/scores.jsonl"
    done = command("score", "-c", candidate, "-r", reference, "-f", "jsonl", "-o", output)
    assert (done.code, done.out, done.err) == (0, "", "")
    with open_url(output) as stream:
        assert stream.read().decode() == expected.out
    assert not any(name.endswith(".trial") for name in find_urls(url))


class Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def served(handler: type[Silent], folder: Path) -> Iterator[str]:
    """The address of a server of the folder's files."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


class _Handler(Silent):
    """Files without ranges."""

    def send_head(self) -> Any:
        if self.path.endswith("busy.txt"):
            return self.send_error(503, "Busy")
        return super().send_head()


def test_http_without_ranges_is_read_as_a_whole(command: Any, tmp_path: Path) -> None:
    candidate, reference = corpus_of(str(tmp_path))
    with served(_Handler, tmp_path) as place:
        done = command("score", "-b", "-c", f"{place}/c.txt", "-r", f"{place}/r.txt")
        missing = command("score", "-c", f"{place}/none.txt", "-r", reference)
        busy = command("score", "-c", f"{place}/busy.txt", "-r", reference)
    assert (done.code, done.out) == (0, command("score", "-b", "-c", candidate, "-r", reference).out)
    assert (missing.code, missing.err.count("\n")) == (2, 1)
    assert "/none.txt: cannot be read (there is no such file" in missing.err
    assert "/busy.txt: cannot be read (503, message='Busy'" in busy.err


class _Ranges(Silent):
    """Files, or the rest of them from a byte on; what was asked for is noted."""

    asked: list[str] = []  # noqa: RUF012 - of all requests of a test

    def do_GET(self) -> None:
        self.asked.append(f"{self.path} {self.headers['Range']}")
        content = Path(self.translate_path(self.path)).read_bytes()
        rest = content[int((self.headers["Range"] or "bytes=0-").removeprefix("bytes=").removesuffix("-")) :]
        self.send_response(206 if self.headers["Range"] else 200)
        self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        self.wfile.write(rest)


def refused_fetch(*words: object) -> str:
    return refused_call(InputError, "", fetch.main, [*map(str, words)])


def test_data_sets_are_fetched_and_their_hashes_checked(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    far, mine = tmp_path / "far", tmp_path / "near" / "mine"
    far.mkdir()
    contents = {"plain.txt": b"one\n" * 50, "sys/a.txt": b"packed\n", "sys/b.txt": b"zipped\n"}
    contents["made.txt"] = b"by hand\n"
    fetched = contents.keys() - {"made.txt"}
    (far / "plain.en").write_bytes(contents["plain.txt"])
    (far / "b.gz").write_bytes(gzip.compress(contents["sys/b.txt"]))
    (tmp_path / "a").write_bytes(contents["sys/a.txt"])
    with tarfile.open(far / "all.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "a", "in/a")
    sums = "".join(f"{hashlib.sha256(content).hexdigest()}  mine/{path}\n" for path, content in contents.items())
    (tmp_path / "data.sha256").write_text(sums)
    _Ranges.asked.clear()
    with served(_Ranges, far) as place:
        files = {"sys/b.txt": "b.gz", "sys/*.txt": f"{place}/all.tar.gz#in/*", "plain.txt": "plain.en"}
        described = f'[mine]\ntitle = "t"\nsource = "s"\nlicence = "CC0-1.0"\nbase = "{place}/"\nsteps = "write it"\n'
        listed = [f'"{path}" = "{url}"' for path, url in files.items()]
        (tmp_path / "data.toml").write_text(f"{described}[mine.files]\n" + "\n".join(listed) + "\n")
        options = ["--list", str(tmp_path / "data.toml"), "-d", str(mine.parent)]
        fetch.main(options)
        assert capsys.readouterr().out.splitlines()[2].split() == ["mine", "4", "0", "CC0-1.0"]
        # An earlier attempt was interrupted after 30 bytes: they are not read again.
        mine.mkdir(parents=True)
        (mine / "plain.en.part").write_bytes(contents["plain.txt"][:30])
        assert "lacks made.txt (1 files by hand): write it" in refused_fetch(*options, "mine")
        assert contents_of(mine) == {path: contents[path] for path in fetched}
        assert "/plain.en bytes=30-" in _Ranges.asked
        (mine / "made.txt").write_bytes(contents["made.txt"])
        before = len(_Ranges.asked)
        fetch.main([*options, "mine"])
        assert len(_Ranges.asked) == before
        # What is there is never replaced; what comes with another hash is not kept.
        (mine / "plain.txt").write_bytes(b"mine")
        assert "is there, with another hash" in refused_fetch(*options, "mine")
        (mine / "plain.txt").unlink()
        (far / "plain.en").write_bytes(b"other")
        assert "another hash than that of mine/plain.txt" in refused_fetch(*options, "mine")
        assert not (mine / "plain.txt").exists()


def test_a_server_without_ranges_sends_an_interrupted_file_anew(tmp_path: Path) -> None:
    (near := tmp_path / "near" / "x").mkdir(parents=True)
    (near / "far.txt.part").write_bytes(b"begun")
    (tmp_path / "far.txt").touch()
    with served(_Handler, tmp_path) as place:
        fetch.main(["--list", str(list_of(tmp_path, "x", "y", f"{place}/far.txt")), "-d", str(near.parent), "x"])
    assert contents_of(near) == {"y": b""}


def test_the_data_sets_of_the_studies_have_hashes_and_a_way_to_get_them() -> None:
    for each in fetch.read_datasets(fetch.LIST).values():
        assert each.sums
        assert all(len(known) == 64 for known in each.sums.values())
        assert each.steps or all(each.url(path) for path in each.sums)


def test_vectors_at_a_url_are_copied_once(command: Any, files: Any, monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setenv("SOFTBLEU_CACHE", str(tmp_path / "cache"))
    texts = [*TEXTS, "-m", "vleu", "-b", "-q"]
    expected = command("score", *texts, "--vectors", "vectors.txt").out
    write_url("memory://texts/vectors.txt", files.vectors.read_bytes())
    for _ in range(2):
        done = command("score", *texts, "--vectors", "memory://texts/vectors.txt")
        assert (done.code, done.out) == (0, expected)
    assert len(list((tmp_path / "cache" / "remote").iterdir())) == 1


@pytest.mark.parametrize(
    ("failures", "error", "said"),
    [
        (2, ConnectionResetError("the line\nis dead"), ""),
        (3, ConnectionResetError("the line\nis dead"), r"\(the line\)"),
        (1, PermissionError("Access Denied"), r"\(no permission: Access Denied\)"),
    ],
)
def test_a_url_that_fails_twice_is_read_again(failures: int, error: OSError, said: str, monkeypatch: Any) -> None:
    write_url("memory://texts/a", b"0123456789")
    read, tried = reading._file_system, []

    def failing(url: str) -> Any:
        tried.append(url)
        if len(tried) <= failures:
            raise error
        return read(url)

    monkeypatch.setattr(reading, "_file_system", failing)
    if said:
        refused_call(InputError, f"^memory://texts/a: cannot be read {said}$", open_url, "memory://texts/a")
    else:
        assert open_url("memory://texts/a").read() == b"0123456789"


@pytest.mark.slow
@pytest.mark.usefixtures("s3")
def test_places_on_s3_that_are_none(refused: Any) -> None:
    """That a place cannot be written is known before the work."""
    for place in ("s3://texts/none.txt", "s3://no-such-bucket/none.txt"):
        said = f"softbleu: error: {place}: cannot be read (there is no such file, folder or bucket"
        assert refused("score", "-c", place, "-r", "reference.txt").startswith(said)
    place = "s3://no-such-bucket/out.json"
    message = refused("score", "-c", "none.txt", "-r", "reference.txt", "-o", place)
    assert f"{place}.trial: cannot be written (" in message


@pytest.mark.parametrize("place", [S3, "memory"])
def test_a_sweep_goes_on_at_a_url(command, request, files, place, monkeypatch):
    url = {"memory": "memory://sweeps"}.get(place) or request.getfixturevalue("s3")
    options = ["sweep", *TEXTS, "-c", "second.txt", "-m", "chrf", "--vary", "beta=1,2"]
    output, journal = f"{url}/out.csv", f"{url}/out.csv.sweep"
    expected = command(*options, "-f", "csv").out
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "remove_checkpoint", lambda _: None)
        assert command(*options, "-o", output).code == 0
    # As if it had been interrupted after one system.
    remove_urls(find_urls(journal)[:1])
    read, known = checkpoint.Checkpoint.read, []
    monkeypatch.setattr(checkpoint.Checkpoint, "read", lambda *given: known.append(read(*given)) or known[-1])
    done = command(*options, "-o", output)
    assert (done.code, done.out, done.err) == (0, "", "")
    assert sorted(blocks for blocks, _ in known) == [0, 3]
    assert find_urls(journal) == []
    with open_url(output) as stream:
        assert stream.read().decode() == expected
    write_url(journal, b"something else")
    done = command(*options, "-o", output)
    assert (done.code, "no checkpoint of an interrupted run" in done.err) == (2, True)
    with open_url(journal) as stream:
        assert stream.read() == b"something else"


SUM = hashlib.sha256(b"").hexdigest()


def list_of(folder: Path, name: str, path: str, url: str = "http://127.0.0.1:1/x", *, size: int = 1 << 20) -> Path:
    (folder / "data.sha256").write_text(f"{SUM}  {name}/{path}\n")
    entries = f'title = "t"\nsource = "s"\nlicence = "l"\nbytes = {size}\nfiles = {{ "*" = "{url}" }}\n'
    (folder / "data.toml").write_text(f"['{name}']\n{entries}")
    return folder / "data.toml"


@pytest.mark.parametrize(
    ("name", "path"), [("x", "/etc/ESC"), ("x", "../ESC"), ("..", "ESC"), ("a/b", "ESC"), ("x", "a//b")]
)
def test_lists_of_data_sets_do_not_lead_outside(tmp_path: Path, name: str, path: str) -> None:
    assert "data set" in refused_fetch("--list", list_of(tmp_path, name, path), "-d", tmp_path / "near", name)
    assert not (tmp_path / "near").exists()
    assert not (tmp_path / "ESC").exists()


def test_data_sets_are_not_written_through_links(tmp_path: Path) -> None:
    (near := tmp_path / "near" / "x").mkdir(parents=True)
    (elsewhere := tmp_path / "elsewhere").mkdir()
    options = ("--list", list_of(tmp_path, "x", "deep/y"), "-d", near.parent, "x")
    (near / "deep").symlink_to(elsewhere)
    assert "a link is in the place of a folder" in refused_fetch(*options)
    (near / "deep").unlink()
    (near / "deep").mkdir()
    (near / "deep" / "y").symlink_to(elsewhere / "y")
    assert "move it away" in refused_fetch(*options)
    assert list(elsewhere.iterdir()) == []


@pytest.fixture(scope="module")
def hostile() -> Iterator[str]:
    with hostile_server() as address:
        yield address


@each_row("cli/downloads.toml", "file", "says")
def test_hostile_downloads_end_and_change_no_file(
    tmp_path: Path, hostile: str, monkeypatch: Any, file: str, says: str
) -> None:
    """Files are what they were, and nothing secret is told."""
    monkeypatch.setattr(reading, "SILENCE", 0.3)
    place, sign, member = f"{hostile.replace('//', '//user:PASSWORD@')}/{file}".partition("#")
    if not sign and not file.endswith(".gz"):
        place += "?X-Amz-Signature=SECRET"
    (near := tmp_path / "near").joinpath("x").mkdir(parents=True)
    listed = list_of(tmp_path, "x", "y", f"{place}{sign}{member}", size=20_480)
    message = refused_fetch("--list", listed, "-d", near, "x")
    assert says in message
    assert not {"PASSWORD", "SECRET"} & set(re.split(r"\W", message))


def test_secrets_in_urls_are_printed_and_kept_nowhere(
    command: Any, files: Any, monkeypatch: Any, tmp_path: Path
) -> None:
    (cache := tmp_path / "cache").mkdir()
    monkeypatch.setenv("SOFTBLEU_CACHE", str(cache))
    with served(_Handler, files.folder) as place:
        address = place.replace("://", "://user:PASSWORD@")

        def named(file: str) -> str:
            return f"{address}/{file}?X-Amz-Signature=SECRET"

        texts = ("-c", named("candidate.txt"), "-r", named("reference.txt"))
        soft = ("score", *texts, "-m", "vleu", "--vectors", named("vectors.txt"))
        none = ("score", "-c", named("none.txt"), "-r", named("none.txt"))
        other = named("candidate.txt").replace("SECRET", "SECRET2")
        runs = [
            command("score", *texts, "-o", tmp_path / "page.html", "--title", "t"),
            *(command(*soft, *more) for more in ((), ("--long",), ("-f", "json"), ("--long", "-f", "json"))),
            *(command(*none, *more) for more in ((), ("--debug",))),
            command("score", *texts, "-o", named("o.jsom")),
            command("embeddings", "train", named("c"), "-o", "t"),
            command("score", *texts, "-c", other),
        ]
    assert [done.code for done in runs] == [0] * 5 + [2] * 5
    written = [path.name.encode() + path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    shown = "".join(done.out + done.err for done in runs).encode() + b"".join(written)
    assert b"PASSWORD" not in shown
    assert b"SECRET" not in shown
    assert b"vectors.txt#" in shown
