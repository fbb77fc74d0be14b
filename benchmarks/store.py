"""A set as large as GoogleNews, made up: converting it, opening the store, scoring with it, beside gensim's loading.

    python benchmarks/store.py                    # 3,000,000 words of 300 dimensions: 3.6 GB, and 1.8 GB for the store
    python benchmarks/store.py --words 300000

Left out where the disk is too small. The words of the WMT13 corpus are among the made-up ones, so that scoring finds
them; the vectors are random.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from run import SHARED, SOFTBLEU, compare, show

DIMENSION = 300
_GENSIM = """
import sys, time
from gensim.models import KeyedVectors
keyed = KeyedVectors.load_word2vec_format(sys.argv[1], binary=True)
print(len(keyed))
"""
_OPEN = """
import sys, time
from softbleu.embeddings import open_vectors
start = time.perf_counter()
source = open_vectors(sys.argv[1])
opened = time.perf_counter() - start
words = [line.rstrip() for line in open(sys.argv[2], encoding="utf-8")]
start = time.perf_counter()
found = source.select(words)
print(f"{opened:.4f} s to open {len(words):,} words: {time.perf_counter() - start:.3f} s to take, {found.known.sum():,} known")
"""


def make_vectors(path: Path, words: list[str], count: int) -> None:
    """Write a word2vec binary file of random vectors, these words spread among made-up ones."""
    generator = np.random.default_rng(2014)
    places = np.sort(generator.choice(count, size=len(words), replace=False))
    with path.open("wb") as handle:
        handle.write(f"{count} {DIMENSION}\n".encode())
        for start in range(0, count, 10_000):
            rows = generator.standard_normal((min(10_000, count - start), DIMENSION), dtype=np.float32)
            names = [f"made_up_{number}" for number in range(start, start + len(rows))]
            for place in range(*np.searchsorted(places, [start, start + len(rows)])):
                names[places[place] - start] = words[place]
            handle.write(
                b"".join(name.encode() + b" " + row.tobytes() + b"\n" for name, row in zip(names, rows, strict=True))
            )


def main(
    words: Annotated[int, typer.Option(help="How many.")] = 3_000_000,
    folder: Annotated[
        Path | None, typer.Option(help="Where to make the files (default: the temporary folder).")
    ] = None,
    gensim: Annotated[bool, typer.Option(help="Load the file with gensim, too.")] = True,
) -> None:
    """Print the tables."""
    candidate, reference = SHARED / "data/morgan2014/umd.2922.txt", SHARED / "data/morgan2014/reference.en"
    if not candidate.exists():
        print("left out: it needs the shared test data")
        return
    place = Path(tempfile.mkdtemp(dir=folder))
    needed = words * DIMENSION * 6
    if shutil.disk_usage(place).free < needed * 1.2:
        print(f"left out: {needed / 1e9:.1f} GB are needed in {place.parent}")
        return
    try:
        text = {word for path in (candidate, reference) for word in path.read_text(encoding="utf-8").split()}
        vectors, store, vocabulary = place / "vectors.bin", place / "store", place / "words.txt"
        vocabulary.write_text("\n".join(sorted(text)), encoding="utf-8")
        make_vectors(vectors, sorted(text), words)
        size = vectors.stat().st_size / 1e6
        softbleu = [sys.executable, "-m", "softbleu"]
        commands = {"embeddings convert": [*softbleu, "embeddings", "convert", str(vectors), str(store), "--force"]}
        if gensim:
            commands["gensim load_word2vec_format"] = [sys.executable, "-c", _GENSIM, str(vectors)]
        entries = compare(commands, 1)
        show(f"{words:,} words, {DIMENSION} dimensions: {size:,.0f} MB", entries)
        print(f"conversion: {size / entries[0].wall:.0f} MB/s\n")
        opening = compare({"open": [sys.executable, "-c", _OPEN, str(store), str(vocabulary)]}, 3)[0]
        print(opening.runs[-1].output)
        score = [*SOFTBLEU, "-c", str(candidate), "-r", str(reference), "--matcher", "vleu", "--threshold", "0.8"]
        scored = compare(
            {
                "VLEU, embedded default": score,
                "VLEU, the store": [*score, "--vectors", str(store)],
                "VLEU, straight from the file": [*score, "--vectors", str(vectors)],
            },
            1,
        )
        show("3,000 pairs, θ 0.8", scored)
        print(f"the store takes {scored[1].megabytes - scored[0].megabytes:.0f} MB more than the default")
    finally:
        shutil.rmtree(place)


if __name__ == "__main__":
    typer.run(main)
