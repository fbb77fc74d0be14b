"""METEOR: the digits of its program, a slow oracle beside the search, what it needs and what it refuses."""

import gzip
import json
import shutil
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from meteor_data import DATA, EXCEPTIONS, PARAPHRASES, SYNSETS, write_meteor_data
from oracles import meteor as oracle
from refusing import refused
from shared_data import judged_lines, shared

import softbleu
from softbleu import InputError
from softbleu.cli.app import run
from softbleu.corpora.corpus import make_corpus
from softbleu.engine.plan import resolve_metric
from softbleu.engine.runner import collect_statistics
from softbleu.errors import MissingExtraError
from softbleu.metrics.meteor import METEOR_FUNCTION_WORDS
from softbleu.metrics.reading import read_metric
from softbleu.metrics.signatures import metric_from_signature
from softbleu.text.meteor import PACKAGE, MeteorData
from softbleu.thesaurus.resources import open_tables, stem

GOLDEN = json.loads((Path(__file__).parent / "golden" / "meteor.json").read_text(encoding="utf-8"))
WORDS = sorted(
    {word for pair in PARAPHRASES for phrase in pair for word in phrase.split()}
    | {*SYNSETS, "mice", "hoping", "jumping", "wished", "The", "."}
)
LINES = st.lists(st.sampled_from(WORDS) | st.sampled_from(["the", "cat", "small"]), max_size=9).map(" ".join)
TEXTS = ["wmt17-cs-en", "wmt17-de-en", "wmt17-fi-en", "conll14-AMU", "conll14-CAMB"]
STEMS = {"stages": "exact+stem"}
VARIANTS = {"rank": {}, "norm": {"tokenize": "meteor"}, "adq": {"task": "adq"}}
VARIANTS |= {"no_paraphrase": {"stages": "exact+stem+synonym"}}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_meteor_data(tmp_path_factory.mktemp("meteor") / "data"))


def score_of(candidate: str, reference: str, data: object, **more: Any) -> float:
    return softbleu.score([candidate], [reference], metrics="meteor", meteor_data=str(data), **more).score


def rows_of(candidates: Sequence[str], references: Any, **more: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
    measure = resolve_metric(read_metric("meteor", **more))
    statistics = collect_statistics(make_corpus(candidates, references), [measure], keep_rows=True)
    return statistics[0].rows[0]


def test_statistics_and_scores_are_those_of_the_program(data: str) -> None:
    segments = GOLDEN["segments"]
    names = ("candidate", "reference", "statistics")
    candidates, references, wanted = ([each[name] for each in segments] for name in names)
    assert rows_of(candidates, references, meteor_data=data)[:, :23].tolist() == wanted
    for task in ("rank", "adq"):
        found = softbleu.score(candidates, references, metrics="meteor", task=task, meteor_data=data, level="segment")
        scores = [each.score for each in found.segments or ()]
        assert scores == pytest.approx([100 * x[task] for x in segments], abs=1e-9)
        assert found.score == pytest.approx(100 * GOLDEN["final"][task], abs=1e-9)
    # The oracle has the digits of the program, too.
    assert [expected_row(*pair) for pair in zip(candidates, references, strict=True)] == wanted


@pytest.mark.parametrize(("line", "expected"), GOLDEN["normalised"])
def test_text_is_normalised_as_the_program_does(line: str, expected: str, data: str) -> None:
    assert " ".join(read_metric("bleu", tokenize="meteor", meteor_data=data).tokenizer.split(line)) == expected


@pytest.mark.parametrize("name", ["wmt17-cs-en", "conll14-AMU"])
def test_some_real_text_scores_as_with_the_program_by_exact_words_and_stems(name: str) -> None:
    check_real_text(name, "exact_stem", STEMS, count=150)


@pytest.mark.slow
def test_real_text_scores_as_with_the_program() -> None:
    # In one test: the table of paraphrases is read once.
    variants = VARIANTS if find_spec(PACKAGE) else {}
    for name, (variant, chosen) in product(TEXTS, {**variants, "exact_stem": STEMS}.items()):
        check_real_text(name, variant, chosen)


def check_real_text(name: str, variant: str, given: dict[str, Any], count: int | None = None) -> None:
    header, names, *lines = shared("expected", "meteor", f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    place = names.split("\t").index(variant)
    rows, metric = rows_of(*(texts[:count] for texts in real_text(name)), **given), read_metric("meteor", **given)
    expected = np.array([line.split("\t")[place] for line in lines[:count]], np.float64)
    assert metric.columns(rows).score == pytest.approx(100 * expected, abs=1e-9)
    if count is None:
        score = float(metric.score(rows.sum(axis=0)))
        assert score == pytest.approx(100 * float(header.split("\t")[place + 1]), abs=1e-9)
    if variant == "rank":
        found = [[float(number) for number in line.split("\t")[-1].split()] for line in lines]
        assert rows[:, :23].tolist() == found


@pytest.mark.parametrize("line", GOLDEN["languages"], ids=lambda line: line["candidate"])
def test_other_languages_are_as_with_the_program(line: dict[str, Any], data: str) -> None:
    settings = {key: line[key] for key in ("language", "tokenize") if key in line} | {"meteor_data": data}
    metric, texts = read_metric("meteor", **settings), ([line["candidate"]], [line["reference"]])
    assert rows_of(*texts, **settings)[:, :23].tolist() == [line["statistics"]]
    assert metric.corpus_score(*texts).score == pytest.approx(100 * line["score"], abs=1e-9)


@pytest.mark.parametrize("text", GOLDEN["texts"], ids=lambda text: text["language"])
def test_real_text_of_other_languages_scores_as_with_the_program(text: dict[str, Any], data: str) -> None:
    language, lines = text["language"], slice(text["first"], text["last"])
    texts = [shared("data", name).read_text(encoding="utf-8").split("\n")[lines] for name in text["files"]]
    if language == "ru":
        texts = [[line.split("\t")[column].strip() for line in rows] for column, rows in enumerate(texts, 1)]
    for kind, more in {"norm": {"tokenize": "meteor"}, "plain": {}}.items():
        expected = shared("expected", "meteor", "other-languages", f"{language}.{kind}.txt").read_text().splitlines()
        rows = rows_of(*texts, language=language, meteor_data=data, **more)
        assert rows[:, :23].tolist() == [[float(number) for number in line.split()] for line in expected]
    score = float(read_metric("meteor", language=language).score(rows.sum(axis=0)))
    assert score == pytest.approx(100 * text["score"], abs=1e-9)


@pytest.mark.parametrize("metric", DATA["lacking"])
def test_stages_that_meteor_lacks_in_a_language_are_named(metric: str) -> None:
    refused(InputError, DATA["lacking"][metric], read_metric, metric)


def real_text(name: str) -> tuple[list[str], list[list[str]]]:
    """What ../shared/expected/meteor was measured on, as the README there says."""
    kind, _, rest = name.partition("-")
    if kind == "wmt17":
        lines = judged_lines(rest)
        return [candidate for candidate, _ in lines], [[reference] for _, reference in lines]
    files = [shared("data", "conll14", each) for each in (f"systems/{rest}.txt", "ref0.txt", "ref1.txt")]
    texts = [[line.strip() for line in path.read_bytes().decode().split("\n")[:1312]] for path in files]
    return texts[0], [list(pair) for pair in zip(*texts[1:], strict=True)]


@pytest.mark.parametrize(("candidate", "reference", "expected"), DATA["statistics"])
def test_statistics_of_words_by_hand(candidate: str, reference: str, expected: dict[str, int]) -> None:
    (row,) = rows_of([candidate], [reference], stages="exact+stem").tolist()
    assert {place: row[int(place)] for place in expected} == expected


def sets_of(word: str) -> set[str]:
    """Synonym sets of a word and of its base: an exception, or the first that its ending leads to."""
    endings = [("s", ""), ("ed", ""), ("ing", "e"), ("ing", "")]
    regular = [word.removesuffix(ending) + other for ending, other in endings if word.endswith(ending)]
    bases = [base for base, forms in EXCEPTIONS.items() if word in forms] or [x for x in regular if x in SYNSETS][:1]
    return {each for base in (word, *bases) for each in SYNSETS.get(base, ())}


def expected_row(candidate: str, reference: str) -> list[int]:
    ours, theirs = candidate.split(), reference.split()
    alike: list[oracle.Alike] = [
        lambda one, other: one == other,
        lambda one, other: stem(one) == stem(other),
        lambda one, other: bool(sets_of(one) & sets_of(other)),
    ]
    matches = oracle.chosen(theirs, oracle.possible(ours, theirs, alike, PARAPHRASES))
    return oracle.statistics(ours, theirs, matches, lambda word: word.lower() in METEOR_FUNCTION_WORDS)


# Paths that have taken the same words share what is left; where words recur, many have taken others.
REPEATED = st.lists(st.sampled_from(["the", "of", "cat", "cats", "little", "small"]), min_size=9, max_size=14)
RECURRING = REPEATED.map(" ".join)
OVERFLOWING = "the cat of the the in cat the a of the", "cat the the of cat in the a the of the the"


@given(
    st.lists(st.tuples(LINES, LINES), min_size=1, max_size=5)
    | st.lists(st.tuples(RECURRING, RECURRING), min_size=1, max_size=1)
)
@example([OVERFLOWING])
@settings(max_examples=42)
def test_any_text_is_aligned_as_by_the_oracle_also_where_its_beam_overflows(data: str, pairs: Any) -> None:
    candidates, references = zip(*pairs, strict=True)
    rows = rows_of(candidates, list(references), meteor_data=data)
    assert rows[:, :23].tolist() == [expected_row(*pair) for pair in pairs]


@given(st.lists(st.tuples(LINES, st.lists(LINES, min_size=1, max_size=3)), min_size=1, max_size=3))
@settings(max_examples=8)
def test_the_best_reference_counts(data: str, segments: list[tuple[str, list[str]]]) -> None:
    candidates, references = zip(*segments, strict=True)
    together = softbleu.score(candidates, references, metrics="meteor", meteor_data=data, level="segment")
    for (candidate, own), found in zip(segments, together.segments or (), strict=True):
        assert found.score == pytest.approx(max(score_of(candidate, each, data) for each in own))
        assert 0 <= found.score <= 100
        assert score_of(candidate, candidate, data) == pytest.approx(100 if candidate else 0)


def test_the_signature_names_the_data_and_can_be_run_again(data: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first = softbleu.score(["a cat"], ["the cat"], metrics="meteor", meteor_data=data)
    assert f"|meteor-data:data#{MeteorData.of(data).fingerprint[:12]}|" in first.signature
    monkeypatch.chdir(Path(data).parent)
    again = metric_from_signature(first.signature).corpus_score(["a cat"], ["the cat"])
    assert (again.signature, again.score) == (first.signature, first.score)
    plain = softbleu.score(["a cat"], ["the cat"], metrics="meteor", stages="exact+stem", meteor_data=data)
    assert "meteor-data:none" in plain.signature


@pytest.mark.parametrize("metric", ["meteor", "bleu(tokenize=meteor)"])
def test_the_signature_is_run_again_with_data_elsewhere(data: str, tmp_path: Path, capsys: Any, metric: str) -> None:
    (text := tmp_path / "text").write_text("a small cat\n", encoding="utf-8")
    given = ["score", "-c", str(text), "-r", str(text), "-f", "json"]

    def said(*more: str) -> tuple[int, str, str]:
        return (run([*given, *more]), *capsys.readouterr())

    first = said("-m", metric, "--meteor-data", data)
    signature = json.loads(first[1])["signature"]
    assert said("--meteor-data", data, "--signature", signature) == first
    code, out, error = said("--signature", signature)
    assert (code, out) == (2, "")
    assert error.endswith("; where it lies elsewhere, name it with --meteor-data\n")


def test_making_large_tables_is_noted_once(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SOFTBLEU_CACHE", str(tmp_path / "cache"))
    folder, text = write_meteor_data(tmp_path / "own"), tmp_path / "text"
    text.write_text("a small cat\n")
    given = ["-c", str(text), "-r", str(text), "-m", "meteor", "--meteor-data", str(folder)]

    def notes(*more: str, anew: bool = True) -> str:
        open_tables.cache_clear()
        if anew:
            shutil.rmtree(tmp_path / "cache", ignore_errors=True)
        assert run(["score", *given, *more]) == 0
        return capsys.readouterr().err

    # Small tables are made at once.
    assert notes() == ""
    monkeypatch.setattr("softbleu.thesaurus.resources._LARGE", 1)
    said = notes()
    (kept,) = (tmp_path / "cache" / "meteor").iterdir()
    start = f"softbleu: note: makes tables of the paraphrases of {folder / 'data' / 'paraphrase-en.gz'}, "
    assert said == f"{start}which takes about half a minute, once: they are cached in {kept}\n"
    assert notes(anew=False) == notes("--quiet") == ""


def test_a_table_that_is_not_sorted_and_synonyms_without_exceptions_are_read(tmp_path: Path) -> None:
    pairs = [("x y", "b"), ("a", "c"), ("x y", "d e"), ("a", "x y"), ("p", "q")]
    folder = write_meteor_data(tmp_path / "own", pairs)
    rows = rows_of(["d e", "x y", "q r", "c"], ["x y", "a", "p", "a z"], meteor_data=str(folder))
    assert rows[:, [21, 22]].tolist() == [[2, 2], [2, 1], [1, 1], [1, 1]]
    (folder / "synonym" / "english.exceptions").unlink()
    scores = [score_of("small mice", reference, folder) for reference in ("little mice", "little mouse")]
    assert scores == pytest.approx([90, 16])


def test_without_the_package_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("softbleu.io.files.find_spec", lambda name: None)
    for chosen in ({"metrics": "meteor"}, {"metrics": "softbleu", "preset": "paraphrases"}):
        with pytest.raises(MissingExtraError, match=r"pip install '\.\[meteor\]' in a clone"):
            softbleu.score(["a"], ["a"], **chosen)
    assert softbleu.score(["a cat"], ["a cat"], metrics="meteor", stages="exact+stem").score == 100


@pytest.mark.parametrize("case", DATA["damaged"], ids=lambda case: case["said"])
def test_damaged_data_is_one_line(tmp_path: Path, case: dict[str, Any]) -> None:
    folder = write_meteor_data(tmp_path / "own")
    path, content = folder / case["file"], case.get("content", case.get("packed", "")).encode("latin-1")
    if "packed" in case:
        content = gzip.compress(content, mtime=0)[: case.get("cut")]
    path.unlink() if "missing" in case["said"] else path.write_bytes(content)
    assert str(folder) in refused(InputError, case["said"], score_of, "a cat", "the cat", folder)


def test_data_that_is_too_large_or_damaged_is_refused(
    data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long, jar, lacking = write_meteor_data(tmp_path / "long"), tmp_path / "jar" / "meteor-1.5.jar", tmp_path / "data"
    for place, message in ((tmp_path / "nothing", "no folder"), (tmp_path, "neither")):
        refused(InputError, message, read_metric, "meteor", meteor_data=str(place))
    jar.parent.mkdir()
    jar.write_bytes(b"PK")
    message = r"meteor-1.5.jar: .*cannot be read"
    refused(InputError, message, score_of, "a", "b", jar.parent, stages="exact+synonym")
    shutil.copytree(data, lacking, ignore=shutil.ignore_patterns("nonbreaking"))
    split = read_metric("bleu", tokenize="meteor", meteor_data=str(lacking)).tokenizer.split
    refused(InputError, "nonbreaking/english.prefixes is missing, which the tokenizer", split, "a b.")
    monkeypatch.setenv("SOFTBLEU_LONGEST_LINE", "100")
    monkeypatch.setattr("softbleu.io.reading.MOST_BYTES", 1000)
    (long / "data/paraphrase-en.gz").write_bytes(gzip.compress(b"0.5\n" + b"a" * 101))
    with ZipFile(jar, "w") as archive:
        archive.writestr("synonym/english.synsets", b"a" * 1001)
    for folder, message in ((long, "line 2: a line of more than 100 bytes"), (jar.parent, "larger than 0 MiB")):
        refused(InputError, message, score_of, "a cat", "the cat", folder)
