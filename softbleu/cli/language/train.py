"""`softbleu language train`: text in, an n-gram model in ARPA form out."""

from __future__ import annotations

from typing import Annotated

import typer

from softbleu.cli import options as opt

_of = opt.OptionTable("""
Model
  --output -o FILE: Where to write the model, in ARPA form; packed, if the name ends in .gz.
  --order -n N: Words of the longest n-grams, 1 to 5 (default: 3).
  --least-word N: Words seen fewer times are taken for <unk> (default: 1).
  --least-ngram N: N-grams of two words or more that are seen fewer times are left out (default: 1).
""")


def train_language(
    corpus: Annotated[
        list[str],
        typer.Argument(metavar="TEXT...", help="Text files, a segment a line, plain or packed (.gz, .bz2)."),
    ],
    output: Annotated[str, _of("--output")],
    order: Annotated[int, _of("--order")] = 3,
    least_word: Annotated[int, _of("--least-word")] = 1,
    least_ngram: Annotated[int, _of("--least-ngram")] = 1,
    tokenize: opt.Tokenize = None,
    lowercase: opt.Lowercase = None,
    encoding: opt.Encoding = "utf-8",
    output_format: opt.RecordFormat = "text",
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Train an n-gram language model on text of your own, by modified Kneser-Ney smoothing (Chen & Goodman 1998)."""
    from softbleu.cli.output import table_output
    from softbleu.io.files import check_apart
    from softbleu.io.progress import ProgressBar
    from softbleu.io.streams import TextCorpus
    from softbleu.language import train_ngrams, write_arpa
    from softbleu.report import Records
    from softbleu.tokens import Tokenizer

    write = table_output(output_format)
    check_apart(output, corpus)
    splitter = Tokenizer(tokenize or "none", bool(lowercase)).splitter
    with ProgressBar(quiet=quiet, what="training", many=1_000_000) as progress:
        model = train_ngrams(
            TextCorpus(corpus, splitter, encoding),
            order,
            least_word=least_word,
            least_ngram=least_ngram,
            progress=progress,
        )
    write_arpa(model, output)
    rows = [(n, len(table.keys)) for n, table in enumerate(model.tables, start=1)]
    write(Records(("order", "ngrams"), rows, {"model": output}))
