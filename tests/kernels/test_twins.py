"""All kernels against dictionaries and `str.split`; every assertion runs on each."""

import unicodedata
from collections import Counter
from importlib.util import find_spec
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracles import soft
from refusing import refused
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from strategies import cases

import softbleu
from softbleu.engine.encode import KnownLines
from softbleu.engine.runner import RunOptions, collect_statistics
from softbleu.errors import InputError, UnknownNameError
from softbleu.kernels import LARGE, choose_kernels, numpy_backend, positions
from softbleu.kernels.pairs import TokenPairs
from softbleu.text.tokens import Tokens, Vocabulary, make_tokenizer

WHITE_SPACE = [chr(point) for point in range(0x110000) if chr(point).isspace()]
"""All characters at which `str.split` cuts."""


@pytest.fixture(params=["numpy", "numba"])
def kernels(request):
    return kernels_of(request.param)


def kernels_of(name):
    if name == "numba":
        pytest.importorskip("numba", reason="numba (extra 'fast') is missing")
    return choose_kernels(name)


def flat(lines):
    codes = np.array([code for line in lines for code in line], np.int32)
    return codes, np.cumsum([0, *map(len, lines)], dtype=np.int64)


def clipped(kernels, candidates, references, order):
    counts = kernels.clipped_counts(
        Tokens(*flat(candidates)),
        Tokens(*flat([line for lines in references for line in lines])),
        np.cumsum([0, *map(len, references)], dtype=np.int64),
        order,
    )
    assert counts.dtype == np.int64
    assert counts.shape == (len(candidates), order)
    return counts.tolist()


def clipped_by_counters(candidates, references, order):
    rows = []
    for candidate, lines in zip(candidates, references, strict=True):
        row = []
        for n in range(1, order + 1):
            limits: Counter[tuple[int, ...]] = Counter()
            for line in lines:
                limits |= Counter(ngrams(line, n))
            row.append((Counter(ngrams(candidate, n)) & limits).total())
        rows.append(row)
    return rows


def ngrams(line, n):
    return [tuple(line[start : start + n]) for start in range(len(line) - n + 1)]


@st.composite
def coded_segments(draw):
    line = st.lists(st.integers(0, 3), max_size=9)
    size = draw(st.integers(0, 5))
    candidates = draw(st.lists(line, min_size=size, max_size=size))
    texts = st.lists(line, min_size=1, max_size=4)
    return candidates, draw(st.lists(texts, min_size=size, max_size=size))


@given(segments=coded_segments(), order=st.integers(1, 8), name=st.sampled_from(["numpy", "numba"]))
@settings(max_examples=60)
def test_clipped_counts(segments, order, name):
    expected = clipped_by_counters(*segments, order)
    assert clipped(kernels_of(name), *segments, order) == expected
    alone = [clipped(kernels_of(name), [one], [texts], order) for one, texts in zip(*segments, strict=True)]
    assert [row for rows in alone for row in rows] == expected


@given(
    segments=coded_segments(),
    order=st.integers(1, 8),
    name=st.sampled_from(["numpy", "numba"]),
    table=st.sampled_from([0, 9, 1 << 26]),
)
@settings(max_examples=50)
def test_clipped_counts_of_long_segments(segments, order, name, table):
    expected = clipped_by_counters(*segments, order)
    kernels = kernels_of(name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numpy_backend, "LONG", 0)
        patch.setattr(numpy_backend, "SHORT", 0)
        patch.setattr("softbleu.kernels.numpy_backend._TABLE", table)
        if name == "numba":
            patch.setattr("softbleu.kernels.numba_ngrams.LONG", 0)
        assert clipped(kernels, *segments, order) == expected


def test_long_lines_and_great_codes(kernels):
    choose = np.random.default_rng(5)
    few, many = choose.integers(0, 3, 2000).tolist(), choose.integers(0, 3000, 2000).tolist()
    candidates = [few, [0] * 10_000, many, [7]]
    references = [[few[::-1], few[:500]], [[0] * 9999], [many[::-1], few], [many]]
    expected = clipped_by_counters(candidates, references, 4)
    assert clipped(kernels, candidates, references, 4) == expected
    assert expected[1] == [9999, 9998, 9997, 9996]
    last = 2**31 - 1
    line = [last, last - 1, last]
    assert clipped(kernels, [line], [[line]], 4) == [[3, 2, 1, 0]]


class OfLines:
    """What codes text where kernels do not, asked as they are."""

    def __init__(self, *, marks=False):
        self._lines = KnownLines(make_tokenizer("13a" if marks else "none"))

    def __len__(self):
        return len(self._lines.vocabulary)

    def words(self, start=0):
        return list(self._lines.vocabulary)[start:]

    def code(self, text):
        return self._lines.encode(text.decode().split("\n")[:-1])


def coder_of(kernels, *, marks=False):
    return (kernels.coder or OfLines)(marks=marks)


def assert_coded_as_split(kernels, lines, split=str.split):
    text = "".join(f"{line}\n" for line in lines).encode()
    coder = coder_of(kernels, marks=split is not str.split)
    tokens = coder.code(text)
    codes, offsets = tokens.codes, tokens.offsets
    expected = [split(line) for line in lines]
    assert offsets.tolist() == np.cumsum([0, *map(len, expected)]).tolist()
    words = [word for line in expected for word in line]
    assert len(codes) == len(words)
    word_of = dict(zip(codes.tolist(), words, strict=True))
    assert [word_of[code] for code in codes.tolist()] == words, "equal codes, equal words"
    assert len(word_of) == len(set(words)), "equal words, equal codes"
    assert coder.words() == [word_of[code] for code in range(len(word_of))]
    assert coder.words(1) == coder.words()[1:]
    # What is known keeps its codes.
    again = coder.code(text)
    assert again.codes.tolist() == codes.tolist()
    assert again.offsets.tolist() == offsets.tolist()
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
def test_text_is_coded_as_it_is_split(kernels, case):
    assert len(WHITE_SPACE) == 29
    assert_coded_as_split(kernels, *reversed(CODED[case]))


@pytest.mark.parametrize("split", [str.split, by_sacrebleu])
@given(lines=st.lists(ANY_13A, max_size=5), name=st.sampled_from(["numpy", "numba"]))
@settings(max_examples=80)
def test_any_text(split, lines, name):
    assert_coded_as_split(kernels_of(name), [line.replace("\n", "") for line in lines], split)


def test_choosing(monkeypatch):
    assert choose_kernels("auto", LARGE - 1).NAME == "numpy"
    assert ("numpy" if find_spec("numba") is None else "numba") == choose_kernels("auto", LARGE).NAME
    refused(UnknownNameError, "unknown kernels 'cuda'; valid: auto, numpy, numba", choose_kernels, "cuda")
    monkeypatch.setattr("sys.byteorder", "big")
    assert choose_kernels("auto", LARGE).NAME == "numpy"
    refused(InputError, "does not work on this machine", choose_kernels, "numba")


def positions_of(candidates, references):
    vocabulary = Vocabulary()
    coded = vocabulary.encode([text.split() for text in candidates])
    offered = vocabulary.encode([text.split() for texts in references for text in texts])
    return positions.Positions.of(
        coded.codes, coded.lengths, offered.codes, offered.lengths, np.array([len(texts) for texts in references])
    )


@pytest.mark.parametrize("systems", [1, 3])
@pytest.mark.parametrize("compact", [0, 1 << 20])
@pytest.mark.parametrize("table", [0, 50, 1 << 24])
def test_ids_tell_ngrams_apart_with_any_table(table, compact, systems, monkeypatch):
    """Equal ids, equal n-grams of one segment; without room for a table they are found by sorting."""
    monkeypatch.setattr(positions, "_TABLE", table)
    monkeypatch.setattr(positions, "_COMPACT", compact)
    choose = np.random.default_rng(9)

    def line():
        return " ".join(choose.choice(["a", "b", "c"], choose.integers(0, 9)))

    candidates = [line() for _ in range(12 * systems)]
    references = [[line() for _ in range(choose.integers(1, 4))] for _ in range(12)]
    lines = [*candidates, *(text for texts in references for text in texts)]
    owners = [*range(12)] * systems + [number for number, texts in enumerate(references) for _ in texts]
    for n, (starts, ids) in enumerate(positions.ngram_ids(positions_of(candidates, references), 4), 1):
        expected = []
        for owner, text in zip(owners, lines, strict=True):
            expected += [(owner, ngram) for ngram in soft.ngrams(text.split(), n)]
        assert len(starts) == len(ids) == len(expected)
        pairs = set(zip(ids.tolist(), expected, strict=True))
        assert len(pairs) == len(set(ids.tolist())) == len(set(expected))
        bounds = pairwise(np.cumsum([0, *(len(text.split()) for text in lines)]).tolist())
        assert starts.tolist() == [start for first, last in bounds for start in range(first, last - n + 1)]


def test_many_references_of_which_few_have_an_ngram(monkeypatch):
    draw = np.random.default_rng(4)
    texts = ["a b c a b a a h"], [[" ".join(draw.choice(list("abcdefgh"), 6)) for _ in range(60)]]
    expected = softbleu.score(*texts).numbers
    places = np.array([3, 1, 3, 0, 1, 1]), np.arange(10, 16), 4
    assert positions.first_places(*places).tolist() == [10, 11, 10, 13, 11, 11]
    monkeypatch.setattr(positions, "_TABLE", 0)
    assert softbleu.score(*texts).numbers == expected
    assert expected.matches[0] > 0
    assert positions.first_places(*places).tolist() == [10, 11, 10, 13, 11, 11]


# what compares words and pairs n-grams, compiled: the digits of NumPy and SciPy


def both():
    return [kernels_of("numpy"), kernels_of("numba")]


LENGTHS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=5)


@given(
    lengths=LENGTHS,
    values=st.sampled_from([[0.0, 1.0], [0.0, 0.3, 0.5, 1.0], list(np.linspace(0, 1, 50))]),
    order=st.integers(1, 4),
    greedy=st.sampled_from([0.0, 0.5, 1.0]),
    seed=st.integers(0, 2**32 - 1),
)
@example([(70, 50), (1, 80), (0, 3), (40, 60)], [each / 100 for each in range(101)], 3, 0.0, 7)
@example([(70, 50), (1, 80), (0, 3), (40, 60)], [each / 100 for each in range(101)], 3, 0.5, 7)
@settings(max_examples=20)
def test_ties_go_the_same_way(lengths, values, order, greedy, seed):
    rows, columns = np.array([(0, 0), *lengths]).cumsum(axis=0).T
    draw, pairs = np.random.default_rng(seed), TokenPairs(rows, columns)
    similarities = draw.choice(values, int(pairs.cells[-1]))
    sides = [draw.choice([0.0, 0.5, 1.0, 2.25], int(bounds[-1])) for bounds in (pairs.rows, pairs.columns)]
    one, other = (each.matched_weights(similarities.copy(), pairs, *sides, order, greedy).tolist() for each in both())
    assert one == other


@given(
    case=cases(assignment="exact-first", longest=9, longest_reference=9),
    consumption=st.sampled_from(["unit", "similarity"]),
    composition=st.sampled_from(["mean", "sif", "aligned"]),
)
@settings(max_examples=7)
def test_soft_matches(case, consumption, composition):
    case = case.with_options(consumption=consumption, composition=composition)
    one, other = (rows_by(name, case.segments, case.measure) for name in ("numpy", "numba"))
    assert one == other


def rows_by(kernels, segments, measure):
    kernels_of(kernels)
    (statistics,) = collect_statistics(segments, [measure], RunOptions(kernels=kernels), keep_rows=True)
    return statistics.rows.tolist()
