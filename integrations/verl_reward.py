"""verl 0.9: `custom_reward_function.path=verl_reward.py`; its reward manager `batch` takes `compute_scores`."""

from softbleu import Reward

reward = Reward("chrf")


def compute_score(data_source, solution_str, ground_truth, extra_info=None, **more):
    return reward([solution_str], [ground_truth])[0]


def compute_scores(data_sources, solution_strs, ground_truths, extra_infos=None, **more):
    return reward(solution_strs, ground_truths)
