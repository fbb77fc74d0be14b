"""Made of the declarations by docs/reference/make_cli.py."""

from collections.abc import Callable
from pathlib import Path
from typing import Literal, TypedDict

from softbleu.embeddings import VectorLocation
from softbleu.language import ModelChoice
from softbleu.matchers.base import Matcher
from softbleu.metrics.idf import IdfCorpus
from softbleu.metrics.refless.judging import CoefficientsFile
from softbleu.networks.rules import NetworkVectors
from softbleu.scoring.measure import Measure
from softbleu.thesaurus.resources import MeteorData

class MatchSettings(TypedDict, total=False):
    threshold: float | str | None
    assignment: Literal["exact-first", "sequential", "optimal"]
    consumption: Literal["unit", "similarity"]
    composition: Literal["mean", "aligned", "sif"]
    tokenize: Literal["none", "char", "char+space", "13a", "intl", "zh", "ja-mecab", "ko-mecab", "blanks", "meteor"]
    lowercase: bool
    vectors: VectorLocation
    vector_case: Literal["exact", "fallback"]
    normalize: bool
    layers: str | None
    exact_words: Literal["one", "cosine"] | None
    similarity: Literal["cosine", "csls"]
    vectors_postprocess: str
    neighbours: int | None
    mutual: bool
    function_words: Literal["soft", "exact"]

class Settings(MatchSettings, total=False):
    matcher: str | Matcher
    order: int
    smooth: Literal["none", "floor", "add-k", "exp"]
    smooth_value: float | None
    effective_order: bool | None
    denominator: Literal["order", "all", "reference"]
    variant: Literal["gleu+", "gleu+paper", "gleu0"]
    penalty: Literal["exact", "soft"]
    weight: float
    swapped_bp: bool
    multi: Literal["sample", "max", "mean"]
    iterations: int
    seed: int
    segment_smoothing: bool
    beta: float | float | None
    power: float
    rarity: float
    position: float
    characters: float
    synonyms: float
    paraphrases: float
    meteor_data: str | MeteorData | None
    credit: Literal["greedy", "clipped", "both"]
    idf: str | Path | IdfCorpus | str | Path | IdfCorpus | None
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
    mutual_neighbours: bool
    inflection: bool
    network_vectors: str | NetworkVectors | None
    average: Literal["segments", "pieces"]
    task: Literal["rank", "adq"]
    stages: Literal["exact", "exact+stem", "exact+synonym", "exact+paraphrase", "exact+stem+synonym", "exact+stem+paraphrase", "exact+synonym+paraphrase", "exact+stem+synonym+paraphrase"]
    soft: float
    soft_weight: float
    max_unchanged_words: int
    annotators: Literal["running", "best", "last"]
    alpha: float | None
    gamma: float | None
    t: float
    aggregate: Literal["mean", "share"]
    language_model: str | ModelChoice | None
    detector: Literal["spelling", "harper"] | None
    coefficients: str | CoefficientsFile | None
    preset: Literal["morgan2014", "terp", "networks", "paraphrases"]

def Bleu(
    *,
    matcher: str | Matcher = ...,
    threshold: float | str | None = ...,
    assignment: Literal["exact-first", "sequential", "optimal"] = ...,
    consumption: Literal["unit", "similarity"] = ...,
    composition: Literal["mean", "aligned", "sif"] = ...,
    order: int = ...,
    smooth: Literal["none", "floor", "add-k", "exp"] = ...,
    smooth_value: float | None = ...,
    effective_order: bool | None = ...,
    denominator: Literal["order", "all", "reference"] = ...,
    tokenize: Literal["none", "char", "char+space", "13a", "intl", "zh", "ja-mecab", "ko-mecab", "blanks", "meteor"] = ...,
    lowercase: bool = ...,
    vectors: VectorLocation = ...,
    vector_case: Literal["exact", "fallback"] = ...,
    normalize: bool = ...,
    layers: str | None = ...,
    exact_words: Literal["one", "cosine"] | None = ...,
    similarity: Literal["cosine", "csls"] = ...,
    vectors_postprocess: str = ...,
    neighbours: int | None = ...,
    mutual: bool = ...,
    function_words: Literal["soft", "exact"] = ...,
    preset: Literal["morgan2014"] = ...,
) -> Measure:
    """Make a value of Bleu: settings by name, scores by `corpus_score` and `sentence_score`."""

def Sleu(
    *,
    threshold: float | str | None = ...,
    assignment: Literal["exact-first", "sequential", "optimal"] = ...,
    consumption: Literal["unit", "similarity"] = ...,
    composition: Literal["mean", "aligned", "sif"] = ...,
    order: int = ...,
    smooth: Literal["none", "floor", "add-k", "exp"] = ...,
    smooth_value: float | None = ...,
    effective_order: bool | None = ...,
    denominator: Literal["order", "all", "reference"] = ...,
    tokenize: Literal["none", "char", "char+space", "13a", "intl", "zh", "ja-mecab", "ko-mecab", "blanks", "meteor"] = ...,
    lowercase: bool = ...,
    vectors: VectorLocation = ...,
    vector_case: Literal["exact", "fallback"] = ...,
    normalize: bool = ...,
    layers: str | None = ...,
    exact_words: Literal["one", "cosine"] | None = ...,
    similarity: Literal["cosine", "csls"] = ...,
    vectors_postprocess: str = ...,
    neighbours: int | None = ...,
    mutual: bool = ...,
    function_words: Literal["soft", "exact"] = ...,
    preset: Literal["morgan2014"] = ...,
) -> Measure:
    """Make a value of Sleu: settings by name, scores by `corpus_score` and `sentence_score`."""

def Vleu(
    *,
    threshold: float | str | None = ...,
    assignment: Literal["exact-first", "sequential", "optimal"] = ...,
    consumption: Literal["unit", "similarity"] = ...,
    composition: Literal["mean", "aligned", "sif"] = ...,
    order: int = ...,
    smooth: Literal["none", "floor", "add-k", "exp"] = ...,
    smooth_value: float | None = ...,
    effective_order: bool | None = ...,
    denominator: Literal["order", "all", "reference"] = ...,
    tokenize: Literal["none", "char", "char+space", "13a", "intl", "zh", "ja-mecab", "ko-mecab", "blanks", "meteor"] = ...,
    lowercase: bool = ...,
    vectors: VectorLocation = ...,
    vector_case: Literal["exact", "fallback"] = ...,
    normalize: bool = ...,
    layers: str | None = ...,
    exact_words: Literal["one", "cosine"] | None = ...,
    similarity: Literal["cosine", "csls"] = ...,
    vectors_postprocess: str = ...,
    neighbours: int | None = ...,
    mutual: bool = ...,
    function_words: Literal["soft", "exact"] = ...,
    preset: Literal["morgan2014"] = ...,
) -> Measure:
    """Make a value of Vleu: settings by name, scores by `corpus_score` and `sentence_score`."""

def Xleu(
    *,
    threshold: float | str | None = ...,
    assignment: Literal["exact-first", "sequential", "optimal"] = ...,
    consumption: Literal["unit", "similarity"] = ...,
    composition: Literal["mean", "aligned", "sif"] = ...,
    order: int = ...,
    smooth: Literal["none", "floor", "add-k", "exp"] = ...,
    smooth_value: float | None = ...,
    effective_order: bool | None = ...,
    denominator: Literal["order", "all", "reference"] = ...,
    tokenize: Literal["none", "char", "char+space", "13a", "intl", "zh", "ja-mecab", "ko-mecab", "blanks", "meteor"] = ...,
    lowercase: bool = ...,
    vectors: VectorLocation = ...,
    vector_case: Literal["exact", "fallback"] = ...,
    normalize: bool = ...,
    layers: str | None = ...,
    exact_words: Literal["one", "cosine"] | None = ...,
    similarity: Literal["cosine", "csls"] = ...,
    vectors_postprocess: str = ...,
    neighbours: int | None = ...,
    mutual: bool = ...,
    function_words: Literal["soft", "exact"] = ...,
    preset: Literal["morgan2014"] = ...,
) -> Measure:
    """Make a value of Xleu: settings by name, scores by `corpus_score` and `sentence_score`."""

def Gleu(
    *,
    matcher: str | Matcher = ...,
    threshold: float | str | None = ...,
    assignment: Literal["exact-first", "sequential", "optimal"] = ...,
    consumption: Literal["unit", "similarity"] = ...,
    composition: Literal["mean", "aligned", "sif"] = ...,
    variant: Literal["gleu+", "gleu+paper", "gleu0"] = ...,
    order: int = ...,
    penalty: Literal["exact", "soft"] = ...,
    weight: float = ...,
    swapped_bp: bool = ...,
    multi: Literal["sample", "max", "mean"] = ...,
    iterations: int = ...,
    seed: int = ...,
    segment_smoothing: bool = ...,
    tokenize: Literal["none", "char", "char+space", "13a", "intl", "zh", "ja-mecab", "ko-mecab", "blanks", "meteor"] = ...,
    lowercase: bool = ...,
    vectors: VectorLocation = ...,
    vector_case: Literal["exact", "fallback"] = ...,
    normalize: bool = ...,
    layers: str | None = ...,
    exact_words: Literal["one", "cosine"] | None = ...,
    similarity: Literal["cosine", "csls"] = ...,
    vectors_postprocess: str = ...,
    neighbours: int | None = ...,
    mutual: bool = ...,
    function_words: Literal["soft", "exact"] = ...,
) -> Measure:
    """Make a value of Gleu: settings by name, scores by `corpus_score` and `sentence_score`."""

def Softbleu(
    *,
    order: int = ...,
    beta: float = ...,
    power: float = ...,
    rarity: float = ...,
    position: float = ...,
    characters: float = ...,
    synonyms: float = ...,
    paraphrases: float = ...,
    meteor_data: str | MeteorData | None = ...,
    credit: Literal["greedy", "clipped", "both"] = ...,
    idf: str | Path | IdfCorpus = ...,
    tokenize: Literal["none", "char", "char+space", "13a", "intl", "zh", "ja-mecab", "ko-mecab", "blanks", "meteor"] = ...,
    lowercase: bool = ...,
    vectors: VectorLocation = ...,
    vector_case: Literal["exact", "fallback"] = ...,
    normalize: bool = ...,
    layers: str | None = ...,
    exact_words: Literal["one", "cosine"] | None = ...,
    similarity: Literal["cosine", "csls"] = ...,
    vectors_postprocess: str = ...,
    neighbours: int | None = ...,
    mutual: bool = ...,
    function_words: Literal["soft", "exact"] = ...,
    preset: Literal["paraphrases"] = ...,
) -> Measure:
    """Make a value of Softbleu: settings by name, scores by `corpus_score` and `sentence_score`."""

def Chrf(
    *,
    char_order: int = ...,
    word_order: int = ...,
    beta: float = ...,
    whitespace: bool = ...,
    eps_smoothing: bool = ...,
    tokenize: Literal["none", "char", "char+space", "13a", "intl", "zh", "ja-mecab", "ko-mecab", "blanks", "meteor"] = ...,
    lowercase: bool = ...,
    vectors: VectorLocation = ...,
    vector_case: Literal["exact", "fallback"] = ...,
    normalize: bool = ...,
    layers: str | None = ...,
    exact_words: Literal["one", "cosine"] | None = ...,
    similarity: Literal["cosine", "csls"] = ...,
    vectors_postprocess: str = ...,
    neighbours: int | None = ...,
    mutual: bool = ...,
    function_words: Literal["soft", "exact"] = ...,
) -> Measure:
    """Make a value of Chrf: settings by name, scores by `corpus_score` and `sentence_score`."""

def Ter(
    *,
    normalized: bool = ...,
    no_punct: bool = ...,
    asian_support: bool = ...,
    case_sensitive: bool = ...,
    tokenize: Literal["none", "char", "char+space", "13a", "intl", "zh", "ja-mecab", "ko-mecab", "blanks", "meteor"] = ...,
    lowercase: bool = ...,
    vectors: VectorLocation = ...,
    vector_case: Literal["exact", "fallback"] = ...,
    normalize: bool = ...,
    layers: str | None = ...,
    exact_words: Literal["one", "cosine"] | None = ...,
    similarity: Literal["cosine", "csls"] = ...,
    vectors_postprocess: str = ...,
    neighbours: int | None = ...,
    mutual: bool = ...,
    function_words: Literal["soft", "exact"] = ...,
) -> Measure:
    """Make a value of Ter: settings by name, scores by `corpus_score` and `sentence_score`."""

def Hyter(
    *,
    extra: float = ...,
    replacing: Literal["greater", "both"] = ...,
    window: int = ...,
    move: float = ...,
    shifts: bool = ...,
    idf: str | Path | IdfCorpus | None = ...,
    rarity: float = ...,
    notation: Literal["text", "brackets", "network"] = ...,
    stem_cost: float | None = ...,
    synonym_cost: float | None = ...,
    paraphrase_cost: float | None = ...,
    neighbour_cost: float | None = ...,
    optional_cost: float | None = ...,
    neighbour_quantile: str = ...,
    alternatives: int = ...,
    mutual_neighbours: bool = ...,
    inflection: bool = ...,
    network_vectors: str | NetworkVectors | None = ...,
    meteor_data: str | MeteorData | None = ...,
    tokenize: Literal["none", "char", "char+space", "13a", "intl", "zh", "ja-mecab", "ko-mecab", "blanks", "meteor"] = ...,
    lowercase: bool = ...,
    vectors: VectorLocation = ...,
    vector_case: Literal["exact", "fallback"] = ...,
    normalize: bool = ...,
    layers: str | None = ...,
    exact_words: Literal["one", "cosine"] | None = ...,
    similarity: Literal["cosine", "csls"] = ...,
    vectors_postprocess: str = ...,
    neighbours: int | None = ...,
    mutual: bool = ...,
    function_words: Literal["soft", "exact"] = ...,
    preset: Literal["terp", "networks"] = ...,
) -> Measure:
    """Make a value of Hyter: settings by name, scores by `corpus_score` and `sentence_score`."""

def BertScore(
    *,
    idf: str | Path | IdfCorpus | None = ...,
    average: Literal["segments", "pieces"] = ...,
    tokenize: Literal["none", "char", "char+space", "13a", "intl", "zh", "ja-mecab", "ko-mecab", "blanks", "meteor"] = ...,
    lowercase: bool = ...,
    vectors: VectorLocation = ...,
    vector_case: Literal["exact", "fallback"] = ...,
    normalize: bool = ...,
    layers: str | None = ...,
    exact_words: Literal["one", "cosine"] | None = ...,
    similarity: Literal["cosine", "csls"] = ...,
    vectors_postprocess: str = ...,
    neighbours: int | None = ...,
    mutual: bool = ...,
    function_words: Literal["soft", "exact"] = ...,
) -> Measure:
    """Make a value of BertScore: settings by name, scores by `corpus_score` and `sentence_score`."""

def Green(
    *,
    order: int = ...,
    beta: float = ...,
    tokenize: Literal["none", "char", "char+space", "13a", "intl", "zh", "ja-mecab", "ko-mecab", "blanks", "meteor"] = ...,
    lowercase: bool = ...,
    vectors: VectorLocation = ...,
    vector_case: Literal["exact", "fallback"] = ...,
    normalize: bool = ...,
    layers: str | None = ...,
    exact_words: Literal["one", "cosine"] | None = ...,
    similarity: Literal["cosine", "csls"] = ...,
    vectors_postprocess: str = ...,
    neighbours: int | None = ...,
    mutual: bool = ...,
    function_words: Literal["soft", "exact"] = ...,
) -> Measure:
    """Make a value of Green: settings by name, scores by `corpus_score` and `sentence_score`."""

def Meteor(
    *,
    task: Literal["rank", "adq"] = ...,
    stages: Literal["exact", "exact+stem", "exact+synonym", "exact+paraphrase", "exact+stem+synonym", "exact+stem+paraphrase", "exact+synonym+paraphrase", "exact+stem+synonym+paraphrase"] = ...,
    soft: float = ...,
    soft_weight: float = ...,
    meteor_data: str | MeteorData | None = ...,
    tokenize: Literal["none", "char", "char+space", "13a", "intl", "zh", "ja-mecab", "ko-mecab", "blanks", "meteor"] = ...,
    lowercase: bool = ...,
    vectors: VectorLocation = ...,
    vector_case: Literal["exact", "fallback"] = ...,
    normalize: bool = ...,
    layers: str | None = ...,
    exact_words: Literal["one", "cosine"] | None = ...,
    similarity: Literal["cosine", "csls"] = ...,
    vectors_postprocess: str = ...,
    neighbours: int | None = ...,
    mutual: bool = ...,
    function_words: Literal["soft", "exact"] = ...,
) -> Measure:
    """Make a value of Meteor: settings by name, scores by `corpus_score` and `sentence_score`."""

def M2(
    *,
    beta: float = ...,
    max_unchanged_words: int = ...,
    annotators: Literal["running", "best", "last"] = ...,
    tokenize: Literal["none", "char", "char+space", "13a", "intl", "zh", "ja-mecab", "ko-mecab", "blanks", "meteor"] = ...,
    lowercase: bool = ...,
    vectors: VectorLocation = ...,
    vector_case: Literal["exact", "fallback"] = ...,
    normalize: bool = ...,
    layers: str | None = ...,
    exact_words: Literal["one", "cosine"] | None = ...,
    similarity: Literal["cosine", "csls"] = ...,
    vectors_postprocess: str = ...,
    neighbours: int | None = ...,
    mutual: bool = ...,
    function_words: Literal["soft", "exact"] = ...,
) -> Measure:
    """Make a value of M2: settings by name, scores by `corpus_score` and `sentence_score`."""

def IMeasure(
    *,
    weight: float = ...,
    tokenize: Literal["none", "char", "char+space", "13a", "intl", "zh", "ja-mecab", "ko-mecab", "blanks", "meteor"] = ...,
    lowercase: bool = ...,
    vectors: VectorLocation = ...,
    vector_case: Literal["exact", "fallback"] = ...,
    normalize: bool = ...,
    layers: str | None = ...,
    exact_words: Literal["one", "cosine"] | None = ...,
    similarity: Literal["cosine", "csls"] = ...,
    vectors_postprocess: str = ...,
    neighbours: int | None = ...,
    mutual: bool = ...,
    function_words: Literal["soft", "exact"] = ...,
) -> Measure:
    """Make a value of IMeasure: settings by name, scores by `corpus_score` and `sentence_score`."""

def Refless(
    *,
    alpha: float | None = ...,
    beta: float | None = ...,
    gamma: float | None = ...,
    t: float = ...,
    aggregate: Literal["mean", "share"] = ...,
    language_model: str | ModelChoice | None = ...,
    detector: Literal["spelling", "harper"] | None = ...,
    coefficients: str | CoefficientsFile | None = ...,
    tokenize: Literal["none", "char", "char+space", "13a", "intl", "zh", "ja-mecab", "ko-mecab", "blanks", "meteor"] = ...,
    lowercase: bool = ...,
    vectors: VectorLocation = ...,
    vector_case: Literal["exact", "fallback"] = ...,
    normalize: bool = ...,
    layers: str | None = ...,
    exact_words: Literal["one", "cosine"] | None = ...,
    similarity: Literal["cosine", "csls"] = ...,
    vectors_postprocess: str = ...,
    neighbours: int | None = ...,
    mutual: bool = ...,
    function_words: Literal["soft", "exact"] = ...,
) -> Measure:
    """Make a value of Refless: settings by name, scores by `corpus_score` and `sentence_score`."""

DOORS: dict[str, Callable[..., Measure]]
