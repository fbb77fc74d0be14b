"""Inspect 0.3: chrF of each output, for `Task(…, scorer=chrf())`; targets are the references."""

from inspect_ai.scorer import Score, mean, scorer, stderr

from softbleu import Reward

reward = Reward("chrf")


@scorer(metrics=[mean(), stderr()])
def chrf():
    async def score(state, target):
        (value,) = reward([state.output.completion], [list(target)])
        return Score(value=value, answer=state.output.completion)

    return score
