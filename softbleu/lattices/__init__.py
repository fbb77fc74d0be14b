"""Reference networks: lattices of words in which every path is a reference; making, reading and drawing them."""

from softbleu.lattices.lattice import ARC_KINDS, NetworkArc, WordNetwork

__all__ = ["ARC_KINDS", "NetworkArc", "WordNetwork"]
