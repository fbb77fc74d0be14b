"""What helps in which language, and on which kind of set: the third plan of docs/study/plan.md.

python experiments/softness/languages.py [--data FOLDER]

Writes beside this file:

- languages.csv: r of each metric, and each effect, on each set with judged outputs of sets.toml and languages.toml:
  with letters per word of its references, the mean chrF of its outputs, and whether a segment has several outputs.
- moderators.csv: each effect over sets, as a mean and by moderators: coefficients with intervals of 95%, the error of
  what is predicted for a language whose sets are all left out, and the share of intervals that held.

Scores and measures are kept in build/softness, as those of make.py.
"""

from __future__ import annotations

import argparse
import csv
import os
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from cells import of_languages
from measures import judge, measured
from sets import DATA, HERE, KEPT, Set, read_definitions, read_set, report

from softbleu.errors import InputError
from softbleu.meta.pooling import Pooled, bounds_of, regress
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
        measured(data, measure, [metric for effect in of_languages() for metric in effect.metrics])  # In one pass
        for effect in of_languages():
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
    bounds = bounds_of("r", difference=new["effect"] not in ALONE)
    values, deviations = ([row[key] for row in rows] for key in ("value", "deviation"))
    given = [moderated(row, names) for row in rows]
    fitted = regress(values, deviations, [*zip(*given, strict=True)], bounds)
    return fitted.expect(moderated(new, names), new["deviation"])


ALONE = {effect.name for effect in of_languages() if " − " not in effect.name and ":" not in effect.name}


def left_out(rows: Sequence[Row], names: Sequence[str]) -> tuple[float, float, int]:
    """Root of the mean square error by language, the share of intervals that held, and the languages.

    All sets of a language are left out at once, and each language counts the same.
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
    return float(np.sqrt(np.mean(squares))), float(np.mean(held)), len(held)


def moderators() -> Iterator[list[Any]]:
    """Rows of moderators.csv."""
    every = read_rows()
    for measure, effect in dict.fromkeys((row["measure"], row["effect"]) for row in every):
        rows = [row for row in every if (row["measure"], row["effect"]) == (measure, effect)]
        bounds = bounds_of("r", difference=effect not in ALONE)
        for model, names in MODELS.items():
            given = [moderated(row, names) for row in rows]
            try:
                fitted = regress(
                    [row["value"] for row in rows],
                    [row["deviation"] for row in rows],
                    [*zip(*given, strict=True)],
                    bounds,
                )
                error, held, languages = left_out(rows, names)
            except InputError:  # Within segments `several` is the same for all
                continue
            about = [measure, effect, model, len(rows), languages, fitted.between * (bounds[1] - bounds[0]) / 4]
            for name, term in zip(("constant", *names), fitted.terms, strict=True):
                yield [*about, name, *term, error, held]


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
    write("moderators", "measure effect model sets languages between term value low high error held", moderators())


if __name__ == "__main__":
    main()
