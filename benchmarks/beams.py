"""All prefixes of the hypotheses of a beam beside sacrebleu's sentence scores anew: CPU time.

    python benchmarks/beams.py

A beam has 64 hypotheses of 40 words of one segment, each with a random quarter of the reference's words replaced;
hypotheses share no prefix but by chance. The best of three runs counts for either program. Soft metrics, which sacrebleu lacks, are
measured beside `sentence_score` of the same metric.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sacrebleu
from rich.console import Console
from rich.table import Table

import softbleu

REFERENCE = Path(__file__).parents[1] / "corpora" / "samples" / "reference.en"
HYPOTHESES, WORDS, REPLACED = 64, 40, 10
PEERS: dict[str, Any] = {
    "chrf": sacrebleu.CHRF(),
    "bleu": sacrebleu.BLEU(effective_order=True),
    "ter": sacrebleu.TER(),
    "softbleu": None,
}


def make_beam() -> tuple[list[str], str]:
    """Make the hypotheses and their reference from the bundled sample."""
    words = REFERENCE.read_text(encoding="utf-8").split()
    drawn, reference = random.Random(1), words[:WORDS]
    beam = []
    for _ in range(HYPOTHESES):
        words_of = [*reference]
        for place in drawn.sample(range(WORDS), REPLACED):
            words_of[place] = drawn.choice(words)
        beam.append(" ".join(words_of))
    return beam, " ".join(reference)


def best_of(run: Callable[[], object]) -> float:
    """CPU seconds of the fastest of three runs."""
    taken = []
    for _ in range(3):
        start = time.process_time()
        run()
        taken.append(time.process_time() - start)
    return min(taken)


def main() -> None:
    """Print the table."""
    beam, reference = make_beam()
    prefixes = [" ".join(line.split()[:size]) for line in beam for size in range(1, WORDS + 1)]
    table = Table(
        "metric", "softbleu ms", "anew ms", "ratio", title=f"{len(prefixes):,} prefixes", title_justify="left"
    )
    for name, peer in PEERS.items():
        own = best_of(lambda name=name: [*softbleu.prefix_scores([beam], [reference], metrics=name)])
        alone = peer or softbleu.read_metric(name)
        references = [reference] if peer else reference
        anew = best_of(lambda alone=alone, to=references: [alone.sentence_score(text, to) for text in prefixes])
        table.add_row(name, f"{1000 * own:.0f}", f"{1000 * anew:.0f}", f"{own / anew:.2f}")
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
