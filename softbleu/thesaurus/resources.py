"""Stems, lemmas, lists of similar words, and METEOR's synonyms and paraphrases, as arrays."""

from __future__ import annotations

import gzip
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache, partial
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from softbleu.config.languages import language_of_data
from softbleu.errors import InputError, Parameter, optional
from softbleu.io.arguments import read_number
from softbleu.io.files import CACHE_VARIABLE, cache_folder, kept_arrays
from softbleu.io.platform import cached_property, lock
from softbleu.io.progress import note_wait
from softbleu.io.reading import bounded_lines
from softbleu.text.coded import Vocabulary, chosen_places
from softbleu.text.meteor import EXCEPTIONS, PARAPHRASES, SYNONYMS, MeteorData, MeteorFiles

if TYPE_CHECKING:
    from softbleu.types import Array, Flags, Floats, Integers

_STEMMING = lock()  # A stemmer object holds the current word, and is not safe for threads


@lru_cache(1 << 17)
def stem_in(word: str, language: str) -> str:
    """Stem a word of a language, by its code, with snowballstemmer.

    >>> stem_in("häuser", "de"), stem_in("houses", "en")
    ('haus', 'hous')
    """
    with _STEMMING:
        return _stemmer(language)(word)


@cache
def _stemmer(language: str) -> Callable[[str], str]:
    algorithm = language_of_data(language).stemmer or ""
    # snowballstemmer.stemmer() would return PyStemmer's if installed, which is of another version.
    module = import_module(f"snowballstemmer.{algorithm}_stemmer")
    stemmed: Callable[[str], str] = getattr(module, f"{algorithm.title()}Stemmer")().stemWord
    return stemmed


@lru_cache(1 << 17)
def lemma_of(word: str, language: str) -> str:
    """Look up a word's lemma in simplemma's list for a language code; unknown words are returned unchanged."""
    return str(_lemmatizer(language)(word)) if word.strip() else word


@cache
def _lemmatizer(language: str) -> Callable[[str], str]:
    """Open simplemma's list for a language; raise InputError if it has none, MissingExtraError without the extra."""
    with optional("lemmas", "A list of lemmas"):
        from simplemma import lemmatize
    for code in (language, language_of_data(language).code):
        with suppress(ValueError):
            lemmatize("a", lang=code)
            return partial(lemmatize, lang=code)
    message = f" 'lemmas:{language}': simplemma has no such language; write lemmas:CODE, such as lemmas:cs"
    raise InputError(Parameter("similarity"), message)


_MASK = "\ue000"  # Replaces a letter that the stemmer must not see
_ENTRIES, _PHRASES = 1 << 16, 1 << 19
"""Entries of the table that are read at once, and phrases that are looked up at once."""
_END = "\n"
LONGEST = 32  # Greatest number of words of a phrase; METEOR's own have at most 7
_LARGE = 1 << 20  # Size of a paraphrase file, in bytes, from which a note is printed
_ENDINGS = (
    *(("s", ""), ("ses", "s"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"), ("men", "man")),
    *(("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    *(("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
)
"""Endings of inflected words and of their base forms, in the order in which they are tried."""


def stem(word: str, language: str = "en") -> str:
    """Stem a word by the version of Snowball that METEOR 1.5 uses, for a language code.

    >>> stem("geologists"), stem("geology"), stem("adding")
    ('geologist', 'geolog', 'ad')
    """
    # The English stemmer did not know the ending -ogist yet; in the Russian one, ё was not a letter.
    before, letter = ("ogis", "t") if language == "en" else ("", "ё")
    if before + letter in word:
        return stem_in(word.replace(before + letter, before + _MASK), language).replace(_MASK, letter)
    return stem_in(word, language)


def joined_words(words: Iterable[str]) -> NDArray[np.uint8]:
    """Encode words, one per line, as an array of bytes."""
    return np.frombuffer("\n".join(words).encode(), np.uint8)


def read_table(path: Path) -> dict[str, Array]:
    """Read a table of paraphrases with three lines per entry: a probability, a phrase and its paraphrase."""
    words = Vocabulary({_END: 0})
    # Growing buffers, since the table is too large to be held twice
    codes, lengths, sources, renderings = array("i"), array("B"), array("i"), array("i")
    for phrase, rendering in _entries(path):
        distinct = {text: number for number, text in enumerate(dict.fromkeys(phrase), start=len(lengths))}
        sources.extend(map(distinct.__getitem__, phrase))
        renderings.extend(range(len(lengths) + len(distinct), len(lengths) + len(distinct) + len(rendering)))
        coded, counts = _coded([*distinct, *rendering], words)
        if counts.max() > LONGEST:
            raise InputError(f"{path}: a phrase of more than {LONGEST} words: remove it")
        codes.frombytes(coded.tobytes())
        lengths.frombytes(counts.astype(np.uint8).tobytes())
    if not lengths:
        raise InputError(f"{path}: no paraphrases")
    nodes, edges = _nodes(np.frombuffer(codes, np.int32), np.frombuffer(lengths, np.uint8), len(words))
    del codes, lengths
    owners, targets = nodes[np.frombuffer(sources, np.int32)], nodes[np.frombuffer(renderings, np.int32)]
    bounds = np.zeros(len(edges) + 2, np.int32)
    np.cumsum(np.bincount(owners, minlength=len(edges) + 1), out=bounds[1:])
    return {
        # Number 0 is the end of a phrase.
        "phrase_words": joined_words(list(words)[1:]),
        "phrase_word_count": np.array([len(words)]),
        "phrase_edges": edges,
        "phrase_bounds": bounds,
        "phrase_targets": targets[np.argsort(owners, kind="stable")],
    }


def _entries(path: Path) -> Iterator[tuple[list[str], list[str]]]:
    try:
        with gzip.open(path) as stream:
            texts = (line.decode().removesuffix("\n") for line in bounded_lines(stream, str(path)))
            while lines := list(islice(texts, 3 * _ENTRIES)):
                if len(lines) % 3:
                    raise InputError(f"{path}: ends within an entry: get the file again")
                # A file with a missing line fails here, since phrases are not numbers.
                list(map(float, lines[::3]))
                yield lines[1::3], lines[2::3]
    except (OSError, EOFError, zlib.error, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: no table of paraphrases ({error}): get the file again") from error


def _coded(phrases: list[str], words: Vocabulary) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Encode the words of phrases, concatenated; return the codes and the number of words of each phrase."""
    tokens = f"{f' {_END} '.join(phrases)} {_END}".split(" ")
    codes = np.fromiter(map(words.__getitem__, tokens), np.int32, len(tokens))
    ends = np.flatnonzero(codes == 0)
    return codes[codes > 0], (np.diff(ends, prepend=-1) - 1).astype(np.int32)


def _nodes(
    codes: NDArray[np.int32], lengths: NDArray[np.uint8], words: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Build a trie, level by level; return the node of each phrase, and all edges."""
    nodes = np.zeros(len(lengths), np.int32)
    starts = np.zeros(len(lengths), np.int32)
    np.cumsum(lengths[:-1], out=starts[1:])
    levels: list[NDArray[np.int64]] = []
    known = 0
    for level in range(int(lengths.max())):
        here = np.flatnonzero(lengths > level).astype(np.int32)
        parts = [here[start : start + _PHRASES] for start in range(0, len(here), _PHRASES)]

        def keys(part: NDArray[np.int32], level: int = level) -> NDArray[np.int64]:
            return nodes[part] * np.int64(words) + codes[starts[part] + level]

        edges = np.zeros(0, np.int64)
        for part in parts:
            edges = np.union1d(edges, keys(part))
        for part in parts:
            nodes[part] = known + 1 + np.searchsorted(edges, keys(part))
        levels.append(edges)
        known += len(edges)
    return nodes, np.concatenate(levels)


@lru_cache(maxsize=2)
def open_tables(data: MeteorData) -> MeteorTables:
    """Open the tables of METEOR's data, which are built and cached on first use."""
    # The cache is keyed by the content of the files.
    files, name = MeteorFiles.of(data.location), f"meteor/{data.fingerprint[:32]}"

    def make() -> dict[str, Array]:
        path, cache = files.paraphrases, cache_folder()
        if path is not None and path.stat().st_size >= _LARGE:
            kept = f"once: they are cached in {cache / name}" if cache else None
            where = kept or f"and cannot be cached: set {CACHE_VARIABLE} to a folder"
            note_wait(f"makes tables of the paraphrases of {path}, which takes about half a minute, {where}")
        return _tables(files)

    return MeteorTables(kept_arrays(name, make), files.folder)


class MeteorTables:
    """Synonyms and paraphrases as arrays.

    Phrases are nodes of a trie: node 0 is the empty phrase, node e + 1 the end of edge e. Edges are sorted by start
    node, then by word, and stored as ``node * words + word``. Paraphrases of node n, in the order of the table, are
    ``targets[bounds[n]:bounds[n + 1]]``.
    """

    def __init__(self, arrays: Mapping[str, Array], folder: Path) -> None:
        self._arrays, self._folder = arrays, folder

    def _array(self, name: str) -> Array:
        if name not in self._arrays:
            wanted = SYNONYMS if name.startswith("synonym") else PARAPHRASES[0]
            raise InputError(f"{self._folder}: {wanted} is missing: get it, or leave that stage out (stages)")
        return self._arrays[name]

    def _words(self, name: str) -> list[str]:
        text = self._array(name).tobytes().decode()
        return text.split("\n") if text else []

    def synsets(self, words: Sequence[str]) -> list[Integers]:
        """Return the numbers of the synonym sets of each word and its base forms."""
        places, bases = self._synonym_places, self._bases
        sets, bounds = self._array("synonym_sets"), self._array("synonym_bounds")
        nothing = np.zeros(0, np.int64)
        of_words = []
        for word in words:
            forms = {places.get(word, -1), *bases.get(word, ())} if word in bases else _forms(word, places)
            parts = [sets[bounds[place] : bounds[place + 1]] for place in forms if place >= 0]
            of_words.append(np.unique(np.concatenate(parts)) if parts else nothing)
        return of_words

    @cached_property
    def _synonym_places(self) -> dict[str, int]:
        return {word: place for place, word in enumerate(self._words("synonym_words"))}

    @cached_property
    def _bases(self) -> dict[str, list[int]]:
        bases: dict[str, list[int]] = {}
        words = self._words("synonym_exceptions")
        for word, base in zip(words, self._array("synonym_exception_bases").tolist(), strict=True):
            bases.setdefault(word, []).append(base)
        return bases

    def word_numbers(self, words: Sequence[str]) -> Integers:
        """Return the numbers of words in paraphrases, -1 for words without any."""
        places = self._phrase_places
        return np.fromiter((places.get(word, -2) + 1 for word in words), np.int64, len(words))

    def phrases(self, words: Integers, ends: Integers) -> tuple[Integers, Integers, Integers]:
        """Find all phrases in a text; return their starts, lengths and nodes.

        `ends` holds the end of the line of each word.
        """
        edges, count = self._array("phrase_edges"), int(self._array("phrase_word_count")[0])
        places = np.flatnonzero(words >= 0)
        nodes = np.zeros(len(places), np.int64)
        matches = []
        for length in range(1, LONGEST + 1):
            keys = nodes * count + words[places + length - 1]
            nodes = np.searchsorted(edges, keys)
            found = edges[np.minimum(nodes, len(edges) - 1)] == keys
            places, nodes = places[found], nodes[found] + 1
            matches.append((places, np.full(len(places), length), nodes))
            more = places + length < ends[places]
            more[more] = words[places[more] + length] >= 0
            places, nodes = places[more], nodes[more]
            if not len(places):
                break
        starts, lengths, all_nodes = (np.concatenate(column) for column in zip(*matches, strict=True))
        return starts, lengths, all_nodes

    def paraphrases(self, nodes: Integers, wanted: Flags) -> tuple[Integers, Integers, Integers]:
        """Find the paraphrases among `wanted` nodes; return indices into `nodes`, nodes of paraphrases, and ranks."""
        ranks, offsets = chosen_places(self._array("phrase_bounds"), nodes)
        owner = np.repeat(np.arange(len(nodes)), np.diff(offsets))
        others = self._array("phrase_targets")[ranks]
        linked = wanted[others]
        return owner[linked], others[linked].astype(np.int64), ranks[linked]

    def phrase(self, node: int) -> tuple[str, ...]:
        """Return the words of a phrase."""
        edges, count = self._array("phrase_edges"), int(self._array("phrase_word_count")[0])
        words: list[str] = []
        while node:
            node, word = divmod(int(edges[node - 1]), count)
            words.append(self._phrase_words[word - 1])
        return tuple(words[::-1])

    @cached_property
    def _phrase_places(self) -> dict[str, int]:
        return {word: place for place, word in enumerate(self._phrase_words)}

    @cached_property
    def _phrase_words(self) -> list[str]:
        return self._words("phrase_words")

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return len(self._array("phrase_edges")) + 1


def _forms(word: str, places: Mapping[str, int]) -> set[int]:
    """Return the positions of a word and of its first base form by endings; -1 for an unknown word."""
    numbers = {places.get(word, -1)}
    if len(word) > 2:
        for ending, other in _ENDINGS:
            if word.endswith(ending) and not (ending == "s" and word.endswith("ss")):
                base = places.get(word[: len(word) - len(ending)] + other)
                if base is not None:
                    return {*numbers, base}
    return numbers


def _tables(files: MeteorFiles) -> dict[str, Array]:
    """Make the arrays of all existing files."""
    arrays: dict[str, Array] = {}
    if synonyms := files.lists(SYNONYMS):
        numbers = Vocabulary()
        sets = numbers.encode(list(synonyms.values()))
        places = {word: place for place, word in enumerate(synonyms)}
        exceptions = [
            (form, places.get(base, -1)) for base, forms in files.lists(EXCEPTIONS).items() for form in forms
        ]
        arrays |= {
            "synonym_words": joined_words(synonyms),
            "synonym_sets": sets.codes,
            "synonym_bounds": sets.offsets,
            "synonym_exceptions": joined_words(form for form, _ in exceptions),
            "synonym_exception_bases": np.array([base for _, base in exceptions], np.int64),
        }
    if (path := files.paraphrases) is not None:
        arrays |= read_table(path)
    return arrays


def read_similar_words(path: Path, words: Sequence[str]) -> tuple[Integers, Floats]:
    """Read pairs of similar words; return ascending `one * words + other`, in both directions, and similarities.

    A line has two words and optionally their similarity (default 1), separated by tabs. Words are looked up as
    written, and in lower case. Raises `InputError` for an invalid line.
    """
    numbers: dict[str, list[int]] = {}
    for number, word in enumerate(words):
        for form in dict.fromkeys((word, word.lower())):
            numbers.setdefault(form, []).append(number)
    pairs: dict[int, float] = {}
    for one, other, similarity in _pairs(path):
        for left in numbers.get(one, ()):
            for right in numbers.get(other, ()):
                for key in (left * len(words) + right, right * len(words) + left):
                    pairs[key] = max(similarity, pairs.get(key, 0.0))
    keys = np.array(sorted(pairs), np.int64)
    return keys, np.array([pairs[key] for key in keys.tolist()], np.float64)


def _pairs(path: Path) -> Iterator[tuple[str, str, float]]:
    try:
        with path.open("rb") as stream:
            for number, line in enumerate(bounded_lines(stream, str(path)), start=1):
                if not line.isspace():
                    yield _pair(line.decode().rstrip("\r\n"), f"{path}, line {number}")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: no list of similar words ({error})") from error


def _pair(line: str, place: str) -> tuple[str, str, float]:
    parts = line.split("\t")
    one, other, written = (*parts, "1")[:3] if len(parts) in (2, 3) else ("", "", "")
    try:
        similarity = read_number(float, written)
    except ValueError:
        similarity = -1.0
    if not (one and other and 0 <= similarity <= 1):
        raise InputError(
            f"{place}: two words are needed, and optionally a similarity from 0 to 1, between tabs: {line[:40]!r}"
        )
    return one, other, similarity
