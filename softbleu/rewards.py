"""Rewards for training: the scores of completions from 0 to 1, whole, or due token by token."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, Literal, Unpack, get_args

import numpy as np

from softbleu.corpora.gates import Gate, GivenGate, OpenGate, Passed
from softbleu.corpora.tampering import strict_factor
from softbleu.engine.plan import make_metric
from softbleu.engine.prefixes import EveryTokens
from softbleu.engine.scorer import SegmentScorer, check_partial
from softbleu.errors import InputError, counted, known_name
from softbleu.io.arguments import is_whole_number, listed
from softbleu.io.line_cache import without_cache
from softbleu.io.platform import cached_property, lock, on_all_cores
from softbleu.metrics.protocols import in_percent
from softbleu.text.tokens import token_places

if TYPE_CHECKING:
    from softbleu.metrics.base import Metric
    from softbleu.metrics.keywords import Settings
    from softbleu.types import Floats, Integers, Json

_PER_COMPLETION = "a list with an entry per completion"
_THOUGHTS = ("reasoning", "reasoning_text", "thinking")  # Types of parts of messages
_COLUMN = "references"  # Keyword of the references, unless another column is named
WithoutReference = Literal["error", "skip"]
TokenSpans = Sequence[tuple[int, int]]
"""Start and end of the tokens of a completion, in characters: `offset_mapping` of Hugging Face's tokenizers."""


class Reward:
    """Scores completions by a metric, as a reward from 0 to 1: a callable for libraries of reinforcement learning.

    A reward is the metric's sentence score over 100; where lower is better, as in TER, it is 1 less that. What lies
    beyond 0 and 1 is cut. It does not depend on the other completions of a call. Rewards can be called from many
    threads, after forks, and sent to other processes.

    Parameters
    ----------
    metric
        A name, an expression or a value, such as ``softbleu.Chrf(word_order=2)``, of a metric that scores segments.
    dense
        Return rewards by place in the completion, which add up to its reward: see `__call__`.
    gate
        Rules by which completions are changed before they are scored, such as ``"reasoning+fence+empty"``; see
        `softbleu.score`. A completion of which a rule leaves nothing has the reward 0. The rule `language` learns
        from references: give ``Gate.of("all").over(references)``. `shares` says how many completions each rule
        changed.
    every
        With `dense`, look at prefixes of every so many of the metric's tokens.
    column
        Name of the keyword that has the references, a column of a data set; it wins over a column
        `references`.
    name
        Name by which trainers log the reward. By default it is the metric with its settings, and what else the reward
        hangs on, such as ``vleu(threshold=0.5)|gate:empty``, so that rewards that differ have different names.
    missing
        Treatment of completions without a reference, whose entry is None or has messages without content:
        ``"error"`` ends the call, ``"skip"`` gives None, which TRL leaves out.
    cache
        Cache on disk what an encoder or a language model makes of each text, as scores do. By default nothing is
        written, for each completion is new.
    strict
        Lower the rewards of completions that are the reference written otherwise, denied or in another order, or
        have another length: times `softbleu.corpora.tampering.strict_factor`.
    settings
        Settings of the metric.

    Raises
    ------
    InputError, UnknownNameError
        The metric or a setting does not exist; no reward can be made of it, as it needs gold edits, has no scale to
        100, or with `dense` scores whole outputs only.

    Examples
    --------
    >>> reward = Reward("chrf")
    >>> [round(each, 3) for each in reward(["a cat sat", "the dog"], ["the cat sat", ["a dog", "the dog"]])]
    [0.536, 1.0]
    >>> chat = [[{"role": "assistant", "content": "the cat sat"}]]
    >>> reward(prompts=["…"], completions=chat, references=["the cat sat"])
    [1.0]
    """

    def __init__(  # type: ignore[misc]  # Of a metric's settings `missing` is one of given scores, which are no reward
        self,
        metric: str | Metric = "chrf",
        *,
        dense: bool = False,
        gate: GivenGate | OpenGate | None = None,
        every: int = 1,
        column: str = _COLUMN,
        name: str | None = None,
        missing: WithoutReference = "error",
        cache: bool = False,
        strict: bool = False,
        **settings: Unpack[Settings],
    ) -> None:
        self.metric = make_metric(metric, **settings)
        self.dense, self.every, self.column, self.name, self.cache = bool(dense), every, column, name, cache
        self.strict = bool(strict)
        self.missing = known_name("missing", missing, get_args(WithoutReference))
        requires = self.metric.requires
        if requires.gold or requires.delays or not in_percent(self.metric):
            raise InputError(f"no reward is made of {self.metric.name!r}: name a metric of texts, such as chrf")
        if strict and not requires.references:
            raise InputError(f"strict compares with references, which {self.metric.name!r} has none of: leave it out")
        if not is_whole_number(every) or every < 1:
            raise InputError(f"every is a whole number of tokens, at least 1, not {every!r}")
        if dense:
            check_partial(self.metric)
        elif every != 1:
            raise InputError("every is for rewards by token: make the reward with dense=True")
        self.gate = gate if gate is None or isinstance(gate, OpenGate) else Gate.of(gate)
        if isinstance(self.gate, Gate) and "language" in self.gate.rules:
            raise InputError(
                "the rule language of a gate learns from references: give gate=Gate.of(…).over(references), or name "
                "other rules"
            )
        self._reset()

    def _reset(self) -> None:
        self._counts, self._counting = Counter[str](), lock()

    @property
    def shares(self) -> dict[str, float]:
        """Share of the completions so far that each rule of the gate changed."""
        rules = () if self.gate is None else _rules_of(self.gate)
        with self._counting:
            return {rule: self._counts[rule] / max(self._counts[""], 1) for rule in rules}

    @property
    def __name__(self) -> str:
        """Name by which trainers call the reward in their logs."""
        settings = "".join(f"|{name}:{value}" for name, value in self._settings().items())
        return self.name or (self.metric.called or str(self.metric)) + settings

    def __repr__(self) -> str:
        settings = "".join(f", {name}={value!r}" for name, value in self._settings().items())
        return f"Reward({str(self.metric)!r}{settings})"

    def _settings(self) -> dict[str, object]:
        """Return settings of the reward beside the metric, where they are not the defaults."""
        gate = "" if self.gate is None else "+".join(_rules_of(self.gate))
        column = "" if self.column == _COLUMN else self.column
        given = {"dense": self.dense, "every": self.every > 1 and self.every, "gate": gate, "column": column}
        given["strict"] = self.strict
        given["missing"] = "" if self.missing == "error" else self.missing
        return {name: value for name, value in given.items() if value}

    def __getstate__(self) -> dict[str, object]:
        """Leave out the scorer and the counts of completions, which begin anew."""
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def __setstate__(self, state: dict[str, object]) -> None:
        """Begin to count anew."""
        vars(self).update(state)
        self._reset()

    @cached_property
    def _scorer(self) -> SegmentScorer:
        return SegmentScorer(self.metric)

    def __call__(
        self,
        completions: Sequence[object],
        references: Sequence[object] | None = None,
        source: Sequence[object] | None = None,
        *,
        offsets: Sequence[TokenSpans] | None = None,
        **others: Any,
    ) -> list[float | None] | list[Floats | None]:
        """Score completions.

        Parameters
        ----------
        completions
            Texts, or lists of messages with `role` and `content`, whose last message of an assistant is scored. If it
            has no text, as where it calls a tool, its output is empty.
        references
            A text or a list of texts for each completion; texts may be messages, too.
        source
            A text for each completion, where the metric needs it, or a gate compares with it; a gate leaves entries
            alone that are None or no text.
        offsets
            With `dense`, start and end of the tokens of each completion, in characters. What is due within a token,
            or before it and after the last one, is its reward; what is due at the end of the text, the last one's.
            Without `dense` it is not looked at.
        others
            What else a trainer gives, such as `prompts` and columns of the data set. Only `column` is read, and
            `log_metric` of TRL is called with the share of these completions that each rule of the gate changed.

        Returns
        -------
        list of float, or with `dense` of arrays; None for completions that are skipped
            A number from 0 to 1 for each completion. With `dense` an array of numbers that add up to it: one for each
            token of `offsets`, or else one for each character of the text and a last one for its end. What a token
            brings is the difference between the `partial` scores with it and without it; the end brings the
            difference between the score of the whole and the last partial score.

        Raises
        ------
        InputError
            There are no references or fewer than completions, or something is not text; or a trainer such as
            GRPOTrainer of TRL, which takes one number a completion, calls a reward of `dense`.

        Examples
        --------
        >>> dense = Reward("chrf", dense=True)
        >>> (rewards,) = dense(["the cat lay"], ["the cat sat"], offsets=[[(0, 3), (4, 7), (8, 11), (11, 11)]])
        >>> rewards.round(3).tolist()
        [1.0, 0.0, -0.479, 0.0]
        >>> bool(abs(rewards.sum() - Reward("chrf")(["the cat lay"], ["the cat sat"])[0]) < 1e-12)
        True
        """
        if self.dense and offsets is None and "completion_ids" in others:
            raise InputError(
                "this trainer takes one number a completion: leave out dense=True, or see integrations/trl_dense.py"
            )
        if self.column != _COLUMN:
            given = {_COLUMN: references, "source": source}
            others |= {name: each for name, each in given.items() if each is not None}
            references = others.get(self.column)
        said = [text_of(each, place) for place, each in enumerate(_listed("completions", completions), start=1)]
        texts = [text or "" for text in said]
        models, known = self._references(references, len(texts), others), self._source(source, len(texts))
        rows = [row for row, given in enumerate(models) if given is not None]
        kept = [texts[row] for row in rows]
        inputs = (
            [given for given in models if given is not None],
            None if known is None else [known[row] for row in rows],
        )
        with nullcontext() if self.cache else without_cache(), on_all_cores():
            if self.gate is None:
                rewards = self._scored(kept, *inputs)
            else:
                rewards = self._gated(self.gate, kept, *inputs, others.get("log_metric"))
        if self.dense and offsets is not None:
            spans = _listed("offsets", offsets)
            _check_count("offsets", len(spans), len(texts))
            rewards = [
                _of_tokens(texts[row], due, spans[row], row + 1) for row, due in zip(rows, rewards, strict=True)
            ]
        placed = dict(zip(rows, rewards, strict=True))
        return [placed.get(row) for row in range(len(texts))]

    def _gated(
        self,
        gate: Gate | OpenGate,
        texts: Sequence[str],
        references: Sequence[tuple[str, ...]],
        source: Sequence[str] | None,
        log: object,
    ) -> list[Any]:
        """Score checked texts as a gate leaves them, and count the changed ones."""
        passed: list[Passed] = []
        for row, (text, texts_of_row) in enumerate(zip(texts, references, strict=True)):
            one = (None if source is None else source[row]) or None
            # A reward does not depend on the other completions.
            opened = gate.over([texts_of_row], None if one is None else [one]) if isinstance(gate, Gate) else gate
            passed.append(opened.passed(text, texts_of_row, one))
        counts = Counter(rule for left in passed for rule in left.rules)
        with self._counting:
            self._counts.update({**counts, "": len(passed)})
        if callable(log) and passed:
            for rule in _rules_of(gate):
                log(f"gate/{rule}", counts[rule] / len(passed))
        source = source if self.metric.requires.source else None
        rewards = self._scored([left.text for left in passed], references, source)
        for row, left in enumerate(passed):
            if left.rules and not left.text:
                rewards[row] = 0.0 * abs(rewards[row])  # A rule leaves nothing of it
        if not self.dense:
            return rewards
        return [_in_given(due, left, text) for due, left, text in zip(rewards, passed, texts, strict=True)]

    def _scored(
        self, texts: Sequence[str], references: Sequence[tuple[str, ...]], source: Sequence[str] | None
    ) -> list[Any]:
        """Score checked texts: numbers, or arrays of rewards by character."""
        batch = texts, references, source
        totals = [self._reward(score) for score in self._scorer.scores(*batch)]
        if self.strict:
            lowered = map(strict_factor, texts, references)
            totals = [total * factor for total, factor in zip(totals, lowered, strict=True)]
        if not self.dense:
            return totals
        rewards = []
        found = self._scorer.prefix_scores(*batch, EveryTokens(self.every))
        for text, (sizes, _, scores), total in zip(texts, found, totals, strict=True):
            ends = token_ends(text, self.metric)[sizes - 1]
            rewards.append(_by_character(text, ends, [self._reward(score) for score in scores.tolist()], total))
        return rewards

    def _reward(self, score: float) -> float:
        """Return the reward of a score; no text has no partial TER, and earns nothing."""
        share = score / 100 if self.metric.higher_is_better else 1 - score / 100
        return min(max(share, 0.0), 1.0) if share == share else 0.0

    def _references(
        self, given: object, count: int, others: Mapping[str, object]
    ) -> Sequence[tuple[str, ...] | None]:
        """Check references: one or more texts for each completion, or None where it is skipped."""
        requires = self.metric.requires
        if not (requires.references or requires.edits):
            return [()] * count
        if given is None:
            named = ", ".join(sorted(others)) or "nothing"
            raise InputError(
                f"no references: give {self.column}=[…], an entry per completion, or name the column that has them "
                f"by column= (beside the completions came {named})"
            )
        entries = _listed("references", given)
        _check_count("references", len(entries), count)
        references = [_references_of(entry, place) for place, entry in enumerate(entries, start=1)]
        for place, (entry, models) in enumerate(zip(entries, references, strict=True), start=1):
            if not models and self.missing == "error":
                raise InputError(f"completion {place} has no reference: give one, or missing='skip'")
            if isinstance(entry, str) and _is_list(entry):
                raise InputError(
                    f"the reference of completion {place} is a list of texts as JSON, {entry:.40}: give the list, or "
                    "[this text] if it is one"
                )
        return [models or None for models in references]

    def _source(self, given: object, count: int) -> list[str] | None:
        """Check source texts; to a gate what is missing or no text is an empty one."""
        needed = self.metric.requires.source
        if given is None and needed:
            raise InputError(f"metric {self.metric.name!r} needs the source: give source=[…], a text per completion")
        if given is None or not (needed or self.gate):
            return None
        entries = _listed("source texts", given)
        _check_count("source texts", len(entries), count)
        texts = [
            text_of(each, place, "source") if needed or isinstance(each, str | Mapping | list | tuple) else None
            for place, each in enumerate(entries, start=1)
        ]
        if needed and None in texts:
            raise InputError(f"source {texts.index(None) + 1} has no text: give one")
        return [text or "" for text in texts]


def _listed(what: str, values: object) -> Sequence[Any]:
    return listed(what, values, _PER_COMPLETION)


def _check_count(what: str, count: int, wanted: int) -> None:
    if count != wanted:
        raise InputError(f"{counted(wanted, 'completion')} but {what} for {count}: give an entry per completion")


def text_of(given: object, place: int, what: str = "completion") -> str | None:
    """Return the text of a completion, of messages that of the last one of an assistant; None if that has none.

    `place` is its number, from 1, and `what` its name in errors. Raises InputError for anything but text.

    >>> text_of([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "a cat"}], 1)
    'a cat'
    """
    if isinstance(given, str):
        return given
    messages = [given] if isinstance(given, Mapping) else given
    if isinstance(messages, list | tuple) and messages and all(map(_is_message, messages)):
        said = [one for one in messages if one.get("role", "assistant") == "assistant"]
        if not said:
            roles = ", ".join(dict.fromkeys(str(one["role"]) for one in messages))
            raise InputError(f"{what} {place} has no message of the role assistant, only of {roles}")
        return _content_of(said[-1].get("content"), f"{what} {place}")
    raise InputError(f"{what} {place} is {_kind(given)}: give a text, or messages with role and content")


def _is_message(value: object) -> bool:
    return isinstance(value, Mapping) and ("role" in value or "content" in value)


def _content_of(content: Json, where: str) -> str | None:
    """Return the text of a message; None if it calls tools, or has nothing but other parts than text."""
    if content is None or isinstance(content, str):
        return content
    parts = content if isinstance(content, list | tuple) else [content]
    if not all(isinstance(part, Mapping) and isinstance(part.get("text"), str | None) for part in parts):
        raise InputError(f"the content of {where} is {_kind(content)}: give a text, or parts with a text each")
    texts = [part["text"] for part in parts if part.get("text") is not None and part.get("type") not in _THOUGHTS]
    return "".join(texts) if texts else None


def _references_of(entry: Json, place: int) -> tuple[str, ...]:
    """Return the references of a completion that are not missing: of a text, of messages, or of a list of these."""
    if isinstance(entry, str | Mapping) or not hasattr(entry, "__len__"):
        several = [entry]
    else:
        several = list(entry)
        if several and isinstance(several[0], Mapping):
            several = [several]
    texts = [text_of(each, place, "the reference of completion") for each in several if each is not None]
    return tuple(text for text in texts if text is not None)


def _is_list(text: str) -> bool:
    """Whether a text is a list of texts as JSON."""
    if not (text.startswith("[") and text.rstrip().endswith("]")):
        return False
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return bool(values) and all(isinstance(value, str) for value in values)


def _kind(value: object) -> str:
    return "None" if value is None else f"{value!r:.40} ({type(value).__name__})"


def token_ends(text: str, metric: Metric) -> Integers:
    """Return where the tokens of a metric end in a text, in characters; (tokens,), or one 0 for no tokens."""
    tokenizer = metric.tokenizer
    ends = [end for _, end in token_places(tokenizer.split(text), text)]
    return np.array(ends or [0], np.int64)


def _by_character(text: str, ends: Integers, scores: Sequence[float], total: float) -> Floats:
    """Place the differences of the scores of prefixes, which end at `ends`, and the rest at the end."""
    rewards = np.zeros(len(text) + 1)
    # A token's reward is due with its last character.
    np.add.at(rewards, np.maximum(ends - 1, 0), np.diff(scores, prepend=0))
    rewards[-1] += total - scores[-1]
    return rewards


def _rules_of(gate: Gate | OpenGate) -> tuple[str, ...]:
    return gate.gate.rules if isinstance(gate, OpenGate) else gate.rules


def _in_given(rewards: Floats, passed: Passed, given: str) -> Floats:
    """Place rewards by character of a text that passed a gate in the text as it was given; the rest has none."""
    text = passed.text
    placed = np.zeros(len(given) + 1)
    placed[-1] = rewards[-1]
    fence = given.find("```") if "fence" in passed.rules else -1
    at = given.rfind(text) if fence < 0 else given.find(text, fence)
    at = given.rfind(text) if at < 0 else at
    if at >= 0:
        placed[at : at + len(text)] += rewards[:-1]
        return placed
    # Several parts were taken out.
    places = np.full(len(text), -1)
    for block in SequenceMatcher(None, text, given, autojunk=False).get_matching_blocks():
        places[block.a : block.a + block.size] = np.arange(block.b, block.b + block.size)
    np.add.at(placed, np.maximum.accumulate(places), rewards[:-1])
    return placed


def _of_tokens(text: str, rewards: Floats, spans: Any, place: int) -> Floats:
    """Add up rewards by character to rewards by token."""
    try:
        starts, ends = np.array(list(spans), np.int64).reshape(-1, 2).T
    except (TypeError, ValueError):
        starts = ends = np.zeros(0, np.int64)
    within = len(ends) > 0 and starts.min() >= 0 and ends.max() <= len(text) and bool(np.all(starts <= ends))
    # Special tokens have the offsets (0, 0), wherever they are.
    if not within or np.any(np.diff(ends[ends > 0]) < 0):
        raise InputError(
            f"offsets of completion {place} are a (start, end) for each token, in order and within its {len(text)} "
            "characters"
        )
    ends = np.maximum.accumulate(ends)
    ends[-1] = len(rewards)
    sums = np.concatenate(([0.0], np.cumsum(rewards)))[ends]
    return np.diff(sums, prepend=0.0)
