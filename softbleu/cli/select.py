"""`softbleu select`: the candidate of an n-best list that is most like all others."""

from softbleu.cli.command import Given, command


@command(
    "lists mean_reference encoding metric preset language format=jsonl digits output jobs",
    settings=lambda option: option.setting.name != "segment_smoothing",
)
def select(given: Given) -> None:
    """Choose from each n-best list the candidate with the best expected score: minimum Bayes risk."""
    from softbleu.corpora.records import read_lists
    from softbleu.io.tabular import Records
    from softbleu.results.pairs import select as choose

    output = given.open_output([given.lists])
    plan = given.plan(one=True)
    lists = read_lists(given.lists, given.encoding)
    with given.progress(many=1) as progress:
        choices = choose(lists, plan, mean_reference=given.mean_reference, jobs=given.jobs, progress=progress)
    output.write(Records.of(choices))
