"""Any text, in any script, scores as sacrebleu has it, and the same wherever and however it is scored."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest
from adversarial.conftest import SEEDS, TIMES
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF, TER
from shared_data import shared

import softbleu

SCRIPTS = {
    "Latin": "aÀßİıéǅﬁ",
    "combined": "e\u0301a\u0308\u0327n\u0303",
    "Greek and Cyrillic": "ΣσςάЖжѣ",
    "Hebrew and Arabic": "אבגשׁىﷺ٣۵\u200f",
    "Indic and Thai": "कि्षதமிழ்ก็น้ำ",
    "Han, Kana, Hangul": "猫日本語ガガー한글\u1100\u1161",
    "others": "አማርኛᚠᛒ𐍈𝔘𝟙",
    "signs": "…“”«»—–·•€$%&<>'\"`\\/|+=#@~^*_",
    "ends": ".,;:!?()[]{}。、，！？",
    "digits": "0123456789.,-½²",
    "pictures": "🐈👩‍💻🇨🇭☃\ufe0f",
    "spaces": " \t\u00a0\u2009\u200b\u3000\u2028\x0b\x1c\x85\ufeff",
    "controls": "\x00\x07\x1b\x7f\u202e",
}
WORDS = st.one_of(
    *(st.text(characters, min_size=1, max_size=4) for characters in SCRIPTS.values()),
    st.sampled_from(["the", "cat", "&quot;", "&amp;lt;", "<skipped>", "3,000.5", "it's", "a-b", "-", "|||"]),
    st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"),
)
LINES = st.lists(st.tuples(WORDS, st.sampled_from([" ", " ", " ", ""])), max_size=8).map(
    lambda parts: "".join(map("".join, parts))
)
CORPORA = st.lists(st.tuples(LINES, st.lists(LINES, min_size=1, max_size=3)), min_size=1, max_size=4)
PEERS: dict[str, Any] = {
    **{f"bleu(tokenize={name})": BLEU(tokenize=name, force=True) for name in ("none", "13a", "intl", "zh", "char")},
    "bleu(lowercase=yes, smooth=add-k)": BLEU(lowercase=True, smooth_method="add-k", force=True),
    "bleu(order=2, effective_order=yes)": BLEU(max_ngram_order=2, effective_order=True, force=True),
    "chrf": CHRF(),
    "chrf++(lowercase=yes)": CHRF(word_order=2, lowercase=True),
    "chrf(char_order=3, beta=1, lowercase=yes)": CHRF(char_order=3, beta=1, lowercase=True),
    "chrf++(whitespace=yes)": CHRF(word_order=2, whitespace=True),
    "chrf(char_order=2, whitespace=yes, lowercase=yes)": CHRF(char_order=2, whitespace=True, lowercase=True),
    "chrf(word_order=1, eps_smoothing=yes)": CHRF(word_order=1, eps_smoothing=True),
    "ter": TER(),
    "ter(lowercase=no)": TER(case_sensitive=True),
    "ter(normalized=yes, case_sensitive=yes)": TER(normalized=True, case_sensitive=True),
    "ter(no_punct=yes)": TER(no_punct=True),
    "ter(asian_support=yes)": TER(asian_support=True),
    "ter(no_punct=yes, asian_support=yes)": TER(no_punct=True, asian_support=True),
    "ter(normalized=yes, no_punct=yes, asian_support=yes)": TER(normalized=True, no_punct=True, asian_support=True),
}


def check(metric: str, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> None:
    """Corpus and segments are as the peer has them; segments have references of different numbers."""
    peer = PEERS[metric]
    expected = peer.corpus_score(candidates, list(map(list, zip_longest(*references))))
    assert softbleu.score(candidates, references, metric=metric).score == pytest.approx(expected.score, abs=1e-9)
    if not metric.startswith("bleu"):
        segments = softbleu.score(candidates, references, metric=metric, level="segment").segments or ()
        for own, *texts in zip(segments, candidates, references, strict=True):
            assert own.score == pytest.approx(peer.sentence_score(*texts).score, abs=1e-10)


@pytest.mark.parametrize("metric", PEERS)
@settings(max_examples=max(20, TIMES), derandomize=not TIMES)
@given(CORPORA)
def test_as_sacrebleu(metric: str, corpus: list[tuple[str, list[str]]]) -> None:
    check(metric, [own for own, _ in corpus], [theirs for _, theirs in corpus])


@pytest.mark.parametrize("metric", PEERS)
def test_real_text_as_sacrebleu(metric: str) -> None:
    folder = shared("data/wmt13-de-en")
    outputs = sorted((folder / "system-outputs").iterdir())[:2]
    reference, candidate, other = (
        path.read_text(encoding="utf-8").split("\n")[:20] for path in (folder / "reference.en", *outputs)
    )
    check(metric, candidate, list(zip(reference, other, strict=True)))


METRICS = ["bleu", "sleu", "vleu(threshold=0.5)", "xleu", "softbleu", "chrf++", "ter", "gleu"]
METRICS += ["meteor(stages=exact+stem)"]
# Kernels, jobs and clusters are compared elsewhere.
WAYS = {"another hash seed": {"PYTHONHASHSEED": "7"}}
WAYS["threads"] = {"OPENBLAS_NUM_THREADS": "4", "OMP_NUM_THREADS": "4", "NUMBA_NUM_THREADS": "2"}


@pytest.mark.skipif(not TIMES, reason="part of the campaign: single ways are compared elsewhere")
@pytest.mark.parametrize("seed", list(range(max(TIMES // 20, 1))))
def test_wherever_it_is_scored(program: Any, tmp_path: Path, seed: int) -> None:
    draw = random.Random(f"{SEEDS[0]} {seed}")
    strange = "".join(SCRIPTS.values())
    words = ["the", "a", "cat", "dog", "mat", "sat", *("".join(draw.choices(strange, k=3)) for _ in range(40))]
    names = [str(tmp_path / name) for name in ("c", "r1", "r2", "s")]
    for name in names:
        lines = (" ".join(draw.choices(words, k=draw.randrange(12))) for _ in range(2500))
        Path(name).write_bytes("".join(f"{' '.join(line.split())}\n" for line in lines).encode())
    arguments = ["score", "-c", names[0], "-r", *names[1:3], "-s", names[3], "-m", *METRICS, "-f", "json"]
    arguments += ["--level", "segment", "-q"]
    expected = program(*arguments, environment={"PYTHONHASHSEED": "0"})
    assert expected.code == 0, expected.err
    for way, environment in WAYS.items():
        assert program(*arguments, environment=environment) == expected, f"{way}, seed {SEEDS[0]} {seed}"
