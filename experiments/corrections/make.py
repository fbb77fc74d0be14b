"""All metrics of corrections beside human rankings, SEEDA and CoNLL-2014, without and with rank aggregation.

python experiments/corrections/make.py

Writes beside this file, with 95% intervals of 1,000 samples where a table has `low` and `high`:

- systems.csv: correlations with scores of systems by people, systems drawn. SEEDA's systems are the 12 base ones, or
  these and the two fluent ones, on the 391 segments that people judged; CoNLL-2014 has 13, on all 1,312.
- outputs.csv: tau and tie-calibrated accuracy over compared outputs, segments drawn.
- differences.csv: tau of soft GLEU in context less that of others, on the same samples.
- windows.csv: Pearson's r in windows of four systems that people rank next to one another: its mean and its least.
- williams.csv: Williams' tests of each metric against GLEU+.
- chosen.csv: settings chosen without the systems that they are then tried on.
- answers.csv: scores on CoNLL-2014 of outputs that no honest system writes.
- gaming.csv (by `--gaming`): the controls of `controls.toml` on CoNLL-2014, SEEDA and both halves of GMEG, with all
  references and with the first alone. A control with variants has the one with the greatest score. Of `errors` score
  and rival are per cent of the sentences. `lines` are fewer for metrics that encode each edit. For metrics of gold
  edits those of GMEG are found in its texts.

Scores are kept in build/, so that a second run scores only what is new. `--only NAME…` scores these metrics alone.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np
from controls import (
    CONSTANT,
    CONSTANTS,
    CONTROLS,
    ERRORS,
    ERRORS_WIN,
    SOURCE,
    TRIED_ON,
    Honest,
    make_controls,
    reversed_edits,
    with_errors,
)

import softbleu
from softbleu.corpora import Segments
from softbleu.corpora.edits import Edit, GoldSegment, read_m2
from softbleu.corpora.judgements import Comparisons, ScoreTable, read_rankings
from softbleu.meta.evidence import IntervalSettings, aggregate_scores
from softbleu.meta.measures import divide, output_accuracies, preference_taus
from softbleu.meta.reading import make_score_tables, read_human, read_metrics
from softbleu.metrics.edits import extract_edits

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[2] / "shared" / "data"
KEPT = HERE.parents[1] / "build" / "corrections"
HONEST, TIED = "AMU", 1e-9
FLUENT = ("GPT-3.5", "REF-F")
WAYS = (None, "expected-wins", "trueskill")
SMOOTH = "segment_smoothing=true"
IN_CONTEXT = "vectors=minilm-l6"
AS_GLEU = f"exact_words=one, {IN_CONTEXT}, {SMOOTH}"
WITH_EXACT = f"penalty=exact, {AS_GLEU}"  # The default of version 0.3
TEXTS = {  # Metrics over source and references
    "BLEU": "bleu(tokenize=none)",
    "chrF": "chrf",
    "TER": "ter",
    "softbleu": "softbleu(tokenize=none)",
    "softbleu in context": f"softbleu(tokenize=none, {IN_CONTEXT})",
    "BERTScore": "bertscore",
    "GLEU+": f"gleu({SMOOTH})",
    "GLEU+ vleu .8": f"gleu(matcher=vleu, threshold=0.8, penalty=exact, {SMOOTH})",
    "GLEU+ vleu .8 in context, progress": f"gleu(matcher=vleu, threshold=0.8, {AS_GLEU})",
    "ERRANT": "errant",
    **{
        f"GLEU+ {matcher} {threshold} in context": f"gleu(matcher={matcher}, threshold={threshold}, {WITH_EXACT})"
        for matcher in ("vleu", "xleu")
        for threshold in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
    },
    "GREEN": "green",
    "CLEME": "cleme",
    "CLEME, independent": "cleme(assumption=independent)",
    "CLEME, by length": "cleme(weights=length)",
    "CLEME, by similarity": "cleme(weights=similarity)",
    "CLEME2.0": "cleme2",
    "CLEME2.0, independent": "cleme2(assumption=independent)",
    "CLEME2.0, by similarity": "cleme2(weights=similarity)",
    "Transport": "uot",
    "Transport, beta 4": "uot(beta=4)",
    "Transport, removed": "uot(effect=removed)",
    "Transport, Euclidean": "uot(cost=euclidean)",
}
GOLD = {  # Metrics over gold edits
    "M2": "m2",
    "M2, soft .4": "m2(threshold=0.4)",
    "M2, soft .6": "m2(threshold=0.6)",
    "M2, soft .6, spelling": "m2(threshold=0.6, characters=0.8)",
    "M2, soft .6 in context": f"m2(threshold=0.6, {IN_CONTEXT})",
    "I-measure": "imeasure",
}
ALONE = {  # Metrics of the source and the output
    "refless": "refless",
    "refless, sum": "refless(least_meaning=0)",
    "refless, fluency": "refless(least_meaning=0, alpha=0, beta=1, gamma=0)",
}
METRICS = TEXTS | GOLD | ALONE
SEEDA_ONLY = tuple(name for name in METRICS if any(f" 0.{each} in context" in name for each in (3, 4, 6, 7, 9)))
REFERENCE_FREE = tuple(ALONE)
GAMED = tuple(  # Settings that the guide names, and those of other metrics; all of Transport takes too long
    name
    for name in METRICS
    if name == "softbleu" or not re.search(r"vleu .* in context$|\.[3-79] in|soft|Transport|by (sim|len)", name)
)
EACH = {"M2": 8, "xleu .* in context": 6}  # Of slow metrics every so many lines are scored, with all references
BEST = "GLEU+ xleu 0.5 in context"
BASE, EDITS = "GLEU+", ("CLEME", "Transport")


@dataclass(frozen=True)
class Set:
    """Texts, and what people said of them."""

    name: str
    segments: tuple[int, ...]  # Of the 1,312, those that are scored
    systems: Mapping[str, Sequence[str]]
    comparisons: Comparisons
    people: Mapping[str, Mapping[str, float]]
    references: tuple[str, ...] = ("conll14/ref0.txt", "conll14/ref1.txt")
    source: str = "conll14/source.txt"

    @property
    def honest(self) -> list[str]:
        """Systems that change something and rewrite nothing."""
        return [name for name in self.systems if name not in (*FLUENT, "INPUT", SOURCE)]

    def with_systems(self, systems: Mapping[str, Sequence[str]]) -> Set:
        """Return the set with other outputs."""
        return replace(self, systems=systems)

    def every(self, step: int) -> Set:
        """Take every so many segments, of texts; judgements stay as they are."""
        systems = {name: lines[::step] for name, lines in self.systems.items()}
        return replace(self, segments=self.segments[::step], systems=systems)

    @cached_property
    def texts(self) -> Segments:
        """With references as they were published."""
        references = list(zip(*(self.chosen(lines_of(name)) for name in self.references), strict=True))
        return Segments.of(dict(self.systems), references, self.chosen(lines_of(self.source)))

    @cached_property
    def gold(self) -> Segments:
        """With gold edits, of as many annotators as there are references."""
        count = len(self.references)
        every = gold_segments() if self.source.startswith("conll14") else edit_texts(self.source, *self.references)
        segments = [replace(each, annotations=each.annotations[:count]) for each in self.chosen(every)]
        return Segments.of_gold(dict(self.systems), segments)

    def chosen(self, lines: Sequence[Any]) -> list[Any]:
        """Those of the segments."""
        return [lines[each] for each in self.segments]


def lines_of(name: str) -> list[str]:
    """Read the lines of a file of the data."""
    return (DATA / name).read_text(encoding="utf-8").splitlines()


@cache
def gold_segments() -> list[GoldSegment]:
    """Gold edits of all segments."""
    return read_m2(str(DATA / "conll14" / "gold.m2"))


@cache
def edit_texts(source: str, *references: str) -> list[GoldSegment]:
    """Edits that make the references, by files of the data."""
    return [*softbleu.edit_texts(lines_of(source), *map(lines_of, references))]


def outputs_of(folder: str) -> dict[str, list[str]]:
    """Outputs of the systems in a folder, by their names."""
    return {path.stem: lines_of(f"{folder}/{path.name}") for path in sorted((DATA / folder).iterdir())}


def conll14() -> Set:
    """CoNLL-2014 and the rankings of Grundkiewicz et al. (2015)."""
    human = DATA / "conll14" / "human"
    people = read_human(
        [f"Expected Wins={human / 'expected_wins.tsv'}", f"TrueSkill={human / 'trueskill.tsv'}"], None, "utf-8"
    )
    comparisons = read_rankings(str(human / "judgments.xml"))
    return Set("CoNLL-2014", tuple(range(1312)), outputs_of("conll14/systems"), comparisons, people)


def seeda(kind: str) -> Set:
    """SEEDA (Kobayashi et al. 2024) of one kind of judgements, by sentence or by edit: what people judged."""
    systems = outputs_of("seeda/systems")
    comparisons = read_rankings(str(DATA / "seeda" / "human" / f"judgments_{kind}.xml"), start=1)
    judged, places = np.unique(comparisons.segment, return_inverse=True)
    people = {
        name: dict(zip(systems, map(float, lines_of(f"seeda/human/{short}_{kind}.txt")), strict=True))
        for name, short in (("Expected Wins", "EW"), ("TrueSkill", "TS"))
    }
    chosen = {name: [lines[each] for each in judged] for name, lines in systems.items()}
    numbered = replace(comparisons, segment=places, cluster=places)
    return Set(f"SEEDA, {kind}", tuple(judged.tolist()), chosen, numbered, people)


def gmeg(kind: str) -> Set:
    """One half of GMEG (Napoles et al. 2019), `fce` or `wiki`: its systems and the source."""
    judged = gmeg_judged(kind)
    systems = {name: lines_of(f"gmeg-dev/{kind}/{name}") for name in judged}
    references = tuple(f"gmeg-dev/{kind}/ref{number}" for number in range(4))
    people = {"mean": {name: float(np.nanmean(values)) for name, values in judged.items()}}
    places, comparisons = tuple(range(len(systems[SOURCE]))), Comparisons.of_scores(judged)
    return Set(kind.upper(), places, systems, comparisons, people, references, f"gmeg-dev/{kind}/source")


def gmeg_judged(kind: str) -> dict[str, np.ndarray]:
    """Mean scores by people of each sentence of the systems of a half of GMEG, and of its source."""
    with (DATA / "gmeg-dev" / f"{kind}-segment-scores.csv").open(encoding="utf-8") as stream:
        rows = [*csv.DictReader(stream)]
    return {name: np.array([float(row[name] or "nan") for row in rows]) for name in rows[0] if name != "ref"}


def scores_of(given: Set, names: Sequence[str], metrics: Mapping[str, str] = METRICS) -> list[ScoreTable]:
    """Scores of all systems and segments by metrics, those of before read from build/."""
    sides = [sorted(given.systems.items()), given.segments, given.references, given.source]
    content = hashlib.sha256(repr(sides).encode()).hexdigest()[:12]
    places = {
        name: KEPT / f"{content}-{hashlib.sha256(metrics[name].encode()).hexdigest()[:12]}.npz" for name in names
    }
    for gold in (False, True):
        new = {name: metrics[name] for name in names if not places[name].exists() and (name in GOLD) == gold}
        if not new:
            continue
        # At once, so that lines are encoded once.
        tables, _ = make_score_tables(given.gold if gold else given.texts, read_metrics(new), level="segment")
        KEPT.mkdir(parents=True, exist_ok=True)
        for table in tables:
            systems = np.array([table.systems[each] for each in given.systems])
            segments = np.array([*map(table.segments.get, given.systems)])
            np.savez_compressed(places[table.name], systems=systems, segments=segments)
    found = []
    for name in names:
        with np.load(places[name]) as kept:
            systems = dict(zip(given.systems, kept["systems"].tolist(), strict=True))
            found.append(ScoreTable(name, systems, dict(zip(given.systems, kept["segments"], strict=True))))
    print(given.name, len(given.systems), "outputs by", *names, flush=True)  # noqa: T201
    return found


def counts_of(given: Set) -> list[ScoreTable]:
    """What a metric must beat: outputs that are changed more are better."""
    found: dict[str, dict[str, np.ndarray]] = {"Number of edits": {}, "Words changed": {}}
    for name, lines in given.systems.items():
        edits = [
            extract_edits(own.split(), text.split())
            for own, text in zip(given.texts.source or (), lines, strict=True)
        ]
        found["Number of edits"][name] = np.array([float(len(each)) for each in edits])
        found["Words changed"][name] = np.array(
            [float(sum(max(e.end - e.start, len(e.corrections[0].split())) for e in each)) for each in edits]
        )
    return [
        ScoreTable(name, {each: float(own.mean()) for each, own in segments.items()}, segments)
        for name, segments in found.items()
    ]


def only(tables: Sequence[ScoreTable], systems: Sequence[str]) -> list[ScoreTable]:
    """Take these systems."""
    return [
        ScoreTable(
            each.name, {name: each.systems[name] for name in systems}, {name: each.segments[name] for name in systems}
        )
        for each in tables
    ]


def subsets(given: Set) -> Iterator[tuple[str, list[str]]]:
    """Name the sets of systems that are looked at: of SEEDA the base ones, and those with the fluent ones."""
    names = [*given.systems]
    if FLUENT[0] not in names:
        yield given.name, names
        return
    base = [name for name in names if name not in (*FLUENT, "INPUT")]
    yield f"{given.name}, base", base
    yield f"{given.name}, with fluent", [name for name in names if name != "INPUT"]


def aggregated(table: ScoreTable, way: str | None) -> ScoreTable:
    """Scores of systems by their wins, or as they are; those of before read from build/."""
    if way is None:
        return table
    content = hashlib.sha256(way.encode() + np.stack([*table.segments.values()]).tobytes()).hexdigest()[:24]
    place = KEPT / f"{content}.npy"
    if not place.exists():
        made = aggregate_scores(table, way, IntervalSettings(runs=20))
        np.save(place, [made.systems[name] for name in table.segments])
    return replace(table, systems=dict(zip(table.segments, np.load(place).tolist(), strict=True)))


def of_systems(given: Set, tables: Sequence[ScoreTable], written: dict[str, list[list[Any]]]) -> None:
    """Correlations, windows and tests, with each way of making scores of systems."""
    for (data, systems), way in product(subsets(given), WAYS):
        if way == "trueskill" and FLUENT[0] not in given.systems:
            continue  # 100,000 matches a run
        own = [aggregated(each, way) for each in only(tables, systems)]
        people = {name: {each: scores[each] for each in systems} for name, scores in given.people.items()}
        human: dict[str, Any] = {"scores": own, "human": people}
        for row in softbleu.metaeval("systems", **human).table.rows:
            written["systems"].append([data, way or "", *row])
        windows = softbleu.metaeval("windows", **human).table.records()
        for who, name in product(people, (each.name for each in own)):
            values = [row["pearson"] for row in windows if (row["human"], row["metric"]) == (who, name)]
            known = [each for each in values if each is not None]
            if known:
                written["windows"].append([data, way or "", who, name, len(values), np.mean(known), min(known)])
        for row in softbleu.metaeval("williams", against=BASE, **human).table.rows:
            written["williams"].append([data, way or "", *row])


def of_outputs(given: Set, tables: Sequence[ScoreTable], written: dict[str, list[list[Any]]]) -> None:
    """Tau and accuracies over compared outputs."""
    every = [*subsets(given), *([(f"{given.name}, all", [*given.systems])] if FLUENT[0] in given.systems else [])]
    for data, systems in every:
        chosen = given.comparisons.only(systems)
        for table in only(tables, systems):
            hties, noties = preference_taus(chosen, table).values()
            accuracy = output_accuracies(table, chosen)["outputs"]
            values = [[each.value, *(each.interval or ("", ""))] for each in (noties, hties, accuracy)]
            more = [accuracy.facts["chance"], accuracy.facts["epsilon"]]
            written["outputs"].append([data, table.name, noties.facts["pairs"], *chain.from_iterable(values), *more])
        if BEST in (each.name for each in tables):
            apart = softbleu.metaeval("differences", scores=only(tables, systems), rankings=chosen, against=BEST)
            written["differences"] += [[data, *row] for row in apart.table.rows if row[1] == "tau noties"]


def chosen(given: Set, tables: Sequence[ScoreTable], written: dict[str, list[list[Any]]]) -> None:
    """Choose among candidates by tau on comparisons of other systems, and try the choice on the system left out.

    Of each system the comparisons with others are held out; the choice is made on comparisons without it. Comparisons
    are then pooled. Mixtures are means of two metrics' ranks within a segment.
    """
    every = [*subsets(given), (f"{given.name}, all", [*given.systems])]
    for (data, systems), (family, names) in product(every, families([each.name for each in tables]).items()):
        if not names:
            continue
        own = {each.name: each for each in only(tables, systems)}
        counts = np.stack([outcomes(given.comparisons, systems, mixed(own, name)) for name in names])
        total, best = np.zeros((3, 3)), []
        for place in range(len(systems)):
            without = np.delete(np.delete(counts, place, 1), place, 2).sum(axis=(1, 2))
            pick = int(np.nanargmax(strict_tau(without)))
            best.append("+".join(names[pick]))
            total += counts[pick][place].sum(axis=0) + counts[pick][:, place].sum(axis=0)
        # Each comparison is of two systems, and so tried twice.
        whole = [float(strict_tau(each.sum(axis=(0, 1)))) for each in counts]
        most = max(set(best), key=best.count)
        written["chosen"].append(
            [data, family, len(names), float(strict_tau(total)), most, best.count(most), max(whole)]
        )


def families(names: Sequence[str]) -> dict[str, list[tuple[str, ...]]]:
    """Settings among which one is chosen: single metrics, or two."""
    referenced = [name for name in names if name not in REFERENCE_FREE]
    soft = [(name,) for name in referenced if name.startswith("GLEU+ ")]
    edits = [(name,) for name in referenced if name.startswith((*EDITS, "M2"))]
    fluent = [(name, other) for name in referenced for other in REFERENCE_FREE if other in names]
    return {
        "soft GLEU": soft,
        "edits": edits,
        "one metric with references": [(name,) for name in referenced],
        "two metrics with references": [(one, other) for one in referenced for other in referenced if one < other],
        "with references, and without": fluent,
    }


def mixed(tables: Mapping[str, ScoreTable], names: Sequence[str]) -> dict[str, np.ndarray]:
    """Scores of segments by one metric, or sums of several, each divided by its standard deviation."""
    systems = [*tables[names[0]].segments]
    parts = [np.stack([tables[name].segments[each] for each in systems]) for name in names]
    scaled = (
        sum((part - np.nanmean(part)) / (np.nanstd(part) or 1.0) for part in parts) if len(parts) > 1 else parts[0]
    )
    return dict(zip(systems, np.asarray(scaled), strict=True))


def strict_tau(counts: np.ndarray) -> np.ndarray:
    """Kendall's tau without judges' ties, of counted outcomes by judges and metric, (…, 3, 3)."""
    told = counts[..., [0, 2], :]
    agreed = told[..., 0, 0] + told[..., 1, 2] - told[..., 0, 2] - told[..., 1, 0]
    return divide(agreed, told.sum(axis=(-2, -1)))


def outcomes(comparisons: Comparisons, systems: Sequence[str], segments: Mapping[str, np.ndarray]) -> np.ndarray:
    """Outcomes by judges and metric of each pair of systems: (systems, systems, 3, 3)."""
    taken = comparisons.only(systems)
    scores = np.stack([segments[name] for name in taken.systems])
    apart = scores[taken.first, taken.segment] - scores[taken.second, taken.segment]
    counts = np.zeros((len(taken.systems), len(taken.systems), 3, 3))
    said = np.sign(np.where(np.abs(apart) < 1e-12, 0, apart)).astype(np.int64)
    np.add.at(counts, (taken.first, taken.second, taken.outcome + 1, said + 1), 1)
    return counts


def answers(given: Set, names: Sequence[str], written: dict[str, list[list[Any]]]) -> None:
    """Score what no honest system writes, beside honest systems."""
    honest, source = scores_of(given, names), lines_of("conll14/source.txt")
    made = {"constant": CONSTANTS[:1] * len(source), "source": source, "reference": lines_of("conll14/ref0.txt")}
    made["reversed"] = list(map(reversed_edits, source, given.systems[HONEST]))
    for one, other in zip(honest, scores_of(replace(given, systems=made), names), strict=True):
        split = [score_edits(one.name, each) for each in (False, True)] if one.name.startswith(EDITS) else ["", ""]
        systems = sorted(score for name, score in one.systems.items() if name != "INPUT")
        ends = one.systems[HONEST], systems[0], float(np.median(systems)), systems[-1]
        written["answers"].append([one.name, *other.systems.values(), *split, *ends])


def gaming(names: Sequence[str]) -> None:
    """Score outputs that are made to score, beside honest systems, on all sets."""
    rows: list[list[object]] = []
    steps = {name: next((n for kind, n in EACH.items() if re.search(kind, name)), 1) for name in names}
    sets = [*conll_with_errors(), *(gmeg_with_errors(kind) for kind in ("fce", "wiki"))]
    for single, step, (given, spoilt) in product((False, True), dict.fromkeys(steps.values()), sets):
        texts = replace(given, references=given.references[:1]) if single else given
        some = [name for name in names if steps[name] == step]
        if not single or step == 1:
            rows += gamed(texts, spoilt, [name for name in some if not (single and name in REFERENCE_FREE)], step)
    head = ["set", "references", "lines", "metric", "control", "variant", "score", "rival", "rival_score"]
    write_rows("gaming", [head, *rows])


def gamed(given: Set, spoilt: Sequence[str], names: Sequence[str], step: int) -> Iterator[list[object]]:
    """Score the controls of a set by some metrics, on each `step`-th line."""
    honest = given.honest
    people = next(iter(given.people.values()))
    best = max(honest, key=lambda name: people[name])
    texts = Honest(given.texts.source or (), {name: given.systems[name] for name in honest}, best, spoilt)
    made = make_controls(texts)
    systems = {(name, variant): lines for name, variants in made.items() for variant, lines in variants.items()}
    named = {**texts.systems, **{" ".join(key).strip(): lines for key, lines in systems.items()}}
    tables = scores_of(given.with_systems(named).every(step), names)
    few = given.with_systems({each: [each] * len(given.segments) for each in CONSTANTS})
    tried = scores_of(few.every(max(step, len(given.segments) // TRIED_ON)), names)
    worst = {table.name: max(table.systems, key=lambda each: table.systems[each]) for table in tried}
    constants: dict[str, float] = {}
    for line in dict.fromkeys(worst.values()):
        whole = few.with_systems({line: few.systems[line]}).every(step)
        alike = scores_of(whole, [name for name in names if worst[name] == line])
        constants |= {table.name: table.systems[line] for table in alike}
    pair = given.with_systems({SOURCE: made[SOURCE][""], ERRORS: made[ERRORS][""]})
    whole = {table.name: table for table in scores_of(pair, [name for name in names if step > 1 and name in GOLD])}
    for table in tables:
        scores = {key: table.systems[" ".join(key).strip()] for key in systems}
        scores[CONSTANT, worst[table.name]] = constants[table.name]
        top = max(honest, key=lambda name: table.systems[name])
        for name in CONTROLS:
            ways = ((way, score) for (control, way), score in scores.items() if control == name)
            variant, score = max(ways, key=lambda pair: pair[1])
            rival = (variant or SOURCE) if CONTROLS[name]["rival"] == "base" else top
            other, lines = table.systems[rival], len(table.segments[SOURCE])
            if name == ERRORS:
                compared = whole.get(table.name, table).segments
                changed, lines = compared[ERRORS] - compared[SOURCE], len(compared[SOURCE])
                score, other = 100 * float(np.mean(changed > TIED)), ERRORS_WIN
            yield [given.name, len(given.references), lines, table.name, name, variant, score, rival, other]


def conll_with_errors() -> Iterator[tuple[Set, list[str]]]:
    """CoNLL-2014 and SEEDA, with errors of their own in the source."""
    spoilt = [*with_errors(gold_segments())]
    for given in (conll14(), seeda("sent")):
        yield given, given.chosen(spoilt)


def gmeg_with_errors(kind: str) -> tuple[Set, list[str]]:
    """One half of GMEG, with the errors in the source that it comes with."""
    return gmeg(kind), lines_of(f"gmeg-dev/{kind}/source+error")


def score_edits(name: str, split: bool) -> float:
    """Score the edits of a system that ERRANT found, each of several words split in two where asked."""
    segments = read_m2(str(DATA / "conll14" / "errant" / f"{HONEST}.m2"))
    if split:
        segments = [
            replace(
                segment, annotations=tuple(replace(each, edits=halves(each.edits)) for each in segment.annotations)
            )
            for segment in segments
        ]
    references = list(zip(*(lines_of(f"conll14/ref{each}.txt") for each in (0, 1)), strict=True))
    source = [segment.source for segment in segments]
    return float(softbleu.score({HONEST: segments}, references, source, metrics=METRICS[name])[0].score)


def halves(edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """Split edits that replace and write two words or more behind the first word of each."""
    found: list[Edit] = []
    for each in edits:
        words = each.corrections[0].split()
        if each.end - each.start > 1 and len(words) > 1:
            found.append(replace(each, end=each.start + 1, corrections=(words[0],)))
            found.append(replace(each, start=each.start + 1, corrections=(" ".join(words[1:]),)))
        else:
            found.append(each)
    return tuple(found)


COLUMNS = {
    "systems": "data aggregate human metric systems pearson pearson_low pearson_high spearman spearman_low "
    "spearman_high kendall kendall_low kendall_high",
    "windows": "data aggregate human metric windows mean_pearson least_pearson",
    "williams": "data aggregate human coefficient better worse r_better r_worse r_between t p_value corrected",
    "outputs": "data metric pairs noties low high hties hties_low hties_high accuracy accuracy_low accuracy_high "
    "chance epsilon",
    "differences": "data human measure better worse of_better of_worse difference low high p_value corrected",
    "answers": f"metric constant source reference reversed edits edits_split {HONEST} honest_least honest_median "
    "honest_best",
    "chosen": "data chosen_among settings noties_left_out mostly_chosen times best_on_all",
}


def write_rows(name: str, rows: Sequence[Sequence[Any]]) -> None:
    """Write a table beside this file."""
    with (HERE / f"{name}.csv").open("w", encoding="utf-8", newline="") as stream:
        shown = ([f"{each:.4f}" if isinstance(each, float) else each for each in row] for row in rows)
        csv.writer(stream, lineterminator="\n").writerows(shown)


def main() -> None:
    """Score, correlate, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=list(METRICS))
    parser.add_argument("--gaming", action="store_true", help="make gaming.csv only")
    names, gaming_only = (vars(parser.parse_args())[name] for name in ("only", "gaming"))
    if gaming_only:
        gaming([name for name in GAMED if name in names])
        return
    written: dict[str, list[list[Any]]] = {name: [] for name in COLUMNS}
    for given in (seeda("sent"), seeda("edit"), conll14()):
        names = [name for name in names if FLUENT[0] in given.systems or name not in SEEDA_ONLY]
        tables = scores_of(given, names)
        of_systems(given, tables, written)
        of_outputs(given, [*tables, *counts_of(given)], written)
        if given.name == "SEEDA, sent":
            chosen(given, tables, written)
        elif FLUENT[0] not in given.systems:
            answers(given, names, written)
        for name, rows in written.items():
            write_rows(name, [COLUMNS[name].split(), *rows])


if __name__ == "__main__":
    main()
