"""`softbleu experiments spurious`: deserved and spurious soft credit, by variants of the matchers."""

from softbleu.cli.command import Given, command
from softbleu.cli.options import about_matches


@command(
    "pairs encoding grammar pairing count seed matcher variant all_variants threshold thresholds table table_format "
    "digits output plot jobs cluster",
    settings=lambda option: about_matches(option) and option.setting.name not in ("matcher", "threshold"),
)
def spurious(given: Given) -> None:
    """Separate deserved from spurious credit by gold alignments, for each matcher, variant and threshold.

    Give aligned pairs, or a grammar to generate them from.
    """
    from softbleu.errors import known_name
    from softbleu.io.progress import note
    from softbleu.meta.spurious import COMBINATIONS, CREDIT_TABLES, GRAMMAR, PLAIN, VARIANTS
    from softbleu.meta.spurious import spurious as analyse
    from softbleu.report.plots import draw_spurious

    table = known_name("table", given.table, CREDIT_TABLES)
    inputs = given.files("pairs", "grammar")
    output = given.open_output(inputs)
    picture = given.open_picture("plot", inputs)
    every = (*VARIANTS, *COMBINATIONS) if given.all_variants else ()
    matchers = given.matcher or ["vleu", "xleu"]
    with given.progress("matching") as progress:
        credit = analyse(
            matchers=matchers,
            variants=[*given.variant, *every] or [PLAIN],
            thresholds=given.thresholds or ("0:0.95:0.05",),
            at=given.threshold,
            progress=progress,
            **given.values("grammar pairing count seed pairs encoding jobs executor"),
            **given.settings_of(("bleu", *matchers)),
        )
    inputs_given = given.values("pairs grammar pairing count seed").values()
    if all(value is None for value in inputs_given):
        note(f"no input given (see --help), so this generates pairs of the grammar {GRAMMAR}")
    if all(analysis.is_empty for analysis in credit.analyses):
        note("no approximate matches at any threshold: there is no credit to judge")
    output.write(credit.table(table))
    picture(draw_spurious, credit.analyses)
