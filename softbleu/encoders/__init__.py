"""Encoders, in NumPy or on a device: from lines of text to hidden states. Heavy modules are imported on use."""

from __future__ import annotations

import os
from pathlib import Path

from softbleu.encoders.base import Encoder, Pieces
from softbleu.errors import REMOVAL, VectorError
from softbleu.io.files import find_resource, local_place, resource_names
from softbleu.io.reading import is_url

__all__ = ["Encoder", "Pieces", "encoder_files", "encoder_names", "is_encoder", "named_by_extra", "open_encoder"]

_FOLDER = "embeddings"


def is_encoder(location: object) -> bool:
    """Whether a location is, or names, an encoder; faults are reported when it is opened.

    >>> is_encoder("minilm-l6"), is_encoder("glove-6b-100d")
    (True, False)
    """
    if not isinstance(location, str | os.PathLike):
        return all(callable(getattr(location, name, None)) for name in ("tokenize", "encode"))
    return _find_store(location) is not None


def open_encoder(location: str | os.PathLike[str] | Encoder) -> Encoder:
    """Open an encoder; weights are read on first use.

    `location` is a folder written by `convert_encoder`; unless such a path exists, the name of a bundled encoder, of
    a store of the user, or of an encoder that an extra brings, which is converted on first use; or an encoder.
    Raises `VectorError`: nothing found, damaged, or not an encoder; `MissingExtraError`.

    >>> encoder = open_encoder("minilm-l6")
    >>> pieces = encoder.tokenize([["Soft", "matching"]])
    >>> pieces.words.tolist(), encoder.encode(pieces, encoder.layers).shape
    ([-1, 0, 1, -1], (4, 384))
    """
    if not isinstance(location, str | os.PathLike):
        if not is_encoder(location):
            raise VectorError(
                f"{type(location).__name__}: no encoder; give a name or the folder of a converted model"
            )
        return location
    text = os.fspath(location)
    store = _find_store(location)
    if store is not None and not os.path.lexists(store):
        from softbleu.encoders.packaged import packaged_store

        store = packaged_store(text)
    if store is None:
        names = ", ".join(encoder_names())
        raise VectorError(f"{text!r}: no encoder; give the folder of a converted model, or one of: {names}")
    from softbleu.encoders.stored import StoredEncoder

    return StoredEncoder(store, None if os.path.lexists(text) or is_url(text) else text)


def encoder_files(location: object) -> list[Path]:
    """List the files of an encoder, if known.

    >>> [path.name for path in encoder_files("minilm-l6")]
    ['meta.json', 'weights.safetensors', 'tokenizer.json']
    """
    from softbleu.encoders.store import ENCODER_FILES

    store = _find_store(location) if isinstance(location, str | os.PathLike) else None
    return [] if store is None else [store / name for name in ENCODER_FILES]


def encoder_names() -> tuple[str, ...]:
    """List the bundled encoders, sorted.

    >>> encoder_names()
    ('minilm-l6',)
    """
    from softbleu.encoders.store import WEIGHTS

    return resource_names(_FOLDER, WEIGHTS)


def named_by_extra(name: str) -> bool:
    """Whether a name means an encoder that an extra brings, and nothing else.

    >>> named_by_extra("multilingual-e5-small"), named_by_extra("minilm-l6")
    (True, False)
    """
    from softbleu.embeddings.installed import find_installed
    from softbleu.encoders.packaged import PACKAGED

    return name in PACKAGED and not os.path.lexists(name) and find_installed(name) is None


def _find_store(location: str | os.PathLike[str]) -> Path | None:
    """Find the folder of a store by its path, or else by its name; the one of an extra may not be made yet."""
    from softbleu.embeddings.installed import find_installed
    from softbleu.encoders.packaged import packaged_place
    from softbleu.encoders.store import WEIGHTS, names_encoder

    text = local_place(os.fspath(location))
    if text.startswith("transformers:"):
        raise VectorError(f"{text}: 'transformers:' {REMOVAL}; convert the model: softbleu embeddings convert")
    if os.path.lexists(text):
        return Path(text) if names_encoder(Path(text)) else None
    if not isinstance(location, str) or text != Path(text).name:
        return None
    if (weights := find_resource(_FOLDER, text, WEIGHTS)) is not None:
        return weights.parent
    if (installed := find_installed(text)) is not None:
        return installed if names_encoder(installed) else None
    return packaged_place(text)
