"""Options that commands about networks share, and the networks that are named."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from softbleu.cli.command import Given
    from softbleu.lattices import WordNetwork

NETWORK_OPTIONS = """
  networks FILE !: Networks, one a line.
  --notation NAME =network <network,brackets>: How the file has its networks: network (as make writes them),
    brackets (default: =).
  --line N =1: Which network of the file, from 1 (default: =).
"""


def read_named(given: Given) -> Iterator[WordNetwork]:
    """Read the networks of the file that is named."""
    from softbleu.errors import known_name
    from softbleu.lattices.files import FILE_NOTATIONS, read_networks

    notation: Any = known_name("notation", given.notation, FILE_NOTATIONS)
    return iter(read_networks(given.networks, notation, given.encoding))
