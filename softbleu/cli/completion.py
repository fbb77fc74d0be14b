"""Names that the shell can complete; each function imports what it needs only when the shell asks."""

from __future__ import annotations

from typing import get_args


def matchers() -> list[str]:
    """Names of matchers, those of plug-ins too."""
    from softbleu.matchers.registry import matcher_names

    return matcher_names()


def compositions() -> list[str]:
    """Names of compositions."""
    from softbleu.similarity import COMPOSITIONS

    return list(COMPOSITIONS)


def tokenizers() -> list[str]:
    """Names of tokenizers."""
    from softbleu.tokens import TOKENIZERS

    return list(TOKENIZERS)


def vectors() -> list[str]:
    """Names of bundled vectors."""
    from softbleu.embeddings import bundled_names

    return list(bundled_names())


def smoothings() -> list[str]:
    """Names of smoothings."""
    from softbleu.metrics.bleu import Smoothing

    return list(get_args(Smoothing))


def denominators() -> list[str]:
    """Names of denominators."""
    from softbleu.metrics.bleu import Denominator

    return list(get_args(Denominator))


def presets() -> list[str]:
    """Names of presets."""
    from softbleu.scoring.settings import PRESETS

    return list(PRESETS)


def score_formats() -> list[str]:
    """Names of the formats of scores."""
    from softbleu.report import PAGES, WRITERS

    return [*WRITERS, *PAGES]


def formats() -> list[str]:
    """Names of the formats of tables."""
    from softbleu.report import WRITERS

    return list(WRITERS)


def grammars() -> list[str]:
    """Names of the grammars that travel with the package."""
    from softbleu.corpora.grammar import grammar_names

    return grammar_names()


def compare_formats() -> list[str]:
    """Names of the formats of comparisons."""
    from softbleu.report import COMPARERS

    return list(COMPARERS)


def explain_formats() -> list[str]:
    """Names of the formats of explanations."""
    from softbleu.report import EXPLAINERS

    return list(EXPLAINERS)
