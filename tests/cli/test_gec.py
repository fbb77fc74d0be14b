"""M2, I-measure and refless on the command line and from Python."""

import csv
import io
import json
import sys
from types import SimpleNamespace

import pytest
from cli.conftest import scored

import softbleu
from softbleu.config.signature import parse_signature
from softbleu.corpora.edits import Annotation, Edit, GoldSegment
from softbleu.language import VALUES

GOLD = ["S He eat a apple .", "A 1 2|||Vform|||eats|||REQUIRED|||-NONE-|||0"]
GOLD += ["A 2 3|||ArtOrDet|||an|||REQUIRED|||-NONE-|||0", "A 1 2|||Vform|||ate|||REQUIRED|||-NONE-|||1", ""]
GOLD += ["S All is well .", "", "S We go home", "A 3 3|||Mec|||.|||REQUIRED|||-NONE-|||0", ""]
SOURCE = ["He eat a apple .", "All is well .", "We go home"]
CANDIDATE = ["He eats an apple .", "All is well .", "We go home now ."]


@pytest.fixture
def given(files):
    """Arguments of a run over gold edits."""
    gold, system = files.write("gold.m2", GOLD), files.write("system.txt", CANDIDATE)
    return ["--gold", gold, "-c", system]


def gold_edits(files):
    return softbleu.read_m2(str(files.write("gold.m2", GOLD)))


def test_numbers(command, given, files):
    counts = {"m2": {"correct": 3, "proposed": 4, "gold": 3}, "imeasure": {"true_positives": 3, "true_negatives": 10}}
    for metric, numbers in counts.items():
        found = scored(command, "--metric", metric, *given)
        (system,) = found["systems"]
        assert {key: system[key] for key in numbers} == numbers
        result = softbleu.score(CANDIDATE, gold=gold_edits(files), metric=metric)
        assert (result.score, result.signature) == (system["score"], found["signature"])


def test_imeasure_of_references_and_source_is_the_same(command, given, files):
    reference = files.write("first.txt", ["He eats an apple .", *SOURCE[1:2], "We go home ."])
    source = files.write("source.txt", SOURCE)
    system = files.write("system.txt", CANDIDATE)
    plain = scored(command, "--metric", "imeasure", "-c", system, "-r", reference, "--source", source)
    with_gold = scored(command, "--metric", "imeasure", *given, "--source", source)
    assert plain["systems"] == with_gold["systems"]
    one, two = (parse_signature(found["signature"]) for found in (plain, with_gold))
    assert {key for key in one if one[key] != two[key]} == {"nrefs"}
    assert (one["nrefs"], two["nrefs"]) == ("1", "var")


def test_lowercase_folds_source_candidate_and_corrections(command, files):
    gold = files.write("gold.m2", ["S He Eat", "A 1 2|||V|||EATS|||REQUIRED|||-NONE-|||0"])
    system = files.write("system.txt", ["he eats"])
    found = scored(command, "--metric", "m2", "--gold", gold, "-c", system, "--lowercase")["systems"][0]
    assert (found["correct"], found["proposed"]) == (1, 1)


def test_every_annotator_at_reference_level(command, given):
    out = command("score", "--metric", "m2", *given, "--level", "reference", "--format", "tsv").out
    rows = csv.DictReader(io.StringIO(out), delimiter="\t")
    found = [[row[name] for name in ("segment", "reference", "annotator", "correct")] for row in rows]
    assert found == [["1", "1", "0", "2"], ["1", "2", "1", "0"], ["2", "1", "0", "0"], ["3", "1", "0", "1"]]


def test_other_metrics_take_the_references_that_gold_edits_make(command, given):
    references = [("He eats an apple .", "He ate a apple ."), (SOURCE[1],), ("We go home .",)]
    for metric in ("gleu", "bleu"):
        plain = softbleu.score(CANDIDATE, references, SOURCE, metric=metric)
        assert scored(command, "--metric", metric, *given)["systems"][0]["score"] == plain.score


def test_each_of_equal_insertions_is_matched_once():
    twice = Annotation(0, (Edit(1, 1, "X", ("x",)),) * 2)
    found = softbleu.score(["a x x x b"], gold=[GoldSegment("a b", (twice,))], metric="m2").numbers
    assert (found.correct, found.proposed, found.gold) == (2, 3, 2)


def test_references_or_gold_edits(files):
    for given, said in (((CANDIDATE, SOURCE), "leave out either references or gold"), ((CANDIDATE,), "both needed")):
        with pytest.raises(softbleu.InputError, match=said):
            softbleu.score(*given, gold=gold_edits(files) if len(given) == 2 else None)


LEARNER = ["He go to the school yesterday .", "This are good informations .", "I like it ."]
EDITED = ["He went to school yesterday .", "This is good information .", "I like it ."]


def test_the_command_needs_no_references(command, refused, files):
    candidate, source = files.write("better.txt", EDITED), files.write("source.txt", LEARNER)
    rows = list(zip(EDITED, LEARNER, strict=True))
    table = files.write("texts.tsv", ["candidate\tsource", *("\t".join(row) for row in rows)])
    records = [json.dumps({"candidate": own, "source": text}) for own, text in rows]
    pairs = [["--pairs", table], ["--pairs", files.write("texts.jsonl", records)]]
    expected = softbleu.score(EDITED, None, LEARNER, metric="refless").score
    for given in (["-c", candidate, "-s", source], *pairs):
        done = command("score", *given, "-m", "refless", "--score-only", "--digits", 6)
        assert (done.code, done.err) == (0, "")
        assert float(done.out) == pytest.approx(expected, abs=1e-6)
        assert "metric 'bleu' needs references" in refused("score", *given, "-m", "bleu")


def test_coefficients_of_ones_own(command, files):
    text = files.write("source.txt", LEARNER)
    own = {"constant": 0, "coefficients": dict.fromkeys(VALUES, 0), "fluency": [0, 1]}
    path = files.write("own.json", [json.dumps(own)])
    options = ("-m", "refless(alpha=1, beta=0, gamma=0)", "--coefficients", path, "--score-only")
    done = command("score", "-c", text, "-s", text, *options)
    assert (done.code, done.out.strip()) == (0, "50.00")


def test_explain_says_what_speaks_against_a_line(command, files):
    line = "She recieve good informations ."
    source = files.write("source.txt", [line, "It is fine ."])
    better = files.write("better.txt", ["She receives good information .", ""])
    options = ("explain", "-m", "refless", "-s", source, "-c", source, better)
    shown = command(*options, "--segment", 1)
    assert (shown.code, shown.err) == (0, "")
    first, second = shown.out.split("\n\n")
    lines = first.splitlines()
    found = softbleu.score([line], None, [line], metric="refless").numbers
    assert lines[0].startswith("segment 1, source: ")
    assert lines[0].endswith(f" {found.score:.2f}")
    numbers = f"G {found.grammar:.2f}, F {found.fluency:.2f}, M 100.00, better 0.00"
    assert lines[1:3] == [f"candidate  {line}", numbers]
    assert [each.split()[:2] for each in lines[3:5]] == [["misspelt", "recieve"], ["misspelt", "informations"]]
    assert "misspelt" not in second
    rows = [row.split("\t") for row in command(*options, "--format", "tsv").out.splitlines()]
    assert {row[3]: float(row[4]) for row in rows[1:6] if row[2] == "total"} == found.as_dict()
    assert rows[6] == ["source", "1", "misspelt", "recieve", "", ""]
    unlikely = [float(row[4]) for row in rows[1:] if row[2] == "unlikely"]
    assert max(unlikely) < 0
    entries = [json.loads(entry) for entry in command(*options, "--format", "jsonl").out.splitlines()]
    named = [(each["system"], each["segment"]) for each in entries]
    assert named == [(system, segment) for segment in (1, 2) for system in ("source", "better")]
    assert (entries[0]["numbers"]["meaning"], entries[3]["findings"]) == (100, [])
    (one,) = softbleu.explain([line], None, ["x"], metric="refless")
    assert [each.text for each in one.findings[:2]] == ["recieve", "informations"]


def test_edits_of_other_languages_are_noted(command, files):
    lines = ["Der Rat stimmte gestern dem neuen Vertrag zu, aber die Minister warten noch auf das Geld."] * 6
    source, output = files.write("source.txt", lines), files.write("output.txt", lines)
    assert "rules for English: name the language (--language)" in command("edits", source, output).err
    assert command("edits", source, output, "--language", "de").err == ""
    unknown = "softbleu: note: nothing is known of the language 'xx': its text is taken as that of any language\n"
    for more in (["edits", source, output], ["score", "-m", "cleme", "-s", source, "-r", output, "-c", output]):
        assert command(*more, "--language", "xx-YY").err == unknown
        assert command(*more, "--language", "xx", "--quiet").err == ""


def test_edits_as_a_file(command, refused, files, monkeypatch):
    source = files.write("source.txt", ["he eat apple", "all is well"])
    outputs = [files.write("a.txt", ["he eats apple", "all is well"])]
    outputs.append(files.write("b.txt", ["he eats an apple", "all was well"]))
    made = files.folder / "made.m2"
    assert command("edits", source, *outputs, "-o", made).code == 0
    assert made.read_text() == command("edits", source, *outputs).out
    lines = ["S he eat apple", "A 1 2|||replacement|||eats|||REQUIRED|||-NONE-|||0"]
    assert made.read_text().splitlines()[:2] == lines
    assert softbleu.read_m2(str(made))[1].annotations[0] == Annotation(0, ())
    assert command("score", "-m", "cleme", "--gold", made, "-c", outputs[1]).out.startswith("CLEME 100.00")
    assert "different numbers of lines" in refused("edits", source, files.write("short.txt", ["a"]))
    assert "valid: own, errant" in refused("edits", source, outputs[0], "--extraction", "other")
    assert "is an input" in refused("edits", source, outputs[0], "-o", "a.txt")
    monkeypatch.setitem(sys.modules, "errant", None)
    assert "softbleu[errant]" in refused("edits", source, outputs[0], "--extraction", "errant")
    edit = SimpleNamespace(o_start=1, o_end=2, type="R:VERB:SVA", c_str="eats")
    stub = SimpleNamespace(parse=str.split, annotate=lambda one, other: [edit] if one != other else [])
    monkeypatch.setitem(sys.modules, "errant", SimpleNamespace(load=lambda language: stub))
    assert "A 1 2|||R:VERB:SVA|||eats|||" in command("edits", source, outputs[0], "--extraction", "errant").out
