"""A small folder of METEOR's data, made up, as its program has it."""

import gzip
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

DATA: dict[str, Any] = tomllib.loads(Path(__file__).with_name("meteor.toml").read_text(encoding="utf-8"))
SYNSETS: dict[str, list[str]] = DATA["synsets"]
EXCEPTIONS: dict[str, list[str]] = DATA["exceptions"]
PARAPHRASES: list[tuple[str, str]] = [(phrase, other) for phrase, other in DATA["paraphrases"]]


def write_meteor_data(folder: Path, paraphrases: Sequence[tuple[str, str]] = PARAPHRASES) -> Path:
    """Write the files into a folder."""
    (folder / "synonym").mkdir(parents=True)
    (folder / "data").mkdir()
    for name, lists in (("synsets", SYNSETS), ("exceptions", EXCEPTIONS)):
        text = "".join(f"{word}\n{' '.join(below)}\n" for word, below in lists.items())
        (folder / "synonym" / f"english.{name}").write_text(text, encoding="utf-8")
    (folder / "nonbreaking").mkdir()
    for language, words in DATA["kept_stops"].items():
        numbers = ["", "Art #NUMERIC_ONLY#", "No #NUMERIC_ONLY# "] if language == "english" else []
        text = "".join(f"{line}\n" for line in ["# words", *words.split(), *numbers])
        (folder / "nonbreaking" / f"{language}.prefixes").write_text(text, encoding="utf-8")
    entries = "".join(f"0.5\n{phrase}\n{other}\n" for phrase, other in paraphrases)
    (folder / "data" / "paraphrase-en.gz").write_bytes(gzip.compress(entries.encode(), mtime=0))
    return folder
