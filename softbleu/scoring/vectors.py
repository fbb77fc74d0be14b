"""Word vectors for a corpus: those of its vocabulary, ready for workers."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from softbleu.errors import UnknownNameError
from softbleu.similarity import TokenVectors
from softbleu.tokens import Vocabulary

if TYPE_CHECKING:
    from softbleu.embeddings import VectorCase, VectorLocation
    from softbleu.embeddings.measure import FunctionWords, MeasuredWords, Similarity, WordMeasure

OPTIONAL = {
    "similarity": "cosine",
    "postprocess": "none",
    "neighbours": None,
    "mutual": False,
    "function_words": "soft",
    "quantile": None,
}
"""Keys of the signature that its short form leaves out where they have these values."""


@dataclass(frozen=True)
class VectorChoice:
    """Which word vectors to compare words by, and how to look words up.

    Parameters
    ----------
    location : a name (`glove-6b-100d`), a file or folder, gensim's KeyedVectors, or a mapping from words to vectors
    case : words are looked up as written (`exact`), then lower-cased (`fallback`)
    normalize : compare unit vectors; else a word weighs as much as its vector is long, one without a vector the mean
        of the references' words
    similarity : `cosine`, or `csls`, which takes from words that are near to everything
    postprocess : what is removed from the vectors first: `none`, `mean`, `pc:2`, `mean,pc:2`
    neighbours : a word meets only words among its so many nearest neighbours, or whose neighbour it is; None: any
    mutual : only words that are neighbours of each other
    function_words : whether English function words meet others like any word (`soft`) or only themselves (`exact`)
    quantile : where the threshold was taken from, such as `p99.9` of random pairs of words
    """

    location: VectorLocation
    case: VectorCase = "fallback"
    normalize: bool = True
    similarity: Similarity = "cosine"
    postprocess: str = "none"
    neighbours: int | None = None
    mutual: bool = False
    function_words: FunctionWords = "soft"
    quantile: str | None = None

    def __post_init__(self) -> None:
        if self.case not in ("exact", "fallback"):
            raise UnknownNameError("vector case", self.case, ("exact", "fallback"))
        self.measure()

    def measure(self) -> WordMeasure:
        """Say how alike two words are."""
        from softbleu.embeddings.measure import WordMeasure

        return WordMeasure(self.similarity, self.postprocess, self.neighbours, self.mutual, self.function_words)

    def select(self, words: list[str]) -> MeasuredWords:
        """Read the vectors of these words."""
        from softbleu.embeddings import open_vectors
        from softbleu.embeddings.measure import measure_words

        return measure_words(open_vectors(self.location), words, self.case, self.measure())

    def threshold(self) -> float:
        """Similarity at the quantile, at least 0.

        Raises
        ------
        InputError, VectorError
            The quantile is none, or the vectors cannot be read.
        """
        from softbleu.embeddings import open_vectors
        from softbleu.embeddings.measure import parse_percentile, similarity_quantile

        percentile = parse_percentile(self.quantile or "")
        return max(0.0, similarity_quantile(open_vectors(self.location), percentile, self.measure()))

    def identity(self, name_and_content: str) -> dict[str, object]:
        """Settings by the keys of the signature."""
        return {
            "vectors": name_and_content,
            "case": self.case,
            "normalize": self.normalize,
            **asdict(self.measure()),
            "quantile": self.quantile,
        }


@dataclass(frozen=True)
class CorpusVectors:
    """The words of a corpus and their vectors, in memory."""

    vocabulary: Vocabulary
    vectors: TokenVectors
    identity: str = ""
    """Name and content of the set they are from."""
    zero_words: int = 0
    """Words whose vector is zero, which counts as none."""

    @classmethod
    def of(
        cls, vocabulary: Vocabulary, measured: MeasuredWords, reference_words: int, *, normalize: bool
    ) -> CorpusVectors:
        """Put selected vectors together with the words they were selected for, the references' words first."""
        selected, weights = measured.selected, None
        if not normalize:
            norms = selected.norms[:reference_words]
            mean = float(norms[norms > 0].mean()) if (norms > 0).any() else 1.0
            weights = np.where(selected.known, selected.norms, mean)
        identity = f"{selected.name}#{selected.fingerprint[:12]}"
        norms = selected.norms
        if measured.rows is not selected.rows:
            norms = np.linalg.norm(measured.rows.astype(np.float64), axis=1)
        vectors = TokenVectors(measured.rows, norms, weights, measured.density, measured.links, measured.lone)
        return cls(vocabulary, vectors, identity, selected.zero_words)

    def load(self) -> CorpusVectors:
        """Return the vectors themselves: they are in memory already."""
        return self

    @contextmanager
    def stored(self) -> Iterator[StoredVectors]:
        """Lay the vectors down in files, for other processes to map."""
        with tempfile.TemporaryDirectory(prefix="softbleu-") as name:
            folder = Path(name)
            for field in fields(TokenVectors):
                array = getattr(self.vectors, field.name)
                if array is not None:
                    np.save(folder / f"{field.name}.npy", array)
            # JSON keeps any word as it is, whatever characters it holds.
            (folder / "words.json").write_text(json.dumps(list(self.vocabulary)), encoding="ascii")
            yield StoredVectors(name)


@dataclass(frozen=True)
class StoredVectors:
    """The same in files that every worker maps once."""

    folder: str

    def load(self) -> CorpusVectors:
        """Map the files."""
        return _load(self.folder)


@lru_cache(maxsize=1)
def _load(folder: str) -> CorpusVectors:
    path = Path(folder)
    words = json.loads((path / "words.json").read_text(encoding="ascii"))
    names = [field.name for field in fields(TokenVectors) if (path / f"{field.name}.npy").exists()]
    vectors = TokenVectors(**{name: np.load(path / f"{name}.npy", mmap_mode="r") for name in names})
    return CorpusVectors(Vocabulary((word, code) for code, word in enumerate(words)), vectors)
