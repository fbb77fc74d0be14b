"""Weights of a Llama scaled so that int8 loses less of them (SmoothQuant: Xiao et al. 2023).

Some numbers of a hidden state are hundreds of times as large as the others, which int8 then rounds to nothing. What
such a number is multiplied by can take over a part of its size: the model stays the same in exact arithmetic. How
large they get is looked up on a few lines of text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Weights = dict[str, NDArray[np.float32]]
    Sizes = dict[str, NDArray[np.float32]]

LLAMA_PARTS = ("attn_norm", "attn_q", "attn_k", "attn_v", "attn_output", "ffn_norm", "ffn_gate", "ffn_up", "ffn_down")
"""Weights of a layer."""
_LEAST = 1e-5


@dataclass(frozen=True)
class LlamaSizes:
    """How large a model is; positions turn neighbouring numbers of each head."""

    depth: int
    heads: int
    groups: int
    base: float
    """Of the angles of positions."""
    eps: float
    """Added to mean squares."""


def smooth_weights(weights: Weights, sizes: LlamaSizes, lines: Sequence[Sequence[int]]) -> None:
    """Scale weights, named as in a GGUF file, in place; `output.weight` is one of its own.

    `lines` are the numbers of the pieces of lines that tell how large hidden states get.
    """
    largest: Sizes = {}
    for line in lines:
        _look(weights, sizes, line, largest)
    for layer in range(sizes.depth):
        own = {name: f"blk.{layer}.{name}.weight" for name in LLAMA_PARTS}
        for norm, names in (("attn_norm", ("attn_q", "attn_k", "attn_v")), ("ffn_norm", ("ffn_gate", "ffn_up"))):
            _share(weights, own[norm], [own[name] for name in names], largest[own[norm]])
        _share(weights, own["ffn_up"], [own["ffn_down"]], largest[own["ffn_down"]])
        _share_heads(weights, own["attn_v"], own["attn_output"], largest[own["attn_output"]], sizes)
    _share(weights, "output_norm.weight", ["output.weight"], largest["output_norm.weight"])


def _scales(states: NDArray[np.float32], weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """What weights take over of states of such sizes, rounded so that it does not hang on the last bits of sums."""
    ratio = np.log2(np.maximum(states, _LEAST)) - np.log2(np.maximum(weights, _LEAST))
    scales: NDArray[np.float32] = np.exp2(np.rint((ratio - ratio.mean()) * 8) / 16).astype(np.float32)
    return scales


def _share(weights: Weights, before: str, after: Sequence[str], states: NDArray[np.float32]) -> None:
    scales = _scales(states, np.max([np.abs(weights[name]).max(axis=0) for name in after], axis=0))
    weights[before] /= scales if weights[before].ndim == 1 else scales[:, None]
    for name in after:
        weights[name] *= scales


def _share_heads(weights: Weights, before: str, after: str, states: NDArray[np.float32], sizes: LlamaSizes) -> None:
    """The same where several heads have one group's values."""
    shape = sizes.groups, sizes.heads // sizes.groups, -1
    columns = np.abs(weights[after]).max(axis=0).reshape(shape).max(axis=1)
    scales = _scales(states.reshape(shape).max(axis=1), columns)
    weights[before] /= scales.reshape(-1, 1)
    weights[after] *= np.repeat(scales[:, None], shape[1], axis=1).reshape(-1)


def _look(weights: Mapping[str, NDArray[np.float32]], sizes: LlamaSizes, line: Sequence[int], largest: Sizes) -> None:
    """Run the model over a line, and note how large each number gets that a matrix is multiplied by."""

    def note(name: str, states: NDArray[np.float32]) -> NDArray[np.float32]:
        found = np.abs(states).max(axis=0)
        largest[name] = np.maximum(largest.get(name, found), found)
        return states

    def normed(name: str) -> NDArray[np.float32]:
        size = np.sqrt((states**2).mean(axis=1, keepdims=True) + np.float32(sizes.eps))
        return note(name, states / size * weights[name])

    states = weights["token_embd.weight"][list(line)]
    for layer in range(sizes.depth):
        own = {name: f"blk.{layer}.{name}.weight" for name in LLAMA_PARTS}
        seen = normed(own["attn_norm"])
        query, key, value = (seen @ weights[own[name]].T for name in ("attn_q", "attn_k", "attn_v"))
        attended = note(own["attn_output"], _attention(query, key, value, sizes))
        states = states + attended @ weights[own["attn_output"]].T
        seen = normed(own["ffn_norm"])
        gate = seen @ weights[own["ffn_gate"]].T
        inner = note(own["ffn_down"], gate / (1 + np.exp(-gate)) * (seen @ weights[own["ffn_up"]].T))
        states = states + inner @ weights[own["ffn_down"]].T
    normed("output_norm.weight")


def _attention(
    query: NDArray[np.float32], key: NDArray[np.float32], value: NDArray[np.float32], sizes: LlamaSizes
) -> NDArray[np.float32]:
    """What each place takes from those up to it: (places, width)."""
    places = len(query)
    shared = sizes.heads // sizes.groups
    queries = _turned(query.reshape(places, sizes.heads, -1), sizes.base)
    keys = _turned(key.reshape(places, sizes.groups, -1), sizes.base).repeat(shared, axis=1)
    values = value.reshape(places, sizes.groups, -1).repeat(shared, axis=1)
    alike = np.einsum("qhd,khd->hqk", queries, keys) / np.float32(np.sqrt(queries.shape[2]))
    alike[:, np.triu(np.ones((places, places), bool), 1)] = -np.inf
    shares = np.exp(alike - alike.max(axis=2, keepdims=True))
    shares /= shares.sum(axis=2, keepdims=True)
    found: NDArray[np.float32] = np.einsum("hqk,khd->qhd", shares, values).reshape(places, -1)
    return found


def _turned(states: NDArray[np.float32], base: float) -> NDArray[np.float32]:
    half = states.shape[2] // 2
    angles = np.arange(len(states))[:, None, None] * base ** (-np.arange(half) / half)
    cosines, sines = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
    one, other = states[..., ::2], states[..., 1::2]
    return np.stack((one * cosines - other * sines, one * sines + other * cosines), axis=3).reshape(states.shape)
