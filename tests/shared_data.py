"""The one place that knows where the shared data lies; tests that need it skip with a reason elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("SOFTBLEU_SHARED", Path(__file__).resolve().parents[2] / "shared"))


def shared(*parts: str) -> Path:
    """Path below the shared data, e.g. ``shared("data", "morgan2014", "reference.en")``.

    Without the shared data the test is skipped; where only this file is missing, it fails.
    """
    path = SHARED.joinpath(*parts)
    if not SHARED.is_dir():
        pytest.skip(f"needs the shared data, not found: {SHARED}")
    if not path.exists():
        pytest.fail(f"the shared data lacks {path}")
    return path
