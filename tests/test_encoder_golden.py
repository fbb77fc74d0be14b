"""BERTScore by the bundled encoder, beside bert_score 0.3.13 with the same model in float32."""

from __future__ import annotations

import csv
import html

import numpy as np
import pytest
from shared_data import shared

from softbleu.embeddings.encoders import open_encoder

ROWS = 40
"""Segments of each direction that are looked at; the card of the encoder tells of all."""


def judged_lines(direction: str) -> list[list[str]]:
    """The first judged segments: of each the words of the translation, then those of the reference."""
    folder = shared("data", "wmt17-into-en")
    reference = folder / "references" / f"newstest2017-{direction.replace('-', '')}-ref.en"
    references = reference.read_text(encoding="utf-8").split("\n")
    with (folder / "DA-seglevel.csv").open(encoding="utf-8", newline="") as handle:
        rows = [row for row in csv.DictReader(handle, delimiter=" ") if row["LP"] == direction][:ROWS]
    lines = []
    for row in rows:
        # Systems with the same output stand together.
        system, place = row["SYSTEM"].split("+")[0], int(row["SID"]) - 1
        output = folder / "system-outputs" / direction / f"newstest2017.{system}.{direction}"
        translations = output.read_text(encoding="utf-8").split("\n")
        lines += [html.unescape(text).split() for text in (translations[place], references[place])]
    return lines


@pytest.mark.parametrize("direction", ["cs-en", "de-en", "fi-en"])
def test_rounded_weights_keep_precision_recall_and_f(direction: str) -> None:
    expected = np.loadtxt(shared("expected", "bertscore", f"minilm-l6-{direction}-plain.tsv"), skiprows=1)[:ROWS]
    encoder = open_encoder("minilm-l6")
    pieces = encoder.tokenize(judged_lines(direction))
    inner = np.split(pieces.words >= 0, pieces.offsets[1:-1])
    found = []
    for layer in (4, 6):
        units = encoder.encode(pieces, (layer,))
        units /= np.linalg.norm(units, axis=1, keepdims=True)
        parts = np.split(units, pieces.offsets[1:-1])
        for segment in range(ROWS):
            one, other = 2 * segment, 2 * segment + 1
            cosines = parts[one] @ parts[other].T
            # Boundary pieces weigh nothing, but can be met.
            precision = cosines.max(axis=1)[inner[one]].mean()
            recall = cosines.max(axis=0)[inner[other]].mean()
            found.append((precision, recall, 2 * precision * recall / (precision + recall)))
    wanted = np.concatenate([expected[:, :3], expected[:, 3:]])
    np.testing.assert_allclose(found, wanted, atol=0.003)
    assert np.abs(np.array(found) - wanted).mean() < 5e-4
