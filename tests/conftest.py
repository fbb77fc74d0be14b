"""Hypothesis profiles (``HYPOTHESIS_PROFILE=explore`` looks for new examples), and what is under test."""

import functools
import importlib.metadata
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from hypothesis import HealthCheck, settings

# Tests run beside one another: threads of linear algebra and of FAISS that have nothing to do must not spin, or they
# take the cores from the others. Both libraries read this when loaded, here and in processes that tests start.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")

import softbleu
from softbleu.cli.parts import setting_options

_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
_CI = settings(derandomize=True, deadline=None, print_blob=True, database=None, suppress_health_check=_SLOW)
settings.register_profile("ci", _CI, max_examples=30)
settings.register_profile("explore", _CI, derandomize=False, max_examples=500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


_REAL = Path(__file__).with_name("real")
_PASSED = "softbleu/passed"
_installed = importlib.metadata.entry_points


def _built_in(**selected: Any) -> Any:
    """Leave out what other packages offer to softbleu: no test in this process depends on them."""
    found = _installed(**selected)
    if not str(selected.get("group", "")).startswith("softbleu."):
        return found
    return EntryPoints(entry for entry in found if entry.dist is not None and entry.dist.name == "softbleu")


importlib.metadata.entry_points = _built_in


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--all``: the second tier, too; ``--after``: without tests that have passed elsewhere."""
    parser.addoption("--all", action="store_true", help="run the second tier, too: tests marked slow, and tests/real")
    parser.addoption("--after", metavar="CHECKOUT", help="leave out tests that passed in the last run there")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave unread whole corpora without ``--all``, and files without slow tests all of which passed elsewhere."""
    if str(collection_path.relative_to(config.rootpath)) in _passed(config)["files"]:
        return True if "slow" not in collection_path.read_text(encoding="utf-8") else None
    return True if collection_path == _REAL and not config.getoption("--all") else None


def _passed(config: pytest.Config) -> dict[str, list[str]]:
    """Tests that passed in the last run of another checkout, and the files all of whose tests did that it ran."""
    checkout = config.getoption("--after")
    none: dict[str, list[str]] = {"tests": [], "files": []}
    return _read(Path(checkout, ".pytest_cache", "v", _PASSED)) if checkout else none


@functools.cache
def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.hookimpl(trylast=True)  # After that of xdist, which writes groups into the names of tests
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what was not asked for; pytest says how many tests were deselected."""
    passed = set(_passed(config)["tests"])
    chosen, left_out = [], []
    for item in items:
        if item.path.is_relative_to(_REAL):
            item.add_marker("slow")
        first_tier = item.get_closest_marker("slow") is None
        wanted = (first_tier or config.getoption("--all")) and item.nodeid not in passed
        (chosen if wanted else left_out).append(item)
    items[:] = chosen
    config.hook.pytest_deselected(items=left_out)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Keep in pytest's cache which tests passed, for ``--after``."""
    stats = terminalreporter.stats
    passed = [report.nodeid for report in stats.get("passed", ()) if report.when == "call"]
    others = [report.nodeid for kind in ("skipped", "failed", "error") for report in stats.get(kind, ())]
    of_passed, of_others = ({each.partition("::")[0] for each in tests} for tests in (passed, others))
    if getattr(config, "cache", None) is not None:
        config.cache.set(_PASSED, {"tests": sorted(passed), "files": sorted(of_passed - of_others)})


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
        patch.setenv("SOFTBLEU_STORES", str(tmp_path_factory.mktemp("stores")))
        yield


@pytest.fixture(scope="session")
def dead() -> int:
    """The number of a process that is no more."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


BuildOnce = Callable[[str, Callable[[Path], None]], Path]


@pytest.fixture(scope="session")
def build_once(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> BuildOnce:
    """Build a folder once a run, whichever worker asks first: ``build_once(name, build)`` gives the folder."""
    base = tmp_path_factory.getbasetemp()
    # Workers of xdist have folders side by side in that of the run; a run that a worker starts is none.
    shared = base.parent if hasattr(request.config, "workerinput") else base

    def built(name: str, build: Callable[[Path], None]) -> Path:
        folder, done = shared / f"once-{name}", shared / f"once-{name}.done"
        with FileLock(f"{folder}.lock"):
            if not done.exists():
                folder.mkdir()
                build(folder)
                done.touch()
        return folder

    return built


@pytest.fixture
def offer(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., dict[str, Any]]]:
    """Let a package offer metrics, matchers and tokenizers: classes, given by kind.

    It returns what is loaded by name, which a test may change; an exception is raised.
    """

    def call(**kinds: list[Any]) -> dict[str, Any]:
        loaded = {each.name: each for classes in kinds.values() for each in classes}

        def entries(group: str) -> dict[str, EntryPoint]:
            offered = kinds.get(group.removeprefix("softbleu."), [])
            return {each.name: EntryPoint(each.name, f"elsewhere:{each.name}", group) for each in offered}

        def load(entry: EntryPoint) -> Any:
            found = loaded[entry.name]
            if isinstance(found, BaseException):
                raise found
            return found

        monkeypatch.setattr("softbleu.config.declare.entry_points_of", entries)
        monkeypatch.setattr(EntryPoint, "load", load)
        setting_options.cache_clear()
        return loaded

    yield call
    setting_options.cache_clear()


@pytest.fixture(scope="module")
def few_lines_tested() -> Iterator[None]:
    """Test differences of however few lines, as tests of the numbers do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("softbleu.results.significance.LEAST_TESTABLE", 0)
        yield
