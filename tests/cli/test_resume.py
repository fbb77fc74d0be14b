"""An interrupted run goes on where it was, with the digits of a whole one."""

import io
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from softbleu.corpora import ParallelFiles
from softbleu.engine import checkpoint, runner
from softbleu.io.progress import ProgressBar
from softbleu.meta import sweep_corpus, sweep_points
from softbleu.results.api import score_corpus

WORDS = ["dog", "cat", "horse", "house", "home", "car", "red", "blue", "small", "little"]
LINES = 5000


@pytest.fixture
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Five blocks of text, of which two are noted at a time."""
    monkeypatch.setattr(runner, "EVERY", 2)
    draw = np.random.default_rng(3)
    for name in ("c.txt", "r.txt"):
        lines = [" ".join(line) + "\n" for line in draw.choice(WORDS, (LINES, 6)).tolist()]
        (tmp_path / name).write_text("".join(lines))
    return [str(tmp_path / "c.txt"), str(tmp_path / "r.txt")]


class StopError(Exception):
    """The run is interrupted."""


def stop_after(segments: int) -> Any:
    def progress(done: int, total: int) -> None:
        if done / total >= segments / LINES:
            raise StopError

    return progress


def parts_of(place: Path) -> list[str]:
    return sorted(path.name.partition("-")[2] for path in place.iterdir())


@pytest.mark.parametrize(
    ("metric", "level"), [("bleu", "corpus"), ("vleu(threshold=0.6)", "segment"), ("chrf", "corpus")]
)
def test_a_run_goes_on_where_it_was(texts: list[str], tmp_path: Path, metric: str, level: Any) -> None:
    place = tmp_path / "journal"
    with ParallelFiles.open(texts[:1], texts[1:]) as corpus:
        whole = score_corpus(corpus, metric, level=level)
        with pytest.raises(StopError):
            score_corpus(corpus, metric, level=level, checkpoint=str(place), progress=stop_after(4096))
        assert parts_of(place) == ["0-2048.npz", "2048-4096.npz"]
        seen: list[int] = []
        how: Any = {"checkpoint": str(place), "progress": lambda done, _: seen.append(done)}
        again = score_corpus(corpus, metric, level=level, **how)
    assert again == whole
    assert seen == [LINES]


def test_a_sweep_goes_on_within_a_system(texts: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    points, place = sweep_points({}, {"order": [2, 4]}), tmp_path / "journal"
    with ParallelFiles.open({"one": texts[0], "two": texts[1]}, texts[1:]) as corpus:
        whole = sweep_corpus(corpus, points)
        write = checkpoint.Checkpoint.write

        def stop(kept: Any, key: str, start: int, *given: Any) -> None:
            write(kept, key, start, *given)
            if start == 2048 and len(parts_of(place)) > 3:
                raise StopError

        with monkeypatch.context() as patch:
            patch.setattr(checkpoint.Checkpoint, "write", stop)
            with pytest.raises(StopError):
                sweep_corpus(corpus, points, checkpoint=place)
        assert parts_of(place) == ["0-2048.npz"] * 2 + ["2048-4096.npz"] * 2 + ["4096-5000.npz"]
        assert sweep_corpus(corpus, points, checkpoint=place) == whole


def test_other_work_other_text_and_damage_count_for_nothing(texts: list[str], tmp_path: Path) -> None:
    place = tmp_path / "journal"

    def started(metric: str = "bleu") -> int:
        """Segments that a run has done after its first block."""
        with ParallelFiles.open(texts[:1], texts[1:]) as corpus:
            seen: list[int] = []
            score_corpus(corpus, metric, checkpoint=str(place), progress=lambda done, _: seen.append(done))
        return seen[0]

    assert started() == 1024
    assert started() == LINES
    assert started("bleu(order=2)") == 1024
    Path(texts[1]).write_text("other text\n" * LINES)
    assert started() == 1024


def sealed(name: str, **arrays: Any) -> bytes:
    """A part that was made by somebody who knows how."""
    content = io.BytesIO()
    plain = {"rows": np.ones((1, 1, 10), int), "counts": [1], "coverage": [[0] * 4], "references": [1, 1]}
    np.savez(content, allow_pickle=False, **{f"{field}-0": np.array(it) for field, it in {**plain, **arrays}.items()})
    return checkpoint._seal(name, content.getvalue()) + content.getvalue()


DAMAGE: dict[str, Callable[[Path], object]] = {
    "cut": lambda part: part.write_bytes(part.read_bytes()[:100]),
    "of an earlier version": lambda part: part.write_bytes(part.read_bytes()[32:]),
    "of other segments": lambda part: part.rename(str(part).replace("-2048", "-3072")),
    "of nothing": lambda part: part.rename(str(part).replace("-2048", "-0")),
    "beyond the end": lambda part: part.rename(str(part).replace("-2048", "-9999")),
    "beyond the end, sealed": lambda part: (
        [name := str(part).replace("-2048", "-9999"), part.unlink()]
        and Path(name).write_bytes(sealed(Path(name).name))
    ),
    "not a number": lambda part: part.write_bytes(sealed(part.name, rows=[[[np.nan] * 10]])),
    "text": lambda part: part.write_bytes(sealed(part.name, rows=[[["x"] * 10]])),
    "negative": lambda part: part.write_bytes(sealed(part.name, coverage=[[0, 0, 0, -1]])),
    "of other systems": lambda part: part.write_bytes(sealed(part.name, rows=np.ones((2, 1, 10), int))),
    "flat": lambda part: part.write_bytes(sealed(part.name, rows=[1] * 10)),
    "a link": lambda part: [part.rename(part.parent.parent / "mine"), part.symlink_to(part.parent.parent / "mine")],
    "a device": lambda part: [part.unlink(), part.symlink_to("/dev/zero")],
}


@pytest.mark.skipif(os.name != "posix", reason="pipes and links")
@pytest.mark.parametrize("name", DAMAGE)
def test_damaged_parts_are_made_anew_with_a_note(
    texts: list[str], tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "journal"
    with ParallelFiles.open(texts[:1], texts[1:]) as corpus:
        whole = score_corpus(corpus, "bleu", checkpoint=str(place))
        (part,) = place.glob("*-0-2048.npz")
        DAMAGE[name](part)
        mine = tmp_path / "mine"
        before = mine.read_bytes() if mine.exists() else None
        with ProgressBar(quiet=False):
            assert score_corpus(corpus, "bleu", checkpoint=str(place)) == whole
    said = capsys.readouterr().err
    assert (said.count("\n"), "is damaged, and is made anew" in said) == (1, True)
    assert before == (mine.read_bytes() if mine.exists() else None)
    assert stat.S_ISREG(part.lstat().st_mode)


def test_a_journal_needs_a_place_of_its_own(refused: Any, files: Any, texts: list[str]) -> None:
    options = ["score", "-c", texts[0], "-r", texts[1], "--resume"]
    assert "--resume notes what is done beside the --output file: name one" in refused(*options, output=None)
    place = files.folder / ".out.json.score"
    place.mkdir()
    (place / "letter.txt").write_text("mine")
    assert "no checkpoint of an interrupted run" in refused(*options, output="out.json")
