"""Deserved and spurious credit: classes by hand, sums against brute force."""

import math
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import soft
from oracles import spurious as oracle
from refusing import refused
from shared_data import shared
from strategies import WORDS, word_vectors
from tables import each_row

from softbleu import score
from softbleu.corpora.generate import AlignedPair, GenerationSettings, generate
from softbleu.embeddings import measure
from softbleu.engine.worker import MINI_BATCH
from softbleu.errors import InputError, UnknownNameError
from softbleu.kernels import SCALE
from softbleu.matching.kinds import MATCH_KINDS
from softbleu.meta import spurious
from softbleu.meta.spurious import Analysis, MatchedText, credit_table, find_spurious, make_variants
from softbleu.metrics.reading import read_metric
from softbleu.report.plots import Lines, spurious_lines

GRID = [0.0, 0.3, 0.5, 0.8, 0.95]
# a ≈ A ≈ α, b ≈ B ≈ β, c ≈ C; the letters are orthogonal otherwise.
LETTERS = {"a": [1.0, 0.1, 0.0], "b": [0.1, 1.0, 0.0], "c": [0.1, 0.0, 1.0]}
LETTERS |= {"A": [1.0, 0.0, 0.1], "B": [0.0, 1.0, 0.1], "C": [0.0, 0.1, 1.0]}


def pair(candidate: str, reference: str, *alignment: tuple[int, int]) -> AlignedPair:
    return AlignedPair(tuple(candidate.split()), tuple(reference.split()), alignment, "related")


def made(grammar: str, count: int) -> list[AlignedPair]:
    return list(generate(GenerationSettings(grammar, "paraphrase", count=count)).pairs())


def analyse(
    pairs: list[Any], matcher: str = "vleu", remedy: str = "plain", *, grid: Any = GRID, order: int = 4, **base: Any
) -> Analysis:
    variants = make_variants({"vectors": LETTERS, "vector_case": "exact", **base}, [matcher], [remedy])
    return find_spurious(MatchedText.of_pairs(pairs), variants, grid, at=0.8, order=order)[0]


@each_row("meta/classes.toml", "matcher", "order", "candidate", "reference", "verdict", links=())
def test_a_match_has_the_verdict_of_its_links(
    matcher: str, order: int, candidate: str, reference: str, verdict: str, links: list[list[int]]
) -> None:
    settings = {"vectors": {**LETTERS, "c": [0.1, 0.0, 0.1]}} if candidate == "a c" else {}
    alignment = [(word, partner) for word, partner in links]
    found = analyse([pair(candidate, reference, *alignment)], matcher, **settings)  # type: ignore[arg-type]
    credit = found.tally.credit(found.at, order)
    # The similarity of matches is near 1 at .8, so that masses tell how many there are.
    parts = zip(spurious.VERDICTS, (credit.deserved, credit.misordered, credit.spurious), strict=False)
    assert {name: math.ceil(mass) for name, mass in parts if mass} == {verdict: 1}


def test_precision_recall_and_the_best_threshold() -> None:
    texts = [("a b", "A B", (0, 0)), ("a b c", "C B A", (2, 0)), ("a", "A", (0, 0)), ("a", "b", (0, 0))]
    credit = analyse([pair(*text) for text in texts], grid=[0.8], order=1).curve[0]
    similarity = 1 / 1.01  # of a and A, and of the others
    assert (credit.matches, credit.rewarded, credit.deserving) == (6, 3, 4)
    assert (credit.weight, credit.deserved) == pytest.approx((6 * similarity, 3 * similarity), abs=1e-5)
    found = (credit.precision, credit.spurious_share, credit.recall, credit.f1)
    assert found == pytest.approx((0.5, 0.5, 0.75, 0.6))
    # The best threshold is the highest of equals: matches end at 0.9901; nothing changes below.
    analysis = analyse([pair("a", "A", (0, 0))], grid=[0.1, 0.5, 0.9, 0.999])
    assert analysis.best() == analysis.thresholds.index(0.9)
    assert analysis.at_recall(1.0) == analysis.thresholds.index(0.9)
    assert analysis.at_recall(0.0) == len(analysis.thresholds) - 1


def test_kinds_add_up_to_the_credit_of_each_class() -> None:
    found = analyse(made("alternations", 40), vectors="glove-6b-100d", vector_case="fallback")
    credit, sums = found.tally.credit(found.at), [0, 0, 0]
    for (_, verdict), weight in found.tally.kinds.items():
        sums[verdict] += weight
    assert [weight / SCALE for weight in sums] == [credit.deserved, credit.misordered, credit.spurious]
    rows = credit_table("kinds", [found]).records()
    assert {row["kind"] for row in rows} <= {*MATCH_KINDS}
    assert math.fsum(row["credit"] for row in rows) == pytest.approx(credit.weight)


def test_no_approximate_match_is_said() -> None:
    nothing = analyse([pair("a", "a", (0, 0))])
    assert nothing.is_empty
    assert nothing.best() is None
    refused(UnknownNameError, "unknown table 'order'", credit_table, "order", [nothing])
    credit = nothing.curve[0]
    assert [credit.precision, credit.spurious_share, credit.recall, credit.f1] == [None] * 4
    for name in spurious.CREDIT_TABLES:
        records = credit_table(name, [nothing])
        assert records.facts["without approximate matches"] == "vleu, plain"
        assert not any(isinstance(value, float) and math.isnan(value) for row in records.rows for value in row)


@st.composite
def aligned_pairs(draw: st.DrawFn) -> AlignedPair:
    sides = [draw(st.lists(st.sampled_from(WORDS), max_size=6)) for _ in range(2)]
    size = min(map(len, sides))
    order = draw(st.permutations(range(len(sides[1]))))[:size]
    # Mostly in order, for order errors are frequent enough without.
    order = sorted(order) if draw(st.booleans()) else order
    chosen = [(left, right) for left, right in enumerate(order) if draw(st.booleans())]
    return AlignedPair(tuple(sides[0]), tuple(sides[1]), tuple(chosen), "related")


@given(
    st.lists(aligned_pairs(), min_size=1, max_size=4),
    word_vectors(),
    st.sampled_from(["sleu", "vleu", "xleu"]),
    st.sampled_from([("plain", "mean"), ("aligned", "aligned")]),
    st.sampled_from(["exact-first", "sequential"]),
    st.integers(1, 4),
)
def test_sums_are_those_of_brute_force(
    pairs: list[AlignedPair], vectors: Any, matcher: str, remedy: tuple[str, str], assignment: str, order: int
) -> None:
    analysis = analyse(pairs, matcher, remedy[0], order=order, vectors=vectors, assignment=assignment)
    plain = [(list(each.candidate), list(each.reference), each.alignment) for each in pairs]
    given = {"order": order, "matcher": matcher, "assignment": assignment, "composition": remedy[1]}
    for number, threshold in enumerate(analysis.thresholds):
        product = soft.token_product_from(vectors)
        for n, found in enumerate(oracle.judge(plain, threshold=threshold, product=product, **given), start=1):
            credit = analysis.tally.credit(number, n)
            counts = (credit.matches, credit.rewarded, credit.deserving)
            assert counts == (found.counts.total(), found.rewarded, found.deserving), (threshold, n)
            got = (credit.deserved, credit.misordered, credit.spurious)
            assert got == pytest.approx([found.masses[name] for name in spurious.VERDICTS], abs=1e-9), (threshold, n)


def test_the_pieces_do_not_matter() -> None:
    pairs = made("agreement", MINI_BATCH + 40)
    some = (pairs, pairs[:100], pairs[100:])
    whole, *parts = (analyse(each, vectors="glove-6b-100d", vector_case="fallback") for each in some)
    for number in range(len(whole.thresholds)):
        credits = [asdict(each.tally.credit(number)) for each in parts]
        for name, value in asdict(whole.tally.credit(number)).items():
            assert value == pytest.approx(sum(each[name] for each in credits)), name


FAST = ["plain", "optimal", "aligned", "sif", "function-words", "aligned+function-words"]


@pytest.mark.parametrize(
    ("count", "matchers", "remedies"),
    [
        (15, ["vleu"], FAST),
        pytest.param(60, ["vleu", "xleu"], [*spurious.VARIANTS, *spurious.COMBINATIONS], marks=pytest.mark.slow),
    ],
)
def test_every_remedy_changes_settings_only(count: int, matchers: list[str], remedies: list[str]) -> None:
    variants, text = make_variants({}, matchers, remedies), MatchedText.of_pairs(made("alternations", count))
    together = find_spurious(text, variants, [0.5, 0.8])
    assert [each.variant for each in together] == variants
    for each in together:
        (alone,) = find_spurious(text, [each.variant], [0.8, 0.5])
        assert [asdict(credit) for credit in alone.curve] == [asdict(credit) for credit in each.curve]
    shares = {each.variant.name: each.curve[-1].spurious_share for each in together[: len(remedies)]}
    assert shares["aligned"] < shares["plain"]
    assert shares["function-words"] < shares["plain"]


def test_quantiles_are_thresholds_of_each_variant_and_pairs_are_drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(3).normal(size=(len(LETTERS), 6))
    vectors = dict(zip(LETTERS, rows.tolist(), strict=True))
    variants = make_variants({"vectors": vectors}, ["vleu"], ["plain", "centred"])
    plain, centred = find_spurious(MatchedText.of_pairs([pair("a b", "B A", (0, 1), (1, 0))]), variants, ["p99"])
    assert len(plain.thresholds) == len(centred.thresholds) == 2
    assert plain.thresholds != centred.thresholds
    assert plain.thresholds[plain.at] == centred.thresholds[centred.at] == 0.8
    drawn = []
    original = measure._draw_similarities
    monkeypatch.setattr(measure, "_DRAWN", {})
    monkeypatch.setattr(measure, "_draw_similarities", lambda *given: drawn.append(given) or original(*given))
    variants = make_variants({"vectors": vectors}, ["vleu", "xleu"], ["plain", "aligned", "centred"])
    found = find_spurious(MatchedText.of_pairs([pair("a b", "b a")]), variants, ["p90", "p95", "p99"])
    assert len(found) == 6
    assert len(drawn) == 2


def test_tables_7_and_8() -> None:
    moved = ("the woman drove around", "woman drove around the")
    cases = [(*moved, "mean"), (*moved, "aligned"), ("drove around the store", "went around the store", "mean")]
    vectors, matches = shared("data", "googlenews-26k", "googlenews-26k-300d.bin"), []
    for one, other, composition in cases:
        metric = read_metric("vleu", vectors=vectors, threshold=0.0, composition=composition, smooth="none")
        matches.append(score([one], [other], metrics=metric).numbers.matches[3])  # type: ignore[union-attr]
    equal, less, verbs = matches
    assert 0 < less < 0.5 < equal == 1
    assert verbs == pytest.approx(0.93, abs=0.005)


def test_tables_have_their_columns() -> None:
    variants = make_variants({}, ["vleu"], ["plain", "aligned"])
    found = find_spurious(MatchedText.of_pairs(made("alternations", 40)), variants, GRID)
    for name in spurious.CREDIT_TABLES:
        records = credit_table(name, found)
        assert records.rows
        assert {len(row) for row in records.rows} == {len(records.columns)}
    rows = credit_table("summary", found).records()
    plain = next(row for row in rows if row["variant"] == "plain" and row["at"] == "given")
    equal = next(row for row in rows if row["variant"] == "aligned" and row["at"] == "recall of plain")
    assert equal["recall"] >= plain["recall"]
    assert plain["precision"] + plain["order_errors"] + plain["spurious"] == pytest.approx(100)
    assert sum(row["matches"] for row in credit_table("orders", found[:1]).records()) == plain["matches"]
    shares, trades = spurious_lines(found)
    assert [panel.title for panel in shares] == [panel.title for panel in trades] == ["plain", "aligned"]
    lines = [panel for panel in (*shares, *trades) if isinstance(panel, Lines)]
    assert [list(panel.lines) for panel in lines] == [["vleu"]] * 4
    assert lines[0].lines["vleu"][GRID.index(0.8)] == (0.8, plain["spurious"])
    # What to compare with stands behind the remedy's lines.
    plain = [{f"{name}, plain": points for name, points in lines[n].lines.items()} for n in (0, 2)]
    assert [panel.behind for panel in lines] == [{}, plain[0], {}, plain[1]]


def test_the_picture_has_the_words_that_earn_most_without_deserving() -> None:
    (found,) = find_spurious(
        MatchedText.of_pairs(made("modifiers", 100)), make_variants({}, ["vleu"], ["plain"]), GRID
    )
    words, spurious_credit = found.tally.spurious_words, found.tally.credit(found.at, 1).spurious
    # VLEU matches words with words, and none of the text differ in case alone.
    assert sum(words.values()) / SCALE == pytest.approx(spurious_credit) != 0
    assert found.example is not None
    assert words[found.example] == max(words.values())
    (panel, *_), _ = spurious_lines([found])
    assert isinstance(panel, Lines)
    assert panel.note == "spurious at 0.8, for example: {} ~ {}".format(*found.example)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([], "no aligned pairs"),
        ([pair("a", "A"), pair("a", "A", (0, 1))], r"pair 2: \[0, 1\] aligns tokens that do not exist"),
        ([pair("a", "A", (-1, 0))], "do not exist"),
        ([pair("a b", "A", (0, 0), (1, 0))], "pair 1: a token is aligned twice"),
        ([pair("a", "A B", (0, 0), (0, 1))], "aligned twice"),
        ([AlignedPair(("a b",), ("A",), (), "related")], "pair 1 has a token with a blank"),
    ],
)
def test_pairs_and_variants_that_cannot_be(bad: list[AlignedPair], message: str) -> None:
    refused(InputError, message, MatchedText.of_pairs, bad)
    refused(InputError, "unknown variant ''", make_variants, {}, ["vleu"], [""])
    refused(InputError, "take sleu, vleu or xleu", make_variants, {}, ["exact"], ["plain"])
