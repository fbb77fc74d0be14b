"""`softbleu metrics`: which metrics there are."""

from softbleu.cli.command import Given, command


@command("language table_format output")
def metrics(given: Given) -> None:
    """List the metrics, those of plug-ins too; with a language those that work in it, and what it sets."""
    from softbleu.metrics.overview import describe_metrics

    given.open_output().write(describe_metrics(given.language))
