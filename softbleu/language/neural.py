"""Causal language models run by ctranslate2 in int8, and conversion of Llama models from GGUF files.

Each distinct line is judged once and cached. Digits of a line do not depend on other lines: only lines with the same
number of pieces are batched, since padding would change digits.

A GGUF file is converted into a folder with the model in int8, its subwords and its tokenizer. Weights are scaled to
lose less precision in int8 (SmoothQuant: Xiao et al. 2023). Some numbers of a hidden state are hundreds of times as
large as the others, which int8 would then round to 0. Part of their size can be moved into the weights that they are
multiplied by: in exact arithmetic, the model stays the same. Sizes are measured on a few lines of text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from os import SEEK_CUR
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from softbleu.errors import InputError, MissingExtraError, UnknownNameError
from softbleu.io.arguments import Limit
from softbleu.io.files import draft_folder, put_in_place, required_resource
from softbleu.io.line_cache import kept_lines
from softbleu.io.platform import cached_property
from softbleu.io.reading import check_plain, load_tokenizer, read_json

if TYPE_CHECKING:
    from types import ModuleType

    from ctranslate2.specs import ModelSpec
    from tokenizers import Tokenizer

    from softbleu.types import Fields, Floats, Json

    Weights = dict[str, NDArray[np.float32]]

TOKENIZER = "tokenizer.json"
MODEL_FILES = ("config.json", "model.bin", "vocabulary.json", TOKENIZER)  # Files of a folder for ctranslate2
EXTRA, NEEDED = ".[refless]", ("ctranslate2", "gguf")
"""Extra that installs the packages needed to run a model, and their names."""
_AT_ONCE = 512  # Pieces that are judged together; longer lines are judged in parts
_SURROGATE = re.compile("[\ud800-\udfff]")
_LN_10 = float(np.log(10))


class NeuralModel:
    """A causal model in a folder for ctranslate2, opened when a line is not in the cache.

    A line is judged as its words with blanks between them, after the piece that begins texts. Its end is not judged,
    since the end of a text from the web says little about a sentence. `place` returns the folder with `MODEL_FILES`,
    and is called on first use. Results are cached under `fingerprint`.
    """

    cased: ClassVar[bool] = True
    ends: ClassVar[bool] = False

    def __init__(self, place: Callable[[], Path], fingerprint: str) -> None:
        self._place, self._fingerprint = place, fingerprint

    def judge(self, lines: Sequence[Sequence[str]]) -> Floats:
        """Compute the log probability (base 10) of each line of words.

        Raises `InputError`: the model cannot be read; `MissingExtraError`: ctranslate2 is not installed.
        """
        texts = [" ".join(line) for line in lines]
        logs = self._pieces(texts)
        # Line by line, so that sums do not depend on other lines.
        return np.array([logs[text].astype(np.float64).sum() / _LN_10 for text in texts], np.float64)

    def judge_words(self, line: Sequence[str]) -> list[float]:
        """Compute the log probability (base 10) of each word of a line given the words before it."""
        text = " ".join(line)
        logs = self._pieces([text])[text].astype(np.float64) / _LN_10
        _, starts = self._cut(text)
        # Positions in the text without blanks
        bounds = np.cumsum([0, *map(len, line)])
        places = np.array([len("".join(text[:start].split())) for start in starts], np.int64)
        owners = np.searchsorted(bounds, places, side="right") - 1
        sums: list[float] = np.bincount(owners, logs, len(line) + 1)[: len(line)].tolist()
        return sums

    def _pieces(self, texts: Sequence[str]) -> Mapping[str, NDArray[np.float32]]:
        """Return the natural log probabilities of the pieces of each text."""
        contents = kept_lines(f"language model 1 {self._fingerprint}", texts, self._judged)
        return {text: np.frombuffer(content, "<f4") for text, content in contents.items()}

    def _judged(self, texts: Sequence[str]) -> Iterator[Mapping[str, bytes]]:
        cut = {text: self._cut(text)[0] for text in texts}
        ranked = sorted(cut, key=lambda text: (len(cut[text]), text))
        for length, group in groupby(ranked, lambda text: len(cut[text])):
            equally_long = list(group)
            step = max(_AT_ONCE // max(length, 1), 1)
            for start in range(0, len(equally_long), step):
                some = equally_long[start : start + step]
                parts = [
                    self._logs([cut[text][at : at + _AT_ONCE] for text in some]) for at in range(0, length, _AT_ONCE)
                ]
                rows = np.concatenate(parts, axis=1) if parts else np.zeros((len(some), 0), "<f4")
                yield {text: row.tobytes() for text, row in zip(some, rows, strict=True)}

    def _logs(self, lines: Sequence[Sequence[str]]) -> NDArray[np.float32]:
        """Compute the log probabilities of pieces of texts with equal numbers of pieces: (texts, pieces)."""
        generator, start = self._generator
        scored = generator.score_batch([[start, *line] for line in lines], max_input_length=0)
        logs: NDArray[np.float32] = np.array([result.log_probs for result in scored], "<f4")
        if not np.isfinite(logs).all():
            raise InputError(f"{self._folder}: the model gives no finite probabilities; get it again")
        return logs

    def _cut(self, text: str) -> tuple[list[str], list[int]]:
        """Split a text into pieces; also return the character at which each begins."""
        encoding = self._tokenizer.encode(_SURROGATE.sub("\ufffd", text), add_special_tokens=False)
        return encoding.tokens, [start for start, _ in encoding.offsets]

    @cached_property
    def _folder(self) -> Path:
        return self._place()

    @cached_property
    def _generator(self) -> tuple[Any, str]:
        """The generator of ctranslate2, and the piece before the first of a text."""
        try:
            from ctranslate2 import Generator
        except ImportError as error:
            raise missing_extra(error) from error
        start = check_model(self._folder)
        try:
            # One thread, since the order of sums changes digits.
            return Generator(str(self._folder), compute_type="int8", intra_threads=1, inter_threads=1), start
        except (RuntimeError, ValueError) as error:
            reason = " ".join(str(error).split())[:120]
            raise InputError(f"{self._folder}: not a causal model that ctranslate2 can run ({reason})") from error

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        path = self._folder / TOKENIZER
        tokenizer = load_tokenizer(path)
        pieces = read_json(self._folder / "vocabulary.json")
        numbers = tokenizer.get_vocab()
        if not isinstance(pieces, list) or any(
            numbers.get(piece, number) != number for number, piece in enumerate(pieces)
        ):
            raise InputError(f"{path}: does not fit the pieces of vocabulary.json; give the tokenizer of this model")
        return tokenizer


def check_model(folder: Path) -> str:
    """Check that a folder has the files for ctranslate2; return the piece that begins a text."""
    for name in MODEL_FILES:
        check_plain(folder / name)
    config = read_json(folder / "config.json")
    start = config.get("bos_token") if isinstance(config, dict) else None
    if not isinstance(start, str) or not start:
        raise InputError(f"{folder / 'config.json'}: does not say which piece begins a text (bos_token)")
    return start


def missing_extra(error: ImportError) -> MissingExtraError:
    """Make the error that names a missing package and its installation."""
    return MissingExtraError(
        f"neural language models need {error.name}, which is not installed: pip install '{EXTRA}' in a clone"
    )


LLAMA_PARTS = {
    "attn_norm": ("wide",),
    "attn_q": ("wide", "wide"),
    "attn_k": ("group", "wide"),
    "attn_v": ("group", "wide"),
    "attn_output": ("wide", "wide"),
    "ffn_norm": ("wide",),
    "ffn_gate": ("inner", "wide"),
    "ffn_up": ("inner", "wide"),
    "ffn_down": ("wide", "inner"),
}
"""Weights of a layer and their shapes; keys and values have their own width."""
_LEAST = 1e-5
ARCHITECTURE = "llama"
_SAMPLE_LINES = 8  # Lines on which the size of hidden states is measured
_SIZES = ("block_count", "embedding_length", "feed_forward_length", "attention.head_count")
_MOST = 1 << 20
_STRING, _LIST = 8, 9  # Kinds of values in a header
_WIDTHS = {2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 8: 8, 10: 8, 11: 8, 12: 8}  # Least bytes of values; 1 for other kinds
_ENTRIES = Limit("a GGUF file", "entries of lists", 1 << 21, "128,000 pieces: 540,000", "take a smaller model")
_CUTS = {"gpt-2": False, "smollm": True}
"""Pre-tokenizers, and whether they separate digits."""


@dataclass(frozen=True)
class LlamaSizes:
    """Sizes of a model; positions rotate adjacent numbers of each head."""

    depth: int
    heads: int
    groups: int
    base: float  # Base of the angles of positions
    eps: float  # Constant added to mean squares


def smooth_weights(weights: Weights, sizes: LlamaSizes, lines: Sequence[Sequence[int]]) -> None:
    """Scale weights, named as in a GGUF file, in place; `output.weight` must be a separate array.

    `lines` are piece numbers of lines on which the size of hidden states is measured.
    """
    largest: Weights = {}
    with np.errstate(over="ignore", invalid="ignore"):
        for line in lines:
            _look(weights, sizes, line, largest)
    if not all(np.isfinite(greatest).all() for greatest in largest.values()):
        raise ValueError("hidden states overflow: some weights are damaged; get it again")
    for layer in range(sizes.depth):
        keys = {name: f"blk.{layer}.{name}.weight" for name in LLAMA_PARTS}
        for norm, names in (("attn_norm", ("attn_q", "attn_k", "attn_v")), ("ffn_norm", ("ffn_gate", "ffn_up"))):
            _share(weights, keys[norm], [keys[name] for name in names], largest[keys[norm]])
        _share(weights, keys["ffn_up"], [keys["ffn_down"]], largest[keys["ffn_down"]])
        _share_heads(weights, keys["attn_v"], keys["attn_output"], largest[keys["attn_output"]], sizes)
    _share(weights, "output_norm.weight", ["output.weight"], largest["output_norm.weight"])


def _scales(states: NDArray[np.float32], weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """Compute scales to move from states into weights, rounded so that the last bits of sums do not matter."""
    ratio = np.log2(np.maximum(states, _LEAST)) - np.log2(np.maximum(weights, _LEAST))
    scales: NDArray[np.float32] = np.exp2(np.rint((ratio - ratio.mean()) * 8) / 16).astype(np.float32)
    return scales


def _share(weights: Weights, before: str, after: Sequence[str], states: NDArray[np.float32]) -> None:
    scales = _scales(states, np.max([np.abs(weights[name]).max(axis=0) for name in after], axis=0))
    weights[before] /= scales if weights[before].ndim == 1 else scales[:, None]
    for name in after:
        weights[name] *= scales


def _share_heads(weights: Weights, before: str, after: str, states: NDArray[np.float32], sizes: LlamaSizes) -> None:
    """Move scales from `after` into `before`; several heads share the values of a group."""
    shape = sizes.groups, sizes.heads // sizes.groups, -1
    columns = np.abs(weights[after]).max(axis=0).reshape(shape).max(axis=1)
    scales = _scales(states.reshape(shape).max(axis=1), columns)
    weights[before] /= scales.reshape(-1, 1)
    weights[after] *= np.repeat(scales[:, None], shape[1], axis=1).reshape(-1)


def _look(
    weights: Mapping[str, NDArray[np.float32]], sizes: LlamaSizes, line: Sequence[int], largest: Weights
) -> None:
    """Run the model over a line, and update the greatest size of each input of a matrix in `largest`."""

    def note(name: str, states: NDArray[np.float32]) -> NDArray[np.float32]:
        greatest = np.abs(states).max(axis=0)
        largest[name] = np.maximum(largest.get(name, greatest), greatest)
        return states

    def normed(name: str) -> NDArray[np.float32]:
        size = np.sqrt((states**2).mean(axis=1, keepdims=True) + np.float32(sizes.eps))
        return note(name, states / size * weights[name])

    states = weights["token_embd.weight"][list(line)]
    for layer in range(sizes.depth):
        names = {name: f"blk.{layer}.{name}.weight" for name in LLAMA_PARTS}
        seen = normed(names["attn_norm"])
        query, key, value = (seen @ weights[names[name]].T for name in ("attn_q", "attn_k", "attn_v"))
        attended = note(names["attn_output"], _attention(query, key, value, sizes))
        states = states + attended @ weights[names["attn_output"]].T
        seen = normed(names["ffn_norm"])
        gate = seen @ weights[names["ffn_gate"]].T
        inner = note(names["ffn_down"], gate / (1 + np.exp(-gate)) * (seen @ weights[names["ffn_up"]].T))
        states = states + inner @ weights[names["ffn_down"]].T
    normed("output_norm.weight")


def _attention(
    query: NDArray[np.float32], key: NDArray[np.float32], value: NDArray[np.float32], sizes: LlamaSizes
) -> NDArray[np.float32]:
    """Compute causal attention, in which a position sees itself and earlier ones: (positions, width)."""
    places = len(query)
    shared = sizes.heads // sizes.groups
    queries = _turned(query.reshape(places, sizes.heads, -1), sizes.base)
    keys = _turned(key.reshape(places, sizes.groups, -1), sizes.base).repeat(shared, axis=1)
    values = value.reshape(places, sizes.groups, -1).repeat(shared, axis=1)
    scores = np.einsum("qhd,khd->hqk", queries, keys) / np.float32(np.sqrt(queries.shape[2]))
    scores[:, np.triu(np.ones((places, places), bool), 1)] = -np.inf
    shares = np.exp(scores - scores.max(axis=2, keepdims=True))
    shares /= shares.sum(axis=2, keepdims=True)
    attended: NDArray[np.float32] = np.einsum("hqk,khd->qhd", shares, values).reshape(places, -1)
    return attended


def _turned(states: NDArray[np.float32], base: float) -> NDArray[np.float32]:
    half = states.shape[2] // 2
    angles = np.arange(len(states))[:, None, None] * base ** (-np.arange(half) / half)
    cosines, sines = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
    one, other = states[..., ::2], states[..., 1::2]
    return np.stack((one * cosines - other * sines, one * sines + other * cosines), axis=3).reshape(states.shape)


@dataclass(frozen=True)
class _Content:
    """Content of a file: its header, and tensors by name."""

    name: str
    says: Callable[[str], Json]
    tensors: Fields

    def number(self, key: str) -> int:
        value = self.says(f"{ARCHITECTURE}.{key}")
        if not isinstance(value, int) or not 1 <= value <= _MOST:
            raise InputError(f"{self.name}: {key} must be a whole number from 1, not {str(value)[:40]}")
        return value

    def weight(self, name: str, *shape: int) -> NDArray[np.float32]:
        """Return an unpacked tensor."""
        from gguf import dequantize

        tensor = self.tensors.get(name)
        if tensor is None:
            raise InputError(f"{self.name}: the tensor {name} is missing; is it a complete Llama model?")
        values: NDArray[np.float32] = np.array(dequantize(tensor.data, tensor.tensor_type), np.float32)
        if tuple(int(size) for size in tensor.shape[::-1]) != shape or values.size != np.prod(shape):
            raise InputError(f"{self.name}: the tensor {name} must have the shape {shape} to fit the sizes")
        if not np.isfinite(values).all():
            raise InputError(f"{self.name}: the tensor {name} has NaN or infinite values; get the file again")
        return values.reshape(shape)


def convert_gguf(path: Path, folder: Path, start: str | None = None) -> None:
    """Convert a GGUF file into a folder for ctranslate2, atomically.

    The file must be a Llama model with pieces of GPT-2's kind. `start` is the piece that begins a text; default: the
    piece declared by the file.
    """
    try:
        from ctranslate2.specs import TransformerDecoderModelSpec, common_spec
        from gguf import GGUFReader
    except ImportError as error:
        raise missing_extra(error) from error
    check_plain(path)
    with _explained(path):
        _check_lengths(path)
        reader = GGUFReader(path)
        fields = {key: field.contents() for key, field in reader.fields.items()}
        content = _Content(str(path), fields.get, {tensor.name: tensor for tensor in reader.tensors})
    _check_kind(content)
    with _explained(path):
        pieces = _strings(content, "tokens")
        tokenizer = _tokenizer(content, pieces)
        weights, sizes = _weights(content, len(pieces))
        first = _start(content, pieces, start)
        sample = required_resource("corpora", "samples", "reference.en").read_text(encoding="utf-8").splitlines()
        lines = [[pieces.index(first), *tokenizer.encode(line).ids] for line in sample[:_SAMPLE_LINES]]
        smooth_weights(weights, sizes, lines)
        spec = _specification(weights, sizes, TransformerDecoderModelSpec, common_spec)
        spec.register_vocabulary(pieces)
        spec.config.bos_token = spec.config.eos_token = spec.config.unk_token = first
        spec.validate()
        spec.optimize(quantization="int8")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with draft_folder(folder) as draft:
        spec.save(str(draft))
        tokenizer.save(str(draft / TOKENIZER), pretty=False)
        put_in_place(draft, folder)


def _check_lengths(path: Path) -> None:
    """Check that a file is as large as its header claims, since the reader allocates memory first."""
    size, listed = path.stat().st_size, 0
    with path.open("rb") as stream:

        def number(width: int = 8) -> int:
            return int.from_bytes(stream.read(width), "little")

        def claim(length: int) -> int:
            if length > size - stream.tell():
                raise InputError(f"{path}: its header claims more than the file holds; get the file again")
            return length

        def skip_value(kind: int, count: int = 1) -> None:
            nonlocal listed
            if kind == _LIST:
                kind, count = number(4), number()
                listed += count
                _ENTRIES.check(listed, f"the header of {path}")
            claim(count * _WIDTHS.get(kind, 1))
            if kind != _STRING:
                stream.seek(count * _WIDTHS.get(kind, 1), SEEK_CUR)
                return
            for _ in range(count):
                stream.seek(claim(number()), SEEK_CUR)

        stream.seek(16)
        for _ in range(claim(number())):
            stream.seek(claim(number()), SEEK_CUR)
            skip_value(number(4))


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except (InputError, OSError):
        raise
    # The reader raises many kinds of errors for other or truncated files.
    except Exception as error:
        raise InputError(f"{path}: not a readable GGUF file ({' '.join(str(error).split())[:120]})") from error


def _check_kind(content: _Content) -> None:
    kind = content.says("general.architecture")
    if kind != ARCHITECTURE:
        raise InputError(f"{content.name}: a model of the architecture {kind!r}: only {ARCHITECTURE!r} can be read")
    if (
        content.says(f"{ARCHITECTURE}.rope.scaling.type") not in (None, "none")
        or "rope_freqs.weight" in content.tensors
    ):
        raise InputError(f"{content.name}: its positions are scaled (rope.scaling), which is not supported")
    pieces = content.says("tokenizer.ggml.model")
    if pieces != "gpt2":
        raise InputError(f"{content.name}: pieces of the kind {pieces!r}: only those of GPT-2's kind can be read")
    if (cut := content.says("tokenizer.ggml.pre")) not in _CUTS:
        raise UnknownNameError("pre-tokenizer (tokenizer.ggml.pre)", str(cut), _CUTS, place=content.name)


def _strings(content: _Content, key: str) -> list[str]:
    strings = content.says(f"tokenizer.ggml.{key}")
    if not isinstance(strings, list) or not all(isinstance(string, str) for string in strings):
        raise InputError(f"{content.name}: no {key} of a tokenizer; get the file again")
    return strings


def _start(content: _Content, pieces: Sequence[str], start: str | None) -> str:
    if start is None:
        number = content.says("tokenizer.ggml.bos_token_id")
        if not isinstance(number, int) or not 0 <= number < len(pieces):
            raise InputError(f"{content.name}: does not say which piece begins a text (bos_token_id)")
        return pieces[number]
    if start not in pieces:
        raise InputError(f"{content.name}: has no piece {start!r}")
    return start


def _tokenizer(content: _Content, pieces: Sequence[str]) -> Tokenizer:
    from tokenizers import Tokenizer, models, pre_tokenizers

    merges = [merge.partition(" ")[::2] for merge in _strings(content, "merges")]
    tokenizer = Tokenizer(models.BPE({piece: number for number, piece in enumerate(pieces)}, merges))
    digits = [pre_tokenizers.Digits(individual_digits=True)] if _CUTS[content.says("tokenizer.ggml.pre")] else []
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([*digits, pre_tokenizers.ByteLevel(add_prefix_space=False)])
    return tokenizer


def _weights(content: _Content, vocabulary: int) -> tuple[dict[str, NDArray[np.float32]], LlamaSizes]:
    """Read all weights, and the sizes of the model."""
    depth, wide, inner, heads = (content.number(key) for key in _SIZES)
    groups = content.says(f"{ARCHITECTURE}.attention.head_count_kv") or heads
    if wide % (2 * heads) or not isinstance(groups, int) or not 0 < groups <= heads or heads % groups:
        raise InputError(f"{content.name}: {heads} heads, {groups} groups and a width of {wide} are incompatible")
    size = {"wide": wide, "inner": inner, "group": wide // heads * groups}
    matrix = (vocabulary, wide)
    shapes = {"token_embd.weight": matrix, "output.weight": matrix, "output_norm.weight": (wide,)}
    for layer in range(depth):
        for name, extents in LLAMA_PARTS.items():
            shapes[f"blk.{layer}.{name}.weight"] = tuple(size[extent] for extent in extents)
    # Many models use the embeddings of pieces as output weights.
    tied = {} if "output.weight" in content.tensors else {"output.weight": "token_embd.weight"}
    weights = {name: content.weight(tied.get(name, name), *shape) for name, shape in shapes.items()}
    base = float(content.says(f"{ARCHITECTURE}.rope.freq_base") or 10_000)
    eps = float(content.says(f"{ARCHITECTURE}.attention.layer_norm_rms_epsilon"))
    return weights, LlamaSizes(depth, heads, groups, base, eps)


def _specification(
    weights: Mapping[str, NDArray[np.float32]], sizes: LlamaSizes, kind: ModuleType, common: ModuleType
) -> ModelSpec:
    """Return ctranslate2's specification of the model, with its weights."""
    # In GGUF files, the halves of each head's rows are interleaved.
    spec = kind.from_config(
        sizes.depth,
        sizes.heads,
        activation=common.Activation.SWISH,
        pre_norm=True,
        ffn_glu=True,
        rms_norm=True,
        rotary_dim=0,
        rotary_interleave=True,
        rotary_base=sizes.base,
        num_heads_kv=None if sizes.groups == sizes.heads else sizes.groups,
    )
    decoder = spec.decoder
    decoder.scale_embeddings = False
    decoder.embeddings.weight = weights["token_embd.weight"]
    decoder.projection.weight = weights["output.weight"]
    decoder.layer_norm.gamma = weights["output_norm.weight"]
    for number, layer in enumerate(decoder.layer):
        attention, forward = layer.self_attention, layer.ffn
        arrays = {name: weights[f"blk.{number}.{name}.weight"] for name in LLAMA_PARTS}
        attention.layer_norm.gamma = arrays["attn_norm"]
        attention.linear[0].weight = np.concatenate([arrays["attn_q"], arrays["attn_k"], arrays["attn_v"]])
        attention.linear[1].weight = arrays["attn_output"]
        forward.layer_norm.gamma = arrays["ffn_norm"]
        forward.linear_0.weight = arrays["ffn_gate"]
        forward.linear_0_noact.weight = arrays["ffn_up"]
        forward.linear_1.weight = arrays["ffn_down"]
    spec.config.layer_norm_epsilon = sizes.eps
    return spec
