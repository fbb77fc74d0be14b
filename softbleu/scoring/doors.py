"""Metrics as values: ``Vleu(threshold=0.8)``; what may be given is what is declared.

Editors and type checkers read ``doors.pyi``, which ``docs/reference/make_cli.py`` makes of the declarations.
"""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any

from softbleu.errors import InputError
from softbleu.scoring.measure import Measure, settings_of

if TYPE_CHECKING:
    from softbleu.declare import Setting


class Door:
    """Makes measures of one metric, by keywords.

    Parameters
    ----------
    metric
        Its name, or that of a matcher, which stands for BLEU over it.
    title
        What the door is called in Python.

    Examples
    --------
    >>> DOORS["Vleu"](threshold=0.8, order=2)
    vleu(threshold=0.8, order=2)
    >>> DOORS["Vleu"](treshold=0.8)
    Traceback (most recent call last):
    softbleu.errors.UnknownNameError: unknown setting 'treshold' (did you mean 'threshold'?); valid: ...
    """

    def __init__(self, metric: str, title: str) -> None:
        self.metric, self.__name__ = metric, title
        self.__doc__ = f"Make a value of {title}: settings by name, scores by `corpus_score` and `sentence_score`."

    def __call__(self, *unnamed: object, **settings: Any) -> Measure:
        """Make a value with these settings.

        Raises
        ------
        InputError
            What is no setting, or no value of it.
        """
        if unnamed:
            raise InputError(f"settings go by their names, such as softbleu.{self.__name__}(tokenize='none')")
        return Measure.of(self.metric, **settings)

    def __repr__(self) -> str:
        return f"softbleu.{self.__name__}"

    def settings(self) -> dict[str, Setting]:
        """What may be given, by name; where the matcher may be chosen, the settings of the soft ones, too."""
        measure = Measure.of(self.metric)
        own = {each.name: value for each, value in measure.settings()}
        chosen = "matcher" in own and self.metric == measure.metric.name
        found = {each.name: each for each in settings_of({**own, **({"matcher": "vleu"} if chosen else {})})}
        if not chosen:
            found.pop("matcher", None)
        found.pop("metric", None)
        found.pop("quantile", None)
        return found

    @property
    def __signature__(self) -> Signature:
        """For `help` and completion."""
        values = {each.name: value for each, value in Measure.of(self.metric).settings()}
        parameters = [
            Parameter(name, Parameter.KEYWORD_ONLY, default=values.get(name, each.default))
            for name, each in self.settings().items()
        ]
        return Signature(parameters, return_annotation=Measure)


DOORS = {
    title: Door(metric, title)
    for title, metric in {
        "Bleu": "bleu",
        "Sleu": "sleu",
        "Vleu": "vleu",
        "Xleu": "xleu",
        "Gleu": "gleu",
        "Softbleu": "softbleu",
        "Chrf": "chrf",
        "Ter": "ter",
        "Hyter": "hyter",
        "BertScore": "bertscore",
        "Green": "green",
        "Meteor": "meteor",
        "M2": "m2",
        "IMeasure": "imeasure",
        "Refless": "refless",
    }.items()
}
"""All of them, by name."""


def __getattr__(name: str) -> Door:
    if name not in DOORS:
        raise AttributeError(f"module 'softbleu.scoring.doors' has no attribute {name!r}")
    return DOORS[name]
