"""Signatures that are run again: their level, and for those of sacrebleu the options that give the same score."""

from __future__ import annotations

import re
from typing import cast, get_args

from softbleu.config.signature import parse_signature
from softbleu.errors import InputError, known_name
from softbleu.metrics.base import Level

_OF_TER = {("norm", "yes"): "--normalized", ("punct", "no"): "--no-punct", ("asian", "yes"): "--asian-support"}
_SMOOTH = re.compile(r"^(.*?)(?:\[(.*)\])?$")


def check_origin(signature: str) -> None:
    """See that a signature is none of sacrebleu's, which say less than is needed to run them."""
    pairs = dict(part.partition(":")[::2] for part in signature.strip().split("|"))
    if pairs.get("case") not in ("mixed", "lc") or "metric" in pairs:
        return
    said = " ".join(_options(pairs))
    raise InputError(f"that is a signature of sacrebleu; the same here: softbleu score {said}")


def _options(pairs: dict[str, str]) -> list[str]:
    """Write the options that give the same score.

    >>> _options({"case": "lc", "eff": "no", "tok": "13a", "smooth": "floor[0.50]"})
    ['-m bleu', '--tokenize 13a', '--smooth floor', '--smooth-value 0.50', '--lowercase']
    >>> _options({"case": "mixed", "eff": "yes", "nc": "6", "nw": "2", "space": "no"})
    ['-m chrf', '--char-order 6', '--word-order 2']
    """
    lower = ["--lowercase"] if pairs["case"] == "lc" else []
    if "nc" in pairs:
        averaged = ["--eps-smoothing"] if pairs.get("eff") == "no" else []
        blanks = ["--whitespace"] if pairs.get("space") == "yes" else []
        orders = [f"--char-order {pairs['nc']}", f"--word-order {pairs.get('nw', 0)}"]
        return ["-m chrf", *orders, *blanks, *averaged, *lower]
    if "punct" in pairs:
        more = [_OF_TER[pair] for pair in pairs.items() if pair in _OF_TER]
        return ["-m ter", *(lower or ["--no-lowercase"]), *more]
    smooth = zip(("--smooth", "--smooth-value"), _SMOOTH.findall(pairs.get("smooth", "exp"))[0], strict=True)
    way = [f"{option} {value}" for option, value in smooth if value]
    effective = ["--effective-order"] if pairs.get("eff") == "yes" else []
    return ["-m bleu", f"--tokenize {pairs.get('tok', '13a')}", *way, *effective, *lower]


def find_level(name: str | None, signature: str | None) -> Level:
    """See that there is such a level; without a name it is that of the signature, or the corpus."""
    if signature is not None:
        check_origin(signature)
    if name is None:
        name = parse_signature(signature).get("level", "corpus") if signature is not None else "corpus"
    return cast("Level", known_name("level", name, get_args(Level)))
