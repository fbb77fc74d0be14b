"""`softbleu networks make`: references in, networks out."""

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
    from softbleu.lattices.files import draw_meanings, networks_of
    from softbleu.lattices.lattice import format_line
    from softbleu.lattices.rules import NetworkRules

    if (given.grammar is None) == (not given.reference):
        raise InputError("name references with --reference, or a grammar with --grammar")
    rules = given.declared(NetworkRules).resolved()
    names = given.files("reference")
    networks = networks_of(names, rules, given.tokenizer().splitter, given.shared, given.encoding)
    if given.grammar is not None:
        networks = draw_meanings(given.grammar, given.count, given.seed)
    given.open_place(names).write(f"{format_line(network)}\n" for network in networks)
