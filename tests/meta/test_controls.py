"""Outputs that no honest system writes: what metrics say of themselves, and the guide of them, is in the table."""

import doctest
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from softbleu.corpora.edits import Annotation, Edit, GoldSegment
from softbleu.metrics.base import METRICS

ROOT = Path(__file__).resolve().parents[2]
ADVISED = ("GLEU+ vleu .8 in context, progress", "ERRANT", "M2")


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(ROOT / "experiments" / "corrections")
    return import_module("controls_page")


@pytest.fixture
def controls(page: Any) -> Any:
    return import_module("controls")


def test_metrics_say_which_controls_beat_them(page: Any) -> None:
    for name in page.CLASSES:
        assert getattr(METRICS.find(name), "also_rewards", "") == page.rewarded(name), name
    others = {kind.name for kind in METRICS.classes() if hasattr(kind, "also_rewards")} - page.CLASSES.keys()
    assert others == {"uot", "chrf++"}  # Too slow for the table, by that of version 0.7; chrF with words


def test_tables_of_the_guide_are_those_of_the_files(page: Any) -> None:
    for path, (name, lines) in page.TABLES.items():
        text = path.read_text(encoding="utf-8")
        filled = page.fill(text, {name: "\n".join(lines())})
        assert filled == text, "run: python experiments/corrections/controls_page.py"


def test_each_line_with_a_rewrite_has_a_wrong_one_too(controls: Any) -> None:
    lists = tomllib.loads((ROOT / "experiments" / "corrections" / "rewrites.toml").read_text(encoding="utf-8"))
    assert {name: len(lines) for name, lines in lists.items()} == {"fce": 50, "conll14": 50}
    for lines in lists.values():
        texts = [text for both in lines.values() for text in (both["rewrite"], both["wrong"])]
        assert len(set(texts)) == len(texts) == 100


def test_controls_of_meaning_change_each_text(controls: Any) -> None:
    texts = ["He has seen old ships .", "We eat .", "They can not swim ."]
    made = controls.make_meanings(texts, ["A ship has old sails .", "Dogs swim ."])
    assert made.keys() == set(controls.MEANINGS)
    assert all(lines[row] != text for lines in made.values() for row, text in enumerate(texts))
    assert made["negation"][1:] == ["It is not true that We eat .", "They can swim ."]


def test_each_control_is_tried_on_each_set(page: Any, controls: Any) -> None:
    rows = page.rows()
    assert {row["control"] for row in rows} == controls.CONTROLS.keys()
    for metric in page.SHOWN:
        found = {(row["set"], row["control"]) for row in rows if row["metric"] == metric}
        assert len(found) == 4 * len(controls.CONTROLS), metric


def test_no_control_beats_metrics_that_the_guide_advises(page: Any, controls: Any) -> None:
    """With all references; the guide says what a single one does to `gleu` in context."""
    rows = [row for row in page.rows() if row.get("references") != "1"]
    for metric in ADVISED:
        beaten = {name for name in controls.CONTROLS if page.gain(page.worst(rows, metric, name)) > 0}
        assert not beaten, metric


def test_examples_of_controls(controls: Any) -> None:
    found = doctest.testmod(controls)
    assert found.attempted > 0 == found.failed


def test_errors_are_those_of_others_where_no_annotator_changes_anything(controls: Any) -> None:
    edit = (Edit(1, 2, "Vform", ("eats",)),)
    gold = [
        GoldSegment("he eat apples", (Annotation(0, edit),)),
        GoldSegment("she eats bread", (Annotation(0, ()),)),
        GoldSegment("it rains", (Annotation(0, ()),)),
    ]
    assert [*controls.with_errors(gold)] == ["he eat apples", "she eat bread", "it rains"]
