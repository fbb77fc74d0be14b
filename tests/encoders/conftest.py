"""Tiny encoders of tests/golden; conversions here measure a few random pairs only."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from softbleu.encoders import open_encoder
from softbleu.encoders.convert import convert_encoder

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "encoders"


@pytest.fixture(autouse=True)
def _few_pairs_of_words_in_context(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("softbleu.encoders.stored.PAIRS", 100)


@pytest.fixture
def stored(tmp_path: Path) -> Callable[..., Any]:
    """Convert a model, one of tests/golden by its name, into the folder ``store``, and open what was made."""

    def convert(model: str | Path = "bert", place: str = "store", **options: Any) -> Any:
        convert_encoder(GOLDEN / model, tmp_path / place, **{"dtype": "float32", **options})
        return open_encoder(tmp_path / place)

    return convert
