"""The program as a user starts it: processes, streams, start-up, terminals."""

import io
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import softbleu
from softbleu.cli.app import run
from softbleu.cli.output import Output
from softbleu.io import progress
from softbleu.io.progress import ProgressBar

START = "from softbleu.cli.app import run; assert run({!r}) == 0"
TEXTS = ["score", "--quiet", "-c", "candidate.txt", "-r", "reference.txt"]
PROGRAM = [sys.executable, "-m", "softbleu"]
HEAVY = {"gensim", "scipy", "faiss", "sacrebleu", "numba", "pandas", "matplotlib"}


@pytest.mark.parametrize(
    ("code", "needed", "unwanted"),
    [
        ("import softbleu", set(), {"numpy", *HEAVY}),
        (START.format(["--help"]), set(), {"numpy", *HEAVY}),
        (START.format(["corpora", "generate", "--help"]), set(), {"numpy", "nltk", *HEAVY}),
        # Sacrebleu's tokenizer is asked about few words only.
        (
            START.format([*TEXTS, "--tokenize", "13a"]),
            {"numpy"},
            {"rich", "asyncio", "softbleu.language", "softbleu.metrics.hyter", *HEAVY},
        ),
        (START.format([*TEXTS, "-m", "chrf", "--beta", "2"]), {"numpy"}, {"softbleu.metrics.hyter"}),
        pytest.param(
            *(START.format([*TEXTS, "--kernels", "numba"]), {"numba.np.arraymath"}, {"scipy.linalg"}),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_run_loads_what_it_needs_only(files, code, needed, unwanted):
    code += "\nimport sys\nprint('\\n' + ' '.join(sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=files.folder)
    loaded = set(done.stderr.splitlines()[-1].split())
    assert needed <= loaded
    assert loaded.isdisjoint(unwanted)


@pytest.mark.slow
@pytest.mark.parametrize("more", [[], ["--jobs", 2]])
def test_compiling_is_noted_once(program, files, tmp_path, more):
    pytest.importorskip("numba")
    # Enough segments for two workers.
    candidate, reference = (
        files.write(path.name, path.read_text().splitlines() * 2000) for path in (files.candidate, files.reference)
    )
    arguments = ["score", "--kernels", "numba", "--tokenize", "char", "-c", candidate, "-r", reference, *more]
    kept = {"NUMBA_CACHE_DIR": str(tmp_path / "kernels")}
    first, again = (program(*arguments, environment=kept) for _ in range(2))
    assert first.err.startswith(
        "softbleu: note: numba compiles softbleu's kernels, which takes up to 10 seconds, once"
    )
    assert first.err.count("\n") == 1
    assert str(tmp_path / "kernels") in first.err
    assert (again.code, again.err, again.out) == (0, "", first.out)
    shutil.rmtree(tmp_path / "kernels")
    assert program(*arguments, "--quiet", environment=kept).err == ""


def test_the_program_itself(program, files):
    """Standard input, two processes, threads, any hash seed and the command's version, as a shell has them."""
    given = ("-r", files.reference, "-m", "vleu", "softbleu", "chrf", "--vectors", files.vectors, "-f", "json", "-q")
    named = program("score", "-c", f"-={files.candidate}", *given, environment={"PYTHONHASHSEED": "0"})
    other = {"PYTHONHASHSEED": "7", **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "4")}
    texts = files.candidate.read_bytes()
    piped = program("score", "-c", "-", *given, "--jobs", 2, stdin=texts, environment=other)
    assert piped == named
    assert (named.code, named.err) == (0, "")
    assert program("--version").out == f"softbleu {softbleu.__version__}\n"


def test_no_command_is_help(command):
    shown = command("--help").out
    assert command().out == shown
    assert all(name in shown for name in ("score", "explain", "corpora", "experiments"))
    assert command("experiments").out == command("experiments", "--help").out


@pytest.mark.parametrize(
    "words",
    ["--matcher exact xleu", "--smooth floor", "--preset morgan2014", "--vectors glove-6b-100d", "--format latex"],
)
def test_completion_of_names(command, words):
    option, *found = words.split()
    asked = {"COMP_WORDS": f"softbleu score {option} ", "COMP_CWORD": "3", "_SOFTBLEU_COMPLETE": "complete_bash"}
    assert set(found) <= set(command(environment=asked).out.split())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_full_disk(files):
    arguments = ["score", "-c", str(files.candidate), "-r", str(files.reference)]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*PROGRAM, *arguments], stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(b"softbleu: error: cannot write standard output: ")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.skipif(os.name != "posix", reason="pipes and signals as POSIX has them")
def test_reader_that_has_seen_enough(files):
    many = files.write("many.txt", ["a line of text"] * 5000)
    arguments = ["score", "-c", str(many), "-r", str(many), "--level", "segment", "-f", "jsonl"]
    process = subprocess.Popen([*PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1


ENDED_WHILE_LOADING = """
import os, signal, sys
def end(event, given):
    if event == "exec" and given[0].co_filename.endswith("files.py"):
        os.kill(os.getpid(), signal.SIGTERM)
sys.addaudithook(end)
sys.argv = ["softbleu", "score"]
from softbleu.cli import main
main()
"""


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_it_may_be_ended_before_all_is_loaded():
    done = subprocess.run([sys.executable, "-c", ENDED_WHILE_LOADING], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (143, b"")


@pytest.mark.skipif(os.name != "posix", reason="pipes and signals as POSIX has them")
@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_interruption_is_quiet_and_leaves_nothing(files, tmp_path, name, code):
    number, temporary = getattr(signal, name), tmp_path / "temporary"
    temporary.mkdir()
    process = subprocess.Popen(
        [*PROGRAM, "score", "-c", "-", "-r", str(files.reference)],
        **dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE),
        # A shell that runs the tests in the background has them, and so their children, ignore interruptions.
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
        env={**os.environ, "TMPDIR": str(temporary)},
    )
    with process:
        # More than a pipe holds: when this returns, the program is reading.
        process.stdin.write(b"x\n" * (1 << 20))
        assert list(temporary.iterdir())
        process.send_signal(number)
        assert process.stderr.read() == b""
        assert process.stdout.read() == b""
        process.wait()
        process.stdin.close()
    assert process.returncode == code
    assert list(temporary.iterdir()) == []


FINALIZER = """
import os, signal, sys
import softbleu.cli, softbleu.cli.app
from softbleu.io.files import TemporaryFolder

class Interrupted:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        sum(range(1000))

def run(arguments):
    folder = TemporaryFolder()
    Interrupted()
    print("went on")

signal.signal(signal.SIGINT, signal.default_int_handler)
softbleu.cli.app.run = run
softbleu.cli.main()
"""


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_an_interruption_within_a_finalizer_is_not_lost(tmp_path):
    own = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", FINALIZER], capture_output=True, check=False, env=own)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")
    assert list(tmp_path.iterdir()) == []


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Terminal]:
    """Make standard error a terminal; to be called in the test, for pytest itself replaces it before."""

    def begin() -> Terminal:
        screen = Terminal()
        monkeypatch.setattr(sys, "stderr", screen)
        monkeypatch.setenv("TERM", "xterm")
        return screen

    return begin


@pytest.mark.parametrize(
    ("patience", "kind", "done", "shown"),
    [
        (progress.PATIENCE, "long work", [(1024, 30_000), (30_000, 30_000)], "1024/30000"),
        (-1.0, "slow work", [(1, 3)], "1/3"),
        (progress.PATIENCE, "short work", [(1, 3), (3, 3)], ""),
        *((progress.PATIENCE, kind, [(1024, 30_000)], "") for kind in ("quiet", "pipe")),
    ],
)
def test_a_bar_is_shown_for_long_work(terminal, monkeypatch, patience, kind, done, shown):
    monkeypatch.setattr(progress, "PATIENCE", patience)
    screen = terminal()
    monkeypatch.setattr(screen, "isatty", lambda: kind != "pipe")
    with ProgressBar(quiet=kind == "quiet") as bar:
        for each in done:
            bar(*each)
    assert shown in screen.getvalue() if shown else screen.getvalue() == ""


def test_colours_are_for_terminals(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert Output.of(None).layout(2).colour
    assert not Output.of(str(tmp_path / "out.txt")).layout(2).colour
    monkeypatch.setenv("NO_COLOR", "1")
    assert not Output.of(None).layout(2).colour
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert not Output.of(None).layout(2).colour
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(ValueError, match="standard output is closed"):
        Output.of(None)


def test_a_note_is_written_once_where_progress_is_shown(capsys):
    progress.note("before")
    with ProgressBar(quiet=False):
        progress.note("a [bold] line")
        progress.note("a [bold] line")
        with ProgressBar(quiet=True):
            progress.note("nothing")
    progress.note("after")
    with ProgressBar(quiet=False):
        progress.hush()
        progress.note("a line")
    assert capsys.readouterr().err == "softbleu: note: a [bold] line\n"


@pytest.mark.parametrize(("asked", "lines"), [(True, 1), (False, 0), (None, 0), (lambda done, total: None, 0)])
def test_a_library_writes_notes_if_progress_is_asked_for(capsys, asked, lines):
    with progress.shown(asked):
        progress.note("a line")
    assert capsys.readouterr().err.count("\n") == lines


def test_a_bar_says_how_much_is_done_a_second_and_a_note_stands_above_it(terminal):
    screen = terminal()
    with ProgressBar(quiet=False) as bar:
        for done in (1_000, 2_000, 4_000):
            bar(done, 30_000)
        progress.note("a [bold] line")
        assert bar._bar is not None
        shown = [str(column.render(bar._bar.tasks[0])) for column in bar._bar.columns]
    assert any(text.endswith("/s") and text.removesuffix("/s").replace(",", "").isdecimal() for text in shown)
    assert "softbleu: note: a [bold] line" in screen.getvalue()


def test_a_terminal_is_shown_escapes(tmp_path, monkeypatch):
    hostile = "a \x1b]0;x\x07 \x9b31m \u202e b"
    for name, text in (("one", f"{hostile} is red ."), ("other", f"{hostile} was red .")):
        (tmp_path / name).write_text(f"{text}\n", encoding="utf-8")
    shown = io.StringIO()
    shown.isatty = lambda: True
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdout", shown)
    assert run(["edits", "one", "other"]) == 0
    assert "\\x1b" in shown.getvalue()
    assert not set("\x1b\x07\x9b\u202e") & set(shown.getvalue())
