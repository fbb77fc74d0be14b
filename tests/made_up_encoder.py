"""An encoder without weights: pieces are pairs of letters, whose vectors follow from the line they stand in."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import numpy as np

from softbleu.encoders import Pieces
from softbleu.metrics.base import Metric

BOUNDARY = 0
NOTHING = "~"
"""Words of which nothing is made."""


@dataclass
class MadeUpEncoder:
    name: str = "made up"
    fingerprint: str = "0" * 64
    dimension: int = 4
    depth: int = 3
    vocabulary: int = 1 << 16
    layers: tuple[int, ...] = (2,)
    threshold: float | None = None
    quantiles: dict[str, float] = field(default_factory=dict)
    encoded: list[int] = field(default_factory=list)
    """How many lines were encoded, call by call."""

    def tokenize(self, lines: Sequence[Sequence[str]]) -> Pieces:
        ids, words, offsets = [], [], [0]
        for line in lines:
            ids.append(BOUNDARY)
            words.append(-1)
            for number, word in enumerate(line):
                pairs = [word[at : at + 2] for at in range(0, len(word), 2)] if word != NOTHING else []
                ids += [int.from_bytes(sha256(pair.encode()).digest()[:2]) | 1 for pair in pairs]
                words += [number] * len(pairs)
            offsets.append(len(ids))
        return Pieces(np.array(ids, np.int32), np.array(words, np.int32), np.array(offsets, np.int64))

    def encode(self, pieces: Pieces, layers: tuple[int, ...]) -> np.ndarray:
        self.encoded.append(len(pieces.offsets) - 1)
        rows = np.zeros((len(pieces.ids), self.dimension), np.float32)
        for start, end in zip(pieces.offsets[:-1].tolist(), pieces.offsets[1:].tolist(), strict=True):
            line = pieces.ids[start:end].tobytes()
            for place in range(start, end):
                text = f"{place - start} {pieces.ids[place]} {layers}".encode()
                drawn = np.random.default_rng(list(sha256(text + line).digest()))
                own = np.random.default_rng(int(pieces.ids[place])).normal(size=self.dimension)
                rows[place] = whole(own + 0.5 * drawn.normal(size=self.dimension))
        return rows


def whole(row: np.ndarray) -> np.ndarray:
    """A row of whole numbers, the greatest 32767, which is kept as it is."""
    scaled = np.rint(row / np.abs(row).max() * 32767)
    return np.asarray(scaled, np.float32)


def vectors_for(metric: Metric, words: Any) -> Any:
    """Vectors of words, or an encoder for a metric that needs one."""
    return MadeUpEncoder() if metric.requires.pieces else words
