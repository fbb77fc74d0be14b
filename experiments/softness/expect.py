"""Print predictions of the sets kept aside, from what languages.csv has of ours, as rows of predictions.toml.

python experiments/softness/expect.py

A row is an interval of 95% of the mean over some sets kept aside. Its middle is the mean of their kind, and its width
has the error of this mean, the variance between sets and that of sampling at the size of the sets kept aside.
`left out`: on how many of our sets of the kind such an interval holds, made from the sets of other languages.
`outside`: for how many of all our sets the row would be wrong.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from languages import Row, read_rows

from softbleu.meta.pooling import Pooled, Regression, bounds_of, regress

BOUNDS = bounds_of("r", difference=True)
WIDEST, NARROW = 0.04, 0.02  # Half of an interval; the second where it has zero inside
SHARE = 5 / 32  # Least share of our sets that the row would be wrong for


@dataclass(frozen=True)
class Group:
    """Sets kept aside, and ours that they are predicted from."""

    sets: Sequence[str]
    single: bool | None  # Whether a segment has one output; None: sets of both kinds
    african: float  # Share of sets of AfriMTE into African languages
    like: str  # Beginning of the names of our sets that have their sampling error
    outputs: Sequence[int]  # Of each set
    apart: int  # Sets that count as independent draws
    effects: Sequence[str]
    measure: str = "r"


SMALL = ("chrF++ − chrF", "L: word order − none", "V: order 2 − 1", "V: power 1 − .7")
LARGE = ("chrF++ − chrF", "L: word order − none", "V: order 3 − 2", "V: position .2 − 0")
VECTORS = ["BERTScore, multilingual − softbleu --language"]
GROUPS = [
    Group(
        [f"AfriMTE en-{code}" for code in ("ibo", "kik", "luo", "twi")],
        *(True, 1.0, "AfriMTE", [240] * 4, 4),
        [
            "softbleu, spellings − softbleu, exact words",
            "chrF, n-grams to 4 − chrF",
            "chrF, n-grams to 4 − chrF++",
            "BLEU, single words − softbleu, exact words",
            "chrF++ − chrF",
            "L: word order − none",
            "V: order 3 − 2",
        ],
    ),
    Group(
        [f"AfriMTE {pair}" for pair in ("en-ibo", "en-kik", "en-luo", "en-twi", "en-fra", "ary-fra", "yor-en")],
        *(True, 4 / 7, "AfriMTE", [240] * 7, 3),
        [
            "softbleu, spellings − softbleu, exact words",
            "L: F − precision",
            "chrF3 − chrF1",
            "V: beta 1.25 − .8",
            "V: idf 2 − 1",
            "chrF++ − chrF",
        ],
    ),
    Group(
        [f"AfriMTE {pair}" for pair in ("en-fra", "ary-fra", "yor-en")],
        *(True, 0.0, "AfriMTE", [240] * 3, 1),
        ["chrF++ − chrF", "chrF3 − chrF", "V: position .2 − 0", "V: order 3 − 2"],
    ),
    *(Group([f"IndicMT en-{code}"], False, 0.0, "IndicMT", [1400], 1, LARGE) for code in ("ta", "ml")),
    Group([f"IndicMT en-{code}" for code in ("ta", "ml")], False, 0.0, "IndicMT", [1400] * 2, 2, ["V: order 2 − 1"]),
    Group([f"IndicMT en-{code}" for code in ("kn", "pa", "as", "mai")], False, 0.0, "IndicMT", [250] * 4, 2, SMALL),
    Group(
        [f"IndicMT en-{code}" for code in ("ta", "ml", "kn", "pa", "as", "mai")],
        *(False, 0.0, "IndicMT", [1400, 1400, *[250] * 4], 2),
        ["L: idf − none", "V: idf 1 − 0", "chrF3 − chrF1"],
    ),
    Group([f"IndicMT en-{code}" for code in ("ta", "ml")], None, 0.0, "IndicMT", [1400] * 2, 2, VECTORS),
    Group(
        [f"IndicMT en-{code}" for code in ("ta", "ml", "kn", "pa", "as", "mai")],
        *(None, 0.0, "IndicMT", [1400, 1400, *[250] * 4], 2),
        VECTORS,
    ),
    Group(["WMT24 en-ja"], False, 0.0, "WMT24", [3000], 1, ["L: word order − none", "V: position .2 − 0"]),
]


def african(row: Row) -> float:
    """Whether a set is of AfriMTE."""
    return float(row["set"].startswith("AfriMTE"))


def fit(rows: Sequence[Row], group: Group) -> Regression:
    """Fit the sets of a kind, those of AfriMTE with a mean of their own."""
    kinds = [[african(row) for row in rows]] if group.single else []
    return regress([row["value"] for row in rows], [row["deviation"] for row in rows], kinds, BOUNDS)


def expect(rows: Sequence[Row], group: Group) -> Pooled:
    """Return the interval of the mean over the sets of a group."""
    drawn = [row for row in rows if row["set"].startswith(group.like)]
    one = median(row["deviation"] * row["outputs"] ** 0.5 for row in drawn)  # Of an output
    sampled = sum(one**2 / outputs for outputs in group.outputs) / len(group.outputs) ** 2
    at = [group.african] * bool(group.single)
    return fit(rows, group).expect(at, (sampled * group.apart) ** 0.5, sets=group.apart)


def left_out(rows: Sequence[Row], group: Group) -> Iterator[bool]:
    """Whether intervals made without a language hold on its sets."""
    for language in dict.fromkeys(row["language"] for row in rows):
        fitted = fit([row for row in rows if row["language"] != language], group)
        for row in rows:
            alike = not group.single or group.african not in (0, 1) or african(row) == group.african
            if row["language"] == language and alike:
                made = fitted.expect([african(row)] * bool(group.single), row["deviation"])
                yield (made.new_low or 0.0) <= row["value"] <= (made.new_high or 0.0)


def main() -> None:
    """Print the rows that can fail and are narrow enough; say of the others why they are not written."""
    table = read_rows()
    for group in GROUPS:
        for effect in group.effects:
            every = [row for row in table if (row["measure"], row["effect"]) == (group.measure, effect)]
            rows = [row for row in every if group.single is None or row["several"] == (not group.single)]
            made, held = expect(rows, group), [*left_out(rows, group)]
            low, high = made.new_low or 0.0, made.new_high or 0.0
            half, sign = (high - low) / 2, "+" if low > 0 else "-" if high < 0 else "0"
            outside = sum(not low <= row["value"] <= high for row in every)
            about = f"left out: {sum(held)} of {len(held)}; outside: {outside} of {len(every)}"
            if half > (NARROW if sign == "0" else WIDEST) or outside < SHARE * len(every):
                sys.stderr.write(f"not written: {effect}, {group.sets}, {low:.3f} to {high:.3f}; {about}\n")
                continue
            names = ", ".join(f'"{name}"' for name in group.sets)
            lines = [f"sets = [{names}]", f'effect = "{effect}"', f'measure = "{group.measure}"', f'sign = "{sign}"']
            lines += [f"low = {low:.3f}", f"high = {high:.3f}", "made = 2026-11-28"]
            sys.stdout.write(f"\n[[prediction]]  # {about}\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
