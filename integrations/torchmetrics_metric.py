"""torchmetrics 1.9: corpus scores of metrics whose statistics add up (BLEU, chrF, TER), over all processes."""

import torch
from torchmetrics import Metric

import softbleu


class TextScore(Metric):
    def __init__(self, metric):
        super().__init__()
        self.text_metric = softbleu.read_metric(metric)
        self.add_state("sums", torch.tensor(0), dist_reduce_fx="sum")

    def update(self, preds, target):
        scored = self.text_metric.corpus_score(preds, target, level="segment")
        self.sums = self.sums + torch.tensor(sum(scored.statistics))

    def compute(self):
        return torch.tensor(self.text_metric.score(self.sums.numpy(force=True)).score)
