"""When does soft n-gram matching help, and why? The plans are docs/study/plan.md, the results docs/study/softness.md.

python experiments/softness/make.py [--question 1 2 3 4 sets] [--sets FILE] [--data FOLDER]

Writes beside this file, with 95% intervals of 1,000 samples (`low`, `high`):

- cells.csv: agreement of each cell of both factorials on each set. agreement.csv: of each metric that has a name, and
  the mean over sets.
- pooled.csv: effects as draws of one distribution: mean over sets, standard deviation between sets (`between`), and
  the interval of what is measured on a new set (`new_low`, `new_high`); `positive` of the `sets` have the sign +.
- effects.csv: the same effects on each set, with the deviation by sampling and p-values; those of planned effects
  have Holm's correction for a set and measure. interactions.csv: interactions of two factors, pooled.
- sets.csv: sizes of the sets, and the systems that judges have and outputs have not.
- worth.csv: how many references a soft matcher is worth. settings.csv: what settings against spurious credit add.
- vectors.csv: agreement on WMT17 by vectors and CPU seconds.
- Question `sets` pools what these tables have of each set (effects.csv, agreement.csv, settings.csv). Two sets have
  a mean without an interval.
- effects.svg, worth.svg, vectors.svg: pictures.

Scores and measures are kept in build/softness, so that a second run makes only what is new.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import resource
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from cells import FACTORIALS, PLAIN, SETTINGS, Contrast, compared, interactions, metrics_of, planned
from matplotlib import rc_context
from matplotlib.figure import Figure
from measures import chance, judge, measured, measures_of, pearson, soft_accuracy, tau
from sets import DATA, HERE, KEPT, Definition, Set, read_definitions, read_set, report

from softbleu.embeddings import open_vectors
from softbleu.embeddings.convert import convert_vectors
from softbleu.meta.pooling import bounds_of, pool
from softbleu.report.plots import Scatter, draw
from softbleu.resample import correct

GOOGLENEWS = DATA / "googlenews-26k" / "googlenews-26k-300d.bin"
POOLED = {  # Families of sets that are pooled, by the name of the pool
    "all": ("DA", "MQM and ESA"),
    "DA": ("DA",),
    "MQM and ESA": ("MQM and ESA",),
}
CHANCE = "chance"  # Metric that knows nothing
RIVALS = ("BLEU", "chrF", "softbleu, exact words", "BERTScore")
PAIRS17 = ("cs-en", "de-en", "fi-en")
COLUMNS = {
    "sets": "set family language systems segments judged absent",
    "cells": "set measure factorial cell value low high",
    "agreement": "set family measure metric value low high",
    "effects": "set family measure effect sign value deviation low high p_value corrected",
    "pooled": "pool measure effect sign sets positive mean low high between new_low new_high",
    "interactions": "pool measure factorial effect sets mean low high between new_low new_high",
    "worth": "data measure metric exact_one exact_two soft_one soft_two gain gain_low gain_high "
    "second second_low second_high worth low high helped",
    "settings": "set sets setting partial low high between new_low new_high",
    "vectors": "vectors dimensions metric pearson low high cpu_seconds difference difference_low difference_high",
}
Written = dict[str, list[list[Any]]]
Estimates = Sequence[tuple[Contrast, np.ndarray]]


STUDY: dict[str, tuple[Definition, Path]] = {}
"""Definitions of the sets, with the folder of their data: those that `main` reads."""


def read_study(sets: Sequence[Path], data: Path) -> dict[str, tuple[Definition, Path]]:
    """Read files of definitions."""
    return {name: (one, data) for path in sets for name, one in read_definitions(path).items()}


@cache
def set_of(name: str) -> Set:
    """One of the sets, by name."""
    return read_set(*STUDY[name])


def samples_of(data: Set, measure: str, contrast: Contrast) -> np.ndarray | None:
    """Return an effect on a set, 1 + samples; None where the set has not what it takes."""
    names = metrics_of(data.language)
    learned = {names[name] for name in data.learned if name in names}
    if (contrast.english and data.language != "en") or learned & set(contrast.metrics):
        return None
    effect: np.ndarray = contrast.weights @ measured(data, measure, contrast.metrics)
    return effect


def pooled_row(values: Sequence[float], deviations: Sequence[float], bounds: tuple[float, float]) -> list[Any]:
    """Return the columns of a pooled effect; empty where there are none."""
    made = pool(values, deviations, bounds)
    columns = [made.mean, made.low, made.high, made.between, made.new_low, made.new_high]
    return ["" if column is None else column for column in columns]


def sampled(values: Sequence[np.ndarray], bounds: tuple[float, float]) -> list[Any]:
    """Return the columns of an effect, of each set 1 + samples."""
    return pooled_row([row[0] for row in values], [np.nanstd(row[1:], ddof=1) for row in values], bounds)


def factorials(written: Written) -> None:
    """Question 1: effects on each set."""
    sets = [set_of(name) for name, (one, _) in STUDY.items() if one.family in (*POOLED["all"], "rankings")]
    single = [one for one in compared() if one.name.partition(" − ")[2] in RIVALS]
    contrasts = [*planned(), *single]
    for data in sets:
        sizes = len(data.texts.systems), len(data.segments), data.count
        written["sets"].append([data.name, data.family, data.language, *sizes, " ".join(data.absent)])
        for measure in measures_of(data):
            judged = []
            for contrast in contrasts if measure != "accuracy" else single:  # Which takes longest
                values = samples_of(data, measure, contrast)
                if values is not None:
                    judged.append((contrast, values))
            write_effects(written, data, measure, judged)
            write_cells(written, data, measure)
        report(f"{data.name}: measured")
    write_agreement(written, sets)
    write_interactions(written, [data for data in sets if data.family in POOLED["all"] and data.language == "en"])


def write_effects(
    written: Written, data: Set, measure: str, estimates: Sequence[tuple[Contrast, np.ndarray]]
) -> None:
    """Effects on a set, with the p-values of planned ones corrected."""
    judged = [judge(values) for _, values in estimates]
    tested = [place for place, (contrast, _) in enumerate(estimates) if contrast.sign]
    corrected = dict(zip(tested, correct([judged[place][-1] for place in tested], "holm"), strict=True))
    for place, ((contrast, values), (value, low, high, p_value)) in enumerate(zip(estimates, judged, strict=True)):
        row = [value, float(np.nanstd(values[1:], ddof=1)), low, high, p_value, corrected.get(place, "")]
        written["effects"].append([data.name, data.family, measure, contrast.name, contrast.sign, *row])


def write_cells(written: Written, data: Set, measure: str) -> None:
    """Agreement of each cell of the factorials."""
    if data.language == "en" and measure != "accuracy":
        for name, (cells, _) in FACTORIALS.items():
            for levels, values in zip(cells, measured(data, measure, [*cells.values()]), strict=True):
                cell = " ".join(level for _, level in levels)
                written["cells"].append([data.name, measure, name, cell, *judge(values)[:3]])


def write_agreement(written: Written, sets: Sequence[Set]) -> None:
    """Agreement of each metric on each set."""
    for data in sets:
        for measure in measures_of(data):
            names = {name: one for name, one in metrics_of(data.language).items() if name not in data.learned}
            for name, values in zip(names, measured(data, measure, [*names.values()]), strict=True):
                written["agreement"].append([data.name, data.family, measure, name, *judge(values)[:3]])


def write_interactions(written: Written, sets: Sequence[Set]) -> None:
    """Interactions of two factors, pooled over the sets of r."""
    sets = [data for data in sets if "r" in measures_of(data)]
    for name, (cells, _) in FACTORIALS.items():
        values = [measured(data, "r", [*cells.values()]) for data in sets]
        for effect in interactions(cells):
            made = sampled([effect.of([*cells]) @ row for row in values], (-4.0, 4.0))
            written["interactions"].append(["all", "r", name, effect.name, len(sets), *made])


def worths(written: Written) -> None:
    """Question 2: one reference softly against two exactly."""
    soft = {
        "VLEU .8": PLAIN,
        "VLEU .8 in context": SETTINGS["in context"],
        # The table also has "BLEU, networks", netbleu(stem_cost=0.2, neighbour_cost=1.0), which softbleu 0.3.0 made.
    }
    metrics = ["bleu", *soft.values()]
    of_pairs = []
    for pair in ("cs-en", "de-en"):
        a, b = (f"wmt21-into-en/{pair}/reference-{letter}.en" for letter in "AB")
        sets = [with_references(f"WMT21 {pair}, systems", *chosen) for chosen in ((a,), (b,), (a, b))]
        of_pairs.append([soft_accuracy(data.scores(metrics), data.ratings) for data in sets])
    worth_of(written, "WMT21 cs-en, de-en", "SPA", [*soft], np.mean(of_pairs, axis=0))
    first, second = STUDY["CoNLL-2014"][0].references
    corrected = [with_references("CoNLL-2014", *chosen) for chosen in ((first,), (second,), (first, second))]
    gleu = [
        "gleu(segment_smoothing=true)",
        "gleu(segment_smoothing=true, matcher=vleu, threshold=0.8, penalty=exact)",
    ]
    values = [tau(each.scores(gleu), each.texts.systems, each.comparisons) for each in corrected if each.comparisons]
    worth_of(written, "CoNLL-2014", "tau", ["GLEU+ vleu .8"], np.array(values))


def with_references(name: str, *references: str) -> Set:
    """Return a set with other references."""
    definition, data = STUDY[name]
    return read_set(replace(definition, references=references), data)


def worth_of(written: Written, data: str, measure: str, soft: Sequence[str], values: np.ndarray) -> None:
    """Write the worth of soft metrics; values (one, other, both references; exact first; 1 + samples)."""
    one, two = values[:2].mean(axis=0), values[2]
    second = two[0] - one[0]
    for number, name in enumerate(soft, 1):
        gain = one[number] - one[0]
        helped = second > 0
        worth = 1 + gain / np.where(helped, second, np.nan)
        low, high = np.nanpercentile(worth[1:], [2.5, 97.5])
        shown = [one[0][0], two[0][0], one[number][0], two[number][0]]
        written["worth"].append(
            [
                data,
                measure,
                name,
                *shown,
                *judge(gain)[:3],
                *judge(second)[:3],
                worth[0],
                low,
                high,
                helped[1:].mean(),
            ]
        )


def settings(written: Written) -> None:
    """Question 3: what settings against spurious credit say beside VLEU, on each set."""
    sets = [set_of(name) for name, (one, _) in STUDY.items() if one.family in POOLED["all"] and one.language == "en"]
    values = np.array([measured(data, "partial r", [*SETTINGS.values()]) for data in sets])
    for data, estimates in zip(sets, values, strict=True):
        written["settings"] += [
            [data.name, 1, name, *judge(row)[:3], "", "", ""] for name, row in zip(SETTINGS, estimates, strict=True)
        ]


def over_sets(written: Written) -> None:
    """Pool effects, agreement and settings of the sets, as their tables have them."""
    measured_ones = [row for row in read("agreement") if row["set"] in STUDY and row["metric"] != CHANCE]
    written["agreement"] = [[*row.values()] for row in measured_ones]
    by_chance: dict[tuple[str, str], list[float]] = {}
    for name, family, measure in dict.fromkeys((row["set"], row["family"], row["measure"]) for row in measured_ones):
        if measure in ("accuracy", "SPA"):
            value = chance(measure, set_of(name))
            written["agreement"].append([name, family, measure, CHANCE, value, "", ""])
            by_chance.setdefault((family, measure), []).append(value)
    written["settings"] = [[*row.values()] for row in read("settings") if row["set"] in STUDY]
    for pool_name, families in POOLED.items():
        effects = grouped("effects", "measure effect sign", families)
        for (measure, name, sign), rows in effects.items():
            values, deviations = ([float(row[key]) for row in rows] for key in ("value", "deviation"))
            made = pooled_row(values, deviations, bounds_of(measure, difference=True))
            positive = sum(not np.signbit(value) for value in values)  # -0.0000 is negative
            written["pooled"].append([pool_name, measure, name, sign, len(rows), positive, *made])
        for (measure, name), rows in grouped("agreement", "measure metric", families).items():
            if name == CHANCE:
                continue
            made = pooled_row(*of_intervals(rows, "value"), bounds_of(measure))[:3]
            written["agreement"].append([f"mean of {len(rows)}", pool_name, measure, name, *made])
    for (family, measure), values in by_chance.items():
        written["agreement"].append(
            [f"mean of {len(values)}", family, measure, CHANCE, sum(values) / len(values), "", ""]
        )
    for (name,), rows in grouped("settings", "setting").items():
        made = pooled_row(*of_intervals(rows, "partial"), bounds_of("r"))
        written["settings"].append(["all", len(rows), name, *made])


def grouped(table: str, keys: str, families: Sequence[str] = ()) -> dict[tuple[str, ...], list[dict[str, str]]]:
    """Rows of the sets of some families, or of all, by the cells of keys; two sets at least."""
    groups: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for row in read(table):
        if row["set"] in STUDY:
            group = groups.setdefault(tuple(row[key] for key in keys.split()), [])
            group += [row] * (not families or row["family"] in families)
    return {key: rows for key, rows in groups.items() if len(rows) > 1}


def of_intervals(rows: Sequence[Mapping[str, str]], column: str) -> tuple[list[float], list[float]]:
    """Values of a column, and their deviations as their intervals of 95% say them."""
    widths = [float(row["high"]) - float(row["low"]) for row in rows]
    return [float(row[column]) for row in rows], [width / 3.919928 for width in widths]


def cut(source: Path | str, name: str, dimension: int) -> str:
    """Store vectors cut to their first principal components, and name the store."""
    place = KEPT / f"{name}-{dimension}"
    if not place.exists():
        words, rows = open_vectors(str(source)).head()
        unit = rows / np.linalg.norm(rows, axis=1, keepdims=True).clip(1e-9)
        axes = np.linalg.svd(unit.T @ unit)[0][:, :dimension]
        reduced = dict(zip(words, unit @ axes, strict=True))
        convert_vectors(reduced, place, normalize=False, source=name, licence="as the whole set")
    return str(place)


def vectors(written: Written) -> None:
    """Question 4: agreement on WMT17 against CPU seconds, by vectors."""
    rows: list[tuple[str, int, str]] = [
        *(("glove-6b-100d", size, f"vectors={cut('glove-6b-100d', 'glove', size)}") for size in (25, 50)),
        ("glove-6b-100d", 100, "vectors=glove-6b-100d"),
        ("glove-6b-100d mean,pc:2", 100, 'vectors_postprocess="mean,pc:2"'),
        *(("googlenews-26k", size, f"vectors={cut(GOOGLENEWS, 'googlenews', size)}") for size in (25, 50, 100)),
        ("googlenews-26k", 300, f"vectors={GOOGLENEWS}"),
        ("googlenews-26k mean,pc:2", 300, f'vectors={GOOGLENEWS}, vectors_postprocess="mean,pc:2"'),
        *((f"minilm-l6, layers {each}", 384, f'vectors=minilm-l6, layers="{each}"') for each in ("2", "4", "6")),
        ("minilm-l6, layers 4,6", 384, "vectors=minilm-l6"),
    ]
    agreement = {}
    for name, size, text in rows:
        metrics = {"VLEU p99.9": f"vleu(threshold=p99.9, {text})", "softbleu": f"softbleu({text})"}
        sets = [set_of(f"WMT17 {pair}") for pair in PAIRS17]
        place = KEPT / f"{re.sub('[^a-z0-9]+', '-', name)}-{size}.seconds"
        if not place.exists():
            start = time.process_time()
            # Without lines that are kept, because encoding is part of the cost.
            with patch.dict(os.environ, {"SOFTBLEU_CACHE": str(KEPT / "none"), "SOFTBLEU_CACHE_LIMIT": "0"}):
                for each in sets:
                    each.make([*metrics.values()], [])
            place.write_text(str(time.process_time() - start), encoding="utf-8")
        seconds = float(place.read_text(encoding="utf-8"))
        estimates = np.mean([pearson(each.scores([*metrics.values()]), each.ratings) for each in sets], axis=0)
        for metric, values in zip(metrics, estimates, strict=True):
            agreement[name, size, metric] = values
            written["vectors"].append([name, size, metric, *judge(values)[:3], seconds])
    for row in written["vectors"]:  # Beside the bundled vectors, on the same samples
        row += judge(agreement[row[0], row[1], row[2]] - agreement["glove-6b-100d", 100, row[2]])[:3]


def read(name: str, **chosen: str) -> list[dict[str, str]]:
    """Rows of a table with these values."""
    with (HERE / f"{name}.csv").open(encoding="utf-8") as stream:
        return [row for row in csv.DictReader(stream) if all(row[key] == value for key, value in chosen.items())]


def save(figure: Figure, name: str) -> None:
    """Save a picture, the same bytes for the same numbers."""
    with rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        figure.savefig(HERE / f"{name}.svg", metadata={"Date": None, "Creator": None}, bbox_inches="tight")


def spans(axes: Any, rows: Sequence[tuple[str, Mapping[str, str], str]], title: str, label: str) -> None:
    """Draw values with their intervals, from top to bottom: name, row, beginning of its columns."""
    places, columns = np.arange(len(rows))[::-1], ("value", "low", "high")
    drawn = [
        [float(row[f"{kind}_{name}" if name != "value" and kind else kind or name]) for name in columns]
        for _, row, kind in rows
    ]
    middle, low, high = np.array(drawn).T
    axes.errorbar(middle, places, xerr=[middle - low, high - middle], fmt="o", color="#0072b2", capsize=3)
    framed(axes, [name for name, *_ in rows], title, label)


def framed(axes: Any, names: Sequence[str], title: str, label: str) -> None:
    """Name the rows of a panel, from top to bottom."""
    axes.axvline(0, color="#999999", linewidth=1)
    axes.set_yticks(np.arange(len(names))[::-1], names)
    axes.set_ylim(-0.6, len(names) - 0.4)
    axes.set_title(title)
    axes.set_xlabel(label)
    axes.locator_params(axis="x", nbins=5)


def draw_effects() -> None:
    """Draw planned effects: a point a set, the mean over sets, and where a new set is expected."""
    figure = Figure(figsize=(13, 6), layout="constrained")
    panels = {"r": "15 sets into English", "r between": "2 sets with MQM", "r within": "2 sets with MQM"}
    for axes, (measure, title) in zip(figure.subplots(1, len(panels), sharey=True), panels.items(), strict=True):
        rows = [row for row in read("pooled", measure=measure, pool="all") if row["sign"]]
        for place, row in zip(range(len(rows) - 1, -1, -1), rows, strict=True):
            many = int(row["sets"]) > 2
            if many:
                axes.plot([float(row["new_low"]), float(row["new_high"])], [place, place], color="#56b4e9")
                axes.plot(
                    [float(row["low"]), float(row["high"])], [place, place], color="#0072b2", linewidth=3, zorder=3
                )
            for one in read("effects", measure=measure, effect=row["effect"]):
                if one["family"] in POOLED["all"]:
                    colour = "#d55e00" if one["family"] == "MQM and ESA" else "#999999"
                    axes.plot(float(one["value"]), place, "o", color=colour, markersize=4)
        framed(axes, [row["effect"] for row in rows], title, f"effect on {measure}")
    save(figure, "effects")


def draw_worth() -> None:
    """Draw what one soft reference adds, and a second exact one."""
    figure = Figure(figsize=(8, 4), layout="constrained")
    kinds = dict.fromkeys((row["data"], row["measure"]) for row in read("worth"))
    for axes, (data, measure) in zip(figure.subplots(len(kinds), 1), kinds, strict=True):
        rows = read("worth", data=data)
        named = [(f"{row['metric']}, one reference", row, "gain") for row in rows]
        label = f"{measure} beyond exact matching with one reference"
        spans(axes, [("exact, two references", rows[0], "second"), *named], data, label)
    save(figure, "worth")


def draw_vectors() -> None:
    """Draw agreement against cost, by vectors."""
    panels = []
    for metric in ("VLEU p99.9", "softbleu"):
        rows = read("vectors", metric=metric)
        points = [(float(np.log10(float(row["cpu_seconds"]))), float(row["pearson"])) for row in rows]
        short = {"glove-6b-100d": "GloVe", "googlenews-26k": "News", "minilm-l6, layers": "layers"}
        names = [f"{row['vectors']} {row['dimensions']}".removesuffix(" 384") for row in rows]
        for long, name in short.items():
            names = [each.replace(long, name) for each in names]
        panels.append(Scatter(metric, "CPU seconds, log10", "Pearson's r, WMT17", points, names))
    (HERE / "vectors.svg").write_bytes(draw([panels], "svg"))


QUESTIONS = {
    "1": (factorials,),
    "2": (worths, draw_worth),
    "3": (settings,),
    "4": (vectors, draw_vectors),
    "sets": (over_sets, draw_effects),
}


def shown(cell: Any) -> Any:
    """Write numbers with four decimals."""
    return f"{cell:.4f}" if isinstance(cell, float) else cell


def main() -> None:
    """Ask, write, draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--question", nargs="*", default=list(QUESTIONS), choices=QUESTIONS)
    parser.add_argument("--sets", type=Path, nargs="+", default=[HERE / "sets.toml"])
    parser.add_argument("--data", type=Path, default=DATA)
    given = parser.parse_args()
    STUDY.update(read_study(given.sets, given.data))
    os.environ.setdefault("SOFTBLEU_CACHE", str(KEPT / "lines"))
    for question in given.question:
        written: Written = {name: [] for name in COLUMNS}
        start, cpu = time.monotonic(), time.process_time()
        ask, *drawn = QUESTIONS[question]
        ask(written)
        for name, rows in written.items():
            if rows:
                with (HERE / f"{name}.csv").open("w", encoding="utf-8", newline="") as stream:
                    cells = ([shown(cell) for cell in row] for row in rows)
                    csv.writer(stream, lineterminator="\n").writerows([COLUMNS[name].split(), *cells])
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        spent = time.monotonic() - start, time.process_time() - cpu
        report(f"question {question}: {spent[0]:.0f} s, CPU {spent[1]:.0f} s, peak {most:.0f} MB")
        for draw_picture in drawn:
            draw_picture()


if __name__ == "__main__":
    main()
