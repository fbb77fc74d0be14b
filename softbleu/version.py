"""The version of softbleu."""

__version__ = "0.1.0"
