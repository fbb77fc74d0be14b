"""Small valid files of every kind that softbleu reads, the commands that read them, and how these should end."""

import gzip
import json
import re
import shutil
import tomllib
from pathlib import Path
from typing import NamedTuple

import numpy as np
from cli.conftest import Run
from made_up_llama import write_llama
from meteor_data import write_meteor_data
from tables import read_rows

from softbleu.embeddings.convert import convert_vectors
from softbleu.encoders.convert import convert_encoder
from softbleu.language.values import VALUES
from softbleu.metrics.trained import FEATURES

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

HERE = Path(__file__).parent
HEAD = {
    **{"format": 2, "vectors": "./v.txt", "layers": None, "tokenize": "none", "lowercase": False},
    **{"metrics": [], "prices": dict.fromkeys(FEATURES, (1.0, 2.0, 3.0)), "severity": [], "card": {}},
}
TEXTS = tomllib.loads((HERE / "samples.toml").read_text(encoding="utf-8"))
TEXTS |= {
    "long.txt": TEXTS["c.txt"] * 600,
    "head.json": json.dumps(HEAD),
    "weights.json": json.dumps({"constant": -1, "coefficients": dict.fromkeys(VALUES, 0.5), "fluency": [0, 1]}),
}


def make(folder: Path) -> None:
    """Write all samples."""
    # Imported here, so that tests of the core read this module where gensim is not installed.
    from gensim.models import KeyedVectors

    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    (folder / "c.txt.gz").write_bytes(gzip.compress(TEXTS["c.txt"].encode(), mtime=0))
    table = [line.split() for line in TEXTS["v.txt"].splitlines()]
    vectors = KeyedVectors(3)
    vectors.add_vectors([row[0] for row in table], np.array([row[1:] for row in table], np.float32))
    vectors.save_word2vec_format(str(folder / "v.bin"), binary=True)
    convert_vectors(str(folder / "v.txt"), str(folder / "st"))
    write_llama(folder / "tiny.gguf")
    write_meteor_data(folder / "met")
    convert_encoder(GOLDEN / "encoders" / "bert", folder / "enc")


def mishandled(done: Run) -> str | None:
    """What is wrong with the way in which a command ended: it gives its result, or one line."""
    if done.code not in (0, 2):
        return f"exit code {done.code}"
    if "Traceback" in done.err:
        return "a traceback"
    if CONTROL.search(done.err):
        return "a control character"
    if done.code == 2 and not (done.err.startswith("softbleu: error: ") and done.err.count("\n") == 1):
        return "not one line"
    return "output before an error" if done.code == 2 and done.out else None


def copy(samples: Path, folder: Path) -> None:
    """The samples once more, in a folder of their own."""
    shutil.copytree(samples, folder, dirs_exist_ok=True)


class Reader(NamedTuple):
    """A command, and the name of the file that it is to find damaged, or a pattern."""

    damaged: str
    arguments: list[str]

    def __str__(self) -> str:
        return f"{self.damaged} {' '.join(self.arguments)}"


READERS = [Reader(row["file"], row["run"].split()) for row in read_rows("adversarial/readers.toml")]
