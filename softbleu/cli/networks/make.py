"""`softbleu networks make`: references in, networks out."""

from collections.abc import Iterator
from typing import Any

from softbleu.cli.command import Given, command
from softbleu.cli.options import declared_options


@command(
    "reference shared grammar count seed output tokenize lowercase encoding",
    own_settings=lambda: declared_options("lattices.rules:NetworkRules"),
)
def make_networks(given: Given) -> None:
    """Make networks of references by rules, each with a cost, or convert those that are written in brackets.

    They are scored as references: softbleu score -m hyter --notation network -r NETWORKS -c FILE.
    """
    from softbleu.errors import InputError
    from softbleu.lattices.files import draw_meanings, parallel_lines
    from softbleu.lattices.rules import NetworkRules
    from softbleu.lattices.texts import format_line

    if (given.grammar is None) == (not given.reference):
        raise InputError("name references with --reference, or a grammar with --grammar")
    rules = given.declared(NetworkRules).resolved()
    split, names = given.tokenizer().splitter, given.files("reference")
    if len(names) > 1 and rules.notation != "text":
        raise InputError(f"one file of notation {rules.notation!r} at a time: leave out all --reference but one")

    def made() -> Iterator[Any]:
        if given.grammar is not None:
            yield from draw_meanings(given.grammar, given.count, given.seed)
            return
        for number, texts in enumerate(parallel_lines(names, given.encoding), start=1):
            if len(texts) == 1:
                yield rules.network(texts[0], split, f"{names[0]}, line {number}")
            else:
                yield rules.merged([split(text) for text in texts], given.shared)

    given.open_place(names).write(f"{format_line(network)}\n" for network in made())
