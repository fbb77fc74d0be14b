"""`softbleu score` and `edits`: numbers as in Python, inputs, notes; GLEU, M2, I-measure, refless; essays."""

import json
import sys
from types import SimpleNamespace

import pytest
from cli.conftest import CANDIDATE, REFERENCE, SECOND, scored

import softbleu
from softbleu.config.declare import parse_signature
from softbleu.corpora.edits import Annotation, Edit, GoldSegment
from softbleu.language import VALUES

KEYS = ["name", "score", "matches", "totals", "precisions", "brevity_penalty", "candidate_length", "reference_length"]
KEYS += ["vector_coverage"]


SOURCE = ["the cat sit on mat", "a small dog barks loud", "rain falled all night"]
REFERENCES = list(zip(REFERENCE, SECOND, strict=True))
OPTIONS = (
    "--matcher vleu -t 0.8 --vectors vectors.txt --composition aligned --order 3 --smooth add-k --smooth-value 0.5"
)
OPTIONS += " --lowercase --tokenize 13a --assignment optimal --consumption unit --denominator all"
SETTINGS = {"matcher": "vleu", "threshold": 0.8, "vectors": "vectors.txt", "composition": "aligned", "order": 3}
SETTINGS |= {"smooth": "add-k", "smooth_value": 0.5, "lowercase": True, "tokenize": "13a", "assignment": "optimal"}
SETTINGS |= {"consumption": "unit", "denominator": "all", "effective_order": True, "vector_case": "exact"}
OF_GLEU = "-m gleu -s source.txt --matcher vleu -t 0.8 --vectors vectors.txt -n 2 --variant gleu0 --lambda 0.25"
GLEU = {"metric": "gleu", "matcher": "vleu", "threshold": 0.8, "vectors": "vectors.txt", "order": 2}
GLEU |= {"variant": "gleu0", "weight": 0.25, "iterations": 9}


@pytest.mark.parametrize(
    ("line", "settings"),
    [
        ("", {}),
        (f"{OPTIONS} --effective-order --vector-case exact", SETTINGS),
        *((f"{OF_GLEU} --iterations 9 --penalty {each}", {**GLEU, "penalty": each}) for each in ("exact", "soft")),
    ],
    ids=["bleu", "soft", "gleu", "gleu, soft penalty"],
)
def test_numbers_are_those_of_the_python_interface(command, files, source, line, settings, monkeypatch):
    monkeypatch.chdir(files.folder)
    found = scored(command, "-c", files.candidate, "-r", files.reference, "-r", files.second, *line.split())
    expected = softbleu.score(CANDIDATE, REFERENCES, SOURCE, **settings)
    numbers = json.loads(json.dumps(expected.numbers.as_dict()))
    coverage = expected.coverage.as_dict() if expected.coverage else None
    systems = [{"name": "candidate", **numbers, "vector_coverage": coverage}]
    assert found == {"schema": 1, "signature": expected.signature, "systems": systems}
    assert settings or list(found["systems"][0]) == KEYS
    assert not settings or any(not float(match).is_integer() for match in expected.numbers.matches)


def test_other_formats_and_encodings(command, files):
    arguments = ("-c", files.candidate, "-r", files.reference)
    plain = scored(command, *arguments)
    pairs = files.write("other.jsonl", [" ||| ".join(pair) for pair in zip(CANDIDATE, REFERENCE, strict=True)])
    assert scored(command, "--pairs", pairs, "--input-format", "pairs") == plain
    for name, lines in (("candidate.txt", CANDIDATE), ("reference.txt", REFERENCE)):
        files.write(name, "\n".join(lines).encode("utf-16"))
    assert scored(command, *arguments, "--encoding", "utf-16") == plain


@pytest.fixture
def arguments(files):
    return ("-c", files.candidate, "-r", files.reference, "--metric", "softbleu", "--vectors", files.vectors)


@pytest.fixture
def idf(files):
    return files.write("idf.txt", ["the a on it", "the night", "a"])


def system_of(done):
    assert (done.code, done.err) == (0, "")
    return json.loads(done.out)["systems"][0]


def test_idf(command, refused, files, arguments, idf):
    plain = system_of(command("score", *arguments, "--format", "json"))
    done = command("score", *arguments, "--idf", idf, "--format", "json")
    assert system_of(done)["score"] != plain["score"]
    files.write("bad.txt", b"fine\ncaf\xe9\n")
    said = {"missing.txt": "cannot be read (No such file or directory)", "bad.txt": ", line 2, byte 4: not UTF-8"}
    for place in ("missing.txt", "bad.txt", "."):
        message = refused("score", *arguments, "--idf", place)
        assert said.get(place, "no plain file") in message


def test_a_signature_finds_the_text_beside_it_and_notes_another(command, arguments, idf, monkeypatch):
    monkeypatch.chdir(idf.parent)
    first = command("score", *arguments, "--idf", idf, "--format", "json")
    signature = json.loads(first.out)["signature"]
    again = ("score", *arguments[:4], *arguments[6:], "--signature", signature, "--format", "json")
    done = command(*again)
    assert (done.out, done.err) == (first.out, "")
    text = idf.read_text(encoding="utf-8")
    idf.write_text("the\n", encoding="utf-8")
    done = command(*again)
    assert done.code == 0
    assert done.err.startswith("softbleu: note: idf is idf.txt#")
    assert "in the signature" in done.err
    elsewhere = idf.parent / "elsewhere"
    elsewhere.mkdir()
    idf.rename(elsewhere / "idf.txt")
    done = command(*again)
    assert (done.code, done.out) == (2, "")
    said = "cannot be read (No such file or directory); where it lies elsewhere, name it with --idf"
    assert done.err == f"softbleu: error: idf.txt: {said}\n"
    (elsewhere / "idf.txt").write_text(text, encoding="utf-8")
    assert command(*again, "--idf", elsewhere / "idf.txt") == first


def test_options_without_effect_are_noted(command, files, idf):
    texts = ("-c", files.candidate, "-r", files.reference)
    done = command("score", *texts, "--idf", idf, "--beta", 2, "-t", 0.5, "--vectors", "nowhere", "--seed", 3)
    assert done.code == 0
    assert set(done.err.splitlines()) == {
        f"softbleu: note: {option} has no effect here, with --metric bleu --matcher exact, --tokenize 13a"
        for option in ("--seed", "--threshold", "--vectors", "--idf", "--beta")
    }
    assert command("score", *texts, "--seed", 3, "-q").err == ""


@pytest.fixture
def source(files):
    return files.write("source.txt", SOURCE)


@pytest.fixture
def given(files, source):
    """Arguments of a GLEU run over two references."""
    return ["-c", files.candidate, "-r", files.reference, "-r", files.second, "--source", source, "--metric", "gleu"]


def test_references_one_by_one_with_the_chosen_one_marked(command, given):
    parts = scored(command, *given, "--level", "reference", "-n", 1)["systems"][0]["references"]
    assert [(part["segment"], part["reference"]) for part in parts] == [(s, r) for s in (1, 2, 3) for r in (1, 2)]
    texts = [(c, r, s) for c, both, s in zip(CANDIDATE, REFERENCES, SOURCE, strict=True) for r in both]
    single = [softbleu.score([c], [r], [s], metric="gleu", order=1).numbers for c, r, s in texts]
    assert [part["score"] for part in parts] == pytest.approx([score.score for score in single])
    chosen = [part["reference"] for part in parts if part["chosen"]]
    assert len({round(score.score, 9) for score in single}) == len(single)
    better = [1 if a.score > b.score else 2 for a, b in zip(single[::2], single[1::2], strict=True)]
    assert chosen == better == [1, 1, 2]


@pytest.mark.parametrize("value", [1e9, 1e13, 1e300])
def test_great_weights_take_all_matches_of_an_uncorrected_segment(command, files, source, value):
    copy = files.write("copy.txt", SOURCE)
    arguments = ["-c", copy, "-r", files.reference, files.second, "--source", source, "--metric", "gleu", "-n", 1]
    (system,) = scored(command, *arguments, "--variant", "gleu0", f"--lambda={value}")["systems"]
    (moderate,) = scored(command, *arguments, "--variant", "gleu0", "--lambda=1000")["systems"]
    assert moderate["score"] == 0.0
    assert (system["score"], system["numerators"]) == (0.0, moderate["numerators"])


@pytest.mark.parametrize("name", ["GPT-4 (few-shot)", "a:b", "x=y"])
def test_systems_and_metrics_have_the_names_that_they_are_given(command, files, name):
    metrics = ("-m", "a:(13)=bleu(tokenize=13a)", "bleu(tokenize=13a)", "soft=vleu(threshold=0.8)")
    vectors = ("--vectors", files.vectors)
    done = command("score", "-c", f"{name}={files.candidate}", "-r", files.reference, *metrics, *vectors, "-q")
    assert done.out.splitlines()[0].split() == ["system", "a:(13)", "BLEU", "soft", "vectors"]
    assert done.out.splitlines()[2].startswith(name)
    assert "metric:bleu|matcher:vleu|threshold:0.8" in done.out


def test_documents_count_or_are_said_to_count_for_nothing(command, files):
    """Runs of systems draw them; scores of the corpus do not look at them."""
    lines = ["a little hound barked", "rain fell", "the small dog", "no rain"] * 2
    names = [files.write(name, lines[::step]) for name, step in (("x.1.txt", 1), ("x.2.txt", -1), ("r.txt", 1))]
    labels = files.write("labels.txt", list("aaaabbbb"))
    texts = ("-c", *names[:2], "-r", names[2], "-m", "chrf")
    idle = "softbleu: note: --documents has no effect here\n"
    assert command("score", *texts, "--documents", labels).err == idle
    assert command("score", *texts, "--documents", labels, "--level", "document").err == ""
    runs = ("compare", *texts, "--by", "runs", "--samples", 9, "-f", "tsv")
    alone, drawn = command(*runs), command(*runs, "--documents", labels)
    assert (alone.err, drawn.err, alone.out == drawn.out) == ("", "", False)
    assert command("compare", *texts, "--by", "length", "--documents", labels).err == idle


def test_notes_name_options(command, files):
    one, two = files.write("one.txt", ["caf\u00e9 au lait", "b"]), files.write("two.txt", ["cafe\u0301 au lait", ""])
    said = command("score", "-c", one, "-r", one, two, "-m", "chrf").err
    assert "NFC brings them together (--normalize-unicode)\n" in said
    assert "taken as empty texts (the other way: --blank-references missing)\n" in said


@pytest.mark.parametrize("metric", ["softbleu", "vleu(threshold=0.6)", "bertscore(vectors=minilm-l6)", "chrf"])
def test_the_source_stands_in_the_place_of_references(command, files, metric):
    """Scores are those of the source file as reference; signatures say so, and run again."""
    german = ["der hund bellt", "eine katze schläft"]
    output, source = files.write("output.txt", german), files.write("source.txt", ["the dog barks", "a cat sleeps"])
    words = ["hund 0.9 0.1 0.1", "dog 1.0 0.1 0.0", "katze 0.1 0.9 0.2", "cat 0.0 1.0 0.1", "der 0.1 0.2 1.0"]
    both = files.write("both.txt", [*words, "the 0.1 0.1 1.0"])
    texts = ("-c", output, "-s", source, *(() if "(v" in metric else ("--vectors", both)))
    texts = texts if metric != "chrf" else texts[:4]
    (system,) = (made := scored(command, *texts, "--against", "source", "-m", metric, "--quiet"))["systems"]
    referred = scored(command, *texts, "-r", source, "-m", metric, "--quiet")
    assert system == referred["systems"][0]
    assert made["signature"] == referred["signature"].replace("|version:", "|against:source|version:")
    again = scored(command, *texts, "--signature", made["signature"], "--quiet")
    assert again == made
    settings = {} if len(texts) == 4 else {"vectors": str(both)}
    sources = source.read_text(encoding="utf-8").splitlines()
    found = softbleu.score(german, None, sources, metric=metric, against="source", **settings)
    assert (found.score, found.signature) == (system["score"], made["signature"])


def test_idle_texts_beside_the_source_are_noted(command, files, source):
    said = command("score", "-c", files.candidate, "-r", files.reference, "-s", source, "--against", "source").err
    assert said == "softbleu: note: --reference has no effect here\n"


GOLD_EDITS = ["S He eat a apple .", "A 1 2|||Vform|||eats|||REQUIRED|||-NONE-|||0"]
GOLD_EDITS += ["A 2 3|||ArtOrDet|||an|||REQUIRED|||-NONE-|||0", "A 1 2|||Vform|||ate|||REQUIRED|||-NONE-|||1", ""]
GOLD_EDITS += ["S All is well .", "", "S We go home", "A 3 3|||Mec|||.|||REQUIRED|||-NONE-|||0", ""]
SENTENCES = ["He eat a apple .", "All is well .", "We go home"]
OUTPUT = ["He eats an apple .", "All is well .", "We go home now ."]


@pytest.fixture
def corrected(files):
    """Arguments of a run over gold edits."""
    gold, system = files.write("gold.m2", GOLD_EDITS), files.write("system.txt", OUTPUT)
    return ["--gold", gold, "-c", system]


def gold_edits(files):
    return softbleu.read_m2(str(files.write("gold.m2", GOLD_EDITS)))


def test_numbers(command, corrected, files):
    counts = {"m2": {"correct": 3, "proposed": 4, "gold": 3}, "imeasure": {"true_positives": 3, "true_negatives": 10}}
    for metric, numbers in counts.items():
        found = scored(command, "--metric", metric, *corrected)
        (system,) = found["systems"]
        assert {key: system[key] for key in numbers} == numbers
        result = softbleu.score(OUTPUT, gold=gold_edits(files), metric=metric)
        assert (result.score, result.signature) == (system["score"], found["signature"])


def test_imeasure_of_references_and_source_is_the_same(command, corrected, files):
    reference = files.write("first.txt", ["He eats an apple .", *SENTENCES[1:2], "We go home ."])
    source = files.write("source.txt", SENTENCES)
    system = files.write("system.txt", OUTPUT)
    plain = scored(command, "--metric", "imeasure", "-c", system, "-r", reference, "--source", source)
    with_gold = scored(command, "--metric", "imeasure", *corrected, "--source", source)
    assert plain["systems"] == with_gold["systems"]
    one, two = (parse_signature(found["signature"]) for found in (plain, with_gold))
    assert {key for key in one if one[key] != two[key]} == {"nrefs"}
    assert (one["nrefs"], two["nrefs"]) == ("1", "var")


def test_lowercase_folds_source_candidate_and_corrections(command, files):
    gold = files.write("gold.m2", ["S He Eat", "A 1 2|||V|||EATS|||REQUIRED|||-NONE-|||0"])
    system = files.write("system.txt", ["he eats"])
    found = scored(command, "--metric", "m2", "--gold", gold, "-c", system, "--lowercase")["systems"][0]
    assert (found["correct"], found["proposed"]) == (1, 1)


def test_other_metrics_take_the_references_that_gold_edits_make(command, corrected):
    references = [("He eats an apple .", "He ate a apple ."), (SENTENCES[1],), ("We go home .",)]
    for metric in ("gleu", "bleu"):
        plain = softbleu.score(OUTPUT, references, SENTENCES, metric=metric)
        assert scored(command, "--metric", metric, *corrected)["systems"][0]["score"] == plain.score


def test_each_of_equal_insertions_is_matched_once():
    twice = Annotation(0, (Edit(1, 1, "X", ("x",)),) * 2)
    found = softbleu.score(["a x x x b"], gold=[GoldSegment("a b", (twice,))], metric="m2").numbers
    assert (found.correct, found.proposed, found.gold) == (2, 3, 2)


def test_references_or_gold_edits(files):
    for corrected, said in (((OUTPUT, SENTENCES), "leave out either references or gold"), ((OUTPUT,), "both needed")):
        with pytest.raises(softbleu.InputError, match=said):
            softbleu.score(*corrected, gold=gold_edits(files) if len(corrected) == 2 else None)


LEARNER = ["He go to the school yesterday .", "This are good informations .", "I like it ."]
EDITED = ["He went to school yesterday .", "This is good information .", "I like it ."]


def test_the_command_needs_no_references(command, refused, files):
    candidate, source = files.write("better.txt", EDITED), files.write("source.txt", LEARNER)
    rows = list(zip(EDITED, LEARNER, strict=True))
    table = files.write("texts.tsv", ["candidate\tsource", *("\t".join(row) for row in rows)])
    records = [json.dumps({"candidate": own, "source": text}) for own, text in rows]
    pairs = [["--pairs", table], ["--pairs", files.write("texts.jsonl", records)]]
    expected = softbleu.score(EDITED, None, LEARNER, metric="refless").score
    for corrected in (["-c", candidate, "-s", source], *pairs):
        done = command("score", *corrected, "-m", "refless", "--score-only", "--digits", 6)
        assert (done.code, done.err) == (0, "")
        assert float(done.out) == pytest.approx(expected, abs=1e-6)
        assert "metric 'bleu' needs references" in refused("score", *corrected, "-m", "bleu")


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
    monkeypatch.setitem(sys.modules, "errant", None)
    assert "softbleu[errant]" in refused("edits", source, outputs[0], "--extraction", "errant")
    edit = SimpleNamespace(o_start=1, o_end=2, type="R:VERB:SVA", c_str="eats")
    stub = SimpleNamespace(parse=str.split, annotate=lambda one, other: [edit] if one != other else [])
    monkeypatch.setitem(sys.modules, "errant", SimpleNamespace(load=lambda language: stub))
    assert "A 1 2|||R:VERB:SVA|||eats|||" in command("edits", source, outputs[0], "--extraction", "errant").out
