"""What the table of equivalents puts side by side prints what it says, there and here."""

import re
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from cli.conftest import command
from test_readme import ROOT, SCRIPTS, commands, in_shell, printed

import softbleu

__all__ = ["command"]

PAGE = ROOT / "docs" / "guide" / "coming-from.md"
Row = tuple[str, str, list[str]]


def rows() -> list[Row]:
    """Rows that say what both print."""
    found = re.findall(r"^\| `(.*?)`[^|]*\| `(.*?)` \| ([\d. ]+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return [(there, here, values.split()) for there, here, values in found]


def rounded(text: str) -> list[str]:
    """All numbers of a text as the table has them, also those that are shares of 1."""
    numbers = [float(number) for number in re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.]\d)", text)]
    return [f"{number * scale:.2f}" for number in numbers for scale in (1, 100)]


@pytest.fixture(autouse=True)
def _texts(command: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for line, _ in commands(PAGE):
        if line.startswith("printf "):
            printed(line, command)


def value(code: str) -> float:
    """A Python cell, over the texts of the page."""
    import sacrebleu
    from nltk.translate.bleu_score import corpus_bleu, sentence_bleu

    texts = {name: Path(file).read_text().splitlines() for name, file in (("C", "a.txt"), ("R", "ref.txt"))}
    known = {"softbleu": softbleu, "sacrebleu": sacrebleu, "corpus_bleu": corpus_bleu, "sentence_bleu": sentence_bleu}
    return float(eval(code, {**known, **texts}))


def test_there_are_rows_of_every_tool() -> None:
    heads = [there.split()[0] for there, _, _ in rows()]
    counts = {"sacrebleu": 13, "gleu": 3, "compare-mt": 2, "100": 3}
    assert {head: heads.count(head) for head in counts} == counts
    assert len(heads) == 23


@pytest.mark.parametrize(("there", "here", "expected"), rows(), ids=str)
def test_here_the_table_is_right(command: Any, there: str, here: str, expected: list[str]) -> None:
    if here.startswith("softbleu "):
        assert set(expected) <= set(rounded(printed(f"{here} --quiet", command)))
    else:
        assert [f"{value(code):.2f}" for code in (here, there)] == 2 * expected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("there", "expected"),
    [(there, expected) for there, here, expected in rows() if here.startswith("softbleu ")],
    ids=str,
)
def test_there_the_table_is_right(there: str, expected: list[str]) -> None:
    tool = there.split()[0]
    if not (SCRIPTS / tool).exists() and shutil.which(tool) is None:
        pytest.skip(f"needs {tool}")
    if tool == "compare-mt" and find_spec("six") is None:
        pytest.skip("compare-mt needs six")
    assert set(expected) <= set(rounded(in_shell(there)))
