"""The README and the guides do what they say: their commands print what they show, their Python runs."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from cli.conftest import command

import softbleu

__all__ = ["command"]

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
START = ROOT / "docs" / "guide" / "start.md"  # its tasks are run below
PAGES = (README, *(page for page in sorted((ROOT / "docs" / "guide").glob("*.md")) if page != START))
# No environment need be activated: the program is the one beside this interpreter.
SCRIPTS = Path(sys.executable).parent
ENVIRONMENT = {**os.environ, "PATH": f"{SCRIPTS}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "120"}


def blocks(language: str, page: Path = README) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def commands(page: Path) -> list[tuple[str, str]]:
    """Commands of a page's console blocks and what they are said to print."""
    parts = [part for block in blocks("console", page) for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    split = [part.partition("\n") for part in parts]
    # What installs or tests is the business of the gate; what comes after the installation is run here.
    plain = [(line.rpartition(".venv/bin/")[2], expected) for line, _, expected in split]
    return [(line, expected) for line, expected in plain if not line.startswith(("pytest", "pip "))]


def in_shell(line: str, stdin: bytes = b"", folder: Path | None = None, **more: str) -> str:
    done = subprocess.run(line, shell=True, input=stdin, capture_output=True, cwd=folder, env=ENVIRONMENT | more)
    assert done.returncode == 0, f"{line}: {done.stdout.decode()[-3000:]}{done.stderr.decode()}"
    return done.stdout.decode()


def printed(line: str, command: Any) -> str:
    """What a line of a shell prints: softbleu runs in this process, what is behind a pipe and all else in a shell."""
    if loop := re.fullmatch(r"for (\w+) in (.*); do (softbleu .*); done", line):
        name, values, inner = loop.groups()
        return "".join(printed(inner.replace(f"${name}", value), command) for value in values.split())
    if not line.startswith("softbleu "):
        return in_shell(line)
    scoring, _, rest = line.partition(" | ")
    done = command(*shlex.split(scoring)[1:], environment={"COLUMNS": "120"})
    assert done.code == 0, f"{scoring}: {done.err}"
    return in_shell(rest, done.out.encode()) if rest else done.out


def compare(line: str, expected: str, found: str) -> None:
    """See that a line has printed what is shown, if anything is; three dots stand for anything."""
    pattern = ".*".join(re.escape(part) for part in expected.split("..."))
    assert not expected or re.fullmatch(pattern, found, re.DOTALL), f"{line} printed\n{found}"


def test_there_is_something_to_run() -> None:
    assert len(commands(README)) >= 6
    assert len(blocks("python")) >= 1
    assert sum(bool(commands(page)) for page in PAGES) >= 15
    # What is no command of a console and no Python that runs is shown as text.
    text = "\n".join(page.read_text("utf-8") for page in (*PAGES, START))
    assert {*re.findall(r"^```(\w+)$", text, re.MULTILINE)} == {"console", "python", "text"}
    assert tasks().keys() == TASKS.keys()
    assert max(map(len, tasks().values())) <= 3
    tools = [there.split()[0] for there, _, _ in rows()]
    counts = {"sacrebleu": 13, "gleu": 3, "errant_compare": 6, "gecmetrics-eval": 1, "compare-mt": 2, "100": 3}
    assert {tool: tools.count(tool) for tool in counts} == counts
    assert len(tools) == 31


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_print_what_is_shown(command: Any, page: Path, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    for line, expected in commands(page):
        compare(line, expected, printed(line, command))


def test_rows_of_the_readme_run_on_its_sample(command: Any, tmp_path: Path, monkeypatch: Any) -> None:
    """Each row of its table runs as printed, in the folder where its blocks were run."""
    monkeypatch.chdir(tmp_path)
    table = README.read_text(encoding="utf-8").partition("| you have | type |")[2]
    typed = re.findall(r"^\| [^|]+ \| `(softbleu [^`]+)`", table, re.MULTILINE)
    assert len(typed) >= 8
    for line in ("softbleu corpora sample", *typed):
        assert printed(line, command) or line == "softbleu corpora sample"


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("code", [code for page in PAGES for code in blocks("python", page)])
def test_python_of_pages_runs_and_prints(code: str, tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "<page>", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out.strip()


# Tasks of a new user, each from its section of the page alone, by at most three commands as they stand there.
TASKS: dict[str, str] = tomllib.loads(Path(__file__).with_name("tasks.toml").read_text(encoding="utf-8"))


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
        there = f"{shlex.quote(sys.executable)} -m {line.replace('install', 'install --no-build-isolation')}"
        found = in_shell(there, **pip) if task == "Add a metric" else printed(line, command)
        compare(line, expected, found)
    assert TASKS[task] in found
    assert task != "Make a page" or "<title>" in (tmp_path / "page.html").read_text(encoding="utf-8")


# What the table of equivalents puts side by side prints what it says, there and here.
EQUIVALENTS = ROOT / "docs" / "guide" / "coming-from.md"


def rows() -> list[tuple[str, str, list[str]]]:
    """Rows that say what both print, but those of corpora (tests/real/test_recipes.py)."""
    text = EQUIVALENTS.read_text(encoding="utf-8")
    found = re.findall(r"^\| `(.*?)`[^|]*\| `(.*?)` \| ([\d. ]+) \|$", text, re.MULTILINE)
    return [(there, here, values.split()) for there, here, values in found if "conll14/" not in here]


def rounded(text: str) -> list[str]:
    """All numbers of a text as the table has them, also those that are shares of 1."""
    numbers = [float(number) for number in re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.]\d)", text)]
    return [f"{number * scale:.2f}" for number in numbers for scale in (1, 100)]


@pytest.fixture
def _texts(command: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for line, _ in commands(EQUIVALENTS):
        if line.startswith("printf "):
            printed(line, command)


def value(code: str) -> float:
    """A Python cell, over the texts of the page."""
    import sacrebleu
    from nltk.translate.bleu_score import corpus_bleu, sentence_bleu

    texts = {name: Path(file).read_text().splitlines() for name, file in (("C", "a.txt"), ("R", "ref.txt"))}
    known = {"softbleu": softbleu, "sacrebleu": sacrebleu, "corpus_bleu": corpus_bleu, "sentence_bleu": sentence_bleu}
    return float(eval(code, {**known, **texts}))


@pytest.mark.usefixtures("_texts")
@pytest.mark.parametrize(("there", "here", "expected"), rows(), ids=str)
def test_here_the_table_is_right(command: Any, there: str, here: str, expected: list[str]) -> None:
    if here.startswith("softbleu "):
        assert set(expected) <= set(rounded(printed(f"{here} --quiet", command)))
    else:
        assert [f"{value(code):.2f}" for code in (here, there)] == 2 * expected


@pytest.mark.slow
@pytest.mark.usefixtures("_texts")
@pytest.mark.parametrize(("there", "here", "expected"), [row for row in rows() if row[1].startswith("softbleu ")])
def test_there_the_table_is_right(there: str, here: str, expected: list[str]) -> None:
    tool = there.split()[0]
    if not (SCRIPTS / tool).exists() and shutil.which(tool) is None:
        pytest.skip(f"needs {tool}")
    if tool == "compare-mt" and find_spec("six") is None:
        pytest.skip("compare-mt needs six")
    assert set(expected) <= set(rounded(in_shell(there)))
