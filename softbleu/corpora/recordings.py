"""Corpora of simultaneous translation: logs of systems, and long recordings that are cut into segments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile
from pathlib import Path

import numpy as np

from softbleu.corpora.corpus import AnyCorpus, Segments
from softbleu.corpora.files import LOGS, name_files, open_text
from softbleu.corpora.labels import Documents
from softbleu.corpora.logs import Emission, Log, Screen, read_log
from softbleu.corpora.parallel import read_together
from softbleu.corpora.resegment import resegment
from softbleu.errors import InputError, Parameter, counted
from softbleu.io.arguments import read_number
from softbleu.io.progress import note
from softbleu.io.reading import parse_json, without_packing
from softbleu.types import DelayUnit

_MOST_MOMENTS = 300  # At each of which all outputs are scored
_MILLISECONDS = 1000  # In a second
_ROUNDING = 1e-6  # Milliseconds
_PAIR = re.compile(r"""([\w-]+)\s*:\s*("[^"]*"|'[^']*'|[^,}]*)""")
_BLANK = re.compile(r"\s*(#.*|---|\.\.\.)?\s*")
_OF_DOCUMENT = re.compile(r"\s*docid=(\d+),\s*segid=\d+\s*")


@dataclass(frozen=True)
class SpokenSegment:
    """A segment of a recording, in milliseconds.

    A recording is called after its file, without folder and suffix unless another has the same name then. A document
    of text has a number from 0 as name, and segments without duration.
    """

    recording: str
    offset: float
    duration: float | None


def read_logs(
    logs: Mapping[str, str],
    references: Sequence[str] = (),
    source: str | None = None,
    *,
    segmentation: str | None = None,
    unit: DelayUnit | None = None,
    texts: bool = False,
    encoding: str = "utf-8",
) -> Segments:
    """Read a corpus from logs of simultaneous translation, which latencies are computed from.

    The texts of a log are candidates. The logs also provide references and source, unless files do. Raises
    `InputError`: a bad log (see `read_log`), logs of other segments, or with other references.

    Parameters
    ----------
    logs
        File of each system, by its name.
    references
        Files of references, a segment per line.
    source
        File of the source.
    segmentation
        File of the segments of recordings (see `read_segmentation`), in the order of the references: each line of a
        log is a whole recording, and is cut into these.
    unit
        What delays are of, see `read_log`.
    texts
        Files are no logs, but have the text of a document or recording on each line, in the order of `segmentation`.
    encoding
        Of all files.
    """
    if not logs or not isinstance(logs, Mapping):
        raise InputError(f"logs are files by the names of systems, such as {{'A': 'A/instances.log'}}, not {logs!r}")
    read = {
        each: _text_log(name, encoding) if texts else read_log(name, unit, encoding) for each, name in logs.items()
    }
    referred = read_together(references, encoding)
    documents = None
    if segmentation is not None:
        if not referred:
            raise InputError("recordings are cut by references: name files of these with ", Parameter("references"))
        spoken = read_segmentation(segmentation, encoding)
        read = {system: cut_recordings(log, spoken, referred) for system, log in read.items()}
        documents = Documents.of([segment.recording for segment in spoken], segmentation)
    first, *others = read.values()
    for log in others:
        _check_alike(first, log)
    count = len(first.emissions)
    candidates = {system: [emission.text for emission in log.emissions] for system, log in read.items()}
    known = _references([*read.values()])
    if referred and known and [texts[:1] for texts in referred] != known:
        note("the named files replace the references of the logs")
    by_segment = referred or known or [()] * count
    sources = _sources(first) if source is None else [line for (line,) in read_together([source], encoding)]
    for what, lines in (("references", by_segment), ("source", sources)):
        if lines is not None and len(lines) != count:
            message = f"{what} for {counted(len(lines), 'segment')}, {first.name} has {count:,}"
            raise InputError(f"different numbers of segments: {message}")
    cut, logged = segmentation is not None, {} if texts else read
    return Segments(candidates, by_segment, sources, documents=documents, logs=logged, resegmented=cut)


def _text_log(name: str, encoding: str) -> Log:
    """Read texts as a log without times."""
    lines = open_text(name, encoding, "candidate")
    return Log(name, [Emission(line, np.zeros(len(line.split())), where=name) for line in lines])


def _check_alike(first: Log, log: Log) -> None:
    """Check that logs have the same units and segments; warn if most segments have sources of different lengths."""
    if log.unit != first.unit:
        units = (f"{each.name} has a delay per {each.unit}" for each in (first, log))
        raise InputError(f"logs of different units: {', '.join(units)}")
    if len(log.emissions) != len(first.emissions):
        counts = (f"{each.name} has {counted(len(each.emissions), 'segment')}" for each in (first, log))
        raise InputError(f"logs of different segments: {', '.join(counts)}")
    pairs = zip(first.emissions, log.emissions, strict=True)
    known = [(a.source_length, b.source_length) for a, b in pairs if None not in (a.source_length, b.source_length)]
    if 2 * sum(one != other for one, other in known) > len(known):
        note(
            f"most segments of {first.name} and {log.name} have sources of different lengths (speech is measured "
            "in milliseconds, text in words): do not compare their latencies"
        )


def at_moments(corpus: Segments, moments: Sequence[float | str]) -> Segments:
    """Put the outputs of systems at moments of the source before the whole outputs of a corpus of logs.

    Moments are counted as delays are, from the beginning of each segment: milliseconds of speech, or words of text.
    The text `2s` is two seconds, and `each` stands for every delay in the logs.

    Examples
    --------
    >>> log = Log("a.log", [Emission("it rained", np.array([1.0, 4.0]))])
    >>> corpus = Segments({"A": ["it rained"]}, [("it rained",)], logs={"A": log})
    >>> at_moments(corpus, [2]).candidates
    {'A@2': ['it'], 'A': ['it rained']}
    """
    logs: dict[str, Log] = {}
    times = read_moments(moments, corpus)
    for system, log in corpus.logs.items():
        for moment in times:
            emissions = [emission.until(moment, log.unit) for emission in log.emissions]
            logs[f"{system}@{moment:g}"] = replace(log, emissions=emissions, moment=moment)
        logs[system] = log
    candidates = {system: [emission.text for emission in log.emissions] for system, log in logs.items()}
    return replace(corpus, candidates=candidates, logs=logs)


def early_moments(corpus: AnyCorpus) -> dict[str, float | None]:
    """Tell the moment of each system's outputs, None for whole ones; nothing where all are whole."""
    moments = {system: log.moment for system, log in corpus.logs.items()}
    return moments if any(moment is not None for moment in moments.values()) else {}


def whole_outputs(corpus: AnyCorpus) -> AnyCorpus:
    """Leave out the outputs that `at_moments` put before whole ones."""
    early = [system for system, log in corpus.logs.items() if log.moment is not None]
    if not early or not isinstance(corpus, Segments):
        return corpus
    texts = {system: lines for system, lines in corpus.candidates.items() if system not in early}
    return replace(corpus, candidates=texts)


def read_moments(given: Sequence[float | str], corpus: Segments) -> list[float]:
    """Read moments as a user writes them; `each` stands for every delay in the logs of a corpus."""
    moments: list[float] = []
    for moment in given:
        moments += _each_delay(corpus) if moment == "each" else [read_moment(str(moment))]
    return sorted({*moments})


def _each_delay(corpus: Segments) -> list[float]:
    """Return the distinct delays of logs from 0 on. InputError: there are too many to score the outputs at each."""
    emissions = [emission for log in corpus.logs.values() for emission in log.emissions]
    times = [each.screen.moments if each.screen else each.delays for each in emissions]
    delays = np.unique(np.concatenate([[], *times]))
    if len(delays) > _MOST_MOMENTS:
        raise InputError(f"{len(delays):,} delays are too many moments ({_MOST_MOMENTS} at most): name some of them")
    return [delay for delay in delays.tolist() if delay >= 0]


def read_moment(text: str) -> float:
    """Read a moment: milliseconds or words, or with an `s` behind it seconds.

    >>> read_moment("2000"), read_moment("2.5s")
    (2000.0, 2500.0)
    """
    seconds = text.endswith("s")
    try:
        moment = read_number(float, text.removesuffix("s")) * (_MILLISECONDS if seconds else 1)
    except ValueError:
        moment = -1
    if not 0 <= moment < np.inf:
        raise InputError(f"{text!r} is no moment: give milliseconds or words (2000), seconds (2s), or each")
    return moment


def name_logs(paths: Sequence[str]) -> dict[str, str]:
    """Name systems after their logs, or after the folders of logs that all have the name that programs give them.

    >>> name_logs(["wait3/instances.log", "wait5/instances.log"])
    {'wait3': 'wait3/instances.log', 'wait5': 'wait5/instances.log'}
    """
    folders = {Path(path).parent.name: path for path in paths}
    usual = {Path(path).name for path in paths} <= {*LOGS}
    return folders if usual and all(folders) and len(folders) == len(paths) else name_files(paths)


def _references(logs: Sequence[Log]) -> list[tuple[str, ...]]:
    """Take the references of logs, which must be the same; none where no log has any."""
    with_some = [log for log in logs if any(emission.reference for emission in log.emissions)]
    if not with_some:
        return []
    first, *others = with_some
    for log in others:
        for one, other in zip(first.emissions, log.emissions, strict=True):
            if one.reference != other.reference:
                raise InputError(f"{other.where}: another reference than {one.where}: name one file of references")
    for emission in first.emissions:
        if emission.reference is None:
            raise InputError(f"{emission.where}: no reference, though others have one")
    return [(emission.reference or "",) for emission in first.emissions]


def _sources(log: Log) -> list[str] | None:
    """Take the source text of a log, where it was text: its length is then that in words."""
    of_text = all(each.of_text for each in log.emissions)
    return [each.source or "" for each in log.emissions] if of_text else None


def read_segmentation(name: str, encoding: str = "utf-8") -> list[SpokenSegment]:
    """Read the segments of recordings, in order: a list of `wav`, `offset` and `duration` in seconds, YAML or JSON.

    YAML may be a list of mappings, each in braces or with one key per line, as in MuST-C and data of IWSLT. Lines
    ``docid=0,segid=0`` of OmniSTEval say which document of text each segment is of.
    """
    lines = list(open_text(name, encoding))
    filled = [line for line in lines if not _BLANK.fullmatch(line)]
    if filled and all(labels := [_OF_DOCUMENT.fullmatch(line) for line in filled]):
        return [SpokenSegment(str(int(label[1])), 0, None) for label in labels if label]
    if Path(without_packing(name)).suffix == ".json":
        found = parse_json("\n".join(lines), name)
        if not isinstance(found, list):
            raise InputError(f"{name}: a list of segments is needed, each with wav, offset and duration")
        entries = [(f"{name}, entry {number}", entry) for number, entry in enumerate(found, start=1)]
    else:
        entries = _mappings(name, lines)
    if not entries:
        raise InputError(f"{name}: there are no segments")
    spans = [_span(where, entry) for where, entry in entries]
    files = {span.recording for span in spans}
    if len({Path(file).stem for file in files}) < len(files):
        return spans
    return [replace(span, recording=Path(span.recording).stem) for span in spans]


def _span(where: str, entry: object) -> SpokenSegment:
    if not isinstance(entry, dict) or not {"wav", "offset", "duration"} <= entry.keys():
        raise InputError(f"{where}: a segment needs wav, offset and duration")
    try:
        offset, duration = (read_number(float, entry[key]) * _MILLISECONDS for key in ("offset", "duration"))
    except (TypeError, ValueError):
        raise InputError(f"{where}: offset and duration are seconds, not {entry['offset']!r}") from None
    if not (0 <= offset < np.inf and 0 < duration < np.inf):
        raise InputError(f"{where}: an offset is 0 or more, a duration above 0")
    return SpokenSegment(str(entry["wav"]), offset, duration)


def _mappings(name: str, lines: Sequence[str]) -> list[tuple[str, dict[str, str]]]:
    """Read a list of mappings in YAML."""
    entries: list[tuple[str, dict[str, str]]] = []
    for number, line in enumerate(lines, start=1):
        if _BLANK.fullmatch(line):
            continue
        if line.lstrip().startswith("- "):
            entries.append((f"{name}, line {number}", {}))
        pairs = _PAIR.findall(line)
        if not pairs or not entries:
            message = "a list of segments is needed, such as '- {wav: a.wav, offset: 0, duration: 2.5}'"
            raise InputError(f"{name}, line {number}: {message}")
        entries[-1][1].update({key: value.strip().strip("'\"") for key, value in pairs})
    return entries


def cut_recordings(log: Log, spans: Sequence[SpokenSegment], references: Sequence[Sequence[str]]) -> Log:
    """Cut the recordings of a log into segments, each with its references, by least edit distance.

    Raises `InputError`: recordings differ from the segments' recordings, or the number of references is wrong.
    """
    if len(spans) != len(references):
        given = counted(len(references), "segment")
        raise InputError(f"{counted(len(spans), 'segment')} of recordings but references for {given}")
    log = _settled(log)
    members: dict[str, list[int]] = {}
    for number, span in enumerate(spans):
        members.setdefault(span.recording, []).append(number)
    paths = {recording: Path(recording) for recording in members}
    of_text = spans[0].duration is None
    names = sorted(members, key=int) if of_text else [*members]
    whole: dict[str, Emission] = {}
    for number, emission in enumerate(log.emissions):
        recording = (names[number:] or [str(number)])[0]
        if emission.source is not None and not of_text:
            recording = _recording_of(emission, paths)
        if recording in whole:
            raise InputError(f"{emission.where}: recording {recording!r} is there twice")
        whole[recording] = emission
    if missing := [recording for recording in members if recording not in whole]:
        raise InputError(f"{log.name}: no recording {missing[0]!r}, but the segmentation has segments of it")
    if others := [recording for recording in whole if recording not in members]:
        raise InputError(f"{whole[others[0]].where}: recording {others[0]!r} has no segments")
    parts: list[Emission] = [log.emissions[0]] * len(spans)
    for recording, numbers in members.items():
        some, texts = [spans[number] for number in numbers], [references[number] for number in numbers]
        for number, part in zip(numbers, _cut(whole[recording], some, texts, log.unit), strict=True):
            parts[number] = part
    return replace(log, emissions=parts)


def _cut(
    whole: Emission, spans: Sequence[SpokenSegment], references: Sequence[Sequence[str]], unit: DelayUnit
) -> Iterator[Emission]:
    """Cut a recording into all its segments."""
    end = max(span.offset + (span.duration or 0) for span in spans)
    starts = [span.offset for span in spans]
    begun = None if spans[0].duration is None else whole.given_before(starts, unit)
    parts = whole.cut(resegment([whole.text], references, begun).texts, unit)
    for number, (span, part) in enumerate(zip(spans, parts, strict=True)):
        if span.duration is None:
            yield replace(part, source_length=None, reference=references[number][0])
            continue
        cut = part.after(span.offset, span.duration, end, references[number][0])
        if whole.screen is not None:
            moments = whole.screen.moments - span.offset
            moments = moments[moments <= cut.delays.max(initial=span.duration)]
            cut = replace(cut, screen=Screen(moments, partial(_part_at, whole, spans, references, unit, number)))
        yield cut


def _part_at(
    whole: Emission,
    spans: Sequence[SpokenSegment],
    references: Sequence[Sequence[str]],
    unit: DelayUnit,
    number: int,
    moment: float,
) -> Emission:
    """Return the text of a segment on the screen at a moment: the text so far, cut by segments that have begun."""
    now = spans[number].offset + moment
    begun = [place for place, span in enumerate(spans) if span.offset <= now]
    early = replace(whole.until(now, unit), screen=None)
    some, texts = [spans[place] for place in begun], [references[place] for place in begun]
    return [*_cut(early, some, texts, unit)][begun.index(number)]


def _recording_of(emission: Emission, paths: Mapping[str, Path]) -> str:
    """Find the recording of a log by its file, with or without suffix; folders count where several have that name."""
    given = Path(emission.source or "")
    alike = [name for name, path in paths.items() if {given.name, given.stem} & {path.name, path.stem}]
    shared = {name: _same_folders(given, paths[name]) for name in alike}
    nearest = [name for name in alike if shared[name] == max(shared.values())]
    if len(nearest) > 1:
        said = f"recording {str(given)!r} may be {nearest[0]!r} or {nearest[1]!r}: name it with its folder"
        raise InputError(f"{emission.where}: {said}")
    return nearest[0] if nearest else given.stem


def _same_folders(one: Path, other: Path) -> tuple[int, bool]:
    """Count the folders, from the last, that two paths share; and tell whether their suffixes are equal."""
    pairs = zip(one.parts[-2::-1], other.parts[-2::-1], strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs)), one.name == other.name


def _settled(log: Log) -> Log:
    """Correct times that add up the time of computing over recordings, by the formula of OmniSTEval.

    SimulEval logs the delay of a word and all time of computing so far. As OmniSTEval does by
    ``--fix_simuleval_emission_ca``, the time of computing since the word before is kept.
    """
    behind = [each.elapsed - each.delays for each in log.emissions if each.elapsed is not None and len(each.delays)]
    adds_up = all((np.diff(lag) > -_ROUNDING).all() for lag in behind)
    if log.by_step or not adds_up or not any(lag[-1] > lag[0] + _ROUNDING for lag in behind):
        return log
    emissions = []
    for each in log.emissions:
        times = each.elapsed
        if times is not None and len(times):
            since = np.concatenate([times[:1], np.diff(times) + each.delays[:-1]])
            times = np.maximum.accumulate(since)
        emissions.append(replace(each, elapsed=times))
    return replace(log, emissions=emissions, settled=True)
