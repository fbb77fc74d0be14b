"""A thirtieth of the campaign, drawn by one seed (SOFTBLEU_SEED draws another); `just campaign` runs all of it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from adversarial import campaign

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
