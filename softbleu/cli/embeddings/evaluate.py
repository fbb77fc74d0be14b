"""`softbleu embeddings evaluate`: how good vectors are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from softbleu.cli import options as opt

if TYPE_CHECKING:
    from softbleu.embeddings.evaluation import Evaluation
    from softbleu.report import Records

Corpus = Annotated[
    list[str] | None,
    typer.Option(
        "--corpus",
        metavar="FILE",
        help="Text whose coverage is measured, plain or packed (.gz, .bz2). Repeat it for several.",
        rich_help_panel=opt.INPUT,
    ),
]
Missing = Annotated[
    int,
    typer.Option(
        "--missing",
        metavar="N",
        help="Show so many words, or pairs, without a vector (default: 5).",
        show_default=False,
        rich_help_panel=opt.OUTPUT,
    ),
]
SHARE_DIGITS = 4


def evaluate(
    vectors: opt.Vectors = None,
    vector_case: opt.VectorCase = None,
    corpus: Corpus = None,
    encoding: opt.Encoding = "utf-8",
    tokenize: opt.Tokenize = None,
    lowercase: opt.Lowercase = None,
    missing: Missing = 5,
    output_format: opt.RecordFormat = "text",
    output: opt.Output = None,
    debug: opt.Debug = False,
) -> None:
    """Measure how well cosines agree with people's judgements, and how much of a text has a vector.

    The judgements are WordSim-353 and SimLex-999; the correlation is Spearman's, over the pairs with both words.
    """
    from softbleu.cli.output import Output
    from softbleu.embeddings import DEFAULT_VECTORS, open_vectors
    from softbleu.embeddings.evaluation import evaluate_vectors
    from softbleu.embeddings.training_corpus import TextCorpus
    from softbleu.errors import InputError, UnknownNameError
    from softbleu.report import RECORD_WRITERS, Layout
    from softbleu.tokens import Tokenizer

    write = RECORD_WRITERS.find(output_format)
    case = vector_case or "fallback"
    if case not in ("exact", "fallback"):
        raise UnknownNameError("vector case", case, ("exact", "fallback"))
    if missing < 0:
        raise InputError(f"--missing must be at least 0, not {missing}")
    target = Output.of(output, [*(corpus or []), vectors])
    split = Tokenizer(tokenize or "none", bool(lowercase)).splitter
    texts = {name: TextCorpus([name], split, encoding) for name in corpus or []}
    evaluation = evaluate_vectors(open_vectors(vectors or DEFAULT_VECTORS), texts, case)  # type: ignore[arg-type]
    target.write(write(records_of(evaluation, missing), Layout(colour=target.colours)))


def records_of(evaluation: Evaluation, most_missing: int) -> Records:
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
    facts: dict[str, Any] = {
        "vectors": evaluation.name,
        "dimension": evaluation.dimension,
        "sha256": evaluation.fingerprint,
    }
    columns = ("of", "measure", "without_a_vector", "value", "found", "all")
    return Records(columns, rows, facts, digits=SHARE_DIGITS)
