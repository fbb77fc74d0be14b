"""`softbleu corpora`: a grammar in, sentences or aligned pairs out; files to try commands on; published test sets."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from softbleu.cli.command import command, setting
from softbleu.cli.options import Common
from softbleu.cli.output import Target
from softbleu.config.declare import own_settings
from softbleu.errors import InputError
from softbleu.io.arguments import read_number
from softbleu.io.files import required_resource
from softbleu.io.progress import note

if TYPE_CHECKING:
    from softbleu.corpora.generate import ParaphraseSettings


def _grammar_names() -> Iterable[str]:
    """Return the names of bundled grammars."""
    from softbleu.corpora.grammar import grammar_names

    return grammar_names()


class GenerateOptions(Common, shared="encoding output"):
    """Options of `corpora generate`.

    Attributes
    ----------
    grammar
        File in NLTK's notation, or morgan2014, agreement, modifiers, alternations, reports
    pairing
        none: sentences; halves: all sentences, shuffled and paired; paraphrase: each with a paraphrase
    count
        Number of sentences or pairs
    every
        Generate all sentences of the grammar, in order
    seed
        The same seed gives the same corpus
    max_depth
        Greatest depth of a derivation, words counted
    sampling
        Draw by the weights of the rules, or each derivation equally likely: uniform
    distinct
        Draw each sentence or pair at most once
    synonyms
        Probability that a synonym replaces a word
    category
        Probability that another word of its category replaces it
    alternate
        Probability of a declared alternation
    noise
        Noise at each token: swap, drop, insert, substitute or function
    format
        plain (sentences), pairs ('candidate ||| reference'), tsv or jsonl
    """

    grammar: str = setting(
        "morgan2014",
        flags=("-g",),
        metavar="FILE|NAME",
        file="read",
        complete=_grammar_names,
        panel="Input",
        common=True,
    )
    pairing: Literal["none", "halves", "paraphrase"] = setting("none", panel="Generation", common=True)
    count: int | None = setting(None, panel="Generation", common=True)
    every: bool = setting(False, name="all", panel="Generation", common=True)
    seed: int = setting(0, panel="Generation", common=True)
    max_depth: int | None = setting(None, unset="none, or 20 for recursive grammars", panel="Generation")
    sampling: Literal["weights", "uniform"] = setting("weights", panel="Generation")
    distinct: bool = setting(False, panel="Generation")
    synonyms: float | None = setting(None, least=0, most=1, metavar="0..1", unset="0.5", panel="Paraphrases")
    category: float | None = setting(None, least=0, most=1, metavar="0..1", unset="0", panel="Paraphrases")
    alternate: float | None = setting(None, least=0, most=1, metavar="0..1", unset="0.5", panel="Paraphrases")
    noise: tuple[str, ...] = setting(
        (),
        metavar="NAME=0..1",
        complete=lambda: ("swap=", "drop=", "insert=", "substitute=", "function="),
        panel="Paraphrases",
        common=True,
    )
    format: str | None = setting(
        None, unset="by the suffix", flags=("-f",), complete=lambda: ("plain", "pairs", "tsv", "jsonl"), common=True
    )

    @property
    def paraphrase(self) -> ParaphraseSettings:
        """Settings of paraphrases."""
        from softbleu.corpora.generate import ParaphraseSettings

        noise = []
        for text in self.noise:
            name, _, rate = text.partition("=")
            try:
                noise.append((name, read_number(float, rate)))
            except ValueError:
                raise InputError(f"--noise {text!r} is not NAME=RATE, e.g. drop=0.1") from None
        named = {"synonyms": self.synonyms, "category": self.category, "alternate": self.alternate}
        chosen = {
            name: value for name, value in {**named, "noise": tuple(noise) or None}.items() if value is not None
        }
        if chosen and self.pairing != "paraphrase":
            raise InputError(f"--{next(iter(chosen))} needs --pairing paraphrase")
        return ParaphraseSettings().replaced(**chosen)


@command
def generate_text(options: GenerateOptions) -> None:
    """Generate a corpus from a grammar: sentences, or pairs with gold alignments and labels."""
    # Help does without NumPy.
    from softbleu.corpora.generate import GenerationSettings, format_for, generate

    target = options.open_target()
    settings = GenerationSettings(
        **{one.name: getattr(options, one.name) for one in own_settings(GenerationSettings)}
    )
    with options.progress("generating") as progress:
        target.write(generate(settings).lines(options.format or format_for(options.output), progress))


class SampleOptions(Common, shared=""):
    """Options of `corpora sample`.

    Attributes
    ----------
    folder
        Where the files go
    """

    folder: str = setting(".", argument=True, metavar="DIR", unset="this folder", file="written")


@command
def write_sample(options: SampleOptions) -> None:
    """Write a hundred translations by two systems, their reference, corrections, judgements, scores and vectors.

    A file that exists and differs is not overwritten.
    """
    folder = Path(options.folder)
    bundled = sorted(required_resource("corpora", "samples", "start").iterdir())
    texts = {folder / path.name: path.read_bytes() for path in bundled}
    for path, text in texts.items():
        if path.exists() and path.read_bytes() != text:
            raise InputError(f"{path} exists and is another file: name an empty folder")
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in texts.items():
        Target.of(str(path)).write(text)
    note(f"{len(texts)} files: {', '.join(path.name for path in texts)}")


class TestSetOptions(Common, shared="output format"):
    """Options of `corpora install`.

    Attributes
    ----------
    test_set
        A test set as sacrebleu names it, such as wmt24; or one pair of it, such as wmt24/en-cs
    """

    test_set: str = setting(argument=True, metavar="SET[/PAIR]")


@command
def install_texts(options: TestSetOptions) -> None:
    """Fetch a published test set into the folder of sacrebleu, so that -r and -s take its name.

    Addresses and checksums are those of sacrebleu; the terms of use are its publishers'. A file that is there already
    is not fetched again.
    """
    from softbleu.corpora.testsets import install_set

    output = options.open_output()
    output.write_table(["references"], [[name] for name in install_set(options.test_set)])
