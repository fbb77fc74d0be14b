"""Any text, in any script, scores as sacrebleu has it, and the same wherever and however it is scored."""

import logging
import tomllib
from collections.abc import Sequence
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest
from adversarial.conftest import TIMES
from hypothesis import given, note, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.metrics.bleu import BLEUScore
from shared_data import shared
from strategies import HOSTILE_LINES as LINES

import softbleu

DATA = tomllib.loads(Path(__file__).with_name("differential.toml").read_text(encoding="utf-8"))
CORPORA = st.lists(st.tuples(LINES, st.lists(LINES, min_size=1, max_size=3)), min_size=1, max_size=4)
# It advises against segment scores without effective order, thousands of times.
logging.getLogger("sacrebleu").setLevel(logging.ERROR)
CLASSES: dict[str, Any] = {"BLEU": partial(BLEU, force=True), "CHRF": CHRF, "TER": TER}
PEERS = {name: CLASSES[kind](**taken) for kind, rows in DATA["peers"].items() for name, taken in rows.items()}
TOGETHER = 4  # Metrics that score the same texts, which take longer to draw than to score


def assert_same(ours: Any, theirs: Any, *, smooth: str = "exp") -> None:
    assert ours.score == pytest.approx(theirs.score, abs=1e-9)
    if isinstance(theirs, BLEUScore):
        assert (ours.candidate_length, ours.reference_length) == (theirs.sys_len, theirs.ref_len)
        parts = [theirs.bp, *theirs.precisions]
        assert [ours.brevity_penalty, *ours.precisions] == pytest.approx(parts, rel=1e-12, abs=0)
        # Sacrebleu gives the counts after adding k.
        assert smooth == "add-k" or (ours.matches, ours.totals) == (list(theirs.counts), list(theirs.totals))


def check(metric: str, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> None:
    """Corpus and segments are as the peer has them; segments have references of different numbers."""
    peer, smooth = PEERS[metric], "add-k" if "add-k" in metric else "exp"
    expected = peer.corpus_score(candidates, list(map(list, zip_longest(*references))))
    assert_same(softbleu.score(candidates, references, metrics=metric).numbers, expected, smooth=smooth)
    # Our scores of segments by BLEU have effective order unless told.
    if not metric.startswith("bleu") or "effective_order" in metric:
        segments = softbleu.score(candidates, references, metrics=metric, level="segment").segments or ()
        for own, *texts in zip(segments, candidates, references, strict=True):
            assert_same(own, peer.sentence_score(*texts), smooth=smooth)


@pytest.mark.filterwarnings("ignore:.*look transposed")
@pytest.mark.parametrize("first", range(0, len(PEERS), TOGETHER))
@settings(max_examples=max(20, TIMES), derandomize=not TIMES)
@given(CORPORA)
def test_digits_of_odd_texts_are_those_of_sacrebleu(first: int, corpus: list[tuple[str, list[str]]]) -> None:
    for metric in list(PEERS)[first : first + TOGETHER]:
        note(metric)
        check(metric, [own for own, _ in corpus], [theirs for _, theirs in corpus])


@pytest.mark.parametrize("metric", PEERS)
def test_real_text_as_sacrebleu(metric: str) -> None:
    folder = shared("data/wmt13-de-en")
    outputs = sorted((folder / "system-outputs").iterdir())[:4]
    reference, whole, *others = (
        path.read_text(encoding="utf-8").split("\n")[:100] for path in (folder / "reference.en", *outputs)
    )
    # Short lines, too, and segments that have fewer references than others.
    candidates = [" ".join(text.split()[: n % 5]) if n % 3 else text for n, text in enumerate(whole)]
    lists = enumerate(zip(reference, *others, strict=True))
    references = [[text, *(other for k, other in enumerate(rest, 2) if n % k)] for n, (text, *rest) in lists]
    for size in (1, 2, 3, 100 if metric.startswith("bleu") else 20):
        check(metric, candidates[:size], references[:size])
