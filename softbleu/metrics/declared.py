"""Metrics as values: made from settings of all their parts, changed, compared, and written as text."""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from inspect import Parameter as Argument
from inspect import Signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from softbleu.config.declare import (
    Declared,
    Setting,
    all_settings,
    check_given,
    format_expression,
    own_settings,
    registry,
    setting,
    signature_of,
)
from softbleu.config.languages import UNSPACED_LANGUAGES, Language, find_language, language_of_data
from softbleu.embeddings.choice import NO_VECTORS, VectorChoice
from softbleu.encoders import is_encoder
from softbleu.errors import InputError, Parameter, UnknownNameError
from softbleu.matching.matchers import MATCHERS
from softbleu.metrics.requirements import Requirements
from softbleu.metrics.settings import DEFAULT_ENCODER, MULTILINGUAL_ENCODER, tokenizer_setting
from softbleu.text.tokens import TOKENIZERS, Tokenizer, Whitespace

if TYPE_CHECKING:
    from softbleu.metrics.keywords import PartFields
    from softbleu.types import Fields
else:
    # Only type checkers need fields for the settings of parts.
    PartFields = Declared

IN_CONTEXT, WITHOUT_VECTORS = "in context", "without vectors"
"""Presets that a metric takes by itself where vectors are in context, and where there are no vectors."""


class SettingsSignature(Signature):
    """Settings of a metric as `help` shows them."""

    def format(self, **_: object) -> str:
        """Write one setting per line, by group."""
        groups = {"matcher": "matching", "tokenize": "text", "preset": "papers"}
        kinds: Mapping[str, Sequence[type[Declared]]]
        kinds = {"matching": MATCHERS.classes(), "text": TOKENIZERS.classes(), "vectors": [VectorChoice]}
        for title, owners in kinds.items():
            groups |= {setting.name: title for owner in owners for setting in all_settings(owner, shared=True)}
        text, last = "(\n    *,", ""
        for name, argument in self.parameters.items():
            group = groups.get(name, "the metric's own")
            text += "" if group == last else f"\n    # {group}"
            text, last = f"{text}\n    {name}: {argument.annotation} = {argument.default!r},", group
        return f"{text}\n)"

    __str__ = format


class MetricClass(ABCMeta):
    """Class of classes of metrics, which take the settings of all parts: `Vleu(threshold=0.8, tokenize="none")`."""

    def __call__(cls, *values: object, **settings: object) -> Any:
        """Make a metric; see `Metric`."""
        named = {each.name for each in fields(cls) if each.init}  # type: ignore[arg-type]
        parts = {setting.field: setting.part for setting in own_settings(cls)}
        whole = all(
            name in named and (parts.get(name) is None or value is None or isinstance(value, Declared))
            for name, value in settings.items()
        )
        # A language chooses the tokenizer unless one is given, even if it is a setting of the metric itself.
        if whole and ("language" not in settings or "tokenizer" in settings):
            return super().__call__(*values, **settings)
        plain = {name: settings.pop(name) for name in settings.keys() & (named - parts.keys())}
        return changed(cls(*values, **plain), settings)

    @property
    def __signature__(cls) -> Signature:
        """All settings by name, with their defaults, for `help` and completion."""
        value: DeclaredMetric = cls()
        arguments = {one.name: (default, one.hint) for one, default in value.settings() if one.name != "quantile"}
        if {*presets_of(cls)} - {IN_CONTEXT, WITHOUT_VECTORS}:
            arguments["preset"] = None, "str | None"
        arguments.setdefault("language", (None, "str | None"))
        described = ((name, {"default": default, "annotation": hint}) for name, (default, hint) in arguments.items())
        return SettingsSignature([Argument(name, Argument.KEYWORD_ONLY, **more) for name, more in described])


@dataclass(frozen=True, kw_only=True, repr=False)
class DeclaredMetric(PartFields, metaclass=MetricClass):
    """A metric as a value, which is complete: its number depends on nothing but its settings and its parts' settings.

    The fields are its settings, and the settings of its parts (matcher, tokenizer, vectors) are attributes as well.
    `str` of a metric is the expression that makes it.

    Raises
    ------
    InputError, UnknownNameError
        The metric has no setting of that name, or the setting cannot have that value.
    """

    tokenizer: Tokenizer = tokenizer_setting(Whitespace())
    vector_choice: VectorChoice = setting(VectorChoice())
    partial: bool = setting(
        False,
        "Score unfinished outputs: references count as far as candidates have come",
        signed_if_set=True,
        shared=False,
    )
    called: str = field(default="", repr=False)  # Name in tables, instead of the usual one; no score depends on it

    kind: ClassVar[str] = "metric"

    def __str__(self) -> str:
        shared = [setting.default for setting in own_settings(type(self)) if setting.shared]
        usual = {setting.name: value for part in shared for setting, value in part.settings()}
        # Values that the kind of vectors chooses are written, for a reader would take the default.
        looks = self.requires.vectors
        choice = self.vector_choice
        taken = taken_settings(self, choice.in_context, choice.without_vectors) if looks else {}
        written = {}
        for declared, value in self.settings("" if looks else "vector_choice"):
            default = usual.get(declared.name, declared.default)
            if declared.part is not None:
                default = value if declared.name == "matcher" and self._head != self.name else declared.default.name
            if declared.signed and (value != default or declared.name in taken):
                written[declared.name] = _written(value)
        return format_expression(self._head, written)

    def __repr__(self) -> str:
        return str(self)

    def __getstate__(self) -> dict[str, object]:
        """Leave out values that are kept, such as the scorer of sentences."""
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def replaced(self, **settings: object) -> Self:
        """Return the metric with other settings, its own or its parts'; they override a `preset`.

        A `language` chooses the tokenizer and the similarity. Raises `UnknownNameError` and `InputError` for settings
        that the metric does not have.

        Examples
        --------
        >>> import softbleu
        >>> softbleu.Vleu(threshold=0.8).replaced(threshold=0.7, order=2)
        vleu(threshold=0.7, order=2)
        """
        return changed(self, settings)

    def unread(self, settings: Fields) -> Collection[str]:
        """Name the settings of parts, of those given, that no score depends on, and that the metric thus lacks."""
        return ()

    def signature(self, *, short: bool = False, vectors: str | None = None, **more: object) -> str:
        """Write all that a number depends on, in the long form or the `short` one, and `more` keys with their values.

        `vectors` names the set and its content, if the metric looks at vectors.
        """
        metric, without = self, "vector_choice"
        if vectors is not None:
            metric, without = replace(self, vector_choice=replace(self.vector_choice, vectors=vectors)), ""
        return signature_of(metric, short=short, without=without, more=more)

    @property
    def _head(self) -> str:
        """First word of its expression."""
        return self.name

    @property
    def label(self) -> str:
        """Usual name of the score."""
        return self.name.upper()

    @property
    def requires(self) -> Requirements:
        """Inputs that the metric must have."""
        return Requirements()


def _written(value: object) -> object:
    """Write a value for an expression: a file by its path, a value in memory by its name or its kind."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Path):
        return str(value)
    return getattr(value, "location", None) or getattr(value, "name", None) or type(value).__name__


_M = TypeVar("_M", bound=DeclaredMetric)


def changed(metric: _M, settings: Fields, *, plain: bool = False) -> _M:
    """Return a metric with other settings; see `DeclaredMetric.replaced`.

    `plain` leaves out the settings that the metric takes by itself for vectors in context, or without vectors.
    """
    return fitted(metric, settings, plain=plain, whole=True)[0]


def fitted(metric: _M, settings: Fields, *, plain: bool = False, whole: bool = False) -> tuple[_M, set[str]]:
    """Return a metric with those `settings` that it has, and the names of the others, which must be of some metric.

    With `whole`, it must have all, and a preset of other metrics is none of those that it lacks. Raises
    `UnknownNameError` and `InputError` for names that no metric has, and for wrong values.
    """
    settings = dict(settings)
    if "called" in settings:
        metric = replace(metric, called=settings.pop("called"))
    preset, tag = settings.pop("preset", None), settings.pop("language", None)
    if preset is not None and preset not in preset_names():
        raise UnknownNameError("preset", preset, preset_names())
    language = None if tag is None else find_language(tag)
    unread = metric.unread(settings)
    known = {name: one for name, one in known_settings(metric, settings).items() if name not in unread}
    lacking = [name for name in settings if name not in known]
    for name in lacking:
        _check_of_others(metric, settings, name, known, whole=whole)
    settings = {name: value for name, value in settings.items() if name in known}
    idle = {*lacking}
    if preset is not None and preset not in presets_of(metric):
        idle, preset = {*idle, "preset"}, None
    if not settings and preset is None and language is None:
        return metric, idle
    spoken = {} if language is None else _language_settings(metric, settings, language, plain=plain)
    encoder = is_encoder(settings.get("vectors"))
    similarity = {**spoken, **settings}.get("similarity")
    compared = similarity not in (None, "none") or str(settings.get("vectors")) == NO_VECTORS
    usual = {} if plain else taken_settings(metric, encoder, compared)
    chosen = dict(presets_of(metric)[preset]) if preset is not None else {}
    # A preset has settings of vectors and matchers, which may have no use for them.
    if encoder or "threshold" not in known:
        chosen.pop("vector_case", None)
    made = metric.revised({**usual, **chosen, **spoken, **settings})
    if language is not None:
        _check_language(made, language)
    return made, idle


def _check_of_others(
    metric: DeclaredMetric, settings: Fields, name: str, known: Mapping[str, Setting], *, whole: bool
) -> None:
    """Check a setting that a metric does not have: some other must, and it must be able to have the value."""
    every = every_setting()
    if name not in every:
        over = {**settings, "matcher": "vleu"} if "matcher" in known else settings
        raise UnknownNameError("setting", name, known_settings(metric, over) if whole else sorted(every))
    check_given(every[name], settings[name])
    if whole:
        matcher = settings.get("matcher", getattr(metric, "matcher", None))
        matcher = matcher.name if isinstance(matcher, Declared) else matcher
        named = f"{metric.name} over {matcher!r}" if matcher else metric.name
        raise InputError(f"{named} has no setting {name!r}; it has: {', '.join(known)}")


def known_settings(metric: DeclaredMetric, settings: Mapping[str, object]) -> dict[str, Setting]:
    """List the settings of a metric over the matcher and the tokenizer that `settings` name, or else it has."""
    parts = {"matcher": getattr(metric, "matcher", None), "tokenize": metric.tokenizer, **settings}
    return {setting.name: setting for setting in all_settings(type(metric), parts, shared=True)}


def taken_settings(metric: DeclaredMetric, in_context: bool, without_vectors: bool) -> Mapping[str, object]:
    """Return the settings that a metric takes by itself for a kind of vectors."""
    return presets_of(metric).get(IN_CONTEXT if in_context else WITHOUT_VECTORS if without_vectors else "", {})


def _language_settings(
    metric: DeclaredMetric, settings: Mapping[str, object], language: Language, *, plain: bool
) -> dict[str, object]:
    """Return the settings that a language implies: itself, and unless `plain` tokens and similarity."""
    names = known_settings(metric, settings)
    spoken: dict[str, object] = {"language": language.code} if "language" in names else {}
    if getattr(metric, "merging", None) == "cherrant":
        spoken["merging"] = None  # By default only Chinese has that
    if plain:
        return spoken
    made = metric.revised({**spoken, **settings})
    requires = made.requires
    # Words of chrF count for partial scores: references are cut at their ends.
    by_words = requires.words or made.partial
    counted = requires.edits or (by_words and not (requires.gold or requires.pieces))
    tokenize = language.tokenize or ("unspaced" if made.partial and language.code in UNSPACED_LANGUAGES else None)
    if tokenize and counted and metric.tokenizer == type(metric)().tokenizer:
        spoken["tokenize"] = tokenize
    named = settings.get("vectors", NO_VECTORS) != NO_VECTORS or metric.vector_choice != VectorChoice()
    if language.code != "en" and requires.vectors and not named:
        spoken["similarity"] = language.similarity
    if language.code != "en" and requires.pieces:
        # A head or a map that is named chose the vectors.
        untaught = getattr(made, "head", None) is None and ("head" not in names or made.vector_choice.map is None)
        usual = metric.vector_choice.vectors == DEFAULT_ENCODER and untaught
        usual = usual and settings.get("similarity") in (None, "none")
        spoken |= {"vectors": MULTILINGUAL_ENCODER} if usual else {}
    return {name: value for name, value in spoken.items() if name not in settings}


def data_language(metric: DeclaredMetric) -> str | None:
    """Return the language of a metric's data and vectors; None if it has none, or their language is not known.

    Examples
    --------
    >>> import softbleu
    >>> [data_language(each) for each in (softbleu.Bleu(), softbleu.Meteor(stages="exact"), softbleu.Vleu())]
    [None, 'en', 'en']
    """
    of_vectors = metric.vector_choice.language if metric.requires.vectors else None
    # Some metrics have data or rules of one language, beside vectors.
    return getattr(metric, "language", None) if of_vectors is None else of_vectors


def _check_language(metric: DeclaredMetric, language: Language) -> None:
    """Check that the data and the vectors of a metric are for a language."""
    code, function_words = data_language(metric), metric.vector_choice.measure.function_words
    if code is None and metric.requires.vectors and function_words == "exact" and language.code != "en":
        code = "en"
    if code is not None and language_of_data(code).code != language.code:
        of_vectors = metric.requires.vectors and metric.vector_choice.language == code
        data = f"vectors ({metric.vector_choice.vectors})" if of_vectors else "data"
        said = f"{metric.label}: its {data} are {language_of_data(code).name}, and the text is {language.name}: "
        pieces = metric.requires.pieces or metric.vector_choice.in_context
        if "head" in known_settings(metric, {}):
            advice = "learn a map of vectors of this language (softbleu embeddings train), or name "
            raise InputError(said, advice, Parameter("map", MULTILINGUAL_ENCODER))
        there = f"name an encoder of this language, such as {MULTILINGUAL_ENCODER}"
        there = there if pieces else "name vectors of this language, or none"
        raise InputError(said, there if of_vectors else "take a metric for any language, such as softbleu or chrf")


def presets_of(metric: object) -> Mapping[str, Mapping[str, object]]:
    """Return the `presets` of a metric or a class, where it has any: settings of papers, by name.

    A metric takes `IN_CONTEXT` and `WITHOUT_VECTORS` by itself.
    """
    presets: Mapping[str, Mapping[str, object]] = getattr(metric, "presets", {})
    return presets


def preset_names() -> list[str]:
    """List the names of the settings of papers, including metrics of other packages."""
    named = (name for owner in registry("metric").classes() for name in presets_of(owner))
    return [name for name in named if name not in (IN_CONTEXT, WITHOUT_VECTORS)]


def every_setting() -> dict[str, Setting]:
    """List the settings of all metrics, matchers, tokenizers and vectors, by name.

    Where several have one name, the bounds and choices are the widest.
    """
    return _widened((*MATCHERS.classes(), *TOKENIZERS.classes(), *registry("metric").classes()))


@cache
def _widened(owners: tuple[type[Declared], ...]) -> dict[str, Setting]:
    """List the settings of classes; kept, because points of a sweep ask for them thousands of times."""
    widened: dict[str, Setting] = {}
    for owner in owners:
        for declared in all_settings(owner, shared=True):
            widened[declared.name] = declared.widened(widened.get(declared.name, declared))
    return widened
