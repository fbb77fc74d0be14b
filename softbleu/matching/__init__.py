"""Matchers: the share of each candidate n-gram that references account for."""

from softbleu.matching.matchers import MATCHERS, Matcher, Matches, SoftMatcher, make_matcher

__all__ = ["MATCHERS", "Matcher", "Matches", "SoftMatcher", "make_matcher"]
