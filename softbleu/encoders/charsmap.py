"""Maps of characters in the form that the normalizer ``Precompiled`` of the library `tokenizers` reads.

The form is that of sentencepiece: the size of a double-array trie in bytes, the trie as 32-bit units, and the
replacements, each ended by a zero byte. A node is a unit: bits 0 to 7 have the byte that leads to it, bit 8 says that
a text ends there, bits 10 to 30 have the exclusive or of its own place and the place of its children. A child lies at
that place, exclusive or its byte; the unit at the place itself has the value of a text that ends, with bit 31 set.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count

import numpy as np

_ENDS, _VALUE = 1 << 8, 1 << 31
_SHIFT, _MOST = 10, 1 << 21
_UNUSED = 0xFF | _VALUE  # Matches no byte


def precompiled(replacements: Mapping[str, str]) -> bytes:
    """Write a map of characters; a character is replaced wherever it stands.

    >>> from tokenizers import normalizers
    >>> normalizers.Precompiled(precompiled({"é": "e", "½": "1/2", "!": ""})).normalize_str("né, ½ or more!")
    'ne, 1/2 or more'
    """
    pool, values = bytearray(), dict[str, int]()
    for text in dict.fromkeys(replacements.values()):
        values[text] = len(pool)
        pool += text.encode() + b"\0"
    trie = _double_array({key.encode(): values[text] for key, text in replacements.items()})
    return np.array([4 * len(trie)], "<u4").tobytes() + trie.tobytes() + bytes(pool)


def _double_array(values: Mapping[bytes, int]) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    children: dict[bytes, list[int]] = {b"": []}
    for key in sorted(values):
        for end in range(1, len(key) + 1):
            if key[:end] not in children:
                children[key[:end]] = []
                children[key[: end - 1]].append(key[end - 1])
    units, taken = {0: 0}, {0}
    places, bases = {b"": 0}, set[int]()
    free = 1
    # Nodes by level: a parent comes before its children.
    for node, labels in sorted(children.items(), key=lambda item: (len(item[0]), item[0])):
        ends = node in values
        while free in taken:
            free += 1
        base = next(
            base
            for start in count(free)
            if (base := start ^ (labels[0] if labels else 0)) not in bases
            and not (ends and base in taken)
            and not any(base ^ label in taken for label in labels)
        )
        bases.add(base)
        place = places[node]
        units[place] |= (place ^ base) << _SHIFT | (_ENDS if ends else 0)
        if ends:
            units[base] = values[node] | _VALUE
            taken.add(base)
        for label in labels:
            places[node + bytes([label])] = base ^ label
            units[base ^ label] = label
            taken.add(base ^ label)
    size = -(-(max(taken) + 1) // 256) * 256
    if size > _MOST:
        raise ValueError(f"{len(values):,} characters are too many for a map")
    array = np.full(size, _UNUSED, "<u4")
    array[list(units)] = list(units.values())
    return array
