"""Studies: effects of sets as draws, sets of files, predictions, claims of pages, and how often judges agree."""

import csv
import re
import shutil
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from curves import JudgedSet, PooledCurve, leave_out
from scipy.special import expit

from softbleu.corpora.judgements import ScoreTable
from softbleu.corpora.judgements.assessments import Assessments
from softbleu.errors import InputError
from softbleu.meta.measures import correlate, soft_accuracy
from softbleu.meta.pooling import pool, pooled_table, regress
from softbleu.tables import Table

ROOT = Path(__file__).resolve().parents[2]
STUDY = ROOT / "experiments" / "softness"


@pytest.fixture
def study(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(STUDY)


@pytest.mark.slow
@pytest.mark.parametrize("sets", [4, 15])
@pytest.mark.parametrize("between", [0.0, 1.0])
@pytest.mark.parametrize(("middle", "bounds"), [(0.0, None), (2.0, (0.0, 1.0)), (0.2, (-2.0, 2.0))])
def test_intervals_of_pooled_effects_cover(
    sets: int, between: float, middle: float, bounds: tuple[float, float] | None
) -> None:
    """On made-up sets of different sizes: the mean, and the value that is measured on a new set."""
    generator, runs = np.random.default_rng(1), 400
    covered = np.zeros(2)
    for _ in range(runs):
        deviations = generator.uniform(0.35, 0.7, sets)
        effects = middle + generator.normal(0, between / 2, sets) + generator.normal(0, deviations)
        true, new = middle, middle + generator.normal(0, between / 2) + generator.normal(0, np.median(deviations))
        if bounds is not None:
            width, shares = bounds[1] - bounds[0], expit(effects)
            deviations = deviations * width * shares * (1 - shares)
            effects, true, new = (bounds[0] + width * expit(each) for each in (effects, middle, new))
        pooled = pool(effects, deviations, bounds)
        covered += [pooled.low <= true <= pooled.high, pooled.new_low <= new <= pooled.new_high]
        assert (
            bounds is None or bounds[0] <= pooled.new_low <= pooled.low <= pooled.high <= pooled.new_high <= bounds[1]
        )
    assert covered / runs == pytest.approx(0.95, abs=0.03)


@pytest.mark.parametrize("right", [0.5, 0.8, 0.95])
def test_intervals_of_counted_accuracies_cover(right: float) -> None:
    """Of four sets of 15 to 100 pairs, among them sets where all pairs are right, deviations are those of samples."""
    generator, runs, covered, perfect = np.random.default_rng(7), 500, 0, 0
    for _ in range(runs):
        pairs = generator.integers(15, 100, 4)
        chances = expit(np.log(right / (1 - right)) + generator.normal(0, 0.3, 4))
        accuracies = generator.binomial(pairs, chances) / pairs
        perfect += int((accuracies == 1).sum())
        pooled = pool(accuracies, np.sqrt(accuracies * (1 - accuracies) / pairs), (0.0, 1.0))
        assert 0 <= pooled.new_low <= pooled.new_high <= 1
        covered += pooled.low <= right <= pooled.high
    assert covered / runs == pytest.approx(0.95, abs=0.03)
    assert perfect > 50 or right < 0.9


@pytest.mark.parametrize(
    ("values", "deviations", "mean"),
    [([0.3, 0.5], [0.1, 0.1], 0.4051), ([1.0, 1.0, 1.0], [0.0, 0.0, 0.0], 1.0), ([0.2, 0.4, 0.3], [0.0] * 3, 0.3)],
)
def test_two_sets_and_sets_that_do_not_vary_have_no_interval(
    values: list[float], deviations: list[float], mean: float
) -> None:
    pooled = pool(values, deviations, (0.0, 1.0))
    assert pooled.mean == pytest.approx(mean, abs=1e-4)
    assert {pooled.low, pooled.high, pooled.between, pooled.new_low, pooled.new_high} == {None}


def test_a_perfect_set_does_not_outweigh_others() -> None:
    """That all samples are right says nothing about how sure that is."""
    pooled = pool([1.0, 0.8, 0.7, 0.75], [0.0, 0.1, 0.1, 0.1], (0.0, 1.0))
    assert 0.7 < pooled.mean < 0.95
    assert pooled.high < 1


def test_pooled_effects_are_those_of_equations() -> None:
    values, deviations = np.array([0.1, 0.5, 0.2, 0.9]), np.array([0.1, 0.2, 0.1, 0.3])
    pooled = pool(values, deviations)
    weights = 1 / (pooled.between**2 + deviations**2)
    mean = weights @ values / weights.sum()
    assert pooled.mean == pytest.approx(mean)
    assert weights @ (values - mean) ** 2 == pytest.approx(3)
    assert pooled.high - mean == pytest.approx(3.182446 * (1 / weights.sum()) ** 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("sets", [12, 30])
@pytest.mark.parametrize("between", [0.0, 0.5])
@pytest.mark.parametrize(("middle", "bounds"), [(0.0, None), (1.0, (-1.0, 1.0))])
def test_intervals_by_moderators_cover(
    sets: int, between: float, middle: float, bounds: tuple[float, float] | None
) -> None:
    """On made-up sets with a continuous and a binary moderator: coefficient, mean, and the mean of two new sets."""
    generator, runs, covered = np.random.default_rng(8), 1500, np.zeros(3)
    for _ in range(runs):
        moderators = generator.normal(size=sets), np.arange(sets) % 2
        deviations = generator.uniform(0.2, 0.4, sets)
        true = middle + 0.4 * moderators[0] - 0.3 * moderators[1]
        effects = true + generator.normal(0, between, sets) + generator.normal(0, deviations)
        mean = middle + 0.4 - 0.3
        new = mean + generator.normal(0, between / 2**0.5) + generator.normal(0, 0.3 / 2**0.5)
        sampled, slope = 0.3, 1.0
        if bounds is not None:
            low, width = bounds[0], bounds[1] - bounds[0]
            shares = expit(effects)
            deviations = deviations * width * shares * (1 - shares)
            sampled, slope = 0.3 * width * expit(mean) * (1 - expit(mean)), width / 4
            effects, mean, new = (low + width * expit(each) for each in (effects, mean, new))
        fitted = regress(effects, deviations, moderators, bounds)
        at = fitted.expect([1.0, 1.0], sampled, sets=2)
        term = fitted.terms[1]
        covered += [
            term.low <= 0.4 * slope <= term.high,
            at.low <= mean <= at.high,
            at.new_low <= new <= at.new_high,
        ]
        assert bounds is None or bounds[0] <= at.new_low <= at.low <= at.high <= at.new_high <= bounds[1]
    assert covered / runs == pytest.approx(0.95, abs=0.02)


def test_regressions_are_those_of_statsmodels() -> None:
    """Trials of BCG vaccine (Colditz et al. 1994): infected and not, vaccinated and not, and latitude.

    statsmodels 0.15.0: combine_effects(method_re="iterated", use_t=True), and WLS at the variance between sets for
    which the weighted squares are 11.
    """
    trials = np.array(
        [
            *([4, 119, 11, 128, 44], [6, 300, 29, 274, 55], [3, 228, 11, 209, 42], [62, 13536, 248, 12619, 52]),
            *([33, 5036, 47, 5761, 13], [180, 1361, 372, 1079, 44], [8, 2537, 10, 619, 19]),
            *([505, 87886, 499, 87892, 13], [29, 7470, 45, 7232, 27], [17, 1699, 65, 1600, 42]),
            *([186, 50448, 141, 27197, 18], [5, 2493, 3, 2338, 33], [27, 16886, 29, 17825, 33]),
        ]
    )
    counts, latitude = trials[:, :4], trials[:, 4]
    effects, deviations = np.log(counts) @ [1, -1, -1, 1], (1 / counts).sum(axis=1) ** 0.5
    alone, fitted = regress(effects, deviations), regress(effects, deviations, [latitude])
    assert alone.terms[0] == pytest.approx((-0.745460, -1.152442, -0.338479), abs=2e-6)
    assert alone.between**2 == pytest.approx(0.341205, abs=2e-6)
    assert fitted.between**2 == pytest.approx(0.137364, abs=2e-6)
    assert fitted.terms[0] == pytest.approx((0.254810, -0.436127, 0.945747), abs=2e-6)
    assert fitted.terms[1] == pytest.approx((-0.030579, -0.050391, -0.010768), abs=2e-6)


def test_a_regression_that_sets_do_not_settle_is_refused() -> None:
    for moderators in ([[1, 1, 1, 1]], [[1, 2, 3, 4], [1, 4, 9, 16], [1, 8, 27, 64]]):
        with pytest.raises(InputError, match="a regression needs more sets than terms"):
            regress([0.1, 0.2, 0.3, 0.4], [0.1] * 4, moderators)


def test_tables_of_directions_are_pooled() -> None:
    """By the rows that all have: an interval of 95% says how much a value varies by sampling."""
    columns = ["human", "metric", "accuracy", "low", "high", "chance"]
    one = [["j", "m", 0.5, 0.4, 0.6, 0.5], ["j", "n", 0.6, 0.5, 0.7, 0.5]]
    others = {"a-c": [["j", "m", 0.8, 0.6, 1.0, 0.6]], "a-d": [["j", "m", 0.9, 0.8, 1.0, 0.7]]}
    tables = {name: Table(columns, rows) for name, rows in {"a-b": one, **others}.items()}
    row, other = pooled_table("accuracy", tables).records()
    three = pool([0.5, 0.8, 0.9], [0.1 / 1.959964, 0.2 / 1.959964, 0.1 / 1.959964], (0.0, 1.0))
    beside = ["a-b", "a-b_chance", "a-c", "a-c_chance", "a-d", "a-d_chance", "mean", "chance"]
    assert [*row][4:12] == beside
    assert [row[name] for name in ("measure", *beside[:6])] == ["accuracy", 0.5, 0.5, 0.8, 0.6, 0.9, 0.7]
    assert (other["a-b"], other["a-c"], other["mean"], other["chance"]) == (0.6, None, None, None)
    cells = [row[name] for name in ("mean", "low", "high", "between", "chance")]
    assert cells == pytest.approx([*[*vars(three).values()][1:5], 0.6])
    none = Table(["metric", "r", "r_low", "r_high"], [["m", 0.1, 0.0, 0.2], ["n", None, None, None]])
    assert [row["measure"] for row in pooled_table("outputs", {"x": none, "y": none}).records()] == ["r"]


@pytest.mark.parametrize(
    ("question", "named", "measure", "bounds"),
    [
        ("outputs", ["metric"], "pearson", (-1, 1)),
        ("preferences", ["metric", "variant"], "tau", (-1, 1)),
        ("accuracy", ["metric", "of"], "accuracy", (0, 1)),
        ("spans", ["metric"], "f1", (0, 1)),
        ("spans", ["metric"], "difference", (-1, 1)),
        ("differences", ["human", "measure", "better", "worse", "of_better", "of_worse"], "difference", (-2, 2)),
    ],
)
def test_estimates_near_a_bound_are_pooled_within_it(
    question: str, named: list[str], measure: str, bounds: tuple[float, float]
) -> None:
    """Three directions near the upper bound that differ much, so that other intervals would cross it."""
    columns = [*named, measure, *("low", "high")]
    places = [(0.9, 0.02), (0.97, 0.01), (0.995, 0.005)]
    ends = [[bounds[0] + (bounds[1] - bounds[0]) * share for share in (v, v - d, v + d)] for v, d in places]
    tables = {f"a-{n}": Table(columns, [[*"pearson"[: len(named)], *row]]) for n, row in enumerate(ends)}
    (row,) = pooled_table(question, tables).records()
    found = [row[name] for name in ("new_low", "low", "mean", "high", "new_high")]
    assert found == sorted(found)
    assert bounds[0] <= found[0] <= found[-1] <= bounds[1]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Sets in both forms, of two systems and three lines."""
    lines = ["ein Haus steht hier", 'ein "Hund" bellt', "der Zug kommt"]
    (tmp_path / "outputs").mkdir()
    files = {f"outputs/{name}.de": [f"{line} {name}" for line in lines] for name in ("ours", "theirs", "unjudged")}
    judged = [f"{system}\t{number}\t{number}" for system in ("Ours!", "theirs", "lost") for number in (1, 3)]
    rows = [f"{n}\t{name}\t{n}\t{lines[n]} {name}\t{lines[n]}" for n in range(3) for name in ("a", "b")]
    files |= {"ref.de": lines, "judged.tsv": ["system\tsegment\tscore", *judged]}
    files["ours.tsv"] = ["segment\tsystem\tpoints\tcandidate\tref", *rows]
    for name, text in files.items():
        (tmp_path / name).write_text("\n".join(text) + "\n")
    for name in ("sets.toml", "predicted.toml"):
        shutil.copy(Path(__file__).with_name(name), tmp_path)
    return tmp_path


@pytest.mark.usefixtures("study")
def test_sets_are_read_as_files_define_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from sets import read_definitions, read_set

    definitions = read_definitions(folder / "sets.toml")
    ours, theirs = (read_set(definitions[name], folder) for name in ("ours", "theirs"))
    assert ours.ratings.tolist() == [[0, -1, -2]] * 2
    assert ours.texts.candidates["a"][1] == 'ein "Hund" bellt a'
    assert (theirs.texts.systems, theirs.segments, theirs.absent) == (("ours", "theirs"), ("1", "3"), ("lost",))
    assert theirs.ratings.tolist() == [[1, 3]] * 2
    assert "theirs: judges have systems without outputs, which are left out: lost" in capsys.readouterr().err


@pytest.mark.usefixtures("study")
def test_predictions_are_measured_and_judged(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import predict
    import sets

    monkeypatch.setattr(sets, "KEPT", folder / "kept")
    monkeypatch.setattr("measures.KEPT", folder / "kept")
    options = ["--sets", folder / "sets.toml", "--predictions", folder / "predicted.toml", "--data", folder]
    monkeypatch.setattr(sys, "argv", ["predict.py", *map(str, options)])
    predict.main()
    with (folder / "found.csv").open(encoding="utf-8", newline="") as stream:
        (row,) = csv.DictReader(stream)
    assert (row["verdict"], row["effect"]) == ("holds", "chrF − TER")
    assert -2 < float(row["found"]) < 2
    prediction = predict.Prediction(["a"], "b", "r", "+", 0.1, 0.2, "")
    verdicts = [prediction.verdict(value)[0] for value in (0.09, 0.1, 0.2, 0.21)]
    assert verdicts == ["refuted", "holds", "holds", "refuted"]
    assert predict.Prediction(["a"], "b", "r", "-", -0.1, 0.2, "").verdict(0.01)[1] == "the other sign"


@pytest.mark.usefixtures("study")
def test_tables_of_pages_and_paper_are_those_of_their_files() -> None:
    import page

    again = "run: python experiments/softness/page.py"
    for name in page.PAGES:
        text = (ROOT / name).read_text(encoding="utf-8")
        assert page.filled(text) == text, again
    assert page.PAPER.read_text(encoding="utf-8") == page.paper(), again


@pytest.mark.usefixtures("study")
def test_letters_are_those_of_words(folder: Path) -> None:
    from languages import letters_per_word
    from sets import read_definitions, read_set

    ours = read_set(read_definitions(folder / "sets.toml")["ours"], folder)
    assert letters_per_word(ours) == pytest.approx((16 + 12 + 11) / 10)  # Quotes are no words


@pytest.mark.usefixtures("study")
def test_a_language_is_predicted_from_the_others() -> None:
    from languages import left_out

    row = {"effect": "chrF − BLEU", "deviation": 0.01, "letters": 5.0, "several": 0.0, "nearness": 50.0}
    alike = [row | {"language": code, "value": 0.1 + 0.001 * place} for place, code in enumerate("abcd")]
    apart = [row | {"language": "e", "value": value} for value in (0.4, 0.5)]
    error, held, languages = left_out([*alike, *apart], ())
    assert (held, languages) == (0.8, 5)  # Four of five, though two sets of six are of the fifth
    squares = []
    for code in "abcde":
        others = [one["value"] for one in (*alike, *apart) if one["language"] != code]
        mean = pool(others, [0.01] * len(others), (-2.0, 2.0)).mean
        squares.append(np.mean([(mean - one["value"]) ** 2 for one in (*alike, *apart) if one["language"] == code]))
    assert error == pytest.approx(np.mean(squares) ** 0.5)
    assert left_out(apart, ()) == ("", "", 1)


@pytest.mark.usefixtures("study")
def test_sets_kept_aside_are_measured_where_their_files_lie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On made-up tables in the form of IndicMT and AfriMTE: each prediction of them has a value."""
    import predict
    import sets

    generator, rows = np.random.default_rng(4), []
    definitions = tomllib.loads((STUDY / "kept-aside.toml").read_text(encoding="utf-8"))
    tables = {name: one["table"] for name, one in definitions.items() if "table" in one}
    words = ["ada", "ade", "adi", "bodo", "bodu", "ceka", "ceke", "doro", "dora"]
    for number in range(24):
        reference = [*generator.choice(words, 8), "."]
        kept = [word if generator.random() < 0.3 + 0.5 * (number % 3 > 0) else "axa" for word in reference]
        score = sum(one == other for one, other in zip(kept, reference, strict=True)) + generator.normal()
        rows.append([str(number // 2), "ab"[number % 2], score, " ".join(kept), " ".join(reference), "a source"])
    for path in tables.values():
        file = tmp_path / path
        file.parent.mkdir(exist_ok=True)
        single, named = ("afrimte", "da") if "afrimte" in path else ("", "mqm")
        lines = [["segment", "system", named, "candidate", "reference", "source"]]
        lines += [[str(n), "system", *row[2:]] if single else row for n, row in enumerate(rows)]
        file.write_text("".join("\t".join(map(str, line)) + "\n" for line in lines), encoding="utf-8")
    monkeypatch.setattr(sets, "KEPT", tmp_path / "kept")
    monkeypatch.setattr("measures.KEPT", tmp_path / "kept")
    every = predict.read_predictions(STUDY / "predictions.toml")
    chosen = [one for one in every if set(one.sets) <= set(tables) and "multilingual" not in one.effect]
    assert len(chosen) >= 24
    assert {name for one in chosen for name in one.sets} == set(tables)
    read = sets.read_definitions(STUDY / "kept-aside.toml")
    for one in chosen:
        value, low, high, verdict, _ = predict.outcome(one, read, lambda name: sets.read_set(read[name], tmp_path))
        assert low <= value <= high, one
        assert verdict in ("holds", "refuted")


CLAIMS = tomllib.loads((STUDY / "claims.toml").read_text(encoding="utf-8"))
FIGURE = re.compile(r"(?<![\w.])[-−+]?\d*\.\d{2,}(?![\w.])")
JUDGES = re.compile(
    r"\bagree|\bjudge|\bWMT|\bTED\b|\bMQM\b|Pearson|τ|tau\b|(?<![\w`-])r\b(?= (?:is|of|rises|by|over))", re.IGNORECASE
)
COMPARES = re.compile(
    r"\b(?:better|best|worse|exceeds?|ahead|behind|below|above|higher|lower|leads?|gains?|helps?|loses?|adds?|rises?)\b"
)


def plain(text: str) -> str:
    return " ".join(text.replace("$-$", "−").replace("~", " ").split())


def rows_of(where: dict[str, object]) -> dict[str, str]:
    with (STUDY.parent / str(where["file"])).open(encoding="utf-8", newline="") as stream:
        chosen = where["where"].items()  # type: ignore[attr-defined]
        (row,) = (row for row in csv.DictReader(stream) if all(row[key] == cell for key, cell in chosen))
    return row


@pytest.mark.parametrize("claim", CLAIMS["claim"], ids=lambda claim: claim["text"][:40])
def test_a_claim_is_what_its_rows_carry(claim: dict[str, object]) -> None:
    """Figures with their signs, and whether the interval lies above, below or around zero."""
    text = str(claim["text"])
    assert plain(text) in plain((ROOT / str(claim["page"])).read_text(encoding="utf-8"))
    made: list[float] = []
    for part in claim["rows"]:  # type: ignore[attr-defined]
        row, sign = rows_of(part), -1.0 if part.get("turned") else 1.0
        made += [sign * float(row[name]) for name in part["columns"]]
        if "says" in part:
            low, high = (float(row[name]) for name in part.get("bounds", ("low", "high")))
            said = "above" if low > 0 else "below" if high < 0 else "open"
            assert said == part["says"], row
    for figure in FIGURE.findall(text):
        digits = len(figure.partition(".")[2])
        value = float(figure.replace("−", "-"))
        assert any(abs(value - number) <= 0.5001 * 10**-digits for number in made), figure
    compared = [part for part in claim["rows"] if part.get("says", "open") != "open"]  # type: ignore[attr-defined]
    assert compared or not COMPARES.search(text) or claim.get("open")


ASIDE = {"corrections.md", "gec.md", "refless.md"}  # Of corrections, whose figures are other rankings'
PAGES = [ROOT / name for name in ("README.md", "docs/index.md", "docs/paper/paper.tex")]
PAGES += [page for page in sorted((ROOT / "docs" / "guide").glob("*.md")) if page.name not in ASIDE]
SET_ASIDE = re.compile(r"```.*?```|<!-- made.*?<!-- end|`[^`\n]*`", re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_comparison_of_agreement_is_a_claim(page: Path) -> None:
    """Sentences of the README, the guide and the paper that say of agreement that it is greater or less."""
    listed = [plain(re.sub(r"`[^`\n]*`", "X", str(row["text"]))) for row in [*CLAIMS["claim"], *CLAIMS["other"]]]
    blocks = re.split(r"\n\s*\n|\n(?=[-|#*] )|\n\|", SET_ASIDE.sub("X", page.read_text(encoding="utf-8")))
    for sentence in (part for block in blocks for part in re.split(r"(?<=[.:!?)])\s+(?=[A-Z*`\[(])", plain(block))):
        known = any(sentence.strip("*- ") in each or each in sentence for each in listed)
        assert known or not JUDGES.search(sentence) or not COMPARES.search(sentence), sentence


STORED = STUDY.parent / "what-differences-mean" / "left-out.csv"


def made_up(number: int, spread: float, seed: int, pairs: int = 150) -> list[JudgedSet]:
    """Sets whose logits are 0.8 + 0.7 log(difference) and a part of their own."""
    generator, sets = np.random.default_rng(seed), []
    for _ in range(number):
        sizes = generator.uniform(0.05, 6, pairs)
        logits = 0.8 + 0.7 * np.log(sizes) + spread * generator.standard_normal()
        sets.append(JudgedSet(sizes, generator.random(pairs) < 1 / (1 + np.exp(-logits))))
    return sets


def test_pairs_are_those_that_both_tell_apart() -> None:
    judged, scores = {"A": 1.0, "B": 2.0, "C": 4.0, "E": 2.0}, {"A": 10.0, "B": 11.0, "C": 9.0, "D": 3.0, "E": 9.0}
    found = JudgedSet.of(judged, scores)
    # D was not judged; judges tie B and E, the metric C and E.
    pairs = sorted(zip(found.sizes.tolist(), found.agreed.tolist(), strict=True))
    assert pairs == [(1.0, False), (1.0, False), (1.0, True), (2.0, False)]


@pytest.mark.slow
def test_a_curve_finds_what_sets_share_and_how_they_differ() -> None:
    curve = PooledCurve.fit(made_up(30, 1.0, 1))
    assert (curve.intercept, curve.slope, curve.spread) == pytest.approx((0.8, 0.7, 1.0), abs=0.45)
    sizes = np.array([0.5, 2.0])
    low, high = curve.interval(sizes)
    assert np.all((low < curve.share(sizes)) & (curve.share(sizes) < high))
    assert np.all(high - low > 0.4)
    alike = PooledCurve.fit(made_up(30, 0.0, 1))
    assert alike.spread < 0.3


@pytest.mark.slow
def test_sets_left_out_are_predicted_where_sets_are_alike() -> None:
    alike, apart = leave_out(made_up(8, 0.0, 2, 200)), leave_out(made_up(8, 3.0, 2, 200))
    assert alike.off < 0.07 < apart.off
    assert alike.brier < alike.constant
    assert [sum(each.pairs for each in found.bins) for found in (alike, apart)] == [1600, 1600]


def test_nothing_is_claimed_for_any_metric_of_the_study() -> None:
    """`compare` says nothing of judges, for every metric is off by more than .07 in one of five bins."""
    with STORED.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert {row["task"] for row in rows} == {"translation", "corrections"}
    for row in rows:
        assert sum(int(float(row[f"pairs{number}"])) for number in range(1, 6)) == int(row["pairs"])
        off = max(abs(float(row[f"claimed{number}"]) - float(row[f"found{number}"])) for number in range(1, 6))
        assert off == pytest.approx(float(row["off"]), abs=2e-4)
        assert off > 0.07


@pytest.mark.usefixtures("study")
def test_measures_are_those_of_the_package() -> None:
    import measures

    people, scores = np.random.default_rng(7).normal(size=(2, 4, 20)).round(1)
    drawn, segments = measures.pearson(scores[None], people)[0], np.tile(np.arange(20), 4)
    expected = correlate(scores.ravel(), people.ravel(), "pearson", clusters=segments)
    np.testing.assert_allclose(drawn, [expected.value, *expected.drawn], atol=1e-12)
    names = ["a", "b", "c", "d"]
    judged = Assessments(people.ravel(), [[name] for name in names for _ in range(20)], segments.tolist())
    soft = soft_accuracy(ScoreTable("m", {}, dict(zip(names, scores, strict=True))), judged)
    assert measures.soft_accuracy(scores[None], people)[0, 0] == pytest.approx(soft.value)  # type: ignore[union-attr]


@pytest.mark.usefixtures("study")
def test_effects_weigh_matched_cells() -> None:
    from cells import Effect

    cells = [(("a", one), ("b", other)) for one in "01" for other in "01"]
    assert Effect("main", "a", "1", "0").of(cells).tolist() == [-0.5, -0.5, 0.5, 0.5]
    assert Effect("both", "a", "1", "0", ("b", "1"), ("b", "0")).of(cells).tolist() == [1, -1, -1, 1]
