"""Whatever ends a command that writes, at whatever step: nothing is lost, and the next run leaves nothing behind."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from adversarial.conftest import TIMES
from adversarial.steps import WRITERS

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="signals, limits and processes as POSIX has them"),
]

TESTS = Path(__file__).resolve().parents[1]
RUN = "from adversarial.steps import main; main()"
TOGETHER = 7


@pytest.mark.parametrize("first", range(0, len(WRITERS), TOGETHER))
def test_steps(samples: Path, tmp_path: Path, first: int) -> None:
    """A few cases of each writer; all of them with ``SOFTBLEU_CAMPAIGN``."""
    names = list(WRITERS)[first : first + TOGETHER]
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(samples), str(tmp_path), "whole" if TIMES else "few", *names],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])},
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["faults"] == []
    assert found["cases"] >= 3 * len(names)
