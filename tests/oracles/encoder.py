"""A forward pass of one line, piece by piece, in double precision, from the arrays of a float32 store."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file

Row = list[float]


def encode_line(store: Path, ids: list[int], layers: tuple[int, ...]) -> np.ndarray[Any, Any]:
    meta = json.loads((store / "meta.json").read_text(encoding="utf-8"))
    assert (meta["dtype"], meta["activation"]) == ("float32", "gelu")
    weights = {name: values.astype(np.float64) for name, values in load_file(store / "weights.safetensors").items()}

    def normal(row: Any, name: str) -> Any:
        centred = row - row.mean()
        size = math.sqrt((centred**2).mean() + meta["eps"])
        return centred / size * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    def linear(row: Any, name: str) -> Any:
        return weights[f"{name}.weight"] @ row + weights[f"{name}.bias"]

    rows = [normal(weights["words"][each] + weights["positions"][place], "norm") for place, each in enumerate(ids)]
    states = [rows]
    for number in range(meta["depth"]):
        place = f"layers.{number}."
        split = [linear(row, place + "qkv").reshape(3, meta["heads"], -1) for row in rows]
        following = []
        for here, row in enumerate(rows):
            seen = []
            for head in range(meta["heads"]):
                scores = []
                for there in range(len(rows)):
                    score = split[here][0, head] @ split[there][1, head] / math.sqrt(split[here].shape[2])
                    if meta["distances"]:
                        score += weights["distances"][distance_class(there - here, meta["distances"]), head]
                    scores.append(math.exp(score))
                seen.append(sum(score * split[there][2, head] for there, score in enumerate(scores)) / sum(scores))
            attended = normal(row + linear(np.concatenate(seen), place + "attended"), place + "attended_norm")
            inner = [x * (1 + math.erf(x / math.sqrt(2))) / 2 for x in linear(attended, place + "up")]
            following.append(normal(attended + linear(np.array(inner), place + "down"), place + "norm"))
        rows = following
        states.append(rows)
    if len(layers) == 1:
        return np.array(states[layers[0]])
    return np.mean([[row / math.hypot(*row) for row in states[layer]] for layer in layers], axis=0)


def distance_class(distance: int, classes: int) -> int:
    side, exact = classes // 2, classes // 4
    first = side if distance > 0 else 0
    size = abs(distance)
    if size < exact:
        return first + size
    return first + min(side - 1, exact + int(math.log(size / exact) / math.log(128 / exact) * (side - exact)))
