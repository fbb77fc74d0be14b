"""`softbleu matchers`: which matchers there are."""

from softbleu.cli.command import Given, command


@command("table_format output")
def matchers(given: Given) -> None:
    """List the matchers, those of plug-ins too."""
    from softbleu.metrics.overview import describe_matchers

    given.open_output().write(describe_matchers())
