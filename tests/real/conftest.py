import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from real.rows import furnish
from shared_data import shared


@pytest.fixture(scope="session")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder to run the commands in."""
    shared("data")
    return furnish(tmp_path_factory.mktemp("workplace"))


@pytest.fixture(autouse=True)
def _there(workplace: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Run in that folder, with one cache for all of the session's processes."""
    base = tmp_path_factory.getbasetemp()
    common = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(workplace)
        patch.setenv("SOFTBLEU_CACHE", str(common / "cache-of-all"))
        yield
