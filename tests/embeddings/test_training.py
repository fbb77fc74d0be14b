import bz2
import gzip
import hashlib
import json
import os
import subprocess
import sys
import tracemalloc
from collections import Counter

import numpy as np
import pytest
from refusing import refused

from softbleu.embeddings import open_vectors
from softbleu.embeddings.store import store_fingerprint
from softbleu.embeddings.training import LONGEST_SEGMENT, TrainingSettings, train_vectors
from softbleu.errors import InputError, SoftbleuError, VectorError
from softbleu.io.streams import TextCorpus

SMALL = TrainingSettings(dimension=8, min_count=1, epochs=2, bucket=50)


def make_text(segments=400, seed=5):
    """Two topics: words of one never meet those of the other."""
    generator = np.random.default_rng(seed)
    topics = [[f"{topic}{number}" for number in range(6)] for topic in ("sea", "hill")]
    return [list(generator.choice(topics[number % 2], 8)) for number in range(segments)]


@pytest.mark.parametrize("algorithm", ["word2vec", "fasttext"])
@pytest.mark.parametrize(("architecture", "hierarchical"), [("skipgram", True), ("cbow", False)])
def test_gensim_gets_every_setting(algorithm, architecture, hierarchical, monkeypatch, tmp_path):
    import gensim.models

    kind = {"word2vec": "Word2Vec", "fasttext": "FastText"}[algorithm]
    made, make = [], getattr(gensim.models, kind)
    monkeypatch.setattr(gensim.models, kind, lambda **options: made.append(make(**options)) or made[0])
    same = {"window": 3, "min_count": 2, "epochs": 3, "negative": 4, "sample": 0.01, "alpha": 0.04}
    same |= {"min_alpha": 0.002, "seed": 11, "workers": 2}
    own = {"dimension": 9, "hierarchical_softmax": hierarchical, "min_ngram": 2, "max_ngram": 5, "bucket": 70}
    train_vectors(make_text(40), tmp_path / "set", TrainingSettings(algorithm, architecture, **same, **own))
    (model,) = made
    assert {name: getattr(model, name) for name in same} == same
    assert (model.sg, model.hs, model.vector_size) == (int(architecture == "skipgram"), int(hierarchical), 9)
    if algorithm == "fasttext":
        assert (model.wv.min_n, model.wv.max_n, model.wv.bucket) == (2, 5, 70)


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


SCRIPT = """
import sys
from softbleu.embeddings.training import TrainingSettings, train_vectors
from softbleu.io.streams import TextCorpus
settings = TrainingSettings(sys.argv[3], dimension=8, min_count=1, epochs=2, bucket=50)
train_vectors(TextCorpus([sys.argv[1]], str.split), sys.argv[2], settings, name="set")
"""


@pytest.mark.parametrize("algorithm", ["word2vec", "fasttext"])
def test_same_bytes_for_the_same_seed(algorithm, tmp_path, capfd):
    def train(name, seed):
        settings = TrainingSettings(algorithm, dimension=8, min_count=1, epochs=2, bucket=50, seed=seed)
        train_vectors(make_text(40), tmp_path / name, settings)
        return (tmp_path / name / "vectors.npy").read_bytes()

    first = train("first", 3)
    assert train("second", 3) == first
    assert train("other", 4) != first
    # gensim says nothing either.
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["word2vec", "fasttext"])
def test_same_bytes_in_any_process(algorithm, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("".join(f"{' '.join(segment)}\n" for segment in make_text(200)))

    def train(hash_seed):
        target = tmp_path / hash_seed
        command = [sys.executable, "-W", "error", "-c", SCRIPT, str(text), str(target), algorithm]
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        return {path.name: path.read_bytes() for path in target.iterdir()}

    first = train("1")
    assert set(first) == {"meta.json", "vectors.npy", "vocab.txt"}
    assert train("2") == first


@pytest.mark.slow
def test_the_text_is_never_held(tmp_path, monkeypatch):
    """Of 25 times the text, memory holds no more."""
    monkeypatch.setattr("softbleu.embeddings.training.measure_store", lambda place: {})
    peaks = []
    for name, times in (("small", 20), ("large", 500)):
        path = tmp_path / f"{name}.txt"
        path.write_text("".join(f"{' '.join(segment)}\n" for segment in make_text(40)) * times)
        tracemalloc.start()
        train_vectors(TextCorpus([path], str.split), tmp_path / name, SMALL)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # The tokens of the larger text are 160,000 strings: 9 MB.
    assert peaks[1] - peaks[0] < 4_000_000, peaks


def test_meta_says_how_it_was_made(tmp_path):
    texts = []
    for name, pack in (("plain.txt", bytes), ("packed.txt.gz", gzip.compress), ("packed.txt.bz2", bz2.compress)):
        path = tmp_path / name
        path.write_bytes(pack(b"a rose is a rose\n\nis a rose\n"))
        texts.append(path)
    target = tmp_path / "set"
    said = {"dtype": "int8", "licence": "CC0-1.0", "tokenization": {"tokenizer": "none"}}
    training = train_vectors(TextCorpus(texts, str.split), target, SMALL, **said)
    meta = json.loads((target / "meta.json").read_text())
    assert (training.words, training.rare_words, training.segments) == (3, 0, 9)
    assert (training.tokens, training.trained_tokens) == (24, 24)
    assert training.fingerprint == meta["sha256"] == store_fingerprint(target)
    assert (meta["name"], meta["licence"], meta["dtype"]) == ("set", "CC0-1.0", "int8")
    assert meta["source"] == ", ".join(map(str, texts))
    kept = meta["training"]
    files = {each["file"]: each["sha256"] for each in kept["corpus"]}
    assert files == {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in texts}
    assert (kept["tokens"], kept["segments"], kept["settings"]["bucket"], kept["tokenizer"]) == (24, 9, 50, "none")
    assert kept["gensim"]
    assert (target / "vocab.txt").read_text() == "a\nrose\nis\n"
    rare = [["b", "a", "b", "c"]] * 20 + [["d"]] * 19
    training = train_vectors(rare, tmp_path / "rare", TrainingSettings(dimension=4, min_count=20))
    assert (training.words, training.rare_words, training.tokens, training.trained_tokens) == (3, 1, 99, 80)
    assert open_vectors(tmp_path / "rare").head()[0] == ["b", "a", "c"]


def test_progress_goes_to_the_end_and_may_end_the_training(tmp_path):
    seen = []
    text = make_text(4000)
    train_vectors(text, tmp_path / "set", SMALL, progress=lambda done, total: seen.append((done, total)))
    assert {total for _, total in seen} == {4000 * 8 * 2}
    assert (seen, len(seen)) == (sorted(seen), 6)
    assert seen[-1][0] > 60_000
    with pytest.raises(InputError, match="'no-screen'"):
        train_vectors(text, tmp_path / "other", SMALL, progress=lambda *_: {}["no-screen"])


def test_long_segments_are_not_cut_short(tmp_path):
    """Words after the ten-thousandth token of a segment are trained too: their vectors move."""
    long = [["a", "b"] * (LONGEST_SEGMENT // 2) + ["c", "d"] * 3000]

    def rows(alpha):
        settings = TrainingSettings(dimension=8, min_count=1, epochs=1, sample=0, alpha=alpha, min_alpha=1e-9)
        train_vectors(long, tmp_path / "set", settings, dtype="float32", force=True)
        return open_vectors(tmp_path / "set").select(["c", "d"]).rows

    assert np.abs(rows(0.05) - rows(1e-8)).max() > 0.01


@pytest.mark.parametrize(
    ("text", "settings", "parts"),
    [
        ([], SMALL, ["no tokens"]),
        ([[], []], SMALL, ["no tokens"]),
        ([["a", "b"], ["a"]], TrainingSettings(min_count=3), ["no word occurs 3 times", "'a'", "2", "min_count"]),
        (["a rose"], SMALL, ["segment 1", "split"]),
        ([["a", "two\nlines"]], SMALL, [r"'two\nlines'"]),
        ([["a", ""]], SMALL, ["''", "empty"]),
        ([["a", "\udcff"]], SMALL, [r"'\udcff'"]),
        ((segment for segment in make_text(3)), SMALL, ["once only"]),
    ],
)
def test_text_that_nothing_can_be_learnt_from(text, settings, parts, tmp_path):
    said = refused(InputError, "", train_vectors, text, tmp_path / "set", settings)
    assert all(part in said for part in parts), said
    assert list(tmp_path.iterdir()) == []


class Changing:
    """Gives something else the second time."""

    def __init__(self, *passes):
        self.passes = list(passes)

    def __iter__(self):
        current = self.passes.pop(0) if len(self.passes) > 1 else self.passes[0]
        if isinstance(current, Exception):
            raise current
        return iter(current)


def test_what_fails_is_told_at_once(tmp_path):
    """gensim itself would wait for ever."""
    six, missing = [["a", "b", "c"]] * 2, FileNotFoundError(2, "no such file")
    for kind, message, *passes in (
        (InputError, "had 6 tokens at first and 2 later", six, [["a", "b"]]),
        (VectorError, "gone", six, VectorError("gone")),
        (InputError, "cannot be read .strange.", six, ValueError("strange")),
        (InputError, "the corpus cannot be read .*no such file", six, missing),
        (InputError, "the corpus cannot be read .*no such file", missing),
    ):
        refused(kind, message, train_vectors, Changing(*passes), tmp_path / "set", SMALL)
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
    # Found before training.
    for place, message in ((tmp_path / "file", "no store"), (tmp_path / "file" / "set", "cannot be written")):
        with pytest.raises(VectorError, match=message):
            train_vectors(Changing(AssertionError("read")), place, SMALL, force=True)


READ = [
    ("\ufeffa\u2028b c\r\n\n d\x0ce".encode(), "utf-8", ["a\u2028b c", "", " d\x0ce"]),
    ("caf\u00e9\nth\u00e9\n".encode("utf-16"), "utf-16", ["caf\u00e9", "th\u00e9"]),
    ("caf\u00e9\n".encode("latin-1"), "latin-1", ["caf\u00e9"]),
    (b"good\nb\xffd\n", "utf-8", "line 2.*encoding"),
    ("good".encode("utf-16")[:-1], "utf-16", "not utf-16"),
    (b"good\n", "martian", "unknown encoding 'martian'"),
    (gzip.compress(b"good\n" * 99, mtime=0)[:-9], "utf-8", "damaged"),
    (bz2.compress(b"good\n" * 99)[:-9], "utf-8", "damaged"),
]


@pytest.mark.parametrize(("content", "encoding", "expected"), READ)
def test_files_are_read_as_text(content, encoding, expected, tmp_path):
    path = tmp_path / "text.txt"
    path.write_bytes(content)
    if isinstance(expected, str):
        refused(SoftbleuError, expected, lambda: list(TextCorpus([path], str.split, encoding)))
    else:
        assert list(TextCorpus([path], lambda line: [line], encoding)) == [[line] for line in expected]


def test_files_that_are_none_or_change(tmp_path):
    for files, message in (([], "no text"), ([tmp_path / "no"], "no such file"), ([tmp_path], "no regular file")):
        refused(InputError, message, TextCorpus, files, str.split)
    path = tmp_path / "text.txt"
    path.write_text("a b\n")
    corpus = TextCorpus([path], str.split)
    assert list(corpus) == [["a", "b"]]
    path.write_text("a c\n")
    refused(InputError, "changed since", list, corpus)
