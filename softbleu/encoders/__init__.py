"""Encoders: text lines to the hidden states of their pieces, in NumPy. Nothing heavy is imported before its use."""

from __future__ import annotations

from softbleu.encoders.base import Encoder, Pieces
from softbleu.encoders.locate import encoder_files, encoder_names, is_encoder, open_encoder

__all__ = ["Encoder", "Pieces", "encoder_files", "encoder_names", "is_encoder", "open_encoder"]
