"""Files for trainers and harnesses, run as they stand by the packages themselves; NeMo RL has a stand-in.

`.ci/harnesses` makes an environment that has them all.
"""

import ast
import asyncio
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from runpy import run_path
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

import softbleu

ROOT = Path(__file__).resolve().parents[1]
FOLDER, GUIDE = ROOT / "integrations", ROOT / "docs" / "guide" / "rewards.md"
PAGE = FOLDER / "README.md"
FILES = sorted(path for path in FOLDER.rglob("*.py") if path.parent.name != "softbleu" and path.stem != "trl_dense")
OUTPUTS = ["the cat sat on a mat", "a dog barks"]
REFERENCES = [["the cat sat on the mat", "a cat sat"], ["the dog barked"]]
CHRF = softbleu.Chrf()
REWARDS = [CHRF.sentence_score(*pair).score / 100 for pair in zip(OUTPUTS, REFERENCES, strict=True)]
CORPUS = CHRF.corpus_score(OUTPUTS, REFERENCES).score
FIRST = [one for one, *_ in REFERENCES]

SECTIONS = {
    section.partition("\n")[0]: re.findall(r"^```text\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    for section in re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
}
"""Text blocks of the page by section: files, and at last what they print."""

# The packages warn of each other.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let nothing be fetched, nor written beside the test's own folder."""
    for name in ("HF_HUB_OFFLINE", "HF_EVALUATE_OFFLINE", "HF_DATASETS_OFFLINE", "PROMPTFOO_DISABLE_TELEMETRY"):
        monkeypatch.setenv(name, "1")
    for name in ("HF_HOME", "INSPECT_LOG_DIR", "PROMPTFOO_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.chdir(tmp_path)


def needs(*names: str) -> None:
    """Skip a test whose packages are not there."""
    if missing := [name for name in names if find_spec(name) is None]:
        pytest.skip(f"needs {', '.join(missing)}: .ci/harnesses makes an environment that has them")


def assert_shown(section: str, printed: object) -> None:
    """Compare what a file makes with the last block of its section."""
    assert SECTIONS[section][-1] == f"{printed}\n"


def adapted(path: Path, folder: Path, *changes: tuple[str, str]) -> Path:
    """Copy a file with other names of models and data."""
    text = path.read_text(encoding="utf-8")
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    (folder / path.name).write_text(text, encoding="utf-8")
    return folder / path.name


def word_tokenizer() -> Any:
    """Return a tokenizer of Hugging Face for the words of the page."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = sorted({f"\u2581{word}" for text in (*OUTPUTS, *FIRST) for word in text.split()})
    vocabulary = {word: place for place, word in enumerate(["<pad>", "<eos>", "<unk>", *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    special = {"pad_token": "<pad>", "eos_token": "<eos>", "unk_token": "<unk>"}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special)


def coded(texts: list[str], tokenizer: Any, padding: int) -> Any:
    """Return ids of texts with an end, padded to ten."""
    import torch

    rows = [[*tokenizer(text)["input_ids"], tokenizer.eos_token_id] for text in texts]
    return torch.tensor([[*row, *[padding] * 10][:10] for row in rows])


@pytest.mark.parametrize("path", [*FILES, *FOLDER.rglob("*.yaml")], ids=lambda path: path.name)
def test_a_file_stands_on_the_page_as_it_is(path: Path) -> None:
    assert [path.read_text(encoding="utf-8") in blocks for blocks in SECTIONS.values()].count(True) == 1


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_has_few_lines_of_code(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and not _is_docstring(node)]
    imports = {node.lineno for node in statements if isinstance(node, ast.Import | ast.ImportFrom)}
    assert len({node.lineno for node in statements} - imports) <= 13


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def test_the_guide_names_the_versions_that_run() -> None:
    rows = re.findall(r"^\| ([\w. -]+) \| ([\d.]+) \| \[`", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)
    found = dict(rows)
    text = "".join(path.read_text(encoding="utf-8") for path in (ROOT / ".ci").glob("harnesses*"))
    versions = {name.lower(): version for name, version in re.findall(r"([\w-]+)(?:==|@)([\d.]+)", text)}
    names = {"NeMo Gym": "nemo-gym", "Inspect": "inspect-ai", "lm-evaluation-harness": "lm-eval"}
    assert len(found) == 11
    assert found == {name: versions[names.get(name, name.lower())] for name in found}


def test_trl_trains_by_rewards_and_names_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that generates the page's completions; a prompt without a reference has no reward."""
    needs("trl", "datasets")
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM, Trainer

    tokenizer = word_tokenizer()
    size = {"vocab_size": len(tokenizer), "hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1}
    heads = {"num_attention_heads": 1, "num_key_value_heads": 1, "head_dim": 8, "eos_token_id": 1, "pad_token_id": 0}
    Qwen3ForCausalLM(Qwen3Config(**size, **heads)).save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    prompts = ["cat", "dog", "mat"]
    ends = coded([*OUTPUTS, "a mat"], tokenizer, 0)
    said = {tokenizer(prompt)["input_ids"][-1]: row for prompt, row in zip(prompts, ends, strict=True)}

    def generate(self: Any, input_ids: Any, **_: Any) -> Any:
        return torch.cat([input_ids, torch.stack([said[row[-1].item()] for row in input_ids])], dim=1)

    logs: list[dict[str, Any]] = []
    monkeypatch.setattr(Qwen3ForCausalLM, "generate", generate)
    monkeypatch.setattr(Trainer, "log", lambda self, values, *_: logs.append(values))
    rows = zip(prompts, [*REFERENCES, None], strict=True)
    lines = [json.dumps({"prompt": prompt, "references": given, "source": 7, "offsets": 7}) for prompt, given in rows]
    settings = (
        "num_generations=2, per_device_train_batch_size=4, max_steps=1, logging_steps=1, use_cpu=True, report_to=[]"
    )
    for kept, reward in ((2, 'Reward("chrf")'), (3, 'Reward("chrf", missing="skip", gate="empty")')):
        (tmp_path / "train.jsonl").write_text("\n".join(lines[:kept]), encoding="utf-8")
        size_of_batch = settings.replace("=4", f"={2 * kept}")
        path = adapted(
            FOLDER / "trl_grpo.py",
            tmp_path,
            ("Qwen/Qwen3-0.6B", "model"),
            ('Reward("chrf")', reward),
            ("num_generations=8", size_of_batch),
        )
        run_path(str(path))
    first, skipped = (log for log in logs if "reward" in log)
    assert first["rewards/chrf/mean"] == pytest.approx(np.mean(REWARDS), abs=1e-6)
    assert_shown("TRL", f"rewards/chrf/mean {first['rewards/chrf/mean']:.4f}")
    name = "rewards/chrf|gate:empty|missing:skip/mean"
    assert skipped[name] == pytest.approx(np.mean(REWARDS), abs=1e-6)
    assert skipped["gate/empty"] == 0


@pytest.mark.parametrize("manager", ["naive", "dapo", "gdpo", "rate_limited"])
def test_verl_scores_each_output_by_every_manager(manager: str) -> None:
    needs("verl", "tensordict", "ray", "hydra")
    import torch
    from hydra import compose, initialize_config_module
    from verl import DataProto
    from verl.trainer.ppo.reward import load_reward_manager

    tokenizer = word_tokenizer()
    responses = coded(OUTPUTS, tokenizer, 0)
    tensors = {
        "prompts": torch.ones(2, 4, dtype=torch.long),
        "responses": responses,
        "attention_mask": torch.cat([torch.ones(2, 4), responses > 0], dim=1).long(),
    }
    others = {
        "data_source": ["x", "x"],
        "reward_model": [{"ground_truth": np.array(each, object)} for each in REFERENCES],
        "extra_info": [{}, {}],
    }
    rows = {name: np.array(values, object) for name, values in others.items()}
    data = DataProto.from_dict(tensors=tensors, non_tensors=rows)
    path = FOLDER / "verl_reward.py"
    options = [f"reward.custom_reward_function.path={path}", f"reward.reward_manager.name={manager}"]
    with initialize_config_module("verl.trainer.config", version_base=None):
        loaded = load_reward_manager(compose("ppo_trainer", overrides=options), tokenizer)

    async def scores() -> list[dict[str, Any]]:
        return await asyncio.gather(*(loaded.run_single(data[row : row + 1]) for row in range(2)))

    found = [each["reward_score"] for each in loaded.loop.run_until_complete(scores())]
    assert found == REWARDS
    assert_shown("verl", found)


def server(made: dict[str, Any], config: Any) -> Any:
    from nemo_gym.server_utils import ServerClient

    common = {"host": "127.0.0.1", "port": 1, "entrypoint": "app.py", "name": "server", "domain": "other"}
    client = ServerClient.model_construct()
    return made["Server"](config=config(**common), server_client=client)


def message(*texts: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []} for text in texts]
    return {"id": "1", "type": "message", "role": "assistant", "status": "completed", "content": content}


THOUGHT = {"id": "2", "type": "reasoning", "summary": [{"type": "summary_text", "text": "A cat?"}]}
CALL = {"type": "function_call", "call_id": "3", "name": "search", "arguments": "{}"}
RESPONSE = {"id": "4", "created_at": 0, "model": "m", "object": "response", "parallel_tool_calls": False}
ROLLOUTS = [
    [THOUGHT, message(OUTPUTS[0])],
    [message("the cat "), CALL, message("sat", " on")],
    [message("<think>A cat?</think>\nthe cat sat")],
    [message("A cat?</think>the cat sat")],
    [message("the cafe\u0301")],
    [message("<think>the cat sat")],
    [THOUGHT],
    [CALL],
    [{**message(), "content": [{"type": "refusal", "refusal": "No."}]}],
]


def test_nemo_gym_scores_the_text_that_its_own_server_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside `resources_servers/wmt_translation` of NVIDIA, whose reward is sacrebleu's chrF."""
    needs("nemo_gym", "ray", "yappi", "pydot", "wandb")
    from fastapi.testclient import TestClient
    from nemo_gym.base_resources_server import BaseResourcesServerConfig

    app = server(run_path(str(FOLDER / "nemo_gym_server.py")), BaseResourcesServerConfig).setup_webserver()
    (packages,) = importlib.import_module("resources_servers").__path__
    monkeypatch.syspath_prepend(str(Path(packages, "wmt_translation")))
    theirs = importlib.import_module("resources_servers.wmt_translation.app")
    monkeypatch.setattr(theirs.WmtTranslationResourcesServer, "_score_sentence_spbleu", lambda *_: 0.0)
    own = server(
        {"Server": theirs.WmtTranslationResourcesServer},
        partial(theirs.WmtTranslationResourcesServerConfig, compute_comet=False),
    )
    texts = {
        "text": "",
        "source_language": "de",
        "target_language": "en",
        "translation": "the cat sat on the caf\u00e9",
    }
    for output in ROLLOUTS:
        response = {**RESPONSE, "output": output, "tool_choice": "auto", "tools": []}
        body = {"responses_create_params": {"input": []}, "response": response}
        expected = asyncio.run(own.verify(theirs.WmtTranslationVerifyRequest(**body, **texts))).reward
        with TestClient(app) as client:
            found = client.post("/verify", json={**body, "references": [texts["translation"]]}).json()
        assert found["reward"] == pytest.approx(expected, abs=1e-12)
        assert (found["reward"] == 0) == (found["gate/empty"] == 1)
    body["response"]["output"] = [message(OUTPUTS[1])]
    found = TestClient(app).post("/verify", json={**body, "references": REFERENCES[1]}).json()
    assert found["reward"] == REWARDS[1]
    kept = {name: value for name, value in found.items() if name == "reward" or "gate" in name}
    assert_shown("NeMo Gym", kept)


def test_openrlhf_gets_the_reward_of_what_an_agent_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the executor of OpenRLHF; an engine in the place of vLLM says the page's completions."""
    needs("openrlhf", "torch", "transformers")
    utils = ModuleType("openrlhf.utils")  # What it imports itself needs deepspeed
    utils.__path__ = [str(Path(importlib.import_module("openrlhf").__path__[0], "utils"))]
    monkeypatch.setitem(sys.modules, "openrlhf.utils", utils)
    executor = run_path(str(FOLDER / "openrlhf_agent.py"))["AgentExecutor"]()
    tokenizer, settings = word_tokenizer(), SimpleNamespace(logprobs=None, max_tokens=9)

    class Engine(NamedTuple):
        text: str

        async def generate(self, ids: list[int], *_: Any, **__: Any) -> Any:
            said = SimpleNamespace(token_ids=[1, 2], text=self.text, finish_reason="stop", logprobs=None)
            return SimpleNamespace(outputs=[said])

    found = []
    ends = [f"{OUTPUTS[0]}<|im_end|>", f"<think>A dog?</think>{OUTPUTS[1]}", "<think>A dog?"]
    for text, references in zip(ends, [*REFERENCES, "a dog"], strict=True):
        run = executor.execute("the cat", references, settings, 64, tokenizer, Engine(text))
        found.append(asyncio.run(run)["reward"])
    assert found == [*REWARDS, 0]
    assert_shown("OpenRLHF", found[:2])


def test_nemo_rl_gets_a_tensor_of_rewards(monkeypatch: pytest.MonkeyPatch) -> None:
    """As `nemo_rl.environments.interfaces` declares an environment; PyPI has no release with it."""
    needs("torch")

    class EnvironmentReturn(NamedTuple):
        observations: list[dict[str, str]]
        metadata: list[Any]
        next_stop_strings: list[None]
        rewards: Any
        terminateds: Any
        answers: list[str | None] | None = None

    ray, interfaces = ModuleType("ray"), ModuleType("nemo_rl.environments.interfaces")
    vars(ray).update(remote=lambda actor: actor)
    vars(interfaces).update(EnvironmentInterface=object, EnvironmentReturn=EnvironmentReturn)
    for module in (ray, ModuleType("nemo_rl"), ModuleType("nemo_rl.environments"), interfaces):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    environment = run_path(str(FOLDER / "nemo_rl_environment.py"))["Chrf"]({})
    logs = [[{"role": "user", "content": "…"}, {"role": "assistant", "content": text}] for text in OUTPUTS]
    found = environment.step(logs, [{"references": references} for references in REFERENCES])
    assert found.rewards.tolist() == pytest.approx(REWARDS, rel=1e-6)
    assert found.terminateds.tolist() == [1, 1]
    assert len(found.observations) == len(found.metadata) == len(found.next_stop_strings) == 2
    batch = {"rewards": found.rewards}
    assert environment.global_post_process_and_metrics(batch) == (
        batch,
        {"chrf": pytest.approx(np.mean(REWARDS), rel=1e-6)},
    )
    assert_shown("NeMo RL", found.rewards)


def test_inspect_scores_what_models_say(tmp_path: Path) -> None:
    needs("inspect_ai")
    from inspect_ai import Task
    from inspect_ai import eval as evaluate
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ContentReasoning, ModelOutput, ModelUsage, get_model

    chrf = run_path(str(FOLDER / "inspect_scorer.py"))["chrf"]
    said = [*OUTPUTS, [ContentReasoning(reasoning="a cat")]]
    outputs = [ModelOutput.from_content("mockllm/model", each) for each in said]
    for output in outputs:
        output.usage = ModelUsage()
    samples = [Sample(input="…", target=references) for references in [*REFERENCES, "a cat"]]
    model = get_model("mockllm/model", custom_outputs=outputs)
    (log,) = evaluate(Task(samples, scorer=chrf()), model, max_samples=1, log_dir=str(tmp_path), display="none")
    found = [sample.scores["chrf"].value for sample in log.samples]
    assert found == [*REWARDS, 0]
    assert log.results.scores[0].metrics["mean"].value == pytest.approx(sum(REWARDS) / 3)
    assert_shown("Inspect", found[:2])


def test_promptfoo_asserts_by_the_score(tmp_path: Path) -> None:
    program = shutil.which(str(Path(sys.prefix, "node_modules", ".bin", "promptfoo"))) or shutil.which("promptfoo")
    if program is None:
        pytest.skip("needs promptfoo: .ci/harnesses makes an environment that has it")
    folder = FOLDER / "promptfoo"
    adapted(folder / "softbleu_assert.py", tmp_path)
    names = [("Translate into English: {{source}}", "{{source}}"), ("openai:gpt-5-mini", "echo")]
    said = zip(("Die Katze saß auf der Matte", "Der Hund bellte"), OUTPUTS, strict=True)
    adapted(folder / "promptfooconfig.yaml", tmp_path, *names, *said)
    environment = {**os.environ, "PROMPTFOO_PYTHON": sys.executable, "PROMPTFOO_DISABLE_UPDATE": "1"}
    command = [program, "eval", "--no-cache", "--output", "found.json"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    results = json.loads(Path("found.json").read_text(encoding="utf-8"))["results"]["results"]
    found = [each["score"] for each in sorted(results, key=lambda each: each["testIdx"])]
    assert found == REWARDS
    assert_shown("promptfoo", found)


def test_lm_evaluation_harness_names_the_column_after_the_metric(tmp_path: Path) -> None:
    needs("lm_eval")
    from lm_eval.api.model import LM
    from lm_eval.evaluator import simple_evaluate
    from lm_eval.tasks import TaskManager
    from lm_eval.utils import make_table

    class Said(LM):  # type: ignore[misc]
        def generate_until(self, requests: list[Any]) -> list[str]:
            return OUTPUTS

        loglikelihood = loglikelihood_rolling = generate_until

    rows = [{"source": "…", "references": references} for references in REFERENCES]
    (tmp_path / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    adapted(FOLDER / "lm_eval" / "softbleu_metric.py", tmp_path)
    adapted(FOLDER / "lm_eval" / "translation.yaml", tmp_path, ("test.jsonl", str(tmp_path / "test.jsonl")))
    tasks = TaskManager(include_path=str(tmp_path), include_defaults=False)
    found = simple_evaluate(model=Said(), tasks=["translation"], task_manager=tasks, bootstrap_iters=0)
    assert found["results"]["translation"]["chrf,none"] == CORPUS
    assert_shown("lm-evaluation-harness", make_table(found).strip())


def test_lighteval_scores_a_corpus_of_several_references() -> None:
    needs("lighteval")
    from lighteval.metrics import apply_metric
    from lighteval.models.model_output import ModelResponse
    from lighteval.tasks.requests import Doc

    metric = run_path(str(FOLDER / "lighteval_metric.py"))["chrf"]
    documents = [Doc(query="…", choices=texts, gold_index=list(range(len(texts)))) for texts in REFERENCES]
    outputs = apply_metric([ModelResponse(text=[text]) for text in OUTPUTS], documents, [metric])
    found = {
        name: compute([each[name] for each in outputs]) for name, compute in metric.get_corpus_aggregations().items()
    }
    assert found == {"chrf": CORPUS}
    assert_shown("lighteval", found)


def test_a_trainer_gets_a_number_by_the_name_of_each_metric(tmp_path: Path) -> None:
    """By an evaluation of `Seq2SeqTrainer`, which pads with -100, and by the tuple that some models return."""
    needs("transformers", "torch", "accelerate")
    from transformers import (
        EvalPrediction,
        Seq2SeqTrainer,
        Seq2SeqTrainingArguments,
        T5Config,
        T5ForConditionalGeneration,
    )

    tokenizer = word_tokenizer()
    compute = partial(run_path(str(FOLDER / "trainer_metrics.py"))["compute_metrics"], tokenizer=tokenizer)
    outputs, labels = coded(OUTPUTS, tokenizer, 0), coded(FIRST, tokenizer, -100)
    size = {"vocab_size": len(tokenizer), "d_model": 8, "d_kv": 8, "d_ff": 8, "num_layers": 1, "num_heads": 1}
    model = T5ForConditionalGeneration(T5Config(**size, decoder_start_token_id=0))
    model.generate = lambda *_, **__: outputs
    settings = Seq2SeqTrainingArguments("trained", predict_with_generate=True, use_cpu=True, report_to=[])
    rows = [{"input_ids": ids, "labels": given} for ids, given in zip(outputs, labels, strict=True)]
    found = Seq2SeqTrainer(model, settings, compute_metrics=compute, eval_dataset=rows).evaluate()
    results = softbleu.score(OUTPUTS, FIRST, metrics=["bleu", "chrf"])
    scores = {"bleu": results[0].score, "chrf": results[1].score}
    assert {name: found[f"eval_{name}"] for name in scores} == scores
    assert compute(EvalPrediction((outputs.numpy(), outputs.numpy()), labels.numpy())) == scores
    assert_shown("transformers", scores)


RANK = """
import json, runpy, sys, torch.distributed as distributed
rank, path, file, batches, *names = sys.argv[1:]
distributed.init_process_group("gloo", init_method="file://" + path, rank=int(rank), world_size=2)
for name in names:
    metric = runpy.run_path(file)["TextScore"](name)
    for batch in [None, *json.loads(batches), None]:
        if batch is None:
            print(float(metric.compute()))
            metric.reset()
        elif rank == "0":
            metric.update(*batch)
    print(float(metric.compute()))
distributed.destroy_process_group()
"""


def test_torchmetrics_adds_up_over_batches_and_processes(tmp_path: Path) -> None:
    """Two processes by gloo, one of which has no batch: before the first batch, after all, and after a reset."""
    needs("torchmetrics")
    file, names = str(FOLDER / "torchmetrics_metric.py"), ("bleu", "ter", "chrf")
    batches = json.dumps([[[text], [references]] for text, references in zip(OUTPUTS, REFERENCES, strict=True)])
    command = [sys.executable, "-W", "ignore", "-c", RANK]
    given = [str(tmp_path / "store"), file, batches, *names]
    ranks = [subprocess.Popen([*command, rank, *given], stdout=subprocess.PIPE, text=True) for rank in "01"]
    printed = [[*map(float, rank.communicate(timeout=300)[0].split())] for rank in ranks]
    assert printed[0] == printed[1]
    assert printed[0][::3] == printed[0][2::3] == [0, 0, 0]
    scores = [float(softbleu.read_metric(name).corpus_score(OUTPUTS, REFERENCES)) for name in names]
    assert printed[0][1::3] == pytest.approx(scores, rel=1e-6)
    assert_shown("torchmetrics", f"chrf {printed[0][-2]:.4f}")
    make = run_path(file)["TextScore"]
    alone = float(CHRF.corpus_score(OUTPUTS[:1], REFERENCES[:1]))
    assert float(make("chrf")(OUTPUTS[:1], REFERENCES[:1])) == pytest.approx(alone, rel=1e-6)
    with pytest.raises(ValueError, match="needs more than sums: the rarity of a word"):
        make("softbleu")


def test_evaluate_returns_numbers_alone() -> None:
    needs("evaluate")
    command = [sys.executable, str(FOLDER / "evaluate" / "example.py")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert_shown("evaluate", done.stdout.strip())
