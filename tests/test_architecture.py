"""The page of the architecture: its picture, its functions, and its lists, by which toys are added and run."""

import compileall
import os
import re
import shutil
import tomllib
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest
from test_readme import ROOT, in_shell

PAGE = ROOT / "docs" / "architecture.md"
JUSTFILE = (ROOT / "justfile").read_text(encoding="utf-8")
SECTIONS = dict(
    re.findall(r"^##+ (?:An? )?(.*?)\n(.*?)(?=^##|\Z)", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
)
# A toy for each list: new files, text that goes before other text, commands, and what the last one prints.
TOYS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("additions.toml").read_text(encoding="utf-8"))
DATA = ("embeddings", "heads", "language", "corpora", "experiments")
"""Folders whose folders are linked; all else is copied."""
LEFT_OUT = (".git", ".venv", ".pytest_cache", ".ruff_cache", ".hypothesis", "__pycache__", "build", "dist")
LINT = re.findall("^    (.*)", re.search(r"^lint:\n((?:    .*\n)+)", JUSTFILE, re.MULTILINE)[1], re.MULTILINE)
TEXTS = {
    "a.txt": "the cat sat on a mat\na small dog barks\n",
    **dict.fromkeys(("b.txt", "c.txt"), "the cat sat on the mat\na little dog barked\n"),
}


def listed(name: str) -> set[str]:
    """Files that a list of the page names, before the colon of each entry."""
    section = SECTIONS[name].replace("NAME", TOYS[name].get("name", "toy"))
    return {
        path
        for entry in re.findall(r"^- (`[^:]*`):", section, re.MULTILINE)
        for path in re.findall(r"`(.*?)`", entry)
    }


def build(folder: Path) -> None:
    """Copy the checkout, with links to the folders of data, and compile the package."""
    links = [path for name in DATA for path in (ROOT / name).iterdir() if path.is_dir()]

    def left_out(place: str, names: list[str]) -> set[str]:
        return {name for name in names if name in LEFT_OUT or Path(place, name) in links}

    shutil.copytree(ROOT, folder, dirs_exist_ok=True, ignore=left_out)
    for path in links:
        (folder / path.relative_to(ROOT)).symlink_to(path)
    compileall.compile_dir(folder / "softbleu", quiet=2)


def contents(folder: Path) -> dict[str, bytes]:
    """Files by path, without those that are linked, compiled or cached."""
    paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    own = (path for path in paths if not re.search("__pycache__|cache/", path.as_posix()))
    return {path.as_posix(): (folder / path).read_bytes() for path in own}


def test_the_picture_is_made_of_the_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "reference"))
    made = resolve_name("make_cli:make_layers")()
    assert f"```text\n{made}```" in PAGE.read_text(encoding="utf-8"), "run: python docs/reference/make_cli.py"


def test_the_way_of_a_score_names_functions_that_there_are_and_every_list_has_a_toy() -> None:
    way = SECTIONS["The way of a score"]
    named = re.findall(r"`(softbleu\.[\w.]+)`", way)
    assert 5 <= len(re.findall(r"^\d+\. ", way, re.MULTILINE)) <= 10
    assert all(callable(resolve_name(name)) for name in named)
    assert len(named) >= 10
    lists = PAGE.read_text(encoding="utf-8").partition("## To add something")[2]
    assert re.findall(r"^### An? (.*)$", lists, re.MULTILINE) == [*TOYS]


def test_who_comes_to_contribute_has_little_to_read() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert len(text.split()) <= 700
    assert re.search(r"\]\((.*?)\)", text)[1] == "docs/architecture.md"


def changed(toy: dict[str, Any], tree: Path) -> dict[str, str]:
    """Return the files that a toy changes, as it changes them; each text that it goes before stands there once."""
    texts: dict[str, str] = {}
    for path, line, added in toy.get("before", ()):
        text = texts.get(path) or (tree / path).read_text(encoding="utf-8")
        assert text.count(line) == 1, (path, line)
        texts[path] = text.replace(line, added + line)
    return texts


@pytest.mark.parametrize("name", TOYS)
def test_files_that_a_toy_changes_have_its_places(name: str) -> None:
    assert changed(TOYS[name], ROOT).keys() <= listed(name)


def add(toy: dict[str, Any], tree: Path) -> None:
    """Do what a list says: new files, text before other text, and commands."""
    for path, text in toy.get("new", {}).items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text.removeprefix("\n"), encoding="utf-8")
    for path, text in changed(toy, tree).items():
        (tree / path).write_text(text, encoding="utf-8")
    for line in toy.get("make", ()):
        in_tree(tree, line)


def in_tree(tree: Path, line: str, folder: Path | None = None) -> str:
    """Run a line in a copy of the checkout, or with its package elsewhere; return what it prints."""
    shared = os.environ.get("SOFTBLEU_SHARED", str(ROOT.parent / "shared"))
    own = {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1", "SOFTBLEU_SHARED": shared}
    return in_shell(line, folder=folder or tree, **own, SOFTBLEU_TEST_INSTALLED="", PYTEST_ADDOPTS="")


@pytest.mark.slow
@pytest.mark.parametrize("name", TOYS)
def test_a_toy_is_added_by_the_list_and_passes_its_tests(build_once: Any, name: str, tmp_path: Path) -> None:
    toy = TOYS[name]
    tree, folder = tmp_path / "tree", tmp_path / "work"
    shutil.copytree(build_once("tree", build), tree, symlinks=True)
    before = contents(tree)
    add(toy, tree)
    after = contents(tree)
    changed = {path for path in after if after[path] != before.get(path)}
    assert {re.sub(r"^(docs/reference/commands/).*", r"\1", path) for path in changed} == listed(name)
    folder.mkdir()
    for file, text in TEXTS.items():
        (folder / file).write_text(text, encoding="utf-8")
    printed = [in_tree(tree, line, folder) for line in toy["commands"]][-1]
    assert re.search(toy["prints"], printed, re.MULTILINE), printed
    tests = re.search(r"Then run `(pytest .*?)`", SECTIONS[name])[1]
    for line in (*LINT, f"{tests} -q -n 0"):
        in_tree(tree, line)
