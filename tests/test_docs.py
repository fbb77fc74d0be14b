"""The pages of docs/ keep up with the code, and are written in plain words; the draft of the paper can be built."""

import inspect
import json
import re
import shutil
import subprocess
import sys
import tomllib
from difflib import get_close_matches
from importlib import import_module
from itertools import chain
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest
from declarations import TOKENIZE
from real.headlines import COLUMNS, read_record
from real.rows import Row, number, read_rows

import softbleu
from softbleu.config.declare import all_settings, format_value, parse_signature
from softbleu.embeddings.choice import VectorChoice
from softbleu.matching import MATCHERS
from softbleu.meta.metaeval import MetaevalOptions
from softbleu.metrics.base import METRICS
from softbleu.metrics.declared import every_setting
from softbleu.text.tokens import Tokenizer

ROOT = Path(__file__).resolve().parents[1]
README, DOCS = ROOT / "README.md", ROOT / "docs"
REFERENCE = DOCS / "reference"
MADE = [REFERENCE / "cli.md", *sorted((REFERENCE / "commands").glob("*.md"))]
MADE_TEXT = "".join(page.read_text(encoding="utf-8") for page in MADE)


def options_of(page: str) -> list[str]:
    """Commands and options of a page, each with its explanation."""
    return re.findall(r"^(?:# `softbleu .*`|\* `-.*)$", page, re.MULTILINE)


def test_all_options_and_settings_are_documented(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(DOCS / "reference"))
    maker, stub = import_module("make_cli"), ROOT / "softbleu" / "metrics" / "keywords.pyi"
    pages = maker.make_pages()
    assert sorted(pages) == sorted(page.relative_to(REFERENCE).as_posix() for page in MADE)
    for name, expected in pages.items():
        found = (REFERENCE / name).read_text(encoding="utf-8")
        assert options_of(found) == options_of(expected), "run: python docs/reference/make_cli.py"
    assert len(options_of(MADE_TEXT)) > 60
    for page, made in ((REFERENCE / "settings.md", maker.make_settings_page()), (stub, maker.make_keywords())):
        assert page.read_text(encoding="utf-8") == made, "run: python docs/reference/make_cli.py"


def test_the_first_page_shows_commands_of_the_readme() -> None:
    shown = re.findall(r"^\$ .*$", (DOCS / "index.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(shown) == 3
    assert set(shown) <= set(README.read_text(encoding="utf-8").splitlines())


def test_newcomers_questions_are_answered_two_links_from_the_readme() -> None:
    assert "](docs/index.md#frequent-questions)" in README.read_text(encoding="utf-8")
    section = (
        (DOCS / "index.md").read_text(encoding="utf-8").partition("## Frequent questions\n")[2].partition("\n## ")[0]
    )
    answers = re.findall(r"^\*\*[^*]+\?\*\* (.+?)(?:\n\n|\Z)", section, re.MULTILINE | re.DOTALL)
    assert len(answers) >= 10
    assert [answer for answer in answers if "](" not in answer] == []


@pytest.mark.parametrize("page", [README, *sorted(DOCS.rglob("*.md"))], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_every_dependency_of_a_user_has_its_licence() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {"always": project["dependencies"], **project["optional-dependencies"]}
    page = (DOCS / "reference" / "reliability.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| (\w+) \| (.*) \|$", page.partition("### What is installed")[2], re.MULTILINE))
    for extra, needed in ((extra, needed) for extra, needed in extras.items() if extra != "test"):
        packages = [re.split(r"[<>=;]", each)[0] for each in needed]
        assert re.findall(r"([\w-]+) \(", rows[extra]) == packages


def test_sentences_docstrings_and_messages_are_looked_through(tmp_path: Path) -> None:
    page, module = tmp_path / "README.md", tmp_path / "module.py"
    sentences = ["Compare systems and see what people would say.", f"It takes {'a word and ' * 10}a word."]
    sentences += ["In the signature it is said which."]
    left_out = "```sh\nwhat people met alike\n```\nA code span is left out: `people`.\n"
    page.write_text("\n\n".join(["# Title", *sentences, left_out]))
    code = '"""Words that met, and `mass`."""\nNAMES = ("mass", "what people write")\nWHY = f"no remedy: {NAMES}"\n'
    code += 'COUNT = 3  # As many as there are.\n"""What is counted."""\nNOTE = "every reference is to be read"\n'
    module.write_text(code)
    done = subprocess.run([sys.executable, DOCS / "prose.py", page, module], capture_output=True, text=True)
    findings = ["d:3: “people”: say human judges", "d:5: a sentence of 34 words", "d:7: a passive opening"]
    findings += ["y:1: “met”", ": “remedy”", "y:4: “there are”", "y:5: “What …”", "y:6: “is to be”"]
    assert done.returncode == 1
    for line, finding in zip(done.stdout.splitlines(), findings, strict=True):
        assert finding in line


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
    cited = re.findall(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    described = json.loads((ROOT / "codemeta.json").read_text(encoding="utf-8"))
    assert cited == [described["version"]] == [softbleu.__version__]


# Options, defaults and keys of signatures that pages name are those of the declarations.
OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")
PAGES = [README, *(page for page in sorted(DOCS.rglob("*.md")) if page not in (*MADE, REFERENCE / "settings.md"))]
OWNERS = [*METRICS.built_in.values(), *MATCHERS.built_in.values(), Tokenizer, VectorChoice]
SETTINGS = [TOKENIZE, *(setting for owner in OWNERS for setting in all_settings(owner, shared=owner is Tokenizer))]
KEYS = {"metric", "level", "nrefs", "version", *(setting.key for setting in SETTINGS)}
EARLIER = {key for setting in SETTINGS for key in setting.earlier} - KEYS
OF_OTHERS = {
    "--ter-asian-support",
    "--no-deps",
    "--confidence",
    "--sentence-level",
    "--log_samples",
}  # Options of other programs that stand alone in a code span
PLUG_INS = {"--wer-arrays-substitution-cost", "--thai-engine"}


SECTIONS = re.split(r"^# `softbleu (.*?)`$", MADE_TEXT, flags=re.MULTILINE)
COMMANDS = {
    name: {*OPTION.findall("\n".join(re.findall(r"^\* `(-.*?)`:", text, re.MULTILINE))), "--help", "--help-all"}
    for name, text in zip(SECTIONS[1::2], SECTIONS[2::2], strict=True)
}
"""Each command of the program with its options, as the page of all options has them."""
EVERYWHERE = {"--debug", "--limits", "--version", "--score-only"}
OPTIONS = EVERYWHERE.union(*COMMANDS.values())


def code_of(page: Path) -> list[str]:
    """Code blocks and code spans."""
    text = page.read_text(encoding="utf-8")
    fences = re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    rest = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    indented = re.findall(r"(?:^    .*\n)+", rest, re.MULTILINE)
    return [*fences, *indented, *(" ".join(span.split()) for span in re.findall(r"`([^`]+)`", rest))]


def unknown_options(code: str) -> list[str]:
    """Options of commands, and of spans that begin with one, that nobody has declared."""
    unknown = []
    for command in re.findall(r"(?:^|[\s/&])softbleu ((?:\\\n|[^\n|;&])*)", code):
        words = command.split()
        name = " ".join(words[:2]) if " ".join(words[:2]) in COMMANDS else " ".join(words[:1])
        known = COMMANDS.get(name, OPTIONS) | EVERYWHERE | PLUG_INS
        unknown += [f"softbleu {name} {option}" for option in OPTION.findall(command) if option not in known]
    if code.startswith("--"):
        unknown += [option for option in OPTION.findall(code) if option not in OPTIONS | OF_OTHERS | PLUG_INS]
    return unknown


def declared_defaults(name: str) -> set[str]:
    """What a setting is if it is not given, in any metric; words that say it count one by one."""
    found = [each for each in SETTINGS if each.key == name.replace("_", "-")]
    texts = chain.from_iterable((format_value(each.default), *re.split(r"[;, ]+", each.unset)) for each in found)
    return {*texts, *(each.default.name for each in found if each.part and each.default)}


def wrong_values(text: str) -> list[str]:
    """Defaults that a text says of settings in a list of them, and numbers before an option, which are others."""
    wrong = []
    for name, rest in re.findall(r"^- `(?:--)?([a-z][\w-]*)`:((?:(?!\n- |\n\n).)*)", text, re.MULTILINE | re.DOTALL):
        said = re.findall(r"default is ([\w.]*\w)|`([\w.-]+)`(?: \(|, )default\b", rest)
        known = declared_defaults(name)
        wrong += [f"{name}: {value}" for value in filter(None, chain(*said)) if known and value not in known]
    plain = re.sub(r"^- .*\n(?:  .*\n)*", "", text, flags=re.MULTILINE)
    wrong += [f"threshold {each}" for each in re.findall(r"The default is (0?\.\d+)", plain) if each != "0.8"]
    for value, option in re.findall(r"\b([\d,]*\d) [\w ]{1,24}\(`(--[a-z-]+)`\)", text):
        known = defaults_of(option)
        wrong += [f"{option}: {value}"] if value.replace(",", "") not in known and known - {""} else []
    return wrong


def unknown_keywords(code: str) -> list[str]:
    """Keywords of metrics, matchers and public calls in expressions, Python and --vary that nobody declares."""
    classes = {kind.__name__: kind for kind in METRICS.built_in.values()}
    named: dict[str, Any] = {**METRICS.built_in, **dict.fromkeys(MATCHERS.built_in, softbleu.Vleu), **classes}
    unknown = []
    for name, given in re.findall(r"\b(?:softbleu\.)?(\w+\+*)\(([^()]*)\)", code):
        called = named.get(name, getattr(softbleu, name, None))
        if not callable(called) or name == "softbleu":
            continue
        known = {*inspect.signature(called).parameters}
        known |= {*MetaevalOptions.__annotations__} if called is softbleu.metaeval else set()
        known |= set() if name in classes else {*every_setting(), "preset"}
        known |= {"matcher", *(each.name for each in SETTINGS)} if "matcher" in known else set()
        keys = re.findall(r"(?:^|, *|\n *)([a-z_]+)=(?!=)", given)
        unknown += [f"{name}({key}=…)" for key in keys if key not in known]
    varied = re.findall(r"--vary '?([\w-]+)=", code)
    return unknown + [f"--vary {key}" for key in varied if key.replace("_", "-") not in KEYS]


def defaults_of(option: str) -> set[str]:
    """What an option is if it is not given, in any command or metric."""
    said = re.findall(rf"^\* `[^`]*{option}\b[^`]*`:.*\(default: ([^()]*)\)", MADE_TEXT, re.MULTILINE)
    declared = [format_value(each.default) for each in SETTINGS if f"--{each.key}" == option]
    return set(chain(declared, *(re.split(r"[;, ]+", each) for each in said)))


each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


@each_page
def test_options_defaults_keywords_and_keys_of_experiments_are_declared(page: Path) -> None:
    blocks, text = code_of(page), page.read_text(encoding="utf-8")
    assert [each for code in blocks for each in unknown_options(code)] == []
    found = [each for code in blocks for each in unknown_keywords(code)]
    assert found == (["Vleu(treshold=…)"] if page.name == "python.md" else [])  # That page shows what a typo gives
    source = "".join(module.read_text("utf-8") for module in (ROOT / "softbleu" / "meta").glob("*.py"))
    for rest in re.findall(r"`\[\w+\]` has ([^.]*)\.", text):
        assert [key for key in re.findall(r"`([a-z_]+)`", rest) if f'"{key}"' not in source] == []
    named = re.findall(r"`(--[\w-]+)`(?: \(| )(\d*\.?\d+)\b(?! pairs)", text)
    named += re.findall(r"`(--[\w-]+) ([\w.-]+)` \(default\)", text)
    for option, value in named:
        number = float(value) if re.fullmatch(r"\d*\.?\d+", value) else value
        allowed = {float(each) if re.fullmatch(r"\d*\.?\d+", each) else each for each in defaults_of(option)}
        assert number in allowed, f"{option} {value}: {defaults_of(option)}"
    assert wrong_values(text) == []


@each_page
def test_keys_of_signatures_are_known(page: Path) -> None:
    signatures = [
        re.sub(r"\|?(?:\.\.\.|…)$", "", each)
        for code in code_of(page)
        for each in re.findall(r"(?:signature: |^|\s)(\w[\w-]*:[^\s|]+(?:\|[^\s]+)+)", code, re.MULTILINE)
    ]
    entries = [code for code in code_of(page) if re.fullmatch(r"(?:[a-z]+-)*[a-z]+:[\w.+]+", code)]
    # Other spans with a colon are no entries of signatures, unless they nearly are.
    entries = [each for each in entries if get_close_matches(each.partition(":")[0], KEYS | EARLIER, cutoff=0.85)]
    for signature in [*signatures, *entries]:
        assert {key for key in parse_signature(signature) if not key.startswith("test-")} <= KEYS


def test_the_page_of_formats_names_keys_as_they_are() -> None:
    page = (DOCS / "reference" / "formats.md").read_text(encoding="utf-8")
    section = page.partition("## Signatures\n")[2].partition("\n## ")[0]
    named = [code for code in re.findall(r"`([^`]+)`", section) if re.fullmatch(r"[a-z][a-z-]+", code)]
    assert len(named) >= 5
    assert set(named) <= KEYS


def test_stale_options_and_defaults_of_pages_are_found() -> None:
    assert unknown_options("softbleu score -c A --uf-beta 2 | head") == ["softbleu score --uf-beta"]
    assert unknown_options("--uf-beta 2") == ["--uf-beta"]
    assert defaults_of("--threshold") >= {"0.8"}
    assert "tok" in EARLIER
    stale = "- `threshold`: the default is 0.7\n\nover 200 runs (`--runs`)"
    assert wrong_values(stale) == ["threshold: 0.7", "--runs: 200"]
    assert unknown_keywords("vleu(treshold=1, order=2) --vary ordr=2") == ["vleu(treshold=…)", "--vary ordr"]


# Figures on which pages stand have a row in ``real/headlines.toml`` that makes them; what they are is said there.
ROWS = read_rows("headlines.toml")
CLAIMS = tomllib.loads((ROOT / "experiments" / "softness" / "claims.toml").read_text(encoding="utf-8"))["claim"]
STUDIES = sorted((DOCS / "study").glob("*.md"))
FIGURED = [README, *sorted((DOCS / "guide").glob("*.md")), *STUDIES]
FIGURE = re.compile(r"(?<![\w.])[-−]?\d*\.\d+(?![\w.])")
HEADLINE = re.compile(r"(?<![\w.])\d*\.\d{2,}")


def plain(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_text_stands_in_its_page_and_every_figure_of_it_is_made(row: Row) -> None:
    assert plain(row.text) in plain((ROOT / row.page).read_text(encoding="utf-8"))
    made = {abs(number(figure)) for figure in [*row.expect.values(), *row.not_made]}
    figures = FIGURE.findall(row.text)
    assert figures
    assert [figure for figure in figures if abs(number(figure)) not in made] == []
    assert bool(row.command) == bool(row.expect)
    assert row.command or not row.fast


@pytest.mark.parametrize("page", FIGURED, ids=lambda page: page.name)
def test_every_headline_has_a_row(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    places = re.findall(r"\*\*[^*]+\*\*", text)
    if page in STUDIES:
        places += re.findall(r"^## In short\n(.*?)^## ", text, re.MULTILINE | re.DOTALL)
    name = page.relative_to(ROOT).as_posix()
    texts = [plain(row.text) for row in ROWS if row.page == name]
    texts += [plain(claim["text"]) for claim in CLAIMS if claim["page"] == name]
    assert texts or page not in (README, *STUDIES)
    for place in map(plain, places):
        if not any(place in each for each in texts):
            spans = [found.span() for each in texts for found in re.finditer(re.escape(each), place)]
            figures = [(found.start(), found.group()) for found in HEADLINE.finditer(place)]
            assert [text for at, text in figures if not any(start <= at < end for start, end in spans)] == []


def test_the_record_knows_every_row() -> None:
    record = read_record()
    assert [line["row"] for line in record] == [row.name for row in ROWS], "run: just headlines"
    assert all(set(line) == set(COLUMNS) for line in record)
    assert not [line["row"] for line in record if line["outcome"] == "differs"]


def test_tables_of_the_papers_are_those_of_their_files() -> None:
    papers = run_path(str(ROOT / "experiments" / "papers" / "make.py"))
    page = papers["PAGE"].read_text(encoding="utf-8")
    assert papers["fill"](page, papers["tables"]()) == page, "run: python experiments/papers/make.py --page"
