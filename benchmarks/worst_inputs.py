"""Inputs just below 10 MB that are the worst we could think of, each made when asked for."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable
from pathlib import Path

SIZE = 9_900_000
TEXTS = [
    "line",
    "distinct",
    "word",
    "tokens",
    "empty",
    "words",
    "normal",
    "long",
    "vlong",
    "cjk",
    "punct",
    "repeat",
    "lettersline",
]
_WORDS = [
    stem + ending
    for stem in ["kat", "the", "dog", "run", "sit", "mat", "lo", "ve", "ha", "is"]
    for ending in ("", "s", "ed", "ing", "er", "ly", "ness", "est", "able", "un")
]
_PAIRS: dict[str, Callable[[int], str]] = {
    "line": lambda side: ("the cat sat on a mat ", "a dog sat on the mat ")[side] * 500_000,
    "distinct": lambda side: " ".join(f"w{word}" for word in range(700_000 * side, 1_400_000 + 600_000 * side)),
    "word": lambda side: ("ab", "abc")[side] * SIZE,
    "tokens": lambda side: ("the\na\n", "a\nthe\n")[side] * 3_000_000,
    "empty": lambda side: "\n" * SIZE,
    "words": lambda side: "".join(f"w{word + side}\n" for word in range(1_100_000)),
    "normal": lambda side: _lines(20, 80_000, side),
    "long": lambda side: _lines(1000, 1600, side),
    "vlong": lambda side: _lines(30_000, 50, side),
    "cjk": lambda side: ("的一是不了人我在有他", "一的是不了人我有在他")[side] * 320_000,
    "punct": lambda side: (".,!?;-1.5,2&amp;", ",.!?;-1.5,2&lt;")[side] * 600_000,
    "repeat": lambda side: ("the ", "cat ")[side] * 2_400_000,
    "lettersline": lambda side: ("a b ", "b a ")[side] * 2_400_000,
}


def _lines(words: int, lines: int, side: int) -> str:
    draw = random.Random(side + 1)
    return "".join(" ".join(draw.choices(_WORDS, k=words)) + "\n" for _ in range(lines))


def _edits(count: int, place: Callable[[int], str], annotator: Callable[[int], int]) -> str:
    return "".join(f"A {place(at)}|||X|||w{at}|||REQUIRED|||-NONE-|||{annotator(at)}\n" for at in range(count))


def _every_fourth(repeated: int, edits: int) -> str:
    return (
        "S " + "a b c d " * repeated + "\n" + _edits(edits, lambda at: f"{4 * at} {4 * at + 1}", lambda at: 0) + "\n"
    )


def _within(at: int) -> str:
    return f"{at % 6} {at % 6 + 1}"


def _table(header: str, rows: Iterable[str]) -> str:
    return header + "\n" + "".join(row + "\n" for row in rows)


_RANKS = "srcIndex,judgeId,system1Id,system1rank,system2Id,system2rank"
_SYSTEMS: dict[str, object] = {"schema": 1, "signature": "metric:bleu"}
_FILES: dict[str, Callable[[], str]] = {
    "one.txt": lambda: "a b c d\n",
    "two.txt": lambda: "a b c d\ne f g h\n",
    "pairs.tsv": lambda: "candidate\treference\n" + "a b c\ta b d\n" * 800_000,
    "pairs.jsonl": lambda: '{"candidate": "a b c", "references": ["a b d"]}\n' * 200_000,
    "bigrefs.jsonl": lambda: json.dumps({"candidate": "a b c", "references": ["a b d"] * 900_000}) + "\n",
    "manycand.jsonl": lambda: json.dumps({"candidates": ["a b c d"] * 1_000_000, "references": ["a b"]}),
    "list.jsonl": lambda: json.dumps({"candidates": [f"a b c{at}" for at in range(600_000)], "references": ["a b"]}),
    "lists.jsonl": lambda: '{"candidates": ["a b", "c d"], "references": ["a b"]}\n' * 180_000,
    "m2many.m2": lambda: "S a b c d e f\n" + _edits(200_000, _within, lambda at: 0) + "\n",
    "m2ann.m2": lambda: "S a b c d e f\n" + _edits(200_000, _within, lambda at: at) + "\n",
    "m2.m2": lambda: "S a b c d e f\nA 1 2|||X|||w|||REQUIRED|||-NONE-|||0\n\n" * 160_000,
    "m2long.m2": lambda: _every_fourth(300_000, 100_000),
    "m2mid.m2": lambda: _every_fourth(250, 250) * 750,
    "m2.txt": lambda: "a w c d e f\n" * 160_000,
    "m2one.txt": lambda: "a w0 c d e f\n",
    "m2long.txt": lambda: "w b c d " * 300_000 + "\n",
    "m2mid.txt": lambda: ("w b c d " * 250 + "\n") * 750,
    "nest.json": lambda: "[" * SIZE,
    "flat.json": lambda: json.dumps([1] * 3_000_000),
    "scores.json": lambda: json.dumps({"systems": [{"name": f"s{at}", "score": at} for at in range(240_000)]}),
    "seg.json": lambda: json.dumps(
        _SYSTEMS
        | {
            "systems": [
                {"name": "c", "score": 1, "segments": [{"segment": at, "score": at % 7} for at in range(300_000)]}
            ]
        }
    ),
    "scores.tsv": lambda: _table("system\tscore", (f"s{at}\t{at}" for at in range(600_000))),
    "ranks.csv": lambda: _table(
        _RANKS, (f"{at},j{at % 2},A{at % 9},{1 + at % 2},B{at % 7},{2 - at % 2}" for at in range(500_000))
    ),
    "ranksys.csv": lambda: _table(_RANKS, (f"{at},j{at},A{at},1,B{at},2" for at in range(270_000))),
    "da.tsv": lambda: _table(
        "LP\tsource\ttranslation\treference\tHUMAN_score",
        (f"x-y\ts\tit is {at}\tit is\t{at % 100}" for at in range(350_000)),
    ),
    "toml.toml": lambda: (
        'kind="sweep"\n[corpus]\ncandidates=["one.txt"]\nreferences=["one.txt"]\n[sweep]\nmatchers=["vleu"]\nthresholds=['
        + ",".join(["0.5"] * 2_000_000)
        + "]\n"
    ),
    "keys.toml": lambda: "".join(f"k{at}=1\n" for at in range(900_000)),
    "rules.cfg": lambda: "".join(f'S -> N{at}\nN{at} -> "w{at}"\n' for at in range(300_000)),
    "alternatives.cfg": lambda: "S -> " + " | ".join(f'"w{at}"' for at in range(750_000)) + "\n",
    "doubling.cfg": lambda: (
        "\n".join(f"N{at} -> N{at + 1} N{at + 1}" for at in range(300_000)) + '\nN300000 -> "a"\n'
    ),
    "deep.cfg": lambda: "\n".join(f'N{at} -> N{at + 1} | "a"' for at in range(300_000)) + '\nN300000 -> "a"\n',
    "vecs.txt": lambda: "".join(f"w{at} 0.1 0.2 0.3\n" for at in range(500_000)),
    "wide.txt": lambda: "a " + " ".join(["0.1"] * 2_400_000) + "\n",
    "vocab.txt": lambda: "".join(f"w{at}\n" for at in range(1_200_000)),
    "net.jsonl": lambda: "[" + ",".join(['[["a"],["b"]]'] * 700_000) + "]\n",
    "nets.jsonl": lambda: '[[["a"],["b"]],[["c"]]]\n' * 400_000,
    "par.jsonl": lambda: "[[" + ",".join(f'["w{at}"]' for at in range(750_000)) + "]]\n",
    "brackets.txt": lambda: "(a|b) " * 1_600_000 + "\n",
    "short-brackets.txt": lambda: "(a|b) [c|d] e\n" * 700_000,
    "optional.txt": lambda: "[a] " * 2_400_000 + "\n",
    "mid-brackets.txt": lambda: ("(a|b) [c|d] " * 500 + "\n") * 1600,
    "mid.txt": lambda: ("a c " * 500 + "\n") * 1600,
    "m.arpa": lambda: (
        "\\data\\\nngram 1=500003\n\n\\1-grams:\n-99 <s>\n-1 </s>\n-1 <unk>\n"
        + "".join(f"-5 w{at}\n" for at in range(500_000))
        + "\n\\end\\\n"
    ),
    "weights.json": lambda: json.dumps(
        {
            "constant": -1,
            "coefficients": dict.fromkeys(
                ["fluency", "length", "misspelt", "misspelt_share", "capital", "end", "small_i", "errors"], 1
            ),
            "fluency": [0, 1],
        }
    ),
    "aligned.jsonl": lambda: (
        json.dumps(
            {
                "candidate": "a " * 500_000,
                "reference": "b " * 500_000,
                "alignment": [[at, at] for at in range(400_000)],
                "label": "paraphrase",
            }
        )
        + "\n"
    ),
    "aligneds.jsonl": lambda: (
        '{"candidate": "the cat sat", "reference": "a cat sat", "alignment": [[0, 0]], "label": "paraphrase"}\n'
        * 95_000
    ),
    "labels.txt": lambda: "a\n" * 5_000_000,
}


def make(folder: Path, name: str) -> bool:
    """Write an input of this name, unless it is there; whether there is one of this name."""
    stem, _, ending = name.partition(".")
    if ending in ("c", "r") and stem in _PAIRS:
        made = _PAIRS[stem](int(ending == "r"))
    elif name in _FILES:
        made = _FILES[name]()
    else:
        return False
    if not (folder / name).exists():
        (folder / name).write_bytes(made.encode()[:SIZE])
    return True
