"""`softbleu select`: one of several outputs of each segment."""

from __future__ import annotations

from collections.abc import Mapping

from softbleu.cli.command import command, setting
from softbleu.cli.inputs import Scoring, metric_names
from softbleu.corpora import ParallelFiles
from softbleu.corpora.files import Look
from softbleu.corpora.records import TextList, read_lists
from softbleu.errors import InputError
from softbleu.results.choices import ChoiceRule
from softbleu.results.choices import select as choose
from softbleu.results.pairs import pair_systems


class SelectOptions(Scoring, shared="candidates references encoding language preset output format digits jobs"):
    """Options of `select`.

    Attributes
    ----------
    metrics
        Metric of two texts, such as chrf, bleu or bertscore (list: softbleu metrics)
    lists
        Lists of outputs instead of files: the n-best list of Moses, or JSONL, a segment per line: a list of texts, or
        {"candidates": [text, …]}, maybe with "references" and "scores"; - is standard input
    by
        how to choose. risk: minimum Bayes risk, the best mean score with all outputs of the list, itself among
        them; references: the best score with
        the references, the oracle; scores: the highest score that the lists have
    """

    metrics: tuple[str, ...] = setting(
        (), name="metric", unset="chrf", flags=("-m",), complete=metric_names, panel="Score", common=True
    )
    lists: str | None = setting(None, file="read", panel="Input", common=True)
    by: ChoiceRule | None = setting(
        None, unset="references where there are some, else risk", panel="Score", common=True
    )


@command
def select(options: SelectOptions) -> None:
    """Choose one of several outputs of each segment, and write it, a line each; other formats have its score, too.

    Files of -c have a segment per line. -r has references for them, or for the lists.
    """
    if bool(options.lists) == bool(options.candidates):
        raise InputError("either -c or --lists says what to choose from: give one of them")
    output = None if options.output_format == "text" else options.open_output()
    target = options.open_target()
    plan = options.plan(one=True) if options.metrics or options.chosen else "chrf"
    files, references = options.references or [look.name for look in options.systems.values()], None
    if files:
        systems: Mapping[str, Look] | Mapping[str, str] = options.systems or {name: name for name in files}
        with ParallelFiles.open(systems, files, encoding=options.encoding) as corpus:
            pairs = pair_systems(corpus)
        references = [one.references for one in pairs] if options.references else None
    lists = read_lists(options.lists, options.encoding) if options.lists else [one.candidates for one in pairs]
    known = references is not None or all(isinstance(one, TextList) and one.has_references for one in lists)
    rule: ChoiceRule = options.by or ("references" if known else "risk")
    with options.progress() as progress:
        chosen = choose(lists, plan, by=rule, references=references, jobs=options.jobs, progress=progress)
    if output is not None:
        output.write(chosen.as_table())
    else:
        target.write(f"{text}\n" for text in chosen.texts)
