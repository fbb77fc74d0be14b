"""`softbleu sweep`, `experiments`, `corpora generate`; an interrupted run goes on, with the digits of a whole one."""

import csv
import hashlib
import io
import json
import os
import stat
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from cli.conftest import DEFINITIONS, TEXTS, contents, names_in
from judged_systems import OUTPUTS, PEOPLE, REFERENCE
from tables import each_row

import softbleu
from softbleu.corpora import ParallelFiles
from softbleu.engine import checkpoint, runner
from softbleu.engine.checkpoint import Checkpoint
from softbleu.engine.runner import Runner
from softbleu.io.progress import ProgressBar
from softbleu.meta import sweep_corpus, sweep_points
from softbleu.meta.metaeval import metaeval
from softbleu.results.api import score_corpus

KNOWN = DEFINITIONS["texts"]
SWEPT = [*TEXTS, "-c", "second.txt", "--vectors", "vectors.txt"]
INPUTS = {"candidate.txt", "reference.txt", "second.txt", "vectors.txt", "tiny.toml"}


@pytest.fixture
def definition(files: Any) -> Path:
    path: Path = files.write("tiny.toml", KNOWN["sweep"].encode())
    return path


def test_outputs_are_named_after_the_file(command: Any, files: Any, definition: Path) -> None:
    begun = datetime.now(UTC).replace(microsecond=0)
    done = command("experiments", "run", definition)
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("softbleu: note: ")
    assert done.err.count("\n") == 1
    assert names_in(files.folder) == INPUTS | {"tiny.csv", "tiny.svg", "tiny.ranks.svg", "tiny.manifest.json"}
    swept = command("sweep", *SWEPT, "--matcher", "exact", "--matcher", "vleu", "-t", "0.5,0.8", "-n", 2, "-f", "csv")
    assert Path("tiny.csv").read_text() == swept.out
    assert swept.out.count("\n") == 7
    assert ElementTree.fromstring(Path("tiny.svg").read_bytes()).tag.endswith("svg")
    manifest = json.loads(Path("tiny.manifest.json").read_text())
    assert begun <= datetime.fromisoformat(manifest["started"]) <= datetime.now(UTC)
    assert manifest["seconds"] >= 0
    assert [manifest[key] for key in ("experiment", "kind", "softbleu")] == ["tiny", "sweep", softbleu.__version__]
    # Nothing depends on when it was run.
    before = contents(files.folder)
    assert command("experiments", "run", definition, "-q").code == 0
    assert {**contents(files.folder), "tiny.manifest.json": before["tiny.manifest.json"]} == before
    read = INPUTS - {"vectors.txt"}
    assert manifest["inputs"] == {name: hashlib.sha256(before[name]).hexdigest() for name in read}
    assert [signature.count("threshold:*") for signature in manifest["signatures"]] == [0, 1]


def test_formats_and_folders(command: Any, files: Any, definition: Path) -> None:
    folder = files.folder / "results" / "deep"
    done = command("experiments", "run", definition, "-o", folder, "-f", "md", "--picture-format", "png", "-q")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert names_in(folder) == {"tiny.md", "tiny.png", "tiny.ranks.png", "tiny.manifest.json"}
    assert (folder / "tiny.png").read_bytes().startswith(b"\x89PNG")
    assert names_in(files.folder) == INPUTS | {"results"}


def test_a_sample_never_replaces_another_file(command: Any, files: Any) -> None:
    before = contents(files.folder)
    refused = command("corpora", "sample")
    assert (refused.code, contents(files.folder)) == (2, before)
    assert "reference.txt exists and is another file" in refused.err
    for _ in range(2):
        assert command("corpora", "sample", "tryout", "-q").code == 0
    assert names_in(files.folder / "tryout") >= {"base.txt", "new.txt", "reference.txt", "assessed.tsv"}


def test_an_unfinished_run_goes_on(command: Any, files: Any, definition: Path, monkeypatch: Any) -> None:
    collect, scored = Runner.collect, []

    def stop(runner: Any, measures: Any, **more: Any) -> Any:
        if scored == ["candidate"]:
            raise KeyboardInterrupt
        scored.append(more["system"])
        return collect(runner, measures, **more)

    with monkeypatch.context() as patch:
        patch.setattr(Runner, "collect", stop)
        assert command("experiments", "run", definition).code == 130
    assert names_in(files.folder) == INPUTS | {"tiny.unfinished"}
    read, known = Checkpoint.read, []
    monkeypatch.setattr(Checkpoint, "read", lambda *given: known.append(read(*given)) or known[-1])
    assert command("experiments", "run", definition, "--quiet").code == 0
    assert [blocks for blocks, _ in known] == [3, 0]
    assert [row["system"] for row in table("tiny.csv")] == ["candidate"] * 3 + ["second"] * 3
    assert not Path("tiny.unfinished").exists()


GRAMMAR = "S -> N 'barks'\nN -> 'dog' | 'hound'\n# synonyms: dog hound\n"


def test_grammars_of_one_name_are_distinguished(command: Any, refused: Any, files: Any) -> None:
    files.write("one/g.cfg", GRAMMAR.encode())
    files.write("two/g.cfg", GRAMMAR.replace("barks", "runs").encode())
    corpus = '["one/g.cfg", "two/g.cfg"]\ncount = 4'
    path = files.write("tiny.toml", KNOWN["spurious"].replace('["alternations"]', corpus).encode())
    assert command("experiments", "run", path, "--quiet").code == 0
    assert list(dict.fromkeys(row["text"] for row in table("tiny.summary.csv"))) == ["one/g.cfg", "two/g.cfg"]
    pictures = {name for name in names_in(files.folder) if name.endswith(".svg")}
    assert pictures == {f"tiny.{name}-g.cfg{kind}.svg" for name in ("one", "two") for kind in ("", ".similarities")}
    twice = files.write("twice.toml", path.read_bytes().replace(b"two/", b"one/"))
    assert "[corpus]: 'grammars' has one twice" in refused("experiments", "run", twice, output=None)


@pytest.fixture
def study(files: Any) -> None:
    for name, lines in {**OUTPUTS, "ref": REFERENCE}.items():
        files.write(f"{name}.txt", lines)
    for name, scores in PEOPLE.items():
        files.write(f"{name}.tsv", [f"{system} {score}" for system, score in scores.items()])
    files.write("agree.toml", KNOWN["agree"].encode())


def rows_in(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def table(name: str) -> list[dict[str, str]]:
    return rows_in(Path(name).read_text())


@pytest.mark.usefixtures("study")
def test_agreement_as_an_experiment(command: Any) -> None:
    done = command("experiments", "run", "agree.toml", "--no-picture", "-q")
    assert (done.code, done.err) == (0, "")
    rows = table("agree.systems.csv")
    names = ["chrF", "BLEU, short", "TER"]
    assert [(row["data"], row["metric"]) for row in rows] == [(data, name) for data in PEOPLE for name in names]
    texts = {"candidates": OUTPUTS, "references": REFERENCE, "human": {"people": PEOPLE["y"]}}
    alone = metaeval("systems", metrics={"TER": "ter"}, **texts, samples=20).table
    found = next(row for row in rows if row["data"] == "y" and row["metric"] == "TER")
    assert float(found["pearson"]) == alone.rows[0][list(alone.columns).index("pearson")]
    # Errors are turned round: more of them is worse.
    assert float(found["pearson"]) > 0
    tests = table("agree.williams.csv")
    assert all("chrF" in (row["better"], row["worse"]) for row in tests)
    assert len(tests) == len(PEOPLE) * 2 * 2
    manifest = json.loads(Path("agree.manifest.json").read_text())
    assert list(manifest["metrics"]) == names
    assert {"x.tsv", "a.txt", "ref.txt", "agree.toml"} <= set(manifest["inputs"])


@pytest.mark.usefixtures("study")
@each_row("cli/definitions.toml", "definition", "says", old="", new="")
def test_mistakes_are_one_line(
    refused: Any, files: Any, definition: str, says: list[str], old: str, new: str
) -> None:
    assert old in KNOWN[definition]
    changed = KNOWN[definition].replace(old, new.replace("LONG", "a" * 300), 1)
    files.write(f"{definition}.toml", changed.encode("latin-1"))
    files.write(f"{definition}.csv", ["before"])
    message = refused("experiments", "run", f"{definition}.toml", "--no-picture", output=None)
    assert all(part in message for part in says), message


@pytest.mark.skipif(os.name != "posix", reason="pipes with names")
def test_a_pipe_is_no_text_of_an_experiment(refused: Any, files: Any) -> None:
    """It would be waited for without end; texts are read more than once."""
    os.mkfifo(files.folder / "pipe")
    files.write("piped.toml", KNOWN["sweep"].replace("reference.txt", "pipe").encode())
    assert "pipe: no plain file" in refused("experiments", "run", "piped.toml", output=None)


@each_row("cli/definitions.toml", "old", "new", "inputs", "size", table="named")
def test_which_files_a_definition_names(
    command: Any, files: Any, old: str, new: str, inputs: list[str], size: int
) -> None:
    files.write("pairs.txt", ["a dog barks ||| the dog barks"])
    files.write("source.txt", "a d\xf6g bark\nthe cat sit\nrain\n".encode("latin-1"))
    path = files.write("x.toml", KNOWN["sweep"].replace(old, new).encode())
    assert command("experiments", "run", path, "--no-picture", "-q").code == 0
    manifest = json.loads(Path("x.manifest.json").read_text())
    assert set(manifest["inputs"]) == {"x.toml", *inputs}
    assert len(table("x.csv")) == size
    assert all(("metric:gleu|" in signature) == ("gleu" in new) for signature in manifest["signatures"])


def test_variants_have_rows_and_panels_each(command: Any, files: Any) -> None:
    """One system alone has no picture of ranks."""
    files.write("other.txt", ["small 1 0 0", "little 0 1 0"])
    variants = '[variants]\nplain = {}\nlow = { order = 1 }\n"other set" = { vectors = "./other.txt" }\n'
    text = KNOWN["sweep"].replace(', "second.txt"', "") + variants
    assert command("experiments", "run", files.write("x.toml", text.encode()), "-q").code == 0
    rows = table("x.csv")
    assert [row["variant"] for row in rows] == ["plain"] * 3 + ["low"] * 3 + ["other set"] * 3
    assert len({row["score"] for row in rows if row["threshold"] == "0.8"}) == 3
    assert [*files.folder.glob("*.svg")] == [files.folder / "x.svg"]


GLEU = ["-m", "gleu", "-s", "candidate.txt"]
VARIED = ["--vary", "order=1,2", "--vary", 'vectors-postprocess=none,"mean,pc:2"']
TAIL = ["threshold", "score", "signature"]


@pytest.mark.parametrize(
    ("more", "vary", "columns"),
    [
        ([], ["--matcher", "exact", "xleu", "-t", "0.5:0.9:0.2,p99"], ["matcher", "quantile"]),
        (GLEU, ["--matcher", "exact", "xleu", "-t", "0.5,0.7,0.9,p99"], ["matcher", "penalty", "quantile"]),
        (["--matcher", "vleu", "-t", "0.5"], VARIED, ["matcher", "order", "vectors_postprocess"]),
    ],
)
def test_every_row_is_a_run_of_its_own(command, files, more, vary, columns):
    done = command("sweep", *SWEPT, *more, *vary, "-f", "csv")
    assert (done.code, done.err) == (0, "")
    rows = rows_in(done.out)
    assert list(rows[0]) == ["system", "metric", *columns, *TAIL]
    assert len(rows) == 2 * (4 if "order" in columns else 5)
    for row in rows:
        own = [part for name in columns if name != "quantile" for part in (f"--{name.replace('_', '-')}", row[name])]
        threshold = row.get("quantile") or row["threshold"]
        own += ["-t", threshold] if threshold else []
        alone = json.loads(command("score", *SWEPT, *more, *own, "-f", "json").out)
        (system,) = [each for each in alone["systems"] if each["name"] == row["system"]]
        assert (float(row["score"]), row["signature"]) == (system["score"], alone["signature"])


@pytest.mark.usefixtures("files")
def test_a_sweep_has_defaults_pictures_and_no_journal_beside_a_device(command: Any) -> None:
    rows = rows_in(command("sweep", *SWEPT, "-f", "csv").out)
    assert {row["matcher"] for row in rows} == {"exact", "sleu", "vleu", "xleu"}
    thresholds = [row["threshold"] for row in rows if row["matcher"] == "vleu"]
    assert thresholds[:20] == [str(number / 20) for number in range(20)]
    options = ("sweep", *SWEPT, "--matcher", "vleu", "-t", "0.5,0.8")
    done = command(*options, "--plot", "lines.svg", "--plot-ranks", "ranks.PNG")
    assert (done.code, done.err, done.out != "") == (0, "", True)
    assert [Path(name).read_bytes()[:4] for name in ("lines.svg", "ranks.PNG")] == [b"<?xm", b"\x89PNG"]
    done = command(*options, "-o", os.devnull)
    assert (done.code, done.err) == (0, "")
    assert not Path("/dev/.null.sweep").exists()


def test_output_and_picture(command: Any, files: Any) -> None:
    pytest.importorskip("matplotlib")
    small = ("--grammar", "alternations", "--count", "60", "--matcher", "vleu")
    done = command("experiments", "spurious", *small, "--output", "table.csv", "--plot", "picture.svg")
    assert (done.code, done.out, done.err) == (0, "", "")
    table = Path("table.csv").read_text()
    assert table.startswith("matcher,variant,at,threshold,matches,credit,precision,order_errors,spurious")
    assert "precision of soft credit, %" in Path("picture.svg").read_text()


def test_without_input_pairs_are_generated(command: Any) -> None:
    done = command("experiments", "spurious", "--matcher", "vleu")
    said = "softbleu: note: no input given (see --help), so this generates pairs of the grammar modifiers\n"
    assert (done.code, done.err, "modifiers, paraphrase, seed 0" in done.out) == (0, said, True)


GENERATE = ("corpora", "generate")


def test_halves_of_the_paper(command):
    done = command(*GENERATE, "--grammar", "morgan2014", "--pairing", "halves")
    assert (done.code, done.err, len(done.out.splitlines())) == (0, "", 504)
    assert command(*GENERATE, "--pairing", "halves", "--seed", 1).out != done.out


def test_rates_reach_the_pairs(command):
    arguments = (*GENERATE, "-g", "alternations", "--pairing", "paraphrase", "--count", 20, "-f", "tsv")
    still, moved = (
        {line.rpartition("\t")[2] for line in command(*arguments, *more).out.splitlines()[1:]}
        for more in (("--synonyms", 0, "--alternate", 0), ("--synonyms", 1, "--category", 1))
    )
    assert (still, "related" in moved) == ({"identical"}, True)


def test_folder_that_is_closed(command, tmp_path, monkeypatch):
    """The same where the user is root, whom permissions do not bind."""
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != tmp_path)
    done = command(*GENERATE, "--all", "-o", tmp_path / "out.txt")
    assert (done.code, done.out, list(tmp_path.iterdir())) == (2, "", [])
    assert "no permission to write" in done.err


WORDS = ["dog", "cat", "horse", "house", "home", "car", "red", "blue", "small", "little"]
LINES = 5000


@pytest.fixture
def texts(files: Any, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Five blocks of text, of which two are noted at a time."""
    monkeypatch.setattr(checkpoint, "EVERY", 2)
    draw = np.random.default_rng(3)
    return [str(files.write(name, map(" ".join, draw.choice(WORDS, (LINES, 6)).tolist()))) for name in "cr"]


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
    points, place, write = sweep_points({}, {"order": [2, 4]}), tmp_path / "journal", Checkpoint.write

    def stop(kept: Any, key: str, start: int, *given: Any) -> None:
        write(kept, key, start, *given)
        if start == 2048 and len(parts_of(place)) > 3:
            raise StopError

    with ParallelFiles.open({"one": texts[0], "two": texts[1]}, texts[1:]) as corpus:
        whole = sweep_corpus(corpus, points)
        monkeypatch.setattr(Checkpoint, "write", stop)
        with pytest.raises(StopError):
            sweep_corpus(corpus, points, checkpoint=place)
        monkeypatch.setattr(Checkpoint, "write", write)
        assert parts_of(place) == ["0-2048.npz"] * 2 + ["2048-4096.npz"] * 2 + ["4096-5000.npz"]
        assert sweep_corpus(corpus, points, checkpoint=place) == whole


def test_other_work_and_other_texts_count_for_nothing(texts: list[str], tmp_path: Path, monkeypatch: Any) -> None:
    place, vectors = tmp_path / "journal", tmp_path / "v.txt"
    vectors.write_text("dog 1 0\ncat 0 1\n")

    def started(metric: str = "bleu", source: str | None = None) -> int:
        """Segments that a run has done after its first block."""
        with ParallelFiles.open(texts[:1], texts[1:], source) as corpus:
            seen: list[int] = []
            score_corpus(corpus, metric, checkpoint=str(place), progress=lambda done, _: seen.append(done))
        return seen[0]

    soft = f"vleu(threshold=0.5, vectors={vectors})"
    # Each beside what was done just before.
    assert [started(), started(), started(source=texts[0])] == [1024, LINES, 1024]
    assert [started("bleu(order=2)"), started(soft), started(soft)] == [1024, 1024, LINES]
    vectors.write_text("dog 1 0\ncat 1 0\n")
    assert started(soft) == 1024
    started()
    Path(texts[1]).write_text("other text\n" * LINES)
    assert [started(), started()] == [1024, LINES]
    monkeypatch.setattr(runner, "__version__", "99")
    assert started() == 1024


def sealed(name: str, **arrays: Any) -> bytes:
    """A part that was made by somebody who knows how."""
    content = io.BytesIO()
    plain = {"rows": np.ones((1, 1, 10), int), "counts": [1], "segments": 2048, "coverage": [[0] * 4]}
    plain["references"] = [1, 1]
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
    place, ragged = tmp_path / "journal", tmp_path / "ragged"
    ragged.write_text("\n".join([*Path(texts[1]).read_text().split("\n")[:-2], "\n"]))
    with ParallelFiles.open(texts[:1], [texts[1], str(ragged)], blank_references="missing") as corpus:
        whole = score_corpus(corpus, "bleu", checkpoint=str(place))
        (part,) = place.glob("*-0-2048.npz")
        assert score_corpus(corpus, "bleu", checkpoint=str(place)) == whole
        DAMAGE[name](part)
        mine = tmp_path / "mine"
        before = mine.read_bytes() if mine.exists() else None
        with ProgressBar(quiet=False):
            assert score_corpus(corpus, "bleu", checkpoint=str(place)) == whole
    # What is noted of the texts: blank references, and outputs drawn at random.
    of_texts = ("blank", "odd outputs")
    said = [line for line in capsys.readouterr().err.splitlines() if not any(word in line for word in of_texts)]
    assert [line.partition("is damaged, and is made anew")[1] != "" for line in said] == [True]
    assert before == (mine.read_bytes() if mine.exists() else None)
    assert stat.S_ISREG(part.lstat().st_mode)


def test_a_journal_needs_a_place_of_its_own(refused: Any, files: Any, texts: list[str]) -> None:
    options = ["score", "-c", texts[0], "-r", texts[1], "--resume"]
    assert "--resume keeps a checkpoint beside the --output file: name one" in refused(*options, output=None)
    files.write(".out.json.score/letter.txt", ["mine"])
    assert "no checkpoint of an interrupted run" in refused(*options, output="out.json")
