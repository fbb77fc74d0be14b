"""`softbleu metrics`, `matchers` and `tokenizers`: lists of them, and each by its name."""

from __future__ import annotations

from dataclasses import replace
from shlex import quote
from typing import TYPE_CHECKING, Any

from softbleu.cli.command import command
from softbleu.cli.options import Common
from softbleu.config.declare import setting
from softbleu.matching import MATCHERS
from softbleu.metrics.overview import (
    describe_matchers,
    describe_metric,
    describe_metrics,
    describe_part,
    describe_tokenizers,
    metric_groups,
)
from softbleu.metrics.protocols import ReadsRows
from softbleu.metrics.reading import read_metric
from softbleu.text.tokens import TOKENIZERS

if TYPE_CHECKING:
    from softbleu.config.declare import Registry
    from softbleu.metrics.base import Metric
    from softbleu.tables import Table


class NamesOptions(Common, shared="output format"):
    """Options of `matchers` and `tokenizers`.

    Attributes
    ----------
    wanted
        Only this one, with its settings and an example
    """

    wanted: str | None = setting(None, argument=True, metavar="[NAME]")


class MetricsOptions(NamesOptions, shared="language"):
    """Options of `metrics`."""


@command
def metrics(options: MetricsOptions) -> None:
    """List the metrics, also of plug-ins, or show one: its measure, formula, needs and settings, and an example.

    With a language, the list has the metrics for it and the settings it changes. Formats other than text have all
    columns: the needs of each metric, its language, and outputs that it also rewards.
    """
    if options.wanted is not None:
        metric = read_metric(options.wanted, language=options.language)
        name = quote(options.wanted) + (f" --language {quote(options.language)}" if options.language else "")
        shown: Table | list[Table] = _with_example(describe_metric(metric), _arguments(metric, name))
    elif options.output_format == "text" and options.language is None:
        shown = metric_groups()
    else:
        shown = describe_metrics(options.language)
    options.open_output().write(shown)


@command
def matchers(options: NamesOptions) -> None:
    """List the matchers, also of plug-ins, or show one."""
    _write_parts(options, describe_matchers(), MATCHERS, "matcher")


@command
def tokenizers(options: NamesOptions) -> None:
    """List the tokenizers, or show one."""
    _write_parts(options, describe_tokenizers(), TOKENIZERS, "tokenize")


_TEXTS = "-c system.txt -r ref.txt"


def _write_parts(options: NamesOptions, shown: Table, known: Registry[Any], option: str) -> None:
    """Write the table of all parts of a kind, or describe the one that is wanted."""
    if options.wanted is not None:
        part = describe_part(known.find(options.wanted))
        shown = _with_example(part, f"{_TEXTS} --{option} {options.wanted}")
    options.open_output().write(shown)


def _arguments(metric: Metric, name: str) -> str:
    """Name the files that a metric needs, as options, and the metric."""
    requires = metric.requires
    if isinstance(metric, ReadsRows):
        return f"--log system.log -m {name}" if requires.delays else "--scores scores.tsv"
    if requires.gold:
        return f"-c system.txt --gold gold.m2 -m {name}"
    source = " -s source.txt" if requires.source or requires.edits else ""
    return f"{_TEXTS if requires.references or requires.edits else '-c system.txt'}{source} -m {name}"


def _with_example(table: Table, arguments: str) -> Table:
    return replace(table, facts={**table.facts, "example": f"softbleu score {arguments}"})
