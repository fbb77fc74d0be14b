"""A sixtieth of the campaign, drawn by one seed, and commands that write, ended at whatever step.

``SOFTBLEU_SEED`` draws another sixtieth; ``just campaign`` runs all of it.
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


def run_python(*arguments: object) -> str:
    """Run Python with the modules of the tests, to success."""
    own = os.pathsep.join([str(campaign.HERE.parent), os.environ.get("PYTHONPATH", "")])
    given = {**os.environ, "PYTHONPATH": own, "PYTHONDONTWRITEBYTECODE": "1"}
    called = [sys.executable, *map(str, arguments)]
    done = subprocess.run(called, capture_output=True, text=True, check=False, env=given)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_sixtieth_of_the_campaign_ends_as_expected() -> None:
    seed = os.environ.get("SOFTBLEU_SEED") or "33"
    run_python(campaign.HERE / "campaign.py", "--part", "60", "--seed", seed)


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


RUN = "from adversarial.steps import main; main()"
TOGETHER = 7


@pytest.mark.parametrize("first", range(0, len(WRITERS), TOGETHER))
def test_writers_ended_at_a_step_leave_whole_files(
    samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: int
) -> None:
    """A case of each writer; all of them with ``SOFTBLEU_CAMPAIGN``."""
    names = list(WRITERS)[first : first + TOGETHER]
    monkeypatch.chdir(tmp_path)
    said = run_python("-c", RUN, samples, tmp_path, "whole" if TIMES else "few", *names)
    found = json.loads(said.splitlines()[-1])
    assert found["faults"] == []
    assert found["cases"] >= len(names)
