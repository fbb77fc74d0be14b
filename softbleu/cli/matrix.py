"""`softbleu matrix`: every candidate with every reference."""

from __future__ import annotations

from typing import Literal

from softbleu.cli.command import command, setting
from softbleu.cli.inputs import Scoring, TextFiles
from softbleu.cli.options import Digits, Encoded, Jobs, TableFormat
from softbleu.corpora import ParallelFiles, name_files
from softbleu.corpora.records import read_lists
from softbleu.engine.notes import note_text
from softbleu.errors import InputError
from softbleu.report.scores import matrix_records, text_pair_records
from softbleu.results.pairs import pair_systems, score_pairs, score_systems


class MatrixOptions(TextFiles, Encoded, Scoring, TableFormat, Digits, Jobs):
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
    if bool(lists) == bool(options.candidates) or (lists and options.references):
        raise InputError("either -c (and -r) or --lists says what is compared: give one of them")
    level = options.level or ("segment" if lists else "corpus")
    if lists and level == "corpus":
        raise InputError("lists of texts are no corpora: leave out --level, or name files with -c and -r")
    systems, references = options.systems(), options.references
    output = options.open_output()
    plan = options.plan(one=True)
    names = [list(systems), list(systems)]
    if lists:
        texts = read_lists(lists, options.encoding)
    else:
        files = references or list(systems.values())
        with ParallelFiles.open(systems, files, encoding=options.encoding) as corpus:
            texts = pair_systems(corpus)
            if references:
                names[1] = list(name_files([file.name for file in corpus.references]))
            note_text(corpus, plan.metrics)
    with options.progress() as progress:
        if level == "segment":
            named = None if lists else names
            scored = score_pairs(texts, plan, names=named, jobs=options.jobs, progress=progress)
            table = text_pair_records(scored)
        else:
            table = matrix_records(score_systems(texts, names, plan, jobs=options.jobs, progress=progress))
    output.write(table)
