"""For the API pages: a declared field has the default that its declaration gives, not the declaration."""

from __future__ import annotations

from typing import Any

from griffe import Attribute, ExprCall, ExprKeyword, Extension


class Defaults(Extension):
    """``setting(4, "Longest n-grams")`` is 4, ``setting(factory=Exact)`` is Exact()."""

    def on_attribute_instance(self, *, attr: Attribute, **_: Any) -> None:
        """Before dataclasses are given their parameters."""
        value = attr.value
        if isinstance(value, ExprCall) and str(value.function).endswith("setting"):
            # What is declared elsewhere, without a word here, is not given by default.
            first = value.arguments[0] if value.arguments else "None"
            attr.value = f"{first.value}()" if isinstance(first, ExprKeyword) else first
