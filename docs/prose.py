"""A linter for English: README, docs/, and the docstrings, comments, messages and help of the package.

python docs/prose.py [FILE ...] prints a line per finding, ``file:line: what``, and exits with 1 if it found any.
Without files it checks everything, and counts "what" and "those" in docstrings: at most one of each per 1,000 words.
Text of README and guides outside tables has at most six decimals per 100 words.
Code and addresses of links are left out.
"""

import ast
import io
import os
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LONGEST = 30  # words of a sentence in the README and the guide
MOST_DECIMALS = 6.0  # per 100 words of the README or of a guide, outside tables
MOST = 1.0  # "what", and "those", per 1,000 words of docstrings

PRIVATE = {
    r"people(?:['’]s)?": "say human judges, annotators or users",
    r"meets?|met|meeting": "say match",
    r"alike": "say similar, equal or the same",
    r"errands?": "say task",
    r"stretch(?:es)?": "say interval, span or part",
    r"what (?:was|is) (?:found|spurious|read|written)": "name the thing",
    r"remed(?:y|ies)": "say setting or variant",
    r"spelt|rooms?": "say spelled; layer or package",
    r"kin|for so": "say variant, because",
    r"besides? one another": "say side by side",
    r"an? [\w-]+ an? (?:segment|line|system|pair|file|reference|metric|word|arc|row|cell|panel|grammar)": "say per",
}
PHRASES = {
    r"(?<!how many )there (?:is|are|was|were)(?: (?:n?one|any))?(?=\s*(?:[.,;:)]|(?:to|and|or)\b|$))": "name it",
    r"(?<!as )such(?=\s*[.,;:)]|\s+(?:is|are|was|were|of|in|has|have|that|which)\b|\s*$)": "name the thing",
    r"(?:is|are|be|was|were|not|,) told (?:by|from)": "say identified by, or distinguished from",
    r"(?:is|are|was|were) to be": "say must be, or who does it",
    r"as (?!chance)[\w\-'’ ]{1,30} ha(?:s|ve|d) (?:it|them)": "say as in, or as X defines it",
    r"see that (?!\w+ \w+ says)": "say check that",
    r"let expect": "say than expected",
}
OPENINGS = (
    r"(?:See(?! `)|Say|Told|Said|Have|Some|Those|That|These|This|It|Its|They|Their|There|Such|What|Which|How|Where"
    r"|When|Why|Whatever|Whoever|If|As|Of|For|With|Without|By|Not|None|Nothing|To|In|On|At|From|So)\b"
)
_PRIVATE = {re.compile(rf"\b(?:{words})\b", re.IGNORECASE): advice for words, advice in PRIVATE.items()}
_PHRASES = {re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE): advice for words, advice in PHRASES.items()}
_OPENINGS = re.compile(OPENINGS)
_PASSIVE = re.compile(r"^(?:\w+\s+){0,4}(?:is|are|was|were)\s+(?:said|told)\b", re.IGNORECASE)
_SENTENCE = re.compile(r"\S.*?(?:[.!?][)*_\"”’]*(?=\s)|[.:!?)]*\Z)", re.DOTALL)
_ITEM = re.compile(r"^\s*(?:[-*+]|\d\.)\s+")


def search(rules: dict[re.Pattern[str], str], first: int, text: str) -> Iterator[tuple[int, str]]:
    """Yield the line of each match of a rule, its words and the advice; `first` is the line of the text."""
    for words, advice in rules.items():
        for found in words.finditer(text):
            yield first + text.count("\n", 0, found.start()), f"“{' '.join(found[0].split())}”: {advice}"


def without_code(text: str) -> str:
    """Remove code spans, doctests and replacement fields from a string, and keep its line breaks."""
    return re.sub(r"``?[^`]*``?|>>> .*|'\{.*", lambda code: "X" + "\n" * code[0].count("\n"), text)


def is_docstring(node: ast.AST) -> bool:
    """Whether a node is a docstring: a string that stands as a statement, of attributes, too."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def private_words(source: str) -> Iterator[tuple[int, str]]:
    """Find private words in the docstrings and messages of a module: strings with a point, colon or comma."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.search(r"\w[.:,]", node.value):
            yield from search(_PRIVATE, node.lineno, without_code(node.value))


def odd_english(source: str) -> Iterator[tuple[int, str]]:
    """Find phrases in the strings and comments of a module, and docstrings that begin with neither verb nor noun."""
    for node in ast.walk(ast.parse(source)):
        if is_docstring(node):
            opening = _OPENINGS.match(without_code(node.value.value))
            if opening:
                yield node.lineno, f"“{opening[0]} …”: begin with a verb and its object, or name the thing"
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.count(" ") > 2:
            yield from search(_PHRASES, node.lineno, without_code(node.value))
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield from search(_PHRASES, token.start[0], without_code(token.string))


def words_of_docstrings(source: str) -> Counter[str]:
    """Count "what", "those" and all words ("") in the docstrings of a module."""
    docstrings = [node.value.value for node in ast.walk(ast.parse(source)) if is_docstring(node)]
    words = re.findall(r"[a-z]+", " ".join(map(without_code, docstrings)).lower())
    return Counter({"": len(words), "what": words.count("what"), "those": words.count("those")})


def in_package() -> int:
    """Print how often docstrings say "what" and "those" per 1,000 words; return how many exceed `MOST`."""
    modules = sorted((ROOT / "softbleu").rglob("*.py"))
    total = sum((words_of_docstrings(module.read_text(encoding="utf-8")) for module in modules), Counter())
    rates = {word: 1000 * total[word] / total[""] for word in ("what", "those")}
    print("docstrings:", ", ".join(f"“{word}” {rate:.1f}" for word, rate in rates.items()), "per 1,000 words")
    return sum(rate > MOST for rate in rates.values())


def blocks(text: str) -> Iterator[tuple[int, str]]:
    """Headings, rows of tables, list items and paragraphs, each with the number of its first line."""
    text = re.sub(r"^```.*?^```$", lambda fence: "\n" * fence[0].count("\n"), text, flags=re.MULTILINE | re.DOTALL)
    code = r"(?<!`)(`+)(?!`)(?:(?!\n\n).)+?(?<!`)\1(?!`)"  # One word stands in for it, on as many lines
    text = re.sub(code, lambda found: "X" + "\n" * found[0].count("\n"), text, flags=re.DOTALL)
    text = re.sub(r"\]\([^)\s]*\)|<[^>\n]+>", "", text).replace("![", "").replace("[", "")
    block: list[str] = []
    first = 0
    for number, line in enumerate([*text.split("\n"), ""], 1):
        alone = line.startswith(("#", "|", "    "))
        if block and (not line.strip() or alone or _ITEM.match(line)):
            yield first, "\n".join(block)
            block = []
        if alone and not line.startswith("    "):
            yield number, line
        elif line.strip() and not alone:
            first = first if block else number
            block.append(_ITEM.sub("", line, count=1))


_DECIMAL = re.compile(r"(?<![\w.])\d*\.\d+(?![\w.]*\w)")


def too_many_decimals(text: str) -> Iterator[tuple[int, str]]:
    """Find a page whose text outside tables has more decimals than `MOST_DECIMALS`: a table shows them better."""
    prose = " ".join(block for _, block in blocks(text) if not block.startswith("|"))
    words = sum(any(map(str.isalnum, word)) for word in prose.split())
    rate = 100 * len(_DECIMAL.findall(prose)) / max(words, 1)
    if rate > MOST_DECIMALS:
        yield 1, f"{rate:.1f} decimals per 100 words: at most {MOST_DECIMALS:.0f}, move some to a table"


def findings(text: str, long_sentences: bool = True) -> Iterator[tuple[int, str]]:
    """Lines of a text and what is wrong there."""
    for first, block in blocks(text):
        yield from search(_PRIVATE | _PHRASES, first, block)
        for sentence in () if block.startswith(("#", "|")) else _SENTENCE.finditer(block):
            line = first + block.count("\n", 0, sentence.start())
            count = sum(any(map(str.isalnum, word)) for word in sentence[0].split())
            if long_sentences and count > LONGEST:
                yield line, f"a sentence of {count} words: at most {LONGEST}"
            if _PASSIVE.match(sentence[0]):
                yield line, "a passive opening: say who says what"


def main(names: list[str]) -> int:
    """Print the findings in these files, or in the README, all pages and all modules."""
    count = 0 if names else in_package()
    everything = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "softbleu").rglob("*.py")]
    for page in map(Path, names) if names else sorted(everything):
        text, guide = page.read_text(encoding="utf-8"), page.name == "README.md" or page.parent.name == "guide"
        if page.suffix == ".py":
            found = [*private_words(text), *odd_english(text)]
        else:
            found = [*findings(text, long_sentences=guide), *(too_many_decimals(text) if guide else ())]
        for line, what in sorted(found):
            print(f"{os.path.relpath(page)}:{line}: {what}")
            count += 1
    return min(count, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
