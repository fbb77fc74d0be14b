"""What is read."""

from __future__ import annotations

from typing import Annotated

import typer

from softbleu.cli.options.panels import INPUT

Candidates = Annotated[
    list[str] | None,
    typer.Option(
        "--candidate",
        "-c",
        metavar="FILE",
        help="Text to score, a segment a line; - is standard input. Repeat it for several systems.",
        rich_help_panel=INPUT,
    ),
]
References = Annotated[
    list[str] | None,
    typer.Option(
        "--reference",
        "-r",
        metavar="FILE",
        help="Reference text, line by line the same segments. Repeat it for several references.",
        rich_help_panel=INPUT,
    ),
]
Pairs = Annotated[
    str | None,
    typer.Option(
        "--pairs",
        metavar="FILE",
        help="Instead: whole segments in one file, as 'candidate ||| reference' lines, .tsv or .jsonl.",
        rich_help_panel=INPUT,
    ),
]
InputFormat = Annotated[
    str | None,
    typer.Option(
        "--input-format",
        metavar="NAME",
        help="Format of the --pairs file: pairs, tsv or jsonl (default: by its suffix).",
        autocompletion=lambda: ["pairs", "tsv", "jsonl"],
        rich_help_panel=INPUT,
    ),
]
Source = Annotated[
    str | None,
    typer.Option(
        "--source",
        metavar="FILE",
        help="Text that was to be corrected, line by line the same segments (for GLEU and the I-measure).",
        rich_help_panel=INPUT,
    ),
]
Gold = Annotated[
    str | None,
    typer.Option(
        "--gold",
        metavar="FILE",
        help="Gold edits (.m2), in the place of references and source; for m2 and imeasure, and others too.",
        rich_help_panel=INPUT,
    ),
]
Encoding = Annotated[
    str,
    typer.Option(
        "--encoding",
        metavar="NAME",
        help="Encoding of the text files (default: utf-8); .gz is recognised.",
        show_default=False,
        rich_help_panel=INPUT,
    ),
]
