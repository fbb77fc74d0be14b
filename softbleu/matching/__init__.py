"""Matchers: how much of a candidate n-gram the references account for."""

from softbleu.matching.base import MATCHERS, Matcher, SoftMatcher, make_matcher
from softbleu.matching.matches import Matches

__all__ = ["MATCHERS", "Matcher", "Matches", "SoftMatcher", "make_matcher"]
