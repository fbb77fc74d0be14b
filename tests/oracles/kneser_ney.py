"""Modified Kneser-Ney, interpolated, word for word as Chen and Goodman (1998) have it: dictionaries and recursion."""

from collections import Counter, defaultdict
from collections.abc import Sequence

Ngram = tuple[str, ...]


class KneserNey:
    def __init__(self, lines: Sequence[Sequence[str]], order: int, least: int = 1) -> None:
        self.order = order
        marked = [("<s>", *line, "</s>") for line in lines]
        self.words = {word for line in marked for word in line if word != "<s>"} | {"<unk>"}
        raw = Counter(
            line[i : i + n] for line in marked for n in range(1, order + 1) for i in range(len(line) - n + 1)
        )
        before: dict[Ngram, set[str]] = defaultdict(set)
        for ngram in raw:
            before[ngram[1:]].add(ngram[0])
        self.left_out = {ngram for ngram, count in raw.items() if len(ngram) > 1 and count < least}
        self.counts: dict[Ngram, int] = {}
        for ngram, count in raw.items():
            whole = len(ngram) == order or ngram[0] == "<s>"
            self.counts[ngram] = 0 if ngram == ("<s>",) else count if whole else len(before[ngram])
        self.after: dict[Ngram, list[Ngram]] = defaultdict(list)
        for ngram in self.counts:
            self.after[ngram[:-1]].append(ngram)
        self.discounts = {n: self._discounts(n) for n in range(1, order + 1)}

    def _discounts(self, n: int) -> list[float]:
        having = Counter(count for ngram, count in self.counts.items() if len(ngram) == n)
        if not (having[1] and having[2] and having[3]):
            return [0, 0.5, 1, 1.5]
        y = having[1] / (having[1] + 2 * having[2])
        found = [k - (k + 1) * y * having[k + 1] / having[k] for k in (1, 2, 3)]
        return [0, *found] if all(0 < d <= k for k, d in enumerate(found, start=1)) else [0, 0.5, 1, 1.5]

    def taken(self, ngram: Ngram) -> float:
        count = self.counts[ngram]
        return count if ngram in self.left_out else self.discounts[len(ngram)][min(count, 3)]

    def probability(self, word: str, context: Ngram) -> float:
        """Of a word after others; a word or a context that is not known has no count."""
        word = word if word in self.words else "<unk>"
        lower = self.probability(word, context[1:]) if context else 1 / len(self.words)
        following = self.after.get(context, [])
        total = sum(self.counts[ngram] for ngram in following)
        if not total:
            return lower
        ngram = (*context, word)
        own = self.counts[ngram] - self.taken(ngram) if ngram in self.counts else 0
        return own / total + sum(map(self.taken, following)) / total * lower

    def line(self, words: Sequence[str]) -> list[float]:
        """Probability of each word of a line and of its end."""
        text = ("<s>", *words, "</s>")
        return [self.probability(text[i], tuple(text[max(0, i - self.order + 1) : i])) for i in range(1, len(text))]
