"""Matchers: how much of a candidate n-gram the references account for."""

from softbleu.matching.matchers import MATCHERS, Matcher, Matches, SoftMatcher, make_matcher

__all__ = ["MATCHERS", "Matcher", "Matches", "SoftMatcher", "make_matcher"]
