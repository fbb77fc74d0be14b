"""How far metrics without a large model are from published ones: agreement with MetricX-25 and COMET22, by language.

python make.py [--data FOLDER]

Writes agreement.csv (r of each metric with each published one, over outputs and within sources), effects.csv
(differences of two metrics), found.csv (predictions.toml beside them) and czech.csv (published metrics of WMT25's
en-cs among one another). All intervals are of 95%, from 1,000 samples of sources.
"""

from __future__ import annotations

import argparse
import csv
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

import softbleu
from softbleu.corpora.corpus import make_corpus
from softbleu.corpora.judgements import Assessments, read_scores
from softbleu.meta.measures import Estimate, correlate, correlate_within, difference
from softbleu.meta.reading import make_score_tables, read_metrics

HERE = Path(__file__).parent
LANGUAGES = {"am": "amh", "yo": "yor"}
JUDGES = ("MetricX-25", "COMET22")
PUBLISHED = ("COMET22", "MetricX-25", "BERTScore")
E5 = "multilingual-e5-small"
OURS = {
    "BLEU": "bleu",
    "chrF": "chrf",
    "chrF++": "chrf(word_order=2)",
    "TER": "ter",
    "softbleu": "softbleu",
    "e5": f"bertscore(vectors={E5})",
    "e5 map": f"bertscore(vectors={E5}, map={E5})",
}
EFFECTS = {
    "chrF − BLEU": ("chrF", "BLEU"),
    "softbleu − chrF": ("softbleu", "chrF"),
    "BERTScore − chrF": ("BERTScore", "chrF"),
    "COMET22 − chrF": ("COMET22", "chrF"),
    "COMET22 − softbleu": ("COMET22", "softbleu"),
    "COMET22 − e5": ("COMET22", "e5"),
    "COMET22 − map": ("COMET22", "e5 map"),
    "map − softbleu": ("e5 map", "softbleu"),
    "map − e5": ("e5 map", "e5"),
    "e5 − BERTScore": ("e5", "BERTScore"),
    "e5 − chrF": ("e5", "chrF"),
}


def published(folder: Path, language: str) -> dict[str, np.ndarray]:
    """Read the published scores of the outputs, in order."""
    found = {}
    for metric in PUBLISHED:
        with (folder / f"{metric}.tsv").open(encoding="utf-8", newline="") as file:
            rows = csv.DictReader(file, delimiter="\t")
            found[metric] = np.array([float(row["overall"]) for row in rows if row["target_lang"] == language])
    return found


def computed(folder: Path, language: str, code: str) -> tuple[dict[str, np.ndarray], list[str]]:
    """Score the outputs by our metrics; also return their sources."""
    names = [f"en-{code}.{kind}.txt" for kind in ("src", "hyp1", "ref")]
    source, outputs, references = ((folder / name).read_text("utf-8").splitlines() for name in names)
    corpus = make_corpus({"output": outputs}, references, source)
    tables, _ = make_score_tables(corpus, read_metrics(OURS, language), level="segment")
    return {table.name: np.asarray(table.segments["output"]) for table in tables}, source


def estimates(scores: np.ndarray, judges: np.ndarray, sources: np.ndarray) -> dict[str, Estimate]:
    """Correlate over outputs, and within sources."""
    over = correlate(scores, judges, "pearson", clusters=sources)
    return {"r": over, "r within": correlate_within(scores, judges, 1000, 12345, sources)}


def write(name: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table; numbers have six decimals."""
    shown = [[f"{cell:.6f}" if isinstance(cell, float) else cell for cell in row] for row in rows]
    with (HERE / name).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([columns, *shown])


def czech(data: Path) -> list[list[object]]:
    """Correlate the published metrics of en-cs with each other; segments are drawn."""
    file = data / "wmt25-scores" / "en-cs_CZ.tsv"
    names = "CometKiwi-XL,GEMBA-ESA-CMDA,GEMBA-ESA-GPT4.1,MetricX-24-Hybrid-XL,XCOMET-XL"
    tables = {table.name: table for table in read_scores(f"{file}:{names}")}
    systems = list(next(iter(tables.values())).segments)
    columns = {name: np.concatenate([table.segments[one] for one in systems]) for name, table in tables.items()}
    segments = np.tile(np.arange(len(columns["XCOMET-XL"]) // len(systems)), len(systems))
    known = ~np.any([np.isnan(column) for column in columns.values()], axis=0)
    rows: list[list[object]] = []
    for judge in ("GEMBA-ESA-GPT4.1", "GEMBA-ESA-CMDA", "MetricX-24-Hybrid-XL"):
        for name, column in columns.items():
            if name != judge:
                found = estimates(column[known], columns[judge][known], segments[known])
                rows += [
                    ["cs", judge, name, measure, *one.cells("").values(), int(known.sum())]
                    for measure, one in found.items()
                ]
        graded = tables[judge]
        assessed = [(one, n) for one in systems for n in range(len(graded.segments[one]))]
        judged = Assessments(
            np.array([graded.segments[one][n] for one, n in assessed]),
            [[one] for one, _ in assessed],
            [n for _, n in assessed],
        )
        others = [table for name, table in tables.items() if name != judge]
        ranked = softbleu.metaeval("metrics", scores=others, assessments=judged, exchange="segments")
        for row in ranked.records():
            rows += [
                ["cs", judge, row["metric"], task, row[task], None, None, int(known.sum())]
                for task in ("spa", "acc_eq")
            ]
    return rows


def main() -> None:
    """Measure, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=HERE.parents[2] / "shared" / "data")
    data = parser.parse_args().data
    agreement: list[list[object]] = []
    effects: dict[tuple[str, str, str, str], tuple[object, ...]] = {}
    for language, code in LANGUAGES.items():
        ours, source = computed(data / "wmt25-mteval", language, code)
        theirs = published(data / "wmt25-mteval", code)
        columns = {**theirs, **ours}
        sources = np.unique(source, return_inverse=True)[1]
        for judge in JUDGES:
            found = {n: estimates(column, columns[judge], sources) for n, column in columns.items() if n != judge}
            for name, both in found.items():
                kind = "published" if name in theirs else "ours"
                agreement += [
                    [language, judge, name, kind, measure, *one.cells("").values(), len(source)]
                    for measure, one in both.items()
                ]
            for effect, (one, other) in EFFECTS.items():
                if judge in (one, other):
                    continue
                for measure in ("r", "r within"):
                    apart = difference(found[one][measure], found[other][measure])
                    effects[language, judge, effect, measure] = (*apart.cells("").values(), apart.p_value)
    write(
        "agreement.csv", ["set", "judge", "metric", "kind", "measure", "value", "low", "high", "outputs"], agreement
    )
    rows = [[*key, *cells] for key, cells in effects.items()]
    write("effects.csv", ["set", "judge", "effect", "measure", "value", "low", "high", "p_value"], rows)
    found_rows = []
    for said in tomllib.loads((HERE / "predictions.toml").read_text("utf-8"))["prediction"]:
        value = effects[said["set"], "MetricX-25", said["effect"], "r"][0]
        assert isinstance(value, float)
        inside = said["low"] <= value <= said["high"]
        turned = (said["sign"] == "+" and value <= 0) or (said["sign"] == "-" and value >= 0)
        verdict = "holds" if inside and not turned else "refuted"
        found_rows.append([said["set"], said["effect"], said["sign"], said["low"], said["high"], value, verdict])
    write("found.csv", ["set", "effect", "sign", "low", "high", "found", "verdict"], found_rows)
    write("czech.csv", ["set", "judge", "metric", "measure", "value", "low", "high", "outputs"], czech(data))


if __name__ == "__main__":
    main()
