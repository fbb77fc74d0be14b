"""`softbleu spans`: unmatched words as spans of the outputs."""

from __future__ import annotations

from typing import Literal

from softbleu.cli.command import command, setting
from softbleu.cli.inputs import Scoring
from softbleu.results.explain import unmatched_spans


class SpansOptions(
    Scoring,
    shared="candidates references source gold metrics language preset encoding pairs input_format against resegment "
    "output format digits",
):
    """Options of `spans`.

    Attributes
    ----------
    severity
        Severity of all spans
    least_similarity
        With softbleu and bertscore, which compare all words, a word is matched above this similarity
    """

    severity: Literal["minor", "major"] = setting("minor", panel="Spans", common=True)
    least_similarity: float = setting(0.8, panel="Spans", common=True)


@command
def spans(options: SpansOptions) -> None:
    """List the words that a metric matches with none of the reference, as spans of characters.

    'softbleu metaeval --table spans' compares them with the spans that judges mark.
    """
    output = options.open_output()
    plan = options.plan(one=True)
    with options.open_corpus(plan) as corpus:
        found = unmatched_spans(corpus, plan, severity=options.severity, least_similarity=options.least_similarity)
        output.write(found)
