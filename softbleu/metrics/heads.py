"""Heads of trained metrics: how many points each distance between candidate and reference costs, as a small file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from softbleu.errors import InputError
from softbleu.io.data_files import parse_score, read_json
from softbleu.io.files import Content
from softbleu.io.resources import required_resource, resource_names

if TYPE_CHECKING:
    from softbleu.types import Floats

DEFAULT_HEAD = "minilm-l6"
_FOLDER, _FILE, _FORMAT = "heads", "head.json", 2
_EARLIER = 1  # Had no severity
FEATURES = {
    "precision": "1 - mean similarity of a candidate's word or piece with the most similar one of the reference",
    "recall": "the same of the reference's words or pieces",
    "precision_squared": "mean square of what these similarities lack, of the candidate's",
    "recall_squared": "mean square of what these similarities lack, of the reference's",
    "worst_candidate": "what the worst match of the candidate lacks",
    "worst_reference": "what the worst match of the reference lacks",
    "mean_vector": "1 - cosine of the mean vectors",
    "start": "1 - cosine of the pieces before the first word, in context",
    "unpaired_candidate": "share of the candidate's words or pieces whose best match has a better one",
    "unpaired_reference": "share of the reference's words or pieces whose best match has a better one",
    "breaks": "how often neighbours among the paired are none in the reference, per word or piece",
    "order": "how far the paired are from the reference's order, 1 where it is reversed",
    "shorter": "logarithm of how many times as long the reference is",
    "longer": "logarithm of how many times as long the candidate is",
    "negations": "1 where one side has more negations",
    "numbers": "share of the numbers of both sides that the other lacks",
    "capitals_missed": "capitalised words of the reference that the candidate lacks, per word of the reference",
    "capitals_added": "capitalised words of the candidate that the reference lacks, per word of the reference",
    "unknown": "words of the candidate that neither English nor the reference has, per word of the reference",
}
"""Distances between a candidate and its reference, 0 where they are equal: name and meaning."""
POWERS = (0.5, 1.0, 2.0)
"""A distance d costs a * d**0.5 + b * d + c * d**2 points, none of its three prices negative."""
SEVERITIES = (0.75, 4 / 3)
"""The least and the greatest severity: how many times as much distances cost, by what the candidate is about."""


@dataclass(frozen=True)
class TrainedHead(Content):
    """Points that each distance costs, and the vectors and tokens that the distances are of."""

    vectors: str = ""
    layers: str | None = None
    tokenize: str = "none"
    lowercase: bool = False
    metrics: tuple[str, ...] = ()  # Metrics whose scores are distances, too: what they lack of 100, in hundredths
    prices: tuple[tuple[float, ...], ...] = ()  # Of each of `names` those of the powers
    severity: tuple[float, ...] = ()  # A constant, and a weight of each component of the candidate's mean vector

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the distances: `FEATURES`, then the metrics."""
        return (*FEATURES, *self.metrics)

    def lost(self, distances: Floats, directions: Floats) -> Floats:
        """Points that distances cost, of the same shape (pairs, distances).

        `directions` are mean vectors of the candidates, of length 1: (pairs, dimensions).

        >>> head = TrainedHead("", "", prices=((2.0, 0.0, 1.0),), severity=(1.0, 0.25))
        >>> head.lost(np.array([[4.0], [4.0], [0.0]]), np.array([[0.0], [1.0], [1.0]])).tolist()
        [[20.0], [25.0], [0.0]]
        """
        parts = np.array(self.prices).T
        losses: Floats = sum(part * distances**power for part, power in zip(parts, POWERS, strict=True))
        return losses * self.severities(directions)[:, None]

    def severities(self, directions: Floats) -> Floats:
        """How many times as much distances cost: (pairs,)."""
        if not self.severity:
            return np.ones(len(directions))
        constant, *weights = self.severity
        if len(weights) != directions.shape[1]:
            raise InputError(
                f"head {self.location}: for vectors of {len(weights)} dimensions, not {directions.shape[1]}: "
                "name those that it was trained with"
            )
        factors: Floats = np.clip(constant + directions @ np.array(weights), *SEVERITIES)
        return factors

    @classmethod
    def of(cls, location: str) -> TrainedHead:
        """Read a head: one in the box by its name, else a file as `heads/recipe/train.py` writes it.

        Raises `InputError`: there is none, or its content is no head.
        """
        names = resource_names(_FOLDER, _FILE)
        if location in names:
            return bundled_head(location)
        if not Path(location).exists():
            raise InputError(f"head {location!r}: no such file, and no head in the box: {', '.join(names)}")
        return cls.of_file(Path(location), location)

    @classmethod
    def of_file(cls, path: Path, location: str) -> Self:
        """Read the file of a head, whose `location` names it in errors."""
        content = read_json(path)
        try:
            if content["format"] not in (_EARLIER, _FORMAT):
                raise ValueError(f"format {content['format']!r}, not {_FORMAT}")
            metrics = tuple(map(str, content["metrics"]))
            priced: Mapping[str, Any] = content["prices"]
            wrong = [name for name in priced if name not in (*FEATURES, *metrics)]
            none = [0.0] * len(POWERS)
            prices = tuple(tuple(map(parse_score, priced.get(name, none))) for name in (*FEATURES, *metrics))
            if wrong or not all(len(one) == len(POWERS) and 0 <= min(one) <= max(one) <= 1e6 for one in prices):
                raise ValueError(
                    f"no such distance: {wrong[0]!r}" if wrong else "a distance has 3 prices, 0 to 1,000,000"
                )
            severity = tuple(map(parse_score, content.get("severity", ())))
            texts = content["vectors"], content["tokenize"]
            layers, lowercase = content["layers"], content["lowercase"]
            if not all(isinstance(text, str) for text in (*texts, layers or "")) or not isinstance(lowercase, bool):
                raise ValueError("vectors, tokenize and layers are texts, lowercase is true or false")
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(
                f"{location}: no head of a trained metric ({type(error).__name__}: {error}): make one by "
                "heads/recipe/train.py"
            ) from error
        fingerprint = Content.of(str(path)).fingerprint
        return cls(location, fingerprint, texts[0], layers, texts[1], lowercase, metrics, prices, severity)


@cache
def bundled_head(name: str) -> TrainedHead:
    """Read a head in the box, once."""
    return TrainedHead.of_file(required_resource(_FOLDER, name, _FILE), name)
