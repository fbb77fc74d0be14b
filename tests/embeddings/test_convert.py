"""Conversion: every format gives the same store; what is left out is counted; what goes wrong changes nothing."""

import bz2
import errno
import gzip
import json
import os
import subprocess
import sys
import tracemalloc
from collections import Counter
from dataclasses import asdict
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from refusing import refused
from tables import each_row
from vector_files import CONTENTS, ROWS, WORDS, binary, keyed_vectors, text, write_store

from softbleu.embeddings import open_vectors
from softbleu.embeddings.convert import MOST_TOKENS, Conversion, TrainingSettings, convert_vectors, train_vectors
from softbleu.errors import InputError, VectorError

UNIT = ROWS.astype(np.float64) / np.linalg.norm(ROWS.astype(np.float64), axis=1, keepdims=True)


@pytest.fixture(autouse=True)
def _few_pairs(monkeypatch):
    """Quantiles of a million pairs take a while, and are tested elsewhere."""
    monkeypatch.setattr("softbleu.embeddings.measure.PAIRS", 100)


PACKED = {"gzip": gzip.compress(CONTENTS["binary, line breaks"]), "bzip2": bz2.compress(CONTENTS["GloVe"])}
KINDS = [*PACKED, "binary, line breaks", "word2vec text", "word2vec text, spaces at line ends", "GloVe"]
IN_MEMORY = {"KeyedVectors": keyed_vectors, "mapping": lambda words, rows: dict(zip(words, rows, strict=True))}


@pytest.fixture(params=[*KINDS, *IN_MEMORY, "store"])
def location(request, tmp_path):
    if request.param in IN_MEMORY:
        return IN_MEMORY[request.param](WORDS, ROWS)
    if request.param == "store":
        write_store(tmp_path / "source", WORDS, ROWS)
        return tmp_path / "source"
    return given(tmp_path, (CONTENTS | PACKED)[request.param])


@pytest.fixture
def converted(tmp_path):
    """Convert a source into the folder `store`, unless one is named; what was done, the words and their rows."""

    def convert(source, place="store", **options):
        done = convert_vectors(source, tmp_path / place, **{"dtype": "float32", **options})
        return done, *open_vectors(tmp_path / place).head()

    return convert


def given(tmp_path, content):
    (tmp_path / "vectors.any").write_bytes(content)
    return tmp_path / "vectors.any"


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def files(folder):
    """Content of each file, by its place."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def meta(place):
    return json.loads((place / "meta.json").read_text(encoding="utf-8"))


def words_of(place):
    return open_vectors(place).head()[0]


def test_every_format_gives_the_same_unit_rows_of_all_the_first_and_wanted_words(location, converted, tmp_path):
    done, words, rows = converted(location)
    assert (done, words) == (Conversion(8, 0, 0, 0, 0, 0, {}), WORDS)
    np.testing.assert_allclose(rows, UNIT, rtol=2e-7, atol=1e-9)
    selected = open_vectors(tmp_path / "store").select(["end", "The", "THE", "absent"])
    np.testing.assert_array_equal(selected.rows, np.vstack([rows[[7, 1, 0]], np.zeros((1, 5), np.float32)]))
    done, words, rows = converted(location, "first", limit=3)
    assert (done.words, words, meta(tmp_path / "first")["conversion"]["limit"]) == (3, WORDS[:3], 3)
    np.testing.assert_allclose(rows, UNIT[:3], rtol=2e-7, atol=1e-9)
    wanted = {"end", "THE", "日本", "absent", "the"}
    for limit, expected, passed_over in ((None, ["the", "日本", "end"], 5), (2, ["the", "日本"], 3)):
        done, words, _ = converted(location, f"{limit}", vocabulary=wanted, limit=limit)
        assert (words, done.words, done.passed_over) == (expected, len(expected), passed_over)


def test_a_store_keeps_name_source_licence_and_hash(tmp_path):
    source = given(tmp_path, CONTENTS["GloVe"])
    convert_vectors(source, tmp_path / "my set", dtype="float32", licence="PDDL-1.0")
    kept = meta(tmp_path / "my set")
    assert (kept["name"], kept["source"], kept["licence"]) == ("my set", "vectors.any", "PDDL-1.0")
    assert (kept["count"], kept["dimension"], kept["dtype"], kept["normalisation"]) == (8, 5, "float32", "unit")
    assert kept["source_sha256"] == open_vectors(source).fingerprint
    assert kept["conversion"]["words"] == 8
    convert_vectors(source, tmp_path / "other", name="n", source="somewhere", dtype="float32", normalize=False)
    kept = meta(tmp_path / "other")
    assert (kept["name"], kept["source"], kept["normalisation"]) == ("n", "somewhere", "none")
    np.testing.assert_array_equal(open_vectors(tmp_path / "other").head()[1], ROWS)
    many = given(tmp_path, b"".join(b"w%d" % n + b" 1" * 60 + b"\n" for n in range(10_000)))
    convert_vectors(many, tmp_path / "store", limit=2)
    assert meta(tmp_path / "store")["source_sha256"] == open_vectors(many).fingerprint


def test_aligned_sets_become_one(converted, tmp_path):
    """Words of the other set come behind, unless the first has them; the limit is of each set."""
    (tmp_path / "other.vec").write_bytes(text(["new", "cat", "end", "more"], ROWS[:4], header=True))
    first = given(tmp_path, CONTENTS["binary, line breaks"])
    done, words, rows = converted(first, aligned=[tmp_path / "other.vec"])
    assert words == [*WORDS, "new", "cat", "more"]
    assert (done.words, done.duplicates) == (11, 1)
    both = dict(zip(words, rows, strict=True))
    for word, row in {**dict(zip(WORDS, UNIT, strict=True)), "new": UNIT[0], "more": UNIT[3]}.items():
        np.testing.assert_allclose(both[word], row, rtol=2e-7, atol=1e-9)
    assert meta(tmp_path / "store")["source"] == "vectors.any+other.vec"
    assert converted(first, "limited", aligned=[tmp_path / "other.vec"], limit=2)[1][:3] == [*WORDS[:2], "new"]
    said = "mapping has 1 dimensions, vectors.any .*: they are not aligned"
    refused(VectorError, said, convert_vectors, first, tmp_path / "none", aligned=[{"one": [1.0]}])


@pytest.mark.parametrize("kind", ["binary", "text"])
def test_vectors_that_are_left_out_are_counted(kind, converted, tmp_path):
    words = ["cat", "dog", "cat", "nil", "nan", "inf", b"\xff\xfe", "mat", "dog", "cat"]
    rows = np.arange(1, 21, dtype=np.float32).reshape(10, 2)
    rows[3], rows[4], rows[5] = 0, np.nan, [np.inf, 1]
    content = binary(words, rows) if kind == "binary" else text(words, rows, header=True)
    done, kept, values = converted(given(tmp_path, content), normalize=False)
    assert kept == ["cat", "dog", "nil", "mat"]
    # the first row of a repeated word counts
    assert values.tolist() == [[1, 2], [3, 4], [0, 0], [15, 16]]
    examples = {"duplicates": "cat", "zero_rows": "nil", "damaged_rows": "nan", "unusable_words": "\ufffd\ufffd"}
    counts = {"words": 4, "passed_over": 0, "duplicates": 3, "zero_rows": 1, "damaged_rows": 2, "unusable_words": 1}
    assert done == Conversion(**counts, examples=examples)
    assert meta(tmp_path / "store")["conversion"]["duplicates"] == 3


def test_words_that_no_line_can_hold(converted, tmp_path):
    vectors = {"": [1.0], "a\nb": [1.0], "\udcff": [1.0], "a\rb": [2.0], "a\u2028b": [3.0], "ok": [4.0]}
    done, words, rows = converted(vectors, normalize=False)
    assert (done.words, done.unusable_words, done.examples) == (3, 3, {"unusable_words": ""})
    assert dict(zip(words, rows[:, 0].tolist(), strict=True)) == {"a\rb": 2, "a\u2028b": 3, "ok": 4}
    assert open_vectors(tmp_path / "store").select(["a\u2028b", "a\rb"]).rows[:, 0].tolist() == [3, 2]


@pytest.mark.parametrize("size", [1e-44, 1e-39, 1e-20, 1e20, 3e38])
def test_tiny_and_huge_rows_have_a_direction(size, converted):
    _, _, rows = converted({"odd": np.array([size, 0], np.float32), "usual": [0.0, 2.0]})
    np.testing.assert_allclose(rows, [[1, 0], [0, 1]], rtol=1e-6)


DAMAGED = {
    "binary, cut in a row": (CONTENTS["binary, line breaks"][:65], r"truncated at word 3 \('Ärger'\), byte \d+"),
    "GloVe, no number": (CONTENTS["GloVe"] + b"last 1 2 3 four 5\n", r"line 9"),
    **{f"{name}, cut off": (PACKED[name][:-10], "damaged packed file") for name in PACKED},
}


@pytest.mark.parametrize(("content", "message"), DAMAGED.values(), ids=DAMAGED)
def test_damage_is_named_and_nothing_written(content, message, tmp_path):
    source = given(tmp_path, content)
    convert_vectors({"old": [1.0]}, tmp_path / "store")
    before = files(tmp_path)
    assert str(source) in refused(VectorError, message, convert_vectors, source, tmp_path / "store", force=True)
    assert files(tmp_path) == before
    assert names(tmp_path) == ["store", "vectors.any"]


def test_a_store_that_has_no_room_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=79))
    source = given(tmp_path, CONTENTS["binary, line breaks"])
    said = "are needed for 8 words as float16, 0 MB are free; free some space"
    refused(VectorError, said, convert_vectors, source, tmp_path / "store")
    assert names(tmp_path) == ["vectors.any"]
    assert convert_vectors(source, tmp_path / "store", dtype="int8").words == 8


def test_force_replaces_a_store_and_keeps_other_files(tmp_path):
    place = tmp_path / "store"
    convert_vectors({"old": [1.0], "older": [2.0]}, place, dtype="int8")
    (place / "card.md").write_text("a card")
    (place / "lookup.npy").write_bytes(b"of the old vectors")
    convert_vectors({"new": [1.0, 2.0], "newer": [2.0, 1.0]}, place, dtype="float16", force=True)
    assert names(place) == ["card.md", "meta.json", "vectors.npy", "vocab.txt"]
    assert ((place / "card.md").read_text(), words_of(place)) == ("a card", ["new", "newer"])
    assert names(tmp_path) == ["store"]


def test_force_does_not_replace_what_is_no_store_and_refused_options_write_nothing(tmp_path):
    (tmp_path / "file").write_text("precious")
    (tmp_path / "folder" / "inner").mkdir(parents=True)
    for name, options, said in (
        ("file", {"force": True}, "exists and is not a store; remove it or choose another place"),
        ("folder", {"force": True}, "exists and is not a store; remove it or choose another place"),
        ("store", {"dtype": "int4"}, "unknown store type 'int4'"),
        ("store", {"vocabulary": ["absent"]}, r"no word was kept \(1 passed over\); nothing was written"),
    ):
        refused(VectorError, said, convert_vectors, {"new": [1.0]}, tmp_path / name, **options)
    assert (tmp_path / "file").read_text() == "precious"
    assert names(tmp_path) == ["file", "folder"]


def test_places_that_are_stores_by_another_name(tmp_path, monkeypatch):
    place = tmp_path / "store"
    convert_vectors({"old": [2.0], "other": [1.0]}, place, dtype="float32", normalize=False)
    convert_vectors(place, place, dtype="int8", limit=1, force=True)
    assert words_of(place) == ["old"]
    (tmp_path / "link").symlink_to("store")
    convert_vectors({"new": [1.0]}, tmp_path / "link", force=True)
    assert words_of(tmp_path / "link") == ["new"]
    monkeypatch.chdir(place)
    convert_vectors({"newest": [1.0]}, ".", force=True)
    assert words_of(place) == ["newest"]
    assert names(tmp_path) == ["link", "store"]


def test_progress_reaches_the_size_of_the_file(tmp_path):
    rows = np.random.default_rng(1).normal(size=(20_000, 30)).astype(np.float32)
    source = given(tmp_path, binary([f"w{number}" for number in range(20_000)], rows))
    seen = []
    convert_vectors(source, tmp_path / "store", progress=lambda done, size: seen.append((done, size)))
    assert len(seen) > 1
    assert {size for _, size in seen} == {source.stat().st_size}
    assert all(one[0] <= other[0] for one, other in pairwise(seen))
    assert 0 < seen[-1][0] <= source.stat().st_size


# what kills leave: that of a command ended at any step is in adversarial/steps.py


@pytest.mark.parametrize("name", ["store", "store[1]*"])
def test_drafts_that_others_left(name, dead, tmp_path):
    kept = {f".{name}.1.draft", f".other.{dead}.draft", f".{name}.12x.draft", f".{name}.{dead}.mine"}
    for left in {f".{name}.{dead}.draft", f".{name}.{os.getpid()}.draft", *kept}:
        (tmp_path / left).mkdir()
        (tmp_path / left / "vectors.npy").write_bytes(b"half")
    convert_vectors({"a": [1.0]}, tmp_path / name)
    assert set(names(tmp_path)) == {name, *kept}


def test_a_store_that_was_moved_away_is_put_back(dead, tmp_path):
    (tmp_path / "bad.txt").write_text("a 1 2\nb 1\n")
    convert_vectors({"old": [1.0]}, tmp_path / "store")
    for source, force, message in ((tmp_path / "bad.txt", True, "line 2"), ({"new": [1.0]}, False, "exists already")):
        (tmp_path / "store").rename(tmp_path / f".store.{dead}.former")
        refused(VectorError, message, convert_vectors, source, tmp_path / "store", force=force)
        assert words_of(tmp_path / "store") == ["old"]
        assert names(tmp_path) == ["bad.txt", "store"]


# ended at any step, and with files that may have no more bytes: adversarial/steps.py
STEPS = ["vectors.StoreWriter.add", "vectors.StoreWriter.finish", "convert.measure_quantiles"]


@pytest.mark.parametrize(
    "step", [*(f"softbleu.embeddings.{step}" for step in STEPS), "os.fsync", "pathlib.Path.write_text"]
)
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EFBIG])
def test_a_full_disk(number, step, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(number, os.strerror(number))

    convert_vectors({"old": [1.0]}, tmp_path / "store")
    before = files(tmp_path)
    monkeypatch.setattr(step, full)
    said = rf"store: the disk is full .*{os.strerror(number)}.*nothing was changed"
    words = {"new": [1.0, 0.0], "newer": [0.0, 1.0]}
    refused(VectorError, said, convert_vectors, words, tmp_path / "store", force=True)
    assert files(tmp_path) == before
    assert names(tmp_path) == ["store"]


#


SMALL = TrainingSettings(dimension=8, min_count=1, epochs=2, bucket=50)
ALL = TrainingSettings("fasttext", "cbow", 6, 2, 2, 2, 3, True, 0.01, 0.04, 0.002, 2, 4, 70, 11, 2)


def make_text(segments=400, seed=5):
    """Two topics: words of one never meet those of the other."""
    generator = np.random.default_rng(seed)
    topics = [[f"{topic}{number}" for number in range(6)] for topic in ("sea", "hill")]
    return [list(generator.choice(topics[number % 2], 8)) for number in range(segments)]


@pytest.mark.parametrize("settings", [ALL, TrainingSettings(dimension=9, min_count=2, hierarchical_softmax=True)])
def test_gensim_gets_every_setting(settings):
    model, values = settings.model(), asdict(settings)
    same = ("window", "min_count", "epochs", "negative", "sample", "alpha", "min_alpha", "seed", "workers")
    assert {name: getattr(model, name) for name in same} == {name: values[name] for name in same}
    kind = (type(model).__name__.lower(), model.sg, model.hs, model.vector_size)
    skip, hierarchical = settings.architecture == "skipgram", settings.hierarchical_softmax
    assert kind == (settings.algorithm, int(skip), int(hierarchical), settings.dimension)
    if settings.algorithm == "fasttext":
        assert (model.wv.min_n, model.wv.max_n, model.wv.bucket) == (2, 4, 70)


def test_vectors_are_those_that_gensim_trains(tmp_path):
    """The same by gensim alone, words in the order given here."""
    from gensim.models import Word2Vec

    text = make_text(200)
    train_vectors(text, tmp_path / "set", SMALL, dtype="float32")
    words, rows = open_vectors(tmp_path / "set").head()
    counts = Counter(word for segment in text for word in segment)
    assert words == sorted(counts, key=lambda word: (-counts[word], word))
    plain = Word2Vec(vector_size=8, min_count=1, sg=1, workers=1, seed=1, sorted_vocab=0)
    plain.build_vocab_from_freq({word: counts[word] for word in words}, corpus_count=len(text))
    plain.train(text, total_examples=len(text), total_words=counts.total(), epochs=2)
    expected = plain.wv.vectors / np.linalg.norm(plain.wv.vectors, axis=1, keepdims=True)
    np.testing.assert_allclose(rows, expected, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["word2vec", "fasttext"])
def test_same_bytes_for_the_same_seed_in_any_process(algorithm, tmp_path, capfd):
    def train(name, seed):
        settings = TrainingSettings(algorithm, dimension=8, min_count=1, epochs=2, bucket=50, seed=seed)
        train_vectors(make_text(40), tmp_path / name, settings, name="set", source="text")
        return (tmp_path / name / "vectors.npy").read_bytes()

    first = train("first", 3)
    assert train("other", 4) != first
    # gensim says nothing either.
    assert capfd.readouterr() == ("", "")
    text = tmp_path / "text"
    text.write_text("".join(f"{' '.join(segment)}\n" for segment in make_text(40)))
    options = f"--algorithm {algorithm} --dimension 8 --min-count 1 --epochs 2 --bucket 50 --seed 3 --quiet"
    line = [sys.executable, "-m", "softbleu", "embeddings", "train", text, "-o", tmp_path / "again", *options.split()]
    subprocess.run(line, env={**os.environ, "PYTHONHASHSEED": "7"}, capture_output=True, check=True)
    assert (tmp_path / "again" / "vectors.npy").read_bytes() == first


@pytest.mark.slow
def test_the_text_is_never_held(tmp_path):
    """Of 25 times the text, memory holds no more."""
    peaks = []
    for times in (20, 500):
        tracemalloc.start()
        text = (list(segment) for _ in range(times) for segment in make_text(40))
        train_vectors(text, tmp_path / str(times), SMALL)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # The tokens of the larger text are 160,000 strings: 9 MB.
    assert peaks[1] - peaks[0] < 4_000_000, peaks


def test_meta_says_how_it_was_made(tmp_path):
    seen = []
    corpus = [["a", "rose", "is", "a", "rose"], [], ["is", "a", "rose"]] * 3
    said = {"dtype": "int8", "licence": "CC0-1.0", "source": "made up", "facts": {"tokenizer": "none"}}
    training = train_vectors(corpus, tmp_path / "set", SMALL, progress=lambda *done: seen.append(done), **said)
    assert tuple(asdict(training).values()) == (3, 0, 9, 24, 24)
    made = meta(tmp_path / "set")
    assert [made[name] for name in ("name", "source", "licence", "dtype")] == ["set", "made up", "CC0-1.0", "int8"]
    kept = made["training"]
    assert (kept["tokens"], kept["segments"], kept["settings"], kept["tokenizer"]) == (24, 9, asdict(SMALL), "none")
    assert kept["gensim"]
    assert (tmp_path / "set" / "vocab.txt").read_text() == "a\nrose\nis\n"
    assert seen == [(1, 2), (2, 2)]
    rare = [["b", "a", "b", "c"]] * 20 + [["d"]] * 19
    training = train_vectors(rare, tmp_path / "rare", TrainingSettings(dimension=4, min_count=20))
    assert (training.words, training.rare_words, training.tokens, training.trained_tokens) == (3, 1, 99, 80)
    assert words_of(tmp_path / "rare") == ["b", "a", "c"]


def test_long_segments_are_not_cut_short(tmp_path):
    """Words after the ten-thousandth token of a segment are trained too: their vectors move."""
    long = [["a", "b"] * (MOST_TOKENS // 2) + ["c", "d"] * 3000]

    def rows(alpha):
        settings = TrainingSettings(dimension=8, min_count=1, epochs=1, sample=0, alpha=alpha, min_alpha=1e-9)
        train_vectors(long, tmp_path / "set", settings, dtype="float32", force=True)
        return open_vectors(tmp_path / "set").select(["c", "d"]).rows

    assert np.abs(rows(0.05) - rows(1e-8)).max() > 0.01


@each_row("embeddings/refusals.toml", "text", "says", table="corpora", least=1)
def test_text_that_nothing_can_be_learnt_from(text, says, least, tmp_path):
    settings = TrainingSettings(min_count=least)
    refused(InputError, says, train_vectors, text, tmp_path / "set", settings)
    refused(InputError, "valid Unicode", train_vectors, [["a", "\udcff"]], tmp_path / "set", SMALL)
    assert list(tmp_path.iterdir()) == []


@each_row("embeddings/refusals.toml", "given", "says", table="settings")
def test_settings_that_cannot_be(given, says):
    refused(InputError, says, TrainingSettings, **given)


def test_a_place_that_is_taken(tmp_path):
    target = tmp_path / "set"
    train_vectors(make_text(20), target, SMALL)
    before = files(target)
    refused(VectorError, "exists already", train_vectors, make_text(30), target, SMALL)
    assert files(target) == before
    train_vectors(make_text(30), target, SMALL, force=True)
    assert files(target)[target / "vectors.npy"] != before[target / "vectors.npy"]
    (tmp_path / "file").write_text("")
    # Found before the text is read.
    refused(VectorError, "not a store", train_vectors, iter([1]), tmp_path / "file", SMALL, force=True)
