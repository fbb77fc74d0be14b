"""Surface of a text: subwords, columns, entities, invisible characters, chatter; and its rare words."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import log

from softbleu.config.languages import UNSPACED

MARKUP = {
    "code fence": "```",
    "heading": r"^\s*#{1,6} ",
    "bold": r"\*\*[^*\s][^*]*\*\*|__[^_\s][^_]*__",
    "tag": r"</?[a-zA-Z][\w-]*(?: [^<>]*)?/?>",
    "quotes around all": r"^\s*[\"“„«「『][^\"“”„«»「」『』]*[\"”“»」』]\s*$",
}
_OPENING = (
    r"(?:sure|certainly|of course|okay|ok)\b[,.!:]\W*(?:here|i(?:'ll| will| can| have)|let me)\b"
    r"|here(?:'s| is| are)\b.{0,60}(?:translat|correct|version|text)\w*"
)
_TITLE = (
    r"(?:the |my )?(?:corrected |final )?"
    r"(?:translation|translated text|correction|corrected (?:text|sentence)|output|answer)\W*:"
)
_REMARK = r"[(\[]?\b(?:translator'?s note|note that i|note: (?:i|the|this))\b|let me know if|hope this helps"
CHATTER = rf"(?i)^\W*(?:{_OPENING}|{_TITLE})|{_REMARK}"
_BEFORE = re.compile(rf"(?i)^\W*(?:(?:{_OPENING})[^:\uff1a\n]{{0,80}}[:\uff1a]|{_TITLE})[\s*_]*")
_BEHIND = re.compile(rf"(?is)(?:(?<=[.!?…`\u3002\uff01\uff1f\u0964])|\n|[(\[])\s*(?:I )?(?:please )?(?:{_REMARK})")
REFUSAL = (
    r"(?i)\bas an ai\b"
    r"|\bi(?:'m| am) (?:sorry|unable|not able)\b.{0,80}\b(?:translat|assist|help|provid|cannot|can't|text)"
    r"|\bi (?:can(?:'|no)t|cannot|won't|am not able to) (?:translate|assist|help with|provide|fulfil)"
)
_DECLINED = (
    r"(?i)\bas an ai\b|\bsorry\b|\bapolog|\b(?:i|we)(?:['’]m| am|['’]re| are)? (?:\w+ ){0,2}?"
    r"(?:unable|not able|can(?:['’]|no)t|can not|could(?: not|n['’]t)|won['’]t)\b"
)
_QUOTED = re.compile(
    r"^\s*[-–—]\s.*|\"[^\"]*\"?|[“”„«»‹›「『][^“”„«»‹›」』]*[“”«»‹›」』]?|(?<!\w)[‘'‚](?=\w).*?[’'‘](?!\w)", re.DOTALL
)
_UNSPACED = re.compile(f"[{UNSPACED}]")
_EDGES = ".,;:!?…·\"'()[]{}<>«»„“”‘’`-–—*/\\|▁@Ġ#。、，！？；：（）「」『』《》।՝"
_NUMBERED = re.compile(r"\s*[(\[]?(\d+)[)\].:|]*(?:\t|\s|$)")
_LAST = re.compile(r"[^\s.](\s*)\.[\"'”’»)\]]?$")


_OPENINGS = ("sure", "certainly", "of course", "ok", "here", "correct", "final", "translat", "output", "answer")
_HINTS = (
    *("translator", "note that i", "note: ", "let me know", "hope this"),
    *("as an ai", "i'm ", "i am ", "i can", "i won't"),
)  # Text with a refusal, or with chatter behind its beginning, contains at least one


@lru_cache(maxsize=1)
def _hinted(text: str) -> bool:
    """Whether a text may contain chatter or a refusal (fast check)."""
    lower = text.lower()
    beginning = re.sub(r"^\W+", "", lower[:40]).removeprefix("the ").removeprefix("my ")
    return beginning.startswith(_OPENINGS) or any(hint in lower for hint in _HINTS)


@dataclass(frozen=True)
class WayToWrite:
    """A form of text that only some programs write."""

    check: str
    name: str
    pattern: re.Pattern[str]
    marks: tuple[str, ...] = ()  # Every match contains one of these
    without: Callable[[str], bool] | None = None  # Or a function that is true of texts without this form

    def possible(self, text: str) -> bool:
        """Whether a text may have this form (fast check)."""
        return not self.without(text) if self.without else any(mark in text for mark in self.marks)

    def found(self, text: str) -> str | None:
        """Return the first match in a text."""
        match = self.pattern.search(text) if self.possible(text) else None
        return None if match is None else match[0]


_TOKENS = ("<s>", "</s>", "<pad>", "<mask>", "[CLS]", "[SEP]", "[PAD]", "[MASK]")
_UNKNOWN = ("<unk>", "[UNK]", "\u2047")
_HIDDEN = "[\u00ad\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]|(?<=[A-Za-z])[\u200c\u200d]"
FORMS = (
    WayToWrite("encoding", "entity", re.compile(r"(?i)&(?:[a-z]{2,8}|#\d{2,5}|#x[0-9a-f]{2,5});"), ("&",)),
    WayToWrite(
        "encoding", "mojibake", re.compile("[\u00c2-\u00c5][\u0080-\u00bf]|\u00e2\u20ac.|\ufffd"), (), str.isascii
    ),
    WayToWrite(
        "encoding", "control character", re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"), (), str.isprintable
    ),
    WayToWrite("pieces", "BPE", re.compile(r"\S*[^\s@]@@(?=\s|$)"), ("@@",)),
    WayToWrite("pieces", "sentencepiece", re.compile("\u2581\\S*"), ("\u2581",)),
    WayToWrite("pieces", "WordPiece", re.compile(r"(?<!\S)##\w+"), ("##",)),
    WayToWrite("pieces", "byte-level BPE", re.compile("\u0120[^\\s\u0120]+\\s?\u0120"), ("\u0120",)),
    WayToWrite("pieces", "unknown word", re.compile("|".join(map(re.escape, _UNKNOWN))), ("<", "[", "\u2047")),
    WayToWrite("pieces", "special token", re.compile("|".join(map(re.escape, _TOKENS))), ("<", "[")),
    WayToWrite("columns", "fairseq", re.compile(r"^[STHDPA]-\d+(?:\s|$)"), ("-",)),
    WayToWrite("columns", "|||", re.compile(r"\S *\|\|\|(?= *\S)"), ("|||",)),
    WayToWrite("columns", "tab", re.compile(r"\S *\t(?=\s*\S)"), ("\t",)),
    WayToWrite("invisible", "", re.compile(_HIDDEN), (), str.isprintable),
)


def only_in(pattern: str, text: str, others: Iterable[str]) -> str | None:
    """Return the match of a pattern in a text, unless one of the others matches, too."""
    match = re.search(pattern, text)
    return None if match is None or any(re.search(pattern, other) for other in others) else match[0]


def cut_chatter(text: str, models: Sequence[str]) -> str | None:
    r"""Return a text without chatter before and behind it; None if there is none that can be cut.

    Models are its references and source. Chatter that one of them has stays, and chatter without which the text is no
    nearer to the nearest reference in length, unless it is a line of its own before the text.

    >>> cut_chatter("Here is the translation: Der Hund bellt. (Note: the dog is loud.)", ["Ein Hund bellt."])
    'Der Hund bellt.'
    >>> cut_chatter("Here is the translation:\n\nEin Hund.", ["Ein Hund ist noch viel lauter, als man denkt."])
    'Ein Hund.'
    """
    if chatters(text, models) is None:
        return None
    rest = _BEFORE.sub("", text)
    rest = _BEHIND.split(rest, maxsplit=1)[0].rstrip()

    def far(other: str) -> int:
        return min((abs(len(other) - len(model)) for model in models), default=len(other))

    before = _BEFORE.match(text)
    alone = before is not None and "\n" in before[0][len(before[0].rstrip()) :]
    return rest if rest.strip() and (alone or far(rest) < far(text)) else None


def chatters(text: str, others: Iterable[str]) -> str | None:
    """Return the words of a text about itself, unless another text has such words, too."""
    return only_in(CHATTER, text, others) if _hinted(text) else None


def refuses(text: str, others: Iterable[str]) -> str | None:
    """Return the words that say in English that a task is not done, unless they are quoted or another text declines.

    >>> refuses("I'm sorry, I can't help with it.", ["Ein Hund."]), refuses('"I cannot assist," she said.', [])
    ("I'm sorry, I can't help", None)
    """
    if not _hinted(text) or re.search(REFUSAL, text) is None or any(re.search(_DECLINED, other) for other in others):
        return None
    match = re.search(REFUSAL, _QUOTED.sub(lambda quoted: " " * len(quoted[0]), text))
    return None if match is None else match[0]


def find_form(form: WayToWrite, text: str, inputs: Iterable[str]) -> str | None:
    """Return the match of a form in a text, unless an input has the form, too."""
    found = form.found(text)
    return None if found is None or any(map(form.found, inputs)) else found


def is_columns(text: str, number: int, inputs: Sequence[str] = ()) -> str | None:
    """Name the format of a text that is JSON or begins with its segment number, from 0 or 1, unless an input is so.

    >>> is_columns("7) a cat", 7, ["a cat"]), is_columns("7 cats", 7, ["7 cats"]), is_columns('{"a": "cat"}', 7, [])
    ('number of the segment', None, 'JSON')
    """
    if _is_json(text) and not any(map(_is_json, inputs)):
        return "JSON"
    ours, others = _number(text), map(_number, inputs)
    return "number of the segment" if ours in (number, number - 1) and ours not in others else None


def _number(text: str) -> int | None:
    match = _NUMBERED.match(text)
    return None if match is None else int(match[1][:18])


def _is_json(text: str) -> bool:
    """Whether a text is a JSON object or list, or a JSON string with escapes."""
    if not text.lstrip().startswith(("{", "[", '"')) or (text.lstrip()[0] == '"' and "\\" not in text):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def repeats(text: str, models: Iterable[str] = ()) -> int:
    """Count how often a text says the same, from twice on; 0 of a text that does not consist of repetitions.

    Repetitions have three or more words, or six or more characters of a script without blanks, or six or more
    characters that are one of the models.

    >>> repeats("The cat sat. The cat sat. The cat sat."), repeats("No, no, no, no.")
    (3, 0)
    >>> repeats("猫坐在垫子上。猫坐在垫子上。")
    2
    >>> repeats("Thank you Thank you"), repeats("Thank you Thank you", ["Thank you"])
    (0, 2)
    """
    plain = " ".join(text.split())
    again = plain.find(plain[: max(6, len(plain) // 10)], 1)
    for blank in ("", " ", *(plain[again - width : again] for width in (1, 2, 3))) if again > 0 else ():
        whole = plain + blank  # Of repetitions, with a blank or a mark between them, each begins anew
        size = (whole + whole).find(whole, 1)
        count = len(whole) // size
        for part in (2, 3, 5, 7, count) if count > 1 else ():
            once = whole[: len(whole) // part].removesuffix(blank)
            long = len(once.split()) >= 3 or _UNSPACED.search(once) is not None
            if count % part == 0 and len(once) >= 6 and (long or once in models):
                return count
    return 0


def looped(words: Sequence[str]) -> str | None:
    """Return the phrase that a text says again and again at one place; None of other texts.

    A phrase has two different words. Three copies or more take 12 words, two copies 24, and twice as many characters
    of a script without blanks.

    >>> looped("we saw the old cat the old cat the old cat the old cat".split())
    'the old cat'
    >>> looped("no no no no no no no no no no no no no".split())
    """
    last: dict[tuple[str, ...], int] = {}
    distances = Counter[int]()
    for place, run in enumerate(zip(words, words[1:], words[2:], strict=False)):
        if run in last:
            distances[place - last[run]] += 1
        last[run] = place
    for period, _ in distances.most_common(3):
        same = 0  # Words up to here that are those one period further on
        for place, (one, other) in enumerate(zip(words, words[period:], strict=False)):
            same = same + 1 if one == other else 0
            if same >= period and same + period >= 12:
                least = (12 if same >= 2 * period else 24) * (2 if _UNSPACED.match(one) else 1)
                phrase = words[place + 1 - same :][:period] if same + period >= least else ()
                if len({*phrase}) > 1:
                    return " ".join(phrase)
    return None


def tokenised_otherwise(text: str, others: Sequence[str]) -> str | None:
    """Describe a text that is tokenised while all others are not, or the other way round.

    The last full stop decides, or blanks between the words of a script without blanks.

    >>> tokenised_otherwise("A cat sat.", ["A cat sat ."]), tokenised_otherwise("A cat .", ["A dog."])
    ('not tokenised, others are', 'tokenised, others are not')
    """
    for rule in (_ends_apart, _spaced):
        own, rest = rule(text), {rule(other) for other in others}
        if own is not None and rest == {not own}:
            return "tokenised, others are not" if own else "not tokenised, others are"
    return None


def _ends_apart(text: str) -> bool | None:
    """Whether a blank precedes the last full stop; None without a full stop."""
    match = _LAST.search(text.rstrip()[-6:])
    return None if match is None else bool(match[1])


def _spaced(text: str) -> bool | None:
    """Whether blanks separate the words of a script without blanks; None for other texts."""
    if text.isascii() or (unspaced := len(_UNSPACED.findall(text))) < 6 or 2 * unspaced < len(text):
        return None
    blanks = len(text.split()) - 1
    return True if 4 * blanks >= unspaced else False if 20 * blanks <= unspaced else None


def rare_words(text: str) -> set[str]:
    """Return the lower-case words of a text without punctuation around them; bigrams for scripts without blanks.

    >>> sorted(rare_words("The c@@ at 猫坐垫")) == ["at", "c", "the", "坐垫", "猫坐"]
    True
    """
    words = {word.strip(_EDGES) for word in text.lower().split()}
    if not text.isascii() and (unspaced := "".join(_UNSPACED.findall(text))):
        words = {word for word in words if not _UNSPACED.search(word)}
        words.update(map("".join, pairwise(unspaced)))
    words.discard("")
    return words


class WordWeights(dict[str, float]):
    """Weights of words: the logarithm of the inverse share of segments with the word; greatest for unseen words.

    >>> weights = WordWeights({"a": 4, "cat": 1}, 4)
    >>> weights["a"], weights["cat"] == weights["dog"]
    (0.0, True)
    """

    def __init__(self, counts: Mapping[str, int], segments: int) -> None:
        self._most = log(segments or 1)
        super().__init__((word, self._most - log(count)) for word, count in counts.items())

    def __missing__(self, word: str) -> float:
        return self._most
