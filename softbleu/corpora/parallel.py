"""Parallel files: checks that they have the same segments, and alignment of files that do not."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice

from softbleu.corpora.blanks import cut_as_gold, needs_cut
from softbleu.corpora.edits import OLD_LINE_ENDS, GoldSegment
from softbleu.corpora.files import Look, TextFile, begins_essay, is_numbered, lines_of, open_text
from softbleu.corpora.labels import Documents
from softbleu.corpora.markup import SegmentKey
from softbleu.corpora.resegment import aligned_essays, cut_texts, note_groups, resegment
from softbleu.corpora.rows import HEAD
from softbleu.corpora.validation import count_blank, write_edited
from softbleu.errors import InputError, Parameter, counted
from softbleu.io.files import TemporaryFolder
from softbleu.io.progress import note
from softbleu.io.reading import STDIN, first_bytes, without_packing

_BLANK = re.compile(rb"\n[\s\x80-\xff]*\n")  # A blank line, or one without any ASCII
# Lines of sentences and texts up to the first line of an edit.
_EDITS = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:[ \t\r]*\n)*S(?: .*)?\r?\n(?:[SI](?: .*)?\n|T\d.*\n|[ \t\r]*\n)*A -?\d+ -?\d+\|\|\|"
)
_MOST_LONGER = 2  # Ratio of sizes up to which two texts may differ in line breaks alone


def has_edits(name: str) -> bool:
    """Whether a file holds edits, by its name or its first lines; `-` is standard input, of which nothing is read."""
    if without_packing(str(name)).lower().endswith(".m2"):
        return True
    peek = getattr(getattr(sys.stdin, "buffer", None), "peek", None)
    head = peek(HEAD) if name == STDIN and peek else first_bytes(str(name), HEAD)
    return _EDITS.match(head or b"") is not None


def write_drafts(
    folder: TemporaryFolder, edited: Mapping[str, Sequence[GoldSegment]], encoding: str
) -> dict[str, Look]:
    """Write the texts that edits of systems produce to files, by the name of the file of edits."""
    places = {name: folder.path / f"edited-{number}" for number, name in enumerate(edited)}
    for name, place in places.items():
        lines, _ = write_edited(edited[name], name)
        place.write_text("".join(f"{line}\n" for line in lines), encoding=encoding)
    return {name: Look(name, str(place), form="") for name, place in places.items()}


def check_named(
    named: Mapping[str, object], references: Sequence[object], source: str | None, gold: str | None
) -> None:
    """Check that candidates are given, and references, gold edits or a source."""
    if not named:
        raise InputError("no candidate file: name one with ", Parameter("candidates"))
    if not references and gold is None and source is None:
        raise InputError(
            "no reference file: name one with ",
            Parameter("references"),
            ", or with ",
            Parameter("source"),
            " for metrics without references, such as refless",
        )
    if references and gold is not None:
        either = (Parameter("references"), " or ", Parameter("gold"))
        raise InputError("gold edits make the references: leave out either ", *either)


def _resegmented(files: Sequence[TextFile], references: slice, edited: Collection[str]) -> list[list[str]]:
    """Cut candidates into the segments of the references; `files` are candidates, references and the source."""
    if not files[references]:
        raise InputError("outputs are cut by references: name them with ", Parameter("references"))
    for file in files[: references.start]:
        if file.name in edited:
            raise InputError(f"{file.name}: edits keep the segments of their source and cannot be resegmented")
    outputs = (file.all_lines() for file in files[: references.start])
    referred, source = (
        [list(file.all_lines()) for file in some] for some in (files[references], files[references.stop :])
    )
    made = cut_texts(outputs, referred, source)
    if any(file.lines != len(made[0]) for file in files[references.start :]):
        note_groups(len(made[0]))
    return made


def align_files(
    files: list[TextFile], references: slice, edited: Collection[str], folder: TemporaryFolder, *, resegment: bool
) -> tuple[list[TextFile], Documents | None]:
    """Align files of essays, with other line breaks or with markup; return them with the documents that they define.

    Files that change are written into the folder. Candidates come first, the source last.
    """
    made: Sequence[list[str] | None] = [None] * len(files)
    documents = None
    begun = [file.heading for file in files if file.heading]
    # A first line such as "# 0123" that only some files have is text.
    if begun and (len(begun) == len(files) or not all(map(is_numbered, begun))):
        made, documents = aligned_essays(files, references, cut=resegment)
    elif resegment:
        made = _resegmented(files, references, edited)
    elif any(file.keys is not None for file in files):
        made, documents = _in_order(files, references)
    changed = [
        file if lines is None else file.with_lines(lines, folder) for file, lines in zip(files, made, strict=True)
    ]
    return changed, documents


def _in_order(files: Sequence[TextFile], references: slice) -> tuple[list[list[str] | None], Documents | None]:
    """Order the lines of files with markup like the references, or else the source; None for files in order.

    A segment that one reference lacks is blank there. Segments without a reference are left out of the file with the
    references; of a table of targets also elsewhere. Returns the documents, too, if they are named. Raises
    `InputError`: any other file has other segments.
    """
    numbers = [number for number, file in enumerate(files) if file.keys is not None]
    leading = [number for number in numbers if number in range(len(files))[references]] or numbers[-1:]
    places: dict[SegmentKey, int] = {}
    for number in leading:
        places = {**(files[number].keys or {}), **places}
    order = sorted(places, key=places.__getitem__)
    first, made, left_out = files[leading[0]], list[list[str] | None](), 0
    for number, file in enumerate(files):
        keys = file.keys or {}
        if keys and number not in leading:
            _check_segments(file.name, first.name, order, keys)
            if file.path != first.path and not first.from_table:
                _check_segments(first.name, file.name, keys, places)
            left_out = max(left_out, len(keys) - len(order))
        lines = dict(zip(keys, file.all_lines(), strict=True)) if keys and list(keys) != order else {}
        if first.from_table and not keys and file.lines == first.rows > len(order):
            # A line for each row of the table, also for those without a reference.
            written = list(file.all_lines())
            lines = {key: written[place] for key, place in places.items()}
        made.append([lines.get(key, "") for key in order] if lines else None)
    loose = next((file for file, lines in zip(files, made, strict=True) if lines is None and file.keys is None), None)
    # Numbers at the end of ids, such as req-7, tell in which order a file without ids may be.
    ends = [re.search(r"\d{1,18}$", segment) for document, segment in order if not document]
    ids = [int(end[0]) for end in ends if end]
    if loose is not None and (ids != sorted(ids) or any(lines is not None for lines in made)):
        note(f"{loose.name} has no ids: its lines are taken in the order of {first.name}")
    if left_out:
        note(f"{first.name}: {counted(left_out, 'segment')} without a reference left out")
    documents = [document for document, _ in order]
    return made, Documents.of(documents, first.name) if any(documents) else None


def _check_segments(name: str, other: str, wanted: Iterable[SegmentKey], keys: Collection[SegmentKey]) -> None:
    """Check that a file has all segments of another."""
    for document, segment in wanted:
        if (document, segment) not in keys:
            of = f" of document {document!r}" if document else ""
            raise InputError(f"{name}: no segment {segment}{of}, which {other} has")


def split_as_gold(
    files: list[TextFile], texts: Mapping[int, str], gold: Sequence[GoldSegment], folder: TemporaryFolder
) -> None:
    """Split files into the words of gold edits where needed; `texts` maps file numbers to names of systems."""
    for number, name in texts.items() if needs_cut(gold) else ():
        lines = list(files[number].all_lines())
        if (cut := cut_as_gold(name, lines, gold)) is not lines:
            files[number] = files[number].with_lines(cut, folder)


def count_blank_lines(references: Sequence[TextFile]) -> int:
    """Count blank lines of reference files; see `count_blank`."""
    numbers = range(-(-references[0].lines // references[0].block))
    blocks = ([file.read(number) for file in references] for number in numbers)
    # Most blocks have no blank line: skip them before decoding.
    blank = (texts for texts in blocks if any(_BLANK.search(b"\n" + text) for text in texts))
    return sum(count_blank(zip(*map(lines_of, texts), strict=True)) for texts in blank)


def read_together(references: Sequence[str], encoding: str) -> list[tuple[str, ...]]:
    """Read files of references: the lines of each segment. Raises InputError for different numbers of lines."""
    texts = [list(open_text(name, encoding, "reference")) for name in references]
    for name, lines in zip(references, texts, strict=True):
        if len(lines) != len(texts[0]):
            message = f"{name} has {counted(len(lines), 'line')}, {references[0]} has {len(texts[0]):,}"
            raise InputError(f"different numbers of lines: {message}")
    return list(zip(*texts, strict=True))


def cut_file(candidate: str, references: Sequence[str], encoding: str = "utf-8") -> list[str]:
    """Cut an output file into the segments of its references; see `resegment`.

    Raises `InputError`: no references, references of different lengths or from standard input, or essays.
    """
    if not references or STDIN in references:
        raise InputError("outputs are cut by references: name them with ", Parameter("references"))
    texts = read_together(references, encoding)
    if not texts:
        raise InputError(f"an empty corpus: {references[0]} has no lines")
    lines = list(open_text(candidate, encoding, "candidate"))
    if begins_essay(lines) or begins_essay([first for first, *_ in texts]):
        cut = "; cut them while they are scored with ", Parameter("resegment")
        see = ", or see which lines belong together with ", Parameter("groups")
        raise InputError("essays (### essay_id = …) cannot be cut as one text", *cut, *see)
    return resegment(lines, texts).texts


def check_lines(files: Sequence[TextFile], references: slice, gold: str | None, sentences: int) -> None:
    """Check that all files have as many lines as a file of gold edits has sentences, or as the first reference."""
    model = files[references.start] if gold is None else None
    count = sentences if model is None else model.lines
    where = f"{gold} has {sentences} sentences" if model is None else f"{model.name} has {counted(count, 'line')}"
    for file in files if model is None else (*files[references.start :], *files[: references.start]):
        if file.lines == 1 and next(file.all_lines()).rstrip("\r").count("\r") > 1:
            raise InputError(f"{file.name}: {OLD_LINE_ENDS}")
        if file.lines != count:
            kind, mend = ("segments", []) if model is None else ("lines", _mend(file, model))
            message = f"{file.name} has {counted(file.lines, 'line')}, {where}"
            raise InputError(f"different numbers of {kind}: {message}", *mend)
    if not count:
        raise InputError(f"an empty corpus: {where.replace(' has 0 ', ' has no ')}")


def _mend(file: TextFile, other: TextFile) -> list[str | Parameter]:
    """Return advice for two files with different numbers of lines; it ends the message of the error."""
    shorter, longer = sorted((file, other), key=lambda each: each.lines)
    if not any(map(str.strip, islice(longer.all_lines(), shorter.lines, None))):
        return [f"; {longer.name} is blank from line {shorter.lines + 1} on: remove these lines"]
    less, more = sorted((file, other), key=lambda each: each.ends[-1])
    if not less.ends[-1]:
        return [f"; {less.name} is empty"]
    if more.ends[-1] > _MOST_LONGER * less.ends[-1]:
        return [f"; {less.name} lacks text, not only line breaks: softbleu check finds the place"]
    return ["; if only the line breaks differ, add ", Parameter("resegment", True), " to score or compare"]
