"""`softbleu corpora`: a grammar in, sentences or aligned pairs out."""

from typing import Any

from softbleu.cli.command import Given, command


@command(
    "corpora generate",
    "grammar encoding pairing count all seed max_depth sampling distinct synonyms category alternate noise format "
    "output",
)
def generate_text(given: Given) -> None:
    """Generate a corpus from a grammar: sentences, or pairs with gold alignments and labels."""
    from softbleu.corpora.generate import GenerationSettings, format_for, generate

    target = given.open_place([given.grammar])
    chosen = given.values("grammar pairing seed count max_depth sampling distinct encoding")
    settings = GenerationSettings(**chosen, every=given.all, paraphrase=_paraphrase_settings(given))
    with given.progress("generating") as progress:
        target.write(generate(settings).lines(given.format or format_for(given.output), progress))


def _paraphrase_settings(given: Given) -> Any:
    """Settings of paraphrases from the options that were given."""
    from softbleu.corpora.generate import ParaphraseSettings
    from softbleu.errors import InputError

    chosen = {name: value for name, value in given.values("synonyms category alternate").items() if value is not None}
    for text in given.noise:
        name, _, rate = text.partition("=")
        try:
            chosen["noise"] = (*chosen.get("noise", ()), (name, float(rate)))
        except ValueError:
            raise InputError(f"--noise {text!r} is not NAME=RATE, e.g. drop=0.1") from None
    if chosen and given.pairing != "paraphrase":
        raise InputError(f"--{next(iter(chosen))} needs --pairing paraphrase")
    return ParaphraseSettings(**chosen)
