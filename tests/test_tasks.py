"""Tasks of a new user, each from its section of the page alone, by at most three commands as they stand there."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cli.conftest import command
from test_readme import ROOT, START, blocks, in_shell, pattern_of, printed

__all__ = ["command"]

# Each task of the page, and what its last command prints.
TASKS = {
    "Score systems": "C       ",
    "Use a soft metric": "kids    ~  0.65  children",
    "Choose a threshold": "0.9",
    "Use your own word vectors": "vectors:my-vectors#",
    "Use your own BERT": "vectors:my-encoder#",
    "Compare two systems": "95%",
    "Measure agreement with human judgements": "softbleu",
    "Score corrections": "refless",
    "Generate an artificial corpus": "VLEU",
    "Add a metric": "WER",
    "Make a page": "",
}


def files_of(folder: Path) -> None:
    """Make the files that the page begins with, and those that it says a reader has: a model, judgements, a clone."""
    lines = [line for block in blocks("console", START) for line in block.splitlines() if line.startswith("$ printf")]
    in_shell("\n".join(line[2:] for line in lines), folder=folder)
    shutil.copytree(ROOT / "tests" / "golden" / "encoders" / "bert", folder / "my-bert")
    shutil.copytree(ROOT / "docs" / "tutorial_metric", folder / "docs" / "tutorial_metric")
    texts = ("the cat sat", "a cat sat", "dogs bark", "the dog barked", "it rains", "rain")
    judged = [f"cs-en\tx\t{text}\tthe cat sat down\t{5 - number}\n" for number, text in enumerate(texts)]
    (folder / "testset_cs-en.tsv").write_text("".join(["LP\tsource\ttranslation\treference\tHUMAN_score\n", *judged]))


def tasks() -> dict[str, list[tuple[str, str]]]:
    """Commands of each section but those that make files, and what they are said to print."""
    found = {}
    for section in re.split(r"^## ", START.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        shown = "".join(re.findall(r"^```console\n(.*?)^```", section, re.MULTILINE | re.DOTALL))
        parts = [part.partition("\n") for part in re.split(r"^\$ ", shown, flags=re.MULTILINE)[1:]]
        found[section.partition("\n")[0]] = [(line, said) for line, _, said in parts if "printf" not in line]
    return {task: commands for task, commands in found.items() if commands}


def test_all_tasks_are_tried() -> None:
    assert tasks().keys() == TASKS.keys()
    assert max(map(len, tasks().values())) <= 3


@pytest.mark.parametrize(
    "task", [pytest.param(task, marks=[pytest.mark.slow] * (task == "Add a metric")) for task in TASKS]
)
def test_a_task_is_done_from_its_page(command: Any, task: str, tmp_path: Path, monkeypatch: Any) -> None:
    files_of(tmp_path)
    monkeypatch.chdir(tmp_path)
    # What pip installs goes to a folder of the test, from what is here.
    path = os.pathsep.join(filter(None, [str(tmp_path / "installed"), os.environ.get("PYTHONPATH")]))
    pip = {"PIP_TARGET": str(tmp_path / "installed"), "PIP_NO_DEPS": "1", "PIP_NO_INDEX": "1", "PYTHONPATH": path}
    found = ""
    for line, expected in tasks()[task]:
        if task == "Add a metric":
            program = [sys.executable, "-m", *line.replace("install", "install --no-build-isolation").split()]
            environment = {**os.environ, **pip}
            done = subprocess.run(program, capture_output=True, text=True, check=False, env=environment)
            assert done.returncode == 0, done.stderr
            found = done.stdout
        else:
            found = printed(line, command)
        assert not expected or re.fullmatch(pattern_of(expected), found, re.DOTALL), f"{line} printed\n{found}"
    assert TASKS[task] in found
    assert task != "Make a page" or "<title>" in (tmp_path / "page.html").read_text(encoding="utf-8")
