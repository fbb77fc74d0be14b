"""Pairs of sentences whose tokens are aligned by meaning: labelled, written and read back."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Literal, get_args

from softbleu.corpora.files import open_text
from softbleu.corpora.records import SEPARATOR
from softbleu.data_files import parse_json
from softbleu.errors import InputError

Label = Literal["identical", "paraphrase", "related", "unrelated"]
LABELS: tuple[Label, ...] = get_args(Label)
Alignment = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class AlignedPair:
    """A candidate, its reference, and which token of one means which token of the other."""

    candidate: tuple[str, ...]
    reference: tuple[str, ...]
    alignment: Alignment
    """Places (candidate, reference), from 0, in order; each place at most once."""
    label: Label


def label_pair(
    candidate: Collection[str], reference: Collection[str], alignment: Alignment, function_words: Collection[str]
) -> Label:
    """Say how much two sentences have in common, from their alignment.

    It is "identical" for the same tokens; "paraphrase" if every content token of both sides is aligned; "related" if
    some content token is; "unrelated" if none is. Different sentences without any content word are unrelated.

    >>> alignment = ((0, 0), (1, 1), (4, 4))
    >>> label_pair("he ran to the mall".split(), "he ran to a store".split(), alignment, {"to", "the", "a"})
    'paraphrase'
    >>> label_pair(["he", "ran"], ["he", "drove"], ((0, 0),), ())
    'related'
    """
    if candidate == reference:
        return "identical"
    places = {place for place, _ in alignment}, {place for _, place in alignment}
    aligned = missing = 0
    for side, covered in zip((candidate, reference), places, strict=True):
        for place, word in enumerate(side):
            if word not in function_words:
                if place in covered:
                    aligned += 1
                else:
                    missing += 1
    if not aligned:
        return "unrelated"
    return "related" if missing else "paraphrase"


def read_aligned(path: str, encoding: str = "utf-8") -> Iterator[AlignedPair]:
    """Read the JSON lines that the generator writes, one by one.

    They are objects with `candidate`, `reference` (tokens between blanks), `alignment` (a list of places `[candidate,
    reference]`, from 0) and `label`; `.gz` and `-` are understood. Raises `InputError`: a line is no such object, or
    aligns tokens that are not there; the line is named.
    """
    with closing(open_text(path, encoding)) as lines:
        for number, line in enumerate(lines, start=1):
            yield _parse(f"{path}, line {number}", line)


def _parse(where: str, line: str) -> AlignedPair:
    entry = parse_json(line, where)
    entry = entry if isinstance(entry, dict) else {}
    sides = [side for name in ("candidate", "reference") if isinstance(side := entry.get(name), str)]
    if len(sides) < 2:
        raise InputError(f"{where}: an object with the texts 'candidate' and 'reference' is needed")
    candidate, reference = (tuple(side.split()) for side in sides)
    if entry.get("label") not in LABELS:
        raise InputError(f"{where}: 'label' is needed, one of {', '.join(LABELS)}")
    alignment = _check_alignment(where, entry.get("alignment"), len(candidate), len(reference))
    return AlignedPair(candidate, reference, alignment, entry["label"])


def _check_alignment(where: str, places: Any, candidates: int, references: int) -> Alignment:
    if not isinstance(places, list) or not all(
        isinstance(pair, list) and len(pair) == 2 and all(type(place) is int for place in pair) for pair in places
    ):
        raise InputError(f"{where}: 'alignment' is needed, a list of places [candidate, reference]")
    for left, right in places:
        if not (0 <= left < candidates and 0 <= right < references):
            raise InputError(
                f"{where}: [{left}, {right}] aligns tokens that are not there, of {candidates} and {references}"
            )
    for side in (0, 1):
        if len({pair[side] for pair in places}) < len(places):
            raise InputError(f"{where}: a token is aligned twice")
    return tuple((left, right) for left, right in places)


def write_pairs(pairs: Iterable[AlignedPair], grammar: str) -> Iterator[str]:
    """Write `candidate ||| reference` lines."""
    for pair in pairs:
        yield f"{' '.join(pair.candidate)} {SEPARATOR} {' '.join(pair.reference)}\n"


def write_aligned_tsv(pairs: Iterable[AlignedPair], grammar: str) -> Iterator[str]:
    """Write tab-separated values; the alignment as `0-0 1-2`."""
    yield "candidate\treference\talignment\tlabel\n"
    for pair in pairs:
        places = " ".join(f"{left}-{right}" for left, right in pair.alignment)
        yield f"{' '.join(pair.candidate)}\t{' '.join(pair.reference)}\t{places}\t{pair.label}\n"


def write_aligned_jsonl(pairs: Iterable[AlignedPair], grammar: str) -> Iterator[str]:
    """Write a JSON object a line, with the name of the grammar.

    >>> pair = AlignedPair(("we", "ran"), ("we", "walked"), ((0, 0),), "related")
    >>> print(*write_aligned_jsonl([pair], "tiny"), end="")
    {"candidate": "we ran", "reference": "we walked", "alignment": [[0, 0]], "label": "related", "grammar": "tiny"}
    """
    encode = json.JSONEncoder(ensure_ascii=False).encode
    for pair in pairs:
        entry = {
            "candidate": " ".join(pair.candidate),
            "reference": " ".join(pair.reference),
            "alignment": pair.alignment,
            "label": pair.label,
            "grammar": grammar,
        }
        yield f"{encode(entry)}\n"


def write_plain_sentences(sentences: Iterable[str], grammar: str) -> Iterator[str]:
    """Write a sentence a line."""
    for sentence in sentences:
        yield f"{sentence}\n"


def write_tsv_sentences(sentences: Iterable[str], grammar: str) -> Iterator[str]:
    """Write a column of sentences under its name."""
    yield "sentence\n"
    yield from write_plain_sentences(sentences, grammar)


def write_jsonl_sentences(sentences: Iterable[str], grammar: str) -> Iterator[str]:
    """Write a JSON object a line, with the name of the grammar."""
    for sentence in sentences:
        yield json.dumps({"sentence": sentence, "grammar": grammar}, ensure_ascii=False) + "\n"


PAIR_WRITERS: dict[str, Callable[[Iterable[AlignedPair], str], Iterator[str]]] = {
    "pairs": write_pairs,
    "tsv": write_aligned_tsv,
    "jsonl": write_aligned_jsonl,
}
SENTENCE_WRITERS: dict[str, Callable[[Iterable[str], str], Iterator[str]]] = {
    "plain": write_plain_sentences,
    "tsv": write_tsv_sentences,
    "jsonl": write_jsonl_sentences,
}
