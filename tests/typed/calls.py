"""Calls whose results have types by their texts and metrics."""

from pathlib import Path

import softbleu


def strict_metric(vectors: Path) -> softbleu.Metric:
    """Make a metric with vectors of a file."""
    return softbleu.Vleu(threshold=0.8, vectors=vectors, vector_case="exact", assignment="optimal")


result = softbleu.Chrf().corpus_score(["a cat"], [["a dog", "the dog"]])
number: float = result.score + float(result) + softbleu.Ter().sentence_score("a cat", "a dog").score
one: softbleu.Result = softbleu.score(["a"], ["b"], metrics=softbleu.Bleu(matcher="xleu"), threshold=0.5)
many: softbleu.Results = softbleu.score({"A": ["a"]}, ["b"], metrics="bleu", order=2)
several: softbleu.Results = softbleu.score(iter(["a"]), ["b"], metrics=["bleu", softbleu.Chrf(beta=1.0)])
print(number, one, many, several)
