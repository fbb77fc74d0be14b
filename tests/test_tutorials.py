"""The tutorial packages of docs/ are installed as their pages say, and work everywhere."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jiwer
import pytest

import softbleu

DOCS = Path(__file__).resolve().parents[1] / "docs"
PACKAGES = {
    "tutorial_matcher": ["softbleu_phrase.py"],
    "tutorial_metric": ["softbleu_wer.py", "softbleu_wer_arrays.py"],
    "tutorial_tokenizer": ["softbleu_thai.py"],
}
CANDIDATES = {
    "good": ["the cat sat on the mat", "a dog barks at night", "it rains"],
    "bad": ["cat sits on a mat mat", "the dogs bark", "rain"],
    "poor": ["the cat sat on a mat", "a dog barked loudly at night", "it rained"],
}
REFERENCES = ["the cat sat on the mat", "a dog barked at night", "it rains"]
TEXTS = ("-c", "good.txt", "-c", "bad.txt", "-c", "poor.txt", "-r", "reference.txt")
Run = Callable[..., "subprocess.CompletedProcess[str]"]


def install(target: Path) -> None:
    """Install them beside softbleu; no other file is touched."""
    options = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check"]
    for folder, modules in PACKAGES.items():
        source = target / f"{folder}.source"
        source.mkdir()
        for name in ("pyproject.toml", *modules):
            (source / name).write_bytes((DOCS / folder / name).read_bytes())
        command = [sys.executable, "-m", "pip", "install", *options, "--target", str(target), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=target)
        assert done.returncode == 0, done.stderr


@pytest.fixture
def run(build_once: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run softbleu, or Python, where they are installed."""
    for name, lines in {**CANDIDATES, "reference": REFERENCES}.items():
        (tmp_path / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines))
    target = build_once("tutorials", install)
    monkeypatch.setenv("PYTHAINLP_DATA", str(tmp_path))  # Else it makes a folder in the user's home
    path = os.pathsep.join(filter(None, [str(target), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": path, "COLUMNS": "200"}

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        program = [] if arguments[0] == "-c" else ["-m", "softbleu"]
        command = [sys.executable, *program, *arguments]
        return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path)

    return call


def read(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_page_shows_the_code_that_is_installed() -> None:
    for folder, modules in PACKAGES.items():
        page = (DOCS / folder / "README.md").read_text(encoding="utf-8")
        code = (DOCS / folder / modules[0]).read_text(encoding="utf-8")
        shown = page.partition("```python\n")[2].partition("```")[0]
        assert code.endswith(shown)
    lines = (line.strip() for line in (DOCS / "tutorial_metric" / "softbleu_wer.py").read_text().splitlines())
    assert len([line for line in lines if line and not line.startswith('"""')]) <= 15


@pytest.mark.slow
def test_the_matcher_matches_phrases_only(run: Run) -> None:
    def found(matcher: str) -> Any:
        threshold = [] if matcher == "exact" else ["--threshold", "0.8"]
        return read(run("score", "--format", "json", "--matcher", matcher, *threshold))

    scored = {matcher: found(matcher) for matcher in ("exact", "phrase", "vleu")}
    exact, phrase, vleu = (each["systems"][0]["matches"] for each in scored.values())
    assert phrase[0] == exact[0] < vleu[0]
    assert phrase[1:] == vleu[1:]
    assert phrase[1] > exact[1]
    assert "matcher:phrase|threshold:0.8|" in scored["phrase"]["signature"]
    done = run("score", "--matcher", "phrases")
    assert done.returncode == 2
    assert "did you mean 'phrase'?" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["wer", "wer-arrays"])
def test_the_metric_has_the_numbers_of_jiwer_and_a_setting(run: Run, metric: str) -> None:
    systems = read(run("score", "--metric", metric, *TEXTS, "--format", "json", "--jobs", "2"))["systems"]
    for system in systems:
        assert system["score"] == pytest.approx(100 * jiwer.wer(REFERENCES, CANDIDATES[system["name"]]), abs=1e-9)
    assert len({system["score"] for system in systems}) == 3
    # Errors are turned round: more of them is worse.
    table = read(run("compare", "--metric", metric, *TEXTS, "--format", "json", "--samples", "200"))
    assert {row["name"]: row["rank"] for row in table["systems"]} == {"good": 1, "poor": 2, "bad": 3}
    if metric == "wer-arrays":
        option = ("--wer-arrays-substitution-cost", "2")
        costly = read(run("score", "--metric", metric, *option, *TEXTS, "--format", "json"))["systems"]
        assert [100 * system["edits"] / 13 for system in costly] == [system["score"] for system in costly]
        assert all(system["edits"] < two["edits"] for system, two in zip(systems, costly, strict=True))


@pytest.mark.slow
def test_the_tokenizer_has_the_words_of_pythainlp_and_a_setting(run: Run, tmp_path: Path) -> None:
    from pythainlp.tokenize import word_tokenize

    text, other = ["แมวนั่งบนเสื่อ", "ฝนตกหนัก มาก"], ["แมวนั่งอยู่บนเสื่อ", "ฝนตกหนัก"]
    for name, lines in (("thai", text), ("thai_reference", other)):
        (tmp_path / f"{name}.txt").write_text("\n".join(lines), encoding="utf-8")
        split = [" ".join(word_tokenize(line, keep_whitespace=False)) for line in lines]
        (tmp_path / f"{name}_words.txt").write_text("\n".join(split), encoding="utf-8")
    texts = ("score", "-c", "thai.txt", "-r", "thai_reference.txt", "-n", "2", "-f", "json")
    words = ("score", "-c", "thai_words.txt", "-r", "thai_reference_words.txt", "-n", "2", "-f", "json")
    found = read(run(*texts, "--tokenize", "thai"))
    assert found["systems"][0]["totals"] == read(run(*words, "--tokenize", "none"))["systems"][0]["totals"] != [2, 0]
    assert "|tokenize:thai|engine:newmm|lowercase:no|" in found["signature"]
    assert read(run(*texts, "--signature", found["signature"], "--jobs", "2")) == found
    assert "|engine:longest|" in run(*texts, "--tokenize", "thai", "--thai-engine", "longest").stdout
    assert "Thai words, from the dictionary of pythainlp.\tth\n" in run("tokenizers", "-f", "tsv").stdout
    (tmp_path / "pythainlp.py").write_text("raise ImportError")
    done = run(*texts, "--tokenize", "thai")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "pip install pythainlp" in done.stderr


# The metric for Hugging Face evaluate loads offline from its folder, and its numbers are softbleu's.
FOLDER = Path(__file__).resolve().parents[1] / "integrations" / "evaluate" / "softbleu"
CARD = (FOLDER / "README.md").read_text(encoding="utf-8")
PREDICTIONS = ["the old man bought the car", "a dog barks", "it rains"]
SEVERAL = [["the old man bought a car"], ["the dog barked", "a dog was loud"], ["it is raining", "rain falls"]]
SOURCE = ["the old man buyed the car", "a dog bark", "it rain"]


def run_offline(code: str, folder: Path) -> str:
    """Run it where nothing can be fetched and nothing is cached."""
    if find_spec("evaluate") is None:
        pytest.skip("needs the extra softbleu[evaluate]")
    offline = {"HF_HUB_OFFLINE": "1", "HF_EVALUATE_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_HOME": str(folder)}
    command = [sys.executable, "-c", code.replace('"integrations/evaluate/softbleu"', repr(str(FOLDER)))]
    environment = {**os.environ, **offline}
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_numbers_are_those_of_softbleu(tmp_path: Path) -> None:
    given: dict[str, Any] = {"predictions": PREDICTIONS, "references": SEVERAL}
    calls = [
        {**given, "metric": "vleu", "threshold": 0.5},
        {**given, "metric": "bleu", "references": [one for one, *_ in SEVERAL]},
        {**given, "metric": "gleu", "source": SOURCE, "level": "segment"},
        given,
    ]
    code = f"""
import evaluate, json
metric = evaluate.load("integrations/evaluate/softbleu")
print(json.dumps([metric.compute(**call, details=True) for call in {calls!r}]))
for part in (slice(1), slice(1, None)):
    metric.add_batch(predictions={PREDICTIONS!r}[part], references={SEVERAL!r}[part])
print(metric.compute()["score"])
"""
    found, batches = run_offline(code, tmp_path).strip().split("\n")
    for shown, call in zip(json.loads(found), calls, strict=True):
        asked = {"metric": "softbleu", **call}
        expected = softbleu.score(asked.pop("predictions"), metrics=asked.pop("metric"), **asked).to_dict()
        del expected["system"]
        assert shown == json.loads(json.dumps(expected))
    assert float(batches) == json.loads(found)[-1]["score"]


@pytest.mark.slow
def test_the_card_says_what_runs(tmp_path: Path) -> None:
    assert re.match(r"---\ntitle: softbleu\n(?:.+\n)*tags:\n- evaluate\n- metric\n(?:.+\n)*---\n", CARD)
    (example,) = re.findall(r"^```python\n(.*?)^```", CARD, re.MULTILINE | re.DOTALL)
    score, precision = run_offline(example, tmp_path).split()
    result = softbleu.read_metric("vleu(threshold=0.8)").corpus_score(
        ["the old man bought the car", "a dog barks"], ["the old man bought a car", "the dog barked"]
    )
    assert (float(score), float(precision)) == (float(result), result.to_dict()["precisions"][0])


@pytest.mark.slow
def test_compute_gives_numbers_alone_unless_details_are_asked_for(tmp_path: Path) -> None:
    code = f"""
import evaluate, json
metric = evaluate.load("integrations/evaluate/softbleu")
given = dict(predictions={PREDICTIONS!r}, references={SEVERAL!r})
print(json.dumps([metric.compute(**given, metric=name) for name in ("bleu", "chrf++", "ter", "softbleu")]))
"""
    for numbers in json.loads(run_offline(code, tmp_path)):
        assert {*map(type, numbers.values())} <= {int, float}
        assert len(numbers) > 1
