"""When does soft n-gram matching help, and why? The plan is docs/study/plan.md, the results docs/study/softness.md.

python experiments/softness/make.py [--question 1 2 3 4]

Writes beside this file, with 95% intervals of 1,000 samples (`low`, `high`):

- cells.csv: agreement of each cell of both factorials, and of the peers.
- effects.csv: planned main effects and interactions, with p-values Holm's correction. interactions.csv: all others.
- worth.csv: how many references a soft matcher is worth. settings.csv: what settings against spurious credit add.
- vectors.csv: agreement on WMT17 by vectors and CPU seconds.
- effects.svg, worth.svg, vectors.svg: pictures.

Scores are kept in build/softness, so that a second run scores only what is new.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import resource
import time
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import cells
import numpy as np
from cells import BALANCED, HERE, KEPT, PEERS, PLAIN, PRECISION, SETTINGS, Levels, Set
from matplotlib import rc_context
from matplotlib.figure import Figure
from measures import Effect, accuracy, interactions, judge, partial, pearson, soft_accuracy, tau

from softbleu.embeddings import open_vectors, write_store
from softbleu.report.plots import Scatter, draw
from softbleu.results.significance import correct

SOFT = ("vectors", "context", "exact")
SOFTNESS = [
    Effect("1a context − words", "vectors", "context", "words", sign="+"),
    Effect("1b words − exact", "vectors", "words", "exact", sign="+"),
    Effect("1c context − exact", *SOFT, sign="+"),
]
IN_P = [
    *SOFTNESS,
    Effect("1d vleu − sleu", "unit", "vleu", "sleu", sign="+"),
    Effect("1e xleu − vleu", "unit", "xleu", "vleu", sign="0"),
    Effect("1f aligned − mean, words", "unit", "aligned", "vleu", ("vectors", "words"), sign="+"),
    Effect("1f aligned − mean, context", "unit", "aligned", "vleu", ("vectors", "context"), sign="-"),
    Effect("1g threshold .8 − .5", "threshold", ".8", ".5", sign="+"),
]
IN_F = [
    *SOFTNESS,
    Effect("1h F − precision", "weight", "F", "precision", sign="+"),
    Effect("1i idf − none", "idf", "yes", "no", sign="+"),
    Effect("1j word order − none", "order", "pairs", "none", sign="+"),
    Effect("1k softness at F − at precision", *SOFT, ("weight", "F"), ("weight", "precision"), sign="0"),
    Effect("1l softness with idf − without", *SOFT, ("idf", "yes"), ("idf", "no"), sign="0"),
]
FOUND = {  # Looked at after the plan
    f"{name}{' in context' if vectors == 'context' else ''}": cell
    for vectors in ("words", "context")
    for name, cell in {
        "VLEU .8": (("unit", "vleu"), ("threshold", ".8"), ("vectors", vectors)),
        "softbleu": (("vectors", vectors), ("weight", "F"), ("idf", "yes"), ("order", "pairs")),
    }.items()
}
FACTORIALS: dict[str, tuple[Mapping[Levels, Any], list[Effect]]] = {"P": (PRECISION, IN_P), "F": (BALANCED, IN_F)}
PAIRS17, PAIRS21 = ("cs-en", "de-en", "fi-en"), ("cs-en", "de-en", "zh-en")
COLUMNS = {
    "cells": "data measure factorial cell value low high",
    "effects": "data measure factorial effect sign value low high p_value corrected",
    "interactions": "data measure factorial effect value low high p_value",
    "worth": "data measure metric exact_one exact_two soft_one soft_two gain gain_low gain_high second second_low "
    "second_high worth low high helped",
    "settings": "data bucket segments setting partial low high p_value corrected",
    "vectors": "vectors dimensions metric pearson low high cpu_seconds difference difference_low difference_high",
}
Written = dict[str, list[list[Any]]]


@cache
def set_of(name: str) -> Set:
    """One of the sets, by name."""
    kind, _, pair = name.partition(" ")
    made = {"MQM": cells.mqm, "WMT17": lambda: cells.assessed(pair), "WMT13": cells.ranked}
    return made[kind]() if kind in made else cells.systems_of(*pair.split())


def measures_of(metrics: Sequence[Any]) -> dict[tuple[str, str], np.ndarray]:
    """All planned measures of metrics, by data and measure; means of pairs are of each sample."""
    mqm, ranked = set_of("MQM zh-en"), set_of("WMT13 fr-en")
    scores, means = mqm.scores(metrics), mqm.people.mean(axis=0, keepdims=True)
    apart = mqm.people - means
    seventeen = [set_of(f"WMT17 {pair}") for pair in PAIRS17]
    systems = [set_of(f"WMT21 {pair} A") for pair in PAIRS21]
    assert ranked.comparisons is not None
    return {
        ("WMT21 zh-en, MQM", "r"): pearson(scores, mqm.people),
        ("WMT21 zh-en, MQM", "accuracy"): accuracy(scores, mqm.people),
        # Found: the same r over deviations from the means of segments, and over these means.
        ("WMT21 zh-en, MQM", "r within"): pearson(scores - scores.mean(axis=1, keepdims=True), apart),
        ("WMT21 zh-en, MQM", "r between"): pearson(scores.mean(axis=1, keepdims=True), means),
        ("WMT17", "r"): np.mean([pearson(each.scores(metrics), each.people) for each in seventeen], axis=0),
        ("WMT13 fr-en", "tau"): tau(ranked.scores(metrics), ranked.texts.systems, ranked.comparisons),
        ("WMT21 systems", "SPA"): np.mean(
            [soft_accuracy(each.scores(metrics), each.people) for each in systems], axis=0
        ),
    }


def factorials(written: Written) -> None:
    """Question 1: both factorials, each resampled as one."""
    found = measures_of([*PRECISION.values(), *BALANCED.values(), *PEERS.values()])
    for (data, measure), values in found.items():
        start = 0
        for name, (own, planned) in FACTORIALS.items():
            those, names = values[start : start + len(own)], [*own]
            start += len(own)
            for levels, each in zip(names, those, strict=True):
                cell = " ".join(level for _, level in levels)
                written["cells"].append([data, measure, name, cell, *judge(each)[:3]])
            judged = [judge(effect.of(names) @ those) for effect in planned]
            corrected = correct([each[-1] for each in judged], "holm")
            for effect, each, p_value in zip(planned, judged, corrected, strict=True):
                written["effects"].append([data, measure, name, effect.name, effect.sign, *each, p_value])
            written["interactions"] += [
                [data, measure, name, effect.name, *judge(effect.of(names) @ those)] for effect in interactions(names)
            ]
        for peer, each in zip(PEERS, values[start:], strict=True):
            written["cells"].append([data, measure, "peer", peer, *judge(each)[:3]])
        named = dict(zip([*PRECISION, *BALANCED, *PEERS], values, strict=True))
        rivals = {"BLEU": next(iter(PRECISION)), **{peer: peer for peer in PEERS}}
        for (one, cell), (other, rival) in product(FOUND.items(), rivals.items()):
            apart = judge(named[cell] - named[rival])
            written["effects"].append([data, measure, "found", f"{one} − {other}", "", *apart, ""])


def worths(written: Written) -> None:
    """Question 2: one reference softly against two exactly."""
    soft = {
        "VLEU .8": PLAIN,
        "VLEU .8 in context": SETTINGS["in context"],
        "BLEU, networks": "netbleu(stem_cost=0.2, neighbour_cost=1.0)",
    }
    metrics = ["bleu", *soft.values()]
    of_pairs = []
    for pair in ("cs-en", "de-en"):
        given = [set_of(f"WMT21 {pair} {reference}") for reference in ("A", "B", "AB")]
        of_pairs.append([soft_accuracy(each.scores(metrics), each.people) for each in given])
    worth_of(written, "WMT21 cs-en, de-en", "SPA", [*soft], np.mean(of_pairs, axis=0))
    corrected = [cells.corrections(each) for each in ((0,), (1,), (0, 1))]
    gleu = ["gleu(segment_smoothing=true)", "gleu(segment_smoothing=true, matcher=vleu, threshold=0.8)"]
    values = [tau(each.scores(gleu), each.texts.systems, each.comparisons) for each in corrected if each.comparisons]
    worth_of(written, "CoNLL-2014", "tau", ["GLEU+ vleu .8"], np.array(values))


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


NEGATION = re.compile(r"\b(?:not|no|never|none|nor|nothing|nobody|cannot|without)\b|n['’]t\b", re.IGNORECASE)


def buckets_of(references: Sequence[str], *, cased: bool) -> dict[str, np.ndarray]:
    """Which segments are of which bucket."""
    counts = np.array([len(each.split()) for each in references])
    found = {
        "all": np.ones(len(references), bool),
        "negation": np.array([bool(NEGATION.search(each)) for each in references]),
        "number": np.array([bool(re.search(r"\d", each)) for each in references]),
        "up to 20 words": counts <= 20,
        "21 to 35 words": (counts > 20) & (counts <= 35),
        "more than 35 words": counts > 35,
    }
    if cased:
        found["name"] = np.array([bool(re.search(r"(?<=[\w,] )[A-Z][a-z]", each)) for each in references])
    return found


def settings(written: Written) -> None:
    """Question 3: what settings against spurious credit say beside VLEU."""
    sets = {"WMT21 zh-en, MQM": [set_of("MQM zh-en")], "WMT17": [set_of(f"WMT17 {pair}") for pair in PAIRS17]}
    for data, given in sets.items():
        scores = [each.scores([PLAIN, *SETTINGS.values()]) for each in given]
        references = [[each[0] for each in one.texts.references] for one in given]
        named = [buckets_of(each, cased=len(given) == 1) for each in references]
        for bucket in named[0]:
            parts = [
                partial(own[1:], own[0], one.people, kept[bucket])
                for own, one, kept in zip(scores, given, named, strict=True)
            ]
            judged = [judge(each) for each in np.mean(parts, axis=0)]
            corrected = correct([each[-1] for each in judged], "holm")
            size = sum(int(kept[bucket].sum()) for kept in named)
            rows = zip(SETTINGS, judged, corrected, strict=True)
            written["settings"] += [[data, bucket, size, name, *each, p_value] for name, each, p_value in rows]


def cut(source: Path | str, name: str, dimension: int) -> str:
    """Store vectors cut to their first principal components, and name the store."""
    place = KEPT / f"{name}-{dimension}"
    if not place.exists():
        words, rows = open_vectors(str(source)).head()
        unit = rows / np.linalg.norm(rows, axis=1, keepdims=True).clip(1e-9)
        axes = np.linalg.svd(unit.T @ unit)[0][:, :dimension]
        write_store(
            place, words, unit @ axes, dtype="float16", name=place.name, source=str(name), licence="as the whole set"
        )
    return str(place)


def vectors(written: Written) -> None:
    """Question 4: agreement on WMT17 against CPU seconds, by vectors."""
    rows: list[tuple[str, int, str]] = [
        *(("glove-6b-100d", size, f"vectors={cut('glove-6b-100d', 'glove', size)}") for size in (25, 50)),
        ("glove-6b-100d", 100, "vectors=glove-6b-100d"),
        ("glove-6b-100d mean,pc:2", 100, 'vectors_postprocess="mean,pc:2"'),
        *(("googlenews-26k", size, f"vectors={cut(cells.GOOGLENEWS, 'googlenews', size)}") for size in (25, 50, 100)),
        ("googlenews-26k", 300, f"vectors={cells.GOOGLENEWS}"),
        ("googlenews-26k mean,pc:2", 300, f'vectors={cells.GOOGLENEWS}, vectors_postprocess="mean,pc:2"'),
        *((f"minilm-l6, layers {each}", 384, f'vectors=minilm-l6, layers="{each}"') for each in ("2", "4", "6")),
        ("minilm-l6, layers 4,6", 384, "vectors=minilm-l6"),
    ]
    agreement = {}
    for name, size, text in rows:
        metrics = {"VLEU p99.9": f"vleu(threshold=p99.9, {text})", "softbleu": f"softbleu({text})"}
        given = [set_of(f"WMT17 {pair}") for pair in PAIRS17]
        place = KEPT / f"{re.sub('[^a-z0-9]+', '-', name)}-{size}.seconds"
        if not place.exists():
            start = time.process_time()
            # Without lines that are kept, because encoding is part of the cost.
            with patch.dict(os.environ, {"SOFTBLEU_CACHE": str(KEPT / "none"), "SOFTBLEU_CACHE_LIMIT": "0"}):
                for each in given:
                    each.make([*metrics.values()], [])
            place.write_text(str(time.process_time() - start), encoding="utf-8")
        seconds = float(place.read_text(encoding="utf-8"))
        found = np.mean([pearson(each.scores([*metrics.values()]), each.people) for each in given], axis=0)
        for metric, values in zip(metrics, found, strict=True):
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
    found = [
        [float(row[f"{kind}_{each}" if each != "value" and kind else kind or each]) for each in columns]
        for _, row, kind in rows
    ]
    middle, low, high = np.array(found).T
    axes.errorbar(middle, places, xerr=[middle - low, high - middle], fmt="o", color="#0072b2", capsize=3)
    axes.axvline(0, color="#999999", linewidth=1)
    axes.set_yticks(places, [name for name, *_ in rows])
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.set_title(title)
    axes.set_xlabel(label)


def draw_effects() -> None:
    """Draw the planned effects, set by set."""
    figure = Figure(figsize=(13, 6), layout="constrained")
    kinds = dict.fromkeys(
        (row["data"], row["measure"]) for row in read("effects") if row["measure"] in ("r", "tau", "SPA")
    )
    for axes, (data, measure) in zip(figure.subplots(1, len(kinds), sharey=True), kinds, strict=True):
        rows = [row for row in read("effects", data=data, measure=measure) if row["sign"]]
        spans(axes, [(f"{row['factorial']}: {row['effect']}", row, "") for row in rows], data, f"effect on {measure}")
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
    "1": (factorials, draw_effects),
    "2": (worths, draw_worth),
    "3": (settings,),
    "4": (vectors, draw_vectors),
}


def main() -> None:
    """Ask, write, draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--question", nargs="*", default=list(QUESTIONS), choices=QUESTIONS)
    os.environ.setdefault("SOFTBLEU_CACHE", str(KEPT / "lines"))
    for question in parser.parse_args().question:
        written: Written = {name: [] for name in COLUMNS}
        start, cpu = time.monotonic(), time.process_time()
        ask, *drawn = QUESTIONS[question]
        ask(written)
        for name, rows in written.items():
            if rows:
                with (HERE / f"{name}.csv").open("w", encoding="utf-8", newline="") as stream:
                    shown = ([f"{each:.4f}" if isinstance(each, float) else each for each in row] for row in rows)
                    csv.writer(stream, lineterminator="\n").writerows([COLUMNS[name].split(), *shown])
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        spent = time.monotonic() - start, time.process_time() - cpu
        print(f"question {question}: {spent[0]:.0f} s, CPU {spent[1]:.0f} s, peak {most:.0f} MB", flush=True)  # noqa: T201
        for each in drawn:
            each()


if __name__ == "__main__":
    main()
