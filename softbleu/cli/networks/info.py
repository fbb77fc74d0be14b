"""`softbleu networks info`: how large networks are, and what they are made of."""

from __future__ import annotations

from softbleu.cli import options as opt
from softbleu.cli.networks import common


def info_networks(
    networks: common.NetworkFile,
    notation: common.Notation = "network",
    encoding: opt.Encoding = "utf-8",
    output_format: opt.RecordFormat = "text",
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> None:
    """Count networks, their states, arcs by kind, and different references, however many these are."""
    from typing import Any, cast

    from softbleu.cli.output import table_output
    from softbleu.errors import known_name
    from softbleu.networks.files import FILE_NOTATIONS, describe_networks, plain_count, read_networks
    from softbleu.report import Records

    write = table_output(output_format)
    notation = known_name("notation", notation, FILE_NOTATIONS)
    facts = describe_networks(read_networks(networks, cast("Any", notation), encoding))
    fewest, median, most = map(plain_count, facts.references)
    rows = [(kind, count, round(cost, 2)) for kind, (count, cost) in facts.kinds.items()]
    said: dict[str, str | int] = {"networks": facts.networks, "states": facts.states, "arcs": facts.arcs}
    said |= {"references, fewest": fewest, "references, median": median, "references, most": most}
    write(Records(("arcs", "count", "mean cost"), rows, said))
