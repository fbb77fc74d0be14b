"""`softbleu networks show`: a network as a picture or text, or the path that a candidate is closest to."""

from __future__ import annotations

from typing import Annotated

from softbleu.cli import options as opt
from softbleu.cli.networks import common

_of = opt.OptionTable("""
  --beside FILE: Show the path that the candidate in this file's line is closest to, word by word.
  --format -f NAME: dot (Graphviz: dot -Tsvg draws it), att (OpenFst's text), network (default: dot).
  --smaller: Merge states from which the same goes on.
""")


def show_network(
    networks: common.NetworkFile,
    line: common.Line = 1,
    notation: common.Notation = "network",
    beside: Annotated[str | None, _of("--beside")] = None,
    output_format: Annotated[str, _of("--format", ("dot", "att", "network"))] = "dot",
    smaller: Annotated[bool, _of("--smaller")] = False,
    tokenize: opt.Tokenize = None,
    lowercase: opt.Lowercase = None,
    encoding: opt.Encoding = "utf-8",
    output: opt.Output = None,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Write a network as source of a picture, or set its closest path beside a candidate."""
    from typing import Any, cast

    from softbleu.cli.output import Output, table_output
    from softbleu.corpora.files import open_text
    from softbleu.errors import known_name
    from softbleu.metrics.hyter import closest_path
    from softbleu.networks.files import FILE_NOTATIONS, pick_network, read_networks
    from softbleu.networks.paths import minimised
    from softbleu.networks.texts import format_att, format_dot, format_line
    from softbleu.report import Records
    from softbleu.tokens import Tokenizer

    notation = known_name("notation", notation, FILE_NOTATIONS)
    writers = {"dot": format_dot, "att": format_att, "network": format_line}
    write = writers[known_name("format", output_format, list(writers))]
    network = pick_network(read_networks(networks, cast("Any", notation), encoding), line, networks)
    if beside is None:
        Output.of(output, [networks]).write([write(minimised(network) if smaller else network) + "\n"])
        return
    text = dict(enumerate(open_text(beside, encoding), start=1)).get(line, "")
    split = Tokenizer(tokenize or "13a", lowercase is not False).splitter
    found = closest_path(network.split(split), split(text))
    rows = [(step.candidate, step.word, step.kind, round(step.cost, 2)) for step in found.steps]
    facts: dict[str, str | float] = {"edits": round(found.edits, 2), "path length": found.length}
    table_output("text", output, [networks, beside])(Records(("candidate", "path", "arc", "cost"), rows, facts))
