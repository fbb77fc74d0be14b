"""Variants of matchers, by name, that may give less spurious credit (option `--variant`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from softbleu.errors import InputError, UnknownNameError
from softbleu.matching.matchers import MATCHERS, SoftMatcher
from softbleu.metrics.base import DEFAULT_ENCODER, Metric, make_metric
from softbleu.metrics.protocols import matcher_of

PLAIN = "plain"
VARIANTS: dict[str, dict[str, Any]] = {  # Settings by the name of the variant; several are joined by `+`
    PLAIN: {},
    "optimal": {"assignment": "optimal"},
    "aligned": {"composition": "aligned"},
    "sif": {"composition": "sif"},
    "neighbours": {"neighbours": 10},
    "centred": {"vectors_postprocess": "mean,pc:2"},
    "function-words": {"function_words": "exact"},
    "context": {"vectors": DEFAULT_ENCODER},
}
COMBINATIONS = ("aligned+function-words", "aligned+function-words+optimal", "aligned+centred")
"""Combinations that are tried beside single variants when all are."""


@dataclass(frozen=True)
class MatcherVariant:
    """One way to match."""

    matcher: str
    name: str
    metric: Metric  # All of it; the threshold is left open

    def make_matcher(self) -> SoftMatcher:
        """Make the matcher."""
        return cast("SoftMatcher", matcher_of(self.metric))


def find_variant(name: str) -> dict[str, Any]:
    """Find the settings of a variant, or of several joined by `+`.

    >>> find_variant("aligned+neighbours")
    {'composition': 'aligned', 'neighbours': 10}
    """
    settings: dict[str, Any] = {}
    for part in name.split("+"):
        if part not in VARIANTS:
            raise UnknownNameError("variant", part, VARIANTS)
        for setting, value in VARIANTS[part].items():
            if settings.setdefault(setting, value) != value:
                raise InputError(f"variant {name!r}: its parts want different values of {setting}")
    return settings


def make_variants(base: Mapping[str, Any], matchers: Sequence[str], names: Sequence[str]) -> list[MatcherVariant]:
    """Make every variant of every matcher. InputError: a name that is not valid, or a matcher of exact matches.

    Parameters
    ----------
    base
        Settings that all variants have.
    matchers
        Names of matchers that make approximate matches.
    names
        Names of variants, see `find_variant`.

    Examples
    --------
    >>> variants = make_variants({}, ["vleu", "xleu"], ["plain", "aligned"])
    >>> [(variant.matcher, variant.make_matcher().composition) for variant in variants]
    [('vleu', 'mean'), ('vleu', 'aligned'), ('xleu', 'mean'), ('xleu', 'aligned')]
    """
    for name in matchers:
        if not issubclass(MATCHERS.find(name), SoftMatcher):
            raise InputError(f"matcher {name!r} makes no approximate matches: take sleu, vleu or xleu")
    if not matchers or not names:
        raise InputError("nothing to compare: name a matcher and a variant")
    return [
        MatcherVariant(
            matcher, name, make_metric(**{**base, "matcher": matcher, "threshold": 0.0, **find_variant(name)})
        )
        for matcher in dict.fromkeys(matchers)
        for name in dict.fromkeys(names)
    ]
