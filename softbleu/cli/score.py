"""`softbleu score`: corpora in, scores out."""

from typing import Any

from softbleu.cli.command import Given, command


@command(
    "score",
    "candidate reference source gold absent_annotators pairs input_format against blank_references resegment "
    "encoding metric scores lower direction signature preset language level documents page_format score_only long "
    "spans title digits output jobs cluster resume kernels",
    settings=lambda option: True,
)
def score(given: Given) -> None:
    """Score text against references (BLEU, chrF, TER, soft variants of BLEU), or corrections (GLEU, M2, I-measure).

    Systems follow -c, references -r, metrics -m: softbleu score -c A B C -r REFERENCE -m bleu chrf ter.
    """
    from softbleu.errors import InputError
    from softbleu.io.progress import note
    from softbleu.report import PAGES, WRITERS
    from softbleu.report.scores import write_numbers
    from softbleu.results.api import score_corpus

    page_wanted = given.output_format.lower() in PAGES
    write: Any = PAGES.find(given.output_format) if page_wanted else WRITERS.find(given.output_format, PAGES)
    if page_wanted and given.resume:
        raise InputError("--resume goes with scores, not with a page: leave out one")
    if given.spans and not page_wanted:
        raise InputError("--spans are marked on a page: add --format html")
    if given.score_only and given.output_format != "text":
        raise InputError("--score-only prints numbers alone: leave out --format")
    inputs = given.input_files()
    output = given.open_output(inputs, write_numbers if given.score_only else write, ".score")
    level = (given.level or given.signed.get("level", "corpus")).lower()
    run: dict[str, Any] = {"level": level, "kernels": given.kernels.lower(), **given.values("jobs executor")}
    shown: Any
    plan = given.plan()
    with given.progress() as progress, given.open_corpus(plan, by_document=level == "document") as corpus:
        if page_wanted:
            from softbleu.meta.reading import read_marks
            from softbleu.report.pages import make_page

            marks = read_marks(given.spans, corpus, given.encoding)
            page = make_page(corpus, plan, progress=progress, title=given.title or "", spans=marks, **run)
            shown, results = page, page.scores.results
        else:
            shown = results = score_corpus(corpus, plan, checkpoint=output.checkpoint, progress=progress, **run)
    if given.signature is not None:
        from softbleu.results.runs import broken_promises

        for broken in broken_promises(given.signed, results[0].signature):
            note(broken)
    if page_wanted and len(page.text) < page.text.segments:
        note(f"the page shows the first {len(page.text):,} of {page.text.segments:,} segments; its scores are of all")
    output.write(shown)
