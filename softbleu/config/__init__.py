"""Declared values: settings, registries, expressions and signatures."""
