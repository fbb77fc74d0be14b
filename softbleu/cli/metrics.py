"""`softbleu metrics`, `matchers` and `tokenizers`: lists of them, and each by its name."""

from __future__ import annotations

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
from softbleu.tables import Table
from softbleu.text.tokens import TOKENIZERS


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
    """List the metrics, also of plug-ins, or show one: what it measures, how, its settings, what else it rewards.

    With a language, the list has the metrics for it and the settings it changes. Formats other than text have all
    columns: what each metric needs, its language, and which outputs it rewards.
    """
    if options.wanted is not None:
        shown: Table | list[Table] = describe_metric(options.wanted, options.language)
    elif options.output_format == "text" and options.language is None:
        shown = metric_groups()
    else:
        shown = describe_metrics(options.language)
    options.open_output().write(shown)


@command
def matchers(options: NamesOptions) -> None:
    """List the matchers, also of plug-ins, or show one."""
    wanted = options.wanted
    options.open_output().write(describe_matchers() if wanted is None else describe_part(MATCHERS.find(wanted)))


@command
def tokenizers(options: NamesOptions) -> None:
    """List the tokenizers, or show one."""
    wanted = options.wanted
    options.open_output().write(describe_tokenizers() if wanted is None else describe_part(TOKENIZERS.find(wanted)))
