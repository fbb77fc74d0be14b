"""Choice of word vectors: their place, common components to remove, and the pairs of words that may match.

Neighbours are searched among the first `SCOPE` words of the set (in most sets the most frequent words), never in the
corpus, so that a similarity does not depend on the other texts scored.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from softbleu.config.declare import Declared, own_settings, setting
from softbleu.config.languages import LANGUAGES, language_of_data
from softbleu.embeddings.files import FastTextSource, FileSource, is_fasttext
from softbleu.embeddings.function_words import is_function_word
from softbleu.embeddings.installed import find_installed, installed_names
from softbleu.embeddings.maps import MappedSource, VectorMap
from softbleu.embeddings.vectors import (
    PAIRS,
    QUANTILES,
    SEED,
    STORE_FILES,
    VECTORS,
    KeyedVectorsLike,
    MeasuredWords,
    VectorCase,
    VectorSource,
    WordVectors,
    open_keyed_vectors,
    open_mapping,
    open_store,
    pair_products,
    percentiles_of,
    spellings_of,
    unit_rows,
)
from softbleu.encoders import Encoder, encoder_files, encoder_names, is_encoder, named_by_extra, open_encoder
from softbleu.encoders.base import check_layers, parse_layers
from softbleu.errors import REMOVAL, REMOVED, InputError, Parameter, VectorError, did_you_mean
from softbleu.io.files import Content, find_resource, local_place, resource_names
from softbleu.io.platform import cached_property
from softbleu.io.reading import read_toml

if TYPE_CHECKING:
    from softbleu.types import Fields, Flags, Floats, Integers


_PART = re.compile(r"(?P<name>.+?)(?:\*(?P<weight>\d+(?:\.\d+)?))?")
_FOLDER = "embeddings"
DEFAULT_VECTORS = "glove-6b-100d"
VectorLocation = str | os.PathLike[str] | KeyedVectorsLike | Mapping[str, ArrayLike] | VectorSource
ExactWords = Literal["one", "cosine"]
Reads = Literal["line", "tokens"]
NO_VECTORS = "none"
MOST_CONTEXT = 1000  # Lines of context at most; blocks of a corpus hold as many
_KIND = re.compile(r"(spelling|(?:stems|lemmas):[a-z]{2,3}|stems|lemmas)(?:\+|$)")
_PARTS = re.compile(r"none|(mean)|pc:(?P<only>[1-9]\d?)|(mean),pc:(?P<also>[1-9]\d?)", re.ASCII)
FunctionWords = Literal["soft", "exact"]
SCOPE = 50_000  # Words of a set that are used for neighbours, common components and quantiles
_BLOCK = 1 << 11
_NOTHING = 1e-6
_PERCENTILE = re.compile(r"p(\d{1,3}(?:\.\d+)?)", re.ASCII)
_DRAWN: dict[tuple[str, WordMeasure], NDArray[np.float64]] = {}
"""Similarities of the last draws, 8 MB each; all quantiles of a set use the same draw."""
MOST_DRAWN = 4


@dataclass(frozen=True)
class JoinedSource:
    """Sets whose unit vectors are concatenated, times the square root of each set's weight.

    The cosine of two words in all sets is the weighted mean of their cosines; a word that a set lacks has zeros
    there. The first set determines the first words.

    >>> one, other = open_vectors({"cat": [2.0], "dog": [1.0]}), open_vectors({"cat": [0.0, 3.0]})
    >>> joined = JoinedSource((one, other), (1.0, 1.0))
    >>> joined.dimension, joined.select(["cat", "dog"]).rows.tolist()
    (3, [[1.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    """

    sources: tuple[VectorSource, ...]
    weights: tuple[float, ...]

    @property
    def name(self) -> str:
        """Names and weights of the sets."""
        return "+".join(
            source.name + ("" if weight == 1 else f"*{weight:g}")
            for source, weight in zip(self.sources, self.weights, strict=True)
        )

    @property
    def dimension(self) -> int:
        """Length of each vector."""
        return sum(source.dimension for source in self.sources)

    @property
    def fingerprint(self) -> str:
        """Hex SHA-256 over the fingerprints and weights of the sets."""
        parts = (f"{s.fingerprint}*{w!r}\n" for s, w in zip(self.sources, self.weights, strict=True))
        return hashlib.sha256("".join(parts).encode("ascii")).hexdigest()

    def head(self, count: int | None = None) -> tuple[list[str], NDArray[np.float32]]:
        """Return the first words of the first set; see `VectorSource.head`."""
        words, rows = self.sources[0].head(count)
        others = (source.select(words, "exact").rows for source in self.sources[1:])
        return words, self._side_by_side([rows, *others])

    def select(self, words: Sequence[str], case: VectorCase = "fallback") -> WordVectors:
        """Return the vectors of words, looked up in each set; see `VectorSource.select`."""
        selected = [source.select(words, case) for source in self.sources]
        rows = self._side_by_side([vectors.rows for vectors in selected])
        return WordVectors(rows, self.name, self.fingerprint, min(vectors.zero_words for vectors in selected))

    def _side_by_side(self, parts: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
        scaled = [unit_rows(rows) * weight**0.5 for rows, weight in zip(parts, self.weights, strict=True)]
        return np.concatenate(scaled, axis=1).astype(np.float32)


def open_vectors(location: VectorLocation) -> VectorSource:
    """Open word vectors; data are loaded by `VectorSource.select`.

    Parameters
    ----------
    location
        A vector file or a store directory, by path or URL; the name of a bundled set (unless such a path exists);
        several of these as `ONE+OTHER` or `ONE*2+OTHER`, see `JoinedSource`; a gensim KeyedVectors; a mapping from
        words to vectors; or a result of this function.

    Raises
    ------
    VectorError
        The location does not exist, is damaged, or has no vectors.

    Examples
    --------
    >>> source = open_vectors({"yes": [3.0, 4.0]})
    >>> source.select(["YES"]).known.tolist(), source.select(["YES"], "exact").known.tolist()
    ([True], [False])
    """
    if not isinstance(location, str | os.PathLike):
        return _open_in_memory(location)
    text = local_place(os.fspath(location))
    path = Path(text)
    if text == "none":
        raise VectorError("vectors are needed, not 'none': name a set or a file")
    if os.path.lexists(text):
        if path.is_dir():
            return open_store(path)
        if path.exists() and not path.is_file():
            raise VectorError(f"{path}: not a regular file, and vectors may be read twice; save them to a file first")
        from softbleu.encoders.packaged import packaged_file

        if (packaged := packaged_file(path)) is not None:
            raise VectorError(
                f"{path}: the model {packaged}, which is read by its name: ", Parameter("vectors", packaged)
            )
        return FastTextSource(path) if is_fasttext(path) else FileSource(path)
    if isinstance(location, str) and (named := _find_named(text)):
        return open_store(named, name=text)
    if isinstance(location, str) and is_encoder(text):
        raise VectorError(f"{text}: an encoder; vectors of words are needed: name a set")
    if isinstance(location, str) and "+" in text:
        return _open_joined(text)
    raise VectorError(_unknown(text))


def _open_joined(text: str) -> JoinedSource:
    """Open sets written as `ONE+OTHER` or, with weights, `ONE*2+OTHER*0.5`."""
    sources, weights = [], []
    for part in text.split("+"):
        match = _PART.fullmatch(part)
        if match is None or match["weight"] in ("0", "0.0"):
            raise VectorError(f"{text!r}: join sets as ONE+OTHER, or with weights above 0 as ONE*2+OTHER*0.5")
        sources.append(open_vectors(match["name"]))
        weights.append(float(match["weight"] or 1))
    return JoinedSource(tuple(sources), tuple(weights))


def _unknown(name: str) -> str:
    """Explain why a name cannot be opened: the set must be fetched first, or is unknown."""
    from softbleu.encoders.packaged import PACKAGED

    catalogue = find_resource(_FOLDER, "catalogue.toml")
    known = [] if catalogue is None else list(read_toml(catalogue))
    if name in known:
        return f"{name!r}: a known set that is not installed: 'softbleu embeddings list {name}' says how to get it"
    sets, encoders = (
        ", ".join(names) for names in ((*bundled_names(), *installed_names()), (*encoder_names(), *PACKAGED))
    )
    return (
        f"{name!r}: no such vector file, store or set{did_you_mean(name, known)}; installed: {sets}; encoders: "
        f"{encoders}; 'softbleu embeddings list' shows all known sets"
    )


def vector_files(location: object) -> list[Path]:
    """List the files of vectors or an encoder, for joined sets of all; empty if nothing is found.

    The list for a store includes optional files.

    >>> [path.name for path in vector_files("glove-6b-100d")]
    ['meta.json', 'vectors.npy', 'scales.npy', 'vocab.txt', 'lookup.npy']
    """
    if not isinstance(location, str | os.PathLike):
        return []
    if files := encoder_files(location):
        return files
    text = local_place(os.fspath(location))
    path = Path(text) if os.path.lexists(text) else _find_named(text)
    if path is not None:
        return [path / name for name in STORE_FILES] if path.is_dir() else [path]
    joined = [match["name"] for part in text.split("+") if (match := _PART.fullmatch(part))] if "+" in text else []
    return [file for name in joined for file in vector_files(name)]


def bundled_names() -> tuple[str, ...]:
    """List the bundled vector sets, sorted."""
    return resource_names(_FOLDER, VECTORS)


def _open_in_memory(location: KeyedVectorsLike | Mapping[str, ArrayLike] | VectorSource) -> VectorSource:
    if isinstance(location, KeyedVectorsLike):
        return open_keyed_vectors(location)
    if isinstance(location, Mapping):
        return open_mapping(location)
    if isinstance(location, VectorSource):
        return location
    raise VectorError(
        f"{type(location).__name__}: not word vectors; give a name, a path, a mapping or KeyedVectors (a model's wv)"
    )


def _find_named(name: str) -> Path | None:
    """Find the store of vectors with a name: a bundled one, or one of the user."""
    if name in bundled_names():
        return find_resource(_FOLDER, name)
    installed = find_installed(name)
    return installed if installed is not None and (installed / VECTORS).exists() else None


@dataclass(frozen=True, eq=False)
class CommonParts:
    """All-but-the-top (Mu and Viswanath 2018): subtract a mean, project out the leading components."""

    mean: Floats  # (dimension,)
    components: Floats  # Orthonormal: (components, dimension)

    @classmethod
    def estimate(cls, rows: Floats, components: int, *, subtract_mean: bool = True) -> CommonParts:
        """Estimate the mean, or 0, and the leading principal components of rows."""
        mean = rows.mean(axis=0) if subtract_mean and len(rows) else np.zeros(rows.shape[1])
        centred = rows - mean
        _, directions = np.linalg.eigh(centred.T @ centred)
        return cls(mean, directions[:, ::-1][:, :components].T)

    def remove_from(self, rows: Floats) -> Floats:
        """Remove the mean and the components from rows, without normalising them."""
        centred = rows - self.mean
        centred -= (centred @ self.components.T) @ self.components
        return centred


@dataclass(frozen=True)
class Postprocess:
    """Components to remove from vectors, written as `none`, `mean`, `pc:2` (two components), or `mean,pc:2`.

    >>> Postprocess.parse("mean,pc:2")
    Postprocess(subtract_mean=True, components=2)
    >>> str(Postprocess.parse("pc:1")), str(Postprocess())
    ('pc:1', 'none')
    """

    subtract_mean: bool = False
    components: int = 0

    @classmethod
    def parse(cls, text: str) -> Postprocess:
        """Parse the text form."""
        match = _PARTS.fullmatch(text)
        if match is None:
            raise InputError(
                f"vectors-postprocess must be 'none', 'mean', 'pc:N' or 'mean,pc:N' with N from 1 to 99, not {text!r}"
            )
        return cls(text.startswith("mean"), int(match["only"] or match["also"] or 0))

    def __str__(self) -> str:
        parts = ["mean"] * self.subtract_mean + [f"pc:{self.components}"] * (self.components > 0)
        return ",".join(parts) or "none"

    def __bool__(self) -> bool:
        return self.subtract_mean or self.components > 0

    def estimate(self, rows: Floats) -> CommonParts:
        """Estimate the components to remove from unit rows."""
        if self.components >= rows.shape[1]:
            raise InputError(f"vectors-postprocess {self}: these vectors have only {rows.shape[1]} dimensions")
        return CommonParts.estimate(rows, self.components, subtract_mean=self.subtract_mean)


@dataclass(frozen=True)
class WordMeasure(Declared):
    """Settings of the similarity of two words by their vectors.

    See `Postprocess` for the components to remove; tokens without a letter count as function words.
    """

    vectors_postprocess: str = setting(
        "none",
        "Remove common components from the vectors: mean, pc:N (N components) or mean,pc:N",
        metavar="LIST",
        earlier=("postprocess",),
    )
    neighbours: int | None = setting(
        None,
        "Let words match only if one is among the K nearest neighbours of the other",
        least=1,
        most=50_000,
        metavar="K",
        unset="any",
    )
    function_words: FunctionWords = setting(
        "soft", "English function words match similar words (soft), or only themselves (exact)"
    )

    def check(self) -> None:
        """Normalise the spelling of components to remove, for signatures."""
        object.__setattr__(self, "vectors_postprocess", str(Postprocess.parse(self.vectors_postprocess)))

    @property
    def removal(self) -> Postprocess:
        """Components that are removed from the vectors."""
        return Postprocess.parse(self.vectors_postprocess)

    def self_only(self, words: Sequence[str]) -> Flags | None:
        """Return a mask of the words that match only themselves, or None if function words match others."""
        return np.array([is_function_word(word) for word in words], bool) if self.function_words == "exact" else None


@dataclass(frozen=True)
class Scope:
    """The first words of a set, without common components; neighbours are searched here."""

    source: VectorSource
    measure: WordMeasure

    @cached_property
    def _head(self) -> tuple[list[str], NDArray[np.float32]]:
        return self.source.head(SCOPE)

    @cached_property
    def places(self) -> dict[str, int]:
        """Position of each word."""
        return {word: place for place, word in enumerate(self._head[0])}

    @cached_property
    def common(self) -> CommonParts | None:
        """Common components to remove, if any."""
        if not self.measure.removal:
            return None
        rows = self._head[1]
        return self.measure.removal.estimate(unit_rows(rows[rows.any(axis=1)]))

    @cached_property
    def rows(self) -> NDArray[np.float32]:
        """Unit rows without common components."""
        return self.treated(self._head[1])

    def treated(self, rows: NDArray[np.floating]) -> NDArray[np.float32]:
        """Remove common components from rows, and scale them to length 1; zero rows stay zero."""
        treated = np.empty(rows.shape, np.float32)
        for start in range(0, len(rows), _BLOCK):
            part = rows[start : start + _BLOCK]
            directions = unit_rows(part)
            if self.common is not None:
                directions = self.common.remove_from(directions)
                # The rest of a vector that consisted of common components is rounding error.
                directions[(np.abs(directions).max(axis=1) < _NOTHING) | ~part.any(axis=1)] = 0
                directions = unit_rows(directions)
            treated[start : start + _BLOCK] = directions
        return treated

    def nearest(self, words: Sequence[str], rows: NDArray[np.float32], count: int) -> tuple[Integers, Integers]:
        """Find the nearest neighbours of each word: pairs of its number and a position, the nearest first."""
        from softbleu.embeddings.neighbours import NeighbourIndex, cached_graph

        itself = np.array([self.places.get(word, -1) for word in words], np.int64)
        graph = cached_graph(
            lambda: NeighbourIndex(self.rows).nearest(rows, count, itself),
            self.source.fingerprint,
            words,
            len(self.places),
            processing=self.measure.vectors_postprocess,
            count=count,
        )
        return graph.owners, graph.targets


def measure_words(
    source: VectorSource, words: Sequence[str], case: VectorCase, measure: WordMeasure
) -> MeasuredWords:
    """Return the vectors of words and the other data of their similarity."""
    selected = source.select(words, case)
    self_only = measure.self_only(words)
    if not measure.removal and measure.neighbours is None:
        return MeasuredWords(selected, selected.rows, self_only=self_only)
    scope = Scope(source, measure)
    rows = scope.treated(selected.rows)
    allowed_pairs = None
    if measure.neighbours is not None:
        spellings = spellings_of(source, words, case, scope.places, selected)
        allowed_pairs = _allowed_pairs(scope, spellings, rows, measure.neighbours)
    return MeasuredWords(selected, rows, allowed_pairs, self_only)


def _allowed_pairs(scope: Scope, words: Sequence[str], rows: NDArray[np.float32], count: int) -> Integers:
    """Return numbers of the pairs of words that may match; words found under one spelling always may."""
    owners, places = scope.nearest(words, rows, count)
    # Numbers of spellings: positions in the scope, or negative numbers outside it
    beyond: dict[str, int] = {}
    spellings = np.array([scope.places.get(word, -1 - beyond.setdefault(word, len(beyond))) for word in words], int)
    pairs, near = _equal_pairs(places, spellings)
    one, other = _equal_pairs(spellings, spellings)
    one, other = np.concatenate([one, owners[pairs], near]), np.concatenate([other, near, owners[pairs]])
    return np.unique(one * len(words) + other)


def _equal_pairs(left: Integers, right: Integers) -> tuple[Integers, Integers]:
    """Return the positions of all pairs of equal values in `left` and `right`.

    >>> [places.tolist() for places in _equal_pairs(np.array([7, 5]), np.array([5, 7, 5]))]
    [[0, 1, 1], [1, 0, 2]]
    """
    order = np.argsort(right, kind="stable")
    first, end = (np.searchsorted(right[order], left, side) for side in ("left", "right"))
    one = np.repeat(np.arange(len(left)), end - first)
    rank = np.arange(len(one)) - np.searchsorted(one, one)
    return one, order[first[one] + rank]


def parse_percentile(text: str) -> float:
    """Parse a quantile of random pairs, such as `p99.9`.

    >>> parse_percentile("p99.9")
    99.9
    """
    match = _PERCENTILE.fullmatch(text)
    percentile = float(match[1]) if match else math.inf
    if percentile > 100:
        raise InputError(f"threshold must be a number from 0 to 1, or a quantile such as p99.9, not {text!r}")
    return percentile


def similarity_quantile(source: VectorSource, percentile: float, measure: WordMeasure | None = None) -> float:
    """Compute a percentile of the similarities of random pairs of words, to 6 decimals.

    `PAIRS` pairs of different words are drawn among the first `SCOPE` with a fixed seed. Stores contain the usual
    percentiles of their cosines.

    >>> similarity_quantile(open_vectors("glove-6b-100d"), 50.0)
    -0.0...
    """
    measure = measure or WordMeasure()
    known = None if measure.removal else kept_quantiles(source).get(f"p{percentile:g}")
    if known is None:
        known = round(float(np.percentile(random_similarities(source, measure), percentile)), 6)
    return known


def measure_quantiles(source: VectorSource) -> dict[str, object]:
    """Compute the quantiles of the cosine for `meta.json` of a store, with the parameters of the draw."""
    cosine = percentiles_of(random_similarities(source, WordMeasure()))
    return {QUANTILES: {"pairs": PAIRS, "seed": SEED, "scope": SCOPE, "cosine": cosine}}


def kept_quantiles(source: VectorSource) -> dict[str, float]:
    """Return the quantiles in a store, if they were computed with the current parameters."""
    stored = getattr(source, "meta", {}).get(QUANTILES)
    if not isinstance(stored, dict):
        return {}
    if (stored.get("pairs"), stored.get("seed"), stored.get("scope")) != (PAIRS, SEED, SCOPE):
        return {}
    cosine = stored.get("cosine")
    return dict(cosine) if isinstance(cosine, dict) else {}


def random_similarities(source: VectorSource, measure: WordMeasure) -> Floats:
    """Compute similarities of `PAIRS` random pairs of different words among the first `SCOPE`, with a fixed seed."""
    key = source.fingerprint, measure
    if key not in _DRAWN:
        if len(_DRAWN) >= MOST_DRAWN:
            del _DRAWN[next(iter(_DRAWN))]
        _DRAWN[key] = _draw_similarities(source, measure)
    return _DRAWN[key]


def _draw_similarities(source: VectorSource, measure: WordMeasure) -> NDArray[np.float64]:
    scope = Scope(source, measure)
    rows = scope.rows
    known = np.flatnonzero(rows.any(axis=1))
    if len(known) < 2:
        message = f"{source.name}: too few words with a vector for random pairs; give a number as "
        raise VectorError(message, Parameter("threshold"))
    generator = np.random.default_rng(SEED)
    rows = rows[known]
    one = generator.integers(len(rows), size=PAIRS)
    # All words except the same
    other = (one + generator.integers(1, len(rows), size=PAIRS)) % len(rows)
    similarities = pair_products(rows, one, rows, other)
    similarities.setflags(write=False)
    return similarities


class Similarity(Content):
    """Similarity without vectors: `spelling`, `stems:de` or `lemmas:de`, and a list of words, joined by `+`.

    >>> Similarity.of("spelling+stems:de").kinds
    ('spelling', 'stems:de')
    """

    @classmethod
    def of(cls, location: str) -> Similarity:
        """Parse the text form, without opening the list."""
        kinds, named = _parts(location)
        for kind in kinds:
            name, _, code = kind.partition(":")
            if kind == "lemmas":
                raise InputError(Parameter("similarity"), " 'lemmas' names no language; write lemmas:CODE")
            if name == "stems" and not (code and language_of_data(code).stemmer):
                stemmed = ", ".join(language.code for language in LANGUAGES.values() if language.stemmer)
                message = f" {kind!r} names no language with stems; write stems:CODE with one of {stemmed}"
                raise InputError(Parameter("similarity"), message)
        if named in REMOVED:
            raise InputError(Parameter("similarity"), f" {named!r} {REMOVAL}")
        if named and not Path(named).exists():
            raise InputError(
                Parameter("similarity"), f" {named!r} is neither spelling, stems:CODE, lemmas:CODE nor a file"
            )
        return super().of(location)

    @classmethod
    def files_of(cls, location: str) -> list[Path]:
        """Return the file of the list, if one is named."""
        return [Path(text) for text in [_parts(location)[1]] if text]

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of similarity, apart from a list."""
        return _parts(self.location)[0]

    @property
    def pairs(self) -> Path | None:
        """File of similar words, if any."""
        return next(iter(self.files_of(self.location)), None)

    @property
    def roots(self) -> tuple[str, str] | None:
        """Kind of reduced forms, `stems` or `lemmas`, and the language, if any."""
        parted = (kind.partition(":") for kind in self.kinds)
        found = ((name, language_of_data(code).code if name == "stems" else code) for name, _, code in parted if code)
        return next(found, None)

    def __str__(self) -> str:
        return f"{self.location}#{self.fingerprint[:12]}" if self.pairs else self.location


def _parts(text: str) -> tuple[tuple[str, ...], str]:
    """Split the text form into kinds and the name of a file."""
    kinds = []
    while match := _KIND.match(text):
        kinds.append(match[1])
        text = text[match.end() :]
    return tuple(kinds), text


@dataclass(frozen=True)
class VectorChoice(Declared):
    """Choice of word vectors and of the similarity of words.

    Without `normalize`, a word's weight is the length of its vector; a word without a vector has the mean weight of
    the references' words. `quantile` only records the origin of the threshold.

    If `vectors` names an encoder, each token has its own vector in the context of its line. If it is `none`, words
    are compared by `similarity`, by default by their spellings.
    """

    vectors: VectorLocation = setting(
        DEFAULT_VECTORS,
        "Word vectors by file or name: a store, word2vec, GloVe or fastText file, a known set; ONE+OTHER joins two; "
        "or an encoder, for vectors in context, such as minilm-l6; or none, to compare words without",
        metavar="PATH|NAME",
        always_signed=True,
        hashed=True,
        common=True,
    )
    vector_case: VectorCase = setting(
        "fallback", "Look words up as written only (exact), or also in lower case", earlier=("case",)
    )
    normalize: bool = setting(True, "Compare unit vectors")
    layers: str | None = setting(
        None,
        "In context: layers to average, such as 4,6",
        metavar="LIST",
        unset="the encoder's recommendation",
    )
    context: int = setting(
        0,
        "In context: number of previous lines of the document to encode with each line, as context only",
        least=0,
        most=MOST_CONTEXT,
        signed_if_set=True,
    )
    reads: Reads | None = setting(
        None,
        "In context: encode each line as it is written (line), or its tokens with one space between them (tokens)",
        unset="line in context",
        signed_if_set=True,
    )
    exact_words: ExactWords | None = setting(
        None,
        "In context: equal words count as exact matches (one), or by their cosine, as other words do",
        unset="cosine in context",
    )
    similarity: Similarity | None = setting(
        None,
        "Compare words without vectors: by spelling, equal stems (stems:de) or lemmas (lemmas:de), a file of similar "
        "words (lines WORD TAB WORD TAB similarity), or several, joined by +",
        metavar="LIST",
        unset="vectors; without them spelling",
        read=Similarity.read,
        hashed=True,
        signed_if_set=True,
    )
    map: VectorMap | None = setting(
        None,
        "Compare vectors under a linear map learned from human judgements: the name of one in the box, or a file "
        "made by `softbleu embeddings train`",
        metavar="NAME|FILE",
        read=VectorMap.read,
        hashed=True,
        signed_if_set=True,
    )
    measure: WordMeasure = setting(factory=WordMeasure)
    quantile: str | None = setting(None, "Quantile that the threshold was taken from")
    kind: ClassVar[str] = "vectors"

    def check(self) -> None:
        """Check the types of settings; vectors themselves are checked when they are opened."""
        if self.layers is not None:
            object.__setattr__(self, "layers", ",".join(map(str, parse_layers(self.layers))))
        if isinstance(self.vectors, int | float | list):
            raise InputError(f"vectors must be a name, a path, a mapping or KeyedVectors, not {self.vectors!r}")
        if self.similarity is None and self.without_vectors:
            object.__setattr__(self, "similarity", Similarity.of("spelling"))
        elif self.similarity is not None and not self.without_vectors:
            object.__setattr__(self, "vectors", NO_VECTORS)

    def revised(self, settings: Fields) -> VectorChoice:
        """Return the choice with other settings by name; named vectors replace another similarity."""
        vectors = settings.get("vectors", self.vectors)
        named = "vectors" in settings and not replace(self, vectors=vectors, similarity=None).without_vectors
        if named and settings.get("similarity") not in (None, "none"):
            message = f" {settings['similarity']} uses no vectors: leave it out, or "
            raise InputError(Parameter("similarity"), message, Parameter("vectors"))
        choice = replace(self, vectors=DEFAULT_VECTORS, similarity=None) if named and self.without_vectors else self
        return super(VectorChoice, choice).revised(settings)

    @property
    def without_vectors(self) -> bool:
        """Whether words are compared without vectors."""
        return isinstance(self.vectors, str) and self.vectors.partition("#")[0] == NO_VECTORS

    @cached_property
    def key(self) -> tuple[str | int, VectorChoice]:
        """Identity key, without the origin of the threshold; in-memory vectors compare by object identity."""
        where = str(self.vectors) if isinstance(self.vectors, str | Path) else id(self.vectors)
        return where, replace(self, vectors=NO_VECTORS if self.without_vectors else "", quantile=None)

    @cached_property
    def in_context(self) -> bool:
        """Whether an encoder is named, which computes vectors in context."""
        return is_encoder(self.vectors)

    @property
    def of_extra(self) -> bool:
        """Whether an encoder is named that an extra brings, for many languages."""
        return isinstance(self.vectors, str) and named_by_extra(self.vectors.partition("#")[0])

    @property
    def encoder(self) -> Encoder:
        """The encoder; layers must be resolved."""
        location: Any = self.vectors
        return open_encoder(location)

    @property
    def source(self) -> VectorSource:
        """The vectors of words, under the map if one is given."""
        source = open_vectors(self.vectors)
        if self.map is None:
            return source
        self.map.check_fits(source.name, source.dimension, source.fingerprint)
        return MappedSource(source, self.map)

    @property
    def _opened(self) -> Encoder | VectorSource:
        return self.encoder if self.in_context else self.source

    @property
    def language(self) -> str | None:
        """Code of the language of the vectors, if known.

        Examples
        --------
        >>> VectorChoice().language
        'en'
        """
        if self.without_vectors or self.of_extra:
            return None
        language = getattr(self._opened, "meta", {}).get("language")
        return language if isinstance(language, str) else None

    def resolved(self) -> VectorChoice:
        """Check that the settings fit the vectors, and fill in the layers of an encoder.

        Raises `InputError` if they do not fit; `VectorError`: the encoder cannot be read, or lacks a layer.
        """
        if self.without_vectors:
            self._check_unused("a similarity without vectors has", "map")
        if not self.in_context:
            if self.layers is not None or self.exact_words == "cosine" or self.reads is not None:
                raise InputError(
                    f"{self.vectors}: layers, reads and exact-words are for vectors in context; name an encoder"
                )
            if self.context:
                raise InputError(f"{self.vectors}: lines of context are for an encoder: name one")
            return self
        self._check_unused("vectors in context have")
        encoder = self.encoder
        usual = encoder.layers
        if self.map is not None:
            self.map.check_fits(encoder.name, encoder.dimension, encoder.fingerprint)
            usual = parse_layers(self.map.layers or "")
        layers = usual if self.layers is None else parse_layers(self.layers)
        check_layers(layers, encoder.depth, encoder.name)
        written = ",".join(map(str, layers))
        by_line = hasattr(encoder, "cut")
        if self.reads == "line" and not by_line:
            raise InputError(
                f"{encoder.name}: an encoder without a method cut reads tokens: leave out ", Parameter("reads")
            )
        reads = self.reads or ("line" if by_line else "tokens")
        return replace(self, layers=written, exact_words=self.exact_words or "cosine", reads=reads)

    def _check_unused(self, kind: str, *more: str) -> None:
        measure = replace(self.measure, function_words="soft")
        unused = [*_changed(self, VectorChoice(), ("vector_case", "normalize", *more))]
        unused += _changed(measure, WordMeasure(), [setting.name for setting in own_settings(WordMeasure)])
        if unused:
            raise InputError(f"{kind} no use for {', '.join(unused)}: leave out, or name word vectors")

    def select(self, words: list[str], source: VectorSource | None = None) -> MeasuredWords:
        """Return the vectors of words and the data of their similarity; `source` is an open set, if any."""
        return measure_words(source or self.source, words, self.vector_case, self.measure)

    def recommended_threshold(self) -> float | None:
        """Return the threshold that the vectors recommend, if any; raise VectorError if they cannot be read."""
        if self.without_vectors:
            return None
        return getattr(self._opened, "threshold", None) if self.map is None else self.map.threshold

    def threshold_at(self, quantile: str) -> float:
        """Return the similarity at a quantile such as `p99.9`, at least 0.

        Raises `InputError` for an invalid quantile; `VectorError`: the vectors cannot be read.
        """
        percentile = parse_percentile(quantile)
        if self.without_vectors:
            raise InputError(f"{quantile} is a quantile of vectors, but none are used: give ", Parameter("threshold"))
        if self.in_context:
            from softbleu.encoders.stored import context_quantile

            layers = parse_layers(self.resolved().layers or "")
            return max(0.0, context_quantile(self.encoder, layers, percentile, self.map))
        return max(0.0, similarity_quantile(self.source, percentile, self.measure))


def _changed(value: object, other: object, names: Iterable[str]) -> Iterator[str]:
    return (name for name in names if getattr(value, name) != getattr(other, name))
