"""Settings chosen on other data."""

from typing import Any

import numpy as np
import pytest
from judged_systems import OUTPUTS, PEOPLE, REFERENCE
from refusing import refused

import softbleu
from softbleu.errors import InputError
from softbleu.meta.calibration import calibrate

BLEU = {"effective_order": True, "tokenize": "none"}


def data() -> dict[str, dict[str, Any]]:
    texts = {"candidates": OUTPUTS, "references": REFERENCE}
    return {name: {**texts, "human": {"people": scores}} for name, scores in PEOPLE.items()}


def agreement(order: int, smooth: str, name: str) -> float:
    scores = softbleu.score(OUTPUTS, REFERENCE, order=order, smooth=smooth, **BLEU)
    people = PEOPLE[name]
    return float(np.corrcoef([each.score for each in scores], [people[each.name] for each in scores])[0, 1])


def test_each_set_is_scored_by_what_was_best_on_the_others() -> None:
    found = calibrate({"metric": "bleu", **BLEU}, {"order": [1, 2, 4], "smooth": ["exp", "floor"]}, data())
    grid = [(order, smooth) for order in (1, 2, 4) for smooth in ("exp", "floor")]
    table = np.array([[agreement(*point, name) for name in PEOPLE] for point in grid])
    assert found.values == pytest.approx(table)
    rows = found.held_out().rows
    for place, name in enumerate(PEOPLE):
        others = [other for other in range(3) if other != place]
        best = max(range(len(grid)), key=lambda point: (round(table[point, others].mean(), 12), -point))
        order, smooth = grid[best]
        expected = [table[best, place], table[best, others].mean()]
        assert rows[place][0] == name
        assert rows[place][1:3] == pytest.approx(expected)
        assert rows[place][3:] == [str(order), smooth]
    assert rows[-1][1] == pytest.approx(np.mean([row[1] for row in rows[:-1]]))
    assert [row[-1] for row in found.grid().rows] == pytest.approx(table.mean(axis=1))


def test_what_cannot_be_calibrated() -> None:
    given = ({"metric": "bleu"}, {"order": [1]})
    refused(InputError, "two sets of data or more, here are 1", calibrate, *given, {"x": data()["x"]})
    refused(InputError, "unknown coefficient 'pear'", calibrate, *given, data(), coefficient="pear")
    more: Any = ({"metric": "bleu"}, {"order": [1, 2]}, data())
    refused(InputError, "one kind of human scores", calibrate, *more, question="williams")
