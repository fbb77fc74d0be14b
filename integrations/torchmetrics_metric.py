"""torchmetrics 1.9: corpus scores of metrics whose statistics add up (BLEU, chrF, TER), over all processes."""

import torch
from torchmetrics import Metric

import softbleu


class TextScore(Metric):
    def __init__(self, metric):
        super().__init__()
        self.text_metric = softbleu.read_metric(metric)
        if reason := softbleu.Accumulator(self.text_metric).why:
            raise ValueError(f"{self.text_metric} needs more than sums: {reason}")
        self.add_state("sums", 0 * self.sums_of(["a"], ["a"]), dist_reduce_fx="sum")

    def sums_of(self, preds, target):
        return torch.tensor(
            sum(self.text_metric.corpus_score(preds, target, level="segment").statistics), device=self.device
        )

    def update(self, preds, target):
        self.sums = self.sums + self.sums_of(preds, target)

    def compute(self):
        return torch.tensor(self.text_metric.score(self.sums.numpy(force=True)).score)
