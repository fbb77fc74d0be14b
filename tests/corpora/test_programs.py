"""Scores in files of other programs: each row is of the system, the segment and the document that its file says."""

import json

import numpy as np
import pytest
from refusing import refused

import softbleu
from softbleu.corpora.judgements import in_order_of, read_scores
from softbleu.corpora.judgements.tables import ParquetRows
from softbleu.errors import InputError
from softbleu.io.reading import LONGEST_LINE, parse_json

SIGNED = "BLEU|nrefs:1|case:mixed|eff:yes|tok:13a|smooth:exp|version:2.6.0 ="
METRICX = {"hypothesis": "h", "reference": "r"}


def lines(*rows):
    return "".join(f"{json.dumps(row)}\n" for row in rows)


# Name of the file, its text; scores of segments by system, or else of systems.
SEGMENTS = {
    "comet-score": (
        "hyp/A.de\tSegment 0\tscore: 0.5\nhyp/B.de\tSegment 0\tscore: 0.1\nhyp/A.de\tSegment 1\tscore: 0.7\n"
        "hyp/B.de\tSegment 1\tscore: 0.2\nhyp/A.de\tscore: 0.6\nhyp/B.de\tscore: 0.15\n",
        {"A": [0.5, 0.7], "B": [0.1, 0.2]},
    ),
    "comet-score, blanks": ("A.de Segment 0 score: 0.5\nA.de Segment 1 score: nan\n", {"A": [0.5, None]}),
    "comet-score, one file": ("Segment 0\tscore: 0.5\nSegment 1\tscore: 0.7\nSystem score: 0.6\n", {"f": [0.5, 0.7]}),
    "comet-score, noise": ("Fetching 5 files\nA.de\tSegment 0\tscore: 0.5\tvariance: 0.1\n", {"A": [0.5]}),
    "COMET with NaN": ('{"A": [{"COMET": 0.5}, {"COMET": NaN}]}', {"A": [0.5, None]}),
    "MetricX": (
        lines(
            *({**METRICX, "system_id": s, "segment_id": i, "prediction": v} for s, i, v in [("X", 2, 4), ("X", 1, 3)])
        ),
        {"X": [3, 4]},
    ),
    "MetricX, documents": (
        lines(*({**METRICX, "doc_id": d, "prediction": v} for d, v in [("news.1", 1), ("news.1", 2)])),
        {"f": [1, 2]},
    ),
    "MetricX, names of segments": (
        lines(
            *(
                {**METRICX, "model": m, "seg_id": s, "prediction": v}
                for m, s, v in [("A", "x", 1), ("A", "y", 2), ("B", "y", 3), ("B", "x", 4)]
            )
        ),
        {"A": [1, 2], "B": [4, 3]},
    ),
    "lm-evaluation-harness": (
        lines({"doc_id": 1, "target": 3, "acc": True}, {"doc_id": 0, "target": 1, "acc": False}),
        {"f": [0, 1]},
    ),
    "a judge's lines": (lines({"sys": "A", "idx": 1, "gpt": 70}, {"sys": "A", "idx": 0, "gpt": 90}), {"A": [90, 70]}),
    "sacrebleu, printed": (f"{SIGNED} 31.9 60.0/40.0 (BP = 1.000)\n{SIGNED} 21.9 60.0\n", {"f": [31.9, 21.9]}),
    "numbers with a point": ("system\tsegment\tscore\nA\t1.0\t3\nA\t2.0\tn/a\n", {"A": [3, None]}),
    "MetricX, numbers as text": (lines({**METRICX, "prediction": "3.5"}), {"f": [3.5]}),
    "spreadsheet": ("sys;line;score\nA;2;1,5\nA;1;0,25\n", {"A": [0.25, 1.5]}),
    "spreadsheet, empty columns": ("system,segment,score,,\nA,1,.5\nA,2,.7,,\n", {"A": [0.5, 0.7]}),
    "spreadsheet, numbered rows": (",system,segment,score\n0,A,1,.5\n", {"A": [0.5]}),
    "spreadsheet, its delimiter": ("sep=;\nsystem;segment;score\nA;1;0,5\n", {"A": [0.5]}),
    "spreadsheet, title": ("Campaign of May,,\n\nsystem,segment,score\nA,1,.5\n", {"A": [0.5]}),
    "spreadsheet, gaps": ("system,segment,score\nA,1,#N/A\nA,2,<NA>\nA,3,1\n", {"A": [None, None, 1]}),
    "spreadsheet, minus": ("system,segment,score\nA,1,\u22121\nA,2,2\n", {"A": [-1, 2]}),
    "spreadsheet, percentages": ("system,segment,score\nA,1,85%\nA,2,90.5 %\n", {"A": [85, 90.5]}),
    "spreadsheet, thousands": ('system,segment,score\nA,1,"1,000.5"\nA,2,"1,000"\n', {"A": [1000.5, 1000]}),
    "spreadsheet, commas": ('system,segment,score\nA,1,"0,85"\nA,2,"1,234"\n', {"A": [0.85, 1.234]}),
    "spreadsheet, tabs": ("system\tsegment\tscore\nA\t1\t0,85\n", {"A": [0.85]}),
    "spreadsheet, both": ("system;segment;score\nA;1;1.234,5\nA;2;1\u00a0000\nA;3;0,5\n", {"A": [1234.5, 1000, 0.5]}),
    "gec-metrics, sentences": ('{"A": [0.5, null], "B": [1, 0.25]}', {"A": [0.5, None], "B": [1, 0.25]}),
    "gec-metrics, sentences of a system": ("[0.5, 0.7]", {"f": [0.5, 0.7]}),
    "numbers alone": ("0.5\n\n-1e-3\nNone\n\n", {"f": [0.5, None, -1e-3, None]}),
    "segments begin again": (
        "system\tdoc_id\tseg_id\tscore\nA\tx\t1\t1\nA\tx\t2\t2\nA\ty\t1\t3\nB\ty\t1\t6\nB\tx\t2\t5\nB\tx\t1\t4\n",
        {"A": [1, 2, 3], "B": [4, 5, 6]},
    ),
}
SYSTEMS = {
    "comet-score --quiet": ("A.de\tscore: 0.6\nB.de\tscore: 0.15\n", {"A": 0.6, "B": 0.15}),
    "sacrebleu, printed": (f"{SIGNED} 31.9 60.0/40.0\n", {"f": 31.9}),
    "sacrebleu, JSON": ('{"name": "BLEU", "score": 28.6, "signature": "nrefs:1|case:mixed"}', {"f": 28.6}),
    "sacrebleu, systems": (
        '[{"system": "o/a.de", "BLEU": "31.9"}, {"system": "o/b.de", "BLEU": "30"}]',
        {"a": 31.9, "b": 30},
    ),
    "gecmetrics-eval": (
        "{'n': 4}\nScore=0.5 | Metric=impara | hyp_file=o/A.txt\nScore=2e-1 | Metric=impara | hyp_file=o/B.txt\n",
        {"A": 0.5, "B": 0.2},
    ),
    "sacrebleu, paired": (
        '[{"system": "Baseline: a.de", "BLEU (μ ± 95% CI)": {"score": 31.9, "p_value": null}},'
        '{"system": "b.de", "BLEU (μ ± 95% CI)": {"score": 30.0, "p_value": 0.03}}]',
        {"a": 31.9, "b": 30.0},
    ),
}
REFUSED = {
    "no score": (
        lines({"index": 0, "prediction": "a b", "hypothesis": "x"}),
        "the prediction is no score, but 'a b'",
    ),
    "numbers and names": (
        "system\tsegment\tscore\nA\tx\t1\nA\t2\t1\n",
        "segment 'x' is no number, segment '2' is one",
    ),
    "commas and points": ("system;segment;score\nA;1;1.234\nA;2;0,5\n", r"'1.234' \(line 2\) and '0,5' \(line 3\)"),
    "thousands or decimals": ('system,segment,score\nA,1,"1,234"\n', "thousands, or decimals"),
    "groups of other sizes": ('system,segment,score\nA,1,"1,234,5"\n', "thousands without a mark"),
    "some percentages": ("system,segment,score\nA,1,85%\nA,2,.9\n", "write all as percentages, or none"),
    "segments of one system": ("system,segment,score\nA,,1\nB,,2\nA,1,5\n", "B has no scores of segments, A has"),
    "twice": ('{"A": [{"COMET": 0.9}], "A": [{"COMET": 0.1}]}', "the key 'A' is twice in one object"),
    "other lines": (f"{SIGNED} 31.9 60.0\nwell\n", "f, line 2: no score as in the lines above"),
    "lists by metric": ('{"BLEU": [0.5], "chrF": [0.6]}', r"lists of scores by metric \(BLEU, chrF\), not by system"),
    "numbers of nobody": ('{"A": 0.5, "B": 0.6}', "no scores; JSON is read as"),
    "infinite": ('{"A": [{"COMET": Infinity}]}', "Infinity is no finite number"),
}


def kept(tmp_path, text, name="f"):
    (tmp_path / name).write_text(text, encoding="utf-8")
    return str(tmp_path / name)


@pytest.mark.parametrize(("text", "expected"), SEGMENTS.values(), ids=SEGMENTS)
def test_each_form_says_whose_segments_are_scored(tmp_path, text, expected):
    (table,) = read_scores(kept(tmp_path, text))
    found = {
        system: [None if np.isnan(score) else score for score in scores] for system, scores in table.segments.items()
    }
    assert found == expected


@pytest.mark.parametrize(("text", "expected"), SYSTEMS.values(), ids=SYSTEMS)
def test_corpus_results_are_of_systems(tmp_path, text, expected):
    (table,) = read_scores(kept(tmp_path, text))
    assert (dict(table.systems), dict(table.segments)) == (expected, {})


@pytest.mark.parametrize(("text", "said"), REFUSED.values(), ids=REFUSED)
def test_scores_of_no_known_system_or_segment_are_refused(tmp_path, text, said):
    refused(InputError, said, read_scores, kept(tmp_path, text))


def test_numbers_alone_are_of_the_systems_that_are_named(tmp_path):
    """Of systems in order, or of the segments of the one that the file is named after."""
    file = kept(tmp_path, "0.5\nNone\n0.7\n", "EW.txt")
    (table,) = read_scores(file, names=["A", "B", "C"])
    assert (table.name, table.systems, table.segments) == ("EW", {"A": 0.5, "C": 0.7}, {})
    (table,) = read_scores(file, label="SOME", names=["A", "EW"])
    assert (table.name, [*table.segments], table.systems) == ("SOME", ["EW"], {})
    refused(InputError, "3 scores without names: name the systems, in order", read_scores, file, names=[])
    refused(InputError, "3 scores without names for 2 names", read_scores, file, names=["A", "B"])
    refused(InputError, "1 columns and no names", read_scores, kept(tmp_path, "0.5\nx\n"), names=["A", "B"])
    human = {"names": ["A", "B", "C"], "human": [kept(tmp_path, "1\n2\n3\n", "human.txt")]}
    rows = softbleu.metaeval(
        "systems", scores=[kept(tmp_path, "2\n3\n5\n", "metric.txt")], samples=10, **human
    ).records()
    assert [(row["human"], row["metric"], row["points"], row["spearman"]) for row in rows] == [
        ("human", "metric", 3, 1)
    ]


def test_segments_with_names_are_paired_by_these_across_files(tmp_path):
    one, other = (
        read_scores(
            kept(tmp_path, lines(*({**METRICX, "id": i, "prediction": v} for i, v in rows)), f"{name}.jsonl")
        )[0]
        for name, rows in (("A", [("x", 1), ("y", 2)]), ("B", [("y", 3), ("x", 4)]))
    )
    assert in_order_of(one, other).segments["B"].tolist() == [4, 3]
    lacks = read_scores(
        kept(tmp_path, lines({**METRICX, "id": "z", "prediction": 1}, {**METRICX, "id": "x", "prediction": 1}))
    )
    refused(InputError, "segment 'y' is in one, and not in the other", in_order_of, one, *lacks)


def test_languages_in_columns_of_their_own_are_a_direction(tmp_path):
    rows = "".join(f"{i}\ten\t{to}\tA\tNaN\t{i}.5\n" for to in ("am", "yo") for i in (1, 2))
    path = kept(tmp_path, f"segment_id\tsource_lang\ttarget_lang\tsystem_id\tmethod\toverall\n{rows}")
    (table,) = read_scores(path, direction="en-yo")
    assert table.segments["A"].tolist() == [1.5, 2.5]


def test_columns_of_parquet_that_are_not_asked_for_are_not_read(tmp_path, monkeypatch):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    monkeypatch.setenv(LONGEST_LINE, "1000")
    table = {"system": ["A", "A"], "segment": [1.0, 2.0], "score": [0.5, None], "text": ["x" * 5000, "y"]}
    path = str(tmp_path / "s.parquet")
    parquet.write_table(pa.table(table), path)
    (read,) = read_scores(path)
    np.testing.assert_array_equal(read.segments["A"], [0.5, np.nan])
    parquet.write_table(pa.table({**table, "system": ["A" * 5000, "A"]}), path)
    refused(InputError, "a line of more than 1,000 bytes", read_scores, path)
    monkeypatch.setattr(ParquetRows, "_check_sizes", lambda self, wanted: None)
    refused(InputError, "lines 2 to 3: a line of more than 1,000 bytes", read_scores, path)


def test_a_key_twice_in_an_object_of_json_is_an_error():
    refused(InputError, "x.json: the key 'b' is twice in one object", parse_json, '{"a": {"b": 1, "b": 2}}', "x.json")


def test_arrays_of_pyarrow_are_scores():
    pa = pytest.importorskip("pyarrow")
    scores = softbleu.Scores("COMET", {"A": pa.array([0.5, 0.25]), "B": pa.array([0.75, 0.25])})
    assert [result.score for result in scores.results()] == [0.375, 0.5]
