"""`softbleu embeddings convert`: any vectors in, a store out."""

from __future__ import annotations

from typing import Annotated

import typer

from softbleu.cli import options as opt

Input = Annotated[
    str,
    typer.Argument(
        metavar="IN",
        help="word2vec (binary or text), GloVe, fastText .vec, or gensim .kv (with --trust); packed (.gz, .bz2) too.",
    ),
]
Target = Annotated[str, typer.Argument(metavar="OUT", help="Folder for the store; it must not exist yet.")]
DType = Annotated[
    str,
    typer.Option(
        "--dtype",
        metavar="NAME",
        help="Keep values as float32, float16 or int8: 4, 2 or 1 bytes each (default: float16).",
        show_default=False,
        autocompletion=lambda: ["float16", "float32", "int8"],
    ),
]
Limit = Annotated[int | None, typer.Option("--limit", metavar="N", help="Only the first N words.")]
Vocabulary = Annotated[
    str | None,
    typer.Option("--vocabulary", metavar="FILE", help="Only the words of this file, one a line, spelt as there."),
]
Name = Annotated[
    str | None, typer.Option("--name", metavar="NAME", help="What to call the set (default: as the folder).")
]
SourceText = Annotated[
    str | None, typer.Option("--source", metavar="TEXT", help="Where the vectors come from (default: the file name).")
]
Licence = Annotated[
    str,
    typer.Option("--licence", metavar="TEXT", help="Their licence (default: not stated).", show_default=False),
]
KeepLengths = Annotated[
    bool, typer.Option("--keep-lengths", help="Keep rows as long as they are; else each has length 1.")
]
Trust = Annotated[
    bool,
    typer.Option("--trust", help="Open a pickle (.kv, .model), which can run any code, because you trust its maker."),
]
Force = Annotated[bool, typer.Option("--force", help="Replace a store that is there already.")]


def convert(
    source_file: Input,
    target: Target,
    dtype: DType = "float16",
    limit: Limit = None,
    vocabulary: Vocabulary = None,
    name: Name = None,
    source: SourceText = None,
    licence: Licence = "not stated",
    keep_lengths: KeepLengths = False,
    trust: Trust = False,
    force: Force = False,
    output_format: opt.RecordFormat = "text",
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Convert vectors once into a store, of which scoring reads only what it needs.

    The file is read in one pass and the store put in its place at the end, complete or not at all.
    """
    from softbleu.cli.output import Output, find_table_format
    from softbleu.cli.progress import ProgressBar
    from softbleu.corpora import read_words
    from softbleu.embeddings.convert import convert_vectors
    from softbleu.files import check_apart
    from softbleu.report import Layout, Records

    write = find_table_format(output_format, Output())
    if vocabulary is not None:
        check_apart(target, [vocabulary])
    words = None if vocabulary is None else read_words(vocabulary)
    with ProgressBar(quiet=quiet, what="converting", many=1 << 26) as progress:
        done = convert_vectors(
            source_file,
            target,
            dtype=dtype,  # type: ignore[arg-type]
            normalize=not keep_lengths,
            limit=limit,
            vocabulary=words,
            name=name,
            source=source,
            licence=licence,
            trust=trust,
            force=force,
            progress=progress,
        )
    columns = ("what", "words", "first")
    names = ("duplicates", "zero_rows", "damaged_rows", "unusable_words", "passed_over")
    counts = {"kept": done.words, **{name: getattr(done, name) for name in names}}
    rows = [(kind.replace("_", " "), count, done.examples.get(kind)) for kind, count in counts.items()]
    Output().write(write(Records(columns, rows, {"store": target, "dtype": dtype}), Layout()))
