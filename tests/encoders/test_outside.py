"""Models that the package transformers runs, where it is installed."""

import pickle

import numpy as np
import pytest
from encoders.conftest import GOLDEN

from softbleu.encoders import is_encoder, open_encoder
from softbleu.errors import VectorError

pytest.importorskip("torch")
pytest.importorskip("transformers")
LINES = [list("abc"), list("softbleu") * 40, [], list("abd")]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("family", ["bert", "distilbert", "mpnet", "roberta"])
def test_gives_what_a_store_gives(family, stored):
    inside, outside = stored(family), open_encoder(f"transformers:{GOLDEN / family}")
    assert is_encoder(outside)
    assert (outside.depth, outside.dimension, outside.layers) == (2, 8, inside.layers)
    pieces = outside.tokenize(LINES)
    np.testing.assert_array_equal(pieces.ids, inside.tokenize(LINES).ids)
    np.testing.assert_array_equal(pieces.words, inside.tokenize(LINES).words)
    np.testing.assert_allclose(outside.encode(pieces, (0, 2)), inside.encode(pieces, (0, 2)), atol=1e-4)
    assert pickle.loads(pickle.dumps(outside)).fingerprint == outside.fingerprint != inside.fingerprint


@pytest.mark.filterwarnings("ignore")
def test_a_model_that_is_not_there(tmp_path):
    with pytest.raises(VectorError, match="cannot be loaded"):
        open_encoder(f"transformers:{tmp_path}")
