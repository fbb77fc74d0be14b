"""The rules of the house: no circles of imports, one meaning a name, no private names of other packages."""

import ast
import doctest
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest
from tables import read_rows

import softbleu
from softbleu.cli.commands import COMMANDS, find_command
from softbleu.cli.help import declared_options
from softbleu.cli.settings import by_spelling
from softbleu.errors import Parameter
from softbleu.metrics import METRICS

HOUSE = Path(softbleu.__file__).parent
TESTS = Path(__file__).resolve().parent
MODULES = {
    ".".join(path.relative_to(HOUSE.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(HOUSE.rglob("*.py"))
}
# One worker reads them.
pytestmark = pytest.mark.xdist_group("house")

for name in MODULES:
    if name.startswith("softbleu.cli."):
        import_module(name)

# What `softbleu.kernels.Kernels` asks of a backend.
BACKEND = {"NAME", "PAIRS_AT_ONCE", "clipped_counts", "coder", "matched_weights", "multiply_pairs"}
BACKEND |= {"raise_to_spellings", "sum_matches", "sweep_greedily"}
# What is public by its name only, as typer's own converters are.
NOT_MEANT_FOR_OTHERS = {"get_runtime_param", "type_descriptor", "process_value"}
# What may use private names of other packages, or change what these hold; the list is there to become shorter.
MAY_USE_PRIVATE_NAMES = {"softbleu.io.platform"}
# What is documented all the same.
DOCUMENTED = {"_exit", "_replace", "_typeshed", "_sys.unraisablehook is set"}


@cache
def tree_of(name: str) -> ast.Module:
    return ast.parse(MODULES[name].read_text(encoding="utf-8"))


@cache
def nodes_of(name: str) -> list[ast.AST]:
    return list(ast.walk(tree_of(name)))


def imported(name: str) -> set[str]:
    """Modules of the house that a module imports or names, anywhere in it, also for the type checker only."""
    found = set()
    for statement in nodes_of(name):
        match statement:
            case ast.Import(names=names):
                found |= {alias.name for alias in names}
            case ast.ImportFrom(module=module, names=names, level=level):
                assert level == 0, f"{name}: a relative import"
                deeper = [f"{module}.{alias.name}" for alias in names]
                found |= {each if each in MODULES else f"{module}" for each in deeper}
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
    backend = name.endswith(("_backend", "_soft"))
    same = set(softbleu.__all__) if in_cli else BACKEND if backend else set()
    for statement in tree_of(name).body:
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
    twice = {name: sorted(found) for name, found in places.items() if len(found) > 1}
    assert not twice, "two modules define a public name: rename one, import it from the other, or begin it with _"


def own_names() -> Iterator[str]:
    """Every name that the house defines or sets anywhere."""
    for node in (node for name in MODULES for node in nodes_of(name)):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name


def foreign(nodes: list[ast.AST]) -> set[str]:
    """Names under which a module has what it imports from elsewhere."""
    imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    outside = [each for each in imports if not (isinstance(each, ast.ImportFrom) and "softbleu" in f"{each.module}")]
    return {(alias.asname or alias.name).partition(".")[0] for each in outside for alias in each.names}


def private_names(nodes: list[ast.AST], own: set[str]) -> set[str]:
    """Private names of other packages that a module uses, and what it sets in these."""
    found, others = set(), foreign(nodes)
    for node in nodes:
        match node:
            case ast.ImportFrom(module=str(module), names=names) if not module.startswith("softbleu"):
                found |= {*module.split("."), *(alias.name for alias in names)}
            case ast.Import(names=names):
                found |= {part for alias in names for part in alias.name.split(".")}
            case ast.Attribute(value=ast.Name(id=owner), attr=name, ctx=ast.Store()) if owner in others:
                found.add(f"_{owner}.{name} is set")
            case ast.Attribute(attr=name) if name not in own:
                found.add(name)
            case ast.Call(func=ast.Name(id="getattr" | "setattr" | "hasattr"), args=[_, ast.Constant(str(name)), *_]):
                found |= {name} - own
            case ast.Constant(value=str(name)) if name.startswith(("_TYPER", "_CLICK", "_NUMBA")):
                found.add(name)
    private = {name for name in found if name.startswith("_") and not name.startswith("__")}
    return (private | found & NOT_MEANT_FOR_OTHERS) - DOCUMENTED


def test_private_names_of_other_packages_are_not_used() -> None:
    own = {*own_names()}
    using = {module: names for module in MODULES if (names := private_names(nodes_of(module), own))}
    assert using.keys() == MAY_USE_PRIVATE_NAMES
    assert not any("click" in foreign(nodes_of(name)) for name in MODULES)


def kinds_asked_for(name: str) -> set[str]:
    """Names of the classes that a module asks for by `isinstance`, `issubclass` or ``type(…) is``."""
    asked: list[ast.expr] = []
    for node in nodes_of(name):
        match node:
            case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, kinds]):
                asked.append(kinds)
            case ast.Compare(left=ast.Call(func=ast.Name(id="type")), comparators=kinds):
                asked += kinds
    return {each.id for kinds in asked for each in ast.walk(kinds) if isinstance(each, ast.Name)}


def test_nothing_above_asks_which_metric_it_is() -> None:
    metrics = {kind.__name__ for kind in METRICS.classes()}
    assert "ShowsSimilarities" in kinds_asked_for("softbleu.report.pages")
    above = [name for name in MODULES if not name.startswith("softbleu.metrics")]
    assert {name: found for name in above if (found := kinds_asked_for(name) & metrics)} == {}


def called(name: str) -> set[str]:
    """Names of what a module calls."""
    calls = [node.func for node in nodes_of(name) if isinstance(node, ast.Call)]
    return {getattr(each, "attr", getattr(each, "id", "")) for each in calls}


def test_one_class_scores_chunks_and_one_function_resolves_metrics() -> None:
    """Corpora, lists of texts and sentences have rows by `checked_rows`, or of all pairs at once by the worker."""
    above = [name for name in MODULES if not name.startswith("softbleu.metrics")]
    ways = {"statistics", "statistics_of", "pair_statistics"}
    assert not [name for name in above if called(name) & ways]
    assert {name for name in above if "resolve_metric" in called(name)} == {"softbleu.engine.plan"}


def texts_of(node: ast.AST) -> Iterator[str]:
    """Texts of a module but for docstrings, spellings of options, and what other programs are called with."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.Expr(value=ast.Constant()) | ast.keyword(arg="flags"):
                continue
            case ast.Constant(value=str(text)) if not text.startswith("pip install "):
                yield text
            case _:
                yield from texts_of(child)


def test_messages_name_no_options() -> None:
    """Errors have a `Parameter` where they name one, which only the command line spells as an option."""
    below = [name for name in MODULES if not name.startswith("softbleu.cli")]
    written = {name: [text for text in texts_of(tree_of(name)) if re.search("(?<!-)--[a-z]", text)] for name in below}
    assert {name: texts for name, texts in written.items() if texts} == {}
    calls = [node for name in below for node in nodes_of(name) if isinstance(node, ast.Call)]
    named = {ast.unparse(each.args[0]).strip("'") for each in calls if ast.unparse(each.func) == "Parameter"}
    kinds = [find_command(name).options for name in COMMANDS]
    spelt = {flag for kind in kinds for flag in by_spelling(declared_options(kind))}
    spelt |= {flag for kind in kinds for one in kind.help_options(None) for flag in by_spelling([one.shown])}
    names = {name for name in named if name.isidentifier() and name != "option"}
    options = {name: {kind.spell(Parameter(name)) for kind in kinds} for name in names}
    assert len(options) > 30
    assert {name: spellings for name, spellings in options.items() if not spellings & spelt} == {}


@pytest.mark.parametrize("name", sorted(MODULES.keys() - {"softbleu.__main__"}))
def test_every_example_in_a_docstring_prints_what_it_says(name: str) -> None:
    for package in ("numba", "torch"):
        if name.rpartition(".")[2].startswith(package):
            pytest.importorskip(package, reason=f"{package} is not installed")
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    results = doctest.testmod(import_module(name), optionflags=flags, raise_on_error=False)
    assert results.failed == 0, f"{results.failed} of {results.attempted} examples of {name} fail"


def test_there_are_examples() -> None:
    finder = doctest.DocTestFinder(exclude_empty=True)
    others = re.compile("numba|torch_|__main__")
    modules = [import_module(name) for name in MODULES if not others.search(name)]
    assert sum(len(test.examples) for module in modules for test in finder.find(module)) > 50


def test_each_sentence_of_promises_has_a_test() -> None:
    text = (TESTS.parent / "SECURITY.md").read_text(encoding="utf-8")
    bullets = text.partition("## What is promised")[2].partition("\n## ")[0].split("\n- ")[1:]
    # Without what a sentence is about, in bold.
    sentences = [" ".join(re.sub(r"\*\*.*?\*\* ", "", bullet).split()) for bullet in bullets]
    places = {row["sentence"]: row["test"] for row in read_rows("promises.toml")}
    for sentence in sentences:
        assert len([start for start in places if sentence.startswith(start)]) == 1, sentence
    assert len(sentences) == len(places)
    for file, _, name in (place.partition("::") for place in places.values()):
        written = (TESTS / file).read_text(encoding="utf-8")
        assert re.search(rf"^def {name}\(", written, re.MULTILINE), f"{file}::{name}"


def test_names_of_tests_say_the_behaviour() -> None:
    """Names have three words or more, such as `test_resume_continues_after_kill`."""
    names = []
    for path in sorted(TESTS.rglob("test_*.py")):
        functions = re.findall(r"^ *def (test_\w*)", path.read_text(encoding="utf-8"), re.MULTILINE)
        names += [f"{path.relative_to(TESTS)}::{name}" for name in functions]
    vague = re.compile(r"::test_(what_|those_|told_|\w*_(told|such|so)$)|::test(_[^_]+){1,2}$")
    assert [name for name in names if vague.search(name)] == []
