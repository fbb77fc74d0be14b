"""Readers of what people said, and of what metrics said."""

import gzip
import io
import json
import re
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

REFUSED, READ = (
    tomllib.loads(Path(__file__).with_name(name).read_text("utf-8")) for name in ("refusals.toml", "judgements.toml")
)
XML, FIVE, CZECH = (REFUSED["texts"][name] for name in ("xml", "five", "da"))
JUDGED, OUTSIDE = READ["judged"], READ["outside"]
CAMPAIGN = Path(__file__).parents[1] / "golden" / "pearmut.json"
PAIRS = "srcIndex,judgeID,system1Id,system1rank,system2Id,system2rank\n0,bob,t.B.src-trg,1,t.A.src-trg,3\n"


def rows(found):
    columns, names = (found.segment, found.first, found.second, found.outcome), found.systems
    return [(a, names[b], names[c], d) for a, b, c, d in zip(*(each.tolist() for each in columns), strict=True)]


def test_rankings_of_each_format_are_read(written, capsys):
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


# Judged are line 2 of the outputs, where A and B are the same, and line 3, where A and C are
STARTS = {"A": ["x", "same", "it", "y"], "B": ["z", "same", "one", "u"], "C": ["x", "two", "it", "v"]}
ITEM = '<ranking-item src-id="{{}}" user="u">{}</ranking-item>'
TOLD = '<translation system="{}" rank="1"/><translation system="{}" rank="2"/>'
SHOWN = f"<r>{ITEM.format(TOLD.format('A B', 'C'))}{ITEM.format(TOLD.format('C A', 'B'))}</r>"
FIVES = "srcIndex,judgeId,system1Id,system1rank,system2Id,system2rank,system3Id,system3rank\n"


def scored(lines):
    known = sorted({line for some in lines.values() for line in some})
    return {name: np.array([known.index(line) / 7 for line in some]) for name, some in lines.items()}


def ranked(rows):
    return FIVES + "".join(f"{number},j,A,{a},B,{b},C,{c}\n" for number, a, b, c in rows)


@pytest.mark.parametrize(
    ("text", "start", "outputs", "segments", "said"),
    [
        (SHOWN.format(1, 2), None, STARTS, [1, 2], ""),
        (
            SHOWN.format(2, 3),
            None,
            STARTS,
            [1, 2],
            "from 1, not from 0 as usual (outputs shown as one are equal: 0 of 2",
        ),
        (SHOWN.format(2, 3), None, {**STARTS, "A": ["x", " same ", "it\u00a0", "y"]}, [1, 2], "counted from 1, not"),
        (SHOWN.format(2, 3), None, scored(STARTS), [1, 2], "counted from 1, not from 0"),
        (
            SHOWN.format(2, 3),
            0,
            STARTS,
            [2, 3],
            "outputs that were shown as one differ (equal are 0 of 2 counted from 0)",
        ),
        (
            SHOWN.format(2, 4),
            None,
            {"A": "abcd", "C": "efgd"},
            [1, 3],
            "from 1, not from 0 as usual (the last is 4 of 4)",
        ),
        (
            SHOWN.format(2, 3),
            None,
            {"A": "abcd", "Z": "efgh"},
            [2, 3],
            "0, as usual: the outputs do not tell; rankings_",
        ),
        (SHOWN.format(2, 3), None, {"Z": "ab"}, [2, 3], ""),
        (
            ranked([(1, 1, 1, 2), (2, 2, 1, 2)] * 5),
            None,
            STARTS,
            [1, 2],
            "from 0, not from 1 as usual (equal outputs",
        ),
        (ranked([(2, 1, 1, 2), (3, 2, 1, 2)] * 5), None, STARTS, [1, 2], ""),
        (ranked([(0, 1, 1, 2), (2, 2, 1, 2)]), None, STARTS, [0, 2], "from 0, not from 1"),
    ],
)
def test_segments_count_from_where_equal_outputs_are_equal(written, capsys, text, start, outputs, segments, said):
    known = outputs if isinstance(outputs["Z" if "Z" in outputs else "A"], np.ndarray) else lambda: outputs
    with ProgressBar(quiet=False):
        found = read_rankings(written(text), start=start, outputs=known)
    noted = capsys.readouterr().err
    assert (sorted({*found.segment.tolist()}), said in noted, noted.count("\n")) == (segments, True, bool(said))


def test_judged_outputs_are_those_that_are_scored(written):
    differ = "outputs that were shown as one differ .equal are 0 of 2 counted from 0, 0 of 2 counted from 1"
    others = {"A": list("abcd"), "B": list("efgh"), "C": list("ijkl")}
    refused(InputError, differ, read_rankings, written(SHOWN.format(2, 3)), outputs=lambda: others)
    beyond = "segments 2 to 9 were judged, but the outputs have 4"
    refused(InputError, beyond, read_rankings, written(SHOWN.format(2, 9)), outputs=lambda: STARTS)
    refused(InputError, beyond, read_rankings, written(SHOWN.format(2, 9)), outputs=scored(STARTS))


@pytest.mark.parametrize(
    ("text", "segments", "said"),
    [
        ("system segment score\nA 2 1\nA 4 2\n", [1, 3], ""),
        ("system segment score\nA 1 1\nA 3 2\n", [0, 2], "taken as counted from 1"),
        ("system segment score\nA 1 1\nA 2 2\n", [0, 1], ""),
        ("system segment score\nA 0 1\nA 3 2\n", [0, 3], ""),
        ("LP SYSTEM SID HUMAN\na-b A+B 2 1\na-b C 3 2\n", [1, 2], ""),
        ("LP SYSTEM SID HUMAN\na-b A+B 1 1\na-b A+C 2 2\n", [1, 2], "counted from 0, not from 1 as usual"),
    ],
)
def test_assessments_count_as_the_outputs_tell(written, capsys, text, segments, said):
    with ProgressBar(quiet=False):
        found = read_assessments(written(text), texts=lambda: STARTS)
    noted = capsys.readouterr().err
    assert (list(found.segments), said in noted, noted.count("\n")) == (segments, True, bool(said))


def test_comparisons_are_cut_to_some_systems():
    found = Comparisons.of([(0, "A", "B", 1, "x"), (0, "B", "C", 0, "x"), (1, "C", "A", 1, "x")])
    assert rows(found.only(["A", "C"])) == [(1, "A", "C", -1)]
    refused(InputError, "no comparison is between two of the systems A, Z", found.only, ["A", "Z"])
    assert found.tallies()[:, 0, 1].tolist() == [1, 0, 0]
    assert found.tallies()[:, 0, 2].tolist() == [0, 0, 1]


@pytest.mark.parametrize("content", READ["systems"])
def test_scores_of_systems(written, content):
    (table,) = read_scores(written(content), label="it", direction="cs-en" if "LP" in content else None)
    assert (table.name, dict(table.systems), dict(table.segments)) == ("it", {"a": 1.5, "b": 2.0}, {})


def test_scores_of_both_kinds_and_systems_of_several_files_are_joined(written):
    parts = [{"segment": 1, "score": 3}, {"segment": 2, "score": 4}]
    both = json.dumps({"schema": 1, "systems": [{"name": "a", "score": 7, "segments": parts}]}, indent=1)
    systems = read_scores(written("m lp t a 7\n"))
    segments = read_scores(written("m lp t a 0 3\nm lp t a 1 4\n"))
    for (table,) in (read_scores(written(both)), merge_scores([*segments, *systems])):
        assert (table.systems["a"], table.segments["a"].tolist()) == (7.0, [3.0, 4.0])
    refused(InputError, "two tables of scores are called 'm'", lambda: merge_scores([*systems, *systems]))
    names = [written(json.dumps({f"{s}.txt": [{"COMET": n}]}), f"{s}.json") for n, s in enumerate("ab")]
    (joined,) = merge_scores(table for name in names for table in read_scores(name))
    assert {system: row.tolist() for system, row in joined.segments.items()} == {"a": [0], "b": [1]}
    assert joined.location == "+".join(names)


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
    better = "higher" if found.get("better") else "lower" if name == "C.jsonl" else ""
    assert {table.better for table in tables.values()} == {better}
    if found.get("judgements"):
        read = read_assessments(str(tmp_path / name))
        ((_, scores),) = found["expected"].items()
        given = [(s, n, v) for s, row in scores.items() for n, v in enumerate(row) if not np.isnan(v)]
        assert [(s, n, v) for (s,), n, v in zip(read.systems, read.segments, read.scores, strict=True)] == given
    elif "A." in name:
        named = read_scores(str(tmp_path / name), label="me")
        assert {system for table in named for system in table.segments} == {"me"}


@pytest.mark.parametrize("name", JUDGED)
def test_judgements_and_their_spans(written, name):
    path, said = written(JUDGED[name]["text"], name), JUDGED[name]
    if "spans" in said:
        read = read_spans(path)
        marked = [output for lines in read.outputs.values() for outputs in lines.values() for output in outputs]
        assert [[list(span) for span in output.spans] for output in marked] == said["spans"]
        assert {output.location.partition(",")[0] for output in marked} == {path}
    if "scores" not in said:
        return
    found, raw = read_assessments(path), said["raw"]
    scores = zip(found.systems, found.segments, found.scores.tolist(), strict=True)
    assert [[system, segment, score] for (system,), segment, score in scores] == said["scores"]
    assert found.counts() == {"outputs": 2, "segments": 2, "judgements": 3, "annotators": 2}
    assert found.annotations.scores.tolist() == raw
    one, other, output = found.annotations.pairs()
    pairs = sorted(zip(one.tolist(), other.tolist(), output.tolist(), strict=True))
    assert pairs == sorted([(raw[0], raw[1], 0), (raw[1], raw[0], 0)])
    standard = read_assessments(path, standardise="annotator")
    expected = np.sign(raw[1] - raw[2])
    assert standard.scores.tolist() == [expected / 2, -expected]


@pytest.mark.parametrize(("column", "scores"), [(None, [0.5, -1]), ("raw", [80, 60])])
def test_texts_are_read_by_the_names_of_comets_data(written, column, scores):
    rows = (
        'lp,src,mt,ref,score,raw,annotators\nen-de,"s, one",m one,r one,0.5,80,2\nen-de,s two,m two,r two,-1,60,1\n'
    )
    found = read_assessments(written(rows, "da.csv"), column=column)
    assert found.scores.tolist() == scores
    assert list(found.texts.source) == ["s, one", "s two"]
    assert list(found.texts.candidates["translation"]) == ["m one", "m two"]


def test_unknown_severities_and_items_without_outputs_are_noted(written, capsys):
    rows = ["A\t1\tr\tt\tc\tMajor", "A\t1\tr\tt\tc\tTrivial", "A\t2\tr\tt\tc\tNeutral"]
    name = written("\n".join(["system\tseg_id\trater\ttarget\tcategory\tseverity", *rows]), "mqm.tsv")
    with ProgressBar(quiet=False):
        assert read_assessments(name).scores.tolist() == [-5, 0]
    assert "severity 'Trivial' is none of critical, major, minor, and costs nothing" in capsys.readouterr().err
    pages = log([{"score": 1}, {"score": 2}], outputs=({"A": "a"}, {"B": "b"})).replace(
        '[{"A": {"score": 2}', '[{"B": {"score": 2}'
    )
    name = written(pages, "log.jsonl")
    with ProgressBar(quiet=False):
        assert read_assessments(name, texts=lambda: {"A": ["a"]}).scores.tolist() == [1]
    assert "log.jsonl: no outputs are given of B: left out (items: 1)" in capsys.readouterr().err


def log(said, items=("d#0", "d#1"), outputs=({}, {})):
    """Pages of a campaign, each of one item: what was said of it."""
    pages = [
        {"user_id": "u", "item_i": n, "item": [{"item_id": item, "tgt": texts}], "annotation": [{"A": one}]}
        for n, (item, texts, one) in enumerate(zip(items, outputs, said, strict=True))
    ]
    return "\n".join(map(json.dumps, pages))


def marks(*spans):
    keys = ("start_i", "end_i", "severity", "category")
    return {"score": None, "error_spans": [dict(zip(keys, span, strict=True)) for span in spans]}


def test_a_log_counts_as_its_page_does(written):
    """Pearmut counts units of UTF-16; lines are found by their outputs; scores may be MQM's."""
    said = marks(
        (0, 0, "minor", "Fluency/Punctuation"), (1, 4, "major", "Accuracy/Addition"), (6, 6, "major", "Style/")
    )
    pages = log([said, marks()], ("second", "first"), ({"A": "a𝒳\nb."}, {"A": "same"}))
    name = written(pages, "log.jsonl")

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
    pages = json.loads(CAMPAIGN.read_text("utf-8"))["made-up"]
    outputs = {item["item_id"]: item["tgt"] for page in pages for item in page["item"]}
    ids, judged, spans = sorted(outputs), read_assessments(str(CAMPAIGN)), read_spans(str(CAMPAIGN))
    scored = zip(judged.systems, judged.segments, judged.scores, strict=True)
    scores = {(system, number): score for (system,), number, score in scored}
    expected = READ["campaign"]
    assert scores == {(system, n): mean for system, of in expected["means"].items() for n, mean in enumerate(of)}
    marked = {
        (system, number, outputs[ids[number]][system][start:end], severity)
        for system, lines in spans.outputs.items()
        for number, said in lines.items()
        for one in said
        for start, end, severity in one.spans
    }
    assert marked == set(map(tuple, expected["marked"]))
    # Outputs say of which lines judgements are, also where nothing is to be computed.
    texts = {name: [outputs[key][name] for key in ids] for name in ("north", "south")}
    given = {"assessments": str(CAMPAIGN), "candidates": texts, "references": texts["north"]}
    alone = metaeval("annotators", assessments=str(CAMPAIGN), samples=9)
    assert metaeval("annotators", samples=9, **given).records() == alone.records()
    numbers = {"north": np.arange(3.0), "south": np.arange(3.0)[::-1]}
    assert metaeval("outputs", scores=[ScoreTable("m", {}, numbers)], samples=9, **given).records()[0]["points"] == 6
    refused(InputError, "name some with metrics", metaeval, **given)


def test_sliders_and_severities_of_a_campaign(written):
    """One slider in the place of scores is the score; the default categories cost what WMT's of the same name do."""
    sliders = [{"score": None, "sliders": {"x": number}} for number in (3, 4.5)]
    others = [marks((0, 1, "critical", "Other/Other")), marks((0, 1, "minor", "Linguistic conventions/Punctuation"))]
    for said, scores in ((sliders, [3, 4.5]), (others, [-5, -0.1])):
        assert read_assessments(written(log(said), "log.jsonl")).scores.tolist() == scores


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


def test_the_column_of_scores(written):
    name = written("system\tscore\traw\tz\nb\t2\t70\t.5\n")
    assert [read_scores(name, column=each)[0].systems["b"] for each in (None, "Z", "raw")] == [2, 0.5, 70]
    refused(InputError, "no columns 'system' and 'mqm'", read_scores, name, column="mqm")
    sys_scores = written("a\t3\nb\tNone\n", "bleu.sys.score")
    assert [(each.name, dict(each.systems)) for each in read_scores(sys_scores)] == [("bleu", {"a": 3})]


DA = CZECH + "de-en t A.1 1 0\n"
TEXTS = "LP\tsource\ttranslation\treference\tHUMAN_score\ncs-en\tx\tit &apos;s\tit is\t0.25\n"


@pytest.mark.parametrize("name", READ["annotators"])
def test_several_annotators_of_an_output(written, capsys, name):
    path = written(READ["annotators"][name], name)
    with ProgressBar(quiet=False):
        found = read_assessments(path)
    assert found.scores.tolist() == [2.5, 1]
    assert f"{name}: 1 of 2 outputs have several judgements: the mean of each is taken" in capsys.readouterr().err
    # Who judges an output twice agrees with nobody.
    twice = "system\tsegment\tannotator\tscore\nX\t1\tA\t64\nX\t1\tA\t80\nX\t1\tB\t70\n"
    alone = read_assessments(written(twice.replace("B", "A"), "alone.tsv")).annotations
    pairs = read_assessments(written(twice, "twice.tsv")).annotations.pairs()
    assert (len(alone.scores), [*map(list, pairs)]) == (1, [[72, 70], [70, 72], [0, 0]])
    if name == "graded.tsv":
        both = written("lp system segment score\nx-y a 1 3\ny-x a 1 4\n", "two.tsv")
        refused(InputError, "name one direction of x-y, y-x", read_assessments, both)


def test_assessments_are_read_and_picked_by_system(written):
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
    refused(InputError, "bleu has 2 segments, 1 text was assessed", clean.pick, two, "bleu")


MQM = "system,segment,annotator,mqm\nA,1,x,0\nA,2,x,5\nB,1,x,0\nB,2,x,1\n"
MQM_OF_TEXTS = "src,mt,ref,annotator,mqm\na,b,c,x,0\nd,e,f,x,5\ng,h,i,x,0\nj,k,l,x,1\n"


@pytest.mark.parametrize("standardise", [None, "annotator"])
@pytest.mark.parametrize("table", [MQM, MQM_OF_TEXTS])
def test_mqm_without_negative_scores_is_negated(written, capsys, table, standardise):
    with ProgressBar(quiet=False):
        found = read_assessments(written(table, "da.csv"), standardise=standardise)
        below = read_assessments(written(re.sub(",([15])\n", r",-\1\n", table), "n.csv"), standardise=standardise)
    assert capsys.readouterr().err.count("penalties, of which lower is better") == 1
    assert np.argmin(found.scores) == 1
    assert np.array_equal(found.scores, below.scores)
