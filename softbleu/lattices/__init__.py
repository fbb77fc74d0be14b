"""Reference networks: lattices of words whose every path is a reference; made, read, drawn."""

from softbleu.lattices.lattice import ARC_KINDS, NetworkArc, WordNetwork

__all__ = ["ARC_KINDS", "NetworkArc", "WordNetwork"]
