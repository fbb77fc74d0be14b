"""`softbleu embeddings graph`: all words near those of a vocabulary."""

from __future__ import annotations

from typing import Annotated

from softbleu.cli import options as opt
from softbleu.cli.completion import formats
from softbleu.cli.embeddings.common import DIGITS, SearchLimit, open_chosen

_of = opt.OptionTable("""
Input
  --vocabulary FILE: The words to find neighbours of, one a line; - is standard input.
Matching
  --threshold -t X: Pairs must be more similar than this.
""")


def graph(
    vocabulary: Annotated[str, _of("--vocabulary")],
    threshold: Annotated[float, _of("--threshold")],
    vectors: opt.Vectors = None,
    limit: SearchLimit = None,
    vector_case: opt.WordLookup = None,
    encoding: opt.Encoding = "utf-8",
    output_format: Annotated[str, opt.format_option(f"{opt.FORMATS} (default: tsv).", formats)] = "tsv",
    digits: opt.Digits = DIGITS,
    output: opt.Output = None,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Write all pairs of a vocabulary's words and other words more similar than a threshold."""
    from softbleu.cli.errors import say
    from softbleu.cli.output import table_output
    from softbleu.corpora import read_words
    from softbleu.embeddings.neighbours import word_graph
    from softbleu.report import Records

    write = table_output(output_format, output, [vocabulary, vectors], digits)
    words = read_words(vocabulary, encoding)
    source, case = open_chosen(vectors, vector_case)
    found = word_graph(source, words, threshold, limit=limit, case=case)
    if found.unknown and not quiet:
        say(f"{len(found.unknown):,} of {len(found.unknown) + len(found.words):,} words have no vector")
    rows = [(word, neighbour, similarity) for word, _, neighbour, similarity in found.pairs()]
    write(Records(["word", "neighbour", "similarity"], rows, digits=digits))
