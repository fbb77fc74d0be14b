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


@pytest.mark.slow
def test_programs_of_users_are_typed_strictly() -> None:
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", *map(str, PROGRAMS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_a_misspelt_setting_is_found_by_a_type_checker(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    program = tmp_path / "wrong.py"
    program.write_text("import softbleu\n\nsoftbleu.Vleu(treshold=0.7)\n")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert 'wrong.py:3: error: Unexpected keyword argument "treshold"' in done.stdout
