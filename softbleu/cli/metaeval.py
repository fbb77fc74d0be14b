"""`softbleu metaeval`: how well metrics agree with human judgements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from softbleu.cli.command import Given, command

if TYPE_CHECKING:
    from softbleu.meta.metaeval import MetaEvaluation


@command(
    "folders scores lower metric candidate reference source gold encoding unescape rankings rankings_start "
    "unexpanded rank_by human da documents level standardise direction language column aggregate table against "
    "window samples runs seed table_format long digits=3 output plot jobs cluster",
    """
Input
  --folders PLACE…: Several directions, as 'softbleu directions' takes them, each with its texts: one table with the
    mean over directions. In names of other files {direction} stands for that of the direction.
What metrics said
  --scores [NAME=]FILE…: Scores of metrics: JSON or TSV of 'softbleu score' at corpus or segment level, or a table of
    systems (or systems and segments) and scores; with --table spans what they mark (xCOMET, softbleu spans).
  --lower NAME…: Scores, or human ones, of which less is better, such as error rates; files of softbleu say it
    themselves.
  --metric -m --metric-settings [NAME=]METRIC…: Compute metrics: gleu, vleu(threshold=0.8), or a signature; on -c and
    -r, or on the texts of --da.
  --unescape: Turn entities such as &apos; in texts into characters.
Human judgements
  --rankings FILE: Rankings: Appraise XML, or WMT's CSV with two or five systems per line.
  --unexpanded: Count systems with identical outputs, which annotators saw as one, once.
  --rank-by NAME… <meta.evidence:WAYS>: Score systems from the rankings by expected-wins or trueskill
    (default: expected-wins).
  --human [NAME=]FILE…: Human scores of systems, as a table of systems and scores.
  --da FILE: Direct assessment: LP SYSTEM SID HUMAN, or LP source translation reference HUMAN_score; or other scores
    of segments by judges, such as MQM, greater for better: system segment score, or .seg.score of mt-metrics-eval; of
    whole documents: system document score.
  --level NAME =segment <segment,document>: Outputs are segments, or whole --documents; where judges scored segments,
    with the mean of theirs (default: =).
  --aggregate NAME <meta.evidence:WAYS>: Score systems by the pairwise wins of each metric's segments, as judges'
    comparisons are: expected-wins or trueskill (default: each metric's own score of the corpus).
Significance
  --samples N =1000: Bootstrap samples (default: =).
  --runs N =100: Runs of TrueSkill (default: =).
  --seed N =12345: Seed of samples and runs (default: =).
Output
  --against NAME: With --table differences, williams or spans, only tests with this metric.
  --window N =4: With --table windows, so many systems that judges rank next to one another (default: =).
  --table NAME <meta.metaeval:QUESTIONS>: systems, outputs (direct assessment), preferences (tau), accuracy (of
    pairs), differences (of metrics, in these), spans
    (marked by metrics and judges), williams, left-out, windows (of systems ranked
    next to one another), ranking or annotators (default: systems, or what the input allows).
  --plot FILE: Also draw scores of metrics and judges (or the p-values of williams) into this .svg, .png or .pdf file
    (needs softbleu[plots]).
""",
)
def metaeval(given: Given) -> None:
    """Measure how well metrics agree with human judgements of systems, of outputs, and of pairs of outputs.

    Metrics are read (--scores) or computed (--metric); judgements come by --rankings, --human or --da.
    """
    from softbleu.cli.inputs import system_files
    from softbleu.corpora import split_file
    from softbleu.errors import InputError, known_name
    from softbleu.meta.metaeval import QUESTIONS, default_question
    from softbleu.meta.metaeval import metaeval as evaluate
    from softbleu.report.figures import check_picture, draw_metaeval

    metrics = given.scores or given.metric or given.folders
    asked = given.table or default_question(metrics, given.human or given.rankings, given.da)
    question = known_name("table", asked, QUESTIONS)
    inputs = [split_file(text)[1] for text in given.files("scores", "human")]
    inputs += [
        *system_files(given).values(),
        *given.files("reference", "rankings", "da", "source", "gold", "documents"),
    ]
    if not inputs:
        raise InputError("no input: give --rankings, --human or --da, and metrics by --scores or --metric")
    output = given.open_output(inputs)
    if given.plot is not None:
        check_picture(question)
    picture = given.open_picture("plot", inputs)
    asks: dict[str, Any] = {
        "scores": given.scores or (),
        "lower": given.lower or (),
        "metrics": given.metric or (),
        "expand": not given.unexpanded,
        "rank_by": given.rank_by or (),
        "human": given.human or (),
        "assessments": given.da,
        **given.values("rankings rankings_start documents level standardise language column unescape encoding"),
        **given.values("aggregate against window samples runs seed jobs executor"),
    }
    if given.folders:
        evaluation = _pooled(given, question, asks)
    else:
        asks |= {"candidates": given.candidate or (), "references": given.reference or ()}
        asks |= given.values("source gold direction")
        with given.progress("meta-evaluation") as progress:
            evaluation = evaluate(question, **asks, progress=progress)
    for note in evaluation.notes:
        given.note(note)
    drawn = None if picture is None else draw_metaeval(evaluation, picture.suffix)
    output.write(evaluation.table)
    if picture is not None and drawn is not None:
        picture.write(drawn)


def _pooled(given: Given, question: str, asks: dict[str, Any]) -> MetaEvaluation:
    """Measure agreement in the directions of folders, and pool it."""
    from softbleu.corpora.directions import read_directions
    from softbleu.errors import InputError
    from softbleu.meta.pooling import metaeval_directions

    for name in ("candidate", "reference", "source", "gold", "direction", "plot"):
        if given.get(name):
            raise InputError(f"--{name} is of one direction: leave it out, or --folders")
    read = read_directions(given.folders)
    with given.progress("directions", many=1) as progress:
        return metaeval_directions(read, question, progress=progress, **asks)
