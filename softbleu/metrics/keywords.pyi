"""Settings by name, for type checkers; made of the declarations by docs/reference/make_cli.py."""

from collections.abc import Mapping, Sequence
from dataclasses import InitVar, dataclass
from typing import Literal, TypedDict

from softbleu.config.declare import Declared
from softbleu.corpora.judgements import ScoreTable
from softbleu.embeddings import VectorLocation
from softbleu.embeddings.choice import Similarity
from softbleu.embeddings.maps import VectorMap
from softbleu.language.values import ModelChoice
from softbleu.lattices.rules import NetworkVectors
from softbleu.matching.matchers import Matcher
from softbleu.metrics.refless import CoefficientsFile
from softbleu.metrics.settings import IdfCorpus
from softbleu.metrics.trained import TrainedHead
from softbleu.text.meteor import MeteorData
from softbleu.text.tokens import Tokenizer

class MatchSettings(TypedDict, total=False):
    """How n-grams are matched."""

    tokenize: str | Tokenizer
    lowercase: bool
    normalize_unicode: Literal["NFC", "NFKC"] | None
    vectors: VectorLocation
    vector_case: Literal["exact", "fallback"]
    normalize: bool
    layers: str | None
    context: int
    reads: Literal["line", "tokens"] | None
    exact_words: Literal["one", "cosine"] | None
    similarity: str | Similarity | None
    map: str | VectorMap | None
    device: Literal["cuda", "mps", "cpu"] | None
    precision: Literal["float32", "tf32", "float16", "bfloat16"]
    vectors_postprocess: str
    neighbours: int | None
    function_words: Literal["soft", "exact"]
    threshold: str | float | None
    assignment: Literal["exact-first", "sequential", "optimal"]
    consumption: Literal["unit", "similarity"]
    composition: Literal["mean", "aligned", "sif"]

class Settings(MatchSettings, total=False):
    """Those of all metrics."""

    computation_aware: bool
    use_ref_len: bool
    idf: Literal["references"] | str | IdfCorpus | None
    average: Literal["segments", "pieces"]
    partial: bool
    matcher: str | Matcher
    order: int
    smooth: Literal["none", "floor", "add-k", "exp"]
    smooth_value: float | None
    effective_order: bool | None
    denominator: Literal["order", "all", "reference"]
    char_order: int
    word_order: int
    beta: float | None
    whitespace: bool
    eps_smoothing: bool
    partial_by: Literal["tokens", "characters"]
    assumption: Literal["dependent", "independent"]
    weights: Literal["none", "length", "similarity"]
    annotators: Literal["running", "best"] | Literal["running", "best", "last"]
    language: str | None
    merging: Literal["errant", "cherrant", "spelling"] | None
    counting: Literal["correction", "type", "span", "token"]
    edit_size: Literal["any", "single", "multi"]
    without_types: str | None
    variant: Literal["gleu+", "gleu+paper", "gleu0"]
    penalty: Literal["exact", "soft", "progress"] | None
    weight: float
    swapped_bp: bool
    multi: Literal["sample", "max", "mean"]
    iterations: int
    seed: int
    segment_smoothing: bool
    sampling: Literal["python2", "python3"]
    extra: float
    replacing: Literal["greater", "both"]
    shifts: bool
    rarity: float
    notation: Literal["text", "brackets", "network"]
    stem_cost: float | None
    synonym_cost: float | None
    paraphrase_cost: float | None
    neighbour_cost: float | None
    optional_cost: float | None
    neighbour_quantile: str
    alternatives: int
    network_vectors: str | NetworkVectors | None
    meteor_data: str | MeteorData | None
    max_unchanged_words: int
    characters: float
    task: Literal["rank", "adq"]
    stages: str
    soft: float
    soft_weight: float
    alpha: float | None
    gamma: float | None
    least_meaning: float
    t: float
    matched: Literal["stems", "meteor", "minilm-l6"]
    aggregate: Literal["mean", "share"]
    language_model: str | ModelChoice | None
    detector: Literal["spelling", "harper"] | None
    coefficients: str | CoefficientsFile | None
    table: str | ScoreTable | Mapping[str, Sequence[float | None]] | None
    statistic: Literal["mean", "median", "sum"]
    missing: Literal["refuse", "leave-out"]
    missing_value: float | None
    power: float
    position: float
    synonyms: float
    paraphrases: float
    credit: Literal["greedy", "clipped", "both"]
    normalized: bool
    no_punct: bool
    asian_support: bool
    case_sensitive: bool
    head: str | TrainedHead | None
    effect: Literal["removed", "added"]
    cost: Literal["cosine", "euclidean"]
    entropy: float
    marginal: float
    preset: Literal["morgan2014", "terp", "networks", "paraphrases"] | None

@dataclass(frozen=True, kw_only=True)
class PartFields(Declared):
    """What every metric takes for its parts."""

    tokenize: str | Tokenizer = ...
    lowercase: bool = ...
    normalize_unicode: Literal["NFC", "NFKC"] | None = ...
    vectors: VectorLocation = ...
    vector_case: Literal["exact", "fallback"] = ...
    normalize: bool = ...
    layers: str | None = ...
    context: int = ...
    reads: Literal["line", "tokens"] | None = ...
    exact_words: Literal["one", "cosine"] | None = ...
    similarity: str | Similarity | None = ...
    map: str | VectorMap | None = ...
    device: Literal["cuda", "mps", "cpu"] | None = ...
    precision: Literal["float32", "tf32", "float16", "bfloat16"] = ...
    vectors_postprocess: str = ...
    neighbours: int | None = ...
    function_words: Literal["soft", "exact"] = ...
    language: str | None = ...
    preset: InitVar[Literal["morgan2014", "terp", "networks", "paraphrases"] | None] = ...

@dataclass(frozen=True, kw_only=True)
class MatcherFields:
    """What metrics over matchers take, too."""

    threshold: str | float | None = ...
    assignment: Literal["exact-first", "sequential", "optimal"] = ...
    consumption: Literal["unit", "similarity"] = ...
    composition: Literal["mean", "aligned", "sif"] = ...
