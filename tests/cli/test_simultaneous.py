"""Logs of simultaneous translation on the command line: quality beside latency, moments, recordings, pictures."""

import json
import re
import shutil
import subprocess
from dataclasses import replace
from operator import attrgetter
from pathlib import Path

import pytest
from made_up_logs import recordings, speech_log, streamed, text_log, write_log

import softbleu
from softbleu.corpora.logs import read_log
from softbleu.results.significance import SignificanceSettings

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "simultaneous.md"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("simuleval") is None, reason="the command of SimulEval 1.1.4 is not on the path")
def test_guide_shows_the_logs_that_simuleval_writes(tmp_path):
    """By the guide's own lines: those that run SimulEval, and those that write the same logs without it."""
    page = GUIDE.read_text(encoding="utf-8")
    (run,) = re.findall(r"^```text\n(printf.*?simuleval.*?)^```", page, re.MULTILINE | re.DOTALL)
    shown = re.findall(r"^\$ (printf .*> (?:wait\d)/instances.log)$", page, re.MULTILINE)
    made = []
    for folder, script in (("command", run), ("shown", "\n".join(["mkdir wait3 wait5", *shown]))):
        (tmp_path / folder).mkdir()
        shutil.copy(GUIDE.parents[2] / "experiments" / "simultaneous" / "agent.py", tmp_path / folder)
        subprocess.run(["bash", "-ec", script], cwd=tmp_path / folder, check=True, capture_output=True)
        logs = [read_log(str(tmp_path / folder / system)) for system in ("wait3", "wait5")]
        made.append(
            [[replace(each, where="", delays=each.delays.tolist()) for each in log.emissions] for log in logs]
        )
    fields = attrgetter("text", "delays", "source", "source_length")
    assert [[*map(fields, log)] for log in made[0]] == [[*map(fields, log)] for log in made[1]]
    assert [each.reference.strip() for log in made[0] for each in log] == [
        each.reference for log in made[1] for each in log
    ]


@pytest.fixture
def logs(tmp_path, monkeypatch):
    """Two logs of the same segments, which SimulEval would call the same, in folders of their own."""
    monkeypatch.chdir(tmp_path)
    later = [dict(entry, delays=[delay + 300 for delay in entry["delays"]]) for entry in speech_log()[:40]]
    for name, entries in (("A", speech_log()[:40]), ("B", later)):
        (tmp_path / name).mkdir()
        write_log(entries, tmp_path / name / "instances.log")
    return ["--log", "A/instances.log", "B/instances.log"]


def table_of(command, *arguments):
    """Rows of a command that writes JSON lines."""
    done = command(*arguments, "--format", "jsonl", "-q")
    assert done.code == 0, done.err
    return [json.loads(line) for line in done.out.splitlines()]


def test_latencies_stand_beside_quality(command, logs):
    rows = table_of(command, "score", *logs, "-m", "chrf", "laal", "laal(computation_aware=yes)")
    assert [(row["system"], row["metric"]) for row in rows if row["metric"].startswith("laal(")] == [
        ("A", "laal(computation_aware=yes)"),
        ("B", "laal(computation_aware=yes)"),
    ]
    scores = {(row["system"], row["metric"]): row["score"] for row in rows}
    assert scores["A", "chrf"] == scores["B", "chrf"]
    assert scores["A", "laal"] < scores["B", "laal"]
    assert all(row["better"] == "lower" for row in rows if row["metric"] == "laal")


def test_bleu_and_laal_are_computed_unless_metrics_are_named(command, logs):
    assert {row["metric"] for row in table_of(command, "score", *logs)} == {"bleu", "laal"}


def test_computation_aware_is_an_option(command, logs):
    done = command("score", *logs, "-m", "ap", "--computation-aware", "-q", "--format", "json")
    assert "|computation-aware:yes|" in json.loads(done.out)["signature"]


def test_text_has_no_time_of_computing(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_log(text_log(), tmp_path / "text.log")
    done = command("score", "--log", "text.log", "-m", "laal", "--computation-aware")
    assert done.code == 2
    assert re.fullmatch(r"softbleu: error: text.log, line 1: the log has no computation times .*\n", done.err)


def test_systems_are_tested_by_quality_and_latency(command, logs):
    rows = table_of(command, "compare", *logs, "-m", "chrf", "laal", "--samples", 100, "--trials", 999)
    found = {(row["system"], row["metric"]): row for row in rows}
    assert found["B", "chrf"]["p_value"] == 1
    assert found["B", "laal"]["p_value"] == pytest.approx(0.001)
    assert (found["A", "laal"]["rank"], found["B", "laal"]["rank"]) == (1, 2)


def test_picture_shows_quality_against_latency(command, logs):
    pytest.importorskip("matplotlib")
    done = command("compare", *logs, "-m", "chrf", "laal", "yaal", "--samples", 50, "--plot", "picture.svg")
    assert done.code == 0
    picture = Path("picture.svg").read_text(encoding="utf-8")
    assert all(f">{label}</text>" in picture for label in ("chrF by LAAL, 95% intervals", "chrF", "A", "B"))


def test_pages_show_latencies(command, logs):
    for name in ("score", "compare"):
        done = command(name, *logs, "-m", "chrf", "laal", "--format", "html", "-o", f"{name}.html")
        assert done.code == 0, done.err
        assert "laal" in Path(f"{name}.html").read_text(encoding="utf-8").lower()
    assert "<figcaption" in Path("compare.html").read_text(encoding="utf-8")


def test_a_line_joins_systems_whose_names_differ_in_their_last_number(command, logs):
    given = [
        f"{name}={log}" for name, log in zip(("w9-en", "w10-en", "whole", "b7"), [*logs[1:], *logs[1:]], strict=True)
    ]
    with pytest.MonkeyPatch.context() as patch:
        drawn = []
        patch.setattr("softbleu.report.charts.draw_chart", lambda chart: drawn.append(chart) or iter(()))
        done = command("compare", "--log", *given, "-m", "chrf", "laal", "-f", "html", "-o", "page.html")
    assert done.code == 0, done.err
    (chart,) = drawn
    assert chart.names == ["w9-en", "w10-en", "whole", "b7"]
    assert chart.joined == [[0, 1]]


def test_folder_of_simuleval_stands_for_its_log(command, logs):
    Path("A/scores.tsv").write_text("BLEU\n1\n", encoding="utf-8")
    for folders in (["A", "B"], ["A", "B=B"]):
        rows = table_of(command, "score", "--log", *folders, "-m", "laal")
        assert [row["system"] for row in rows] == ["A", "B"]


def test_folder_stands_for_the_logs_in_it(command, logs):
    for file, name in (("A", "wait3.log"), ("B", "wait5.JSONL"), ("A", "notes.txt")):
        Path("all").mkdir(exist_ok=True)
        shutil.copy(Path(file) / "instances.log", Path("all") / name)
    done = command("score", "--log", "all", "-m", "laal", "-f", "jsonl")
    assert [json.loads(line)["system"] for line in done.out.splitlines()] == ["wait3", "wait5"]
    assert "left out notes.txt: name them one by one if they are logs" in done.err


def test_system_without_latency_has_a_page(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text, delays in (("none", "", []), ("some", "a", [1])):
        write_log([{"prediction": text, "delays": delays, "source_length": 3, "reference": "a"}], tmp_path / name)
    for given in (["none"], ["none", "some"]):
        done = command("score", "--log", *given, "-m", "laal", "--format", "html", "-q")
        assert (done.code, done.err) == (0, "")
        assert '"score": null, "interval": null' in done.out
        assert done.out.endswith("</html>\n")


def test_outputs_that_have_not_begun_are_counted(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_log(text_log()[:3], tmp_path / "A.log")
    given = ["score", "--log", "A.log", "-m", "ter(partial=yes)", "--at", "0"]
    first, whole = table_of(command, *given)
    assert (first["score"], first["empty"], whole["empty"]) == (None, 3, 0)
    assert command(*given).out.splitlines()[0].endswith("empty")


def test_outputs_at_moments_stand_before_whole_ones(command, logs):
    rows = table_of(command, "score", *logs, "-m", "chrf", "--at", "2s", "5000")
    assert [row["system"] for row in rows] == ["A@2000", "A@5000", "A", "B@2000", "B@5000", "B"]
    scores = [row["score"] for row in rows]
    assert scores[0] < scores[1] < scores[2]
    assert scores[3] <= scores[0]


@pytest.mark.parametrize("baseline", ["B", "B@5000"])
def test_each_moment_is_compared_by_itself(command, logs, baseline):
    """As if there were no others: its own ranks, baseline and family of tests."""
    given, few = [*logs, "-m", "chrf", "laal", "--baseline", baseline], ["--samples", "30", "--trials", "50"]
    rows = table_of(command, "compare", *given, *few, "--at", "2s", "5000")
    assert [row["system"] for row in rows[:6]] == ["A@2000", "B@2000", "A@5000", "B@5000", "A", "B"]
    alone = table_of(command, "compare", *given[:-1], "B", *few)
    assert [row for row in rows if "@" not in row["system"]] == alone
    own = softbleu.at_moments(softbleu.read_logs({name: f"{name}/instances.log" for name in "AB"}), ["2s"])
    early = replace(own, candidates={name: own.candidates[name] for name in ("A@2000", "B@2000")})
    how = SignificanceSettings(samples=30, trials=50)
    for metric in ("chrf", "laal"):
        table = softbleu.compare_corpus(early, metric, baseline="B@2000", significance=how)
        found = [row for row in rows if row["metric"] == metric and row["system"].endswith("@2000")]
        assert [[row[name] for name in found[0] if name != "metric"] for row in table.rows] == [
            [*row.values()][1:] for row in found
        ]
    shown = command("compare", *given, *few, "--at", "2s", "5000").out
    assert re.search(r"^2000 +B@2000.*baseline", shown, re.MULTILINE)
    assert "against B · p: Holm-corrected, 1 test" in shown
    matrices = command("compare", *given, *few, "--at", "2s", "5000", "--all-pairs").out
    assert matrices.count("above the diagonal") == 6


def test_outputs_are_scored_at_each_delay(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_log(text_log()[:3], tmp_path / "A.log")
    delays = sorted({delay for entry in text_log()[:3] for delay in entry["delays"]})
    rows = table_of(command, "score", "--log", "A.log", "-m", "chrf", "--at", "each")
    assert [row["system"] for row in rows] == [*(f"A@{delay}" for delay in delays), "A"]
    assert rows[-2]["score"] == rows[-1]["score"]


def test_recordings_are_cut_into_segments(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    log, segments, references = recordings()
    write_log(log, tmp_path / "long.log")
    (tmp_path / "segments.json").write_text(json.dumps(segments))
    (tmp_path / "r.txt").write_text("\n".join(references) + "\n")
    files = ["--log", "long.log", "-r", "r.txt", "--resegment", "--segmentation", "segments.json"]
    rows = table_of(command, "score", *files, "-m", "chrf", "yaal", "--level", "document")
    assert [row["document"] for row in rows if row["metric"] == "yaal"] == ["talk_1", "talk_2"]


def test_logs_of_simulstream_have_words_or_characters(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_log(streamed(), tmp_path / "metrics.jsonl")
    (tmp_path / "r.txt").write_text("the cat sat\nthe dog slept\n")
    given = ["score", "--log", "metrics.jsonl", "-r", "r.txt", "-m", "laal", "-q", "--format", "json"]
    by_word, by_character = (json.loads(command(*given, *unit).out) for unit in ([], ["--unit", "char"]))
    assert by_word["systems"][0]["score"] != by_character["systems"][0]["score"]
    assert "|unit:char|" in by_character["signature"]
    again = json.loads(command(*given[:5], "-q", "--format", "json", "--signature", by_character["signature"]).out)
    assert again == by_character


def test_logs_are_checked_with_their_delays(command, logs):
    done = command("check", *logs, "--format", "tsv")
    assert re.match(r"system\tsegments\todd\t.*delays\nA\t.*\t1\n", done.out)
    assert "A: probably a degenerate policy" in done.err
    done = command("check", *logs, "--strict", "--show", "segments", "-f", "jsonl", "-q")
    assert done.code == 1
    assert json.loads(done.out.splitlines()[0])["check"] == "delays"


def test_check_names_its_own_options_for_subwords(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    entry = {"prediction": "a cat", "prediction_spm": ["\u2581a", "\u2581ca", "t"], "delays": [1, 2, 2]}
    write_log([{**entry, "reference": "a cat", "source_length": 3}], tmp_path / "A.log")
    done = command("check", "--log", "A.log")
    assert "to count subwords, give --unit spm\n" in done.err
    assert command("check", "--log", "A.log", "--unit", "spm").code == 0


@pytest.mark.parametrize("short", [1, 2])
def test_check_reads_the_text_of_logs_without_lengths_of_sources(command, tmp_path, monkeypatch, short):
    monkeypatch.chdir(tmp_path)
    entry = {"prediction": "", "delays": [], "reference": "it rained"}
    write_log([entry] * short + [{**entry, "source_length": 2}] * (2 - short), tmp_path / "A.log")
    done = command("check", "--log", "A.log", "-f", "json")
    assert json.loads(done.out)["rows"][0]["empty"] == 2
    assert "delays (without source_length in each line of A.log)" in done.err


@pytest.mark.parametrize("more", [[], ["--segmentation", "seg.txt"]])
def test_check_cuts_outputs_as_score_does(command, tmp_path, monkeypatch, more):
    monkeypatch.chdir(tmp_path)
    Path("seg.txt").write_text("docid=0,segid=0\ndocid=0,segid=1\n")
    Path("r.txt").write_text("it rained\nwe stayed\n")
    Path("A.txt").write_text("it rained we stayed\n")
    done = command("check", "-c", "A.txt", "-r", "r.txt", "--resegment", *more, "-f", "json", "-q")
    assert json.loads(done.out)["rows"] == [{"system": "A", "segments": 2, "odd": 0}]


def test_texts_of_documents_are_cut_by_a_segmentation(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("texts").write_text("it rained we stayed\n")
    Path("r.txt").write_text("it rained\nwe stayed\n")
    Path("seg.txt").write_text("docid=0,segid=0\ndocid=0,segid=1\n")
    given = ["score", "-c", "texts", "-r", "r.txt", "-m", "ter", "-b", "--segmentation", "seg.txt"]
    assert command(*given, "--resegment").out == "0.00\n"
    assert "give both, or neither" in command(*given).err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-c", "A/instances.log"], "--log has the outputs of systems: leave out -c, --pairs and --gold"),
        (["--resegment"], "recordings are cut by --resegment and --segmentation together: give both, or neither"),
        (["--at", "soon"], "'soon' is no moment: give milliseconds or words (2000), seconds (2s), or each"),
        (["--unit", "char"], "A/instances.log, line 1: 9 delays for 42 characters: one is needed for each"),
    ],
)
def test_contradictions_are_refused_in_one_line(command, logs, arguments, said):
    done = command("score", *logs, *arguments)
    assert (done.code, done.err) == (2, f"softbleu: error: {said}\n")


@pytest.mark.parametrize(
    "arguments",
    [["-m", "laal"], ["-c", "A/instances.log", "-r", "A/instances.log", "-m", "laal"]],
)
def test_latency_without_logs_names_the_option(command, logs, arguments):
    done = command("score", *arguments)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.endswith(
        "; name logs with --log\n" if "-c" in arguments else "needs delays of words: name logs with --log\n"
    )


def test_options_of_logs_without_logs_are_noted(command):
    done = command("score", "--at", "2s", "--unit", "word")
    assert "--unit is ignored without --log" in done.err
    assert "--at is ignored without --log" in done.err
