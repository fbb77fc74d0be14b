"""Explanations of a score: matched n-grams, the closest path of a network, edits, errors and unmatched words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from softbleu.config.earlier import also_named
from softbleu.corpora.corpus import Against, Corpus, References, Segments, Texts, make_corpus, pick_segments
from softbleu.corpora.edits import Annotation, GoldSegment
from softbleu.corpora.judgements.spans import MAJOR, MINOR, MarkedOutput, MarkedSpan, SpanTable
from softbleu.engine.notes import note_corpus, note_threshold
from softbleu.engine.plan import GivenMetric, Plan, make_plan, requirements_of
from softbleu.engine.prepare import PreparedCorpus, prepare_corpus
from softbleu.engine.runner import RunOptions, collect_statistics, running
from softbleu.engine.statistics import Statistics
from softbleu.engine.worker import MINI_BATCH
from softbleu.errors import InputError, Parameter, known_name
from softbleu.io.arguments import Limit, is_whole_number, listed
from softbleu.io.platform import single_threaded_blas
from softbleu.kernels import SCALE
from softbleu.kernels.prefixes import reached
from softbleu.language.values import Finding
from softbleu.matching.matchers import LONG_CELLS, SoftMatcher
from softbleu.metrics.base import Metric
from softbleu.metrics.edits import SAME_EDIT, JudgedEdit, JudgedEdits, touch
from softbleu.metrics.guards import seen_chunk
from softbleu.metrics.protocols import (
    ClosestPath,
    EditPlan,
    JudgesLines,
    NamesCauses,
    NamesFaults,
    PlansEdits,
    ShowsEdits,
    ShowsPairs,
    ShowsPaths,
    WordPair,
    at_level,
    matcher_of,
)
from softbleu.metrics.requirements import Requirements
from softbleu.metrics.score import Score
from softbleu.results.fractions import common_beginning
from softbleu.results.slices import segment_numbers
from softbleu.tables import ResultList, Table, Tabular, spread
from softbleu.text.coded import Vocabulary, WordParts
from softbleu.text.parts import WORD_PARTS
from softbleu.text.tokens import token_places

if TYPE_CHECKING:
    from softbleu.matching import Matches
    from softbleu.matching.ngrams import Chunk, Vectors, WordTable
    from softbleu.metrics.keywords import Settings
    from softbleu.types import Cells, Fields, Flags, Progress


_LIMIT = Limit("explain", "words", 1 << 20, "a document of 3,000 words with 20 references: 63,000")
"""Edits of a segment, in all its texts."""
OPERATIONS = ("missing", "unnecessary", "replacement", "")
OTHER = "other"  # Of edits where no annotator has any, whose type the gold file does not say
LEAST_SIMILARITY = 0.8
_CHOSEN = RunOptions(notes=False)  # Few segments show little, and notes are of the whole corpus
_UNMATCHED = ("substituted", "deleted")  # Edits of TER that leave a word of the candidate without its like


@dataclass(frozen=True)
class NgramMatch:
    """A candidate n-gram and its match; without a match, `similarity` is 0 and `reference` None."""

    order: int
    candidate_start: int  # Token of the candidate at which the n-gram starts, from 0
    candidate: tuple[str, ...]
    reference: tuple[str, ...] | None
    reference_number: int | None  # Which reference of the segment the partner first appears in, from 0
    reference_start: int | None  # Token of that reference at which the partner starts, from 0
    similarity: float
    exact: bool
    closest: tuple[str, ...] | None = None  # Most similar words that no match has taken, where nothing matches
    closest_similarity: float | None = None


@dataclass(frozen=True)
class EditPair:
    """An edit of a candidate and the gold edit that it is, or is like; one of both may be missing."""

    verdict: str
    kind: str
    start: int  # Words of the source, from 0
    end: int
    source: str
    correction: str | None  # What the candidate has in their place
    gold: str | None
    share: float  # How much of the one is the other; 1 if they are the same


@dataclass(frozen=True)
class AlignedWords:
    """Words of a candidate and the words of a reference that they stand for; places are tokens from 0."""

    kind: str
    candidate: str
    reference: str
    candidate_start: int
    reference_number: int
    reference_start: int
    similarity: float | None


@dataclass(frozen=True)
class MarkedText:
    """A candidate as it was written, with the spans that one judge, or one program, marks."""

    by: str
    text: str
    spans: tuple[MarkedSpan, ...]

    def __str__(self) -> str:
        """The text with the spans in brackets.

        >>> str(MarkedText("judge", "a bad cat", (MarkedSpan(2, 5, "minor"),)))
        'a [minor: bad] cat'
        """
        shown = self.text
        for start, end, severity in sorted(self.spans, reverse=True):
            shown = f"{shown[:start]}[{severity or 'marked'}: {shown[start:end]}]{shown[end:]}"
        return shown


@dataclass(frozen=True)
class LeftReference:
    """Place at which an unfinished candidate leaves its references, and how far it came; places are tokens from 0."""

    place: int | None  # Token of the candidate that continues no reference; None for a beginning of one
    word: str | None  # That token
    reference_number: int  # The reference that is followed furthest
    expected: str | None  # The token that this reference has there; None at its end
    reached: tuple[int, ...]  # Tokens of each reference that the candidate has come to
    lengths: tuple[int, ...]  # Tokens of each reference


_GREEN, _AMBER, _RED, _GREY = "#1a7f37", "#9a6700", "#cf222e", "#6e7781"
_KINDS = {"hit": _GREEN, "wrong": _RED, "over": _AMBER, "missed": _GREY}
_KINDS |= {"misspelt": _RED, "error": _RED, "unlikely": _AMBER, "lost": _AMBER}


@dataclass(frozen=True, repr=False)
class Explanation(Tabular):
    """All matches of one segment of one system, which can be looked at as a table."""

    system: str
    segment: int  # From 1
    candidate: tuple[str, ...]
    references: tuple[tuple[str, ...], ...]
    matches: tuple[NgramMatch, ...]
    score: float | None = None
    """Score of the segment, as at level `segment`; None where the metric needs a source that is not given."""
    numbers: Score | None = None
    """Parts of the score, for metrics that judge lines by themselves, as the findings are."""
    findings: tuple[Finding, ...] = ()
    path: ClosestPath | None = None
    """Path of a network that was scored, in the place of references and matches."""
    edits: JudgedEdits | None = None
    """Judged edits and gold edits, for metrics of edits, in the place of references and matches."""

    pairs: tuple[WordPair, ...] | None = None
    """Words of the candidate with aligned words of the best reference, for metrics that align words."""

    marked: tuple[MarkedText, ...] = ()  # The text with what judges or programs mark, where spans are given
    left: LeftReference | None = None  # Where the candidate leaves the references, of partial scores

    def records(self) -> list[Cells]:
        """Make one row per candidate n-gram, step of a path, finding, or edit and missed gold edit.

        Where numbers of a line make the score, they are rows, too, of kind `total`; `chrf` has no others.
        """
        made = (
            [*self.edit_pairs()]
            if self.edits
            else [*self.figures(), *self.word_pairs(), *(self.path.steps if self.path else ())]
        )
        named = {"system": self.system, "segment": self.segment}
        return [{**named, **vars(row)} for row in made] or [
            {
                **named,
                "order": match.order,
                "candidate": " ".join(match.candidate),
                "reference": None if match.reference is None else " ".join(match.reference),
                "similarity": match.similarity,
            }
            for match in self.matches
        ]

    def described(self) -> Fields:
        """The score and the texts."""
        texts = [("candidate", self.candidate), *(("reference", text) for text in self.references)]
        if len(texts) > 2:
            texts[1:] = [(f"reference {number}", text) for number, (_, text) in enumerate(texts[1:], start=1)]
        return {"score": self.score, **{name: " ".join(text) for name, text in texts}}

    @staticmethod
    def colour(row: Fields) -> str:
        """Colour of a row: green for equal words, amber for similar ones, grey without a match, or by its kind."""
        kind = row.get("verdict") or row.get("kind")
        if kind in _KINDS:
            return _KINDS[str(kind)]
        if "candidate" not in row:
            return ""
        candidate, other = row["candidate"], row.get("reference", row.get("word"))
        if not candidate or not other:
            return _GREY
        return _GREEN if candidate == other else _AMBER

    def figures(self) -> Iterator[Finding]:
        """The numbers that the score is made of, as findings of kind `total`, then the findings."""
        numbers = {} if self.numbers is None else spread(self.numbers.as_dict())
        yield from (Finding("total", name, value) for name, value in numbers.items())
        yield from self.findings

    def word_pairs(self) -> Iterator[AlignedWords]:
        """The pairs, with their words."""
        for pair in self.pairs or ():
            words = self.candidate[pair.start : pair.start + pair.length]
            other = self.references[pair.reference][pair.reference_start :][: pair.reference_length]
            places = pair.start, pair.reference, pair.reference_start
            yield AlignedWords(pair.kind, " ".join(words), " ".join(other), *places, pair.similarity)

    def edit_pairs(self) -> Iterator[EditPair]:
        """Edits with the gold edits that they are, or are like, and gold edits that nothing is like."""
        if self.edits is None:
            return
        edits, gold, links = self.edits.edits, self.edits.gold, self.edits.links
        for number, edit in enumerate(edits):
            matched = [(gold[other], share) for one, other, share in links if one == number]
            for right, share in matched:
                yield self._pair(edit, " ".join(edit.text), " ".join(right.text), share)
            if not matched:
                yield self._pair(edit, " ".join(edit.text), None, 0.0)
        linked = {other for _, other, _ in links}
        for number, edit in enumerate(gold):
            if number not in linked:
                yield self._pair(edit, None, " ".join(edit.text), 0.0)

    def _pair(self, edit: JudgedEdit, correction: str | None, gold: str | None, share: float) -> EditPair:
        start, end = edit.spans[:2]
        source = " ".join(self.edits.source[start:end]) if self.edits else ""
        return EditPair(edit.verdict, edit.kind, start, end, source, correction, gold, share)


@also_named(metric="metrics")
def explain(
    candidates: Texts,
    references: References | None = None,
    source: Iterable[str] | None = None,
    *,
    metrics: GivenMetric = "bleu",
    segments: Sequence[int] = (1,),
    against: Against = "references",
    **settings: Unpack[Settings],
) -> ResultList[Explanation]:
    """Explain chosen segments (numbered from 1): matched n-grams, closest paths, edits, or errors found in lines.

    The other parameters are as in `score`.

    Examples
    --------
    >>> found = explain(["a cat sat"], ["a cat sat down"], order=1)
    >>> [(match.candidate, match.reference, match.similarity) for match in found[0].matches][:1]
    [(('a',), ('a',), 1.0)]
    """
    corpus = make_corpus(candidates, references, source, against=against)
    return explain_corpus(corpus, make_plan(metrics, **settings), segments)


def parse_segments(texts: Sequence[str], total: int) -> list[int]:
    """Read numbers and ranges of segments of the corpus, each segment once, in the order given.

    >>> parse_segments(["7", "1-3", "2", "10"], 10)
    [7, 1, 2, 3, 10]
    """
    numbers: dict[int, None] = {}
    for text in texts:
        first, dash, last = text.partition("-")
        ends = (first, last if dash else first)
        if not all(end.isascii() and end.isdigit() and len(end) < 19 for end in ends):
            raise InputError(Parameter("segments"), f" takes a number from 1, or a range such as 4-9, not {text!r}")
        start, stop = map(int, ends)
        if start > stop:
            raise InputError(Parameter("segments", text), ": the range ends before it starts")
        for number in (start, stop):
            if not 1 <= number <= total:
                raise InputError(f"no segment {number}: the corpus has segments 1 to {total}")
        numbers.update(dict.fromkeys(range(start, stop + 1)))
    return list(numbers)


def explain_corpus(
    corpus: Corpus,
    metrics: GivenMetric | Plan = "bleu",
    segments: Sequence[int] = (1,),
    spans: Sequence[SpanTable] = (),
    progress: Progress | None = None,
) -> ResultList[Explanation]:
    """Show matched n-grams of chosen segments (numbered from 1) of every system, closest paths, edits, or findings.

    With `spans`, each explanation has the text with these, too. `progress` is called while the whole corpus is
    scored, as frequencies of words need.

    Raises
    ------
    InputError
        A number beyond the corpus, or a metric without single matches or findings.
    """
    segments = _checked(segments, len(corpus))
    if not segments:
        return ResultList[Explanation]()
    plan = make_plan(metrics)
    note_corpus(corpus, plan)
    for threshold in plan.recommended:
        note_threshold(threshold)
    explanations = _explained(corpus, plan, segments, progress)
    if plan.only.partial:
        picked = pick_segments(corpus, segments)
        explanations = ResultList[Explanation](
            replace(one, left=_left(plan.only, picked, one.system, segments.index(one.segment)))
            for one in explanations
        )
    if not spans:
        return explanations
    texts = pick_segments(corpus, segments).candidates
    return ResultList[Explanation](
        replace(one, marked=tuple(_marked(spans, one, texts[one.system][segments.index(one.segment)])))
        for one in explanations
    )


def _left(metric: Metric, texts: Segments, system: str, place: int) -> LeftReference:
    """Find where a candidate leaves the references."""
    tokenizer, codes = metric.tokenizer, Vocabulary()
    candidate = list(tokenizer.split(texts.candidates[system][place]))
    lines = [list(tokenizer.split(tokenizer.reference(line))) for line in texts.present()[place]]
    lined = codes.encode([candidate] * len(lines)), codes.encode(lines)
    aligned = metric.aligned_parts
    ends = reached(*lined, None if aligned is None else WordParts.of(codes, WORD_PARTS[aligned])).tolist()
    shared = [common_beginning(candidate, line) for line in lines]
    longest = max(shared)
    followed = lines[shared.index(longest)]
    leaves = longest < len(candidate)
    return LeftReference(
        longest if leaves else None,
        candidate[longest] if leaves else None,
        shared.index(longest),
        followed[longest] if leaves and longest < len(followed) else None,
        tuple(ends),
        tuple(map(len, lines)),
    )


def _marked(spans: Sequence[SpanTable], one: Explanation, text: str) -> Iterator[MarkedText]:
    for table in spans:
        for output in table.outputs.get(one.system, {}).get(one.segment - 1, ()):
            table.check_output(output, text, one.system, one.segment)
            yield MarkedText(table.name, text, output.spans)


def _explained(
    corpus: Corpus, plan: Plan, segments: Sequence[int], progress: Progress | None
) -> ResultList[Explanation]:
    metric = plan.only
    if isinstance(metric, ShowsEdits):
        return _judged(corpus, metric, segments)
    requires = metric.requires
    explainer = _paths if isinstance(metric, ShowsPaths) else _pairs if isinstance(metric, ShowsPairs) else _matches
    # Frequencies are those of the whole corpus.
    whole = requires.frequency or requires.idf == "references" or requires.by_annotator or plan.context
    chosen = corpus if whole else pick_segments(corpus, segments)
    numbers = segments if whole else range(1, len(segments) + 1)
    if isinstance(metric, JudgesLines | NamesCauses) or not (isinstance(metric, _SHOWN) or matcher_of(metric)):
        return _findings(pick_segments(corpus, segments), metric, segments, chosen, numbers)
    scores = None
    if explainer is not _paths and (not requires.source or chosen.source is not None or chosen.gold is not None):
        options = replace(_CHOSEN, progress=progress if whole else None)
        with running(chosen, plan.over(chosen, keep_rows=True), options) as runner:
            prepared = runner.prepared(metric)
            scores = segment_numbers(runner.collect(plan.metrics)[0])
    else:
        prepared = prepare_corpus(chosen, metric.tokenizer, Requirements(idf=requires.idf))
    words = prepared.table(metric.vector_choice, requires).words if metric.aligned_parts else None
    by_place: dict[tuple[int, int], Explanation] = {}
    start = 0
    for block in prepared.blocks():
        for place, (number, segment) in enumerate(zip(numbers, segments, strict=True)):
            if start < number <= start + len(block):
                for system, chunk in enumerate(block.chunks(number - 1 - start, number - start)):
                    name = prepared.systems[system]
                    _LIMIT.check_sum(**chunk.sizes)
                    chunk = seen_chunk(metric, chunk, words)
                    explanation = explainer(metric, prepared, name, segment, chunk)
                    if scores is not None:
                        explanation = replace(explanation, score=float(scores[system, number - 1]))
                    by_place[place, system] = explanation
        start += len(block)
    return ResultList[Explanation](by_place[key] for key in sorted(by_place))


def _checked(segments: Sequence[int], count: int) -> Sequence[int]:
    numbers: Sequence[int] = listed("segments", segments, "a list of numbers")
    for number in numbers:
        if not is_whole_number(number) or not 1 <= number <= count:
            raise InputError(f"no segment {number!r}: the corpus has segments 1 to {count}")
    return numbers


def _findings(
    texts: Segments, metric: Metric, segments: Sequence[int], corpus: Corpus, numbers: Sequence[int]
) -> ResultList[Explanation]:
    """Explain chosen segments, of these numbers in the corpus, by the parts of their score, and by findings."""
    measure: Any = at_level(metric, "segment")
    split = metric.tokenizer.split
    (statistics,) = collect_statistics(corpus, Plan((metric,)), _CHOSEN, keep_rows=True)
    explanations = ResultList[Explanation]()
    for place, (segment, number) in enumerate(zip(segments, numbers, strict=True)):
        first, last = statistics.offsets[number - 1 : number + 1]
        for (system, lines), rows in zip(texts.candidates.items(), statistics.rows, strict=True):
            words = tuple(split(lines[place]))
            (score,) = measure.aggregation.segment_scores(rows[first:last], np.array([0, last - first]))
            lined = isinstance(metric, JudgesLines)
            findings = measure.find(" ".join(words)) if lined else ()
            if isinstance(metric, NamesFaults):
                source = " ".join(split(texts.source[place])) if texts.source is not None else ""
                findings = measure.faults(" ".join(words), source, rows[number - 1])
            if isinstance(metric, NamesCauses):
                findings = measure.causes(rows[number - 1])
            references = () if lined else tuple(tuple(split(line)) for line in texts.references[place])
            explanations.append(Explanation(system, segment, words, references, (), score.score, score, findings))
    return explanations


def _judged(corpus: Corpus, metric: Metric, numbers: Sequence[int]) -> ResultList[Explanation]:
    """Explain by edits; which reference counts may go by the segments before."""
    alone = at_level(metric, "segment")
    part = pick_segments(corpus, numbers)
    judged, statistics = judge_corpus(part if alone.aggregation.by_segment else corpus, Plan((alone,)))
    scores = segment_numbers(statistics)
    explanations = ResultList[Explanation]()
    for place, number in enumerate(numbers):
        index = place if alone.aggregation.by_segment else number - 1
        for system, lines, score in zip(corpus.systems, judged, scores, strict=True):
            line = lines[index]
            text = tuple(metric.tokenizer.split(part.candidates[system][place]))
            explanations.append(Explanation(system, number, text, (), (), float(score[index]), edits=line))
    return explanations


def _matches(metric: Any, prepared: PreparedCorpus, system: str, segment: int, chunk: Chunk) -> Explanation:
    """Explain by the matches of a matcher."""
    requires = metric.requires
    vectors = prepared.table(metric.vector_choice, requires).words.vectors if requires.vectors else None
    matcher = metric.matching
    cells = chunk.candidates.lengths.sum() * chunk.references.lengths.sum()
    made = _explanation(system, segment, chunk, prepared.words, matcher.matches(chunk, vectors, metric.order))
    if vectors is None or not isinstance(matcher, SoftMatcher) or cells > LONG_CELLS:
        return made
    lower = _explanation(system, segment, chunk, prepared.words, matcher.closest(chunk, vectors, metric.order))
    matches = (
        replace(one, closest=other.reference, closest_similarity=other.similarity)
        if one.reference is None and other.reference is not None
        else one
        for one, other in zip(made.matches, lower.matches, strict=True)
    )
    return replace(made, matches=tuple(matches))


def _pairs(metric: Any, prepared: PreparedCorpus, system: str, segment: int, chunk: Chunk) -> Explanation:
    """Explain by the words that stand for each other."""
    (pairs,) = metric.pairs(chunk, prepared.table(metric.vector_choice, metric.requires).words)
    return replace(_explanation(system, segment, chunk, prepared.words, ()), pairs=pairs)


def _paths(metric: Any, prepared: PreparedCorpus, system: str, segment: int, chunk: Chunk) -> Explanation:
    """Explain by the path of a network that is closest; the words of the path replace the references."""
    words = prepared.table(metric.vector_choice, metric.requires).words
    (path,) = metric.paths(chunk, words, prepared.words)
    candidate = tuple(prepared.words[code] for code in chunk.candidates.codes.tolist())
    return Explanation(system, segment, candidate, (path.words,), (), path.score, path=path)


_SHOWN = JudgesLines | NamesCauses | ShowsPairs | ShowsPaths | ShowsEdits


def _explanation(
    system: str, segment: int, chunk: Chunk, words_of: Sequence[str], matched: Sequence[Matches]
) -> Explanation:
    """Write the matches of a chunk of one segment."""
    sides = (side.surface_forms(words_of) for side in (chunk.candidates, chunk.references))
    (candidate,), references = (list(map(tuple, lines)) for lines in sides)
    words = [word for text in (candidate, *references) for word in text]
    places = [(number, start) for number, text in enumerate(references) for start in range(len(text))]
    matches = []
    for n, made in enumerate(matched, start=1):
        columns = made.starts, made.matched, made.partner_starts, made.partner_orders
        for start, mass, partner, partner_order in np.column_stack(columns).tolist():
            ngram = tuple(words[start : start + n])
            met = tuple(words[partner : partner + partner_order]) if partner >= 0 else None
            number, place = places[partner - len(candidate)] if partner >= 0 else (None, None)
            matches.append(NgramMatch(n, start, ngram, met, number, place, mass / SCALE, ngram == met))
    return Explanation(system, segment, candidate, tuple(references), tuple(matches))


def judge_corpus(corpus: Corpus, plan: Plan) -> tuple[list[list[JudgedEdits]], Statistics]:
    """Judge the edits of every segment of every system by the metric of a plan; and return its statistics.

    Kinds are the types of the gold file. Those of other edits are what a file of the system's edits says, else of the
    gold edit that they touch, or `other`.
    Without gold edits kinds are operations. Raises `InputError` for a metric that shows no edits.
    """
    check_edits(plan.only)
    plan = plan.over(corpus, keep_rows=True)
    metric = plan.only
    shower: Any = metric
    blocks = [block.load() for block in corpus.blocks()]
    gold = [edits for block in blocks for edits in block.gold or ()]
    carried = [[edits for block in blocks for edits in block.edits.get(name, ())] for name in corpus.systems]
    with running(corpus, plan) as runner:
        prepared = runner.prepared(metric)
        words = prepared.table(metric.vector_choice, metric.requires).words if metric.requires.vectors else None
        plans: list[list[list[EditPlan]]] | None = None
        if isinstance(metric, PlansEdits) and words is not None:
            statistics, plans = _planned(prepared, metric, words.vectors)
        else:
            (statistics,) = runner.collect(plan.metrics)
        first = statistics.offsets[:-1]
        chosen = [metric.aggregation.chosen(rows, statistics.offsets) - first for rows in statistics.rows]
        judged: list[list[JudgedEdits]] = [[] for _ in chosen]
        for block in prepared.blocks():
            for number, chunk in enumerate(block.chunks(gold=True)):
                counted = chosen[number][len(judged[number]) : len(judged[number]) + len(block)].tolist()
                if plans is None:
                    judged[number] += shower.judge_edits(chunk, counted, words, prepared.words)
                else:
                    judged[number] += shower.judged_by(plans[number].pop(0), chunk.edits, counted)
    nothing = Annotation(0, ())
    named = [
        [
            _named(line, segment, edits)
            for line, segment, edits in zip(lines, gold or repeat(None), edited or repeat(nothing), strict=False)
        ]
        for lines, edited in zip(judged, carried, strict=True)
    ]
    return named, statistics


def _planned(
    prepared: PreparedCorpus, metric: Any, vectors: Vectors
) -> tuple[Statistics, list[list[list[EditPlan]]]]:
    """Statistics of a corpus, and the plans that they follow from, of each system and block."""
    plans: list[list[list[EditPlan]]] = [[] for _ in prepared.systems]
    counts = []
    for block in prepared.blocks():
        for number, chunk in enumerate(block.chunks(gold=True)):
            plans[number].append(metric.plans(chunk.edits or (), vectors))
        counts.append(np.diff(chunk.segment_offsets))
    rows = np.stack([np.concatenate(list(map(metric.rows_of, by_block))) for by_block in plans])
    return Statistics(prepared.systems, metric, rows, np.concatenate(counts), (0, 0)), plans


def check_edits(metric: Metric) -> None:
    """Check that a metric judges edits, before data is read."""
    if not isinstance(metric, ShowsEdits):
        said = f"metric {metric.name!r} finds no edits to tell kinds of: take m2 or cleme, with "
        raise InputError(said, Parameter("gold"))


def operation(edit: JudgedEdit) -> str:
    """Name the operation of an edit: `missing` inserts words, `unnecessary` deletes them, `replacement` does both."""
    start, end, _, _ = edit.spans
    return "missing" if start == end else "replacement" if edit.text else "unnecessary"


def _named(line: JudgedEdits, segment: GoldSegment | None, carried: Annotation) -> JudgedEdits:
    if segment is None:
        edits, gold = (
            tuple(replace(edit, kind=operation(edit)) for edit in side) for side in (line.edits, line.gold)
        )
        return replace(line, edits=edits, gold=gold)
    annotations = segment.annotations
    gold = tuple(replace(edit, kind=annotations[edit.origin[0]].compared[edit.origin[1]].kind) for edit in line.gold)
    edits = tuple(replace(edit, kind=_kind(number, line, gold, carried)) for number, edit in enumerate(line.edits))
    return replace(line, annotator=annotations[line.annotator].annotator, edits=edits, gold=gold)


def _kind(number: int, line: JudgedEdits, gold: Sequence[JudgedEdit], carried: Annotation) -> str:
    """Kind of the gold edit that an edit is, at least by half; else its own; else of a gold edit that it touches."""
    linked = sorted((-share, other) for one, other, share in line.links if one == number and share >= SAME_EDIT)
    gold_kinds = [gold[other].kind for _, other in linked]
    spans = line.edits[number].spans
    exact_first = sorted(carried.edits, key=lambda edit: (edit.start, edit.end) != spans[:2])
    own = [edit.kind for edit in exact_first if touch(spans, (edit.start, edit.end)) and edit.kind not in OPERATIONS]
    near = (edit.kind for edit in gold if edit.verdict != "hit" and touch(spans, edit.spans))
    return next(iter((*gold_kinds, *own, *near)), OTHER)


def unmatched_spans(
    corpus: Corpus, metric: GivenMetric | Plan, *, severity: str = MINOR, least_similarity: float = LEAST_SIMILARITY
) -> Table:
    """Find the words of each output that a metric matches with none of a reference; see `mark_unmatched`.

    The table has a row per span, segments from 1, characters from 0.
    """
    found, texts = mark_unmatched(corpus, metric, severity=severity, least_similarity=least_similarity)
    rows = [
        [system, number + 1, start, end, severity, texts[system][number][start:end]]
        for system, segments in found.outputs.items()
        for number, (output,) in segments.items()
        for start, end, severity in output.spans
    ]
    return Table(["system", "segment", "start", "end", "severity", "text"], rows, {"metric": found.name})


def mark_unmatched(
    corpus: Corpus,
    metric: GivenMetric | Plan,
    *,
    severity: str = MINOR,
    least_similarity: float = LEAST_SIMILARITY,
    name: str = "",
) -> tuple[SpanTable, dict[str, list[str]]]:
    """Find the words of each output that a metric matches with none of a reference, and return the outputs, too.

    Words in a row are one span.

    Metrics over n-grams match single words. Of metrics that compare every word with every other one, such as
    `softbleu`, a word is matched where its greatest similarity exceeds `least_similarity`.

    Parameters
    ----------
    corpus
        Outputs and their references.
    metric
        A metric that shows its matches, or aligns words.
    severity
        Of all spans: `minor` or `major`.
    least_similarity
        From 0 to 1.
    name
        Name of the spans; the metric's expression unless given.

    Raises
    ------
    InputError
        The metric matches no words.
    """
    plan = make_plan(metric)
    metric = plan.only
    known_name("severity", severity, (MINOR, MAJOR))
    if not 0 <= least_similarity <= 1:
        raise InputError(f"the least similarity is a number from 0 to 1, not {least_similarity}")
    if not isinstance(metric, ShowsPairs) and matcher_of(metric) is None:
        raise InputError(
            f"metric {metric.name!r} matches no words: take one that does, such as bleu, vleu, ter or meteor"
        )
    requires = requirements_of(metric)
    prepared = prepare_corpus(corpus, metric.tokenizer, requires)
    words = prepared.table(metric.vector_choice, requires).words if requires.table else None
    parts = [block.load().candidates for block in corpus.blocks()]
    texts = {system: [*chain.from_iterable(part[system] for part in parts)] for system in corpus.systems}
    outputs: dict[str, dict[int, list[MarkedOutput]]] = {system: {} for system in corpus.systems}
    first = 0
    with single_threaded_blas():
        for block in prepared.blocks():
            for system, chunk in zip(corpus.systems, block.chunks(), strict=True):
                lines = chunk.candidates.surface_forms(prepared.words)
                pairs = zip(lines, _matched_words(metric, chunk, words, least_similarity), strict=True)
                for number, (tokens, matched) in enumerate(pairs, start=first):
                    spans = _spans(tokens, matched.tolist(), texts[system][number], severity)
                    outputs[system][number] = [MarkedOutput(str(metric), tuple(spans))]
            first += len(block)
    return SpanTable(name or str(metric), outputs), texts


def _matched_words(metric: Metric, chunk: Chunk, words: WordTable | None, least: float) -> Iterator[Flags]:
    """Whether each word of each candidate is matched."""
    for start in range(0, len(chunk), MINI_BATCH):
        piece = chunk.part(start, min(start + MINI_BATCH, len(chunk)))
        piece = seen_chunk(metric, piece, words)
        lengths = piece.candidates.lengths
        matched = np.zeros(int(lengths.sum()), bool)
        ends = np.cumsum(lengths)
        if isinstance(metric, ShowsPairs):
            for first, pairs in zip((ends - lengths).tolist(), metric.pairs(piece, words), strict=True):
                for pair in pairs:
                    like = pair.kind not in _UNMATCHED if pair.similarity is None else pair.similarity > least
                    matched[first + pair.start : first + pair.start + pair.length] |= like
        elif (matcher := matcher_of(metric)) is not None:
            vectors = None if words is None else words.vectors
            single = matcher.matches(piece, vectors, 1)[0]
            matched[single.starts] = single.matched > 0
        yield from np.split(matched, ends[:-1])


def _spans(tokens: Sequence[str], matched: Sequence[bool], line: str, severity: str) -> Iterator[MarkedSpan]:
    """Spans of the tokens that are not matched, where the line has them.

    >>> list(_spans(["a", "b", "c"], [True, False, False], "a b c", "minor"))
    [MarkedSpan(start=2, end=5, severity='minor')]
    """
    start = end = -1
    for (first, last), like in zip(token_places(tokens, line), matched, strict=True):
        if like and start >= 0:
            yield MarkedSpan(start, end, severity)
            start = -1
        elif not like and first < last:
            start, end = first if start < 0 else start, last
    if start >= 0:
        yield MarkedSpan(start, end, severity)
