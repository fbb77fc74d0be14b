"""Causal language models run by ctranslate2 in int8; each distinct line is judged once, and kept for later runs.

A line has the same digits in any company: only lines of equally many pieces go together, for those that are padded
to the length of others have other ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from softbleu.errors import InputError
from softbleu.io.data_files import check_plain, load_tokenizer, read_json
from softbleu.io.line_cache import kept_lines
from softbleu.io.platform import cached_property
from softbleu.language.gguf_model import TOKENIZER, missing_extra
from softbleu.language.ngrams import LineJudgements

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MODEL_FILES = ("config.json", "model.bin", "vocabulary.json", TOKENIZER)  # What a folder for ctranslate2 must have
_AT_ONCE = 512  # Pieces that are judged together; a longer line is judged in parts
_SURROGATE = re.compile("[\ud800-\udfff]")
_LN_10 = float(np.log(10))


class NeuralModel:
    """A causal model: a folder for ctranslate2, opened when a line is to be judged that was not judged before.

    A line is judged as its words with a blank between them, after the piece that begins texts; its end is not judged,
    for where a text of the web ends says little of a sentence. `place` gives the folder, which has the files
    `MODEL_FILES`; it is asked when a line is to be judged. Judgements are kept under `fingerprint`.
    """

    cased: ClassVar[bool] = True
    ends: ClassVar[bool] = False

    def __init__(self, place: Callable[[], Path], fingerprint: str) -> None:
        self._place, self._fingerprint = place, fingerprint

    def judge(self, lines: Sequence[Sequence[str]]) -> LineJudgements:
        """Judge lines of words; tokens are words, not pieces, and none is unknown.

        Raises `InputError`: the model cannot be read; `MissingExtraError`: ctranslate2 is not installed.
        """
        texts = [" ".join(line) for line in lines]
        logs = self._pieces(texts)
        # Sums of each line by itself: they do not depend on the lines beside it.
        totals = np.array([logs[text].astype(np.float64).sum() / _LN_10 for text in texts], np.float64)
        return LineJudgements(
            totals, np.array([len(line) for line in lines], np.int64), np.zeros(len(lines), np.int64)
        )

    def judge_words(self, line: Sequence[str]) -> list[float]:
        """Logarithm (base 10) of the probability of each word of a line after those before it."""
        text = " ".join(line)
        logs = self._pieces([text])[text].astype(np.float64) / _LN_10
        _, starts = self._cut(text)
        # Words without the blanks between them make the text without its own.
        bounds = np.cumsum([0, *map(len, line)])
        places = np.array([len("".join(text[:start].split())) for start in starts], np.int64)
        owners = np.searchsorted(bounds, places, side="right") - 1
        sums: list[float] = np.bincount(owners, logs, len(line) + 1)[: len(line)].tolist()
        return sums

    def _pieces(self, texts: Sequence[str]) -> Mapping[str, NDArray[np.float32]]:
        """Natural logarithms of the pieces of each text."""
        contents = kept_lines(f"language model 1 {self._fingerprint}", texts, self._judged)
        return {text: np.frombuffer(content, "<f4") for text, content in contents.items()}

    def _judged(self, texts: Sequence[str]) -> Iterator[Mapping[str, bytes]]:
        cut = {text: self._cut(text)[0] for text in texts}
        ranked = sorted(cut, key=lambda text: (len(cut[text]), text))
        for length, group in groupby(ranked, lambda text: len(cut[text])):
            equally_long = list(group)
            step = max(_AT_ONCE // max(length, 1), 1)
            for start in range(0, len(equally_long), step):
                some = equally_long[start : start + step]
                parts = [
                    self._logs([cut[text][at : at + _AT_ONCE] for text in some]) for at in range(0, length, _AT_ONCE)
                ]
                rows = np.concatenate(parts, axis=1) if parts else np.zeros((len(some), 0), "<f4")
                yield {text: row.tobytes() for text, row in zip(some, rows, strict=True)}

    def _logs(self, lines: Sequence[Sequence[str]]) -> NDArray[np.float32]:
        """Logarithms of pieces of texts that have equally many: (texts, pieces)."""
        generator, start = self._generator
        scored = generator.score_batch([[start, *line] for line in lines], max_input_length=0)
        logs: NDArray[np.float32] = np.array([result.log_probs for result in scored], "<f4")
        if not np.isfinite(logs).all():
            raise InputError(f"{self._folder}: the model gives no finite probabilities; get it again")
        return logs

    def _cut(self, text: str) -> tuple[list[str], list[int]]:
        """Pieces of a text, and the character at which each begins."""
        encoding = self._tokenizer.encode(_SURROGATE.sub("\ufffd", text), add_special_tokens=False)
        return encoding.tokens, [start for start, _ in encoding.offsets]

    @cached_property
    def _folder(self) -> Path:
        return self._place()

    @cached_property
    def _generator(self) -> tuple[Any, str]:
        """The generator of ctranslate2, and the piece before the first of a text."""
        try:
            from ctranslate2 import Generator
        except ImportError as error:
            raise missing_extra(error) from error
        start = check_model(self._folder)
        try:
            # One thread: sums in another order would have other digits.
            return Generator(str(self._folder), compute_type="int8", intra_threads=1, inter_threads=1), start
        except (RuntimeError, ValueError) as error:
            reason = " ".join(str(error).split())[:120]
            raise InputError(f"{self._folder}: no causal model that ctranslate2 can run ({reason})") from error

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        path = self._folder / TOKENIZER
        tokenizer = load_tokenizer(path)
        pieces = read_json(self._folder / "vocabulary.json")
        numbers = tokenizer.get_vocab()
        if not isinstance(pieces, list) or any(
            numbers.get(piece, number) != number for number, piece in enumerate(pieces)
        ):
            raise InputError(f"{path}: does not fit the pieces of vocabulary.json; give the tokenizer of this model")
        return tokenizer


def check_model(folder: Path) -> str:
    """See that a folder has what ctranslate2 needs, and a start of texts; give the piece that is it."""
    for name in MODEL_FILES:
        check_plain(folder / name)
    config = read_json(folder / "config.json")
    start = config.get("bos_token") if isinstance(config, dict) else None
    if not isinstance(start, str) or not start:
        raise InputError(f"{folder / 'config.json'}: does not say which piece begins a text (bos_token)")
    return start
