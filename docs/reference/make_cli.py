"""Write from the declarations: cli.md, all commands and options; settings.md, all settings; types for Python.

python docs/reference/make_cli.py
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import typer
from typer.cli import get_docs_for_click

from softbleu.cli.app import PROGRAM, make_program
from softbleu.cli.settings import setting_options
from softbleu.declare import Declared, Setting, all_settings, own_settings
from softbleu.embeddings.choice import VectorChoice
from softbleu.matchers import MATCHERS, SoftMatcher
from softbleu.metrics.base import METRICS
from softbleu.scoring.doors import DOORS
from softbleu.scoring.measure import Measure, preset_names
from softbleu.signature import format_value
from softbleu.tokens import Tokenizer

HERE = Path(__file__).resolve().parent


def make_page() -> str:
    """Let typer write the page, then make Markdown of what its terminal markup was; plug-ins are left out."""
    command = make_program(found=partial(setting_options, plug_ins=False), examples="")
    context = typer.Context(command, info_name=PROGRAM, obj={"TYPER_RICH_MARKUP_MODE": "rich"})
    made = get_docs_for_click(obj=command, ctx=context, name=PROGRAM, title="All options")
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
        "Tokens": [Tokenizer],
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
    for each in own_settings(kind):
        if each.part is not None and not each.names:
            yield from _rows(each.part)
        elif each.name != "quantile":
            default = each.default.name if each.part else each.unset or format_value(each.default)
            cells = (f"`{each.name}`", _values(each), default, each.help)
            yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _values(setting: Setting) -> str:
    if setting.names:
        return ", ".join(f"`{name}`" for name in setting.names)
    least, most = ("" if bound is None else f"{bound:,.10g}" for bound in (setting.least, setting.most))
    kind = setting.metavar if setting.kind == "anything" else setting.kind
    if least and most:
        return f"{kind}, {least} to {most}"
    return f"{kind}, {least} or more" if least else kind


_MATCHING = {each.name for kind in (SoftMatcher, Tokenizer, VectorChoice) for each in all_settings(kind)}
_TYPES = {
    "vectors": "VectorLocation",
    "idf": "str | Path | IdfCorpus",
    "meteor_data": "str | MeteorData",
    "network_vectors": "str | NetworkVectors",
    "language_model": "str | ModelChoice",
    "coefficients": "str | CoefficientsFile",
    "matcher": "str | Matcher",
}
"""Of settings that hold more than their kind says."""


def make_stub() -> str:
    """Write what type checkers and editors know of the keywords of `softbleu.scoring.doors`."""
    return "\n".join(_stub()) + "\n"


def _stub() -> Iterator[str]:
    yield (
        '"""Made of the declarations by docs/reference/make_cli.py."""\n\n'
        "from collections.abc import Callable\nfrom pathlib import Path\n"
        "from typing import Literal, TypedDict\n\n"
        "from softbleu.embeddings import VectorLocation\nfrom softbleu.language import ModelChoice\n"
        "from softbleu.matchers.base import Matcher\n"
        "from softbleu.metrics.refless.judging import CoefficientsFile\n"
        "from softbleu.metrics.softbleu import IdfCorpus\nfrom softbleu.networks.rules import NetworkVectors\n"
        "from softbleu.scoring.measure import Measure\nfrom softbleu.thesaurus.resources import MeteorData\n"
    )
    every: dict[str, list[str]] = {}
    for door in DOORS.values():
        for name, each in door.settings().items():
            every.setdefault(name, []).append(_type_of(each))
    every["preset"] = [_names(preset_names())]
    matching = {name: _type_of(each) for name, each in DOORS["Vleu"].settings().items() if name in _MATCHING}
    yield "class MatchSettings(TypedDict, total=False):"
    yield from (f"    {name}: {kind}" for name, kind in matching.items())
    yield "\nclass Settings(MatchSettings, total=False):"
    rest = {name: types for name, types in every.items() if name not in matching}
    yield from (f"    {name}: {' | '.join(dict.fromkeys(types))}" for name, types in rest.items())
    for door in DOORS.values():
        presets = METRICS.find(Measure.of(door.metric).metric.name).presets
        yield f"\ndef {door.__name__}(\n    *,"
        for name, each in door.settings().items():
            yield f"    {name}: {_type_of(each)} = ..., "[:-1]
        if presets:
            yield f"    preset: {_names(list(presets))} = ...,"
        yield f') -> Measure:\n    """{door.__doc__}"""'
    yield "\nDOORS: dict[str, Callable[..., Measure]]"


def _type_of(each: Setting) -> str:
    made = _TYPES.get(each.name, "")
    if not made and each.names:
        made = _names(each.names)
    if not made:
        made = " | ".join(kind.__name__ for kind in each.types) or "Any"
    if made in ("float", "int") and each.read is not None:
        made += " | str"
    return f"{made} | None" if each.optional else made


def _names(names: Sequence[str]) -> str:
    return f"Literal{json.dumps(list(names))}"


STUB = HERE.parents[1] / "softbleu" / "scoring" / "doors.pyi"

if __name__ == "__main__":
    (HERE / "cli.md").write_text(make_page(), encoding="utf-8")
    (HERE / "settings.md").write_text(make_settings_page(), encoding="utf-8")
    STUB.write_text(make_stub(), encoding="utf-8")
