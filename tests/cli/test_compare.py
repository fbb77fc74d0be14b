"""`softbleu compare`: tables of several systems in every format, and what is refused."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import asdict

import numpy as np
import pytest

import softbleu
from softbleu.metrics.making import make_metric
from softbleu.results import SignificanceSettings, compare_corpus

CANDIDATE = ["the cat sat on a mat", "a small dog barked loudly", "rain fell all night"]
REFERENCE = ["the cat sat on the mat", "a little dog barked loudly", "it rained all night long"]
SECOND = ["a cat was sitting on the mat", "the small hound barked", "rain fell the whole night"]
POOR = ["cats sit", "a dog barked", "all night rain"]
FORMATS = ("text", "json", "tsv", "markdown", "latex")


@pytest.fixture
def given(files):
    """Three systems against one reference."""
    good = files.write("good.txt", [*REFERENCE[:2], CANDIDATE[2]])
    poor = files.write("poor.txt", POOR)
    return ["-c", files.candidate, "-c", good, "-c", poor, "-r", files.reference]


@pytest.fixture
def table():
    """What the Python interface says of the same systems."""

    def make(baseline=None, measure=None, **how):
        systems = {"candidate": CANDIDATE, "good": [*REFERENCE[:2], CANDIDATE[2]], "poor": POOR}
        corpus = softbleu.Segments.of(systems, REFERENCE)
        return compare_corpus(
            corpus, measure or make_metric(order=2), baseline=baseline, significance=SignificanceSettings(**how)
        )

    return make


def compared(command, *arguments):
    done = command("compare", *arguments, "--format", "json", "--quiet")
    assert (done.code, done.err) == (0, "")
    return json.loads(done.out, parse_constant=pytest.fail)


@pytest.mark.parametrize(
    ("arguments", "how"),
    [
        ([], {}),
        (["--samples", 50, "--test-seed", 3], {"samples": 50, "seed": 3}),
        (
            ["--test", "randomization", "--trials", 70, "--samples", 20],
            {"test": "randomization", "trials": 70, "samples": 20},
        ),
    ],
)
def test_numbers_are_those_of_the_python_interface(command, given, table, arguments, how):
    found = compared(command, *given, "-n", 2, *arguments)
    expected = table(**how)
    assert found["baseline"] == "candidate"
    assert found["signature"] == expected.signature
    assert found["pairs"] == json.loads(json.dumps([asdict(pair) for pair in expected.pairs]))
    assert found["correction"] == "holm"
    assert [system["name"] for system in found["systems"]] == ["candidate", "good", "poor"]
    for system, row in zip(found["systems"], expected.comparisons, strict=True):
        assert list(system) == ["name", "score", "mean", "interval", "p_value", "rank", "ranks", "beside"]
        assert (system["interval"], system["ranks"]) == (list(row.interval), list(row.ranks))
        assert (system["beside"] or {}).get("effect") == (row.beside and row.beside.effect)
        for name in ("score", "mean", "p_value", "rank"):
            assert system[name] == getattr(row, name)
    assert [system["rank"] for system in found["systems"]] == [2, 1, 3]
    assert [system["p_value"] is None for system in found["systems"]] == [True, False, False]


def test_scores_are_those_of_score(command, given):
    systems = json.loads(command("score", *given, "-n", 2, "-f", "json").out)["systems"]
    found = compared(command, *given, "-n", 2)["systems"]
    assert [system["score"] for system in found] == [system["score"] for system in systems]


def test_baseline_is_named(command, given, table):
    found = compared(command, *given, "-n", 2, "--baseline", "poor")
    expected = table("poor")
    assert found["baseline"] == "poor"
    p_values = [system["p_value"] for system in found["systems"]]
    assert p_values == [row.p_value for row in expected.comparisons]
    assert p_values[2] is None


def test_text_is_ranked_and_says_what_was_tested(command, given, table):
    done = command("compare", *given, "-n", 2, "--digits", 3, "--samples", 200)
    assert (done.code, done.err) == (0, "")
    expected = {row.name: row for row in table(samples=200).comparisons}
    lines = done.out.splitlines()
    heads = ["system", "rank", "ranks", "BLEU", "95%", "from", "to", "difference", "from", "to", "d", "+/=/−", "p"]
    assert lines[0].split() == heads
    rows = [line.split() for line in lines[2:5]]
    assert [row[0] for row in rows] == ["good", "candidate", "poor"]
    for row in rows:
        one = expected[row[0]]
        best, worst = one.ranks
        scores = [f"{number:.3f}" for number in (one.score, *one.interval)]
        assert row[1:6] == [str(one.rank), f"{best}–{worst}", *scores]
        if one.beside is None:
            assert row[6:] == ["baseline"]
        else:
            numbers = [one.beside.difference, *one.beside.interval]
            assert row[6:10] == [*(f"{number:+.3f}" for number in numbers), f"{one.beside.effect:+.2f}"]
            assert row[10] == f"{one.beside.wins}/{one.beside.ties}/{one.beside.losses}"
            assert row[11].rstrip("*") == f"{one.beside.corrected:.4f}"
            assert row[11].endswith("*") == (one.beside.corrected < 0.05)
    assert "* p < 0.05 against candidate" in lines
    assert any("corrected after Holm for 2 tests" in line for line in lines)
    assert lines[-1].startswith("signature: metric:bleu|")
    assert "test-test:bootstrap|test-samples:200|" in lines[-1]


def test_tsv_is_in_full_precision(command, given, table):
    done = command("compare", *given, "-n", 2, "-f", "tsv")
    rows = list(csv.DictReader(io.StringIO(done.out), delimiter="\t"))
    assert list(rows[0])[:9] == [
        *("system", "score", "mean", "lower", "upper", "p_value", "rank", "best_rank", "worst_rank")
    ]
    assert list(rows[0])[9:] == [
        *("difference", "difference_lower", "difference_upper", "corrected", "effect", "wins", "ties", "losses"),
        *("people", "people_lower", "people_upper", "people_data"),
    ]
    for row, expected in zip(rows, table().comparisons, strict=True):
        assert row["system"] == expected.name
        numbers = [float(row[name]) for name in ("score", "mean", "lower", "upper")]
        assert numbers == [expected.score, expected.mean, *expected.interval]
        assert row["p_value"] == ("" if expected.p_value is None else repr(expected.p_value))
        assert int(row["rank"]) == expected.rank
        beside = expected.beside
        assert row["corrected"] == ("" if beside is None else repr(beside.corrected))
        assert row["losses"] == ("" if beside is None else str(beside.losses))


def test_markdown(command, given, table):
    lines = command("compare", *given, "-n", 2, "-f", "markdown").out.splitlines()
    assert re.split(r" *\| *", lines[0])[1:-1] == [
        *("system", "rank", "ranks", "BLEU", "95% from", "to", "difference", "from", "to", "d", "+/=/−", "p")
    ]
    assert re.fullmatch(r"\|:-+\|(-+:\|){11}", lines[1])
    names = [re.split(r" *\| *", line)[1].strip("*") for line in lines[2:5]]
    assert names == ["good", "candidate", "poor"]
    best = min(table().comparisons, key=lambda row: row.rank)
    assert re.split(r" *\| *", lines[2])[1:5] == ["**good**", "1", "1–1", f"**{best.score:.2f}**"]
    assert lines[-1].startswith("signature: metric:bleu")


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("arguments", [[], ["--matcher", "sleu", "-t", 0.8], ["--metric", "gleu", "--multi", "max"]])
def test_every_format_names_every_system(command, files, given, name, arguments):
    more = ["--vectors", files.vectors] if "sleu" in arguments else []
    if "gleu" in arguments:
        more = ["--source", files.write("source.txt", POOR), "-r", files.second]
    done = command("compare", *given, *arguments, *more, "--samples", 100, "--format", name)
    assert (done.code, done.err) == (0, "")
    for system in ("candidate", "good", "poor"):
        assert system in done.out
    assert "nan" not in done.out.lower()


def test_label_is_that_of_the_matcher(command, files, given):
    done = command("compare", *given, "--matcher", "vleu", "--vectors", files.vectors, "--samples", 10)
    assert "VLEU" in done.out.splitlines()[0]


@pytest.mark.parametrize("multi", ["sample", "max"])
def test_gleu(command, files, given, multi):
    source = files.write("source.txt", ["the cat sit on mat", "a small dog bark loud", "rain falled all night"])
    arguments = [*given, "-r", files.second, "--metric", "gleu", "--source", source, "-n", 2, "--multi", multi]
    found = compared(command, *arguments, "--samples", 100)
    scores = json.loads(command("score", *arguments, "-f", "json").out)["systems"]
    assert [system["score"] for system in found["systems"]] == [system["score"] for system in scores]
    assert f"multi:{multi}" in found["signature"]
    for system in found["systems"]:
        low, high = system["interval"]
        assert 0 <= low <= system["mean"] <= high <= 100 + 1e-9
        assert system["p_value"] is None or 0 < system["p_value"] <= 1


def test_same_seed_gives_the_same_output(command, given):
    first, again, other = (
        command("compare", *given, "-n", 2, "--samples", 40, "--test-seed", seed).out for seed in (1, 1, 2)
    )
    assert first == again != other


def test_jobs_change_nothing(command, given):
    assert compared(command, *given, "--jobs", 2, "--samples", 30) == compared(command, *given, "--samples", 30)


def test_identical_systems_share_a_rank_without_a_star(command, files):
    twin = files.write("twin.txt", CANDIDATE)
    poor = files.write("poor.txt", POOR)
    for test in ("bootstrap", "randomization"):
        arguments = ["-c", files.candidate, "-c", twin, "-c", poor, "-r", files.reference, "--test", test, "-n", 2]
        first, second, third = compared(command, *arguments, "--trials", 100)["systems"]
        assert (first["rank"], second["rank"], third["rank"]) == (1, 1, 3)
        assert second["p_value"] == 1
        assert "*" not in next(
            line for line in command("compare", *arguments).out.splitlines() if line.startswith("twin")
        )


def test_distribution_reproduces_the_intervals(command, files, given):
    path = files.folder / "scores.tsv"
    found = compared(command, *given, "-n", 2, "--samples", 60, "--distribution", path)
    rows = list(csv.reader(io.StringIO(path.read_text()), delimiter="\t"))
    assert rows[0] == ["candidate", "good", "poor"]
    assert [len(row) for row in rows] == [3] * 61
    for place, system in enumerate(found["systems"]):
        scores = [float(row[place]) for row in rows[1:]]
        assert list(np.percentile(scores, [2.5, 97.5])) == system["interval"]
        assert float(np.mean(scores)) == pytest.approx(system["mean"], abs=1e-12)


def test_output_goes_to_a_file(command, files, given):
    path = files.folder / "table.md"
    plain = command("compare", *given, "-f", "markdown").out
    done = command("compare", *given, "-f", "markdown", "--output", path)
    assert (done.code, done.out) == (0, "")
    assert path.read_text() == plain


def test_without_input_the_sample_is_compared_and_said_so(command):
    done = command("compare", "--samples", 20)
    assert done.code == 0
    assert done.err.count("\n") == 1
    assert "sample corpus" in done.err
    assert "baseline" in done.out


def test_names_are_shown_without_control_characters(command, files):
    odd = files.write("a|b\t\x1b[1m&_%.txt", POOR)
    distribution = files.folder / "scores.tsv"
    arguments = ["-c", odd, "-c", files.candidate, "-r", files.reference, "--samples", 5]
    shown = {name: command("compare", *arguments, "-f", name, "--distribution", distribution).out for name in FORMATS}
    assert r"a|b\t\x1b[1m&_%" in shown["text"]
    assert r"* p < 0.05 against a|b\t\x1b[1m&_%" in shown["text"]
    assert r"a\|b\\t\\x1b\[1m&\_%" in shown["markdown"]
    assert r"a\textbar{}b\textbackslash{}t\textbackslash{}x1b[1m\&\_\%" in shown["latex"]
    assert shown["tsv"].splitlines()[1].startswith("a|b\\t\\x1b[1m&_%\t")
    assert json.loads(shown["json"])["systems"][0]["name"] == "a|b\t\x1b[1m&_%"
    assert distribution.read_text().splitlines()[0] == "a|b\\t\\x1b[1m&_%\tcandidate"


# several metrics, all pairs


def test_several_metrics(command, given, table):
    found = compared(command, *given, "-m", "bleu(order=2)", "chrf", "--samples", 30)
    assert [(each["metric"], each["name"]) for each in found["systems"]][2:4] == [
        ("bleu(order=2)", "poor"),
        ("chrf", "candidate"),
    ]
    assert [each["score"] for each in found["systems"][:3]] == [row.score for row in table(samples=30).comparisons]
    assert len(found["pairs"]) == 6
    text = command("compare", *given, "-m", "bleu", "chrf", "--samples", 30).out
    assert (text.count("signature: "), "chrF" in text) == (2, True)
    rows = list(
        csv.reader(command("compare", *given, "-m", "bleu", "chrf", "-f", "csv", "--samples", 9).out.splitlines())
    )
    assert [row[:2] for row in rows[3:5]] == [["bleu", "poor"], ["chrf", "candidate"]]


def test_all_pairs(command, given, table):
    expected = table(samples=99)
    arguments = [*given, "-n", 2, "--samples", 99, "--all-pairs"]
    rows = list(csv.DictReader(io.StringIO(command("compare", *arguments, "-f", "tsv").out), delimiter="\t"))
    assert [(row["system"], row["other"]) for row in rows] == [
        ("good", "candidate"),
        ("poor", "candidate"),
        ("poor", "good"),
    ]
    assert [float(row["corrected"]) for row in rows] == [pair.corrected for pair in expected.pairs]
    lines = command("compare", *arguments).out.splitlines()
    matrix = [line.split() for line in lines[lines.index("") :]]
    start = next(number for number, row in enumerate(matrix) if row[:2] == ["BLEU", "1"])
    good, candidate, poor = matrix[start + 2 : start + 5]
    assert good[:2] == ["1", "good"]
    assert good[2:] == [f"{expected.pair('good', other).corrected:.4f}*" for other in ("candidate", "poor")]
    assert candidate[2] == f"{expected.pair('candidate', 'good').difference:+.2f}"
    assert poor[2:] == [f"{expected.pair('poor', other).difference:+.2f}" for other in ("good", "candidate")]
    assert any("corrected after Holm for 3 tests" in line for line in lines)


def test_too_few_samples_are_said(command, given):
    assert "no p can be below 0.1818" in command("compare", *given, "--samples", 10).out
    assert "no p can" not in command("compare", *given, "--samples", 100).out


@pytest.mark.parametrize(
    ("arguments", "least"),
    [(["--samples", 10], "0.1818"), (["--samples", 40, "--all-pairs"], "0.0732"), (["--samples", 40], ""), ([], "")],
)
@pytest.mark.parametrize("name", ["json", "csv", "html"])
def test_formats_without_notes_say_so_on_standard_error(command, given, name, arguments, least):
    done = command("compare", *given, *arguments, "-f", name)
    note = f"softbleu: note: no p can be below {least} here: draw more (--samples, --trials), or take"
    assert done.code == 0
    assert done.err.startswith(note) if least else done.err == ""
    assert done.err.count("\n") == bool(least)
    assert command("compare", *given, *arguments, "-f", name, "--quiet").err == ""


@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_the_default_can_find_differences_between_many_systems(command, files, test):
    count = 15
    # Each system has its own share of right lines, from none to nearly all.
    reference = [f"these are the words of line {number} here" for number in range(60)]
    systems = [
        files.write(f"{k:02}.txt", [line if number < 4 * k else "nothing" for number, line in enumerate(reference)])
        for k in range(count)
    ]
    given = ["-c", *systems, "-r", files.write("long.txt", reference), "--all-pairs", "--test", test]
    found = compared(command, *given)
    draws = "test-samples:11000|test-trials:10000" if test == "bootstrap" else "test-samples:1000|test-trials:11000"
    assert f"test-test:{test}|{draws}|" in found["signature"]
    assert min(pair["corrected"] for pair in found["pairs"]) < 0.05
    # What was asked for is kept.
    asked = compared(command, *given, "--samples", 30, "--trials", 40)
    assert "test-samples:30|test-trials:40|" in asked["signature"]
    assert min(pair["corrected"] for pair in asked["pairs"]) == 1


def test_a_signature_runs_again(command, given):
    arguments = ["--samples", 40, "--seed", 5, "--correction", "fdr", "--baseline", "poor"]
    first = compared(command, *given, "-n", 2, *arguments)
    assert compared(command, *given, "--signature", first["signature"]) == first
    other = compared(command, *given, "--signature", first["signature"], "--samples", 41, "--baseline", "good")
    assert (
        "test-samples:41|test-trials:10000|test-seed:5|test-correction:fdr|test-baseline:good" in other["signature"]
    )


def test_pairs_are_drawn(command, files, given):
    path = files.folder / "pairs.svg"
    done = command("compare", *given, "-m", "bleu", "chrf", "--samples", 30, "--plot", path)
    assert (done.code, done.err) == (0, "")
    drawn = path.read_text()
    assert all(f">{label}: p of differences" in drawn for label in ("BLEU", "chrF"))
    assert drawn.count(">candidate<") == 4


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--samples", 30], "after Holm's correction: 3 tests, 30 samples, smallest attainable p = 0.0968"),
        (["--samples", 9, "--correction", "none"], "at 0.05: 3 tests, 9 samples, smallest attainable p = 0.1000"),
        (
            ["--test", "randomization", "--trials", 9, "--correction", "fdr"],
            "Hochberg's correction: 3 tests, 9 trials, smallest attainable p = 0.1000",
        ),
        (["--samples", 300], None),
    ],
)
def test_a_picture_in_which_nothing_is_marked_says_why(command, files, given, arguments, said):
    pytest.importorskip("matplotlib")
    path = files.folder / "pairs.svg"
    assert command("compare", *given, "-n", 2, *arguments, "--plot", path).code == 0
    drawn = " ".join(re.findall(r"<(?:text|tspan)[^>]*>([^<]+)<", path.read_text()))
    assert ("no difference is significant at 0.05" in drawn) == (said is not None)
    assert said is None or said in drawn


# what is refused


@pytest.fixture
def refused(command, files, given):
    """Message of a call that must fail in one line and leave nothing behind."""

    def call(*arguments):
        before = sorted(files.folder.iterdir())
        done = command("compare", *given, *arguments, "--output", files.folder / "out.txt")
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("softbleu: error: ")
        assert done.err.count("\n") == 1
        assert sorted(files.folder.iterdir()) == before
        return done.err

    return call


def test_unknown_baseline_lists_the_systems(refused):
    message = refused("--baseline", "nobody")
    assert "'nobody'" in message
    assert all(name in message for name in ("candidate", "good", "poor"))


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["--test", "t-test"], ["'t-test'", "bootstrap", "randomization"]),
        (["--format", "page"], ["'page'", *FORMATS]),
        (["--format", "html", "--plot", "a.svg"], ["--plot"]),
        (["--samples", "0"], ["samples", "0"]),
        (["--samples=-2"], ["samples", "-2"]),
        (["--trials", "0"], ["trials", "0"]),
        (["--test-seed=-1"], ["seed", "-1"]),
        (["--samples", "many"], ["samples", "many"]),
        (["--correction", "bonferroni"], ["bonferroni", "holm"]),
        (["--signature", "metric:bleu|test-samples:many"], ["test-samples:many"]),
        (["--signature", "metric:bleu", "-m", "chrf"], ["--metric"]),
        (["--digits", "99"], ["digits", "99"]),
        (["--jobs", "0"], ["jobs", "0"]),
        (["--metric", "gleu"], ["--source"]),
        (["--metric", "gleu", "--source", "nowhere.txt"], ["nowhere.txt"]),
    ],
    ids=str,
)
def test_bad_options(refused, arguments, parts):
    message = refused(*arguments)
    assert all(part in message for part in parts)


def test_systems_of_other_lengths(refused, files):
    short = files.write("short.txt", POOR[:2])
    message = refused("-c", short)
    assert f"{short} has 2" in message
    assert f"{files.reference} has 3" in message


def test_failed_comparison_leaves_no_distribution(refused, files):
    refused("--baseline", "nobody", "--distribution", files.folder / "scores.tsv")


def test_distribution_over_an_input_is_refused(refused, files):
    before = files.candidate.read_bytes()
    message = refused("--distribution", files.candidate)
    assert "candidate.txt" in message
    assert files.candidate.read_bytes() == before
