"""Programs of users: they run, and a strict type checker accepts what the guide documents."""

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


@pytest.mark.slow
def test_a_misspelt_setting_is_one_error(tmp_path: Path) -> None:
    program = tmp_path / "wrong.py"
    program.write_text("import softbleu\n\nsoftbleu.Vleu(treshold=0.7)\n")
    done = check("mypy", program)
    found = [line for line in done.stdout.splitlines() if "wrong.py" in line]
    assert len(found) == 1, done.stdout
    assert 'wrong.py:3: error: Unexpected keyword argument "treshold"' in found[0]
