"""A thirtieth of the campaign, drawn by one seed, and commands that write, ended at whatever step.

``SOFTBLEU_SEED`` draws another thirtieth; ``just campaign`` runs all of it.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from adversarial import campaign
from adversarial.conftest import TIMES
from adversarial.steps import WRITERS

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name != "posix", reason="forks")]


def test_thirtieth() -> None:
    given = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    seed = os.environ.get("SOFTBLEU_SEED") or "33"
    done = subprocess.run(
        [sys.executable, str(campaign.HERE / "campaign.py"), "--part", "30", "--seed", seed],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": given},
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("command", "expect", "fault"),
    [
        ("score -c c.txt -r nowhere", "result", "exit code 2"),
        ("score -c c.txt -r r.txt", "refused", "exit code 0"),
        ("score -c c.txt -r r.txt -o o.txt", "result", "o.txt left"),
        ("embeddings info fifo", "result", "exit code 2"),
    ],
)
def test_faults_are_found(samples: Path, command: str, expect: str, fault: str) -> None:
    case = campaign.Case("a class", (), expect, command, files={"fifo": "!fifo"}, fresh=True)
    assert fault in str(campaign.judge(case, campaign.run(case, samples)))


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
