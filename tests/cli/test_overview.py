"""Commands that list what there is."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from softbleu import cli
from softbleu.cli.examples import metric_lines
from softbleu.cli.options import completion_of
from softbleu.matching import MATCHERS
from softbleu.metrics import METRICS
from softbleu.metrics.overview import describe_metrics
from softbleu.text.tokens import TOKENIZERS


@pytest.mark.parametrize(
    ("name", "expected"),
    [("metrics", METRICS.names()), ("matchers", MATCHERS.names()), ("tokenizers", list(TOKENIZERS))],
)
def test_everything_is_listed_with_a_line(command, name, expected):
    done = command(name, "--format", "jsonl")
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert [row["name"] for row in rows] == expected
    assert all(isinstance(value, str) and value for row in rows for value in row.values())


def test_needs_and_languages(command):
    rows = {row["name"]: row for row in map(json.loads, command("metrics", "-f", "jsonl").out.splitlines())}
    assert rows["m2"]["needs"] == "gold edits"
    assert (rows["bertscore"]["needs"], rows["bertscore"]["language"]) == ("references, vectors in context", "en")
    assert (rows["ter"]["better"], rows["bleu"]["better"], rows["bleu"]["language"]) == ("lower", "higher", "any")


def test_every_completion_names_something():
    sources = [path.read_text(encoding="utf-8") for path in Path(cli.__file__).parent.rglob("*.py")]
    named = {each for source in sources for each in re.findall(r"<([a-z_.]+:\w+)>", source)}
    assert len(named) > 10
    assert all(completion_of(each)() for each in named)


def test_help_has_a_line_for_each_metric():
    expected = [f"[bold]{name}[/bold] {about}" for name, about, *_ in describe_metrics().rows]
    assert metric_lines().splitlines() == ["Metrics:", *expected]
