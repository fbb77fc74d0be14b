"""BERTScore by the bundled encoder, beside bert_score 0.3.13 with the same model in float32."""

from pathlib import Path

import numpy as np
import pytest
from shared_data import judged_lines, shared

import softbleu


@pytest.mark.parametrize(
    ("direction", "kind", "rows"),
    [
        *(("cs-en", kind, 10) for kind in ("plain", "idf")),
        *(pytest.param(direction, "plain", 30, marks=pytest.mark.slow) for direction in ("de-en", "fi-en")),
    ],
)
def test_precision_recall_and_f(direction: str, kind: str, rows: int, tmp_path: Path) -> None:
    expected = np.loadtxt(shared("expected", "bertscore", f"minilm-l6-{direction}-{kind}.tsv"), skiprows=1)[:rows]
    lines = judged_lines(direction)
    # Rare among the references of all segments.
    rare = tmp_path / "references.txt"
    rare.write_text("".join(f"{reference}\n" for _, reference in lines), encoding="utf-8")
    candidates, references = zip(*lines[:rows], strict=True)
    settings = {"metric": "bertscore", "level": "segment", **({"idf": str(rare)} if kind == "idf" else {})}
    found = [
        [[each.precision, each.recall, each.score] for each in result.segments]
        for result in (softbleu.score(candidates, references, layers=layer, **settings) for layer in "46")
    ]
    wanted = np.stack([expected[:, :3], expected[:, 3:]])
    np.testing.assert_allclose(np.array(found) / 100, wanted, atol=0.003)
    assert np.abs(np.array(found) / 100 - wanted).mean() < 5e-4
