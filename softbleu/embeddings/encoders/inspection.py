"""What an encoder is."""

from __future__ import annotations

from softbleu.embeddings.encoders.base import Encoder
from softbleu.embeddings.encoders.store import ENCODER_FILES, encoder_fingerprint
from softbleu.embeddings.encoders.stored import StoredEncoder
from softbleu.embeddings.inspection import Fact
from softbleu.errors import VectorError

_FROM_META = ("family", "source", "licence")


def describe_encoder(encoder: Encoder, *, verify: bool = False) -> dict[str, Fact]:
    """Facts about an encoder, by name.

    `verify` reads all of its store, to see that it is whole and as it was written. Raises `VectorError` where it is
    not.

    >>> from softbleu.embeddings.encoders import open_encoder
    >>> facts = describe_encoder(open_encoder("minilm-l6"), verify=True)
    >>> facts["layers"], facts["dimension"], facts["dtype"], facts["verified"]
    (6, 384, 'int8', 'yes')
    """
    facts: dict[str, Fact] = {"name": encoder.name, "kind": "encoder"}
    facts |= {"layers": encoder.depth, "dimension": encoder.dimension, "pieces": encoder.vocabulary}
    if isinstance(encoder, StoredEncoder):
        facts |= _describe_encoder_store(encoder, verify)
    return {
        **facts,
        "sha256": encoder.fingerprint,
        "recommended layers": ",".join(map(str, encoder.layers)),
        "recommended threshold": encoder.threshold,
        **{f"similarity {key} of random pairs": value for key, value in encoder.quantiles.items()},
        "verified": "yes" if verify else "no",
    }


def _describe_encoder_store(encoder: StoredEncoder, verify: bool) -> dict[str, Fact]:
    if verify and (found := encoder_fingerprint(encoder.directory, encoder.meta.architecture)) != encoder.fingerprint:
        raise VectorError(
            f"{encoder.directory}: its content has the SHA-256 {found}, meta.json says {encoder.fingerprint}: it was "
            "damaged or edited; convert the model again"
        )
    everything = encoder.meta.everything
    return {
        "positions": encoder.meta.architecture.positions,
        "dtype": encoder.meta.dtype,
        "bytes": sum((encoder.directory / name).stat().st_size for name in ENCODER_FILES),
        **{key: everything[key] for key in _FROM_META if isinstance(everything.get(key), str)},
    }
