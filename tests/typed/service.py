"""A service that keeps a metric and scores what it is asked for."""

from dataclasses import dataclass, field

import softbleu


@dataclass
class Scorer:
    """Scores of outputs by one metric, made once."""

    metric: softbleu.Metric = field(default_factory=lambda: softbleu.Chrf(word_order=2))

    def rate(self, output: str, references: list[str]) -> float:
        """Return the score of an output, 0 where it cannot be scored."""
        try:
            return self.metric.sentence_score(output, references).score
        except softbleu.InputError:
            return 0.0

    def rate_all(self, outputs: list[str], references: list[str]) -> dict[str, float]:
        """Return the score of all outputs, with the signature it was made by."""
        result = self.metric.corpus_score(outputs, references)
        return {result.signature: float(result)}


def main() -> None:
    scorer = Scorer()
    print(scorer.rate("the cat sat on the mat", ["the cat sat on a mat"]))
    print(scorer.rate_all(["the cat sat"], ["the cat sat"]))


if __name__ == "__main__":
    main()
