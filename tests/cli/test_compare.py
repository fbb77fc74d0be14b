"""`softbleu compare`: tables of several systems, tests, pictures and views; `explain --show`, `diff`."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.conftest import CANDIDATE, LINES, REFERENCE, scored

from softbleu.analysis import bucket_scores, choose_lines, compare_buckets, compare_corrections, ngram_differences
from softbleu.corpora import Segments
from softbleu.corpora.edits import read_m2
from softbleu.metrics.reading import read_metric
from softbleu.metrics.signatures import metric_from_signature
from softbleu.report.comparisons import nested_pair
from softbleu.results.api import compare_corpus
from softbleu.results.significance import SignificanceSettings

pytestmark = pytest.mark.usefixtures("few_lines_tested")
GOOD, POOR = LINES["good.txt"], LINES["poor.txt"]


@pytest.fixture
def given(files):
    """Three systems against one reference."""
    files.lay("good.txt", "poor.txt")
    return ["-c", "candidate.txt", "good.txt", "poor.txt", "-r", "reference.txt"]


def table(baseline=None, **how):
    """What the Python interface says of the same systems."""
    corpus = Segments.of({"candidate": CANDIDATE, "good": GOOD, "poor": POOR}, REFERENCE)
    return compare_corpus(corpus, read_metric(order=2), baseline=baseline, significance=SignificanceSettings(**how))


def compared(command, *arguments):
    return scored(command, *arguments, "--quiet", name="compare")


@pytest.mark.parametrize(
    ("arguments", "how"),
    [
        ("", {}),
        ("--samples 50 --test-seed 3 --baseline poor", {"baseline": "poor", "samples": 50, "seed": 3}),
        ("--test randomization --trials 70 --samples 20", {"test": "randomization", "trials": 70, "samples": 20}),
    ],
)
def test_numbers_are_those_of_the_python_interface(command, given, arguments, how):
    found, expected = compared(command, *given, "-n", 2, *arguments.split()), table(**how)
    assert (found["baseline"], found["correction"]) == (how.get("baseline", "candidate"), "holm")
    assert found["signature"] == expected.signature
    assert found["schema"] == 2
    for pair, row in zip(found["pairs"], expected.pairs, strict=True):
        nested = json.loads(json.dumps(nested_pair(row)))
        assert pair == {**nested, **{name: row[name] for name in pair if name not in nested}}
    for flat, row in zip(found["rows"], expected.rows, strict=True):
        assert flat == {name: row[name] for name in flat}
    assert [system["name"] for system in found["systems"]] == ["candidate", "good", "poor"]
    for system, row in zip(found["systems"], expected.comparisons, strict=True):
        assert " ".join(system) == "name score mean interval p_value rank ranks beside vector_coverage"
        assert (system["interval"], system["ranks"]) == (list(row.interval), list(row.ranks))
        assert (system["beside"] or {}).get("effect") == (row.beside and row.beside.effect)
        for name in ("score", "mean", "p_value", "rank"):
            assert system[name] == getattr(row, name)
        assert (system["p_value"] is None) == (system["name"] == found["baseline"])
    assert [system["rank"] for system in found["systems"]] == [2, 1, 3]


def test_a_gate_fails_for_worse_systems_and_writes_the_table_all_the_same(command, given):
    usual = command("compare", *given, "-m", "chrf", "--quiet", "--baseline", "good")
    gate = command("compare", *given, "-m", "chrf", "--quiet", "--baseline", "good", "--fail-if-worse", "--margin", 1)
    assert (usual.code, gate.code, gate.out) == (0, 1, usual.out)
    assert gate.err.count("\n") == 1
    assert gate.err.startswith("softbleu: not shown to be within 1: candidate of good by chrF (-")
    better = ["-c", "candidate.txt", "good.txt", "-r", "reference.txt", "-m", "chrf", "--quiet"]
    assert command("compare", *better, "--fail-if-worse", "--margin", 1).code == 0


def test_distribution_reproduces_the_intervals(command, files, given):
    path = files.folder / "scores.tsv"
    odd = files.write("a|b\t%.txt", POOR)
    command("compare", "-c", odd, "-r", "reference.txt", "--samples", 2, "--distribution", path)
    assert path.read_text().splitlines()[0] == r"a|b\t%"
    found = compared(command, *given, "-n", 2, "--samples", 60, "--distribution", path)
    head, *rows = csv.reader(io.StringIO(path.read_text()), delimiter="\t")
    assert (head, len(rows)) == (["candidate", "good", "poor"], 60)
    for system, column in zip(found["systems"], zip(*rows, strict=True), strict=True):
        scores = list(map(float, column))
        assert list(np.percentile(scores, [2.5, 97.5])) == system["interval"]
        assert float(np.mean(scores)) == pytest.approx(system["mean"], abs=1e-12)


def test_compare_takes_several_metrics(command, files, given):
    found = compared(command, *given, "-m", "bleu(order=2)", "chrf", "--samples", 30, "--plot", "pairs.svg")
    named = [(each["metric"], each["name"]) for each in found["systems"]]
    assert named[2:4] == [("bleu(order=2)", "poor"), ("chrf", "candidate")]
    assert [each["score"] for each in found["systems"][:3]] == [row.score for row in table(samples=30).comparisons]
    assert len(found["pairs"]) == 6
    drawn = Path("pairs.svg").read_text()
    assert all(f">{label}, 95% intervals" in drawn for label in ("BLEU", "chrF"))
    assert drawn.count(">candidate<") == 2


def test_coverage_is_of_metrics_with_vectors(command, files, given):
    soft = ["-m", "bleu", "vleu(threshold=0.5)", "xleu(threshold=0.5)", "--vectors", "vectors.txt"]
    found = compared(command, *given, *soft)["systems"]
    assert [row["vector_coverage"] is None for row in found] == [True] * 3 + [False] * 6


@pytest.mark.slow
@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_the_default_can_find_differences_between_many_systems(command, files, test):
    # Each system has its own share of right lines, from none to nearly all.
    reference = [f"these are the words of line {number} here" for number in range(60)]
    systems = [files.write(f"{k:02}.txt", reference[: 4 * k] + ["nothing"] * (60 - 4 * k)) for k in range(15)]
    given = ["-c", *systems, "-r", files.write("long.txt", reference), "--test", test]
    found = compared(command, *given, "--all-pairs")
    draws = "test-samples:11000|test-trials:10000" if test == "bootstrap" else "test-samples:1000|test-trials:11000"
    assert f"test-test:{test}|{draws}|" in found["signature"]
    assert min(pair["corrected"] for pair in found["pairs"]) < 0.05
    unasked = compared(command, *given)
    assert f"test-samples:{2000 if test == 'bootstrap' else 1000}|test-trials:10000|" in unasked["signature"]
    assert [pair["other"] for pair in unasked["pairs"]] == ["00"] * 14
    # What was asked for is kept.
    asked = compared(command, *given, "--all-pairs", "--samples", 30, "--trials", 40)
    assert "test-samples:30|test-trials:40|" in asked["signature"]
    assert min(pair["corrected"] for pair in asked["pairs"]) == 1


def test_a_signature_runs_again(command, given):
    arguments = ["--samples", 40, "--seed", 5, "--correction", "fdr", "--baseline", "poor"]

    def numbers(*arguments: object) -> dict[str, Any]:
        found = compared(command, *given, *arguments)
        return found | {"rows": [{**row, "metric": ""} for row in found["rows"]]}  # Defaults may be written or not

    first = numbers("-n", 2, *arguments)
    assert numbers("--signature", first["signature"]) == first
    other = compared(command, *given, "--signature", first["signature"], "--samples", 41, "--baseline", "good")
    said = "test-samples:41|test-trials:10000|test-seed:5|test-correction:fdr|test-compatible:none|test-baseline:good"
    assert said in other["signature"]
    # Signatures of before name a test without saying whose: its digits are those of before.
    theirs = numbers("-n", 2, *arguments, "--compatible", "sacrebleu")
    assert "test-test:bootstrap|test-samples:40|" in theirs["signature"]
    before = theirs["signature"].replace("|test-compatible:sacrebleu", "")
    assert numbers("--signature", before) == theirs


@pytest.mark.parametrize("correction", ["none", "holm"])
def test_p_values_compatible_with_sacrebleu_are_corrected_only_when_asked(command, given, correction):
    asked = () if correction == "none" else ("--correction", correction)
    found = compared(command, *given, "-n", 2, "--compatible", "sacrebleu", *asked)
    assert f"test-correction:{correction}|test-compatible:sacrebleu" in found["signature"]
    corrected, plain = ([pair[name] for pair in found["pairs"]] for name in ("corrected", "p_value"))
    assert (corrected == plain) == (correction == "none")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("--test bootstrap --samples 30", "Holm correction: 3 tests, 30 samples, smallest attainable p = 0.0968"),
        ("--trials 9 --correction none", "at 0.05: 3 tests, 9 trials, smallest attainable p = 0.1000"),
        ("--trials 9 --correction fdr", "Hochberg correction: 3 tests, 9 trials, smallest attainable p = 0.1000"),
        ("--test bootstrap --samples 300", None),
    ],
)
def test_a_picture_in_which_nothing_is_marked_says_why(command, given, arguments, said):
    pytest.importorskip("matplotlib")
    assert command("compare", *given, "-n", 2, *arguments.split(), "--plot", "pairs.svg").code == 0
    drawn = " ".join(re.findall(r"<(?:text|tspan)[^>]*>([^<]+)<", Path("pairs.svg").read_text()))
    assert ("no difference is significant at 0.05" in drawn) == (said is not None)
    assert (said or "") in drawn


CORPUS = Segments.of({"good": GOOD, "poor": POOR}, REFERENCE)
TWO = ["-c", "good.txt", "poor.txt", "-r", "reference.txt"]
VIEWS: dict[str, Any] = {
    "--by length -m bleu chrf": lambda: compare_buckets(CORPUS, ["bleu", "chrf"]),
    "--by rarity": lambda: bucket_scores(CORPUS, by="rarity"),
    "--by order": lambda: bucket_scores(CORPUS, by="order"),
    "--show ngrams --top 3": lambda: ngram_differences(CORPUS, top=3),
    "--show different --baseline poor -m ter": lambda: choose_lines(CORPUS, "ter", "different", baseline="poor"),
    "--show worst --top 2": lambda: choose_lines(CORPUS, "bleu", "worst", top=2),
    "--show disagreeing -m bleu chrf": lambda: choose_lines(CORPUS, ["bleu", "chrf"], "disagreeing"),
}


@pytest.mark.usefixtures("given")
@pytest.mark.parametrize("arguments", VIEWS)
def test_views_are_those_of_the_python_interface(command, arguments):
    assert scored(command, *TWO, *arguments.split(), name="compare")["rows"] == VIEWS[arguments]().records()


EDITS = ["-c", "good.txt", "poor.txt", "--gold", "annotators.m2", "-m"]


def test_kinds_of_edits_are_those_of_the_python_interface(command, files, given):
    files.lay("annotators.m2")
    asked = ("m2", "errant", "--by", "type", "--baseline", "poor", "--samples", 20, "--trials", 30, "--quiet")
    found = scored(command, *EDITS, *asked, name="compare")
    corpus = Segments.of_gold({"good": GOOD, "poor": POOR}, read_m2("annotators.m2"))
    how = SignificanceSettings(samples=20, trials=30)
    expected = compare_corrections(corpus, ["m2", "errant"], baseline="poor", significance=how)
    assert (found["rows"], found["baseline"]) == (expected.records(), "poor")
    assert found["signature of m2"] == expected[0].signature
    # One system has nothing to differ from.
    alone = scored(command, "-c", "good.txt", *EDITS[3:], "m2", "--by", "operation", "--quiet", name="compare")
    assert list(alone["rows"][0])[-2:] == ["lower", "upper"]


def test_kinds_of_edits_stand_on_pages_and_are_drawn(command, files, given):
    files.lay("annotators.m2")
    done = command("compare", *EDITS, "m2", "errant", "--by", "form", "-f", "html", "-o", "page.html", "--quiet")
    assert (done.code, done.err) == (0, "")
    page = Path("page.html").read_text(encoding="utf-8")
    assert all(f"{label}: corrections by kind" in page for label in ("M2", "ERRANT"))
    assert "test-by:form" in page
    pytest.importorskip("matplotlib")
    command("compare", *EDITS, "m2", "--by", "type", "--samples", 20, "--plot", "kinds.svg")
    assert ">M2: poor beside good<" in Path("kinds.svg").read_text()
    done = command("compare", "-c", "good.txt", *EDITS[3:], "m2", "--by", "type", "--plot", "kinds.svg")
    assert (done.code, "give two systems" in done.err) == (2, True)


@pytest.mark.usefixtures("given")
def test_explain_shows_the_lines_that_matter(command):
    found = scored(command, *TWO, "--show", "worst", "--top", 2, name="explain")["segments"]
    expected = list(dict.fromkeys(line.segment for line in choose_lines(CORPUS, "bleu", "worst", top=2)))
    assert list(dict.fromkeys(each["segment"] for each in found)) == expected
    done = command("explain", *TWO, "--show", "disagreeing", "-m", "bleu", "chrf", "--top", 1)
    assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize("more", [["--by", "length"], ["-f", "html", "--quiet"]])
def test_without_references_lengths_are_counted(command, given, more):
    assert command("compare", *TWO[:3], "-s", "reference.txt", "-m", "refless", *more).code == 0


def test_text_shows_the_most_changed_lines(command, files):
    for name, text in (("monday", "candidate.txt"), ("tuesday", "second.txt")):
        given = ("-c", f"ours={text}", "-r", "reference.txt", "--level", "segment", "-o", f"{name}.json")
        assert command("score", *given).code == 0
    done = command("diff", "monday.json", "tuesday.json", "--lines", "1")
    assert (done.code, done.err) == (0, "")
    assert sum(line.startswith("line ") for line in done.out.splitlines()) == 1
    assert done.out.endswith("\n2 more lines changed; this table has 1 per metric\n")
    rows = json.loads(command("diff", "monday.json", "tuesday.json", "-f", "json").out)["rows"]
    sizes = [abs(row["difference"]) for row in rows if row["kind"] == "line"]
    assert (len(sizes), sizes) == (3, sorted(sizes, reverse=True))
    assert "nothing differs" in command("diff", "monday.json", "monday.json").out


def test_more_than_two_runs_are_a_history(command, files):
    runs = [("monday", "candidate.txt", "2"), ("tuesday", "second.txt", "2"), ("friday", "second.txt", "1")]
    for name, text, beta in runs:
        given = ("-c", f"ours={text}", "-r", "reference.txt", "-m", "chrf", "--beta", beta, "-o", f"{name}.json")
        assert command("score", *given).code == 0
    names = [f"{name}.json" for name, *_ in runs]
    done = command("diff", *names, "--plot", "week.svg")
    assert (done.code, done.err) == (0, "")
    assert [line.split()[0] for line in done.out.splitlines()[2:5]] == ["monday", "tuesday", "friday"]
    assert done.out.splitlines()[4].endswith("beta 2.0 → 1.0")
    assert "beta 2.0 → 1.0" in Path("week.svg").read_text(encoding="utf-8")
    rows = json.loads(command("diff", *names, "-f", "json").out)["rows"]
    assert [row["difference"] for row in rows] == [None, rows[1]["score"] - rows[0]["score"], None]
    told = [command("diff", *wrong) for wrong in (names[:1], [*names, names[0]])]
    assert [done.code for done in told] == [2, 2]
    assert "name two, or more for a history" in told[0].err
    assert "monday.json is named twice" in told[1].err


def test_scores_of_other_programs_are_a_metric(command, files):
    files.lay("comet.tsv three.txt")
    both = ["--scores", "comet.tsv:COMET,errors", "--lower", "errors"]
    rows = compared(command, *both)["systems"]
    assert [row["rank"] for row in rows] == [2, 3, 1] * 2
    assert rows[1]["beside"]["difference"] == -rows[4]["beside"]["difference"] == pytest.approx(-0.625 / 3)
    signature = scored(command, "--scores", "comet.tsv:COMET")["signature"]
    assert "|table:comet.tsv:COMET#" in signature
    again = metric_from_signature(signature).results()
    assert again["B"].score == pytest.approx(0.875 / 3)
    parts = compared(command, *both[:1], "comet.tsv:COMET", "--by", "three.txt")["rows"]
    by_system = {row["system"]: row["score"] for row in parts[3:]}
    assert (parts[0]["score"], parts[1]["score"], by_system["A"], by_system["B"]) == (0.375, 0.1875, 0.75, 0.5)
    assert "segment 1" in command("compare", "--scores", "comet.tsv:COMET", "--show", "different", "--top", "1").out
    texts = ["-c", "A=candidate.txt", "B=second.txt", "-r", "reference.txt"]
    page = command("compare", *both, *texts, "-m", "chrf", "-f", "html").out
    assert all(part in page for part in ('"label": "COMET"', "scores(table=comet.tsv:errors)", '"chrf"'))


def test_signatures_of_scores_name_all_files_and_are_run_again(command, files):
    names = ["judge.a.tsv", "judge.c.tsv"]
    files.lay(*names)
    here = [f"judge={files.folder / name}" for name in names]
    made = scored(command, "--scores", *here)
    assert made["signature"].startswith("metric:scores|table:judge.a.tsv+judge.c.tsv#")
    assert scored(command, "--signature", made["signature"])["systems"] == made["systems"]
