"""`softbleu metaeval`: how well metrics agree with human judgements."""

from __future__ import annotations

from typing import Literal, cast

from softbleu.cli.command import command, setting
from softbleu.cli.inputs import TextOptions, metric_names
from softbleu.cli.options import page_format
from softbleu.corpora.directions import read_directions
from softbleu.errors import InputError, Parameter, known_name
from softbleu.meta.campaign import TASK_MEASURES
from softbleu.meta.evidence import WAYS
from softbleu.meta.metaeval import MetaevalOptions, metaeval_directions
from softbleu.meta.metaeval import metaeval as metaeval_of
from softbleu.meta.questions import AGREEMENT_DIGITS, OF_TASKS, QUESTIONS, MetaEvaluation
from softbleu.meta.reading import default_question
from softbleu.report.metric_ranks import reader_table
from softbleu.report.plots import evaluation_panels

_METRICS, _JUDGES, _TESTS = "Scores of metrics", "Human judgements", "Significance"


class MetaEvaluationOptions(
    TextOptions,
    shared="candidates references source gold encoding direction documents language output format long jobs",
):
    """Options of `metaeval`.

    Attributes
    ----------
    folders
        Folders of directions (as 'softbleu directions' takes them, each with its texts, or mt-metrics-eval's): one
        table with the mean over directions. In names of other files {direction} stands for the direction's name
    unescape
        Turn entities such as &apos; in texts into characters
    scores
        Scores of metrics: JSON or TSV of 'softbleu score' at corpus or segment level, or a table of systems (or
        systems and segments) and scores; with --table spans, the spans they mark (xCOMET, softbleu spans)
    names
        Systems of files of numbers alone (--scores, --human), in order, as in SEEDA. A file that is named as one of
        them has the scores of its segments
    lower
        Scores, or human ones, where less is better (default: by their names, such as MetricX, TER, errors)
    missing_value
        Take this value, such as a judge's -1, for a missing score, also of annotators
    metrics
        Compute metrics: gleu, vleu(threshold=0.8), or a signature; on -c and -r, or on the texts of --da
    rankings
        Rankings: Appraise XML, or WMT's CSV with two or five systems per line
    rankings_start
        Number of the first segment in the rankings
    unexpanded
        Count systems with identical outputs, which annotators saw as one, once
    rank_by
        Score systems from the rankings by expected-wins or trueskill
    human
        Human scores of systems: a table of systems and scores
    assessments
        Direct assessment: LP SYSTEM SID HUMAN, or LP source translation reference HUMAN_score; or other scores of
        segments by judges, such as MQM, greater for better: system segment score, or .seg.score of mt-metrics-eval;
        of whole documents: system document score
    level
        Outputs are segments, or whole --documents; where judges scored segments, a document has their mean
    standardise
        Take of each judgement how far it lies above the mean of its annotator, in standard deviations
    column
        Human scores of this column
    aggregate
        Score systems by the pairwise wins of each metric's segments, as judges' comparisons are: expected-wins or
        trueskill
    samples
        Bootstrap samples, or permutations
    runs
        Runs of TrueSkill
    seed
        Seed of samples and runs
    against
        With --table differences, williams or spans, test the other metrics against this one only
    table
        Table to make: systems, outputs (direct assessment), preferences (tau), accuracy (of pairs), differences (of
        metrics, in these), spans (marked by metrics and judges), metrics (ranked over tasks, with clusters),
        metric-pairs (their permutation tests), williams, left-out, windows (of systems ranked next to one another),
        ranking or annotators
    tasks
        With --table metrics, rank metrics by these measures in every direction
    weights
        With --table metrics, weights of tasks by measure or direction, as in spa=2 en-cs=1
    exchange
        With --table metrics, permutations exchange scores of single outputs, as WMT does, or of whole segments
    window
        With --table windows, so many systems that judges rank next to one another
    digits
        Decimals in text, markdown and latex; other formats have all digits
    plot
        Also draw it into this file: .svg, .png or .pdf (needs softbleu[plots]), with the scores of metrics
        and judges, the p-values of williams, or the values of another table
    """

    folders: tuple[str, ...] = setting((), metavar="PLACE", panel="Input", common=True)
    unescape: bool = setting(False, panel="Input")
    scores: tuple[str, ...] = setting((), metavar="[NAME=]FILE", file="named", panel=_METRICS, common=True)
    names: tuple[str, ...] = setting((), metavar="SYSTEM", panel="Input")
    lower: tuple[str, ...] = setting((), name="lower_is_better", earlier=("--lower",), metavar="NAME", panel=_METRICS)
    missing_value: float | None = setting(None, panel=_METRICS)
    metrics: tuple[str, ...] = setting(
        (),
        name="metric",
        flags=("-m",),
        earlier=("--metric-settings",),
        metavar="[NAME=]METRIC",
        complete=metric_names,
        panel=_METRICS,
        common=True,
    )
    rankings: str | None = setting(None, file="read", panel=_JUDGES, common=True)
    rankings_start: int | None = setting(
        None,
        metavar="0|1",
        unset="as equal outputs tell, else 0 in XML and CSV of pairs, 1 in CSV of five",
        panel=_JUDGES,
    )
    unexpanded: bool = setting(False, panel=_JUDGES)
    rank_by: tuple[str, ...] = setting((), unset="expected-wins", complete=lambda: WAYS, panel=_JUDGES)
    human: tuple[str, ...] = setting((), metavar="[NAME=]FILE", file="named", panel=_JUDGES, common=True)
    assessments: str | None = setting(None, name="da", file="read", panel=_JUDGES, common=True)
    level: Literal["segment", "document"] = setting("segment", panel=_JUDGES)
    standardise: Literal["annotator"] | None = setting(None, panel=_JUDGES)
    column: str | None = setting(
        None, metavar="NAME", unset="the first of score, human, z, mqm, esa, da, raw and overall", panel=_JUDGES
    )
    aggregate: str | None = setting(
        None, unset="each metric's own score of the corpus", complete=lambda: WAYS, panel=_JUDGES
    )
    samples: int = setting(1000, panel=_TESTS)
    runs: int = setting(100, panel=_TESTS)
    seed: int = setting(12345, panel=_TESTS)
    against: str | None = setting(  # type: ignore[assignment]  # Of metrics, not of texts
        None, name="baseline", metavar="METRIC", earlier=("--against",), panel=_TESTS
    )
    table: str | None = setting(
        None, unset="systems, or what the input allows", complete=lambda: QUESTIONS, common=True
    )
    window: int = setting(4)
    tasks: tuple[str, ...] = setting(
        (),
        unset="spa and acc_eq, or for scores of systems systems_pearson and systems_accuracy",
        complete=lambda: TASK_MEASURES,
    )
    weights: tuple[str, ...] = setting((), metavar="NAME=WEIGHT", unset="1")
    exchange: Literal["outputs", "segments"] = setting("outputs", panel=_TESTS)
    digits: int | None = setting(AGREEMENT_DIGITS)
    format: str | None = page_format()
    plot: str | None = setting(None, file="written", common=True)

    @property
    def expand(self) -> bool:
        """Whether systems with identical outputs count separately."""
        return not self.unexpanded


@command
def metaeval(options: MetaEvaluationOptions) -> None:
    """Measure how well metrics agree with human judgements of systems, of outputs, and of pairs of outputs.

    Metrics are read (--scores) or computed (--metric); judgements come by --rankings, --human or --da.
    """
    metrics = options.scores or options.metrics or options.folders
    asked = options.table or default_question(metrics, options.human or options.rankings, options.assessments)
    question = known_name("table", asked, QUESTIONS)
    if not (options.input_files() or options.folders):
        raise InputError("no input: give --rankings, --human or --da, and metrics by --scores or --metric")
    output = options.open_output(pages=True)
    picture = options.open_picture(options.plot)
    evaluation = _evaluate(options, question)
    picture(evaluation_panels, evaluation)
    table = reader_table(evaluation) if question == "metrics" else evaluation.table
    output.write(evaluation if options.page_wanted else table)


def _evaluate(options: MetaEvaluationOptions, question: str) -> MetaEvaluation:
    """Answer the question, for one direction, or for the directions of folders."""
    one = ("candidates", "references", "source", "gold", "direction") if options.folders else ()
    pooled = bool(one) and question not in OF_TASKS
    if other := [name for name in (*one, *["plot"] * pooled) if getattr(options, name)]:
        raise InputError(Parameter(other[0]), " is of one direction: leave it out, or --folders")
    names = (name for name in MetaevalOptions.__annotations__ if name not in one)
    asked = cast("MetaevalOptions", {name: getattr(options, name) for name in names})
    if not options.folders:
        with options.progress("meta-evaluation") as progress:
            return metaeval_of(question, progress=progress, jobs=options.jobs, **asked)
    with options.progress("directions", many=1) as progress:
        read = read_directions(options.folders)
        return metaeval_directions(read, question, progress=progress, jobs=options.jobs, **asked)
