"""lighteval 0.13: chrF of all outputs with their references, for `metrics=[chrf]` of a task."""

from lighteval.metrics.metrics_corpus import CorpusLevelComputation
from lighteval.metrics.sample_preparator import GenerativePreparator
from lighteval.metrics.utils.metric_utils import CorpusLevelMetric, SamplingMethod

import softbleu


class Corpus(CorpusLevelComputation):
    def compute_corpus(self, items):
        return float(softbleu.Chrf().corpus_score([item.preds[0] for item in items], [item.golds for item in items]))


chrf = CorpusLevelMetric("chrf", True, SamplingMethod.GENERATIVE, GenerativePreparator(), Corpus())
