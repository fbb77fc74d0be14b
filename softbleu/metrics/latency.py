"""Latency of simultaneous translation: how far the words of an output lag behind its source.

Each function takes the delays of one segment, that is how much of the source was read before each word was given,
and the lengths of source and reference. Delays and the length of the source have one unit: milliseconds of speech, or
words of a source text. A lag is that behind an ideal translator that gives its words evenly as the source goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from softbleu.config.declare import setting
from softbleu.config.languages import is_unspaced
from softbleu.corpora.corpus import Corpus, Segments
from softbleu.errors import InputError, Parameter, counted
from softbleu.metrics.base import WholeMetric
from softbleu.metrics.requirements import Requirements, lacking
from softbleu.metrics.score import Score, ScoreColumns, column
from softbleu.text.tokens import SentencePiece

DEGENERATE = 20
"""Points between two shares of `Yaal` above which a policy is likely degenerate, as in OmniSTEval."""

_ROUNDING = 1e-6  # Milliseconds, or words
_MINUTE = 60_000  # Milliseconds
_SPOKEN = 300  # Milliseconds of a word of speech in Average Token Delay

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from softbleu.corpora.logs import Emission, Log
    from softbleu.kernels import Kernels
    from softbleu.matching.ngrams import Chunk, WordTable
    from softbleu.types import DelayUnit, Fields, Floats, Integers

    Formula = Callable[[ArrayLike, float, int], float]
    """Computes a latency from delays and the lengths of source and reference."""


def average_lagging(delays: ArrayLike, source_length: float, reference_length: int) -> float:
    """Compute Average Lagging (AL; Ma et al. 2019: STACL, section 4.2).

    AL = 1/τ Σ dᵢ − (i − 1)·|x| / |y*|, with i from 1 to τ, where dᵢ are the delays, |x| and |y*| the lengths of
    source and reference, and τ is the first word that was given when the whole source was read. SimulEval (Ma et al.
    2020) took the length of the reference instead of the output's. A first word after the end of the source has its
    delay as AL. Empty outputs have none (NaN).

    >>> average_lagging([1, 2, 3, 4], source_length=4, reference_length=4)
    1.0
    """
    return _lagging(delays, source_length, reference_length)


def length_adaptive_average_lagging(delays: ArrayLike, source_length: float, reference_length: int) -> float:
    """Compute Length-Adaptive Average Lagging (LAAL; Papi et al. 2022: Over-Generation Cannot Be Rewarded).

    It is AL with max(|y|, |y*|) in the place of |y*|: words beyond the reference's length do not lower it (see also
    Polák et al. 2022).

    >>> average_lagging([2, 2, 4, 4], 4, 2), length_adaptive_average_lagging([2, 2, 4, 4], 4, 2)
    (0.666..., 1.666...)
    """
    return _lagging(delays, source_length, max(reference_length, np.size(delays)))


def average_proportion(delays: ArrayLike, source_length: float, reference_length: int) -> float:
    """Compute Average Proportion (AP; Cho & Esipova 2016: Can NMT Do Simultaneous Translation).

    AP = Σ dᵢ / (|x|·|y*|) is the share of the source that is read, on average, before a word is given.

    >>> average_proportion([1, 2, 3, 4], source_length=4, reference_length=4)
    0.625
    """
    times = np.asarray(delays, np.float64)
    return float(times.sum() / (source_length * reference_length)) if len(times) else np.nan


def differentiable_average_lagging(delays: ArrayLike, source_length: float, reference_length: int = 0) -> float:
    """Compute Differentiable Average Lagging (DAL; Cherry & Foster 2019: Thinking Slow about Latency).

    DAL = 1/|y| Σ gᵢ − (i − 1)·|x| / |y|, where g₁ = d₁ and gᵢ = max(dᵢ, gᵢ₋₁ + |x| / |y|): each word takes its time,
    so that a lag once made remains. The length of the reference does not count.

    >>> differentiable_average_lagging([4, 4, 4, 4], source_length=4)
    4.0
    """
    times = np.asarray(delays, np.float64)
    if not len(times):
        return np.nan
    # With gᵢ − (i − 1)·|x| / |y| as lag of a word, no lag is less than the one before.
    return float(np.maximum.accumulate(times - _ideal(len(times), source_length / len(times))).mean())


def yet_another_average_lagging(
    delays: ArrayLike, source_length: float, reference_length: int, recording_end: float | None = None
) -> float:
    """Compute Yet Another Average Lagging (YAAL; Polák et al. 2025: Better Late Than Never).

    It is LAAL of the words that were given before the end of the source alone. Of a segment of a longer recording
    these are the words before `recording_end`, which counts from the beginning of the segment (LongYAAL). Outputs
    without these words have none (NaN).

    >>> yet_another_average_lagging([2, 2, 4, 4], 4, 4), yet_another_average_lagging([4, 4], 4, 2)
    (1.5, nan)
    """
    times = np.asarray(delays, np.float64)
    given = _words_before(times, source_length if recording_end is None else recording_end)
    length = max(reference_length, len(times))
    return _mean_lag(times[:given], source_length / length) if given else np.nan


def average_token_delay(delays: ArrayLike, computing: ArrayLike = (), *, text: bool = False) -> float:
    """Compute Average Token Delay (ATD; Kano et al. 2023: Average Token Delay).

    ATD is the mean time between the end of a word and the end of the source token that it corresponds to. This is the
    source token of the same number, or an earlier one where chunks of output before had more words than chunks of
    source, or else the last token that was read. Tokens of speech take 300 ms, words of text a step, and words that a
    system writes during speech no time.

    Parameters
    ----------
    delays
        How much of the source was read before each word.
    computing
        Time of computing since the word before, of each word; empty: none.
    text
        Whether the source is text, which is read word by word.

    Examples
    --------
    >>> average_token_delay([600, 600, 900])
    100.0
    >>> average_token_delay([2, 3, 4, 4], text=True)
    2.0
    """
    times = np.asarray(delays, np.float64)
    if not len(times):
        return np.nan
    size = 1 if text else _SPOKEN
    read, chunks, words = np.unique(times, return_inverse=True, return_counts=True)
    steps = np.diff(read, prepend=0)
    sizes = np.ceil(np.maximum(steps, 0) / size).astype(int)
    tokens = np.cumsum(sizes)
    ahead = np.cumsum(words) - words - (tokens - sizes)  # Words before a chunk, beyond the source tokens before it
    spoken = np.minimum(np.arange(1, len(times) + 1) - np.maximum(ahead, 0)[chunks], tokens[chunks])
    owner = np.repeat(np.arange(len(read)), sizes)
    place = np.arange(len(owner)) - (tokens - sizes)[owner] + 1
    heard = np.minimum((read - steps)[owner] + size * place, read[owner])
    taken = np.full(len(times), float(text)) + (np.asarray(computing, np.float64) if np.size(computing) else 0)
    before = np.cumsum(taken) - taken
    said = np.maximum.accumulate(np.maximum(times, 0) - before) + before + taken
    return float((said - np.concatenate([[0], heard])[spoken]).mean())


def _words_before(delays: Floats, end: float) -> int:
    """Count the words before the first one at the end or later."""
    late = np.flatnonzero(delays >= end)
    return int(late[0]) if len(late) else len(delays)


def _lagging(delays: ArrayLike, source_length: float, length: int) -> float:
    """Compute AL with this length of the ideal translation."""
    times = np.asarray(delays, np.float64)
    if not len(times):
        return np.nan
    if times[0] > source_length:
        return float(times[0])
    tau = min(_words_before(times, source_length) + 1, len(times))
    return _mean_lag(times[:tau], source_length / length)


def _mean_lag(delays: Floats, step: float) -> float:
    """Compute the mean lag behind an ideal translator that gives a word in each step."""
    return float((delays - _ideal(len(delays), step)).mean())


def _ideal(count: int, step: float) -> Floats:
    return np.arange(count, dtype=np.float64) * step


@dataclass(frozen=True)
class LatencyScore(Score):
    """A latency: the mean over the outputs that have one."""

    outputs: int = column("", "outputs with a latency", "count")


@dataclass(frozen=True)
class YaalScore(LatencyScore):
    """YAAL, and two shares that should be about equal: see `Yaal`."""

    simultaneous: float = column("SWF", "words before the end of the source %", "per cent")
    expected: float = column("EFSW", "share of the source after the mean latency %", "per cent")


@dataclass(frozen=True, repr=False)
class LogMetric(WholeMetric):
    """A metric of what a log says beside its texts; less is better."""

    higher_is_better: ClassVar[bool] = False
    requires: ClassVar[Requirements] = Requirements(references=False, delays=True, words=False)
    documents: ClassVar[Sequence[str]] = ()

    def unread(self, settings: Fields) -> Collection[str]:
        """Name settings of text, unless they are the default ones, which signatures have."""
        usual = {"tokenize": "none", "lowercase": False, "normalize_unicode": None}
        named = {name: getattr(settings[name], "name", settings[name]) for name in usual if name in settings}
        return [name for name, value in named.items() if value != usual[name]]

    def read_rows(self, corpus: Corpus, systems: Sequence[str]) -> Floats:
        """Compute rows of segments: (systems, segments, k)."""
        if not isinstance(corpus, Segments) or not corpus.logs:
            raise lacking(self.name, "delays")
        logs = [corpus.logs[system] for system in systems]
        references = corpus.references
        if corpus.against == "source":  # Which stands in the place of references for other metrics
            references = [(one.reference,) if one.reference else () for one in logs[0].emissions]
        return np.array(
            [[self._row(*pair, log.unit) for pair in zip(log.emissions, references, strict=True)] for log in logs],
            np.float64,
        )

    def _row(self, emission: Emission, references: Sequence[str], unit: DelayUnit) -> list[float]:
        """Compute the row of a segment."""
        raise NotImplementedError

    def statistics(self, chunk: Chunk, words: WordTable | None, kernels: Kernels) -> Integers:
        """Refuse text alone."""
        raise lacking(self.name, "delays")


@dataclass(frozen=True, repr=False)
class Latency(LogMetric):
    """A latency of each segment of a log, of which a corpus has the mean; less is better.

    A row has a latency and a count, 0 where a segment has none.
    """

    computation_aware: bool = setting(False, "Add the time of computing to delays", signed_if_set=True)
    formula: ClassVar[Formula]
    usual: ClassVar[str] = ""

    @property
    def label(self) -> str:
        """Usual name of the latency."""
        return (self.usual or self.name.upper()) + " (CA)" * self.computation_aware

    def latency(self, delays: Floats, source_length: float, reference_length: int, emission: Emission) -> float:
        """Compute the latency of a segment."""
        return type(self).formula(delays, source_length, reference_length)

    def _row(self, emission: Emission, references: Sequence[str], unit: DelayUnit) -> list[float]:
        """Compute the row of a segment."""
        latency = np.nan
        if len(emission.delays):
            delays, length = self._times(emission)
            counts = self._lengths(emission, references, unit)
            nearest = min(counts, key=lambda count: (abs(count - len(delays)), count), default=len(delays))
            latency = self.latency(delays, length, max(1, nearest), emission)
        return [0.0, 0.0] if np.isnan(latency) else [latency, 1.0]

    def _lengths(self, emission: Emission, references: Sequence[str], unit: DelayUnit) -> list[int]:
        """Count the units of references, if the latency depends on them."""
        return []

    def _times(self, emission: Emission) -> tuple[Floats, float]:
        """Return the delays that count, and the length of the source. InputError: the log lacks either."""
        if emission.source_length is None:
            said = "no source_length, which latencies are measured by (segmentations by docid and segid have none)"
            raise InputError(f"{emission.where}: {said}")
        if not self.computation_aware:
            return emission.delays, emission.source_length
        if emission.elapsed is None:
            raise InputError(
                f"{emission.where}: the log has no computation times (`elapsed`), which SimulEval writes for speech"
            )
        return emission.elapsed, emission.source_length

    def odd_delays(self, corpus: Corpus) -> Iterator[tuple[str, str]]:
        """Describe degenerate policies, and delays that are of other units or times than metrics take them for."""
        yield from find_degenerate(corpus)
        for system, log in corpus.logs.items():
            if log.moment is None:
                yield from ((system, said) for said in self._odd_times(log))

    def _odd_times(self, log: Log) -> Iterator[str]:
        """Describe how the delays of a log differ from those that the metric takes."""
        if log.unit == "word" and is_unspaced("".join(each.text for each in log.emissions)):
            yield (
                "delays are of words between blanks, in a language that writes none: log a delay for each character "
                "(eval-latency-unit char in SimulEval), or take the unit char for logs of simulstream"
            )
        lengths = [each.source_length or 0 for each in log.emissions if not each.of_text]
        if lengths and max(lengths) > _SPOKEN and len(lengths) < len(log.emissions):
            yield (
                f"{counted(len(lengths), 'segment')} of speech in milliseconds, and others of text in words: score "
                "them apart, as a mean of both says nothing"
            )
        if not self.computation_aware:
            return
        if log.settled:
            yield (
                "elapsed adds up the time of computing over each recording: latencies take the time since the word "
                "before, as OmniSTEval does with fix_simuleval_emission_ca"
            )
        timed = ((each, each.elapsed) for each in log.emissions if each.elapsed is not None)
        behind = [(elapsed - each.delays, each.where) for each, elapsed in timed if len(elapsed)]
        if early := [where for lags, where in behind if lags.min() < -_ROUNDING]:
            yield f"words have elapsed before their delays in {counted(len(early), 'segment')}, first {early[0]}"
        most, where = max(((lags.max(), where) for lags, where in behind), default=(0, ""))
        if most > _MINUTE:
            yield (
                f"{most:,.0f} ms of computing before a word ({where}): latencies are too high if elapsed adds up in "
                "recordings (cut them into segments, or by OmniSTEval with fix_simuleval_emission_ca)"
            )

    def columns(self, rows: Integers | Floats) -> ScoreColumns[LatencyScore]:
        """Score rows, or sums of rows."""
        return ScoreColumns(LatencyScore, _shares(rows[:, 0], rows[:, 1]), outputs=rows[:, 1].astype(int))


@dataclass(frozen=True, repr=False)
class ReferredLatency(Latency):
    """A latency that depends on the length of the reference.

    The length is counted in words, characters or subwords, as the delays of the log are. As in SimulEval and
    OmniSTEval, words stand between single blanks, and a no-break space is part of a word. Of several references the
    length nearest to the output's counts, without references the output's own.
    """

    use_ref_len: bool = setting(True, "Take the length of the reference, not that of the output", signed_if_set=True)

    def unread(self, settings: Fields) -> Collection[str]:
        """Name settings of text, unless pieces of a model are counted."""
        tokenizer = settings.get("tokenize", self.tokenizer)
        pieces = str(getattr(tokenizer, "name", tokenizer)).startswith(SentencePiece.name)
        return () if pieces else super().unread(settings)

    def _lengths(self, emission: Emission, references: Sequence[str], unit: DelayUnit) -> list[int]:
        """Count the units of references. InputError: they are pieces of an unknown model."""
        if not self.use_ref_len:
            return []
        texts = [text.strip() for text in references]
        if unit == "spm":
            if not isinstance(self.tokenizer, SentencePiece):
                model = Parameter("tokenize", "spm:FILE")
                raise InputError("references are counted in the pieces of a sentencepiece model: name it by ", model)
            return [len(self.tokenizer.split(text)) for text in texts]
        if unit == "char" and len(emission.delays) < len(emission.text):  # Blanks do not count
            texts = ["".join(text.split()) for text in texts]
        return [len(text if unit == "char" else text.split(" ")) for text in texts]


@dataclass(frozen=True, repr=False)
class Al(ReferredLatency):
    """Average Lagging (Ma et al. 2019): mean lag of words behind a translator who speaks evenly."""

    name: ClassVar[str] = "al"
    formula: ClassVar[Formula] = staticmethod(average_lagging)


@dataclass(frozen=True, repr=False)
class Laal(ReferredLatency):
    """Length-Adaptive Average Lagging (Papi et al. 2022): AL that long outputs do not lower."""

    name: ClassVar[str] = "laal"
    formula: ClassVar[Formula] = staticmethod(length_adaptive_average_lagging)


@dataclass(frozen=True, repr=False)
class Ap(ReferredLatency):
    """Average Proportion (Cho & Esipova 2016): share of the source that is read before a word."""

    name: ClassVar[str] = "ap"
    formula: ClassVar[Formula] = staticmethod(average_proportion)


@dataclass(frozen=True, repr=False)
class Dal(Latency):
    """Differentiable Average Lagging (Cherry & Foster 2019): mean lag, where no word catches up."""

    name: ClassVar[str] = "dal"
    formula: ClassVar[Formula] = staticmethod(differentiable_average_lagging)


@dataclass(frozen=True, repr=False)
class Yaal(ReferredLatency):
    """Yet Another Average Lagging (Polák et al. 2025): LAAL of the words before the end of the source.

    It shows two shares that tell degenerate policies: of words that come before the end of the source (SWF), and of
    the source that is left after the mean latency (EFSW, expected). Far apart, they mean few early words, or words
    that do not follow the source.
    """

    name: ClassVar[str] = "yaal"

    def latency(self, delays: Floats, source_length: float, reference_length: int, emission: Emission) -> float:
        """Compute YAAL."""
        return yet_another_average_lagging(delays, source_length, reference_length, emission.recording_end)

    def _row(self, emission: Emission, references: Sequence[str], unit: DelayUnit) -> list[float]:
        """Compute a row with the counts behind both shares, too; segments of longer recordings have none."""
        latency, counted = super()._row(emission, references, unit)
        if not len(emission.delays) or emission.recording_end is not None:
            return [latency, counted, 0, 0, 0, 0]
        delays, length = self._times(emission)
        early = int((delays < length).sum())
        return [latency, counted, early, len(delays), counted * max(0.0, length - latency), counted * length]

    def columns(self, rows: Integers | Floats) -> ScoreColumns[YaalScore]:
        """Score rows, or sums of rows."""
        simultaneous, expected = (100 * _shares(rows[:, place], rows[:, place + 1]) for place in (2, 4))
        counts = rows[:, 1].astype(int)
        latency = _shares(rows[:, 0], rows[:, 1])
        return ScoreColumns(YaalScore, latency, outputs=counts, simultaneous=simultaneous, expected=expected)


@dataclass(frozen=True, repr=False)
class Atd(Latency):
    """Average Token Delay (Kano et al. 2023): mean time between words and the source tokens of the same number.

    Tokens of speech take 300 ms. `average_token_delay` says which source token a word has.
    """

    name: ClassVar[str] = "atd"

    def latency(self, delays: Floats, source_length: float, reference_length: int, emission: Emission) -> float:
        """Compute ATD."""
        read, computing = emission.delays, np.diff(delays - emission.delays, prepend=0)
        if emission.recording_end is not None or (computing < -_ROUNDING).any():  # Times, not sums of computing
            computing = np.maximum(0, delays - np.maximum(read, np.concatenate([[-np.inf], delays[:-1]])))
        return average_token_delay(read, computing, text=emission.of_text)


@dataclass(frozen=True, repr=False)
class StartOffset(Latency):
    """Delay of the first word (StartOffset of SimulEval).

    A corpus has the mean of its segments with text.
    """

    name: ClassVar[str] = "startoffset"
    usual: ClassVar[str] = "StartOffset"
    formula: ClassVar[Formula] = staticmethod(lambda delays, source_length, reference_length: float(delays[0]))


@dataclass(frozen=True, repr=False)
class EndOffset(Latency):
    """Delay of the last word, from the end of the source on (EndOffset of SimulEval).

    It is below 0 where the last word came before the end. A corpus has the mean of its segments with text.
    """

    name: ClassVar[str] = "endoffset"
    usual: ClassVar[str] = "EndOffset"
    formula: ClassVar[Formula] = staticmethod(lambda delays, length, reference_length: float(delays[-1] - length))


@dataclass(frozen=True)
class ErasureScore(Score):
    """Units that were taken back, per unit of the final output."""

    erased: int = column("", "words taken back", "count")
    given: int = column("", "words of the final output", "count")


@dataclass(frozen=True, repr=False)
class Erasure(LogMetric):
    """Normalized erasure, or flicker (Arivazhagan et al. 2020: Re-translation versus Streaming, section 3.3).

    It is the number of words (or characters) that a system takes back, per word of its final output. simulstream's
    logs have them as `deleted_tokens`, and its command prints the same number. A deletion counts in the segment of
    the word that stands in its place in the end.
    """

    name: ClassVar[str] = "erasure"
    label: ClassVar[str] = "NE"

    def _row(self, emission: Emission, references: Sequence[str], unit: DelayUnit) -> list[float]:
        """Count the units that were taken back, and the output's. InputError: the log does not have them."""
        if emission.erased is None:
            raise InputError(f"{emission.where}: only logs of simulstream say which words were taken back")
        return [float(emission.erased.sum()), float(len(emission.delays))]

    def columns(self, rows: Integers | Floats) -> ScoreColumns[ErasureScore]:
        """Score rows, or sums of rows."""
        erased, given = rows[:, 0], rows[:, 1]
        return ScoreColumns(ErasureScore, _shares(erased, given), erased=erased.astype(int), given=given.astype(int))


def find_degenerate(corpus: Corpus) -> Iterator[tuple[str, str]]:
    """Find systems whose delays do not follow the source, and describe their policies.

    Segments of longer recordings, outputs at moments, and logs without lengths of sources are left out.
    """
    systems = [
        system
        for system, log in corpus.logs.items()
        if log.moment is None and all(each.source_length is not None for each in log.emissions)
    ]
    if not systems:
        return
    metric = Yaal(use_ref_len=all(log.unit != "spm" for log in corpus.logs.values()))  # No model is known here
    rows = metric.read_rows(corpus, systems).sum(axis=1)
    for system, score, row in zip(systems, metric.columns(rows), rows, strict=True):
        early, words = row[2:4].tolist()
        if words and not early:
            yield system, "no word comes before the end of its source"
        elif abs(score.expected - score.simultaneous) > DEGENERATE:
            shares = f"{score.simultaneous:.0f}% of its words come before the end of the source"
            yield system, f"probably a degenerate policy: {shares}, where its YAAL implies {score.expected:.0f}%"


def _shares(parts: Floats | Integers, wholes: Floats | Integers) -> Floats:
    """Divide; NaN where there is nothing."""
    shares: Floats = np.divide(parts, wholes, out=np.full(len(parts), np.nan), where=wholes > 0)
    return shares
