"""`softbleu networks sample`: references that a network stands for."""

from __future__ import annotations

from typing import Annotated

from softbleu.cli import options as opt
from softbleu.cli.networks import common

_of = opt.OptionTable("""
  --count N: How many references (default: 10).
  --best: The cheapest, best first, instead of drawn ones.
  --seed N: Of the draws (default: 0).
""")


def sample_network(
    networks: common.NetworkFile,
    line: common.Line = 1,
    notation: common.Notation = "network",
    count: Annotated[int, _of("--count")] = 10,
    best: Annotated[bool, _of("--best")] = False,
    seed: Annotated[int, _of("--seed")] = 0,
    encoding: opt.Encoding = "utf-8",
    output: opt.Output = None,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Write references of a network, drawn, each equally likely, or the cheapest ones."""
    from itertools import islice
    from typing import Any, cast

    from softbleu.cli.output import Output
    from softbleu.errors import known_name
    from softbleu.networks.files import FILE_NOTATIONS, pick_network, read_networks
    from softbleu.networks.paths import cheapest_paths, draw_texts

    notation = known_name("notation", notation, FILE_NOTATIONS)
    target = Output.of(output, [networks])
    network = pick_network(read_networks(networks, cast("Any", notation), encoding), line, networks)
    texts = (path.words for path in cheapest_paths(network)) if best else draw_texts(network, seed)
    target.write(" ".join(words) + "\n" for words in islice(texts, count))
