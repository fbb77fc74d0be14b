"""How often metrics prefer the good text of a pair to one that a rule made say something else.

python experiments/challenges/make.py      (METEOR needs softbleu[meteor], the picture softbleu[plots])

Texts are the two human translations of WMT21 cs-en and de-en (A is the reference, B the good text), and pairs of the
grammar `reports`. Of each there are sets in which the good text is changed (`same text`), and sets in which the
reference is, so that the bad text is nearer to it in spelling (`closer spelling`). Writes beside this file:

- results.csv: share of the pairs in which a metric prefers the good text, ties counted as half, with its 95% interval
  of 1,000 samples of references; `all` is every set but `case`, which changes no meaning.
- differences.csv: these shares less those of BERTScore, on the same samples; p after Holm within a set.
- sets.csv: pairs of each set, and the SHA-256 of its lines, which are of direct assessment (`write_challenges`).
- challenges.svg: the shares on WMT21 of the first kind, and of pairs of the grammar of the second kind.

It prints the tables of docs/study/challenges.md. Scores are kept in build/, but for those of `trained`, which is read
from its head each time. `--only NAME…` has these metrics alone (and BERTScore).
"""

from __future__ import annotations

import argparse
import csv
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from challenges import CHANGES, Challenge, make_challenges, write_challenges

import softbleu
from softbleu.corpora import Segments
from softbleu.corpora.generate import GenerationSettings, ParaphraseSettings, generate
from softbleu.corpora.judgements import Comparisons, ScoreTable
from softbleu.meta.reading import make_score_tables, read_metrics
from softbleu.report.plots import HeatMap, draw

HERE = Path(__file__).resolve().parent
WMT21 = HERE.parents[2] / "shared" / "data" / "wmt21-into-en"
KEPT = HERE.parents[1] / "build" / "challenges"
KINDS = {"same text": "candidate", "closer spelling": "reference"}
COUNT, SEED, GENERATED = 500, 1, 8000
IN_CONTEXT = "vectors=minilm-l6"
METRICS = {
    "BLEU": "bleu",
    "chrF": "chrf",
    "TER": "ter",
    "METEOR": "meteor",
    **{f"{name} .{each}": f"{name}(threshold=0.{each})" for name in ("sleu", "vleu", "xleu") for each in (5, 8)},
    "softbleu": "softbleu",
    "trained static": "trained(head=static)",
    **{
        f"{name} .{each} in context": f"{name}(threshold=0.{each}, {IN_CONTEXT})"
        for name in ("vleu", "xleu")
        for each in (5, 8)
    },
    "softbleu in context": f"softbleu({IN_CONTEXT})",
    "BERTScore": "bertscore",
    "trained": "trained",
    "refless, fluency": "refless(least_meaning=0, alpha=0, beta=1, gamma=0)",
}
AGAINST, MARGIN = "BERTScore", 0.02


def lines_of(name: str) -> list[str]:
    """Read the lines of a file of WMT21."""
    return (WMT21 / name).read_text(encoding="utf-8").splitlines()


def texts() -> Iterator[tuple[str, list[str], list[str]]]:
    """Name good texts and their references."""
    pairs = ("cs-en", "de-en")
    human = {each: [line for pair in pairs for line in lines_of(f"{pair}/reference-{each}.en")] for each in "AB"}
    yield "WMT21", human["B"], human["A"]
    settings = GenerationSettings(
        "reports", "paraphrase", SEED, GENERATED, paraphrase=ParaphraseSettings(0.5, alternate=0.5)
    )
    made = list(generate(settings).pairs())
    yield "grammar", [" ".join(each.candidate) for each in made], [" ".join(each.reference) for each in made]


def scores_of(challenges: Sequence[Challenge], names: Sequence[str]) -> list[ScoreTable]:
    """Score good and bad texts; what was scored before is read from build/."""
    content = hashlib.sha256("".join(write_challenges(challenges)).encode()).hexdigest()[:12]
    references = [each.reference for each in challenges]
    both = {name: [getattr(each, name) for each in challenges] for name in ("good", "bad")}
    corpus, found = Segments.of(both, references, references), []
    for name in names:
        place = KEPT / f"{content}-{hashlib.sha256(METRICS[name].encode()).hexdigest()[:12]}.npz"
        if name.startswith("trained") or not place.exists():
            (table,), _ = make_score_tables(corpus, read_metrics({name: METRICS[name]}), level="segment")
            place.parent.mkdir(parents=True, exist_ok=True)
            np.savez_compressed(place, **table.segments)
        with np.load(place) as kept:
            found.append(ScoreTable(name, dict.fromkeys(both, 0.0), {each: kept[each] for each in both}))
        print(len(challenges), name, flush=True)  # noqa: T201
    return found


def preferred(challenges: Sequence[Challenge], tables: Sequence[ScoreTable]) -> tuple[list[Any], list[Any]]:
    """Shares of pairs whose good text a metric prefers, and how much greater they are than those of BERTScore."""
    rows = [(place, "good", "bad", 1, "rule") for place in range(len(challenges))]
    references = np.unique([each.reference for each in challenges], return_inverse=True)[1]
    # The greater score wins; of texts with the same reference all are drawn together.
    given: dict[str, Any] = {"scores": tables, "rankings": replace(Comparisons.of(rows), cluster=references)}
    taus = softbleu.metaeval("preferences", **given).table.records()
    shares = [
        [each["metric"], each["pairs"], *((1 + each[end]) / 2 for end in ("tau", "low", "high"))]
        for each in taus
        if each["variant"] == "noties"
    ]
    apart = softbleu.metaeval("differences", against=AGAINST, **given).table.records()
    differences = []
    for each in apart:
        if each["measure"] == "tau noties":
            sign = -1 if each["better"] == AGAINST else 1
            low, high = sorted(sign * each[end] / 2 for end in ("low", "high"))
            name = each["worse"] if sign < 0 else each["better"]
            tests = each["p_value"], each["corrected"]
            differences.append([name, AGAINST, sign * each["difference"] / 2, low, high, *tests])
    return shares, differences


def main() -> None:
    """Make the sets, score, compare, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=list(METRICS))
    names = [name for name in METRICS if name in {*parser.parse_args().only, AGAINST}]
    sets: list[list[Any]] = []
    results: list[list[Any]] = []
    differences: list[list[Any]] = []
    for source, good, references in texts():
        for kind, spoil in KINDS.items():
            made = list(make_challenges(good, references, count=COUNT, seed=SEED, spoil=spoil))
            tables = scores_of(made, names)
            for change in (*CHANGES, "all"):
                wanted = {change} if change != "all" else {*CHANGES} - {"case"}
                own = np.array([place for place, each in enumerate(made) if each.change in wanted])
                chosen = [made[place] for place in own]
                those = [
                    replace(each, segments={name: part[own] for name, part in each.segments.items()})
                    for each in tables
                ]
                shares, apart = preferred(chosen, those)
                results += [[source, kind, change, *row] for row in shares]
                differences += [[source, kind, change, *row] for row in apart]
                content = "".join(write_challenges(chosen)).encode()
                sets.append([source, kind, change, len(own), hashlib.sha256(content).hexdigest()])
    write("sets.csv", ["source", "kind", "set", "pairs", "sha256"], sets)
    write("results.csv", ["source", "kind", "set", "metric", "pairs", "preferred", "low", "high"], results)
    columns = ["source", "kind", "set", "metric", "other", "difference", "low", "high", "p_value", "corrected"]
    write("differences.csv", columns, differences)
    for source, kind in product(dict.fromkeys(row[0] for row in results), KINDS):
        print(table(results, source, kind, names))  # noqa: T201
    print(lacking(differences))  # noqa: T201
    panels = [heat(results, source, kind, names) for source, kind in zip(("WMT21", "grammar"), KINDS, strict=True)]
    (HERE / "challenges.svg").write_bytes(draw([panels], "svg"))


def heat(results: Sequence[Sequence[Any]], source: str, kind: str, names: Sequence[str]) -> HeatMap:
    """Show shares by metric and set."""
    changes = [*CHANGES, "all"]
    shares = {(row[2], row[3]): row[5] for row in results if tuple(row[:2]) == (source, kind)}
    values = [[shares[change, name] for change in changes] for name in names]
    return HeatMap(f"{source}, {kind}", names, values, 1.0, columns=changes)


def table(results: Sequence[Sequence[Any]], source: str, kind: str, names: Sequence[str]) -> str:
    """Write shares by metric and set in Markdown, in per cent; the whole has its interval."""
    cells = {
        (row[2], row[3]): [f"{100 * each:.1f}" for each in row[5:]] for row in results if row[:2] == [source, kind]
    }
    rows = [[name, *(cells[change, name][0] for change in CHANGES)] for name in names]
    rows = [[*row, "{} ({}–{})".format(*cells["all", row[0]])] for row in rows]
    header = [f"{source}, {kind}", *CHANGES, "all but case"]
    return (
        "\n".join(f"| {' | '.join(row)} |" for row in (header, ["---", *["---:"] * (len(header) - 1)], *rows)) + "\n"
    )


def lacking(differences: Sequence[Sequence[Any]]) -> str:
    """Name the sets on which a trained head prefers the good text more than 2 points less often than BERTScore."""
    found = [row for row in differences if row[3].startswith("trained") and row[5] < -MARGIN]
    return "\n".join(
        "| {} | {}, {} | {} | {:.1f} ({:.1f} to {:.1f}) |".format(
            row[3], *row[:3], *(100 * each for each in row[5:8])
        )
        for row in sorted(found, key=lambda row: (row[3], row[5]))
    ).replace("-", "−")


def write(name: str, columns: list[str], rows: list[list[Any]]) -> None:
    """Write a table beside this file."""
    with (HERE / name).open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([columns, *rows])


if __name__ == "__main__":
    main()
