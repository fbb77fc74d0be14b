"""Data and metrics of the study: texts with what judges said of them, cells of the factorials, kept scores."""

from __future__ import annotations

import csv
import hashlib
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from softbleu.corpora import Segments
from softbleu.corpora.judgements import Comparisons, read_rankings
from softbleu.corpora.judgements.assessments import read_assessments
from softbleu.meta.evidence import name_outputs, read_metrics
from softbleu.results import RunOptions, collect_statistics, make_results
from softbleu.text.tokenizers import Whitespace
from softbleu.version import __version__

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("SOFTBLEU_SHARED", HERE.parents[2] / "shared")) / "data"
KEPT = HERE.parents[1] / "build" / "softness" / __version__  # Another version may give other digits
SEED = 32  # Of drawn lines
GOOGLENEWS = DATA / "googlenews-26k" / "googlenews-26k-300d.bin"
IN_CONTEXT = "vectors=minilm-l6"

Levels = tuple[tuple[str, str], ...]  # Factor and level, in order
UNITS = {
    "sleu": "sleu(threshold={}{})",
    "vleu": "vleu(threshold={}{})",
    "aligned": "vleu(threshold={}, composition=aligned{})",
    "xleu": "xleu(threshold={}{})",
}
THRESHOLDS = {".5": "0.5", ".8": "0.8", "p99.9": "p99.9"}
VECTORS = {"words": "", "context": f", {IN_CONTEXT}"}
PRECISION: dict[Levels, str] = {
    (("unit", "exact"), ("threshold", "-"), ("vectors", "exact")): "bleu",
    **{
        (("unit", unit), ("threshold", threshold), ("vectors", vectors)): UNITS[unit].format(
            THRESHOLDS[threshold], VECTORS[vectors]
        )
        for unit, threshold, vectors in product(UNITS, THRESHOLDS, VECTORS)
    },
}
SIMILARITY = {
    "exact": f"characters=0.0, vectors={HERE.parent / 'no-words.txt'}",
    "words": "",
    "context": IN_CONTEXT,
}
WEIGHT = {"precision": 0.0, "F": 1.0, "recall": 1000.0}
IDF = {"no": "rarity=0.0", "yes": ""}
ORDER = {"none": "order=1, position=0.0", "pairs": ""}
BALANCED: dict[Levels, tuple[str, float]] = {
    (("vectors", vectors), ("weight", weight), ("idf", idf), ("order", order)): (
        f"softbleu({', '.join(filter(None, (SIMILARITY[vectors], IDF[idf], ORDER[order])))})",
        WEIGHT[weight],
    )
    for vectors, weight, idf, order in product(SIMILARITY, WEIGHT, IDF, ORDER)
}
PEERS = {"chrF": "chrf", "BERTScore": "bertscore"}
SETTINGS = {  # Against spurious credit, beside VLEU .8 of words
    "aligned": "vleu(threshold=0.8, composition=aligned)",
    "exact function words": "vleu(threshold=0.8, function_words=exact)",
    "both": "vleu(threshold=0.8, composition=aligned, function_words=exact)",
    # The table also has "CSLS", vleu(threshold=0, similarity=csls), which softbleu 0.3.0 made.
    "in context": f"vleu(threshold=0.8, {IN_CONTEXT})",
}
PLAIN = "vleu(threshold=0.8)"


@dataclass(frozen=True, eq=False)
class Set:
    """Texts of systems with references, and what judges said of them."""

    name: str
    texts: Segments
    tokenize: str = "13a"
    people: Any = None  # Scores (systems, segments), of texts alone (1, segments); NaN where judges said nothing
    comparisons: Comparisons | None = None

    @property
    def content(self) -> str:
        """Name of the texts by what they are."""
        sides = [*sorted(self.texts.candidates.items()), self.texts.references, self.texts.source, self.tokenize]
        return hashlib.sha256(repr(sides).encode()).hexdigest()[:12]

    def scores(self, metrics: Sequence[str | tuple[str, float]]) -> np.ndarray:
        """Scores of all metrics: (metrics, systems, segments); those that were made before are read from build/.

        A metric may be an expression with the weight of recall, which needs no scoring of its own.
        """
        asked = [each if isinstance(each, tuple) else (each, None) for each in metrics]
        new = list(dict.fromkeys(text for text, beta in asked if not self._place(text, beta).exists()))
        # Apart, so that the vectors of one kind alone are in memory.
        for kind in (False, True):
            self.make([text for text in new if ("minilm" in text or "bertscore" in text) == kind], asked)
        return np.stack([np.load(self._place(*each))["scores"] for each in asked])

    def _place(self, text: str, beta: float | None) -> Path:
        key = hashlib.sha256(f"{text.replace(str(HERE.parent), '')} {beta}".encode()).hexdigest()[:12]
        return KEPT / f"{self.name.replace(' ', '-')}-{self.content}-{key}.npz"

    def make(self, new: Sequence[str], asked: Sequence[tuple[str, float | None]]) -> None:
        """Score metrics, and keep the scores for each weight of recall that is asked for."""
        if not new:
            return
        KEPT.mkdir(parents=True, exist_ok=True)
        metrics = [*read_metrics({text: text for text in new}).values()]
        if self.tokenize == "none":
            metrics = [replace(each, tokenizer=Whitespace()) for each in metrics]  # type: ignore[call-arg]
        start = time.process_time()
        for text, found in zip(
            new, collect_statistics(self.texts, metrics, RunOptions(), keep_rows=True), strict=True
        ):
            for beta in dict.fromkeys(beta for other, beta in asked if other == text) or (None,):
                weighed = found if beta is None else replace(found, metric=replace(found.metric, beta=beta))
                results = make_results(weighed, "segment")
                rows = np.array([[part.score for part in each.segments or ()] for each in results])
                np.savez_compressed(self._place(text, beta), scores=rows.astype(np.float64))
        print(self.name, len(new), f"metrics, {time.process_time() - start:.0f} s CPU", flush=True)  # noqa: T201


def lines(path: Path) -> list[str]:
    """Lines of a file."""
    return path.read_text(encoding="utf-8").splitlines()


def wmt21(pair: str) -> tuple[dict[str, list[str]], list[list[str]]]:
    """Outputs of all systems, and the references A and maybe B."""
    place = DATA / "wmt21-into-en" / pair
    outputs = {path.stem: lines(path) for path in sorted((place / "system-outputs").iterdir())}
    return outputs, [lines(path) for path in sorted(place.glob("reference-?.en"))]


def judged(pair: str, file: str, column: str, systems: Mapping[str, Sequence[str]]) -> np.ndarray:
    """Scores of judges, (systems, segments); NaN where there is none."""
    found = np.full((len(systems), len(next(iter(systems.values())))), np.nan)
    places = {name: number for number, name in enumerate(systems)}
    with (DATA / "wmt21-into-en" / pair / file).open(encoding="utf-8") as stream:
        for row in csv.DictReader(stream, delimiter="\t"):
            if row["system"] in places:
                found[places[row["system"]], int(row["segment"]) - 1] = float(row[column])
    return found


def mqm() -> Set:
    """WMT21 zh-en: segments with MQM, of the systems that were judged."""
    outputs, references = wmt21("zh-en")
    people = judged("zh-en", "mqm-segments.tsv", "mqm", outputs)
    names = [name for name, row in zip(outputs, people, strict=True) if not np.isnan(row).all()]
    kept = np.flatnonzero(~np.isnan(people).all(axis=0))
    chosen = {name: [outputs[name][each] for each in kept] for name in names}
    scored = people[[[*outputs].index(name) for name in names]][:, kept]
    return Set("MQM zh-en", Segments.of(chosen, [references[0][each] for each in kept]), people=scored)


def assessed(pair: str) -> Set:
    """WMT17: segments with direct assessment, each of its own system."""
    found = read_assessments(str(DATA / "wmt17-into-en" / f"testset_{pair}.tsv"), unescape=True)
    assert found.texts is not None
    return Set(f"WMT17 {pair}", found.texts, "none", people=found.scores[None])


def systems_of(pair: str, reference: str = "A", count: int = 150) -> Set:
    """WMT21: drawn lines of all systems; `people` has all direct assessments, whose lines are other ones."""
    outputs, references = wmt21(pair)
    drawn = np.sort(np.random.default_rng(SEED).permutation(len(references[0]))[:count])
    people = judged(pair, "da-segments.tsv", "z", outputs)
    kept = [number for number, row in enumerate(people) if not np.isnan(row).all()]
    chosen = {name: [outputs[name][each] for each in drawn] for name in np.array([*outputs])[kept].tolist()}
    given = [tuple(references["AB".index(letter)][each] for letter in reference) for each in drawn]
    return Set(f"WMT21 {pair} {reference}", Segments.of(chosen, given), people=people[kept])


def ranked(count: int = 200) -> Set:
    """WMT13 fr-en: drawn segments that judges ranked."""
    place = DATA / "wmt13-fr-en"
    comparisons = read_rankings(str(place / "human-rankings-train.csv"))
    outputs = {
        name: lines(Path(path))
        for name, path in name_outputs([str(path) for path in sorted((place / "system-outputs").iterdir())]).items()
    }
    known = np.unique(comparisons.segment)
    drawn = np.sort(np.random.default_rng(SEED).permutation(known)[:count])
    reference = lines(place / "reference.en")
    chosen = {name: [outputs[name][each] for each in drawn] for name in comparisons.systems}
    taken = comparisons.at(np.isin(comparisons.segment, drawn))
    places = np.searchsorted(drawn, taken.segment)
    texts = Segments.of(chosen, [reference[each] for each in drawn])
    return Set("WMT13 fr-en", texts, comparisons=replace(taken, segment=places, cluster=places))


def corrections(references: Sequence[int]) -> Set:
    """CoNLL-2014: segments whose outputs judges ranked, with some of the two references."""
    place = DATA / "conll14"
    comparisons = read_rankings(str(place / "human" / "judgments.xml"))
    kept, places = np.unique(comparisons.segment, return_inverse=True)
    chosen = {name: [lines(place / "systems" / f"{name}.txt")[each] for each in kept] for name in comparisons.systems}
    both = [lines(place / f"ref{each}.txt") for each in references]
    given = [tuple(side[each] for side in both) for each in kept]
    source = lines(place / "source.txt")
    texts = Segments.of(chosen, given, [source[each] for each in kept])
    name = f"CoNLL-2014 {''.join(map(str, references))}"
    return Set(name, texts, "none", comparisons=replace(comparisons, segment=places, cluster=places))
