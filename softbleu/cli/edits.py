"""`softbleu edits`: what corrections change, as a .m2 file."""

from softbleu.cli.command import Given, command
from softbleu.errors import Parameter


@command("edits", "source texts extraction language tokenize encoding output")
def edits(given: Given) -> None:
    """Find the edits that make corrected texts of their source, and write them as .m2.

    Such a file is gold for --gold, or the edits of a system for -c.
    """
    from softbleu.config.languages import find_language
    from softbleu.corpora import ParallelFiles, write_m2
    from softbleu.engine.notes import foreign_text
    from softbleu.io.progress import note
    from softbleu.metrics.edits import edit_texts

    language = None if given.language is None else find_language(given.language)
    split = given.tokenizer((language and language.tokenize) or "none").splitter
    place = given.open_place([given.source, *given.texts])
    named = {f"{number} {name}": name for number, name in enumerate(given.texts)}
    with ParallelFiles.open(named, [], given.source, encoding=given.encoding) as corpus:
        texts = [list(file.all_lines()) for file in (corpus.source, *corpus.candidates) if file is not None]
        english = language is None or language.code == "en"
        if english and (foreign := foreign_text(dict(zip([given.source, *given.texts], texts, strict=False)))):
            said = f"{foreign}, but its edits are found by rules for English: name the language ("
            note(said, Parameter("language"), ")")
        place.write(write_m2(edit_texts(*texts, extraction=given.extraction, language=given.language, split=split)))
