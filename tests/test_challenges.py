"""Challenge sets: what each rule changes, and what metaeval says of such a set."""

import csv
from hashlib import sha256
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

import challenges
import numpy as np
import pytest
from challenges import CHANGES, make_challenges, write_challenges
from refusing import refused

import softbleu
from softbleu import InputError
from softbleu.corpora import Segments
from softbleu.corpora.generate import GenerationSettings, ParaphraseSettings, generate
from softbleu.corpora.judgements import Assessments, Comparisons


def bads(change: str, good: list[str], reference: list[str], seeds: int = 60, **more: Any) -> set[str]:
    """All bad texts that some seed makes."""
    every = (make_challenges(good, reference, [change], seed=seed, **more) for seed in range(seeds))
    return {each.bad for made in every for each in made}


CASES = """
negation; She was seen.; They saw her.; She was not seen.|She wasn't seen.
negation; She didn’t know.; She had no idea.; She did know.
negation; He said not, or had a car.; No.; He said, or had a car.
negation; I had agreed to it.; Yes.; I had not agreed to it.|I hadn't agreed to it.
negation; None went with us.; Nobody.; None went without us.
numbers; It costs 5 euros.; Its price: 3,124 euros.; It costs 1 euros.|It costs 2 euros.|It costs 3 euros.|\
It costs 4 euros.|It costs 6 euros.|It costs 7 euros.|It costs 8 euros.|It costs 9 euros.
numbers; He came Twice.; He came 2 times.; He came Thrice.
units; It costs $5,000.; The price is £5,000.; It costs €5,000.
units; It is 3 km away.; The distance: 3 miles.; It is 3 metres away.|It is 3 meters away.
roles; Today Anna's aunt met Boris.; So.; Today Boris's aunt met Anna.
roles; Today Anna, and then Boris left Boris.; So.;
antonyms; They WON the "big" game.; They won it, not small.; They LOST the "big" game.
pronouns; She saw his dog.; Such a dog.; He saw his dog.|She saw her dog.
order; rain fell on quiet towns, and grass; So.; quiet fell on rain towns, and grass|\
towns fell on quiet rain, and grass|rain quiet on fell towns, and grass|rain towns on quiet fell, and grass
dropped; The king slept, though snow fell.; A king slept while snow came.; The slept, though snow fell.|\
The king slept, though fell.|The king slept.
dropped; The king slept , as snow fell .; A king , and snow fell .; The slept , as snow fell .|\
The king slept , as fell .|The king slept , as snow .|The king slept .
case; Then Anna met the EU.; So.; Then anna met the EU.|Then Anna met the eu.
"""


@pytest.mark.parametrize("case", CASES.replace("\\\n", "").strip().splitlines())
def test_rules_change_one_thing(case: str) -> None:
    change, good, reference, expected = case.split(";")
    assert bads(change, [good], [reference]) == {each.strip() for each in expected.split("|")} - {""}


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


def test_lines_that_are_equal_or_empty_are_passed_over() -> None:
    assert list(make_challenges(["", "same 5", "He is 5.", "a"], ["5", "same 5", " ", "b"])) == []
