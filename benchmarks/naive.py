"""VLEU and XLEU as one would write them in an afternoon: NumPy, dictionaries and a loop.

The baseline of the speed ratios: one reference, orders 1 to 4, exact matches first, each takes one instance.
Every unknown token of a segment gets a dimension of its own, so that it matches itself only. Similarities are
float32, so where two n-grams are equally alike the choice, and with it the last digits, may differ.

    python benchmarks/naive.py CANDIDATE REFERENCE VECTORS.bin --matcher xleu --threshold 0.8
"""

from __future__ import annotations

import math
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from gensim.models import KeyedVectors
from numpy.typing import NDArray

NGram = tuple[str, ...]
Vectors = NDArray[np.float32]

ORDER = 4


class Matcher(StrEnum):
    vleu = "vleu"
    xleu = "xleu"


def unit(rows: Vectors) -> Vectors:
    """Scale every row to length one; zero rows stay zero."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0)


def token_vectors(tokens: list[str], embeddings: KeyedVectors) -> Vectors:
    """Unit vector of each token, found as written or lower-cased; one further dimension per unknown token."""
    spellings = [next((s for s in (t, t.lower()) if s in embeddings.key_to_index), None) for t in tokens]
    unknown = dict.fromkeys(t for t, known in zip(tokens, spellings, strict=True) if known is None)
    dimension = {token: embeddings.vector_size + index for index, token in enumerate(unknown)}
    rows = np.zeros((len(tokens), embeddings.vector_size + len(unknown)), dtype=np.float32)
    for row, token, known in zip(rows, tokens, spellings, strict=True):
        if known is None:
            row[dimension[token]] = 1
        else:
            row[: embeddings.vector_size] = embeddings[known]
    return unit(rows)


def ngrams(tokens: list[str], order: int) -> list[NGram]:
    return [tuple(tokens[start : start + order]) for start in range(len(tokens) - order + 1)]


def ngram_vectors(rows: Vectors, order: int, plain: bool) -> Vectors:
    """Average every window of ``order`` token vectors and scale to length one."""
    count = max(0, len(rows) - order + 1)
    if plain and count:
        return unit(np.array([np.mean(rows[start : start + order], axis=0) for start in range(count)]))
    averages = np.zeros((count, rows.shape[1]), dtype=np.float32)
    for shift in range(order):
        averages += rows[shift : shift + count] / order
    return unit(averages)


def pool_of(tokens: list[str], rows: Vectors, orders: list[int], plain: bool) -> tuple[dict[NGram, int], Vectors]:
    """Count the reference n-grams; give the vector of each, in the order of the counts."""
    counts: dict[NGram, int] = {}
    blocks = [np.zeros((0, rows.shape[1]), dtype=np.float32)]
    for order in orders:
        firsts = []
        for position, ngram in enumerate(ngrams(tokens, order)):
            if ngram not in counts:
                firsts.append(position)
            counts[ngram] = counts.get(ngram, 0) + 1
        blocks.append(ngram_vectors(rows, order, plain)[firsts])
    return counts, np.concatenate(blocks)


def matched_mass(
    candidate: list[NGram],
    candidate_vectors: Vectors,
    pool: dict[NGram, int],
    pool_vectors: Vectors,
    threshold: float,
) -> float:
    pool = dict(pool)
    mass = 0.0
    rest = []
    for position, ngram in enumerate(candidate):
        if pool.get(ngram, 0) > 0:
            pool[ngram] -= 1
            mass += 1
        else:
            rest.append(position)
    if not rest or not pool:
        return mass

    available = np.array(list(pool.values()))
    similarities = (candidate_vectors @ pool_vectors.T).round(6)
    for position in rest:
        row = np.where(available > 0, similarities[position], -1)
        best = int(row.argmax())
        if row[best] > threshold:
            available[best] -= 1
            mass += float(row[best])
    return mass


def bleu(matches: list[float], totals: list[int], candidate_length: int, reference_length: int) -> float:
    if min(matches) == 0 or min(totals) == 0:
        return 0.0
    penalty = min(1.0, math.exp(1 - reference_length / candidate_length))
    log_precisions = [math.log(match / total) for match, total in zip(matches, totals, strict=True)]
    return 100 * penalty * math.exp(sum(log_precisions) / len(log_precisions))


def main(
    candidate: Annotated[Path, typer.Argument(help="Candidate segments, one a line.")],
    reference: Annotated[Path, typer.Argument(help="Reference segments, one a line.")],
    vectors: Annotated[Path, typer.Argument(help="Word vectors, word2vec binary format.")],
    matcher: Annotated[Matcher, typer.Option()] = Matcher.vleu,
    threshold: Annotated[float, typer.Option()] = 0.0,
    plain: Annotated[bool, typer.Option(help="Average n-gram by n-gram.")] = False,
) -> None:
    """Print matches, totals and score of VLEU or XLEU, computed the plain way."""
    embeddings = KeyedVectors.load_word2vec_format(str(vectors), binary=True)
    matches = [0.0] * ORDER
    totals = [0] * ORDER
    candidate_length = reference_length = 0

    with candidate.open(encoding="utf-8") as candidates, reference.open(encoding="utf-8") as references:
        for candidate_line, reference_line in zip(candidates, references, strict=True):
            candidate_tokens, reference_tokens = candidate_line.split(), reference_line.split()
            rows = token_vectors(candidate_tokens + reference_tokens, embeddings)
            candidate_rows, reference_rows = rows[: len(candidate_tokens)], rows[len(candidate_tokens) :]
            candidate_length += len(candidate_tokens)
            reference_length += len(reference_tokens)
            if matcher is Matcher.xleu:
                pool, pool_vectors = pool_of(reference_tokens, reference_rows, list(range(1, ORDER + 1)), plain)
            for j in range(1, ORDER + 1):
                if matcher is Matcher.vleu:
                    pool, pool_vectors = pool_of(reference_tokens, reference_rows, [j], plain)
                occurrences = ngrams(candidate_tokens, j)
                occurrence_vectors = ngram_vectors(candidate_rows, j, plain)
                matches[j - 1] += matched_mass(occurrences, occurrence_vectors, pool, pool_vectors, threshold)
                totals[j - 1] += len(occurrences)

    print("matches", *(f"{match:.4f}" for match in matches))
    print("totals", *totals)
    print(f"score {bleu(matches, totals, candidate_length, reference_length):.5f}")


if __name__ == "__main__":
    typer.run(main)
