"""Intervals and tests."""

from __future__ import annotations

from typing import Annotated

import typer

from softbleu.cli.options.panels import TEST

Baseline = Annotated[
    str | None,
    typer.Option(
        "--baseline",
        metavar="NAME",
        help="System the others are tested against (default: the first).",
        rich_help_panel=TEST,
    ),
]
Test = Annotated[
    str,
    typer.Option(
        "--test",
        metavar="NAME",
        help="bootstrap (paired) or randomization (approximate) (default: bootstrap).",
        show_default=False,
        autocompletion=lambda: ["bootstrap", "randomization"],
        rich_help_panel=TEST,
    ),
]
Samples = Annotated[
    int,
    typer.Option(
        "--samples",
        metavar="N",
        help="Bootstrap samples, also for the intervals (default: 1000).",
        show_default=False,
        rich_help_panel=TEST,
    ),
]
Trials = Annotated[
    int,
    typer.Option(
        "--trials",
        metavar="N",
        help="Trials of the randomization test (default: 10000).",
        show_default=False,
        rich_help_panel=TEST,
    ),
]
TestSeed = Annotated[
    int,
    typer.Option(
        "--test-seed",
        metavar="N",
        help="Seed of the test (default: 12345).",
        show_default=False,
        rich_help_panel=TEST,
    ),
]
Distribution = Annotated[
    str | None,
    typer.Option(
        "--distribution",
        metavar="FILE",
        help="Write the bootstrap scores of every system to this TSV file.",
        rich_help_panel=TEST,
    ),
]
