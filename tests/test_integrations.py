"""Files for trainers and harnesses: run as they stand, beside stand-ins for the packages' published interfaces."""

import ast
import asyncio
import json
import os
import re
import subprocess
import sys
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from runpy import run_path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import softbleu

ROOT = Path(__file__).resolve().parents[1]
FOLDER, GUIDE = ROOT / "integrations", ROOT / "docs" / "guide" / "rewards.md"
FILES = sorted(path for path in FOLDER.rglob("*.py") if path.parent.name != "softbleu" and path.stem != "trl_dense")
OUTPUTS = ["the cat sat on a mat", "a dog barks"]
REFERENCES = [["the cat sat on the mat", "a cat sat"], ["the dog barked"]]
CHRF = softbleu.Chrf()
REWARDS = [CHRF.sentence_score(*pair).score / 100 for pair in zip(OUTPUTS, REFERENCES, strict=True)]
FIRST = [one for one, *_ in REFERENCES]

SECTIONS = {
    section.partition("\n")[0]: re.findall(r"^```text\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    for section in re.split(r"^###? ", GUIDE.read_text(encoding="utf-8"), flags=re.MULTILINE)
}
"""Text blocks of the guide by section: files, and at last what they print."""

pytestmark = pytest.mark.slow


def assert_shown(section: str, printed: object) -> None:
    """Compare what a file makes with the last block of its section."""
    assert SECTIONS[section][-1] == f"{printed}\n"


@pytest.mark.parametrize("path", [*FILES, *FOLDER.rglob("*.yaml")], ids=lambda path: path.name)
def test_a_file_stands_in_the_guide_as_it_is(path: Path) -> None:
    assert [path.read_text(encoding="utf-8") in blocks for blocks in SECTIONS.values()].count(True) == 1


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_has_few_lines_of_code(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and not _is_docstring(node)]
    imports = {node.lineno for node in statements if isinstance(node, ast.Import | ast.ImportFrom)}
    assert len({node.lineno for node in statements} - imports) <= 13


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def module(monkeypatch: pytest.MonkeyPatch, name: str, **names: Any) -> None:
    """Put a module with these names, and the packages above it, in the place of an installed one."""
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        path = ".".join(parts[:end])
        if not isinstance(sys.modules.get(path), _Made):
            monkeypatch.setitem(sys.modules, path, _Made(path))
    vars(sys.modules[name]).update(names)


class _Made(ModuleType):
    """A stand-in for a module."""


def test_trl_calls_the_reward_by_keywords_and_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """As `GRPOTrainer._calculate_rewards` of TRL 1.16.0 does."""
    found = {}

    class Trainer:
        def __init__(self, model: str, *, reward_funcs: list[Any], args: Any, train_dataset: Any) -> None:
            self.functions, self.data = reward_funcs, train_dataset

        def train(self) -> None:
            columns = {key: [row[key] for row in self.data] for key in self.data[0] if key != "prompt"}
            more = {"trainer_state": None, "log_extra": print, "log_metric": print, "environments": None}
            for function in self.functions:
                name = getattr(function, "__name__", type(function).__name__)
                chats = [[{"role": "assistant", "content": text}] for text in OUTPUTS]
                prompts = [row["prompt"] for row in self.data]
                found[name] = function(
                    prompts=prompts, completions=chats, completion_ids=[[1], [2]], **columns, **more
                )

    rows = [{"prompt": "…", "references": references} for references in REFERENCES]
    module(monkeypatch, "datasets", load_dataset=lambda *_, **__: rows)
    module(monkeypatch, "trl", GRPOConfig=SimpleNamespace, GRPOTrainer=Trainer)
    run_path(str(FOLDER / "trl_grpo.py"))
    assert found == {"chrf": REWARDS}
    assert_shown("TRL", f"rewards/chrf/mean {np.mean(found['chrf']):.4f}")


def test_verl_scores_one_text_and_many() -> None:
    """As the reward managers `naive` and `batch` of verl 0.9.1 call a function."""
    made = run_path(str(FOLDER / "verl_reward.py"))
    for output, references, reward in zip(OUTPUTS, REFERENCES, REWARDS, strict=True):
        extra = {"num_turns": None, "rollout_reward_scores": {}}
        call = {"data_source": "x", "solution_str": output, "ground_truth": references, "extra_info": extra}
        assert made["compute_score"](**call) == reward
    sources = np.array(["x", "x"], object)
    many = {"data_sources": sources, "solution_strs": OUTPUTS, "ground_truths": REFERENCES, "extra_infos": [{}, {}]}
    found = made["compute_scores"](**many)
    assert found == REWARDS
    assert_shown("verl", found)


def test_nemo_gym_verifies_what_the_assistant_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """As `SimpleResourcesServer.verify` of NeMo Gym (July 2026) is called; bodies are models of pydantic."""
    from pydantic import BaseModel

    class Part(BaseModel):
        type: str = "output_text"
        text: str

    class Item(BaseModel):
        type: str
        role: str = "assistant"
        content: list[Part] = []

    class Response(BaseModel):
        output: list[Item]

    class VerifyRequest(BaseModel):
        response: Response

    class VerifyResponse(VerifyRequest):
        reward: float

    names = {
        "BaseVerifyRequest": VerifyRequest,
        "BaseVerifyResponse": VerifyResponse,
        "SimpleResourcesServer": object,
    }
    module(monkeypatch, "nemo_gym.base_resources_server", **names)
    made = run_path(str(FOLDER / "nemo_gym_server.py"))
    for output, references, reward in zip(OUTPUTS, REFERENCES, REWARDS, strict=True):
        said = Item(type="message", content=[Part(text=output)])
        response = Response(output=[Item(type="reasoning"), said])
        body = made["Request"](response=response, references=references)
        verified = asyncio.run(made["Server"]().verify(body))
        assert verified.reward == reward
    assert_shown("NeMo Gym", verified.model_dump_json(include={"reward"}))


def test_lm_evaluation_harness_names_the_column_after_the_metric(tmp_path: Path) -> None:
    """By lm-eval 0.4.13 itself, where it is installed, else by the calls that it makes."""
    made = run_path(str(FOLDER / "lm_eval" / "softbleu_metric.py"))
    rows = [{"source": "…", "references": references} for references in REFERENCES]
    kept = [made["keep"](row, [output]) for row, output in zip(rows, OUTPUTS, strict=True)]
    expected = CHRF.corpus_score(OUTPUTS, REFERENCES).score
    assert {name: made[name]([each[name] for each in kept]) for name in kept[0]} == {"chrf": expected}
    row = f"|translation|Yaml   |none  |     0|chrf  |↑  |{expected:.4f}|±  |   N/A|"
    assert SECTIONS["lm-evaluation-harness"][-1].splitlines()[-1] == row
    if find_spec("lm_eval") is None:
        return
    from lm_eval.api.model import LM
    from lm_eval.evaluator import simple_evaluate
    from lm_eval.tasks import TaskManager
    from lm_eval.utils import make_table

    class Said(LM):  # type: ignore[misc]
        def generate_until(self, requests: list[Any]) -> list[str]:
            return OUTPUTS

        loglikelihood = loglikelihood_rolling = generate_until

    (tmp_path / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    for path in (FOLDER / "lm_eval").iterdir():
        if path.is_file():
            text = path.read_text(encoding="utf-8").replace("test.jsonl", str(tmp_path / "test.jsonl"))
            (tmp_path / path.name).write_text(text, encoding="utf-8")
    tasks = TaskManager(include_path=str(tmp_path), include_defaults=False)
    found = simple_evaluate(model=Said(), tasks=["translation"], task_manager=tasks, bootstrap_iters=0)
    assert found["results"]["translation"]["chrf,none"] == expected
    assert_shown("lm-evaluation-harness", make_table(found).strip())


def test_lighteval_scores_a_corpus_of_several_references(monkeypatch: pytest.MonkeyPatch) -> None:
    """As lighteval 0.13.0 calls a `CorpusLevelMetric`."""
    metric = partial(SimpleNamespace)
    names = ("metric_name", "higher_is_better", "category", "sample_level_fn", "corpus_level_fn")
    module(monkeypatch, "lighteval.metrics.metrics_corpus", CorpusLevelComputation=object)
    module(monkeypatch, "lighteval.metrics.sample_preparator", GenerativePreparator=object)
    module(
        monkeypatch,
        "lighteval.metrics.utils.metric_utils",
        CorpusLevelMetric=lambda *values: metric(**dict(zip(names, values, strict=True))),
        SamplingMethod=SimpleNamespace(GENERATIVE="GENERATIVE"),
    )
    made = run_path(str(FOLDER / "lighteval_metric.py"))["chrf"]
    items = [SimpleNamespace(golds=golds, preds=[text]) for text, golds in zip(OUTPUTS, REFERENCES, strict=True)]
    found = {made.metric_name: made.corpus_level_fn.compute_corpus(items)}
    assert found == {"chrf": CHRF.corpus_score(OUTPUTS, REFERENCES).score}
    assert_shown("lighteval", found)


def test_a_trainer_gets_a_number_by_the_name_of_each_metric() -> None:
    """As `Seq2SeqTrainer` of transformers 5.24.0 calls `compute_metrics`, with a padding of -100."""
    words = ["<pad>", *sorted({word for text in (*OUTPUTS, *FIRST) for word in text.split()})]

    class Tokenizer:
        pad_token_id = 0

        def batch_decode(self, ids: Any, *, skip_special_tokens: bool) -> list[str]:
            assert skip_special_tokens
            return [" ".join(words[place] for place in row if place) for row in ids]

    ids = [[[*map(words.index, text.split()), *[-100] * 9][:9] for text in texts] for texts in (OUTPUTS, FIRST)]
    predicted = SimpleNamespace(predictions=np.array(ids[0]), label_ids=np.array(ids[1]))
    found = run_path(str(FOLDER / "trainer_metrics.py"))["compute_metrics"](predicted, tokenizer=Tokenizer())
    results = softbleu.score(OUTPUTS, FIRST, metrics=["bleu", "chrf"])
    assert found == {"bleu": results[0].score, "chrf": results[1].score}
    assert_shown("A Trainer of transformers", found)


@pytest.mark.parametrize("name", ["bleu", "chrf", "ter"])
def test_torchmetrics_adds_up_over_batches_and_processes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By torchmetrics where it is installed; else as `Metric` of torchmetrics 1.9.0 treats states."""
    if find_spec("torchmetrics") is None:
        module(monkeypatch, "torch", tensor=_Tensor.of)
        module(monkeypatch, "torchmetrics", Metric=_TorchMetric)
    make = run_path(str(FOLDER / "torchmetrics_metric.py"))["TextScore"]
    metric, other, idle = make(name), make(name), make(name)
    metric.update(OUTPUTS[:1], REFERENCES[:1])
    other.update(OUTPUTS[1:], REFERENCES[1:])
    metric.sums = metric.sums + other.sums + idle.sums  # As `dist_reduce_fx="sum"` does; one process had no batch
    assert metric.sums.shape == idle.sums.shape
    assert float(metric.compute()) == pytest.approx(
        float(softbleu.read_metric(name).corpus_score(OUTPUTS, REFERENCES)), rel=1e-6
    )
    if name == "chrf":
        assert_shown("torchmetrics", f"chrf {float(metric.compute()):.4f}")
    metric.reset()
    assert float(metric(OUTPUTS[:1], REFERENCES[:1])) == pytest.approx(
        float(softbleu.read_metric(name).corpus_score(OUTPUTS[:1], REFERENCES[:1])), rel=1e-6
    )


def test_torchmetrics_refuses_metrics_that_need_more_than_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    if find_spec("torchmetrics") is None:
        module(monkeypatch, "torch", tensor=_Tensor.of)
        module(monkeypatch, "torchmetrics", Metric=_TorchMetric)
    with pytest.raises(ValueError, match="needs more than sums: the rarity of a word"):
        run_path(str(FOLDER / "torchmetrics_metric.py"))["TextScore"]("softbleu")


class _Tensor(np.ndarray[Any, Any]):
    """An array with the method of tensors that is called."""

    @classmethod
    def of(cls, values: Any) -> Any:
        return np.asarray(values).view(cls)

    def numpy(self, *, force: bool) -> Any:
        assert force
        return np.asarray(self)


class _TorchMetric:
    """States by name, which `reset` and calls set back to their defaults."""

    def __init__(self) -> None:
        self._defaults: dict[str, Any] = {}

    def add_state(self, name: str, default: Any, dist_reduce_fx: str) -> None:
        assert dist_reduce_fx == "sum"
        self._defaults[name] = default
        setattr(self, name, default.copy())

    def reset(self) -> None:
        for name, default in self._defaults.items():
            setattr(self, name, default.copy())

    def __call__(self, *given: Any) -> Any:
        self.update(*given)  # type: ignore[attr-defined]
        before = {name: getattr(self, name) for name in self._defaults}
        self.reset()
        self.update(*given)  # type: ignore[attr-defined]
        value = self.compute()  # type: ignore[attr-defined]
        for name, state in before.items():
            setattr(self, name, state)
        return value


def test_evaluate_returns_numbers_alone(tmp_path: Path) -> None:
    pytest.importorskip("evaluate", reason="needs the extra softbleu[evaluate]")
    offline = {
        "HF_HUB_OFFLINE": "1",
        "HF_EVALUATE_OFFLINE": "1",
        "HF_DATASETS_OFFLINE": "1",
        "HF_HOME": str(tmp_path),
    }
    command = [sys.executable, str(FOLDER / "evaluate" / "example.py")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env={**os.environ, **offline})
    assert done.returncode == 0, done.stderr
    assert_shown("Hugging Face evaluate", done.stdout.strip())
