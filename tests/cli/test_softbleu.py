"""The metric softbleu on the command line."""

from __future__ import annotations

import json

import pytest

from softbleu.config.signature import parse_signature


@pytest.fixture
def arguments(files):
    return ("-c", files.candidate, "-r", files.reference, "--metric", "softbleu", "--vectors", files.vectors)


@pytest.fixture
def idf(files):
    return files.write("idf.txt", ["the a on it", "the night", "a"])


@pytest.fixture
def refused(refused, arguments):
    return lambda *more, subcommand="score": refused(subcommand, *arguments, *more)


def system_of(done):
    assert (done.code, done.err) == (0, "")
    return json.loads(done.out)["systems"][0]


# scores


def test_json_says_what_a_score_is_made_of(command, arguments):
    system = system_of(command("score", *arguments, "--order", 3, "--format", "json"))
    assert {"score", "precisions", "recalls", "order_scores", "vector_coverage"} <= system.keys()
    assert system["score"] == pytest.approx(sum(system["order_scores"]) / 3)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--order", 1),
        ("--beta", 3),
        ("--power", 1),
        ("--rarity", 0),
        ("--position", 1.5),
        ("--characters", 0),
        ("--credit", "greedy"),
    ],
)
def test_options_change_score_and_signature(command, arguments, option, value):
    plain = command("score", *arguments, "--format", "json")
    other = command("score", *arguments, option, value, "--format", "json")
    assert system_of(other)["score"] != system_of(plain)["score"]
    one, two = (parse_signature(json.loads(done.out)["signature"]) for done in (plain, other))
    assert {key for key in one if one[key] != two[key]} == {option.lstrip("-")}
    again = command("score", *arguments[:4], *arguments[6:], "--signature", json.loads(other.out)["signature"])
    assert again.code == 0
    assert again.err == ""
    assert f"{system_of(other)['score']:.2f}" in again.out


def test_several_references_take_the_best(command, files, arguments):
    options = ("--rarity", 0, "--level", "segment", "--format", "json")
    one = system_of(command("score", *arguments, *options))
    two = system_of(command("score", *arguments[:2], "-r", files.second, *arguments[4:], *options))
    both = system_of(command("score", *arguments, "-r", files.second, *options))
    pairs = zip(one["segments"], two["segments"], strict=True)
    expected = [max(first["score"], second["score"]) for first, second in pairs]
    assert [segment["score"] for segment in both["segments"]] == expected


# the text that says how rare words are


def test_idf(command, arguments, idf):
    plain = system_of(command("score", *arguments, "--format", "json"))
    done = command("score", *arguments, "--idf", idf, "--format", "json")
    assert system_of(done)["score"] != plain["score"]
    name, _, digits = parse_signature(json.loads(done.out)["signature"])["idf"].partition("#")
    assert (name, len(digits)) == ("idf.txt", 12)


def test_the_references_as_a_file_are_the_default(command, files, arguments):
    plain = system_of(command("score", *arguments, "--format", "json"))
    assert system_of(command("score", *arguments, "--idf", files.reference, "--format", "json")) == plain


def test_a_signature_finds_the_text_beside_it_and_notes_another(command, arguments, idf, monkeypatch):
    monkeypatch.chdir(idf.parent)
    first = command("score", *arguments, "--idf", idf, "--format", "json")
    signature = json.loads(first.out)["signature"]
    again = ("score", *arguments[:4], *arguments[6:], "--signature", signature, "--format", "json")
    done = command(*again)
    assert (done.out, done.err) == (first.out, "")
    idf.write_text("the\n", encoding="utf-8")
    done = command(*again)
    assert done.code == 0
    assert done.err.startswith("softbleu: note: idf is idf.txt#")
    assert "in the signature" in done.err
    idf.unlink()
    done = command(*again)
    assert (done.code, done.out) == (2, "")
    assert "idf.txt: cannot be read" in done.err


def test_idf_that_cannot_be_read(refused, files):
    assert "missing.txt: cannot be read (No such file or directory)" in refused("--idf", files.folder / "missing.txt")
    assert "cannot be read (Is a directory)" in refused("--idf", files.folder)
    bad = files.write("bad.txt", b"fine\ncaf\xe9\n")
    assert f"{bad}, line 2, byte 4: not UTF-8" in refused("--idf", bad)


# what is refused


def test_no_matches_to_show(refused):
    message = "metric 'softbleu' has no matcher, so there are no matches to show"
    assert message in refused("--segment", 1, subcommand="explain")


def test_no_scores_of_single_references(refused):
    assert "no scores of single references: use level 'segment'" in refused("--level", "reference")


# options without effect


@pytest.mark.parametrize(
    "given",
    [
        ("--threshold", 0.5),
        ("--smooth", "exp"),
        ("--variant", "gleu0"),
        ("--threshold", "p99"),
        ("--matcher", "vleu"),
        ("--preset", "morgan2014"),
    ],
)
def test_options_without_effect_are_noted(command, arguments, given):
    plain, done = command("score", *arguments), command("score", *arguments, *given)
    assert (done.code, done.out) == (0, plain.out)
    assert done.err.startswith(f"softbleu: note: {given[0]} has no effect here, with --metric softbleu")
    assert done.err.count("\n") == 1
    assert command("score", *arguments, *given, "--quiet").err == ""


def test_its_options_have_no_effect_on_bleu(command, files, idf):
    done = command("score", *("-c", files.candidate, "-r", files.reference, "--idf", idf, "--beta", 2))
    assert done.code == 0
    assert done.err.splitlines() == [
        f"softbleu: note: {option} has no effect here, with --metric bleu --matcher exact"
        for option in ("--idf", "--beta")
    ]
