"""Readers of what people said, and of what metrics said."""

import gzip
import io
import json
import tomllib
from pathlib import Path

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest
from refusing import refused

from softbleu.corpora.judgements import (
    Comparisons,
    ScoreTable,
    merge_scores,
    read_assessments,
    read_rankings,
    read_scores,
    read_spans,
)
from softbleu.errors import InputError
from softbleu.io.progress import ProgressBar
from softbleu.meta.metaeval import metaeval
from softbleu.metrics.scores import read_outside

KNOWN = tomllib.loads(Path(__file__).with_name("refusals.toml").read_text("utf-8"))["texts"]
XML, FIVE, CZECH = (KNOWN[name] for name in ("xml", "five", "da"))
UNSCORED = '{"system": "a", "segment": 2, "score": null}\n{"system": "a", "segment": 1, "score": 3}'
PAIRS = "srcIndex,judgeID,system1Id,system1rank,system2Id,system2rank\n0,bob,t.B.src-trg,1,t.A.src-trg,3\n"


def rows(found):
    columns = (found.segment, found.first, found.second, found.outcome)
    names = found.systems
    return [(a, names[b], names[c], d) for a, b, c, d in zip(*(each.tolist() for each in columns), strict=True)]


def test_rankings(written, capsys):
    found = read_rankings(written(XML))
    assert rows(found) == [(3, "A", "B", 0), (3, "A", "C", -1), (3, "B", "C", -1)]
    assert found.annotators == ("ann",)
    assert rows(read_rankings(written(XML.replace("src-id=", "id=")))) == rows(found)
    assert rows(read_rankings(written(XML), expand=False)) == [(3, "A", "C", -1)]
    assert rows(read_rankings(written(XML), start=1))[0][0] == 2
    with ProgressBar(quiet=False):
        assert rows(read_rankings(written(XML.replace("src-id", "id"))))[0][0] == 3
    assert "no item has a src-id, so segments are numbered by id" in capsys.readouterr().err
    assert rows(read_rankings(written(FIVE))) == [(3, "A", "B.1", 1)]
    assert rows(read_rankings(written(FIVE), start=0)) == [(4, "A", "B.1", 1)]
    assert rows(read_rankings(written(gzip.compress(PAIRS.encode())))) == [(0, "A", "B", -1)]


def test_only_some_systems():
    found = Comparisons.of([(0, "A", "B", 1, "x"), (0, "B", "C", 0, "x"), (1, "C", "A", 1, "x")])
    assert rows(found.only(["A", "C"])) == [(1, "A", "C", -1)]
    refused(InputError, "no comparison is between two of the systems A, Z", found.only, ["A", "Z"])
    assert found.tallies()[:, 0, 1].tolist() == [1, 0, 0]
    assert found.tallies()[:, 0, 2].tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    "content",
    [
        "system\tscore\tsignature\na\t1.5\tx\nb\t2\tx\n",
        "a 1.5\nb 2\n",
        "bleu\tsrc-trg\ttest\ta\t1.5\nbleu\tsrc-trg\ttest\tb\t2\n",
        "LP HUMAN SYSTEM\ncs-en 1.5 a\ncs-en 2 b\nde-en 9 a\n",
        '{"schema": 1, "systems": [{"name": "a", "score": 1.5}, {"name": "b", "score": 2}]}',
        '{"system": "a", "score": 1.5}\n\n{"system": "b", "score": 2}\n',
    ],
)
def test_scores_of_systems(written, content):
    (table,) = read_scores(written(content), label="it", direction="cs-en" if "LP" in content else None)
    assert (table.name, dict(table.systems), dict(table.segments)) == ("it", {"a": 1.5, "b": 2.0}, {})


@pytest.mark.parametrize("start", [0, 1])
def test_scores_of_segments(written, start):
    lines = [f"{system} {segment + start} {score}" for segment in range(2) for system, score in (("a", 1), ("b", 2))]
    (table,) = read_scores(written("\n".join(lines), "bleu.segments.tsv.gz"))
    assert table.name == "bleu.segments"
    assert {name: scores.tolist() for name, scores in table.segments.items()} == {"a": [1, 1], "b": [2, 2]}


def test_scores_of_both_kinds_are_joined(written):
    parts = [{"segment": 1, "score": 3}, {"segment": 2, "score": 4}]
    both = json.dumps({"schema": 1, "systems": [{"name": "a", "score": 7, "segments": parts}]}, indent=1)
    (table,) = read_scores(written(both))
    assert (table.systems["a"], table.segments["a"].tolist()) == (7.0, [3.0, 4.0])
    systems = read_scores(written("m lp t a 7\n"))
    segments = read_scores(written("m lp t a 0 3\nm lp t a 1 4\n"))
    (joined,) = merge_scores([*segments, *systems])
    assert (joined.systems["a"], joined.segments["a"].tolist()) == (7.0, [3.0, 4.0])
    refused(InputError, "two tables of scores are called 'm'", lambda: merge_scores([*systems, *systems]))


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("bleu-A.seg.score", "a\t1\na\tNone\nb\t3\nb\t4\na\t5\n", {"a": [1, np.nan, 5], "b": [3, 4, np.nan]}),
        ("x.tsv", "system\tsegment\traw\tz\nb\t2\t70\t.5\na\t1\t9\tNone\n", {"b": [np.nan, 0.5], "a": [np.nan] * 2}),
        ("x.tsv.gz", "system segment mqm\na 3 -25\n", {"a": [np.nan, np.nan, -25]}),
        ("x.jsonl", UNSCORED, {"a": [3, np.nan]}),
    ],
)
def test_scores_with_gaps(written, name, content, expected):
    (table,) = read_scores(written(content, name))
    assert table.name == name.split(".")[0]
    np.testing.assert_equal({key: scores.tolist() for key, scores in table.segments.items()}, expected)
    if name != "x.jsonl":
        found = read_assessments(written(content, name))
        given = [(s, n, v) for s, row in expected.items() for n, v in enumerate(row) if not np.isnan(v)]
        rows = zip(found.systems, found.segments, found.scores, strict=True)
        assert [(system, segment, score) for (system,), segment, score in rows] == given


READ = tomllib.loads(Path(__file__).with_name("judgements.toml").read_text("utf-8"))
JUDGED, OUTSIDE = READ["judged"], READ["outside"]


@pytest.mark.parametrize("name", OUTSIDE)
def test_scores_of_other_programs(tmp_path, written, name):
    file, found = name.partition(":")[0], OUTSIDE[name]
    if "text" in found:
        written(found["text"], file)
    else:
        text = OUTSIDE["wide.csv:MetricX"]["text"].encode()
        pyarrow.parquet.write_table(pyarrow.csv.read_csv(io.BytesIO(text)), tmp_path / file)
    tables = {table.name: table for table in read_scores(str(tmp_path / name))}
    kept = {metric: {s: row.tolist() for s, row in table.segments.items()} for metric, table in tables.items()}
    np.testing.assert_equal(kept, found["expected"])
    assert {table.better for table in tables.values()} == {"lower" if name == "C.jsonl" else ""}
    if "A." in name:
        named = read_scores(str(tmp_path / name), label="me")
        assert {system for table in named for system in table.segments} == {"me"}


def test_systems_of_several_files_are_joined(written):
    names = [written(json.dumps({f"{s}.txt": [{"COMET": n}]}), f"{s}.json") for n, s in enumerate("ab")]
    (joined,) = merge_scores(table for name in names for table in read_scores(name))
    assert {system: row.tolist() for system, row in joined.segments.items()} == {"a": [0], "b": [1]}
    assert joined.location == "+".join(names)


@pytest.mark.parametrize("name", [name for name, found in JUDGED.items() if "scores" in found])
def test_judgements_with_spans(written, name):
    path, raw = written(JUDGED[name]["text"], name), JUDGED[name]["raw"]
    found = read_assessments(path)
    outputs = [(system, segment) for (system,), segment in zip(found.systems, found.segments, strict=True)]
    scores = [[*output, score] for output, score in zip(outputs, found.scores.tolist(), strict=True)]
    assert scores == JUDGED[name]["scores"]
    assert found.counts() == {"outputs": 2, "segments": 2, "judgements": 3, "annotators": 2}
    assert found.annotations.scores.tolist() == raw
    one, other, output = found.annotations.pairs()
    pairs = sorted(zip(one.tolist(), other.tolist(), output.tolist(), strict=True))
    assert pairs == sorted([(raw[0], raw[1], 0), (raw[1], raw[0], 0)])
    standard = read_assessments(path, standardise="annotator")
    expected = np.sign(raw[1] - raw[2])
    assert standard.scores.tolist() == [expected / 2, -expected]


def test_a_log_counts_as_its_page_does(written):
    """Pearmut counts units of UTF-16; lines are found by their outputs; scores may be MQM's."""
    marked = [(0, 0, "minor", "Fluency/Punctuation"), (1, 4, "major", "Accuracy/Addition"), (6, 6, "major", "Style/")]
    spans = [dict(zip(("start_i", "end_i", "severity", "category"), span, strict=True)) for span in marked]
    items = [{"item_id": "second", "tgt": {"A": "a𝒳\nb."}}, {"item_id": "first", "tgt": {"A": "same"}}]
    said = [{"A": {"score": None, "error_spans": spans}}, {"A": {"score": None, "error_spans": []}}]
    pages = [{"user_id": "u", "item_i": n, "item": [items[n]], "annotation": [said[n]]} for n in (0, 1)]
    name = written("\n".join(map(json.dumps, pages)), "log.jsonl")

    def texts():
        return {"A": ["no", "same", "a𝒳 b."]}

    for lines, expected in ((None, [0, 1]), (texts, [2, 1])):
        judged = read_assessments(name, texts=lines)
        scores = dict(zip(judged.segments, judged.scores.tolist(), strict=True))
        assert scores == dict(zip(expected, [-10.1, 0], strict=True))
    read = read_spans(name, texts=texts)
    (output,) = read.outputs["A"][2]
    assert ([tuple(span) for span in output.spans], read.missing) == ([(0, 1, "minor"), (1, 4, "major")], 1)
    refused(InputError, "line 1: no line has these outputs of A", read_spans, name, texts=lambda: {"A": ["b"]})
    refused(InputError, "judged are A, of which no outputs are given", read_spans, name, texts=lambda: {"B": ["b"]})


def test_a_campaign_of_the_program():
    """What Pearmut 1.1.6 wrote when two users had marked and scored made-up outputs on its page, in a browser.

    Marked texts and scores are those that the page showed.
    """
    export = Path(__file__).parents[1] / "golden" / "pearmut.json"
    pages = json.loads(export.read_text("utf-8"))["made-up"]
    outputs = {item["item_id"]: item["tgt"] for page in pages for item in page["item"]}
    judged, spans = read_assessments(str(export)), read_spans(str(export))
    ids = sorted(outputs)
    scored = zip(judged.systems, judged.segments, judged.scores, strict=True)
    scores = {(system, number): score for (system,), number, score in scored}
    means = {"north": [67.5, 67, 49.5], "south": [43.5, 37, 35]}
    assert scores == {(system, n): mean for system, of in means.items() for n, mean in enumerate(of)}
    marked = {
        (system, number, outputs[ids[number]][system][start:end], severity)
        for system, lines in spans.outputs.items()
        for number, said in lines.items()
        for one in said
        for start, end, severity in one.spans
    }
    assert marked == {
        ("north", 0, " sedě", "major"),
        ("north", 0, "seděla ", "minor"),
        ("north", 1, "a ni", "minor"),
        ("north", 1, "oc p", "major"),
        ("south", 2, "o odstav", "minor"),
        ("south", 2, "ára stej", "major"),
    }


def test_outputs_place_judgements_without_a_metric():
    """Those of a campaign are of the lines of the outputs, also where nothing is to be computed."""
    export = str(Path(__file__).parents[1] / "golden" / "pearmut.json")
    pages = json.loads(Path(export).read_text("utf-8"))["made-up"]
    items = {item["item_id"]: item["tgt"] for page in pages for item in page["item"]}
    texts = {name: [items[key][name] for key in sorted(items)] for name in ("north", "south")}
    outputs = {"candidates": texts, "references": texts["north"]}
    alone = metaeval("annotators", assessments=export, samples=9)
    assert metaeval("annotators", assessments=export, samples=9, **outputs).records() == alone.records()
    numbers = {"north": np.arange(3.0), "south": np.arange(3.0)[::-1]}
    given = {"scores": [ScoreTable("m", {}, numbers)], "assessments": export, "samples": 9, **outputs}
    assert metaeval("outputs", **given).records()[0]["points"] == 6
    refused(InputError, "name some with metrics", metaeval, assessments=export, **outputs)


def test_sliders_and_severities_of_a_campaign(written):
    """One slider in the place of scores is the score; the default categories cost what WMT's of the same name do."""

    def scores(*said):
        pages = [
            {"user_id": "u", "item_i": n, "item": [{"item_id": f"d#{n}"}], "annotation": [{"A": one}]}
            for n, one in enumerate(said)
        ]
        return read_assessments(written("\n".join(map(json.dumps, pages)), "log.jsonl")).scores.tolist()

    def marked(severity, category):
        return {
            "score": None,
            "error_spans": [{"start_i": 0, "end_i": 1, "severity": severity, "category": category}],
        }

    assert scores({"score": None, "sliders": {"x": 3}}, {"score": None, "sliders": {"x": 4.5}}) == [3, 4.5]
    found = scores(marked("critical", "Other/Other"), marked("minor", "Linguistic conventions/Punctuation"))
    assert found == [-5, -0.1]


def test_files_are_matched_by_document(written):
    """WMT25's files of single systems have documents in another order than its table; runs are systems."""
    documents = [{"document_id": name, "metric_scores": {"m": some}} for name, some in (("y", [2, 3]), ("x", [1]))]
    one = written("\n".join(map(json.dumps, documents)), "A.jsonl")
    rows = ["system\trun\tsegment\tdocument\tscore", "B\t1\t1\tx\t10", "B\t1\t2\ty\t20", "B\t1\t3\ty\t30"]
    other = written("\n".join(rows), "m.tsv")
    (metric,) = read_outside([other, one])
    assert {name: scores.tolist() for name, scores in metric.table.segments.items()} == {
        "B.1": [10, 20, 30],
        "A": [1, 2, 3],
    }
    written(json.dumps(documents[0]), "A.jsonl")
    refused(InputError, "m.tsv and .*document 'x' has a segment 1 in one", read_outside, [other, one])


def test_columns_that_nobody_reads_may_share_a_name(written):
    rows = ["system\tsegment\tnote\tnote\tscore", "A\t1\tx\ty\t2", "B\t1\tx\ty\t3"]
    (metric,) = read_outside([written("\n".join(rows), "m.tsv")])
    assert {name: scores.tolist() for name, scores in metric.table.segments.items()} == {"A": [2], "B": [3]}


@pytest.mark.parametrize("name", [name for name, found in JUDGED.items() if "spans" in found])
def test_spans(tmp_path, written, name):
    read = read_spans(written(JUDGED[name]["text"], name))
    marked = [output for segments in read.outputs.values() for outputs in segments.values() for output in outputs]
    assert [[list(span) for span in output.spans] for output in marked] == JUDGED[name]["spans"]
    assert {output.location.partition(",")[0] for output in marked} == {str(tmp_path / name)}


def test_the_column_of_scores(written):
    name = written("system\tscore\traw\tz\nb\t2\t70\t.5\n")
    assert [read_scores(name, column=each)[0].systems["b"] for each in (None, "Z", "raw")] == [2, 0.5, 70]
    refused(InputError, "no columns 'system' and 'mqm'", read_scores, name, column="mqm")
    sys_scores = written("a\t3\nb\tNone\n", "bleu.sys.score")
    assert [(each.name, dict(each.systems)) for each in read_scores(sys_scores)] == [("bleu", {"a": 3})]


DA = CZECH + "de-en t A.1 1 0\n"
ANNOTATORS = {  # Each says 2 and 3 of the first output, 1 of another
    "numbers.tsv": "LP SYSTEM SID HUMAN annotator\nx-y A 1 2 ann\nx-y A 1 3 bob\nx-y A 2 1 ann\n",
    "graded.tsv": "system\tsegment\tannotator\tscore\nA\t1\tann\t2\nA\t1\tbob\t3\nA\t1\teve\tNone\nA\t2\tbob\t1\n",
    "texts.tsv": "lp\tannotator\tsource\ttranslation\treference\thuman_score\n"
    + "".join(f"x-y\t{row}\n" for row in ("ann\ts\ta\tr\t2", "bob\ts\ta\tr\t3", "ann\ts\tb\tr\t1")),
}
TEXTS = "LP\tsource\ttranslation\treference\tHUMAN_score\ncs-en\tx\tit &apos;s\tit is\t0.25\n"


@pytest.mark.parametrize("name", ANNOTATORS)
def test_several_annotators_of_an_output(written, capsys, name):
    path = written(ANNOTATORS[name], name)
    with ProgressBar(quiet=False):
        found = read_assessments(path)
    assert found.scores.tolist() == [2.5, 1]
    assert f"{name}: 1 of 2 outputs have several judgements: the mean of each is taken" in capsys.readouterr().err
    if name == "graded.tsv":
        both = written("lp system segment score\nx-y a 1 3\ny-x a 1 4\n", "two.tsv")
        refused(InputError, "name one direction of x-y, y-x", read_assessments, both)


def test_assessments(written):
    name = written(DA)
    found = read_assessments(name, direction="cs-en")
    assert (found.scores.tolist(), found.systems, found.segments) == ([0.5, -0.5], [["A.1", "B"], ["B"]], [1, 0])
    people, metric, segments = found.pick({"B": np.array([7.0, 8.0])}, "bleu")
    assert (people.tolist(), metric.tolist(), segments.tolist()) == ([0.5, -0.5], [8.0, 7.0], [1, 0])
    people, metric, segments = found.pick({"A.1": np.array([7.0, 8.0])}, "bleu")
    assert (people.tolist(), metric.tolist(), segments.tolist()) == ([0.5], [8.0], [1])
    few, none = ({name: np.array([7.0])} for name in "BC")
    refused(InputError, "the assessments name segment 2, bleu has 1 of B", found.pick, few, "bleu")
    refused(InputError, "bleu has scores of none of the assessed systems", found.pick, none, "bleu")
    name = written(TEXTS)
    plain, clean = read_assessments(name), read_assessments(name, unescape=True)
    texts = [each.texts.candidates["translation"] for each in (plain, clean)]
    assert texts == [["it &apos;s"], ["it 's"]]
    two = {"translation": np.zeros(2)}
    refused(InputError, "bleu has 2 segments, 1 texts were assessed", clean.pick, two, "bleu")
