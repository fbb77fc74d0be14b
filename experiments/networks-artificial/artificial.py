"""Networks made of one reference beside the network of all that a grammar says with its meaning.

python experiments/networks-artificial/artificial.py

Writes networks-artificial.csv: of each grammar and rule the mean share of the gold network that the made one has
(recall), and of the made one that is right (precision); and how often a candidate with some words exchanged for
synonyms scores better than one with as many exchanged for others of their category, by the distance to the network,
by BLEU against it, and by soft matching.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

import softbleu
from softbleu.corpora.aligned import AlignedPair
from softbleu.corpora.derivations import Chance, Derivations
from softbleu.corpora.grammar import read_grammar
from softbleu.corpora.paraphrase import Paraphraser, ParaphraseSettings
from softbleu.lattices.build import meaning_network
from softbleu.lattices.paths import cheapest_paths, count_texts
from softbleu.lattices.rules import NetworkRules

SENTENCES, TRIES, MOST = 40, 20, 300
RULES: dict[str, dict[str, Any]] = {
    "reference alone": {},
    "stems": {"stem_cost": 0.2},
    "synonyms": {"synonym_cost": 0.4},
    "paraphrases": {"paraphrase_cost": 0.4},
    "neighbours": {"neighbour_cost": 1.0},
    # The table also has "neighbours, mutual, inflection kept", which softbleu 0.3.0 made.
    "all": {"stem_cost": 0.2, "synonym_cost": 0.4, "paraphrase_cost": 0.4, "neighbour_cost": 1.0},
}
SOFT = {
    "VLEU 0.8": {"metric": "vleu", "threshold": 0.8},
    "XLEU 0.8": {"metric": "xleu", "threshold": 0.8},
    "softbleu": {"metric": "softbleu"},
}


def overlap(rules: NetworkRules, lines: list[str], gold: list[set[tuple[str, ...]]]) -> tuple[float, float, float]:
    """Mean precision and recall, and the median number of references."""
    shares, sizes = [], []
    for line, texts in zip(lines, gold, strict=True):
        network = rules.network(line, str.split)
        count = count_texts(network)
        candidates = [" ".join(text) for text in texts]
        own = softbleu.score(
            candidates,
            [line] * len(candidates),
            metric="hyter",
            level="segment",
            tokenize="none",
            **_given(rules, 0.0),
        )
        right = sum(score.score == 0 for score in own.segments or ())
        shares.append((right / count, right / len(texts)))
        sizes.append(count)
    precision, recall = np.mean(shares, axis=0)
    return float(precision), float(recall), float(np.median(sizes))


def _given(rules: NetworkRules, cost: float | None = None) -> dict[str, Any]:
    """Settings of rules, all at one cost if it is given."""
    found = {each.name: value for each, value in rules.settings() if value is not None}
    return {name: cost if cost is not None and name.endswith("_cost") else value for name, value in found.items()}


def preferred(lines: list[str], same: list[str], other: list[str], **settings: Any) -> float:
    """How often what says the same scores better than what does not; ties count half."""
    found = [softbleu.score(texts, lines, level="segment", tokenize="none", **settings) for texts in (same, other)]
    one, two = (np.array([score.score for score in each.segments or ()]) for each in found)
    better = one - two if found[0].higher_is_better else two - one
    return float(np.mean((better > 1e-9) + 0.5 * (np.abs(better) <= 1e-9)))


def changed(pair: AlignedPair) -> int:
    """How many words differ."""
    return sum(one != other for one, other in zip(pair.candidate, pair.reference, strict=True))


def main() -> None:
    """Run it all."""
    rows = []
    for name in ("alternations", "modifiers", "agreement"):
        derivations = Derivations.of(read_grammar(name))
        chance = Chance(1)
        drawn = []
        while len(drawn) < SENTENCES:
            derivation = derivations.draw(chance)
            if count_texts(meaning_network(derivations, derivation)) <= MOST:
                drawn.append(derivation)
        gold = [{path.words for path in cheapest_paths(meaning_network(derivations, each))} for each in drawn]
        lines, same, other = [], [], []
        same_words = Paraphraser(derivations, ParaphraseSettings(synonyms=0.5, alternate=0.0), Chance(2))
        other_words = Paraphraser(
            derivations, ParaphraseSettings(synonyms=0.0, category=0.3, alternate=0.0), Chance(3)
        )
        for derivation, texts in zip(drawn, gold, strict=True):
            one = [same_words.pair(derivation) for _ in range(TRIES)]
            two = [
                pair for pair in (other_words.pair(derivation) for _ in range(TRIES)) if pair.candidate not in texts
            ]
            equal = [(a, b) for a in one for b in two if changed(a) == changed(b) > 0]
            if equal:
                a, b = equal[0]
                for own, text in zip((lines, same, other), (a.reference, a.candidate, b.candidate), strict=True):
                    own.append(" ".join(text))
        for title, given in RULES.items():
            rules = NetworkRules(**given).resolved()
            every = [" ".join(derivations.sentence(each)) for each in drawn]
            precision, recall, size = overlap(rules, every, gold)
            right = preferred(lines, same, other, metric="hyter", **given)
            bleu = preferred(lines, same, other, metric="netbleu", **given)
            rows.append(
                [name, title, f"{precision:.3f}", f"{recall:.3f}", f"{size:.0f}", f"{right:.3f}", f"{bleu:.3f}"]
            )
            print(*rows[-1], sep="\t", flush=True)  # noqa: T201
        for title, settings_of in SOFT.items():
            rows.append([name, title, "", "", "", f"{preferred(lines, same, other, **settings_of):.3f}", ""])
            print(*rows[-1], len(lines), sep="\t", flush=True)  # noqa: T201
    header = ["grammar", "rules", "precision", "recall", "references, median", "hyter", "netbleu"]
    with Path(__file__).with_name("networks-artificial.csv").open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([header, *rows])


if __name__ == "__main__":
    main()
