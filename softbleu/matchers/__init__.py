"""Matchers: how much of a candidate n-gram the references account for."""

from softbleu.matchers.base import MATCHERS, Matcher, SoftMatcher, make_matcher
from softbleu.matchers.matches import Matches

__all__ = ["MATCHERS", "Matcher", "Matches", "SoftMatcher", "make_matcher"]
