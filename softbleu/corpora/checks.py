"""Checks of outputs before scoring: all detectors, over whole corpora."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, fields, replace

from softbleu.config.languages import language_of_data
from softbleu.corpora.checked import CheckedText, Ordinary, checked_segments
from softbleu.corpora.corpus import Corpus, ParallelFiles, References, Texts, make_corpus
from softbleu.corpora.detectors import DELAYS, DETECTORS, SEGMENT_COUNT, lacking_needs, odd_checks
from softbleu.corpora.files import open_text
from softbleu.corpora.localised import read_terms
from softbleu.corpora.parallel import has_edits
from softbleu.io.progress import shown
from softbleu.io.reading import STDIN, encoding_of, open_source, text_lines
from softbleu.tables import Table, Tabular
from softbleu.types import Cells, Progress


def find_parting(output: Sequence[str], model: Sequence[str]) -> int:
    """Find the segment, from 1, at which a text with more or fewer segments than another diverges from it.

    Segments before it fit the same number in the other text; segments after it fit the number shifted by the
    difference of lengths.

    >>> find_parting(["a cat", "the dog", "a bird sings"], ["a cat", "it rains", "one dog", "the bird"])
    2
    """
    left, right = [[set(CheckedText(text).words) for text in texts] for texts in (output, model)]
    missing = len(right) - len(left)

    def fits(row: int, other: int) -> float:
        return len(left[row] & right[other]) / (len(left[row] | right[other]) or 1)

    rows = min(len(left), len(right))
    start = max(0, -missing)  # Extra segments of a longer text come after the divergence
    behind = [fits(row, row + missing) for row in range(start, len(left))]
    gains = [0.0]
    for row in range(rows):
        gains.append(gains[-1] + fits(row, row) - behind[row])
    return max(range(len(gains)), key=gains.__getitem__) + 1


@dataclass(frozen=True)
class Oddity:
    """A failed check of one output, with details."""

    system: str
    segment: int | None  # From 1; None: all of the system
    check: str
    detail: str
    output: str


@dataclass(frozen=True)
class Oddities(Tabular):
    """All failed checks of the outputs of systems."""

    segments: int  # Per system
    systems: tuple[str, ...]
    oddities: Sequence[Oddity]  # By segment, then by system
    lacking: Mapping[str, str] = field(default_factory=dict)  # Checks that did not run: what they need

    @property
    def unchecked(self) -> str:
        """Name the checks that did not run, and their inputs; empty if all ran."""
        needs = dict.fromkeys(self.lacking.values())
        return "; ".join(
            f"{', '.join(name for name, need in self.lacking.items() if need == each)} (without {each})"
            for each in needs
        )

    def records(self) -> list[Cells]:
        """Return a row per system: number of odd segments, in total and by check, None if it did not run."""
        counts = {name: Counter(odd.check for odd in self.oddities if odd.system == name) for name in self.systems}
        occurring = [name for name in DETECTORS if any(count[name] for count in counts.values())]
        odd_lines = {(odd.system, odd.segment) for odd in self.oddities if odd.segment}
        flagged = Counter(system for system, _ in odd_lines)
        return [
            {
                "system": system,
                "segments": self.segments,
                "odd": flagged[system],
                **{name: count[name] or (None if count[SEGMENT_COUNT] else 0) for name in occurring},
            }
            for system, count in counts.items()
        ]

    def segments_table(self) -> Table:
        """Return a row per failed check, with the output."""
        empty = "nothing found" + f"; not checked: {self.unchecked}" * bool(self.lacking)
        return Table([item.name for item in fields(Oddity)], [astuple(odd) for odd in self.oddities], empty=empty)


def check_outputs(
    corpus: Corpus,
    progress: Progress | None = None,
    *,
    language: str = "",
    terms: Mapping[str, Sequence[str]] | None = None,
) -> Oddities:
    """Check outputs for oddities; the names of `DETECTORS` are the columns of the result.

    Needs no metric and no model. Ordinary outputs are defined by the references, or else by the other systems'
    outputs. Text that also appears in the source or a reference is never odd.

    Parameters
    ----------
    corpus
        Outputs of one system or several, with references, a source, or both.
    progress
        Called with the number of segments read and the total; segments are read twice.
    language
        Code of the language of the outputs, whose decimal separators numbers should have.
    terms
        Glossary: the allowed translations of each term of the source.

    Examples
    --------
    >>> from softbleu.corpora import Segments
    >>> source = ["Dobrý den", "Mám 120 korun"]
    >>> odd = check_outputs(Segments.of({"A": ["Good day", ""]}, ["Good day", "I have 120 crowns"], source))
    >>> odd.records()
    [{'system': 'A', 'segments': 2, 'odd': 1, 'empty': 1}]
    """
    ordinary, total = Ordinary(language=language, terms=terms or {}), 2 * len(corpus)
    for number, segments in checked_segments(corpus):
        first = segments[0]
        ordinary.learn_models(first.source, first.references or [segment.output for segment in segments])
        ordinary.learn_near(first.source, first.references)
        for segment in segments:
            ordinary.learn(segment)
        if progress:
            progress(number, total)
    oddities = []
    for number, segments in checked_segments(corpus):
        for segment in segments:
            oddities += [
                Oddity(segment.system, number, name, detail, segment.output.text)
                for name, detail in odd_checks(segment, ordinary)
            ]
        if progress:
            progress(len(corpus) + number, total)
    return Oddities(len(corpus), corpus.systems, oddities, lacking_needs(corpus, ordinary))


def _code_of(language: str | None) -> str:
    return "" if language is None else language_of_data(language).code


def check(
    candidates: Texts,
    references: References | None = None,
    source: Iterable[str] | None = None,
    *,
    language: str | None = None,
    terms: Mapping[str, Sequence[str]] | None = None,
    progress: Progress | bool | None = None,
) -> Oddities:
    """Check outputs for oddities, as `softbleu check` does: see `check_outputs`.

    Parameters
    ----------
    candidates, references, source
        Texts as for `softbleu.score`; references, a source, or both.
    language
        Code of the language of the outputs, such as ``cs`` or ``en-cs``, for their decimal separators.
    terms
        Glossary: the allowed translations of each term of the source.
    progress
        True for a bar; or a function of the segments done and of all segments.

    Returns
    -------
    Oddities
        A table with a row per system; its `oddities` has an entry for each failed check of an output.

    Raises
    ------
    InputError
        The texts do not go together.

    Examples
    --------
    >>> found = check(["The dog barks.", "I cannot translate this."], ["A dog barks.", "The cat sat."])
    >>> [(odd.segment, odd.check, odd.detail) for odd in found.oddities]
    [(2, 'refusal', 'I cannot translate')]
    """
    with shown(progress) as shower:
        corpus = make_corpus(candidates, references, source)
        return check_outputs(corpus, shower, language=_code_of(language), terms=terms)


def check_files(
    systems: Mapping[str, str],
    references: Sequence[str],
    source: str | None = None,
    *,
    encoding: str = "utf-8",
    language: str | None = None,
    terms: str | None = None,
    progress: Progress | None = None,
    resegment: bool = False,
    logs: Corpus | None = None,
    odd_delays: Iterable[tuple[str, str]] = (),
) -> Oddities:
    """Check files of outputs for oddities; see `check_outputs`.

    For a file with more or fewer segments than the first reference, or else the source, only the segment at which
    the two diverge is reported.

    Parameters
    ----------
    systems
        Paths by the names of the systems.
    references
        Paths of the references.
    source
        Path of the source.
    encoding
        Encoding of all texts.
    language
        Code of the language of the outputs.
    terms
        Path of a glossary, with lines ``source term TAB target term``, and ``|`` between allowed targets.
    progress
        Called with the number of segments read and the total.
    resegment
        Cut outputs into the segments of the references, or else of the source.
    logs
        A corpus that was read from logs, in the place of the files.
    odd_delays
        What metrics found odd in the delays of systems in logs.
    """
    glossary = None
    if terms is not None:
        with open_source(terms) as (stream, _):
            glossary = read_terms(text_lines(stream, terms, encoding_of(encoding)), terms)
    if logs is not None:
        odd = check_outputs(logs, progress, language=_code_of(language), terms=glossary)
        delays = [Oddity(system, None, DELAYS, said, "") for system, said in odd_delays]
        short = [log.name for log in logs.logs.values() if any(each.source_length is None for each in log.emissions)]
        lacking = {DELAYS: f"source_length in each line of {', '.join(short)}"} if short else {}
        return replace(odd, oddities=[*delays, *odd.oddities], lacking={**odd.lacking, **lacking})
    model = [*references, *([] if source is None else [source])][:1]
    parted: dict[str, Oddity] = {}
    if model and model[0] != STDIN and not resegment:
        segments = list(open_text(model[0], encoding, "reference"))
        texts = {name: path for name, path in systems.items() if path != STDIN and not has_edits(path)}
        for name, path in texts.items():
            output = list(open_text(path, encoding, "candidate"))
            if len(output) != len(segments):
                place = find_parting(output, segments)
                detail = f"{len(output)} segments, {model[0]} has {len(segments)}; they part here"
                odd_text = output[min(place, len(output)) - 1] if output else ""
                parted[name] = Oddity(name, place, SEGMENT_COUNT, detail, odd_text)
    rest = {name: path for name, path in systems.items() if name not in parted}
    if parted and not rest:
        others = {name: "as many lines as the reference" for name in DETECTORS if name not in (SEGMENT_COUNT, DELAYS)}
        return Oddities(len(segments), tuple(systems), list(parted.values()), others)
    with ParallelFiles.open(rest, references, source, encoding=encoding, resegment=resegment) as corpus:
        odd = check_outputs(corpus, progress, language=_code_of(language), terms=glossary)
    return replace(odd, systems=tuple(systems), oddities=[*parted.values(), *odd.oddities])
