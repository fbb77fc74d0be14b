"""Fit what tells grammatical sentences (GUG: Heilman et al. 2014), and the bounds of fluency. Needs softbleu.

python experiments/gug-grammaticality/fit.py GUG/gug_annotations.tsv language/en-small/grammar.json
python experiments/gug-grammaticality/fit.py GUG/gug_annotations.tsv language/smollm2-135m/grammar-harper.json \
    --language-model smollm2-135m --detector harper

The data (CC BY-NC-SA 4.0) is not part of this project.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from scipy.optimize import minimize
from scipy.stats import rankdata

from softbleu.language import DEFAULT_LANGUAGE, VALUES, ModelChoice, open_language

GOOD = 3.5
"""Mean judgement, from 1 to 4, from which a sentence is grammatical."""
PENALTY = 1.0
PERCENTILES = (1, 99)


def fit(values: Any, good: Any) -> Any:
    """Coefficients of a logistic regression, the constant first; all but that are held small (ridge)."""
    rows = np.column_stack((np.ones(len(values)), values))

    def loss(weights: Any) -> tuple[float, Any]:
        logits = rows @ weights
        held = PENALTY * np.concatenate(([0], weights[1:]))
        slope = rows.T @ (1 / (1 + np.exp(-logits)) - good) + held
        return float(np.logaddexp(0, logits).sum() - good @ logits + held @ weights / 2), slope

    return minimize(loss, np.zeros(rows.shape[1]), jac=True).x


def area(scores: Any, good: Any) -> float:
    """Area under the ROC curve: how often a good sentence has the higher score."""
    ranks, many = rankdata(scores), int(good.sum())
    return float((ranks[good].sum() - many * (many + 1) / 2) / (many * (len(good) - many)))


def main(
    data: Annotated[Path, typer.Argument(help="gug_annotations.tsv")],
    target: Annotated[Path, typer.Argument(help="Where the coefficients go.")],
    language_model: Annotated[str, typer.Option(help="A name, or a model of one's own.")] = DEFAULT_LANGUAGE,
    detector: Annotated[str, typer.Option(help="What finds errors: spelling or harper.")] = "spelling",
) -> None:
    """Fit on train and dev, and say how well test is told."""
    with data.open(encoding="utf-8", newline="") as stream:
        # Sentences with quotation marks are quoted themselves, and theirs doubled.
        rows = list(csv.DictReader(stream, delimiter="\t"))
    values = open_language(ModelChoice.of(language_model), detector).values([row["Sentence"] for row in rows])
    good = np.array([float(row["Average"]) >= GOOD for row in rows])
    learnt = np.array([row["Dataset"] != "test" for row in rows])
    means, spreads = values[learnt].mean(axis=0), values[learnt].std(axis=0)
    # What never differs tells nothing.
    spreads[spreads == 0] = 1
    weights = fit((values[learnt] - means) / spreads, good[learnt])
    coefficients = weights[1:] / spreads
    constant = float(weights[0] - coefficients @ means)
    scores = values @ coefficients
    least, most = np.percentile(values[learnt, VALUES.index("fluency")], PERCENTILES)
    rounded = {name: round(float(each), 6) for name, each in zip(VALUES, coefficients, strict=True)}
    found = {
        "format": 1,
        "language_model": language_model,
        "detector": detector,
        "constant": round(constant, 6),
        "coefficients": rounded,
        "fluency": [round(float(least), 6), round(float(most), 6)],
        "fitted_on": f"GUG, train and dev: {int(learnt.sum())} sentences, grammatical from a mean of {GOOD}",
        "area_under_curve": {
            "train and dev": round(area(scores[learnt], good[learnt]), 3),
            "test": round(area(scores[~learnt], good[~learnt]), 3),
            "test, misspelt words alone": round(area(-values[~learnt, VALUES.index("misspelt")], good[~learnt]), 3),
            "test, fluency alone": round(area(values[~learnt, VALUES.index("fluency")], good[~learnt]), 3),
        },
    }
    target.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    typer.echo(target.read_text(encoding="utf-8"))


if __name__ == "__main__":
    typer.run(main)
