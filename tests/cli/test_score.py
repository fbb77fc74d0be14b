"""`softbleu score` and `edits`: numbers as in Python, inputs, notes; GLEU, M2, I-measure, refless; essays."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from cli.conftest import CANDIDATE, LINES, REFERENCE, SECOND, TEXTS, read_toml, scored
from refusing import refused as refused_call

import softbleu
from softbleu.config.declare import parse_signature
from softbleu.corpora.edits import Annotation, Edit, GoldSegment
from softbleu.language import VALUES

KEYS = ["name", "score", "matches", "totals", "precisions", "brevity_penalty", "candidate_length", "reference_length"]
KEYS += ["vector_coverage"]


SOURCE = LINES["learner.txt"]
REFERENCES = list(zip(REFERENCE, SECOND, strict=True))


@pytest.mark.parametrize("row", read_toml("scores.toml")["score"], ids=lambda row: row["line"].strip())
def test_numbers_are_those_of_the_python_interface(command, files, row):
    files.lay("learner.txt", "annotated.m2", "corrected.txt")
    line, settings = row["line"].split(), row["settings"]
    name = "corrected" if "--gold" in line else "candidate"
    texts = ("-r", "reference.txt", "-r", "second.txt") if name == "candidate" else ()
    found = scored(command, "-c", f"{name}.txt", *texts, *line)
    found["systems"][0].pop("soft_matches", None)
    if name == "corrected":
        expected = softbleu.score(LINES["corrected.txt"], gold=softbleu.read_m2("annotated.m2"), **settings)
    else:
        expected = softbleu.score(CANDIDATE, REFERENCES, SOURCE, **settings)
        assert not settings or any(not float(match).is_integer() for match in expected.numbers.matches)
    numbers = json.loads(json.dumps(expected.numbers.as_dict()))
    coverage = expected.coverage.as_dict() if expected.coverage else None
    systems = [{"name": name, **numbers, "vector_coverage": coverage}]
    assert found == {"schema": 1, "signature": expected.signature, "systems": systems}
    assert settings or list(found["systems"][0]) == KEYS
    assert numbers.items() >= row.get("numbers", {}).items()


def test_other_formats_and_encodings(command, files):
    plain = scored(command, *TEXTS)
    files.write("other.jsonl", [" ||| ".join(pair) for pair in zip(CANDIDATE, REFERENCE, strict=True)])
    assert scored(command, "--pairs", "other.jsonl", "--input-format", "pairs") == plain
    for name in ("candidate.txt", "reference.txt"):
        files.write(name, "\n".join(LINES[name]).encode("utf-16"))
    assert scored(command, *TEXTS, "--encoding", "utf-16") == plain


def test_a_signature_finds_the_text_beside_it_and_notes_another(command, files):
    idf, vectors = files.write("idf.txt", ["the a on it", "the night", "a"]), ("--vectors", "vectors.txt")
    first = command("score", *TEXTS, *vectors, "-m", "softbleu", "--idf", "idf.txt", "-f", "json")
    found = json.loads(first.out)
    assert found["systems"] != scored(command, *TEXTS, *vectors, "-m", "softbleu")["systems"]
    again = ("score", *TEXTS, *vectors, "--signature", found["signature"], "-f", "json")
    assert (first.code, command(*again)) == (0, first)
    text = idf.read_bytes()
    files.write("idf.txt", ["the"])
    done = command(*again)
    assert done.code == 0
    assert done.err.startswith("softbleu: note: idf is idf.txt#")
    assert "in the signature" in done.err
    idf.unlink()
    done = command(*again)
    assert (done.code, done.out) == (2, "")
    said = "cannot be read (No such file or directory); where it lies elsewhere, name it with --idf"
    assert done.err == f"softbleu: error: idf.txt: {said}\n"
    assert command(*again, "--idf", files.write("elsewhere/idf.txt", text)) == first


def test_references_one_by_one_with_the_chosen_one_marked(command, files):
    files.lay("learner.txt")
    given = (*TEXTS, "second.txt", "-s", "learner.txt", "-m", "gleu", "--level", "reference", "-n", 1)
    parts = scored(command, *given)["systems"][0]["references"]
    assert [(part["segment"], part["reference"]) for part in parts] == [(s, r) for s in (1, 2, 3) for r in (1, 2)]
    texts = [(c, r, s) for c, both, s in zip(CANDIDATE, REFERENCES, SOURCE, strict=True) for r in both]
    single = [softbleu.score([c], [r], [s], metrics="gleu", order=1).score for c, r, s in texts]
    assert [part["score"] for part in parts] == pytest.approx(single)
    assert len({round(score, 9) for score in single}) == len(single)
    better = [1 if one > other else 2 for one, other in zip(single[::2], single[1::2], strict=True)]
    assert [part["reference"] for part in parts if part["chosen"]] == better == [1, 1, 2]


@pytest.mark.parametrize("value", [1e9, 1e13, 1e300])
def test_great_weights_take_all_matches_of_an_uncorrected_segment(command, files, value):
    files.lay("learner.txt")
    files.write("copy.txt", SOURCE)
    given = ["-c", "copy.txt", *TEXTS[2:], "second.txt", "-s", "learner.txt", "-m", "gleu", "-n", 1]
    great, moderate = (
        scored(command, *given, "--variant", "gleu0", f"--lambda={weight}")["systems"][0] for weight in (value, 1000)
    )
    assert (great["score"], great["numerators"]) == (moderate["score"], moderate["numerators"])
    assert great["score"] == 0.0


def test_runs_of_systems_draw_documents(command, files):
    """Scores of a corpus do not look at them, and say so (`notes.toml`)."""
    lines = ["a little hound barked", "rain fell", "the small dog", "no rain"] * 2
    for name, text in (("x.1.txt", lines), ("x.2.txt", lines[::-1]), ("r.txt", lines), ("labels.txt", "aaaabbbb")):
        files.write(name, list(text))
    runs = ("compare", "-c", "x.1.txt", "x.2.txt", "-r", "r.txt", "--by", "runs", "--samples", 9, "-f", "tsv")
    alone, drawn = command(*runs), command(*runs, "--documents", "labels.txt")
    assert (alone.err, drawn.err, alone.out == drawn.out) == ("", "", False)


@pytest.mark.parametrize("metric", ["softbleu", "vleu(threshold=0.6)", "bertscore(vectors=minilm-l6)", "chrf"])
def test_the_source_stands_in_the_place_of_references(command, files, metric):
    """Scores are those of the source file as reference; signatures say so, and run again."""
    files.lay("hund.txt", "dog.txt", "both.vec")
    settings = {} if metric == "chrf" or "(v" in metric else {"vectors": "both.vec"}
    given = ("-c", "hund.txt", "-s", "dog.txt", *(("--vectors", "both.vec") if settings else ()), "--quiet")
    (system,) = (made := scored(command, *given, "--against", "source", "-m", metric))["systems"]
    referred = scored(command, *given, "-r", "dog.txt", "-m", metric)
    assert system == referred["systems"][0]
    assert made["signature"] == referred["signature"].replace("|version:", "|against:source|version:")
    assert scored(command, *given, "--signature", made["signature"]) == made
    texts = (LINES["hund.txt"], None, LINES["dog.txt"])
    found = softbleu.score(*texts, metrics=metric, against="source", **settings)
    assert (found.score, found.signature) == (system["score"], made["signature"])


OUTPUT, SENTENCES = LINES["corrected.txt"], ["He eat a apple .", "All is well .", "We go home"]


def test_gold_edits_make_references(command, files):
    files.lay("annotated.m2 corrected.txt")
    corrected = ["--gold", "annotated.m2", "-c", "corrected.txt", "-q"]
    references = [("He eats an apple .", "He ate a apple ."), (SENTENCES[1],), ("We go home .",)]
    for metric in ("gleu", "bleu"):
        plain = softbleu.score(OUTPUT, references, SENTENCES, metrics=metric)
        assert scored(command, "--metric", metric, *corrected)["systems"][0]["score"] == plain.score
    files.write("first.txt", [first for first, *_ in references])
    more = ("-s", files.write("source.txt", SENTENCES), "-m", "imeasure")
    plain, with_gold = (scored(command, *texts, *more) for texts in (["-r", "first.txt", *corrected[2:]], corrected))
    assert plain["systems"] == with_gold["systems"]
    one, two = (parse_signature(found["signature"]) for found in (plain, with_gold))
    assert {key: (one[key], two[key]) for key in one if one[key] != two[key]} == {"nrefs": ("1", "var")}


def test_each_of_equal_insertions_is_matched_once():
    twice = Annotation(0, (Edit(1, 1, "X", ("x",)),) * 2)
    found = softbleu.score(["a x x x b"], gold=[GoldSegment("a b", (twice,))], metrics="m2").numbers
    assert (found.correct, found.proposed, found.gold) == (2, 3, 2)


def test_references_or_gold_edits():
    gold = [GoldSegment(text, (Annotation(0, ()),)) for text in SENTENCES]
    for texts, said in (((OUTPUT, SENTENCES), "leave out either references or gold"), ((OUTPUT,), "both needed")):
        refused_call(softbleu.InputError, said, softbleu.score, *texts, gold=gold if len(texts) == 2 else None)


LEARNER = ["He go to the school yesterday .", "This are good informations .", "I like it ."]
EDITED = ["He went to school yesterday .", "This is good information .", "I like it ."]


def test_the_command_needs_no_references(command, refused, files):
    files.write("better.txt", EDITED)
    files.write("source.txt", LEARNER)
    texts = list(zip(EDITED, LEARNER, strict=True))
    files.write("texts.tsv", ["candidate\tsource", *map("\t".join, texts)])
    files.write("texts.jsonl", [json.dumps({"candidate": own, "source": text}) for own, text in texts])
    expected = softbleu.score(EDITED, None, LEARNER, metrics="refless").score
    for given in ("-c better.txt -s source.txt", "--pairs texts.tsv", "--pairs texts.jsonl"):
        done = command("score", *given.split(), "-m", "refless", "--score-only", "--digits", 6)
        assert (done.code, done.err) == (0, "")
        assert float(done.out) == pytest.approx(expected, abs=1e-6)
        assert "metric 'bleu' needs references" in refused("score", *given.split(), "-m", "bleu")


def test_coefficients_of_ones_own(command, files):
    own = {"constant": 0, "coefficients": dict.fromkeys(VALUES, 0), "fluency": [0, 1]}
    files.write("own.json", [json.dumps(own)])
    options = ("-m", "refless(alpha=1, beta=0, gamma=0)", "--coefficients", "own.json", "--score-only")
    done = command("score", "-c", "second.txt", "-s", "second.txt", *options)
    assert (done.code, done.out.strip()) == (0, "50.00")


def test_explain_says_what_speaks_against_a_line(command, files):
    line = "She recieve good informations ."
    files.write("source.txt", [line, "It is fine ."])
    files.write("better.txt", ["She receives good information .", ""])
    options = ("explain", "-m", "refless", "-s", "source.txt", "-c", "source.txt", "better.txt")
    shown = command(*options, "--segment", 1)
    assert (shown.code, shown.err) == (0, "")
    first, second = shown.out.split("\n\n")
    lines = first.splitlines()
    found = softbleu.score([line], None, [line], metrics="refless").numbers
    numbers = f"G {found.grammar:.2f}, F {found.fluency:.2f}, M 100.00, better 0.00"
    assert lines[:3] == [f"segment 1, source: {found.score:.2f}", f"candidate  {line}", numbers]
    lost = [line.split(None, 3) for line in lines if line.startswith("  lost")]
    assert {each[1]: each[3] for each in lost} == {
        "grammaticality": "misspelt: recieve, informations",
        "fluency": "unlikely here: good, recieve",
    }
    assert sum(float(each[2]) for each in lost) == pytest.approx(100 - found.score, abs=0.01)
    named = [each.split()[:2] for each in lines[5:7]]
    assert named == [["misspelt", "recieve"], ["misspelt", "informations"]]
    assert "misspelt" not in second
    assert "not in the source: receives; gone: recieve" in second
    rows = [row.split("\t") for row in command(*options, "--format", "tsv").out.splitlines()]
    assert {row[3]: float(row[4]) for row in rows[1:6] if row[2] == "total"} == found.as_dict()
    assert [row[2:4] for row in rows[6:8]] == [["lost", "grammaticality"], ["lost", "fluency"]]
    assert rows[8] == ["source", "1", "misspelt", "recieve", "", ""]
    unlikely = [float(row[4]) for row in rows[1:] if row[2] == "unlikely"]
    assert max(unlikely) < 0
    entries = [json.loads(entry) for entry in command(*options, "--format", "jsonl").out.splitlines()]
    named = [(each["system"], each["segment"]) for each in entries]
    assert named == [(system, segment) for segment in (1, 2) for system in ("source", "better")]
    assert entries[0]["numbers"]["meaning"] == 100
    assert {(each["kind"], each["message"]) for each in entries[3]["findings"]} == {("lost", "empty line")}
    (one,) = softbleu.explain([line], None, ["x"], metrics="refless")
    assert [each.text for each in one.findings if each.kind == "misspelt"] == ["recieve", "informations"]
    assert any(each.text == "little meaning" for each in one.findings)


def test_edits_as_a_file(command, refused, files, monkeypatch):
    files.write("source.txt", ["he eat apple", "all is well"])
    files.write("a.txt", ["he eats apple", "all is well"])
    files.write("b.txt", ["he eats an apple", "all was well"])
    edits = ("edits", "source.txt", "a.txt")
    assert command(*edits, "b.txt", "-o", "made.m2").code == 0
    made = Path("made.m2").read_text()
    assert made == command(*edits, "b.txt").out
    assert made.startswith("S he eat apple\nA 1 2|||replacement|||eats|||REQUIRED|||-NONE-|||0\n")
    assert softbleu.read_m2("made.m2")[1].annotations[0] == Annotation(0, ())
    assert command("score", "-m", "cleme", "--gold", "made.m2", "-c", "b.txt").out.startswith("CLEME 100.00")
    monkeypatch.setitem(sys.modules, "errant", None)
    assert ".[errant]" in refused(*edits, "--extraction", "errant")
    edit = SimpleNamespace(o_start=1, o_end=2, type="R:VERB:SVA", c_str="eats")
    stub = SimpleNamespace(parse=str.split, annotate=lambda one, other: [edit] if one != other else [])
    monkeypatch.setitem(sys.modules, "errant", SimpleNamespace(load=lambda language: stub))
    assert "A 1 2|||R:VERB:SVA|||eats|||" in command(*edits, "--extraction", "errant").out


def test_data_divide_what_soft_matches_add(command, files):
    texts = ("score", "-c", "candidate.txt", "-r", "reference.txt", "-q", "-f", "json", "-m")
    (soft,), (exact,) = (
        json.loads(command(*texts, metric).out)["systems"]
        for metric in ("vleu(threshold=0.8,vectors=vectors.txt)", "bleu")
    )
    found = soft["soft_matches"]
    assert (found["exact_score"], found["added"]) == (exact["score"], soft["score"] - exact["score"])
    assert sum(kind["points"] for kind in found["kinds"]) == pytest.approx(found["added"])
    assert sum(kind["share"] for kind in found["kinds"]) == pytest.approx(100)
    assert "soft_matches" not in exact


@pytest.mark.parametrize("suffix", ["json", "jsonl", "tsv", "csv"])
@pytest.mark.parametrize("metrics", ["bleu", "bleu chrf ter", "vleu(vectors=vectors.txt)"])
def test_scores_of_segments_that_were_written_make_the_corpus_scores_again(command, files, suffix, metrics):
    given = ["-c", "candidate.txt", "second.txt", "-r", "reference.txt", "-m", *metrics.split()]
    command("score", *given, "--level", "segment", "-o", f"segments.{suffix}", "-q")
    again = command("score", "--scores", f"segments.{suffix}", "-b")
    assert again == command("score", *given, "-b", "-q")


def test_a_comparison_of_written_scores_is_that_of_the_texts(command, files):
    given = ["-c", "candidate.txt", "second.txt", "-r", "reference.txt", "-m", "bleu"]
    command("score", *given, "--level", "segment", "-o", "a.json", "-q")
    columns = ["-f", "csv", "-q", "--columns", "system", "score", "p", "interval", "d"]
    assert command("compare", "--scores", "a.json", *columns) == command("compare", *given, *columns)


@pytest.mark.parametrize("changed", [{"statistics": None}, {"score": 99.0}], ids=["missing", "of other scores"])
def test_segments_without_their_statistics_are_said_to_be_means_of_sentences(command, files, changed):
    command("score", *TEXTS, "--level", "segment", "-m", "bleu", "-o", "a.jsonl", "-q")
    rows = [json.loads(line) | changed for line in Path("a.jsonl").read_text().splitlines()]
    files.write("b.jsonl", list(map(json.dumps, rows)))
    done = command("score", "--scores", "b.jsonl", "--signatures")
    assert "mean of sentence BLEU" in done.out
    assert "|corpus:mean of sentence BLEU|" in done.out
    assert "mean of sentence BLEU is shown" in done.err


def test_corpus_results_of_two_runs_make_one_table_and_no_test(command, files):
    for system in ("candidate", "second"):
        command("score", "-c", f"{system}.txt", "-r", "reference.txt", "-o", f"{system}.json", "-q")
    both = ["--scores", "candidate.json", "second.json"]
    together = command("score", "-c", "candidate.txt", "second.txt", "-r", "reference.txt", "-b")
    assert command("score", *both, "-b") == together
    done = command("compare", *both)
    assert (done.code, "scores of systems only, one number each" in done.err) == (2, True)
    command("score", "-c", "second.txt", "-r", "reference.txt", "--tokenize", "intl", "-o", "second.json", "-q")
    done = command("score", *both)
    assert (done.code, "tokenize is 13a in one, intl in the other" in done.err) == (2, True)


HIDDEN = "\u202eA"
HONEST = (
    "\u06cc\u200c\u062e",
    "\u0915\u094d\u200d\u0937",
    "\u05e9\u05dc",
    "\u6a5f\u68b0",
    "\U0001f469\u200d\U0001f4bb",
)


@pytest.mark.parametrize("name", [HIDDEN, "A\u200b", "\u2066A", "A\u200c", *HONEST])
@pytest.mark.parametrize("output_format", ["text", "markdown", "latex", "html"])
def test_names_with_invisible_characters_are_escaped(command, files, name, output_format):
    for arguments in (("score", "-c", f"{name}=candidate.txt"), ("check", "-c", f"{name}=candidate.txt")):
        named = ("-m", f"{name}=bleu") if arguments[0] == "score" else ()
        done = command(*arguments, "-r", "reference.txt", *named, "-f", output_format)
        assert done.code == 0
        assert (name in done.out) == (name in HONEST)
        assert name in HONEST or name not in done.err


def test_a_terminal_shows_signatures_only_when_asked(command, files, monkeypatch):
    asked = command("score", *TEXTS).out
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("NO_COLOR", "1")
    shown = command("score", *TEXTS).out
    assert shown.splitlines()[-1] == "signatures: --signatures"
    assert command("score", *TEXTS, "--signatures").out == asked
    signature = asked.splitlines()[-1].removeprefix("signature: ")
    assert signature.startswith("metric:bleu|")
    assert command("score", *TEXTS, "--signature", signature).out == shown
    assert command("score", *TEXTS, "-o", "scores.txt").code == 0
    assert Path("scores.txt").read_text(encoding="utf-8") == asked


def test_no_format_of_a_comparison_has_p_of_few_lines(command, files):
    """And a gate that could not fail is refused."""
    files.lay("poor.txt")
    given = ("compare", *TEXTS, "-c", "poor.txt")
    few = "too few lines to test (3, of at least 30)"
    done = command(*given)
    assert done.out.startswith(f"{few.capitalize()}: candidate has the best BLEU.\n")
    assert " too few lines\n" in done.out
    rows = command(*given, "-f", "csv")
    assert rows.err == f"softbleu: note: p is empty: {few}\n"
    cells = [dict(zip(*pair, strict=True)) for pair in [[line.split(",") for line in rows.out.splitlines()[::2]]]]
    assert [(row["p_value"], row["corrected"]) for row in cells] == [("", "")]
    gate = command(*given, "--fail-if-worse")
    assert (gate.code, gate.out) == (2, "")
    assert few in gate.err
