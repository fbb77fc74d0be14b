"""A small folder of METEOR's data, made up, as its program has it."""

import gzip
from collections.abc import Sequence
from pathlib import Path

SYNSETS = {"small": ["1", "2"], "little": ["1"], "tiny": ["2"], "run": ["3"], "race": ["3", "4"], "cat": ["6"]}
SYNSETS |= {"people": ["4", "5"], "nation": ["5"], "mouse": ["7"], "rodent": ["7"], "hop": ["8"], "jump": ["8"]}
SYNSETS |= {"hope": ["9"], "wish": ["9"]}
"""Sets of each word."""
EXCEPTIONS = {"run": ["ran"], "mouse": ["mice"], "people": ["persons"]}
"""Forms of words that no ending tells."""
PARAPHRASES = [
    *[("a small cat", "kitten"), ("cat", "feline"), ("feline", "cat"), ("fast", "quickly"), ("of the", "in")],
    *[("little", "a little bit of"), ("ran away", "fled"), ("ran away", "ran off quickly"), ("run", "jump")],
    *[("small", "little"), ("the small", "little"), ("the small cat", "the kitten")],
    *[("will be seen by", "the people see"), ("will be seen by all the", "see")],
]
"""Phrases and what they may be rendered as."""
KEPT_STOPS = {
    "czech": "",
    "english": "Dr Mr Ms St v vs",
    "french": "M cf etc éd",
    "german": "1 3 6 12 15 19 20 21 22 23 24 25 26 30 73 84 97 Co Dr bzw ca s usw",
    "russian": "5г в г кг млн млрд ст тыс",
    "spanish": "Sr Uds ej p",
}
"""Words of the lines of tests that keep their full stop in the program."""


def write_meteor_data(folder: Path, paraphrases: Sequence[tuple[str, str]] = PARAPHRASES) -> Path:
    """Write the files into a folder."""
    (folder / "synonym").mkdir(parents=True)
    (folder / "data").mkdir()
    for name, lists in (("synsets", SYNSETS), ("exceptions", EXCEPTIONS)):
        text = "".join(f"{word}\n{' '.join(below)}\n" for word, below in lists.items())
        (folder / "synonym" / f"english.{name}").write_text(text, encoding="utf-8")
    (folder / "nonbreaking").mkdir()
    for language, words in KEPT_STOPS.items():
        numbers = ["", "Art #NUMERIC_ONLY#", "No #NUMERIC_ONLY# "] if language == "english" else []
        text = "".join(f"{line}\n" for line in ["# words", *words.split(), *numbers])
        (folder / "nonbreaking" / f"{language}.prefixes").write_text(text, encoding="utf-8")
    entries = "".join(f"0.5\n{phrase}\n{other}\n" for phrase, other in paraphrases)
    (folder / "data" / "paraphrase-en.gz").write_bytes(gzip.compress(entries.encode(), mtime=0))
    return folder
