"""Grammaticality and fluency of lines, each line judged once."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.data_files import read_json
from softbleu.errors import InputError
from softbleu.language import DEFAULT_LANGUAGE, VALUES, LanguageSet, default_language
from softbleu.resources import find_resource

if TYPE_CHECKING:
    from softbleu.types import Floats

_MOST_LINES = 1 << 17
"""Lines whose judgements are remembered."""
_AT_ONCE = 1 << 11


@dataclass(frozen=True)
class Coefficients:
    """What makes grammaticality and fluency, from 0 to 1, of the values of lines."""

    constant: float
    weights: Floats
    """Of each of `softbleu.language.VALUES`."""
    bounds: tuple[float, float]
    """Fluency that is taken for 0 and for 1: percentiles of learners' lines."""

    @classmethod
    def of(cls, content: Any) -> Coefficients:
        """Take them from what a file says."""
        weights = np.array([float(content["coefficients"][name]) for name in VALUES])
        least, most = content["fluency"]
        return cls(float(content["constant"]), weights, (float(least), float(most)))

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


@cache
def default_judge() -> LineJudge:
    """Judge by the set that travels with the package.

    Raises
    ------
    InputError
        This installation lacks it.
    """
    path = find_resource("language", DEFAULT_LANGUAGE, "grammar.json")
    if path is None:
        raise InputError(f"this installation lacks the coefficients of {DEFAULT_LANGUAGE}: install softbleu again")
    return LineJudge(default_language(), Coefficients.of(read_json(path)))
