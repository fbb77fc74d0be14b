"""Every segment of real corpora alone: the score of sacrebleu, and the digits that it has among the others."""

from pathlib import Path
from typing import Any

import pytest
from sacrebleu.metrics import BLEU, CHRF, TER
from shared_data import shared

from softbleu import read_metric

PEERS: dict[str, Any] = {
    "bleu": lambda tokenize: BLEU(effective_order=True, tokenize=tokenize),
    "chrf": lambda _: CHRF(),
    "chrf++": lambda _: CHRF(word_order=2),
    "ter": lambda _: TER(),
    "gleu": None,
}
CORPORA = {
    "WMT13": (["data/wmt13-de-en/reference.en"], "data/wmt13-de-en/system-outputs/*.txt", "13a"),
    "WMT24 Czech": (["data/wmt24-esa/en-cs/reference-A.cs"], "data/wmt24-esa/en-cs/system-outputs/*.cs", "13a"),
    "WMT24 Chinese": (["data/wmt24-esa/en-zh/reference-A.zh"], "data/wmt24-esa/en-zh/system-outputs/*.zh", "zh"),
    "CoNLL-2014": (["data/conll14/ref0.txt", "data/conll14/ref1.txt"], "data/conll14/systems/*", "none"),
}
"""References, outputs of systems, and the tokenizer of BLEU."""


def lines_of(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")


@pytest.mark.parametrize("corpus", CORPORA)
@pytest.mark.parametrize("name", PEERS)
def test_a_segment_alone_scores_as_among_others_and_in_sacrebleu(name: str, corpus: str) -> None:
    files, outputs, tokenize = CORPORA[corpus]
    metric = read_metric(name, **({"tokenize": tokenize} if name in ("bleu", "gleu") else {}))
    peer = PEERS[name] and PEERS[name](tokenize)
    references = [*zip(*(lines_of(shared(file)) for file in files), strict=True)]
    systems = [lines_of(path) for path in sorted(shared(".").glob(outputs))]
    source = systems[0] if metric.requires.source else None
    for system in systems[1:2]:
        expected = metric.corpus_score(system, references, source, level="segment").segments or ()
        sources = source or [None] * len(system)
        texts = [*zip(system, references, sources, strict=True)]
        # Whether blank references are left out depends on how many a corpus has.
        whole = [place for place, others in enumerate(references) if all(map(str.strip, others))]
        assert [metric.sentence_score(*texts[place]) for place in whole] == [expected[place] for place in whole]
        if peer is not None:
            theirs = [peer.sentence_score(candidate, others).score for candidate, others, _ in texts]
            assert [score.score for score in expected] == pytest.approx(theirs, abs=1e-9)
