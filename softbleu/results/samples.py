"""The bundled samples, and what a look at some lines says of a corpus."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from softbleu.corpora import ParallelFiles
from softbleu.errors import InputError
from softbleu.io.resources import find_resource

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Corpus
    from softbleu.metrics.base import Metric

TRANSLATION = {"candidates": ["candidate.en"], "references": ["reference.en", "reference2.en"]}
CORRECTION = {"candidates": ["corrected.en"], "references": [], "gold": "gold.m2"}
"""For metrics that need no more than references, and for those that need a source or edits."""
LEAST_LINES = 20  # Fewer lines do not tell whether a text was tokenised
_TOKENISED = (" .", " ,", " !", " ?")


@contextmanager
def open_sample(metrics: Sequence[Metric] = ()) -> Iterator[Corpus]:
    """Open the sample that has what all metrics need."""
    folder = find_resource("corpora", "samples")
    if folder is None:
        raise InputError("no input given, and this installation lacks the sample corpus: use -c and -r")
    needs = [metric.requires for metric in metrics]
    sample = CORRECTION if any(each.source or each.gold for each in needs) else TRANSLATION
    files: dict[str, Any] = {
        role: str(folder / names) if isinstance(names, str) else [str(folder / name) for name in names]
        for role, names in sample.items()
    }
    with ParallelFiles.open(**files) as corpus:
        yield corpus


def note_tokens(corpus: Corpus, metrics: Sequence[Metric]) -> str | None:
    """Say so where text seems to have been tokenised before it is tokenised once more, as sacrebleu does."""
    again = sorted({each.tokenizer.tokenize for each in metrics} - {"none", "char", "char+space"})
    first = next(corpus.blocks()).load().candidates if again else {}
    for system, lines in first.items():
        if 2 * sum(line.rstrip().endswith(_TOKENISED) for line in lines) > max(len(lines), LEAST_LINES):
            return (
                f"most lines of {system} end in a mark that stands alone, as in tokenised text, and are tokenised "
                f"again ({', '.join(again)}): give the text as it was, or --tokenize none"
            )
    return None
