"""CSLS, common parts, neighbours and quantiles on the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest

from softbleu.config.signature import parse_signature
from softbleu.engine.plan import resolve_metric, threshold_of
from softbleu.metrics.making import make_metric, metric_from_signature
from softbleu.results import score

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


@pytest.mark.parametrize("remedy", VARIANTS)
def test_short_signatures_say_what_is_not_the_default(soft, remedy):
    options = {str(k).lstrip("-").replace("-", "_"): True for k in VARIANTS[remedy] if str(k).startswith("-")}
    given = [str(part) for part in VARIANTS[remedy]]
    names = {"-t": "threshold"}
    for option, value in zip(given, [*given[1:], ""], strict=True):
        if option.startswith("-") and option != "--mutual":
            options.pop(option.lstrip("-").replace("-", "_"))
            name = names.get(option, option.lstrip("-").replace("-", "_"))
            options[name] = int(value) if name == "neighbours" else value
    texts = [path.read_text(encoding="utf-8").splitlines() for path in (soft[1], soft[3])]
    result = score(*texts, matcher="vleu", vectors=str(soft[-1]), **options)
    short, full = parse_signature(result.short_signature), parse_signature(result.signature)
    changed = {key for key in DEFAULTS if full[key] != DEFAULTS[key]}
    assert changed
    assert {key for key in short if key in DEFAULTS} == changed
    for signature in (result.short_signature, result.signature):
        measure = metric_from_signature(signature)
        expected = resolve_metric(make_metric(matcher="vleu", vectors=str(soft[-1]), **options))
        assert measure.vector_choice.measure == expected.vector_choice.measure
        assert (threshold_of(measure), measure.vector_choice.quantile) == (
            expected.threshold,
            expected.vector_choice.quantile,
        )


@pytest.mark.parametrize("remedy", VARIANTS)
def test_jobs_give_the_same_digits(command, soft, remedy):
    arguments = ("score", *soft, *VARIANTS[remedy], "--format", "json", "--level", "segment")
    assert command(*arguments, "--jobs", 2).out == command(*arguments).out != ""


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


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--threshold", "px"), "'px'"),
        (("--threshold", "p101"), "'p101'"),
        (("--threshold", "p"), "p99.9"),
        (("--similarity", "foo"), "valid: cosine, csls"),
        (("--vectors-postprocess", "pc:0"), "'pc:0'"),
        (("--vectors-postprocess", "median"), "'median'"),
        (("--vectors-postprocess", "pc:5"), "5 dimensions"),
        (("--vectors-postprocess", "pc:100", "--vectors", "glove-6b-100d"), "pc:100"),
        (("--neighbours", 0), "neighbours"),
        (("--neighbours", "some"), "whole number"),
        (("--mutual",), "--neighbours"),
        (("--signature", "metric:bleu|matcher:vleu|similarity:foo"), "valid: cosine, csls"),
        (("--signature", "metric:bleu|matcher:vleu|postprocess:pc:0"), "'pc:0'"),
        (("--signature", "metric:bleu|matcher:vleu|neighbours:0"), "neighbours"),
        (("--signature", "metric:bleu|matcher:vleu|neighbours:few"), "'few'"),
        (("--signature", "metric:bleu|matcher:vleu|mutual:yes"), "--neighbours"),
        (("--signature", "metric:bleu|matcher:vleu|mutual:perhaps"), "'perhaps'"),
        (("--signature", "metric:bleu|matcher:vleu|threshold:p101"), "p101"),
    ],
)
@pytest.mark.parametrize("subcommand", ["score", "explain"])
def test_bad_input_is_one_line_and_writes_nothing(command, files, soft, subcommand, options, words):
    if subcommand == "explain" and "--signature" in options:
        options = (*options, "--segment", 1)
    output = files.folder / "out.txt"
    before = sorted(files.folder.iterdir())
    done = command(subcommand, *soft, *options, "--output", output)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("softbleu: error: ")
    assert done.err.count("\n") == 1
    if "--signature" not in options or subcommand == "score":
        assert words in done.err
    assert sorted(files.folder.iterdir()) == before
