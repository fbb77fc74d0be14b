"""The program as a user starts it: processes, streams, start-up."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import softbleu
from softbleu.cli.app import make_program
from softbleu.cli.command import DECLARATIONS
from softbleu.cli.examples import EXAMPLES
from softbleu.config.declare import all_settings
from softbleu.embeddings.choice import VectorChoice
from softbleu.matching.kinds import VleuMatcher
from softbleu.metrics import Bleu
from softbleu.metrics.softbleu import Softbleu
from softbleu.text.tokens import Tokenizer

HEAVY = ("numpy", "gensim", "scipy", "faiss", "sacrebleu", "numba", "pandas", "matplotlib")


def modules_after(code: str) -> set[str]:
    code += "\nimport sys\nprint('\\n' + ' '.join(sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stderr.splitlines()[-1].split())


@pytest.mark.parametrize(
    "code",
    ["import softbleu", *(f"from softbleu.cli.app import run; run({a!r})" for a in (["--help"], ["--version"], []))],
)
def test_start_up_loads_nothing_heavy(code):
    assert modules_after(code).isdisjoint(HEAVY)


@pytest.mark.parametrize("tokenize", ["13a", "none"])
def test_scoring_loads_only_what_it_needs(files, tokenize):
    """Sacrebleu's tokenizer is not: it is asked about few words only."""
    given = ["score", "--quiet", "--tokenize", tokenize, "-c", str(files.candidate), "-r", str(files.reference)]
    loaded = modules_after(f"from softbleu.cli.app import run; assert run({given!r}) == 0")
    needed = {"numpy"}
    assert loaded.isdisjoint({"rich", "pydantic", *HEAVY} - needed)
    assert needed <= loaded
    assert not any(name.startswith(("sacrebleu", "softbleu.metrics.hyter")) for name in loaded)


def test_options_of_other_metrics_load_them(files):
    given = ["score", "--quiet", "-m", "chrf", "--beta", "2", "-c", str(files.candidate), "-r", str(files.reference)]
    loaded = modules_after(f"from softbleu.cli.app import run; assert run({given!r}) == 0")
    assert "softbleu.metrics.hyter" in loaded


def test_compiled_kernels_load_no_linear_algebra(files):
    pytest.importorskip("numba")
    given = ["score", "--kernels", "numba", "--quiet", "-c", str(files.candidate), "-r", str(files.reference)]
    loaded = modules_after(f"from softbleu.cli.app import run; assert run({given!r}) == 0")
    assert "numba.np.arraymath" in loaded
    assert "scipy.linalg" not in loaded


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
        "softbleu: note: numba compiles softbleu's kernels, which takes up to 20 seconds, once"
    )
    assert first.err.count("\n") == 1
    assert str(tmp_path / "kernels") in first.err
    assert (again.code, again.err, again.out) == (0, "", first.out)
    shutil.rmtree(tmp_path / "kernels")
    assert program(*arguments, "--quiet", environment=kept).err == ""


def test_standard_input(program, files):
    stdin = files.candidate.read_bytes()
    piped = program("score", "-c", "-", "-r", files.reference, "-f", "json", stdin=stdin)
    named = program("score", "-c", files.candidate, "-r", files.reference, "-f", "json")
    assert (piped.code, piped.err) == (0, "")
    assert json.loads(piped.out)["systems"][0]["score"] == json.loads(named.out)["systems"][0]["score"]


def test_version_help_and_no_command(program):
    assert program("--version").out == f"softbleu {softbleu.__version__}\n"
    assert program().out == program("--help").out
    assert "score" in program("--help").out
    assert "explain" in program("--help").out


@pytest.mark.parametrize(
    ("name", "examples"),
    [("score", EXAMPLES["score"]), ("compare", EXAMPLES["compare"]), ("explain", EXAMPLES["explain"])],
)
def test_help_shows_examples(command, name, examples):
    shown = " ".join(command(name, "--help", environment={"COLUMNS": "200"}).out.split())
    assert len(examples) >= 3
    assert all(example in shown for example in examples.values())


@pytest.mark.parametrize(
    "example", [*EXAMPLES["score"].values(), *EXAMPLES["compare"].values(), *EXAMPLES["explain"].values()]
)
def test_examples_run(command, files, monkeypatch, example):
    for name in ("system.txt", "reference.txt", "a.txt", "b.txt", "ref1.txt", "ref2.txt", "source.txt"):
        files.write(name, [f"line {number} ." for number in range(8)])
    files.write("corpus.txt", ["a dog ||| the dog"])
    files.write("gold.m2", [line for number in range(8) for line in (f"S line {number} .", "")])
    monkeypatch.chdir(files.folder)
    line = example.rpartition("| ")[2] if example.startswith("cat ") else example
    name, *arguments = shlex.split(line)
    done = command(*arguments, stdin=(files.folder / "system.txt").read_bytes())
    assert name == "softbleu"
    assert done.code == 0, done.err
    assert done.out


METRICS = ("-m", "bleu", "softbleu", "--matcher", "vleu")


def test_help_names_the_defaults_of_the_library(command):
    shown = " ".join(command("score", *METRICS, "-h", environment={"COLUMNS": "300"}).out.split())
    owners = (Bleu, VleuMatcher, VectorChoice, Tokenizer)
    defaults = {each.name: each.default for owner in owners for each in all_settings(owner)}
    defaults |= {"tokenize": Bleu().tokenize}
    defaults |= {"matcher": Bleu().matcher.name, "order": f"bleu {Bleu().order}; softbleu {Softbleu().order}"}
    named = ("matcher", "vectors", "vector_case", "tokenize", "order", "smooth", "denominator")
    for name in (*named, "assignment", "consumption", "composition"):
        line = shown.partition(f"--{name.replace('_', '-')} ")[2]
        assert line.partition("(default: ")[2].startswith(f"{defaults[name]})"), name


def test_what_completes_an_option_is_found():
    make_program()
    options = {(name, each.name): each.complete for name, own in DECLARATIONS.items() for each in own.options}
    assert [place for place, complete in options.items() if complete and not complete()] == []


def test_completion(program):
    script = program("--show-completion", "bash").out
    if not script:
        script = program("--show-completion", environment={"_SOFTBLEU_COMPLETE": "source_bash"}).out
    assert "_SOFTBLEU_COMPLETE" in script
    words = {"COMP_WORDS": "softbleu score --matcher ", "COMP_CWORD": "3", "_SOFTBLEU_COMPLETE": "complete_bash"}
    # Those of installed plug-ins come after.
    assert program(environment=words).out.split()[:4] == ["exact", "sleu", "vleu", "xleu"]
    words["COMP_WORDS"] = "softbleu score --tokenize "
    assert "13a" in program(environment=words).out.split()


@pytest.mark.parametrize(
    ("option", "name"),
    [
        ("--smooth", "floor"),
        ("--denominator", "all"),
        ("--preset", "morgan2014"),
        ("--composition", "aligned"),
        ("--vectors", "glove-6b-100d"),
        ("--format", "latex"),
        ("--assignment", "optimal"),
    ],
)
def test_completion_of_names(program, option, name):
    words = {"COMP_WORDS": f"softbleu score {option} ", "COMP_CWORD": "3", "_SOFTBLEU_COMPLETE": "complete_bash"}
    assert name in program(environment=words).out.split()


def test_output_is_written_whole(program, files):
    output = files.folder / "out.json"
    arguments = ("score", "-c", files.candidate, "-r", files.reference, "-f", "json")
    done = program(*arguments, "--output", output)
    assert (done.code, done.out, done.err) == (0, "", "")
    assert output.read_text() == program(*arguments).out
    assert sorted(path.name for path in files.folder.iterdir()) == [
        "candidate.txt",
        "out.json",
        "reference.txt",
        "second.txt",
        "vectors.txt",
    ]


@pytest.mark.skipif(os.name != "posix", reason="permissions and links as POSIX has them")
def test_output_keeps_links_and_permissions(program, files):
    target = files.write("target.txt", ["old"])
    target.chmod(0o640)
    link = files.folder / "link.txt"
    link.symlink_to(target)
    program("score", "-c", files.candidate, "-r", files.reference, "-o", link)
    assert link.is_symlink()
    assert target.read_text().startswith("BLEU ")
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_full_disk(files):
    arguments = ["score", "-c", str(files.candidate), "-r", str(files.reference)]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "softbleu", *arguments], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 2
    assert done.stderr.startswith(b"softbleu: error: cannot write standard output: ")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.skipif(os.name != "posix", reason="pipes and signals as POSIX has them")
def test_reader_that_has_seen_enough(files):
    many = files.write("many.txt", ["a line of text"] * 5000)
    arguments = ["score", "-c", str(many), "-r", str(many), "--level", "segment", "-f", "jsonl"]
    process = subprocess.Popen(
        [sys.executable, "-m", "softbleu", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with process:
        assert process.stdout is not None
        assert process.stderr is not None
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
        [sys.executable, "-m", "softbleu", "score", "-c", "-", "-r", str(files.reference)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A shell that runs the tests in the background has them, and so their children, ignore interruptions.
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
        env={**os.environ, "TMPDIR": str(temporary)},
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
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
    done = subprocess.run(
        [sys.executable, "-c", FINALIZER],
        capture_output=True,
        check=False,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")
    assert list(tmp_path.iterdir()) == []
