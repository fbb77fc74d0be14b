"""`softbleu edits`: the edits of corrections, as a .m2 file, and the texts that such a file makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from softbleu.cli.command import command, setting
from softbleu.cli.inputs import TextOptions
from softbleu.cli.output import STDOUT, Target
from softbleu.config.languages import find_language
from softbleu.corpora import ParallelFiles, read_m2, write_m2
from softbleu.corpora.edits import annotator_texts, choose_annotators
from softbleu.corpora.files import look_at
from softbleu.corpora.parallel import has_edits
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
        Text before correction, tokenised, a segment per line, or a .m2 file; - is standard input
    texts
        The same, corrected; of several texts, or targets of a table as in MuCGEC, each becomes an annotator. Without
        any, the edits of a .m2 file are written again. If a text is an annotator's in every line, so are its edits
    text
        Write the texts that the edits of a .m2 file make: of one annotator, or each into its file (-o ref{}.txt)
    chosen_annotators
        Annotators of the .m2 file to keep, by number (0,2), or to leave out, with a minus (-1)
    extraction
        Edits by softbleu's own alignment, or by ERRANT (needs softbleu[errant]); of a .m2 file, instead of its own
    types
        Types of the edits: by form, in any language, or ERRANT's, by rules for English, which need no other package
    language
        Language of the text (any usual code, such as cs, zho_Hans or en-zh, the target): chooses the tokenizer and
        the rules that find edits, which get types by their form: case, punctuation, order, blanks, stem
    merging
        Rules by which changes in a row are one edit: ERRANT's, in Chinese ChERRANT's, or none (spelling: each changed
        word, in Chinese each character)
    """

    like = "softbleu score"
    source_text: str = setting(argument=True, metavar="SOURCE", file="read")
    texts: tuple[str, ...] = setting((), argument=True, metavar="OUTPUT", file="read")
    text: bool = setting(False)
    chosen_annotators: str | None = setting(None, name="annotators", metavar="N,N", unset="all", panel="Input")
    extraction: Extraction | None = setting(None, unset="own; of a .m2 file its edits", panel="Input")
    types: Literal["form", "rules"] | None = setting(None, unset="form with --language, else none", panel="Input")
    language: str | None = setting(None, metavar="CODE", panel="Input")
    merging: Merging | None = setting(None, unset="cherrant in Chinese, else errant", panel="Input")


@command
def edits(options: EditsOptions) -> None:
    """Find the edits that turn a source into corrected texts, and write them as .m2.

    Such a file is gold for --gold, or the edits of a system for -c. Of a .m2 file, write its edits again, with other
    types or of some annotators, or the texts that they make.
    """
    gold = has_edits(options.source_text)
    if options.text if options.texts else not gold:
        raise InputError("give a .m2 file alone, or a source and corrected texts")
    if options.chosen_annotators and not gold:
        raise InputError(f"{options.source_text} has no annotators: give a .m2 file")
    idle = ("tokenize", "merging") if gold and not options.texts and options.extraction is None else ()
    for name in (*idle, *(("extraction", "types", "language", "merging") if options.text else ())):
        if getattr(options, name) is not None:
            said = "texts have the words of the file" if options.text else "edits of a .m2 file stand as they are"
            raise InputError(f"{said}: leave out ", Parameter(name))
    if options.text:
        absent = read_m2(options.source_text, options.encoding, absent_annotators="unchanged")
        _write_texts(options, annotator_texts(choose_annotators(absent, [options.chosen_annotators or ""])))
        return
    target = options.open_target()
    language = None if options.language is None else find_language(options.language)
    english = language is None or language.code == "en"
    if options.types == "rules" and not english:
        raise InputError("types by rules are for English; for other languages take ", Parameter("types", "form"))
    split = options.tokenizer((language and language.tokenize) or "none").splitter
    types = form_types(options.language) if options.types == "form" else None
    types = rule_types() if options.types == "rules" else types
    how: dict[str, Any] = {name: getattr(options, name) for name in ("extraction", "language", "merging")}
    several = any(look_at(name).texts("reference", options.encoding) for name in options.texts)
    # Of tables with several targets, rows lack some: references may be missing, and candidates not.
    how |= {"blank_outputs": "missing"} if several else {}
    texts = _read(options, gold=gold, several=several, english=english)
    target.write(write_m2(edit_texts(*texts, split=split, types=types, **how)))


def _write_texts(options: EditsOptions, texts: Mapping[int, Sequence[str]]) -> None:
    """Write the text of one annotator, or of each into a file with its number in the place of `{}`."""
    name = options.output or STDOUT
    if len(texts) > 1 and "{}" not in name:
        said = f"texts of {len(texts)} annotators ({', '.join(map(str, texts))}): write each into a file by "
        raise InputError(said, Parameter("output", "ref{}.txt"), ", or choose one by ", Parameter("annotators"))
    targets = [Target.of(name.replace("{}", str(number)), options.input_files()) for number in texts]
    for target, lines in zip(targets, texts.values(), strict=True):
        target.write(f"{line}\n" for line in lines)


def _read(options: EditsOptions, *, gold: bool, several: bool, english: bool) -> list[Any]:
    """Read the source, or the segments of a .m2 file, and the corrected texts; notes texts that are not English."""
    source, targets = options.source_text, [*options.texts]
    first = [choose_annotators(read_m2(source, options.encoding), [options.chosen_annotators or ""])] if gold else []
    if not targets:
        return first
    outputs = [f"{source}:source" if look_at(source).form else source] if several else targets
    named = {f"{number} {name}": name for number, name in enumerate(outputs)}
    of_source: dict[str, Any] = {"gold": source} if gold else {"source": source}
    with ParallelFiles.open(named, targets if several else [], encoding=options.encoding, **of_source) as corpus:
        files = [*([corpus.source] if corpus.source else []), *(corpus.references if several else corpus.candidates)]
        if english and (foreign := foreign_text({file.name: file.all_lines() for file in files})):
            said = f"{foreign}, but its edits are found by rules for English: name the language ("
            note(said, Parameter("language"), ")")
        return [*first, *([*file.all_lines()] for file in files)]
