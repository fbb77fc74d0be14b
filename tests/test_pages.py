"""Options, defaults and keys of signatures that pages name are those of the declarations."""

import inspect
import re
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from declarations import TOKENIZE

import softbleu
from softbleu.config.declare import all_settings
from softbleu.config.signature import format_value, parse_signature
from softbleu.embeddings.choice import VectorChoice
from softbleu.matching import MATCHERS
from softbleu.metrics.base import METRICS, every_setting
from softbleu.text.tokens import Tokenizer

ROOT = Path(__file__).resolve().parents[1]
MADE = ROOT / "docs" / "reference" / "cli.md"  # test_docs compares it with the declarations
OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")
PAGES = [
    ROOT / "README.md",
    *(page for page in sorted((ROOT / "docs").rglob("*.md")) if page.name not in ("cli.md", "settings.md")),
]
OWNERS = [*METRICS.built_in.values(), *MATCHERS.built_in.values(), Tokenizer, VectorChoice]
SETTINGS = [TOKENIZE, *(setting for owner in OWNERS for setting in all_settings(owner, shared=owner is Tokenizer))]
KEYS = {"metric", "level", "nrefs", "version", *(setting.key for setting in SETTINGS)}
EARLIER = {key for setting in SETTINGS for key in setting.earlier} - KEYS
OF_OTHERS = {"--ter-asian-support", "--no-deps"}  # Options of other programs that stand alone in a code span
PLUG_INS = {"--wer-arrays-substitution-cost", "--thai-engine"}


def commands_of(page: Path) -> dict[str, set[str]]:
    """Each command of the program with its options, as the page of all options has them."""
    sections = re.split(r"^##+ `softbleu ?(.*?)`$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {
        name: {*OPTION.findall("\n".join(re.findall(r"^\* `(-.*?)`:", text, re.MULTILINE))), "--help"}
        for name, text in zip(sections[1::2], sections[2::2], strict=True)
    }


COMMANDS = commands_of(MADE)
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
        known = {
            *inspect.signature(called).parameters,
            *({*every_setting(), "preset"} if name not in classes else ()),
        }
        known |= {"matcher", *(each.name for each in SETTINGS)} if "matcher" in known else set()
        keys = re.findall(r"(?:^|, *|\n *)([a-z_]+)=(?!=)", given)
        unknown += [f"{name}({key}=…)" for key in keys if key not in known]
    varied = re.findall(r"--vary '?([\w-]+)=", code)
    return unknown + [f"--vary {key}" for key in varied if key.replace("_", "-") not in KEYS]


def defaults_of(option: str) -> set[str]:
    """What an option is if it is not given, in any command or metric."""
    said = re.findall(rf"^\* `[^`]*{option}\b[^`]*`:.*\(default: ([^()]*)\)", MADE.read_text("utf-8"), re.MULTILINE)
    declared = [format_value(each.default) for each in SETTINGS if f"--{each.key}" == option]
    return set(chain(declared, *(re.split(r"[;, ]+", each) for each in said)))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_options_are_there(page: Path) -> None:
    assert [each for code in code_of(page) for each in unknown_options(code)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_defaults_are_those_declared(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    named = re.findall(r"`(--[\w-]+)`(?: \(| )(\d*\.?\d+)\b(?! pairs)", text)
    named += re.findall(r"`(--[\w-]+) ([\w.-]+)` \(default\)", text)
    for option, value in named:
        number = float(value) if re.fullmatch(r"\d*\.?\d+", value) else value
        allowed = {float(each) if re.fullmatch(r"\d*\.?\d+", each) else each for each in defaults_of(option)}
        assert number in allowed, f"{option} {value}: {defaults_of(option)}"

    assert wrong_values(text) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_keywords_are_declared(page: Path) -> None:
    found = [each for code in code_of(page) for each in unknown_keywords(code)]
    assert found == (["Vleu(treshold=…)"] if page.name == "python.md" else [])  # That page shows what a typo gives


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_keys_of_experiments_are_read(page: Path) -> None:
    source = "".join(module.read_text("utf-8") for module in (ROOT / "softbleu" / "meta").glob("*.py"))
    for rest in re.findall(r"`\[\w+\]` has ([^.]*)\.", page.read_text(encoding="utf-8")):
        assert [key for key in re.findall(r"`([a-z_]+)`", rest) if f'"{key}"' not in source] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
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
    page = (ROOT / "docs" / "reference" / "formats.md").read_text(encoding="utf-8")
    section = page.partition("## Signatures\n")[2].partition("\n## ")[0]
    named = [code for code in re.findall(r"`([^`]+)`", section) if re.fullmatch(r"[a-z][a-z-]+", code)]
    assert len(named) >= 5
    assert set(named) <= KEYS


def test_what_is_stale_is_found() -> None:
    assert unknown_options("softbleu score -c A --uf-beta 2 | head") == ["softbleu score --uf-beta"]
    assert unknown_options("--uf-beta 2") == ["--uf-beta"]
    assert defaults_of("--threshold") >= {"0.8"}
    assert "tok" in EARLIER
    stale = "- `threshold`: the default is 0.7\n\nover 200 runs (`--runs`)"
    assert wrong_values(stale) == ["threshold: 0.7", "--runs: 200"]
    assert unknown_keywords("vleu(treshold=1, order=2) --vary ordr=2") == ["vleu(treshold=…)", "--vary ordr"]
