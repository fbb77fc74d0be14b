"""Matchers: how much of a candidate n-gram the references account for."""

from __future__ import annotations

from softbleu.matchers.base import Matcher, SoftMatcher
from softbleu.matchers.matches import Matches
from softbleu.matchers.registry import make_matcher, matcher_names

__all__ = ["Matcher", "Matches", "SoftMatcher", "make_matcher", "matcher_names"]
