"""`softbleu embeddings train`: text in, a store of word vectors out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from softbleu.cli import options as opt

if TYPE_CHECKING:
    from softbleu.embeddings.evaluation import Evaluation
    from softbleu.embeddings.training import Training

TRAINING = "Training"
STORE = "Store"


def _option(name: str, metavar: str, text: str, panel: str = TRAINING, names: tuple[str, ...] = ()) -> Any:
    return typer.Option(
        name,
        metavar=metavar,
        help=text,
        show_default=False,
        rich_help_panel=panel,
        autocompletion=(lambda: list(names)) if names else None,
    )


Corpus = Annotated[
    list[str],
    typer.Argument(metavar="CORPUS...", help="Text files, a segment a line, plain or packed (.gz, .bz2)."),
]
Target = Annotated[
    str, typer.Option("--output", "-o", metavar="DIR", help="Folder for the store.", rich_help_panel=STORE)
]
_algorithms, _architectures = ("word2vec", "fasttext"), ("skipgram", "cbow")
_dtypes = ("float16", "float32", "int8")
Algorithm = Annotated[
    str | None, _option("--algorithm", "NAME", "word2vec or fasttext (default: word2vec).", names=_algorithms)
]
Architecture = Annotated[
    str | None, _option("--architecture", "NAME", "skipgram or cbow (default: skipgram).", names=_architectures)
]
Dimension = Annotated[int | None, _option("--dimension", "N", "Length of each vector (default: 100).")]
Window = Annotated[int | None, _option("--window", "N", "Most tokens between word and context (default: 5).")]
MinCount = Annotated[int | None, _option("--min-count", "N", "Rarer words get no vector (default: 5).")]
Epochs = Annotated[int | None, _option("--epochs", "N", "How often the text is gone through (default: 5).")]
Negative = Annotated[int | None, _option("--negative", "N", "Noise words for each true one; 0: none (default: 5).")]
Hierarchical = Annotated[
    bool | None,
    typer.Option(
        "--hierarchical-softmax",
        help="Train by hierarchical softmax, too.",
        show_default=False,
        rich_help_panel=TRAINING,
    ),
]
Sample = Annotated[
    float | None, _option("--sample", "X", "Leave out words above this frequency at random (default: 0.001).")
]
Alpha = Annotated[float | None, _option("--alpha", "X", "First learning rate (default: 0.025).")]
MinAlpha = Annotated[float | None, _option("--min-alpha", "X", "Last learning rate (default: 0.0001).")]
MinNgram = Annotated[int | None, _option("--min-ngram", "N", "fasttext: shortest character n-gram (default: 3).")]
MaxNgram = Annotated[int | None, _option("--max-ngram", "N", "fasttext: longest character n-gram (default: 6).")]
Bucket = Annotated[
    int | None, _option("--bucket", "N", "fasttext: vectors that n-grams share, 4 N D bytes (default: 2000000).")
]
Seed = Annotated[int | None, _option("--seed", "N", "Seed; one worker repeats itself exactly (default: 1).")]
Workers = Annotated[int | None, _option("--workers", "N", "Threads; with more than one, results vary (default: 1).")]
DType = Annotated[
    str,
    _option("--dtype", "NAME", "Keep values as float16, float32 or int8 (default: float16).", STORE, names=_dtypes),
]
Name = Annotated[str | None, _option("--name", "NAME", "What to call the set (default: as the folder).", STORE)]
SourceText = Annotated[
    str | None, _option("--source", "TEXT", "What text it comes from (default: the file names).", STORE)
]
Licence = Annotated[str, _option("--licence", "TEXT", "Its licence (default: not stated).", STORE)]
Force = Annotated[bool, typer.Option("--force", help="Replace a store that is there already.", rich_help_panel=STORE)]


def train(
    ctx: typer.Context,
    corpus: Corpus,
    directory: Target,
    algorithm: Algorithm = None,
    architecture: Architecture = None,
    dimension: Dimension = None,
    window: Window = None,
    min_count: MinCount = None,
    epochs: Epochs = None,
    negative: Negative = None,
    hierarchical_softmax: Hierarchical = None,
    sample: Sample = None,
    alpha: Alpha = None,
    min_alpha: MinAlpha = None,
    min_ngram: MinNgram = None,
    max_ngram: MaxNgram = None,
    bucket: Bucket = None,
    seed: Seed = None,
    workers: Workers = None,
    tokenize: opt.Tokenize = None,
    lowercase: opt.Lowercase = None,
    encoding: opt.Encoding = "utf-8",
    dtype: DType = "float16",
    name: Name = None,
    source: SourceText = None,
    licence: Licence = "not stated",
    force: Force = False,
    output_format: opt.RecordFormat = "text",
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Train word vectors on text of your own, and measure them.

    The text is read anew for each epoch, never held in memory. The folder gets the vectors, and card.md, which says
    what they are made of and how well they agree with people.
    """
    from dataclasses import asdict, fields

    from softbleu.cli.output import Output, find_table_format
    from softbleu.cli.progress import ProgressBar
    from softbleu.embeddings import open_vectors
    from softbleu.embeddings.evaluation import evaluate_vectors, evaluation_card
    from softbleu.embeddings.training import TrainingSettings, train_vectors
    from softbleu.embeddings.training_corpus import TextCorpus
    from softbleu.report import Layout
    from softbleu.tokens import Tokenizer

    write = find_table_format(output_format, Output())
    given = {field.name: ctx.params[field.name] for field in fields(TrainingSettings)}
    settings = TrainingSettings(**{name: value for name, value in given.items() if value is not None})
    tokenizer = Tokenizer(tokenize or "none", bool(lowercase))
    files = list(corpus)
    text = TextCorpus(files, tokenizer.splitter, encoding)
    with ProgressBar(quiet=quiet, what="training", many=1_000_000) as progress:
        training = train_vectors(
            text,
            directory,
            settings,
            dtype=dtype,  # type: ignore[arg-type]
            name=name,
            source=source,
            licence=licence,
            force=force,
            progress=progress,
            tokenization={"tokenizer": tokenizer.name, "lowercase": tokenizer.lowercase},
        )
    evaluation = evaluate_vectors(open_vectors(directory))
    facts = {"trained on": source or ", ".join(files), "licence": licence, **_counts(training)}
    shown = {key.replace("_", " "): value for key, value in asdict(settings).items()}
    card = evaluation_card(
        evaluation, {**facts, "tokenizer": tokenizer.name, "lowercase": tokenizer.lowercase, **shown}
    )
    Output.of(str(Path(directory, "card.md"))).write([card])
    Output().write(write(_records(directory, training, evaluation), Layout()))


def _counts(training: Training) -> dict[str, int]:
    from dataclasses import asdict

    return {key.replace("_", " "): count for key, count in asdict(training).items() if key != "fingerprint"}


def _records(directory: str, training: Training, evaluation: Evaluation) -> Any:
    from softbleu.cli.embeddings.evaluate import SHARE_DIGITS
    from softbleu.report import Records

    rows = [(name, f.spearman, f.pairs, len(f.missing)) for name, f in evaluation.agreements.items()]
    counts = {key.replace(" ", "_"): count for key, count in _counts(training).items()}
    facts: dict[str, Any] = {"store": directory, **counts, "sha256": training.fingerprint}
    return Records(("judgements", "spearman", "pairs", "missing_pairs"), rows, facts, digits=SHARE_DIGITS)
