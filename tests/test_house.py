"""The rules of the house: no circles of imports, one meaning a name, a budget of lines."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import softbleu
from softbleu.declare import Declared
from softbleu.metrics import METRICS, Metric

HOUSE = Path(softbleu.__file__).parent
MODULES = {
    ".".join(path.relative_to(HOUSE.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(HOUSE.rglob("*.py"))
}
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}

# What `softbleu.kernels.Kernels` asks of a backend.
BACKEND = {
    "NAME",
    "PAIRS_AT_ONCE",
    "clipped_counts",
    "coder",
    "matched_weights",
    "multiply_pairs",
    "raise_to_spellings",
    "sum_matches",
}
# A budget: the command line had 4,174 lines before each setting was declared once.
CLI_LINES = 3_600
# What must be known of a metric by whoever writes or reads one; it was twice as much before `aggregation`.
METRIC_MEMBERS = 14
# The page's own marks of edits and alignments, and the kinds of edits, which only M2 finds.
KNOWS_METRICS = {"softbleu.analysis.page_marks", "softbleu.analysis.corrections"}


def lines(folder: Path) -> int:
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in folder.rglob("*.py"))


def statements(node: ast.AST) -> Iterator[ast.stmt]:
    """Every statement that can run, also those in functions; blocks for the type checker are left out."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        if isinstance(child, ast.stmt):
            yield child
        yield from statements(child)


def imported(name: str) -> set[str]:
    """Modules of the house that a module imports, anywhere in it."""
    found = set()
    for statement in statements(TREES[name]):
        if isinstance(statement, ast.Import):
            found |= {alias.name for alias in statement.names}
        elif isinstance(statement, ast.ImportFrom):
            assert statement.level == 0, f"{name}: a relative import"
            for alias in statement.names:
                deeper = f"{statement.module}.{alias.name}"
                found.add(deeper if deeper in MODULES else str(statement.module))
    return found & MODULES.keys() - {name}


def test_no_two_modules_import_each_other() -> None:
    try:
        TopologicalSorter({name: imported(name) for name in MODULES}).prepare()
    except CycleError as error:
        raise AssertionError(" -> ".join(error.args[1])) from None


def defined(name: str) -> Iterator[str]:
    """Public names that a module defines itself: classes, functions, constants and aliases.

    Left out is what stands for the same thing under its name: a command, which calls the function of the package; an
    option, which sets the field; the functions of a backend, which those of `Kernels` describe.
    """
    in_cli = name.startswith("softbleu.cli")
    same = set(softbleu.__all__) if in_cli else BACKEND if name.endswith(("_backend", "_soft")) else set()
    for statement in TREES[name].body:
        match statement:
            case ast.ClassDef(name=found) | ast.FunctionDef(name=found) if found not in same:
                yield found
            case ast.Assign(targets=[ast.Name(id=found)], value=value):
                yield f"{found} (option)" if in_cli and ast.unparse(value).startswith("Annotated[") else found
            case ast.AnnAssign(target=ast.Name(id=found)) if found not in same:
                yield found


def test_no_name_means_two_things() -> None:
    places = defaultdict(set)
    for module in MODULES:
        for name in defined(module):
            if not name.startswith("_"):
                places[name].add(module)
    assert {name: sorted(found) for name, found in places.items() if len(found) > 1} == {}


def test_the_command_line_stays_small() -> None:
    assert lines(HOUSE / "cli") <= CLI_LINES


def test_the_contract_of_a_metric_stays_small() -> None:
    """Counted are public names that `Metric` defines or annotates itself, and not those that it has of `Declared`."""
    own = {*vars(Metric), *Metric.__annotations__} - {*dir(Declared)}
    assert len({name for name in own if not name.startswith("_")}) <= METRIC_MEMBERS


def kinds_asked_for(name: str) -> set[str]:
    """Names of the classes that a module asks for by `isinstance`, `issubclass` or ``type(…) is``."""
    asked: list[ast.expr] = []
    for node in ast.walk(TREES[name]):
        match node:
            case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, kinds]):
                asked.append(kinds)
            case ast.Compare(left=ast.Call(func=ast.Name(id="type")), comparators=kinds):
                asked += kinds
    return {each.id for kinds in asked for each in ast.walk(kinds) if isinstance(each, ast.Name)}


def test_nothing_above_asks_which_metric_it_is() -> None:
    metrics = {kind.__name__ for kind in METRICS.classes()}
    assert kinds_asked_for("softbleu.analysis.corrections") & metrics == {"M2"}
    above = [name for name in MODULES if not name.startswith("softbleu.metrics") and name not in KNOWS_METRICS]
    assert {name: found for name in above if (found := kinds_asked_for(name) & metrics)} == {}
