"""The runner: jobs, executors, kernels, progress, coverage and signatures."""

from __future__ import annotations

import multiprocessing
import random
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import fields, replace
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from complete import complete
from made_up_encoder import MadeUpEncoder

from softbleu import InputError, __version__
from softbleu.config.signature import parse_signature
from softbleu.corpora import ParallelFiles, Segments
from softbleu.corpora.m2 import Annotation, GoldSegment
from softbleu.embeddings import DEFAULT_VECTORS
from softbleu.embeddings.measure import WordMeasure
from softbleu.io.executors import run_in_order
from softbleu.kernels import KernelName
from softbleu.language import train_ngrams, write_arpa
from softbleu.matching import Matcher, make_matcher
from softbleu.metrics import Bleu, Metric
from softbleu.metrics.base import every_setting
from softbleu.metrics.making import make_metric
from softbleu.results import Result, VectorChoice, score_corpus
from softbleu.text.tokens import Tokenizer

WORDS = ["cat", "dog", "Dog", "mat", "naïve", "the", "日本", "oov", "nil", "it's"]
VECTORS = {word: [float(number), 1.0, -2.0] for number, word in enumerate(WORDS[:-3])} | {"nil": [0.0] * 3}
CHOICE = VectorChoice(VECTORS)
SEGMENTS = 50


class Inline(Executor):
    """An executor of one's own: does the work at once, and counts it."""

    def __init__(self) -> None:
        self.tasks = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.tasks += 1
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("corpora.segments", "corpora.parallel", "engine.runner"):
        monkeypatch.setattr(f"softbleu.{module}.BLOCK", 8)


def lines(seed: int) -> list[str]:
    choose = random.Random(seed)
    return [" ".join(choose.choices(WORDS, k=choose.randint(0, 12))) for _ in range(SEGMENTS)]


def in_memory() -> Segments:
    return Segments.of({"one": lines(1), "two": lines(2)}, list(zip(lines(3), lines(4), strict=True)))


@pytest.fixture
def files(tmp_path: Path) -> Iterator[ParallelFiles]:
    names = []
    for seed in range(1, 5):
        names.append(str(tmp_path / f"{seed}.txt"))
        Path(names[-1]).write_text("\n".join(lines(seed)), encoding="utf-8")
    with ParallelFiles.open({"one": names[0], "two": names[1]}, names[2:]) as corpus:
        yield corpus


def measure_of(metric: Bleu, choice: VectorChoice = CHOICE) -> Metric:
    return complete(metric, Tokenizer(), choice)


METRICS = [
    Bleu(),
    Bleu(make_matcher("vleu", threshold=0.3)),
    Bleu(make_matcher("xleu", assignment="sequential", consumption="similarity"), denominator="reference"),
]
each_metric = pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.matcher.name)
each_level = pytest.mark.parametrize("level", ["corpus", "segment"])


@each_metric
@each_level
@pytest.mark.parametrize("tokenize", ["none", "13a"])
def test_files_and_memory_agree(metric: Bleu, level: Any, tokenize: str, files: ParallelFiles) -> None:
    measure = complete(metric, Tokenizer(tokenize), CHOICE)
    expected = score_corpus(in_memory(), measure, level=level)
    assert score_corpus(files, measure, level=level) == expected
    assert expected[0].score > 0
    assert expected[0].score != expected[1].score


@each_metric
@each_level
@pytest.mark.parametrize("kernels", ["numpy", "numba"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_kernels_and_jobs_agree(
    metric: Bleu, level: Any, kernels: KernelName, jobs: int, files: ParallelFiles
) -> None:
    if kernels == "numba":
        pytest.importorskip("numba", reason="numba (extra 'fast') is missing")
    expected = score_corpus(in_memory(), measure_of(metric), level=level)
    for corpus in (files, in_memory()):
        found = score_corpus(corpus, measure_of(metric), level=level, kernels=kernels, jobs=jobs)
        assert found == expected


@pytest.fixture(scope="module", params=["threads", "processes", "own"])
def executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    executors: dict[str, Callable[[], Executor]] = {
        "threads": lambda: ThreadPoolExecutor(3),
        "processes": lambda: ProcessPoolExecutor(2, multiprocessing.get_context("spawn")),
        "own": Inline,
    }
    with executors[request.param]() as made:
        yield made


@each_metric
@each_level
def test_executors_agree(metric: Bleu, level: Any, executor: Executor, files: ParallelFiles) -> None:
    expected = score_corpus(in_memory(), measure_of(metric), level=level)
    for corpus in (files, in_memory()):
        found = score_corpus(corpus, measure_of(metric), level=level, executor=executor)
        assert found == expected
        assert executor.submit(len, "still open").result() == 10


@each_metric
def test_an_executor_does_all_blocks(metric: Bleu) -> None:
    executor = Inline()
    # Who has not been sent the words yet asks for them, and is given the same again.
    score_corpus(in_memory(), measure_of(metric), executor=Inline())
    score_corpus(in_memory(), measure_of(metric), executor=executor)
    # A worker is first given a quarter of what there is, in whole blocks.
    errands = len([16, 8, 8, 8, 8, 2])
    # With vectors there is a pass before, for the words.
    assert executor.tasks == (2 * errands if metric.requires.vectors else errands)


def test_a_tokenizer_that_was_used_before_still_travels() -> None:
    tokenizer = Tokenizer("13a")
    tokenizer.split("it's used")
    expected = score_corpus(in_memory(), complete(Bleu(), Tokenizer("13a")))
    assert score_corpus(in_memory(), complete(Bleu(), tokenizer), jobs=2) == expected


def test_errors_of_workers_arrive(tmp_path: Path) -> None:
    path = tmp_path / "bad.txt"
    path.write_bytes(b"a\n" * 20 + b"\xff\n")
    with (
        ParallelFiles.open([str(path)], [str(path)]) as corpus,
        pytest.raises(InputError, match=r"bad\.txt, line 21, byte 1: not UTF-8"),
    ):
        score_corpus(corpus, Bleu(), jobs=2)


@pytest.mark.parametrize("jobs", [1, 2])
@each_metric
def test_progress(metric: Bleu, jobs: int) -> None:
    seen: list[tuple[int, int]] = []
    score_corpus(in_memory(), measure_of(metric), jobs=jobs, progress=lambda *step: seen.append(step))
    # With two jobs the first errand has two blocks.
    assert seen == [(done, SEGMENTS) for done in (8, 16, 24, 32, 40, 48, 50)][jobs - 1 :]


def test_only_so_many_tasks_wait_and_the_order_is_kept() -> None:
    waiting, most = 0, 0

    def tasks() -> Iterator[int]:
        nonlocal waiting, most
        for number in range(20):
            waiting += 1
            most = max(most, waiting)
            yield number

    found = []
    with ThreadPoolExecutor(2) as executor:
        for square in run_in_order(lambda number: number * number, tasks(), executor):
            waiting -= 1
            found.append(square)
    assert found == [number * number for number in range(20)]
    assert most <= 5


@pytest.mark.parametrize("workers", [1, 2, 8])
def test_every_worker_of_an_executor_has_a_task(workers: int) -> None:
    """Each task waits until as many are under way as there are workers: with fewer it would break."""
    together = Barrier(workers)

    def work(number: int) -> int:
        together.wait(timeout=20)
        return number

    with ThreadPoolExecutor(workers) as executor:
        assert list(run_in_order(work, range(3 * workers), executor)) == list(range(3 * workers))


@pytest.mark.parametrize("metric", METRICS)
def test_the_number_of_workers_changes_no_digit(metric: Bleu) -> None:
    alone = score_corpus(in_memory(), measure_of(metric), level="segment")
    for workers in (2, 8):
        with ThreadPoolExecutor(workers) as executor:
            assert score_corpus(in_memory(), measure_of(metric), level="segment", executor=executor) == alone


def test_tasks_left_over_are_cancelled_when_the_reader_stops() -> None:
    class Idle(Executor):
        _max_workers = 1
        futures: list[Future[Any]] = []  # noqa: RUF012

        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            future: Future[Any] = Future()
            if not self.futures:
                # Several tasks make one errand.
                future.set_result([7])
            self.futures.append(future)
            return future

    executor = Idle()
    results = run_in_order(len, ["a"] * 9, executor)
    assert next(results) == 7
    results.close()  # type: ignore[attr-defined]
    assert len(executor.futures) == 2
    assert executor.futures[1].cancelled()


def test_a_soft_matcher_without_vectors_takes_the_usual_ones() -> None:
    """It must not turn into an exact one in silence."""
    result = score_corpus(in_memory(), METRICS[1])[0]
    assert pairs_of(result.signature)["vectors"].startswith(f"{DEFAULT_VECTORS}#")
    assert result.coverage is not None


# coverage


def test_coverage_counts_tokens_with_a_vector() -> None:
    corpus = Segments.of(["cat oov DOG", "", "nil cat"], [["cat cat", "x"], [""], ["nil dog"]])
    result = score_corpus(corpus, measure_of(METRICS[1]))[0]
    assert result.coverage is not None
    assert result.coverage.as_dict() == {
        "candidate": {"tokens": 5, "known": 3},
        "reference": {"tokens": 5, "known": 3},
        "zero_words": 1,
    }
    exact_case = score_corpus(corpus, measure_of(METRICS[1], replace(CHOICE, vector_case="exact")))[0].coverage
    assert exact_case is not None
    assert exact_case.candidate_known == 2


@each_level
def test_coverage_is_that_of_the_texts(level: Any) -> None:
    corpus = in_memory()
    known = {word for word, vector in VECTORS.items() if any(vector)}
    results = score_corpus(corpus, measure_of(METRICS[1]), level=level)
    references = [word for texts in corpus.references for text in texts for word in text.split()]
    for result in results:
        tokens = [word for text in corpus.candidates[result.name] for word in text.split()]
        assert result.coverage is not None
        assert result.coverage.as_dict() == {
            "candidate": {"tokens": len(tokens), "known": sum(word in known for word in tokens)},
            "reference": {"tokens": len(references), "known": sum(word in known for word in references)},
            "zero_words": 1,
        }


def test_no_coverage_where_no_vector_was_looked_at() -> None:
    for matcher in (make_matcher("exact"), make_matcher("vleu", threshold=1.0)):
        assert score_corpus(in_memory(), measure_of(Bleu(matcher)))[0].coverage is None


def test_raw_norms_of_one_system_do_not_weigh_in_another() -> None:
    """The mean norm that words without a vector get must not depend on what else is scored in the same call."""
    vectors = {"cat": [3.0, 0.0], "dog": [1.0, 1.0], "far": [50.0, 50.0]}
    raw = measure_of(METRICS[1], VectorChoice(vectors, normalize=False))
    alone = score_corpus(Segments.of({"A": ["cat u"]}, ["dog u"]), raw)
    beside = score_corpus(Segments.of({"A": ["cat u"], "B": ["far"]}, ["dog u"]), raw)
    assert beside[0].score == alone[0].score


# signatures


def pairs_of(signature: str) -> dict[str, str]:
    pairs = dict(part.split(":", 1) for part in signature.split("|"))
    assert len(pairs) == signature.count("|") + 1, "no key twice"
    return pairs


def signature(metric: Bleu, tokenizer: Tokenizer = Tokenizer(), choice: VectorChoice = CHOICE) -> str:  # noqa: B008
    return score_corpus(in_memory(), complete(metric, tokenizer, choice))[0].signature


IN_CONTEXT = {"layers": "1", "exact_words": "one"}
OTHER_VALUES: dict[type, dict[str, Any]] = {
    Bleu: {
        "matcher": make_matcher("xleu"),
        "order": 3,
        "smooth": "none",
        "smooth_value": 0.25,
        "effective_order": True,
        "denominator": "all",
    },
    Matcher: {
        "threshold": 0.125,
        "assignment": "sequential",
        "consumption": "similarity",
        "composition": "aligned",
    },
    Tokenizer: {"tokenize": "13a", "lowercase": True},
    VectorChoice: {
        "vectors": {"cat": [1.0, 2.0]},
        "vector_case": "exact",
        "normalize": False,
        **IN_CONTEXT,
        "measure": WordMeasure("csls"),
        "quantile": "p99",
    },
    WordMeasure: {
        "similarity": "csls",
        "vectors_postprocess": "mean",
        "neighbours": 1,
        "mutual": True,
        "function_words": "exact",
    },
}
SOFT = Bleu(make_matcher("vleu", threshold=0.0), smooth="floor")


def names_of(kind: type | Any) -> list[str]:
    return [field.name for field in fields(kind) if field.name not in ("tokenizer", "vector_choice")]


def test_every_field_has_another_value_here() -> None:
    """A new field needs a line above, and so a place in the signature."""
    assert list(OTHER_VALUES[Bleu]) == names_of(Bleu)
    assert list(OTHER_VALUES[Tokenizer]) == names_of(Tokenizer)
    assert list(OTHER_VALUES[VectorChoice]) == names_of(VectorChoice)
    assert list(OTHER_VALUES[WordMeasure]) == names_of(WordMeasure)
    for name in ("sleu", "vleu", "xleu"):
        assert list(OTHER_VALUES[Matcher]) == names_of(make_matcher(name))
    assert names_of(make_matcher("exact")) == []


@pytest.mark.parametrize("name", names_of(Bleu))
def test_the_signature_has_every_field_of_the_metric(name: str) -> None:
    assert signature(replace(SOFT, **{name: OTHER_VALUES[Bleu][name]})) != signature(SOFT)


@pytest.mark.parametrize("name", OTHER_VALUES[Matcher])
def test_the_signature_has_every_field_of_the_matcher(name: str) -> None:
    other = replace(SOFT, matcher=replace(SOFT.matcher, **{name: OTHER_VALUES[Matcher][name]}))
    assert signature(other) != signature(SOFT)


@pytest.mark.parametrize("name", names_of(Tokenizer))
def test_the_signature_has_every_field_of_the_tokenizer(name: str) -> None:
    other = replace(Tokenizer(), **{name: OTHER_VALUES[Tokenizer][name]})
    assert signature(SOFT, other) != signature(SOFT)


@pytest.mark.parametrize("name", names_of(VectorChoice))
def test_the_signature_has_every_field_of_the_vector_choice(name: str) -> None:
    base = VectorChoice(MadeUpEncoder()) if name in IN_CONTEXT else CHOICE
    other = replace(base, **{name: OTHER_VALUES[VectorChoice][name]})
    assert signature(SOFT, choice=other) != signature(SOFT, choice=base)


@pytest.mark.parametrize("name", names_of(WordMeasure))
def test_the_signature_has_every_field_of_the_measure_of_words(name: str) -> None:
    own = WordMeasure(neighbours=2 if name == "mutual" else None)
    other = replace(own, **{name: OTHER_VALUES[WordMeasure][name]})
    one, two = (signature(SOFT, choice=replace(CHOICE, measure=measure)) for measure in (own, other))
    assert one != two


OF_GLEU = {
    "variant": "gleu0",
    "penalty": "soft",
    "weight": 2.0,
    "swapped_bp": True,
    "multi": "max",
    "iterations": 7,
    "seed": 1,
    "segment_smoothing": True,
}


OF_SOFTBLEU = {
    "beta": 2.0,
    "power": 0.5,
    "rarity": 1.0,
    "position": 0.0,
    "characters": 0.5,
    "credit": "greedy",
    "idf": __file__,
}
OF_BERTSCORE = {"average": "pieces"}
OF_CHRF = {"char_order": 4, "word_order": 1, "whitespace": True, "eps_smoothing": True}
OF_TER = dict.fromkeys(("normalized", "no_punct", "asian_support", "case_sensitive"), True)
OF_METEOR = {"task": "adq", "stages": "exact", "soft": 0.5, "soft_weight": 0.1}
OF_REFLESS = {"alpha": 0.7, "gamma": 0.1, "t": 0.3, "aggregate": "share", "detector": "harper"}
OF_HYTER = {"extra": 0.5, "replacing": "both", "window": 2, "move": 0.5, "shifts": True, "notation": "brackets"}
OF_RULES = {
    "stem_cost": 0.5,
    "synonym_cost": 0.5,
    "paraphrase_cost": 0.5,
    "neighbour_cost": 0.5,
    "optional_cost": 0.5,
    "alternatives": 2,
    "inflection": True,
    "mutual_neighbours": True,
    "neighbour_quantile": "p99",
}
OF_M2 = {"max_unchanged_words": 1, "annotators": "best"}


# Of what is read in files: tests/test_meteor.py, tests/test_known_alike.py.
FILES = {"meteor_data", "synonyms", "paraphrases", "network_vectors", "language_model", "coefficients"}


def signatures(base: dict[str, Any], **changes: Any) -> list[str]:
    both = (base, {**base, **changes})
    return [make_metric(**settings).signature(vectors=None, level="corpus", nrefs=1) for settings in both]


@pytest.mark.parametrize("name", OF_RULES)
def test_the_signature_names_what_makes_networks(name: str) -> None:
    first, changed = signatures({"metric": "hyter", "stem_cost": 1.0}, **{name: OF_RULES[name]})
    assert changed != first


def test_the_signature_names_language_models(tmp_path: Path) -> None:
    write_arpa(train_ngrams([["a", "cat"], ["a", "dog"]], 2), tmp_path / "m.arpa")
    first, changed = signatures({"metric": "refless"}, language_model=str(tmp_path / "m.arpa"))
    assert changed != first


@pytest.mark.parametrize("name", sorted({*every_setting()} - FILES - OF_RULES.keys()))
def test_the_signature_shows_every_setting(name: str) -> None:
    other: dict[str, Any] = {
        **OF_GLEU,
        **OF_SOFTBLEU,
        **OF_M2,
        **OF_CHRF,
        **OF_BERTSCORE,
        **IN_CONTEXT,
        **OF_TER,
        **OF_METEOR,
        **OF_REFLESS,
        **OF_HYTER,
        "metric": "gleu",
        "matcher": "sleu",
        "tokenize": "intl",
        "lowercase": True,
        "vectors": {"cat": [1.0, 2.0]},
        "vector_case": "exact",
        "normalize": False,
        **{key: value for key, value in OTHER_VALUES[Bleu].items() if key != "matcher"},
        **OTHER_VALUES[Matcher],
        **OTHER_VALUES[WordMeasure],
        "quantile": "p99",
    }
    base: dict[str, Any] = {"matcher": "vleu", "threshold": 0.0, "smooth": "floor", "vectors": VECTORS}
    if name == "mutual":
        base["neighbours"] = 2
    if name in OF_GLEU:
        base = {"metric": "gleu", "matcher": "vleu", "threshold": 0.0, "vectors": VECTORS}
    if name in OF_SOFTBLEU:
        base = {"metric": "softbleu", "vectors": VECTORS}
    if name in OF_BERTSCORE or name in IN_CONTEXT:
        base = {"metric": "bertscore", "vectors": MadeUpEncoder()}
    if name in OF_METEOR:
        base = {"metric": "meteor", "stages": "exact+stem"}
    for metric, own in {
        "chrf": OF_CHRF,
        "ter": OF_TER,
        "refless": OF_REFLESS,
        "m2": OF_M2,
        "hyter": OF_HYTER,
    }.items():
        if name in own:
            base = {"metric": metric}
    changing = {**base, name: other[name]}
    if name == "metric":
        changing.pop("smooth")
    corpus = in_memory()
    source = [texts[0] for texts in corpus.references]
    corpus = replace(corpus, source=source, gold=[GoldSegment(text, (Annotation(0, ()),)) for text in source])
    (first, _), (changed, _) = (
        score_corpus(corpus, make_metric(**settings), level="segment" if name == "segment_smoothing" else "corpus")
        for settings in (base, changing)
    )
    assert changed.signature != first.signature


def test_the_signature_by_its_keys() -> None:
    metric = Bleu(make_matcher("vleu", threshold=0.25), smooth="floor", smooth_value=0.5)
    pairs = pairs_of(signature(metric, Tokenizer("13a")))
    fingerprint = pairs.pop("vectors")
    assert pairs == {
        "metric": "bleu",
        "matcher": "vleu",
        "threshold": "0.25",
        "assignment": "exact-first",
        "consumption": "unit",
        "composition": "mean",
        "order": "4",
        "smooth": "floor",
        "smooth-value": "0.5",
        "effective-order": "no",
        "denominator": "order",
        "tokenize": "13a",
        "lowercase": "no",
        "vector-case": "fallback",
        "normalize": "yes",
        "layers": "none",
        "exact-words": "none",
        "similarity": "cosine",
        "vectors-postprocess": "none",
        "neighbours": "none",
        "mutual": "no",
        "function-words": "soft",
        "quantile": "none",
        "level": "corpus",
        "nrefs": "2",
        "version": __version__,
    }
    name, _, digits = fingerprint.partition("#")
    assert name == "mapping"
    assert len(digits) == 12
    assert set(digits) <= set("0123456789abcdef")


def test_the_content_of_vectors_is_in_the_signature(tmp_path: Path) -> None:
    found = []
    for content in ("cat 1 2\ndog 2 1\n", "cat 1 2\ndog 2 3\n"):
        path = tmp_path / "vectors.txt"
        path.write_text(content, encoding="utf-8")
        found.append(pairs_of(signature(SOFT, choice=VectorChoice(path)))["vectors"])
    assert found[0] != found[1]
    assert all(text.startswith("vectors.txt#") for text in found)


def test_a_name_with_a_bar_does_not_break_the_signature(tmp_path: Path) -> None:
    path = tmp_path / "a|b:c.txt"
    path.write_text("cat 1 2\n", encoding="utf-8")
    found = signature(SOFT, choice=VectorChoice(path))
    pairs = pairs_of(found)
    assert pairs["version"] == __version__
    assert pairs["vectors"].startswith("a%7Cb:c.txt#")
    assert parse_signature(found)["vectors"].startswith("a|b:c.txt#")


def test_segment_scores_are_covered_by_the_signature() -> None:
    """Segments are scored with effective order, the corpus without: one signature cannot be silent about that."""
    corpus, segment = (score_corpus(in_memory(), level=level)[0] for level in ("corpus", "segment"))
    assert isinstance(segment, Result)
    assert segment.signature != corpus.signature
