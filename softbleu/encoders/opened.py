"""Open encoders, each once in a process: in NumPy, or on a device."""

from __future__ import annotations

from softbleu.encoders import Encoder, open_encoder
from softbleu.encoders.device import Device
from softbleu.encoders.kept import EncodedLines
from softbleu.errors import optional
from softbleu.io.platform import lock
from softbleu.io.progress import note_wait


def encoded_lines(encoder: str | Encoder, layers: tuple[int, ...], device: Device | None = None) -> EncodedLines:
    """Return the encoded lines of an encoder, given or named, on a `device` if any; one object per process."""
    key = encoder if isinstance(encoder, str) else id(encoder), layers, device
    with _OPENING:
        if key not in _OPEN:
            if len(_OPEN) >= _MOST_OPEN:
                del _OPEN[next(iter(_OPEN))]
            _OPEN[key] = _opened(encoder, layers, device)
        return _OPEN[key]


def _opened(encoder: str | Encoder, layers: tuple[int, ...], device: Device | None) -> EncodedLines:
    opened = open_encoder(encoder)
    if device is None:
        return EncodedLines(opened, layers)
    with optional("gpu", f"device {device.name!r}"):
        from softbleu.encoders.torch_backend import DeviceLines, TorchEncoder
    return DeviceLines(TorchEncoder.of(opened, device), layers)


def note_memory() -> None:
    """Note the memory that encoders in this process have taken of a card."""
    for lines in [*_OPEN.values()]:
        said = getattr(lines.encoder, "memory", str)()
        if said:
            note_wait(said)


_OPENING = lock()
_OPEN: dict[tuple[str | int, tuple[int, ...], Device | None], EncodedLines] = {}
"""Open encoders; entries hold the encoders, so that their ids are not reused."""
_MOST_OPEN = 4
