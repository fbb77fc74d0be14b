"""Human-agreement curves: how often people prefer the system that a metric prefers, by the size of the difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, Self

import numpy as np

from softbleu.config.signature import parse_signature
from softbleu.io.data_files import read_json
from softbleu.io.resources import find_resource

STUDY = ("experiments", "what-differences-mean", "differences.json")
"""Where the curves lie that travel with the package."""
_OF_THE_RUN = ("version", "level")


@dataclass(frozen=True)
class HumanAgreement:
    """In which share of pairs of systems with about such a difference people preferred the same system."""

    data: str  # What they judged
    share: float
    low: float
    high: float  # 0 to 1, and the 95% interval
    pairs: int
    systems: int  # How many there are in the data

    def __str__(self) -> str:
        return f"{self.share:.0%} ({100 * self.low:.0f}–{100 * self.high:.0f})"


@dataclass(frozen=True)
class AgreementCurve:
    """The share by the size of the difference, between points."""

    data: str
    metric: str  # What it is called there
    signature: str  # Of the scores
    pairs: int
    systems: int
    differences: Sequence[float]  # Ascending; nothing is said beyond the last
    share: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]  # At each of these; below the first as there

    @classmethod
    def of(cls, entry: dict[str, Any]) -> Self:
        """Take what `as_dict` made."""
        return cls(**entry)

    def as_dict(self) -> dict[str, Any]:
        """Plain data, with four decimals."""
        return {
            name: [round(number, 4) for number in value] if isinstance(value, list | tuple) else value
            for name, value in asdict(self).items()
        }

    def at(self, difference: float) -> HumanAgreement | None:
        """Human agreement at a difference, whatever its sign; None beyond the range, and for no difference."""
        size = abs(difference)
        if not 0 < size <= self.differences[-1]:
            return None
        share, low, high = (
            float(np.interp(size, self.differences, each)) for each in (self.share, self.low, self.high)
        )
        return HumanAgreement(self.data, share, low, high, self.pairs, self.systems)

    def fits(self, signature: str) -> bool:
        """Whether scores of that signature are made with the same settings, of as many references."""
        return settings_signed(signature) == settings_signed(self.signature)


def settings_signed(signature: str) -> dict[str, str]:
    """What a signature says of the settings, not of the run and its tests.

    >>> settings_signed("metric:chrf|beta:2.0|level:corpus|test-seed:1|version:0.1.0")
    {'metric': 'chrf', 'beta': '2.0'}
    """
    pairs = parse_signature(signature)
    return {key: value for key, value in pairs.items() if key not in _OF_THE_RUN and not key.startswith("test-")}


@cache
def study_curves() -> tuple[AgreementCurve, ...]:
    """Curves of the study; none where the installation lacks them."""
    path = find_resource(*STUDY)
    return () if path is None else tuple(map(AgreementCurve.of, read_json(path)["curves"]))


def curves_for(signature: str) -> list[AgreementCurve]:
    """Find the curves of the data of the study in which scores are made with the same settings."""
    return [curve for curve in study_curves() if curve.fits(signature)]
