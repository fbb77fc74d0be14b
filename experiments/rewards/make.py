"""Reward texts that no translator writes by each metric, beside a real system and a second human reference.

    python experiments/rewards/make.py ../shared/data
    python experiments/rewards/make.py ../shared/data --only chrf 'chrf|strict'

The plan, written before the table was made:

- Lines: the first 500 of WMT21 de-en with their human reference A. The real system is Facebook-AI, the second human
  is reference B. No line is left out. Metrics over an encoder take the first 100 lines, for time.
- Manipulations are of the words of reference A, split at blanks: whoever trains on a reward may come to know what
  the reference has, so each is the most that a policy of its kind can gain. `MANIPULATIONS` names them; chance has
  a seed.
- A constant text is the same for all lines. It is drawn from the system's outputs behind the 500 lines; the best of
  50 has the highest mean by this metric.
- Hill climbing begins with shuffled words and changes one word of each line at a time: it swaps two words, moves one,
  leaves one out, puts in or writes another word of the reference. A change stays if the reward is not lower, and the
  text has no three consecutive words of the reference. Each line takes .12 s of CPU, which is 60 s for 500 lines;
  it climbs the first 100 lines (`lines`). `rounds` counts the changes that were tried for a line.
- A reward is from 0 to 1, as `softbleu.Reward` gives it. A text beats another one if its reward is greater.
- Intervals are 95%: of a mean by Student's t, of a share by Wilson.

`rewards.csv` has a row for each metric and text, which `rows_of` makes. `|strict` is `Reward(…, strict=True)`.
`others.csv` has chrF on the sets `others` of the plan, without climbing (`--others`). A set without a second human
has the reference in its place; negation is English, so other languages do without.
"""

from __future__ import annotations

import argparse
import csv
import random
import time
import tomllib
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from scipy.stats import binomtest, t

import softbleu

HERE = Path(__file__).resolve().parent
LINES, FEW, CONSTANTS, SEED, SECONDS = 500, 100, 50, 81, 0.12
COLUMNS = (
    *("metric", "text", "lines", "rounds", "mean", "mean_low", "mean_high"),
    *("beats_system", "system_low", "system_high", "beats_human", "human_low", "human_high"),
)
LOOKALIKES = str.maketrans("aceopxyABCEHKMOPTX", "асеорхуАВСЕНКМОРТХ")
VERBS = {
    *("is", "are", "was", "were", "will", "would", "can", "could", "should", "must", "may", "might"),
    *("has", "have", "had"),
}
Texts = list[str]
Rewarded = Callable[[Texts], np.ndarray]


def lines_of(path: Path) -> Texts:
    """Read the lines of a file."""
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")


def denied(words: Sequence[str]) -> Sequence[str]:
    """Leave out "not", put it behind the first verb that takes one, or else deny the whole."""
    lower = [word.lower() for word in words]
    for place, word in enumerate(lower):
        if word == "not":
            return [*words[:place], *words[place + 1 :]]
        if word in VERBS and "not" not in lower:
            return [*words[: place + 1], "not", *words[place + 1 :]]
    return ["It", "is", "not", "true", "that", *words]


MANIPULATIONS: dict[str, Callable[[list[str], random.Random], str]] = {
    "shuffled": lambda words, chance: " ".join(chance.sample(words, len(words))),
    "reversed": lambda words, _: " ".join(words[::-1]),
    "without blanks": lambda words, _: "".join(words),
    "twice": lambda words, _: " ".join(words * 2),
    "three times": lambda words, _: " ".join(words * 3),
    "zero-width": lambda words, _: " ".join(
        word[: len(word) // 2] + "\u200b" + word[len(word) // 2 :] for word in words
    ),
    "negated": lambda words, _: " ".join(denied(words)),
    "capitals": lambda words, _: " ".join(words).upper(),
    "homoglyphs": lambda words, _: " ".join(words).translate(LOOKALIKES),
    "half": lambda words, _: " ".join(words[: (len(words) + 1) // 2]),
    "empty": lambda words, _: "",
}


def manipulated(references: Texts) -> dict[str, Texts]:
    """Texts of each manipulation that looks at nothing but the reference."""
    chance = random.Random(SEED)
    return {name: [change(text.split(), chance) for text in references] for name, change in MANIPULATIONS.items()}


def runs(words: Sequence[str]) -> set[tuple[str, ...]]:
    """Three consecutive words, at every place."""
    return set(zip(words, words[1:], words[2:], strict=False))


def changed(words: Sequence[str], known: Sequence[str], chance: random.Random) -> list[str]:
    """Change one word of a line."""
    words, place, move = [*words], chance.randrange(len(words)), chance.randrange(5)
    other = chance.randrange(len(words))
    if move == 0:
        words[place], words[other] = words[other], words[place]
    elif move == 1:
        words.insert(other, words.pop(place))
    elif move == 2 and len(words) > 1:
        words.pop(place)
    elif move == 3:
        words.insert(place, chance.choice(known))
    else:
        words[place] = chance.choice(known)
    return words


def climb(references: Texts, reward: Rewarded, rounds: int | None = None) -> tuple[Texts, int]:
    """Climb from shuffled words for `SECONDS` of CPU a line, or so many rounds; return the texts, and the rounds."""
    chance, known = random.Random(SEED), [text.split() for text in references]
    forbidden = [runs(words) for words in known]
    found = []
    for words, none in zip(known, forbidden, strict=True):
        drawn = chance.sample(words, len(words))
        for _ in range(1000):
            if not runs(drawn) & none and drawn != words:
                break
            drawn = chance.sample(words, len(words))
        found.append(drawn)
    start, count = time.process_time(), 0
    best = reward([" ".join(words) for words in found])
    while count < rounds if rounds is not None else time.process_time() - start < SECONDS * len(references):
        tried = []
        for words, own, none in zip(found, known, forbidden, strict=True):
            new = changed(words, own, chance)
            tried.append(words if runs(new) & none or new == own else new)
        scores = reward([" ".join(words) for words in tried])
        kept = scores >= best
        found = [new if keep else old for new, old, keep in zip(tried, found, kept, strict=True)]
        best, count = np.maximum(best, scores), count + 1
    return [" ".join(words) for words in found], count


def reward_of(name: str, references: Texts) -> Rewarded:
    """Make the reward of a metric, strict with `|strict` behind it, of texts with the first of these references."""
    metric, _, more = name.partition("|")
    made = softbleu.Reward(metric, strict=more == "strict")
    return lambda texts: np.array(made(texts, references[: len(texts)]), float)


def rows_of(
    name: str, texts: dict[str, Texts], climbed: int | None = FEW, rounds: int | None = None
) -> Iterator[dict[str, object]]:
    """Rewards of all texts of `texts_of` by one metric, and of what climbing so many lines finds, if any."""
    references = texts["reference"]
    reward = reward_of(name, references)
    constants = [reward([text] * len(references)) for text in texts["constants"]]
    rewards = {each: reward(texts[each]) for each in ("system", "human")}
    rewards |= {each: reward(made) for each, made in manipulated(references).items()}
    rewards["constant"], rewards["best of 50 constants"] = constants[0], max(constants, key=np.mean)
    if climbed is not None:
        found, count = climb(references[:climbed], reward, rounds)
        rewards["hill climbing"] = reward(found)
    for each, values in rewards.items():
        cells: list[object] = [name, each, len(values), count if each == "hill climbing" else ""]
        spread = t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
        cells += [f"{min(max(values.mean() + sign * spread, 0), 1):.4f}" for sign in (0, -1, 1)]
        for other in ("system", "human"):
            wins = binomtest(int((values > rewards[other][: len(values)]).sum()), len(values))
            bounds = wins.proportion_ci(method="wilson")
            cells += [f"{share:.4f}" for share in (wins.statistic, bounds.low, bounds.high)]
        yield dict(zip(COLUMNS, cells, strict=True))


def texts_of(data: Path, given: dict[str, str], lines: int = LINES) -> dict[str, Texts]:
    """Read the first lines of a set of `plan.toml`, and constants from behind all 500."""
    sides = {
        side: lines_of(data / given["folder"] / given.get(side, given["reference"]))
        for side in ("reference", "system", "human")
    }
    behind = random.Random(SEED).sample(sides["system"][LINES:], CONSTANTS)
    return {side: texts[:lines] for side, texts in sides.items()} | {"constants": behind}


def write_table(place: Path, columns: Sequence[str], rows: Sequence[dict[str, object]]) -> None:
    """Write rows of one of the tables."""
    with place.open("w", encoding="utf-8", newline="") as stream:
        table = csv.DictWriter(stream, columns, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def other_rows(data: Path, given: dict[str, str]) -> Iterator[dict[str, object]]:
    """Rows of chrF, as it is and strict, of one of the plan's `others`."""
    texts = texts_of(data, given)
    for name in ("chrf", "chrf|strict"):
        for row in rows_of(name, texts, climbed=None):
            if row["text"] != "negated" or given["reference"].endswith(".en"):
                yield {"set": f"{given['folder']} {Path(given['system']).stem}", **row}


def main() -> None:
    """Write the table; `--only` measures these metrics again and keeps the other rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", nargs="*", help="metrics, as they are in the table")
    parser.add_argument("--others", action="store_true", help="measure strict rewards on other sets")
    given = parser.parse_args()
    warnings.simplefilter("ignore", softbleu.SoftbleuWarning)  # That outputs are odd
    plan = tomllib.loads((HERE / "plan.toml").read_text(encoding="utf-8"))
    if given.others:
        found = [row for other in plan["others"] for row in other_rows(given.data, other)]
        write_table(HERE / "others.csv", ("set", *COLUMNS), found)
        return
    place = HERE / "rewards.csv"
    rows: list[dict[str, object]] = []
    if place.exists() and given.only is not None:
        rows = [*csv.DictReader(place.open(encoding="utf-8", newline=""))]
    for name in given.only or [*plan["metrics"]]:
        size = plan["metrics"][name]
        texts = texts_of(given.data, plan["set"], size["lines"])
        rows = [row for row in rows if row["metric"] != name] + [*rows_of(name, texts, size["climbed"])]
        order = [*plan["metrics"]]
        rows.sort(key=lambda row: order.index(str(row["metric"])))
        write_table(place, COLUMNS, rows)


if __name__ == "__main__":
    main()
