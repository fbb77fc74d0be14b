"""`softbleu matrix`: every candidate with every reference."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from typing import Literal

from softbleu.cli.command import command, setting
from softbleu.cli.inputs import Scoring
from softbleu.corpora import ParallelFiles, name_files
from softbleu.corpora.records import read_lists
from softbleu.engine.notes import note_corpus, note_threshold
from softbleu.errors import InputError
from softbleu.report.scores import matrix_records, text_pair_records
from softbleu.results.pairs import PairScores, pair_systems, score_pairs, score_systems, score_with_source
from softbleu.types import Keywords


class MatrixOptions(
    Scoring,
    shared="candidates references source encoding metrics language preset output format digits jobs",
):
    """Options of `matrix`.

    Attributes
    ----------
    lists
        Lists of texts instead: JSONL, a segment per line: {"candidates": [text, …]}, maybe with "references", or a
        list of texts; - is standard input
    level
        corpus (a table of corpus scores) or segment (a row per segment and pair)
    """

    lists: str | None = setting(None, file="read", panel="Input", common=True)
    level: Literal["corpus", "segment"] | None = setting(
        None, unset="corpus; with --lists segment", panel="Score", common=True
    )


@command
def matrix(options: MatrixOptions) -> None:
    """Score every candidate with every reference, or with every other one, each text prepared once."""
    lists = options.lists
    if bool(lists) == bool(options.candidates) or (lists and (options.references or options.source)):
        raise InputError("either -c (and -r, -s) or --lists says what is compared: give one of them")
    level = options.level or ("segment" if lists else "corpus")
    if lists and level == "corpus":
        raise InputError("lists of texts are no corpora: leave out --level, or name files with -c and -r")
    systems, references = options.systems, options.references
    output = options.open_output()
    plan = options.plan(one=True)
    names = [list(systems), list(systems)]
    with ExitStack() as stack:
        progress = stack.enter_context(options.progress())
        run: Keywords = {"jobs": options.jobs, "progress": progress}
        if lists:
            scored: Iterable[PairScores] = score_pairs(read_lists(lists, options.encoding), plan, **run)
        else:
            files = references or [look.name for look in systems.values()]
            corpus = stack.enter_context(
                ParallelFiles.open(systems, files, options.source, encoding=options.encoding)
            )
            if references:
                names[1] = list(name_files([file.name for file in corpus.references]))
            note_corpus(corpus, plan)
            for threshold in plan.recommended:
                note_threshold(threshold)
            requires = plan.only.requires
            if options.source and requires.source and not requires.gold:
                scored = score_with_source(corpus, names, plan, level, **run)
            elif level == "segment":
                scored = score_pairs(pair_systems(corpus), plan, names=names, **run)
            else:
                scored = [score_systems(pair_systems(corpus), names, plan, **run)]
        output.write(text_pair_records(scored) if level == "segment" else matrix_records(*scored))
