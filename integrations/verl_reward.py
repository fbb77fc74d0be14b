"""verl 0.9: `reward.custom_reward_function.path=verl_reward.py`; `ground_truth` is a text or a list of texts."""

from softbleu import Reward

reward = Reward("chrf")


def compute_score(data_source, solution_str, ground_truth, extra_info=None, **more):
    return reward([solution_str], [ground_truth])[0]
