"""Names by which a package outside declares its metrics, matchers and tokenizers."""

from softbleu.config.declare import setting

__all__ = ["setting"]
