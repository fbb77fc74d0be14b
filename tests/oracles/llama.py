"""A Llama, literally: one position after the other, in float64, with all heads in loops."""

import math

import numpy as np


def log_probabilities(weights, sizes, start, pieces):
    """Natural logarithm of the probability of each piece, after the start and the pieces before it.

    `weights` are those of a GGUF file by their names: positions turn neighbouring numbers of each head.
    """
    logs = []
    for place, piece in enumerate(pieces):
        logits = next_logits(weights, sizes, [start, *pieces[:place]])
        logs.append(logits[piece] - logits.max() - math.log(np.exp(logits - logits.max()).sum()))
    return logs


def next_logits(weights, sizes, pieces):
    """What a model makes of the piece that comes next."""
    states = [weights["token_embd.weight"][piece].astype(np.float64) for piece in pieces]
    for layer in range(sizes["depth"]):
        part = {name: weights[f"blk.{layer}.{name}.weight"].astype(np.float64) for name in PARTS}
        seen = [normed(state, part["attn_norm"], sizes) for state in states]
        attended = attention(seen, part, sizes)
        states = [state + part["attn_output"] @ more for state, more in zip(states, attended, strict=True)]
        states = [state + forward(normed(state, part["ffn_norm"], sizes), part) for state in states]
    last = weights.get("output.weight", weights["token_embd.weight"])
    return last.astype(np.float64) @ normed(states[-1], weights["output_norm.weight"], sizes)


PARTS = ("attn_norm", "attn_q", "attn_k", "attn_v", "attn_output", "ffn_norm", "ffn_gate", "ffn_up", "ffn_down")


def normed(state, weight, sizes):
    return state / math.sqrt((state**2).mean() + sizes["eps"]) * weight


def forward(state, part):
    gate = part["ffn_gate"] @ state
    return part["ffn_down"] @ (gate / (1 + np.exp(-gate)) * (part["ffn_up"] @ state))


def turned(vector, place, sizes):
    found = vector.copy()
    for pair in range(len(vector) // 2):
        angle = place * sizes["base"] ** (-2 * pair / len(vector))
        one, other = vector[2 * pair], vector[2 * pair + 1]
        found[2 * pair] = one * math.cos(angle) - other * math.sin(angle)
        found[2 * pair + 1] = one * math.sin(angle) + other * math.cos(angle)
    return found


def attention(seen, part, sizes):
    heads, groups = sizes["heads"], sizes["groups"]
    width = len(seen[0]) // heads
    found = []
    for place, state in enumerate(seen):
        outputs = []
        for head in range(heads):
            group = head * groups // heads
            own, shared = slice(head * width, (head + 1) * width), slice(group * width, (group + 1) * width)
            query = turned((part["attn_q"] @ state)[own], place, sizes)
            keys = [turned((part["attn_k"] @ seen[k])[shared], k, sizes) for k in range(place + 1)]
            weights = np.exp([query @ key / math.sqrt(width) for key in keys])
            values = [(part["attn_v"] @ seen[k])[shared] for k in range(place + 1)]
            outputs.append(sum(w * value for w, value in zip(weights / weights.sum(), values, strict=True)))
        found.append(np.concatenate(outputs))
    return found
