"""Programs of users: they run, and a strict type checker accepts what the guide documents."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = sorted(Path(__file__).with_name("typed").glob("*.py"))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_of_a_user_runs(path: Path) -> None:
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


CHECKERS = {
    "mypy": ["mypy", "--strict", "--no-incremental"],
    "basedpyright": ["basedpyright", "--pythonpath", sys.executable, "--level", "error"],
}


def check(checker: str, *programs: Path) -> subprocess.CompletedProcess[str]:
    pytest.importorskip(checker)
    command = [sys.executable, "-m", *CHECKERS[checker], *map(str, programs)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


@pytest.mark.slow
@pytest.mark.parametrize("checker", CHECKERS)
def test_programs_of_users_are_typed_strictly(checker: str) -> None:
    done = check(checker, *PROGRAMS)
    assert done.returncode == 0, done.stdout


MISTAKES = {
    "softbleu.Vleu(treshold=0.7)": 'Unexpected keyword argument "treshold" for "Vleu"',
    'softbleu.Vleu(assignment="best")': 'Argument "assignment" to "Vleu" has incompatible type',
    'softbleu.score(["a"], ["b"], treshold=0.8)': 'Unexpected keyword argument "treshold" for overloaded function',
}


@pytest.mark.slow
def test_a_wrong_setting_is_an_error_in_its_line(tmp_path: Path) -> None:
    (program := tmp_path / "wrong.py").write_text("\n".join(["import softbleu", *MISTAKES]))
    errors = re.findall(r"wrong\.py:(\d+): error: (.*)", check("mypy", program).stdout)
    assert [number for number, _ in errors[:3]] == ["2", "3", "4"]
    assert {*errors[3:]} <= {each for each in errors if each[0] == "4"}, "a call of a metric has one error"
    assert all(said in error for said, (_, error) in zip(MISTAKES.values(), errors, strict=False))


@pytest.mark.slow
def test_basedpyright_names_a_wrong_setting_in_one_error(tmp_path: Path) -> None:
    wrong = [
        'softbleu.score(["a"], ["b"], treshold=0.8)',
        'softbleu.compare({"A": ["a"]}, ["b"], metrics="ter", bata=2)',
    ]
    (program := tmp_path / "wrong.py").write_text("\n".join(["import softbleu", *wrong]))
    errors = re.findall(r"wrong\.py:(\d+):\d+ - error: (.*)", check("basedpyright", program).stdout)
    assert [number for number, _ in errors] == ["2", "3"]
    assert all(f'parameter "{name}"' in said for name, (_, said) in zip(("treshold", "bata"), errors, strict=True))


@pytest.mark.slow
def test_an_option_that_a_command_lacks_is_an_error_in_its_line(tmp_path: Path) -> None:
    lines = ["from softbleu.cli.score import ScoreOptions", "def level(options: ScoreOptions) -> str | None:"]
    (program := tmp_path / "wrong.py").write_text("\n".join([*lines, "    return options.level or options.levle"]))
    errors = re.findall(r"wrong\.py:(\d+): error: (.*)", check("mypy", program).stdout)
    assert [number for number, _ in errors] == ["3"]
    assert '"ScoreOptions" has no attribute "levle"' in errors[0][1]
