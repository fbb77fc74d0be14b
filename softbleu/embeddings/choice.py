"""Which word vectors to compare words by, and how."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from softbleu.config.declare import Declared, own_settings, setting
from softbleu.config.languages import LANGUAGES, find_language
from softbleu.embeddings import DEFAULT_VECTORS, VectorLocation, open_vectors
from softbleu.embeddings.measure import (
    MeasuredWords,
    WordMeasure,
    measure_words,
    parse_percentile,
    similarity_quantile,
)
from softbleu.embeddings.vectors import VectorCase, VectorSource
from softbleu.encoders import Encoder, is_encoder, open_encoder
from softbleu.encoders.base import check_layers, parse_layers
from softbleu.errors import REMOVAL, REMOVED, InputError, Parameter
from softbleu.io.files import Content
from softbleu.io.platform import cached_property

ExactWords = Literal["one", "cosine"]
NO_VECTORS = "none"
MOST_CONTEXT = 1000  # Lines before one with which it can be encoded; corpora have as many at hand
_KIND = re.compile(r"(spelling|(?:stems|lemmas):[a-z]{2,3}|stems|lemmas)(?:\+|$)")


class Similarity(Content):
    """How words are compared without vectors: `spelling`, `stems:de` (or `lemmas:de`), and a list, joined by `+`.

    >>> Similarity.of("spelling+stems:de").kinds
    ('spelling', 'stems:de')
    """

    @classmethod
    def of(cls, location: str) -> Similarity:
        """Read it; the list is not opened."""
        kinds, named = _parts(location)
        for kind in kinds:
            name, _, code = kind.partition(":")
            if kind == "lemmas":
                raise InputError(Parameter("similarity"), " 'lemmas' names no language; write lemmas:CODE")
            if name == "stems" and not (code and find_language(code).stemmer):
                stemmed = ", ".join(language.code for language in LANGUAGES.values() if language.stemmer)
                said = f" {kind!r} names no language with stems; write stems:CODE with one of {stemmed}"
                raise InputError(Parameter("similarity"), said)
        if named in REMOVED:
            raise InputError(Parameter("similarity"), f" {named!r} {REMOVAL}")
        if named and not Path(named).exists():
            raise InputError(
                Parameter("similarity"), f" {named!r} is neither spelling, stems:CODE, lemmas:CODE nor a file"
            )
        return super().of(location)

    @classmethod
    def files_of(cls, location: str) -> list[Path]:
        """The list, if one is named."""
        return [Path(text) for text in [_parts(location)[1]] if text]

    @property
    def kinds(self) -> tuple[str, ...]:
        """Names of what is looked at beside a list."""
        return _parts(self.location)[0]

    @property
    def pairs(self) -> Path | None:
        """File of words that are similar."""
        return next(iter(self.files_of(self.location)), None)

    @property
    def roots(self) -> tuple[str, str] | None:
        """What words are reduced to, `stems` or `lemmas`, and the language; None where words are not reduced."""
        parted = (kind.partition(":") for kind in self.kinds)
        return next(((name, find_language(code).code) for name, _, code in parted if code), None)

    def __str__(self) -> str:
        return f"{self.location}#{self.fingerprint[:12]}" if self.pairs else self.location


def _parts(text: str) -> tuple[tuple[str, ...], str]:
    """Kinds that stand first, and the name of a file behind them."""
    kinds = []
    while match := _KIND.match(text):
        kinds.append(match[1])
        text = text[match.end() :]
    return tuple(kinds), text


@dataclass(frozen=True)
class VectorChoice(Declared):
    """Which word vectors to compare words by, and how.

    Without `normalize` a word's weight is the length of its vector; a word without a vector has the mean weight of
    the references' words. `quantile` only notes where the threshold comes from.

    If `vectors` names an encoder, each token has a vector of its own, in the context of its line. If it is `none`,
    words are compared by their `similarity`, which is that of spellings unless it says more.
    """

    vectors: VectorLocation = setting(
        DEFAULT_VECTORS,
        "Word vectors: a store, a word2vec, GloVe or fastText file, or a known set; ONE+OTHER joins two; or an "
        "encoder, for vectors in context, such as minilm-l6; or none: words are compared without vectors",
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
        "In context: layers whose mean is taken, such as 4,6",
        metavar="LIST",
        unset="what the encoder recommends",
    )
    context: int = setting(
        0,
        "In context: encode each line with so many lines before it in its document, which do not count themselves",
        least=0,
        most=MOST_CONTEXT,
        signed_if_set=True,
    )
    exact_words: ExactWords | None = setting(
        None,
        "In context: equal words count as exact matches (one), or by their cosine, as others do",
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
    measure: WordMeasure = setting(factory=WordMeasure)
    quantile: str | None = setting(None, "Quantile that the threshold was taken from")
    kind: ClassVar[str] = "vectors"

    def check(self) -> None:
        """See that the vectors may be some; whether they are is known when they are opened."""
        if self.layers is not None:
            object.__setattr__(self, "layers", ",".join(map(str, parse_layers(self.layers))))
        if isinstance(self.vectors, int | float | list):
            raise InputError(f"vectors must be a name, a path, a mapping or KeyedVectors, not {self.vectors!r}")
        if self.similarity is None and self.without_vectors:
            object.__setattr__(self, "similarity", Similarity.of("spelling"))
        elif self.similarity is not None and not self.without_vectors:
            object.__setattr__(self, "vectors", NO_VECTORS)

    def revised(self, settings: Mapping[str, Any]) -> VectorChoice:
        """Return it with other settings by name; vectors that are named take the place of another similarity."""
        vectors = settings.get("vectors", self.vectors)
        named = "vectors" in settings and not replace(self, vectors=vectors, similarity=None).without_vectors
        if named and settings.get("similarity") not in (None, "none"):
            said = f" {settings['similarity']} looks at no vectors: leave it out, or "
            raise InputError(Parameter("similarity"), said, Parameter("vectors"))
        choice = replace(self, vectors=DEFAULT_VECTORS, similarity=None) if named and self.without_vectors else self
        return super(VectorChoice, choice).revised(settings)

    @property
    def without_vectors(self) -> bool:
        """Whether words are compared without vectors."""
        return isinstance(self.vectors, str) and self.vectors.partition("#")[0] == NO_VECTORS

    @property
    def key(self) -> tuple[str | int, VectorChoice]:
        """Identity among choices, however the threshold came about; vectors in memory are told by their object."""
        where = str(self.vectors) if isinstance(self.vectors, str | Path) else id(self.vectors)
        return where, self._elsewhere

    @cached_property
    def _elsewhere(self) -> VectorChoice:
        """The same choice of vectors that have no place."""
        return replace(self, vectors=NO_VECTORS if self.without_vectors else "", quantile=None)

    @cached_property
    def in_context(self) -> bool:
        """Whether an encoder is named, which gives vectors of tokens where they stand."""
        return is_encoder(self.vectors)

    @property
    def encoder(self) -> Encoder:
        """The encoder; layers must be resolved."""
        location: Any = self.vectors
        return open_encoder(location)

    @property
    def language(self) -> str | None:
        """Language of the vectors, by its code; None where they do not say.

        Examples
        --------
        >>> VectorChoice().language
        'en'
        """
        if self.without_vectors:
            return None
        meta: Any = getattr(self.encoder if self.in_context else open_vectors(self.vectors), "meta", {})
        language = getattr(meta, "everything", meta).get("language")
        return language if isinstance(language, str) else None

    def resolved(self) -> VectorChoice:
        """See that the settings go together with the vectors, and name the layers of an encoder.

        Raises `InputError` where they do not; `VectorError`: the encoder cannot be read, or lacks a layer.
        """
        if self.without_vectors:
            self._check_unused("a similarity without vectors has")
        if not self.in_context:
            if self.layers is not None or self.exact_words == "cosine":
                raise InputError(
                    f"{self.vectors}: layers and exact-words are for vectors in context; name an encoder"
                )
            if self.context:
                raise InputError(f"{self.vectors}: lines of context are for an encoder: name one")
            return self
        self._check_unused("vectors in context have")
        encoder = self.encoder
        layers = encoder.layers if self.layers is None else parse_layers(self.layers)
        check_layers(layers, encoder.depth, encoder.name)
        written = ",".join(map(str, layers))
        return replace(self, layers=written, exact_words=self.exact_words or "cosine")

    def _check_unused(self, what: str) -> None:
        measure = replace(self.measure, function_words="soft")
        unused = [*_changed(self, VectorChoice(), ("vector_case", "normalize"))]
        unused += _changed(measure, WordMeasure(), [setting.name for setting in own_settings(WordMeasure)])
        if unused:
            raise InputError(f"{what} no use for {', '.join(unused)}: leave out, or name word vectors")

    def select(self, words: list[str], source: VectorSource | None = None) -> MeasuredWords:
        """Read the vectors of these words; `source` has them where they are open already."""
        return measure_words(source or open_vectors(self.vectors), words, self.vector_case, self.measure)

    def recommended_threshold(self) -> float | None:
        """Threshold that the vectors recommend, None if they do not.

        Raises `VectorError`: the vectors cannot be read.
        """
        if self.without_vectors:
            return None
        source = self.encoder if self.in_context else open_vectors(self.vectors)
        return getattr(source, "threshold", None)

    def threshold_at(self, quantile: str) -> float:
        """Similarity at a quantile such as `p99.9`, at least 0.

        Raises `InputError`, `VectorError`: the quantile is none, or the vectors cannot be read.
        """
        percentile = parse_percentile(quantile)
        if self.without_vectors:
            raise InputError(
                f"{quantile} is a quantile of vectors, of which there are none: give ", Parameter("threshold")
            )
        if self.in_context:
            from softbleu.encoders.contexts import context_quantile

            layers = parse_layers(self.resolved().layers or "")
            return max(0.0, context_quantile(self.encoder, layers, percentile))
        return max(0.0, similarity_quantile(open_vectors(self.vectors), percentile, self.measure))


def _changed(value: Any, other: Any, names: Iterable[str]) -> Iterator[str]:
    return (name for name in names if getattr(value, name) != getattr(other, name))
