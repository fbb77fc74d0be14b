"""The device of an encoder: where it computes, if not in NumPy, and how exactly.

A device is named by the user, never chosen. torch is imported when the first line is encoded, in the process that
encodes it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal, get_args

from softbleu.errors import InputError, MissingExtraError, Parameter, known_name
from softbleu.io.files import package_folder

DeviceName = Literal["cuda", "mps", "cpu"]
Precision = Literal["float32", "tf32", "float16", "bfloat16"]
DEVICE_VARIABLE = "SOFTBLEU_DEVICE"


@dataclass(frozen=True)
class Device:
    """A kind of device, and the arithmetic of the encoder on it."""

    name: DeviceName
    precision: Precision = "float32"

    @classmethod
    def of(cls, name: str | None, precision: Precision = "float32") -> Device | None:
        """Return the named device, or that of the environment variable; None where neither names one.

        Raises `InputError`: no such device, or one that lacks this precision; `MissingExtraError`: without torch.
        """
        named = name or os.environ.get(DEVICE_VARIABLE)
        if not named:
            if precision != "float32":
                raise InputError(
                    Parameter("precision", precision), " is for a device: name one by ", Parameter("device")
                )
            return None
        known = known_name("device", named, get_args(DeviceName))
        if precision == "tf32" and known != "cuda":
            raise InputError(Parameter("precision", precision), f" is for cuda, not {known}: leave it out")
        if package_folder("torch") is None:
            raise MissingExtraError(f"device {known!r} needs another package: pip install '.[gpu]' in a clone")
        return cls(known, precision)

    @property
    def arithmetic(self) -> str:
        """Key of states beside encoder and layers, which keeps them apart from states that NumPy computes."""
        return f"torch {self.precision}"
