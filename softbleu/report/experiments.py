"""Outcomes of experiments as files: tables, pictures, a manifest."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, count
from typing import TYPE_CHECKING

from softbleu.io.tabular import Records
from softbleu.meta.metaeval import POOLED, QUESTIONS, pooled_table
from softbleu.meta.spurious import CREDIT_TABLES, PLAIN, credit_table
from softbleu.meta.sweep import table_of
from softbleu.report.plots import draw, draw_ranks, draw_sweep, similarity_histograms, spurious_lines

if TYPE_CHECKING:
    from softbleu.meta.experiments import Outcome

_UNSAFE = re.compile(r"[^\w.+-]")
_LONGEST = 100  # Characters of the name of a text in that of a file


def manifest_json(outcome: Outcome) -> Iterator[str]:
    """Write the manifest."""
    yield json.dumps(outcome.manifest(), indent=2, ensure_ascii=False) + "\n"


def output_names(kind: str, table_format: str) -> list[str]:
    """Tables that may come of a kind of experiment, as `outcome_tables` names them."""
    parts = {"spurious": tuple(CREDIT_TABLES), "metaeval": (*QUESTIONS, "pooled")}.get(kind, ("",))
    return [f"{f'.{name}' if name else ''}.{table_format}" for name in parts]


def outcome_tables(outcome: Outcome) -> Iterator[tuple[str, Records]]:
    """Make the tables; each with what its file is called beside the experiment's name."""
    if outcome.sweep:
        yield "", table_of(outcome.sweep)
    if outcome.analyses:
        for name in CREDIT_TABLES:
            yield (
                f".{name}",
                _joined("text", {text: credit_table(name, analysis) for text, analysis in outcome.analyses.items()}),
            )
    pooled: list[Records] = []
    for question, answers in outcome.answers.items():
        tables = {name: answer.table for name, answer in answers.items()}
        yield f".{question}", _joined("data", tables)
        if len(tables) > 1 and question in POOLED:
            pooled.append(pooled_table(question, tables))
    if rows := [row for table in pooled for row in table.named_rows()]:
        columns = list(dict.fromkeys(name for table in pooled for name in table.columns))
        columns = [name for name in columns if any(row.get(name) is not None for row in rows)]
        yield ".pooled", Records(columns, [[row.get(name) for name in columns] for row in rows])


def _joined(column: str, parts: Mapping[str, Records]) -> Records:
    """Put tables of the same columns one below the other; a column more says which is which."""
    columns = next(iter(parts.values())).columns
    return Records([column, *columns], [[name, *row] for name, part in parts.items() for row in part.rows])


def outcome_pictures(outcome: Outcome, picture_format: str = "svg") -> Iterator[tuple[str, bytes]]:
    """Draw what there is to draw; each picture with what its file is called beside the experiment's name."""
    if outcome.sweep:
        yield "", draw_sweep(outcome.sweep, picture_format)
        if len({row.system for row in outcome.sweep}) > 1:
            yield ".ranks", draw_ranks(outcome.sweep, picture_format)
    for name, analyses in zip(_file_names(outcome.analyses), outcome.analyses.values(), strict=True):
        yield f".{name}", draw(spurious_lines(analyses), picture_format)
        # The matchers as they are, side by side.
        plain = [analysis for analysis in analyses if analysis.variant.name == PLAIN] or analyses[:1]
        yield f".{name}.similarities", draw(similarity_histograms(plain), picture_format)


def _file_names(texts: Iterable[str]) -> list[str]:
    """Name files after texts: what may not stand in a file name is a hyphen, and equal names are numbered.

    >>> _file_names(["a/x.txt", "a:x.txt", "umd.2922"])
    ['a-x.txt', 'a-x.txt-2', 'umd.2922']
    """
    names: list[str] = []
    for text in texts:
        plain = _UNSAFE.sub("-", text[-_LONGEST:])
        numbered = (f"{plain}-{number}" for number in count(2))
        names.append(next(name for name in chain([plain], numbered) if name not in names))
    return names
