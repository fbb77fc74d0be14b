"""Ten tasks of a new user, each from its page alone, by at most three commands as they stand there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cli.conftest import command
from test_readme import ROOT, blocks, pattern_of, printed

__all__ = ["command"]

SCORE = "softbleu score -c A.txt B.txt C.txt -r reference.txt"
PLUG_IN = ("pip install ./docs/tutorial_metric", "softbleu score -m wer -c A.txt -r reference.txt")
# Task, page, its commands, and what the output has.
TASKS = [
    ("score three systems", "start", [f"{SCORE} -m bleu chrf ter"], "C       "),
    (
        "use a soft metric",
        "start",
        [
            f"{SCORE} -m vleu softbleu bertscore --quiet",
            "softbleu explain -c A.txt -r reference.txt -m vleu --threshold 0.5 -n 1 --segment 2",
        ],
        "kids    ~  0.65  children",
    ),
    (
        "choose a threshold",
        "start",
        ["softbleu sweep -c A.txt B.txt C.txt -r reference.txt --matcher vleu --thresholds 0.5:0.9:0.1"],
        "0.9",
    ),
    (
        "own word2vec",
        "start",
        [
            "softbleu embeddings convert vectors.txt my-vectors",
            f"{SCORE} -m vleu --vectors my-vectors --threshold 0.5",
        ],
        "vectors:my-vectors#",
    ),
    (
        "own BERT",
        "start",
        [
            "softbleu embeddings convert my-bert/ my-encoder",
            "softbleu score -c A.txt -r reference.txt -m bertscore --vectors my-encoder",
        ],
        "vectors:my-encoder#",
    ),
    (
        "agreement on WMT17",
        "start",
        [
            "softbleu metaeval --da testset_cs-en.tsv --unescape --table outputs "
            "--metric 'bleu(tokenize=none)' chrf 'softbleu(tokenize=none)'"
        ],
        "softbleu",
    ),
    (
        "score corrections",
        "start",
        [
            "softbleu score -m gleu green -s source.txt -c corrected.txt -r gold.txt",
            "softbleu score -m refless -s source.txt -c corrected.txt",
        ],
        "refless",
    ),
    (
        "correct by gold edits",
        "gec",
        ["softbleu score --metric m2 --gold gold.m2 -c system.txt --quiet | head -7"],
        "M2",
    ),
    (
        "score pairs of a grammar",
        "start",
        [
            "softbleu corpora generate --grammar alternations --pairing paraphrase --count 3 --seed 7 "
            "--noise drop=0.1 -o pairs.jsonl",
            "softbleu score --pairs pairs.jsonl -m bleu vleu --quiet",
        ],
        "VLEU",
    ),
    ("compare systems", "start", ["softbleu compare -c A.txt B.txt -r reference.txt -m bleu chrf"], "95%"),
    pytest.param("a metric as a plug-in", "start", [*PLUG_IN], "WER", marks=pytest.mark.slow),
    ("make a page", "start", [f"{SCORE} -m vleu --format html --output page.html"], ""),
]


def files_of(page: Path, folder: Path) -> None:
    """Make the files that a page begins with, and those that it says a reader has: a model, judgements, a clone."""
    lines = [line for block in blocks("console", page) for line in block.splitlines() if line.startswith("$ printf")]
    subprocess.run("\n".join(line[2:] for line in lines), shell=True, cwd=folder, check=True)
    shutil.copytree(ROOT / "tests" / "golden" / "encoders" / "bert", folder / "my-bert")
    shutil.copytree(ROOT / "docs" / "tutorial_metric", folder / "docs" / "tutorial_metric")
    texts = ("the cat sat", "a cat sat", "dogs bark", "the dog barked", "it rains", "rain")
    judged = [f"cs-en\tx\t{text}\tthe cat sat down\t{5 - number}\n" for number, text in enumerate(texts)]
    (folder / "testset_cs-en.tsv").write_text("".join(["LP\tsource\ttranslation\treference\tHUMAN_score\n", *judged]))


def shown_on(page: Path) -> dict[str, str]:
    """Commands of console blocks, and what they are said to print."""
    parts = [part for block in blocks("console", page) for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    return {line: expected for line, _, expected in (part.partition("\n") for part in parts)}


@pytest.mark.parametrize(("task", "page", "commands", "has"), TASKS)
def test_a_task_is_done_from_its_page(
    command: Any, task: str, page: str, commands: list[str], has: str, tmp_path: Path, monkeypatch: Any
) -> None:
    assert len(commands) <= 3
    place = ROOT / "docs" / "guide" / f"{page}.md"
    files_of(place, tmp_path)
    monkeypatch.chdir(tmp_path)
    # What pip installs goes to a folder of the test, from what is here.
    path = os.pathsep.join(filter(None, [str(tmp_path / "installed"), os.environ.get("PYTHONPATH")]))
    pip = {"PIP_TARGET": str(tmp_path / "installed"), "PIP_NO_DEPS": "1", "PIP_NO_INDEX": "1", "PYTHONPATH": path}
    found = ""
    for line in commands:
        expected = shown_on(place)[line]
        if tuple(commands) == PLUG_IN:
            program = [sys.executable, "-m", *line.replace("install", "install --no-build-isolation").split()]
            environment = {**os.environ, **pip}
            done = subprocess.run(program, capture_output=True, text=True, check=False, env=environment)
            assert done.returncode == 0, done.stderr
            found = done.stdout
        else:
            found = printed(line, command)
        assert not expected or re.fullmatch(pattern_of(expected), found, re.DOTALL), f"{line} printed\n{found}"
    assert has in found
    assert task != "make a page" or "<title>" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_every_command_of_the_first_page_belongs_to_a_task() -> None:
    rows = [getattr(row, "values", row) for row in TASKS]
    tasks = {line for _, page, commands, _ in rows if page == "start" for line in commands}
    assert {line for line in shown_on(ROOT / "docs" / "guide" / "start.md") if "printf" not in line} == tasks
