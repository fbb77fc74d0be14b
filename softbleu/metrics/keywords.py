"""Settings by name, for type checkers: what `score` and its like take for any metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from softbleu.corpora.judgements import ScoreTable
    from softbleu.embeddings import VectorLocation
    from softbleu.embeddings.choice import Similarity
    from softbleu.language import ModelChoice
    from softbleu.lattices.rules import NetworkVectors
    from softbleu.matching.base import Matcher
    from softbleu.metrics.heads import TrainedHead
    from softbleu.metrics.idf import IdfCorpus
    from softbleu.metrics.refless import CoefficientsFile
    from softbleu.text.tokenizers import Tokenizer
    from softbleu.thesaurus.resources import MeteorData


class MatchSettings(TypedDict, total=False):
    """How n-grams are matched: matcher, tokens, vectors."""

    threshold: float | str | None
    assignment: Literal["exact-first", "sequential", "optimal"]
    consumption: Literal["unit", "similarity"]
    composition: Literal["mean", "aligned", "sif"]
    tokenize: str | Tokenizer
    lowercase: bool
    vectors: VectorLocation
    vector_case: Literal["exact", "fallback"]
    normalize: bool
    layers: str | None
    exact_words: Literal["one", "cosine"] | None
    similarity: str | Similarity | None
    vectors_postprocess: str
    neighbours: int | None
    function_words: Literal["soft", "exact"]


class Settings(MatchSettings, total=False):
    """Those of all metrics of the package."""

    matcher: str | Matcher
    order: int
    smooth: Literal["none", "floor", "add-k", "exp"]
    smooth_value: float | None
    effective_order: bool | None
    denominator: Literal["order", "all", "reference"]
    variant: Literal["gleu+", "gleu+paper", "gleu0"]
    penalty: Literal["exact", "soft", "progress"] | None
    weight: float
    swapped_bp: bool
    multi: Literal["sample", "max", "mean"]
    iterations: int
    seed: int
    segment_smoothing: bool
    beta: float | None
    power: float
    rarity: float
    position: float
    characters: float
    synonyms: float
    paraphrases: float
    meteor_data: str | MeteorData | None
    credit: Literal["greedy", "clipped", "both"]
    idf: str | Path | IdfCorpus | None
    char_order: int
    word_order: int
    whitespace: bool
    eps_smoothing: bool
    normalized: bool
    no_punct: bool
    asian_support: bool
    case_sensitive: bool
    extra: float
    replacing: Literal["greater", "both"]
    window: int
    move: float
    shifts: bool
    notation: Literal["text", "brackets", "network"]
    stem_cost: float | None
    synonym_cost: float | None
    paraphrase_cost: float | None
    neighbour_cost: float | None
    optional_cost: float | None
    neighbour_quantile: str
    alternatives: int
    network_vectors: str | NetworkVectors | None
    average: Literal["segments", "pieces"]
    task: Literal["rank", "adq"]
    stages: str
    soft: float
    soft_weight: float
    max_unchanged_words: int
    annotators: Literal["running", "best", "last"]
    assumption: Literal["dependent", "independent"]
    weights: Literal["none", "length", "similarity"]
    effect: Literal["removed", "added"]
    cost: Literal["cosine", "euclidean"]
    entropy: float
    marginal: float
    alpha: float | None
    gamma: float | None
    t: float
    matched: Literal["stems", "meteor"]
    aggregate: Literal["mean", "share"]
    language_model: str | ModelChoice | None
    detector: Literal["spelling", "harper"] | None
    coefficients: str | CoefficientsFile | None
    head: str | TrainedHead | None
    table: str | ScoreTable | Mapping[str, Sequence[float | None]] | None
    statistic: Literal["mean", "median", "sum"]
    missing: Literal["refuse", "leave-out"]
    preset: Literal["morgan2014", "terp", "networks", "paraphrases"]
