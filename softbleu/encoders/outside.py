"""Models that the package `transformers` runs, on a GPU if there is one."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from itertools import groupby
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from softbleu.encoders.base import OUTSIDE, Pieces, check_layers, default_layers
from softbleu.encoders.families import FAMILIES, first_position
from softbleu.encoders.pieces import Window, cut_lines, cut_windows
from softbleu.errors import MissingExtraError, VectorError
from softbleu.io.forks import cached_property

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_ROWS = 4096  # Pieces that the model is given at a time


class OutsideEncoder:
    """A model of `transformers` that has a tokenizer of the `tokenizers` library.

    Digits are those of the device, and may depend in the last place on which lines are encoded together. It is sent
    to a worker as its name, and loaded there. The name is ``transformers:`` and the model's name on the hub or its
    folder.
    """

    threshold: float | None = None
    quantiles: Mapping[str, float] = MappingProxyType({})

    def __init__(self, name: str) -> None:
        self.name = name
        self._load()

    def _load(self) -> None:
        try:
            import torch
            from transformers import AutoModel, AutoTokenizer
        except ImportError:
            raise MissingExtraError(
                f"{self.name!r} needs the packages transformers and torch: pip install 'softbleu[transformers]'"
            ) from None
        place = self.name.removeprefix(OUTSIDE)
        try:
            tokenizer = AutoTokenizer.from_pretrained(place)
            # Never a pickle.
            model = AutoModel.from_pretrained(place, use_safetensors=True).float()
        except Exception as error:
            # What is wrong with a model comes as errors of many kinds.
            reason = " ".join(str(error).split())[:200]
            raise VectorError(f"{self.name}: cannot be loaded ({reason})") from error
        config = model.config
        if not getattr(tokenizer, "is_fast", False) or config.is_encoder_decoder:
            raise VectorError(f"{self.name}: no encoder with a tokenizer.json: name another model")
        self._tokenizer: Tokenizer = tokenizer.backend_tokenizer
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._model = model.to("cuda" if torch.cuda.is_available() else "cpu").eval()
        self.dimension: int = config.hidden_size
        self.depth: int = config.num_hidden_layers
        self.vocabulary: int = config.vocab_size
        self.layers = default_layers(self.depth)
        family = FAMILIES.get(config.model_type)
        first = first_position(family, config.to_dict(), self.name) if family else 0
        positions = getattr(config, "max_position_embeddings", 1 << 20) - first
        self._positions = min(int(tokenizer.model_max_length), positions)

    def __getstate__(self) -> dict[str, Any]:
        return {"name": self.name}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.name = state["name"]
        self._load()

    @cached_property
    def fingerprint(self) -> str:
        """See `Encoder.fingerprint`: of the weights and the tokenizer; computed once."""
        digest = hashlib.sha256(self._tokenizer.to_str().encode())
        for name, tensor in sorted(self._model.state_dict().items()):
            # What stands after the last hidden state does not count, and may be made up at random.
            if not name.startswith("pooler."):
                digest.update(name.encode())
                digest.update(np.ascontiguousarray(tensor.cpu().numpy()).data)
        return digest.hexdigest()

    def tokenize(self, lines: Sequence[Sequence[str]]) -> Pieces:
        """See `Encoder.tokenize`."""
        return cut_lines(self._tokenizer, lines, self.vocabulary, self.name)

    def encode(self, pieces: Pieces, layers: tuple[int, ...]) -> NDArray[np.float32]:
        """See `Encoder.encode`; lines of equal length go together, long ones in overlapping windows."""
        wanted = check_layers(layers, self.depth, self.name)
        rows = np.empty((len(pieces.ids), self.dimension), np.float32)
        windows = sorted(cut_windows(pieces, self._positions), key=len)
        for length, same in groupby(windows, len):
            group, count = list(same), max(1, _ROWS // max(1, length))
            for start in range(0, len(group) if length else 0, count):
                self._encode_batch(pieces, group[start : start + count], wanted, rows)
        return rows

    def _encode_batch(
        self, pieces: Pieces, batch: Sequence[Window], layers: tuple[int, ...], out: NDArray[np.float32]
    ) -> None:
        import torch

        ids = np.stack([pieces.ids[window.places] for window in batch]).astype(np.int64)
        with torch.inference_mode():
            batch_ids = torch.from_numpy(ids).to(self._model.device)
            states = self._model(input_ids=batch_ids, output_hidden_states=True).hidden_states
            chosen = torch.stack([states[layer] for layer in layers])
            if len(layers) > 1:
                chosen = torch.nn.functional.normalize(chosen, dim=-1)
            mean = chosen.mean(0).cpu().numpy()
        for window, states_of_window in zip(batch, mean, strict=True):
            out[window.places[window.taken]] = states_of_window[window.taken]
