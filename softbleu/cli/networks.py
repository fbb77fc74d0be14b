"""`softbleu networks`: networks made of references; one network as a picture, text or path."""

from __future__ import annotations

from typing import Literal

from softbleu.cli.command import command, setting
from softbleu.cli.inputs import TextOptions
from softbleu.cli.parts import options_for
from softbleu.corpora.files import open_text
from softbleu.errors import InputError
from softbleu.formats import TABLE_WRITERS
from softbleu.lattices.files import draw_meanings, networks_of, read_network
from softbleu.lattices.lattice import format_dot, format_line
from softbleu.lattices.rules import NetworkRules
from softbleu.metrics.hyter import closest_path
from softbleu.text.tokens import make_tokenizer


class MakeOptions(TextOptions, shared="references tokenize lowercase encoding output"):
    """Options of `networks make`.

    Attributes
    ----------
    shared
        Paths of several references join where they share so many consecutive words
    grammar
        Make networks of all paraphrases of sentences drawn from a grammar instead
    count
        Number of networks with --grammar
    seed
        Seed of the draws with --grammar
    """

    shared: int = setting(2, panel="Input", common=True)
    grammar: str | None = setting(None, metavar="NAME", panel="Input", common=True)
    count: int = setting(100, panel="Input", common=True)
    seed: int = setting(0, panel="Input", common=True)
    more = options_for(NetworkRules, "Rules")


@command
def make_networks(options: MakeOptions) -> None:
    """Make networks of references by rules, each with a cost, or convert networks written in brackets.

    They are scored as references: softbleu score -m hyter --notation network -r NETWORKS -c FILE.
    """
    if (options.grammar is None) == (not options.references):
        raise InputError("name references with --reference, or a grammar with --grammar")
    rules = options.declared(NetworkRules).resolved()
    split = options.tokenizer().splitter
    networks = networks_of(options.references, rules, split, options.shared, options.encoding)
    if options.grammar is not None:
        networks = draw_meanings(options.grammar, options.count, options.seed)
    options.open_target().write(f"{format_line(network)}\n" for network in networks)


class ShowOptions(TextOptions, shared="tokenize lowercase encoding output"):
    """Options of `networks show`.

    Attributes
    ----------
    networks
        Networks, one a line
    line
        Which network of the file, from 1
    notation
        How the file has its networks: network (as make writes them), brackets
    beside
        Show the path that the candidate in this file's line is closest to, word by word
    format
        dot (Graphviz: dot -Tsvg draws it), network
    """

    networks: str = setting(argument=True, metavar="FILE", file="read")
    line: int = setting(1)
    notation: Literal["network", "brackets"] = setting("network")
    beside: str | None = setting(None, file="read")
    format: Literal["dot", "network"] = setting("dot", flags=("-f",))


@command
def show_network(options: ShowOptions) -> None:
    """Write a network as source of a picture, or show its path closest to a candidate."""
    write = {"dot": format_dot, "network": format_line}[options.format]
    network = read_network(options.networks, options.line, options.notation, options.encoding)
    if options.beside is None:
        options.open_target().write([write(network) + "\n"])
        return
    output = options.open_output(TABLE_WRITERS["text"])
    text = dict(enumerate(open_text(options.beside, options.encoding), start=1)).get(options.line, "")
    # Paths are sought as HyTER does, which folds case.
    split = make_tokenizer(options.tokenize or "13a", lowercase=True).splitter
    path = closest_path(network.split(split), split(text))
    rows = [(step.candidate, step.word, step.kind, round(step.cost, 2)) for step in path.steps]
    facts: dict[str, str | float] = {"edits": round(path.edits, 2), "path length": path.length}
    output.write_table(("candidate", "path", "arc", "cost"), rows, facts)
