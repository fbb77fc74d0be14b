"""WMT21 into English, on which no setting was chosen: how metrics agree with direct assessment and MQM of segments.

python experiments/wmt21-segments/make.py      (METEOR needs softbleu[meteor])

Writes agreement.csv, Pearson's r of each metric with its interval, and differences.csv, each metric minus another on
the same samples. Samples draw whole segments, with all systems' outputs of each. Metrics have their default settings;
the threshold of VLEU is the one thing that varies. BERTScore takes longest, and scores the smallest set alone.

Writes assessments.csv, too: how people's scores agree with one another, of two systems' outputs of a segment that are
the same text, of two that are not, and of an output by direct assessment and by MQM.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from softbleu.corpora import Segments
from softbleu.meta.measures import Estimate, correlate, difference
from softbleu.meta.reading import make_score_tables, read_metrics

HERE = Path(__file__).resolve().parent
WMT21 = HERE.parents[2] / "shared" / "data" / "wmt21-into-en"
METRICS = {
    **{"chrF": "chrf", "BLEU": "bleu", "TER": "ter", "METEOR": "meteor", "softbleu": "softbleu"},
    **{f"VLEU {each}": f"vleu(threshold={each})" for each in ("0", "p99.9", "0.5", "p99.99", "0.8")},
    "VLEU 0.5 aligned": "vleu(threshold=0.5, composition=aligned)",
    "softbleu, recall only": "softbleu(beta=1000.0)",
}
IN_CONTEXT = {"BERTScore": "bertscore"}
SETS = {  # Direction, judgements, column of the score, whether metrics in context score it
    "cs-en, DA": ("cs-en", "da-segments.tsv", "z", False),
    "de-en, DA": ("de-en", "da-segments.tsv", "z", False),
    "zh-en, DA": ("zh-en", "da-segments.tsv", "z", False),
    "zh-en, MQM": ("zh-en", "mqm-segments.tsv", "mqm", True),
}
PAIRS = [
    *((name, "chrF") for name in [*METRICS, *IN_CONTEXT] if name != "chrF"),
    *(("VLEU 0.8", "BLEU"), ("VLEU 0.5", "BLEU"), ("VLEU 0.5", "VLEU 0.8"), ("VLEU p99.99", "VLEU 0.8")),
    *(("softbleu", "METEOR"), ("softbleu", "VLEU 0.8"), ("BERTScore", "softbleu")),
]


def judged(place: Path, file: str, column: str) -> list[tuple[str, int, float]]:
    """Read the judgements of systems whose outputs are there: system, segment from 0, score."""
    systems = {path.stem for path in (place / "system-outputs").iterdir()}
    with (place / file).open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))
    return [(row["system"], int(row["segment"]) - 1, float(row[column])) for row in rows if row["system"] in systems]


def texts(place: Path) -> tuple[dict[str, list[str]], list[str]]:
    """Read the outputs of all systems, and the reference."""
    files = {path.stem: path for path in sorted((place / "system-outputs").iterdir())}
    outputs = {name: path.read_text(encoding="utf-8").splitlines() for name, path in files.items()}
    return outputs, (place / "reference-A.en").read_text(encoding="utf-8").splitlines()


def scores(place: Path, rows: Sequence[tuple[str, int, float]], *, in_context: bool) -> dict[str, Any]:
    """Score all outputs; with metrics in context those alone that were judged."""
    outputs, reference = texts(place)
    found, _ = make_score_tables(Segments.of(outputs, reference), read_metrics(METRICS), level="segment")
    columns = {table.name: np.array([table.segments[name][place] for name, place, _ in rows]) for table in found}
    if in_context:
        those = [outputs[name][segment] for name, segment, _ in rows], [reference[segment] for _, segment, _ in rows]
        corpus = Segments.of({"judged": those[0]}, those[1])
        found, _ = make_score_tables(corpus, read_metrics(IN_CONTEXT), level="segment")
        columns |= {table.name: table.segments["judged"] for table in found}
    return columns


def alike(direction: str) -> list[list[Any]]:
    """Correlate direct assessments of pairs of outputs of a segment, and with MQM."""
    rows = judged(WMT21 / direction, "da-segments.tsv", "raw")
    outputs, _ = texts(WMT21 / direction)
    of_segment: dict[int, list[tuple[str, float]]] = {}
    for system, segment, score in rows:
        of_segment.setdefault(segment, []).append((system, score))
    pairs: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
    for segment, found in of_segment.items():
        for (one, first), (other, second) in combinations(sorted(found), 2):
            pairs[outputs[one][segment] == outputs[other][segment]].append((first, second))
    kinds = {"the same text": pairs[True], "other text": pairs[False]}
    if (WMT21 / direction / "mqm-segments.tsv").exists():
        mqm = {row[:2]: row[2] for row in judged(WMT21 / direction, "mqm-segments.tsv", "mqm")}
        kinds["direct assessment and MQM"] = [(row[2], mqm[row[:2]]) for row in rows if row[:2] in mqm]
    return [[direction, kind, len(each), np.corrcoef(np.array(each).T)[0, 1]] for kind, each in kinds.items()]


def main() -> None:
    """Score, correlate, compare."""
    people_alike = [row for direction in ("cs-en", "de-en", "zh-en") for row in alike(direction)]
    write("assessments.csv", ["direction", "pairs of", "count", "pearson"], people_alike)
    agreement, differences = [], []
    for name, (direction, file, column, in_context) in SETS.items():
        rows = judged(WMT21 / direction, file, column)
        people, segments = np.array([score for *_, score in rows]), np.array([segment for _, segment, _ in rows])
        columns = scores(WMT21 / direction, rows, in_context=in_context)
        found = {each: correlate(values, people, "pearson", clusters=segments) for each, values in columns.items()}
        agreement += [[name, each, len(rows), found[each].value, *(found[each].interval or ())] for each in found]
        differences += [
            [name, one, other, apart.value, *(apart.interval or ()), apart.p_value]
            for one, other, apart in compared(found)
        ]
    write("agreement.csv", ["data", "metric", "outputs", "pearson", "low", "high"], agreement)
    write("differences.csv", ["data", "metric", "other", "difference", "low", "high", "p_value"], differences)


def compared(found: Mapping[str, Estimate]) -> list[tuple[str, str, Any]]:
    """Compare the pairs of which both metrics scored the set."""
    pairs = [(one, other) for one, other in PAIRS if one in found and other in found]
    return [(one, other, difference(found[one], found[other])) for one, other in pairs]


def write(name: str, columns: list[str], rows: list[list[Any]]) -> None:
    """Write a table beside this file."""
    with (HERE / name).open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([columns, *rows])


if __name__ == "__main__":
    main()
