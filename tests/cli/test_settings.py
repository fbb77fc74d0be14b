"""Options made of declarations, those of plug-ins among them; several metrics in a run; metrics of other packages."""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from cli.conftest import TEXTS, scored
from declarations import TOKENIZE
from tables import each_row

import softbleu
from softbleu.config.declare import all_settings, parse_signature
from softbleu.declare import Score, StringMetric, setting
from softbleu.embeddings.choice import VectorChoice
from softbleu.errors import InputError
from softbleu.matching import MATCHERS, SoftMatcher
from softbleu.metrics import METRICS, Metric, Requirements
from softbleu.text.tokens import Tokenizer

OWNERS = (*METRICS.built_in.values(), *MATCHERS.built_in.values(), Tokenizer, VectorChoice)
SETTINGS = {
    (owner.name or owner.kind, each.name): each
    for owner in OWNERS
    for each in all_settings(owner, shared=owner is Tokenizer)
}
SETTINGS |= {("tokenizer", "tokenize"): TOKENIZE}
BAD = {"yes or no": None, "a whole number": "few", "a number": "few"}


@dataclass(frozen=True)
class Excess(Metric):
    per_word: float = setting(1.0, "What a word [of excess] costs", least=0)
    order: int = setting(3, "Nothing")
    strict: bool = setting(True, "Nothing")
    shape: str = setting("round", "Nothing", choices=("round", "flat"))
    name: ClassVar[str] = "ownexcess"
    higher_is_better: ClassVar[bool] = False

    def statistics(self, chunk, vectors, kernels):
        return np.column_stack((chunk.candidates.lengths, chunk.closest_reference_lengths()))

    def score(self, row):
        return Score(self.per_word * float(row[0] - row[1]) + self.strict)


CAPABILITIES = (
    "pairs",
    "marks",
    "paths",
    "tables",
    "find",
    "causes",
    "judge_edits",
    "plans",
    "read_rows",
    "documents",
)
HELPERS = dict.fromkeys(CAPABILITIES, lambda self: None)  # Methods that take nothing


@pytest.mark.parametrize("settings", [True, False], ids=["settings", "methods of its own"])
@pytest.mark.parametrize("arguments", ["score", "explain", "spans", "score -f html", "compare -f tsv --samples 20"])
def test_a_setting_or_helper_named_like_a_capability_is_none(command, files, offer, settings, arguments):
    own = {name: setting(2, "Nothing") for name in CAPABILITIES} if settings else HELPERS
    made = type(
        "Named", (Excess,), {"__annotations__": dict.fromkeys(CAPABILITIES, "int") if settings else {}, **own}
    )
    made.name = "named"
    done = []
    for kind in (Excess, dataclass(frozen=True)(made)):
        offer(metrics=[kind])
        found = command(*arguments.split(), *TEXTS, "-m", kind.name, "-q")
        done.append((found.code, found.err.replace(kind.name, "NAME")))
    assert done[0] == done[1]
    assert done[0][0] == (2 if arguments == "spans" else 0)


@dataclass(frozen=True)
class Near(SoftMatcher):
    reach: int = setting(1, "How many orders away", least=0, most=3)
    name: ClassVar[str] = "ownnear"

    def pool_orders(self, order, max_order):
        return [n for n in range(1, max_order + 1) if abs(n - order) <= self.reach]


@dataclass(frozen=True)
class Cut(Tokenizer):
    size: int = setting(3, "Characters of a token", least=1)
    name: ClassVar[str] = "owncut"

    def tokens(self, line):
        return [line[k : k + self.size] for k in range(0, len(line), self.size)]


@pytest.mark.parametrize(
    ("owner", "name"),
    [key for key in SETTINGS if key[1] not in ("quantile", "vectors", "idf", "table", "without_types")],
)
def test_every_option_refuses_what_its_setting_does(command, files, owner, name):
    each = SETTINGS[owner, name]
    bad = "-1e99" if each.least is not None and each.kind != "a whole number" else BAD.get(each.kind, "n,o")
    if bad is None:
        assert command("score", f"--{each.key}", f"--no-{each.key}", "--help").code == 0
        return
    metric = ["--metric", owner] if owner in METRICS.built_in else []
    matcher = owner if owner in MATCHERS.built_in else "vleu" if owner == "vectors" else None
    metric += [] if matcher is None else ["--matcher", matcher]
    done = command("score", *TEXTS, *metric, f"--{each.key}", bad)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert name.replace("_", " ") in done.err.replace("_", " ").replace("-", " ")


@pytest.fixture
def texts(files):
    files.lay("learner.txt")
    files.write("idf.txt", ["the a on it", "the night", "a"])
    return ["score", *TEXTS, "second.txt", "-s", "learner.txt", "-f", "json"]


@each_row("cli/lines.toml", "options", table="signatures")
def test_a_signature_runs_again(command, texts, options):
    """The very same JSON; the signature alone says what to compute, at which level."""
    done = command(*texts, *options.split())
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)
    assert command(*texts, "--signature", found["signature"]) == done
    assert json.loads(command(*texts).out)["systems"][0] != found["systems"][0]


def test_options_go_before_the_signature(command, texts):
    """Differences are noted (`notes.toml`)."""
    given = (*texts, "--signature", "metric:bleu|matcher:exact|order:2|smooth:none|tok:none|level:corpus")
    assert len(json.loads(command(*given, "--order", 3).out)["systems"][0]["totals"]) == 3
    # A threshold beside a signature is of no quantile.
    soft = "metric:bleu|matcher:vleu|quantile:p80|threshold:0.3|lowercase:yes"
    options = ("--matcher", "vleu", "--no-lowercase", "-t", 0.25, "--vectors", "vectors.txt")
    found = parse_signature(json.loads(command(*texts, "--signature", soft, *options).out)["signature"])
    assert [found[key] for key in ("lowercase", "threshold", "quantile")] == ["no", "0.25", "none"]


def test_vectors_are_those_of_the_signature_wherever_they_lie(command, texts, files, monkeypatch):
    texts = [str(files.folder / part) if part.endswith(".txt") else part for part in texts]
    first = command(*texts, "--matcher", "vleu", "-t", 0.5, "--vectors", "vectors.txt")
    signature = json.loads(first.out)["signature"]
    promised = parse_signature(signature)["vectors"]
    assert promised.startswith("vectors.txt#")
    monkeypatch.chdir(files.folder.parent)
    done = command(*texts, "--signature", signature)
    assert (done.code, done.err.count("\n"), "vectors.txt" in done.err) == (2, 1, True)
    assert command(*texts, "--signature", signature, "--vectors", files.vectors) == first
    files.write("vectors.txt", ["cat 1 2", "cats 2 1"])
    done = command(*texts, "--signature", signature, "--vectors", files.vectors, "--output", files.folder / "out")
    assert (done.code, done.out, done.err.count("\n"), promised in done.err) == (2, "", 1, True)
    assert not (files.folder / "out").exists()


def test_options_are_for_the_metrics_that_have_them(command, files):
    given = [*TEXTS, "-s", "second.txt", "--order", 2]
    both = scored(command, *given, "-m", "bleu", "gleu", "--variant", "gleu0")["systems"]
    alone = (
        scored(command, *given)["systems"] + scored(command, *given, "-m", "gleu", "--variant", "gleu0")["systems"]
    )
    assert [system["score"] for system in both] == [system["score"] for system in alone]


SAMPLES = {
    **dict.fromkeys(("bleu", "chrf", "vleu(threshold=0.8)"), "candidate"),
    **dict.fromkeys(("gleu(matcher=vleu, threshold=0.8)", "green", "m2", "imeasure"), "corrected"),
}


@pytest.mark.parametrize("metric", SAMPLES)
def test_each_metric_without_input_scores_its_sample_with_a_note(command, metric):
    done = command("score", "--metric", metric, "--format", "json")
    (system,) = json.loads(done.out)["systems"]
    assert (system["name"], 0 < system["score"] < 100) == (SAMPLES[metric], True)
    assert done.err == "softbleu: note: no input given (see --help), so this scores the bundled sample corpus\n"


@pytest.mark.parametrize("subcommand", ["compare", "explain", "sweep"])
def test_other_commands_choose_the_sample_too(command, subcommand):
    done = command(subcommand, "--metric", "gleu", "--quiet")
    assert (done.code, done.err, "corrected" in done.out) == (0, "", True)


def test_a_plug_in_brings_its_options(command, refused, files, offer):
    offer(metrics=[Excess], matchers=[Near], tokenizers=[Cut])
    named = ("--metric", "ownexcess", "--matcher", "ownnear", "--tokenize", "owncut")
    shown = " ".join(command("score", *named, "--help").out.split())
    options = ("--ownexcess-per-word", "--ownexcess-strict", "--ownnear-reach", "--owncut-size")
    assert all(part in shown for part in (*options, "[of excess]", "ownnear", "flat"))
    assert "--ownexcess-order" not in shown
    excess = ("--metric", "ownexcess", "--ownexcess-per-word", 2.5, "--no-ownexcess-strict", "-n", 2)
    found = scored(command, *TEXTS, *excess)
    assert found["systems"][0]["score"] == 2.5 * (15 - 16)
    assert found["signature"].startswith("metric:ownexcess|per-word:2.5|order:2|strict:no|shape:round|")
    assert scored(command, *TEXTS, "--metric", "ownexcess(per_word=2.5, strict=no, order=2)") == found
    assert "--ownexcess-per-word must be" in refused("score", *TEXTS, *excess[:2], "--ownexcess-per-word", -1)
    assert "round, flat" in refused("score", *TEXTS, *excess[:2], "--ownexcess-shape", "x")
    words = {"COMP_WORDS": "softbleu score --metric ", "COMP_CWORD": "3", "_SOFTBLEU_COMPLETE": "complete_bash"}
    assert {"ownexcess", "ownnear", "bleu"} <= set(command(environment=words).out.split())
    soft = (*TEXTS, "--vectors", "vectors.txt", "-t", 0.5, "--matcher")
    near = scored(command, *soft, "ownnear", "--ownnear-reach", 0)
    assert parse_signature(near["signature"])["reach"] == "0"
    assert near["systems"] == scored(command, *soft, "vleu")["systems"]
    cut = scored(command, *TEXTS, "--tokenize", "owncut", "--owncut-size", 1)
    assert cut["systems"] == scored(command, *TEXTS, "--tokenize", "char+space")["systems"]
    assert "|tokenize:owncut|size:1|lowercase:no|" in cut["signature"]
    assert scored(command, *TEXTS, "-m", "bleu(tokenize=owncut)", "--owncut-size", 1) == cut
    assert scored(command, *TEXTS, "--signature", cut["signature"]) == cut
    for option in ("--owncut-size", "--ownexcess-per-word"):
        said = f"softbleu: note: {option} is ignored: bleu (13a, exact) has no such setting\n"
        assert command("score", *TEXTS, option, 2).err == said


OWN_TEXTS = {
    "a": ["The cat sat", "a dog barks", "", "so it goes, so"],
    "b": ["the mat", "dogs bark", "x", "so it goes"],
    "c": ["the cat sat", "", "x", "it"],
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
def installed(files: Any, offer: Any) -> None:
    """A package with these metrics, and texts."""
    offer(metrics=[Lacking, LackingCodes, Length, Broken])
    for name, lines in OWN_TEXTS.items():
        files.write(f"{name}.txt", lines)
    files.write("human.tsv", ["system score", "a 2", "b 1", "c 3"])


@pytest.mark.usefixtures("installed")
@pytest.mark.usefixtures("few_lines_tested")
@each_row("cli/lines.toml", "run", table="strings")
def test_a_metric_of_strings_does_what_one_of_arrays_does(command: Any, run: str) -> None:
    name, *more = run.split()
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
    found = softbleu.score(candidates, None, sources, metrics=Length(), level="segment")
    scores = [50, 0, 200 / 3]
    assert [each.score for each in found.segments] == pytest.approx(scores, abs=1e-8)
    assert found.score == pytest.approx(np.mean(scores), abs=1e-8)
    pairs = zip(candidates, sources, strict=True)
    alone = [Length().sentence_score(text, None, source) for text, source in pairs]  # type: ignore[arg-type]
    assert [float(each) for each in alone] == [float(each) for each in found.segments]
    texts = [OWN_TEXTS["a"][:3], OWN_TEXTS["b"][:3]]
    ours, theirs = (softbleu.pairwise(*texts, metrics=metric(tokenize="intl")) for metric in (Lacking, LackingCodes))
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
    """Rows whose last number is another where they are wrong."""
    return lambda rows, wrong: np.where(wrong[:, None] & [False, True], np.array(value, kind), rows.astype(kind))


WAYS: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "one row": (lambda rows, wrong: rows[:1], "in segments 1 to 4: 1 rows of statistics for 4 segments"),
    "no array": (lambda *_: None, "in segment 3: statistics must be an array (segments, numbers), not NoneType"),
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
def test_a_metric_that_fails_is_named(command: Any, way: str) -> None:
    texts = ("b.txt",) if way != "wider" else ("a.txt", "b.txt")
    given = ("score", "-c", *texts, "-r", "r.txt", "-m", "broken", "--broken-way", way, "-j", 1 + (way == "raises"))
    done = command(*given)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith(f"softbleu: error: metric 'broken' of {__name__} fails")
    assert all(part in done.err for part in WAYS[way][1].split("… "))
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
def test_numbers_of_a_metric_of_strings_are_checked(value: Any) -> None:
    class Gives(StringMetric):
        name = "gives"

        def evaluate(self, candidate: str, references: Any, source: str | None) -> Any:
            return value if candidate == "b" else (1, 2)

    with pytest.raises(InputError, match=f"^metric 'gives' of {__name__} fails in segments? "):
        softbleu.score(["a", "b"], ["a", "a"], metrics=Gives())
