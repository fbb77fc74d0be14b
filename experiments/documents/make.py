"""Lines before a line, which its encoder reads with it: whether metrics agree better with MQM.

python experiments/documents/make.py [ted|news]

Writes context.csv: Pearson's r of each metric with MQM, of all outputs, within segments, of means of segments and of
systems, for 0, 1, 2 and 4 lines of context, and how much more that is than without. Samples draw whole segments (TED
has five talks only), with all systems' outputs of each. Of WMT21 the documents are not published with the data:
lines that stand together and were judged, and the four before them, count as one.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from softbleu.corpora import Segments
from softbleu.corpora.judgements import Assessments, ScoreTable
from softbleu.corpora.labels import Documents
from softbleu.meta.agreement import JudgedPoints, agreements, join_assessments, join_systems
from softbleu.meta.measures import Estimate, difference
from softbleu.meta.reading import make_score_tables
from softbleu.metrics.base import Metric
from softbleu.metrics.reading import read_metric

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[2] / "shared" / "data"
LINES = (0, 1, 2, 4)
METRICS = {"BERTScore": "bertscore", "VLEU": "vleu", "softbleu": "softbleu", "trained": "trained"}
COLUMNS = ("set", "metric", "of", "context", "r", "low", "high", "change", "change_low", "change_high", "p")


def rows_of(path: Path) -> list[dict[str, str]]:
    """Read a table whose quotes are literal."""
    with path.open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))


def ted() -> tuple[Segments, Assessments]:
    """TED talks Chinese–English: 13 systems, 529 segments of five talks, by the first reference."""
    judged = rows_of(DATA / "mqm-ted-zh-en" / "judged.tsv")
    talks = {int(row["seg_id"]): row["doc"] for row in rows_of(DATA / "mqm-ted-zh-en" / "published.tsv")}
    places = {number: place for place, number in enumerate(sorted({int(row["segment"]) for row in judged}))}
    systems = sorted({row["system"] for row in judged})
    outputs = {name: [""] * len(places) for name in systems}
    references = [""] * len(places)
    for row in judged:
        place = places[int(row["segment"])]
        outputs[row["system"]][place], references[place] = row["candidate"], row["ref_a"]
    corpus = replace(Segments.of(outputs, references), documents=Documents.of([talks[number] for number in places]))
    return corpus, assessed((row["system"], places[int(row["segment"])], float(row["mqm"])) for row in judged)


def news() -> tuple[Segments, Assessments]:
    """News of WMT21 Chinese–English: the judged lines of the eight judged systems whose outputs are there."""
    folder = DATA / "wmt21-into-en" / "zh-en"
    rows = rows_of(folder / "mqm-segments.tsv")
    texts = {
        path.stem: path.read_text("utf-8").splitlines() for path in sorted((folder / "system-outputs").iterdir())
    }
    judged = [(row["system"], int(row["segment"]) - 1, float(row["mqm"])) for row in rows if row["system"] in texts]
    wanted = {number for _, number, _ in judged}
    chosen = sorted({max(number - back, 0) for number in wanted for back in range(max(LINES) + 1)})
    runs = np.cumsum([0, *(later > earlier + 1 for earlier, later in pairwise(chosen))])
    places = {number: place for place, number in enumerate(chosen)}
    reference = (folder / "reference-A.en").read_text("utf-8").splitlines()
    outputs = {name: [texts[name][number] for number in chosen] for name in sorted({name for name, _, _ in judged})}
    corpus = Segments.of(outputs, [reference[number] for number in chosen])
    corpus = replace(corpus, documents=Documents.of(runs.tolist()))
    return corpus, assessed((name, places[number], score) for name, number, score in judged)


def assessed(rows: Iterable[tuple[str, int, float]]) -> Assessments:
    """Scores of outputs: system, segment, score."""
    systems, segments, scores = zip(*rows, strict=True)
    return Assessments(np.array(scores), [[name] for name in systems], segments)


def of_systems(tables: list[ScoreTable], judged: Assessments) -> JudgedPoints:
    """Means of the judged segments, by judges and by metrics."""
    means = []
    for table in tables:
        judges, values = judged.tables(table.segments, table.name)
        names = list(table.segments)
        means.append(dict(zip(names, np.nanmean(np.where(np.isnan(judges), np.nan, values), axis=1), strict=True)))
    human = dict(zip(names, np.nanmean(judges, axis=1), strict=True))
    scored = [replace(table, systems=mean) for table, mean in zip(tables, means, strict=True)]
    return join_systems(scored, "MQM", human)


def measured(name: str, corpus: Segments, judged: Assessments) -> Iterator[list[object]]:
    """Rows of a set: each metric with each context."""
    for label, expression in METRICS.items():
        metrics: dict[str, Metric] = {}
        for lines in LINES:
            metrics[str(lines)] = read_metric(
                expression, vectors="minilm-l6", **({"context": lines} if lines else {})
            )
        tables, _ = make_score_tables(corpus, metrics, level="segment")
        answers: dict[str, dict[str, Estimate]] = {key: {} for key in metrics}
        for metric, found in agreements(join_assessments(tables, "MQM", judged)).items():
            named = {"outputs": "pearson", "within": "pearson_within", "segments": "pearson_between"}
            answers[metric] |= {of: found[key] for of, key in named.items() if key in found}
        for metric, found in agreements(of_systems(tables, judged)).items():
            answers[metric]["systems"] = found["pearson"]
        for of in answers["0"]:
            for key, by in answers.items():
                apart = difference(by[of], answers["0"][of])
                change = [*apart.cells("").values(), apart.p_value] if key != "0" else [None] * 4
                yield [name, label, of, key, *by[of].cells("").values(), *change]


def main() -> None:
    """Measure the sets that are named, or both, and keep rows of others."""
    wanted = sys.argv[1:] or ["ted", "news"]
    place = HERE / "context.csv"
    rows: list[list[object]] = []
    if place.exists():
        with place.open(encoding="utf-8") as stream:
            rows = [row for row in list(csv.reader(stream))[1:] if row[0] not in wanted]
    for name in wanted:
        for row in measured(name, *{"ted": ted, "news": news}[name]()):
            cells = [f"{cell:.4f}" if isinstance(cell, float) else "" if cell is None else cell for cell in row]
            print(*cells, sep="\t", flush=True)  # noqa: T201
            rows.append(cells)
    with place.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([COLUMNS, *rows])


if __name__ == "__main__":
    main()
