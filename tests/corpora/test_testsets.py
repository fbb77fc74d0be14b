"""Published test sets by name, beside `sacrebleu -t`: on made-up ones, from a server of this machine."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cli.conftest import command
from cli.test_urls import Silent, served
from made_up_sets import make_set
from refusing import refused

from softbleu.corpora.testsets import install_set, set_texts
from softbleu.errors import InputError, UnknownNameError

__all__ = ["command"]

SETS = {
    "wmt24": {"en-zh": {"src": ["The cat sat here.", "It rains."], "refA": ["猫坐在这里。", "下雨了。"]}},
    "wmt21/AB": {
        "cs-en": {
            "src": ["Kočka.", "Prší."],
            "A": ["the cat sat on it .", "it rains"],
            "B": ["a cat  sat", "rain falls ."],
        }
    },
}
OUTPUTS = {"wmt24/en-zh": ["猫坐在那里。", "下雨了"], "wmt21/AB/cs-en": ["the cat sat on a mat .", "it rains today"]}


def scores_of_sacrebleu(name: str, file: str, folder: Path) -> list[float]:
    """Scores by the program sacrebleu, which finds the set in its folder."""
    known, _, pair = name.rpartition("/")
    line = [sys.executable, "-m", "sacrebleu", "-t", known, "-l", pair, "-i", file, "-m", "bleu", "chrf", "-w", "10"]
    done = subprocess.run(line, capture_output=True, check=True, env={**os.environ, "SACREBLEU": str(folder)})
    return [one["score"] for one in json.loads(done.stdout)]


@pytest.mark.parametrize("name", OUTPUTS)
def test_a_set_means_what_sacrebleu_means_by_it(
    name: str, command: Any, written: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known, _, pair = name.rpartition("/")
    output = written(OUTPUTS[name], "output.txt")
    asked = ("score", "-c", output, "-r", name, "-m", "bleu", "chrf", "-f", "json", "--quiet")
    with served(Silent, tmp_path) as place:
        make_set(monkeypatch, tmp_path, known, SETS[known], place)
        before = command(*asked)
        assert (before.code, before.out, before.err.count("\n")) == (2, "", 1)
        assert f"run softbleu corpora install {name}" in before.err
        installed = command("corpora", "install", known)
        assert (installed.code, installed.err) == (0, "")
        assert name in installed.out
    # The server is gone: what is installed is not fetched again.
    scores = [one["score"] for one in json.loads(command(*asked).out)["systems"]]
    assert scores == pytest.approx(scores_of_sacrebleu(name, output, tmp_path / "sacrebleu"), abs=1e-9)
    assert Path(set_texts(name, "source")[0][0]).read_text(encoding="utf-8").splitlines() == SETS[known][pair]["src"]
    assert command("score", "-c", output, "-r", name, "-s", name, "-m", "chrf", "-b").code == 0
    # A file of this name comes first.
    monkeypatch.chdir(tmp_path)
    Path(known).mkdir(parents=True)
    shutil.copy(output, name)
    assert json.loads(command(*asked).out)["systems"][1]["score"] == pytest.approx(100)


def test_a_set_that_cannot_be_fetched_may_be_brought(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = make_set(monkeypatch, tmp_path, "wmt24", SETS["wmt24"], (tmp_path / "absent").as_uri())
    place = tmp_path / "sacrebleu" / "wmt24" / "raw" / f"wmt24.{packed.name}"
    refused(InputError, f"; try again, or save the file as {place}, and run", install_set, "wmt24/en-zh")
    place.write_bytes(b"another file")
    refused(InputError, "remove it, and run the command again", install_set, "wmt24/en-zh")
    refused(InputError, "is not installed", set_texts, "wmt24/en-zh")
    shutil.copy(packed, place)
    assert install_set("wmt24/en-zh") == ["wmt24/en-zh"]
    assert len(set_texts("wmt24/en-zh")[0]) == 1


def test_names_of_no_set_and_no_pair_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_set(monkeypatch, tmp_path, "wmt24", SETS["wmt24"], "")
    refused(UnknownNameError, "unknown test set 'wmt99'", install_set, "wmt99")
    refused(UnknownNameError, "unknown pair of wmt24 'en-xx'", set_texts, "wmt24/en-xx")
    refused(InputError, "name a pair of languages, as in wmt24/en-zh", set_texts, "wmt24")
