"""Questions of the second plan (docs/study/plan.md): LLMs, references, spans, categories of errors, raters.

python experiments/softness/questions.py [--question NAME …] [--data FOLDER]

Writes beside this file, with 95% intervals of 1,000 samples of segments:

- llms.csv: agreement among LLMs and among other systems, and the difference. references.csv: agreement by reference,
  with what the judges gave to the reference.
- spans.csv: F1 in characters of the words that a matcher leaves unmatched with the spans that judges marked.
- categories.csv: r within segments with the points that judges took off for a category of errors.
- raters.csv: r of two judgements of the same text, and its root, above which no metric's r can be expected.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from cells import IN_CONTEXT, NO_VECTORS, metrics_of
from measures import accuracy, between, judge, pearson, weights, within
from sets import DATA, HERE, KEPT, Set, read_definitions, read_set, rows_of

from softbleu.metrics.reading import read_metric
from softbleu.results.explain import explain

OTHERS = {  # Neither LLMs nor tuned from one, as the plan has them
    "WMT24 en-cs": ("CUNI-DocTransformer", "CUNI-GA", "ONLINE-W"),
    "WMT24 en-zh": ("HW-TSC", "ONLINE-B"),
}
REFERENCES = {"A": "WMT21 en-de", "C": "WMT21 en-de, reference C", "D": "WMT21 en-de, reference D"}
BY_SEGMENT: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "r": pearson,
    "r between": between,
    "r within": within,
    "accuracy": accuracy,
}
CATEGORIES = {
    "mistranslation": "Accuracy/Mistranslation",
    "omission": "Accuracy/Omission",
    "addition": "Accuracy/Addition",
    "terminology": "Terminology",
    "grammar": "Fluency/Grammar",
    "punctuation": "Fluency/Punctuation",
    "style": "Style",
}
MATCHERS = {  # Words alone; what is not English has no vectors
    "exact": "bleu(order=1)",
    "spellings .8": f"softbleu(order=1, position=0.0, {NO_VECTORS})",
    "vectors of words .8": "vleu(threshold=0.8, order=1)",
    "in context .8": f"vleu(threshold=0.8, order=1, {IN_CONTEXT})",
}
Span = tuple[int, int]
Pair = tuple[int, bool, float, float]  # Segment, whether by one rater, both scores
Rows = list[list[Any]]


def llms(sets: Mapping[str, Set], _: Path) -> Rows:
    """Agreement among LLMs, among others, and the difference on the same samples."""
    rows: Rows = []
    for name, others in OTHERS.items():
        data, metrics = sets[name], metrics_of(sets[name].language)
        other = np.isin(data.texts.systems, others)
        scores = data.scores([*metrics.values()])
        for measure in ("r", "r within"):
            sides = [BY_SEGMENT[measure](scores[:, side], data.ratings[side]) for side in (~other, other)]
            for metric, among, apart in zip(metrics, *sides, strict=True):
                cells = [cell for values in (among, apart, among - apart) for cell in judge(values)[:3]]
                rows.append([name, measure, metric, *cells])
    return rows


def references(sets: Mapping[str, Set], data: Path) -> Rows:
    """Agreement by reference, the difference from reference A, and the judges' score of the reference."""
    judged: dict[str, list[float]] = defaultdict(list)
    for row in rows_of(data / "wmt21-en-de" / "mqm-segments.tsv"):
        judged[row["system"]].append(float(row["mqm"]))
    rows: Rows = []
    metrics = metrics_of("de")
    softly = ("softbleu, spellings", "softbleu, exact words")
    for measure, measured in BY_SEGMENT.items():
        values = {
            letter: dict(
                zip(metrics, measured(sets[name].scores([*metrics.values()]), sets[name].ratings), strict=True)
            )
            for letter, name in REFERENCES.items()
        }
        for letter, by_metric in values.items():
            by_metric["spellings − exact words"] = by_metric[softly[0]] - by_metric[softly[1]]
            for metric, row in by_metric.items():
                cells = [*judge(row)[:3], *judge(row - values["A"][metric])[:3]]
                rows.append([letter, float(np.mean(judged[f"ref-{letter}"])), measure, metric, *cells])
    return rows


def placed(words: Sequence[str], text: str) -> Iterator[Span]:
    """Places of words in the text that they were made of; what is not found again has no place."""
    start = 0
    for word in words:
        place = text.find(word, start)
        yield (place, place + len(word)) if place >= 0 else (start, start)
        start = max(start, place + len(word))


def unmatched(data: Set, metric: str) -> Iterator[tuple[str, int, list[Span], list[bool]]]:
    """System, segment, places of the words, and whether each is left unmatched."""
    settings = {} if data.tokenize == "13a" else {"tokenize": data.tokenize}
    made = read_metric(metric, **settings)
    numbers = range(1, len(data.segments) + 1)
    explained = explain(data.texts.candidates, data.texts.references, metrics=made, segments=numbers)
    for one in explained:
        text = data.texts.candidates[one.system][one.segment - 1]
        free = [True] * len(one.candidate)
        for match in one.matches:
            free[match.candidate_start] = match.reference is None
        for pair in one.pairs or ():
            if pair.similarity > 0.8:
                free[pair.start] = False
        yield one.system, one.segment - 1, [*placed(one.candidate, text)], free


def marked_esa(path: Path) -> dict[tuple[str, str], list[list[Span]]]:
    """Spans of each judgement of an output."""
    marked: dict[tuple[str, str], list[list[Span]]] = defaultdict(list)
    for row in rows_of(path):
        spans = [(span[0], span[1]) for span in json.loads(row["spans"]) if isinstance(span[0], int)]
        marked[row["system"], row["segment"]].append(spans)
    return marked


def marked_mqm(path: Path) -> dict[tuple[str, str], list[list[Span]]]:
    """Spans of each output, of all of its errors; `<v>` and `</v>` stand around one."""
    marked: dict[tuple[str, str], list[list[Span]]] = {}
    for row in rows_of(path):
        spans = marked.setdefault((row["system"], row["seg_id"]), [[]])[0]
        before, opened, rest = row["target"].partition("<v>")
        if opened:
            spans.append((len(before), len(before) + len(rest.partition("</v>")[0])))
    return marked


def flags(spans: Sequence[Span], length: int) -> np.ndarray:
    """Whether each character is in a span."""
    there = np.zeros(length, bool)
    for start, end in spans:
        there[start:end] = True
    return there


def span_counts(data: Set, metric: str, marked: Mapping[tuple[str, str], list[list[Span]]]) -> np.ndarray:
    """Characters by segment: marked, unmatched, both, and the latter two of as many random words; (segments, 5)."""
    counts = np.zeros((len(data.segments), 5))
    for system, segment, words, free in unmatched(data, metric):
        length = len(data.texts.candidates[system][segment])
        everything = flags(words, length)
        unlike = flags([word for word, left in zip(words, free, strict=True) if left], length)
        share = sum(free) / max(len(free), 1)
        for spans in marked.get((system, data.segments[segment]), ()):
            errors = flags(spans, length)
            both, random = (unlike & errors).sum(), (everything & errors).sum()
            counts[segment] += [errors.sum(), unlike.sum(), both, share * everything.sum(), share * random]
    return counts


def spans(sets: Mapping[str, Set], data: Path) -> Rows:
    """F1 of unmatched words with marked spans, that of as many random words, and the difference from exact words."""
    sources = {
        "TED zh-en": marked_mqm(data / "mqm-ted-zh-en" / "published.tsv"),
        **{
            f"WMT24 {pair}": marked_esa(data / "wmt24-esa" / pair / "esa-segments.tsv") for pair in ("en-cs", "en-zh")
        },
    }
    rows: Rows = []
    for name, marked in sources.items():
        corpus = sets[name]
        exact = None
        for matcher, metric in MATCHERS.items():
            if corpus.language != "en" and "vleu" in metric:
                continue
            sums = weights(len(corpus.segments)) @ kept_counts(corpus, metric, marked)
            errors, unlike, both, words, random = sums.T
            agreement, chance = 2 * both / (errors + unlike), 2 * random / (errors + words)
            exact = agreement if exact is None else exact
            cells = [
                cell for values in (agreement, agreement - chance, agreement - exact) for cell in judge(values)[:3]
            ]
            rows.append([name, matcher, (both / unlike)[0], (both / errors)[0], chance[0], *cells])
    return rows


def kept_counts(data: Set, metric: str, marked: Mapping[tuple[str, str], list[list[Span]]]) -> np.ndarray:
    """Counts of characters, kept from run to run."""
    place = KEPT / f"spans-{data.content}-{list(MATCHERS.values()).index(metric)}.npy"
    if not place.exists():
        np.save(place, span_counts(data, metric, marked))
    counts: np.ndarray = np.load(place)
    return counts


def points(row: Mapping[str, str]) -> float:
    """Points that an error takes off: 25, 5, 1 or .1."""
    if row["category"].startswith("Non-translation"):
        return 25.0
    minor = 0.1 if row["category"] == "Fluency/Punctuation" else 1.0
    return {"Major": 5.0, "Minor": minor}.get(row["severity"], 0.0)


def categories(sets: Mapping[str, Set], data: Path) -> Rows:
    """How far metrics know the points of each category, within segments."""
    corpus = sets["TED zh-en"]
    places = {name: place for place, name in enumerate(corpus.texts.systems)}
    columns = {name: place for place, name in enumerate(corpus.segments)}
    taken = {name: np.zeros(corpus.ratings.shape) for name in CATEGORIES}
    for row in rows_of(data / "mqm-ted-zh-en" / "published.tsv"):
        for name, start in CATEGORIES.items():
            if row["category"].startswith(start) and row["system"] in places and row["seg_id"] in columns:
                taken[name][places[row["system"]], columns[row["seg_id"]]] -= points(row)
    names = ("trained", "trained, static head", "BERTScore", "chrF")
    scores = corpus.scores([metrics_of("en")[name] for name in names])
    rows: Rows = []
    for category, given_off in {"all": corpus.ratings, **taken}.items():
        values = dict(zip(names, within(scores, given_off), strict=True))
        share = float(given_off.sum() / corpus.ratings.sum())
        for metric, row in values.items():
            rows.append([category, share, metric, *judge(row)[:3], *judge(row - values["BERTScore"])[:3]])
    return rows


def same_texts(data: Set, raters: Mapping[tuple[str, str], str]) -> Iterator[Pair]:
    """Pairs of judgements of one text in a segment: segment, whether by one rater, both scores."""
    for segment, name in enumerate(data.segments):
        for one, other in combinations(range(len(data.texts.systems)), 2):
            systems = data.texts.systems[one], data.texts.systems[other]
            texts = [data.texts.candidates[system][segment] for system in systems]
            scores = data.ratings[[one, other], segment]
            if texts[0] == texts[1] and not np.isnan(scores).any():
                same = raters[systems[0], name] == raters[systems[1], name]
                yield segment, same, float(scores[0]), float(scores[1])


def doubles(data: Set, path: Path) -> Iterator[Pair]:
    """Pairs of judgements of one output."""
    columns = {name: place for place, name in enumerate(data.segments)}
    judged: dict[tuple[str, str], list[tuple[str, float]]] = defaultdict(list)
    for row in rows_of(path):
        judged[row["system"], row["segment"]].append((row["annotator"], float(row["esa"])))
    for (_, segment), judgements in judged.items():
        for (one, first), (other, second) in combinations(judgements, 2):
            yield columns[segment], one == other, first, second


def raters(sets: Mapping[str, Set], data: Path) -> Rows:
    """Correlate two judgements of the same text; each pair counts in both orders."""
    files = {
        "TED zh-en": (data / "mqm-ted-zh-en" / "published.tsv", "seg_id", "rater"),
        **{
            f"WMT24 {pair}": (data / "wmt24-esa" / pair / "esa-segments.tsv", "segment", "annotator")
            for pair in ("en-cs", "en-zh")
        },
    }
    sources: dict[tuple[str, str], list[Pair]] = {}
    for name, (path, segment, rater) in files.items():
        by_output = {(row["system"], row[segment]): row[rater] for row in rows_of(path)}
        sources[name, "outputs of the same text"] = [*same_texts(sets[name], by_output)]
        if rater == "annotator":
            sources[name, "the same output"] = [*doubles(sets[name], path)]
    rows: Rows = []
    for (name, kind), pairs in sources.items():
        for same in (True, False):
            chosen = [pair for pair in pairs if pair[1] == same]
            if len(chosen) > 2:
                segments = np.unique([pair[0] for pair in chosen], return_inverse=True)[1]
                one, other = np.full((2, 2 * len(chosen), segments.max() + 1), np.nan)
                for place, (segment, (_, _, first, second)) in enumerate(zip(segments, chosen, strict=True)):
                    one[2 * place : 2 * place + 2, segment] = first, second
                    other[2 * place : 2 * place + 2, segment] = second, first
                values = pearson(one[None], other)[0]
                root = np.sqrt(values.clip(0))
                by = "one rater" if same else "two raters"
                rows.append([name, kind, by, len(chosen), *judge(values)[:3], *judge(root)[:3]])
    return rows


COLUMNS = {
    "llms": "set measure metric llms llms_low llms_high others others_low others_high difference low high",
    "references": "reference judged measure metric value low high from_a from_a_low from_a_high",
    "spans": "set matcher precision recall random f1 low high above_random above_random_low above_random_high "
    "above_exact above_exact_low above_exact_high",
    "categories": "category share metric value low high from_bertscore from_bertscore_low from_bertscore_high",
    "raters": "set kind by pairs value low high root root_low root_high",
}


ASKED: dict[str, Callable[[Mapping[str, Set], Path], Rows]] = {
    "raters": raters,
    "categories": categories,
    "references": references,
    "llms": llms,
    "spans": spans,
}


def main() -> None:
    """Ask questions, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--question", nargs="*", default=list(ASKED), choices=ASKED)
    given = parser.parse_args()
    data = given.data
    os.environ.setdefault("SOFTBLEU_CACHE", str(KEPT / "lines"))
    names = {"TED zh-en", *OTHERS, *REFERENCES.values()}
    sets = {name: read_set(one, data) for name, one in read_definitions(HERE / "sets.toml").items() if name in names}
    for name in given.question:
        with (HERE / f"{name}.csv").open("w", encoding="utf-8", newline="") as stream:
            rows = ASKED[name](sets, data)
            cells = ([f"{cell:.4f}" if isinstance(cell, float) else cell for cell in row] for row in rows)
            csv.writer(stream, lineterminator="\n").writerows([COLUMNS[name].split(), *cells])


if __name__ == "__main__":
    main()
