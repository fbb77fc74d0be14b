"""Put the tables of the study into the pages and the paper: python experiments/softness/page.py.

A table stands between `<!-- made: NAME -->` and `<!-- end: NAME -->`; the paper reads docs/paper/tables.tex.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGES = ("study/softness.md", "study/agreement.md", "guide/metrics.md")
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


def interval(row: Row | None, value: str = "value", low: str = "low", high: str = "high") -> str:
    """Write a value with its interval."""
    if row is None or not row[value]:
        return ""
    ends = f" ({number(row[low])} to {number(row[high])})" if row[low] else ""
    return f"{number(row[value])}{ends}"


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
    return predictions([row for row in rows("found") if row["found"]])


def expected() -> tuple[list[str], Cells]:
    """Predictions of sets that are kept aside."""
    header, cells = predictions([row for row in rows("found") if "WMT2" in row["sets"] or row["sets"] == "TED en-de"])
    new = [row for row in cells if not row[0].startswith("WMT21")]
    return header[:4], [row[:4] for row in new]


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
    """Two judgements of one text."""
    header = ["set", "pairs of", "by", "pairs", "r (95%)", "its root"]
    return header, [
        [
            row["set"],
            row["kind"],
            row["by"],
            row["pairs"],
            interval(row),
            interval(row, "root", "root_low", "root_high"),
        ]
        for row in rows("raters")
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


TABLES: dict[str, Callable[[], tuple[list[str], Cells]]] = {
    "effects": effects,
    "parts": parts,
    "tested": tested,
    "expected": expected,
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
    """Put the tables between their marks."""
    for name, table in TABLES.items():
        start, end = f"<!-- made: {name} -->\n", f"<!-- end: {name} -->"
        before, mark, rest = page.partition(start)
        if mark:
            page = f"{before}{start}\n{markdown(*table())}\n\n{end}{rest.partition(end)[2]}"
    return page


def paper() -> str:
    """Return the tables of the paper, each a command of LaTeX."""
    return "".join(f"\\newcommand{{\\table{name}}}{{%\n{latex(*TABLES[name]())}}}\n" for name in IN_PAPER)


def main() -> None:
    """Fill all pages."""
    for name in PAGES:
        path = ROOT / "docs" / name
        path.write_text(filled(path.read_text(encoding="utf-8")), encoding="utf-8")
    PAPER.write_text(paper(), encoding="utf-8")


if __name__ == "__main__":
    main()
