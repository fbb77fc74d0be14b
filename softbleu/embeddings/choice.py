"""Choice of vectors: where they are, how lines are read, and what of them is compared."""

from __future__ import annotations

import hashlib
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
from softbleu.embeddings.installed import find_installed, installed_names
from softbleu.embeddings.maps import MappedSource, VectorMap
from softbleu.embeddings.measure import WordMeasure, measure_words, parse_percentile, similarity_quantile
from softbleu.embeddings.vectors import (
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
    unit_rows,
)
from softbleu.encoders import Encoder, encoder_files, encoder_names, is_encoder, named_by_extra, open_encoder
from softbleu.encoders.base import check_layers, parse_layers
from softbleu.encoders.device import DEVICE_VARIABLE, Device, DeviceName, Precision
from softbleu.errors import REMOVAL, REMOVED, InputError, Parameter, VectorError, did_you_mean
from softbleu.io.files import Content, find_resource, local_place, resource_names
from softbleu.io.platform import cached_property
from softbleu.io.progress import note
from softbleu.io.reading import LEAST_SCORE, MOST_SCORE, read_toml

if TYPE_CHECKING:
    from softbleu.types import Fields


_PART = re.compile(r"(?P<name>.+?)(?:\*(?P<weight>\d+(?:\.\d+)?))?")
_FOLDER = "embeddings"
DEFAULT_VECTORS = "glove-6b-100d"
VectorLocation = str | os.PathLike[str] | KeyedVectorsLike | Mapping[str, ArrayLike] | VectorSource
ExactWords = Literal["one", "cosine"]
Reads = Literal["line", "tokens"]
NO_VECTORS = "none"
MOST_CONTEXT = 1000  # Lines of context at most; blocks of a corpus hold as many
_KIND = re.compile(r"(spelling|(?:stems|lemmas):[a-z]{2,3}|stems|lemmas)(?:\+|$)")


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
        weights.append(float(match["weight"] or 1) if match else 0.0)
        if match is None or not LEAST_SCORE <= weights[-1] <= MOST_SCORE:
            raise VectorError(f"{text!r}: join sets as ONE+OTHER, or with weights above 0 as ONE*2+OTHER*0.5")
        sources.append(open_vectors(match["name"]))
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
    bundled = find_resource(_FOLDER, name, VECTORS) if name == Path(name).name else None
    if bundled is not None:
        return bundled.parent
    installed = find_installed(name)
    return installed if installed is not None and (installed / VECTORS).exists() else None


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
        "Layers of the encoder to average, such as 4,6",
        metavar="LIST",
        unset="the encoder's recommendation",
    )
    context: int = setting(
        0,
        "Previous lines of the document that the encoder reads with each line, as context only",
        least=0,
        most=MOST_CONTEXT,
        signed_if_set=True,
    )
    reads: Reads | None = setting(
        None,
        "Text that the encoder reads: lines as they are written (line), or tokens with spaces between (tokens)",
        unset="line in context",
        signed_if_set=True,
    )
    exact_words: ExactWords | None = setting(
        None,
        "With an encoder, equal words count as exact matches (one), or by their cosine, as other words do",
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
    device: DeviceName | None = setting(
        None,
        "Device for the encoder, cpu, cuda or mps; torch computes on it, which needs softbleu[gpu]",
        unset=f"NumPy, or ${DEVICE_VARIABLE}",
        signed=False,
        common=True,
    )
    precision: Precision = setting(
        "float32",
        "Arithmetic of the encoder on a device; anything but float32 is faster and less exact",
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
    def computes_on(self) -> Device | None:
        """Device that encodes and compares; None for NumPy.

        Raises `InputError`: no such device, or one that lacks this precision; `MissingExtraError`.
        """
        named = isinstance(self.vectors, str | os.PathLike)
        return Device.of(self.device, self.precision) if named and self.in_context else None

    @property
    def source(self) -> VectorSource:
        """The vectors of words as they are now, under the map if one is given."""
        source = open_vectors(self.vectors)
        if self.map is None:
            return source
        self.map.check_fits(source.name, source.dimension, source.fingerprint)
        return MappedSource(source, self.map)

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
        opened = self.encoder if self.in_context else self.source
        language = getattr(opened, "meta", {}).get("language")
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
            if self.precision != "float32":
                raise InputError(f"{self.vectors}: a precision is for vectors in context; name an encoder")
            if self.device is not None and not self.without_vectors:
                note(Parameter("device"), f" is for encoders: {self.vectors} has vectors of words")
            if self.context:
                raise InputError(f"{self.vectors}: lines of context are for an encoder: name one")
            return self
        self._check_unused("vectors in context have")
        encoder = self.encoder
        usual = encoder.layers
        if self.map is not None:
            self.map.check_fits(encoder.name, encoder.dimension, encoder.fingerprint)
            usual = parse_layers(self.map.layers or "")
        if self.computes_on is None and (self.device is not None or self.precision != "float32"):
            own = "an encoder in Python has its own device and precision: leave out "
            raise InputError(f"{encoder.name}: {own}", Parameter("device" if self.device else "precision"))
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
        opened = self.encoder if self.in_context else self.source
        return getattr(opened, "threshold", None) if self.map is None else self.map.threshold

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
