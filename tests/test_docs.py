"""The pages of docs/ keep up with the code, and are written in plain words; the draft of the paper can be built."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import softbleu

DOCS = Path(__file__).resolve().parents[1] / "docs"


def options_of(page: str) -> list[str]:
    """Commands and options of a page, each with its explanation."""
    return re.findall(r"^(?:##+ `softbleu .*`|\* `-.*)$", page, re.MULTILINE)


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    """The pages that are made of declarations."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(DOCS / "reference"))
        maker = import_module("make_cli")
    return {"cli": maker.make_page(), "settings": maker.make_settings_page(), "keywords": maker.make_keywords()}


def test_all_options_are_documented(made: dict[str, str]) -> None:
    expected = options_of(made["cli"])
    assert len(expected) > 60
    shown = options_of((DOCS / "reference" / "cli.md").read_text(encoding="utf-8"))
    assert shown == expected, "run: python docs/reference/make_cli.py"


def test_all_settings_are_documented(made: dict[str, str]) -> None:
    page = (DOCS / "reference" / "settings.md").read_text(encoding="utf-8")
    assert page == made["settings"], "run: python docs/reference/make_cli.py"
    stub = (DOCS.parent / "softbleu" / "metrics" / "keywords.pyi").read_text(encoding="utf-8")
    assert stub == made["keywords"], "run: python docs/reference/make_cli.py"


def test_the_first_page_shows_commands_of_the_readme() -> None:
    shown = re.findall(r"^\$ .*$", (DOCS / "index.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(shown) == 2
    assert set(shown) <= set((DOCS.parent / "README.md").read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize("page", [DOCS.parent / "README.md", *sorted(DOCS.rglob("*.md"))], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_every_dependency_of_a_user_has_its_licence() -> None:
    project = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {"always": project["dependencies"], **project["optional-dependencies"]}
    for of_developers in ("test", "slow", "docs", "dev", "benchmarks"):
        del extras[of_developers]
    page = (DOCS / "reference" / "reliability.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| (\w+) \| (.*) \|$", page.partition("### What is installed")[2], re.MULTILINE))
    for extra, needed in extras.items():
        packages = [re.split(r"[<>=]", each)[0] for each in needed]
        assert re.findall(r"([\w-]+) \(", rows[extra]) == packages


def lint(*pages: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, DOCS / "prose.py", *pages], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("sentence", "finding"),
    [
        ("Compare systems and see what people would say.", "2: “people”: say human judges"),
        (f"It takes {'a word and ' * 10}a word.", "2: a sentence of 34 words"),
        ("In the signature it is said which.", "2: a passive opening"),
    ],
)
def test_a_sentence_is_flagged(sentence: str, finding: str, tmp_path: Path) -> None:
    page = tmp_path / "README.md"
    page.write_text(f"# Title\n{sentence}\n\n```sh\nwhat people met alike\n```\nA code span is left out: `people`.\n")
    done = lint(page)
    assert done.returncode == 1
    assert finding in done.stdout
    assert len(done.stdout.splitlines()) == 1


def test_docstrings_and_messages_are_looked_through(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    code = '"""Words that met, and `mass`."""\nNAMES = ("mass", "what people write")\nWHY = f"no remedy: {NAMES}"\n'
    module.write_text(code)
    ends = [line.rpartition(":")[0][-10:] for line in lint(module).stdout.splitlines()]
    assert ends == ["y:1: “met”", ": “remedy”"]


@pytest.mark.slow
def test_the_paper_is_built_and_finds_every_source(tmp_path: Path) -> None:
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    for source in (DOCS / "paper").iterdir():
        shutil.copy(source, tmp_path)
    latex = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper"]
    for command in (latex, ["bibtex", "paper"], latex, latex):
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=300)
    log = (tmp_path / "paper.log").read_text(encoding="utf-8", errors="replace")
    assert "undefined" not in log
    assert int(re.findall(r"Output written on paper.pdf \((\d+) pages?", log)[0]) <= 8


def test_files_for_citation_name_the_version() -> None:
    cited = re.findall(r"^version: (.+)$", (DOCS.parent / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    described = json.loads((DOCS.parent / "codemeta.json").read_text(encoding="utf-8"))
    assert cited == [described["version"]] == [softbleu.__version__]
