"""Names of systems, which files decorate with the test set and the direction."""

from __future__ import annotations

import re
from collections.abc import Iterable

_DIRECTION = re.compile(r"[a-z]{2,3}-[a-z]{2,3}")


def plain_names(names: Iterable[str]) -> dict[str, str]:
    """Find the plain name of each: without test set and direction, where all names have both.

    >>> plain_names(["newstest2013.fr-en.online-B", "newstest2013.fr-en.cu-zeman.2738"])
    {'newstest2013.fr-en.online-B': 'online-B', 'newstest2013.fr-en.cu-zeman.2738': 'cu-zeman.2738'}
    >>> plain_names(["conll14st-test.AMU.src-trg", "conll14st-test.PKU.src-trg"])["conll14st-test.AMU.src-trg"]
    'AMU'
    >>> plain_names(["umd.2922", "uu-nmt.1"])
    {'umd.2922': 'umd.2922', 'uu-nmt.1': 'uu-nmt.1'}
    """
    parts = {name: name.split(".") for name in names}
    common = set(next(iter(parts.values()), ()))
    for each in parts.values():
        common.intersection_update(each)
    direction = next((part for part in sorted(common) if _DIRECTION.fullmatch(part)), None)
    if direction is None or any(len(each) < 3 or each[0] not in common for each in parts.values()):
        return {name: name for name in parts}
    return {name: ".".join(part for part in each[1:] if part != direction) for name, each in parts.items()}
