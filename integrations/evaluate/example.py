"""Hugging Face evaluate 0.4.6: a dictionary of numbers, for logs and trackers."""

import evaluate

metric = evaluate.load("integrations/evaluate/softbleu")
outputs, references = ["the cat sat on a mat", "a dog barks"], ["the cat sat on the mat", "the dog barked"]
found = metric.compute(predictions=outputs, references=references, metric="chrf", char_order=2)
print({name: round(number, 2) for name, number in found.items()})
