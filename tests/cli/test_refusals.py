"""What is refused: one line, exit code 2, nothing on standard output, and every file as it was.

`refusals.txt` has a row for each case; what its rows name lies in the folder where they run.
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from softbleu.language import VALUES

ENCODER = Path(__file__).resolve().parents[1] / "golden" / "encoders" / "bert"
WITHOUT_OUTPUT = ("embeddings convert", "embeddings expand", "experiments run")
WEIGHTS = {"constant": 0, "coefficients": dict.fromkeys(VALUES, 1), "fluency": [0, 1]}
NO_LISTS = enumerate((None, 3, "x", [None]))
SWEPT = ('references = ["reference.txt"]', "[sweep]", 'matchers = ["exact"]')
JUDGED = [f"{n},ann,{a},1,{b},2" for n in range(2) for a, b in ("AB", "BC", "AC", "BD", "DC")]
FILES: dict[str, list[str] | bytes] = {
    "a.txt": ["the cat sat on the mat", "it rained all night long"],
    "assessed.tsv": ["LP\tsource\ttranslation\treference\tHUMAN_score", "x-y\ts\tit is wrong\tit 's all right\t0"],
    "bad.json": ["{}"],
    "bad.txt": b"the cat\nna\xefve dog\nrain\n",
    "arrow.cfg": ["S -> 'a' |", "X"],
    "beyond.jsonl": ['{"candidate": "a", "reference": "b", "alignment": [[0, 1]], "label": "related"}'],
    "blank.txt": ["", " "],
    "c.jsonl": ['{"candidate": "a", "references": ["b"]}', '{"candidate": "a", "references": [null]}'],
    "c.pairs": ["a ||| b", "alone"],
    "c.tsv": ["candidate\treference", "a\tb", "alone"],
    "corpus.txt": ["The cat sat on the mat.", "A small dog barked at the cat!", "The dog and the cat sat."] * 20,
    "cycle.cfg": ["S -> S 'a' | 'b'"],
    "cut.txt": ["5 2", "a 1 2", "b 1 2"],
    "deep.jsonl": ['{"candidate": ' + "[" * 100_000],
    "digits.jsonl": ['{"candidate": 1' + "0" * 5000 + "}"],
    "digits.m2": ["S a b", f"A 0 1|||V|||c|||REQUIRED|||-NONE-|||{'9' * 26}"],
    "empty.jsonl": [],
    "empty.txt": [],
    "few.tsv": ["A 1", "B 2"],
    "flat.tsv": ["A 1", "B 1", "C 1", "D 1"],
    "four.txt": ["one"] * 4,
    "gold.m2": ["S He eat", "A 1 2|||V|||eats|||REQUIRED|||-NONE-|||0"],
    "good.txt": ["the cat sat on the mat", "a little dog barked loudly", "rain fell all night"],
    "great.tsv": ["system\tscore", "A\t1e308", "B\t1", "C\t2", "D\t3"],
    "human.tsv": ["A 0.5", "B 0.4", "C 0.3", "D 0.1"],
    "latin.txt": b"one\ntw\xf6\nthree\n",
    "long.json": ['{"system": "A", "score": 1' + "0" * 5000 + "}"],
    **{f"m{n}.json": [json.dumps({"systems": [{"name": "a", "score": 1, "segments": it}]})] for n, it in NO_LISTS},
    "more.2": ["old"],
    "named.tsv": ["candidate:a\tcandidate:a\treference", "x\ty\tz"],
    "nbest.jsonl": ['{"candidates": ["a cat sat", "the cat sat"]}', '["it rains", "so be it"]'],
    "none.vec": b"c\xff 1 2\n",
    "odd.txt": b"str\xffnge\n",
    "one.tsv": ["A 40", "B 30", "C 20", "D 10"],
    "other.tsv": ["candidates\treference", "x\ty"],
    "own.json": [json.dumps(WEIGHTS)],
    "plain.txt": ["a dog"] * 3,
    "poor.txt": ["cats sit", "a dog barked", "all night rain"],
    "prose.txt": ["Once upon a time", "there was a word"],
    "ragged.txt": ["a 1 2", "b 1"],
    "rankings.csv": ["srcIndex,judgeId,system1Id,system1rank,system2Id,system2rank", *JUDGED],
    "ref.1": ["the cat sat on the mat", "a little dog barked loudly", "it rained all night long"],
    "scores.tsv": ["system\tscore", "A\t1", "B\t2", "C\t3", "D\t4"],
    "segments.tsv": [f"{system} 1 {score}" for score, system in enumerate("DCBA")],
    "short.txt": ["one line"],
    "small.json": ['{"system": "A", "score": 1e-320}', *(f'{{"system": "{name}", "score": 1}}' for name in "BC")],
    "source.jsonl": ['{"candidate": "a", "reference": "a", "source": "a"}', '{"candidate": "b", "reference": "b"}'],
    "source.txt": ["He go to the school yesterday .", "This are good informations ."],
    "strange.txt": b"fine\nstr\xffnge\n",
    "symbol.cfg": ["S -> NPP", "NP -> 'a'"],
    "system.txt": ["He eats"],
    "tiny.toml": ['kind = "sweep"', "[corpus]", 'candidates = ["candidate.txt"]', *SWEPT],
    "turned.json": [json.dumps({**WEIGHTS, "fluency": [1, 0]})],
    "twice.tsv": ["candidate\tcandidate:candidate\treference", "x\ty\tz"],
    "two.txt": ["cats sit", "a dog barked"],
    "unaligned.jsonl": ['{"candidate": "a dog", "reference": "the dog"}'],
    "unheard.txt": ["unheard"],
}


def rows() -> list[tuple[str, str, str]]:
    found, above = [], ""
    for line in Path(__file__).with_name("refusals.txt").read_text(encoding="utf-8").splitlines()[1:]:
        if line.startswith("["):
            above = line[1:-1]
        elif line:
            typed, _, said = line.partition("=> ")
            found.append((above, typed.strip(), said))
    return found


@pytest.mark.parametrize(("above", "typed", "said"), rows())
def test_refused(refused: Any, files: Any, above: str, typed: str, said: str) -> None:
    for name, content in FILES.items():
        if name.partition(".")[0] in f"{above} {typed}":
            files.write(name, content)
    for name in ("empty", "place.2"):
        (files.folder / name).mkdir()
    output = None if above.startswith(WITHOUT_OUTPUT) else "set" if above == "embeddings train" else "out.txt"
    arguments = shlex.split(f"{above.replace('ENCODER', str(ENCODER))} {typed}")
    message = refused(*arguments, output=output)
    assert all(part in message for part in said.split(" … ")), message


def test_there_are_rows() -> None:
    assert len(rows()) > 250
    assert all(said for _, _, said in rows())
