"""Agreement with people on WMT13 fr-en and WMT17 into English, of every metric and remedy: tables for docs/study.md.

    python experiments/study/study.py segments > experiments/study/wmt17-segments.csv
    python experiments/study/study.py systems > experiments/study/systems.csv
    python experiments/study/study.py crossvalidate > experiments/study/wmt17-crossvalidation.csv
    python experiments/study/study.py rankings > experiments/study/wmt13-rankings.csv
    python experiments/study/study.py corrections > experiments/study/conll14-agreement.csv

Needs the shared test data beside the checkout. Text of WMT17 is unescaped (`&apos;`); it comes lower-cased and
tokenised, so tokens are split at white space. Of WMT13 tokens are those of 13a, lower-cased.
"""

from __future__ import annotations

import csv
import html
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from softbleu.corpora import Segments, read_m2
from softbleu.corpora.judgements import Comparisons, ScoreTable, read_rankings, read_scores
from softbleu.experiments.correlation import correlate, williams
from softbleu.experiments.preferences import preference_taus
from softbleu.experiments.rankings import expected_wins
from softbleu.scoring import Measure, score_corpus

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
PAIRS = ("cs-en", "de-en", "fi-en")
GOOGLE = str(SHARED / "googlenews-26k" / "googlenews-26k-300d.bin")
NO_VECTORS = {"\ue000": [1.0]}
"""A set that knows no word: words match themselves only."""

VARIANTS: dict[str, dict[str, Any]] = {
    "BLEU": {},
    **{f"SLEU {t}": {"matcher": "sleu", "threshold": t} for t in (0.5, 0.8, "p99.9")},
    **{f"VLEU {t}": {"matcher": "vleu", "threshold": t} for t in (0.5, 0.8, "p99.9")},
    **{f"XLEU {t}": {"matcher": "xleu", "threshold": t} for t in (0.5, 0.8, "p99.9")},
    "VLEU 0.8 aligned": {"matcher": "vleu", "threshold": 0.8, "composition": "aligned"},
    "VLEU 0.5 aligned": {"matcher": "vleu", "threshold": 0.5, "composition": "aligned"},
    "VLEU 0.5 aligned+function-words": {
        "matcher": "vleu",
        "threshold": 0.5,
        "composition": "aligned",
        "function_words": "exact",
    },
    "VLEU 0.8 sif": {"matcher": "vleu", "threshold": 0.8, "composition": "sif"},
    "VLEU 0.8 neighbours 10": {"matcher": "vleu", "threshold": 0.8, "neighbours": 10},
    "VLEU 0.5 optimal": {"matcher": "vleu", "threshold": 0.5, "assignment": "optimal"},
    "VLEU 0 csls": {"matcher": "vleu", "threshold": 0.0, "similarity": "csls"},
    "softbleu": {"metric": "softbleu"},
    "softbleu, exact words only": {"metric": "softbleu", "vectors": NO_VECTORS, "characters": 0.0},
    "softbleu, spellings only": {"metric": "softbleu", "vectors": NO_VECTORS},
    "softbleu, vectors only": {"metric": "softbleu", "characters": 0.0},
    "softbleu, no idf": {"metric": "softbleu", "rarity": 0.0},
    "softbleu, idf to the power 1": {"metric": "softbleu", "rarity": 1.0},
    "softbleu, precision only": {"metric": "softbleu", "beta": 0.0},
    "softbleu, recall only": {"metric": "softbleu", "beta": 1000.0},
    "softbleu, words only": {"metric": "softbleu", "order": 1},
    "softbleu, orders 1-3": {"metric": "softbleu", "order": 3},
    "softbleu, no position": {"metric": "softbleu", "position": 0.0},
    "softbleu, power 1": {"metric": "softbleu", "power": 1.0},
    "softbleu, greedy": {"metric": "softbleu", "credit": "greedy"},
    "softbleu, clipped": {"metric": "softbleu", "credit": "clipped"},
    "softbleu, csls": {"metric": "softbleu", "similarity": "csls"},
    "softbleu, function words exact": {"metric": "softbleu", "function_words": "exact"},
    "softbleu, googlenews-26k": {"metric": "softbleu", "vectors": GOOGLE},
    "softbleu, googlenews-26k mean,pc:2": {
        "metric": "softbleu",
        "vectors": GOOGLE,
        "vectors_postprocess": "mean,pc:2",
    },
    "softbleu, both sets joined": {"metric": "softbleu", "vectors": f"glove-6b-100d+{GOOGLE}"},
}


CHOSEN = (
    "BLEU",
    "SLEU 0.8",
    "VLEU 0.8",
    "VLEU 0.5",
    "XLEU 0.8",
    "VLEU 0.8 aligned",
    "VLEU 0.5 aligned",
    "VLEU 0.5 aligned+function-words",
    "softbleu",
    "softbleu, no idf",
    "softbleu, exact words only",
    "softbleu, recall only",
    "softbleu, precision only",
    "softbleu, googlenews-26k",
    "softbleu, both sets joined",
)
"""What is looked at beyond the segments of WMT17."""


def lines(path: Path) -> list[str]:
    """Lines of a file, entities unescaped."""
    return html.unescape(path.read_text(encoding="utf-8")).split("\n")[:-1]


def assessed(pair: str) -> tuple[list[str], list[str], np.ndarray]:
    """Candidates, references and human scores of a language pair."""
    rows = [line.split("\t") for line in lines(SHARED / "wmt17-into-en" / f"testset_{pair}.tsv")[1:]]
    return [row[2] for row in rows], [row[3] for row in rows], np.array([float(row[4]) for row in rows])


def segment_scores(name: str, candidates: list[str], references: list[str]) -> np.ndarray:
    """Scores of segments by a variant, or by one of sacrebleu's metrics."""
    if name == "chrF":
        return np.array([CHRF().sentence_score(c, [r]).score for c, r in zip(candidates, references, strict=True)])
    if name == "TER":
        return np.array([-TER().sentence_score(c, [r]).score for c, r in zip(candidates, references, strict=True)])
    return scores_of(VARIANTS[name], candidates, references)


def measure(options: dict[str, Any]) -> Measure:
    """BLEU, or the metric that the options name, with the settings that they name."""
    return Measure.of(**{"metric": "bleu"} | options)


def scores_of(options: dict[str, Any], candidates: list[str], references: list[str]) -> np.ndarray:
    """Scores of segments by settings."""
    result = score_corpus(Segments.of({"all": candidates}, references), measure(options), level="segment")[0]
    return np.array([score.score for score in result.segments or ()])


def segments() -> Iterator[list[Any]]:
    """Pearson's r with direct assessment, segment by segment, with 95% intervals of 1,000 bootstrap samples."""
    head = [f"{pair}{part}" for pair in PAIRS for part in ("", " from", " to")]
    yield ["metric", *head, "mean", *(f"{pair} p, Williams, against chrF" for pair in PAIRS)]
    data = {pair: assessed(pair) for pair in PAIRS}
    rivals = {pair: segment_scores("chrF", *texts[:2]) for pair, texts in data.items()}
    for name in ("chrF", "TER", *VARIANTS):
        row: list[Any] = [name]
        values, chances = [], []
        for pair, (candidates, references, human) in data.items():
            scores = segment_scores(name, candidates, references)
            found = correlate(scores, human)
            values.append(found.value or 0.0)
            if name != "chrF":
                rival, between = (correlate(rivals[pair], other, samples=0).value or 0 for other in (human, scores))
                test = williams(found.value or 0, rival, between, len(human))
                chances.append(f"{'better' if test.t > 0 else 'worse'}, {test.p_value:.4f}")
            row += [round(found.value or 0.0, 4), *(round(bound, 4) for bound in found.interval or (0, 0))]
        yield [*row, round(float(np.mean(values)), 4), *chances]


def crossvalidate() -> Iterator[list[Any]]:
    """Settings chosen on two language pairs, and what they give on the third."""
    grid = list(
        itertools.product(
            (1, 2, 3), (1.0, 1.5, 2.0), (0.0, 0.2), (0.7, 1.0), ("greedy", "both"), (0.0, 0.8), (1.0, 1.5)
        )
    )
    names = ("order", "rarity", "position", "power", "credit", "characters", "beta")
    data = {pair: assessed(pair) for pair in PAIRS}
    found = []
    for values in grid:
        options = {"metric": "softbleu", **dict(zip(names, values, strict=True))}
        found.append([correlate(scores_of(options, c, r), human, samples=0).value for c, r, human in data.values()])
    table = np.array(found, dtype=float)
    yield ["held out", "r", "mean r of the others", *names]
    for number, pair in enumerate(PAIRS):
        others = np.delete(table, number, axis=1).mean(axis=1)
        best = int(others.argmax())
        yield [pair, round(table[best, number], 4), round(others[best], 4), *grid[best]]


def systems() -> Iterator[list[Any]]:
    """Pearson's r with people at system level: direct assessment (WMT17), Expected Wins (WMT13 fr-en)."""
    yield ["metric", *PAIRS, "wmt13 fr-en"]
    sets = {pair: _wmt17_systems(pair) for pair in PAIRS} | {"wmt13 fr-en": _wmt13_systems()}
    # TER is left out: sacrebleu's takes ten minutes and more for these systems.
    for name in ("chrF", *CHOSEN):
        row: list[Any] = [name]
        for outputs, references, human in sets.values():
            if name == "chrF":
                values = [CHRF().corpus_score(texts, [references]).score for texts in outputs.values()]
            else:
                results = score_corpus(Segments.of(outputs, references), measure(VARIANTS[name]))
                values = [result.score.score for result in results]
            found = correlate(np.array(values), np.array([human[system] for system in outputs]), samples=0)
            row.append(round(found.value or 0.0, 4))
        yield row


def _wmt17_systems(pair: str) -> tuple[dict[str, list[str]], list[str], dict[str, float]]:
    room = SHARED / "wmt17-into-en"
    rows = [line.split() for line in lines(room / "DA-syslevel.csv")[1:]]
    human = {system: float(score) for place, score, system in rows if place == pair}
    files = {system: next((room / "system-outputs" / pair).glob(f"*{system}*")) for system in human}
    return {s: lines(p) for s, p in files.items()}, lines(next((room / "references").glob(f"*{pair[:2]}en*"))), human


def _wmt13_systems() -> tuple[dict[str, list[str]], list[str], dict[str, float]]:
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    split = Tokenizer13a()
    room = SHARED / "wmt13-fr-en"

    def text(path: Path) -> list[str]:
        return [split(line.lower()) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]

    wins = expected_wins(read_rankings(str(room / "human-rankings-train.csv")))
    files = {p: next((s for s in wins if s in p.name), None) for p in sorted((room / "system-outputs").iterdir())}
    return {s: text(p) for p, s in files.items() if s}, text(room / "reference.en"), wins


def rankings() -> Iterator[list[Any]]:
    """Kendall's tau with the five-way rankings of WMT13 French-English, segment by segment, with 95% intervals."""
    outputs, references, _ = _wmt13_systems()
    comparisons = read_rankings(str(SHARED / "wmt13-fr-en" / "human-rankings-train.csv"))
    yield ["metric", "tau NoTies", "from", "to", "tau HTies", "pairs NoTies"]
    for name in ("chrF", *CHOSEN):
        if name == "chrF":
            made = {system: segment_scores("chrF", texts, references) for system, texts in outputs.items()}
        else:
            results = score_corpus(Segments.of(outputs, references), measure(VARIANTS[name]), level="segment")
            made = {result.name: np.array([each.score for each in result.segments or ()]) for result in results}
        yield [name, *_taus(comparisons, ScoreTable(name, {}, made))]


def _taus(comparisons: Comparisons, table: ScoreTable) -> list[Any]:
    taus = {tau.variant: tau for tau in preference_taus(comparisons, table)}
    bare, tied = taus["noties"], taus["hties"]
    low, high = bare.interval or (0.0, 0.0)
    return [round(bare.value or 0, 4), round(low, 4), round(high, 4), round(tied.value or 0, 4), bare.pairs]


CORRECTIONS: dict[str, dict[str, Any]] = {
    "BLEU": {},
    "softbleu": {"metric": "softbleu"},
    "M2": {"metric": "m2"},
    "I-measure": {"metric": "imeasure"},
    "GLEU+": {"metric": "gleu"},
    **{
        f"GLEU+ {matcher} {threshold}{', soft penalty' if penalty == 'soft' else ''}": {
            "metric": "gleu",
            "matcher": matcher,
            "threshold": threshold,
            "penalty": penalty,
        }
        for matcher in ("sleu", "vleu", "xleu")
        for threshold in (0.8, "p99.9")
        for penalty in ("exact", "soft")
    },
    "GLEU+ vleu 0.8 aligned": {"metric": "gleu", "matcher": "vleu", "threshold": 0.8, "composition": "aligned"},
    "GLEU+ vleu 0.8 sif": {"metric": "gleu", "matcher": "vleu", "threshold": 0.8, "composition": "sif"},
    "GLEU+ vleu 0.8 optimal": {"metric": "gleu", "matcher": "vleu", "threshold": 0.8, "assignment": "optimal"},
    "GLEU+ vleu 0.8 aligned+function-words": {
        "metric": "gleu",
        "matcher": "vleu",
        "threshold": 0.8,
        "composition": "aligned",
        "function_words": "exact",
    },
}


def corrections() -> Iterator[list[Any]]:
    """CoNLL-2014: Pearson and Spearman with people at system level, and tau at segment level, of 13 systems."""
    room = SHARED / "conll14"
    outputs = {path.stem: lines(path) for path in sorted((room / "systems").glob("*.txt"))}
    references = list(zip(lines(room / "ref0.txt"), lines(room / "ref1.txt"), strict=True))
    by_text = Segments.of(outputs, references, lines(room / "source.txt"))
    by_edits = Segments.of_gold(outputs, read_m2(str(room / "gold.m2")))
    human = {name: _scores(room / "human" / f"{name}.tsv") for name in ("expected_wins", "trueskill")}
    comparisons = read_rankings(str(room / "human" / "judgments.xml"))
    head = [f"{kind} {name}" for name in human for kind in ("Pearson", "Spearman")]
    yield ["metric", *head, "tau NoTies", "from", "to", "tau HTies", "pairs NoTies"]
    for name, options in CORRECTIONS.items():
        corpus = by_edits if options.get("metric") in ("m2", "imeasure") else by_text
        results = score_corpus(corpus, measure(options))
        row: list[Any] = [name]
        for scores in human.values():
            own = np.array([result.score.score for result in results])
            theirs = np.array([scores[result.name] for result in results])
            row += [round(correlate(own, theirs, kind, samples=0).value or 0, 3) for kind in ("pearson", "spearman")]
        # Segments as their published scores: GLEU's smoothed, M2's by the last annotator.
        more = {"gleu": {"segment_smoothing": True}, "m2": {"annotators": "last"}}.get(options.get("metric", ""), {})
        by_segment = score_corpus(corpus, measure(options | more), level="segment")
        made = {result.name: np.array([each.score for each in result.segments or ()]) for result in by_segment}
        yield [*row, *_taus(comparisons, ScoreTable(name, {}, made))]


def _scores(path: Path) -> dict[str, float]:
    """Scores of systems as people gave them."""
    (table,) = read_scores(str(path))
    return dict(table.systems)


if __name__ == "__main__":
    tables = {
        "segments": segments,
        "systems": systems,
        "crossvalidate": crossvalidate,
        "rankings": rankings,
        "corrections": corrections,
    }
    csv.writer(sys.stdout, lineterminator="\n").writerows(tables[sys.argv[1]]())
