"""Rankings of metrics over tasks: permutation tests against literal twins, clusters, weights, and folders."""

import re
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import campaign as oracle
from scipy.stats import kendalltau
from shared_data import shared

import softbleu
from softbleu.corpora.directions import read_directions
from softbleu.corpora.judgements import Assessments, ScoreTable
from softbleu.engine.runner import RunOptions
from softbleu.errors import InputError
from softbleu.meta import campaign
from softbleu.meta.agreement import JudgedPoints
from softbleu.meta.campaign import Measured, Permutations
from softbleu.meta.evidence import IntervalSettings
from softbleu.meta.measures import JudgedPairs, soft_accuracy
from softbleu.meta.metaeval import metaeval_directions
from softbleu.meta.reading import Inputs, JudgementInputs, ScoreInputs, TextInputs, read_evidence
from softbleu.report import Layout
from softbleu.report.metric_ranks import write_evaluation
from softbleu.report.plots import draw, evaluation_panels

GRID = st.lists(st.integers(0, 6), min_size=12, max_size=12)
HOLES = st.lists(st.integers(0, 11), max_size=4, unique=True)


def rows(grid: np.ndarray) -> list[list[float | None]]:
    return [[None if value != value else float(value) for value in row] for row in grid]


@given(st.lists(GRID, min_size=3, max_size=3), HOLES, st.sampled_from(["outputs", "segments"]))
def test_permutations_are_the_literal_ones(grids: list[list[int]], holes: list[int], exchanged: str) -> None:
    judges, *scores = np.array(grids, np.float64).reshape(3, 3, 4)
    judges.flat[holes] = np.nan
    known = ~np.isnan(judges)
    if known.sum(axis=1).min() < 1 or any(side[known].std() == 0 for side in (judges, *scores)):
        return
    systems, segments = np.nonzero(known)
    judged = JudgedPoints(judges[known], {"a": scores[0][known], "b": scores[1][known]}, systems, segments)
    permutations = Permutations(8, 5, "task", exchanged)
    sides = [oracle.standardised(rows(np.where(known, side, np.nan))) for side in scores]
    for name, literal in (("spa", oracle.soft_accuracy), ("pearson", oracle.pearson)):
        units = known.shape if name == "spa" else judged.judges.shape
        units = (1, known.any(axis=0).sum()) if (name, exchanged) == ("spa", "segments") else units
        units = (len(np.unique(segments)),) if (name, exchanged) == ("pearson", "segments") else units
        found = campaign.TASK_MEASURES[name](judged, permutations).difference("a", "b")
        for drawn, kept in zip(found, np.concatenate([*permutations.draw(*units)]), strict=True):
            picked = np.ones(known.shape, int)
            there = np.unique(segments)
            if name == "spa":
                picked[:, there] = np.broadcast_to(kept, (3, kept.shape[-1]))[:, -len(there) :]
            else:
                picked[known] = kept[np.searchsorted(there, segments)] if exchanged == "segments" else kept
            one, other = oracle.exchanged(*sides, picked.tolist())
            expected = literal(rows(judges), one) - literal(rows(judges), other)
            assert drawn == pytest.approx(expected, abs=1e-9)


def made_up(
    systems: int = 6, segments: int = 30, metrics: int = 4, seed: int = 3
) -> tuple[Assessments, list[ScoreTable]]:
    """Judgements, and metrics of which each later one has more noise."""
    generator = np.random.default_rng(seed)
    people = np.linspace(-1, 1, systems)[:, None] + generator.standard_normal((systems, segments)).round(1)
    names = [f"S{k}" for k in range(systems)]
    places = [(name, n) for name in names for n in range(segments)]
    assessed = Assessments(people.reshape(-1), [[name] for name, _ in places], [n for _, n in places])
    tables = []
    for number in range(metrics):
        scores = people + (0.4 + number) * generator.standard_normal(people.shape)
        tables.append(ScoreTable(f"m{number}", {}, dict(zip(names, scores, strict=True))))
    return assessed, tables


def test_values_are_those_of_the_other_tables() -> None:
    assessed, tables = made_up()
    given = {"assessments": assessed, "scores": tables, "samples": 100}
    found = softbleu.metaeval("metrics", tasks=["spa", "acc_eq", "pearson", "systems_kendall"], **given)
    by_name = {row["metric"]: row for row in found.records()}
    accuracies = softbleu.metaeval("accuracy", **given).records()
    outputs = {row["metric"]: row for row in softbleu.metaeval("outputs", **given).records()}
    means = {name: float(np.mean(assessed.scores[30 * k : 30 * k + 30])) for k, name in enumerate(tables[0].segments)}
    for table in tables:
        row = by_name[table.name]
        known = {one["of"]: one["accuracy"] for one in accuracies if one["metric"] == table.name}
        assert row["spa"] == known["systems softly"] == soft_accuracy(table, assessed, 100).value
        assert row["acc_eq"] == pytest.approx(known["outputs by segment"])
        assert row["pearson"] == outputs[table.name]["pearson"]
        mean = table.means()
        assert row["systems_kendall"] == pytest.approx(
            kendalltau([*means.values()], [mean[name] for name in means])[0]
        )
        shares = [row["spa"], row["acc_eq"], *((row[name] + 1) / 2 for name in ("pearson", "systems_kendall"))]
        assert row["average"] == pytest.approx(np.mean(shares))
    assert list(by_name) == sorted(by_name, key=lambda name: -by_name[name]["average"])


def test_metrics_that_give_one_score_to_all_have_no_correlation() -> None:
    assessed, tables = made_up(metrics=2)
    for flat in (tables[:1], tables):  # One of two, and both
        same = [ScoreTable(t.name, {}, {s: np.ones(30) for s in t.segments}) if t in flat else t for t in tables]
        found = softbleu.metaeval(
            "metrics", assessments=assessed, scores=same, tasks=["pearson", "systems_kendall"], samples=20
        )
        one = softbleu.metaeval("metrics", assessments=assessed, scores=same, tasks="pearson", weights="pearson=2")
        assert one.table.columns[1] == "pearson"
        names = ", ".join(table.name for table in flat)
        assert f"pearson: undefined, as all scores are the same: {names}" in found.notes
        assert {row["metric"] for row in found.records() if row["average"] is None} == {t.name for t in flat}


@pytest.mark.parametrize("exchange", ["outputs", "segments"])
def test_exchanged_verdicts_vary_as_coins_do(exchange: str) -> None:
    """The variance under permutation is the sum of squares of what coins decide."""
    assessed, tables = made_up()
    people, scores = assessed.tables(tables[0].segments, ""), [table.segments for table in tables[:2]]
    systems, segments = np.nonzero(~np.isnan(people[0]))
    columns = {f"m{k}": np.stack([*side.values()]).reshape(-1) for k, side in enumerate(scores)}
    judged = JudgedPoints(people[0].reshape(-1), columns, systems, segments)
    found = campaign.tied_accuracies(judged, Permutations(4000, 1, "", exchange))
    apart = found.difference("m0", "m1")
    assert apart[0] == pytest.approx(found.values["m0"] - found.values["m1"])  # type: ignore[operator]
    pairs = [(a, b) for a, b in combinations(range(len(systems)), 2) if segments[a] == segments[b]]
    sizes = []
    for scored in columns.values():
        differences = [scored[a] - scored[b] for a, b in pairs]
        best = oracle_threshold(judged.judges, differences, pairs)
        said = [0 if abs(d) <= best else np.sign(d) for d in differences]
        sizes.append(
            [v == np.sign(judged.judges[a] - judged.judges[b]) for v, (a, b) in zip(said, pairs, strict=True)]
        )
    coins = (np.array(sizes[0], float) - np.array(sizes[1], float)) / len(pairs)
    if exchange == "segments":
        coins = np.bincount([segments[a] for a, _ in pairs], coins)
    assert apart[1:].mean() == pytest.approx(0, abs=4 * np.sqrt((coins**2).sum() / 4000))
    assert apart[1:].std() == pytest.approx(np.sqrt((coins**2).sum()), rel=0.05)


def oracle_threshold(judges: np.ndarray, differences: list[float], pairs: list[tuple[int, int]]) -> float:
    said = np.sign([judges[a] - judges[b] for a, b in pairs])
    found = np.array(differences)
    shares = {e: (np.where(abs(found) <= e, 0, np.sign(found)) == said).mean() for e in sorted({0.0, *abs(found)})}
    return max(shares, key=lambda e: shares[e])


@pytest.mark.parametrize("name", ["systems_pearson", "systems_kendall", "systems_accuracy"])
def test_exchanges_of_systems_are_literal(name: str) -> None:
    generator = np.random.default_rng(4)
    judges, *scores = generator.integers(0, 5, (3, 7)).astype(float)
    judged, permutations = JudgedPoints(judges, {"a": scores[0], "b": scores[1]}), Permutations(30, 2, "t")
    one, other = ((side - side.mean()) / side.std() for side in scores)
    pairs = list(combinations(range(7), 2))

    def agreement(side: np.ndarray) -> float:
        if name == "systems_accuracy":
            orders = [np.sign(judges[a] - judges[b]) == np.sign(round(side[a] - side[b], 9)) for a, b in pairs]
            return float(np.mean(orders))
        side = side.round(9)
        return float(np.corrcoef(judges, side)[0, 1] if name == "systems_pearson" else kendalltau(judges, side)[0])

    found = campaign.TASK_MEASURES[name](judged, permutations).difference("b", "a")
    for drawn, kept in zip(found, np.concatenate([*permutations.draw(7)]), strict=True):
        first, second = np.where(kept, one, other), np.where(kept, other, one)
        assert drawn == pytest.approx(agreement(second) - agreement(first), abs=1e-8)


@given(st.lists(st.lists(st.integers(-3, 3), min_size=6, max_size=6), min_size=6, max_size=6))
def test_clusters_are_those_of_mt_metrics_eval(permuted: list[list[int]]) -> None:
    values = {"a": 0.9, "b": 0.9, "c": 0.5, "d": 0.2}
    measured = Measured(values, np.array(permuted, float))
    literal = oracle.clusters(values, lambda one, other: campaign.p_value(measured.difference(one, other)) or 0.0)
    assert campaign.rank(measured) == literal


def test_tasks_are_averaged_by_weight_and_permutation() -> None:
    first, second = (np.array([[difference, 0.1, -0.2, 0.3]]) for difference in (0.2, 0.4))
    tasks = [
        Measured({"a": 0.8, "b": 0.6}, first, None, "spa", "en-de"),
        Measured({"b": 0.2, "a": 0.6, "c": None}, -second, None, "pearson", "ja-zh"),
    ]
    weights = campaign.task_weights(tasks, ["spa=3", "ja-zh=0.5"])
    assert weights == pytest.approx([6 / 7, 1 / 7])
    found = campaign.average(tasks, weights)
    assert found.values == {"a": pytest.approx(0.8 * 6 / 7 + 0.8 / 7), "b": pytest.approx(0.6), "c": None}
    # The second task has its metrics the other way round.
    assert found.difference("a", "b") == pytest.approx((6 * first[0] + second[0] / 2) / 7)
    table = campaign.ranking_table(tasks, IntervalSettings(weights={"spa": 3.0, "ja-zh": 0.5}))
    assert [row["metric"] for row in table.records()] == ["a", "b", "c"]
    assert table.facts["weight of spa en-de"] == pytest.approx(6 / 7)
    for wrong, said in (
        ("xx=1", "unknown measure or set 'xx'"),
        ("spa=-1", "'-1' is not a weight"),
        ("spa=1e308", "'1e308' is not a weight"),
        ("spa=0 pearson=0", "above 0"),
    ):
        with pytest.raises(InputError, match=said):
            campaign.task_weights(tasks, wrong.split())


def test_outputs_that_a_metric_lacks_are_left_out_for_all_with_a_note() -> None:
    assessed, tables = made_up()
    scores = {name: column.copy() for name, column in tables[0].segments.items()}
    scores["S1"][4:7] = np.nan
    del scores["S5"]
    found = softbleu.metaeval(
        "metrics", assessments=assessed, scores=[ScoreTable("m0", {}, scores), *tables[1:]], samples=20
    )
    assert "3 judged outputs lack a score by a metric: left out for all" in found.notes
    kept = [
        n
        for n, (by, at) in enumerate(zip(assessed.systems, assessed.segments, strict=True))
        if by != ["S5"] and (by, at not in (4, 5, 6)) != (["S1"], False)
    ]
    fewer = Assessments(
        assessed.scores[kept], [assessed.systems[n] for n in kept], [assessed.segments[n] for n in kept]
    )
    again = softbleu.metaeval("metrics", assessments=fewer, scores=tables, samples=20)
    assert found.records() == again.records()


def test_a_note_names_metrics_that_are_not_above_chance() -> None:
    """Chance is that of the other tables; a metric that is turned is below it."""
    assessed, tables = made_up()
    turned = {name: -scores for name, scores in tables[0].segments.items()}
    given = {"assessments": assessed, "scores": [*tables, ScoreTable("turned", {}, turned)], "samples": 100}
    found = softbleu.metaeval("metrics", **given)
    accuracies = softbleu.metaeval("accuracy", **given).records()
    for name, of in (("spa", "systems softly"), ("acc_eq", "outputs by segment")):
        rows = [row for row in accuracies if row["of"] == of]
        chance = rows[0]["chance"]
        below = [row["metric"] for row in rows if row["accuracy"] < chance + 0.001]
        assert "turned" in below
        assert f"{name}: not above chance, {chance:.3f}: {', '.join(below)}" in found.notes


def test_tasks_that_the_judgements_do_not_have_are_refused() -> None:
    assessed, tables = made_up()
    human = {"people": {f"S{k}": float(k) for k in range(6)}}
    found = softbleu.metaeval("metrics", human=human, scores=tables, samples=20)
    assert [task.name for task in found.tasks] == ["systems_pearson", "systems_accuracy"]
    (alone, *_) = softbleu.metaeval(
        "metrics", human=human, scores=tables, tasks=["systems_kendall"], samples=9
    ).records()
    assert [*alone] == ["metric", "systems_kendall", "systems_kendall cluster"]
    every = ["spa", "acc_eq", "pearson", "systems_pearson", "systems_kendall", "systems_accuracy"]
    for exchange in ("outputs", "segments"):
        given = {"assessments": assessed, "samples": 9, "tasks": every, "exchange": exchange}
        (only,) = softbleu.metaeval("metrics", scores=tables[:1], **given).records()
        assert {value for name, value in only.items() if name.endswith("cluster")} == {1}
    for more, said in (
        ({"human": human, "tasks": ["spa"]}, "spa needs judgements of single outputs"),
        ({"assessments": assessed, "samples": 0}, "sign flips"),
        ({"assessments": assessed, "documents": ["x"] * 30}, "permutations exchange outputs or segments"),
        ({"human": {**human, "more": human["people"]}, "tasks": ["systems_pearson"]}, "here are people, more"),
        ({"assessments": assessed, "exchange": "words"}, "unknown exchange 'words'"),
    ):
        with pytest.raises(InputError, match=said):
            softbleu.metaeval("metrics", scores=tables, **more)


def write_folder(place: Path, directions: dict[str, int]) -> None:
    """Write mt-metrics-eval's folders of scores."""
    for direction, seed in directions.items():
        assessed, tables = made_up(seed=seed)
        people = ScoreTable("", {}, dict(zip(tables[0].segments, assessed.scores.reshape(6, 30), strict=True)))
        files = {place / "human-scores" / f"{direction}.mqm.seg.score": people}
        folder = place / "metric-scores" / direction
        texts = ("-refA", "-src", "", "-refA.refB")
        files |= {
            folder / f"x-{table.name}{name}.seg.score": table for table, name in zip(tables, texts, strict=True)
        }
        for file, table in files.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            lines = [f"{name}\t{value!r}\n" for name, scores in table.segments.items() for value in scores.tolist()]
            file.write_text("".join(lines))


def test_folders_of_mt_metrics_eval_are_read(tmp_path: Path) -> None:
    write_folder(tmp_path / "wmt", {"en-de": 1, "ja-zh": 2})
    read = read_directions([str(tmp_path / "wmt")])
    found = metaeval_directions(read, "metrics", samples=50)
    assert [task.name for task in found.tasks] == ["spa en-de", "acc_eq en-de", "spa ja-zh", "acc_eq ja-zh"]
    assert {row["metric"] for row in found.records()} == {"x-m0", "x-m1", "x-m2", "x-m3"}
    assessed, tables = made_up(seed=2)
    (alone, _) = softbleu.metaeval(
        "metrics", assessments=assessed, scores=tables, samples=50, direction="ja-zh"
    ).tasks
    assert (alone.permuted == found.tasks[2].permuted).all()
    assert [*alone.values.values()] == [*found.tasks[2].values.values()]
    pairs = metaeval_directions(read, "metric-pairs", samples=50, weights=["ja-zh=0"]).records()
    assert len(pairs) == 6 * 5
    by_task = {(row["task"], row["better"], row["worse"]): row for row in pairs}
    weighed, single = by_task["average", "x-m0", "x-m1"], by_task["spa en-de", "x-m0", "x-m1"]
    verdicts = by_task["acc_eq en-de", "x-m0", "x-m1"]
    assert weighed["difference"] == pytest.approx((single["difference"] + verdicts["difference"]) / 2)
    (tmp_path / "wmt" / "human-scores" / "ja-zh.esa.seg.score").write_text("S0\t1\n")
    with pytest.raises(InputError, match="ja-zh: several human scores: give one of"):
        metaeval_directions(read_directions([str(tmp_path / "wmt")]), "metrics", samples=5)


def test_the_page_shades_clusters_and_shows_names_as_text() -> None:
    assessed, tables = made_up()
    named = [replace(table, name=f"<b>{table.name}") for table in tables]
    found = softbleu.metaeval("metrics", assessments=assessed, scores=named, samples=50)
    page = "".join(write_evaluation(found, Layout(3)))
    (body,) = re.findall("<tbody>(.*)</tbody>", page, re.DOTALL)
    cells = re.findall(r'class="number(?: cluster-(\d))?" data-value="([\d.]+)">([\d.]+) <small>(\d)</small>', body)
    expected = [
        (row[name], row[f"{name} cluster"]) for row in found.records() for name in ("average", "spa", "acc_eq")
    ]
    assert [(float(exact), int(cluster)) for _, exact, _, cluster in cells] == expected
    assert {shade == cluster for shade, *_, cluster in cells} == {True}
    assert [f"{value:.3f}" for value, _ in expected] == [shown for *_, shown, _ in cells]
    assert "&lt;b&gt;m0" in body
    assert "<b>" not in body
    picture = draw(evaluation_panels(found), "svg").decode()
    assert [picture.count(f">{value:.3f}<") > 0 for value, _ in expected] == [True] * len(expected)


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["spa", "acc_eq", "pearson"])
@pytest.mark.parametrize(
    ("place", "judged_in", "reference"),
    [
        ("wmt24-esa/en-cs", "esa-segments.tsv", "reference-A.cs"),
        ("wmt21-en-de", "mqm-segments.tsv", "reference-A.de"),
    ],
)
def test_p_values_are_those_of_mt_metrics_eval(place: str, judged_in: str, reference: str, measure: str) -> None:
    """Its permutations, written out, with 300 other draws: p differs by chance, and by the limit of flips."""
    folder, metrics = shared("data", *place.split("/")), ["bleu", "chrf", "ter"]
    candidates = sorted(map(str, (folder / "system-outputs").iterdir()))
    judgements = JudgementInputs(assessments=str(folder / judged_in))
    inputs = Inputs(ScoreInputs(metrics=metrics), judgements, TextInputs(candidates, [str(folder / reference)]))
    settings = IntervalSettings(samples=2000, tasks=[measure])
    evidence = read_evidence("metrics", inputs, settings, RunOptions())
    judged, _ = campaign.judged_outputs(evidence)
    ((task,), _) = campaign.measure_tasks(evidence, settings)
    tables = judged.grids(np.stack([judged.judges, *judged.metrics.values()]))
    people, *scores = tables[:, :, ~np.isnan(tables[0]).any(axis=0)]
    assert people.size == len(judged.judges)
    by_name = dict(zip(judged.metrics, scores, strict=True))
    ties = {
        name: JudgedPairs.within(judged.judges, column, judged.segments).accuracy(calibrated=True)[1]  # type: ignore[union-attr, index, arg-type]
        for name, column in judged.metrics.items()
    }
    for pair in combinations(by_name, 2):
        order = sorted(pair, key=lambda name: -task.values[name])  # type: ignore[operator]
        thresholds = [ties[name] for name in order]
        literal = oracle.published_test(people, *(by_name[name] for name in order), measure, 300, thresholds)
        assert campaign.p_value(task.difference(*order)) == pytest.approx(literal, abs=0.08)


LEVELS = {  # Share of trials in which equal metrics lie in two clusters, as the guide has it
    "spa": (0.22, 0.27),
    "acc_eq": (0.44, 0.15),
    "pearson": (0.33, 0.14),
}


@pytest.mark.slow
@pytest.mark.parametrize("measure", LEVELS)
def test_exchanging_outputs_finds_too_many_differences(measure: str) -> None:
    """All systems share the effect of a segment, and each metric favours other systems."""
    generator, found = np.random.default_rng(8), np.zeros(2)
    systems, segments = np.nonzero(np.ones((15, 200)))
    for trial in range(400):
        quality = 0.4 * generator.standard_normal((15, 1))
        hard, noise = generator.standard_normal((3, 1, 200)), generator.standard_normal((3, 15, 200))
        favours = 0.15 * generator.standard_normal((3, 15, 1))
        people = np.round((quality + hard[0] + noise[0]) * 2) / 2
        scores = {f"m{k}": (people + hard[k] + 1.5 * noise[k] + favours[k]).reshape(-1) for k in (1, 2)}
        judged = JudgedPoints(people.reshape(-1), scores, systems, segments)
        for place, exchanged in enumerate(("outputs", "segments")):
            ranks = campaign.rank(
                campaign.TASK_MEASURES[measure](judged, Permutations(200, trial, measure, exchanged))
            )
            found[place] += max(number or 0 for number in ranks.values()) == 2
    assert found / 400 == pytest.approx(LEVELS[measure], abs=0.03)
