"""Scores and judgements in formats of other programs, a module per program: rows of system, segment and so on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from softbleu.corpora.judgements.programs import comet, gec_metrics, harness, own, sacrebleu, wmt
from softbleu.corpora.judgements.tables import (
    LinesOrRows,
    ParquetRows,
    TableRow,
    Values,
    first_line,
    is_json,
    json_values,
)


class OutsideRows(NamedTuple):
    """Rows of a file that is no table of columns."""

    rows: Iterator[TableRow]
    unnamed: bool  # Whether the file has one system and does not name it


def outside_rows(name: str, content: LinesOrRows, system: str) -> OutsideRows | None:
    """Read JSON with scores, or printed lines of a program; None if the file is a table.

    Parameters
    ----------
    name
        Name of the file, for errors.
    content
        Content of the file.
    system
        Name of the system if the file does not name one.
    """
    if isinstance(content, ParquetRows):
        return None
    if gec_metrics.is_evaluation(content):
        return OutsideRows(gec_metrics.evaluation_rows(name, content), unnamed=False)
    if not is_json(content):
        if comet.is_log(content):
            rows, unnamed = comet.log_rows(name, content, system)
            return OutsideRows(rows, unnamed)
        if sacrebleu.is_printed(first_line(content)):
            return OutsideRows(sacrebleu.printed_rows(name, content, system), unnamed=True)
        return None
    return _json_rows(name, json_values(name, content), system)


def _json_rows(name: str, values: Values, system: str) -> OutsideRows:
    """Read the values of JSON by the program that wrote them."""
    first = values[0][1]
    if isinstance(first, dict) and "metric_scores" in first:
        return OutsideRows(wmt.document_rows(values, system), unnamed=True)
    objects = [value for _, value in values if isinstance(value, dict)]
    if len(objects) == len(values) and all(map(sacrebleu.is_score, objects)):
        return OutsideRows(sacrebleu.listed_rows(values, system), unnamed=True)
    if len(objects) == len(values) and all(map(sacrebleu.is_row, objects)):
        return OutsideRows(sacrebleu.system_rows(values), unnamed=False)
    if len(objects) == len(values) and all(map(harness.is_sample, objects)):
        return OutsideRows(harness.sample_rows(values, system), harness.is_unnamed(objects))
    if len(values) == 1 and comet.is_by_file(first):
        return OutsideRows(comet.file_rows(name, first), unnamed=False)
    if len(values) == 1 and gec_metrics.is_by_system(first):
        return OutsideRows(gec_metrics.rows_by_system(name, first), unnamed=False)
    if all(gec_metrics.is_gap_or_number(value) for _, value in values):
        return OutsideRows(gec_metrics.segment_rows(name, system, [value for _, value in values]), unnamed=True)
    return OutsideRows(own.own_rows(name, values), unnamed=False)
