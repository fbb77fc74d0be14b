"""What may match, and how alike it must be."""

from __future__ import annotations

from typing import Annotated

import typer

from softbleu.cli.completion import compositions, matchers, vectors
from softbleu.cli.options.panels import MATCHING

Matcher = Annotated[
    str | None,
    typer.Option(
        "--matcher",
        "-m",
        metavar="NAME",
        help="What may match: exact (BLEU), sleu (similar words), vleu (similar n-grams), xleu (n-grams of any "
        "orders), or that of a plug-in (default: exact).",
        autocompletion=matchers,
        rich_help_panel=MATCHING,
    ),
]
Threshold = Annotated[
    str | None,
    typer.Option(
        "--threshold",
        "-t",
        metavar="0..1|pX",
        help="A similarity must be greater than this to count, or than X percent of random pairs of words reach with "
        "these vectors, e.g. p99.9 (default: 0).",
        rich_help_panel=MATCHING,
    ),
]
Vectors = Annotated[
    str | None,
    typer.Option(
        "--vectors",
        metavar="PATH|NAME",
        help="Word vectors: a store, a word2vec, GloVe or fastText file, or a known set; ONE+OTHER joins two "
        "(default: glove-6b-100d).",
        autocompletion=vectors,
        rich_help_panel=MATCHING,
    ),
]
VectorCase = Annotated[
    str | None,
    typer.Option(
        "--vector-case",
        metavar="NAME",
        help="Look words up as written only (exact), or also in lower case (default: fallback).",
        autocompletion=lambda: ["exact", "fallback"],
        rich_help_panel=MATCHING,
    ),
]
Similarity = Annotated[
    str | None,
    typer.Option(
        "--similarity",
        metavar="NAME",
        help="Compare words by cosine, or by csls, which takes from words that are near to everything "
        "(default: cosine).",
        autocompletion=lambda: ["cosine", "csls"],
        rich_help_panel=MATCHING,
    ),
]
Postprocess = Annotated[
    str | None,
    typer.Option(
        "--vectors-postprocess",
        metavar="LIST",
        help="Remove from the vectors what they have in common: mean, pc:N (N components) or mean,pc:N "
        "(default: none).",
        autocompletion=lambda: ["none", "mean", "pc:2", "mean,pc:2"],
        rich_help_panel=MATCHING,
    ),
]
Neighbours = Annotated[
    int | None,
    typer.Option(
        "--neighbours",
        metavar="K",
        help="Let a word meet only words that are among its K nearest, or it among theirs (default: any).",
        rich_help_panel=MATCHING,
    ),
]
Mutual = Annotated[
    bool | None,
    typer.Option(
        "--mutual",
        help="With --neighbours: only if each is among the K nearest of the other.",
        show_default=False,
        rich_help_panel=MATCHING,
    ),
]
FunctionWords = Annotated[
    str | None,
    typer.Option(
        "--function-words",
        metavar="NAME",
        help="Let English function words match others (soft), or only themselves (exact) (default: soft).",
        autocompletion=lambda: ["soft", "exact"],
        rich_help_panel=MATCHING,
    ),
]
Assignment = Annotated[
    str | None,
    typer.Option(
        "--assignment",
        metavar="NAME",
        help="Order in which matches are made: exact-first, sequential or optimal (default: exact-first).",
        autocompletion=lambda: ["exact-first", "sequential", "optimal"],
        rich_help_panel=MATCHING,
    ),
]
Consumption = Annotated[
    str | None,
    typer.Option(
        "--consumption",
        metavar="NAME",
        help="What an approximate match uses up: one instance (unit) or its similarity (default: unit).",
        autocompletion=lambda: ["unit", "similarity"],
        rich_help_panel=MATCHING,
    ),
]
Composition = Annotated[
    str | None,
    typer.Option(
        "--composition",
        metavar="NAME",
        help="How n-grams are compared: by mean vectors (mean), the same with rare words weighing more (sif), or "
        "word by word (aligned) (default: mean).",
        autocompletion=compositions,
        rich_help_panel=MATCHING,
    ),
]
