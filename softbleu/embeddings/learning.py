"""Learning of a map of vectors from human judgements: greedy matching of tokens, its gradients, and the descent.

Tokens are word pieces in context, or words. A token x of length 1 becomes u = x + x M, scaled to length 1, and has
the weight softplus(v . u sqrt(d) + h) in d dimensions. Each token of a candidate is matched with the most similar one
of its reference and back; P and R are the weighted means of these similarities, F their harmonic mean.
M, v, h and the prices a, b, c are learned so that a P + b R + c F, plus a constant of each set of judgements, is near
the standardised scores of judges. Gradients are exact except where the most similar token changes.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from softbleu.io.platform import single_threaded_blas

if TYPE_CHECKING:
    from softbleu.types import Array, Flags, Floats, Integers, Reals

PASSES, BATCH, RATE, SEED = 3, 32, 2e-4, 66
HELD_OUT = 10  # Every so many-th segment, in a random order, is left out of the descent
FIRST, SECOND, TINY = 0.9, 0.999, 1e-8  # Adam (Kingma and Ba 2015)
WARM = 50  # Steps in which the rate rises
_FREE = 10.0  # Prices and constants learn so many times as fast as the map
_SAMPLE = 2000  # Outputs of which the first prices are computed


@dataclass(frozen=True, eq=False)
class JudgedStates:
    """Judged pairs of a candidate and its reference, and the states of their tokens."""

    rows: Reals  # Directions of pieces in context, or of words: (rows, dimension)
    inner: Flags  # Tokens that count; others can only be matched: (tokens,)
    codes: Integers | None  # Row of each token, for words: equal ones have similarity 1; None: each piece has its own
    offsets: Integers  # Line i has the tokens ``offsets[i]`` to ``offsets[i + 1]``
    candidates: Integers  # Line of each pair's candidate: (pairs,)
    references: Integers  # Line of its reference: (pairs,)
    scores: Floats  # Human scores, standardised in each set, greater for better: (pairs,)
    sets: Integers  # Number of the set of each pair, from 0: (pairs,)

    def __len__(self) -> int:
        return len(self.scores)

    def apart(self, pairs: Integers) -> Floats:
        """Compute how different the lengths of some pairs are (`lengths_apart`): (pairs,)."""
        counts = np.diff(np.concatenate(([0], np.cumsum(self.inner)))[self.offsets])
        return lengths_apart(counts[self.candidates[pairs]], counts[self.references[pairs]])


@dataclass(eq=False)
class MapParameters:
    """Parameters of a map; also gradients, and moments of gradients, of the same shapes."""

    matrix: Reals  # M: (dimension, dimension)
    direction: Reals  # v: (dimension,)
    constants: Reals  # h: (1,)
    prices: Reals  # a, b, c: (3,)
    biases: Reals  # (sets,)

    @classmethod
    def start(cls, dimension: int, sets: int, dtype: type = np.float32) -> MapParameters:
        """Begin with the identity, equal weights and no prices."""
        shapes = (dimension, dimension), dimension, 1, 3, sets
        return cls(*(np.zeros(shape, dtype) for shape in shapes))

    def parts(self) -> list[Reals]:
        """List the arrays."""
        return [getattr(self, field.name) for field in fields(self)]

    def zeros(self) -> MapParameters:
        """Return zeros of the same shapes."""
        return MapParameters(*(np.zeros_like(part) for part in self.parts()))

    @classmethod
    def averaged(cls, learned: Sequence[MapParameters], factor: float = 1) -> MapParameters:
        """Average parameters learned from several kinds of judgements, times a factor, with prices that add up to 1.

        >>> start = MapParameters.start(2, 1)
        >>> start.matrix[0, 1], start.prices[:] = 1, (2, 1, 1)
        >>> average = MapParameters.averaged([start, MapParameters.start(2, 1)], 3)
        >>> average.matrix.tolist(), average.prices.tolist()
        ([[0.0, 1.5], [0.0, 0.0]], [0.5, 0.25, 0.25])
        """
        matrix, direction, constants = (
            factor * np.mean([getattr(one, name) for one in learned], axis=0)
            for name in ("matrix", "direction", "constants")
        )
        prices = np.mean([one.prices / max(float(one.prices.sum()), TINY) for one in learned], axis=0)
        return cls(matrix, direction, constants, prices / prices.sum(), np.zeros(0, prices.dtype))


@dataclass(frozen=True, eq=False)
class _Mapped:
    """Tokens of some lines under the map."""

    states: Reals  # As given, (tokens, dimension)
    lengths: Reals  # Of the mapped states: (tokens,)
    rows: Reals  # Mapped, of length 1
    logits: Reals
    weights: Reals
    inner: Flags


def map_rows(states: Reals, matrix: Reals) -> tuple[Reals, Reals]:
    """Map states, and scale them to length 1: the rows, and their lengths before; zero rows stay zero.

    >>> rows, lengths = map_rows(np.array([[3.0, 4.0], [0.0, 0.0]]), np.zeros((2, 2)))
    >>> rows.tolist(), lengths.tolist()
    ([[0.6, 0.8], [0.0, 0.0]], [5.0, 0.0])
    """
    mapped = states + states @ matrix
    lengths = np.sqrt(np.einsum("ij,ij->i", mapped, mapped))
    return mapped / np.where(lengths > 0, lengths, 1)[:, None], lengths


def lengths_apart(candidates: Integers, references: Integers) -> Floats:
    """Compute |log((references + 1) / (candidates + 1))| of lengths in tokens: (pairs,).

    >>> lengths_apart(np.array([4, 9]), np.array([9, 9])).round(3).tolist()
    [0.693, 0.0]
    """
    apart: Floats = np.abs(np.log((references + 1) / (candidates + 1)))
    return apart


def token_weights(rows: Reals, direction: Reals, constant: float) -> tuple[Array, Array]:
    """Compute weights of mapped rows of length 1, and what softplus is taken of.

    >>> token_weights(np.eye(2), np.zeros(2), 0.0)[0].round(3).tolist()
    [0.693, 0.693]
    """
    logits = rows @ direction * np.sqrt(np.asarray(rows.shape[1], rows.dtype)) + constant
    return np.logaddexp(0, logits), logits


def _map(states: Reals, inner: Flags, parameters: MapParameters) -> _Mapped:
    rows, lengths = map_rows(states, parameters.matrix)
    weights, logits = token_weights(rows, parameters.direction, parameters.constants[0])
    return _Mapped(states, lengths, rows, logits, weights * inner, inner)


def _similarities(one: Reals, other: Reals, codes: tuple[Array, Array] | None) -> Reals:
    products: Reals = one @ other.T
    if codes is not None:
        products[codes[0][:, None] == codes[1][None, :]] = 1
    return products


def batch_gradient(
    judged: JudgedStates, pairs: Integers, parameters: MapParameters, gradient: MapParameters | None = None
) -> Array:
    """Score some pairs; add the gradient of half the mean squared error to `gradient`, if any.

    Returns precision, recall, F and, with `gradient`, the error of each pair: (pairs, 4).
    """
    lines, numbers = np.unique(
        np.concatenate((judged.candidates[pairs], judged.references[pairs])), return_inverse=True
    )
    bounds = [(int(judged.offsets[line]), int(judged.offsets[line + 1])) for line in lines]
    dtype = parameters.matrix.dtype
    places = np.concatenate([np.arange(start, end) for start, end in bounds])
    codes = None if judged.codes is None else judged.codes[places]
    states, inner = judged.rows[places if codes is None else codes].astype(dtype), judged.inner[places]
    starts = np.cumsum([0, *(end - start for start, end in bounds)]).tolist()
    slices = [slice(start, end) for start, end in itertools.pairwise(starts)]
    mapped = _map(states, inner, parameters)
    by_row, by_weight = np.zeros_like(mapped.rows), np.zeros_like(mapped.weights)
    found = np.zeros((len(pairs), 4), dtype)
    a, b, c = parameters.prices
    for number, pair in enumerate(pairs.tolist()):
        one, other = slices[numbers[number]], slices[numbers[len(pairs) + number]]
        weights, others = mapped.weights[one], mapped.weights[other]
        total, other_total = weights.sum(), others.sum()
        if not (total and other_total):
            continue
        equal = None if codes is None else (codes[one], codes[other])
        products = _similarities(mapped.rows[one], mapped.rows[other], equal)
        best, back = products.argmax(axis=1), products.argmax(axis=0)
        here, there = np.arange(len(best)), np.arange(len(back))
        met, missed = products[here, best], products[back, there]
        precision, recall = met @ weights / total, missed @ others / other_total
        both = precision + recall
        f = 2 * precision * recall / both if both > 0 else both * 0
        found[number, :3] = precision, recall, f
        if gradient is None:
            continue
        bias = parameters.biases[judged.sets[pair]]
        found[number, 3] = a * precision + b * recall + c * f + bias - judged.scores[pair]
        error = found[number, 3] / len(pairs)
        gradient.prices += error * found[number, :3]
        gradient.biases[judged.sets[pair]] += error
        slope = (2 * recall**2 / both**2, 2 * precision**2 / both**2) if both > 0 else (0, 0)
        of_precision, of_recall = error * (a + c * slope[0]), error * (b + c * slope[1])
        # A token of either side may be met by several of the other.
        met_by = np.zeros_like(products)
        met_by[here, best] = of_precision * weights / total
        met_by[back, there] += of_recall * others / other_total
        by_row[one] += met_by @ mapped.rows[other]
        by_row[other] += met_by.T @ mapped.rows[one]
        by_weight[one] += of_precision * (met - precision) / total
        by_weight[other] += of_recall * (missed - recall) / other_total
    if gradient is not None:
        _propagate(mapped, by_row, by_weight, parameters, gradient)
    return found


def _propagate(
    mapped: _Mapped, by_row: Reals, by_weight: Reals, parameters: MapParameters, gradient: MapParameters
) -> None:
    """Take gradients of mapped rows and of weights back to the parameters."""
    root = np.sqrt(np.asarray(mapped.rows.shape[1], mapped.rows.dtype))
    by_logit = by_weight * mapped.inner / (1 + np.exp(-mapped.logits))
    gradient.constants += by_logit.sum()
    gradient.direction += mapped.rows.T @ by_logit * root
    by_row = by_row + by_logit[:, None] * parameters.direction * root
    along = np.einsum("ij,ij->i", by_row, mapped.rows)
    by_state = (by_row - along[:, None] * mapped.rows) / np.where(mapped.lengths > 0, mapped.lengths, 1)[:, None]
    by_state[mapped.lengths == 0] = 0
    gradient.matrix += mapped.states.T @ by_state


def set_prices(judged: JudgedStates, pairs: Integers, parameters: MapParameters) -> None:
    """Set the prices, in place, so that the untrained F fits the scores best, and the constants of sets."""
    f = batch_gradient(judged, pairs, parameters)[:, 2].astype(np.float64)
    sets, scores = judged.sets[pairs], judged.scores[pairs]
    counts = np.maximum(np.bincount(sets, minlength=len(parameters.biases)), 1)
    means = np.bincount(sets, f, len(counts)) / counts
    within = f - means[sets]
    slope = max(1.0, float(within @ scores) / max(float(within @ within), 1e-9))
    parameters.prices[:] = slope / 4, slope / 4, slope / 2
    # A set without an output in the sample begins with the mean of the others.
    means[np.bincount(sets, minlength=len(counts)) == 0] = f.mean()
    parameters.biases[:] = -slope * means


def split_segments(segments: Integers, seed: int = SEED) -> Flags:
    """Choose segments to hold out, in whole: a mask of pairs, given the number of each pair's segment."""
    distinct, numbers = np.unique(segments, return_inverse=True)
    order = np.random.default_rng(seed).permutation(len(distinct))
    held: Flags = order[numbers] % HELD_OUT == 0
    return held


def in_batches(pairs: Integers, size: int) -> Iterator[Integers]:
    """Yield consecutive pairs."""
    for start in range(0, len(pairs), size):
        yield pairs[start : start + size]


def learn(
    judged: JudgedStates,
    pairs: Integers,
    *,
    passes: int = PASSES,
    rate: float = RATE,
    batch: int = BATCH,
    seed: int = SEED,
    after: Callable[[int, MapParameters], None] | None = None,
) -> MapParameters:
    """Learn a map from some pairs by gradient descent (Adam), with a rate that falls to 0 over all passes.

    `after` is called with the number of each pass and the parameters after it. One thread multiplies, and the order
    of pairs is drawn with `seed`, so that the result does not depend on the number of processors.
    """
    generator = np.random.default_rng(seed)
    parameters = MapParameters.start(judged.rows.shape[1], int(judged.sets.max(initial=0)) + 1)
    with single_threaded_blas():
        set_prices(judged, generator.permutation(pairs)[:_SAMPLE], parameters)
        mean, square = parameters.zeros(), parameters.zeros()
        steps, step = passes * -(-len(pairs) // batch), 0
        rates = [rate, rate, rate, *[rate * _FREE] * 2]
        scales = [1.0, 1.0, 1.0, max(1.0, float(parameters.prices.mean())), max(1.0, float(parameters.prices.sum()))]
        for number in range(passes):
            for some in in_batches(generator.permutation(pairs), batch):
                step += 1
                gradient = parameters.zeros()
                batch_gradient(judged, some, parameters, gradient)
                now = min(step / WARM, 1.0) * (1 - (step - 1) / steps)
                moments = zip(parameters.parts(), gradient.parts(), mean.parts(), square.parts(), strict=True)
                for (part, slope, first, second), speed, scale in zip(moments, rates, scales, strict=True):
                    first += (1 - FIRST) * (slope - first)
                    second += (1 - SECOND) * (slope * slope - second)
                    unbiased = first / (1 - FIRST**step)
                    size = np.sqrt(second / (1 - SECOND**step)) + TINY
                    part -= (now * speed * scale * unbiased / size).astype(part.dtype)
                np.maximum(parameters.prices, 0, out=parameters.prices)
            if after is not None:
                after(number, parameters)
    return parameters


def predict(judged: JudgedStates, pairs: Integers, parameters: MapParameters, batch: int = BATCH) -> Floats:
    """Score pairs without the constants of sets: (pairs,)."""
    with single_threaded_blas():
        parts = [batch_gradient(judged, some, parameters)[:, :3] for some in in_batches(pairs, batch)]
    agreement: Floats = np.concatenate([np.zeros((0, 3)), *parts])
    scores: Floats = agreement @ parameters.prices.astype(np.float64)
    return scores
