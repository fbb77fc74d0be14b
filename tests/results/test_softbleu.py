"""softbleu as the other metrics are run: levels, jobs, signatures, comparisons, and what changes the vectors."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from softbleu import InputError, score
from softbleu.config.signature import parse_signature
from softbleu.corpora import ParallelFiles, Segments
from softbleu.errors import UnknownNameError
from softbleu.meta.sweep import sweep_points
from softbleu.metrics.idf import IdfCorpus, rarity_of
from softbleu.metrics.making import make_metric, metric_from_signature
from softbleu.metrics.softbleu import Softbleu, SoftbleuScore
from softbleu.results import SignificanceSettings, compare_corpus, explain_corpus, score_corpus
from softbleu.version import __version__

WORDS = ["cat", "dog", "mat", "the", "of", "naïve", "sat", "日本", "Dog", "oov", "cats", "it's"]
VECTORS = {
    word: row.tolist()
    for word, row in zip(WORDS[:8], np.random.default_rng(5).normal(0.5, 1, (8, 6)).round(3), strict=True)
}
SEGMENTS = 40


def lines(seed: int, shortest: int = 0) -> list[str]:
    choose = random.Random(seed)
    return [" ".join(choose.choices(WORDS, k=choose.randint(shortest, 12))) for _ in range(SEGMENTS)]


def corpus() -> Segments:
    return Segments.of({"one": lines(1), "two": lines(2, 6)}, list(zip(lines(3), lines(4), strict=True)))


def scored(level: Any = "corpus", **settings: Any) -> list[Any]:
    return score_corpus(corpus(), make_metric("softbleu", vectors=VECTORS, **settings), level=level)


# levels


def test_levels() -> None:
    whole, segments, macro = (scored(level) for level in ("corpus", "segment", "macro"))
    assert whole[0].segments is None
    for one, two, three in zip(whole, segments, macro, strict=True):
        assert two.score == one.score
        assert len(two.segments) == SEGMENTS
        assert three.score == pytest.approx(np.mean([segment.score for segment in two.segments]), abs=1e-12)
        assert three.numbers.precisions == one.numbers.precisions
        assert 0 < one.score < 100
        assert abs(one.score - three.score) > 0.01
    assert whole[0].score != whole[1].score
    with pytest.raises(InputError, match=r"^metric 'softbleu' has no scores of single references: use level 'seg"):
        scored("reference")


def test_what_a_score_holds() -> None:
    found = scored(order=3)[0].numbers
    assert isinstance(found, SoftbleuScore)
    assert list(found.as_dict()) == ["score", "precisions", "recalls", "order_scores"]
    assert found.score == pytest.approx(sum(found.order_scores) / 3)
    assert [len(numbers) for numbers in (found.precisions, found.recalls, found.order_scores)] == [3, 3, 3]


@pytest.mark.parametrize("level", ["corpus", "segment", "macro"])
@pytest.mark.parametrize("idf", ["references", "file"])
def test_jobs_and_files_give_the_same_digits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, level: Any, idf: str
) -> None:
    for module in ("corpora.segments", "corpora.parallel", "engine.runner"):
        monkeypatch.setattr(f"softbleu.{module}.BLOCK", 16)
    names = []
    for seed, shortest in ((1, 0), (2, 6), (3, 0), (4, 0)):
        names.append(str(tmp_path / f"{seed}.txt"))
        Path(names[-1]).write_text("\n".join(lines(seed, shortest)) + "\n", encoding="utf-8")
    given: dict[str, Any] = {} if idf == "references" else {"idf": names[0]}
    settings = make_metric("softbleu", vectors=VECTORS, **given)
    expected = score_corpus(corpus(), settings, level=level)
    assert score_corpus(corpus(), settings, level=level, jobs=2) == expected
    with ParallelFiles.open({"one": names[0], "two": names[1]}, names[2:]) as opened:
        assert score_corpus(opened, settings, level=level) == expected
        assert score_corpus(opened, settings, level=level, jobs=2) == expected


def test_a_system_scores_the_same_beside_others() -> None:
    alone = score(lines(1), list(zip(lines(3), lines(4), strict=True)), metric="softbleu", vectors=VECTORS)
    assert alone.score == scored()[0].score


# how rare words are


def test_the_references_say_it_unless_another_text_does(tmp_path: Path) -> None:
    """A file of all reference lines is the references."""
    path = tmp_path / "idf.txt"
    texts = [line for pair in zip(lines(3), lines(4), strict=True) for line in pair]
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    assert scored(idf=str(path))[0].score == scored(idf="references")[0].score == scored()[0].score
    path.write_text("the\nthe cat\nof\n", encoding="utf-8")
    assert scored(idf=str(path))[0].score != scored()[0].score
    assert scored(idf=str(path), rarity=0.0)[0].score == scored(rarity=0.0)[0].score


@pytest.mark.parametrize("total", [1, 2, 560, 94_868, 102_326, 136_084, 287_548])
def test_a_word_that_all_segments_have_weighs_a_little(total: int) -> None:
    """At some of these sizes the logarithms of the platform and of NumPy differ in their last bits."""
    every, none = rarity_of(np.array([total, 0]), total)
    assert 0 < every < none


def test_a_corpus_of_one_segment() -> None:
    options: dict[str, Any] = {"metric": "softbleu", "vectors": VECTORS}
    assert score(["the cat sat"], ["the cat sat"], **options).score == 100
    assert 0 < score(["the dog sat"], ["the cat sat"], **options).score < 100


def test_an_empty_text_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "idf.txt").touch()
    with pytest.raises(InputError, match=r"idf\.txt: an empty text cannot say how rare words are$"):
        scored(idf=str(tmp_path / "idf.txt"))
    with pytest.raises(InputError, match=r"^unknown idf 'idf\.txt'; valid: references$"):
        Softbleu(idf="idf.txt")  # type: ignore[arg-type]


@pytest.mark.parametrize("short", ["", "the"])
def test_what_a_short_candidate_lacks_is_missed_in_a_corpus(short: str) -> None:
    texts = ["the cat sat", "dog of mat"]
    options: dict[str, Any] = {"metric": "softbleu", "vectors": VECTORS}
    found = score([texts[0], short], texts, **options).numbers
    assert isinstance(found, SoftbleuScore)
    assert max(found.recalls) < 70
    assert found.precisions[1] == 100


def test_the_text_is_split_as_the_corpus_is(tmp_path: Path) -> None:
    path = tmp_path / "idf.txt"
    path.write_text("The cat.\nA dog\nA mat\n", encoding="utf-8")
    texts = ["the cat ."], ["a cat ."]
    options: dict[str, Any] = {"metric": "softbleu", "vectors": VECTORS, "idf": str(path)}
    plain = score(*texts, **options).score
    assert score(*texts, lowercase=True, tokenize="13a", **options).score != plain
    path.write_text("the cat .\na dog\na mat\n", encoding="utf-8")
    split = score(*texts, **options).score
    path.write_text("The cat.\nA dog\nA mat\n", encoding="utf-8")
    assert score(*texts, lowercase=True, tokenize="13a", **options).score == split


# signatures


ALL = {"order": 3, "beta": 2.0, "power": 0.5, "rarity": 1.0, "position": 0.0, "characters": 0.25, "credit": "clipped"}


def test_the_signature_by_its_keys() -> None:
    pairs = parse_signature(scored()[0].signature)
    assert pairs.pop("vectors").startswith("mapping#")
    assert pairs == {
        "metric": "softbleu",
        "order": "2",
        "beta": "1.0",
        "power": "0.7",
        "rarity": "1.5",
        "position": "0.2",
        "characters": "0.8",
        "synonyms": "0.0",
        "paraphrases": "0.0",
        "meteor-data": "none",
        "credit": "both",
        "idf": "references",
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


@pytest.mark.parametrize("short", [False, True])
def test_a_signature_is_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, short: bool) -> None:
    """The text is signed by name and content, and looked for by its name."""
    (tmp_path / "idf.txt").write_text("the cat\nthe dog\nthe\n", encoding="utf-8")
    given = make_metric("softbleu", vectors=VECTORS, idf=str(tmp_path / "idf.txt"), **ALL)
    result = score_corpus(corpus(), given)[0]
    signature = result.short_signature if short else result.signature
    name, _, digits = parse_signature(signature)["idf"].partition("#")
    assert (name, len(digits)) == ("idf.txt", 12)
    monkeypatch.chdir(tmp_path)
    again = metric_from_signature(signature, vectors=VECTORS)
    metric = again
    assert isinstance(metric, Softbleu)
    assert isinstance(metric.idf, IdfCorpus)
    assert metric.idf.location == "idf.txt"
    assert metric.idf.fingerprint.startswith(digits)
    assert [getattr(metric, option) for option in ALL] == list(ALL.values())
    assert score_corpus(corpus(), again)[0].score == result.score


def test_another_text_is_another_signature(tmp_path: Path) -> None:
    path = tmp_path / "idf.txt"
    found = set()
    for content in ("the cat\n", "the dog\n"):
        path.write_text(content, encoding="utf-8")
        found.add(scored(idf=str(path))[0].signature)
    assert len(found) == 2


# comparisons


def test_comparisons_resample_segments() -> None:
    measure = make_metric("softbleu", vectors=VECTORS)
    how = SignificanceSettings(samples=200, seed=3)
    table = compare_corpus(corpus(), measure, baseline="one", significance=how)
    assert [system.name for system in table.comparisons] == ["one", "two"]
    scores = [result.score for result in scored()]
    assert [system.score for system in table.comparisons] == scores
    for system in table.comparisons:
        low, high = system.interval
        assert low < system.score < high
    again = compare_corpus(corpus(), measure, baseline="one", significance=how, jobs=2)
    assert again.comparisons == table.comparisons
    assert again.signature == table.signature


def test_a_system_does_not_differ_from_itself() -> None:
    twice = Segments.of({"one": lines(1), "same": lines(1), "best": lines(3)}, lines(3))
    measure = make_metric("softbleu", vectors=VECTORS)
    how = SignificanceSettings(samples=200)
    _, same, best = compare_corpus(twice, measure, baseline="one", significance=how).comparisons
    assert (same.p_value, best.score) == (1.0, 100.0)
    assert best.p_value is not None
    assert best.p_value < 0.01


# what changes the vectors


VARIANTS: dict[str, dict[str, Any]] = {
    "csls": {"similarity": "csls"},
    "mean": {"vectors_postprocess": "mean"},
    "neighbours": {"neighbours": 1, "mutual": True},
    "function words": {"function_words": "exact"},
    "as written": {"vector_case": "exact"},
}


@pytest.mark.parametrize("remedy", VARIANTS)
def test_remedies_apply(remedy: str) -> None:
    assert scored(**VARIANTS[remedy])[0].score != scored()[0].score


def test_function_words_meet_only_themselves() -> None:
    vectors = {"the": [1.0, 0.1], "of": [1.0, 0.2], "cat": [1.0, 0.15]}
    options: dict[str, Any] = {"metric": "softbleu", "vectors": vectors, "rarity": 0.0, "characters": 0.0, "order": 1}
    assert score(["the"], ["of"], **options).score > 90
    assert score(["the"], ["of"], function_words="exact", **options).score == 0
    assert score(["the"], ["the"], function_words="exact", **options).score == 100


def test_the_length_of_vectors_does_not_matter() -> None:
    assert scored(normalize=False)[0].score == scored()[0].score


# what is refused, and what has no effect


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"order": 0}, InputError, "order must lie between 1 and 16, not 0"),
        ({"beta": -1.0}, InputError, "beta must lie between 0 and 1000000, not -1"),
        ({"beta": float("nan")}, InputError, "beta must lie between 0 and 1000000, not nan"),
        ({"power": 0.0}, InputError, "power must lie between 1e-06 and .*, not 0"),
        ({"rarity": -0.5}, InputError, "rarity must lie between 0 and .*, not -0.5"),
        ({"position": float("inf")}, InputError, "position must lie between 0 and 1000000, not inf"),
        ({"characters": 1.5}, InputError, "characters must lie between 0 and 1, not 1.5"),
        ({"credit": "all"}, UnknownNameError, "unknown credit 'all'; valid: greedy, clipped, both"),
        ({"idf": "no/such.txt"}, InputError, r"no/such\.txt: cannot be read \(No such file or directory\)"),
    ],
)
def test_errors(settings: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"^{message}$"):
        scored(**settings)


def idle_of(metric: str, **given: Any) -> list[str]:
    unused: list[str] = []
    make_metric(metric, unused=unused, **given)
    return unused


def test_options_of_other_metrics_are_idle() -> None:
    given: dict[str, Any] = {"threshold": 0.5, "composition": "mean", "smooth": "exp", "variant": "gleu0"}
    assert idle_of("softbleu", **given) == list(given)
    own: dict[str, Any] = {**ALL, "idf": "references"}
    assert idle_of("softbleu", **own) == []
    assert idle_of("bleu", **own) == [name for name in own if name != "order"]


def test_matcher_and_preset_are_idle() -> None:
    given = {"matcher": "vleu", "preset": "morgan2014", "threshold": 0.5}
    assert sorted(idle_of("softbleu", **given)) == sorted(given)


def test_a_text_may_have_a_number_sign_in_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a#b.txt").write_text("the cat\n", encoding="utf-8")
    signature = scored(idf="a#b.txt")[0].signature
    assert metric_from_signature(signature, vectors="x") == Softbleu(idf=IdfCorpus.of("a#b.txt"), vectors="x")


def test_the_greatest_weights_add_up() -> None:
    texts = [f"w{number}" for number in range(2000)]
    assert score(texts, texts, metric="softbleu", vectors=VECTORS, rarity=4.0).score == 100


def test_a_sweep_has_one_point() -> None:
    points = sweep_points({"metric": "softbleu"}, {"matcher": ["exact", "vleu", "xleu"], "threshold": [0.5, 0.6]})
    assert [point.metric for point in points] == [make_metric("softbleu")]


def test_there_are_no_matches_to_show() -> None:
    with pytest.raises(InputError, match=r"^metric 'softbleu' has no matcher, so there are no matches to show$"):
        explain_corpus(corpus(), "softbleu")
