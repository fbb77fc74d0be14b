"""Gold edits in `.m2` files: what is read, what references it makes, and what is refused."""

import gzip

import pytest
from refusing import refused
from shared_data import shared

from softbleu.corpora import Segments, read_m2
from softbleu.corpora.edits import Annotation, Edit, GoldReferences, GoldSegment, _tokenized
from softbleu.corpora.m2 import write_m2
from softbleu.errors import InputError
from softbleu.metrics.edits.extract import edit_texts

TEXT = """S He eat a apple .
A 1 2|||Vform|||eats|||REQUIRED|||-NONE-|||0
A 2 3|||ArtOrDet|||an||the|||REQUIRED|||-NONE-|||0
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||2

S All is well .

S They they go  home
A 1 2|||Dup||||||REQUIRED|||twice|||1
A 4 4|||Mec|||.|||OPTIONAL|||-NONE-|||1
A 2 3|||Um|||-NONE-|||REQUIRED|||-NONE-|||0
"""


def test_what_a_file_says(written):
    first, second, third = read_m2(written(TEXT))
    assert first.source == "He eat a apple ."
    edits = (Edit(1, 2, "Vform", ("eats",)), Edit(2, 3, "ArtOrDet", ("an", "the")))
    assert first.annotations == (Annotation(0, edits), Annotation(2, ()))
    assert second == GoldSegment("All is well .", (Annotation(0, ()),))
    assert third.source == "They they go home"
    edits = (Edit(1, 2, "Dup", ("",), comment="twice"), Edit(4, 4, "Mec", (".",), "OPTIONAL"))
    assert third.annotations == (Annotation(0, (Edit(2, 3, "Um", ()),)), Annotation(1, edits))


def test_references_are_the_corrected_texts(written):
    segments = read_m2(written(TEXT))
    others = [("All is well .",), ("They they -NONE- home", "They go home .")]
    assert [each.references() for each in segments] == [("He eats an apple .", "He eat a apple ."), *others]
    references = GoldReferences(segments)
    assert (len(references), references[1:3][1][1], references[0][1]) == (3, "They go home .", "He eat a apple .")
    third = read_m2(written(TEXT))[2]
    coded = third.coded(lambda text: tuple(map(len, text.split())))
    assert coded.annotators == (0, 1)
    assert coded.edits == (((2, 3, ((),)),), ((1, 2, ((),)), (4, 4, ((1,),))))


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ([(0, 0, "x"), (0, 0, "y")], "x y a b"),
        ([(2, 2, "z"), (1, 2, "w")], "a w z"),
        ([(1, 1, "i"), (1, 2, "w")], "a i w"),
        ([(0, 2, "")], "a b"),
        ([(0, 1, ""), (1, 2, "")], "a"),
        ([(0, 1, "one,two")], "one , two b"),
        ([(0, 2, "x"), (1, 2, "w")], "x"),
        ([(1, 2, "w v"), (0, 2, "x")], "x v"),
        ([(0, 0, "x"), (0, 2, "")], "x a b"),
    ],
)
def test_how_edits_meet(edits, expected):
    annotation = Annotation(0, tuple(Edit(start, end, "X", (text,)) for start, end, text in edits))
    assert GoldSegment("a b", (annotation,)).references() == (expected,)


def test_words_that_need_no_tokenizer_are_left_alone_by_it():
    from nltk.tokenize.destructive import NLTKWordTokenizer

    for text in ("a", "well-known", "eats an apple", "x , y ; z", "end .", "3 apples", "cannot", "gonna go", "it's"):
        assert _tokenized(text) == NLTKWordTokenizer().tokenize(text)


def test_forms_of_the_file(written):
    expected = read_m2(written(TEXT))
    spaced = TEXT.replace("\n\n", "\n\n\n") + "\n\n"
    for name, data in {
        "zipped.m2.gz": gzip.compress(b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode()),
        "spaced.m2": spaced.encode(),
        "unfinished.m2": TEXT.rstrip("\n").encode(),
        "noted.m2": TEXT.replace("A 1 2|||V", "I note\nA 1 2|||V").encode(),
    }.items():
        assert read_m2(written(data, name)) == expected, name
    assert read_m2(written("S é\n".encode("latin-1")), "latin-1")[0].source == "é"
    assert read_m2(written("S\n\nS b\n"))[0] == GoldSegment("", (Annotation(0, ()),))


def test_segments_with_gold_edits(written):
    gold = read_m2(written(TEXT))
    segments = Segments.of_gold({"x": ["one", "two", "three"]}, gold)
    assert (len(segments), segments.systems, segments.only("x").gold) == (3, ("x",), gold)
    refused(InputError, "2 candidates but gold edits for 3 segments", Segments.of_gold, ["one", "two"], gold)
    refused(InputError, "2 candidates of 'x'", Segments.of_gold, {"x": ["one", "two"]}, gold)
    source = ["He eat a apple .", "Else", "They they go home"]
    refused(InputError, "source, line 2: not the sentence", Segments.of_gold, list("abc"), gold, source)
    refused(InputError, r"pass softbleu\.corpora\.read_m2", Segments.of_gold, ["one"], ["one"])


def test_what_is_written_is_read_again(tmp_path, written):
    edits = (Edit(0, 1, "", ("",)), Edit(1, 1, "x", ("a b", "c"), "OPTIONAL", "why"), Edit(2, 3, "y", ("", "e")))
    segments = [
        GoldSegment("a b c", (Annotation(0, ()), Annotation(3, (*edits, Edit(3, 3, "z", ()))))),
        GoldSegment("", (Annotation(0, ()),)),
    ]
    assert read_m2(written("".join(write_m2(segments)))) == segments
    barred = edit_texts(["a", "b"], ["a || b |", "| &#124; b &verbar; &verbarx;"])
    file = tmp_path / "barred.m2"
    file.write_text("".join(write_m2(barred)), encoding="utf-8")
    assert read_m2(str(file)) == barred


@pytest.mark.parametrize("name", ["gold.m2", "errant/references.m2"])
def test_real_files_are_written_as_they_are_read(written, name):
    segments = read_m2(str(shared("data", "conll14", *name.split("/"))))
    assert read_m2(written("".join(write_m2(segments)))) == segments
