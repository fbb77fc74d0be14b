"""Compiled kernels beside what they stand for: text as it is split, and the digits of NumPy and SciPy."""

import unicodedata
from importlib.util import find_spec
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from refusing import refused
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from strategies import cases

from softbleu.engine.runner import RunOptions, collect_statistics
from softbleu.errors import InputError, UnknownNameError
from softbleu.kernels import LARGE, choose_kernels
from softbleu.text.coded import TokenPairs, Tokens

WHITE_SPACE = [chr(point) for point in range(0x110000) if chr(point).isspace()]
"""All characters at which `str.split` cuts."""


def kernels_of(name):
    if name == "numba":
        pytest.importorskip("numba", reason="numba (extra 'fast') is missing")
    return choose_kernels(name)


def assert_coded_as_split(lines, split=str.split):
    text = "".join(f"{line}\n" for line in lines).encode()
    coder = kernels_of("numba").coder(marks=split is not str.split)
    tokens = coder.code(text)
    expected = [split(line) for line in lines]
    assert tokens.offsets.tolist() == np.cumsum([0, *map(len, expected)]).tolist()
    words, codes = [word for line in expected for word in line], tokens.codes.tolist()
    word_of = dict(zip(codes, words, strict=True))
    assert [word_of[code] for code in codes] == words, "equal codes, equal words"
    assert len(word_of) == len(set(words)), "equal words, equal codes"
    assert coder.words() == [word_of[code] for code in range(len(word_of))]
    assert coder.words(1) == coder.words()[1:]
    # What is known keeps its codes.
    again = coder.code(text)
    assert (again.codes.tolist(), again.offsets.tolist()) == (codes, tokens.offsets.tolist())
    assert len(coder) == len(word_of)


ANY_13A = st.lists(
    st.one_of(
        st.sampled_from("ab019.,-- &;<>'\"()/é\t\r\u00a0\u2028\u3000"),
        st.sampled_from(["<skipped>", "&quot;", "&amp;", "&lt;", "&gt;", "1,000.5", "...", "日本"]),
        st.characters(codec="utf-8"),
    ),
    max_size=20,
).map("".join)
"""Letters, digits, marks, entities and anything else."""


def by_sacrebleu(line):
    return Tokenizer13a()(line.rstrip()).split()


BLANKS = [blank for blank in WHITE_SPACE if blank != "\n"]
WIDE = (*range(0xFE00, 0x10100), *range(0x1F600, 0x1F680), 0x10FFFF)
POINTS = [chr(point) for point in (*range(0x3100), *WIDE) if point != ord("\n")]
STARTS = ["a", "aa", "aaa", "é", "éa", "aé", "日本", "日", "本", "日本語", "\x00", "\x00\x00", "a\x00"]
NUMBERS = [" ".join(f"{number:x}" for number in range(start, start + 100)) for start in range(0, 100_000, 100)]
LONG = "x" * 70_000
MARKED = ["".join(word) for size in range(1, 5) for word in product("a1.-,(", repeat=size)]
# Of letters beyond Latin and Greek a few: digits, marks and blanks of all scripts are there.
SCRIPTS = [chr(point) for point in (*range(0x400), *range(0x3040, 0x30B0), *range(0x400, 0x10100), 0x1D7D8)]
SCRIPTS = [each for each in SCRIPTS if each < "\u0400" or unicodedata.category(each)[0] in "NPZ"]
SCRIPTS.remove("\n")
CODED = {
    "blanks around words": (str.split, [f"{blank}one{blank}{blank}two{blank}" for blank in BLANKS]),
    "blanks between words": (str.split, [f"a{blank}b" for blank in BLANKS]),
    "blanks alone": (str.split, [*BLANKS, "".join(BLANKS), ""]),
    # Each as a word, at the end of a line, and between two words: only white space cuts.
    "code points": (str.split, POINTS),
    "code points in words": (str.split, [f"a{point}b {point}" for point in POINTS]),
    "shared beginnings and bytes": (str.split, [" ".join(STARTS), " ".join(reversed(STARTS)), "".join(STARTS)]),
    "nothing": (str.split, []),
    "more words than the first table holds": (str.split, NUMBERS + NUMBERS[::-1]),
    "a very long word": (str.split, [f"{LONG} {LONG}y {LONG}", "x"]),
    "short words of digits, marks and letters": (by_sacrebleu, [" ".join(MARKED)]),
    "code points beside marks": (by_sacrebleu, [f"{point}.{point}-1,{point} a{point}." for point in SCRIPTS]),
}


@pytest.mark.parametrize("case", CODED)
def test_text_is_coded_as_it_is_split(case):
    assert len(WHITE_SPACE) == 29
    assert_coded_as_split(*reversed(CODED[case]))


@pytest.mark.parametrize("split", [str.split, by_sacrebleu])
@given(lines=st.lists(ANY_13A, max_size=5))
@settings(max_examples=40)
def test_any_text_is_coded_as_it_is_split(split, lines):
    assert_coded_as_split([line.replace("\n", "") for line in lines], split)


def test_kernels_are_chosen_by_size_and_machine(monkeypatch):
    assert choose_kernels("auto", LARGE - 1).NAME == "numpy"
    assert ("numpy" if find_spec("numba") is None else "numba") == choose_kernels("auto", LARGE).NAME
    refused(UnknownNameError, "unknown kernels 'cuda'; valid: auto, numpy, numba", choose_kernels, "cuda")
    monkeypatch.setattr("sys.byteorder", "big")
    assert choose_kernels("auto", LARGE).NAME == "numpy"
    refused(InputError, "does not work on this machine", choose_kernels, "numba")


SEVERAL = [(70, 50), (1, 80), (0, 3), (40, 60)], [each / 100 for each in range(101)], 3


@given(
    lengths=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=5),
    values=st.sampled_from([[0.0, 1.0], [0.0, 0.3, 0.5, 1.0], list(np.linspace(0, 1, 50))]),
    order=st.integers(1, 4),
    greedy=st.sampled_from([0.0, 0.5, 1.0]),
    seed=st.integers(0, 2**32 - 1),
)
@example(*SEVERAL, 0.0, 7)
@example(*SEVERAL, 0.5, 7)
@settings(max_examples=20)
def test_ties_go_the_same_way(lengths, values, order, greedy, seed):
    rows, columns = np.array([(0, 0), *lengths]).cumsum(axis=0).T
    draw, pairs = np.random.default_rng(seed), TokenPairs(rows, columns)
    similarities = draw.choice(values, int(pairs.cells[-1]))
    sides = [draw.choice([0.0, 0.5, 1.0, 2.25], int(bounds[-1])) for bounds in (pairs.rows, pairs.columns)]
    kernels = [kernels_of("numpy"), kernels_of("numba")]
    one, other = (
        each.matched_weights(similarities.copy(), pairs, *sides, order, greedy).tolist() for each in kernels
    )
    assert one == other


@given(
    case=cases(assignment="exact-first", longest=9, longest_reference=9),
    consumption=st.sampled_from(["unit", "similarity"]),
    composition=st.sampled_from(["mean", "sif", "aligned"]),
)
@settings(max_examples=7)
def test_kernels_find_the_same_soft_matches(case, consumption, composition):
    def rows_by(kernels):
        kernels_of(kernels)
        (found,) = collect_statistics(case.segments, [case.measure], RunOptions(kernels=kernels), keep_rows=True)
        return found.rows.tolist()

    case = case.with_options(consumption=consumption, composition=composition)
    assert rows_by("numpy") == rows_by("numba")


@pytest.mark.parametrize("name", ["numpy", "numba"])
def test_codes_as_great_as_int32_holds_are_counted(name):
    last = 2**31 - 1
    line = Tokens(np.array([last, last - 1, last], np.int32), np.array([0, 3]))
    assert kernels_of(name).clipped_counts(line, line, np.array([0, 1]), 4).tolist() == [[3, 2, 1, 0]]
