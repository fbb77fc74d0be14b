import io
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from softbleu.cli.app import run


def read_toml(name: str | Path) -> dict[str, Any]:
    """A table beside this file, or elsewhere."""
    return tomllib.loads((Path(__file__).parent / name).read_text(encoding="utf-8"))


LINES: dict[str, list[str]] = read_toml("files.toml")
TOKENISED, GERMAN = "a cat sat .", "Der Rat stimmte dem neuen Vertrag zu, aber die Minister warten noch auf das Geld."
LINES |= {"tokenised.txt": [TOKENISED] * 30, "again.txt": [TOKENISED] * 30, "ten.txt": [TOKENISED] * 10}
LINES |= {"untokenised.txt": ["a cat sat."] * 30, "german.txt": [GERMAN] * 6}
DEFINITIONS = read_toml("definitions.toml")
BASIC = ("candidate.txt", "reference.txt", "second.txt", "vectors.txt")
CANDIDATE, REFERENCE, SECOND = (LINES[name] for name in BASIC[:3])
TEXTS = ("-c", "candidate.txt", "-r", "reference.txt")


@dataclass(frozen=True)
class Run:
    code: int
    out: str
    err: str


Command = Callable[..., Run]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run the command line in this process, as the program itself does."""
    monkeypatch.setenv("COLUMNS", "200")

    def call(*arguments: object, stdin: bytes = b"", environment: dict[str, str] | None = None) -> Run:
        capsys.readouterr()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin)), encoding="utf-8"))
            for name, value in (environment or {}).items():
                patch.setenv(name, value)
            try:
                code = run([str(argument) for argument in arguments])
            except SystemExit as ended:
                # So does completion.
                code = int(ended.code or 0)
        caught = capsys.readouterr()
        return Run(code, caught.out, caught.err)

    return call


def scored(command: Command, *arguments: object, name: str = "score") -> Any:
    """What a command says as JSON, without a note."""
    done = command(name, *arguments, "--format", "json")
    assert (done.code, done.err) == (0, "")
    return json.loads(done.out, parse_constant=pytest.fail)


def table_of(done: Run) -> list[dict[str, Any]]:
    """Rows of a table in JSON."""
    assert done.code == 0, done.err
    found: list[dict[str, Any]] = json.loads(done.out)["rows"]
    return found


@pytest.fixture
def program() -> Command:
    """Run the command line in a process of its own."""

    def call(*arguments: object, stdin: bytes = b"", environment: dict[str, str] | None = None) -> Run:
        called, own = [sys.executable, "-m", "softbleu", *map(str, arguments)], {**os.environ, **(environment or {})}
        done = subprocess.run(called, input=stdin, capture_output=True, check=False, env=own)
        return Run(done.returncode, done.stdout.decode(), done.stderr.decode())

    return call


@dataclass(frozen=True)
class Files:
    """A small corpus and vectors in a folder."""

    folder: Path
    candidate: Path
    reference: Path
    second: Path
    vectors: Path

    def write(self, name: str, content: bytes | Iterable[str]) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else "".join(f"{line}\n" for line in content).encode())
        return path

    def lay(self, *lines: str) -> None:
        """Write files of `files.toml` that such lines name, by their names or those of folders."""
        words = {*re.split("[ =]", " ".join(lines))}
        for name in LINES:
            if words & {name, *map(str, PurePosixPath(name).parents)} - {"."}:
                self.write(name, LINES[name])


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Files:
    """Where the test works."""
    monkeypatch.chdir(tmp_path)
    made = Files(tmp_path, *map(tmp_path.joinpath, BASIC))
    made.lay(*BASIC)
    return made


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def contents(folder: Path) -> dict[str, bytes]:
    """Files of a folder and of those in it, by their names."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def refused(command: Command, files: Files) -> Callable[..., str]:
    """Run a command that must fail, in the folder of the files; give its one line. All files stay as they were."""

    def call(*arguments: object, output: str | None = "out.txt", stdin: bytes = b"") -> str:
        before, folders = contents(files.folder), sorted(files.folder.rglob("*"))
        named = output is None or {"-o", "--output"} & set(arguments)
        done = command(*arguments, *([] if named else ["--output", output]), stdin=stdin)
        assert (done.code, done.out) == (2, ""), done
        assert done.err.startswith("softbleu: error: ")
        assert (done.err.count("\n"), done.err[-1]) == (1, "\n")
        assert (contents(files.folder), sorted(files.folder.rglob("*"))) == (before, folders)
        return done.err

    return call
