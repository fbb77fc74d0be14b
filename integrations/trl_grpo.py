"""TRL 1.16: train by chrF as a reward; the data has columns `prompt` and `references`."""

from datasets import load_dataset
from trl import GRPOConfig, GRPOTrainer

from softbleu import Reward

data = load_dataset("json", data_files="train.jsonl", split="train")
settings = GRPOConfig(output_dir="trained", num_generations=8)
GRPOTrainer("Qwen/Qwen3-0.6B", reward_funcs=[Reward("chrf")], args=settings, train_dataset=data).train()
