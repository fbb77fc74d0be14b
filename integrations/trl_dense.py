"""TRL 1.16: GRPO with a reward for each token; `DenseGRPOTrainer(…, dense=Reward("chrf", dense=True))`."""

import numpy as np
import torch
from trl import GRPOTrainer


class DenseGRPOTrainer(GRPOTrainer):
    def __init__(self, *given, dense, discount=0.5, **more):
        super().__init__(*given, **more)
        self.dense, self.discount = dense, discount

    def _generate_and_score_completions(self, inputs):
        """Replace each advantage by those of its tokens: what follows a token, less the group's mean at its place."""
        batch = super()._generate_and_score_completions(inputs)
        mask, decode = batch["completion_mask"], self.processing_class.decode
        rows = [ids[there.bool()] for ids, there in zip(batch["completion_ids"], mask, strict=True)]
        texts = [decode(ids, skip_special_tokens=True) for ids in rows]
        offsets = []
        for ids in rows:
            ends = [len(decode(ids[: end + 1], skip_special_tokens=True)) for end in range(len(ids))]
            ends = np.minimum.accumulate(ends[::-1])[::-1].tolist()  # A token may hold a part of a character
            offsets.append([*zip([0, *ends[:-1]], ends, strict=True)])
        columns = {name: [row[name] for row in inputs] for name in inputs[0] if name != "prompt"}
        rewards = torch.zeros(mask.shape, dtype=torch.float64)
        for row, due in enumerate(self.dense(completions=texts, offsets=offsets, **columns)):
            rewards[row, : len(rows[row])] = torch.as_tensor(0.0 if due is None else due)
        steps = torch.arange(mask.shape[1])
        worth = rewards @ torch.triu(self.discount ** (steps - steps[:, None]).double()).T
        both = torch.stack((worth.float().to(mask.device), mask.float()), dim=1)
        every = self.accelerator.gather(self.accelerator.pad_across_processes(both, dim=2))
        size = self.num_generations if self.model.training else self.num_generations_eval
        worth, there = every.view(-1, size, *every.shape[1:]).unbind(2)
        apart = (worth - (worth * there).sum(1, True) / there.sum(1, True).clamp(min=1)) * there
        spread = (apart.square().sum((1, 2), True) / there.sum((1, 2), True).clamp(min=1)).sqrt()
        first = self.accelerator.process_index * len(inputs)
        batch["advantages"] = (apart / (spread + 1e-4)).flatten(0, 1)[first : first + len(inputs), : mask.shape[1]]
        return batch
