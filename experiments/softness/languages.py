"""Measure metrics by language and by kind of set, after the third plan of docs/study/plan.md.

python experiments/softness/languages.py [--data FOLDER]

Writes beside this file:

- languages.csv: r of each metric, and each effect, on each set with judged outputs of sets.toml and languages.toml:
  with letters per word of its references, the mean chrF of its outputs, and whether a segment has several outputs.
- moderators.csv: each effect over sets, as a mean and by moderators: coefficients with intervals of 95%, the error of
  what is predicted for a language whose sets are all left out, and the share of intervals that held.
- hypotheses.csv: what became of the hypotheses of the plan. languages.svg: four effects by language.

Scores and measures are kept in build/softness, as those of make.py.
"""

from __future__ import annotations

import argparse
import csv
import os
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from cells import of_languages
from matplotlib import rc_context
from matplotlib.figure import Figure
from measures import judge, measured
from sets import DATA, HERE, KEPT, Set, read_definitions, read_set, report

from softbleu.config.languages import language_of_data
from softbleu.errors import InputError
from softbleu.meta.pooling import Pooled, Regression, Term, bounds_of, regress
from softbleu.metrics.reading import read_metric

FILES = (HERE / "sets.toml", HERE / "languages.toml")
FAMILIES = ("DA", "MQM and ESA")
MODELS: Mapping[str, tuple[str, ...]] = {  # Moderators of each
    "mean": (),
    "letters": ("letters",),
    "several": ("several",),
    "letters and several": ("letters", "several"),
    "several and nearness": ("several", "nearness"),
}
Row = Mapping[str, Any]
TARGETS: Mapping[str, Callable[[Row], bool]] = {  # Sets that are pooled
    "all": lambda _: True,
    "English": lambda row: row["language"] == "en",
    "not English": lambda row: row["language"] != "en",
    "not English, one output": lambda row: row["language"] != "en" and not row["several"],
    "not English, several outputs": lambda row: row["language"] != "en" and bool(row["several"]),
}
COLUMNS = "set language family several outputs letters nearness measure effect value deviation low high"


def letters_per_word(data: Set) -> float:
    """Mean number of letters and marks of the references' tokens that have a letter."""
    split = read_metric("bleu", tokenize=data.tokenize).tokenizer.tokens  # type: ignore[attr-defined]
    counts = [
        sum(unicodedata.category(sign)[0] in "LM" for sign in unicodedata.normalize("NFC", token))
        for references in data.texts.references
        for line in references
        for token in split(line)
    ]
    return float(np.mean([count for count in counts if count]))


def effects_of(data: Set) -> Iterator[list[Any]]:
    """Rows of a set: every effect by each measure."""
    there = ~np.isnan(data.ratings)
    several = len(data.ratings) > 1
    nearness = float(data.scores(["chrf"])[0][there].mean())
    about = [data.name, data.language, data.family, int(several), data.count, letters_per_word(data), nearness]
    for measure in ("r", "r within")[: 1 + several]:
        effects = [effect for effect in of_languages() if not (effect.beyond and data.language == "en")]
        measured(data, measure, [metric for effect in effects for metric in effect.metrics])  # In one pass
        for effect in effects:
            values = effect.weights @ measured(data, measure, effect.metrics)
            deviation = float(np.nanstd(values[1:], ddof=1))
            value, low, high, _ = judge(values)
            yield [*about, measure, effect.name, value, deviation, low, high]


def read_rows() -> list[dict[str, Any]]:
    """Rows of languages.csv, with numbers."""
    texts = {"set", "language", "family", "measure", "effect"}
    with (HERE / "languages.csv").open(encoding="utf-8", newline="") as stream:
        return [
            {name: cell if name in texts else float(cell) for name, cell in row.items()}
            for row in csv.DictReader(stream)
        ]


def moderated(row: Row, names: Sequence[str]) -> list[float]:
    """Moderators of a set: letters as doublings beyond 5, nearness in steps of 10 chrF beyond 50."""
    made = {
        "letters": float(np.log2(row["letters"] / 5)),
        "several": row["several"],
        "nearness": (row["nearness"] - 50) / 10,
    }
    return [made[name] for name in names]


def expected(rows: Sequence[Row], names: Sequence[str], new: Row) -> Pooled:
    """Expect the value of a set from others."""
    return columns_of(rows, names)[0].expect(moderated(new, names), new["deviation"])


ALONE = {effect.name for effect in of_languages() if " − " not in effect.name and ":" not in effect.name}


def left_out(rows: Sequence[Row], names: Sequence[str]) -> tuple[float | str, float | str, int]:
    """Root of the mean square error by language, the share of intervals that held, and the languages.

    All sets of a language are left out at once, and each language counts the same. Of one language both are empty.
    """
    squares, held = [], []
    for language in dict.fromkeys(row["language"] for row in rows):
        others = [row for row in rows if row["language"] != language]
        own = [row for row in rows if row["language"] == language]
        if len(others) > len(names) + 2:
            made = [expected(others, names, row) for row in own]
            squares.append(np.mean([(one.mean - row["value"]) ** 2 for one, row in zip(made, own, strict=True)]))
            held.append(
                np.mean([one.new_low <= row["value"] <= one.new_high for one, row in zip(made, own, strict=True)])
            )
    if not held:
        return "", "", 1
    return float(np.sqrt(np.mean(squares))), float(np.mean(held)), len(held)


def columns_of(rows: Sequence[Row], names: Sequence[str]) -> tuple[Regression, Pooled]:
    """Fit sets to moderators; and what is expected where all of them are zero."""
    given = [moderated(row, names) for row in rows]
    bounds = bounds_of("r", difference=rows[0]["effect"] not in ALONE)
    values, deviations = ([row[key] for row in rows] for key in ("value", "deviation"))
    fitted = regress(values, deviations, [*zip(*given, strict=True)], bounds)
    return fitted, fitted.expect([0.0] * len(names))


def moderators(every: Sequence[Row]) -> Iterator[list[Any]]:
    """Rows of moderators.csv."""
    for measure, effect in dict.fromkeys((row["measure"], row["effect"]) for row in every):
        of_effect = [row for row in every if (row["measure"], row["effect"]) == (measure, effect)]
        for targets, model in [*(("all", model) for model in MODELS), *((name, "mean") for name in [*TARGETS][1:])]:
            rows, names = [row for row in of_effect if TARGETS[targets](row)], MODELS[model]
            if len(rows) < 3:
                continue
            try:
                fitted, mean = columns_of(rows, names)
                error, held, languages = left_out(rows, names)
            except InputError:  # Too few sets, or within segments, where `several` is the same for all
                continue
            about = [measure, effect, targets, model, len(rows), languages, mean.between]
            for name, term in zip(("constant", *names), fitted.terms, strict=True):
                # A constant is in units of the measure where it lies.
                ends = [mean.mean, mean.low, mean.high, mean.new_low, mean.new_high]
                yield [*about, name, *(ends if name == "constant" else [*term, "", ""]), error, held]


def tested(every: Sequence[Row]) -> Iterator[list[Any]]:
    """Rows of hypotheses.csv: what became of the hypotheses of the plan, L1 to L14."""

    def term(effect: str, name: str, model: str = "letters and several") -> Term:
        rows = [row for row in every if row["measure"] == "r" and row["effect"] == effect]
        fitted, mean = columns_of(rows, MODELS[model])
        alone = Term(mean.mean, mean.low or 0.0, mean.high or 0.0)
        return alone if name == "constant" else fitted.terms[1 + MODELS[model].index(name)]

    def over(effect: str, chosen: Callable[[Row], bool], measure: str = "r") -> Term:
        rows = [row for row in every if (row["measure"], row["effect"]) == (measure, effect) and chosen(row)]
        if len(rows) == 1:
            return Term(rows[0]["value"], rows[0]["low"], rows[0]["high"])
        mean = columns_of(rows, ())[1]
        return Term(mean.mean, mean.low or 0.0, mean.high or 0.0)

    spelt, order, words = "L: spellings − exact", "BLEU − BLEU, single words", "BLEU, single words − BLEU"
    found: list[tuple[str, str, str, str, Term]] = [
        ("L1", "+", spelt, "by letters per word", term(spelt, "letters")),
        ("L2", "+", "chrF − BLEU", "by letters per word", term("chrF − BLEU", "letters")),
        ("L3", "-", "chrF++ − chrF", "by letters per word", term("chrF++ − chrF", "letters")),
        *(
            ("L4" if code == "yo" else "L5", "+", spelt, one, over(spelt, lambda row, one=one: row["set"] == one))  # type: ignore[misc]
            for one, code in NAMED.items()
        ),
        ("L6", "+", order, "one output per segment", turned(over(words, lambda row: not row["several"]))),
        (
            "L7",
            "0",
            f"{order}, r within",
            "several outputs",
            turned(over(words, lambda row: row["several"] == 1, "r within")),
        ),
        *(
            (name, "+", effect, "all sets", over(effect, lambda _: True))
            for name, effect in (("L8", "L: word order − none"), ("L9", "L: idf − none"))
        ),
        ("L10", "-", "L: idf − none", "by letters per word", term("L: idf − none", "letters")),
        (
            "L11",
            "+",
            "L: F − precision",
            "one output per segment",
            over("L: F − precision", lambda row: not row["several"]),
        ),
        ("L12", "-", "TER − chrF", "out of English", over("TER − chrF", lambda row: row["language"] != "en")),
        *(
            ("L13", "-", effect, "by nearness", term(effect, "nearness", "several and nearness"))
            for effect in ("chrF − BLEU", spelt, "L: F − precision", "L: idf − none", "L: word order − none")
        ),
        *(
            ("L14", "-", f"{metric}, r", "several outputs − one", term(metric, "several"))
            for metric in ("BLEU", "chrF", "softbleu --language")
        ),
    ]
    for name, sign, effect, of, (value, low, high) in found:
        side = "+" if low > 0 else "-" if high < 0 else "0"
        verdict = "holds" if side == sign else "not shown" if side == "0" else "refuted"
        yield [name, sign, effect, of, value, low, high, verdict]


NAMED = {  # Sets of L4 and L5
    "AfriMTE en-yor": "yo",
    "AfriMTE en-arz": "ar",
    "AfriMTE en-swh": "sw",
    "AfriMTE en-xho": "xh",
    "IndicMT en-mr": "mr",
    "IndicMT en-gu": "gu",
}


def turned(term: Term) -> Term:
    """Return a difference the other way round."""
    return Term(-term.value, -term.high, -term.low)


SHOWN = {
    "chrF − BLEU": "chrF − BLEU",
    "V: spellings − exact words": "softbleu: spellings − exact words",
    "softbleu --language − chrF": "softbleu --language − chrF",
    "BERTScore, multilingual − softbleu --language": "bertscore − softbleu --language",
}


def draw(every: Sequence[Row]) -> None:
    """Draw four effects: a point a set, by language, and the interval of a language that nobody has seen."""
    figure = Figure(figsize=(14, 7), layout="constrained")
    rows = [row for row in every if row["measure"] == "r" and row["effect"] in SHOWN]
    means = {
        code: float(
            np.mean([row["value"] for row in rows if row["language"] == code and row["effect"] != "chrF − BLEU"])
        )
        for code in dict.fromkeys(row["language"] for row in rows)
    }
    languages = sorted(means, key=lambda code: means[code])
    for axes, (effect, title) in zip(figure.subplots(1, len(SHOWN), sharey=True), SHOWN.items(), strict=True):
        of_effect = [row for row in rows if row["effect"] == effect]
        new = columns_of([row for row in of_effect if TARGETS["not English"](row)], ())[1]
        axes.axvspan(new.new_low, new.new_high, color="#56b4e9", alpha=0.15, label="a language not seen, 95%")
        axes.axvline(new.mean, color="#0072b2", linewidth=1)
        for row in of_effect:
            place, colour = languages.index(row["language"]), "#d55e00" if row["several"] else "#666666"
            axes.plot([row["low"], row["high"]], [place, place], color=colour, linewidth=1, alpha=0.5)
            axes.plot(row["value"], place, "o", color=colour, markersize=5)
        names = [language_of_data(code).name for code in languages]
        axes.set_yticks(range(len(languages)), [NAMES.get(name, name) for name in names])
        axes.axvline(0, color="#999999", linewidth=1)
        axes.set_title(title)
        axes.set_xlabel("difference in r over outputs")
    with rc_context({"svg.hashsalt": "languages", "svg.fonttype": "none"}):
        figure.savefig(HERE / "languages.svg", metadata={"Date": None, "Creator": None}, bbox_inches="tight")


NAMES = {
    **{"gu": "Gujarati", "mr": "Marathi", "ha": "Hausa", "so": "Somali", "sw": "Swahili", "xh": "isiXhosa"},
    "yo": "Yoruba",
}


def write(name: str, columns: str, rows: Iterator[list[Any]]) -> None:
    """Write a table with four decimals."""
    cells = [[f"{cell:.4f}" if isinstance(cell, float) else cell for cell in row] for row in rows]
    with (HERE / f"{name}.csv").open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([columns.split(), *cells])


def main() -> None:
    """Measure, regress, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    data = parser.parse_args().data
    os.environ.setdefault("SOFTBLEU_CACHE", str(KEPT / "lines"))
    sets = [one for path in FILES for one in read_definitions(path).values() if one.family in FAMILIES]

    def rows() -> Iterator[list[Any]]:
        for one in sets:
            yield from effects_of(read_set(one, data))
            report(f"{one.name}: measured")

    write("languages", COLUMNS, rows())
    every = read_rows()
    ends = "term value low high new_low new_high error held"
    write("moderators", f"measure effect targets model sets languages between {ends}", moderators(every))
    write("hypotheses", "hypothesis sign effect of value low high verdict", tested(every))
    draw(every)


if __name__ == "__main__":
    main()
