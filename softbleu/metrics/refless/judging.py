"""Grammaticality and fluency of lines, each line judged once."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from softbleu.errors import InputError
from softbleu.io.data_files import parse_score, read_json
from softbleu.io.files import hash_files
from softbleu.io.resources import find_resource
from softbleu.language import VALUES, Finding, LanguageSet, ModelChoice, open_language

if TYPE_CHECKING:
    from softbleu.types import Floats

_MOST_LINES = 1 << 17  # Lines whose judgements are remembered
_AT_ONCE = 1 << 11


@dataclass(frozen=True)
class Coefficients:
    """What makes grammaticality and fluency, from 0 to 1, of the values of lines."""

    constant: float
    weights: Floats  # Of each of `softbleu.language.VALUES`
    bounds: tuple[float, float]  # Fluency that is taken for 0 and for 1: percentiles of learners' lines

    @classmethod
    def read(cls, path: Path) -> Coefficients:
        """Read a file as `experiments/gug-grammaticality/fit.py` writes it."""
        content = read_json(path)
        try:
            weights = np.array([parse_score(content["coefficients"][name]) for name in VALUES])
            least, most = map(parse_score, content["fluency"])
            constant = parse_score(content["constant"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(
                f"{path}: no coefficients of grammaticality ({type(error).__name__}: {error}); "
                "make them by experiments/gug-grammaticality/fit.py"
            ) from error
        if not least < most:
            raise InputError(f"{path}: fluency must have two bounds, the lower one first")
        return cls(constant, weights, (least, most))

    def judge(self, values: Floats) -> Floats:
        """Grammaticality and fluency of each line: (lines, 2)."""
        logits = np.full(len(values), self.constant)
        # One after the other, so that a line has the same digits in any company.
        for weight, column in zip(self.weights, values.T, strict=True):
            logits += weight * column
        grammar = [1 / (1 + math.exp(-logit)) for logit in logits.clip(-500, 500).tolist()]
        least, most = self.bounds
        fluency = (values[:, VALUES.index("fluency")] - least) / (most - least)
        return np.column_stack((grammar, fluency.clip(0, 1)))


class LineJudge:
    """Judges lines, and remembers them."""

    def __init__(self, language: LanguageSet, coefficients: Coefficients) -> None:
        self._language = language
        self._coefficients = coefficients
        self._known: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def find(self, line: str) -> tuple[Finding, ...]:
        """What speaks against a line."""
        return self._language.find(line)

    def judge(self, lines: Sequence[str]) -> Floats:
        """Grammaticality and fluency of each line, 0 of empty ones: (lines, 2)."""
        wanted = list(dict.fromkeys(lines))
        new = [line for line in wanted if line not in self._known]
        found = {line: self._known[line] for line in wanted if line in self._known}
        for start in range(0, len(new), _AT_ONCE):
            some = new[start : start + _AT_ONCE]
            judged = self._coefficients.judge(self._language.values(some))
            for line, (grammar, fluency) in zip(some, judged.tolist(), strict=True):
                found[line] = (grammar, fluency) if line.strip() else (0.0, 0.0)
        self._known.update(found)
        while len(self._known) > _MOST_LINES:
            self._known.popitem(last=False)
        return np.array([found[line] for line in lines], np.float64).reshape(-1, 2)


@dataclass(frozen=True)
class CoefficientsFile:
    """A file of coefficients of one's own; what it holds is its identity."""

    location: str
    fingerprint: str

    @classmethod
    def parse(cls, text: str) -> CoefficientsFile | None:
        """Name a file; `none` stands for those that come with softbleu."""
        if text == "none":
            return None
        try:
            return cls(text, hash_files(Path(text)))
        except OSError as error:
            raise InputError(f"coefficients {text}: cannot be read ({error.strerror})") from error

    def __str__(self) -> str:
        return f"{Path(self.location).name}#{self.fingerprint[:12]}"


@lru_cache(4)
def line_judge(model: ModelChoice, detector: str, own: CoefficientsFile | None) -> LineJudge:
    """Judge by a model and a detector, with the coefficients that go with them unless there are others."""
    path = Path(own.location) if own else _fitted(model, detector)
    return LineJudge(open_language(model, detector), Coefficients.read(path))


def _fitted(model: ModelChoice, detector: str) -> Path:
    """Coefficients that come with softbleu."""
    file = "grammar.json" if detector == "spelling" else f"grammar-{detector}.json"
    path = find_resource("language", model.name, file) if model.name else None
    if path is None:
        raise InputError(
            f"no coefficients of grammaticality come with {model.location} and detector {detector!r}: fit them by "
            "experiments/gug-grammaticality/fit.py, and name the file with --coefficients"
        )
    return path
