"""`softbleu embeddings evaluate`: how good vectors are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from softbleu.cli.command import Given, command
from softbleu.cli.embeddings.common import DIGITS, open_chosen

if TYPE_CHECKING:
    from softbleu.embeddings.evaluation import Evaluation
    from softbleu.report import Records


@command(
    "vectors vector_case corpus encoding tokenize lowercase missing format=text output",
    """
Input
  --corpus FILE…: Texts whose coverage is measured, plain or packed (.gz, .bz2).
Output
  --missing N =5: Show so many words, or pairs, without a vector (default: =).
""",
)
def evaluate(given: Given) -> None:
    """Measure how well cosines agree with people's judgements, and how much of a text has a vector.

    The judgements are WordSim-353 and SimLex-999; the correlation is Spearman's, over the pairs with both words.
    """
    from softbleu.cli.output import open_table
    from softbleu.embeddings.evaluation import evaluate_vectors
    from softbleu.errors import InputError
    from softbleu.text_corpus import TextCorpus

    if given.missing < 0:
        raise InputError(f"--missing must be at least 0, not {given.missing}")
    names = given.files("corpus")
    output = open_table(given, [*names, given.vectors])
    source, case = open_chosen(given)
    split = given.tokenizer().splitter
    texts = {name: TextCorpus([name], split, given.encoding) for name in names}
    output.write(evaluation_records(evaluate_vectors(source, texts, case), given.missing))


def evaluation_records(evaluation: Evaluation, most_missing: int) -> Records:
    """Make a table of an evaluation: correlations first, then shares of tokens and of different words."""
    from softbleu.report import Records

    rows: list[tuple[str, str, str | None, float | None, int, int]] = []
    for name, found in evaluation.agreements.items():
        absent = ", ".join(found.missing[:most_missing]) or None
        rows.append((name, "spearman", absent, found.spearman, found.pairs, found.pairs + len(found.missing)))
    for name, text in evaluation.coverages.items():
        often = ", ".join(f"{word} {count}" for word, count in text.missing.most_common(most_missing)) or None
        rows.append((name, "tokens", often, text.share, text.covered, text.tokens))
        rows.append((name, "words", None, text.type_share, text.covered_types, text.types))
    facts: dict[str, str | int] = {
        "vectors": evaluation.name,
        "dimension": evaluation.dimension,
        "sha256": evaluation.fingerprint,
    }
    columns = ("of", "measure", "without_a_vector", "value", "found", "all")
    return Records(columns, rows, facts, digits=DIGITS)
