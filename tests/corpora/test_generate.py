import json
import os
import subprocess
import sys
import tracemalloc
from dataclasses import replace

import pytest
from refusing import refused

from softbleu.corpora import read_segments
from softbleu.corpora.aligned import read_aligned
from softbleu.corpora.generate import GenerationSettings, format_for, generate
from softbleu.corpora.paraphrase import NOISE, ParaphraseSettings
from softbleu.errors import InputError, UnknownNameError

NOISY = ParaphraseSettings(category=0.1, noise=tuple((kind, 0.05) for kind in NOISE))
PARAPHRASES = GenerationSettings("alternations", "paraphrase", count=60, paraphrase=NOISY)


def test_distinct_ones():
    corpus = generate(GenerationSettings(every=True))
    sentences = list(corpus.sentences())
    assert corpus.total == len(set(sentences)) == len(sentences) == 1008
    paraphrased = generate(GenerationSettings(pairing="paraphrase", every=True))
    assert [" ".join(pair.reference) for pair in paraphrased.pairs()] == sentences
    told = []
    repeated = generate(GenerationSettings(count=1008)).lines(progress=lambda *step: told.append(step))
    assert len(set(repeated)) < 1008
    assert told == [(0, 1008), (1000, 1008), (1008, 1008)]
    settings = GenerationSettings(count=900, distinct=True)
    for sampling in ("weights", "uniform"):
        assert len(set(generate(replace(settings, sampling=sampling)).sentences())) == 900
    pairs = list(generate(GenerationSettings(pairing="paraphrase", count=500, distinct=True)).pairs())
    assert len(set(pairs)) == 500


@pytest.mark.parametrize("settings", [GenerationSettings(pairing="halves", seed=7, count=50), PARAPHRASES])
def test_a_corpus_can_be_made_again(settings):
    corpus = generate(settings)
    pairs = list(corpus.pairs())
    assert list(corpus.pairs()) == pairs
    assert list(generate(replace(settings, count=10)).pairs()) == pairs[:10]
    assert list(corpus.pairs()) != list(generate(replace(settings, seed=8)).pairs())


@pytest.mark.slow
def test_same_bytes_in_every_process():
    code = (
        "from softbleu.corpora.generate import *; from softbleu.corpora.paraphrase import *\n"
        "noise = ParaphraseSettings(category=0.1, noise=tuple((kind, 0.05) for kind in NOISE))\n"
        "for pairing in ('halves', 'paraphrase'):\n"
        "    made = generate(GenerationSettings('morgan2014', pairing, seed=3, count=80, paraphrase=noise))\n"
        "    print(*made.lines('jsonl'))"
    )
    own = [{**os.environ, "PYTHONHASHSEED": seed} for seed in "01"]
    first, second = (subprocess.check_output([sys.executable, "-c", code], env=each) for each in own)
    assert first == second
    assert first.count(b"\n") == 162


def test_formats_hold_the_same(written):
    corpus = generate(PARAPHRASES)
    pairs = list(corpus.pairs())
    for name in ("pairs", "tsv", "jsonl"):
        segments = read_segments(written("".join(corpus.lines(name)), f"x.{name}"))
        assert list(segments.candidates["candidate"]) == [" ".join(pair.candidate) for pair in pairs]
        assert [reference for (reference,) in segments.references] == [" ".join(pair.reference) for pair in pairs]
    assert list(read_aligned(written("".join(corpus.lines("jsonl"))))) == pairs
    rows = [line.removesuffix("\n").split("\t") for line in corpus.lines("tsv")]
    assert rows[0] == ["candidate", "reference", "alignment", "label"]
    places = [tuple(tuple(map(int, link.split("-"))) for link in row[2].split()) for row in rows[1:]]
    kept = [(place, row[3]) for place, row in zip(places, rows[1:], strict=True)]
    assert kept == [(pair.alignment, pair.label) for pair in pairs]


def test_formats_of_sentences():
    corpus = generate(GenerationSettings(count=3))
    sentences = list(corpus.sentences())
    assert "".join(corpus.lines()) == "".join(f"{sentence}\n" for sentence in sentences)
    assert "".join(corpus.lines("tsv")).splitlines() == ["sentence", *sentences]
    entries = [json.loads(line) for line in corpus.lines("jsonl")]
    assert entries == [{"sentence": sentence, "grammar": "morgan2014"} for sentence in sentences]
    assert (format_for("x.TSV"), format_for("x.jsonl.gz"), format_for("tsv")) == ("tsv", "jsonl", "tsv")
    halves = generate(GenerationSettings(pairing="halves"))
    refused(UnknownNameError, "of sentences 'pairs' .*; valid: plain, tsv, jsonl", corpus.lines, "pairs")
    refused(UnknownNameError, "of pairs 'plain' .*; valid: pairs, tsv, jsonl", halves.lines, "plain")


def test_memory_does_not_grow():
    peaks = []
    for count in (100, 600):
        corpus = generate(replace(PARAPHRASES, grammar="morgan2014", count=count))
        tracemalloc.start()
        for _ in corpus.lines("jsonl"):
            pass
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # 500 pairs are 400 kB and more.
    assert peaks[1] < 1.1 * peaks[0] + 100_000


def test_sentences_without_a_pairing_are_no_pairs():
    refused(InputError, "gives no pairs", lambda: list(generate(GenerationSettings(count=1)).pairs()))
