"""Cells of a notebook as its author types them: results are numbers, and show themselves as tables."""

import json

import numpy as np

import softbleu

systems = {"one": ["the old man bought the car"], "other": ["the elderly man purchased a truck"]}
references = ["the old man bought a car"]

results = softbleu.score(systems, references, metrics=["bleu", softbleu.Vleu(threshold=0.5)])
one, other, *_ = results
print(f"{one:.2f}", one > other, round(one, 1), [result.name for result in sorted([one, other])])
print(json.dumps(one.to_dict())[:30], float(np.mean([float(one), float(other)])))

print(f"{one - other:+.2f}", (one + other) / 2, sum([one, other]))

metric = softbleu.Vleu(threshold=0.7)
threshold = metric.threshold
order: int = metric.order
print(threshold, order)

table = softbleu.compare({name: texts * 30 for name, texts in systems.items()}, references * 30, metrics="bleu")
print(repr(table).splitlines()[0])
print(softbleu.score(systems["one"], references, metrics="chrf").score)
