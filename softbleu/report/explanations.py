"""Explained segments and chosen lines: matched n-grams, closest paths, errors, scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from softbleu.errors import counted, one_line
from softbleu.formats import BOLD, Layout, Writers, dump, json_document, lay_out, table_writers, view_table
from softbleu.report.html import explained, page_fold, page_notes, page_section, page_table, static_page
from softbleu.tables import ResultList, Table

if TYPE_CHECKING:
    from softbleu.analysis.lines import ChosenLine
    from softbleu.language import Finding
    from softbleu.metrics.protocols import ClosestPath
    from softbleu.results.explain import Explanation, LeftReference, NgramMatch

_STYLES = {"=": "32", "~": "33", "-": "90", "+": "90"}  # Green, yellow, grey, grey: codes of a terminal
_VERDICTS = {"hit": "32", "wrong": "31", "over": "33", "missed": "90"}
_FOUND = {"misspelt": "31", "error": "31", "unlikely": "33", "lost": "33"}  # Red, yellow


def explain_json(explanations: Sequence[Explanation], layout: Layout) -> Iterator[str]:
    """Write one JSON object, one segment per line; positions count from 0, segments from 1."""
    return json_document({}, segments=map(_as_dict, explanations))


def explain_jsonl(explanations: Sequence[Explanation], layout: Layout) -> Iterator[str]:
    """Write one JSON object per explained segment."""
    yield from (f"{dump(_as_dict(explanation))}\n" for explanation in explanations)


def _as_dict(explanation: Explanation) -> dict[str, object]:
    """Return plain data; only explanations of partial scores say where references are left."""
    return {name: value for name, value in asdict(explanation).items() if name != "left" or value is not None}


def explain_text(explanations: Sequence[Explanation], layout: Layout) -> Iterator[str]:
    """Write the n-grams (`=` exact match, `~` soft match, `-` no match), the path or the findings of each segment.

    In a path `~` is a substitution, `-` a word that only the candidate has, `+` a word that only the path has.
    """
    for number, explanation in enumerate(explanations):
        yield "\n" if number else ""
        for block in _explain(explanation, layout.decimals()):
            yield layout.styled(block.title, BOLD) + "\n" if block.title else ""
            right = [head in ("similarity", "cost") for head in block.heads]
            for row, line in zip(block.rows, lay_out(block.rows, right) if block.rows else (), strict=True):
                yield layout.styled(f"  {line}" if block.styles else line, block.style(row)) + "\n"


def explain_html(explanations: Sequence[Explanation], layout: Layout) -> Iterator[str]:
    """Write a page without scripts: the line with the lowest score in a sentence, and what each line matched."""
    scored = [(one.score, one) for one in explanations if one.score is not None]
    lines = counted(len(explanations), "explained line")
    score, least = min(scored, key=lambda pair: pair[0], default=(0.0, None))
    shown = f"segment {least.segment} of {least.system}" if least else ""
    said = least and f"Of the lines on this page, {shown} has the lowest score: {score:.{layout.decimals()}f}"
    return static_page(lines, "", _page_content(explanations, layout), verdict=f"{said or lines}.")


def _page_content(explanations: Sequence[Explanation], layout: Layout) -> Iterator[str]:
    yield from page_notes(["= the same · ~ similar · - only in the output · + only in the reference"])
    for explanation in explanations:
        texts, *blocks = _explain(explanation, layout.decimals())
        content = [*explained({name: text for name, text in texts.rows})]  # noqa: C416
        for number, block in enumerate(blocks):
            content += page_fold(block.title or "Matches", page_table(block.table()), opened=number == 0)
        yield from page_section(texts.title, content)


class _Block(NamedTuple):
    """Rows of an explanation below a title."""

    title: str
    rows: Sequence[Sequence[str]]
    heads: Sequence[str]
    styles: Mapping[str, str] = {}  # Codes of a terminal by the match of a row, or its first cell; empty: plain

    def style(self, row: Sequence[str]) -> str:
        """Return the code of a row."""
        return self.styles[row[self.heads.index("match") if "match" in self.heads else 0]] if self.styles else ""

    def table(self) -> Table:
        """Make the table of a page."""
        return Table(self.heads, self.rows, verbatim=self.heads, text_columns=len(self.heads))


def explanation_records(explanations: Sequence[Explanation], layout: Layout) -> Table:
    """Make a row per candidate n-gram, step of a path, total, finding or pair of edits; positions count from 0."""
    from softbleu.language import Finding
    from softbleu.metrics.protocols import EditStep
    from softbleu.results.explain import AlignedWords, EditPair, Explanation, NgramMatch

    def table(kind: type[Any], rows_of: Callable[[Explanation], Iterable[Any]]) -> Table:
        rows = []
        for one in explanations:
            for row in rows_of(one):
                cells = [" ".join(value) if isinstance(value, tuple) else value for value in vars(row).values()]
                rows.append([one.system, one.segment, *cells])
        return Table(["system", "segment", *kind.__dataclass_fields__], rows)

    if any(explanation.pairs is not None for explanation in explanations):
        return table(AlignedWords, Explanation.word_pairs)
    if any(explanation.numbers for explanation in explanations):
        return table(Finding, Explanation.figures)
    if any(explanation.path is not None for explanation in explanations):
        steps = table(EditStep, lambda one: one.path.steps if one.path else ())
        return replace(steps, columns=["system", "segment", "candidate", "path", "arc", "cost"])
    if any(explanation.edits for explanation in explanations):
        return table(EditPair, Explanation.edit_pairs)
    return table(NgramMatch, lambda one: one.matches)


def _explain(explanation: Explanation, digits: int) -> list[_Block]:
    """Format an explanation as blocks of rows; the first has the texts."""
    several = len(explanation.references) > 1
    texts = [["candidate", _words(explanation.candidate)]]
    for number, reference in enumerate(explanation.references, start=1):
        name = "path" if explanation.path else f"reference {number}" if several else "reference"
        texts.append([name, _words(reference)])
    if explanation.left is not None:
        texts += _left(explanation.left)
    score = "" if explanation.score is None else f": {explanation.score:.{digits}f}"
    blocks = [
        _Block(f"segment {explanation.segment}, {one_line(explanation.system)}{score}", texts, ["name", "text"])
    ]
    if explanation.marked:
        blocks.append(
            _Block("", [[f"by {one.by}", one_line(str(one))] for one in explanation.marked], ["by", "text"])
        )
    if explanation.numbers is not None:
        if shown := explanation.numbers.shown():
            numbers = ", ".join(f"{short} {number:.{digits}f}" for short, number in shown.items())
            blocks.append(_Block("", [[numbers]], ["numbers"]))
        rows = [_finding(finding, digits) for finding in explanation.findings]
        blocks.append(_Block("", rows, ["kind", "text", "note"], _FOUND))
    if explanation.path:
        blocks.append(_steps(explanation.path, digits))
    if explanation.pairs is not None:
        blocks.append(_aligned(explanation, digits, several))
    if explanation.edits is not None:
        blocks.append(_edits(explanation, digits))
    for order, group in groupby(explanation.matches, key=lambda match: match.order):
        matches = list(group)
        matched = sum(match.similarity for match in matches)
        rows = [_row(match, digits, several) for match in matches]
        heads = ["candidate", "match", "similarity", "reference", *["of"] * several]
        blocks.append(_Block(f"{order}-grams: {matched:.{digits}f} of {len(matches)}", rows, heads, _STYLES))
    return blocks


def _left(left: LeftReference) -> list[list[str]]:
    """Format how much of each reference has been reached, and where the candidate leaves them."""
    named = f"reference {left.reference_number + 1}" if len(left.lengths) > 1 else "the reference"
    ends = [f"{end:,} of {length:,} tokens" for end, length in zip(left.reached, left.lengths, strict=True)]
    if left.place is None:
        said = f"nowhere: a beginning of {named}"
    else:
        there = "ends before" if left.expected is None else f"has '{left.expected}'"
        said = f"at token {left.place + 1:,}, '{left.word}', where {named} {there}"
    return [["reached", ", ".join(ends)], ["left", one_line(said)]]


def _finding(finding: Finding, digits: int) -> list[str]:
    number = "" if finding.value is None else f"{finding.value:.{digits}f}"
    said = "  ".join(filter(None, (number, finding.message)))
    return [finding.kind, one_line(finding.text), one_line(said)]


def _edits(explanation: Explanation, digits: int) -> _Block:
    """Format edits: source words, correction, and the same or a similar gold edit."""
    rows = []
    for pair in explanation.edit_pairs():
        become = "" if pair.correction is None else f"→ {pair.correction}"
        gold = "" if pair.gold is None else f"gold: {pair.gold}"
        share = f"{pair.share:.{digits}f}" if 0 < pair.share < 1 else ""
        rows.append([pair.verdict, *(one_line(cell) for cell in (pair.kind, pair.source, become, gold)), share])
    return _Block("", rows, ["verdict", "kind", "source", "correction", "gold", "share"], _VERDICTS)


def _aligned(explanation: Explanation, digits: int, several: bool) -> _Block:
    """Format aligned words of candidate and reference, and the kind of match."""
    rows = []
    for pair in explanation.word_pairs():
        sign = _sign(pair.candidate, pair.reference, same=pair.kind == "exact")
        number = [f"reference {pair.reference_number + 1}"] if several else []
        similarity = "" if pair.similarity is None else f"{pair.similarity:.{digits}f}"
        rows.append([one_line(pair.candidate), sign, one_line(pair.reference), pair.kind, *number, similarity])
    return _Block("", rows, ["candidate", "match", "reference", "kind", *["of"] * several, "alike"], _STYLES)


def _sign(candidate: str, reference: str, *, same: bool) -> str:
    return "=" if same else "-" if not reference else "~" if candidate else "+"


def _steps(path: ClosestPath, digits: int) -> _Block:
    kinds = ", ".join(f"{count} {kind}" for kind, count in path.kinds.items())
    title = f"edits: {path.edits:.{digits}f} of {path.length:.{digits}f} words (arcs: {kinds or 'none'})"
    rows = []
    for step in path.steps:
        sign = _sign(step.candidate, step.word, same=step.candidate == step.word)
        rows.append([_words([step.candidate]), sign, f"{step.cost:.{digits}f}", _words([step.word]), step.kind])
    return _Block(title, rows, ["candidate", "match", "cost", "path", "arc"], _STYLES)


def _row(match: NgramMatch, digits: int, several: bool) -> list[str]:
    sign = "-" if match.reference is None else "=" if match.exact else "~"
    similarity = 0.0 if match.reference is None else match.similarity
    met = _words(match.reference or ())
    if match.closest is not None and match.closest_similarity is not None:
        met = f"closest: {_words(match.closest)} ({match.closest_similarity:.{digits}f})"
    cells = [_words(match.candidate), sign, f"{similarity:.{digits}f}", met]
    number = "" if match.reference is None else f"reference {(match.reference_number or 0) + 1}"
    return [*cells, number] if several else cells


def _words(words: Sequence[str]) -> str:
    return one_line(" ".join(words))


def lines_text(lines: Sequence[ChosenLine], layout: Layout) -> Iterator[str]:
    """Write each line with its scores, candidates, references and source."""
    for number, line in enumerate(lines):
        yield "\n" if number else ""
        yield layout.styled(f"segment {line.segment}, {_by(line, layout.decimals())}", BOLD) + "\n"
        rows = [
            [one_line(system), *(f"{score:.{layout.decimals()}f}" for score in scores), one_line(text)]
            for system, scores, text in zip(line.systems, line.scores, line.candidates, strict=True)
        ]
        blank = [""] * len(line.metrics)
        rows += [["reference", *blank, one_line(text)] for text in line.references]
        rows += [] if line.source is None else [["source", *blank, one_line(line.source)]]
        pairs = zip(line.systems, line.kinds, strict=bool(line.kinds))
        rows += [[f"edits of {one_line(system)}", *blank, one_line(kinds)] for system, kinds in pairs]
        yield from (f"{row}\n" for row in lay_out(rows, [False, *[True] * len(blank), False]))
    yield f"\nscores: {', '.join(lines[0].metrics)}\n" if lines else "nothing found\n"


def _by(line: ChosenLine, digits: int) -> str:
    if line.kind == "worst":
        return f"{line.by:.{digits}f}"
    return f"difference {line.by:+.{digits}f}" if line.kind == "different" else f"ranks {line.by:+.0%} apart"


EXPLAINERS: Writers[Sequence[Explanation]] = table_writers(
    explanation_records, text=explain_text, json=explain_json, jsonl=explain_jsonl, html=explain_html
)
LINE_WRITERS: Writers[ResultList[ChosenLine]] = table_writers(view_table, text=lines_text)
