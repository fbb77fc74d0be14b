"""NeMo RL: an environment, by `register_env("chrf", "nemo_rl_environment.Chrf")`; tasks have `references`."""

import ray
import torch
from nemo_rl.environments.interfaces import EnvironmentInterface, EnvironmentReturn

from softbleu import Reward


@ray.remote
class Chrf(EnvironmentInterface):
    def __init__(self, settings):
        self.reward = Reward("chrf")

    def step(self, message_log_batch, metadata):
        rewards = self.reward(message_log_batch, [task["references"] for task in metadata])
        said = [{"role": "environment", "content": f"{reward:.3f}"} for reward in rewards]
        rewards = torch.tensor(rewards)
        return EnvironmentReturn(said, metadata, [None] * len(said), rewards, torch.ones_like(rewards))

    def global_post_process_and_metrics(self, batch):
        return batch, {"chrf": batch["rewards"].mean().item()}
