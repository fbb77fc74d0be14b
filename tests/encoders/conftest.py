"""Conversions here measure a few random pairs only."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _few_pairs_of_words_in_context(monkeypatch):
    monkeypatch.setattr("softbleu.encoders.contexts.PAIRS", 100)
