"""Metrics that threads and processes share give the same digits at every call."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="forked processes")
def test_some_seconds() -> None:
    program = Path(__file__).with_name("soak.py")
    done = subprocess.run([sys.executable, program, "0.08"], capture_output=True, text=True, check=False)
    assert (done.stderr, done.stdout.count(" calls, "), done.stdout.splitlines()[-1]) == ("", 12, "0 wrong")
