"""Matchers: how much of a candidate n-gram the references account for."""

from __future__ import annotations

from softbleu.matchers.base import MATCHERS, Matcher, Matches, SoftMatcher, make_matcher

__all__ = ["MATCHERS", "Matcher", "Matches", "SoftMatcher", "make_matcher"]
