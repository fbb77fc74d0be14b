"""For the API pages: declared fields have the defaults of their declarations; unpacked keywords are parameters."""

from __future__ import annotations

from typing import Any

from griffe import (
    Attribute,
    Class,
    ExprCall,
    ExprKeyword,
    ExprSubscript,
    Extension,
    Function,
    Parameter,
    ParameterKind,
)


class Defaults(Extension):
    """``setting(4, "Longest n-grams")`` is 4, ``setting(factory=Exact)`` is Exact()."""

    def on_attribute_instance(self, *, attr: Attribute, **_: Any) -> None:
        """Before dataclasses are given their parameters."""
        value = attr.value
        if isinstance(value, ExprCall) and str(value.function).endswith("setting"):
            # What is declared elsewhere, without a word here, is not given by default.
            first = value.arguments[0] if value.arguments else "None"
            attr.value = f"{first.value}()" if isinstance(first, ExprKeyword) else first


class UnpackedKeywords(Extension):
    """``**options: Unpack[Options]`` stands for a keyword per item of the typed dictionary `Options`."""

    def on_function(self, *, func: Function, **_: Any) -> None:
        """Put keywords in the place of the dictionary, which the docstring does not name."""
        last = [*func.parameters][-1:]
        for parameter in last:
            unpacked = parameter.annotation
            if parameter.kind is not ParameterKind.var_keyword or not isinstance(unpacked, ExprSubscript):
                continue
            items = func.module.members.get(str(unpacked.slice))
            if str(unpacked.left) == "Unpack" and isinstance(items, Class):
                del func.parameters[parameter.name]
                for item in items.attributes.values():
                    keyword = Parameter(
                        item.name, annotation=item.annotation, kind=ParameterKind.keyword_only, default="..."
                    )
                    func.parameters.add(keyword)
