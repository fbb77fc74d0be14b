"""Tokenizers are sacrebleu's, also where words are looked at one by one."""

import re
from collections.abc import Callable
from itertools import pairwise, product
from pathlib import Path
from random import Random
from unicodedata import normalize

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from refusing import refused
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.tokenizers import tokenizer_13a
from sacrebleu.tokenizers.tokenizer_char import TokenizerChar
from sacrebleu.tokenizers.tokenizer_intl import TokenizerV14International
from sacrebleu.tokenizers.tokenizer_zh import TokenizerZh
from tables import each_row

from softbleu import InputError, score
from softbleu.engine.encode import Coder
from softbleu.metrics.requirements import Requirements
from softbleu.text.parts import WORD_PARTS, character_grams
from softbleu.text.tokens import Tokenizer, _pieces_of, make_tokenizer

BLANKS = " \t\u00a0\u2009\u3000\u2028\x0b\x1c\x85"
PIECES = [
    *BLANKS,
    *"aé5日!\"#$%&'()*+,-./:;<=>?@[]^_`{|}~«»—。",
    *("&quot;", "&amp;", "&lt;", "&gt;", "&amp;lt;", "<skipped>", "\r"),
    *("it's", "3.5", "1,000", "1990-91", "U.S.", "word"),
]
TEXTS = (st.lists(st.sampled_from(PIECES), max_size=12).map("".join) | st.text(max_size=12)).map(
    lambda text: text.replace("\n", " ")
)
"""Lines, which have no line break."""
THEIRS: dict[str, Callable[[str], str]] = {
    "13a": tokenizer_13a.Tokenizer13a(),
    "char": TokenizerChar(),
    "intl": TokenizerV14International(),
    "zh": TokenizerZh(),
}


def coded(tokenizer: Tokenizer, lines: list[str]) -> list[list[str]]:
    """Tokens of lines as a corpus has them."""
    coder = Coder(tokenizer, Requirements())
    tokens = coder.encode(lines)
    words = list(coder.vocabulary)
    bounds = tokens.offsets.tolist()
    return [[words[code] for code in tokens.codes[bounds[k] : bounds[k + 1]]] for k in range(len(lines))]


@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize("name", THEIRS)
@given(lines=st.lists(TEXTS, min_size=1, max_size=4))
@example(lines=["a well-\nknown cat-\n", "two\nlines"])
@example(lines=["He said &quot;No, 3.5% (U.S.) in 1990-91 &amp; a<skipped>b!&quot;", "a\u00a0b,\u3000c."])
@settings(max_examples=200)
def test_tokens_of_lines_are_those_of_sacrebleu(name: str, lowercase: bool, lines: list[str]) -> None:
    expected = [THEIRS[name]((line.lower() if lowercase else line).rstrip()).split() for line in lines]
    tokenizer = make_tokenizer(name, lowercase=lowercase)
    assert coded(tokenizer, lines) == expected
    assert [tokenizer.split(line) for line in lines] == expected


@pytest.mark.slow
@each_row("written.toml", "tokenize", "sentences")
def test_a_thousand_lines_have_the_digits_of_sacrebleu(tokenize: str, sentences: list[str]) -> None:
    """Lines of whole sentences and of parts; no package may be missing in the second tier."""
    random = Random(2014)
    lines = [" ".join(random.choices(sentences, k=3)) for _ in range(1001)]
    lines = [line[: random.randrange(5, len(line))] for line in lines]
    theirs = BLEU(tokenize=tokenize)
    assert score(lines[1:], lines[:-1], tokenize=tokenize).score == theirs.corpus_score(lines[1:], [lines[:-1]]).score
    composed = score([normalize("NFD", line) for line in lines], lines, tokenize=tokenize, normalize_unicode="NFC")
    assert composed.score == pytest.approx(100)


def test_every_character_is_what_it_is_to_sacrebleu() -> None:
    lines = [f"a{chr(point)}1-{chr(point)}2{chr(point)}.b" for point in range(0x20, 0x3000) if chr(point) != "\n"]
    lines += [f"a{chr(point)}1-{chr(point)}.b" for point in range(0x3000, 0x30000) if not 0xD800 <= point < 0xE000]
    split = make_tokenizer("zh").splitter
    assert [line for line in lines if split(line) != THEIRS["zh"](line).split()] == []


def test_words_are_looked_at_one_by_one_the_old_characters_keep_spaces_and_scripts_without_blanks_are_split() -> None:
    assert [make_tokenizer(name).by_word for name in ("13a", "intl", "zh")] == [True, False, False]
    assert make_tokenizer("char+space").split("so  it") == ["s", "o", " ", " ", "i", "t"]
    assert coded(make_tokenizer("char+space"), ["a b", ""]) == [["a", " ", "b"], []]
    lines = ["ที่นี่ 12.5 mm", "東京タワー、well-known", "한국어 Köter."]
    tokens = ["ที่|นี่|12.5|mm", "東|京|タ|ワ|ー|、|well-known", "한국어|Köter|."]
    assert ["|".join(make_tokenizer("unspaced").split(line)) for line in lines] == tokens


@settings(max_examples=50)
@given(st.lists(st.text(st.sampled_from("aab\u00e4\u4e2d\U0001f600\udcff"), max_size=6), max_size=8))
def test_grams_of_many_words_are_those_of_each(words: list[str]) -> None:
    parts, alone = character_grams(words), [WORD_PARTS["spelling"](word) for word in words]
    coded = [parts.codes[start:stop].tolist() for start, stop in pairwise(parts.bounds.tolist())]
    for one, other in product(range(len(words)), repeat=2):
        assert len({*coded[one]} & {*coded[other]}) == len({*alone[one]} & {*alone[other]})
    assert [len(line) for line in coded] == [len(line) for line in alone]


def test_pieces_are_those_of_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that is named, whose hash is signed, and one that lies where sacrebleu keeps its own."""
    spm = pytest.importorskip("sentencepiece", reason="sentencepiece (extra 'spm') is missing")
    lines = Path(__file__).parents[1].joinpath("corpora", "samples", "reference.en").read_text("utf-8").splitlines()
    model = tmp_path / "models" / "flores200sacrebleuspm"
    refused(InputError, "needs a sentencepiece model: name it as spm:FILE$", score, ["a"], ["a"], tokenize="spm")
    monkeypatch.setenv("SACREBLEU", str(tmp_path))
    split = make_tokenizer("flores200").split
    refused(InputError, "flores200sacrebleuspm: no sentencepiece model is there: put", split, "a")
    model.parent.mkdir()
    model.write_bytes(b"none")
    refused(InputError, "flores200sacrebleuspm: no sentencepiece model$", split, "a")
    trained = str(tmp_path / "small")
    spm.SentencePieceTrainer.train(sentence_iterator=iter(lines), model_prefix=trained, vocab_size=90, minloglevel=2)
    model.write_bytes(Path(f"{trained}.model").read_bytes())
    _pieces_of.cache_clear()
    pieces = [" ".join(spm.SentencePieceProcessor(model_file=str(model)).EncodeAsPieces(line)) for line in lines]
    expected = BLEU(tokenize="none", force=True).corpus_score(pieces[1:], [pieces[:-1]]).score
    result = score(lines[1:], lines[:-1], tokenize=f"spm:{model}")
    assert result.score == score(lines[1:], lines[:-1], tokenize="flores200").score == expected
    assert re.search(r"\|tokenize:spm\|.*spm-model:flores200sacrebleuspm#[0-9a-f]{12}\|", result.signature)


def test_text_in_any_normal_form_is_one_text() -> None:
    line = "příliš žluťoučký kůň pěl"
    for metric in ("bleu", "chrf", "chrf++", "softbleu(vectors=none)", "ter", "meteor(stages=exact)"):
        found = score([normalize("NFD", line)], [line], metrics=metric, normalize_unicode="NFC")
        assert found.score == pytest.approx(score([line], [line], metrics=metric).score), metric
        assert "|normalize-unicode:NFC|" in found.signature
