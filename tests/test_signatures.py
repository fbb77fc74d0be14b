"""Signatures of softbleu 0.3 with their scores: whoever reads one back gets the digits that were published."""

from pathlib import Path
from typing import Any

import pytest
from meteor_data import write_meteor_data

from softbleu.config.signature import parse_signature
from softbleu.errors import InputError
from softbleu.metrics.base import metric_from_signature
from softbleu.results.api import score_corpus
from softbleu.results.samples import open_sample
from softbleu.text.meteor import PACKAGE

GOLDEN = Path(__file__).parent / "golden" / "signatures.tsv"
ROWS = [line.split("\t") for line in GOLDEN.read_text("utf-8").splitlines() if not line.startswith("#")]


@pytest.mark.parametrize(
    ("score", "signature"),
    [
        pytest.param(
            score,
            signature,
            # The neighbours of all words take long to find, and are kept in the cache of a worker.
            marks=[pytest.mark.slow] * (tier == "second")
            + [pytest.mark.xdist_group("neighbours")] * ("neighbour-cost:0" in signature),
            id=str(number),
        )
        for number, (score, tier, signature) in enumerate(ROWS, start=3)
        if tier != "removed"
    ],
)
def test_a_signature_gives_its_score(
    score: str, signature: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "tokenize:meteor" in signature:
        write_meteor_data(tmp_path / PACKAGE / "meteor")
        (tmp_path / PACKAGE / "__init__.py").touch()
        monkeypatch.syspath_prepend(tmp_path)
    metric = metric_from_signature(signature)
    level: Any = parse_signature(signature)["level"]
    with open_sample([metric]) as corpus:
        found = score_corpus(corpus, metric, level=level)[0].score
    # The last bits of hidden states differ between processors: with AVX-512 and without by 1e-7 at most.
    assert found == pytest.approx(float(score), rel=1e-6 if "minilm-l6#" in signature else 0, abs=0)


def test_a_signature_of_a_setting_that_is_gone_names_the_version_that_has_it() -> None:
    gone = [signature for _, tier, signature in ROWS if tier == "removed"]
    assert len(gone) == 11
    for signature in gone:
        what = r"(signature key '.*'|similarity 'csls'|metric 'netbleu')"
        with pytest.raises(InputError, match=rf"^{what} was removed in 0\.4; softbleu 0\.3\.0 has it$"):
            metric_from_signature(signature)
