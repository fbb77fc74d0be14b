"""A linter for the README, docs/ and the texts of the package: private words, long sentences, passive openings.

python docs/prose.py [FILE ...] prints a line per finding, ``file:line: what``, and exits with 1 if there is one.
Code blocks, code spans and addresses of links are left out; docstrings and messages are looked through for words.
"""

import ast
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LONGEST = 30  # words of a sentence in the README and the guide

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
_PRIVATE = {re.compile(rf"\b(?:{words})\b", re.IGNORECASE): advice for words, advice in PRIVATE.items()}
_PASSIVE = re.compile(r"^(?:\w+\s+){0,4}(?:is|are|was|were)\s+(?:said|told)\b", re.IGNORECASE)
_SENTENCE = re.compile(r"\S.*?(?:[.!?][)*_\"”’]*(?=\s)|[.:!?)]*\Z)", re.DOTALL)
_ITEM = re.compile(r"^\s*(?:[-*+]|\d\.)\s+")


def private_words(first: int, text: str) -> Iterator[tuple[int, str]]:
    """Lines and words that a field's term should replace."""
    for words, advice in _PRIVATE.items():
        for found in words.finditer(text):
            yield first + text.count("\n", 0, found.start()), f"“{' '.join(found[0].split())}”: {advice}"


def in_code(source: str) -> Iterator[tuple[int, str]]:
    """Private words of docstrings and messages: strings with a point, colon or comma; code in them is left out."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.search(r"\w[.:,]", node.value):
            yield from private_words(node.lineno, re.sub(r"`[^`\n]*`|>>> .*|'\{.*", "", node.value))


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


def findings(text: str, long_sentences: bool = True) -> Iterator[tuple[int, str]]:
    """Lines of a text and what is wrong there."""
    for first, block in blocks(text):
        yield from private_words(first, block)
        for sentence in () if block.startswith(("#", "|")) else _SENTENCE.finditer(block):
            line = first + block.count("\n", 0, sentence.start())
            count = sum(any(map(str.isalnum, word)) for word in sentence[0].split())
            if long_sentences and count > LONGEST:
                yield line, f"a sentence of {count} words: at most {LONGEST}"
            if _PASSIVE.match(sentence[0]):
                yield line, "a passive opening: say who says what"


def main(names: list[str]) -> int:
    """Print what is wrong in these files, or in the README, all pages and all modules."""
    count = 0
    everything = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "softbleu").rglob("*.py")]
    for page in map(Path, names) if names else sorted(everything):
        text, guide = page.read_text(encoding="utf-8"), page.name == "README.md" or page.parent.name == "guide"
        for line, what in sorted(in_code(text) if page.suffix == ".py" else findings(text, long_sentences=guide)):
            print(f"{os.path.relpath(page)}:{line}: {what}")
            count += 1
    return min(count, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
