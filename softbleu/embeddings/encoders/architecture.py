"""How large an encoder is, and which arrays it therefore has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from softbleu.errors import VectorError

_MOST = {
    "dimension": 1 << 16,
    "heads": 1 << 10,
    "inner": 1 << 18,
    "depth": 1 << 10,
    "vocabulary": 1 << 24,
    "positions": 1 << 20,
}
ACTIVATIONS = ("gelu", "gelu_tanh", "relu")

WORDS, POSITIONS, DISTANCES = "words", "positions", "distances"
SCALE, LOW = ".scale", ".low"
"""End the names of what belongs to an array of int8: scales of its rows, and their lowest bits."""
LOW_BITS = 3
"""Of matrices of int8; the embeddings of pieces have none."""


@dataclass(frozen=True)
class EncoderArchitecture:
    """All that a forward pass must know beside its weights."""

    dimension: int
    """Length of a hidden state."""
    heads: int
    """Of attention."""
    inner: int
    """Length of a row between the two linear layers of a layer."""
    depth: int
    """Layers."""
    vocabulary: int
    """Pieces."""
    positions: int
    """How many pieces, boundary pieces included, are encoded together at most."""
    distances: int
    """Classes of relative positions; 0 if the encoder knows absolute ones only."""
    activation: str
    eps: float
    """Added to variances."""

    @classmethod
    def read(cls, given: Mapping[str, Any], where: str) -> EncoderArchitecture:
        """Take it from a mapping that has more in it."""
        values = {field.name: given.get(field.name) for field in fields(cls)}
        for name, most in {**_MOST, "distances": 1 << 10}.items():
            value = values[name]
            least = 0 if name == "distances" else 1
            if type(value) is not int or not least <= value <= most:
                raise VectorError(f"{where}: {name} must be a whole number from {least} to {most}, not {value!r}")
        if values["dimension"] % values["heads"]:  # type: ignore[operator]
            raise VectorError(f"{where}: {values['heads']} heads do not divide the dimension {values['dimension']}")
        if values["activation"] not in ACTIVATIONS:
            raise VectorError(
                f"{where}: unknown activation {values['activation']!r}; valid: {', '.join(ACTIVATIONS)}"
            )
        if type(values["eps"]) is not float or not 0 < values["eps"] < 1:
            raise VectorError(f"{where}: eps must be a number between 0 and 1, not {values['eps']!r}")
        return cls(**values)  # type: ignore[arg-type]

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes of all arrays of a store."""
        wide = (self.dimension,)
        shapes: dict[str, tuple[int, ...]] = {
            WORDS: (self.vocabulary, self.dimension),
            POSITIONS: (self.positions, self.dimension),
            "norm.weight": wide,
            "norm.bias": wide,
        }
        if self.distances:
            shapes[DISTANCES] = (self.distances, self.heads)
        for layer in range(self.depth):
            for part, (rows, columns) in self.matrices().items():
                shapes[f"layers.{layer}.{part}.weight"] = (rows, columns)
                shapes[f"layers.{layer}.{part}.bias"] = (rows,)
            for part in ("attended_norm", "norm"):
                shapes |= {f"layers.{layer}.{part}.{kind}": wide for kind in ("weight", "bias")}
        return shapes

    def matrices(self) -> dict[str, tuple[int, int]]:
        """Shapes of the linear layers of a layer."""
        return {
            "qkv": (3 * self.dimension, self.dimension),
            "attended": (self.dimension, self.dimension),
            "up": (self.inner, self.dimension),
            "down": (self.dimension, self.inner),
        }


def is_rounded(name: str, shape: tuple[int, ...]) -> bool:
    """Whether an array is kept as int8 or float16 where that is asked for: matrices, but for the small distances."""
    return len(shape) == 2 and name != DISTANCES
