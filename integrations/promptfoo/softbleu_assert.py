"""promptfoo 0.121: an assertion of the type `python`, whose score is chrF; tests have the variable `references`."""

from softbleu import Reward

reward = Reward("chrf")


def get_assert(output, context):
    return reward([output], [context["vars"]["references"]])[0]
