"""OpenRLHF 0.11: `--train.agent_func_path openrlhf_agent.py`; the label of a prompt is a text or a list of texts."""

import torch
from openrlhf.utils.agent import AgentInstanceBase, MultiTurnAgentExecutor

from softbleu import Reward

reward = Reward("chrf", gate="reasoning+empty")


class Instance(AgentInstanceBase):
    def __init__(self): ...

    async def step(self, states, **more):
        (score,) = reward([states["action_text"]], [states["label"]])
        score = torch.tensor(score, dtype=torch.float64)
        return {"rewards": score, "scores": score.item(), "environment_feedback": "", "done": True}


class AgentExecutor(MultiTurnAgentExecutor):
    def __init__(self):
        super().__init__(Instance)
