"""`softbleu embeddings`, command by command."""

import json
from dataclasses import asdict, fields
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.conftest import TEXTS, scored, table_of

from softbleu.embeddings import open_vectors
from softbleu.embeddings.catalogue import read_catalogue
from softbleu.embeddings.convert import TrainingSettings
from softbleu.embeddings.learning import PASSES
from softbleu.embeddings.maps import VectorMap
from softbleu.embeddings.measure import WordMeasure
from softbleu.encoders import open_encoder
from softbleu.engine.prepare import compare_words


def test_the_list_of_sets(command):
    rows = {row["name"]: row for row in scored(command, "list", name="embeddings")["rows"]}
    assert rows.keys() >= {entry.name for entry in read_catalogue()}
    kinds = {"minilm-l6": "encoder, bundled", "glove-840b-300d": "words, download"}
    assert {name: f"{rows[name]['kind']}, {rows[name]['state']}" for name in kinds} == kinds
    for entry in read_catalogue():
        found = scored(command, "list", entry.name, name="embeddings")
        assert [found[f"step_{number}"] for number in range(1, len(entry.get) + 1)] == list(entry.get)
        assert "note" not in found or found["note"] == entry.note


def test_similarity_is_that_of_the_library(command, files):
    # More words than the other tests have, for neighbours.
    rows = [f"w{n} {n % 5 - 1.3:.2f} {n % 7 - 2.1:.2f} {n % 3 + 0.2:.2f} {n / 9:.3f}" for n in range(30)]
    files.write("words.txt", rows)
    given = "similarity w3 w12 --vectors words.txt --vectors-postprocess mean,pc:1"
    (row,) = scored(command, *given.split(), "--neighbours", 9, name="embeddings")["rows"]
    measure = WordMeasure(vectors_postprocess="mean,pc:1", neighbours=9)
    expected = compare_words(open_vectors("words.txt"), "w3", "w12", measure)
    assert row == {"one": "w3", "other": "w12", "similarity": expected.similarity, "percentile": expected.percentile}


GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "encoders"


@pytest.fixture(autouse=True)
def _few_pairs(monkeypatch):
    for module in ("embeddings.measure", "encoders.stored"):
        monkeypatch.setattr(f"softbleu.{module}.PAIRS", 100)


def test_options_reach_the_store(command, files):
    files.write("wanted.txt", ["the", "", "dog", "a", "absent", "dog"])
    given = ("vectors.txt", "store", "--dtype", "float32", "--vocabulary", "wanted.txt", "--limit", 2)
    about = ("--name", "tiny", "--source", "made up", "--licence", "CC0-1.0", "--keep-lengths")
    rows = [tuple(row.values()) for row in table_of(command("embeddings", "convert", *given, *about, "-f", "json"))]
    assert (rows[0], rows[-1][:2]) == (("kept", 2, None), ("passed over", 3))
    meta = json.loads(Path("store/meta.json").read_text())
    keys = ("name", "source", "licence", "dtype", "count", "normalisation")
    assert [meta[key] for key in keys] == ["tiny", "made up", "CC0-1.0", "float32", 2, "none"]
    words, rows = open_vectors("store").head()
    assert words == ["dog", "a"]
    np.testing.assert_array_equal(rows, np.array([[0, 1, 0.1], [0.1, 0, 1]], np.float32))


@pytest.mark.usefixtures("files")
def test_a_model_becomes_an_encoder(command):
    options = ["--layers", "1", "--dtype", "int8", "--name", "tiny", "--licence", "CC0-1.0"]
    found = scored(command, "convert", GOLDEN / "roberta", "store", *options, name="embeddings")
    assert (found["store"], found["dtype"], found["recommended"]) == ("store", "int8", "1")
    assert found["rows"] == [{"what": "kept", "layers": 1}, {"what": "left out", "layers": 1}]
    encoder = open_encoder("store")
    assert (encoder.depth, encoder.layers) == (1, (1,))
    facts = scored(command, "info", "store", "--verify", name="embeddings")
    assert (facts["kind"], facts["family"], facts["licence"]) == ("encoder", "roberta", "CC0-1.0")
    assert (facts["sha256"], facts["verified"]) == (encoder.fingerprint, "yes")


def test_a_map_is_learned_in_as_many_passes_as_are_named(command, files):
    usual = TrainingSettings().epochs
    sentences = ["the cat sat", "a dog barked", "the cat barked", "a dog sat", "the dog sat", "a cat barked"] * 10
    rows = [f"{number % 7}\t{sentences[number]}\t{sentences[-1 - number]}" for number in range(60)]
    files.write("judged.tsv", ["human\tmt\tref", *rows])
    for options, passes in (([], PASSES), (["--epochs", usual], usual)):
        done = command("embeddings", "train", "judged.tsv", "--map", "glove-6b-100d", "-o", f"{passes}.npz", *options)
        assert (done.code, VectorMap.of(f"{passes}.npz").facts["passes"]) == (0, passes)
    assert usual != PASSES


def test_every_setting_of_training_is_an_option(command, files):
    settings = TrainingSettings("fasttext", "cbow", 6, 2, 2, 2, 3, True, 0.01, 0.04, 0.002, 2, 4, 70, 11, 2)
    values = asdict(settings)
    assert all(values[field.name] != field.default for field in fields(TrainingSettings))
    options = []
    for name, value in values.items():
        options += [f"--{name.replace('_', '-')}", *([] if value is True else [value])]
    text = files.write("corpus.txt", ["The cat sat on the mat.", "A small dog barked at the cat!"] * 20)
    options += ["--tokenize", "13a", "--lowercase", "--dtype", "int8", "--name", "mine"]
    done = command("embeddings", "train", "corpus.txt", "-o", "set", *options)
    assert (done.code, done.err, done.out.split()[:2]) == (0, "", ["store", "set"])
    meta = json.loads(Path("set/meta.json").read_text())
    digests = {"corpus.txt": sha256(text.read_bytes()).hexdigest()}
    assert (meta["dtype"], meta["name"], meta["source"]) == ("int8", "mine", "corpus.txt")
    training = meta["training"]
    assert (training["settings"], training["words"], training["corpus"]) == (values, 12, digests)
    assert (training["tokenizer"], training["lowercase"]) == ("13a", True)
    assert command("score", *TEXTS, "-m", "vleu(threshold=0.8)", "--vectors", "set").code == 0


@pytest.mark.usefixtures("files")
def test_words_from_standard_input(command: Any) -> None:
    def rows(*options: object) -> list[list[str]]:
        given = ("--vectors", "vectors.txt", *options)
        done = command("embeddings", "neighbours", *given, "-f", "tsv", stdin=b"dog\r\n\n  small \n")
        assert (done.code, done.err) == (0, "")
        header, *found = (line.split("\t") for line in done.out.splitlines())
        assert header == ["query", "rank", "word", "similarity"]
        return found

    words = [["dog", "1", "hound"], ["small", "1", "little"]]
    assert [row[:3] for row in rows("-k", 1)] == [row[:3] for row in rows("-", "-k", 1)] == words
    assert float(rows("small", "-k", 1)[0][3]) == pytest.approx(0.92 / (1.01 * 0.85) ** 0.5, abs=1e-6)
    assert {row[2] for row in rows("dog", "--limit", 2)} == {"small", "little"}
