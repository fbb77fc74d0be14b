import json
import os
import subprocess
import sys
import tracemalloc
from collections import Counter
from dataclasses import asdict

import numpy as np
import pytest
from refusing import refused

from softbleu.embeddings import open_vectors
from softbleu.embeddings.training import MOST_TOKENS, TrainingSettings, train_vectors
from softbleu.errors import InputError, VectorError

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


def test_words_that_meet_are_alike(tmp_path):
    settings = TrainingSettings(dimension=8, epochs=20, alpha=0.1)
    train_vectors(make_text(2000), tmp_path / "set", settings)
    words, rows = open_vectors(tmp_path / "set").head()
    sea = np.array([word.startswith("sea") for word in words])
    cosines = rows @ rows.T
    assert cosines[np.ix_(sea, sea)].min() > cosines[np.ix_(sea, ~sea)].max()


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
    meta = json.loads((tmp_path / "set" / "meta.json").read_text())
    assert tuple(asdict(training).values()) == (3, 0, 9, 24, 24)
    assert (meta["name"], meta["source"], meta["licence"], meta["dtype"]) == ("set", "made up", "CC0-1.0", "int8")
    kept = meta["training"]
    assert (kept["tokens"], kept["segments"], kept["settings"], kept["tokenizer"]) == (24, 9, asdict(SMALL), "none")
    assert kept["gensim"]
    assert (tmp_path / "set" / "vocab.txt").read_text() == "a\nrose\nis\n"
    assert seen == [(1, 2), (2, 2)]
    rare = [["b", "a", "b", "c"]] * 20 + [["d"]] * 19
    training = train_vectors(rare, tmp_path / "rare", TrainingSettings(dimension=4, min_count=20))
    assert (training.words, training.rare_words, training.tokens, training.trained_tokens) == (3, 1, 99, 80)
    assert open_vectors(tmp_path / "rare").head()[0] == ["b", "a", "c"]


def test_long_segments_are_not_cut_short(tmp_path):
    """Words after the ten-thousandth token of a segment are trained too: their vectors move."""
    long = [["a", "b"] * (MOST_TOKENS // 2) + ["c", "d"] * 3000]

    def rows(alpha):
        settings = TrainingSettings(dimension=8, min_count=1, epochs=1, sample=0, alpha=alpha, min_alpha=1e-9)
        train_vectors(long, tmp_path / "set", settings, dtype="float32", force=True)
        return open_vectors(tmp_path / "set").select(["c", "d"]).rows

    assert np.abs(rows(0.05) - rows(1e-8)).max() > 0.01


@pytest.mark.parametrize(
    ("text", "settings", "message"),
    [
        ([], SMALL, "no tokens"),
        ([[], []], SMALL, "no tokens"),
        ([["a", "b"], ["a"]], TrainingSettings(min_count=3), "no word occurs 3 times .'a' comes next, 2.*min_count"),
        (["a rose"], SMALL, "segment 1.*split"),
        ([["a", "two\nlines"]], SMALL, r"'two\\nlines'"),
        ([["a", ""]], SMALL, "'' is empty"),
        ([["a", "\udcff"]], SMALL, "segment 1: a token is no valid Unicode"),
    ],
)
def test_text_that_nothing_can_be_learnt_from(text, settings, message, tmp_path):
    refused(InputError, message, train_vectors, text, tmp_path / "set", settings)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dimension": 0}, "dimension must lie between 1 and 10000, not 0"),
        ({"sample": float("nan")}, "sample must lie between 0 and 1, not nan"),
        ({"alpha": 0.0}, "learning rates"),
        ({"alpha": 0.01, "min_alpha": 0.02}, "learning rates"),
        ({"min_ngram": 4, "max_ngram": 3}, "longest n-gram"),
        ({"workers": 10**20}, "workers must lie between 1 and 256, not 1e\\+20"),
        ({"epochs": 1.5}, "epochs must be a whole number, not 1.5"),
        ({"architecture": "skip"}, "unknown architecture 'skip'"),
    ],
)
def test_settings_that_cannot_be(options, message):
    refused(InputError, message, lambda: TrainingSettings(**options))


def test_a_place_that_is_taken(tmp_path):
    target = tmp_path / "set"
    train_vectors(make_text(20), target, SMALL)
    before = {path.name: path.read_bytes() for path in target.iterdir()}
    refused(VectorError, "exists already", lambda: train_vectors(make_text(30), target, SMALL))
    assert {path.name: path.read_bytes() for path in target.iterdir()} == before
    train_vectors(make_text(30), target, SMALL, force=True)
    assert (target / "vectors.npy").read_bytes() != before["vectors.npy"]
    (tmp_path / "file").write_text("")
    # Found before the text is read.
    with pytest.raises(VectorError, match="no store"):
        train_vectors(iter([1]), tmp_path / "file", SMALL, force=True)
