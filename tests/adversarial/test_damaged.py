"""Readers on damaged files: a result, or one line, and nothing else; and what is kept of earlier runs, damaged.

``SOFTBLEU_CAMPAIGN`` is the number of times that each is tried with seeds never used before (``just damage``).
"""

import random
import shutil
import signal
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from adversarial.conftest import SEEDS
from adversarial.damage import damaged
from adversarial.samples import copy, mishandled
from cli.conftest import contents
from tables import each_row

from softbleu.encoders.opened import _OPEN
from softbleu.engine import checkpoint

SECONDS = 60


@pytest.fixture
def place(samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the samples, to work in, and a cache of its own beside it; what hangs is ended."""
    copy(samples, tmp_path / "place")
    monkeypatch.chdir(tmp_path / "place")
    monkeypatch.setenv("SOFTBLEU_CACHE", str(tmp_path / "cache"))

    def stop(*_: object) -> None:
        pytest.fail(f"not done after {SECONDS} seconds of CPU time")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    yield tmp_path / "place"
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGVTALRM, before)


def run_quietly(command: Any, *arguments: str) -> Any:
    """Run a command in which a warning is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return command(*arguments, "-q")


def made(before: dict[str, bytes], folder: Path) -> list[str]:
    """What is there now and was not; what was there has not changed."""
    after = contents(folder)
    assert {name: after.get(name) for name in before} == before
    return [name for name in after if name not in before]


@each_row("adversarial/readers.toml", "file", "run")
def test_a_damaged_file_is_read_or_refused_in_one_line(
    command: Any, place: Path, samples: Path, file: str, run: str
) -> None:
    before, arguments = contents(place), run.split()
    done = command(*arguments)
    assert done.code == 0, done.err
    found = made(before, place)
    assert "-o" not in arguments or any(name.startswith(arguments[-1]) for name in found)
    target = next(place.glob(file))
    for seed in SEEDS:
        for name in found:
            (place / name).unlink()
        sample = samples / target.relative_to(place)
        target.write_bytes(damaged(sample.read_bytes(), random.Random(f"{seed} {file} {run}")))
        before = contents(place)
        # Encoders are known by their places.
        _OPEN.clear()
        done = run_quietly(command, *arguments)
        said = f"seed {seed}: {done}"
        assert mishandled(done) is None, said
        found = made(before, place)
        assert done.code == 0 or found == [], said


def forget() -> None:
    """What a process remembers of files that it has opened."""
    _OPEN.clear()
    for name, module in list(sys.modules.items()):
        if name.startswith("softbleu."):
            for value in vars(module).values():
                getattr(value, "cache_clear", lambda: None)()


def files_of(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


@each_row("adversarial/caches.toml", "name", "run")
def test_a_damaged_cache_changes_no_output(command: Any, place: Path, name: str, run: str) -> None:
    arguments, cache = run.format(folder=place).split(), place.parent / "cache"
    forget()
    whole = run_quietly(command, *arguments)
    assert whole.code == 0, whole.err
    kept = cache.rename(place.parent / "kept")
    assert any(name in str(path) for path in files_of(kept))
    for seed in SEEDS:
        draw = random.Random(f"{seed} {name}")
        shutil.rmtree(cache, ignore_errors=True)
        shutil.copytree(kept, cache)
        target = draw.choice(files_of(cache))
        target.write_bytes(damaged(target.read_bytes(), draw))
        forget()
        assert run_quietly(command, *arguments) == whole, f"seed {seed}: {target}"


@each_row("adversarial/journals.toml", "name", "run")
def test_damaged_parts_of_a_journal_are_computed_anew(
    command: Any, place: Path, name: str, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments, output, journal = run.split(), place / "o.json", place / f".o.json.{name}"
    monkeypatch.setattr(checkpoint, "EVERY", 1)
    with monkeypatch.context() as patch:
        patch.setattr("softbleu.engine.checkpoint.remove_checkpoint", lambda _: None)
        assert run_quietly(command, *arguments).code == 0
    kept = journal.rename(place / "kept")
    whole = output.read_bytes()
    for seed in SEEDS:
        draw = random.Random(f"{seed} {name}")
        output.unlink()
        shutil.copytree(kept, journal)
        target = draw.choice(files_of(journal))
        target.write_bytes(damaged(target.read_bytes(), draw))
        done = run_quietly(command, *arguments)
        assert (done.code, done.err, output.read_bytes()) == (0, "", whole), f"seed {seed}"
        assert not journal.exists()
