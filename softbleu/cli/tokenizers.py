"""`softbleu tokenizers`: which tokenizers there are."""

from softbleu.cli.command import Given, command


@command("table_format output")
def tokenizers(given: Given) -> None:
    """List the tokenizers."""
    from softbleu.metrics.overview import describe_tokenizers

    given.open_output().write(describe_tokenizers())
