"""What people who come from sacrebleu try first, and the examples that help shows: each runs, in its order."""

import json
import re
import shlex
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest
from cli.conftest import LINES, write_set
from judged_systems import OUTPUTS, REFERENCE
from meteor_data import write_meteor_data

from softbleu.cli import options
from softbleu.cli.app import make_program
from softbleu.cli.options import EARLIER, spread_values
from softbleu.corpora.files import name_systems
from softbleu.corpora.generate import GenerationSettings, generate
from softbleu.matching import MATCHERS
from softbleu.metrics import METRICS
from softbleu.report.layout import fit, lay_out
from softbleu.text.tokens import TOKENIZERS

EXAMPLES = tomllib.loads(Path(options.__file__).with_name("examples.toml").read_text(encoding="utf-8"))
OF_WHITE_SPACE = "chrf(char_order=6, word_order=0, whitespace=yes, eps_smoothing=yes, lowercase=yes)"


def commands(made, *names):
    """Every command that has no commands of its own, by the words that call it."""
    inner = getattr(made, "list_commands", None)
    if inner is None:
        yield names, made
    for name in inner(None) if inner else ():
        yield from commands(made.get_command(None, name), *names, name)


PROGRAM = dict(commands(make_program(whole=True)))


def spread(*arguments):
    names = next(names for names in PROGRAM if names == arguments[: len(names)])
    return [*names, *spread_values(PROGRAM[names].params, arguments[len(names) :])]


@pytest.mark.parametrize(
    "line",
    [
        "score -c A B -r R S => score -c A -c B -r R -r S",
        "score -m bleu chrf -q -c A => score -m bleu -m chrf -q -c A",
        "score --candidate=A B -b => score --candidate=A --candidate B -b",
        "score -cA B => score -cA -c B",
        "score -c - A -o -x => score -c - -c A -o -x",
        "score -c A --threshold -1 -r R => score -c A --threshold -1 -r R",
        "sweep --vary a=1 b=2 -t 0.5 -1 => sweep --vary a=1 --vary b=2 -t 0.5 -t -1",
        "score -c A -- -c B C => score -c A -- -c B C",
        "embeddings neighbours cat dog -k 3 => embeddings neighbours cat dog -k 3",
        "score --long-signature -c A => score --long -c A",
        "compare --test-seed=5 => compare --seed=5",
    ],
)
def test_values_go_up_to_the_next_option(line):
    given, made = line.split(" => ")
    assert spread(*given.split()) == made.split()


def test_no_option_of_several_values_stands_beside_arguments():
    """There nobody could tell values from arguments."""
    for names, each in PROGRAM.items():
        if any(getattr(param, "multiple", False) for param in each.params):
            assert "TyperArgument" not in {type(param).__name__ for param in each.params}, names


def test_earlier_spellings_have_a_new_one():
    known = {name for param in PROGRAM["compare",].params for name in param.opts}
    assert set(EARLIER.values()) <= known
    assert not set(EARLIER) & known


def test_folders_and_names(command, files):
    folder = files.folder / "outputs"
    folder.mkdir()
    for name in ("b.txt", "a.txt", ".hidden"):
        (folder / name).write_text("the cat\n" * 3)
    (folder / "reference.txt").write_bytes(files.reference.read_bytes())
    (folder / "deeper").mkdir()
    given = ("-c", folder, f"ours={files.candidate}", "-r", folder / "reference.txt", "-f", "json")
    done = command("score", *given)
    assert [each["name"] for each in json.loads(done.out)["systems"]] == ["a", "b", "ours"]
    for name in ("compare", "explain", "sweep"):
        more = {"compare": ["--samples", 10], "explain": ["-l", 1], "sweep": ["--matcher", "exact"]}[name]
        found = command(name, *given, *more).out
        assert '"ours"' in found
        assert not re.search(r'"(name|system)": "reference"', found)


def test_a_reference_alone_may_be_scored(tmp_path):
    path = str(tmp_path / "r.txt")
    assert name_systems([path], [path]) == {"r": path}
    assert list(name_systems([path, "other.txt"], [], [path])) == ["r", "other"]


@pytest.mark.parametrize("names", PROGRAM, ids=" ".join)
def test_every_command_has_short_flags(command, names):
    done = command(*names, "-h")
    assert (done.code, done.err) == (0, "")
    assert command(*names, "--help").out == done.out
    assert "--quiet" in done.out
    assert re.search(r"-q\b", done.out)
    assert "needs softbleu)" not in " ".join(done.out.replace("│", " ").split())
    assert "\\[" not in done.out


def test_a_letter_means_one_thing():
    meanings: dict[str, set[str]] = {}
    for each in PROGRAM.values():
        for param in each.params:
            for name in param.opts:
                if len(name) == 2:
                    meanings.setdefault(name, set()).add(param.opts[0].removesuffix("s"))
    several = {name: found for name, found in meanings.items() if len(found) > 1}
    assert several == {"-o": {"--output", "--output-folder"}}


def test_help_shows_what_is_common_or_what_is_named(command):
    plain, named = command("score", "-h").out, command("score", "--metric", "gleu", "-h").out
    options = ("--matcher", "--threshold", "--tokenize", "--seed", "--variant", "--assignment")
    assert [option in plain for option in options] == [True] * 3 + [False] * 3
    assert "softbleu score --metric gleu --help" in plain
    assert all(option in named for option in options)
    assert "--smooth" not in named
    # Metrics are found wherever they stand.
    several = command("score", "-m", "bleu", "ter", "-q", "x", "--metric=gleu", "--bogus", "-h").out
    shown = [option in several for option in ("--smooth", "--variant", "--normalized", "--char-order")]
    assert shown == [True, True, True, False]
    assert "Matching" not in command("score", "-m", "ter", "-h").out
    assert command("score", "-m", "glue", "-h").err.startswith("softbleu: error: unknown metric 'glue'")


def test_case_does_not_matter(command, files):
    given = ("score", "-c", files.candidate, "-r", files.reference, "--vectors", files.vectors, "-t", 0.8)
    lower = command(*given, "-m", "gleu", "-s", files.second, "--matcher", "vleu", "--tokenize", "13a", "-f", "tsv")
    upper = command(*given, "-m", "GLEU", "-s", files.second, "--matcher", "VLEU", "--tokenize", "13A", "-f", "TSV")
    assert (lower.code, lower.err) == (0, "")
    assert upper == lower
    assert command("score", "--level", "MACRO", "-q").out == command("score", "--level", "macro", "-q").out


INTL = "bleu(tokenize=intl, smooth=add-k, smooth_value=2.00, effective_order=yes, lowercase=yes)"


@pytest.mark.parametrize(
    ("signature", "metric"),
    [
        ("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0", "bleu(tokenize=13a, smooth=exp)"),
        ("BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0", "bleu(tokenize=13a, smooth=exp)"),
        ("nrefs:2|case:lc|eff:yes|tok:intl|smooth:add-k[2.00]|version:2.4.0", INTL),
        ("nrefs:1|case:mixed|eff:yes|nc:6|nw:2|space:no|version:2.6.0", "chrf(char_order=6, word_order=2)"),
        ("nrefs:1|case:lc|eff:no|nc:6|nw:0|space:yes|version:2.6.0", OF_WHITE_SPACE),
        ("nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:2.6.0", "ter(lowercase=yes)"),
        ("nrefs:1|case:mixed|tok:tercom|norm:yes|punct:yes|asian:no", "ter(normalized=yes, lowercase=no)"),
    ],
)
def test_signatures_of_sacrebleu(command, refused, signature, metric):
    said = f"that is a signature of sacrebleu, which does not say enough; its metric is '{metric}' here"
    assert refused("score", "--signature", signature) == f"softbleu: error: {said}\n"
    assert command("score", "-m", metric, "-q").code == 0


def test_a_threshold_that_nobody_gave_is_said(command, files):
    given = ("score", "-c", files.candidate, "-r", files.reference, "--vectors", files.vectors)
    said = "softbleu: note: threshold 0.8 (the default; --threshold sets it)\n"
    assert command(*given, "--matcher", "vleu").err == said
    assert command(*given, "-m", "vleu", "xleu").err == said
    for asked in (["-t", 0.8], ["--preset", "morgan2014"], ["-q"]):
        assert command(*given, "--matcher", "vleu", *asked).err == ""
    assert command(*given, "-m", "vleu(threshold=0.8)").err == ""


def test_tokenised_text_is_said(command, files):
    lines = ["a cat sat ."] * 30
    tokenised, plain = files.write("tokenised.txt", lines), files.write("plain.txt", ["a cat sat."] * 30)
    done = command("score", "-c", plain, tokenised, "-r", files.write("reference.txt", lines))
    assert done.err.startswith("softbleu: note: most lines of tokenised end in a mark that stands alone")
    assert done.err.count("\n") == 1
    for more in (["--tokenize", "none"], ["-m", "chrf"], ["-q"]):
        assert command("score", "-c", tokenised, "-r", plain, *more).err == ""
    few = files.write("few.txt", lines[:10])
    assert command("score", "-c", few, "-r", few).err == ""


@pytest.mark.parametrize("output_format", ["text", "markdown", "latex"])
def test_signatures_of_a_sweep_stand_below_if_at_all(command, files, output_format):
    given = ("sweep", "-c", files.candidate, "-r", files.reference, "--vectors", files.vectors)
    options = ("-m", "vleu", "-t", "0.5", "0.8", "-f", output_format)
    assert "signature" not in command(*given, *options).out
    assert command(*given, *options, "--long").out.count("signature: ") == 2
    assert command(*given, *options[:-1], "tsv").out.splitlines()[0].endswith("\tsignature")


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
    assert shown.code == 0
    assert command("--show-completion", "csh").code == 2
    assert {"bash": "complete -o", "zsh": "#compdef", "fish": "complete --command"}[shell] in shown.out
    done = command("--install-completion", shell, environment=home)
    assert done.code == 0
    assert done.out.startswith(f"{shell} completion installed")
    assert any(path.is_file() for path in tmp_path.rglob("*"))


def test_a_metric_named_twice_is_computed_once(command: Any, files: Any) -> None:
    given = ["-c", files.candidate, files.second, "-r", files.reference, "-f", "tsv"]
    once = command("score", *given, "-m", "bleu", "chrf")
    twice = command("score", *given, "-m", "bleu", "BLEU", "chrf", "bleu(order=4)")
    assert (twice.code, twice.out) == (0, once.out)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("metrics", METRICS.names()), ("matchers", MATCHERS.names()), ("tokenizers", TOKENIZERS.names())],
)
def test_everything_is_listed_with_a_line(command, name, expected):
    done = command(name, "--format", "jsonl")
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert [row["name"] for row in rows] == expected
    assert all(isinstance(value, str | None) and value != "" for row in rows for value in row.values())


def test_options_complete_something_and_are_those_of_commands():
    text = Path(options.__file__).with_suffix(".txt").read_text(encoding="utf-8")
    named = {*re.findall(r"<([a-z_.]+:\w+)>", text)}
    assert len(named) > 10
    assert all(options.completion_of(each)() for each in named)
    assert {*re.findall(r"^\[(.*)\]$", text, re.MULTILINE)} <= {" ".join(names) for names in PROGRAM}


PAIRS = GenerationSettings(grammar="alternations", pairing="paraphrase", count=40)
SWEEP = ['kind = "sweep"', "[corpus]", 'candidates = ["a.txt", "b.txt"]', 'references = ["reference.txt"]']
SWEEP += ["[sweep]", 'matchers = ["exact"]']
RUN = '{"schema": 1, "signature": "metric:bleu", "systems": [{"name": "a", "score": %s}]}'
TEXTS: dict[str, list[str]] = {
    **{f"{name}.txt": lines * 4 for name, lines in OUTPUTS.items()},
    **dict.fromkeys(("reference.txt", "ref1.txt", "ref2.txt", "source.txt"), REFERENCE * 4),
    "system.txt": OUTPUTS["b"] * 4,
    "corpus.txt": ["the cat sat ||| a cat sat"] * 20,
    "gold.m2": [line for text in REFERENCE * 4 for line in (f"S {text}", "")],
    "vectors.txt": ["cat 1 0 1", "dog 1 0 0.9", "mat 0 1 0"],
    "words.txt": ["cat", "dog"],
    "my.cfg": ["S -> N V", "N -> 'Ann' | 'Bob'", "V -> 'ran' | 'sat'"],
    **{name: LINES[name] for name in ("human.tsv", "one.tsv", "two.tsv", "assessed.tsv", "nbest.jsonl")},
    "rankings.csv": [line.lower() for line in LINES["rankings.csv"]],
    "judged.tsv": ["score\tcandidate\treference"]
    + [f"{-number}\tit {'is ' * number}right {number % 7}\tit is right {number % 7}" for number in range(1, 60)],
    "human-a.txt": ["Today Ann was seen there .", "At noon Bob was there ."],
    "human-b.txt": ["There Ann was seen .", "There Bob was at noon ."],
    "brackets.txt": ["the [big] (dog|hound) barked"] * 3,
    "my-sweep.toml": SWEEP,
    **{f"{day}.json": [RUN % score] for day, score in (("monday", 20.5), ("tuesday", 21.5))},
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Any) -> Path:
    """A folder with all that examples name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("softbleu.embeddings.measure.PAIRS", 100)
    for name, lines in TEXTS.items():
        Path(name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    Path("pairs.jsonl").write_text("".join(generate(PAIRS).lines("jsonl")), encoding="utf-8")
    Path("my-data.toml").write_text('[mine]\ntitle = ""\nsource = ""\nlicence = "CC0-1.0"\n')
    Path("my-data.sha256").touch()
    for pair in ("en-cs", "en-de"):
        (tmp_path / "wmt" / pair / "system-outputs").mkdir(parents=True)
        shutil.copy("a.txt", f"wmt/{pair}/system-outputs/A.txt")
        shutil.copy("reference.txt", f"wmt/{pair}")
        Path(f"wmt/{pair}/esa.tsv").write_text("system segment score\nA 1 90\nA 2 70\nA 3 50\nA 4 40\n")
    write_meteor_data(Path("meteor"))
    monkeypatch.setenv("SOFTBLEU_METEOR_DATA", "meteor")
    made = command("networks", "make", "-r", "brackets.txt", "--notation", "brackets", "-o", "networks.jsonl")
    assert made.code == 0
    return tmp_path


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_run_in_their_order(command: Any, place: Path, name: str) -> None:
    shown = " ".join(command(*name.split(), "--help").out.replace("│", " ").split())
    assert len(EXAMPLES[name]) >= 1
    if name not in ("embeddings convert", "embeddings train"):
        write_set(place / "my-vectors", ["cat", "dog", "car", "truck", *(f"w{number}" for number in range(700))])
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
                assert done.out or {"-o", "--output", "--output-folder", "--output-prefix", "run"} & set(arguments)
                piped = done.out.encode()
            else:
                assert shutil.which(program) or program == "dot"
