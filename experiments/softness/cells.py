"""Metrics of the study, and its effects: contrasts between cells of two factorials, and between single metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from sets import HERE, Metric

Levels = tuple[tuple[str, str], ...]  # Factor and level, in order
IN_CONTEXT = "vectors=minilm-l6"
NO_VECTORS = f"vectors={HERE.parent / 'no-words.txt'}"
UNITS = {
    "sleu": "sleu(threshold={}{})",
    "vleu": "vleu(threshold={}{})",
    "aligned": "vleu(threshold={}, composition=aligned{})",
    "xleu": "xleu(threshold={}{})",
}
THRESHOLDS = {".5": "0.5", ".8": "0.8", "p99.9": "p99.9"}
VECTORS = {"words": "", "context": f", {IN_CONTEXT}"}
PRECISION: dict[Levels, Metric] = {
    (("unit", "exact"), ("threshold", "-"), ("vectors", "exact")): "bleu",
    **{
        (("unit", unit), ("threshold", threshold), ("vectors", vectors)): UNITS[unit].format(
            THRESHOLDS[threshold], VECTORS[vectors]
        )
        for unit, threshold, vectors in product(UNITS, THRESHOLDS, VECTORS)
    },
}
SIMILARITY = {"exact": f"characters=0.0, {NO_VECTORS}", "words": "", "context": IN_CONTEXT}
WEIGHT = {"precision": 0.0, "F": 1.0, "recall": 1000.0}
IDF = {"no": "rarity=0.0", "yes": ""}
ORDER = {"none": "order=1, position=0.0", "pairs": ""}
BALANCED: dict[Levels, Metric] = {
    (("vectors", vectors), ("weight", weight), ("idf", idf), ("order", order)): (
        f"softbleu({', '.join(filter(None, (SIMILARITY[vectors], IDF[idf], ORDER[order])))})",
        WEIGHT[weight],
    )
    for vectors, weight, idf, order in product(SIMILARITY, WEIGHT, IDF, ORDER)
}
SPELT = {
    "exact": f"softbleu(characters=0.0, position=0.0, credit=clipped, {NO_VECTORS}, ",
    "spellings": "softbleu(vectors=none, ",
}
LANGUAGE_ORDER = {"none": 1, "pairs": 2}
LANGUAGE: dict[Levels, Metric] = {  # `softbleu` as it is without vectors
    (("similarity", similarity), ("weight", weight), ("idf", idf), ("order", order)): (
        f"{SPELT[similarity]}rarity={rarity}, order={LANGUAGE_ORDER[order]})",
        beta,
    )
    for similarity in SPELT
    for weight, beta in {**WEIGHT, "F": 1.25}.items()
    for idf, rarity in {"no": 0.0, "yes": 1.0}.items()
    for order in LANGUAGE_ORDER
}
BESIDE: dict[str, tuple[Metric, Metric]] = {  # One setting of `softbleu` as it is without vectors, beside another
    "spellings − exact words": ("softbleu(vectors=none)", (f"{SPELT['exact']}rarity=1.0, order=2)", 1.25)),
    "greedy − clipped": ("softbleu(vectors=none, credit=greedy)", "softbleu(vectors=none)"),
    "power 1 − .7": ("softbleu(vectors=none, power=1.0)", "softbleu(vectors=none)"),
    "position .2 − 0": ("softbleu(vectors=none, position=0.2)", "softbleu(vectors=none)"),
    "order 2 − 1": ("softbleu(vectors=none)", ("softbleu(vectors=none, rarity=1.0, order=1)", 1.25)),
    "order 3 − 2": ("softbleu(vectors=none, order=3)", "softbleu(vectors=none)"),
    "idf 1 − 0": ("softbleu(vectors=none)", ("softbleu(vectors=none, rarity=0.0, order=2)", 1.25)),
    "idf 2 − 1": ("softbleu(vectors=none, rarity=2.0)", "softbleu(vectors=none)"),
    "beta 2 − 1.25": (("softbleu(vectors=none)", 2.0), "softbleu(vectors=none)"),
    "beta 1.25 − .8": ("softbleu(vectors=none)", ("softbleu(vectors=none)", 0.8)),
}
SETTINGS = {  # Against spurious credit, beside VLEU .8 of words
    "aligned": "vleu(threshold=0.8, composition=aligned)",
    "exact function words": "vleu(threshold=0.8, function_words=exact)",
    "both": "vleu(threshold=0.8, composition=aligned, function_words=exact)",
    # The table also has "CSLS", vleu(threshold=0, similarity=csls), which softbleu 0.3.0 made.
    "in context": f"vleu(threshold=0.8, {IN_CONTEXT})",
}
PLAIN = "vleu(threshold=0.8)"
ANY_LANGUAGE: dict[str, Metric] = {  # Without vectors
    "BLEU": "bleu",
    "chrF": "chrf",
    "chrF++": "chrf++",
    "TER": "ter",
    "softbleu, exact words": f"softbleu(characters=0.0, {NO_VECTORS})",
    "softbleu, spellings": f"softbleu({NO_VECTORS})",
}
OF_LANGUAGES: dict[str, Metric] = {  # Of the study of languages; {language} is that of the set
    **ANY_LANGUAGE,
    "BLEU, single words": "bleu(order=1)",
    "chrF, n-grams to 4": "chrf(char_order=4)",
    "chrF1": "chrf(beta=1)",
    "chrF3": "chrf(beta=3)",
    "softbleu --language": "softbleu(language={language})",
}
MULTILINGUAL = "BERTScore, multilingual"
BEYOND_ENGLISH: dict[str, Metric] = {MULTILINGUAL: "bertscore(vectors=multilingual-e5-small)"}
ENGLISH: dict[str, Metric] = {
    "METEOR, exact and stem": "meteor(stages=exact+stem)",
    "VLEU .8": PLAIN,
    "VLEU .8 in context": SETTINGS["in context"],
    "softbleu": "softbleu",
    "softbleu in context": f"softbleu({IN_CONTEXT})",
    "BERTScore": "bertscore",
    "trained": "trained",
    "trained, static head": "trained(head=static)",
}


def metrics_of(language: str) -> dict[str, Metric]:
    """Return the metrics of the table of agreement for a language."""
    return {**ANY_LANGUAGE, **(ENGLISH if language == "en" else {})}


@dataclass(frozen=True)
class Effect:
    """A contrast between cells: of two levels of a factor, maybe between two levels of another one."""

    name: str
    factor: str
    high: str
    low: str
    at: tuple[str, str] | None = None  # Only cells with this factor at this level
    less: tuple[str, str] | None = None  # Minus the same effect at this one
    sign: str = ""  # As planned: +, - or 0; empty where it was not planned

    def of(self, cells: Sequence[Levels]) -> np.ndarray:
        """Weights of cells: their sum with a measure is the effect."""
        first = _main(cells, self.factor, self.high, self.low, self.at)
        return first if self.less is None else first - _main(cells, self.factor, self.high, self.low, self.less)


def _main(cells: Sequence[Levels], factor: str, high: str, low: str, at: tuple[str, str] | None = None) -> np.ndarray:
    """Mean of the cells at the high level, less that of the cells at the low one."""
    named = [dict(levels) for levels in cells]
    up, down = (
        np.array([levels[factor] == level and (at is None or levels[at[0]] == at[1]) for levels in named], float)
        for level in (high, low)
    )
    return up / up.sum() - down / down.sum()


SOFT = ("vectors", "context", "exact")
SOFTNESS = [
    Effect("context − words", "vectors", "context", "words", sign="+"),
    Effect("words − exact", "vectors", "words", "exact", sign="+"),
    Effect("context − exact", *SOFT, sign="+"),
]
IN_P = [
    *SOFTNESS,
    Effect("vleu − sleu", "unit", "vleu", "sleu", sign="+"),
    Effect("xleu − vleu", "unit", "xleu", "vleu", sign="0"),
    Effect("aligned − mean, words", "unit", "aligned", "vleu", ("vectors", "words"), sign="+"),
    Effect("aligned − mean, context", "unit", "aligned", "vleu", ("vectors", "context"), sign="-"),
    Effect("threshold .8 − .5", "threshold", ".8", ".5", sign="+"),
]
IN_F = [
    *SOFTNESS,
    Effect("F − precision", "weight", "F", "precision", sign="+"),
    Effect("idf − none", "idf", "yes", "no", sign="+"),
    Effect("word order − none", "order", "pairs", "none", sign="+"),
    Effect("softness at F − at precision", *SOFT, ("weight", "F"), ("weight", "precision"), sign="0"),
    Effect("softness with idf − without", *SOFT, ("idf", "yes"), ("idf", "no"), sign="0"),
]
IN_L = [
    Effect("spellings − exact", "similarity", "spellings", "exact", sign="+"),
    Effect("F − precision", "weight", "F", "precision", sign="+"),
    Effect("recall − F", "weight", "recall", "F"),
    Effect("idf − none", "idf", "yes", "no", sign="+"),
    Effect("word order − none", "order", "pairs", "none", sign="+"),
]
FACTORIALS: dict[str, tuple[Mapping[Levels, Metric], list[Effect]]] = {
    "P": (PRECISION, IN_P),
    "F": (BALANCED, IN_F),
}


@dataclass(frozen=True, eq=False)
class Contrast:
    """A weighted sum of metrics' agreement."""

    name: str
    metrics: Sequence[Metric]
    weights: np.ndarray
    sign: str = ""
    english: bool = False  # Whether it needs English resources
    beyond: bool = False  # Whether it is for other languages only

    @property
    def of_metrics(self) -> str:
        """Where it is of single metrics their names, else the factorial."""
        return "metrics" if ":" not in self.name else self.name.partition(":")[0]


def of_languages() -> list[Contrast]:
    """Effects of the study of languages: metrics alone, each minus each, and the factorial L."""
    alone = [Contrast(name, [metric], np.ones(1)) for name, metric in OF_LANGUAGES.items()]
    effects = [Contrast(f"L: {one.name}", [*LANGUAGE.values()], one.of([*LANGUAGE]), one.sign) for one in IN_L]
    beside = [Contrast(f"V: {name}", pair, np.array([1.0, -1.0])) for name, pair in BESIDE.items()]
    pairs = (_minus(one, other, OF_LANGUAGES) for other, one in combinations(OF_LANGUAGES, 2))
    named = {**OF_LANGUAGES, **BEYOND_ENGLISH}
    vectors = [_minus(MULTILINGUAL, other, named, beyond=True) for other in ("chrF", "softbleu --language")]
    vectors.append(Contrast(MULTILINGUAL, [named[MULTILINGUAL]], np.ones(1), beyond=True))
    return [*alone, *pairs, *effects, *beside, *vectors]


def _minus(one: str, other: str, named: Mapping[str, Metric], **rest: bool) -> Contrast:
    return Contrast(f"{one} − {other}", [named[one], named[other]], np.array([1.0, -1.0]), **rest)


def planned() -> list[Contrast]:
    """Effects of both factorials, as planned."""
    return [
        Contrast(f"{name}: {effect.name}", [*cells.values()], effect.of([*cells]), effect.sign, english=True)
        for name, (cells, effects) in FACTORIALS.items()
        for effect in effects
    ]


def compared() -> list[Contrast]:
    """One metric minus another, of all pairs of the table of agreement."""
    named = {**ANY_LANGUAGE, **ENGLISH}
    return [
        _minus(one, other, named, english=one in ENGLISH or other in ENGLISH) for other, one in combinations(named, 2)
    ]


def contrast(name: str) -> Contrast:
    """Return a contrast by its name: `P: context − words`, `chrF − BLEU` or a metric alone."""
    named = {one.name: one for one in [*planned(), *of_languages(), *compared()]}
    for one in [*of_languages(), *compared()]:
        high, _, low = one.name.partition(" − ")
        if low and ":" not in one.name:
            named[f"{low} − {high}"] = Contrast(f"{low} − {high}", one.metrics, -one.weights, english=one.english)
    alone = {**ANY_LANGUAGE, **ENGLISH, "VLEU .8 aligned": SETTINGS["aligned"]}
    if name in alone:
        return Contrast(name, [alone[name]], np.array([1.0]), english=name not in ANY_LANGUAGE)
    if name not in named:
        raise KeyError(f"no effect {name!r}; known are {', '.join(sorted(named))}")
    return named[name]


def interactions(cells: Mapping[Levels, Metric]) -> list[Effect]:
    """All two-way interactions of the factors of a factorial, without its exact cell."""
    chosen = [levels for levels in cells if dict(levels).get("unit") != "exact"]
    factors = {name: list(dict.fromkeys(dict(levels)[name] for levels in chosen)) for name, _ in chosen[0]}
    return [
        Effect(f"{one} {high}-{low} × {other} {top}-{base}", one, high, low, (other, top), (other, base))
        for one, other in combinations(factors, 2)
        for low, high in combinations(factors[one], 2)
        for base, top in combinations(factors[other], 2)
    ]
