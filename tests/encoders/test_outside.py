"""Models that the package transformers runs, where it is installed."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from softbleu.encoders import is_encoder, open_encoder
from softbleu.encoders.convert import convert_encoder
from softbleu.errors import VectorError

pytest.importorskip("torch")
pytest.importorskip("transformers")
GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "encoders"
LINES = [list("abc"), list("softbleu") * 40, [], list("abd")]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("family", ["bert", "distilbert", "mpnet", "roberta"])
def test_gives_what_a_store_gives(family, tmp_path):
    convert_encoder(GOLDEN / family, tmp_path / "store", dtype="float32")
    stored, outside = open_encoder(tmp_path / "store"), open_encoder(f"transformers:{GOLDEN / family}")
    assert is_encoder(outside)
    assert (outside.depth, outside.dimension, outside.layers) == (2, 8, stored.layers)
    pieces = outside.tokenize(LINES)
    np.testing.assert_array_equal(pieces.ids, stored.tokenize(LINES).ids)
    np.testing.assert_array_equal(pieces.words, stored.tokenize(LINES).words)
    np.testing.assert_allclose(outside.encode(pieces, (0, 2)), stored.encode(pieces, (0, 2)), atol=1e-4)
    assert pickle.loads(pickle.dumps(outside)).fingerprint == outside.fingerprint != stored.fingerprint


@pytest.mark.filterwarnings("ignore")
def test_a_model_that_is_not_there(tmp_path):
    with pytest.raises(VectorError, match="cannot be loaded"):
        open_encoder(f"transformers:{tmp_path}")
