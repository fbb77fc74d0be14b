"""`softbleu networks info`: how large networks are, and what they are made of."""

from softbleu.cli.command import Given, command
from softbleu.cli.networks.common import NETWORK_OPTIONS, read_named


@command("networks notation encoding format=text", NETWORK_OPTIONS)
def info_networks(given: Given) -> None:
    """Count networks, their states, their arcs by kind, and their different references."""
    from softbleu.lattices.files import describe_networks, plain_count

    output = given.open_output()
    facts = describe_networks(read_named(given))
    fewest, median, most = map(plain_count, facts.references)
    rows = [(kind, count, round(cost, 2)) for kind, (count, cost) in facts.kinds.items()]
    said: dict[str, str | int] = {"networks": facts.networks, "states": facts.states, "arcs": facts.arcs}
    said |= {"references, fewest": fewest, "references, median": median, "references, most": most}
    output.write_table(("arcs", "count", "mean cost"), rows, said)
