"""Hugging Face evaluate 0.4.6: a dictionary of numbers, for logs and trackers."""

import evaluate

metric = evaluate.load("integrations/evaluate/softbleu")
outputs = ["the cat sat on a mat", "a dog barks"]
references = [["the cat sat on the mat", "a cat sat"], ["the dog barked"]]
found = metric.compute(predictions=outputs, references=references, metric="chrf")
print(found["score"], found["precisions_1"])
