"""The metric for Hugging Face evaluate loads offline from its folder, and its numbers are softbleu's."""

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import softbleu

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).resolve().parents[1] / "integrations" / "evaluate" / "softbleu"
CARD = (FOLDER / "README.md").read_text(encoding="utf-8")
PREDICTIONS = ["the old man bought the car", "a dog barks", "it rains"]
REFERENCES = [["the old man bought a car"], ["the dog barked", "a dog was loud"], ["it is raining", "rain falls"]]
SOURCE = ["the old man buyed the car", "a dog bark", "it rain"]


def run(code: str, folder: Path) -> str:
    """Run it where nothing can be fetched and nothing is cached."""
    if find_spec("evaluate") is None:
        pytest.skip("needs the extra softbleu[evaluate]")
    offline = {"HF_HUB_OFFLINE": "1", "HF_EVALUATE_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_HOME": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", code.replace('"integrations/evaluate/softbleu"', repr(str(FOLDER)))],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, **offline},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_numbers_are_those_of_softbleu(tmp_path: Path) -> None:
    given: dict[str, Any] = {"predictions": PREDICTIONS, "references": REFERENCES}
    calls = [
        {**given, "metric": "vleu", "threshold": 0.5},
        {**given, "metric": "bleu", "references": [one for one, *_ in REFERENCES]},
        {**given, "metric": "gleu", "source": SOURCE, "level": "segment"},
        given,
    ]
    code = f"""
import evaluate, json
metric = evaluate.load("integrations/evaluate/softbleu")
print(json.dumps([metric.compute(**call) for call in {calls!r}]))
for part in (slice(1), slice(1, None)):
    metric.add_batch(predictions={PREDICTIONS!r}[part], references={REFERENCES!r}[part])
print(metric.compute()["score"])
"""
    found, batches = run(code, tmp_path).strip().split("\n")
    for shown, call in zip(json.loads(found), calls, strict=True):
        asked = {"metric": "softbleu", **call}
        expected = softbleu.score(asked.pop("predictions"), **asked).to_dict()
        del expected["system"]
        assert shown == json.loads(json.dumps(expected))
    assert float(batches) == json.loads(found)[-1]["score"]


def test_the_card_says_what_runs(tmp_path: Path) -> None:
    assert re.match(r"---\ntitle: softbleu\n(?:.+\n)*tags:\n- evaluate\n- metric\n(?:.+\n)*---\n", CARD)
    (example,) = re.findall(r"^```python\n(.*?)^```", CARD, re.MULTILINE | re.DOTALL)
    score, signature = run(example, tmp_path).split(maxsplit=1)
    result = softbleu.read_metric("vleu(threshold=0.8)").corpus_score(
        ["the old man bought the car", "a dog barks"], ["the old man bought a car", "the dog barked"]
    )
    assert (float(score), signature.strip()) == (float(result), result.signature)
