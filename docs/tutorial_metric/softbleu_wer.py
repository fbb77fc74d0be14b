"""Word error rate as a metric of softbleu."""

from softbleu.declare import StringMetric


class WordErrorRate(StringMetric):
    """Least number of words to insert, delete or change for a reference, per word of it."""

    name = "wer"
    higher_is_better = False

    def evaluate(self, candidate, references, source):
        words, *others = map(self.tokenizer.split, [candidate, *references])
        return min((edits(words, other), len(other)) for other in others)


def edits(words, other):
    row = range(len(other) + 1)
    for number, word in enumerate(words, start=1):
        above, row = row, [number]
        for place, wanted in enumerate(other):
            row.append(min(above[place] + (word != wanted), above[place + 1] + 1, row[place] + 1))
    return row[-1]
