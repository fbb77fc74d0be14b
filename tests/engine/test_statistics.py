"""Rows of segments: what is held does not grow with the corpus, and blocks reduce to scores as the whole does."""

import tracemalloc
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from refusing import refused

from softbleu.corpora import ParallelFiles, Segments
from softbleu.engine import encode, statistics
from softbleu.engine.encode import CodedBlock
from softbleu.engine.plan import make_plan
from softbleu.engine.runner import RunOptions, running
from softbleu.engine.statistics import KeptRows, SegmentScores
from softbleu.errors import InputError
from softbleu.metrics import M2, METRICS, Bleu, Cleme, Gleu, IMeasure
from softbleu.metrics.aggregation import BestReference, SumOfRows
from softbleu.metrics.cleme import Cleme2
from softbleu.metrics.protocols import matcher_of, shares_matches
from softbleu.metrics.reading import read_metric
from softbleu.report import WRITERS, Layout
from softbleu.results.api import score_corpus

WORDS = ["dog", "cat", "horse", "house", "home", "car", "red", "blue", "small", "little"]


def written(folder: Path, lines: int) -> list[str]:
    """Five texts of so many lines, which hold the same hundred lines again and again."""
    draw, paths = np.random.default_rng(5), [folder / f"{lines}.{number}.txt" for number in range(5)]
    for path in paths:
        text = "".join(" ".join(line) + "\n" for line in draw.choice(WORDS, (100, 5)).tolist())
        path.write_text(text * (lines // 100))
    return [*map(str, paths)]


def peak(texts: Sequence[str], metric: str, level: Any, jobs: int) -> float:
    """Most megabytes that Python and NumPy hold during a run, its output written and forgotten."""
    candidate, source, *references = texts
    with ParallelFiles.open([candidate], references if "gleu" in metric else references[:1], source) as corpus:
        tracemalloc.start()
        try:
            with ThreadPoolExecutor(jobs) as executor:
                found = score_corpus(corpus, metric, level=level, executor=executor if jobs > 1 else None)
            for line in WRITERS.find("jsonl")(found, Layout()):
                assert line.endswith("}\n")
            return tracemalloc.get_traced_memory()[1] / 1e6
        finally:
            tracemalloc.stop()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("metric", "level", "jobs"),
    [("bleu", "corpus", 1), ("bleu", "corpus", 2), ("gleu(iterations=5)", "corpus", 1), ("bleu", "segment", 1)],
)
def test_memory_is_flat(metric: str, level: Any, jobs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "_MOST_KEPT", 1 << 12)
    monkeypatch.setattr(encode, "_LINES", 4096)
    sizes = (2_000, 8_000) if level == "segment" else (10_000, 40_000)
    few, many = (peak(written(tmp_path, lines), metric, level, jobs) for lines in sizes)
    # The text alone of what is added is 1.5 MB or more, or the scores of its segments are.
    assert many < few + 1


class TwoRows(SumOfRows):
    """Scores are the sums of rows."""

    def segment_scores(self, rows: Any, offsets: Any) -> Any:
        return [int(rows[start:stop].sum()) for start, stop in pairwise(offsets.tolist())]


@pytest.mark.parametrize("kept", [0, 10, 10_000])
def test_scores_of_segments_are_a_sequence(kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "_MOST_KEPT", kept)
    metric = TwoRows(Gleu())
    rows, expected, number = KeptRows(metric), [[], []], 0
    for counts in ([1, 2, 1], [3], [1, 1, 1, 2]):
        block = np.arange(number, number + 2 * sum(counts)).reshape(2, -1, 1)
        number += block.size
        rows.add(block, np.array(counts))
        for own, system in zip(block, expected, strict=True):
            system += metric.segment_scores(own, np.cumsum([0, *counts]))
    for system, wanted in enumerate(expected):
        assert isinstance(rows.segments(system), tuple) == (kept == 10_000)
        found: Any = SegmentScores(rows, system)
        assert list(found) == list(found) == wanted
        assert [found[place] for place in range(-8, 8)] == [*wanted, *wanted]
        assert [found[2:6], found[5:2], found[::3]] == [wanted[2:6], [], wanted[::3]]
        with pytest.raises(IndexError):
            found[8]


@pytest.mark.parametrize("level", ["corpus", "segment"])
@pytest.mark.parametrize("metric", ["gleu(iterations=5)", "gleu(multi=max)", "bleu"])
def test_few_rows_or_many_the_scores_are_the_same(metric: str, level: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(1)
    candidate, source, *references = ([*map(" ".join, draw.choice(WORDS, (300, 4)).tolist())] for _ in range(4))
    corpus = Segments.of({"one": candidate, "two": source}, list(zip(*references, strict=True)), source)
    expected = score_corpus(corpus, metric, level=level)
    monkeypatch.setattr(statistics, "_MOST_KEPT", 100)
    found = score_corpus(corpus, metric, level=level)
    assert found == expected
    assert found.records() == expected.records()
    if level == "segment":
        assert (type(expected[0].segments), type(found[0].segments)) == (tuple, SegmentScores)


def test_a_batch_is_smaller_towards_the_end() -> None:
    corpus = Segments.of(["a b"] * 20_000, ["a"] * 20_000)

    def lengths(workers: int) -> list[int]:
        return [-(-len(each) // 1024) for each in encode.task_batches(corpus, ThreadPoolExecutor(workers))]

    assert lengths(1) == [2] * 9 + [1, 1]
    assert lengths(3) == [2] * 7 + [1] * 6
    assert [len(each) for each in encode.task_batches(corpus, skip=18_432)] == [1024, 544]
    slow = [each.part for each in encode.task_batches(corpus, ThreadPoolExecutor(1), 64, skip=18_496)]
    assert slow == [(64, 576), (576, 1024), (0, 256), (256, 512), (512, 544)]


def test_a_text_that_changes_during_a_run_is_refused(tmp_path: Path) -> None:
    candidate, _, reference, *_ = written(tmp_path, 100)
    measure = read_metric("vleu", threshold=0.5)
    with (
        ParallelFiles.open([candidate], [reference]) as corpus,
        ThreadPoolExecutor(1) as executor,
        running(corpus, make_plan([measure]).over(corpus), RunOptions(executor=executor)) as runner,
    ):
        runner.prepared(measure)
        Path(candidate).write_text(Path(candidate).read_text().replace("dog", "hen"))
        said = "the text has changed while it was read, for 'hen' was not there"
        refused(InputError, said, runner.collect, [measure])


def test_documents_are_given_out_in_parts_that_are_coded_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [str(tmp_path / name) for name in ("c", "r")]
    for name in names:
        texts = (f"{number} {name[-1]} {'words of a document ' * 500}\n" for number in range(20))
        Path(name).write_text("".join(texts))
    coded, done, code = [], [], CodedBlock.of
    monkeypatch.setattr(CodedBlock, "of", lambda block, *more: coded.append(block) or code(block, *more))
    with ParallelFiles.open(names[:1], names[1:]) as corpus:
        found = score_corpus(corpus, "ter", progress=lambda count, _: done.append(count))
        segments = next(corpus.blocks()).load()
    assert (done, len(coded)) == (list(range(1, 21)), 1)
    assert found[0].score == score_corpus(segments, "ter")[0].score


# What metrics say of themselves: how rows reduce to scores, what they must be given, and what they offer.


def test_matches_are_shared_where_statistics_follow_from_them() -> None:
    @dataclass(frozen=True)
    class Louder(Bleu):
        """Scores otherwise, over the same statistics."""

    @dataclass(frozen=True)
    class Counting(Bleu):
        """Has statistics of its own."""

        statistics = Gleu.statistics

    assert [shares_matches(each) for each in (Bleu(), Louder(), Counting(), Gleu())] == [True, True, False, False]
    assert matcher_of(Louder()) == matcher_of(Gleu()) == Bleu().matcher
    assert matcher_of(M2()) is None


WIDTHS = {"m2": 4, "imeasure": 7, "gleu": 14, "cleme": 5, "cleme2": 5, "errant": 5, "cleme(weights=length)": 162}


@pytest.mark.parametrize(
    "metric",
    [
        *(M2(), M2(annotators="best"), IMeasure(), Gleu(multi="max"), Gleu(iterations=5000), Gleu(iterations=5)),
        *(Cleme(), Cleme2(annotators="best"), Cleme(weights="length")),
    ],
)
def test_blocks_score_as_the_whole(metric: Any) -> None:
    draw = np.random.default_rng(2)
    # Segments with one reference stand before those with up to three.
    counts = np.concatenate([np.ones(9, np.int64), draw.integers(1, 4, 51)])
    offsets = np.concatenate(([0], np.cumsum(counts)))
    rows = draw.integers(1, 9, (2, offsets[-1], WIDTHS.get(str(metric), WIDTHS[metric.name])))
    stream = metric.aggregation.stream()
    for start, stop in ((0, 7), (7, 8), (8, 60)):
        stream.add(rows[:, offsets[start] : offsets[stop]], counts[start:stop])
    whole = [metric.aggregation.score(own, offsets) for own in rows]
    assert list(stream.scores()) == whole
    assert whole[0] != whole[1]


def test_the_best_of_a_metric_whose_lower_scores_are_better() -> None:
    rows, offsets = np.array([[3, 400], [1, 400], [1, 400], [2, 400]]), np.array([0, 3, 4])
    assert BestReference(METRICS.find("ter")()).chosen(rows, offsets).tolist() == [1, 3]


@pytest.mark.parametrize("metric", ["bertscore(average=segments)", "bertscore(average=pieces)", "trained"])
def test_many_rows_score_as_each_of_them(metric: str) -> None:
    read, rows = read_metric(metric), np.random.default_rng(3).integers(2, 9, (5, 8))
    assert read.columns(rows).score.tolist() == pytest.approx([read.score(row).score for row in rows])
