"""METEOR 1.5: words aligned with those of a reference, exactly, by stem, synonym or paraphrase."""

from softbleu.metrics.meteor.metric import Meteor, MeteorScore

__all__ = ["Meteor", "MeteorScore"]
