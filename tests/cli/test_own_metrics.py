"""Metrics of other packages: those of strings work wherever others do, and of those that fail a line says where."""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

import softbleu
from softbleu.declare import Score, StringMetric, setting
from softbleu.errors import InputError
from softbleu.metrics import Metric, Requirements

TEXTS = {
    "a": ["The cat sat", "a dog barks", "", "so it goes, so"],
    "b": ["the mat", "dogs bark", "x", "so it goes"],
    "r": ["the cat sat", "a dog barked", "", "so it goes"],
    "s": ["the cat sat there", "dogs bark", "", "so it is"],
}
FILES = ("-c", "a.txt", "b.txt", "c.txt", "-r", "r.txt", "s.txt")


def lacking(candidate: list[Any], reference: list[Any]) -> int:
    return sum(word not in reference for word in candidate)


@dataclass(frozen=True)
class Lacking(StringMetric):
    """Words that the best reference lacks."""

    factor: float = setting(1.0, "What such a word counts", least=0)
    name: ClassVar[str] = "lacking1"
    higher_is_better: ClassVar[bool] = False

    def evaluate(self, candidate: str, references: Any, source: str | None) -> tuple[int, int]:
        words = self.tokenizer.split(candidate)
        return min(lacking(words, self.tokenizer.split(text)) for text in references), len(words)

    def score(self, row: Any) -> Score:
        return Score(100 * self.factor * int(row[0]) / max(int(row[1]), 1))


@dataclass(frozen=True)
class LackingCodes(Metric):
    """Words that the best reference lacks."""

    factor: float = setting(1.0, "What such a word counts", least=0)
    name: ClassVar[str] = "lacking2"
    higher_is_better: ClassVar[bool] = False

    def statistics(self, chunk: Any, words: Any, kernels: Any) -> Any:
        candidates, references, bounds = chunk.candidates.by_line(), chunk.references.by_line(), chunk.segment_offsets
        best = [
            min(lacking(line, reference) for reference in references[bounds[place] : bounds[place + 1]])
            for place, line in enumerate(candidates)
        ]
        return np.column_stack((best, chunk.candidates.lengths))

    score = Lacking.score


@dataclass(frozen=True)
class Length(StringMetric):
    """How near the length in characters is to that of the source, in per cent."""

    name: ClassVar[str] = "length"
    requires: ClassVar[Requirements] = Requirements(references=False, source=True)  # type: ignore[assignment]

    def evaluate(self, candidate: str, references: Any, source: str | None) -> float:
        assert source is not None
        assert references == []
        return 100 * min(len(candidate), len(source)) / max(len(candidate), len(source), 1)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Any, offer: Any) -> None:
    """A package with these metrics, and texts."""
    offer(metrics=[Lacking, LackingCodes, Length, Broken])
    monkeypatch.chdir(tmp_path)
    for name, lines in TEXTS.items():
        (tmp_path / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (tmp_path / "c.txt").write_text("the cat sat\n\nx\nit\n", encoding="utf-8")
    (tmp_path / "human.tsv").write_text("system score\na 2\nb 1\nc 3\n", encoding="utf-8")


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    "arguments",
    [
        "score --long",
        "score --tokenize 13a --lowercase --lacking1-factor 2 -f json",
        "score --level segment -f jsonl",
        "score --level segment --tokenize char -f jsonl --jobs 2",
        "score -f html",
        "score -m chrf -f json",
        "compare -f json --samples 100",
        "explain -f json --segment 2",
        "metaeval --human human.tsv -f json",
        "sweep --vary lowercase=no,yes -f tsv",
    ],
)
def test_a_metric_of_strings_does_what_one_of_arrays_does(command: Any, arguments: str) -> None:
    name, *more = arguments.split()
    found = []
    for metric in ("lacking1", "lacking2"):
        given = [word.replace("lacking1", metric) for word in more]
        done = command(name, *FILES, "-m", metric, *given)
        assert (done.code, done.err) == (0, ""), done
        found.append(done.out.replace(metric, "lacking").replace(metric.upper(), "LACKING"))
    assert found[0] == found[1]
    if name == "score" and "json" in more and "-m" not in more:
        signature = json.loads(done.out)["signature"]
        assert command("score", *FILES, "--signature", signature, "-f", "json").out == done.out


def test_scores_of_segments_have_a_mean_and_one_by_one_the_same_digits() -> None:
    candidates, sources = ["ab", "", "abc"], ["abcd", "", "ab"]
    found = softbleu.score(candidates, None, sources, metric=Length(), level="segment")
    scores = [50, 0, 200 / 3]
    assert [each.score for each in found.segments] == pytest.approx(scores, abs=1e-8)
    assert found.score == pytest.approx(np.mean(scores), abs=1e-8)
    pairs = zip(candidates, sources, strict=True)
    alone = [Length().sentence_score(text, None, source) for text, source in pairs]  # type: ignore[arg-type]
    assert [float(each) for each in alone] == [float(each) for each in found.segments]
    texts = [TEXTS["a"][:3], TEXTS["b"][:3]]
    ours, theirs = (softbleu.pairwise(*texts, metric=metric(tokenize="intl")) for metric in (Lacking, LackingCodes))
    assert np.array_equal(ours, theirs)


@dataclass(frozen=True)
class Broken(Metric):
    """A metric that fails in one of many ways where a line has a `b`."""

    way: str = setting("", "How it fails")
    name: ClassVar[str] = "broken"

    def statistics(self, chunk: Any, words: Any, kernels: Any) -> Any:
        rows = np.ones((len(chunk), 2), np.int64)
        wrong = chunk.candidates.lengths == 1  # Lines of one word
        return WAYS[self.way][0](rows, wrong) if wrong.any() else rows

    def score(self, row: Any) -> Any:
        return Score(100 * float(row[0] / row[1])) if self.way != "score" else Score(1 // int(row[0] - row[0]))


def put(value: Any, kind: Any = object) -> Callable[[Any, Any], Any]:
    """Rows with another value where they are wrong."""
    return lambda rows, wrong: np.where(wrong[:, None], np.array(value, kind), rows.astype(kind))


WAYS: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "one row": (lambda rows, wrong: rows[:1], "in segments 1 to 4: 1 rows of statistics for 4 segments"),
    "no array": (
        lambda rows, wrong: None,
        "in segment 3: statistics must be an array (segments, numbers), not NoneType",
    ),
    "flat": (lambda rows, wrong: rows[:, 0], "in segment 3: … not an array of shape (1,)"),
    "nan": (put(math.nan, float), "in segment 3: statistics must be numbers that add up, not nan"),
    "infinite": (put(-math.inf, float), "in segment 3: … not -inf"),
    "great": (put(1e300, float), "in segment 3: … not 1e+300"),
    "none": (put(None), "in segment 3: … not None"),
    "text": (put("a"), "in segment 3: … not 'a'"),
    "whole": (put(1 << 70), "in segment 3: … not 1180591620717411303424"),
    "raises": (lambda rows, wrong: 1 // 0, "in segment 3: ZeroDivisionError: integer division or modulo by zero"),
    "wider": (lambda rows, wrong: np.ones((len(rows), 3)), "2 numbers in one row of statistics, and 3 in another"),
    "score": (lambda rows, wrong: rows, "at score([4, 4]): ZeroDivisionError: integer division or modulo by zero"),
}


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("way", WAYS)
def test_what_fails_is_named(command: Any, way: str) -> None:
    texts = ("b.txt",) if way != "wider" else ("a.txt", "b.txt")
    given = ("score", "-c", *texts, "-r", "r.txt", "-m", "broken", "--broken-way", way, "-j", 1 + (way == "raises"))
    done = command(*given)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    start, _, end = WAYS[way][1].partition("… ")
    assert done.err.startswith(f"softbleu: error: metric 'broken' of {__name__} fails ".strip())
    assert start in done.err
    assert end in done.err
    assert "Error" in command(*given, "--debug").err


FAULTS: dict[str, tuple[Callable[[str], Any], str]] = {
    "raises": (lambda line: line[9], "IndexError: string index out of range"),
    "text": (str, "TypeError: tokens must be a list of texts, not 'a cat'"),
    "nothing": (lambda line: None, "TypeError: tokens must be a list of texts, not None"),
    "objects": (lambda line: [1, 2], r"TypeError: tokens must be a list of texts, not \[1, 2\]"),
}


@dataclass(frozen=True)
class Faulty(softbleu.Tokenizer):
    """A tokenizer that fails."""

    way: str = setting("", "How it fails")
    name: ClassVar[str] = "faulty"

    def tokens(self, line: str) -> Any:
        return FAULTS[self.way][0](line)


@pytest.mark.parametrize("way", FAULTS)
def test_a_tokenizer_that_fails_is_named(way: str) -> None:
    said = f"^tokenizer 'faulty' of {__name__} fails at the line 'a cat': {FAULTS[way][1]}$"
    with pytest.raises(InputError, match=said):
        softbleu.score(["a cat"], ["a cat"], tokenize=Faulty(way))


@pytest.mark.parametrize("value", [None, "a", math.nan, 101, (1, 2, 3)])
def test_what_a_metric_of_strings_gives_is_checked(value: Any) -> None:
    class Gives(StringMetric):
        name = "gives"

        def evaluate(self, candidate: str, references: Any, source: str | None) -> Any:
            return value if candidate == "b" else (1, 2)

    with pytest.raises(InputError, match=f"^metric 'gives' of {__name__} fails in segments? "):
        softbleu.score(["a", "b"], ["a", "a"], metric=Gives())
