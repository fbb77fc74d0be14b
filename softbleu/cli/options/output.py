"""What is written, and how."""

from __future__ import annotations

from typing import Annotated

import typer

from softbleu.cli.completion import compare_formats, explain_formats, formats, score_formats
from softbleu.cli.options.panels import OUTPUT

Format = Annotated[
    str,
    typer.Option(
        "--format",
        "-f",
        metavar="NAME",
        help="Output format: text, json, jsonl, tsv, markdown, latex or html (default: text).",
        show_default=False,
        autocompletion=score_formats,
        rich_help_panel=OUTPUT,
    ),
]
ExplainFormat = Annotated[
    str,
    typer.Option(
        "--format",
        "-f",
        metavar="NAME",
        help="Output format: text, json or jsonl (default: text).",
        show_default=False,
        autocompletion=explain_formats,
        rich_help_panel=OUTPUT,
    ),
]
CompareFormat = Annotated[
    str,
    typer.Option(
        "--format",
        "-f",
        metavar="NAME",
        help="Output format: text, json, tsv, markdown or latex (default: text).",
        show_default=False,
        autocompletion=compare_formats,
        rich_help_panel=OUTPUT,
    ),
]
Digits = Annotated[
    int,
    typer.Option(
        "--digits",
        metavar="N",
        help="Decimals in text, markdown and latex (default: 2); other formats have them all.",
        show_default=False,
        rich_help_panel=OUTPUT,
    ),
]
Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write to this file, complete or not at all (default: standard output).",
        rich_help_panel=OUTPUT,
    ),
]
Jobs = Annotated[
    int,
    typer.Option(
        "--jobs",
        "-j",
        metavar="N",
        help="Processes to use (default: 1); the numbers do not depend on it.",
        show_default=False,
        rich_help_panel=OUTPUT,
    ),
]
Kernels = Annotated[
    str,
    typer.Option(
        "--kernels",
        metavar="NAME",
        help="Compute with numpy or numba; auto takes numba, if installed, for large text (default: auto).",
        show_default=False,
        autocompletion=lambda: ["auto", "numpy", "numba"],
        rich_help_panel=OUTPUT,
    ),
]
RecordFormat = Annotated[
    str,
    typer.Option(
        "--format",
        "-f",
        metavar="NAME",
        help="Output format: text, json, jsonl, tsv, markdown or latex (default: text).",
        show_default=False,
        autocompletion=formats,
        rich_help_panel=OUTPUT,
    ),
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="No notes and no progress on standard error.", rich_help_panel=OUTPUT),
]
Debug = Annotated[bool, typer.Option("--debug", help="Show where an error came from.", rich_help_panel=OUTPUT)]
TableFormat = Annotated[
    str | None,
    typer.Option(
        "--format",
        "-f",
        metavar="NAME",
        help="csv, tsv, json, jsonl, parquet (with --output), text, markdown or latex (default: by the suffix of "
        "--output, else text).",
        show_default=False,
        rich_help_panel=OUTPUT,
    ),
]
