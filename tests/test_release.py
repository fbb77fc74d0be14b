"""What a release consists of follows from pyproject.toml: the core, the recipe, licences, links, extras."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import softbleu

ROOT = Path(__file__).resolve().parents[1]
PYPROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
PROJECT = tomllib.loads(PYPROJECT)["project"]
EXTRAS = PROJECT["optional-dependencies"]


def requirement(text: str) -> tuple[str, str]:
    """Name and versions of a requirement, without its marker."""
    name, versions = re.fullmatch(r"([\w-]+)\s*([^;]*)(?:;.*)?", text).groups()
    return name, versions.strip()


def test_core_txt_is_made_of_pyproject() -> None:
    made = subprocess.run(
        [sys.executable, ROOT / ".ci" / "core.py"], capture_output=True, text=True, check=True
    ).stdout
    assert (ROOT / "core.txt").read_text(encoding="utf-8") == made
    left_out = {requirement(needed)[0] for extra in ("train", "neighbours") for needed in EXTRAS[extra]}
    assert left_out == {"gensim", "faiss-cpu"}
    core = [requirement(line) for line in made.splitlines()[1:]]
    assert core == [each for each in map(requirement, PROJECT["dependencies"]) if each[0] not in left_out]


def test_extras_that_messages_name_exist() -> None:
    for path in (ROOT / "softbleu").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        named = re.findall(r"optional\(\"(\w+)\"", text) + re.findall(r"softbleu\[(\w+)\]", text)
        assert {*named} <= EXTRAS.keys(), path


def test_recipe_requires_what_pyproject_requires() -> None:
    recipe = yaml.safe_load((ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8"))
    required = sorted(tuple(line.split()) for line in recipe["requirements"]["run"] if not line.startswith("python "))
    assert required == sorted(map(requirement, PROJECT["dependencies"]))
    assert (recipe["context"]["version"], recipe["about"]["license"]) == (softbleu.__version__, PROJECT["license"])
    assert recipe["about"]["license_file"] == PROJECT["license-files"]


@pytest.mark.parametrize(
    "folder", ["embeddings/glove-6b-100d", "embeddings/minilm-l6", "language/en-small", "language/en-tags"]
)
def test_notice_names_each_bundled_package_and_its_digest(folder: str) -> None:
    notice = (ROOT / "NOTICE").read_text(encoding="utf-8")
    part = notice.partition(f"{folder}:")[2].partition("\n\n")[0]
    packages = json.loads((ROOT / folder / "meta.json").read_text(encoding="utf-8"))["packages"]
    for package in packages:
        line = "{registry} {name} {version} ({licence})".format(**package)
        assert line in part
        assert package["integrity"] in part
    assert len(re.findall(r"sha\d+-", part)) == len(packages)


def test_every_address_is_below_that_of_the_project() -> None:
    home, source = PROJECT["urls"]["Homepage"], PROJECT["urls"]["Source"]
    assert all(url.startswith(home) for url in PROJECT["urls"].values())
    links = tomllib.loads(PYPROJECT)["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]
    assert [link["replacement"] for link in links] == [f"]({source}/blob/main/\\1)"]


def test_classifiers_name_each_python_that_is_resolved() -> None:
    resolved = re.search(r"^for python in (.*); do$", (ROOT / ".ci" / "resolve").read_text(), re.MULTILINE)[1].split()
    prefix = "Programming Language :: Python :: "
    named = [each.removeprefix(prefix) for each in PROJECT["classifiers"] if each.startswith(f"{prefix}3.")]
    assert named == resolved
