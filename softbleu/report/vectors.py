"""Tables of what is done with vectors: how good they are, and references that are made by them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from softbleu.tabular import Records

if TYPE_CHECKING:
    from softbleu.embeddings.evaluation import Evaluation
    from softbleu.embeddings.expansion import ExpandedReference

_DIGITS = 4


def evaluation_records(evaluation: Evaluation, most_missing: int) -> Records:
    """Make a table of an evaluation: correlations first, then shares of tokens and of different words."""
    rows: list[tuple[str, str, str | None, float | None, int, int]] = []
    for name, found in evaluation.agreements.items():
        absent = ", ".join(found.missing[:most_missing]) or None
        rows.append((name, "spearman", absent, found.spearman, found.pairs, found.pairs + len(found.missing)))
    for name, text in evaluation.coverages.items():
        often = ", ".join(f"{word} {count}" for word, count in text.missing.most_common(most_missing)) or None
        rows.append((name, "tokens", often, text.share, text.covered, text.tokens))
        rows.append((name, "words", None, text.type_share, text.covered_types, text.types))
    facts: dict[str, str | int] = {
        "vectors": evaluation.name,
        "dimension": evaluation.dimension,
        "sha256": evaluation.fingerprint,
    }
    columns = ("of", "measure", "without_a_vector", "value", "found", "all")
    return Records(columns, rows, facts, digits=_DIGITS)


def expansion_json(segments: Iterable[Sequence[str]], found: Iterable[Sequence[ExpandedReference]]) -> Iterator[str]:
    """An object a segment; segments, references and tokens are numbered from 1."""
    for number, (texts, variants) in enumerate(zip(segments, found, strict=True), start=1):
        entries = [
            {
                "text": " ".join(variant.tokens),
                "probability": variant.probability,
                "reference": variant.reference + 1,
                "replacements": [
                    {"token": each.position + 1, "word": each.word, "by": each.by, "similarity": each.similarity}
                    for each in variant.replacements
                ],
            }
            for variant in variants
        ]
        entry = {"segment": number, "references": list(texts), "variants": entries}
        yield json.dumps(entry, ensure_ascii=False) + "\n"


def expansion_records(counts: Sequence[int], names: Sequence[str]) -> Records:
    """Make a table of how many segments got 0, 1, … new references, which were written to these files."""
    facts: dict[str, str | int] = {
        "segments": sum(counts),
        "new references": sum(number * count for number, count in enumerate(counts)),
        "written": f"{names[0]} to {names[-1]}" if len(names) > 1 else names[0],
    }
    rows = [(str(number), count) for number, count in enumerate(counts) if count]
    return Records(("new references", "segments"), rows, facts)
