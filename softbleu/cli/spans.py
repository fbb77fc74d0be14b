"""`softbleu spans`: what a metric leaves unmatched, as spans of the outputs."""

from softbleu.cli.command import Given, command


@command(
    "spans",
    "candidate reference source gold pairs input_format against resegment encoding metric preset language severity "
    "least_similarity table_format digits output",
    settings=lambda option: True,
)
def spans(given: Given) -> None:
    """List the words that a metric matches with none of the reference, as spans of characters.

    'softbleu metaeval --table spans' compares them with the spans that judges mark.
    """
    from softbleu.results.explain import unmatched_spans
    from softbleu.tables import Records

    output = given.open_output(given.input_files())
    plan = given.plan(one=True)
    with given.open_corpus(plan) as corpus:
        output.write(Records.of(unmatched_spans(corpus, plan, **given.values("severity least_similarity"))))
