"""`softbleu networks`: references in, networks out; or one network as a picture, text or path."""

from softbleu.cli.command import Given, command
from softbleu.cli.options import declared_options


@command(
    "networks make",
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


@command("networks show", "networks line notation beside format tokenize lowercase encoding output")
def show_network(given: Given) -> None:
    """Write a network as source of a picture, or show its path closest to a candidate."""
    from softbleu.corpora.files import open_text
    from softbleu.errors import known_name
    from softbleu.lattices.files import read_network
    from softbleu.lattices.lattice import PARSERS, format_dot, format_line
    from softbleu.metrics.hyter import closest_path
    from softbleu.report import RECORD_WRITERS
    from softbleu.text.tokens import make_tokenizer

    writers = {"dot": format_dot, "network": format_line}
    write = writers[known_name("format", given.format, list(writers))]
    notation = known_name("notation", given.notation, PARSERS)
    network = read_network(given.networks, given.line, notation, given.encoding)
    if given.beside is None:
        given.open_place([given.networks]).write([write(network) + "\n"])
        return
    output = given.open_output([given.networks, given.beside], RECORD_WRITERS["text"])
    text = dict(enumerate(open_text(given.beside, given.encoding), start=1)).get(given.line, "")
    # Paths are sought as HyTER does, which folds case.
    split = make_tokenizer(given.tokenize or "13a", lowercase=True).splitter
    path = closest_path(network.split(split), split(text))
    rows = [(step.candidate, step.word, step.kind, round(step.cost, 2)) for step in path.steps]
    facts: dict[str, str | float] = {"edits": round(path.edits, 2), "path length": path.length}
    output.write_table(("candidate", "path", "arc", "cost"), rows, facts)
