"""Learning of maps of vectors from files of judgements, and how well they agree with judgements held out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.corpora.judgements.tables import SCORED, content_of, score_of, table_rows
from softbleu.embeddings.choice import VectorChoice, VectorLocation
from softbleu.embeddings.learning import (
    PASSES,
    RATE,
    SEED,
    JudgedStates,
    MapParameters,
    batch_gradient,
    in_batches,
    learn,
    predict,
    split_segments,
)
from softbleu.embeddings.maps import LENGTH_PRICE, VectorMap, low_rank
from softbleu.embeddings.vectors import unit_rows
from softbleu.encoders.base import PlacedLine, parse_layers
from softbleu.encoders.opened import encoded_lines
from softbleu.errors import InputError, Parameter
from softbleu.io.files import TemporaryFolder, hash_files
from softbleu.io.platform import single_threaded_blas
from softbleu.meta.measures import FEWEST_POINTS, correlate
from softbleu.tables import Table
from softbleu.text.tokens import Tokenizer, Whitespace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.types import Flags, Floats, Integers, JsonObject, Progress

_COLUMNS = {
    "candidate": ("candidate", "translation", "mt", "hypothesis"),
    "reference": ("reference", "ref"),
}
_LINES_AT_ONCE = 1024
_LEAST = 50  # Judged outputs that a map is learned from


@dataclass(frozen=True, eq=False)
class JudgedFile:
    """Judged outputs of a file, one set of judgements."""

    name: str
    sha256: str
    candidates: Sequence[str]
    references: Sequence[str]
    scores: Floats  # Greater for better: (outputs,)

    @classmethod
    def read(cls, name: str, column: str | None = None, encoding: str = "utf-8") -> JudgedFile:
        """Read a table with the columns candidate (or translation, mt), reference (or ref) and a score.

        The score is `column`, or the first of human_score, score, human, z, mqm, esa, da and others that is there.
        Rows without a score are skipped. Raises `InputError`: a column is missing, or a cell is no number.
        """
        columns, rows = table_rows(name, content_of(name, encoding), wanted=("candidate", "ref", "mt", "hypothesis"))
        wanted = {**_COLUMNS, "score": ("human_score", *SCORED) if column is None else (column.lower(),)}
        found = {key: next((one for one in names if one in columns), None) for key, names in wanted.items()}
        if missing := [key for key, place in found.items() if place is None]:
            raise InputError(
                f"{name}, line 1: no column {' or '.join(wanted[missing[0]][:4])}; this file has {' '.join(columns)}"
            )
        texts, scores = [], []
        for where, row in rows:
            score = score_of(where, row[found["score"] or ""])
            if np.isfinite(score):
                texts.append((str(row[found["candidate"] or ""]), str(row[found["reference"] or ""])))
                scores.append(score)
        if len(scores) < FEWEST_POINTS or np.ptp(scores) == 0:
            raise InputError(f"{name}: {FEWEST_POINTS} judgements or more that differ are needed to learn from")
        candidates, references = zip(*texts, strict=True)
        digest = hash_files(Path(name)) if Path(name).is_file() else ""
        return cls(Path(name).stem, digest, candidates, references, np.array(scores))


@contextmanager
def judged_states(
    judged: Sequence[JudgedFile], choice: VectorChoice, tokenizer: Tokenizer, progress: Progress | None = None
) -> Iterator[JudgedStates]:
    """Yield judged outputs with the states of their tokens, which lie in a temporary file meanwhile.

    `choice` is resolved. Each distinct line is encoded once; an encoder's states stay in the cache as in other runs.
    """
    places: dict[str, int] = {}
    candidates, references = (
        np.array([places.setdefault(text, len(places)) for texts in side for text in texts], np.int64)
        for side in ([file.candidates for file in judged], [file.references for file in judged])
    )
    lines = [tokenizer.splitter(text) for text in places]
    scores = np.concatenate([(file.scores - file.scores.mean()) / file.scores.std() for file in judged])
    sets = np.repeat(np.arange(len(judged)), [len(file.scores) for file in judged])
    with TemporaryFolder() as folder:
        if choice.in_context:
            placed = [
                PlacedLine.of_words(line) if choice.reads == "tokens" else PlacedLine.as_written(text, line)
                for text, line in zip(places, lines, strict=True)
            ]
            rows, inner, offsets = _pieces(placed, choice, Path(folder) / "states", progress)
            yield JudgedStates(rows, inner, None, offsets, candidates, references, scores, sets)
        else:
            words = sorted({word for line in lines for word in line})
            codes = {word: code for code, word in enumerate(words)}
            tokens = np.array([codes[word] for line in lines for word in line], np.int64)
            rows = unit_rows(choice.select(words).selected.rows).astype(np.float32)
            inner, offsets = np.ones(len(tokens), bool), np.cumsum([0, *map(len, lines)])
            yield JudgedStates(rows, inner, tokens, offsets, candidates, references, scores, sets)


def _pieces(
    lines: Sequence[PlacedLine], choice: VectorChoice, path: Path, progress: Progress | None
) -> tuple[NDArray[np.float16], Flags, Integers]:
    """Write the directions of the pieces of lines to a file: its rows, which pieces count, and where lines start."""
    encoded = encoded_lines(choice.encoder, parse_layers(choice.layers or ""))
    inner, lengths = [np.zeros(0, bool)], [np.zeros(1, np.int64)]
    with path.open("wb") as stream:
        for start in range(0, len(lines), _LINES_AT_ONCE):
            # A line of a corpus is looked up by its words, so that equal ones are one.
            pieces, states = encoded.rows(lines[start : start + _LINES_AT_ONCE])
            stream.write(unit_rows(states).astype(np.float16).tobytes())
            inner.append(pieces.words >= 0)
            lengths.append(np.diff(pieces.offsets))
            if progress is not None:
                progress(min(start + _LINES_AT_ONCE, len(lines)), len(lines))
    rows = np.memmap(path, np.float16, "r").reshape(-1, encoded.encoder.dimension)
    return rows, np.concatenate(inner), np.cumsum(np.concatenate(lengths))


@dataclass(frozen=True, eq=False)
class LearnedMap:
    """A map, and its agreement with judgements that were held out."""

    map: VectorMap
    table: Table


def learn_map(
    files: Sequence[str],
    vectors: VectorLocation = "minilm-l6",
    *,
    layers: str | None = None,
    tokenizer: Tokenizer | None = None,
    column: str | None = None,
    passes: int = PASSES,
    rate: float = RATE,
    seed: int = SEED,
    licence: str = "not stated",
    encoding: str = "utf-8",
    progress: Progress | None = None,
) -> LearnedMap:
    """Learn a map of vectors from judged outputs, and measure it on segments that took no part.

    Human scores are standardised in each file. A tenth of the segments (distinct references) is held out; each file
    has a constant while the map is learned, which is dropped afterwards.

    Parameters
    ----------
    files
        Tables, one a set of judgements; see `JudgedFile.read`.
    vectors, layers
        An encoder and its layers, such as ``9``, or vectors of words; see `VectorChoice`.
    tokenizer
        Splits lines into words, for vectors of words; None: at blanks.
    column
        Column of human scores.
    passes, rate, seed
        Of gradient descent (`softbleu.embeddings.learning.learn`).
    licence
        Licence of the map.
    encoding
        Of the files.
    progress
        Called with the number of encoded lines, and of all lines.

    Raises
    ------
    InputError, VectorError
        Too few judgements, columns that are missing, or vectors that cannot be read.
    """
    choice = VectorChoice(vectors, layers=layers).resolved()
    if choice.without_vectors:
        raise InputError("a map is of vectors: name a set or an encoder with ", Parameter("vectors"))
    tokenizer = tokenizer or Whitespace()
    judged = [JudgedFile.read(name, column, encoding) for name in files]
    if sum(len(file.scores) for file in judged) < _LEAST:
        raise InputError(f"a map needs {_LEAST} judged outputs or more to learn from")
    with judged_states(judged, choice, tokenizer, progress) as states:
        held = split_segments(states.references, seed)
        rest = np.flatnonzero(~held)
        parameters = learn(states, rest, passes=passes, rate=rate, seed=seed)
        opened = choice.encoder if choice.in_context else choice.source
        facts = {
            "vectors": opened.name,
            "fingerprints": [opened.fingerprint],
            "layers": choice.layers,
            "tokenize": "none" if choice.in_context else tokenizer.name,
            "lowercase": False if choice.in_context else tokenizer.lowercase,
            "licence": licence,
            "sets": [{"name": file.name, "sha256": file.sha256, "outputs": len(file.scores)} for file in judged],
            "passes": passes,
            "rate": rate,
            "seed": seed,
        }
        made = finish_map(parameters, facts)
        rows = _held_out(states, np.flatnonzero(held), judged, made)
    table = Table(
        ("set", "outputs", "held_out", "r_untrained", "r_map"),
        rows,
        {"vectors": opened.name, "learned_from": len(rest)},
        digits=3,
    )
    figures = {name: [None if cell is None else round(cell, 4) for cell in row] for name, *row in rows}
    return LearnedMap(replace(made, facts={**facts, "held_out": figures}), table)


def finish_map(parameters: MapParameters, facts: JsonObject) -> VectorMap:
    """Make a map of learned parameters: of low rank, with prices of agreement that add up to 1, and of lengths."""
    total = float(parameters.prices.sum())
    if total <= 0:
        raise InputError("judges disliked what is near the reference in every respect: nothing can be learned")
    precision, recall, _ = (parameters.prices.astype(np.float64) / total).tolist()
    return VectorMap(
        "learned",
        "",
        *low_rank(parameters.matrix),
        parameters.direction.astype(np.float32),
        float(parameters.constants[0]),
        (precision, recall, 1 - precision - recall, LENGTH_PRICE),
        facts,
    )


def mapped_scores(states: JudgedStates, pairs: Integers, made: VectorMap) -> Floats:
    """Score some pairs as `trained` does under a map, from 0 to 1: (pairs,)."""
    *prices, length = made.prices
    constants, found = np.array([made.constant], np.float32), np.array(prices, np.float32)
    parameters = MapParameters(made.matrix, made.direction, constants, found, np.zeros(0, np.float32))
    scores: Floats = np.maximum(predict(states, pairs, parameters) - length * states.apart(pairs), 0)
    return scores


def _held_out(states: JudgedStates, held: Integers, judged: Sequence[JudgedFile], made: VectorMap) -> list[list[Any]]:
    """Correlate scores with judges, in each set, by the rounded map and without any map."""
    plain = MapParameters.start(made.dimension, 0)
    scores = mapped_scores(states, held, made)
    with single_threaded_blas():
        f = np.concatenate([batch_gradient(states, some, plain)[:, 2] for some in in_batches(held, 32)])
    rows: list[list[Any]] = []
    for number, file in enumerate(judged):
        members = states.sets[held] == number
        pairs = [(states.scores[held][members], column[members]) for column in (f.astype(np.float64), scores)]
        known = int(members.sum())
        r = [correlate(*pair, samples=0).value if known >= FEWEST_POINTS else None for pair in pairs]
        rows.append([file.name, len(file.scores), known, *r])
    return rows
