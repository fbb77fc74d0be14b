"""Ends commands at each of their steps that change files, and looks at what is left and at the next run.

Commands run in children of one process that has loaded the program, so that ending one costs no start-up.
"""

import errno
import json
import os
import random
import re
import resource
import shutil
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from tables import read_rows

WRITERS = {row["name"]: row["run"] for row in read_rows("adversarial/writers.toml")}
JOURNALS = (".o.json.score", ".o.json.compare", ".o.csv.sweep", "out/sweep.unfinished")
"""What an interrupted run keeps on purpose."""
CHANGES = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod", "os.truncate", "sqlite3.connect"}
SIZES = (0, 1, 100, 1000, 3000)  # Bytes that no file may exceed, as if the disk were full
SIGNALS = {"SIGKILL": -9, "SIGTERM": 143, "SIGINT": 130}
FULL, LIMIT, TWICE = "full", "limit", "twice"
TRIAL = re.compile("tmp/[a-z0-9_]{8}")
"""What Python's own module writes to see whether the folder of temporary files is one."""
COPY = re.compile("^cache/remote/[0-9a-f]{32}")  # Its name has the times of what was copied
PATIENCE = 60  # Seconds of CPU time for a command
LOADED = ("softbleu", "pydantic", "scipy", "gensim", "faiss", "nltk", "sacrebleu", "safetensors", "fsspec")
LOADED += ("matplotlib", "pyarrow")
"""Packages that take long to load."""


class Case(NamedTuple):
    """A way to end a command."""

    writer: str
    way: str
    at: int  # The step before which it ends, or the size that files may have

    def __str__(self) -> str:
        return f"{self.writer}, {self.way} at {self.at}"


class Done(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str
    steps: int


def is_change(event: str, arguments: Sequence[Any], folder: str) -> bool:
    """Whether something of the folder is about to be made, renamed or removed."""
    if event == "ctypes.dlsym":
        return bool(arguments[1] == "renameat2")
    opens = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
    if not opens and event not in CHANGES:
        return False
    if event in ("os.remove", "os.rmdir") and arguments[1] != -1:
        # Named by the number of its folder: part of what is being removed as a whole.
        return True
    place = arguments[0]
    named = isinstance(place, str | bytes | os.PathLike)
    return named and Path(folder) in Path(Path.cwd(), os.fsdecode(place)).parents


def act(event: str, case: Case) -> None:
    """What a step does to the process."""
    if case.way in SIGNALS:
        os.kill(os.getpid(), getattr(signal, case.way))
    elif case.way == FULL and event in ("open", "os.mkdir"):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def start(folder: Path, arguments: Sequence[str], case: Case | None) -> tuple[int, list[int]]:
    """Start a command in a child; give its number and where its output, errors and steps are to be read."""
    pipes = [os.pipe() for _ in range(3)]
    if child := os.fork():
        for _, end in pipes:
            os.close(end)
        return child, [end for end, _ in pipes]
    # Who runs the tests in the background may have it ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (1, 2):
        os.dup2(pipes[number - 1][1], number)
    sys.stdout, sys.stderr = (os.fdopen(number, "w", encoding="utf-8", closefd=False) for number in (1, 2))
    os.chdir(folder)
    os.environ |= {"TMPDIR": str(folder / "tmp"), "SOFTBLEU_CACHE": str(folder / "cache")}
    resource.setrlimit(resource.RLIMIT_CPU, (PATIENCE, PATIENCE))
    if case is not None and case.way == LIMIT:
        resource.setrlimit(resource.RLIMIT_FSIZE, (case.at, case.at))
    seen = 0

    def hook(event: str, given: tuple[Any, ...]) -> None:
        nonlocal seen
        if is_change(event, given, str(folder)):
            seen += 1
            # A full disk stays full.
            if case is not None and (seen == case.at or (seen > case.at and case.way == FULL)):
                act(event, case)

    sys.addaudithook(hook)
    sys.argv = ["softbleu", *arguments]
    code = 1
    try:
        from softbleu.cli import main

        main()
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        loaded = [name for name in sys.modules if name.partition(".")[0] in LOADED]
        os.write(pipes[2][1], json.dumps([seen, loaded]).encode())
        os._exit(code)


def finish(child: int, ends: Sequence[int]) -> Done:
    texts = []
    for end in ends:
        with os.fdopen(end, "rb") as stream:
            texts.append(stream.read().decode())
    _, status = os.waitpid(child, 0)
    steps, modules = json.loads(texts[2] or "[0, []]")
    for name in modules:
        # Lest other children load them once more.
        import_module(name)
    return Done(os.waitstatus_to_exitcode(status), texts[0], texts[1], steps)


class Writer:
    """A command, what it makes of the samples, and what it does when it is ended."""

    def __init__(self, name: str, samples: Path, place: Path) -> None:
        self.name, self._samples, self._place = name, samples, place
        folder = self._fresh()
        self.before = self._contents(folder)
        self.whole = self._run(folder)
        if self.whole.code:
            raise RuntimeError(f"{name}: {self.whole.err}")
        self.after = self._contents(folder)

    def _fresh(self) -> Path:
        """The samples once more, always under the same name: it stands in what is written."""
        folder = self._place / "work"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self._samples, folder)
        for name in ("tmp", "cache"):
            (folder / name).mkdir()
        return folder

    def _start(self, folder: Path, case: Case | None = None) -> tuple[int, list[int]]:
        return start(folder, [*WRITERS[self.name].format(folder=folder).split(), "-q"], case)

    def _run(self, folder: Path, case: Case | None = None) -> Done:
        return finish(*self._start(folder, case))

    def _contents(self, folder: Path) -> dict[str, bytes]:
        """Files by name, without what tells the time; of a database only that it is there."""
        found = {}
        for path in folder.rglob("*"):
            name = COPY.sub("cache/remote/copy", str(path.relative_to(folder)))
            if TRIAL.fullmatch(name):
                continue
            timed = name == "cache/lines.sqlite" or name.endswith((".manifest.json", "card.md"))
            found[name] = b"a folder" if path.is_dir() else b"a file" if timed else path.read_bytes()
        return found

    def faults(self, case: Case) -> list[str]:
        """What is wrong after a command ended so, and after the next run."""
        folder = self._fresh()
        if case.way == TWICE:
            started = [self._start(folder) for _ in range(case.at)]
            ended = [finish(*each) for each in started]
            said = [f"exit code {done.code}: {done.err}" for done in ended if done.code]
        else:
            said = list(self._ended(case, self._run(folder, case), self._contents(folder)))
        again = self._run(folder)
        if (again.code, again.out, again.err) != (0, self.whole.out, ""):
            said.append(f"the next run: {again}")
        return said + [f"after the next run, {each}" for each in different(self._contents(folder), self.after)]

    def _ended(self, case: Case, done: Done, found: dict[str, bytes]) -> list[str]:
        said = []
        codes = (0, 2) if case.way in (FULL, LIMIT) else (SIGNALS[case.way],)
        if done.code not in codes or "Traceback" in done.err or done.err.count("\n") != (done.code == 2):
            said.append(f"exit code {done.code}: {done.err}")
        kept = {name for name in found if name.startswith((*JOURNALS, "cache"))}
        if case.way == "SIGKILL":
            # The next run tidies up.
            kept |= {name for name in found if name not in self.after}
        found = {name: content for name, content in found.items() if name not in kept}
        if done.code == 0:
            expected = {name: content for name, content in self.after.items() if not name.startswith("cache")}
            return said + different(found, expected)
        # Each file as it was before, or as it is after a whole run.
        for name in found.keys() | self.before.keys():
            if not name.startswith("cache") and found.get(name) not in (self.before.get(name), self.after.get(name)):
                said.append(f"{name} is neither as before nor as it should become")
        return said

    def cases(self, draw: random.Random | None) -> list[Case]:
        """All of them, or with random numbers one, and each step at which those that replace files are killed."""
        steps = range(1, self.whole.steps + 1)
        each = [Case(self.name, way, step) for way in (*SIGNALS, FULL) for step in steps]
        rest = [Case(self.name, LIMIT, size) for size in SIZES] + [Case(self.name, TWICE, 2)]
        if draw is None:
            return each + rest
        kills = [case for case in each if case.way == "SIGKILL" and self.name in ("convert", "replace")]
        return [draw.choice(draw.choice((each, rest))), *kills]


def different(found: dict[str, bytes], expected: dict[str, bytes]) -> list[str]:
    said = [f"{name} is left" for name in sorted(found.keys() - expected.keys())]
    said += [f"{name} is missing" for name in sorted(expected.keys() - found.keys())]
    return said + [f"{name} has changed" for name in found if name in expected and found[name] != expected[name]]


def main() -> None:
    """Run cases of some writers, and print how many there were and what was wrong."""
    samples, place, whole, *names = sys.argv[1:]
    import_module("softbleu.embeddings.measure").PAIRS = 100
    import_module("softbleu.engine.checkpoint").EVERY = 1
    count, faults = 0, []
    for name in names:
        writer = Writer(name, Path(samples), Path(place))
        for case in writer.cases(None if whole == "whole" else random.Random(name)):
            count += 1
            faults += [f"{case}: {fault}" for fault in writer.faults(case)]
    sys.stdout.write(json.dumps({"cases": count, "faults": faults}) + "\n")
