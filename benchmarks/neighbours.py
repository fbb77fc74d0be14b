"""Exact neighbours of 1,000 words among 100,000, by softbleu and by gensim word for word, in one process.

    python benchmarks/neighbours.py [--blas-threads N] [--faiss-threads N] [--rounds N]

Building the index counts as softbleu's time; gensim has its lengths ready. Both must find the same words.
"""

from __future__ import annotations

import argparse
import os
import sys
from time import perf_counter

import faiss
import numpy as np
from gensim.models import KeyedVectors
from threadpoolctl import threadpool_limits

from softbleu.embeddings.neighbours import NeighbourIndex

WORDS, DIMENSION, QUERIES, COUNT, CLUSTERS, SEED = 100_000, 300, 1_000, 10, 2_000, 20_140_917


def make_rows() -> np.ndarray:
    """Clusters of uneven size, width and direction, and words of uneven length."""
    generator = np.random.default_rng(SEED)
    centres = generator.normal(size=(CLUSTERS, DIMENSION)).astype(np.float32)
    sizes = 1 / np.arange(1, CLUSTERS + 1)
    owner = generator.choice(CLUSTERS, WORDS, p=sizes / sizes.sum())
    width = generator.uniform(0.3, 1.5, CLUSTERS).astype(np.float32)
    rows = centres[owner] + width[owner, None] * generator.normal(size=(WORDS, DIMENSION)).astype(np.float32)
    return rows * generator.uniform(0.5, 2.0, (WORDS, 1)).astype(np.float32)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    parser.add_argument("--blas-threads", type=int, default=cores, help="of NumPy, for both (default: all cores)")
    parser.add_argument("--faiss-threads", type=int, default=cores, help="of FAISS (default: all cores)")
    parser.add_argument("--rounds", type=int, default=3, help="the best of which counts (default: 3)")
    options = parser.parse_args()

    rows = make_rows()
    queries = np.random.default_rng(SEED + 1).choice(WORDS, QUERIES, replace=False)
    keyed = KeyedVectors(DIMENSION)
    keyed.add_vectors([str(row) for row in range(WORDS)], rows)
    keyed.fill_norms()
    ours, theirs = [], []
    with threadpool_limits(options.blas_threads):
        faiss.omp_set_num_threads(options.faiss_threads)
        for _ in range(options.rounds):
            start = perf_counter()
            graph = NeighbourIndex(rows).nearest(rows[queries], COUNT, queries)
            ours.append(perf_counter() - start)
            start = perf_counter()
            found = [[word for word, _ in keyed.most_similar(str(query), topn=COUNT)] for query in queries]
            theirs.append(perf_counter() - start)
    same = np.array_equal(graph.targets.reshape(QUERIES, COUNT), np.array(found, dtype=np.int64))
    print(f"{QUERIES:,} words among {WORDS:,} x {DIMENSION}, {COUNT} neighbours each, best of {options.rounds}")
    print(f"threads: {options.blas_threads} of BLAS, {options.faiss_threads} of FAISS")
    print(f"softbleu, index included  {min(ours):8.3f} s")
    print(f"gensim most_similar       {min(theirs):8.3f} s")
    print(f"ratio                     {min(theirs) / min(ours):8.1f}")
    print(f"neighbours identical      {'yes' if same else 'no'}")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
