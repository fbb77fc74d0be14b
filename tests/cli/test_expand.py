"""`softbleu embeddings expand`: files that score as references."""

from __future__ import annotations

import json
import os
import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared_data import shared

from softbleu import score_corpus
from softbleu.corpora import Segments
from softbleu.embeddings import open_vectors
from softbleu.embeddings.expansion import Expansion, expand_corpus
from softbleu.metrics import Bleu
from softbleu.text.tokens import Tokenizer

OPTIONS = ("--threshold", 0.5, "--budget", 3)


def expand(command, files, *arguments, reference=None):
    return command(
        "embeddings", "expand", "-r", reference or files.reference, "--vectors", files.vectors, *OPTIONS, *arguments
    )


def written(files, count=3):
    return [(files.folder / f"more.{number}").read_text().splitlines() for number in range(1, count + 1)]


def test_parallel_files(command, files):
    done = expand(command, files, "--output-prefix", files.folder / "more")
    assert (done.code, done.err) == (0, "")
    assert written(files) == [
        ["a cat sat on the mat", "the little dog barked loudly", "it rained all night long"],
        ["the cat sat on a mat", "a small dog barked loudly", "it rained all night long"],
        ["a cat sat on a mat", "a little hound barked loudly", "it rained all night long"],
    ]
    assert done.out.split()[:3] == ["segments", "3", "new"]
    assert "new references  6\n" in done.out


def test_jsonl(command, files):
    done = expand(command, files, "--format", "jsonl", "--max-replacements", 1)
    entries = [json.loads(line) for line in done.out.splitlines()]
    assert [entry["segment"] for entry in entries] == [1, 2, 3]
    assert [entry["references"] for entry in entries] == [[line] for line in files.reference.read_text().splitlines()]
    assert [len(entry["variants"]) for entry in entries] == [2, 3, 0]
    best = entries[1]["variants"][1]
    assert best["text"] == "a small dog barked loudly"
    assert best["reference"] == 1
    assert best["replacements"] == [
        {"token": 2, "word": "little", "by": "small", "similarity": best["probability"]}
    ]  # fmt: skip
    assert best["probability"] == pytest.approx(0.92 / (1.01 * 0.85) ** 0.5, abs=1e-6)


def test_jsonl_and_files_say_the_same(command, files):
    expand(command, files, "--output-prefix", files.folder / "more")
    expand(command, files, "--format", "jsonl", "--output", files.folder / "more.jsonl")
    entries = [json.loads(line) for line in (files.folder / "more.jsonl").read_text().splitlines()]
    for number, lines in enumerate(written(files)):
        for entry, line in zip(entries, lines, strict=True):
            variants = [variant["text"] for variant in entry["variants"]]
            assert line == (variants + entry["references"][:1] * 3)[number]


def test_standard_input_and_blocks(command, files):
    lines = [f"one dog number {number}" for number in range(2500)]
    text = files.write("many.txt", lines)
    named = expand(command, files, "--output-prefix", files.folder / "more", reference=text)
    assert (named.code, named.err) == (0, "")
    found = written(files)
    assert found[0] == [line.replace("dog", "hound") for line in lines]
    piped = command(
        "embeddings", "expand", "-r", "-", "--vectors", files.vectors, *OPTIONS, "--format", "jsonl",
        stdin=text.read_bytes(),
    )  # fmt: skip
    entries = [json.loads(line) for line in piped.out.splitlines()]
    assert [entry["variants"][0]["text"] for entry in entries] == found[0]


def test_13a_finds_words_at_punctuation_and_leaves_unchanged_lines_as_they_are(command, files):
    text = files.write("raw.txt", ["One dog, too.", 'Nothing "known", here.'])
    expand(command, files, "--tokenize", "13a", "--output-prefix", files.folder / "more", reference=text)
    assert written(files, 1) == [["One hound , too .", 'Nothing "known", here.']]
    expand(command, files, "--output-prefix", files.folder / "more", reference=text)
    assert written(files, 1) == [["One dog, too.", 'Nothing "known", here.']]


# What text is made of, entities and numbers included.


PARTS = ["dog", "U.S.", "3.5", "1,000", '"', "-", "5-6", "&", ";", "it's", "(", "%"]


@given(st.lists(st.sampled_from(PARTS), max_size=8))
def test_words_found_by_13a_are_found_again_when_scored(words):
    once = Tokenizer("13a").split(" ".join(words))
    assert Tokenizer("13a").split(" ".join(once)) == once


@pytest.mark.skipif(os.name != "posix", reason="permissions as POSIX has them")
def test_files_that_are_replaced_keep_their_permissions(command, files):
    files.write("more.1", ["old"]).chmod(0o604)
    expand(command, files, "--output-prefix", files.folder / "more")
    assert (files.folder / "more.1").read_text() != "old\n"
    assert stat.S_IMODE((files.folder / "more.1").stat().st_mode) == 0o604
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE((files.folder / "more.2").stat().st_mode) == 0o666 & ~mask


# on real text


@pytest.mark.slow
@pytest.mark.parametrize("content_words", [False, True])
def test_more_references_never_lower_the_matches(tmp_path, content_words):
    candidates, references = (
        shared("data", "morgan2014", name).read_text(encoding="utf-8").splitlines()[:500]
        for name in ("umd.2922.txt", "reference.en")
    )
    split = [[line.split()] for line in references]
    expansion = Expansion(content_words=content_words)
    found = list(expand_corpus(lambda: [split], open_vectors("glove-6b-100d"), expansion))
    more = [
        [line, *(" ".join(variant.tokens) for variant in variants)]
        for line, variants in zip(references, found, strict=True)
    ]
    alone = score_corpus(Segments.of(candidates, references), Bleu())[0].numbers
    together = score_corpus(Segments.of(candidates, more), Bleu())[0].numbers
    assert all(after > before for after, before in zip(together.matches, alone.matches, strict=True))
    assert together.reference_length == alone.reference_length
    assert together.score > alone.score
