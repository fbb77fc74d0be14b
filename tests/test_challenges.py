"""Challenge sets: what each rule changes, and what metaeval says of such a set."""

import csv
from hashlib import sha256
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

import challenges
import numpy as np
from challenges import CHANGES, make_challenges, write_challenges
from refusing import refused
from tables import each_row

import softbleu
from softbleu import InputError
from softbleu.corpora import Segments
from softbleu.corpora.generate import GenerationSettings, ParaphraseSettings, generate
from softbleu.corpora.judgements import Assessments, Comparisons


def bads(change: str, good: list[str], reference: list[str], seeds: int = 60, **more: Any) -> set[str]:
    """All bad texts that some seed makes."""
    every = (make_challenges(good, reference, [change], seed=seed, **more) for seed in range(seeds))
    return {each.bad for made in every for each in made}


@each_row("challenges.toml", "rule", "good", "reference", "bad")
def test_rules_change_one_thing(rule: str, good: str, reference: str, bad: list[str]) -> None:
    assert bads(rule, [good], [reference]) == {*bad}


def test_names_are_those_of_the_corpus_and_phrases_those_of_the_package() -> None:
    good = ["Then Anna saw it.", "There Boris is.", "Now the Mayor and a mayor left."]
    reference = ["Anna then saw it.", "Boris is there.", "They left now."]
    assert bads("names", good, reference) == {"Then Boris saw it.", "There Anna is."}
    assert bads("names", good, reference, spoil="reference") == {"Boris then saw it.", "Anna is there."}
    for text in ("He left.", "He left ."):
        added = bads("added", [text], ["He is gone."], seeds=300)
        assert len(added) == 40
        assert all(each.startswith("He left ") and each.endswith(text[-2:]) for each in added if " ." in text)


def test_sets_of_the_grammar_are_those_of_the_study() -> None:
    """By the number of their pairs and the hash of their lines."""
    paraphrase = ParaphraseSettings(0.5, alternate=0.5)
    pairs = list(generate(GenerationSettings("reports", "paraphrase", 1, 8000, paraphrase=paraphrase)).pairs())
    texts = [[" ".join(getattr(pair, side)) for pair in pairs] for side in ("candidate", "reference")]
    found = set()
    for kind, spoil in (("same text", "candidate"), ("closer spelling", "reference")):
        for change, made in groupby(make_challenges(*texts, seed=1, spoil=spoil), attrgetter("change")):
            lines = "".join(write_challenges(some := list(made))).encode()
            found.add(("grammar", kind, change, str(len(some)), sha256(lines).hexdigest()))
    assert len(found) == 22
    with (Path(challenges.__file__).parent / "sets.csv").open(newline="") as file:
        assert found < set(map(tuple, csv.reader(file)))


def test_sets_are_judged_as_direct_assessment_and_as_rankings_are(tmp_path: Path) -> None:
    goods = [f"She was seen in {number} of the towns." for number in range(20, 50)]
    references = [f"They saw her in {number} towns." for number in range(20, 50)]
    made = list(make_challenges(goods, references, ("negation", "numbers", "units"), count=25))
    assert [sum(each.change == name for each in made) for name in CHANGES][:3] == [25, 25, 0]
    # Lines that are equal or empty are passed over.
    assert list(make_challenges(["", "same 5", "He is 5.", "a"], ["5", "same 5", " ", "b"])) == []
    (place := tmp_path / "sets.tsv").write_text("".join(write_challenges(made)))
    chosen = [each for each in made if each.change == "numbers"]
    texts = {name: [getattr(each, name) for each in chosen] for name in ("good", "bad")}
    rows = Comparisons.of((number, "good", "bad", 1, "rule") for number in range(len(chosen)))
    ranked = {"rankings": rows, "candidates": texts, "references": [each.reference for each in chosen]}
    judged = {"assessments": str(place), "direction": "numbers"}
    found = [softbleu.metaeval("preferences", metrics=["chrf"], **each).table.rows for each in (judged, ranked)]
    assert found[0] == found[1]
    assert found[0][1][2] == 1.0  # Numbers are right in the good texts alone
    lone = Assessments(np.zeros(2), texts=Segments.of(["a", "b"], ["a", "b"], ["a", "b"]))
    refused(InputError, "two assessed outputs", softbleu.metaeval, "preferences", metrics=["chrf"], assessments=lone)
