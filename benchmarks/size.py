"""Lines of code by layer, now and at the last release: ``python benchmarks/size.py`` in a checkout with its history.

A line of code holds something besides comments and docstrings. The layers are those of the import contract. The last
release is the newest tag, or the commit that set the version where there is no tag.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import tarfile
import tokenize
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
_WITH_DOCSTRINGS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def lines_of_code(source: str) -> int:
    """Count the lines of a module that hold code: blank lines, comments and docstrings are left out."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    coded = {line for t in tokens if t.type not in _NO_CODE for line in range(t.start[0], t.end[0] + 1)}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, _WITH_DOCSTRINGS) and ast.get_docstring(node, clean=False) is not None:
            coded -= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return len(coded)


def layers() -> list[list[str]]:
    """Folders and modules of every layer, from the top, as the import contract has them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = (c for c in project["tool"]["importlinter"]["contracts"] if c["type"] == "layers")
    return [re.findall(r"softbleu\.(\w+)", layer) for layer in contract["layers"]]


def git(*arguments: str) -> bytes:
    """Run git in the checkout and return its output."""
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=True).stdout


def last_release() -> str:
    """The newest tag, or the commit that set the version."""
    tagged = git("tag", "--list", "--sort=-v:refname", "v*", "[0-9]*").decode().split()
    if tagged:
        return tagged[0]
    version = re.search(r"^__version__ = .+$", (ROOT / "softbleu" / "version.py").read_text("utf-8"), re.MULTILINE)
    assert version is not None
    return git("log", "-1", "--format=%h", "-S", version[0], "--", "softbleu/version.py").decode().strip()


def count(sources: dict[str, str]) -> Counter[str]:
    """Lines of code of every room of the package, and all lines of ``tests``, of a tree's Python files by path."""
    lines: Counter[str] = Counter()
    for path, source in sources.items():
        top, _, rest = path.partition("/")
        if top == "softbleu":
            lines[rest.partition("/")[0].removesuffix(".py")] += lines_of_code(source)
        else:
            lines["tests, all lines"] += source.count("\n")
    return lines


def now() -> dict[str, str]:
    """Python files of the working tree."""
    paths = [path for top in ("softbleu", "tests") for path in (ROOT / top).rglob("*.py")]
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def at(revision: str) -> dict[str, str]:
    """Python files of a revision."""
    with tarfile.open(fileobj=io.BytesIO(git("archive", revision, "softbleu", "tests"))) as archive:
        members = [member for member in archive if member.name.endswith(".py")]
        return {member.name: archive.extractfile(member).read().decode() for member in members}  # type: ignore[union-attr]


def main() -> None:
    """Print the table."""
    release = last_release()
    today, before = count(now()), count(at(release))
    rows = [(room, today[room], before[room]) for layer in layers() for room in layer]
    listed = {room for room, *_ in rows} | {"tests, all lines"}
    rows += [(room, today[room], before[room]) for room in sorted({*today, *before} - listed)]
    total = ("softbleu", *(sum(row[column] for row in rows) for column in (1, 2)))
    tests = "tests, all lines"
    print(f"{'lines of code':<18}{'now':>8}{release:>10}{'more':>8}")
    for room, new, old in (*rows, total, (tests, today[tests], before[tests])):
        print(f"{room:<18}{new:>8,}{old:>10,}{new - old:>+8,}")


if __name__ == "__main__":
    main()
