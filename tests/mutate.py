"""Change one place of the code at a time, and see whether the first tier of the tests fails.

    python tests/mutate.py --places 200 --seed 1

Places are drawn from `FOLDERS`: comparisons, arithmetic, numbers, yes and no, `not`, `and`, `or`, returned values.
Each change is made in a copy of the tree. The tests that reach its line run, those of files named after the module
first. Which they are is noted by a run of the first tier (it needs pytest-cov; made here unless there is one):

    COVERAGE_FILE=build/contexts pytest --cov=softbleu --cov-context=test --cov-report=

Of what runs on import (constants, defaults) the tests of all functions of the module run; of lines that run in other
processes alone, every test. What survives is a line that no test looks at, or a change that changes nothing.
"""

import argparse
import ast
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import coverage

ROOT = Path(__file__).resolve().parents[1]
FIRST, SECONDS = 80, (120, 1200)  # Tests that run before the others; CPU-seconds of both
FOLDERS = ("softbleu/metrics", "softbleu/matching", "softbleu/engine")
LEFT_OUT = shutil.ignore_patterns(".git", "__pycache__", ".venv", "build", "dist", ".*_cache", ".hypothesis")
OPERATORS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "and": "or", "or": "and"}
OPERATORS |= {"is": "is not", "is not": "is", "in": "not in", "not in": "in", "&": "|", "|": "&", "**": "*"}
OPERATORS |= {"+": "-", "-": "+", "*": "/", "/": "*", "//": "/", "%": "//"}


class Mutant(NamedTuple):
    """One change of one file; places are in bytes, as `ast` has columns."""

    path: Path
    line: int
    start: int
    stop: int
    old: str
    new: str


def nodes(tree: ast.AST) -> Iterator[Any]:
    """Go through all but types, decorators, what only type checkers import, and `strict` of `zip`, a safeguard."""
    if isinstance(tree, ast.If) and ast.unparse(tree.test) == "TYPE_CHECKING":
        return
    if isinstance(tree, ast.keyword) and tree.arg == "strict":
        return
    yield tree
    for name, part in ast.iter_fields(tree):
        if name not in ("annotation", "returns", "decorator_list"):
            for each in part if isinstance(part, list) else [part]:
                if isinstance(each, ast.AST):
                    yield from nodes(each)


def mutants(path: Path) -> Iterator[Mutant]:
    """Find everything in a file that can be changed."""
    source = path.read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def replaced(node: Any, new: str) -> Mutant:
        start, stop = starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
        return Mutant(path, node.lineno, start, stop, source[start:stop].decode(), new)

    def between(left: Any, right: Any) -> Iterator[Mutant]:
        start, stop = starts[left.end_lineno - 1] + left.end_col_offset, starts[right.lineno - 1] + right.col_offset
        # Parentheses of the sides stand between them, too.
        found = re.search(rb"(is|not|[^\s()]+)( +(not|in)\b)?", source[start:stop])
        if found and (old := found[0].decode()) in OPERATORS:
            yield Mutant(path, left.end_lineno, start + found.start(), start + found.end(), old, OPERATORS[old])

    for node in nodes(ast.parse(source)):
        match node:
            case (
                ast.Compare(left=left, comparators=[right])
                | ast.BinOp(left=left, right=right)
                | ast.BoolOp(values=[left, right, *_])
            ):
                yield from between(left, right)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield replaced(node, f"({ast.get_source_segment(source.decode(), operand)})")
            case ast.Constant(value=int(value) | float(value)):
                yield replaced(node, str(not value if isinstance(value, bool) else value + 1))
            case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
                yield replaced(value, "None")


def tests_for(data: coverage.CoverageData, mutant: Mutant) -> list[list[str]]:
    """Tests that reach the line, some at a time; all tests if none is known to."""
    name = mutant.path.relative_to(ROOT)
    contexts = next(data.contexts_by_lineno(each) for each in data.measured_files() if each.endswith(f"/{name}"))
    bodies = [
        range(each.body[0].lineno, (each.end_lineno or 0) + 1)
        for each in ast.walk(ast.parse(mutant.path.read_bytes()))
        if isinstance(each, ast.FunctionDef)
    ]
    if any(mutant.line in body for body in bodies):
        # A statement of several lines may be noted by its first one.
        found = next((contexts[line] for line in range(mutant.line, 0, -1) if any(contexts.get(line, ()))), [])
    else:
        # Only the test that imports a module first is noted for what runs then; its functions may use it in any.
        found = [each for line, some in contexts.items() if any(line in body for body in bodies) for each in some]
    # Groups of tests (xdist) stand behind their names.
    tests = sorted({re.sub(r"@[^]]*$", "", each.rpartition("|")[0]) for each in found if each})
    named = [each for each in tests if re.search(rf"_{mutant.path.stem}[_.]|/{mutant.path.parent.name}/", each)]
    tests = named + [each for each in tests if each not in set(named)]
    return [tests[:FIRST], tests[FIRST:]] if tests else [["tests"]]


def run_tests(copy: Path, tests: list[str], seconds: int) -> str:
    """What the first test that fails is called; nothing if all pass."""
    shared = os.environ.get("SOFTBLEU_SHARED", str(ROOT.parent / "shared"))
    own = {"PYTHONDONTWRITEBYTECODE": "1", "SOFTBLEU_SHARED": shared, "PYTHONPATH": str(copy)}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", *tests]
    how: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "env": {**os.environ, **own}}
    # A change may make a loop that does not end.
    how |= {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))}
    ended = subprocess.run(command, cwd=copy, text=True, **how)
    if ended.returncode == 4 and "ERROR: not found" in ended.stdout:
        raise SystemExit(f"the tests noted are not those of the tree: {ended.stdout.strip()[-200:]}")
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", ended.stdout, re.MULTILINE)
    if ended.returncode == -signal.SIGKILL:
        return f"no end in {seconds} CPU-seconds"
    return "" if ended.returncode in (0, 5) else failed[0] if failed else ended.stdout.strip()[-200:]


def main() -> None:
    """Draw places, change them one by one, and print what became of each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--places", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--skip", type=int, default=0, help="so many of the places drawn, tried before")
    parser.add_argument("--contexts", type=Path, default=ROOT / "build/contexts", help="tests that reach lines")
    given = parser.parse_args()
    every = [each for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py")) for each in mutants(path)]
    drawn, killed = random.Random(given.seed).sample(every, min(given.places, len(every))), 0
    if not given.contexts.exists():
        given.contexts.parent.mkdir(exist_ok=True)
        noted = ["--cov=softbleu", "--cov-context=test", "--cov-report="]
        own = {**os.environ, "COVERAGE_FILE": str(given.contexts)}
        subprocess.run([sys.executable, "-m", "pytest", "-q", *noted], cwd=ROOT, env=own, check=True)
    data = coverage.CoverageData(str(given.contexts))
    data.read()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "tree"
        shutil.copytree(ROOT, copy, ignore=LEFT_OUT)
        for mutant in drawn[given.skip :]:
            source, name, by = mutant.path.read_bytes(), mutant.path.relative_to(ROOT), ""
            (copy / name).write_bytes(source[: mutant.start] + mutant.new.encode() + source[mutant.stop :])
            for tests, seconds in zip(tests_for(data, mutant), SECONDS, strict=False):
                by = by or (run_tests(copy, tests, seconds) if tests else "")
            (copy / name).write_bytes(source)
            killed += bool(by)
            what = f"{name}:{mutant.line}: {mutant.old} -> {mutant.new}".replace("\n", " ")
            print(f"killed    {what}  by {by}" if by else f"SURVIVED  {what}", flush=True)
    print(f"{killed} of {len(drawn) - given.skip} killed; there are {len(every)} places")


if __name__ == "__main__":
    main()
