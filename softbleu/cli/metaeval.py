"""`softbleu metaeval`: how well metrics agree with human judgements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from softbleu.cli.command import Given, command

if TYPE_CHECKING:
    from softbleu.meta.questions import MetaEvaluation


@command(
    "metaeval",
    "folders scores lower metric candidate reference source gold encoding unescape rankings rankings_start "
    "unexpanded rank_by human da documents level standardise direction language column aggregate table against "
    "window samples runs seed table_format long digits=3 output plot jobs cluster",
)
def metaeval(given: Given) -> None:
    """Measure how well metrics agree with human judgements of systems, of outputs, and of pairs of outputs.

    Metrics are read (--scores) or computed (--metric); judgements come by --rankings, --human or --da.
    """
    from softbleu.corpora import split_file
    from softbleu.errors import InputError, known_name
    from softbleu.io.progress import note
    from softbleu.meta.metaeval import metaeval as evaluate
    from softbleu.meta.questions import QUESTIONS
    from softbleu.meta.reading import default_question
    from softbleu.report.plots import check_picture, draw_metaeval

    metrics = given.scores or given.metric or given.folders
    asked = given.table or default_question(metrics, given.human or given.rankings, given.da)
    question = known_name("table", asked, QUESTIONS)
    inputs = [split_file(text)[1] for text in given.files("scores", "human")]
    inputs += given.files("rankings", "da", "reference", "source", "gold", "documents")
    inputs += given.systems().values()
    if not inputs:
        raise InputError("no input: give --rankings, --human or --da, and metrics by --scores or --metric")
    output = given.open_output(inputs)
    if given.plot is not None:
        check_picture(question)
    picture = given.open_picture("plot", inputs)
    asks: dict[str, Any] = {
        "metrics": given.metric,
        "expand": not given.unexpanded,
        "assessments": given.da,
        **given.values(
            "scores lower rankings rankings_start rank_by human documents level standardise language column"
        ),
        **given.values("unescape encoding aggregate against window samples runs seed jobs executor"),
    }
    if given.folders:
        evaluation = _pooled(given, question, asks)
    else:
        asks |= {"candidates": given.candidate, "references": given.reference}
        asks |= given.values("source gold direction")
        with given.progress("meta-evaluation") as progress:
            evaluation = evaluate(question, **asks, progress=progress)
    for said in evaluation.notes:
        note(said)
    picture(draw_metaeval, evaluation)
    output.write(evaluation.table)


def _pooled(given: Given, question: str, asks: dict[str, Any]) -> MetaEvaluation:
    """Measure agreement in the directions of folders, and pool it."""
    from softbleu.corpora.directions import read_directions
    from softbleu.errors import InputError
    from softbleu.meta.metaeval import metaeval_directions

    for name in ("candidate", "reference", "source", "gold", "direction", "plot"):
        if given.get(name):
            raise InputError(f"--{name} is of one direction: leave it out, or --folders")
    read = read_directions(given.folders)
    with given.progress("directions", many=1) as progress:
        return metaeval_directions(read, question, progress=progress, **asks)
