"""Options that several commands about networks have."""

from __future__ import annotations

from typing import Annotated

import typer

from softbleu.cli import options as opt

_of = opt.OptionTable("""
  --notation NAME: How the file has its networks: network (as make writes them), brackets, att (OpenFst's
    text) (default: network).
  --line N: Which network of the file, from 1 (default: 1).
""")

NetworkFile = Annotated[str, typer.Argument(metavar="FILE", help="Networks, one a line; or AT&T text.")]
Notation = Annotated[str, _of("--notation", ("network", "brackets", "att"))]
Line = Annotated[int, _of("--line")]
