"""Maps of vectors, learned from human judgements: their files, and vectors under a map.

A map is a matrix I + M, M of low rank, weights of tokens, and prices of precision, recall, F and other lengths;
`softbleu.embeddings.learning` says how they are learned. Its file (NumPy's ``.npz``, nothing pickled) also lists the
judgements that it was learned from. Under a map the cosine of two vectors x and y is that of x + x M and y + y M,
wherever vectors are compared.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from softbleu.embeddings.learning import token_weights
from softbleu.embeddings.vectors import VectorCase, VectorSource, WordVectors
from softbleu.errors import InputError, Parameter
from softbleu.io.files import Content, required_resource, resource_names
from softbleu.io.platform import single_threaded_blas
from softbleu.io.reading import check_plain, parse_json

if TYPE_CHECKING:
    from softbleu.encoders.torch_rows import DeviceRows
    from softbleu.types import Fields, Floats, Integers, Keywords

MAP_FOLDER, MAP_FILE, MAP_FORMAT = "heads", "map.npz", 1
_LARGEST_FILE = 64_000_000  # Bytes: a map of 8,000 dimensions
RANK = 64  # Of M as it is kept
TERMS = ("precision", "recall", "f", "length")
"""Terms of a score under a map that have prices; the last is the logarithm of the ratio of lengths, in tokens."""
LENGTH_PRICE = 0.05
"""Price of other lengths. With .02 a map still rewards the first half of a reference more than `bertscore` does."""


@dataclass(frozen=True)
class VectorMap(Content):
    """A linear map of vectors, with weights of tokens and prices, and what it was learned from."""

    left: NDArray[np.float32] = field(repr=False, compare=False)  # M is left times right: (dimension, rank)
    right: NDArray[np.float32] = field(repr=False, compare=False)  # (rank, dimension)
    direction: NDArray[np.float32] = field(repr=False, compare=False)  # Weight of a token by its mapped vector
    constant: float = field(repr=False, compare=False)
    prices: tuple[float, ...] = field(repr=False, compare=False)
    """Prices of `TERMS`; those of precision, recall and F add up to 1."""
    facts: Fields = field(repr=False, compare=False)  # Vectors that it is for, and what it was learned from

    @classmethod
    def files_of(cls, location: str) -> Sequence[Path]:
        """List the file of a map: in the box by its name, else at a path."""
        if location in map_names() and not Path(location).is_file():
            return [required_resource(MAP_FOLDER, location, MAP_FILE)]
        return [Path(location)]

    @classmethod
    def of(cls, location: str) -> Self:
        """Read a map: one in the box by its name, else a file.

        Raises `InputError`: the file is missing, or its content is no map.
        """
        (path,) = cls.files_of(location)
        if not path.exists():
            known = ", ".join(map_names()) or "none"
            raise InputError(f"map {location!r}: no such file, and no map in the box: {known}")
        check_plain(path)
        return cls(location, Content.of(str(path)).fingerprint, **_read(path, location))

    @property
    def dimension(self) -> int:
        """Length of the vectors."""
        return len(self.left)

    @property
    def vectors(self) -> str:
        """Name of the vectors that it was learned with."""
        return str(self.facts["vectors"])

    @property
    def layers(self) -> str | None:
        """Layers of the encoder that it was learned with; None for vectors of words."""
        return self.facts.get("layers")

    @property
    def threshold(self) -> float | None:
        """Recommended threshold under the map, if any."""
        return self.facts.get("threshold")

    @property
    def matrix(self) -> NDArray[np.float32]:
        """M: (dimension, dimension)."""
        return self.left @ self.right

    def check_fits(self, name: str, dimension: int, fingerprint: str) -> None:
        """Raise `InputError` unless the map was learned with these vectors, by name or content."""
        known = fingerprint in self.facts["fingerprints"] or name == self.vectors
        if dimension == self.dimension and known:
            return
        raise InputError(
            f"map {self.location}: learned with {self.vectors} ({self.dimension} dimensions), not {name} "
            f"({dimension}): give ",
            Parameter("vectors", self.vectors),
            ", or learn a map of your vectors: softbleu embeddings train",
        )

    def of_lines(self, states: NDArray[np.float32], offsets: Integers) -> NDArray[np.float32]:
        """Map the tokens of lines, each line by itself, so that it does not depend on others: (tokens, dimension)."""
        mapped = np.empty_like(states)
        with single_threaded_blas():
            for start, end in pairwise(offsets.tolist()):
                line = states[start:end]
                np.add(line, line @ self.left @ self.right, out=mapped[start:end])
        return mapped

    def of_words(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """Map vectors of words, each by itself: (words, dimension)."""
        # A product of one row at a time does not depend on its place.
        return self.of_lines(rows, np.arange(len(rows) + 1))

    def weights(self, rows: NDArray[np.floating] | DeviceRows) -> Floats:
        """Compute the weights of mapped vectors of length 1: (tokens,)."""
        if not isinstance(rows, np.ndarray):
            logits: Floats = rows.along(self.direction) * np.sqrt(self.dimension) + self.constant
            return np.logaddexp(0, logits)
        return token_weights(rows.astype(np.float64, copy=False), self.direction.astype(np.float64), self.constant)[0]

    def losses(self, lacks: Floats) -> Floats:
        """Multiply 1 − precision, 1 − recall, 1 − F and `lengths_apart` by 100 times their prices: (pairs, 4).

        >>> vector_map = VectorMap("", "", None, None, None, 0.0, (0.25, 0.25, 0.5, 0.05), {})
        >>> vector_map.losses(np.array([[0.2, 0.4, 0.3, 0.5]])).round(6).tolist()
        [[5.0, 10.0, 15.0, 2.5]]
        """
        losses: Floats = 100 * lacks * np.array(self.prices)
        return losses

    def described(self) -> dict[str, str | int]:
        """List what a card says: content hash, licence, and the sets and outputs that it was learned from."""
        sets = self.facts["sets"]
        return {
            "map": self.fingerprint[:12],
            "map_licence": str(self.facts["licence"]),
            "map_learned_from": ", ".join(str(each["name"]) for each in sets),
            "map_outputs": sum(int(each["outputs"]) for each in sets),
        }

    def content(self) -> bytes:
        """Return the bytes of the file of the map."""
        facts = json.dumps({"format": MAP_FORMAT, **self.facts}, ensure_ascii=False, indent=1)
        stream = io.BytesIO()
        np.savez(
            stream,
            left=self.left.astype("<f2"),
            right=self.right.astype("<f2"),
            direction=self.direction,
            numbers=np.array([self.constant, *self.prices], "<f8"),
            facts=np.frombuffer(facts.encode(), np.uint8),
        )
        return stream.getvalue()


def map_names() -> tuple[str, ...]:
    """List the maps in the box, by the names of their vectors.

    >>> isinstance(map_names(), tuple)
    True
    """
    return resource_names(MAP_FOLDER, MAP_FILE)


def low_rank(matrix: NDArray[np.floating], rank: int = RANK) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Factor the nearest matrix of a rank, by singular values; factors are rounded to float16, as in a map's file.

    >>> left, right = low_rank(np.array([[0.0, 2.0], [0.0, 0.0]]), 1)
    >>> (left @ right).astype(float).round(3).tolist()
    [[0.0, 2.0], [0.0, 0.0]]
    """
    one, sizes, other = np.linalg.svd(matrix.astype(np.float64))
    roots = np.sqrt(sizes[:rank])
    parts = one[:, :rank] * roots, roots[:, None] * other[:rank]
    left, right = (part.astype(np.float16).astype(np.float32) for part in parts)
    return left, right


def _read(path: Path, location: str) -> Keywords:
    """Read and check the content of a file."""
    try:
        with zipfile.ZipFile(path) as members:
            if sum(member.file_size for member in members.infolist()) > _LARGEST_FILE:
                raise ValueError("too large")
        with np.load(path, allow_pickle=False) as arrays:
            content = {name: arrays[name] for name in ("left", "right", "direction", "numbers", "facts")}
        facts = parse_json(bytes(content["facts"]).decode(), location)
        if facts["format"] != MAP_FORMAT:
            raise ValueError(f"format {facts['format']!r}, not {MAP_FORMAT}")
        shapes = {name: (part.shape, part.dtype.str) for name, part in content.items() if name != "facts"}
        size, rank = content["left"].shape
        wanted = {
            "left": ((size, rank), "<f2"),
            "right": ((rank, size), "<f2"),
            "direction": ((size,), "<f4"),
            "numbers": ((len(TERMS) + 1,), "<f8"),
        }
        if shapes != wanted or not size or not rank or not all(np.isfinite(content[name]).all() for name in wanted):
            raise ValueError("its arrays have other shapes, or values that are not finite")
        constant, *prices = content["numbers"].tolist()
        if min(prices) < 0 or abs(sum(prices[:3]) - 1) > 1e-9:
            raise ValueError("prices are from 0, and the first three add up to 1")
        texts = facts["vectors"], facts["tokenize"], facts["layers"] or ""
        if not all(isinstance(text, str) for text in (*texts, *facts["fingerprints"])):
            raise ValueError("vectors, tokenize, layers and fingerprints are texts")
        threshold = facts.get("threshold")
        if threshold is not None and not 0 <= threshold <= 1:
            raise ValueError("a threshold is from 0 to 1")
    except (KeyError, TypeError, ValueError, OSError, EOFError, zipfile.BadZipFile, InputError) as error:
        said = f"{type(error).__name__}: {error}"[:120]
        raise InputError(f"{location}: no map of vectors ({said}): make one by softbleu embeddings train") from error
    arrays = {name: content[name].astype(np.float32) for name in ("left", "right", "direction")}
    return {**arrays, "constant": constant, "prices": tuple(prices), "facts": facts}


@dataclass(frozen=True)
class MappedSource:
    """Vectors of words under a map."""

    source: VectorSource
    map: VectorMap

    @property
    def name(self) -> str:
        """Name of the vectors."""
        return self.source.name

    @property
    def dimension(self) -> int:
        """Length of each vector."""
        return self.source.dimension

    @property
    def fingerprint(self) -> str:
        """Hex SHA-256 of the content of vectors and map."""
        return f"{self.source.fingerprint[:32]}{self.map.fingerprint[:32]}"

    @property
    def meta(self) -> Mapping[str, object]:
        """Facts about the vectors that hold under the map."""
        meta = getattr(self.source, "meta", {})
        return {name: meta[name] for name in ("language",) if name in meta}

    def head(self, count: int | None = None) -> tuple[list[str], NDArray[np.float32]]:
        """Return the first words and their mapped rows; see `VectorSource.head`."""
        words, rows = self.source.head(count)
        return words, self.map.of_words(rows)

    def select(self, words: Sequence[str], case: VectorCase = "fallback") -> WordVectors:
        """Return the mapped vectors of words; see `VectorSource.select`."""
        found = self.source.select(words, case)
        return WordVectors(self.map.of_words(found.rows), found.name, self.source.fingerprint, found.zero_words)
