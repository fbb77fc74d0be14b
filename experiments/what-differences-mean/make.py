"""How often metrics and people say the same of two systems, and what a difference means; see ../README.md.

python make.py scores      systems by people and by metrics: scores.csv (half an hour; METEOR needs softbleu[meteor])
python make.py accuracy    accuracies of pairs: accuracy.csv
python make.py left-out    from scores.csv: each set predicted from the others: left-out.csv
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from curves import BINS, JudgedSet, PooledCurve, leave_out

from softbleu import metaeval
from softbleu.corpora.judgements import ScoreTable, read_rankings
from softbleu.meta.rankings import expected_wins
from softbleu.meta.reading import TextInputs, make_score_tables, read_human, read_metrics
from softbleu.metrics.reading import fit_metric

HERE = Path(__file__).resolve().parent
SHARED = HERE.parents[2] / "shared" / "data"
WMT13, WMT17, WMT21, CONLL, SEEDA = (
    SHARED / name for name in ("wmt13-fr-en", "wmt17-into-en", "wmt21-into-en", "conll14", "seeda")
)
TRANSLATION = {
    **{"chrF": "chrf", "chrF++": "chrf++", "TER": "ter", "BLEU": "bleu", "SLEU": "sleu", "VLEU": "vleu"},
    **{"XLEU": "xleu", "softbleu": "softbleu", "METEOR": "meteor"},
}
OF_OUTPUTS = {**TRANSLATION, "VLEU 0.5 aligned": "vleu(threshold=0.5, composition=aligned)", "BERTScore": "bertscore"}
CORRECTION = {
    **{"BLEU": "bleu", "chrF": "chrf", "TER": "ter", "METEOR": "meteor", "softbleu": "softbleu", "GREEN": "green"},
    **{"GLEU+": "gleu", "GLEU+ vleu": "gleu(matcher=vleu, penalty=exact)"},
}
EDITS = {"M2": "m2", "I-measure": "imeasure"}
DATA = {
    "WMT13 fr-en": ["fr-en"],
    "WMT17 into English": ["cs-en", "de-en", "fi-en"],
    "CoNLL-2014": ["conll14"],
    "SEEDA": ["seeda"],
}
"""What people judged, and the sets whose systems were compared."""
LANGUAGES = DATA["WMT17 into English"]
TASKS = {
    "translation": ["fr-en", *LANGUAGES, "wmt21 cs-en", "wmt21 de-en", "wmt21 zh-en"],
    "corrections": ["conll14", "seeda"],
}
"""Sets that a curve pools."""


def make_scores() -> None:
    """Score all systems."""
    tokenised = {"tokenize": "none"}
    rows = wins_and_scores(
        "fr-en",
        read_rankings(str(WMT13 / "human-rankings-train.csv")),
        TRANSLATION,
        {},
        {
            "candidates": files(WMT13 / "system-outputs"),
            "references": [str(WMT13 / "reference.en")],
        },
    )
    for pair in LANGUAGES:
        people = read_human([str(WMT17 / "DA-syslevel.csv")], pair, "utf-8")["DA-syslevel"]
        name = f"newstest2017-{pair.replace('-', '')}-ref.en"
        texts = {
            "candidates": files(WMT17 / "system-outputs" / pair),
            "references": [str(WMT17 / "references" / name)],
        }
        rows += scored(pair, people, TRANSLATION, tokenised, texts, unescape=True)
    for pair in ("cs-en", "de-en", "zh-en"):
        folder = WMT21 / pair
        with (folder / "da-systems.tsv").open(encoding="utf-8") as stream:
            people = {row["system"]: float(row["z"]) for row in csv.DictReader(stream, delimiter="\t")}
        texts = {"candidates": files(folder / "system-outputs"), "references": [str(folder / "reference-A.en")]}
        rows += scored(f"wmt21 {pair}", people, TRANSLATION, {}, texts)
    for name, folder, judged, first in (
        ("conll14", CONLL, CONLL / "human" / "judgments.xml", None),
        ("seeda", SEEDA, SEEDA / "human" / "judgments_sent.xml", 1),
    ):
        comparisons, systems = read_rankings(str(judged), start=first), files(folder / "systems")
        references = [str(CONLL / "ref0.txt"), str(CONLL / "ref1.txt")]
        texts = {"candidates": systems, "references": references, "source": str(CONLL / "source.txt")}
        rows += wins_and_scores(name, comparisons, CORRECTION, tokenised, texts)
        rows += wins_and_scores(name, comparisons, EDITS, {}, {"candidates": systems, "gold": str(CONLL / "gold.m2")})
    write("scores.csv", ["set", "metric", "signature", "system", "people", "score"], rows)


def files(folder: Path) -> list[str]:
    """Files of a folder, sorted."""
    return [str(path) for path in sorted(folder.iterdir())]


def wins_and_scores(name: str, comparisons: Any, *rest: Any) -> list[list[Any]]:
    """Score systems that people ranked."""
    return scored(name, expected_wins(comparisons), *rest)


def scored(
    name: str,
    people: Mapping[str, float],
    metrics: Mapping[str, str],
    settings: Mapping[str, Any],
    texts: Mapping[str, Any],
    *,
    unescape: bool = False,
) -> list[list[Any]]:
    """Score the systems of a set."""
    measures = {key: fit_metric(each, settings) for key, each in read_metrics(metrics).items()}
    with TextInputs(**texts, unescape=unescape).open() as corpus:
        tables, firsts = make_score_tables(corpus, measures)
    return [
        [name, table.name, firsts[table.name].signature, system, people[system], score]
        for table in tables
        for system, score in table.systems.items()
        if system in people
    ]


def make_accuracies() -> None:
    """Say how often metrics say what people say: of systems from `scores.csv`, of outputs as they are scored now."""
    found: list[tuple[str, list[dict[str, Any]]]] = []
    for data, sets in DATA.items():
        for name in sets:
            people, tables = systems_of(name)
            found.append(
                (f"{data}: {name}", metaeval("accuracy", scores=tables, human={"systems": people}).records())
            )
    for pair in LANGUAGES:
        file = str(WMT17 / f"testset_{pair}.tsv")
        measures = {key: fit_metric(each, {"tokenize": "none"}) for key, each in read_metrics(OF_OUTPUTS).items()}
        answer = metaeval("accuracy", metrics=measures, assessments=file, unescape=True)
        found.append((f"WMT17 into English: {pair}", answer.records()))
    answer = metaeval(
        "accuracy",
        metrics=TRANSLATION,
        candidates=files(WMT13 / "system-outputs"),
        references=[str(WMT13 / "reference.en")],
        rankings=str(WMT13 / "human-rankings-train.csv"),
    )
    found.append(("WMT13 fr-en: fr-en", answer.records()))
    columns = list(found[0][1][0])
    write("accuracy.csv", ["data", *columns], [[data, *row.values()] for data, rows in found for row in rows])


def rows_of(name: str) -> list[dict[str, str]]:
    """Rows of a set in `scores.csv`."""
    with (HERE / "scores.csv").open(encoding="utf-8") as stream:
        return [row for row in csv.DictReader(stream) if row["set"] == name]


def systems_of(name: str) -> tuple[dict[str, float], list[ScoreTable]]:
    """What people and metrics gave the systems of a set; what is better is greater."""
    rows = rows_of(name)
    tables: dict[str, dict[str, float]] = {}
    for row in rows:
        tables.setdefault(row["metric"], {})[row["system"]] = float(row["score"])
    return {row["system"]: float(row["people"]) for row in rows}, [ScoreTable(*each) for each in tables.items()]


def make_left_out() -> None:
    """Pool all sets of a task in a curve per metric, and predict each set from the others."""
    sizes = np.array([0.5, 1, 2, 4])
    rows = []
    for task, names in TASKS.items():
        sets = [systems_of(name) for name in names]
        for metric in sorted({table.name for _, tables in sets for table in tables}):
            judged = [
                JudgedSet.of(people, table.systems)
                for people, tables in sets
                for table in tables
                if table.name == metric
            ]
            found, curve = leave_out(judged), PooledCurve.fit(judged)
            cells = [number for each in found.bins for number in (each.pairs, each.claimed, each.found)]
            shares = np.stack([curve.share(sizes), *curve.interval(sizes)]).T.reshape(-1)
            head = [task, metric, len(judged), sum(len(each.sizes) for each in judged)]
            numbers = [found.off, found.brier, found.constant, curve.spread, *cells, *shares.tolist()]
            rows.append([*head, *(round(number, 4) for number in numbers)])
    columns = ["task", "metric", "sets", "pairs", "off", "brier", "constant", "spread"]
    columns += [f"{what}{number}" for number in range(1, BINS + 1) for what in ("pairs", "claimed", "found")]
    columns += [f"{what} at {size:g}" for size in sizes for what in ("share", "low", "high")]
    write("left-out.csv", columns, rows)


def write(name: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table beside this file."""
    with (HERE / name).open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


STEPS = {"scores": make_scores, "accuracy": make_accuracies, "left-out": make_left_out}

if __name__ == "__main__":
    for step in sys.argv[1:] or STEPS:
        STEPS[step]()
