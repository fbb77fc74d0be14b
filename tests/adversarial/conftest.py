import os
import secrets
from pathlib import Path
from typing import Any

import pytest
from adversarial.samples import make
from cli.conftest import command, program

__all__ = ["command", "program"]

FIXED = 2
TIMES = int(os.environ.get("SOFTBLEU_CAMPAIGN", 0))
"""How often each case is tried with seeds never used before; by default fixed ones are."""
SEEDS = [secrets.randbits(32) for _ in range(TIMES)] or range(FIXED)


@pytest.fixture(scope="session")
def samples(build_once: Any) -> Path:
    return Path(build_once("samples", make))
