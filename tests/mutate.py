"""Change one place of the code at a time, and see whether the first tier of the tests fails.

    python tests/mutate.py --places 200 --seed 1

Places are drawn from `FOLDERS`: comparisons, arithmetic, numbers, yes and no, `not`, `and`, `or`, returned values.
Each change is made in a copy of the tree. Tests named after the module run first, then those that import or name it,
then the others. What survives is a line that no test looks at, or a change that changes nothing.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
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
    """Go through all but types, decorators and what only type checkers import."""
    if isinstance(tree, ast.If) and ast.unparse(tree.test) == "TYPE_CHECKING":
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


def tests_for(module: Path) -> list[list[str]]:
    """Files of tests in three groups: named after the module, importing or naming it, the others."""
    names = {part for part in (*module.parts[2:-1], module.stem) if part not in ("__init__", "base", "metric")}
    dotted = ".".join(module.with_suffix("").parts).removesuffix(".__init__")
    said = re.compile(rf"{re.escape(dotted)}\b|\"{(*module.parts[2:-1], module.stem)[0]}[\"(]")
    groups: list[list[str]] = [[], [], []]
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        name = str(path.relative_to(ROOT))
        named = any(re.search(rf"_{each}[_.]", name) for each in names)
        groups[0 if named else 1 if said.search(path.read_text(encoding="utf-8")) else 2].append(name)
    return [[name for name in group if "tests/real/" not in name] for group in groups]


def run_tests(copy: Path, files: list[str], seconds: float) -> str:
    """What the first test that fails is called; nothing if all pass."""
    own = {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1", "SOFTBLEU_SHARED": str(ROOT.parent / "shared")}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *files]
    given: dict[str, Any] = {"cwd": copy, "env": {**own, **os.environ, "PYTHONPATH": str(copy)}, "text": True}
    given |= {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "start_new_session": True}
    with subprocess.Popen(command + (["-n", "0"] if len(files) < 6 else []), **given) as process:
        try:
            output, _ = process.communicate(timeout=max(1, seconds))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return "no end in time"
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", output, re.MULTILINE)
    return "" if process.returncode in (0, 5) else failed[0] if failed else output.strip()[-200:]


def main() -> None:
    """Draw places, change them one by one, and print what became of each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--places", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1200, help="for the tests of one change")
    parser.add_argument("--near", action="store_true", help="leave the others out")
    given = parser.parse_args()
    every = [each for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py")) for each in mutants(path)]
    drawn, killed = random.Random(given.seed).sample(every, min(given.places, len(every))), 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "tree"
        shutil.copytree(ROOT, copy, ignore=LEFT_OUT)
        for mutant in drawn:
            source, name, by = mutant.path.read_bytes(), mutant.path.relative_to(ROOT), ""
            end = time.monotonic() + given.seconds
            (copy / name).write_bytes(source[: mutant.start] + mutant.new.encode() + source[mutant.stop :])
            for files in filter(None, tests_for(name)[: 2 if given.near else 3]):
                by = by or run_tests(copy, files, end - time.monotonic())
            (copy / name).write_bytes(source)
            killed += bool(by)
            what = f"{name}:{mutant.line}: {mutant.old} -> {mutant.new}".replace("\n", " ")
            print(f"killed    {what}  by {by}" if by else f"SURVIVED  {what}", flush=True)
    print(f"{killed} of {len(drawn)} killed; there are {len(every)} places")


if __name__ == "__main__":
    main()
