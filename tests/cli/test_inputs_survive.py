"""No command writes in the place of what it reads, or of what it did not make."""

from __future__ import annotations

from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from softbleu.embeddings.convert import convert_vectors
from softbleu.encoders.convert import convert_encoder

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
SWEEP = """
kind = "sweep"
[corpus]
candidates = ["{candidate}"]
references = ["reference.txt"]
[settings]
vectors = "./vectors.txt"
[sweep]
matchers = ["exact"]
"""


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("encoder") / "made"
    convert_encoder(GOLDEN / "encoders" / "bert", folder)
    return folder


@pytest.fixture
def place(files: Any, encoder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with vectors as a file and as a store, text within a store, and a definition."""
    folder: Path = files.folder
    monkeypatch.chdir(folder)
    monkeypatch.setattr("softbleu.embeddings.measure.PAIRS", 100)
    convert_vectors("vectors.txt", "store")
    (folder / "store" / "card.md").write_text("the cat sat on a mat\n" * 20)
    (folder / "out").mkdir()
    (folder / "out" / "vocab.txt").write_bytes((folder / "vectors.txt").read_bytes())
    (folder / "same.txt").hardlink_to(folder / "vectors.txt")
    files.write("words.txt", ["dog"])
    files.write("small.cfg", ["S -> 'a' | 'b'"])
    files.write("input.svg", files.candidate.read_bytes())
    (folder / "texts").mkdir()
    files.write("texts/a.txt", files.candidate.read_bytes())
    copytree(encoder, folder / "encoder")
    return folder


TEXTS = "-c candidate.txt -r reference.txt"
SCORING = ["score", "compare", "explain", "sweep"]
EMBEDDINGS = ["neighbours dog", "similarity dog hound", "graph --vocabulary words.txt -t 0.5", "evaluate"]
VECTORS = [
    "--vectors vectors.txt -o vectors.txt",
    "--vectors vectors.txt -o same.txt",
    "--vectors vectors.txt+store*2 -o vectors.txt",
    "--vectors vectors.txt+store*2 -o store/vectors.npy",
    "--vectors store -o store/vocab.txt",
    "--vectors store -o store/scales.npy",
]
OVER = [
    *(f"embeddings {name} {vectors}" for name in EMBEDDINGS for vectors in VECTORS),
    *(f"{name} {TEXTS} -c second.txt {VECTORS[n]} -f text" for name in SCORING for n in (0, 3)),
    *(f"{name} {TEXTS} -m vleu(threshold=0.5,vectors='vectors.txt') -o same.txt" for name in SCORING),
    f"score {TEXTS} -o candidate.txt",
    f"score {TEXTS} -f html -o candidate.txt",
    f"score {TEXTS} -m softbleu --idf words.txt -o words.txt",
    "score -c texts -r reference.txt -o texts/a.txt",
    f"compare {TEXTS} second.txt --distribution candidate.txt",
    *(f"sweep {TEXTS} -c input.svg {option} input.svg" for option in ("-o", "--plot", "--plot-ranks")),
    "corpora generate -g small.cfg --all -o small.cfg",
    "language train words.txt -o words.txt",
    "embeddings info store -o store/meta.json",
    "embeddings info encoder -o encoder/tokenizer.json",
    "embeddings index store -o store/vectors.npy",
    "embeddings graph --vocabulary words.txt -t 0.5 -o words.txt",
    "embeddings evaluate --corpus words.txt -o words.txt",
    "embeddings convert out/vocab.txt out --force",
    "embeddings convert store+vectors.txt store --force",
    "embeddings convert vectors.txt store --force --vocabulary store/vocab.txt",
    "embeddings train store/card.md -o store --force --dimension 4 --epochs 1 --min-count 1",
]


@pytest.mark.parametrize("line", OVER)
def test_output_over_an_input(refused: Any, place: Path, line: str) -> None:
    message = refused(*line.split(), output=None)
    assert " is an input: write to another file" in message or " holds the input " in message


def test_another_file_of_a_store_may_be_written(command: Any, place: Path) -> None:
    assert command("embeddings", "info", "store", "-o", "store/card.md").code == 0
    assert command("embeddings", "similarity", "dog", "hound", "--vectors", "store").code == 0


@pytest.mark.parametrize("candidate", ["x.csv", "x.tsv", "*.csv", "x.manifest.json"])
def test_experiments(refused: Any, files: Any, candidate: str) -> None:
    options = ["-f", "tsv"] if candidate == "x.tsv" else []
    files.write(candidate.replace("*", "x"), files.candidate.read_bytes())
    files.write("x.toml", SWEEP.format(candidate=candidate).encode())
    message = refused("experiments", "run", "x.toml", "--no-picture", *options, output=None)
    assert "is an input: write to another file" in message


@pytest.mark.parametrize("kind", ["sweep", "spurious"])
@pytest.mark.parametrize("link", [False, True])
def test_notes_where_a_journal_would_lie(refused: Any, files: Any, kind: str, link: bool) -> None:
    text = SWEEP if kind == "sweep" else SWEEP.replace("sweep", kind) + "thresholds = [0.5]\n"
    files.write("x.toml", text.format(candidate="candidate.txt").replace("exact", "vleu").encode())
    path = files.write("notes" if link else "x.unfinished", ["my notes"])
    if link:
        (files.folder / "x.unfinished").symlink_to(path)
    message = refused("experiments", "run", "x.toml", "--no-picture", output=None)
    assert "x.unfinished: no checkpoint of an interrupted run" in message
    assert (files.folder / "x.unfinished").is_symlink() == link
