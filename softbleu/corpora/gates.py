"""Gates: declared rules for the part of an output that is scored, and for outputs that count as empty."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from softbleu.corpora.checked import CheckedSegment, CheckedText, Ordinary, texts_by_segment
from softbleu.corpora.corpus import AnyCorpus, Corpus, Segments
from softbleu.corpora.detectors import DETECTORS
from softbleu.corpora.forms import cut_chatter, only_in
from softbleu.corpora.gating import Gating
from softbleu.corpora.validation import in_one_order
from softbleu.errors import InputError, Parameter, counted, known_name
from softbleu.io.arguments import check_texts, listed

_THOUGHTS = "think|thinking|thoughts?|reasoning|reflection|scratchpad|analysis|seed:think"
_ENDS = "(?:im_end|end|eos|eot|eom|return)(?:[_\u2581](?:of|id|text|turn|sentence|token))*|endoftext"
_END = re.compile(rf"(?i)<[|\uff5c](?:{_ENDS})[|\uff5c]>|<(?:{_ENDS})>|</s>|\[/INST\]")
_ROLE = "(?:system|user|assistant|model)\\b"
_REASONING = (
    rf"(?is)<({_THOUGHTS})>.*?(?:</\1>|\Z)",
    rf"(?is)\A.*</(?:{_THOUGHTS})>",  # Opened by the prompt
    r"(?s)\[THINK\].*?(?:\[/THINK\]|\Z)",
    r"(?s)\u25c1think\u25b7.*?(?:\u25c1/think\u25b7|\Z)",
    r"(?s)<\|(?:START_THINKING|begin_of_thought)\|>.*?(?:<\|(?:END_THINKING|end_of_thought)\|>|\Z)",
    r"(?s)<\|channel\|>(?:analysis|commentary).*?(?:<\|channel\|>final<\|message\|>|\Z)",
    r"(?s)\Aanalysis.*?assistantfinal",  # The same without special tokens
    rf"(?i)<[|\uff5c](?!(?:{_ENDS})[|\uff5c])[\w\u2581 ]{{2,40}}[|\uff5c]>(?:\s*{_ROLE})?",
    rf"(?i)<start_of_turn>(?:\s*{_ROLE})?|<(?:s|bos|pad)>|\[INST\]",
)
"""Patterns of what models print around an answer. Without an end it goes on up to the end of the output."""
_ANSWER = re.compile(r"(?i)<(/?)(?:answer|final|translation|response)>")
_BOXED, _LATEX = "\\boxed{", re.compile(r"(?s)\\(?:text|mbox|mathrm)\{(.*)\}")
_FENCE = re.compile(
    r"(?:```|(?m:^[ \t]*~~~+))(?:[\w+-]*[ \t]*\n|(?:text|txt|plain|plaintext|markdown|md|translation)\b)?"
)


@dataclass(frozen=True)
class Passed:
    """Text that a gate lets through of an output."""

    text: str  # Empty if the output counts as empty
    rules: tuple[str, ...] = ()  # Rules that changed it, in the order of `RULES`


def _without_reasoning(text: str, given: Sequence[str]) -> str | None:
    rest = text
    for pattern in _REASONING:
        if only_in(pattern, rest, given) is not None:
            rest = re.sub(pattern, "", rest)
    if only_in(_END.pattern, rest, given) is not None:
        rest = next(filter(str.strip, _END.split(rest)), "")
    if only_in(_ANSWER.pattern, rest, given) is not None:
        rest = _tagged(rest)
    if only_in(re.escape(_BOXED), rest, given) is not None:
        rest = _boxed(rest)
    return None if rest == text else rest.strip()


def _tagged(text: str) -> str:
    """Return the last answer that has text behind its tag, or the text before the first tag."""
    before, *rest = _ANSWER.split(text)
    answers = [answer for slash, answer in zip(rest[::2], rest[1::2], strict=True) if not slash and answer.strip()]
    return answers[-1] if answers else before


def _boxed(text: str) -> str:
    r"""Return the contents of the last ``\boxed{…}``, with or without an end, but for ``\text{…}`` around them."""
    inside = text[text.rindex(_BOXED) + len(_BOXED) :]
    depth, end = 1, len(inside)
    for brace in re.finditer(r"[{}]", inside):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            end = brace.start()
            break
    return _LATEX.sub(r"\1", inside[:end].strip())


def _without_fence(text: str, given: Sequence[str]) -> str | None:
    """Return the last fenced block with text; of a text that begins otherwise, the part before the first fence."""
    if only_in(_FENCE.pattern, text, given) is None:
        return None
    before, *rest = _FENCE.split(text)
    inside = next(filter(str.strip, [*rest[-2 + len(rest) % 2 :: -2], *rest]), "")
    within = inside and (not before.strip() or before.rstrip().endswith((":", "\uff1a")))
    return (inside if within else before).strip()


_LEAST_DEVIATION = 0.15  # Of the log ratio of lengths of two translations; 1,000 lines of people have .10 to .26
_STRIPS: Mapping[str, Callable[[str, Sequence[str]], str | None]] = {
    "reasoning": _without_reasoning,
    "chatter": cut_chatter,
    "fence": _without_fence,
}
_BY_REFERENCES = {"script", "language", "length"}  # Checks that compare with references
RULES: Mapping[str, str] = {
    "reasoning": "strip reasoning, such as <think>…</think>, also without an end or a beginning, and tags of answers",
    "chatter": "strip what an output says about itself: 'Here is the translation:', '(Note: the …)'",
    "fence": "strip code fences around an output, and what stands behind them",
    "empty": "count an output as empty where nothing is left, and its reference has text",
    "refusal": "count it as empty if it says in English that it cannot",
    "script": "count it as empty if most letters are of a script that is rare in the references",
    "language": "count it as empty if its words and letters are of another language than the references",
    "repetition": "count it as empty if it says the same over and over, as a whole or at one place",
    "length": "count it as empty if it is far too long or too short for its reference and its source",
}
"""Rules by name, in the order in which they are applied; those that do not strip are in `DETECTORS`."""
ALL_RULES = "all"


@dataclass(frozen=True)
class Gate:
    """Rules by which outputs are changed before they are scored.

    Rules that strip leave the answer to be scored. Outputs that other rules find count as empty: nothing matches, and
    all of the reference is missing. What a reference or the source of a line has, too, is never stripped or found.

    Attributes
    ----------
    rules
        Names of `RULES`, in their order.

    Examples
    --------
    >>> gate = Gate.of(["refusal", "reasoning"])
    >>> str(gate)
    'reasoning+refusal'
    >>> gate.apply(["<think>Dog?</think> A dog barks.", "As an AI, I bark."], [["The dog barks."], ["I bark."]])
    [Passed(text='A dog barks.', rules=('reasoning',)), Passed(text='', rules=('refusal',))]
    """

    rules: tuple[str, ...]

    @classmethod
    def of(cls, rules: str | Iterable[str] | Gate) -> Gate:
        """Make a gate of the names of rules: one, several, ``all``, or as in signatures, such as ``refusal+empty``.

        Raises `InputError`: a name is unknown, or no rule is named.
        """
        if isinstance(rules, Gate):
            return rules
        if not isinstance(rules, Iterable):
            raise InputError(f"rules of a gate are names, such as {ALL_RULES!r}, not {rules!r}")
        named = [name for text in ([rules] if isinstance(rules, str) else rules) for name in str(text).split("+")]
        known = {known_name("rule of a gate", name.strip(), [*RULES, ALL_RULES]) for name in named}
        if not known:
            raise InputError(f"a gate needs rules: name some, such as {ALL_RULES!r}, by ", Parameter("gate"))
        return cls(tuple(name for name in RULES if name in known or ALL_RULES in known))

    def __str__(self) -> str:
        """Join the names of the rules, as signatures do."""
        return "+".join(self.rules)

    def over(self, references: Iterable[str | Sequence[str]], source: Iterable[str] | None = None) -> OpenGate:
        """Learn the language and the lengths of references, which `script`, `language` and `length` compare with.

        `references` has one text or several of each segment, `source` its source. Of fewer than 40 texts only the
        scripts are known, and with a source its language.
        """
        ordinary = Ordinary(least_deviation=_LEAST_DEVIATION)
        entries = enumerate(listed("references", references), start=1)
        texts = [_texts(f"references of segment {number}", entry) for number, entry in entries]
        sources = [None] * len(texts) if source is None else _sources(source, len(texts))
        for models, text in zip(texts, sources, strict=True):
            ordinary.learn_references(None if text is None else CheckedText(text), list(map(CheckedText, models)))
        return OpenGate(self, ordinary)

    def apply(
        self,
        candidates: Sequence[str],
        references: Sequence[str | Sequence[str]],
        source: Sequence[str] | None = None,
    ) -> list[Passed]:
        """Apply the rules to a list of outputs; the language is that of these references."""
        candidates, references, source = in_one_order(candidates, references, source)
        references, candidates = listed("references", references), listed("candidates", candidates)
        opened = self.over(references, source)
        if len(candidates) != len(references):
            raise InputError(f"{counted(len(candidates), 'candidate')}, but references for {len(references)}")
        sources: Sequence[Any] = [None] * len(candidates) if source is None else listed("source texts", source)
        lines = zip(candidates, references, sources, strict=True)
        return [opened.passed(text, entry, known) for text, entry, known in lines]


def _texts(what: str, entry: object) -> list[str]:
    """Return a text, or several, as a list; InputError for anything else."""
    texts = [entry] if isinstance(entry, str) else [*listed(what, entry)]
    check_texts(what, texts)
    return texts


def _sources(given: object, count: int) -> list[str]:
    sources = [*listed("source texts", given)]
    check_texts("source texts", sources)
    if len(sources) != count:
        raise InputError(f"{counted(len(sources), 'source text')}, but references for {count}")
    return sources


GivenGate = str | Iterable[str] | Gate
"""A gate, or the names of its rules."""


@dataclass(frozen=True)
class OpenGate:
    """A gate that knows the language and the lengths of the references; made by `Gate.over`."""

    gate: Gate
    ordinary: Ordinary

    def passed(self, text: str, references: str | Sequence[str] = (), source: str | None = None) -> Passed:
        """Apply the rules to an output with these references and this source."""
        check_texts("outputs at a gate", [text])
        references = [references] if isinstance(references, str) else references
        return self.passed_by_system({"": text}, references, source)[""]

    def passed_by_system(
        self, outputs: Mapping[str, str], references: Sequence[str], source: str | None = None
    ) -> dict[str, Passed]:
        """Apply the rules to the outputs of systems for one segment."""
        models, known = list(map(CheckedText, references)), None if source is None else CheckedText(source)
        return {system: self._passed(text, models, known) for system, text in outputs.items()}

    def _passed(self, text: str, models: Sequence[CheckedText], source: CheckedText | None) -> Passed:
        given = [model.text for model in (*models, *([] if source is None else [source]))]
        found = []
        for name in self.gate.rules:
            if name in _STRIPS:
                if (rest := _STRIPS[name](text, given)) is not None:
                    text = rest
                    found.append(name)
            elif (models or name not in _BY_REFERENCES) and DETECTORS[name].find(
                CheckedSegment("", 0, CheckedText(text), source, models, {}), self.ordinary
            ) is not None:
                return Passed("", (*found, name))
        return Passed(text, tuple(found))


def gated(corpus: AnyCorpus, rules: GivenGate | None) -> AnyCorpus:
    """Apply the rules of a gate to the outputs of a corpus; without rules it stays as it is.

    Raises `InputError`: the outputs are edits or logs, or rules need references.

    Examples
    --------
    >>> from softbleu.corpora import Segments
    >>> corpus = gated(Segments.of({"A": ["<think>Dog?</think> A dog.", ""]}, ["The dog.", "A cat."]), "all")
    >>> corpus.candidates, str(corpus.gating.of("A"))
    ({'A': ['A dog.', '']}, '2 of 2 lines: reasoning 1, empty 1')
    """
    if rules is None or rules == ():
        return corpus
    gate, given = Gate.of(rules), Parameter("gate")
    if corpus.edits or corpus.logs:
        what = "edits" if corpus.edits else "logs with delays"
        raise InputError(f"outputs come from {what} and stay as they are: leave out ", given)
    if corpus.against == "source" and _BY_REFERENCES & {*gate.rules}:
        raise InputError(
            "without references no language or length is known: leave out the rules script, language and length of ",
            given,
        )
    ordinary = Ordinary(least_deviation=_LEAST_DEVIATION)
    for _, models, source in texts_by_segment(corpus):
        ordinary.learn_references(None if source is None else CheckedText(source), list(map(CheckedText, models)))
    with_source = corpus.source is not None or corpus.gold is not None
    found: dict[str, dict[int, tuple[str, ...]]] = {system: {} for system in corpus.systems}
    outputs = _pass_all(corpus, OpenGate(gate, ordinary), found)
    made = corpus
    if isinstance(corpus, Segments):
        passed = list(outputs)
        texts_of = {system: [row[place] for row in passed] for place, system in enumerate(corpus.systems)}
        made = replace(corpus, candidates=texts_of)
    else:
        made = replace(corpus, candidates=corpus.written(outputs, "gated"))
    return cast("AnyCorpus", replace(made, gating=Gating(gate.rules, with_source, len(corpus), found)))


def _pass_all(corpus: Corpus, gate: OpenGate, found: Mapping[str, dict[int, tuple[str, ...]]]) -> Iterator[list[str]]:
    """Yield the outputs of each segment as the gate leaves them, and collect the rules that changed them."""
    for number, texts in enumerate(texts_by_segment(corpus)):
        passed = gate.passed_by_system(*texts)
        for name, each in passed.items():
            if each.rules:
                found[name][number] = each.rules
        yield [each.text for each in passed.values()]
