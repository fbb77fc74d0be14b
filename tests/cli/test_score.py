from __future__ import annotations

import csv
import gzip
import io
import json

import pytest

import softbleu
from softbleu.report import WRITERS
from softbleu.report.records import BINARY_FORMATS

CANDIDATE = ["the cat sat on a mat", "a small dog barked loudly", "rain fell all night"]
REFERENCE = ["the cat sat on the mat", "a little dog barked loudly", "it rained all night long"]
SECOND = ["a cat was sitting on the mat", "the small hound barked", "rain fell the whole night"]
KEYS = [
    "name",
    "score",
    "matches",
    "totals",
    "precisions",
    "brevity_penalty",
    "candidate_length",
    "reference_length",
    "vector_coverage",
]


def scored(command, *arguments):
    done = command("score", *arguments, "--format", "json")
    assert (done.code, done.err) == (0, "")
    return json.loads(done.out, parse_constant=pytest.fail)


def test_numbers_are_those_of_the_python_interface(command, files):
    found = scored(command, "-c", files.candidate, "-r", files.reference, "-r", files.second)
    expected = softbleu.score(CANDIDATE, list(zip(REFERENCE, SECOND, strict=True)))
    assert found == {
        "schema": 1,
        "signature": expected.signature,
        "systems": [{"name": "candidate", **expected.numbers.as_dict(), "vector_coverage": None}],
    }
    assert list(found["systems"][0]) == KEYS


def test_soft_numbers_are_those_of_the_python_interface(command, files):
    arguments = ["--matcher", "vleu", "-t", 0.8, "--vectors", files.vectors, "--composition", "aligned"]
    arguments += ["--order", 3, "--smooth", "add-k", "--smooth-value", 0.5, "--lowercase", "--tokenize", "13a"]
    arguments += ["--assignment", "optimal", "--consumption", "unit", "--denominator", "all"]
    arguments += ["--effective-order", "--vector-case", "exact"]
    found = scored(command, "-c", files.candidate, "-r", files.reference, *arguments)
    expected = softbleu.score(
        CANDIDATE,
        REFERENCE,
        matcher="vleu",
        threshold=0.8,
        vectors=str(files.vectors),
        composition="aligned",
        order=3,
        smooth="add-k",
        smooth_value=0.5,
        lowercase=True,
        tokenize="13a",
        assignment="optimal",
        consumption="unit",
        denominator="all",
        effective_order=True,
        vector_case="exact",
    )
    (system,) = found["systems"]
    assert found["signature"] == expected.signature
    assert system == {
        "name": "candidate",
        **expected.numbers.as_dict(),
        "vector_coverage": expected.coverage.as_dict(),
    }
    assert system["vector_coverage"]["candidate"] == {"tokens": 15, "known": 5}


def test_preset_comes_after_what_is_given(command, files):
    files_given = ("-c", files.candidate, "-r", files.reference)
    found = scored(command, *files_given, "--preset", "morgan2014", "--smooth", "floor")
    assert found["systems"][0]["totals"] == [16, 13, 10, 7]
    assert "smooth:floor" in found["signature"]


def test_segments_are_scored_as_by_the_python_interface(command, files):
    found = scored(command, "-c", files.candidate, "-r", files.reference, "--level", "segment")
    expected = softbleu.score(CANDIDATE, REFERENCE, level="segment")
    assert found["systems"][0]["segments"] == [
        {"segment": number, **score.as_dict()} for number, score in enumerate(expected.segments, start=1)
    ]


def test_json_lines_have_a_line_a_segment_and_system(command, files):
    arguments = ("-c", files.candidate, "-c", files.second, "-r", files.reference, "--level", "segment")
    done = command("score", *arguments, "-f", "jsonl")
    entries = [json.loads(line) for line in done.out.splitlines()]
    assert [(entry["system"], entry["segment"]) for entry in entries] == [
        (system, segment) for segment in (1, 2, 3) for system in ("candidate", "second")
    ]
    assert list(entries[0]) == ["system", "segment", *KEYS[1:-1]]


def test_json_lines_of_a_corpus_have_a_line_a_system(command, files):
    done = command("score", "-c", files.candidate, "-c", files.second, "-r", files.reference, "-f", "jsonl")
    entries = [json.loads(line) for line in done.out.splitlines()]
    assert [list(entry) for entry in entries] == [["system", *KEYS[1:]]] * 2


def test_tsv_is_in_full_precision(command, files):
    done = command("score", "-c", files.candidate, "-r", files.reference, "-f", "tsv")
    (row,) = csv.DictReader(io.StringIO(done.out), delimiter="\t")
    expected = softbleu.score(CANDIDATE, REFERENCE)
    assert row["system"] == "candidate"
    assert float(row["score"]) == expected.score
    assert [int(row[f"totals_{n}"]) for n in (1, 2, 3, 4)] == expected.numbers.totals
    assert row["signature"] == expected.signature


@pytest.mark.parametrize("level", ["corpus", "segment"])
@pytest.mark.parametrize("name", sorted({*WRITERS} - {*BINARY_FORMATS}))
def test_every_format_names_every_system(command, files, name, level):
    arguments = ("-c", files.candidate, "-c", files.second, "-r", files.reference)
    done = command("score", *arguments, "--format", name, "--level", level)
    assert (done.code, done.err) == (0, "")
    assert "candidate" in done.out
    assert "second" in done.out
    assert "nan" not in done.out.lower()
    assert done.out.endswith("\n")


def test_text_says_all_there_is_to_know(command, files):
    arguments = ("-c", files.candidate, "-r", files.reference, "--matcher", "sleu", "--vectors", files.vectors)
    done = command("score", *arguments, "--digits", 3)
    expected = softbleu.score(CANDIDATE, REFERENCE, matcher="sleu", vectors=str(files.vectors))
    assert done.out.startswith(f"SLEU {expected.score:.3f}  candidate\n")
    for part in (
        "precision %",
        "matches",
        "brevity penalty",
        "length           15 tokens",
        "references       16 tokens",
        "5 of 15 tokens",
    ):
        assert part in done.out
    assert done.out.endswith(f"signature: {expected.short_signature}\n")


def test_jobs_change_nothing(command, files):
    soft = ("-m", "vleu(threshold=0.8)", "--vectors", files.vectors)
    arguments = ("-c", files.candidate, "-r", files.reference, *soft)
    assert scored(command, *arguments, "--jobs", 2) == scored(command, *arguments)


def test_pairs(command, files):
    pairs = [f"{c} ||| {r} ||| {s}" for c, r, s in zip(CANDIDATE, REFERENCE, SECOND, strict=True)]
    two_files = scored(command, "-c", files.candidate, "-r", files.reference, "-r", files.second)
    path = files.write("corpus.txt", pairs)
    assert scored(command, "--pairs", path) == two_files
    path = files.write("corpus.jsonl", pairs)
    assert scored(command, "--pairs", path, "--input-format", "pairs") == two_files


def test_tsv_and_jsonl_input(command, files):
    two_files = scored(command, "-c", files.candidate, "-r", files.reference)
    rows = zip(CANDIDATE, REFERENCE, strict=True)
    lines = ["candidate\treference", *("\t".join(row) for row in rows)]
    assert scored(command, "--pairs", files.write("corpus.tsv", lines)) == two_files
    rows = zip(CANDIDATE, REFERENCE, strict=True)
    lines = [json.dumps({"candidate": {"candidate": c}, "references": [r]}) for c, r in rows]
    assert scored(command, "--pairs", files.write("corpus.jsonl", lines)) == two_files


def test_other_encodings_and_compression(command, files):
    plain = scored(command, "-c", files.candidate, "-r", files.reference)
    files.write("candidate.txt", gzip.compress(files.candidate.read_bytes()))
    assert scored(command, "-c", files.candidate, "-r", files.reference) == plain
    names = ("candidate.txt", "reference.txt")
    for name, lines in zip(names, (CANDIDATE, REFERENCE), strict=True):
        files.write(name, "\n".join(lines).encode("utf-16"))
    arguments = ("-c", files.candidate, "-r", files.reference, "--encoding", "utf-16")
    assert scored(command, *arguments) == plain


@pytest.mark.parametrize("name", ["candidate.txt", "reference.txt"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_byte_order_marks_and_line_ends_change_no_score(command, files, name, bom, end):
    plain = scored(command, "-c", files.candidate, "-r", files.reference)
    files.write(name, bom + (files.folder / name).read_bytes().replace(b"\n", end))
    assert scored(command, "-c", files.candidate, "-r", files.reference) == plain


def test_without_input_the_sample_is_scored_and_said_so(command):
    done = command("score")
    assert done.code == 0
    assert done.out.startswith("BLEU ")
    assert "sample corpus" in done.err
    assert done.err.count("\n") == 1
    assert command("score", "--quiet").err == ""


def test_sample_is_scored_higher_softly(command):
    exact = scored(command, "--quiet")["systems"][0]["score"]
    soft = scored(command, "--quiet", "--matcher", "vleu", "--threshold", 0.8)["systems"][0]["score"]
    assert 25 < exact < 40
    assert soft > exact + 5


def test_options_without_effect_are_noted(command, files):
    done = command("score", "-c", files.candidate, "-r", files.reference, "-t", 0.5, "--vectors", "nowhere")
    assert done.code == 0
    assert done.err.splitlines() == [
        "softbleu: note: --threshold has no effect here, with --metric bleu --matcher exact",
        "softbleu: note: --vectors has no effect here, with --metric bleu --matcher exact",
    ]


def test_names_are_shown_without_control_characters(command, files):
    odd = files.write("a|b\t\x1b[1m&_%.txt", CANDIDATE)
    arguments = ("-c", odd, "-r", files.reference)
    shown = {name: command("score", *arguments, "-f", name).out for name in WRITERS if name not in BINARY_FORMATS}
    assert r"a|b\t\x1b[1m&_%" in shown["text"]
    assert r"a\|b\\t\\x1b\[1m&\_%" in shown["markdown"]
    assert r"a\textbar{}b\textbackslash{}t\textbackslash{}x1b[1m\&\_\%" in shown["latex"]
    assert shown["tsv"].splitlines()[1].startswith("a|b\\t\\x1b[1m&_%\t")
    assert json.loads(shown["json"])["systems"][0]["name"] == "a|b\t\x1b[1m&_%"
