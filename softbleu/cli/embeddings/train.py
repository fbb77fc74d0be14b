"""`softbleu embeddings train`: text in, a store of word vectors out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from softbleu.cli import options as opt
from softbleu.cli.embeddings.common import DIGITS, DType, Force, SetLicence, SetName, SetSource
from softbleu.cli.settings import takes_settings_of

if TYPE_CHECKING:
    from softbleu.declare import Declared


def _settings() -> type[Declared]:
    from softbleu.embeddings.training import TrainingSettings

    return TrainingSettings


@takes_settings_of(_settings, "Training")
def train(
    ctx: typer.Context,
    corpus: Annotated[
        list[str],
        typer.Argument(metavar="CORPUS...", help="Text files, a segment a line, plain or packed (.gz, .bz2)."),
    ],
    directory: Annotated[str, opt.option("Folder for the store.", "--output", "-o", panel="Store", metavar="DIR")],
    tokenize: opt.Tokenize = None,
    lowercase: opt.Lowercase = None,
    encoding: opt.Encoding = "utf-8",
    dtype: DType = "float16",
    name: SetName = None,
    source: SetSource = None,
    licence: SetLicence = "not stated",
    force: Force = False,
    output_format: opt.RecordFormat = "text",
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Train word vectors on text of your own, and measure them.

    The text is read anew for each epoch, never held in memory. The folder gets the vectors, and card.md, which says
    what they are made of and how well they agree with people.
    """
    from softbleu.cli.output import table_output
    from softbleu.embeddings.training import TrainingSettings, train_vectors
    from softbleu.io.progress import ProgressBar
    from softbleu.io.streams import TextCorpus
    from softbleu.report import Records
    from softbleu.tokens import Tokenizer

    write = table_output(output_format)
    settings = TrainingSettings().revised({key: value for key, value in ctx.params.items() if value is not None})
    tokenizer = Tokenizer(tokenize or "none", bool(lowercase))
    tokenization = {"tokenizer": tokenizer.tokenize, "lowercase": tokenizer.lowercase}
    with ProgressBar(quiet=quiet, what="training", many=1_000_000) as progress:
        training = train_vectors(
            TextCorpus(corpus, tokenizer.splitter, encoding),
            directory,
            settings,
            dtype=dtype,  # type: ignore[arg-type]
            name=name,
            source=source,
            licence=licence,
            force=force,
            progress=progress,
            tokenization=tokenization,
            card={"trained on": source or ", ".join(corpus), "licence": licence},
        )
    measured = training.evaluation.agreements if training.evaluation else {}
    rows = [(key, f.spearman, f.pairs, len(f.missing)) for key, f in measured.items()]
    columns = ("judgements", "spearman", "pairs", "missing_pairs")
    write(
        Records(
            columns, rows, {"store": directory, **training.counts(), "sha256": training.fingerprint}, digits=DIGITS
        )
    )
