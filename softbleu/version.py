"""The version of softbleu: it rises when signatures get other keys, or scores other digits for the same settings."""

__version__ = "0.8.0"
