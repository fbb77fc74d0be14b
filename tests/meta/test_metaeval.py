"""Agreement with people: correlations, tau, rankings and spans; literal versions, laws and bad input."""

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from judged_systems import OUTPUTS, REFERENCE
from oracles import metaeval as oracle
from refusing import refused
from scipy import stats

import softbleu
from softbleu.corpora.corpus import Segments
from softbleu.corpora.judgements import Assessments, Comparisons, MarkedOutput, MarkedSpan, ScoreTable, SpanTable
from softbleu.errors import InputError, UnknownNameError
from softbleu.meta import agreement, rankings
from softbleu.meta.agreement import Marks, join_systems, span_agreements
from softbleu.meta.evidence import IntervalSettings, aggregate_scores
from softbleu.meta.measures import COEFFICIENTS, TAUS, correlate, difference, preference_taus, williams
from softbleu.meta.rankings import cut_clusters, expected_wins, play_matches, rank_by_skill, rank_by_wins
from softbleu.metrics.bleu import Bleu
from softbleu.resample import rank_ranges
from softbleu.results.explain import unmatched_spans

POINTS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=3, max_size=12)
SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}


@given(POINTS, st.sampled_from(list(SCIPY)), st.integers(1, 3))
def test_coefficients_and_intervals_are_scipys(points: list[tuple[int, int]], name: str, together: int) -> None:
    """Of points that are drawn alone or in segments, which may have any numbers."""
    one, other = np.array(points, np.float64).T
    segments = np.arange(len(one)) // together
    clusters = None if together == 1 else segments * 5
    found = correlate(one, other, name, samples=40, seed=3, clusters=clusters)
    sizes = segments[-1] + 1
    drawn = np.random.default_rng(3).integers(sizes, size=(40, sizes))
    rows = [np.concatenate([np.flatnonzero(segments == number) for number in each]) for each in drawn]
    kept = [each for each in rows if np.ptp(one[each]) > 0 and np.ptp(other[each]) > 0]
    constant = np.ptp(one) == 0 or np.ptp(other) == 0
    assert found.value == (None if constant else pytest.approx(SCIPY[name](one, other)[0], abs=1e-12))
    if len(kept) < 20 or constant:
        assert found.interval is None
    else:
        values = [SCIPY[name](one[each], other[each])[0] for each in kept]
        assert found.drawn[~np.isnan(found.drawn)] == pytest.approx(values, abs=1e-9)
        assert found.interval == pytest.approx(tuple(np.percentile(values, (2.5, 97.5))), abs=1e-9)


@pytest.mark.parametrize("power", [-300, 300])
def test_coefficients_of_the_greatest_and_least_scores_have_the_same_digits(power: int) -> None:
    one, other = np.random.default_rng(1).normal(size=(2, 30))
    for name in COEFFICIENTS:
        found = correlate(np.ldexp(one, power), np.ldexp(other, power), name, samples=50)
        assert found.interval == correlate(one, other, name, samples=50).interval


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_many_points_have_the_intervals_of_few(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = np.random.default_rng(1).integers(0, 9, (2, 30)).astype(np.float64)
    found = correlate(one, other, name, samples=50)
    monkeypatch.setattr("softbleu.meta.measures._AT_ONCE", 100)
    assert correlate(one, other, name, samples=50).interval == found.interval
    monkeypatch.setattr("softbleu.meta.measures._MOST_SQUARED", 10)
    assert correlate(one, other, name, samples=50).interval == pytest.approx(found.interval, abs=1e-12)


def test_williams_is_symmetric() -> None:
    one, other = williams(0.7, 0.5, 0.6, 13), williams(0.5, 0.7, 0.6, 13)
    assert (one.t, one.p_value) == pytest.approx((-other.t, other.p_value))
    assert one.t > 0
    assert williams(0.7, 0.7, 0.6, 13).p_value == 1
    assert williams(0.9, 0.1, 0.3, 30).p_value < williams(0.9, 0.5, 0.3, 30).p_value
    refused(InputError, "needs 4 points or more, here are 3", williams, 0.7, 0.5, 0.6, 3)


PAIRS = st.tuples(st.integers(0, 2), st.sampled_from(["AB", "BC", "CA"]), st.integers(-1, 1))
ROWS = st.lists(PAIRS.map(lambda row: (row[0], *row[1], row[2], "x")), min_size=1, max_size=40)
GRID = st.lists(st.integers(0, 2), min_size=9, max_size=9)


@given(ROWS, GRID)
def test_taus_are_those_of_their_definitions(rows: list[oracle.Row], grid: list[int]) -> None:
    segments = {name: np.array(grid[3 * k : 3 * k + 3], np.float64) for k, name in enumerate("ABC")}
    found = preference_taus(Comparisons.of(rows), ScoreTable("m", {}, segments), samples=20)
    turned = {name: -scores for name, scores in segments.items()}
    opposite = preference_taus(Comparisons.of(rows), ScoreTable("m", {}, turned), samples=20)
    assert [*found] == list(TAUS)
    places = sorted({row[0] for row in rows})
    drawn = np.random.default_rng(12345).integers(len(places), size=(20, len(places)))
    samples = [[row for n in each for row in rows if row[0] == places[n]] for each in drawn]
    for variant, each in found.items():
        facts = each.facts
        literal, *sampled = (oracle.tau(some, segments, variant) for some in (rows, *samples))
        assert each.value == (None if literal is None else pytest.approx(literal, abs=1e-12))
        assert each.drawn == pytest.approx(np.array(sampled, np.float64), nan_ok=True, abs=1e-12)
        if each.value is not None:
            assert each.value == pytest.approx((facts["concordant"] - facts["discordant"]) / facts["pairs"])
    hties, noties = (found[variant] for variant in TAUS)
    if noties.value is not None:
        assert opposite["noties"].value == pytest.approx(-noties.value)
    assert noties.facts["untied"] == hties.facts["untied"] <= noties.facts["pairs"]


JUDGED = PAIRS.flatmap(lambda row: st.sampled_from("xyz").map(lambda who: (row[0], *row[1], row[2], who)))


@given(st.lists(JUDGED, min_size=4, max_size=40))
def test_each_judge_is_held_beside_most_of_the_others(rows: list[oracle.Row]) -> None:
    found = agreement.pairs_left_out(Comparisons.of(rows))
    for judge in (None, *sorted({row[4] for row in rows})):
        literal = oracle.beside_others(rows, judge)
        pairs = found.get(agreement.CEILING if judge is None else f"{judge} (judge)")
        assert (pairs is None) == (len(literal) < 3)
        for variant, tau in ({} if pairs is None else pairs.taus(0, 1)).items():
            value = oracle.tau_of_signs(literal, variant)
            assert tau.value == (None if value is None else pytest.approx(value, abs=1e-12))


def test_ceilings_of_scores_are_those_of_a_literal_loop(tmp_path: Path) -> None:
    """Each judge beside the mean of the others, where these judged the output, and a metric scored the system."""
    draw = np.random.default_rng(5)
    said = {
        (who, name, segment): float(draw.integers(0, 30)) / 10
        for who in "xyz"
        for name in "ABCD"
        for segment in range(9)
        if draw.random() < 0.7
    }
    rows = [f"{name}\t{segment + 1}\t{who}\t{score}" for (who, name, segment), score in said.items()]
    (judged := tmp_path / "judged.tsv").write_text("\n".join(["system\tsegment\tannotator\tscore", *rows, ""]))
    table = ScoreTable("bleu", {}, {name: draw.normal(size=9) for name in "ABC"})
    asked = {"scores": [table], "assessments": str(judged), "samples": 40}
    outputs, preferences = (softbleu.metaeval(question, **asked) for question in ("outputs", "preferences"))
    assert outputs.judges == preferences.judges == ("human ceiling", "x (judge)", "y (judge)", "z (judge)")
    points = []
    for (who, name, segment), score in said.items():
        others = [said[key] for other in "xyz" if other != who and (key := (other, name, segment)) in said]
        if name != "D" and others:
            points.append((who, segment, score, sum(others) / len(others)))
    for label in outputs.judges:
        mine = [point for point in points if label == "human ceiling" or point[0] == label[0]]
        *_, own, others = zip(*mine, strict=True)
        (row,) = (row for row in outputs.records() if row["metric"] == label)
        assert row["points"] == len(mine)
        assert row["pearson_low"] < row["pearson"] < row["pearson_high"]
        for coefficient, function in SCIPY.items():
            assert row[coefficient] == pytest.approx(function(own, others)[0], abs=1e-12)
        signs = [
            (oracle.sign(one[2] - other[2]), oracle.sign(round(one[3] - other[3], 9)))
            for one, other in combinations(mine, 2)
            if one[:2] == other[:2]
        ]
        for row in preferences.records():
            if row["metric"] == label:
                assert row["tau"] == pytest.approx(oracle.tau_of_signs(signs, row["variant"]), abs=1e-12)
                assert row["low"] < row["tau"] < row["high"]


def test_documents_are_drawn_in_the_place_of_segments(tmp_path: Path) -> None:
    """Each measure is of the same points, and its samples those of whole documents."""
    generator = np.random.default_rng(2)
    judges, scores = generator.normal(size=(2, 3, 24)), generator.normal(size=(3, 24))
    segments, labels = np.tile(np.arange(24), 3), [f"d{n // 4}" for n in range(24)]
    assessed = Assessments(judges[0].ravel(), [[name] for name in "ABC" for _ in range(24)], segments.tolist())
    table = ScoreTable("bleu", {}, dict(zip("ABC", scores, strict=True)))
    asked = {"scores": [table], "assessments": assessed, "samples": 50, "seed": 3}
    found = softbleu.metaeval("outputs", **asked, documents=labels)
    (agreed,) = agreement.agreements(found.columns[0], 50, 3).values()
    pearson, within = agreed["pearson"], agreed["pearson_within"]
    assert (found.records()[0]["pearson_low"], found.records()[0]["pearson_high"]) == pearson.interval
    drawn = np.random.default_rng(3).integers(6, size=(50, 6))
    one, other = judges[0].ravel(), scores.ravel()
    places = [np.concatenate([np.flatnonzero(segments // 4 == d) for d in some]) for some in drawn]
    literal = [stats.pearsonr(one[some], other[some])[0] for some in places]
    np.testing.assert_allclose(pearson.drawn, literal, atol=1e-12)
    # Documents in the place of segments have their means; what is computed is scored as a whole.
    by_document = softbleu.metaeval("outputs", **asked, documents=labels, level="document")
    means = [x.reshape(18, 4).mean(axis=1) for x in (one, other)]
    assert by_document.records()[0]["pearson"] == pytest.approx(stats.pearsonr(*means)[0])
    # What judges say of whole documents stands in the place of their means.
    rows = [f"{name}\td{n}\t{float(means[0][6 * s + n])!r}" for s, name in enumerate("ABC") for n in range(6)]
    judged, unknown = tmp_path / "judged.tsv", tmp_path / "unknown.tsv"
    judged.write_text("\n".join(["system\tdocument\tscore", *rows, ""]), encoding="utf-8")
    unknown.write_text("system\tdocument\tscore\nA\td7\t1\n", encoding="utf-8")
    whole = {**asked, "assessments": str(judged), "documents": labels}
    told = softbleu.metaeval("outputs", **whole, level="document")
    assert told.records() == by_document.records()
    refused(InputError, "of whole documents: give level='document'", softbleu.metaeval, **whole)
    whole |= {"assessments": str(unknown), "level": "document"}
    refused(InputError, "line 2: no segment is of document 'd7'", softbleu.metaeval, **whole)
    texts = {name: [f"{name.lower()} b {number % 5} c" for number in range(24)] for name in "ABC"}
    references = [f"a b {number % 7} c" for number in range(24)]
    own: dict[str, Any] = {"candidates": texts, "references": references, "documents": labels, "level": "document"}
    computed = softbleu.metaeval("outputs", **own, assessments=assessed, metrics=["bleu"], samples=9).columns[0]
    scored = softbleu.score(**own)
    assert computed.metrics["bleu"].tolist() == [part.score.score for result in scored for part in result.documents]
    centred = [(x.reshape(3, 24) - x.reshape(3, 24).mean(axis=0)).ravel() for x in (one, other)]
    sides = [(centred[0][some], centred[1][some]) for some in places]
    np.testing.assert_allclose(within.drawn, [a @ b / np.sqrt(a @ a * (b @ b)) for a, b in sides], atol=1e-12)
    assert found.table.facts["documents"].startswith("documents#")
    plain = softbleu.metaeval("accuracy", **asked).records()
    for row, same in zip(softbleu.metaeval("accuracy", **asked, documents=labels).records(), plain, strict=True):
        assert (row["accuracy"] == same["accuracy"]) == (row["of"] != "systems softly")
        assert row["low"] != same["low"]
    asked["documents"] = ["a", "b"]
    refused(InputError, "the judgements name segment 24, 2 have a document", softbleu.metaeval, **asked)


PEOPLE = {"A": 1.0, "B": 2.0, "C": 3.0, "D": 5.0}


def test_join_names_what_is_missing_also_where_a_metric_has_the_name_of_the_human_scores() -> None:
    joined = join_systems([ScoreTable("m", {**PEOPLE, "E": 1.0})], "people", {**PEOPLE, "F": 2.0, "G": 1.0})
    assert joined.points == ("A", "B", "C", "D")
    assert joined.left_out == {"people": ("E",), "m": ("F", "G")}
    metrics = [ScoreTable("scores", {"A": 1.0, "B": 3.0, "C": 2.0}), ScoreTable("m", PEOPLE)]
    joined = join_systems(metrics, "scores", PEOPLE)
    assert joined.left_out == {"scores": ("D",)}
    found = {name: each["spearman"].value for name, each in agreement.agreements(joined, samples=10).items()}
    assert found == {"scores": pytest.approx(0.5), "m": 1.0}


def test_leaving_out_and_windows_of_neighbours() -> None:
    scores = {"A": 1.0, "B": 3.0, "C": 2.0, "D": 4.0}
    table = ScoreTable("m", scores)
    given: dict[str, Any] = {"scores": [table], "human": {"people": PEOPLE}}
    found = {row["without"]: row for row in softbleu.metaeval("left-out", **given).records()}
    assert list(found) == list("ABCD")
    literal = stats.pearsonr([scores[name] for name in "ACD"], [PEOPLE[name] for name in "ACD"])[0]
    assert found["B"]["pearson"] == pytest.approx(literal)
    three = [ScoreTable("m", {name: scores[name] for name in "ABC"})]
    said = "4 systems are needed, here are 3"
    refused(InputError, said, softbleu.metaeval, "left-out", scores=three, human={"people": PEOPLE})
    rows = softbleu.metaeval("windows", **given, window=3).records()
    shown = [[*list(row.values())[1:5], row["spearman"]] for row in rows]
    assert shown == [["m", 1, 3, "D, C, B", 0.5], ["m", 2, 4, "C, B, A", 0.5]]
    whole = softbleu.metaeval("systems", **given).records()[0]
    (window,) = softbleu.metaeval("windows", **given).records()
    assert [window[name] for name in COEFFICIENTS] == [whole[name] for name in COEFFICIENTS]
    for size in (2, 5):
        refused(InputError, "window is of 3 to 4 systems", softbleu.metaeval, "windows", **given, window=size)


@given(st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=1, max_size=6))
def test_wins_of_segments_make_scores_of_systems(segments: list[list[int]]) -> None:
    columns = dict(zip("ABCD", np.array(segments, np.float64).T, strict=True))
    table, settings = ScoreTable("m", {"A": 9.0}, columns), IntervalSettings(samples=1, runs=2)
    places = [(number, *pair) for number in range(len(segments)) for pair in combinations("ABCD", 2)]
    rows = [(n, one, other, int(np.sign(columns[one][n] - columns[other][n])), "m") for n, one, other in places]
    literal = oracle.expected_wins(rows)
    found = aggregate_scores(table, "expected-wins", settings)
    # Who only ties is as likely to win as not.
    assert found.systems == pytest.approx({name: literal[name] if literal[name] >= 0 else 0.5 for name in "ABCD"})
    skills = play_matches(Comparisons.of(rows), runs=2).mean(axis=0)
    assert list(aggregate_scores(table, "trueskill", settings).systems.values()) == skills.tolist()


@pytest.mark.parametrize("question", ["systems", "left-out", "windows"])
def test_human_scores_of_systems_are_means_of_assessed_outputs_where_there_are_no_others(
    tmp_path: Path, question: str
) -> None:
    """As in mt-metrics-eval; a system that was assessed on other segments is noted."""
    judged = {"A": [90, 80, 70], "B": [60, 70, None], "C": [50, 40, 30], "D": [20, 30, 10]}
    lines = [f"{name}\t{n}\t{score}" for name, scores in judged.items() for n, score in enumerate(scores, 1)]
    file = tmp_path / "judged.tsv"
    file.write_text("\n".join(["system\tsegment\tscore", *lines, ""]), "utf-8")
    metric = ScoreTable("m", {"A": 31.0, "B": 32.5, "C": 20.0, "D": 12.0})
    means = {"A": 80.0, "B": 65.0, "C": 40.0, "D": 20.0}
    expected = softbleu.metaeval(question, scores=[metric], human={"direct assessment": means}, samples=20)
    found = softbleu.metaeval(question, scores=[metric], assessments=str(file), samples=20)
    assert found.records() == expected.records()
    assert found.notes[0] == (
        "human scores of systems are means of assessed outputs, which are not the same segments for every system"
    )
    files = softbleu.metaeval(question, scores=[metric], human=[str(file)], samples=20)
    assert [{**row, "human": "direct assessment"} for row in files.records()] == expected.records()


def test_judged_texts_of_no_system_have_no_scores_of_systems() -> None:
    texts = Assessments(np.array([1.0, 2.0]), texts=Segments.of({"translation": ["a", "b"]}, [("a",), ("b",)]))
    metric = ScoreTable("m", {"A": 1.0, "B": 2.0, "C": 3.0})
    with pytest.raises(InputError, match="ask about outputs"):
        softbleu.metaeval("systems", scores=[metric], assessments=texts)


def test_aggregates_are_asked_for() -> None:
    found = softbleu.metaeval(metrics=["bleu"], **GIVEN, aggregate="expected-wins", samples=9)
    plain = softbleu.metaeval(metrics=["bleu"], **GIVEN, samples=9)
    segments = {name: softbleu.score(lines, REFERENCES, level="segment").segments for name, lines in TEXTS.items()}
    scores = {name: np.array([each.score for each in own]) for name, own in segments.items()}
    expected = aggregate_scores(ScoreTable("bleu", {}, scores), "expected-wins", IntervalSettings()).systems
    assert dict(zip(found.columns[0].points, found.columns[0].metrics["bleu"], strict=True)) == expected
    assert found.table.facts["aggregate"] == "expected-wins"
    assert "aggregate" not in plain.table.facts
    one, several = ({name: np.zeros(3) for name in names} for names in ("A", PEOPLE))
    for table, way, message in (
        (ScoreTable("m", PEOPLE), "trueskill", "m has scores of systems only: to aggregate"),
        (ScoreTable("m", {}, one), "expected-wins", "no segment of two systems"),
        (ScoreTable("m", {}, several), "trueskil", "did you mean 'trueskill'"),
    ):
        refused(InputError, message, softbleu.metaeval, "systems", human={"p": PEOPLE}, scores=[table], aggregate=way)


def test_scores_that_cannot_be_correlated_are_refused() -> None:
    two, three, four = map(np.arange, (2.0, 3.0, 4.0))
    refused(UnknownNameError, "did you mean 'pearson'", correlate, three, three, "pearsn")
    refused(InputError, "3 points or more, here are 2", correlate, two, two)
    refused(InputError, "3 scores cannot be correlated with 4", correlate, three, four)
    refused(InputError, "number of samples", correlate, three, three, samples=-1)
    comparisons = Comparisons.of([(7, "A", "B", 1, "x"), (0, "A", "C", 1, "x")])
    said, alone = "fewer than two of the ranked systems: it lacks B, C", ScoreTable("bleu", {}, {"A": np.zeros(9)})
    refused(InputError, said, preference_taus, comparisons, alone)
    hties = preference_taus(comparisons, ScoreTable("bleu", {}, {name: np.zeros(8) for name in "AB"}))["hties"].facts
    assert (hties["pairs"], hties["skipped"]) == (1, 1)


TEXTS = {name.upper(): lines * 20 for name, lines in OUTPUTS.items()}
REFERENCES = REFERENCE * 20
GIVEN: dict[str, Any] = {"candidates": TEXTS, "references": REFERENCES, "human": {"people": PEOPLE}}


@pytest.mark.parametrize("question", ["systems", "williams", "left-out"])
def test_metrics_and_given_scores_are_the_same(question: str) -> None:
    found = softbleu.metaeval(question, metrics=["bleu", "bigrams=bleu(order=2)"], **GIVEN).table
    results = [softbleu.score(TEXTS, REFERENCES, order=order) for order in (4, 2)]
    columns = [{each.name: each.score for each in own} for own in results]
    tables = [ScoreTable("bleu", columns[0]), ScoreTable("bigrams", columns[1])]
    assert found.rows == softbleu.metaeval(question, scores=tables, human=GIVEN["human"]).table.rows
    assert list(found.facts)[:2] == ["bleu", "bigrams"]


def test_signatures_say_what_outputs_are_compared_with_and_of_which_vectors_they_are(tmp_path: Path) -> None:
    """The scores of a metric whose signature says so are those against the source, beside others."""
    source = [line[::-1] for line in REFERENCES]
    (signature,) = {one.signature for one in softbleu.score(TEXTS, None, source, metrics="chrf", against="source")}
    metrics = {"source": signature, "reference": "chrf", "again": signature.replace("|against:source", "")}
    found = softbleu.metaeval(metrics=metrics, source=source, **GIVEN)
    results = [softbleu.score(TEXTS, given, metrics="chrf") for given in (source, REFERENCES, REFERENCES)]
    scores = [{one.name: one.score for one in each} for each in results]
    tables = [ScoreTable(*each) for each in zip(metrics, scores, strict=True)]
    assert found.table.rows == softbleu.metaeval(scores=tables, human=GIVEN["human"]).table.rows
    assert (found.signatures["source"], found.notes) == (signature, ())
    said = "compared with the source: name it"
    refused(InputError, said, softbleu.metaeval, metrics=[signature], **GIVEN)
    (vectors := tmp_path / "v.txt").write_text("cat 0 1\ndog 1 0\n", encoding="utf-8")
    signature = softbleu.score(["a"], ["a"], metrics="vleu", vectors=str(vectors)).signature
    signature = signature.replace("vectors:v.txt#", f"vectors:{vectors}#0")
    refused(InputError, "the signature is of vectors", softbleu.metaeval, metrics=[signature], **GIVEN)
    signature = softbleu.score(["a"], ["a"], metrics="trained", map="minilm-l6").signature
    signature = signature.replace("map:minilm-l6#", "map:minilm-l6#0")
    refused(InputError, "the signature is of map minilm-l6#0", softbleu.metaeval, metrics=[signature], **GIVEN)


def test_scores_of_which_less_is_better_are_turned_and_negated_ones_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    table = ScoreTable("errors", {name: score - 9 for name, score in PEOPLE.items()})
    negated = softbleu.metaeval(scores=[table], human={"people": PEOPLE}, lower=["errors"])
    assert negated.records()[0]["spearman"] == 1
    assert negated.notes == ("errors: no score is above 0, so they are taken as already negated",)
    rows = Comparisons.of([(0, "A", "C", 1, "x"), (0, "B", "C", 1, "x"), (0, "A", "B", 1, "x")])
    texts: dict[str, Any] = {"candidates": {name: TEXTS[name] for name in "ABC"}, "references": REFERENCES}
    for expected in (1.0, -1.0):
        (_, noties) = softbleu.metaeval("preferences", metrics={"m": "bleu"}, rankings=rows, **texts).table.rows
        assert noties[2] == expected
        monkeypatch.setattr(Bleu, "higher_is_better", False)


def test_differences_about_systems_are_of_the_same_samples() -> None:
    people = dict(zip("ABCDE", [0.9, 0.4, 0.5, 0.1, 0.3], strict=True))
    values = {"one": [5.0, 3.0, 2.0, 1.0, 4.0], "other": [1.0, 2.0, 4.0, 3.0, 5.0]}
    parts = {name: np.ones(2) for name in people}
    tables = [ScoreTable(name, dict(zip(people, each, strict=True)), parts) for name, each in values.items()]
    found = softbleu.metaeval("differences", scores=tables, human={"judges": people}, samples=60).records()
    # One pair of metrics for each measure: there is nothing to correct.
    assert [row["corrected"] for row in found] == [row["p_value"] for row in found]
    judged = np.array(list(people.values()))
    estimates = [correlate(np.array(each), judged, "spearman", samples=60) for each in values.values()]
    apart = difference(*estimates)
    (row,) = [each for each in found if each["measure"] == "spearman of systems"]
    assert (row["better"], row["worse"], row["difference"]) == ("one", "other", pytest.approx(apart.value))
    assert (row["low"], row["high"]) == pytest.approx(apart.interval)


NAMES = st.sampled_from("ABCD")
COMPARISON = st.tuples(st.integers(0, 3), NAMES, NAMES, st.integers(-1, 1), st.sampled_from("xyz"))
COMPARED = st.lists(COMPARISON.filter(lambda row: row[1] != row[2]), min_size=1, max_size=60)
CLEAR = [(n, *pair, 1, "x") for n in range(30) for pair in (("A", "B"), ("B", "C"), ("A", "C"))]


@given(COMPARED)
def test_expected_wins_are_those_of_their_definition(rows: list[oracle.Row]) -> None:
    literal = oracle.expected_wins(rows)
    comparisons = Comparisons.of(rows)
    if any(np.isnan(score) for score in literal.values()):
        refused(InputError, "has ties only", expected_wins, comparisons)
    else:
        assert expected_wins(comparisons) == pytest.approx(literal, abs=1e-12)


@given(COMPARED)
def test_kappa_is_that_of_its_definition(rows: list[oracle.Row]) -> None:
    found = {(each.one, each.other): each for each in agreement.annotator_agreement(Comparisons.of(rows))}
    for one, other in (("x", "x"), ("x", "y"), ("y", "z")):
        literal = oracle.kappa(rows, one, other)
        if literal is None:
            assert (one, other) not in found
            continue
        each = found[one, other]
        assert (each.observed, each.expected) == pytest.approx(literal, abs=1e-12)
        if each.kappa is None:
            assert literal[1] == 1
        else:
            assert each.kappa == pytest.approx((literal[0] - literal[1]) / (1 - literal[1]))
    few = agreement.annotator_agreement(Comparisons.of([(0, "A", "B", 1, "x"), (0, "A", "B", 1, "y")]))
    assert agreement.mean_agreement(few, within=False) is None


def test_a_clear_order_has_no_ties_of_ranks_and_skill_is_seeded() -> None:
    comparisons = Comparisons.of(CLEAR)
    ranked = rank_by_wins(comparisons, samples=200)
    found = [(each.name, each.best, each.worst, each.cluster) for each in ranked]
    assert found == [("A", 1, 1, 1), ("B", 2, 2, 2), ("C", 3, 3, 3)]
    assert [(each.wins, each.ties, each.losses) for each in ranked] == [(60, 0, 0), (30, 0, 30), (0, 0, 60)]
    one, same, other = (rank_by_skill(comparisons, runs=5, seed=seed) for seed in (1, 1, 2))
    assert one == same
    assert one != other
    assert [each.name for each in one] == ["A", "B", "C"]
    # Systems meet only whom they were compared with.
    apart = Comparisons.of([(0, "A", "B", 1, "x"), (0, "C", "D", -1, "x")])
    assert np.isfinite(rankings.play_matches(apart, runs=4)).all()
    refused(InputError, "number of samples", rank_by_skill, comparisons, 0)


def test_samples_are_of_segments() -> None:
    rows = [(n // 3, *pair, (n * 7) % 3 - 1, "x") for n in range(40) for pair in (("A", "B"), ("B", "C"), ("A", "C"))]
    comparisons = Comparisons.of(rows)
    drawn = np.random.default_rng(5).integers(14, size=(20, 14))
    found = rankings.redraw_tallies(comparisons, 20, 5)
    for each, tallies in zip(drawn, found, strict=True):
        chosen = np.concatenate([np.flatnonzero(comparisons.segment == number) for number in each])
        assert (comparisons.at(chosen).tallies() == tallies).all()


def test_ranges_leave_out_what_is_rare() -> None:
    usual, rare = [[2.0, 1.0]] * 98, [[1.0, 2.0]] * 2
    assert [ends.tolist() for ends in rank_ranges(np.array(usual + rare))] == [[1, 2], [1, 2]]
    often = [[1.0, 2.0]] * 6
    assert [ends.tolist() for ends in rank_ranges(np.array(usual[:94] + often))] == [[1, 1], [2, 2]]
    # Clusters do not overlap.
    assert cut_clusters([1, 1, 2, 4], [1, 4, 3, 4]) == [1, 1, 1, 1]
    assert cut_clusters([1, 2, 3], [1, 2, 3]) == [1, 2, 3]


@pytest.mark.parametrize("beta", [0.3, 5.0, 1000.0])
def test_matches_are_rated_as_by_the_package(beta: float) -> None:
    pytest.importorskip("trueskill", reason="trueskill is not installed")
    generator = np.random.default_rng(0)
    runs = np.arange(60)
    one, other = (runs, np.zeros(60, np.int64)), (runs, np.full(60, 2))
    start = (generator.normal(0, 0.4, (60, 3)), generator.uniform(0.05, 0.3, (60, 3)))
    rated = []
    for make_rating in (rankings.make_rating, oracle.make_rating):
        mean, variance = (part.copy() for part in start)
        make_rating(beta, rankings.DRAWS)(mean, variance, one, other, runs % 3 - 1)
        rated.append((mean, variance))
    # The package approximates the error function to 7 digits.
    for mine, package, before in zip(*rated, start, strict=True):
        assert np.abs(mine - package).max() < 1e-6
        assert (mine[:, 1] == before[:, 1]).all()
        assert np.abs(mine - before).max() > 1e-8


LENGTH = 12
PLACES = st.tuples(st.integers(0, LENGTH), st.integers(0, LENGTH)).map(sorted)
SEVERE = st.tuples(PLACES, st.sampled_from(["minor", "major"]))
SPANS = st.lists(SEVERE.map(lambda span: MarkedSpan(*span[0], span[1])), max_size=3)
OUTPUTS = st.lists(st.tuples(st.lists(SPANS, min_size=1, max_size=2), SPANS), min_size=1, max_size=5)


def table(outputs: list[list[list[MarkedSpan]]]) -> SpanTable:
    marked = [[MarkedOutput("", tuple(spans)) for spans in judges] for judges in outputs]
    return SpanTable("m", {"A": dict(enumerate(marked))})


@given(OUTPUTS)
def test_agreement_is_the_literal_one(outputs: list[tuple[list[list[MarkedSpan]], list[MarkedSpan]]]) -> None:
    """In every sample of segments, with the texts and without; as many random characters are an expectation."""
    judged, predicted = table([judges for judges, _ in outputs]), table([[spans] for _, spans in outputs])
    texts = {"A": ["abcd efgh ij"] * len(outputs)}
    f1, _ = span_agreements(Marks(judged, [predicted], texts), samples=5, seed=3)["m"]
    rows = [[(LENGTH, spans, said) for spans in judges] for judges, said in outputs]
    expected = oracle.span_scores([row for group in rows for row in group])
    shown = [np.nan if value is None else value for value in (f1.facts["precision"], f1.facts["recall"], f1.value)]
    assert shown == pytest.approx(expected, nan_ok=True)
    drawn = np.random.default_rng(3).integers(len(rows), size=(5, len(rows)))
    samples = [oracle.span_scores([row for n in numbers for row in rows[n]])[2] for numbers in drawn]
    assert f1.drawn == pytest.approx(samples, nan_ok=True)


def test_random_characters_are_expected() -> None:
    """Of the ten that are no blanks, five are predicted; the judge marks four, one of them a blank."""
    judged, predicted = (table([[[MarkedSpan(*places, "minor")]]]) for places in ((3, 7), (0, 6)))
    _, random = span_agreements(Marks(judged, [predicted], {"A": ["abcd efgh ij"]}), samples=0)["m"]
    assert random.value == pytest.approx(2 * (3 * 0.5) / (5 + 4))


@pytest.mark.parametrize(
    "metric", ["bleu(tokenize=13a)", "ter", "sleu", "vleu(vectors=none)", "softbleu(vectors=none)"]
)
def test_unmatched_words_are_marked_as_spans(metric: str) -> None:
    corpus = Segments.of({"A": ["the dog  barks xyzzy qwrtp now"]}, ["the dog barks now"])
    made = unmatched_spans(corpus, softbleu.read_metric(metric), severity="major")
    assert made.records() == [
        {"system": "A", "segment": 1, "start": 15, "end": 26, "severity": "major", "text": "xyzzy qwrtp"}
    ]


def test_systems_of_which_only_one_side_has_spans_are_named(tmp_path: Path) -> None:
    for name, systems in (("judges", "AB"), ("metric", "BC")):
        lines = [f"{system}\t1\t0\t1\tmajor" for system in systems]
        (tmp_path / f"{name}.tsv").write_text(
            "\n".join(["system\tsegment\tstart\tend\tseverity", *lines, ""]), "utf-8"
        )
    judges, metric = (str(tmp_path / f"{name}.tsv") for name in ("judges", "metric"))
    found = softbleu.metaeval("spans", assessments=judges, scores=[metric], samples=5)
    assert found.notes == ("A has no scores by metric: left out", "C has no scores by judges: left out")


def test_computed_spans_are_compared_with_those_of_a_file(tmp_path: Path) -> None:
    files = {"a.txt": "a cat sits\nit rains\n", "r.txt": "a cat sat\nit rains\n"}
    files["j.tsv"] = "system\tsegment\tstart\tend\tseverity\na\t1\t6\t10\tmajor\na\t2\t\t\t\n"
    a, r, judged = (str(tmp_path / name) for name in files)
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    given: dict[str, Any] = {"candidates": [a], "references": [r], "metrics": ["bleu"]}
    (row,) = softbleu.metaeval("spans", assessments=judged, **given).records()
    assert (row["precision"], row["recall"], row["f1"], row["marked"], row["judgements"]) == (0.5, 0.5, 0.5, 4, 2)
