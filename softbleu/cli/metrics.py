"""`softbleu metrics`, `matchers` and `tokenizers`: which of them there are."""

from softbleu.cli.command import Given, command


@command("metrics", "language table_format output")
def metrics(given: Given) -> None:
    """List the metrics, those of plug-ins too; with a language those that work in it, and what it sets."""
    from softbleu.metrics.overview import describe_metrics

    given.open_output().write(describe_metrics(given.language))


@command("matchers", "table_format output")
def matchers(given: Given) -> None:
    """List the matchers, those of plug-ins too."""
    from softbleu.metrics.overview import describe_matchers

    given.open_output().write(describe_matchers())


@command("tokenizers", "table_format output")
def tokenizers(given: Given) -> None:
    """List the tokenizers."""
    from softbleu.metrics.overview import describe_tokenizers

    given.open_output().write(describe_tokenizers())
