"""`softbleu matrix`: every candidate with every reference."""

from typing import Any

from softbleu.cli.command import Given, command
from softbleu.errors import InputError


@command(
    "matrix",
    "candidate reference lists encoding metric preset language level table_format digits output jobs",
    settings=lambda option: True,
)
def matrix(given: Given) -> None:
    """Score every candidate with every reference, or with every other one, each text prepared once."""
    from softbleu.corpora import ParallelFiles, name_files
    from softbleu.corpora.records import read_lists
    from softbleu.engine.notes import note_text
    from softbleu.errors import known_name
    from softbleu.report.scores import matrix_records, text_pair_records
    from softbleu.results.pairs import pair_systems, score_pairs, score_systems

    lists = given.lists
    if bool(lists) == bool(given.candidate) or (lists and given.reference):
        raise InputError("either -c (and -r) or --lists says what is compared: give one of them")
    level = known_name("level", given.level or ("segment" if lists else "corpus"), ("corpus", "segment"))
    if lists and level == "corpus":
        raise InputError("lists of texts are no corpora: leave out --level, or name files with -c and -r")
    systems, references = given.systems(), given.reference
    output = given.open_output([*systems.values(), *references, lists])
    plan = given.plan(one=True)
    names = [list(systems), list(systems)]
    if lists:
        texts = read_lists(lists, given.encoding)
    else:
        with ParallelFiles.open(systems, references or list(systems.values()), encoding=given.encoding) as corpus:
            texts = pair_systems(corpus)
            if references:
                names[1] = list(name_files([file.name for file in corpus.references]))
            note_text(corpus, plan.metrics)
    with given.progress() as progress:
        run: dict[str, Any] = {"jobs": given.jobs, "progress": progress}
        if level == "segment":
            table = text_pair_records(score_pairs(texts, plan, names=None if lists else names, **run))
        else:
            table = matrix_records(score_systems(texts, names, plan, **run))
    output.write(table)
