"""Outputs cut after a share of their words, scored against the beginnings of references that they have come to.

    python experiments/partial/make.py ../shared/data --question definitions
    python experiments/partial/make.py ../shared/data --question results
    python experiments/partial/make.py ../shared/data --question laws
    python experiments/partial/make.py ../shared/data --question alignments

The first writes `definitions.csv`: every definition on 600 lines of each set. The second writes `systems.csv`,
`orders.csv` and `judgements.csv`: the definition that was chosen, on all lines. The third writes `laws.csv`: how
often a whole output's partial score lies below its full one, and an unknown word raises the score of a prefix. The
fourth writes `alignments.csv`: chrF and TER where words or characters are aligned, of further sets, too.
Intervals are of bootstrap samples of segments.
"""

from __future__ import annotations

import argparse
import csv
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from definitions import DEFINITIONS, Ends, aligned
from numpy.typing import NDArray
from scipy.stats import kendalltau

import softbleu
from softbleu.corpora import Segments
from softbleu.engine.plan import make_plan
from softbleu.engine.prepare import prepare_corpus
from softbleu.kernels import choose_kernels
from softbleu.kernels.prefixes import reached
from softbleu.matching.ngrams import Chunk, products_of_pairs
from softbleu.metrics.guards import checked_rows
from softbleu.metrics.protocols import at_level
from softbleu.text.coded import TokenPairs, Tokens

HERE = Path(__file__).resolve().parent
FRACTIONS = (0.25, 0.5, 0.75, 1.0)
SAMPLES, SEED, LINES, PIECE = 300, 12345, 600, 512
SETS = {
    "WMT13 fr-en": ("wmt13-fr-en/system-outputs/*.txt", "wmt13-fr-en/reference.en", "en"),
    "WMT21 zh-en": ("wmt21-into-en/zh-en/system-outputs/*.txt", "wmt21-into-en/zh-en/reference-A.en", "en"),
    "WMT24 en-cs": ("wmt24-esa/en-cs/system-outputs/*.cs", "wmt24-esa/en-cs/reference-A.cs", "cs"),
}
METRICS = ("bleu", "chrf", "vleu", "softbleu")
KERNELS = choose_kernels("numba")


@dataclass(frozen=True)
class Coded:
    """A corpus in a metric's tokens: a chunk for each system, and what the metric knows of words."""

    metric: Any
    chunks: Mapping[str, Chunk]
    words: Any

    @classmethod
    def of(
        cls, name: str, candidates: Mapping[str, Sequence[str]], references: Sequence[str], language: str
    ) -> Coded:
        """Code texts of systems and references for a metric."""
        settings = {} if language == "en" or name in ("bleu", "chrf") else {"language": language}
        (metric,) = make_plan([softbleu.read_metric(name, **settings)]).metrics
        corpus = Segments.of(dict(candidates), list(references))
        prepared = prepare_corpus(corpus, metric.tokenizer, metric.requires)
        words = prepared.table(metric.vector_choice, metric.requires).words if metric.requires.table else None
        blocks = [list(block.chunks()) for block in prepared.blocks()]
        chunks = {system: joined([block[place] for block in blocks]) for place, system in enumerate(candidates)}
        return cls(metric, chunks, words)

    def rows(self, chunk: Chunk) -> NDArray[np.int64]:
        """Statistics of each segment."""
        return np.concatenate([checked_rows(self.metric, part, self.words, KERNELS) for part in chunk.pieces(PIECE)])

    def score(self, rows: NDArray[np.int64]) -> float:
        """Score of a corpus."""
        return at_level(self.metric, "corpus").score(rows.sum(axis=0)).score

    def tables(self, chunk: Chunk, *, soft: bool) -> Iterator[NDArray[np.float64]]:
        """Which words of each candidate and reference are equal, or how similar they are."""
        for part in chunk.pieces(PIECE):
            pairs = TokenPairs(part.candidates.offsets, part.references.offsets)
            left, right = pairs.tokens
            values = (part.candidates.codes[left] == part.references.codes[right]).astype(float)
            if soft:
                similar = products_of_pairs(self.words.vectors, part, pairs, KERNELS)
                values = np.maximum(values, similar)
            yield from (pairs.block(values, segment) for segment in range(len(part)))


def joined(parts: Sequence[Chunk]) -> Chunk:
    """Put chunks of consecutive segments together, each with one reference."""
    candidates, references = (
        Tokens.joined([getattr(part, side) for part in parts]) for side in ("candidates", "references")
    )
    return Chunk(candidates, references, np.arange(len(candidates.lengths) + 1))


def cut(tokens: Tokens, lengths: NDArray[Any]) -> Tokens:
    """Keep the first tokens of each line."""
    within = np.arange(len(tokens.codes)) - np.repeat(tokens.offsets[:-1], tokens.lengths)
    codes = tokens.codes[within < np.repeat(lengths, tokens.lengths)]
    return Tokens(codes, np.concatenate(([0], np.cumsum(lengths))))


def lengths_at(chunk: Chunk, fraction: float) -> NDArray[np.int64]:
    """Words of each candidate that are there after a share of it."""
    return np.array([math.ceil(fraction * length) for length in chunk.candidates.lengths.tolist()], np.int64)


def at(ends: Sequence[Ends], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Words of each reference beside these prefixes."""
    return np.array(
        [of_one[length - 1] if length else 0 for of_one, length in zip(ends, lengths, strict=True)], np.int64
    )


def read(data: Path, name: str, lines: int | None) -> tuple[dict[str, list[str]], list[str], str]:
    """Outputs of all systems, references and language of a set, or its first lines."""
    outputs, reference, language = (SETS | CHOSEN_ON)[name]
    texts = {path.stem: lines_of(path)[:lines] for path in sorted(data.glob(outputs))}
    return texts, lines_of(data / reference)[:lines], language


def lines_of(path: Path) -> list[str]:
    """Lines of a text."""
    return path.read_text(encoding="utf-8").splitlines()


def write(name: str, rows: Sequence[Mapping[str, object]]) -> None:
    """Write a table."""
    with (HERE / name).open("w", encoding="utf-8", newline="") as stream:
        table = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(
            {key: f"{value:.3f}" if isinstance(value, float) else value for key, value in row.items()} for row in rows
        )


def try_definitions(data: Path) -> None:
    """Score cut outputs by every definition: how far from full scores, and whether systems keep their order."""
    rows: list[dict[str, object]] = []
    for name in SETS:
        texts, references, language = read(data, name, LINES)
        for metric in METRICS if language == "en" else METRICS[:2]:  # By spelling others take hours
            coded = Coded.of(metric, texts, references, language)
            found = {system: dict(scores_of(coded, chunk)) for system, chunk in coded.chunks.items()}
            if metric == "chrf":
                characters = Coded.of("chrf(tokenize=char)", texts, references, language)
                for system, chunk in characters.chunks.items():
                    some = dict(scores_of(characters, chunk, ["edits, longest"]))
                    found[system] |= {("characters", at): score for (_, at), score in some.items()}
            full = [found[system]["truncated", 1.0] for system in texts]
            for definition, fraction in dict.fromkeys(key for of_one in found.values() for key in of_one):
                got = [found[system][definition, fraction] for system in texts]
                differences = np.array(got) - full
                rows.append({"set": name, "metric": metric, "definition": definition, "fraction": fraction})
                rows[-1] |= {"mean": float(differences.mean()), "least": float(differences.min())}
                rows[-1] |= {"greatest": float(differences.max()), "tau": float(kendalltau(got, full).statistic)}
            write("definitions.csv", rows)


def scores_of(coded: Coded, chunk: Chunk, names: Sequence[str] = ()) -> Iterator[tuple[tuple[str, float], float]]:
    """Corpus scores of a system by definition and fraction."""
    tables = list(coded.tables(chunk, soft=False))
    ends = {name: [DEFINITIONS[name](table) for table in tables] for name in names or DEFINITIONS}
    if coded.words is not None and coded.metric.requires.vectors:
        soft = list(coded.tables(chunk, soft=True))
        for tie in ("longest", "nearest"):
            ends[f"soft edits, {tie}"] = [aligned(table, tie) for table in soft]
    for fraction in FRACTIONS:
        lengths = lengths_at(chunk, fraction)
        candidates = cut(chunk.candidates, lengths)
        yield (
            ("truncated", fraction),
            coded.score(coded.rows(Chunk(candidates, chunk.references, chunk.segment_offsets))),
        )
        for name, of_all in ends.items():
            beside = Chunk(candidates, cut(chunk.references, at(of_all, lengths)), chunk.segment_offsets)
            yield (name, fraction), coded.score(coded.rows(beside))


def write_results(data: Path) -> None:
    """Score cut outputs of all lines by the setting `partial`, and as they are: systems, their order, judgements."""
    systems: list[dict[str, object]] = []
    orders: list[dict[str, object]] = []
    agreement: list[dict[str, object]] = []
    for name in SETS:
        texts, references, language = read(data, name, None)
        judged = JUDGEMENTS[name](data, list(texts))
        for metric in METRICS:
            coded = Coded.of(metric, texts, references, language)
            size = len(references)
            drawn = np.random.default_rng(SEED).multinomial(size, np.full(size, 1 / size), SAMPLES)
            rows = {system: cut_rows(coded, chunk) for system, chunk in coded.chunks.items()}
            corpus, alone = at_level(coded.metric, "corpus"), at_level(coded.metric, "segment")
            sums = {
                key: np.stack([drawn @ rows[system][key] for system in texts]) for key in next(iter(rows.values()))
            }
            samples = {key: np.stack([corpus.columns(one).score for one in of_key]) for key, of_key in sums.items()}
            scores = {key: np.array([coded.score(rows[system][key]) for system in texts]) for key in samples}
            full, full_samples = scores["truncated", 1.0], samples["truncated", 1.0]
            for way, fraction in samples:
                own = {"set": name, "metric": metric, "scored": way, "fraction": fraction}
                got = scores[way, fraction]
                systems += [
                    own | {"system": s, "score": float(x), "full": float(y)}
                    for s, x, y in zip(texts, got, full, strict=True)
                ]
                taus = [tau(one, other) for one, other in zip(samples[way, fraction].T, full_samples.T, strict=True)]
                shifts = (samples[way, fraction] - full_samples).mean(axis=0)
                orders.append(own | {"mean": float((got - full).mean())} | interval("mean", shifts))
                orders[-1] |= {"least": float((got - full).min()), "greatest": float((got - full).max())}
                orders[-1] |= {"tau": tau(got, full)} | interval("tau", taus)
                single = np.stack([alone.columns(rows[system][way, fraction]).score for system in texts])
                agreement.append(own | {"measure": judged.measure, "value": judged.agreement(single)})
                agreement[-1] |= interval("value", [judged.agreement(single, counts) for counts in drawn])
            write("systems.csv", systems)
            write("orders.csv", orders)
            write("judgements.csv", agreement)


def cut_rows(coded: Coded, chunk: Chunk) -> dict[tuple[str, float], NDArray[np.int64]]:
    """Statistics of the segments of a system by way of scoring and fraction."""
    rows = {}
    for fraction in FRACTIONS:
        lengths = lengths_at(chunk, fraction)
        candidates = cut(chunk.candidates, lengths)
        beside = cut(chunk.references, reached(candidates, chunk.references))
        rows["truncated", fraction] = coded.rows(replace(chunk, candidates=candidates))
        rows["partial", fraction] = coded.rows(replace(chunk, candidates=candidates, references=beside))
    return rows


def tau(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Kendall's tau of systems."""
    return float(kendalltau(one, other).statistic)


def interval(name: str, values: Any) -> dict[str, float]:
    """95% interval of samples."""
    low, high = np.quantile(values, [0.025, 0.975]).tolist()
    return {f"{name}_low": low, f"{name}_high": high}


@dataclass(frozen=True)
class Judged:
    """Outputs with a judgement each, or pairs of outputs of which judges prefer the first."""

    measure: str
    system: NDArray[np.int64]  # (outputs,), or (pairs, 2)
    segment: NDArray[np.int64]
    value: NDArray[np.float64]

    def agreement(self, scores: NDArray[np.float64], counts: NDArray[np.int64] | None = None) -> float:
        """Pearson's r with scores, (systems, segments), of a sample of segments; of pairs Kendall's tau (NoTies)."""
        weights = self.value * 0 + 1 if counts is None else counts[self.segment].astype(float)
        if self.system.ndim == 2:
            one, other = (scores[self.system[:, side], self.segment] for side in (0, 1))
            return float((weights * self.value * np.sign(one - other)).sum() / (weights * self.value).sum())
        own = scores[self.system, self.segment]
        left, right = (values - np.average(values, weights=weights) for values in (own, self.value))
        spread = np.sqrt(np.average(left**2, weights=weights) * np.average(right**2, weights=weights))
        return float(np.average(left * right, weights=weights) / spread)


def read_judged(path: str, column: str, data: Path, systems: Sequence[str]) -> Judged:
    """Read the mean judgement of each output."""
    values = defaultdict(list)
    with (data / path).open(encoding="utf-8") as stream:
        for row in csv.DictReader(stream, delimiter="\t"):
            if row["system"] in systems:
                values[systems.index(row["system"]), int(row["segment"]) - 1].append(float(row[column]))
    places = np.array(list(values))
    return Judged("r", places[:, 0], places[:, 1], np.array([np.mean(of_one) for of_one in values.values()]))


def read_ranked(data: Path, systems: Sequence[str]) -> Judged:
    """Read pairs of outputs of which judges of WMT13 prefer the first, and how many do."""
    pairs: dict[tuple[int, int, int], int] = defaultdict(int)
    with (data / "wmt13-fr-en/human-rankings-train.csv").open(encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            names = [row[f"system{place}Id"].removeprefix("newstest2013.fr-en.") for place in range(1, 6)]
            ranks = [int(row[f"system{place}rank"]) for place in range(1, 6)]
            ranked = [(systems.index(name), rank) for name, rank in zip(names, ranks, strict=True) if name in systems]
            for one, better in ranked:
                for other, worse in ranked:
                    if 0 < better < worse:
                        pairs[int(row["srcIndex"]) - 1, one, other] += 1
    places = np.array(list(pairs))
    return Judged("tau", places[:, 1:], places[:, 0], np.array(list(pairs.values()), float))


JUDGEMENTS: Mapping[str, Callable[[Path, list[str]], Judged]] = {
    "WMT13 fr-en": read_ranked,
    "WMT21 zh-en": partial(read_judged, "wmt21-into-en/zh-en/mqm-segments.tsv", "mqm"),
    "WMT24 en-cs": partial(read_judged, "wmt24-esa/en-cs/esa-segments.tsv", "esa"),
}


LAWS = (
    "bleu",
    "sleu",
    "vleu",
    "xleu",
    "chrf",
    "chrf++",
    "ter",
    "meteor(stages=exact+stem)",
    "softbleu",
    "bertscore",
    "gleu",
    "green",
)
UNKNOWN = "qzxvj"  # A word that no reference has, with no vector and no spelling in common


def count_laws(data: Path) -> None:
    """Count outputs whose partial score lies below the full one, and prefixes that an unknown word raises."""
    rows: list[dict[str, object]] = []
    for name in LAWS:
        metric = softbleu.read_metric(name, partial=True)
        if metric.requires.source:
            folder = data / "conll14"
            systems = [
                path.read_text(encoding="utf-8").splitlines() for path in sorted((folder / "systems").glob("*"))
            ]
            references, source = (
                (folder / file).read_text(encoding="utf-8").splitlines() for file in ("ref0.txt", "source.txt")
            )
        else:
            texts, references, _ = read(data, "WMT13 fr-en", 100 if name == "bertscore" else LINES)
            systems, source = list(texts.values())[::4], None
        candidates = [line for lines in systems for line in lines]
        others = [line for _ in systems for line in references], source and [line for _ in systems for line in source]
        sign = 1 if metric.higher_is_better else -1

        def scores(lines: Sequence[str], metric: Any = metric, others: Any = others, sign: int = sign) -> Any:
            result = metric.corpus_score(lines, *others, level="segment")
            return sign * np.array([score.score for score in result.segments])

        full, whole = (scores(candidates, metric.replaced(partial=on)) for on in (False, True))
        before, after, plain = [], [], []
        for fraction in FRACTIONS:
            begun = [" ".join(words[: math.ceil(fraction * len(words))]) for words in map(str.split, candidates)]
            before.append(scores(begun))
            after.append(scores([f"{line} {UNKNOWN}" for line in begun]))
            ordinary = metric.replaced(partial=False)
            plain.append(scores([f"{line} {UNKNOWN}" for line in begun], ordinary) - scores(begun, ordinary))
        raised = np.array(after) - before
        rows.append({"metric": name, "outputs": len(candidates), "below": 100 * float((whole < full - 1e-6).mean())})
        rows[-1] |= {"above": 100 * float((whole > full + 1e-6).mean()), "mean": float((whole - full).mean())}
        rows[-1] |= {"prefixes": raised.size, "raised": int((raised > 1e-6).sum()), "most": float(raised.max())}
        rows[-1] |= {"raised_plain": int((np.array(plain) > 1e-6).sum())}
        write("laws.csv", rows)


CHOSEN_ON = {
    "WMT13 de-en": ("wmt13-de-en/system-outputs/*", "wmt13-de-en/reference.en", "en"),
    "WMT21 en-de": ("wmt21-en-de/system-outputs/*.de", "wmt21-en-de/reference-A.de", "de"),
    "WMT22 ja-en": ("wmt22-into-en/ja-en/system-outputs/*", "wmt22-into-en/ja-en/reference-A.en", "en"),
    "WMT24 en-hi": ("wmt24-esa/en-hi/system-outputs/*", "wmt24-esa/en-hi/reference-A.hi", "hi"),
}
"""Sets on which the units of alignment were chosen; `SETS` were left aside for measuring."""


def compare_alignments(data: Path) -> None:
    """Score cut outputs with words and with characters aligned."""
    rows: list[dict[str, object]] = []
    for name in SETS | CHOSEN_ON:
        texts, references, _ = read(data, name, 1000 if name in SETS else LINES // 2)
        metrics = [f"{metric}(partial_by={by})" for by in ("tokens", "characters") for metric in ("chrf", "ter")]
        for system, lines in texts.items():
            curves = softbleu.score_curves(lines, references, metrics=metrics, fractions=(0.1, *FRACTIONS[:3]))
            for metric, curve in zip(metrics, curves.curves, strict=True):
                own = {"set": name, "system": system, "metric": metric, "full": curve.whole}
                rows += [own | {"fraction": place, "score": score} for place, score in curve.scores.items()]
            write("alignments.csv", rows)


QUESTIONS = {
    "definitions": try_definitions,
    "results": write_results,
    "laws": count_laws,
    "alignments": compare_alignments,
}


def main() -> None:
    """Answer a question."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--question", choices=tuple(QUESTIONS), required=True)
    given = parser.parse_args()
    QUESTIONS[given.question](given.data)


if __name__ == "__main__":
    main()
