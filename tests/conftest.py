"""Hypothesis profiles (``HYPOTHESIS_PROFILE=explore`` looks for new examples), and what is under test."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import softbleu

settings.register_profile(
    "ci",
    derandomize=True,
    deadline=None,
    print_blob=True,
    database=None,
    max_examples=30,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile("explore", settings.get_profile("ci"), derandomize=False, max_examples=500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_sessionstart(session: pytest.Session) -> None:
    """The gate tests what users install: with ``SOFTBLEU_TEST_INSTALLED=1`` a checkout on the path is an error."""
    folder = Path(softbleu.__file__).resolve().parent
    if os.environ.get("SOFTBLEU_TEST_INSTALLED") and folder.parent == Path(__file__).resolve().parents[1]:
        raise pytest.UsageError(f"the installed package was to be tested, not the checkout: {folder}")


@pytest.fixture(scope="session", autouse=True)
def _cache_of_the_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what tests cache out of the user's cache, and what that holds out of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOFTBLEU_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield
