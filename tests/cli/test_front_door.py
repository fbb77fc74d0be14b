"""What is tried first: examples of help, in their order, habits of sacrebleu; the program as a process, terminals."""

import io
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.conftest import LINES, TEXTS, read_toml
from judged_systems import OUTPUTS, REFERENCE
from made_up_logs import streamed, text_log
from made_up_sets import make_set
from meteor_data import write_meteor_data
from tables import each_row
from vector_files import write_store

import softbleu
from softbleu.cli import app
from softbleu.cli.app import run
from softbleu.cli.commands import COMMANDS, find_command
from softbleu.cli.help import declared_options, make_program
from softbleu.cli.output import Target
from softbleu.cli.settings import by_spelling
from softbleu.cli.words import parse_words
from softbleu.corpora.files import name_systems
from softbleu.corpora.generate import GenerationSettings, generate
from softbleu.formats import fit, lay_out
from softbleu.io import progress
from softbleu.io.progress import ProgressBar
from softbleu.matching import MATCHERS
from softbleu.metrics import METRICS
from softbleu.text.tokens import TOKENIZERS

EXAMPLES = read_toml(Path(app.__file__).with_name("examples.toml"))


def commands(made, *names):
    """Every command that has no commands of its own, by the words that call it."""
    inner = getattr(made, "list_commands", None)
    if inner is None:
        yield names, made
    for name in inner(None) if inner else ():
        yield from commands(made.get_command(None, name), *names, name)


PROGRAM = dict(commands(make_program(whole=True)))


@each_row("cli/lines.toml", "given", "made", table="spread")
def test_values_go_up_to_the_next_option(given, made):
    arguments = tuple(given.split())
    names = next(names for names in PROGRAM if names == arguments[: len(names)])
    options = find_command(" ".join(names)).options
    known = by_spelling([*declared_options(options), *(one.shown for one in options.help_options(None))])
    assert [
        " ".join(filter(None, (name, word))) for name, _, word in parse_words(known, arguments[len(names) :])
    ] == made


def test_names_of_options():
    """A letter means one thing; earlier spellings have a new one; values of options are told from arguments."""
    meanings: dict[str, set[str]] = {}
    for names, each in PROGRAM.items():
        for param in each.params:
            for name in (name for name in param.opts if len(name) == 2):
                meanings.setdefault(name, set()).add(param.opts[0].removesuffix("s"))
        if any(getattr(param, "multiple", False) for param in each.params):
            assert "TyperArgument" not in {type(param).__name__ for param in each.params}, names
    several = {name: found for name, found in meanings.items() if len(found) > 1}
    assert several == {"-o": {"--output", "--output-folder"}}
    earlier = {}
    for name in COMMANDS:
        declared = declared_options(find_command(name).options)
        known = {flag for param in PROGRAM[tuple(name.split())].params for flag in param.opts}
        earlier |= {flag: f"--{option.key}" for option in declared for flag in option.earlier}
        assert known.isdisjoint(flag for option in declared for flag in option.earlier)
    assert earlier == {
        "--against": "--baseline",
        "--long-signature": "--long",
        "--lower": "--lower-is-better",
        "--metric-settings": "--metric",
        "--remedy": "--variant",
        "--test-seed": "--seed",
    }


def test_folders_and_names(command, files):
    for name in ("b.txt", "a.txt", ".hidden", "deeper/c.txt"):
        files.write(f"outputs/{name}", ["the cat"] * 3)
    files.write("outputs/reference.txt", LINES["reference.txt"])
    given = ("-c", "outputs", "ours=candidate.txt", "-r", "outputs/reference.txt", "-f", "json")
    done = command("score", *given)
    assert [each["name"] for each in json.loads(done.out)["systems"]] == ["a", "b", "ours"]
    for name, *more in (("compare", "--samples", 10), ("explain", "-l", 1), ("sweep", "--matcher", "exact")):
        found = command(name, *given, *more).out
        assert '"ours"' in found
        assert not re.search(r'"(name|system)": "reference"', found)
    # A reference alone may be scored.
    assert name_systems(["r.txt"], ["r.txt"]) == {"r": "r.txt"}
    assert list(name_systems(["r.txt", "other.txt"], [], ["r.txt"])) == ["r", "other"]


@pytest.mark.parametrize("names", PROGRAM, ids=" ".join)
def test_every_command_has_short_flags(command, names):
    done = command(*names, "-h")
    assert (done.code, done.err) == (0, "")
    assert len(done.out.splitlines()) <= 40
    whole = command(*names, "--help-all").out
    assert all(re.search(r"--quiet.*-q\b", shown) for shown in (done.out, whole))
    options = find_command(" ".join(names)).options
    every = [*declared_options(options), *(option.shown for option in options.help_options(None))]
    assert all(one.argument or any(flag in whole for flag in by_spelling([one])) for one in every)
    assert "needs softbleu)" not in " ".join(done.out.replace("│", " ").split())
    assert "\\[" not in done.out


def test_help_shows_what_is_common_or_what_is_named(command):
    plain, named = command("score", "-h").out, command("score", "--metric", "gleu", "-h").out
    assert command("score", "--help").out == plain
    assert command("score", "--help", "all").out == command("score", "--help-all").out != plain
    options = ("--matcher", "--threshold", "--tokenize", "--seed", "--variant", "--assignment")
    assert [option in plain for option in options] == [True] * 3 + [False] * 3
    assert all(more in plain for more in ("softbleu score -m gleu --help", "softbleu score --help-all"))
    assert sum("softbleu score -" in line for line in plain.splitlines()[:25]) == 3
    assert all(option in named for option in options)
    assert "--smooth" not in named
    # Metrics are found wherever they stand.
    several = command("score", "-m", "bleu", "ter", "-q", "x", "--metric=gleu", "--bogus", "-h").out
    shown = [option in several for option in ("--smooth", "--variant", "--normalized", "--char-order")]
    assert shown == [True, True, True, False]
    assert "Matching" not in command("score", "-m", "ter", "-h").out
    assert "--language" in command("score", "-m", *METRICS.names(), "-h").out
    assert command("score", "-m", "glue", "-h").err.startswith("softbleu: error: unknown metric 'glue'")
    whole = command("--help").out
    assert all(name in whole for name in ("score", "explain", "corpora", "experiments"))


@each_row("cli/lines.toml", "one", "other", table="same")
def test_commands_that_do_the_same(command, files, one, other):
    done = command(*shlex.split(one))
    assert done.code == 0
    assert command(*shlex.split(other)) == done


@each_row("cli/lines.toml", "signature", "metric", table="sacrebleu")
def test_signatures_of_sacrebleu(command, refused, signature, metric):
    said = f"that is a signature of sacrebleu, which does not say enough; its metric is '{metric}' here"
    assert refused("score", "--signature", signature) == f"softbleu: error: {said}\n"
    assert command("score", "-m", metric, "-q").code == 0


ROWS = [["system", "BLEU", "P1", "P2", "length"], ["a-rather-long-name-of-a-system", "12.34", "50", "40", "1,234"]]


@pytest.mark.parametrize("width", [30, 40, 60])
def test_tables_fit_a_terminal(width):
    right = [False, True, True, True, True]
    tables = list(fit(ROWS, right, width))
    lines = [line for rows, columns in tables for line in lay_out(rows, [right[n] for n in columns], head=True)]
    assert max(map(len, lines)) <= width
    assert [n for _, columns in tables for n in columns if n] == [1, 2, 3, 4]
    assert all(columns[0] == 0 for _, columns in tables)
    # Piped tables are not cut.
    assert list(fit(ROWS, right, 0)) == [(ROWS, [0, 1, 2, 3, 4])]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_for_the_shell_that_is_named(command, tmp_path, shell):
    home = {"HOME": str(tmp_path), "SHELL": "/bin/bash"}
    shown = command("--show-completion", shell, environment=home)
    assert (shown.code, command("--show-completion", "csh").code) == (0, 2)
    assert {"bash": "complete -o", "zsh": "#compdef", "fish": "complete --command"}[shell] in shown.out
    done = command("--install-completion", shell, environment=home)
    assert (done.code, done.out.startswith(f"{shell} completion installed")) == (0, True)
    assert any(path.is_file() for path in tmp_path.rglob("*"))


@pytest.mark.parametrize(
    ("name", "expected"),
    [("metrics", METRICS.names()), ("matchers", MATCHERS.names()), ("tokenizers", TOKENIZERS.names())],
)
def test_everything_is_listed_with_a_line(command, name, expected):
    done = command(name, "--format", "jsonl")
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert [row["name"] for row in rows] == expected
    assert all(isinstance(value, str | None) and value != "" for row in rows for value in row.values())


@pytest.mark.parametrize("name", ["metrics", "metrics imeasure", "matchers", "tokenizers"])
def test_lists_are_wrapped_to_80_columns_and_cut_nothing(command, name):
    lines = command(*name.split()).out.splitlines()
    assert max(map(len, lines)) <= 80
    assert "…" not in "".join(lines).replace("1…N", "")
    if name == "metrics":
        assert {*METRICS.names(), "sleu", "vleu", "xleu"} <= {line.split()[0] for line in lines if line}


@pytest.mark.parametrize("name", COMMANDS)
def test_options_have_help_and_complete_something(name):
    for option in declared_options(find_command(name).options):
        assert option.help, option.name
        assert option.complete is None or [*option.complete()], option.name


PAIRS = GenerationSettings(grammar="alternations", pairing="paraphrase", count=40)
KEPT = ("human.tsv", "one.tsv", "two.tsv", "assessed.tsv", "nbest.jsonl", "words.txt", "my.cfg")
KEPT += ("human-a.txt", "human-b.txt", "brackets.txt", "my-sweep.toml")
KEPT += ("monday.json", "tuesday.json", "friday.json")
NAMED: dict[str, list[str]] = {
    **{f"{name}.txt": lines * 4 for name, lines in OUTPUTS.items()},
    **dict.fromkeys(("reference.txt", "ref1.txt", "ref2.txt", "source.txt"), REFERENCE * 4),
    "system.txt": OUTPUTS["b"] * 4,
    "corpus.txt": ["the cat sat ||| a cat sat"] * 20,
    "gold.m2": [line for text in REFERENCE * 4 for line in (f"S {text}", "")],
    **{name: LINES[name] for name in KEPT},
    "terms.tsv": ["cat\tKatze"],
    "vectors.txt": ["cat 1 0 1", "dog 1 0 0.9", "mat 0 1 0"],
    "rankings.csv": [line.lower() for line in LINES["rankings.csv"]],
    "judged.tsv": ["score\tcandidate\treference"]
    + [f"{-number}\tit {'is ' * number}right {number % 7}\tit is right {number % 7}" for number in range(1, 60)],
}


@pytest.fixture
def place(files: Any, monkeypatch: pytest.MonkeyPatch, command: Any) -> Path:
    """A folder with all that examples name."""
    monkeypatch.setattr("softbleu.embeddings.measure.PAIRS", 100)
    judged = ["system segment score", "A 1 90", "A 2 70", "A 3 50", "A 4 40", "B 1 80", "B 2 75", "B 3 20", "B 4 60"]
    outputs = {f"system-outputs/{name}.txt": NAMED[f"{name.lower()}.txt"] for name in "AB"}
    texts = {**outputs, "reference.txt": NAMED["reference.txt"], "esa.tsv": judged}
    wmt = {f"wmt/{pair}/{name}": lines for pair in ("en-cs", "en-de") for name, lines in texts.items()}
    for name, lines in {**NAMED, **wmt, "pairs.jsonl": map(str.strip, generate(PAIRS).lines("jsonl"))}.items():
        files.write(name, lines)
    write_meteor_data(Path("meteor"))
    texts = {"src": NAMED["reference.txt"], "refA": NAMED["reference.txt"]}
    make_set(monkeypatch, Path.cwd(), "wmt24", {"en-cs": texts}, Path.cwd().as_uri())
    monkeypatch.setenv("SOFTBLEU_METEOR_DATA", "meteor")
    monkeypatch.setenv("SOFTBLEU_STORES", "stores")
    made = command("networks", "make", "-r", "brackets.txt", "--notation", "brackets", "-o", "networks.jsonl")
    assert made.code == 0
    return Path(files.folder)


@pytest.mark.usefixtures("few_lines_tested")
@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_run_in_their_order(command: Any, place: Path, name: str) -> None:
    shown = " ".join(command(*name.split(), "--help-all").out.replace("│", " ").split())
    assert len(EXAMPLES[name]) >= 1
    if name not in ("embeddings convert", "embeddings train"):
        words = ["cat", "dog", "car", "truck", *(f"w{number}" for number in range(700))]
        write_store(place / "my-vectors", words, np.random.default_rng(4).normal(size=(len(words), 20)))
    for example in EXAMPLES[name].values():
        assert example in shown
        # What comes from a file comes through a pipe, too.
        piped = b""
        for part in example.split(" | "):
            program, *arguments = shlex.split(part)
            arguments += ["--meteor-data", "meteor"] if "--synonym-cost" in arguments else []
            if program == "cat":
                piped = Path(arguments[0]).read_bytes()
            elif program == "softbleu":
                done = command(*arguments, stdin=piped)
                assert done.code == 0, done.err
                written = {"-o", "--output", "--output-folder", "--output-prefix", "run", "sample"}
                assert done.out or written & set(arguments)
                piped = done.out.encode()
            else:
                assert shutil.which(program) or program == "dot"


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (kind, name)
        for kind, names in (("metrics", [*METRICS.names(), "vleu"]), ("matchers", MATCHERS.names()))
        for name in names
    ]
    + [("tokenizers", "zh")],
)
def test_one_is_shown_with_its_settings_and_an_example_that_runs(
    command: Any, place: Path, kind: str, name: str
) -> None:
    (place / "ref.txt").write_text("\n".join(REFERENCE * 4), encoding="utf-8")
    log = streamed() if name == "erasure" else text_log()
    (place / "system.log").write_text("\n".join(map(json.dumps, log)), encoding="utf-8")
    rows = [f"A\t{number}\t{number}" for number in range(1, 9)]
    (place / "scores.tsv").write_text("\n".join(["system\tsegment\tscore", *rows]), encoding="utf-8")
    shown = json.loads(command(kind, name, "-f", "json").out)
    assert shown["how"] if kind == "metrics" else shown["example"]
    for row in shown["rows"]:
        assert all(row.values()), row
    done = command(*shlex.split(shown["example"])[1:])
    assert done.code == 0 or ".[" in done.err, done.err


START = "from softbleu.cli.app import run; assert run({!r}) == 0"
SCORE = ["score", "--quiet", "-c", "candidate.txt", "-r", "reference.txt"]
posix = pytest.mark.skipif(os.name != "posix", reason="pipes and signals as POSIX has them")
STARTED = [sys.executable, "-m", "softbleu"]
HEAVY = {"gensim", "scipy", "faiss", "sacrebleu", "numba", "pandas", "matplotlib", "softbleu.metrics.hyter"}


@pytest.mark.parametrize(
    ("code", "needed", "unwanted"),
    [
        ("import softbleu", set(), {"numpy", *HEAVY}),
        (START.format(["--help"]), set(), {"numpy", *HEAVY}),
        (START.format(["corpora", "generate", "--help"]), set(), {"numpy", "nltk", *HEAVY}),
        # Sacrebleu's tokenizer is asked about few words only.
        (
            START.format([*SCORE, "--tokenize", "13a"]),
            {"numpy"},
            {"typer", "rich", "asyncio", "softbleu.language", *HEAVY},
        ),
        (START.format([*SCORE, "-m", "chrf", "--beta", "2"]), {"numpy"}, HEAVY),
        pytest.param(
            *(START.format([*SCORE, "--kernels", "numba"]), {"numba.np.arraymath"}, {"scipy.linalg"}),
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
def test_compiling_is_noted_once(program, files, tmp_path):
    pytest.importorskip("numba")
    # Enough segments for two workers.
    for path in (files.candidate, files.reference):
        files.write(path.name, LINES[path.name] * 2000)
    arguments = ["score", "--kernels", "numba", "--tokenize", "char", *TEXTS]
    kept = {"NUMBA_CACHE_DIR": str(tmp_path / "kernels")}
    first, again = (program(*arguments, "--jobs", 2, environment=kept) for _ in range(2))
    said = "softbleu: note: numba compiles softbleu's kernels, which takes up to 10 seconds, once"
    assert (first.err.startswith(said), first.err.count("\n")) == (True, 1)
    assert str(tmp_path / "kernels") in first.err
    assert (again.code, again.err, again.out) == (0, "", first.out)
    for more, noted in (((), 1), (("--quiet",), 0)):
        shutil.rmtree(tmp_path / "kernels")
        assert program(*arguments, *more, environment=kept).err.count(said) == noted


def test_the_program_scores_standard_input_with_the_same_digits(program, files):
    """Standard input, two processes, threads, any hash seed and the command's version, as a shell has them."""
    given = ("-r", files.reference, "-m", "vleu", "softbleu", "chrf", "--vectors", files.vectors, "-f", "json", "-q")
    named = program("score", "-c", f"-={files.candidate}", *given, environment={"PYTHONHASHSEED": "0"})
    other = {"PYTHONHASHSEED": "7", **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "4")}
    texts = files.candidate.read_bytes()
    piped = program("score", "-c", "-", *given, "--jobs", 2, stdin=texts, environment=other)
    assert piped == named
    assert (named.code, named.err) == (0, "")
    assert program("--version").out == f"softbleu {softbleu.__version__}\n"


@pytest.mark.parametrize(
    "words",
    ["--matcher exact xleu", "--smooth floor", "--preset morgan2014", "--vectors glove-6b-100d", "--format latex"],
)
def test_completion_of_names(command, words):
    option, *found = words.split()
    asked = {"COMP_WORDS": f"softbleu score {option} ", "COMP_CWORD": "3", "_SOFTBLEU_COMPLETE": "complete_bash"}
    assert set(found) <= set(command(environment=asked).out.split())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_an_error_of_one_line(files):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*STARTED, "score", *TEXTS], stdout=full, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)
    assert done.stderr.startswith(b"softbleu: error: cannot write standard output: ")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize(("more", "code"), [((), 0), (("-c", "missing.txt"), 2)], ids=["a note", "an error"])
@pytest.mark.parametrize("ending", ["2>/dev/full", "2>&-"])
def test_a_closed_stream_changes_no_exit_code(files, more, code, ending):
    line = shlex.join([*STARTED, "score", *TEXTS, *more, "--threshold", "0.5"])
    done = subprocess.run(f"{line} {ending}", shell=True, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.startswith("BLEU")) == (code, not more)


@posix
def test_reader_that_has_seen_enough(files):
    files.write("many.txt", ["a line of text"] * 5000)
    arguments = ["score", "-c", "many.txt", "-r", "many.txt", "--level", "segment", "-f", "jsonl"]
    process = subprocess.Popen([*STARTED, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
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


@posix
def test_it_may_be_ended_before_all_is_loaded():
    done = subprocess.run([sys.executable, "-c", ENDED_WHILE_LOADING], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (143, b"")


@posix
@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_interruption_is_quiet_and_leaves_nothing(files, tmp_path, name, code):
    number, temporary = getattr(signal, name), tmp_path / "temporary"
    temporary.mkdir()
    process = subprocess.Popen(
        [*STARTED, "score", "-c", "-", "-r", str(files.reference)],
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
        assert (process.stderr.read(), process.stdout.read()) == (b"", b"")
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
    TemporaryFolder().path
    Interrupted()
    print("went on")

signal.signal(signal.SIGINT, signal.default_int_handler)
softbleu.cli.app.run = run
softbleu.cli.main()
"""


@posix
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


@pytest.mark.parametrize(("total", "slow", "shown"), [(3000, True, "0/3000"), (3000, False, ""), (10, True, "")])
def test_slow_work_has_a_bar_before_the_first_is_done(terminal, total, slow, shown):
    screen = terminal()
    with ProgressBar(quiet=False) as bar:
        bar.begin(total, slow=slow)
    assert shown in screen.getvalue() if shown else screen.getvalue() == ""


def test_colours_are_for_terminals(monkeypatch, tmp_path):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    file = str(tmp_path / "out.txt")
    for stream, place, coloured in (
        (io.StringIO(), None, False),
        (Terminal(), file, False),
        (Terminal(), None, True),
    ):
        monkeypatch.setattr(sys, "stdout", stream)
        assert Target.of(place).layout(2).colour == coloured
    monkeypatch.setenv("NO_COLOR", "1")
    assert not Target.of(None).layout(2).colour
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(ValueError, match="standard output is closed"):
        Target.of(None)


def test_a_note_is_written_once_where_progress_is_shown(capsys, monkeypatch):
    monkeypatch.setattr(progress, "_shown", [])
    progress.note("before")
    with ProgressBar(quiet=False):
        progress.note("a [bold] line")
        progress.note("a [bold] line")
        with ProgressBar(quiet=True):
            progress.note("nothing")
    progress.note("after")
    with ProgressBar(quiet=False):
        progress.hush(unless_shown=False)
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


def test_a_terminal_is_shown_escapes(files, monkeypatch):
    hostile = "a \x1b]0;x\x07 \x9b31m \u202e b"
    files.write("one", [f"{hostile} is red ."])
    files.write("other", [f"{hostile} was red ."])
    shown = Terminal()
    monkeypatch.setattr(sys, "stdout", shown)
    assert run(["edits", "one", "other"]) == 0
    assert "\\x1b" in shown.getvalue()
    assert not set("\x1b\x07\x9b\u202e") & set(shown.getvalue())
