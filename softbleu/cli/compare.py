"""`softbleu compare`: several systems, their intervals and tests."""

from typing import Any, get_args

from softbleu.cli.command import Given, command


@command(
    "compare",
    "candidate reference source gold absent_annotators pairs input_format against blank_references resegment "
    "encoding metric scores lower direction signature preset language baseline test samples trials seed correction "
    "compatible documents all_pairs show top by distribution page_format columns long spans title digits output plot "
    "jobs cluster resume",
    settings=lambda option: option.setting.name != "segment_smoothing",
)
def compare(given: Given) -> None:
    """Compare systems by any metrics: scores, 95% intervals, ranks, differences and their tests."""
    from softbleu.cli.output import Output
    from softbleu.corpora.labels import Documents
    from softbleu.errors import InputError, known_name
    from softbleu.report import COMPARERS, MATRIX_WRITERS, PAGES
    from softbleu.report.comparisons import COMPARISON_COLUMNS, draw_pairs, note_few, write_distribution
    from softbleu.results.api import compare_corpus
    from softbleu.results.significance import SignificanceSettings

    if given.show or given.by:
        _write_view(given)
        return
    if given.top is not None:
        raise InputError("--top says how many lines or n-grams --show shows: name what to show")
    name = given.output_format.lower()
    page_wanted = name in PAGES
    write: Any = (PAGES if page_wanted else MATRIX_WRITERS if given.all_pairs else COMPARERS).find(name)
    inputs = given.input_files()
    for column in given.columns:
        known_name("column", column, COMPARISON_COLUMNS)
    output = given.open_output(inputs, write, ".compare")
    resampled = None if given.distribution is None else Output.of(given.distribution, inputs)
    picture = given.open_picture("plot", inputs)
    plan = given.plan(also=["seed"])
    asked = {name: value and value.lower() for name, value in given.values("test correction compatible").items()}
    asked |= given.values("samples trials seed")
    asked["documents"] = given.documents and Documents.read(given.documents, given.encoding)
    asked["all_pairs"] = given.all_pairs or given.plot is not None
    how, signed = SignificanceSettings.from_signature(given.signature, **asked)
    run: dict[str, Any] = {"baseline": given.baseline or signed, "significance": how, **given.values("jobs executor")}
    if given.spans and not page_wanted:
        raise InputError("--spans are marked on a page: add --format html")
    if page_wanted and (resampled or given.plot or given.resume or given.columns):
        raise InputError("a page has no --plot, --distribution, --columns and --resume: these need another format")
    compared: Any
    with given.open_corpus(plan, by_document=True) as corpus, given.progress() as progress:
        note_few(how, len(corpus.systems), name)
        if page_wanted:
            from softbleu.meta.reading import read_marks
            from softbleu.report.pages import make_comparison_page

            run |= {"title": given.title or "", "spans": read_marks(given.spans, corpus, given.encoding)}
            compared = make_comparison_page(corpus, plan, progress=progress, **run)
        else:
            compared = compare_corpus(corpus, plan, checkpoint=output.checkpoint, progress=progress, **run)
    if resampled is not None:
        resampled.write(write_distribution(compared))
    picture(draw_pairs, compared)
    output.write(compared)


def _write_view(given: Given) -> None:
    """Show lines, n-grams or parts of the corpus instead of the comparison."""
    from softbleu.analysis import bucket_scores, choose_lines, correction_kinds, ngram_differences
    from softbleu.analysis.differences import By
    from softbleu.errors import InputError
    from softbleu.report.explanations import LINE_WRITERS
    from softbleu.report.records import VIEWS
    from softbleu.results.significance import SignificanceSettings, compare_runs

    unused = ["distribution", "plot", "columns", "all_pairs", "test", "trials", "compatible", "resume"]
    unused += ["samples", "correction"] if given.by != "runs" else []
    kinds = get_args(By)
    lines = given.show not in (None, "ngrams")
    both = given.show and given.by and not (lines and given.by in kinds)
    other = next((name for name in unused if given.get(name)), "by" if both else None)
    if other is not None:
        raise InputError(f"--{other.replace('_', '-')} goes with another table: leave it out, or --show and --by")
    write: Any = (LINE_WRITERS if lines else VIEWS).find(given.output_format)
    output = given.open_output([*given.input_files(), given.by], write)
    plan = given.plan(also=["seed"])
    top = 20 if given.top is None else given.top
    view: Any
    by_document = given.by in ("document", "runs")
    with given.open_corpus(plan, by_document=by_document) as corpus, given.progress() as progress:
        run: dict[str, Any] = {"jobs": given.jobs, "executor": given.executor, "progress": progress}
        if lines:
            run |= {"top": top, "baseline": given.baseline, "by": given.by, "language": given.language}
            view = choose_lines(corpus, plan, given.show.lower(), **run)
        elif given.show:
            view = ngram_differences(corpus, baseline=given.baseline, top=top, tokenizer=plan.metrics[0].tokenizer)
        elif given.by == "runs":
            asked = {"documents": corpus.documents, **given.values("samples seed correction")}
            how, _ = SignificanceSettings.from_signature(given.signature, **asked)
            view = compare_runs(corpus, plan, how, baseline=given.baseline, **run)
        elif given.by in kinds:
            view = correction_kinds(corpus, plan, given.by, given.language)
        else:
            view = bucket_scores(corpus, plan, by=given.by, encoding=given.encoding, **run)
    output.write(view)
