"""Distances of strings between two lines, word by word, as heads over a map price them."""

import math
import unicodedata

from softbleu.config.languages import is_unspaced


def string_distances(candidate: str, reference: str) -> dict[str, float]:
    """Return the distances by name."""
    one, other = candidate.split(), reference.split()
    sizes, words, unseen, marks = [], [], [], []
    for line in (one, other):
        marks.append(sum(word.count("\u200d") + word.count("\u00ad") for word in line))
        unseen.append(sum(unicodedata.category(character) == "Cf" for character in "".join(line)) - marks[-1])
        sizes.append(len("".join(line)) - unseen[-1] - marks[-1])
        words.append(len(line) + sum(map(is_unspaced, "".join(line))))
    longer = math.log(sizes[0] / sizes[1])
    left, paired = [*enumerate(other)], []
    for word in one:
        if found := next((pair for pair in left if pair[1] == word), None):
            left.remove(found)
            paired.append(found[0])
    moved = sum(abs(sorted(paired).index(place) - number) for number, place in enumerate(paired))
    order = 2 * moved / len(paired) ** 2 * len(paired) / max(len(one), len(other)) if paired else 0
    more = sum(max(0, one.count(word) - max(1, other.count(word))) for word in set(one))
    recased = len(other) - sum(min(one.count(word), other.count(word)) for word in set(other))
    small, others = [word.lower() for word in one], [word.lower() for word in other]
    recased -= len(other) - sum(min(small.count(word), others.count(word)) for word in set(others))
    return {
        "longer": max(0, longer - math.log(1.5)),
        "joined": max(0, longer - math.log(words[0] / words[1]) - math.log(2)),
        "invisible": max(0, (unseen[0] - unseen[1]) / sizes[0] - 0.01)
        + max(0, (marks[0] - marks[1]) / sizes[0] - 0.05),
        "repeated": max(0, more / len(one) - 0.3),
        "order": max(0, order - 0.6) / 0.4,
        "case": recased / len(other),
    }
