"""Matches of Morgan (2014) as its text and its program may be read: literal, slow, nothing of softbleu's matchers.

`python experiments/papers/readings.py SHARED` writes `readings.csv`: each reading's matches and scores beside the
printed ones. `SHARED` is the folder of the test data.
"""

from __future__ import annotations

import csv
import itertools
import math
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Literal

import numpy as np

NGram = tuple[str, ...]
ORDERS = (1, 2, 3, 4)
MADE_OF_LETTERS = re.compile(r"[^\W\d_]+(['-][^\W\d_]+)*")
LACKING = {"a", "and", "of", "to"}  # Words that the vectors of GoogleNews lack
HERE = Path(__file__).parent
TENTH = ", every tenth segment, times ten"


@dataclass(frozen=True)
class Reading:
    """What the text leaves open. The first value of each is the default."""

    metric: str
    compares: Literal["own", "up to own", "all"] = "own"  # Orders k of the reference n-grams that a j-gram meets
    pool: Literal["each order", "all orders", "all orders, longest first", "each n-gram"] = "each order"  # Filled for
    takes: Literal["most similar", "by spelling", "nothing"] = "most similar"
    amount: Literal["one", "similarity"] = "one"  # Of what is taken; by spelling: similarity of what was met last
    exact: Literal["in turn", "first"] = "in turn"
    words: Literal["exact", "lower", "presumed"] = "exact"  # Which words have vectors, see `Vectors.of`
    unknown: Literal["itself", "skipped", "stops"] = "itself"  # Words without a vector; stops: nothing more is met
    credit: Literal["greatest", "running"] = "greatest"  # Running: the greatest so far, after each n-gram that is met
    rounds: int = 1  # 0: as many as the order
    absolute: bool = False
    threshold: float = 0.0
    denominator: Literal["order", "three"] = "order"


class Vectors:
    """Unit vectors of words, from a file of word2vec."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            count, self.size = map(int, file.readline().split())
            self.rows: dict[str, np.ndarray] = {}
            for _ in range(count):
                word = b"".join(iter(lambda: file.read(1), b" ")).decode().lstrip("\n")
                row = np.frombuffer(file.read(4 * self.size), np.float32).astype(np.float64)
                self.rows[word] = row / np.linalg.norm(row)
        self._drawn = list(self.rows.values())

    def of(self, word: str, words: str) -> np.ndarray | None:
        """Vector of a word, None for a word without one.

        `exact`: as the file has it; `lower`: else that of the word in lower case; `presumed`: else that of a word
        drawn at random, if the full vectors of GoogleNews may have the word: it is made of letters, and is no stop
        word that they lack.
        """
        found = self.rows.get(word)
        if found is None and words != "exact":
            found = self.rows.get(word.lower())
        if found is None and words == "presumed" and MADE_OF_LETTERS.fullmatch(word) and word not in LACKING:
            found = self._drawn[np.random.default_rng([*word.encode()]).integers(len(self._drawn))]
        return found


def ngrams(words: list[str], order: int) -> list[NGram]:
    """All n-grams of an order, from left to right."""
    return [tuple(words[start : start + order]) for start in range(len(words) - order + 1)]


class Similarities:
    """Cosines of averaged vectors of the n-grams of a segment; a word without a vector is like itself only."""

    def __init__(self, candidate: list[str], reference: list[str], vectors: Vectors, known: str) -> None:
        words = {word: place for place, word in enumerate(dict.fromkeys(candidate + reference))}
        found = {word: vectors.of(word, known) for word in words}
        rows = np.array([np.zeros(vectors.size) if row is None else row for row in found.values()])
        products = rows @ rows.T
        np.fill_diagonal(products, 1.0)
        self.unknown = {word for word, row in found.items() if row is None}
        sides = [dict.fromkeys(x for order in ORDERS for x in ngrams(side, order)) for side in (candidate, reference)]
        counts = [np.zeros((len(side), len(words))) for side in sides]
        for side, count in zip(sides, counts, strict=True):
            for row, ngram in enumerate(side):
                for word in ngram:
                    count[row, words[word]] += 1
        self.columns = {ngram: column for column, ngram in enumerate(sides[1])}
        norms = [np.sqrt(np.einsum("ij,jk,ik->i", count, products, count)) for count in counts]
        table = counts[0] @ products @ counts[1].T / np.outer(*(np.maximum(norm, 1e-6) for norm in norms))
        self.rows = dict(zip(sides[0], np.clip(table.round(6), -1, 1), strict=True))

    def known(self, ngram: NGram) -> bool:
        """Whether all words have vectors."""
        return self.unknown.isdisjoint(ngram)


def matches(
    reading: Reading, candidate: list[str], reference: list[str], similar: Similarities, rng: np.random.Generator
) -> list[float]:
    """Matches of each order of one segment."""
    found = dict.fromkeys(ORDERS, 0.0)
    orders = ORDERS[::-1] if reading.pool.endswith("first") else ORDERS
    pools = {order: Counter(ngrams(reference, order)) for order in ORDERS}
    for order in orders:
        if len(reference) < order:
            continue
        if not reading.pool.startswith("all"):
            pools = {k: Counter(ngrams(reference, k)) for k in ORDERS}
        rest = ngrams(candidate, order)
        if reading.exact == "first":
            found[order] += sum((Counter(rest) & pools[order]).values())
            taken = Counter(rest) & pools[order]
            rest = list(_left(rest, taken.copy()))
            _remove(pools[order], taken)
        for ngram in rest:
            if pools[order].get(ngram, 0) > 0:
                found[order] += 1
                pools[order][ngram] -= 1
            else:
                _leave_positive(pools)
                own = {k: Counter(ngrams(reference, k)) for k in ORDERS} if reading.pool == "each n-gram" else pools
                found[order] += approximate(reading, ngram, own, similar, rng)
    return [found[order] for order in ORDERS]


def _left(occurrences: list[NGram], taken: Counter[NGram]) -> Iterator[NGram]:
    for ngram in occurrences:
        if taken[ngram] > 0:
            taken[ngram] -= 1
        else:
            yield ngram


def _remove(pool: Counter[NGram], taken: Counter[NGram]) -> None:
    pool.subtract(taken)


def _leave_positive(pools: dict[int, Counter[NGram]]) -> None:
    for pool in pools.values():
        for ngram in [each for each, count in pool.items() if count <= 1e-9]:
            del pool[ngram]


def approximate(
    reading: Reading,
    ngram: NGram,
    pools: dict[int, Counter[NGram]],
    similar: Similarities,
    rng: np.random.Generator,
) -> float:
    """Credit of an n-gram without an exact match; what it takes leaves the pool."""
    order = len(ngram)
    if reading.metric == "SLEU" and order > 1:
        return 0.0
    orders = {"own": (order,), "up to own": range(1, order + 1), "all": ORDERS}[reading.compares]
    met = [each for k in orders for each in pools[k]]
    if reading.unknown != "itself" and not similar.known(ngram):
        return 0.0
    if reading.credit == "running":
        return running_credit(reading, ngram, met, pools, similar, rng)
    if reading.unknown == "stops" and not all(map(similar.known, met)):
        return 0.0
    if reading.unknown == "skipped":
        met = [each for each in met if similar.known(each)]
    if not met:
        return 0.0
    values = similar.rows[ngram][[similar.columns[each] for each in met]]
    values = np.abs(values) if reading.absolute else values
    best = int(values.argmax())
    if not values[best] > reading.threshold:
        return 0.0
    if reading.takes != "nothing":
        by_spelling = reading.takes == "by spelling"
        partner, value = (max(met), values[-1]) if by_spelling else (met[best], values[best])
        pools[len(partner)][partner] -= value if reading.amount == "similarity" else 1
    return float(values[best])


def running_credit(
    reading: Reading,
    ngram: NGram,
    met: list[NGram],
    pools: dict[int, Counter[NGram]],
    similar: Similarities,
    rng: np.random.Generator,
) -> float:
    """Credit as the program counts it: the greatest similarity so far, once for each n-gram that is met.

    The program meets them in the order of a hash table, this in a random one.
    """
    credit, greatest, spelling = 0.0, -math.inf, ngram[:0]
    row = similar.rows[ngram]
    for _ in range(reading.rounds or len(ngram)):
        for each in (met[place] for place in rng.permutation(len(met))):
            if not similar.known(each):
                return credit
            value = float(row[similar.columns[each]])
            value = abs(value) if reading.absolute else value
            greatest, spelling = max(greatest, value), max(spelling, each)
            if greatest > reading.threshold:
                credit += greatest
                pools[len(spelling)][spelling] = max(pools[len(spelling)].get(spelling, 0) - value, 0)
    return credit


Pairs = list[tuple[list[str], list[str]]]


def corpus_matches(readings: list[Reading], pairs: Pairs, vectors: Vectors) -> dict[Reading, list[float]]:
    """Sum the matches of each reading over a corpus."""
    sums = {reading: [0.0] * 4 for reading in readings}
    for number, (candidate, reference) in enumerate(pairs):
        kinds = {reading.words for reading in readings}
        similar = {kind: Similarities(candidate, reference, vectors, kind) for kind in kinds}
        for reading, total in sums.items():
            rng = np.random.default_rng(number)
            for place, value in enumerate(matches(reading, candidate, reference, similar[reading.words], rng)):
                total[place] += value
    return sums


def totals(pairs: Pairs, denominator: str) -> list[int]:
    """Count the reference's n-grams, of the order, or of orders 1 to 3 of references that have the order."""
    counted = [[max(len(reference) - k + 1, 0) for k in ORDERS] for _, reference in pairs]
    if denominator == "order":
        return [sum(column) for column in zip(*counted, strict=True)]
    return [sum(sum(row[:3]) for row in counted if row[k - 1] > 0) for k in ORDERS]


def score(found: list[float], pairs: Pairs, denominator: str) -> float:
    """Geometric mean of the precisions, times the brevity penalty."""
    if not all(found):
        return 0.0
    c, r = (sum(len(pair[side]) for pair in pairs) for side in (0, 1))
    logs = [math.log(one / total) for one, total in zip(found, totals(pairs, denominator), strict=True)]
    return math.exp(min(0.0, 1 - r / c) + sum(logs) / 4)


TEXT: dict[str, dict[str, object]] = {"the text": {}}
LIKE_TEXT: dict[str, dict[str, object]] = {
    "cased words as their lower case": {"words": "lower"},
    "by similarity": {"amount": "similarity"},
    "nothing is removed": {"takes": "nothing"},
    "exact matches first": {"exact": "first"},
    "n-grams with unknown words match none": {"unknown": "skipped"},
    "an unknown word among those compared: no match": {"unknown": "stops"},
}
ONE_POOL: dict[str, dict[str, object]] = {
    "k up to j": {"compares": "up to own"},
    "k = j": {"compares": "own"},
    "one pool, orders ascending": {"pool": "all orders"},
    "one pool, orders descending": {"pool": "all orders, longest first"},
}
STOPS: dict[str, object] = {"unknown": "stops", "takes": "by spelling", "amount": "similarity"}
WORDS = ("exact", "lower", "presumed")
EARLY: dict[str, object] = {"compares": "up to own", "pool": "each n-gram", "credit": "running", "absolute": True}
SECOND: dict[str, object] = {"compares": "own", "rounds": 0, "credit": "running"}
LATE: dict[str, object] = {"compares": "all", "credit": "running"}
PRINTED = {
    "Table 2": {
        "SLEU": (27939.7, 13406, 7070, 3853, 0.194107449678),
        "VLEU": (27938.0, 13489.3, 7151.3, 3912.4, 0.1957),
        "XLEU": (48570.63, 47512.57, 39648.82, 30769.48, None),
    },
    "Table 6": {"SLEU": 0.1940, "VLEU": 0.1941, "XLEU": 0.2074},
    "Tables 4, 5": {
        "SLEU": (1227.68, 238.0, 62.0, 10.0, 0.0498),
        "VLEU": (1227.68, 397.09, 182.42, 85.73, 0.0779),
    },
}


def readings_of_table_2() -> dict[str, list[tuple[str, Reading]]]:
    """By metric: the text, the text but for one point, the program with three sets of words."""
    found = {}
    for metric in ("SLEU", "VLEU", "XLEU"):
        base = Reading(metric, "all" if metric == "XLEU" else "own")
        changes = TEXT | LIKE_TEXT | (ONE_POOL if metric == "XLEU" else {})
        named = [(name, replace(base, **change)) for name, change in changes.items()]
        programs = {"the program": {"absolute": True}}
        if metric == "XLEU":
            programs = {"the program, first version": EARLY, "the program, second version": SECOND}
        named += [
            (f"{name}, words {words}", replace(base, **STOPS, **change, words=words))
            for name, change in programs.items()
            for words in WORDS
        ]
        found[metric] = named
    return found


def readings_of_table_6() -> dict[str, list[tuple[str, Reading]]]:
    """Those of Table 2 that say something at .9; the program's last version, with k from 1 to 4."""
    kept = ("the text", "cased words as their lower case", "n-grams with unknown words match none")
    found = {}
    for metric, named in readings_of_table_2().items():
        base = Reading(metric, "all" if metric == "XLEU" else "own", threshold=0.9)
        change = LATE if metric == "XLEU" else {"absolute": metric == "SLEU"}
        found[metric] = [(name, replace(reading, threshold=0.9)) for name, reading in named if name in kept]
        found[metric] += [
            (f"the program, words {words}", replace(base, **STOPS, **change, words=words)) for words in WORDS
        ]
    return found


def all_readings_of_xleu() -> list[Reading]:
    """Every combination of what the text leaves open and weighs most."""
    parts = itertools.product(
        ("own", "up to own", "all"),
        ("each order", "all orders", "all orders, longest first"),
        (("most similar", "one"), ("most similar", "similarity"), ("nothing", "one")),
        ("itself", "skipped", "stops"),
    )
    return [Reading("XLEU", compares, pool, *taking, unknown=unknown) for compares, pool, taking, unknown in parts]


def distance(found: list[float], printed: tuple[float, ...]) -> float:
    """Mean of |ln(ours / printed)| over the orders."""
    return sum(abs(math.log(max(one, 1e-9) / other)) for one, other in zip(found, printed, strict=True)) / 4


def main(shared: Path) -> None:
    """Write the tables."""
    data = shared / "data"
    vectors = Vectors(data / "googlenews-26k" / "googlenews-26k-300d.bin")
    files = [data / "morgan2014" / name for name in ("umd.2922.txt", "reference.en")]
    texts = [file.read_text(encoding="utf-8").split("\n")[:3000] for file in files]
    pairs = [(candidate.split(), reference.split()) for candidate, reference in zip(*texts, strict=True)]
    rows: list[dict[str, object]] = []

    def add(
        table: str, name: str, reading: Reading, found: list[float], score_of: dict[str, float], far: float | None
    ) -> None:
        settings = [
            f"{each.name}={value}"
            for each in fields(Reading)[1:]
            if (value := getattr(reading, each.name)) != each.default
        ]
        rows.append(
            {"table": table, "metric": reading.metric, "reading": name, "settings": "; ".join(settings)}
            | {f"matches {order}": f"{value:.2f}" for order, value in zip(ORDERS, found, strict=True)}
            | {name: f"{value:.6f}" for name, value in score_of.items()}
            | {"distance": "" if far is None else f"{far:.4f}"}
        )

    def scores(found: list[float], corpus: Pairs, metric: str) -> dict[str, float]:
        kinds = ("order", "three") if metric == "XLEU" else ("order",)
        return {f"score, totals {kind}": score(found, corpus, kind) for kind in kinds}

    for table, by_metric in (("Table 2", readings_of_table_2()), ("Table 6", readings_of_table_6())):
        named = [each for several in by_metric.values() for each in several]
        # The text and the program over the whole corpus, and what is not far from them over a tenth of it.
        whole = [each for each in named if each[0] == "the text" or each[0].endswith("words presumed")]
        for part, corpus, chosen in (("", pairs, whole), (TENTH, pairs[::10], named)):
            sums = corpus_matches([reading for _, reading in chosen], corpus, vectors)
            for name, reading in chosen:
                found = [value * (10 if part else 1) for value in sums[reading]]
                far = distance(found, PRINTED["Table 2"][reading.metric][:4]) if table == "Table 2" else None
                add(table + part, name, reading, found, scores(sums[reading], corpus, reading.metric), far)
        write(rows)
    sums = corpus_matches(all_readings_of_xleu(), pairs[::10], vectors)
    for reading, tenth in sums.items():
        found = [10 * value for value in tenth]
        add("Table 2" + TENTH, "", reading, found, {}, distance(found, PRINTED["Table 2"]["XLEU"][:4]))
    write(rows)
    artificial = [(f"Tables 4, 5: {seed}", made(seed)) for seed in range(5)]
    named = [("the text", Reading(metric)) for metric in ("SLEU", "VLEU")]
    named += [("the program", Reading(metric, **STOPS, absolute=True)) for metric in ("SLEU", "VLEU")]
    named += [("the program at .85", Reading(metric, **STOPS, threshold=0.85)) for metric in ("SLEU", "VLEU")]
    for table, corpus in artificial:
        sums = corpus_matches([Reading("BLEU", threshold=1.0), *(reading for _, reading in named)], corpus, vectors)
        for name, reading in [("exact matches", Reading("BLEU", threshold=1.0)), *named]:
            add(table, name, reading, sums[reading], scores(sums[reading], corpus, reading.metric), None)
    write(rows)


def write(rows: list[dict[str, object]]) -> None:
    """Write what there is."""
    names = list(dict.fromkeys(key for row in rows for key in row))
    with (HERE / "readings.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, names, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def made(seed: int) -> Pairs:
    """504 pairs of the paper's grammar; which sentences it paired is not known."""
    from softbleu.corpora.generate import GenerationSettings, generate

    pairs = generate(GenerationSettings(pairing="halves", seed=seed)).pairs()
    return [(list(pair.candidate), list(pair.reference)) for pair in pairs]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
