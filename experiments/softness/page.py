"""Put the tables of the study into the pages and the paper: python experiments/softness/page.py.

A table stands between `<!-- made: NAME -->` and `<!-- end: NAME -->`; the paper reads docs/paper/tables.tex.
"""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from filling import fill  # noqa: E402

ROOT = HERE.parents[1]
PAGES = (
    "experiments/softness/tables.md",
    "docs/study/agreement.md",
    "docs/guide/metrics.md",
    "docs/guide/languages.md",
)
PAPER = ROOT / "docs" / "paper" / "tables.tex"
JUDGED = {  # Sets of whole systems' outputs, as columns
    "WMT21 zh-en": "WMT21 zh-en",
    "TED zh-en": "TED zh-en",
    "WMT21 en-de": "WMT21 en-de",
    "WMT24 en-cs": "WMT24 en-cs",
    "WMT24 en-zh": "WMT24 en-zh",
}
MEASURES = {
    "r": "Pearson's r over all outputs",
    "r within": "r within segments",
    "r between": "r between segments",
    "accuracy": "accuracy by segment, acc_eq",
    "SPA": "systems: soft pairwise accuracy",
}
Row = dict[str, str]
Cells = Sequence[Sequence[str]]


@cache
def rows(name: str) -> tuple[Row, ...]:
    """Rows of a table beside this file."""
    with (HERE / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
        return tuple(csv.DictReader(stream))


def one(name: str, **chosen: str) -> Row | None:
    """Return the row with these cells; None where there is none."""
    return next((row for row in rows(name) if all(row[key] == cell for key, cell in chosen.items())), None)


def number(text: str, digits: int = 3) -> str:
    """Write a number as the pages do: .030, −.5.

    >>> number("-0.0304"), number("1.5", 1), number("-0.0001")
    ('−.030', '1.5', '.000')
    """
    shown = f"{float(text):.{digits}f}"
    if float(shown) == 0:
        shown = shown.removeprefix("-")
    return re.sub(r"^(-?)0\.", r"\1.", shown).replace("-", "−")


def interval(row: Row | None, value: str = "value", low: str = "low", high: str = "high", digits: int = 3) -> str:
    """Write a value with its interval."""
    if row is None or not row[value]:
        return ""
    ends = f" ({number(row[low], digits)} to {number(row[high], digits)})" if row[low] else ""
    return f"{number(row[value], digits)}{ends}"


def effects() -> tuple[list[str], Cells]:
    """Planned effects over sets, and on the sets with MQM."""
    header = ["effect, planned sign", "mean of 15 sets", "between sets", "new set", "+", "WMT21 zh-en", "TED zh-en"]
    table = []
    for row in rows("pooled"):
        if row["pool"] == "all" and row["measure"] == "r" and row["sign"]:
            by_set = [one("effects", set=name, measure="r", effect=row["effect"]) for name in header[-2:]]
            new = f"{number(row['new_low'])} to {number(row['new_high'])}"
            sign = row["sign"].replace("-", "−")
            count = f"{row['positive']} of {row['sets']}"
            cells = [interval(row, "mean"), number(row["between"]), new, count, *(interval(each) for each in by_set)]
            table.append([f"{row['effect']}, {sign}", *cells])
    return header, table


def parts() -> tuple[list[str], Cells]:
    """Planned effects between and within segments, of the sets with MQM."""
    shown = {"r between": "between", "r within": "within", "SPA": "systems, SPA"}
    sets = ("WMT21 zh-en", "TED zh-en")
    header = ["effect", *(f"{name}: {part}" for name in sets for part in shown.values())]
    names = dict.fromkeys(row["effect"] for row in rows("effects") if row["sign"])
    return header, [
        [name, *(interval(one("effects", set=data, measure=part, effect=name)) for data in sets for part in shown)]
        for name in names
    ]


def predictions(table: Sequence[Row]) -> tuple[list[str], Cells]:
    """Predictions, and what was measured."""
    header = ["set", "effect", "measure", "predicted", "measured (95%)", ""]
    cells = []
    for row in table:
        sign = {"+": "+ ", "-": "− ", "0": ""}[row["sign"]]
        verdict = row["verdict"] if row["found"] else row["why"]
        bounds = f"{sign}{number(row['low'])} to {number(row['high'])}"
        found = interval(row, "found", "found_low", "found_high")
        cells.append([row["sets"], row["effect"], row["measure"], bounds, found, verdict])
    return header, cells


def tested() -> tuple[list[str], Cells]:
    """The first predictions that could be measured here."""
    return predictions([row for row in rows("found") if row["found"] and row["made"] == "2026-11-23"])


def agreement(measure: str) -> Callable[[], tuple[list[str], Cells]]:
    """Return the table of all metrics on all sets by one measure."""

    def table() -> tuple[list[str], Cells]:
        direct = measure == "r"
        pools = {"DA": "DA, mean", "MQM and ESA": "MQM and ESA, mean"} if direct else {"MQM and ESA": "mean"}
        extra = {"WMT13 fr-en": "WMT13, τ"} if direct else {}
        names = dict.fromkeys(row["metric"] for row in rows("agreement"))
        cells = []
        for name in names:
            pooled = [mean_of(pool, measure, name) for pool in pools]
            on_sets = [interval(one("agreement", set=each, measure=measure, metric=name)) for each in JUDGED]
            others = [interval(one("agreement", set=each, measure="tau", metric=name)) for each in extra]
            if any((*pooled, *on_sets, *others)):
                cells.append([name, *pooled, *on_sets, *others])
        return ["metric", *pools.values(), *JUDGED.values(), *extra.values()], cells

    return table


def mean_of(pool: str, measure: str, metric: str) -> str:
    """Mean over sets, with their number; of two sets the values, because they say too little about others."""
    found = [row for row in rows("agreement") if (row["measure"], row["metric"]) == (measure, metric)]
    found = [row for row in found if row["family"] == pool]
    mean = next((row for row in found if row["set"].startswith("mean of")), None)
    if mean is None:
        return ""
    values = " and ".join(number(row["value"]) for row in found if row is not mean)
    return f"{values if len(found) == 3 else interval(mean)}; {mean['set'].split()[-1]} sets"


def guide() -> tuple[list[str], Cells]:
    """Return the table of agreement in the guide: correlation with human scores of older and of recent systems."""
    header = ["metric", "older systems (2015–2017)", "recent neural systems (2021–2024)"]
    names = dict.fromkeys(row["metric"] for row in rows("agreement") if row["measure"] == "r")
    return header, [[name, *(mean_of(pool, "r", name) for pool in ("DA", "MQM and ESA"))] for name in names]


def llms() -> tuple[list[str], Cells]:
    """Agreement among LLMs and other systems."""
    return ["set", "metric", "r: LLMs", "others", "difference", "r within: LLMs", "others", "difference"], [
        [
            row["set"],
            row["metric"],
            *(
                interval(
                    each,
                    *(
                        f"{part}{end}" if part != "difference" or not end else end[1:]
                        for end in ("", "_low", "_high")
                    ),
                )
                for each in (row, one("llms", set=row["set"], metric=row["metric"], measure="r within"))
                for part in ("llms", "others", "difference")
            ),
        ]
        for row in rows("llms")
        if row["measure"] == "r"
    ]


def references() -> tuple[list[str], Cells]:
    """Agreement on en-de by reference."""
    names = dict.fromkeys(row["metric"] for row in rows("references"))
    quality = {row["reference"]: number(row["judged"], 2) for row in rows("references")}
    header = ["metric", *(f"{part}: {letter} ({quality[letter]})" for part in ("r", "within") for letter in "ACD")]
    return header, [
        [
            name,
            *(
                interval(one("references", reference=letter, measure=measure, metric=name))
                for measure in ("r", "r within")
                for letter in "ACD"
            ),
        ]
        for name in names
    ]


def spans() -> tuple[list[str], Cells]:
    """Unmatched words and marked spans."""
    header = ["set", "unmatched by", "precision", "recall", "F1", "random words", "above random", "above exact"]
    return header, [
        [
            row["set"],
            row["matcher"],
            number(row["precision"]),
            number(row["recall"]),
            interval(row, "f1"),
            number(row["random"]),
            *(interval(row, name, f"{name}_low", f"{name}_high") for name in ("above_random", "above_exact")),
        ]
        for row in rows("spans")
    ]


def categories() -> tuple[list[str], Cells]:
    """Agreement within segments by category of errors."""
    names = ("trained", "trained, static head", "BERTScore", "chrF")
    header = ["category", "share of points", *names, "trained − BERTScore"]
    table = []
    for category in dict.fromkeys(row["category"] for row in rows("categories")):
        found = [one("categories", category=category, metric=name) for name in names]
        first = found[0]
        assert first is not None
        lead = interval(first, "from_bertscore", "from_bertscore_low", "from_bertscore_high")
        table.append([category, number(first["share"], 2), *(interval(each) for each in found), lead])
    return header, table


def raters() -> tuple[list[str], Cells]:
    """Two judgements of one text; ten pairs at least, and two digits."""
    header = ["set", "pairs of", "by", "pairs", "r (95%)", "its root"]
    return header, [
        [
            *(row[name] for name in ("set", "kind", "by", "pairs")),
            interval(row, digits=2),
            interval(row, "root", "root_low", "root_high", 2),
        ]
        for row in rows("raters")
        if int(row["pairs"]) >= 10
    ]


def settings() -> tuple[list[str], Cells]:
    """Partial correlations of settings."""
    header = ["setting", "mean of 15 sets", "between sets", "new set", "WMT21 zh-en", "TED zh-en"]
    return header, [
        [
            row["setting"],
            interval(row, "partial"),
            number(row["between"]),
            f"{number(row['new_low'])} to {number(row['new_high'])}",
            *(interval(one("settings", set=each, setting=row["setting"]), "partial") for each in header[-2:]),
        ]
        for row in rows("settings")
        if row["set"] == "all"
    ]


DEFAULT = "softbleu --language"


VECTORS = "BERTScore, multilingual"


def targets() -> tuple[list[str], Cells]:
    """Agreement out of English by set, and what is expected of any other; two digits are what sets carry."""
    spelt, vectors = f"{DEFAULT} − chrF", f"{VECTORS} − {DEFAULT}"
    header = ["target language", "set", "outputs", "`chrf`, r", f"`{DEFAULT}`, r", "minus `chrf` (95%)", "take"]
    header += ["`bertscore`, r", f"minus `{DEFAULT}` (95%)"]
    table = []
    sets = {row["set"]: row for row in rows("languages") if row["language"] != "en"}
    for name, row in sorted(sets.items(), key=lambda item: TARGET_NAMES[item[1]["language"]]):
        found = {row["effect"]: row for row in rows("languages") if (row["set"], row["measure"]) == (name, "r")}
        low, high = float(found[spelt]["low"]), float(found[spelt]["high"])
        take = "`softbleu`" if low > 0 else "`chrf`" if high < 0 else "either"
        about = [TARGET_NAMES[row["language"]], name.removesuffix(", 13a"), f"{int(row['outputs']):,}"]
        cells = [number(found[effect]["value"], 2) for effect in ("chrF", DEFAULT)]
        cells += [interval(found[spelt], digits=2), take]
        cells += [number(found[VECTORS]["value"], 2) if VECTORS in found else ""]
        table.append([*about, *cells, interval(found.get(vectors), digits=2)])
    for name in ("one output", "several outputs"):
        cells = []
        for effect in ("chrF", DEFAULT, spelt, VECTORS, vectors):
            pooled = one("moderators", measure="r", effect=effect, targets=f"not English, {name}", model="mean")
            assert pooled is not None
            cells.append(f"{number(pooled['value'], 2)} ({new_of(pooled)})")
        table.append(["*any other*", f"{name} per segment", "", *cells[:3], "both", *cells[3:]])
    return header, table


TARGET_NAMES = {
    **{"ar": "Arabic", "cs": "Czech", "de": "German", "gu": "Gujarati", "ha": "Hausa", "hi": "Hindi"},
    **{"mr": "Marathi", "ru": "Russian", "so": "Somali", "sw": "Swahili", "xh": "isiXhosa", "yo": "Yoruba"},
    "zh": "Chinese",
}


def new_of(row: Row, digits: int = 2) -> str:
    """Write the interval of a new set."""
    return f"{number(row['new_low'], digits)} to {number(row['new_high'], digits)}"


def hypotheses() -> tuple[list[str], Cells]:
    """Return what became of the hypotheses of the third plan."""
    header = ["", "effect", "of", "planned", "found (95%)", ""]
    return header, [
        [
            *(row["hypothesis"], row["effect"], row["of"], row["sign"].replace("-", "−")),
            *(interval(row), row["verdict"]),
        ]
        for row in rows("hypotheses")
    ]


def choices() -> tuple[list[str], Cells]:
    """One setting of `softbleu` without vectors beside another, over sets that are not English."""
    header = ["setting", "r: mean", "a new set", "+", "r within: mean", "a new set"]
    table = []
    for effect in dict.fromkeys(row["effect"] for row in rows("moderators") if row["effect"].startswith("V: ")):
        cells = [effect.removeprefix("V: ")]
        for measure in ("r", "r within"):
            row = one("moderators", measure=measure, effect=effect, targets="not English", model="mean")
            assert row is not None
            cells += [interval(row), new_of(row, 3)]
            if measure == "r":
                values = [
                    float(each["value"])
                    for each in rows("languages")
                    if each["language"] != "en" and (each["measure"], each["effect"]) == (measure, effect)
                ]
                cells.append(f"{sum(value > 0 for value in values)} of {len(values)}")
        table.append(cells)
    return header, table


def by_moderators() -> tuple[list[str], Cells]:
    """Effects by moderators, and the error for languages left out."""
    header = [
        "effect",
        "letters, doubled",
        "several outputs",
        "10 chrF nearer",
        "error by the mean",
        "error by letters, several",
        "held",
    ]
    chosen = (
        *("BLEU", "chrF", DEFAULT, "chrF − BLEU", "chrF++ − chrF", "TER − chrF", f"{DEFAULT} − chrF"),
        *("L: spellings − exact", "L: F − precision", "L: idf − none", "L: word order − none"),
    )
    table = []
    for effect in chosen:
        models = {
            (row["model"], row["term"]): row
            for row in rows("moderators")
            if (row["measure"], row["effect"], row["targets"]) == ("r", effect, "all")
        }
        both = models["letters and several", "letters"]
        mean = models["mean", "constant"]
        cells = [interval(both), interval(models["letters and several", "several"])]
        cells.append(interval(models["several and nearness", "nearness"]))
        errors = [number(row["error"]) for row in (mean, both)]
        table.append([effect, *cells, *errors, f"{100 * float(mean['held']):.0f}%"])
    return header, table


def found_since() -> tuple[list[str], Cells]:
    """Return predictions of the second plan that could be measured since."""
    names = ("WMT24 en-hi", "TED en-de", "WMT22 ja-en")
    return predictions([row for row in rows("found") if row["sets"] in names])


def expected_now() -> tuple[list[str], Cells]:
    """Return predictions of the third plan."""
    header, cells = predictions([row for row in rows("found") if row["made"] == "2026-11-28"])
    shown = [[_short(row[0]), *row[1:4]] for row in cells]
    return header[:4], shown


def _short(names: str) -> str:
    """Name the data once: AfriMTE en-ibo, en-kik."""
    data, _, rest = names.partition(" ")
    return f"{data} {', '.join(name.strip().removeprefix(f'{data} ') for name in rest.split(' + '))}"


TABLES: dict[str, Callable[[], tuple[list[str], Cells]]] = {
    "effects": effects,
    "parts": parts,
    "tested": tested,
    "found since": found_since,
    "expected": expected_now,
    "targets": targets,
    "hypotheses": hypotheses,
    "choices": choices,
    "by moderators": by_moderators,
    "settings": settings,
    "llms": llms,
    "references": references,
    "spans": spans,
    "categories": categories,
    "raters": raters,
    "guide": guide,
    **{f"agreement, {measure}": agreement(measure) for measure in MEASURES},
}
IN_PAPER = ("effects", "tested")


def markdown(header: Sequence[str], cells: Cells) -> str:
    """Write a table as Markdown."""
    lines: Iterable[Sequence[str]] = (header, ["---"] * len(header), *cells)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def latex(header: Sequence[str], cells: Cells) -> str:
    """Write a table as LaTeX."""

    def line(row: Sequence[str]) -> str:
        text = (
            " & ".join(row)
            .replace("−", "$-$")
            .replace("_", r"\_")
            .replace("%", r"\%")
            .replace("–", "--")
            .replace("τ", r"$\tau$")
        )
        return text.replace("≥", r"$\geq$") + r" \\"

    rule = "l" * len(header)
    body = "\n".join(map(line, cells))
    return (
        f"\\begin{{tabular}}{{{rule}}}\n\\toprule\n{line(header)}\n\\midrule\n{body}\n\\bottomrule\n\\end{{tabular}}"
    )


def filled(page: str) -> str:
    """Put tables between the marks of a page, which may have some of them."""
    wanted = (name for name in TABLES if f"<!-- made: {name} -->" in page)
    return fill(page, {name: markdown(*TABLES[name]()) for name in wanted})


def paper() -> str:
    """Return the tables of the paper, each a command of LaTeX."""
    return "".join(f"\\newcommand{{\\table{name}}}{{%\n{latex(*TABLES[name]())}}}\n" for name in IN_PAPER)


def main() -> None:
    """Fill all pages."""
    for name in PAGES:
        path = ROOT / name
        path.write_text(filled(path.read_text(encoding="utf-8")), encoding="utf-8")
    PAPER.write_text(paper(), encoding="utf-8")


if __name__ == "__main__":
    main()
