"""Tables of pairs of texts, of differences between runs, and of vectors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from softbleu.io.tabular import Records, Value

if TYPE_CHECKING:
    from softbleu.embeddings.evaluation import Evaluation
    from softbleu.results.pairs import PairScores
    from softbleu.results.runs import RunDifference

_OF_RUNS = ("kind", "metric", "system", "name", "one", "two", "difference")
_DIGITS = 4


def matrix_records(scores: PairScores) -> Records:
    """Make a row per candidate and a column per reference."""
    return _signed(replace(Records.of(scores), verbatim=scores.references), scores)


def text_pair_records(lists: Iterable[PairScores]) -> Records:
    """Make a row per pair of each list."""
    listed = list(lists)
    columns = ["segment", "candidate", "reference", "score"]
    return _signed(Records(columns, _PairRows(listed), listed[0].described()), listed[0])


@dataclass(frozen=True)
class _PairRows(Sequence[Sequence[Value]]):
    """Rows that are made when they are asked for: they take many times the memory of their scores."""

    lists: Sequence[PairScores]

    def __len__(self) -> int:
        return sum(scored.scores.size for scored in self.lists)

    def __iter__(self) -> Iterator[Sequence[Value]]:
        for number, scored in enumerate(self.lists, start=1):
            for one, row in zip(scored.candidates, scored.scores.tolist(), strict=True):
                for other, score in zip(scored.references, row, strict=True):
                    yield number, one, other, score

    def __getitem__(self, place: Any) -> Any:
        return list(self)[place]


def _signed(table: Records, scores: PairScores) -> Records:
    return replace(table, background=["signature"], notes=[f"signature: {scores.short_signature}"])


def difference_records(difference: RunDifference, lines: int | None = None) -> Records:
    """Make a row a change; of each metric so many lines, if there is a limit."""
    rows, shown, left = [], Counter[str](), 0
    for change in difference.changes:
        shown[change.metric] += change.kind == "line"
        if lines is not None and change.kind == "line" and shown[change.metric] > lines:
            left += 1
            continue
        rows.append([getattr(change, name) for name in _OF_RUNS])
    notes = [f"{left:,} further lines changed, here are {lines:,} of each metric"] if left else []
    return Records(_OF_RUNS, rows, difference.described(), "nothing differs", notes=notes, text_columns=4)


def evaluation_records(evaluation: Evaluation, most_missing: int) -> Records:
    """Make a table of an evaluation: correlations first, then shares of tokens and of different words."""
    rows: list[tuple[str, str, str | None, float | None, int, int]] = []
    for name, agreement in evaluation.agreements.items():
        absent = ", ".join(agreement.missing[:most_missing]) or None
        whole = agreement.pairs + len(agreement.missing)
        rows.append((name, "spearman", absent, agreement.spearman, agreement.pairs, whole))
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
    return Records(columns, rows, facts, digits=_DIGITS, notes=evaluation.notes)
