"""Write from the declarations: cli.md, commands/, settings.md, keywords.pyi; the layers.

python docs/reference/make_cli.py
"""

from __future__ import annotations

import html
import re
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from importlib import import_module
from pathlib import Path

import typer
from typer.cli import get_docs_for_click

from softbleu.cli.commands import COMMANDS, PANELS, PROGRAM
from softbleu.cli.help import make_program
from softbleu.config.declare import Declared, Setting, all_settings
from softbleu.embeddings.choice import VectorChoice
from softbleu.matching import MATCHERS
from softbleu.metrics.base import METRICS
from softbleu.metrics.declared import preset_names, presets_of
from softbleu.metrics.overview import setting_rows
from softbleu.text.tokens import TOKENIZERS, Tokenizer

HERE = Path(__file__).resolve().parent
ARCHITECTURE = HERE.parent / "architecture.md"
KEYWORDS = HERE.parents[1] / "softbleu" / "metrics" / "keywords.pyi"


def make_pages() -> dict[str, str]:
    """Write cli.md, which lists the commands, and a page for each of them: file names and texts."""
    first, *sections = re.split(r"^##+ `softbleu (.*)`$", _make_text(), flags=re.MULTILINE)
    texts = dict(zip(sections[::2], sections[1::2], strict=True))
    index = [first.partition("**Commands**:")[0].rstrip()]
    for panel, entries in PANELS.items():
        names = [name for entry in entries for name in COMMANDS if name == entry or name.startswith(f"{entry} ")]
        rows = [f"| [`{PROGRAM} {name}`]({_page_of(name)}) | {COMMANDS[name][1]} |" for name in names]
        index.append("\n".join([f"## {panel}\n", "| command | what it does |", "|---|---|", *rows]))
    pages = {_page_of(name): f"# `{PROGRAM} {name}`\n\n{texts[name].strip()}\n" for name in COMMANDS}
    return {"cli.md": "\n\n".join(index) + "\n"} | pages


def _page_of(command: str) -> str:
    return f"commands/{command.replace(' ', '-')}.md"


def _make_text() -> str:
    """Let typer write all commands, then make Markdown of what its terminal markup was; plug-ins are left out."""
    command = make_program(whole=True)
    context = typer.Context(command, info_name=PROGRAM, obj={"TYPER_RICH_MARKUP_MODE": "rich"})
    made = get_docs_for_click(obj=command, ctx=context, name=PROGRAM, title="Commands")
    page = html.unescape(f"{made.strip()}\n")
    # Examples: a line that says what, and the command under it.
    page = re.sub(r"^# (.*)\n\[bold\](.*)\[/bold\]$", r"\1:\n\n    \2", page, flags=re.MULTILINE)
    page = re.sub(r'<span style="font-weight: bold">(.*?)</span>', r"`\1`", page, flags=re.DOTALL)
    page = re.sub(r"\[bold\](.*?)\[/bold\]", r"`\1`", page, flags=re.DOTALL)
    return re.sub(r"[ \t]+$", "", page, flags=re.MULTILINE)


def make_settings_page() -> str:
    """Write a section for everything that has settings; plug-ins are left out."""
    owners = {
        "Metrics": METRICS.built_in.values(),
        "Matchers": MATCHERS.built_in.values(),
        "Tokenizers": [Tokenizer, *TOKENIZERS.built_in.values()],
        "Vectors": [VectorChoice],
    }
    return "\n".join(_page(owners)) + "\n"


def _page(owners: dict[str, Iterator[type[Declared]]]) -> Iterator[str]:
    yield "# All settings\n"
    yield (
        "Every setting has one name: the keyword in Python (`softbleu.score(…, smooth_value=1)`), the key in an\n"
        "expression (`bleu(smooth=add-k, smooth_value=1)`) and in experiment files; with dashes it is the option\n"
        "(`--smooth-value 1`) and the key of the signature (`smooth-value:1.0`). A metric over a matcher has the\n"
        "settings of the matcher, too, and every metric those of tokens and vectors. This page is made of the\n"
        "declarations by `python docs/reference/make_cli.py`."
    )
    for title, kinds in owners.items():
        yield f"\n## {title}"
        for kind in kinds:
            if kind.name:
                yield f"\n### {kind.name}"
            yield f"\n{str(kind.__doc__).splitlines()[0]}"
            rows = list(_rows(kind))
            if rows:
                yield "\n| setting | values | default | what it does |\n|---|---|---|---|"
                yield from rows


def _rows(kind: type[Declared]) -> Iterator[str]:
    for each, values, default in setting_rows(kind):
        if each.part is Tokenizer:
            values = "a [tokenizer](#tokenizers)"
        elif each.names:
            values = ", ".join(f"`{name}`" for name in each.names)
        cells = (f"`{each.name}`", values, default, each.help)
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


RAW = {"VectorLocation": "softbleu.embeddings", "ScoreTable": "softbleu.corpora.judgements"}
"""Where types are that only type checkers know."""


def make_keywords() -> str:
    """Write the stub that tells type checkers which settings metrics and `score` take, and of which types."""
    parts = {each.name: each for kind in (Tokenizer, VectorChoice) for each in all_settings(kind, shared=True)}
    matching = {each.name: each for each in all_settings(MATCHERS.find("vleu"), shared=True)}
    every: dict[str, list[Setting]] = {}
    owner_of = dict.fromkeys(parts, VectorChoice)
    for kind in METRICS.built_in.values():
        for each in all_settings(kind, {"matcher": "vleu"}, shared=True):
            every.setdefault(each.name, []).append(each)
            owner_of.setdefault(each.name, kind)
    del every["quantile"]
    imports: dict[str, str] = {}
    types = {name: _type_of(name, settings, owner_of[name], imports) for name, settings in every.items()}
    named = [name for kind in METRICS.built_in.values() for name in presets_of(kind)]
    presets = [name for name in named if name in preset_names()]
    types["preset"] = f"Literal{presets} | None".replace("'", '"')
    types["language"] = "str | None"
    of_parts, of_matchers = ["tokenize", *(name for name in parts if name in every)], list(matching)
    groups = (
        ("MatchSettings(TypedDict, total=False)", "How n-grams are matched.", of_matchers + of_parts, "{}"),
        (
            "Settings(MatchSettings, total=False)",
            "Those of all metrics.",
            set(types) - {*of_matchers, *of_parts},
            "{}",
        ),
        (
            "PartFields(Declared)",
            "What every metric takes for its parts.",
            [*of_parts, "preset", "language"],
            "{} = ...",
        ),
        ("MatcherFields", "What metrics over matchers take, too.", of_matchers, "{} = ..."),
    )
    lines = ['"""Settings by name, for type checkers; made of the declarations by docs/reference/make_cli.py."""', ""]
    lines += ["from collections.abc import Mapping, Sequence", "from dataclasses import InitVar, dataclass"]
    lines += ["from typing import Literal, TypedDict", "", "from softbleu.config.declare import Declared"]
    lines += [f"from {home} import {name}" for name, home in sorted(imports.items(), key=lambda pair: pair[::-1])]
    for head, about, names, form in groups:
        dataclass = (
            [] if "TypedDict" in head or "MatchSettings" in head else ["@dataclass(frozen=True, kw_only=True)"]
        )
        lines += ["", *dataclass, f"class {head}:", f'    """{about}"""', ""]
        # Language and preset choose settings, and are none themselves.
        chosen = {name: f"InitVar[{types[name]}]" for name in ("preset",) if "..." in form}
        lines += [f"    {name}: {form.format(chosen.get(name, types[name]))}" for name in types if name in names]
    return "\n".join(lines) + "\n"


def _type_of(name: str, settings: list[Setting], owner: type[Declared], imports: dict[str, str]) -> str:
    """Write the type of what several settings of one name take."""
    kinds: dict[str, None] = {}
    for each in settings:
        literal = each.part is None and 0 < len(each.choices) < 7
        kinds |= dict.fromkeys([f"Literal{list(each.choices)}".replace("'", '"')] if literal else [])
        kinds |= dict.fromkeys(["str"] if each.read or each.part else [])
        for kind in each.types:
            if kind is not str or not literal:
                kinds[kind.__name__] = None
                if kind.__module__ != "builtins":
                    imports[kind.__name__] = kind.__module__
        if not each.types:
            raw = next(field.type for field in fields(owner) if field.name == each.field)
            imports |= {known: home for known, home in RAW.items() if known in raw}
            kinds |= dict.fromkeys(raw.split(" | "))
    nothing = any(each.optional for each in settings) and "None" not in kinds
    return " | ".join([*kinds, *(["None"] if nothing else [])])


def make_layers() -> str:
    """Draw the layers of the import contract, each folder with what it says of itself."""
    project = tomllib.loads((HERE.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = (each for each in project["tool"]["importlinter"]["contracts"] if each["type"] == "layers")
    drawn = []
    for layer in contract["layers"]:
        names = re.findall(r"softbleu\.(\w+)", layer)
        about = (str(import_module(f"softbleu.{name}").__doc__).partition("\n")[0] for name in names)
        drawn.append("".join(f"{name:<11}{line}\n" for name, line in zip(names, about, strict=True)))
    return "───────────\n".join(drawn)


if __name__ == "__main__":
    for name, text in make_pages().items():
        (HERE / name).write_text(text, encoding="utf-8")
    KEYWORDS.write_text(make_keywords(), encoding="utf-8")
    (HERE / "settings.md").write_text(make_settings_page(), encoding="utf-8")
    page = ARCHITECTURE.read_text(encoding="utf-8")
    drawn = re.sub(r"(?<=```text\n).*?(?=```)", lambda _: make_layers(), page, count=1, flags=re.DOTALL)
    ARCHITECTURE.write_text(drawn, encoding="utf-8")
