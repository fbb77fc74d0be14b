"""Every reader on damaged files: a result, or one line, and nothing else.

``SOFTBLEU_CAMPAIGN`` is the number of times that each is tried with seeds never used before (``just damage``).
"""

import random
import signal
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from adversarial.conftest import SEEDS
from adversarial.damage import damaged
from adversarial.samples import READERS, Reader, copy, mishandled
from cli.conftest import contents

from softbleu.encoders.kept import _OPEN

SECONDS = 60


@pytest.fixture
def place(samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the samples, to work in; what hangs is ended."""
    copy(samples, tmp_path)
    monkeypatch.chdir(tmp_path)

    def stop(*_: object) -> None:
        pytest.fail(f"not done after {SECONDS} seconds of CPU time")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    yield tmp_path
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGVTALRM, before)


def made(before: dict[str, bytes], folder: Path) -> list[str]:
    """What is there now and was not; what was there has not changed."""
    after = contents(folder)
    assert {name: after.get(name) for name in before} == before
    return [name for name in after if name not in before]


@pytest.mark.parametrize("reader", READERS, ids=str)
def test_samples_are_valid(command: Any, place: Path, reader: Reader) -> None:
    before = contents(place)
    done = command(*reader.arguments)
    assert done.code == 0, done.err
    found = made(before, place)
    assert "-o" not in reader.arguments or any(name.startswith(reader.arguments[-1]) for name in found)


@pytest.mark.parametrize("reader", READERS, ids=str)
def test_damaged(command: Any, place: Path, samples: Path, reader: Reader) -> None:
    for seed in SEEDS:
        copy(samples, place)
        target = next(place.glob(reader.damaged))
        target.write_bytes(damaged(target.read_bytes(), random.Random(f"{seed} {reader}")))
        before = contents(place)
        # Encoders are known by their places.
        _OPEN.clear()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            done = command(*reader.arguments, "-q")
        said = f"seed {seed}: {done}"
        assert mishandled(done) is None, said
        left = made(before, place)
        assert done.code == 0 or left == [], said
        for name in left:
            path = place / name
            path.unlink()
