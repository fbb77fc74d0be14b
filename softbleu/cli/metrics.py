"""`softbleu metrics`, `matchers` and `tokenizers`: lists of them."""

from __future__ import annotations

from softbleu.cli.command import command
from softbleu.cli.options import LanguageCode, TableFormat
from softbleu.metrics.overview import describe_matchers, describe_metrics, describe_tokenizers


class MetricsOptions(LanguageCode, TableFormat):
    """Options of `metrics`."""


@command
def metrics(options: MetricsOptions) -> None:
    """List the metrics, also of plug-ins; with a language, the metrics for it and the settings it changes."""
    options.open_output().write(describe_metrics(options.language))


@command
def matchers(options: TableFormat) -> None:
    """List the matchers, also of plug-ins."""
    options.open_output().write(describe_matchers())


@command
def tokenizers(options: TableFormat) -> None:
    """List the tokenizers."""
    options.open_output().write(describe_tokenizers())
