"""`softbleu networks sample`: references that a network stands for."""

from softbleu.cli.command import Given, command
from softbleu.cli.networks.common import NETWORK_OPTIONS, read_named


@command(
    "networks line notation count best seed encoding output",
    f"""
{NETWORK_OPTIONS.strip()}
  --count N =10: How many references (default: =).
  --best: The cheapest, best first, instead of drawn ones.
  --seed N =0: Seed of the draws (default: =).
""",
)
def sample_network(given: Given) -> None:
    """Draw references from a network, each equally likely, or write the cheapest ones."""
    from itertools import islice

    from softbleu.lattices.files import pick_network
    from softbleu.lattices.paths import cheapest_paths, draw_texts

    target = given.open_place([given.networks])
    network = pick_network(read_named(given), given.line, given.networks)
    texts = (path.words for path in cheapest_paths(network)) if given.best else draw_texts(network, given.seed)
    target.write(" ".join(words) + "\n" for words in islice(texts, given.count))
