"""`softbleu edits`: the edits of corrections, as a .m2 file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

from softbleu.cli.command import command, setting
from softbleu.cli.inputs import TextOptions
from softbleu.config.languages import find_language
from softbleu.corpora import ParallelFiles, write_m2
from softbleu.corpora.edits import GoldSegment
from softbleu.corpora.files import look_at
from softbleu.engine.notes import foreign_text
from softbleu.errors import InputError, Parameter
from softbleu.io.progress import note
from softbleu.metrics.chinese import Merging
from softbleu.metrics.edit_types import rule_types
from softbleu.metrics.edits import Extraction, edit_texts, form_types


class EditsOptions(TextOptions, shared="tokenize encoding output"):
    """Options of `edits`.

    Attributes
    ----------
    source_text
        Text before correction, tokenised, a segment per line; - is standard input
    texts
        The same, corrected; of several texts, or targets of a table as in MuCGEC, each becomes an annotator
    extraction
        Edits by softbleu's own alignment, or by ERRANT (needs softbleu[errant])
    types
        Types of the edits: by form, in any language, or ERRANT's, by rules for English, which need no other package
    language
        Language of the text (any usual code, such as cs, zho_Hans or en-zh, the target): chooses the tokenizer and
        the rules that find edits, which get types by their form: case, punctuation, order, blanks, stem
    merging
        Rules by which changes in a row are one edit: ERRANT's, or in Chinese ChERRANT's
    """

    source_text: str = setting(argument=True, metavar="SOURCE", file="read")
    texts: tuple[str, ...] = setting(argument=True, metavar="OUTPUT", file="read")
    extraction: Extraction = setting("own", panel="Input")
    types: Literal["form", "rules"] | None = setting(None, unset="form with --language, else none", panel="Input")
    language: str | None = setting(None, metavar="CODE", panel="Input")
    merging: Merging | None = setting(None, unset="cherrant in Chinese, else errant", panel="Input")


@command
def edits(options: EditsOptions) -> None:
    """Find the edits that turn a source into corrected texts, and write them as .m2.

    Such a file is gold for --gold, or the edits of a system for -c.
    """
    language = None if options.language is None else find_language(options.language)
    split = options.tokenizer((language and language.tokenize) or "none").splitter
    target = options.open_target()
    source, targets = options.source_text, [*options.texts]
    several = any(look_at(name).texts("reference", options.encoding) for name in targets)
    # Of tables with several targets, rows lack some: references may be missing, and candidates not.
    outputs = [f"{source}:source" if look_at(source).form else source] if several else targets
    named = {f"{number} {name}": name for number, name in enumerate(outputs)}
    with ParallelFiles.open(named, targets if several else [], source, encoding=options.encoding) as corpus:
        opened = (corpus.source, *(corpus.references if several else corpus.candidates))
        files = [file for file in opened if file is not None]
        texts = [list(file.all_lines()) for file in files]
        english = language is None or language.code == "en"
        by_name = {file.name: lines for file, lines in zip(files, texts, strict=True)}
        if english and (foreign := foreign_text(by_name)):
            said = f"{foreign}, but its edits are found by rules for English: name the language ("
            note(said, Parameter("language"), ")")
        if options.types == "rules" and not english:
            raise InputError("types by rules are for English; for other languages take ", Parameter("types", "form"))
        types = form_types(options.language) if options.types == "form" else None
        types = rule_types() if options.types == "rules" else types
        found = edit_texts(
            *texts,
            extraction=options.extraction,
            language=options.language,
            split=split,
            types=types,
            merging=options.merging,
        )
        target.write(write_m2(_without_missing(found, texts[1:]) if several else found))


def _without_missing(segments: Sequence[GoldSegment], outputs: Sequence[Sequence[str]]) -> Iterator[GoldSegment]:
    """Leave out the annotators whose text of a segment is missing."""
    for segment, *lines in zip(segments, *outputs, strict=True):
        kept = tuple(one for one in segment.annotations if lines[one.annotator].strip())
        yield replace(segment, annotations=kept)
