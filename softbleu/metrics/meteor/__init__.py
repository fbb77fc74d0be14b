"""METEOR 1.5: words aligned with those of a reference, exactly, by stem, synonym or paraphrase."""

from __future__ import annotations

from softbleu.metrics.meteor.metric import Meteor, MeteorScore

__all__ = ["Meteor", "MeteorScore"]
