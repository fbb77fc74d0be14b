"""Files of edits, `.m2`: source sentences and the edits that annotators made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from softbleu.corpora.edits import NO_CORRECTION, Annotation, Edit, GoldSegment
from softbleu.corpora.files import numbered_lines
from softbleu.errors import InputError
from softbleu.io.arguments import Limit
from softbleu.io.data_files import parse_whole

_LIMIT = Limit("a gold file", "annotators of a sentence", 5000, "20 annotators", "leave some out")
_NOOP = Edit(-1, -1, "noop", ())
_FIELDS = "start end|||type|||correction|||required|||comment|||annotator"
_BAR, _LIKE_BAR = "&verbar;", "&verbar"  # In corrections, where a bar would separate them


def read_m2(name: str, encoding: str = "utf-8") -> list[GoldSegment]:
    """Read a file of gold corrections (also `.gz`; `-` is standard input).

    A sentence is a line `S words…`, then a line `A start end|||type|||correction|||required|||comment|||annotator`
    for each edit, then an empty line. `||` separates alternatives of a correction. An edit of type `noop`, or
    from -1 to -1, says that the annotator found nothing wrong. A sentence without edits is correct. An
    annotator without a line does not count where others have one. Lines `I …` are skipped. Raises `InputError`, which
    names the line, if the file has no sentences or a line is invalid.
    """
    segments = list(_parse(numbered_lines(name, encoding)))
    if not segments:
        raise InputError(f"{name}: no sentences: lines like 'S words of the sentence' are expected")
    return segments


def write_m2(segments: Iterable[GoldSegment]) -> Iterator[str]:
    """Write sentences and their edits as a `.m2` file has them, a piece of text each; see `read_m2`.

    An annotator without edits has a line of type `noop`. Where bars in a correction would be taken for what separates
    corrections and fields, they are written as ``&verbar;``, which `read_m2` reads as bars.

    Examples
    --------
    >>> print(*write_m2([GoldSegment("he eat", (Annotation(0, (Edit(1, 2, "Vform", ("eats",)),)),))]))
    S he eat
    A 1 2|||Vform|||eats|||REQUIRED|||-NONE-|||0
    <BLANKLINE>
    """
    for segment in segments:
        lines = [f"S {segment.source}"]
        for annotation in segment.annotations:
            for edit in annotation.edits or (_NOOP,):
                text = "||".join(_escaped(text) or NO_CORRECTION for text in edit.corrections) or NO_CORRECTION
                text = "" if edit.corrections == ("",) else text
                fields = (edit.kind, text, edit.required, edit.comment, str(annotation.annotator))
                lines.append("|||".join((f"A {edit.start} {edit.end}", *fields)))
        yield "\n".join((*lines, "", ""))


def _escaped(text: str) -> str:
    """Write bars so that they separate nothing.

    >>> _escaped("a || b"), _escaped("a | b"), _unescaped(_escaped("&verbar; &#124; ||"))
    ('a &verbar;&verbar; b', 'a | b', '&verbar; &#124; ||')
    """
    if "||" in text or _LIKE_BAR in text or text[:1] == "|" or text[-1:] == "|":
        return text.replace(_LIKE_BAR, f"{_LIKE_BAR}x").replace("|", _BAR)
    return text


def _unescaped(text: str) -> str:
    return text.replace(_BAR, "|").replace(f"{_LIKE_BAR}x", _LIKE_BAR)


def _parse(lines: Iterator[tuple[str, str]]) -> Iterator[GoldSegment]:
    source: str | None = None
    words = 0
    edits: dict[int, list[Edit]] = {}
    for where, line in lines:
        mark, _, rest = line.partition(" ")
        if mark == "S":
            if source is not None:
                yield _segment(source, edits)
            tokens = rest.split()
            source, words, edits = " ".join(tokens), len(tokens), {}
        elif mark == "A":
            if source is None:
                raise InputError(f"{where}: an edit before any sentence: begin sentences with 'S '")
            annotator, edit = _read_edit(where, rest, words)
            edits.setdefault(annotator, []).extend([] if edit is None else [edit])
            _LIMIT.check(len(edits), where)
        elif line.strip() and mark != "I":
            raise InputError(f"{where}: neither a sentence ('S …') nor an edit ('A …'): {line[:30]!r}")
    if source is not None:
        yield _segment(source, edits)


def _segment(source: str, edits: dict[int, list[Edit]]) -> GoldSegment:
    annotations = tuple(Annotation(annotator, tuple(edits[annotator])) for annotator in sorted(edits))
    return GoldSegment(source, annotations or (Annotation(0, ()),))


def _read_edit(where: str, text: str, words: int) -> tuple[int, Edit | None]:
    """Annotator, and the edit; None where nothing is to be changed."""
    fields = text.split("|||")
    if len(fields) != 6:
        raise InputError(f"{where}: {len(fields)} fields, not 6: write 'A {_FIELDS}'")
    span, kind, correction, required, comment, annotator = (field.strip() for field in fields)
    try:
        start, end = (parse_whole(number) for number in span.split())
        number = parse_whole(annotator)
    except ValueError:
        raise InputError(f"{where}: start, end and annotator are whole numbers: write 'A {_FIELDS}'") from None
    if number < 0:
        raise InputError(f"{where}: annotators are numbered from 0, not {number}")
    if kind.lower() == "noop" or (start, end) == (-1, -1):
        return number, None
    if not 0 <= start <= end <= words:
        raise InputError(f"{where}: no words {start} to {end} in a sentence of {words} words")
    alternatives = () if correction == NO_CORRECTION else tuple(map(_unescaped, correction.split("||")))
    corrections = tuple("" if text.strip() == NO_CORRECTION else " ".join(text.split()) for text in alternatives)
    return number, Edit(start, end, kind, corrections, required, comment)
