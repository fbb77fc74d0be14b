from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from softbleu.embeddings import evaluation, open_vectors
from softbleu.embeddings.evaluation import evaluate_vectors, measure_agreement, measure_coverage, read_benchmark
from softbleu.errors import InputError, UnknownNameError

ROOM = Path(__file__).resolve().parents[2] / "embeddings"


@pytest.mark.parametrize(("name", "pairs"), [("WordSim-353", 353), ("SimLex-999", 999)])
def test_benchmarks(name, pairs):
    found = read_benchmark(name)
    assert len(found) == pairs
    assert all(first and second and 0 <= score <= 10 for first, second, score in found)
    assert (("Jerusalem", "Israel", 8.46) in found) == (name == "WordSim-353")
    with pytest.raises(UnknownNameError, match="did you mean 'SimLex-999'"):
        read_benchmark("SimLex-99")
    nothing = measure_agreement(open_vectors({"zzyzx": [1.0]}), name)
    assert (nothing.spearman, nothing.pairs, len(nothing.missing)) == (None, 0, pairs)


def test_default_vectors_as_on_their_card():
    card = (ROOM / "glove-6b-100d" / "card.md").read_text(encoding="utf-8")
    missing = ("orthodontist–dentist", "doctor–orthodontist", "disorganize–organize")
    for name, *figures in (("WordSim-353", 0.6548, 353, ()), ("SimLex-999", 0.3375, 996, missing)):
        found = measure_agreement(open_vectors("glove-6b-100d"), name)
        assert replace(found, spearman=round(found.spearman, 4)) == evaluation.RankAgreement(*figures)
        assert "| {} | {} |".format(*figures) in card


numbers = st.integers(-4, 4).map(float)


@given(
    st.lists(st.tuples(numbers, numbers).filter(any), min_size=3, max_size=6),
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), numbers), min_size=3, max_size=12),
)
def test_agreement_is_the_correlation_of_ranks(rows, judged):
    words = [f"w{number}" for number in range(len(rows))]
    pairs = [(f"w{one}", f"w{other}", score) for one, other, score in judged]
    found = evaluation.rank_agreement(pairs, words, np.array(rows))
    known = [pair for pair in pairs if pair[0] in words and pair[1] in words]
    missing = tuple(f"{one}–{other}" for one, other, _ in pairs if one not in words or other not in words)
    assert (found.pairs, found.missing) == (len(known), missing)
    unit = {word: np.array(row) / np.hypot(*row) for word, row in zip(words, rows, strict=True)}
    cosines = [float(np.einsum("i,i->", unit[one], unit[other])) for one, other, _ in known]
    scores = [score for *_, score in known]
    if found.spearman is None:
        assert len(known) < 3 or len(set(scores)) == 1 or np.ptp(cosines) < 1e-12
    # Ties that rounding may break either way are left out.
    elif all(abs(a - b) > 1e-9 for place, a in enumerate(cosines) for b in cosines[:place]):
        assert found.spearman == pytest.approx(spearmanr(cosines, scores)[0], abs=1e-12)


def test_written_forms_come_first():
    """A cased set is asked for Jerusalem before jerusalem."""
    pairs = [pair for pair in read_benchmark("WordSim-353") if "Jerusalem" in pair]
    words = {word: [1.0, place] for place, word in enumerate({word for pair in pairs for word in pair[:2]})}
    assert measure_agreement(open_vectors(words), "WordSim-353").pairs == len(pairs)
    lowered = {word.lower(): row for word, row in words.items()}
    assert measure_agreement(open_vectors(lowered), "WordSim-353").pairs == len(pairs)
    assert measure_agreement(open_vectors(lowered), "WordSim-353", "exact").pairs == 0


def test_coverage_of_a_text():
    source = open_vectors({"a": [1.0, 0.0], "rose": [0.0, 1.0], "is": [0.0, 0.0]})
    found = measure_coverage(source, [["A", "rose", "is"], [], ["a", "rose", "too"]])
    # A row of zeros counts as no vector.
    assert found == evaluation.TextCoverage(6, 4, 5, 3, Counter({"is": 1, "too": 1}))
    assert (found.share, found.type_share) == (4 / 6, 3 / 5)
    assert measure_coverage(source, [["A", "rose"]], "exact").missing == Counter({"A": 1})
    with pytest.raises(InputError, match=r"empty\.txt: no coverage"):
        evaluate_vectors(open_vectors({"a": [1.0]}), {"empty.txt": [[], []]})


def test_card():
    source = open_vectors({"a|b": [1.0, 0.0], "cat": [0.0, 1.0]})
    found = evaluate_vectors(source)
    facts = {"trained on": "one\n| two", "tokens": 12345, "lowercase": True}
    card = evaluation.evaluation_card(found, facts)
    expected = {
        f"| SHA-256 | `{source.fingerprint}` |",
        "| trained on | one \\| two |",
        "| tokens | 12,345 |",
        "| lowercase | True |",
    }
    assert expected | {"| SimLex-999 | – | 0 | 999 |"} <= set(card.splitlines())
    assert "SimLex-999: 0 of 999 pairs are in the vocabulary" in card
