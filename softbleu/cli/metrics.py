"""`softbleu metrics`, `matchers` and `tokenizers`: lists of them."""

from __future__ import annotations

from softbleu.cli.command import command
from softbleu.cli.options import Common
from softbleu.metrics.overview import describe_matchers, describe_metrics, describe_tokenizers, metric_groups


class NamesOptions(Common, shared="output format"):
    """Options of `matchers` and `tokenizers`."""


class MetricsOptions(NamesOptions, shared="language"):
    """Options of `metrics`."""


@command
def metrics(options: MetricsOptions) -> None:
    """List the metrics, also of plug-ins; with a language, the metrics for it and the settings it changes.

    Formats other than text have all columns: what each metric needs, its language, and which outputs it rewards.
    """
    if options.output_format == "text" and options.language is None:
        options.open_output().write(metric_groups())
        return
    options.open_output().write(describe_metrics(options.language))


@command
def matchers(options: NamesOptions) -> None:
    """List the matchers, also of plug-ins."""
    options.open_output().write(describe_matchers())


@command
def tokenizers(options: NamesOptions) -> None:
    """List the tokenizers."""
    options.open_output().write(describe_tokenizers())
