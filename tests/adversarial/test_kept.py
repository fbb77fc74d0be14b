"""What is kept of earlier runs, damaged: it costs time only, and the output is that of a run without it."""

import random
import shutil
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from adversarial.conftest import SEEDS
from adversarial.damage import damaged
from adversarial.samples import copy

from softbleu.encoders.kept import _OPEN
from softbleu.engine import runner

CACHES = {
    "lines": "score -c c.txt -r r.txt -m bertscore --vectors enc -f json",
    "graphs": "score -c c.txt -r r.txt -m vleu -t 0.5 --vectors v.txt --neighbours 3 -f json",
    "meteor": "score -c c.txt -r r.txt -m meteor --meteor-data met -f json",
    "language": "score -c c.txt -s s.txt -m refless --language-model tiny.gguf --coefficients weights.json -f json",
    "remote": "score -c c.txt -r r.txt -m vleu -t 0.5 --vectors file:///{folder}/v.txt -f json",
}
JOURNALS = {
    "score": "score -c long.txt -r long.txt -m bleu chrf -f json --resume -o o.json",
    "sweep": "sweep -c c.txt d.txt -r r.txt --matcher vleu --vectors v.txt -t 0.5,0.7 -f json -o o.json",
}


@pytest.fixture
def place(samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the samples and a cache of its own."""
    copy(samples, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOFTBLEU_CACHE", str(tmp_path / "cache"))
    return tmp_path


def forget() -> None:
    """What a process remembers of files that it has opened."""
    _OPEN.clear()
    for name, module in list(sys.modules.items()):
        if name.startswith("softbleu."):
            for value in vars(module).values():
                getattr(value, "cache_clear", lambda: None)()


def files_of(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def run_quietly(command: Any, *arguments: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return command(*arguments, "-q")


@pytest.mark.parametrize("name", CACHES)
def test_caches(command: Any, place: Path, name: str) -> None:
    arguments = CACHES[name].format(folder=place).split()
    forget()
    whole = run_quietly(command, *arguments)
    assert whole.code == 0, whole.err
    kept = place / "kept"
    (place / "cache").rename(kept)
    assert any(name in str(path) for path in files_of(kept))
    for seed in SEEDS:
        draw = random.Random(f"{seed} {name}")
        shutil.rmtree(place / "cache", ignore_errors=True)
        shutil.copytree(kept, place / "cache")
        target = draw.choice(files_of(place / "cache"))
        target.write_bytes(damaged(target.read_bytes(), draw))
        forget()
        assert run_quietly(command, *arguments) == whole, f"seed {seed}: {target}"


@pytest.mark.parametrize("name", JOURNALS)
def test_journals(command: Any, place: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is damaged is computed anew."""
    arguments, output = JOURNALS[name].split(), place / "o.json"
    monkeypatch.setattr(runner, "EVERY", 1)
    with monkeypatch.context() as patch:
        patch.setattr("softbleu.engine.checkpoint.remove_checkpoint", lambda _: None)
        assert run_quietly(command, *arguments).code == 0
    journal = place / f".o.json.{name}"
    assert journal.exists()
    journal.rename(place / "kept")
    whole = output.read_bytes()
    for seed in SEEDS:
        draw = random.Random(f"{seed} {name}")
        output.unlink()
        shutil.copytree(place / "kept", journal)
        target = draw.choice(files_of(journal))
        target.write_bytes(damaged(target.read_bytes(), draw))
        done = run_quietly(command, *arguments)
        assert (done.code, done.err, output.read_bytes()) == (0, "", whole), f"seed {seed}"
        assert not journal.exists()
