"""Removing from word vectors what all of them have in common."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from softbleu.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.float64]

_PARTS = re.compile(r"none|(mean)|pc:(?P<only>[1-9]\d?)|(mean),pc:(?P<also>[1-9]\d?)", re.ASCII)


def unit_rows(rows: NDArray[np.floating]) -> Rows:
    """Scale each row to length 1; a zero row stays zero.

    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    exact = rows.astype(np.float64)
    lengths = np.linalg.norm(exact, axis=1, keepdims=True)
    exact /= np.where(lengths > 0, lengths, 1.0)
    return exact


@dataclass(frozen=True, eq=False)
class CommonParts:
    """All-but-the-top (Mu and Viswanath 2018): subtract a mean, project out the leading components."""

    mean: Rows
    """Shape (dimension,)."""
    components: Rows
    """Shape (components, dimension), orthonormal."""

    @classmethod
    def estimate(cls, rows: Rows, components: int, *, subtract_mean: bool = True) -> CommonParts:
        """Take mean and leading principal components of these rows; without the mean, or rows, about 0."""
        mean = rows.mean(axis=0) if subtract_mean and len(rows) else np.zeros(rows.shape[1])
        centred = rows - mean
        _, directions = np.linalg.eigh(centred.T @ centred)
        return cls(mean, directions[:, ::-1][:, :components].T)

    def remove_from(self, rows: Rows) -> Rows:
        """Rows without the mean and the components; not normalised."""
        centred = rows - self.mean
        centred -= (centred @ self.components.T) @ self.components
        return centred


@dataclass(frozen=True)
class Postprocess:
    """What is removed, as text: `none`, `mean`, `pc:2` (two components), or `mean,pc:2`.

    >>> Postprocess.parse("mean,pc:2")
    Postprocess(subtract_mean=True, components=2)
    >>> str(Postprocess.parse("pc:1")), str(Postprocess())
    ('pc:1', 'none')
    """

    subtract_mean: bool = False
    components: int = 0

    @classmethod
    def parse(cls, text: str) -> Postprocess:
        """Read the text."""
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

    def estimate(self, rows: Rows) -> CommonParts:
        """Find in these unit rows what is to be removed."""
        if self.components >= rows.shape[1]:
            raise InputError(f"vectors-postprocess {self}: these vectors have {rows.shape[1]} dimensions only")
        return CommonParts.estimate(rows, self.components, subtract_mean=self.subtract_mean)
