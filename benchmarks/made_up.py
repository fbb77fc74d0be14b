"""A made-up corpus of any size: lines of 10 to 30 words, of 20,000 that have vectors; hardly a line comes twice.

python benchmarks/made_up.py FOLDER PAIRS
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from softbleu.embeddings import open_vectors

WORDS, PAIRS_AT_ONCE = 20_000, 50_000


def make_corpus(folder: Path, pairs: int, references: int = 1, seed: int = 16) -> list[Path]:
    """Write a candidate and so many references, which share seven of ten words with it; what is there is kept."""
    size = pairs if references == 1 else f"{pairs}x{references}"
    paths = [folder / f"made-up-{size}.{name}.txt" for name in ("candidate", *range(references))]
    if all(path.exists() for path in paths):
        return paths
    draw = np.random.default_rng(seed)
    known, _ = open_vectors("glove-6b-100d").head()
    words = np.array([word for word in known if word.isalpha()][:WORDS], dtype=object)
    # A word of rank r is drawn in proportion to 1 / (r + 3), as in running text.
    shares = 1 / (np.arange(len(words)) + 3)
    bounds = np.cumsum(shares / shares.sum())
    files = [path.open("w", encoding="utf-8") for path in paths]
    for start in range(0, pairs, PAIRS_AT_ONCE):
        lengths = draw.integers(10, 31, min(PAIRS_AT_ONCE, pairs - start))
        ends = np.cumsum(lengths)
        first = np.minimum(np.searchsorted(bounds, draw.random(ends[-1])), len(words) - 1)
        for file in files:
            other = np.minimum(np.searchsorted(bounds, draw.random(ends[-1])), len(words) - 1)
            text = words[np.where(draw.random(ends[-1]) < 0.7, first, other)]
            file.write("".join(" ".join(line) + " .\n" for line in np.split(text, ends[:-1])))
    for file in files:
        file.close()
    return paths


if __name__ == "__main__":
    print(*make_corpus(Path(sys.argv[1]), int(sys.argv[2])))
