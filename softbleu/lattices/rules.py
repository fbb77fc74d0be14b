"""Networks made from references by rules, which replace words and phrases; and their encoding as arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from softbleu.config.declare import Declared, setting
from softbleu.embeddings import DEFAULT_VECTORS, open_vectors
from softbleu.embeddings.function_words import is_function_word
from softbleu.embeddings.measure import SCOPE, WordMeasure, parse_percentile, similarity_quantile
from softbleu.embeddings.neighbours import NeighbourGraph, NeighbourIndex, cached_graph
from softbleu.errors import InputError, Parameter, VectorError
from softbleu.io.files import Content
from softbleu.io.platform import cached_property
from softbleu.kernels.lattices import Lattices
from softbleu.lattices.lattice import PARSERS, NetworkBuilder, WordNetwork
from softbleu.text.coded import Tokens
from softbleu.text.meteor import MeteorData, needed_data
from softbleu.text.tokens import ChangedTokenizer, Tokenizer, data_setting
from softbleu.thesaurus.resources import open_tables, stem

if TYPE_CHECKING:
    from softbleu.embeddings.vectors import VectorSource
    from softbleu.types import Array

Notation = Literal["text", "brackets", "network"]
Phrase = tuple[int, int, tuple[str, ...], float, str]
"""A replacement: start, end, words, cost and kind."""
_NEAREST = 20  # Neighbours per word


class NetworkVectors(Content):
    """Vectors that define neighbours and the vocabulary of networks, identified by their content."""

    @classmethod
    def of(cls, location: str) -> NetworkVectors:
        """Find vectors by name or place."""
        try:
            return cls(location, open_vectors(location).fingerprint)
        except VectorError as error:
            raise VectorError(Parameter("network_vectors"), ": ", *error.args) from error

    def __str__(self) -> str:
        return f"{self.location}#{self.fingerprint[:12]}"


def _cost(change: str) -> float | None:
    help_text = f"Networks of references: cost of {change}, in words"
    return setting(None, help_text, least=0, most=10, unset="no such paths")


@dataclass(frozen=True)
class NetworkRules(Declared):
    """Rules for alternatives to words of a reference. A rule without a cost is inactive.

    Rules make networks from text. Brackets are written as in `the [big|large] (dog|hound) []barked`, networks in the
    notation of `softbleu networks make`. Synonyms share a synonym set. A paraphrase and the phrase that it replaces
    must each have a content word. Neighbours are among the 20 nearest words, and cost less if they are nearer. Words
    with the same stem and synonyms are taken from the 50,000 most frequent words of the vectors, the most frequent
    first; paraphrases in the order of their table.
    """

    notation: Notation = setting("text", "Form of the reference lines: text, brackets or a network", common=True)
    stem_cost: float | None = _cost("another word of the same stem")
    synonym_cost: float | None = _cost("a synonym")
    paraphrase_cost: float | None = _cost("a paraphrase")
    neighbour_cost: float | None = _cost("a neighbour at the threshold")
    optional_cost: float | None = _cost("leaving out a function word")
    neighbour_quantile: str = setting("p99.9", "Quantile of random similarities that neighbours must exceed")
    alternatives: int = setting(
        10, "Most stems, synonyms or paraphrases of a word or phrase", least=1, most=_NEAREST, common=True
    )
    network_vectors: NetworkVectors | None = setting(
        None,
        "Vectors that give neighbours, from their most frequent words",
        read=NetworkVectors.read,
        hashed=True,
        metavar="NAME",
        unset=DEFAULT_VECTORS,
    )
    meteor_data: MeteorData | None = data_setting()

    def check(self) -> None:
        """Check that the settings are compatible."""
        try:
            parse_percentile(self.neighbour_quantile)
        except InputError as error:
            raise InputError(Parameter("neighbour_quantile"), ": ", *error.args) from error
        if self.notation != "text" and self.active:
            raise InputError(f"notation {self.notation!r} names whole networks: leave out costs of rules")

    @property
    def active(self) -> bool:
        """Whether any rule is active."""
        return any(cost is not None for _, cost in self._costs)

    @property
    def _costs(self) -> list[tuple[str, float | None]]:
        kinds = ("stem", "synonym", "paraphrase", "neighbour", "optional")
        return [(kind, getattr(self, f"{kind}_cost")) for kind in kinds]

    def resolved(self) -> Self:
        """Return the rules with default data and vectors where needed, and without unused ones."""
        active = [kind for kind, cost in self._costs if cost is not None]
        data = needed_data(active, self.meteor_data)
        vectors = self.network_vectors
        if not {"stem", "synonym", "neighbour"} & set(active):
            vectors = None
        elif vectors is None:
            vectors = NetworkVectors.of(DEFAULT_VECTORS)
        if (data, vectors) == (self.meteor_data, self.network_vectors):
            return self
        return replace(self, meteor_data=data, network_vectors=vectors)

    def network(self, line: str, split: Callable[[str], Sequence[str]], where: str = "network") -> WordNetwork:
        """Read or make the network of a line; `split` tokenizes text, and words of networks."""
        if self.notation == "text":
            words = list(split(line))
            return WordNetwork.chain(words, self.phrases(words))
        return PARSERS[self.notation](line, where).split(split)

    def merged(self, references: Sequence[Sequence[str]], shared: int) -> WordNetwork:
        """Make one network of several references; see `merge_references`."""
        references = [reference for reference in references if reference]
        if not references:
            return WordNetwork.chain([])
        made, paths = merge_references(references, shared)
        for words, states in zip(references, paths, strict=True):
            for start, end, phrase, cost, kind in self.phrases(words):
                made.phrase(states[start], states[end], phrase, cost, kind)
        return WordNetwork.of(made.arcs, 0, [len(references[0])])

    def phrases(self, words: Sequence[str]) -> Iterator[Phrase]:
        """Yield alternatives to words of a reference, rule by rule."""
        if not self.active:
            return
        expander = expander_of(self)
        for place, word in enumerate(words):
            for other, cost, kind in expander.words(word):
                yield place, place + 1, (other,) if other else (), cost, kind
        if self.paraphrase_cost is not None:
            for first, end, others in expander.paraphrases(words):
                for phrase in others:
                    yield first, end, phrase, self.paraphrase_cost, "paraphrase"


@lru_cache(maxsize=4)
def expander_of(rules: NetworkRules) -> Expander:
    """Return the expander of rules, which caches its results."""
    return Expander(rules.resolved())


class Expander:
    """Finds replacements for words and phrases."""

    def __init__(self, rules: NetworkRules) -> None:
        self._rules = rules
        self._known: dict[str, list[tuple[str, float, str]]] = {}
        self._phrases: dict[int, list[tuple[str, ...]]] = {}

    def words(self, word: str) -> list[tuple[str, float, str]]:
        """Return alternatives to a word, with cost and kind; an empty text means deletion."""
        if word not in self._known:
            self._known[word] = list(self._words(word))
        return self._known[word]

    def _words(self, word: str) -> Iterator[tuple[str, float, str]]:
        rules = self._rules
        if is_function_word(word):
            if rules.optional_cost is not None:
                yield "", rules.optional_cost, "optional"
            return
        seen = {word.lower()}
        if rules.stem_cost is not None:
            yield from self._fresh(word, self._by_stem.get(stem(word.lower()), ()), rules.stem_cost, "stem", seen)
        if rules.synonym_cost is not None:
            yield from self._fresh(word, self._synonyms(word.lower()), rules.synonym_cost, "synonym", seen)
        if rules.neighbour_cost is not None:
            for other, similarity in self._neighbours(word.lower()):
                cost = rules.neighbour_cost * (1 - similarity) / (1 - self._threshold)
                yield from self._fresh(word, [other], cost, "neighbour", seen)

    def _fresh(
        self, word: str, others: Sequence[str], cost: float, kind: str, seen: set[str]
    ) -> Iterator[tuple[str, float, str]]:
        """Yield the words that no earlier rule found, with the capitals of the word."""
        new = [other for other in others if other not in seen][: self._rules.alternatives]
        for other in new:
            seen.add(other)
            yield _spell_like(word, other), round(cost, 2), kind

    @cached_property
    def _source(self) -> VectorSource:
        vectors: Any = self._rules.network_vectors
        return open_vectors(vectors.location)

    @cached_property
    def _vocabulary(self) -> dict[str, int]:
        """Positions of usable words in the vectors, most frequent first."""
        head, _ = self._source.head(SCOPE)
        usable = (
            (word, place) for place, word in enumerate(head) if word.isalpha() and word.islower() and len(word) > 1
        )
        return {word: place for word, place in usable if not is_function_word(word)}

    @cached_property
    def _by_stem(self) -> dict[str, list[str]]:
        words: dict[str, list[str]] = {}
        for word in self._vocabulary:
            words.setdefault(stem(word), []).append(word)
        return words

    @cached_property
    def _tables(self) -> Any:
        data = self._rules.meteor_data
        return open_tables(data)

    @cached_property
    def _by_set(self) -> dict[int, list[str]]:
        words_of_set: dict[int, list[str]] = {}
        words = list(self._vocabulary)
        for word, sets in zip(words, self._tables.synsets(words), strict=True):
            for number in sets.tolist():
                words_of_set.setdefault(number, []).append(word)
        return words_of_set

    def _synonyms(self, word: str) -> list[str]:
        (sets,) = self._tables.synsets([word])
        others = {other for number in sets.tolist() for other in self._by_set.get(number, ())}
        return sorted(others, key=self._vocabulary.__getitem__)

    @cached_property
    def _threshold(self) -> float:
        percentile = parse_percentile(self._rules.neighbour_quantile)
        return min(0.99, max(0.0, similarity_quantile(self._source, percentile, WordMeasure())))

    @cached_property
    def _graph(self) -> NeighbourGraph:
        _, rows = self._source.head(SCOPE)
        places = list(self._vocabulary.values())
        usable = np.asarray(rows)[places]
        return cached_graph(
            lambda: NeighbourIndex(usable).nearest(usable, _NEAREST, np.arange(len(places))),
            self._source.fingerprint,
            list(self._vocabulary),
            len(places),
            count=_NEAREST,
        )

    @cached_property
    def _names(self) -> tuple[list[str], dict[str, int]]:
        names = list(self._vocabulary)
        return names, {name: number for number, name in enumerate(names)}

    def _neighbours(self, word: str) -> list[tuple[str, float]]:
        names, numbers = self._names
        if word not in numbers:
            return []
        near = self._graph.neighbours(numbers[word])
        return [(names[place], similarity) for place, similarity in near if similarity > self._threshold]

    def paraphrases(self, words: Sequence[str]) -> Iterator[tuple[int, int, list[tuple[str, ...]]]]:
        """Yield the phrases of a line that have paraphrases: start, end and paraphrases."""
        if not words:
            return
        numbers = self._tables.word_numbers([word.lower() for word in words])
        phrases = self._tables.phrases(numbers, np.full(len(words), len(words)))
        for start, length, node in zip(*(values.tolist() for values in phrases), strict=True):
            others = self._renderings(node)
            if others:
                yield start, start + length, [(_spell_like(words[start], one[0]), *one[1:]) for one in others]

    def _renderings(self, node: int) -> list[tuple[str, ...]]:
        if node not in self._phrases:
            renderings: list[tuple[str, ...]] = []
            if not all(map(is_function_word, self._tables.phrase(node))):
                _, targets, _ = self._tables.paraphrases(np.array([node]), np.ones(self._tables.nodes, bool))
                texts = map(self._tables.phrase, targets.tolist())
                with_content = [text for text in texts if not all(map(is_function_word, text))]
                renderings = with_content[: self._rules.alternatives]
            # Assigned once complete, since other threads read the cache.
            self._phrases[node] = renderings
        return self._phrases[node]


def _spell_like(word: str, name: str) -> str:
    """Give a name the capitals of a word: an initial, or all."""
    if word.isupper() and len(word) > 1:
        return name.upper()
    return name[0].upper() + name[1:] if word[0].isupper() else name


def merge_references(references: Sequence[Sequence[str]], shared: int) -> tuple[NetworkBuilder, list[list[int]]]:
    """Merge references into the path of the first where they share at least `shared` consecutive words.

    Returns the network, and for each reference the states before, between and after its words.

    >>> made, (_, states) = merge_references(["it is late now".split(), "it is too late now".split()], 2)
    >>> states, [(arc.source, arc.target, arc.word) for arc in made.arcs[4:]]
    ([0, 1, 2, 5, 3, 4], [(2, 5, 'too'), (5, 3, 'late')])
    """
    first = references[0]
    made = NetworkBuilder()
    paths = [[0]]
    for word in first:
        paths[0].append(made.step(paths[0][-1], [word], "reference"))
    for reference in references[1:]:
        path = [0]
        for start, end, words, same in _spans(first, reference, shared):
            if same:
                path += range(start + 1, end + 1)
                continue
            states = made.phrase(start, end, words, 0.0, "reference")
            path += states[1:] if words else []
        paths.append(path)
    return made, paths


def _spans(first: Sequence[str], other: Sequence[str], shared: int) -> Iterator[tuple[int, int, Sequence[str], bool]]:
    """Align two texts: yield spans of the first, the words of the other there, and whether they are equal."""
    matcher = SequenceMatcher(None, first, other, autojunk=False)
    blocks = [tuple(block) for block in matcher.get_matching_blocks() if block.size >= shared]
    if blocks:
        start, other_start, size = blocks[-1]
        if start + size == len(first) and other_start + size < len(other):
            # The last shared word is replaced together with the words after it, since a path cannot be a loop.
            blocks[-1:] = [(start, other_start, size - 1)] if size > 1 else []
    place = other_place = 0
    for start, other_start, size in [*blocks, (len(first), len(other), 0)]:
        if start == place and other_start > other_place:
            start, other_start, size = start + 1, other_start + 1, size - 1
        if start > place:
            yield place, start, other[other_place:other_start], False
        if size:
            yield start, start + size, other[other_start : other_start + size], True
        place, other_place = start + size, other_start + size


@dataclass(frozen=True)
class NetworkTokenizer(ChangedTokenizer):
    """A tokenizer that also makes networks of references.

    >>> tokenizer = NetworkTokenizer(rules=NetworkRules("brackets"))
    >>> tokenizer.split("a (dog|hound)"), tokenizer.network("a (dog|hound)").words
    (['a', '(dog|hound)'], ('a', 'dog', 'hound', '', ''))
    """

    rules: NetworkRules = field(default_factory=NetworkRules)

    def network(self, line: str) -> WordNetwork:
        """Return the network of a reference."""
        return self.rules.network(line, self.splitter, "reference")

    def coded_references(self, texts: Sequence[str], coder: Any) -> LatticeLines:
        """Encode references as lattices; each distinct network is made once."""
        return LatticeLines.coded([coder.once(text, self.network) for text in texts], coder.vocabulary)


def network_tokenizer(tokenizer: Tokenizer, rules: NetworkRules) -> Tokenizer:
    """Return a tokenizer that makes networks of references, or a plain one if no rule is active."""
    if rules.notation == "text" and not rules.active:
        return tokenizer.plain
    return NetworkTokenizer(tokenizer, rules)


@dataclass(frozen=True)
class LatticeLines(Tokens):
    """References as lattices, together with the tokens of the references that they were made from."""

    lattices: Lattices
    arc_words: Array  # The words of the arcs, as text

    @classmethod
    def coded(cls, networks: Sequence[WordNetwork], codes: Mapping[str, int]) -> LatticeLines:
        """Encode networks; words outside the vocabulary get the code -1."""
        lines = [_own_words(network) for network in networks]
        tokens = np.array([codes[word] for line in lines for word in line], np.int32)
        words = [word for network in networks for word in network.words]
        numbers = np.array([codes.get(word, -1) if word else -2 for word in words], np.int32)
        states = np.array([network.states for network in networks], np.int64)

        def joined(name: str) -> NDArray[np.int64]:
            return np.concatenate([np.zeros(0, np.int64), *(getattr(network, name) for network in networks)])

        lattices = Lattices(
            np.cumsum([0, *map(len, networks)]),
            states,
            joined("sources"),
            joined("targets"),
            numbers,
            joined("costs"),
            joined("kinds"),
        )
        return cls(tokens, np.cumsum([0, *map(len, lines)]), lattices, np.array(words, object))

    def lines(self, start: int, stop: int) -> Self:
        """Return the lines from `start` up to `stop`."""
        return self.chosen(np.arange(start, stop))

    def _with(self, codes: NDArray[np.int32], offsets: NDArray[np.int64], lines: slice | NDArray[np.int64]) -> Self:
        lattices, arcs = self.lattices.chosen(np.arange(len(self.lengths))[lines])
        return type(self)(codes, offsets, lattices, self.arc_words[arcs])


def _own_words(network: WordNetwork) -> list[str]:
    """Return the words of the reference that a network was made from.

    >>> _own_words(WordNetwork.chain(["dog"], [(0, 1, ["hound"], 0.2, "synonym")]))
    ['dog']
    """
    own = ((network.costs == 0) & (network.kinds == 0)).tolist()
    return [word for word, known in zip(network.words, own, strict=True) if word and known]


def lattices_of(references: Tokens) -> Lattices:
    """Return the lattices of references; plain lines become lattices with one path."""
    if isinstance(references, LatticeLines):
        return references.lattices
    lengths = references.lengths
    sources = np.arange(len(references.codes)) - np.repeat(references.offsets[:-1], lengths)
    nothing = np.zeros(len(references.codes), np.int64)
    return Lattices(references.offsets, lengths + 1, sources, sources + 1, references.codes, nothing, nothing)


def arc_words(references: Tokens, surface_forms: Sequence[str]) -> list[str]:
    """Return the words of the arcs of `lattices_of`, in order; `surface_forms` holds the word of each code."""
    if isinstance(references, LatticeLines):
        return list(references.arc_words)
    return [surface_forms[code] for code in references.codes.tolist()]
