"""A tiny Llama of random weights, as a GGUF file."""

import numpy as np

SIZES = {"depth": 2, "heads": 4, "groups": 2, "wide": 16, "inner": 32, "base": 10_000.0, "eps": 1e-5}
START = "<|endoftext|>"


BYTES = [*range(33, 127), *range(161, 173), *range(174, 256)]
"""In the order of the characters that stand for them: those that stand for themselves, then the others."""
PLAIN = len(BYTES)
BYTES += [byte for byte in range(256) if byte not in BYTES]


def byte_pieces():
    """The 256 characters that stand for bytes, then two pairs of them, then the piece that begins texts."""
    return [*map(chr, BYTES[:PLAIN]), *(chr(256 + number) for number in range(256 - PLAIN)), "th", "the", START]


def made_up_weights(seed=0, **other):
    sizes = {**SIZES, **other}
    draw = np.random.default_rng(seed)
    wide, inner, many = sizes["wide"], sizes["inner"], len(byte_pieces())
    own = wide // sizes["heads"] * sizes["groups"]
    shapes = {"token_embd.weight": (many, wide), "output_norm.weight": (wide,)}
    of_layer = {"attn_norm": (wide,), "attn_q": (wide, wide), "attn_k": (own, wide), "attn_v": (own, wide)}
    of_layer |= {"attn_output": (wide, wide), "ffn_norm": (wide,), "ffn_gate": (inner, wide), "ffn_up": (inner, wide)}
    of_layer |= {"ffn_down": (wide, inner)}
    for layer in range(sizes["depth"]):
        shapes |= {f"blk.{layer}.{name}.weight": shape for name, shape in of_layer.items()}
    return {
        name: (draw.normal(size=shape) * (0.5 if len(shape) == 2 else 0.1) + (len(shape) == 1)).astype(np.float32)
        for name, shape in shapes.items()
    }


def write_llama(path, weights=None, architecture="llama", pre="gpt-2", pieces="gpt2"):
    from gguf import GGUFWriter

    writer = GGUFWriter(path, architecture)
    known = {"block_count": SIZES["depth"], "embedding_length": SIZES["wide"], "feed_forward_length": SIZES["inner"]}
    known |= {"head_count": SIZES["heads"], "head_count_kv": SIZES["groups"], "rope_freq_base": SIZES["base"]}
    known |= {"layer_norm_rms_eps": SIZES["eps"], "tokenizer_model": pieces, "tokenizer_pre": pre}
    known |= {"token_list": byte_pieces(), "token_merges": ["t h", "th e"], "bos_token_id": len(byte_pieces()) - 1}
    for name, value in known.items():
        getattr(writer, f"add_{name}")(value)
    for name, weight in (made_up_weights() if weights is None else weights).items():
        writer.add_tensor(name, weight)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
