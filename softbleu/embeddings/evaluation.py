"""How good a set of word vectors is: agreement with human judgements of similarity, and coverage of text."""

from __future__ import annotations

import csv
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from softbleu.embeddings.measure import unit_rows
from softbleu.embeddings.vectors import VectorCase, VectorSource
from softbleu.errors import InputError, UnknownNameError, VectorError

BENCHMARKS = {"WordSim-353": "wordsim353.tsv", "SimLex-999": "simlex999.txt"}
"""Judgements of similarity as gensim carries them: Finkelstein et al. (2002), Hill, Reichart and Korhonen (2015)."""

_FEWEST_PAIRS = 3
FEWEST_OF_BENCHMARK = 20  # Pairs of a benchmark of which a correlation says something of the vectors
JudgedPair = tuple[str, str, float]


@dataclass(frozen=True)
class RankAgreement:
    """Rank correlation of cosines with human judgements, over the pairs of which both words have a vector."""

    spearman: float | None
    """Spearman's rank correlation, -1 to 1; None where it is not defined: fewer than 3 pairs, or all equal."""
    pairs: int  # How many pairs entered
    missing: tuple[str, ...]  # Those that did not, as ``one–other``


@dataclass(frozen=True)
class TextCoverage:
    """How much of a text has a vector."""

    tokens: int
    covered: int  # All tokens, and those with a vector
    types: int
    covered_types: int  # The same of different words
    missing: Counter[str]  # How often each word without a vector occurs

    @property
    def share(self) -> float:
        """Covered tokens over all tokens."""
        return self.covered / self.tokens

    @property
    def type_share(self) -> float:
        """Covered words over all different words."""
        return self.covered_types / self.types


@dataclass(frozen=True)
class Evaluation:
    """All that was measured about a set."""

    name: str
    fingerprint: str
    dimension: int  # Of the vectors
    agreements: Mapping[str, RankAgreement]  # By the name of the benchmark
    coverages: Mapping[str, TextCoverage]  # By the name of the text

    @property
    def notes(self) -> list[str]:
        """Say of which benchmarks too few pairs are in the vocabulary, as of sets that are not English."""
        return [
            f"{name}: {agreement.pairs} of {agreement.pairs + len(agreement.missing)} pairs are in the vocabulary, "
            "too few for a correlation: the judgements are about English words"
            for name, agreement in self.agreements.items()
            if agreement.pairs < FEWEST_OF_BENCHMARK
        ]


def read_benchmark(name: str) -> list[JudgedPair]:
    """Read pairs of words with their mean judgement, as they are written.

    Raises `UnknownNameError`: the name is no key of `BENCHMARKS`; `VectorError`: this gensim does not carry the file.

    >>> pairs = read_benchmark("SimLex-999")
    >>> len(pairs), pairs[0]
    (999, ('old', 'new', 1.58))
    """
    if name not in BENCHMARKS:
        raise UnknownNameError("benchmark", name, BENCHMARKS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from gensim.test.utils import datapath

    path = Path(datapath(BENCHMARKS[name]))
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise VectorError(f"{path}: cannot be read ({error.strerror}); install gensim from PyPI") from error
    lines = [line for line in text.split("\n") if line.strip() and not line.startswith("#")]
    return [(first, second, float(score)) for first, second, score, *_ in csv.reader(lines, delimiter="\t")]


def rank_agreement(pairs: Sequence[JudgedPair], words: Sequence[str], rows: NDArray[np.floating]) -> RankAgreement:
    """Agreement of vectors, one row per word, with judgements of pairs of words.

    >>> pairs = [("cat", "dog", 9.0), ("cat", "hat", 5.0), ("dog", "hat", 1.0), ("cat", "sun", 0.0)]
    >>> rank_agreement(pairs, ["cat", "dog", "hat"], np.array([[2.0, 1.0], [3.0, 1.0], [1.0, 2.0]]))
    RankAgreement(spearman=1.0, pairs=3, missing=('cat–sun',))
    """
    place = {word: index for index, word in enumerate(words)}
    covered = [pair for pair in pairs if pair[0] in place and pair[1] in place]
    missing = tuple(f"{first}–{second}" for first, second, _ in pairs if not {first, second} <= place.keys())
    left = unit_rows(rows[[place[first] for first, _, _ in covered]])
    right = unit_rows(rows[[place[second] for _, second, _ in covered]])
    return RankAgreement(
        _spearman(np.einsum("ij,ij->i", left, right), [score for *_, score in covered]), len(covered), missing
    )


def _spearman(cosines: NDArray[np.float64], scores: Sequence[float]) -> float | None:
    from scipy.stats import spearmanr

    if len(scores) < _FEWEST_PAIRS or np.ptp(cosines) == 0 or np.ptp(scores) == 0:
        return None
    return float(spearmanr(cosines, scores)[0])


def measure_agreement(source: VectorSource, benchmark: str, case: VectorCase = "fallback") -> RankAgreement:
    """Agreement of any vectors with a benchmark; below `FEWEST_OF_BENCHMARK` pairs there is no correlation.

    >>> from softbleu.embeddings import open_vectors
    >>> agreement = measure_agreement(open_vectors("glove-6b-100d"), "WordSim-353")
    >>> round(agreement.spearman, 4), agreement.pairs
    (0.6548, 353)
    """
    pairs = read_benchmark(benchmark)
    words = list(dict.fromkeys(word for pair in pairs for word in pair[:2]))
    vectors = source.select(words, case)
    covered = [word for word, known in zip(words, vectors.known, strict=True) if known]
    agreement = rank_agreement(pairs, covered, vectors.rows[vectors.known])
    return agreement if agreement.pairs >= FEWEST_OF_BENCHMARK else replace(agreement, spearman=None)


def count_coverage(counts: Counter[str], known: Iterable[bool]) -> TextCoverage:
    """Coverage of a text from how often its words occur and whether each, in that order, has a vector.

    >>> coverage = count_coverage(Counter(["a", "rose", "is", "a", "rose"]), [True, True, False])
    >>> coverage.share, coverage.covered_types, coverage.missing
    (0.8, 2, Counter({'is': 1}))
    """
    missing = Counter({word: count for (word, count), has in zip(counts.items(), known, strict=True) if not has})
    tokens, types = counts.total(), len(counts)
    return TextCoverage(tokens, tokens - missing.total(), types, types - len(missing), missing)


def measure_coverage(
    source: VectorSource, segments: Iterable[Sequence[str]], case: VectorCase = "fallback"
) -> TextCoverage:
    """Coverage of a text, given as lists of tokens, by any vectors; a row of zeros counts as no vector."""
    counts: Counter[str] = Counter()
    for segment in segments:
        counts.update(segment)
    if not counts:
        raise InputError("no coverage can be measured: the text has no tokens")
    known: list[bool] = source.select(list(counts), case).known.tolist()
    return count_coverage(counts, known)


def evaluate_vectors(
    source: VectorSource, texts: Mapping[str, Iterable[Sequence[str]]] | None = None, case: VectorCase = "fallback"
) -> Evaluation:
    """Measure the agreement of vectors with every benchmark, and their coverage of texts.

    Texts are tokenized segments by the name of the text. Raises `InputError`: a text without tokens, by its name.
    """
    coverages = {}
    for name, segments in (texts or {}).items():
        try:
            coverages[name] = measure_coverage(source, segments, case)
        except InputError as error:
            raise InputError(f"{name}: ", *error.args) from None
    agreements = {name: measure_agreement(source, name, case) for name in BENCHMARKS}
    return Evaluation(source.name, source.fingerprint, source.dimension, agreements, coverages)


def evaluation_card(evaluation: Evaluation, facts: Mapping[str, object]) -> str:
    r"""Write the agreements of an evaluation as a Markdown page, after facts about the set.

    >>> card = evaluation_card(Evaluation("tiny", "0" * 64, 2, {"SimLex-999": RankAgreement(0.25, 990, ())}, {}), {})
    >>> card.splitlines()[0], card.splitlines()[-1]
    ('# tiny: evaluation card', '| SimLex-999 | 0.2500 | 990 | 0 |')
    """
    lines = [f"# {_cell(evaluation.name)}: evaluation card", "", "| what | measure |", "| --- | --- |"]
    shown = {"dimension": evaluation.dimension, "SHA-256": f"`{evaluation.fingerprint}`", **facts}
    lines += [f"| {name} | {_cell(value)} |" for name, value in shown.items()]
    lines += ["", "Spearman's rank correlation of cosines with human judgements, over the pairs with both words:", ""]
    lines += ["| judgements | correlation | pairs | missing pairs |", "| --- | --- | --- | --- |"]
    for name, agreement in evaluation.agreements.items():
        value = "–" if agreement.spearman is None else f"{agreement.spearman:.4f}"
        lines.append(f"| {name} | {value} | {agreement.pairs} | {len(agreement.missing)} |")
    lines += [line for note in evaluation.notes for line in ("", note)]
    return "\n".join(lines) + "\n"


def _cell(value: object) -> str:
    text = f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
    return " ".join(text.split()).replace("|", "\\|")
