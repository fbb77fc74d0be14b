"""The arithmetic behind the default set: recovering words, and removing what all vectors have in common."""

from __future__ import annotations

import string
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from softbleu.embeddings.measure import CommonParts as CommonParts
from softbleu.embeddings.measure import Postprocess
from softbleu.embeddings.vectors import unit_rows as unit_rows
from softbleu.errors import VectorError

Rows = NDArray[np.float64]

COMPONENTS = 2
"""How many principal components are removed."""

RECOVERED_WORDS = (*string.ascii_lowercase, "'s", "n't", "'re", "'ve", "'m", "'ll", "'d")
"""Words the npm package leaves out, though they are among the most frequent: single letters and clitics."""

TRAINING_WORDS = 4000
"""How many shared words, the most frequent ones, teach the map from 50 to 100 dimensions."""

SHARPNESS, RIDGE = 3.0, 0.3
"""How local the map is, and how far it may bend: chosen by cosine on held-out words, see the card."""


def common_parts(rows: Rows, components: int) -> CommonParts:
    """Estimate the mean of these rows and their leading components."""
    return Postprocess(subtract_mean=True, components=components).estimate(rows)


def treat(rows: Rows) -> Rows:
    """Normalise, remove the mean and the leading components of these very rows, and normalise again."""
    directions = unit_rows(rows)
    return unit_rows(common_parts(directions, COMPONENTS).remove_from(directions))


def map_rows(known: Rows, known_sister: Rows, wanted_sister: Rows) -> Rows:
    """Vectors of words known only in the sister, by kernel ridge regression on the words known in both.

    The kernel is exp(SHARPNESS (cosine - 1)); directions only, lengths do not enter.

    Parameters
    ----------
    known, known_sister
        The same words in both sets, shapes (words, dimension) and (words, sister's dimension).
    wanted_sister
        Further words in the sister.

    Returns
    -------
    NDArray
        Shape (wanted words, dimension), unit length.
    """
    teachers, targets = unit_rows(known_sister), unit_rows(known)
    mean = targets.mean(axis=0)
    kernel = _kernel(teachers, teachers) + RIDGE * np.eye(len(teachers))
    weights = np.linalg.solve(kernel, targets - mean)
    return unit_rows(_kernel(unit_rows(wanted_sister), teachers) @ weights + mean)


def _kernel(left: Rows, right: Rows) -> Rows:
    return np.exp(SHARPNESS * (left @ right.T - 1.0))


def recover_words(
    words: Sequence[str], rows: Rows, sister_words: Sequence[str], sister_rows: Rows
) -> tuple[list[str], Rows]:
    """Add the recovered words, each where the sister's order of frequency has it.

    Raises
    ------
    VectorError
        The words stand in another order than in the sister, so that "most frequent" would not hold.
    """
    position = {word: place for place, word in enumerate(sister_words)}
    places = sister_places(words, position)
    missing = [word for word in RECOVERED_WORDS if word in position and word not in set(words)]
    wanted = np.array([position[word] for word in missing], dtype=np.intp)
    teachers = places[:TRAINING_WORDS]
    mapped = map_rows(rows[:TRAINING_WORDS], sister_rows[teachers], sister_rows[wanted])
    order = np.argsort(np.concatenate([places, wanted]), kind="stable")
    together = [*words, *missing]
    return [together[place] for place in order], np.concatenate([unit_rows(rows), mapped])[order]


def sister_places(words: Sequence[str], position: dict[str, int]) -> NDArray[np.intp]:
    """Where each word stands in the sister; raises VectorError unless these places rise."""
    try:
        places = np.array([position[word] for word in words], dtype=np.intp)
    except KeyError as error:
        raise VectorError(f"word {error} is not in the sister; give the pinned packages") from None
    if (np.diff(places) <= 0).any():
        raise VectorError("the words are not in the sister's order; give the pinned packages")
    return places
