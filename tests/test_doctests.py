"""Every example in a docstring of the package runs and prints what it says."""

import doctest
import pkgutil
from importlib import import_module

import pytest

import softbleu

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
FOUND = {found.name for found in pkgutil.walk_packages(softbleu.__path__, "softbleu.")}
MODULES = sorted({"softbleu", *FOUND} - {"softbleu.__main__"})
NEEDS = {"softbleu.kernels.numba_backend": "numba"}


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason=f"{NEEDS[name]} is not installed")
    module = import_module(name)
    results = doctest.testmod(module, optionflags=FLAGS, raise_on_error=False)
    assert results.failed == 0, f"{results.failed} of {results.attempted} examples of {name} fail"


def test_there_are_examples() -> None:
    finder = doctest.DocTestFinder(exclude_empty=True)
    modules = [import_module(name) for name in MODULES if name not in NEEDS]
    examples = sum(len(test.examples) for module in modules for test in finder.find(module))
    assert examples > 50
