"""`softbleu explain`, `matrix`, `metaeval` and `directions`."""

import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from cli.conftest import LINES, TEXTS, scored, table_of

import softbleu
from softbleu.corpora import ParallelFiles
from softbleu.corpora.corpus import make_corpus
from softbleu.corpora.directions import read_directions
from softbleu.engine.plan import make_plan
from softbleu.meta.pooling import pooled_table
from softbleu.metrics.reading import read_metric
from softbleu.report.pages import make_page
from softbleu.results.explain import explain_corpus


def test_json_is_the_python_interface(command, files):
    how = ("-m", "vleu", "-t", 0.8, "--vectors", "vectors.txt", "-l", "2-3")
    found = scored(command, *TEXTS, *how, name="explain")
    measure = read_metric(matcher="vleu", threshold=0.8, vectors="vectors.txt")
    with ParallelFiles.open(["candidate.txt"], ["reference.txt"]) as corpus:
        expected = explain_corpus(corpus, measure, [2, 3])
    segments = json.loads(json.dumps([asdict(explanation) for explanation in expected]))
    assert all(segment.pop("left") is None for segment in segments)  # Only of partial scores
    assert found == {"schema": 1, "segments": segments}


def test_closest_ngrams_are_the_most_similar_that_no_match_has_taken() -> None:
    vectors = {"the": [0.1, 1.0], "auto": [0.7, 0.7], "vehicle": [0.8, 0.6], "car": [1.0, 0.0]}
    texts = ["the auto vehicle"], ["car"]

    def named(**settings: Any) -> list[Any]:
        metric = make_plan("vleu", order=1, vectors=vectors, **settings)
        corpus = make_corpus(*texts)
        (found,) = explain_corpus(corpus, metric)
        (page,) = [make_page(corpus, metric).matches]
        beyond = page.found.first == len(page.thresholds.values)
        shown = zip(page.found.start[beyond].tolist(), (page.found.matched[beyond] / 1e6).tolist(), strict=True)
        closest = [(one.candidate_start, one.closest_similarity) for one in found.matches if one.closest]
        assert closest == list(shown)
        return [(one.candidate[0], one.closest, one.reference) for one in found.matches]

    car = ("car",)
    for assignment in ("exact-first", "optimal"):
        # `the` is named nothing, since it is less than half as similar as the threshold asks.
        far = [("the", None, None), ("auto", car, None), ("vehicle", car, None)]
        assert named(threshold=0.9, assignment=assignment) == far
        taken = [("the", None, None), ("auto", None, None), ("vehicle", None, car)]
        assert named(threshold=0.75, assignment=assignment) == taken


def test_matrix_of_corpora_and_of_segments(command: Any, files: Any) -> None:
    files.lay("nbest.jsonl")
    for name in ("a.txt", "b.txt", "c.txt", "ref1.txt", "ref2.txt"):
        files.write(name, [f"the cat sat on {name}", "it rains"])
    given = ("-c", "a.txt", "b.txt", "-r", "ref1.txt", "c.txt", "-m", "chrf")
    rows = scored(command, *given, name="matrix")["rows"]
    assert [row["candidate"] for row in rows] == ["a", "b"]
    texts = (["the cat sat on a.txt", "it rains"], ["the cat sat on c.txt", "it rains"])
    assert rows[0]["c"] == pytest.approx(softbleu.score(*texts, metrics="chrf").score)
    pairs = scored(command, *given, "--level", "segment", name="matrix")["rows"]
    named = [(row["segment"], row["candidate"], row["reference"]) for row in pairs[:3]]
    assert named == [(1, "a", "ref1"), (1, "a", "c"), (1, "b", "ref1")]
    assert len(scored(command, "--lists", "nbest.jsonl", "-m", "chrf", name="matrix")["rows"]) == 9 + 4


@pytest.mark.parametrize("metric", ["errant", "gleu", "imeasure"])
def test_matrix_of_corrections(command: Any, files: Any, metric: str) -> None:
    """With the source each cell is the score of a candidate by that reference alone."""
    texts = {"s": ["he go home", "it rain"], "one": ["he goes home", "it rain"], "two": ["he went home", "it rains"]}
    for name, lines in (texts | {"ref": ["he goes home", "it rains"]}).items():
        files.write(f"{name}.txt", lines)
    given = ("-c", "one.txt", "two.txt", "-s", "s.txt", "-m", metric)
    rows = scored(command, *given, "-r", "ref.txt", "s.txt", name="matrix")["rows"]
    for row in rows:
        for name, reference in (("ref", ["he goes home", "it rains"]), ("s", texts["s"])):
            alone = softbleu.score(texts[row["candidate"]], reference, texts["s"], metrics=metric)
            assert row[name] == pytest.approx(alone.score)
    segments = scored(command, *given, "--level", "segment", name="matrix")["rows"]
    alone = softbleu.score(texts["one"], texts["two"], texts["s"], metrics=metric, level="segment")
    both = [row["score"] for row in segments if (row["candidate"], row["reference"]) == ("one", "two")]
    assert both == pytest.approx([one.score for one in alone.segments])


CAT, RAIN = "the cat sat on the mat", "it rained all night long"
ASSESSED = [("it &apos;s all right", 1), ("it &apos;s all wrong", 0.5), ("it is wrong", 0)]
HEAD = LINES["assessed.tsv"][0]


@pytest.fixture
def judged(files: Any) -> Any:
    files.lay("human.tsv", "one.tsv", "rankings.csv", "flat.tsv")
    for name, content in {
        "two.tsv": [*LINES["two.tsv"], "E 1"],
        "reference.txt": [CAT, RAIN],
        "a.txt": [CAT, RAIN],
        "b.txt": ["the cat sat on a mat", RAIN],
        "c.txt": ["a cat sat on a rug", "it was all night rain"],
        "d.txt": ["the cat sat on a rug", "it rained all night"],
        "assessed.tsv": [HEAD, *(f"x-y\ts\t{text}\tit 's all right\t{score}" for text, score in ASSESSED)],
    }.items():
        files.write(name, content)
    return files


def test_metaeval_correlates_systems_that_all_tables_have(command: Any, judged: Any) -> None:
    arguments = ("--human", "human.tsv", "--scores", "one.tsv", "--scores", "other=two.tsv", "-f", "json")
    done = command("metaeval", *arguments)
    assert done.err == (
        "softbleu: note: assuming that higher is better for one, other: name the others with 'lower'\n"
        "softbleu: note: E has no scores by human, one: left out\n"
    )
    one, other = table_of(done)
    assert (one["metric"], one["points"], one["spearman"], one["kendall"]) == ("one", 4, 1.0, 1.0)
    assert (other["metric"], other["spearman"]) == ("other", 0.4)
    assert one["pearson_low"] <= one["pearson"] <= one["pearson_high"]
    assert command("metaeval", *arguments, "--quiet", "--seed", "1").out != done.out
    constant = command("metaeval", *arguments[:3], "flat.tsv", *arguments[2:4], "-f", "json")
    flat, one = table_of(constant)
    assert "flat gives the same score to all 4: its correlation is undefined" in constant.err
    assert (flat["pearson"], flat["kendall_high"], one["spearman"]) == (None, None, 1.0)


def test_preferences_of_a_corpus_on_the_spot(command: Any, judged: Any) -> None:
    systems = [part for name in "abcd" for part in ("-c", f"{name}.txt")]
    judged.write("rankings.csv", [line.replace("A", "a").replace("B", "b") for line in LINES["rankings.csv"]])
    given = ("metaeval", "--rankings", "rankings.csv", *systems, "-r", "reference.txt")
    done = command(*given, "-m", "bleu", "--table", "preferences", "-f", "json")
    hties, noties = table_of(done)
    assert (hties["variant"], noties["variant"]) == ("hties", "noties")
    notes = ["C, D have no scores by bleu: left out", "c, d have no scores by rankings: left out"]
    assert done.err == "".join(f"softbleu: note: {said}\n" for said in notes)
    assert (noties["pairs"], noties["concordant"], noties["tau"], noties["skipped"]) == (2, 1, 0.5, 8)
    assert json.loads(done.out)["bleu"].startswith("metric:bleu|matcher:exact|")


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("preferences", {"bleu", "ties count", "without judges' ties"}),
        ("accuracy", {"bleu"}),
        ("ranking", {"expected-wins", "a", "b"}),
        ("left-out", {"A", "B", "C", "D"}),
        ("windows", {"1 – 3", "2 – 4"}),
    ],
)
def test_every_table_of_metaeval_has_a_picture_and_a_page(
    command: Any, judged: Any, question: str, shown: set[str]
) -> None:
    pytest.importorskip("matplotlib")
    judged.write("rankings.csv", [line.replace("A", "a").replace("B", "b") for line in LINES["rankings.csv"]])
    given = ["--rankings", "rankings.csv", "-c", "a.txt", "b.txt", "-r", "reference.txt", "-m", "bleu"]
    if question in ("left-out", "windows"):
        given = ["--human", "human.tsv", "--scores", "one.tsv", "--window", "3"]
    done = command("metaeval", *given, "--table", question, "--samples", "20", "--plot", "p.svg", "-f", "csv")
    assert done.code == 0
    assert shown <= set(re.findall(r">([^<>]+)</text>", Path("p.svg").read_text(encoding="utf-8")))
    page = command("metaeval", *given, "--table", question, "--samples", "20", "-f", "html").out
    assert re.search(r'<p id="verdict">.* has the highest .*</p>', page)
    assert '<svg class="chart"' in page


@pytest.mark.parametrize(("metric", "level"), [("bleu", "corpus"), ("ter", "corpus"), ("ter", "segment")])
def test_scores_that_softbleu_wrote(command: Any, judged: Any, metric: str, level: str) -> None:
    systems = ["-c", *(f"{name}.txt" for name in "abcd"), "-r", "reference.txt"]
    judged.write("human.tsv", [line.lower() for line in LINES["human.tsv"]])
    judged.write("da.tsv", ["system segment score", "a 1 4", "b 1 2", "c 1 3", "d 1 1"])
    given = ("metaeval", "-f", "json", *(("--human", "human.tsv") if level == "corpus" else ("--da", "da.tsv")))
    expected = table_of(command(*given, *systems, "-m", f"m={metric}"))
    for name in ("tsv", "json", "jsonl"):
        command("score", *systems, "-m", metric, "-f", name, "--level", level, "-o", f"scores.{name}")
        assert table_of(command(*given, "--scores", f"m=scores.{name}")) == expected
    # Those of several metrics, and those of 0.3, which did not say which way is better.
    command("score", *systems, "-m", metric, "chrf", "-f", "json", "--level", level, "-o", "both.json")
    first, _ = table_of(command(*given, "--scores", "both.json"))
    assert {**first, "metric": "m"} == expected[0]
    lines = Path("scores.jsonl").read_text().replace(', "better": "lower"', "").replace(f'"metric": "{metric}", ', "")
    for name in ("m", "ter"):
        Path(f"{name}.jsonl").write_text(lines)
    if level == "segment":
        turned = table_of(command(*given, "--scores", "scores.jsonl", "--lower", "direct assessment"))
        assert turned[0]["pearson"] == -expected[0]["pearson"]
    told = command(*given, "--scores", "m.jsonl", *(("--lower", "m") if metric == "ter" else ()))
    assert table_of(told) == expected
    if metric == "ter":
        assert "m: lower is better, so its scores are negated" in told.err
        assert table_of(command(*given, "--scores", "ter.jsonl"))[0]["pearson"] == expected[0]["pearson"]
        assert "assuming that higher is better for m" in command(*given, "--scores", "m.jsonl").err
    assert expected[0]["spearman"] > 0


def test_metaeval_reads_direct_assessment(command: Any, judged: Any) -> None:
    given = ("metaeval", "--da", "assessed.tsv", "--metric-settings", "bleu", "-f", "json")
    (clean,) = table_of(command(*given, "--unescape"))
    (plain,) = table_of(command(*given))
    assert (clean["human"], clean["points"], clean["spearman"]) == ("direct assessment", 3, 1.0)
    assert clean["pearson"] > plain["pearson"]
    accuracy = table_of(command(*given, "--table", "accuracy"))
    assert [row["of"] for row in accuracy] == ["outputs", "outputs by segment"]
    two = command(*given[:-1], "tsv", "-m", "chrf", "--table", "differences", "--samples", "30").out.splitlines()
    shown = ["accuracy, outputs", "accuracy, outputs by segment", "pearson"]
    assert [line.split("\t")[1] for line in two[1:4]] == shown


@pytest.mark.parametrize("table", ["systems", "williams"])
def test_tables_of_metaeval_have_pictures(command: Any, judged: Any, table: str) -> None:
    pytest.importorskip("matplotlib")
    given = ("metaeval", "--human", "human.tsv", "--scores", "one.tsv", "--scores", "t$w$o=two.tsv", "--table", table)
    done = command(*given, "--plot", "picture.svg", "-o", "table.tex", "-f", "latex", "-q")
    assert (done.code, done.out, done.err) == (0, "", "")
    picture = Path("picture.svg").read_text()
    assert "t$w$o" in picture
    assert ("D</text>" in picture or ">D<" in picture) == (table == "systems")
    assert Path("table.tex").read_text().count("\\\\") >= 3
    assert len(re.findall(r"r = -?\d\.\d{3} \[", picture)) == (2 if table == "systems" else 0)


def test_explanations_say_what_cost_points(command: Any, files: Any) -> None:
    files.write("c", ["the cat sat"])
    files.write("r", ["the dogs never sat down"])
    (segment,) = scored(command, "-c", "c", "-r", "r", "-m", "trained(head=static)", name="explain")["segments"]
    values = [found["value"] for found in segment["findings"]]
    assert values == sorted(values, reverse=True)
    assert segment["score"] == pytest.approx(max(0, 100 - sum(values)), abs=1e-4)
    assert {"negations", "softbleu"} <= {found["text"] for found in segment["findings"]}


@pytest.fixture
def _directions(files: Any) -> None:
    """Two directions as folders of their own, and the same as mt-metrics-eval has them; one system has one only."""
    files.lay(*(name for name in LINES if name.startswith(("wmt/", "mtme/", "judge.tsv", "esa."))))


DIRECTIONS = pytest.mark.usefixtures("_directions")


@DIRECTIONS
@pytest.mark.parametrize("name", ["wmt", "mtme", "wmt/all.toml"])
def test_directions_are_found(name: str) -> None:
    found = read_directions([name])
    assert {one.name: [sorted(one.candidates), len(one.references), one.language] for one in found} == {
        "en-cs": [["A", "C"] if "toml" in name else ["A", "B", "C"], 1, "cs"],
        "en-zh": [["A", "B"], 1, "zh"],
    }


@DIRECTIONS
def test_scores_are_those_of_single_runs(command: Any) -> None:
    outside = ("--scores", "judge.tsv", "--lower", "judge")
    made = table_of(command("directions", "--folders", "wmt", "-m", "bleu", "chrf", *outside, "-f", "json"))
    rows = {(row["system"], row["metric"], row["direction"]): row["score"] for row in made}
    texts = {name: LINES[f"wmt/en-cs/system-outputs/{name}.cs"] for name in "ABC"}
    reference = LINES["wmt/en-cs/reference-A.cs"]
    for name in "AB":
        result = softbleu.score(texts[name], reference, metrics="chrf")
        assert rows[name, "chrF", "en-zh"] == rows[name, "chrF", "en-cs"] == result.score
    assert rows["A", "judge", "en-cs"] == (65 + 5) / 2
    zh = softbleu.score(texts["B"], reference, metrics="bleu", language="zh").score
    assert rows["B", "BLEU", "en-zh"] == zh
    # C has no output in en-zh: the average is over the direction that all have.
    assert rows["C", "chrF", "macro"] == rows["C", "chrF", "en-cs"]
    # Metrics of one name are called by their settings.
    two = table_of(command("directions", "--folders", "wmt", "-m", "bleu", "bleu(order=2)", "-f", "json"))
    found = {row["metric"]: row["score"] for row in two if (row["system"], row["direction"]) == ("B", "en-zh")}
    second = softbleu.score(texts["B"], reference, metrics="bleu(order=2)", language="zh").score
    assert found == {"bleu": zh, "bleu(order=2)": second}
    text = command("directions", "--folders", "wmt", "-m", "chrf").out
    assert "macro, chrF: mean over en-cs" in text
    assert [line.split()[0] for line in text.splitlines()[2:5]] == ["A", "B", "C"]


@DIRECTIONS
@pytest.mark.parametrize("name", ["eng-zho", "en-zho_Hans", "eng_Latn-zho_Hans", "en-zh_TW", "wmt24_en-zh", "en2zh"])
def test_directions_have_the_scores_of_their_languages_by_any_codes(command: Any, name: str) -> None:
    options = ("-m", "bleu", "--scores", "judge.tsv", "-f", "json")
    expected = table_of(command("directions", "--folders", "wmt/en-zh", *options))
    Path("wmt", "en-zh").rename(Path("wmt", name))
    done = command("directions", "--folders", f"wmt/{name}", *options)
    assert [{**row, "direction": row["direction"].replace(name, "en-zh")} for row in table_of(done)] == expected
    assert done.err == ""


def test_a_macro_average_says_what_it_is_a_mean_over(command: Any, files: Any) -> None:
    files.lay("left")
    assert "macro, BLEU: none, no direction has all systems" in command("directions", "--folders", "left").out


@DIRECTIONS
def test_agreement_is_pooled(command: Any) -> None:
    """Each direction has the estimates of a run of its own."""
    how: dict[str, Any] = {"metrics": ["chrf", "bleu"], "samples": 60}
    options = ("--folders", "wmt", "--da", "esa.{direction}.tsv", "-m", *how["metrics"], "--samples", 60)
    for question in ("outputs", "differences"):
        done = command("metaeval", *options, "--table", question, "-f", "json")
        alone = {}
        for pair in ("en-cs", "en-zh"):
            references = [*map(str, Path("wmt", pair).glob("r*"))]
            texts = {"candidates": [f"wmt/{pair}/system-outputs"], "references": references}
            judged = {"assessments": f"esa.{pair}.tsv", "language": pair[-2:]}
            alone[pair] = softbleu.metaeval(question, **texts, **judged, **how).table
        expected = pooled_table(question, alone).records()
        assert [{"question": question, **row} for row in table_of(done)] == expected
        assert [*expected[0]][-6:] == ["mean", "low", "high", "between", "new_low", "new_high"]
        assert any(row["mean"] is not None for row in expected)
        assert {row[name] for row in expected for name in ("low", "high", "between", "new_low", "new_high")} == {None}
        assert "means have no intervals" in done.err
    assert expected[0]["metric"] == "bleu − chrf"
    assert "bleu, chrf lack C" not in done.err


@DIRECTIONS
def test_metrics_are_ranked_over_directions(command: Any) -> None:
    """On a page, in a picture, and the same by two processes; weights are of directions."""
    options = ("--da", "esa.{direction}.tsv", "-m", "chrf", "bleu", "--table", "metrics", "--samples", 20)
    done = command(
        "metaeval", "--folders", "wmt", *options, "-f", "json", "--plot", "ranks.svg", "--weights", "en-cs=3"
    )
    (rows, alone) = (
        table_of(done),
        table_of(command("metaeval", "--folders", "mtme", *options, "-f", "json", "-j", 2)),
    )
    tasks = ["spa en-cs", "acc_eq en-cs", "spa en-zh", "acc_eq en-zh"]
    assert [*rows[0]] == ["metric", *(f"{name}{end}" for name in ("average", *tasks) for end in ("", " cluster"))]
    by_metric = {row["metric"]: row for row in alone}
    for row in rows:
        assert {name: row[name] for name in tasks} == {name: by_metric[row["metric"]][name] for name in tasks}
        weighed = sum(weight * row[name] for weight, name in zip((3, 3, 1, 1), tasks, strict=True)) / 8
        assert row["average"] == pytest.approx(weighed)
    assert "acc_eq en-zh" in Path("ranks.svg").read_text(encoding="utf-8")
    assert (
        "agree best with the judges on average, and cannot be told apart."
        in command("metaeval", "--folders", "wmt", *options, "-f", "html").out
    )


@DIRECTIONS
@pytest.mark.parametrize("question", ["outputs", "williams"])
def test_one_direction_has_the_table_of_its_files(command: Any, question: str) -> None:
    options = ("--da", "esa.en-cs.tsv", "-m", "chrf", "bleu", "--samples", 20, "--table", question, "-f", "csv")
    references = ("-r", *map(str, Path("wmt", "en-cs").glob("r*")))
    expected = command("metaeval", "-c", "wmt/en-cs/system-outputs", *references, "--language", "cs", *options)
    assert expected.code == 0
    assert command("metaeval", "--folders", "wmt/en-cs", *options).out == expected.out


@DIRECTIONS
def test_cells_lead_to_pages(command: Any) -> None:
    done = command("directions", "--folders", "wmt", "-m", "chrf", "bleu", "-o", "page.html", "--title", "A & B")
    assert (done.code, done.out) == (0, "")
    page = Path("page.html").read_text(encoding="utf-8")
    assert set(re.findall(r'href="([^"]+)"', page)) == {"page.en-cs.html", "page.en-zh.html"}
    assert "<title>A &amp; B</title>" in page
    assert page.count("<tr>") == 4
    assert all(Path(f"page.{pair}.html").stat().st_size > 40_000 for pair in ("en-cs", "en-zh"))
    alone = command("directions", "--folders", "wmt/all.toml", "-m", "chrf", "--no-pages", "-f", "html").out
    assert ("href=" in alone, "judge en-zh" in alone) == (False, True)


def test_points_lost_have_the_same_names_in_scores_and_explanations(command: Any, files: Any) -> None:
    shown = command("score", *TEXTS, "-m", "trained").out
    names = [line.split()[0] for line in shown.partition("points lost\n")[2].partition("\n\n")[0].splitlines()]
    explained = command("explain", *TEXTS, "-m", "trained", "-l", "1-3").out
    lost = {line.split()[1] for line in explained.splitlines() if line.startswith("  lost")}
    assert len(names) > len(lost) > 0
    assert lost <= {*names}
