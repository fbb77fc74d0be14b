"""Read logs of simultaneous translation, by SimulEval, OmniSTEval and simulstream: words, and when each was given."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from softbleu.config.languages import is_unspaced
from softbleu.corpora.files import log_in, numbered_lines
from softbleu.errors import InputError, Parameter, counted
from softbleu.io.progress import note
from softbleu.io.reading import parse_json
from softbleu.types import DelayUnit

if TYPE_CHECKING:
    from softbleu.types import Fields, Floats, Integers, Json

_Entry = Mapping[str, object]
_LONGEST = 1e12  # Milliseconds of 30 years
_MILLISECONDS = 1000  # In a second: simulstream has seconds
_PIECE, _BYTE_PIECE = "\u2581", "\u0120"  # Marks of a blank in pieces of SentencePiece, and of byte-level BPE
_UNITS: Mapping[DelayUnit, Sequence[str]] = {"word": (r"\S+", "[^ ]+"), "char": ("(?s:.)", r"\S")}
"""Patterns of units with a delay: words between white space or blanks (simulstream), characters or those of words."""
_OF_STREAM = {"word": re.compile("[^ ]+"), "char": re.compile("(?s:.)")}  # Units of simulstream


class Screen(NamedTuple):
    """The text on the screen of a system that takes words back."""

    moments: Floats  # At which the text changed
    shown: Callable[[float], Emission]  # Returns the text at a moment, and when each of its units was given


@dataclass(frozen=True, eq=False)
class Emission:
    """Text of a segment, and when a system gave each of its units: words, or characters.

    Times are milliseconds of speech, or words of a source text, from the beginning of the segment.
    """

    text: str
    delays: Floats  # Of each unit how much of the source was read before it
    elapsed: Floats | None = None  # The same with the time of computing
    source_length: float | None = None
    recording_end: float | None = None  # Where the segment is part of a longer recording
    reference: str | None = None
    source: str | None = None  # Text, or name of the recording
    where: str = ""  # File and line
    screen: Screen | None = None  # Where words were taken back
    pieces: Sequence[str] | None = None  # Of SentencePiece, where each has a delay
    erased: Integers | None = None  # Units that were taken back at the place of each unit; None: the log lacks them

    @property
    def of_text(self) -> bool:
        """Whether the source was text, whose length is then that in words."""
        return self.source is not None and len(self.source.split()) == self.source_length

    def cut(self, texts: Sequence[str], unit: DelayUnit) -> list[Emission]:
        """Cut into consecutive parts of the text; a word that is cut in two was given at one time.

        >>> whole = Emission("it rained all day", np.array([1.0, 1.0, 4.0, 6.0]))
        >>> [part.delays.tolist() for part in whole.cut(["it rained", "all day"], "word")]
        [[1.0, 1.0], [4.0, 6.0]]
        """
        if unit == "spm":
            raise InputError(f"{self.where}: recordings are cut by words or characters: leave out the unit spm")
        lengths = self._lengths(unit)
        whole, parts, start = self._timed(lambda times: np.repeat(times, lengths), pieces=None), [], 0
        last = np.cumsum(lengths) - 1  # Characters at which units end
        for text in texts:
            words = text.split()
            sizes = [len(word) for word in words] if unit == "word" else [1] * sum(map(len, words))
            ends = start + np.cumsum(sizes, dtype=np.int64) - 1
            within = (last >= start) & (last < start + sum(sizes))
            start += sum(sizes)
            erased = None if self.erased is None else self.erased[: len(last)][within]
            parts.append(whole._timed(itemgetter(ends), text=text, erased=erased))
        if parts and not start:  # All was taken back
            parts[0] = replace(parts[0], erased=self.erased)
        return parts

    def given_before(self, times: Sequence[float], unit: DelayUnit) -> list[int]:
        """Count the characters, without blanks, that were given before each time."""
        counts = np.concatenate([[0], np.cumsum(self._lengths(unit))])
        return [int(counts[place]) for place in np.searchsorted(self.delays, times)]

    def after(self, offset: float, duration: float, end: float, reference: str) -> Emission:
        """Return the segment of a recording that begins at an offset, with times from there on."""
        places: Fields = {"source_length": duration, "recording_end": end - offset, "reference": reference}
        return self._timed(lambda times: times - offset, **places)

    def until(self, moment: float, unit: DelayUnit) -> Emission:
        """Return the units that were given up to a moment, as they were on the screen then.

        >>> Emission("it rained all day", np.array([1.0, 1.0, 4.0, 6.0])).until(4, "word").text
        'it rained all'
        """
        if self.screen is not None:
            early = self.screen.shown(moment)
            return replace(
                early, source_length=self.source_length, recording_end=self.recording_end, screen=self.screen
            )
        count = int((self.delays <= moment).sum())
        if count == len(self.delays):
            return self
        text = self.text[: self._spans(unit)[count - 1][1]].rstrip() if count else ""
        pieces = None if self.pieces is None else self.pieces[:count]
        return self._timed(itemgetter(slice(count)), text=text, pieces=pieces)

    def _timed(self, changed: Callable[[Floats], Floats], **others: Any) -> Emission:
        """Return it with changed times, with and without that of computing, and with other fields."""
        elapsed = None if self.elapsed is None else changed(self.elapsed)
        return replace(self, delays=changed(self.delays), elapsed=elapsed, **others)

    def _lengths(self, unit: DelayUnit) -> list[int]:
        """Return the number of characters, without blanks, of each unit."""
        return [len("".join(self.text[start:stop].split())) for start, stop in self._spans(unit)]

    def _spans(self, unit: DelayUnit) -> Sequence[tuple[int, int]]:
        """Find the pieces, words or characters that have a delay each."""
        if self.pieces is not None:
            lead = len(whole := "".join(self.pieces)) - len(whole.replace(_PIECE, " ").lstrip())
            bounds = np.cumsum([0, *map(len, self.pieces)]) - lead
            return [*pairwise(np.clip(bounds, 0, len(self.text)).tolist())]
        every = ([match.span() for match in re.finditer(pattern, self.text)] for pattern in _UNITS[unit])
        return next(units for units in every if len(units) == len(self.delays))


@dataclass(frozen=True, eq=False)
class Log:
    """Segments of a system in order, or whole recordings."""

    name: str
    emissions: Sequence[Emission]
    unit: DelayUnit = "word"
    moment: float | None = None  # Of the source at which its outputs were taken; None: at the end
    by_step: bool = False  # Whether `elapsed` has the time of computing of a step, not of all steps so far
    settled: bool = False  # Whether `elapsed` had that of all steps, and was corrected


def read_log(name: str, unit: DelayUnit | None = None, encoding: str = "utf-8") -> Log:
    """Read a log: a line of JSON is a segment (SimulEval, OmniSTEval) or a step of a recording (simulstream).

    Raises `InputError`, which names the line: not JSON, no text, falling times, another number of delays than of
    units, a segment twice or missing.

    Parameters
    ----------
    name
        The file, packed or not; `-` is standard input. A folder that SimulEval wrote stands for the log in it.
    unit
        Delays are of a `word`, a `char` (with blanks or without them) or a piece of SentencePiece (`spm`) each; None:
        of words, unless there is a delay for each character, or the text is written without blanks. Where a log has
        delays of pieces (`prediction_spm`), a word has that of its last piece.
    encoding
        Of the file.
    """
    name = log_in(name)
    entries = [(where, _object(line, where)) for where, line in numbered_lines(name, encoding) if line.strip()]
    # simulstream begins with a line of its own each time that it starts.
    entries = [(where, entry) for where, entry in entries if entry.keys() != {"model_loading_time"}]
    if not entries:
        raise InputError(f"{name}: an empty log: there are no segments")
    if unit == "spm" and not all("prediction_spm" in entry for _, entry in entries):
        raise InputError(f"{name}: no prediction_spm, the subwords that have a delay each")
    if any("metadata" in entry or "generated_tokens" in entry for _, entry in entries):
        return _stream(name, entries, unit)
    emissions = [_segment(where, entry) for where, entry in _in_order(name, entries)]
    if any(emission.pieces is not None for emission in emissions) and unit != "spm":
        if unit is None:
            said = f"{name} has delays of subwords, a word that of its last one; to count subwords, give "
            note(said, Parameter("unit", "spm"))
        unit = unit or "word"
        emissions = [each if each.pieces is None else each.cut([each.text], unit)[0] for each in emissions]
    unit = unit or _unit_of(emissions)
    for emission in emissions if unit != "spm" else ():
        _check_count(emission, unit)
    return Log(name, emissions, unit)


def _object(line: str, where: str) -> _Entry:
    entry = parse_json(line, where)
    if not isinstance(entry, dict):
        raise InputError(f"{where}: a log has an object on each line, not {line[:30]!r}")
    return entry


def _in_order(name: str, entries: Sequence[tuple[str, _Entry]]) -> Iterable[tuple[str, _Entry]]:
    """Order segments by their numbers, where they have some; each must be there once."""
    if not any("index" in entry for _, entry in entries):
        return entries
    numbered: dict[int, tuple[str, _Entry]] = {}
    for where, entry in entries:
        number = entry.get("index")
        if not isinstance(number, int) or isinstance(number, bool):
            raise InputError(f"{where}: a whole number is needed as index, not {json.dumps(number)[:30]}")
        if number in numbered:
            raise InputError(f"{where}: segment {number} is there twice, as in {numbered[number][0]}")
        numbered[number] = where, entry
    first = min(numbered)
    for number in range(first, first + len(numbered)):
        if number not in numbered:
            raise InputError(f"{name}: segment {number} is missing (segments {first} to {max(numbered)})")
    return [numbered[number] for number in sorted(numbered)]


def _segment(where: str, entry: _Entry) -> Emission:
    """Read a segment of SimulEval or OmniSTEval."""
    if "durations" in entry:
        raise InputError(f"{where}: speech was given, whose words have no delays: logs of text are read")
    text = _field(where, entry, "prediction", "a text")
    if text is None:
        raise InputError(f"{where}: no 'prediction', the text that the system gave")
    relative = bool({"emission_cu", "emission_ca", "time_to_recording_end"} & entry.keys())
    names = ("emission_cu", "emission_ca") if relative else ("delays", "elapsed")
    times = (_field(where, entry, name, "a list of numbers") for name in names)
    delays, elapsed = (None if given is None else np.array(given, np.float64) for given in times)
    if delays is None and text.strip():
        raise InputError(f"{where}: no {names[0]!r}: when each word was given")
    delays = np.zeros(0) if delays is None else delays
    _check_times(where, "a delay", delays, least=-np.inf if relative else 0)
    if elapsed is not None and not elapsed.any():  # SimulEval writes 0, or nothing, where it took no time
        elapsed = None
    if elapsed is not None and len(elapsed) != len(delays):
        raise InputError(f"{where}: {len(elapsed):,} {names[1]} for {counted(len(delays), 'delay')}")
    if elapsed is not None and not relative:  # Of simulstream's recordings, cut by OmniSTEval, they may fall
        _check_times(where, "an elapsed time", elapsed, least=0)
    length, source = _number(where, entry, "source_length"), entry.get("source")
    if length is not None and length < 1 / _LONGEST:
        raise InputError(f"{where}: source_length is {length:g}, it must be above 0")
    if isinstance(source, list):  # What SimulEval says of a recording, its file first
        source = source[0] if source else None
    pieces = _field(where, entry, "prediction_spm", "a list of texts")
    made = text if pieces is None else "".join(pieces).replace(_PIECE, " ").strip()
    if made.split() != text.split() or len(delays) != len(delays if pieces is None else pieces):
        raise InputError(f"{where}: prediction_spm must make up the prediction, and have a delay for each subword")
    return Emission(
        made,
        delays,
        elapsed,
        length,
        _number(where, entry, "time_to_recording_end"),
        _field(where, entry, "reference", "a text") or None,
        source if isinstance(source, str) else None,
        where,
        pieces=pieces,
    )


def _check_times(where: str, what: str, times: Floats, least: float) -> None:
    """Check that times do not fall."""
    fall = np.flatnonzero(np.diff(times) < 0)
    if len(fall):
        place = int(fall[0]) + 1
        fell = f"from {times[place - 1]:g} to {times[place]:g}"
        _, name = what.split(" ", 1)
        raise InputError(f"{where}: {name} {place + 1} falls {fell}: {name}s can only rise")
    if len(times) and times[0] < least:
        raise InputError(f"{where}: {what} of {times[0]:g}: it must be {least:g} or more")


def _counts(text: str, unit: DelayUnit) -> list[int]:
    """Count the units of a text, in each way that they may be counted."""
    return [len(re.findall(pattern, text)) for pattern in _UNITS[unit]]


def _unit_of(emissions: Sequence[Emission]) -> DelayUnit:
    """Find the unit that has a delay each."""
    words, characters = (
        all(len(emission.delays) in _counts(emission.text, unit) for emission in emissions) for unit in _UNITS
    )
    return "char" if characters and not words else "word"


def _check_count(emission: Emission, unit: DelayUnit) -> None:
    """Check that each unit of the text has a delay."""
    count, counts = len(emission.delays), _counts(emission.text, unit)
    if count not in counts:
        units = counted(counts[0], "word" if unit == "word" else "character")
        raise InputError(f"{emission.where}: {counted(count, 'delay')} for {units}: one is needed for each")


def _is_time(value: object) -> bool:
    """Return whether a value is a number that can be a time, in milliseconds, seconds or words."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _LONGEST


_KINDS: Mapping[str, Callable[[object], bool]] = {
    "a text": lambda value: isinstance(value, str),
    "a number": _is_time,
    "a list of numbers": lambda value: isinstance(value, list) and all(map(_is_time, value)),
    "a list of texts": lambda value: (
        not value or (isinstance(value, list) and all(isinstance(text, str) for text in value))
    ),
}


def _field(where: str, entry: _Entry, name: str, kind: str) -> Json:
    """Return a field, None without one. InputError: it is of another of `_KINDS`."""
    value = entry.get(name)
    if value is not None and not _KINDS[kind](value):
        raise InputError(f"{where}: {kind} is needed as {name}, not {json.dumps(value)[:30]}")
    return value


def _number(where: str, entry: _Entry, name: str) -> float | None:
    number = _field(where, entry, name, "a number")
    return None if number is None else float(number)


@dataclass
class _Token:
    """A token that simulstream gave, and when; times are seconds."""

    text: str
    delay: float
    elapsed: float


def _stream(name: str, entries: Sequence[tuple[str, _Entry]], unit: DelayUnit | None) -> Log:
    """Read the recordings of simulstream: steps that take back tokens and give others.

    A word was given when its last token was, or when the last one that it lost was taken back. Tokens are pieces of
    SentencePiece where any has its mark, otherwise words.
    """
    names: dict[str, str] = {}
    steps: dict[tuple[str, str], list[tuple[str, _Entry]]] = {}
    for where, entry in entries:
        metadata, known = entry.get("metadata"), json.dumps(entry.get("id"))
        if isinstance(metadata, dict):
            if not (recording := _field(where, metadata, "wav_name", "a text")):
                raise InputError(f"{where}: no wav_name, the recording")
            names[known] = recording
        elif known not in names:
            raise InputError(f"{where}: no line of metadata before says which recording has id {known}")
        steps.setdefault((known, names[known]), []).append((where, entry))
    lists = [_field(where, entry, "generated_tokens", "a list of texts") or () for where, entry in entries]
    marked = {mark for token in chain.from_iterable(lists) for mark in (_PIECE, _BYTE_PIECE) if mark in token}
    if _BYTE_PIECE in marked:
        raise InputError(f"{entries[0][0]}: tokens of byte-level BPE: log those of SentencePiece, or words")
    if unit is None and (unspaced := is_unspaced("".join(chain.from_iterable(lists)).replace(_PIECE, ""))):
        note(f"{name} has text without blanks, so delays are of characters; of words by ", Parameter("unit", "word"))
    unit = unit or ("char" if unspaced else "word")
    blank = "" if _PIECE in marked or unit == "char" else " "
    emissions = [_recording(recording, lines, unit, blank) for (_, recording), lines in steps.items()]
    return Log(name, emissions, unit, by_step=True)


def _recording(
    name: str, steps: Sequence[tuple[str, _Entry]], unit: DelayUnit, blank: str, until: float = np.inf
) -> Emission:
    """Follow the steps of a recording up to a moment; a blank stands before each token that is a word."""
    tokens: list[_Token] = []
    moments: list[float] = []
    losses: list[tuple[int, int]] = []  # Places in the text, and units that were taken back there
    processed = 0.0
    for where, entry in steps:
        if "metadata" in entry:
            continue
        before = processed
        processed, computed = (
            _number(where, entry, key) or 0.0 for key in ("total_audio_processed", "computation_time")
        )
        if processed < before:
            raise InputError(f"{where}: total_audio_processed falls from {before:g} to {processed:g}")
        if processed * _MILLISECONDS > until:
            break
        moments.append(processed * _MILLISECONDS)
        names = ("deleted_tokens", "generated_tokens")
        deleted, given = (_field(where, entry, key, "a list of texts") or [] for key in names)
        if deleted:
            lost = tokens[len(tokens) - len(deleted) :] if len(deleted) <= len(tokens) else []
            if [token.text for token in lost] != [blank + text for text in deleted]:
                raise InputError(f"{where}: tokens are taken back that are not the last: {' '.join(deleted)[:40]!r}")
            del tokens[len(tokens) - len(deleted) :]
            losses.append((_count(tokens, unit), _count(lost, unit)))
            if unit == "word" and tokens and lost[0].text[:1] not in (_PIECE, " "):
                tokens[-1] = _Token(tokens[-1].text, processed, processed + computed)
        tokens += [_Token(blank + text, processed, processed + computed) for text in given]
    texts = [token.text.replace(_PIECE, " ") for token in tokens]
    characters = "".join(texts)
    text = characters.strip()
    lead = characters.index(text)
    owner = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    ends = [lead + match.end() - 1 for match in _OF_STREAM[unit].finditer(text)]
    last = [tokens[number] for number in owner[ends].tolist()] if ends else []
    delays, elapsed = (
        np.array([getattr(token, what) for token in last]) * _MILLISECONDS for what in ("delay", "elapsed")
    )
    screen = Screen(np.unique(moments), partial(_recording, name, steps, unit, blank)) if losses else None
    length = processed * _MILLISECONDS or None
    erased = np.zeros(max(1, len(last)), np.int64)
    for place, count in losses:
        erased[min(place, len(erased) - 1)] += count
    return Emission(text, delays, elapsed, length, source=name, where=steps[0][0], screen=screen, erased=erased)


def _count(tokens: Sequence[_Token], unit: DelayUnit) -> int:
    """Count the words or characters of tokens, as simulstream does: parts of a word are one."""
    text = "".join(token.text.replace(_PIECE, " ") for token in tokens).strip()
    return len(_OF_STREAM[unit].findall(text))
