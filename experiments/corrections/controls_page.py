"""Put tables of controls into docs/guide/gec.md and corrections.md: python experiments/corrections/controls_page.py.

`gaming.csv`, `answers.csv` and `ensemble.csv` have the figures of the first, `meaning.csv` of the second; `rewarded`
says which controls beat a metric, and so what `also_rewards` must say.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from controls import CONTROLS, ERRORS, ERRORS_WIN, MEANINGS, SOURCE

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from filling import fill  # noqa: E402

GUIDE = HERE.parents[1] / "docs" / "guide"
PAGE, PAGE_OF_MEANINGS = GUIDE / "gec.md", GUIDE / "corrections.md"
SHOWN = {
    "GLEU+ vleu .8 in context, progress": "`gleu`, `vleu` .8 in context",
    "GLEU+": "`gleu`",
    "ERRANT": "`errant`",
    "CLEME": "`cleme`",
    "CLEME2.0": "`cleme2`",
    "GREEN": "`green`",
    "M2": "`m2`",
    "I-measure": "`imeasure`",
    "refless": "`refless`",
    "refless, sum": "`refless`, the sum of version 0.7",
    "GLEU+ xleu 0.8 in context": "`gleu`, `xleu` .8 in context, `--penalty exact`",
    "softbleu": "`softbleu`",
    "BERTScore": "`bertscore`",
    "BLEU": "`bleu`",
    "chrF": "`chrf`",
    "TER": "`ter`",
}
CLASSES = {  # Metrics with all their defaults, by their names here
    "gleu": "GLEU+",
    "errant": "ERRANT",
    "cleme": "CLEME",
    "cleme2": "CLEME2.0",
    "green": "GREEN",
    "m2": "M2",
    "imeasure": "I-measure",
    "refless": "refless",
    "softbleu": "softbleu",
    "bertscore": "BERTScore",
    "bleu": "BLEU",
    "chrf": "chrF",
    "ter": "TER",
}
SLOW = {  # Of which gaming.csv has a part of the lines, by their names in ensemble.csv
    "gleu xleu .8 in context, exact": "GLEU+ xleu 0.8 in context",
}
IN_MEANING = {  # Metrics of meaning.csv
    "GLEU+": "`gleu`",
    "GLEU+ vleu .8 in context, progress": "`gleu`, `vleu` .8 in context",
    "GREEN": "`green`",
    "ERRANT": "`errant`",
    "M2": "`m2`",
    "I-measure": "`imeasure`",
    "chrF": "`chrf`",
    "BERTScore": "`bertscore`",
    "refless": "`refless`",
    "refless, SmolLM2": "`refless`, SmolLM2",
    "product, stems": "the product",
    "refless, encoder 0.55": "`refless`, encoder",
    "refless, SmolLM2, encoder 0.55": "`refless`, SmolLM2, encoder",
    "product, encoder 0.55": "the product, encoder",
}
BLIND = ("softbleu", "bertscore", "bleu", "chrf", "ter")  # They do not look at the source


def rows() -> list[dict[str, str]]:
    """Read gaming.csv, and what other tables have of the same controls on all lines.

    answers.csv has CoNLL-2014 for all metrics, ensemble.csv how often errors win on FCE and WIKI for slow ones.
    """
    whole = [
        {"set": row["set"], "metric": SLOW[row["chosen_on"]], "control": ERRORS, "score": row["value"]}
        for row in read("ensemble")
        if row["measure"] == "errors win" and row["way"] == "alone" and row["chosen_on"] in SLOW
    ]
    known = {(row["set"], row["metric"], row["control"]) for row in whole}
    found = [row for row in read("gaming") if (row["set"], row["metric"], row["control"]) not in known]
    found += [{**row, "rival_score": str(ERRORS_WIN)} for row in whole]
    for row in read("answers"):
        for control in CONTROLS.keys() & row.keys():
            more = {"score": row[control], "rival_score": row["honest_best"]}
            found.append({"set": "CoNLL-2014", "metric": row["metric"], "control": control, **more})
    return found


def read(name: str) -> list[dict[str, str]]:
    """Read a table beside this file."""
    with (HERE / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
        return [*csv.DictReader(stream)]


def worst(made: list[dict[str, str]], metric: str, control: str) -> Mapping[str, str]:
    """Find the set, and the number of references, where a control gains most over its rival."""
    found = [row for row in made if (row["metric"], row["control"]) == (metric, control)]
    return max(found, key=gain)


def gain(row: Mapping[str, str]) -> float:
    """By how many points the control exceeds its rival."""
    return float(row["score"]) - float(row["rival_score"])


def rewarded(name: str) -> str:
    """Write `also_rewards` of a metric by its name: the controls that beat it anywhere."""
    made, found = rows(), []
    for control, declared in CONTROLS.items():
        row = worst(made, CLASSES[name], control)
        if gain(row) > 0:
            most = f" (up to {float(row['score']):.0f}% of sentences)" if control == ERRORS else ""
            found.append(declared["words"] + most)
    return ("in corrections, " if found and name in BLIND else "") + "; ".join(found)


def table() -> Iterator[str]:
    """Write the table: how far each control is above its rival, at its worst."""
    made = rows()
    yield f"| | {' | '.join(declared['head'] for declared in CONTROLS.values())} |"
    yield f"|---|{'---|' * len(CONTROLS)}"
    for metric, shown in SHOWN.items():
        cells = []
        for control in CONTROLS:
            row = worst(made, metric, control)
            number = f"{float(row['score']):.1f}%" if control == ERRORS else f"{gain(row):+.1f}".replace("-", "−")
            cells.append(f"*{number}*" if gain(row) > 0 else number)
        yield f"| {shown} | {' | '.join(cells)} |"


def meanings() -> Iterator[str]:
    """Write the table of other meanings, of CoNLL-2014."""
    known = {
        (row["metric"], row["control"], row["rival"]): float(row["percent"])
        for row in read("meaning")
        if row["set"] == "CoNLL-2014"
    }
    controls = (*MEANINGS, "wrong")
    yield f"| | {' | '.join(controls)} | of the source | rewrite |"
    yield f"|---|{'---:|' * (len(controls) + 2)}"
    for metric, shown in IN_MEANING.items():
        above = [known[metric, control, "rewrite"] for control in controls]
        of_source = max(known[metric, f"{control} of source", SOURCE] for control in MEANINGS)
        cells = [f"{each:.0f}" for each in (*above, of_source, known[metric, "rewrite", SOURCE])]
        yield f"| {shown} | {' | '.join(cells)} |"


TABLES = {PAGE: ("controls", table), PAGE_OF_MEANINGS: ("meanings", meanings)}

if __name__ == "__main__":
    for path, (name, lines) in TABLES.items():
        path.write_text(fill(path.read_text(encoding="utf-8"), {name: "\n".join(lines())}), encoding="utf-8")
