"""`softbleu embeddings neighbours`: the words nearest to a word."""

from __future__ import annotations

from typing import Annotated

import typer

from softbleu.cli import options as opt
from softbleu.cli.embeddings.common import DIGITS, SearchLimit, open_chosen

_of = opt.OptionTable("""
Matching
  --count -k N: Neighbours of each word (default: 10, or all above the threshold).
  --threshold -t X: Only neighbours with a greater similarity.
  --index NAME: How to search: exact, or by the approximate index, hnsw (default: exact).
""")


def neighbours(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="WORD…", help="Words to look up; - or none: read them from standard input, one a line."
        ),
    ] = None,
    vectors: opt.Vectors = None,
    count: Annotated[int | None, _of("--count")] = None,
    threshold: Annotated[float | None, _of("--threshold")] = None,
    index: Annotated[str, _of("--index", ("exact", "hnsw"))] = "exact",
    limit: SearchLimit = None,
    vector_case: opt.WordLookup = None,
    encoding: opt.Encoding = "utf-8",
    output_format: opt.RecordFormat = "text",
    digits: opt.Digits = DIGITS,
    output: opt.Output = None,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Show the words nearest to a word, by the cosine of their vectors."""
    from softbleu.cli.output import STDOUT, table_output
    from softbleu.corpora import read_words
    from softbleu.embeddings.neighbours import nearest_words
    from softbleu.report import Records

    write = table_output(output_format, output, [vectors], digits)
    asked = words if words and words != [STDOUT] else read_words(STDOUT, encoding)
    source, case = open_chosen(vectors, vector_case)
    found = nearest_words(source, asked, count, threshold=threshold, kind=index, limit=limit, case=case)  # type: ignore[arg-type]
    write(Records(["query", "rank", "word", "similarity"], list(found.pairs()), digits=digits))
