"""What a package outside declares the settings of its metrics and matchers by."""

from softbleu.config.declare import setting

__all__ = ["setting"]
