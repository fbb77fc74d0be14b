"""CSLS, common parts, neighbours and quantiles on the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest

from softbleu.config.signature import parse_signature

WORDS = [f"w{number}" for number in range(30)]
VARIANTS = {
    "csls": ("--similarity", "csls"),
    "mean": ("--vectors-postprocess", "mean"),
    "mean,pc:1": ("--vectors-postprocess", "mean,pc:1"),
    "neighbours": ("--neighbours", 4),
    "mutual": ("--neighbours", 4, "--mutual"),
    "quantile": ("--threshold", "p80"),
    "all": ("--similarity", "csls", "--vectors-postprocess", "pc:1", "--neighbours", 9, "-t", "p60"),
}
DEFAULTS = {
    "similarity": "cosine",
    "vectors-postprocess": "none",
    "neighbours": "none",
    "mutual": "no",
    "quantile": "none",
}


@pytest.fixture
def soft(files):
    """Arguments that score random lines with random vectors."""
    generator = np.random.default_rng(11)
    rows = generator.normal(size=(len(WORDS), 5)) + 0.4
    lines = [f"{word} {' '.join(f'{x:.4f}' for x in row)}" for word, row in zip(WORDS, rows, strict=True)]
    vectors = files.write("words.txt", lines)
    spoken = [*WORDS, "W3", "W4", "oov"]
    texts = [[" ".join(generator.choice(spoken, size)) for size in generator.integers(4, 12, 40)] for _ in range(2)]
    candidate, reference = files.write("c.txt", texts[0]), files.write("r.txt", texts[1])
    return ("-c", candidate, "-r", reference, "--matcher", "vleu", "--vectors", vectors)


def result_of(done):
    assert (done.code, done.err) == (0, "")
    return json.loads(done.out)


@pytest.mark.parametrize("remedy", VARIANTS)
def test_signatures_say_it_and_run_again(command, soft, remedy):
    first = result_of(command("score", *soft, *VARIANTS[remedy], "--format", "json", "-q"))
    plain = result_of(command("score", *soft, "--format", "json", "-q"))
    signature = parse_signature(first["signature"])
    assert DEFAULTS.keys() <= signature.keys()
    assert {key: value for key, value in parse_signature(plain["signature"]).items() if key in DEFAULTS} == DEFAULTS
    assert first["systems"][0]["score"] != plain["systems"][0]["score"]
    again = command(
        "score", *soft[:4], "--vectors", soft[-1], "--signature", first["signature"], "--format", "json", "-q"
    )
    assert result_of(again) == first


def test_a_threshold_beside_a_signature_is_of_no_quantile(command, soft):
    first = result_of(command("score", *soft, "-t", "p80", "--format", "json"))
    done = command("score", *soft, "--signature", first["signature"], "-t", 0.25, "--format", "json")
    assert done.code == 0
    signature = parse_signature(json.loads(done.out)["signature"])
    assert (signature["threshold"], signature["quantile"]) == ("0.25", "none")


@pytest.mark.parametrize("remedy", VARIANTS)
def test_without_vectors_they_do_nothing_and_that_is_said(command, files, remedy):
    done = command("score", "-c", files.candidate, "-r", files.reference, *VARIANTS[remedy])
    assert done.code == 0
    options = [str(part) for part in VARIANTS[remedy] if str(part).startswith("--")]
    for option in options:
        assert f"note: {option} has no effect" in done.err
    plain = command("score", "-c", files.candidate, "-r", files.reference)
    assert done.out == plain.out
