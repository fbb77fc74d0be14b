"""`softbleu embeddings convert`: any vectors, or the model of an encoder, in; a store out."""

from __future__ import annotations

from typing import Annotated

import typer

from softbleu.cli import options as opt
from softbleu.cli.embeddings.common import DType, Force, SetLicence, SetName, SetSource

OUTCOMES = ("duplicates", "zero_rows", "damaged_rows", "unusable_words", "passed_over")

_of = opt.OptionTable("""
Encoders
  --layers LIST: Layers to take the mean of, such as 4,6; those above are left out (default: at 3/4 of all, all kept).
Vectors
  --limit N: Only the first N words.
  --vocabulary FILE: Only the words of this file, one a line, spelt as there.
  --keep-lengths: Keep rows as long as they are; else each has length 1.
  --trust: Open a pickle (.kv, .model), which can run any code, because you trust its maker.
""")


def convert(
    source_file: Annotated[
        str,
        typer.Argument(
            metavar="IN",
            help="word2vec (binary or text), GloVe, fastText .vec, or gensim .kv (with --trust), also packed (.gz, "
            ".bz2); or the folder of a model (BERT, DistilBERT, RoBERTa, MPNet), which becomes an encoder.",
        ),
    ],
    target: Annotated[str, typer.Argument(metavar="OUT", help="Folder for the store; it must not exist yet.")],
    dtype: DType = "float16",
    layers: Annotated[str | None, _of("--layers")] = None,
    limit: Annotated[int | None, _of("--limit")] = None,
    vocabulary: Annotated[str | None, _of("--vocabulary")] = None,
    name: SetName = None,
    source: SetSource = None,
    licence: SetLicence = "not stated",
    keep_lengths: Annotated[bool, _of("--keep-lengths")] = False,
    trust: Annotated[bool, _of("--trust")] = False,
    force: Force = False,
    output_format: opt.RecordFormat = "text",
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Convert vectors, or a model for vectors in context, once into a store, of which scoring reads what it needs.

    A file is read in one pass and the store put in its place at the end, complete or not at all.
    """
    from softbleu.cli.output import table_output
    from softbleu.corpora import read_words
    from softbleu.embeddings.convert import convert_vectors
    from softbleu.embeddings.encoders.base import parse_layers
    from softbleu.embeddings.encoders.convert import convert_encoder, is_model
    from softbleu.errors import InputError
    from softbleu.io.files import check_apart
    from softbleu.io.progress import ProgressBar
    from softbleu.report import Records

    write = table_output(output_format)
    check_apart(target, [] if vocabulary is None else [vocabulary])
    # Options of one kind alone.
    vector_options = {"limit": limit, "vocabulary": vocabulary, "keep-lengths": keep_lengths, "trust": trust}
    strange = [each for each, value in vector_options.items() if value] if is_model(source_file) else []
    if strange or (layers is not None and not is_model(source_file)):
        kind = "encoders" if strange else "word vectors"
        raise InputError(f"--{(strange or ['layers'])[0]} means nothing for {kind}: leave it out")
    if is_model(source_file):
        encoder = convert_encoder(
            source_file,
            target,
            layers=None if layers is None else parse_layers(layers),
            dtype=dtype,  # type: ignore[arg-type]
            name=name,
            source=source,
            licence=licence,
            force=force,
        )
        depths = [("kept", encoder.architecture.depth), ("left out", encoder.left_out)]
        chosen = ",".join(map(str, encoder.layers))
        write(Records(("what", "layers"), depths, {"store": target, "dtype": dtype, "recommended": chosen}))
        return
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
    counts = {"kept": done.words, **{kind: getattr(done, kind) for kind in OUTCOMES}}
    rows = [(kind.replace("_", " "), count, done.examples.get(kind)) for kind, count in counts.items()]
    write(Records(("what", "words", "first"), rows, {"store": target, "dtype": dtype}))
