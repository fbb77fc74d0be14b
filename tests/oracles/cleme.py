"""CLEME and CLEME2.0, as the papers and their program have them: lists of words, one chunk after the other."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

TextEdit = tuple[int, int, tuple[str, ...]]  # Source words from one place up to another become these


@dataclass(frozen=True)
class Piece:
    """What a text has in the place of a chunk of the source."""

    source: tuple[str, ...]
    words: tuple[str, ...]

    @property
    def edited(self) -> bool:
        return self.words != self.source

    @property
    def length(self) -> int:
        return max(len(self.source), len(self.words))


def with_words(source: Sequence[str], references: Sequence[Sequence[TextEdit]]) -> list[Sequence[TextEdit]]:
    """The references that have words; the first if there are none."""
    kept = []
    for own in references:
        left, gone = sum(len(words) for *_, words in own), sum(end - start for start, end, _ in own)
        kept += [own] if left + len(source) > gone else []
    return kept or list(references[:1])


def partition(source: Sequence[str], texts: Sequence[Sequence[TextEdit]]) -> list[list[Piece]]:
    """Cut all texts into the same chunks: edits that overlap or touch, in whatever text, lie in one."""
    spans: list[list[int]] = []
    for start, end, _ in sorted((edit for text in texts for edit in text), key=lambda edit: edit[0]):
        if spans and start <= spans[-1][1]:
            spans[-1][1] = max(spans[-1][1], end)
        else:
            spans.append([start, end])
    parts, place = list[list[Piece]](), 0
    for number, (start, end) in enumerate([*spans, (len(source), len(source))]):
        unchanged = tuple(source[place:start])
        parts += [[Piece(unchanged, unchanged)] * len(texts)] * (place < start)
        parts += [[_piece(source, text, start, end) for text in texts]] * (number < len(spans))
        place = end
    return [[part[number] for part in parts] for number in range(len(texts))]


def _piece(source: Sequence[str], text: Sequence[TextEdit], start: int, end: int) -> Piece:
    words, place = list[str](), start
    for first, last, replacement in sorted(text, key=lambda edit: edit[:2]):
        if start <= first and last <= end:
            words += [*source[place:first], *replacement]
            place = last
    return Piece(tuple(source[start:end]), (*words, *source[place:end]))


Judged = list[tuple[str, int]]
"""Kind and length of each chunk: `tp`, `ne` (wrong, but something is to be changed), `un` (elsewhere), `fn`, `tn`."""


def judge(hypothesis: list[Piece], references: list[list[Piece]], *, dependent: bool) -> list[Judged]:
    """Judge the chunks of a hypothesis, against each reference or, independently, against all."""
    groups = [[other] for other in references] if dependent else [references]
    return [[_judged(own, [other[i] for other in group]) for i, own in enumerate(hypothesis)] for group in groups]


def _judged(own: Piece, others: list[Piece]) -> tuple[str, int]:
    if own.edited:
        if any(own.words == other.words for other in others):
            return "tp", own.length
        return ("ne" if any(other.edited for other in others) else "un"), own.length
    return ("fn" if all(other.edited for other in others) else "tn"), own.length


def mean_length(references: Sequence[list[list[Piece]]]) -> float:
    """Mean length of the chunks that references change, in a corpus."""
    lengths = [piece.length for texts in references for text in texts for piece in text if piece.edited]
    return sum(lengths) / len(lengths) if lengths else 0.0


def weight_of(kind: str, length: int, mean: float | None) -> float:
    """Weight of a chunk by its length; 1 without a mean."""
    if mean is None or kind == "tn":
        return 1.0
    further = length - mean if kind in ("ne", "un") else mean - length
    return min(max(2.0 / (1.0 + math.exp(further)), 0.75), 1.25)


Sums = dict[str, float]


def sums_of(judged: Judged, mean: float | None) -> Sums:
    """Sums of the weights, by kind."""
    sums = dict.fromkeys(("tp", "ne", "un", "fn", "tn"), 0.0)
    for kind, length in judged:
        sums[kind] += weight_of(kind, length, mean)
    return sums


def measures(sums: Sums, beta: float = 0.5, digits: int = 4) -> tuple[float, float, float, float]:
    """F, precision, recall and accuracy, rounded."""
    tp, fp, fn, tn = sums["tp"], sums["ne"] + sums["un"], sums["fn"], sums["tn"]
    precision = tp / (tp + fp) if tp + fp else 1.0
    recall = tp / (tp + fn) if tp + fn else 1.0
    below = beta**2 * precision + recall
    f = (1 + beta**2) * precision * recall / below if precision + recall else 0.0
    accuracy = (tp + tn) / (tp + fp + fn + tn) if tp + fp + fn + tn else 0.0
    return round(f, digits), round(precision, digits), round(recall, digits), round(accuracy, digits)


def ratios(sums: Sums) -> tuple[float, float, float, float, float]:
    """Sum of hits, wrong, under- and over-corrections, and these."""
    necessary, proposed = sums["tp"] + sums["ne"] + sums["fn"], sums["tp"] + (sums["ne"] + sums["un"])
    hit, wrong, under = (sums[kind] / necessary if necessary else 0.0 for kind in ("tp", "ne", "fn"))
    over = sums["un"] / proposed if proposed else 0.0
    return 0.45 * hit + 0.35 * (1 - wrong) + 0.15 * (1 - under) + 0.05 * (1 - over), hit, wrong, under, over


def _added(one: Sums, other: Sums) -> Sums:
    return {kind: one[kind] + other[kind] for kind in one}


def choose(corpus: Sequence[Sequence[Sums]], *, second: bool, by_sentence: bool, beta: float = 0.5) -> list[Sums]:
    """Choose the best reference of each segment, by it and all before, or by itself."""
    total, chosen = dict.fromkeys(("tp", "ne", "un", "fn", "tn"), 0.0), []
    for segment in corpus:
        keys = []
        for own in segment:
            fp = own["ne"] + own["un"]
            if by_sentence:
                found = ratios(own) if second else measures(own, beta)
                keys.append((*found[:2], *(-each for each in found[2:])) if second else found)
            else:
                first = ratios(_added(total, own))[0] if second else measures(_added(total, own), beta)[0]
                keys.append((first, own["tp"], -fp, -own["fn"], own["tn"]))
        best = segment[keys.index(max(keys))]
        chosen.append(best)
        total = _added(total, best)
    return chosen
