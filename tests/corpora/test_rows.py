"""Tables and other files of rows: which files are such, what columns give, how they are joined, what is refused."""

import csv
import gzip
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusing import refused

from softbleu.corpora import ParallelFiles, read_m2
from softbleu.corpora.checks import check_files
from softbleu.corpora.rows import form_of
from softbleu.errors import InputError
from softbleu.io.progress import ProgressBar

GERMAN = ["Öffnen Sie die Datei", "Schließen Sie sie, bitte", 'Der Knopf "Ja" fehlt']
ENGLISH = ["Open the file", "Close it, please", 'There is no "Yes" button']
ROWS = [*zip("abc", ENGLISH, GERMAN, strict=True)]
OBJECTS = [dict(zip(("id", "source", "target"), row, strict=True)) for row in ROWS]
NESTED = [{"translation": {"en": en, "de": de}, "outputs": [de]} for _, en, de in ROWS]


def table(header="id,source,target", rows=ROWS, delimiter=",", quoting=csv.QUOTE_MINIMAL):
    """Write a table as spreadsheets do, with a line end in one cell if all cells can have quotes."""
    broken = [[cell.replace("sie, ", "sie,\n") for cell in row] for row in rows]
    out = io.StringIO()
    plain = {"quotechar": None} if quoting == csv.QUOTE_NONE else {}
    writer = csv.writer(out, delimiter=delimiter, quoting=quoting, lineterminator="\n", **plain)
    writer.writerows([header.split(","), *(rows if plain else broken)])
    return out.getvalue()


TABLE = table()


def texts(candidate, reference, source=None):
    with ParallelFiles.open([candidate], [reference], source) as corpus:
        (block,) = (part.load() for part in corpus.blocks())
        assert corpus.documents is None
        return [next(iter(block.candidates.values())), [each for (each,) in block.references], block.source]


@pytest.mark.parametrize(
    ("name", "content", "column"),
    [
        ("o.csv", TABLE, "target"),
        ("o.txt", TABLE, "target"),
        ("o.csv.gz", gzip.compress(TABLE.encode(), mtime=0), "target"),
        ("o.csv", TABLE.replace("\n", "\r\n").encode("utf-8-sig"), "target"),
        ("o.csv", "sep=;\n" + table("Nr,Quelle,Ziel,", [(*row, "") for row in ROWS], ";"), "Ziel"),
        ("o.txt", table("甲,乙", [row[1:] for row in ROWS], quoting=csv.QUOTE_ALL), "乙"),
        ("o.txt", table("Nr,Satz", [(n, row[2]) for n, row in zip("123", ROWS, strict=True)], ";"), "Satz"),
        ("o.txt", table(",source,target", delimiter="\t").encode("utf-16"), "target"),
        ("o.tsv", table(delimiter="\t", quoting=csv.QUOTE_NONE), "target"),
        ("o.csv", table("target", [row[2:] for row in ROWS]), "target"),
        ("o.txt", "".join(f"{json.dumps(each)}\n" for each in OBJECTS), "target"),
        ("o.json", json.dumps(OBJECTS), "target"),
        ("o.json", json.dumps({"set": "x", "data": OBJECTS}, indent=1), "target"),
        ("o.json", json.dumps({name: [each[name] for each in OBJECTS] for name in OBJECTS[0]}), "target"),
        (
            "o.json",
            json.dumps({name: {n: each[name] for n, each in enumerate(OBJECTS)} for name in ("target",)}),
            "target",
        ),
        ("o.json", json.dumps({each["id"]: {"target": each["target"]} for each in OBJECTS}), "target"),
        ("o.tsv", "".join(f"{n}\t{line}\n" for n, line in enumerate(GERMAN)), "2"),
        ("o.json", json.dumps(NESTED), "translation.de"),
        ("o.jsonl", "".join(f"{json.dumps(each)}\n" for each in NESTED), "outputs.0"),
        ("o.json", json.dumps(GERMAN, indent=0), None),
        ("o.csv", TABLE.replace("\nb,", "\na,"), None),
    ],
)
def test_a_column_is_read_if_it_is_named_and_refused_if_not(written, name, content, column):
    reference = written(GERMAN, "reference.txt")
    file = written(content, name)
    if column is not None:
        assert texts(f"{file}:{column}", reference)[0] == GERMAN
        said = refused(InputError, "no column 'nix'", texts, f"{file}:nix", reference)
        assert column in said
    for given_files in ((file, reference), (reference, file), (reference, reference, file)):
        assert f"as {file}:" in refused(InputError, "a table, not text: name one of its columns", texts, *given_files)


def test_rows_are_joined_by_ids_or_else_by_order(written):
    """In another order, and with ids of documents that begin anew; a file without ids has the order of the first."""
    candidate, other = (
        written(TABLE, "o.csv"),
        written(table("x,source,target", [(n, *row[1:]) for n, row in zip("yxx", ROWS, strict=True)]), "x.csv"),
    )
    turned = written("".join(f"{json.dumps(each)}\n" for each in OBJECTS[::-1]), "r.jsonl")
    expected = [GERMAN[::-1], GERMAN[::-1], ENGLISH[::-1]]
    assert texts(f"{candidate}:target", f"{turned}:target", f"{candidate}:source") == expected
    assert texts(f"{other}:target", f"{turned}:target", None) == [GERMAN, GERMAN[::-1], None]
    parts = "doc,seg,t\nd,1,one\nd,2,two\ne,1,three\n"
    moved = "doc,seg,t\ne,1,three\nd,1,one\nd,2,two\n"
    with ParallelFiles.open([written(parts, "p.csv") + ":t"], [written(moved, "m.csv") + ":t"]) as corpus:
        assert list(corpus.candidates[0].all_lines()) == ["three", "one", "two"]


@pytest.mark.parametrize(
    ("column", "ids", "others"),
    [("custom_id", "r-{}", "r-{}"), ("key", "{}", "{}"), ("id", "{}.0", "00{}"), ("Satz-Nr", "s{}", "s{}")],
)
def test_ids_have_other_names_and_numbers_other_spellings(written, column, ids, others):
    files = [
        written(table(f"{column},target", [(form.format(n), GERMAN[n]) for n in order]), f"{name}.csv")
        for name, form, order in (("o", ids, (2, 0, 1)), ("r", others, (0, 1, 2)))
    ]
    assert texts(f"{files[0]}:target", f"{files[1]}:target")[0] == GERMAN


@pytest.mark.parametrize("end", ["", "\r"])
def test_line_ends_of_old_macs_are_refused(written, end):
    old, edit = "\r".join(GERMAN) + end, "\rA 0 1|||R|||x|||REQUIRED|||-NONE-|||0"
    refused(InputError, "r.txt: lines end in CR alone", texts, written(old, "c.txt"), written(old, "r.txt"))
    refused(InputError, "g.m2, line 1: lines end in CR alone", read_m2, written(f"S a b{edit}{end}", "g.m2"))
    assert texts(written("a\rb\n\rc\r\n", "d.txt"), written("a\nb\n", "e.txt"))[1] == ["a", "b"]


@pytest.mark.parametrize("turned", [False, True])
def test_lines_beside_a_table_whose_numbers_do_not_rise_are_noted(written, turned, capsys):
    rows = [(f"s{n}", line) for n, line in enumerate(GERMAN)]
    for order, noted in ((rows, 0), (rows[::-1], 1)):
        files = [written("\n".join(GERMAN), "r.txt"), written(table("id,target", order), "o.csv") + ":target"]
        with ProgressBar(quiet=False):
            texts(*(files[::-1] if turned else files))
        assert capsys.readouterr().err.count("r.txt has no ids") == noted


def test_a_file_without_ids_beside_joined_ones_is_noted(written, capsys):
    candidate, lines = written(TABLE, "o.csv"), written(ENGLISH[::-1], "s.txt")
    turned = written("".join(f"{json.dumps(each)}\n" for each in OBJECTS[::-1]), "r.jsonl")
    with ProgressBar(quiet=False):
        assert texts(f"{candidate}:target", f"{turned}:target", lines)[2] == ENGLISH[::-1]
    assert "s.txt has no ids: its lines are taken in the order of" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("candidate", "says"),
    [
        (TABLE.replace("\nb,", "\na,"), "line 4: a second row with the id 'a'"),
        (TABLE.replace("\nb,", "\nz,"), "no segment b, which"),
        (TABLE + "d,More,Mehr\n", "no segment d, which"),
        (TABLE + ",More,Mehr\n,Most,Meist\n", "line 7: a second row with the id ''"),
        (TABLE + "d,More\n", "line 6: 2 cells under 3 column names"),
        ('{"id": "a", "target": "x"}\n{"id": "b"}\n', "row 2: no text 'target'"),
        ('{"id": "a", "target": "x"}\n{"id": "b", "target": null}\n', "row 2: no text 'target'"),
        ('{"id": "a", "target": "x"}\n' * 200 + "{\n", "line 201, column 2: not JSON"),
        ("id,target,target\n1,a,b\n", "are all 'target'"),
        ("{}", "a table without columns"),
    ],
)
def test_rows_that_cannot_be_placed_are_refused(written, candidate, says):
    reference = written(TABLE, "r.csv")
    refused(InputError, says, texts, f"{written(candidate, 'o.csv')}:target", f"{reference}:target")


XLIFF = (
    '<?xml version="1.0"?>\n<!-- a -->\n<xliff version="1.2"><file><body><trans-unit id="1"/></body></file></xliff>\n'
)


@pytest.mark.parametrize(
    ("form", "content"),
    [
        ("XLIFF", XLIFF),
        ("XLIFF", '<x:xliff xmlns:x="urn:x" version="2.0">\n'),
        ("TMX", '<?xml version="1.0"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n<tmx version="1.4">\n'),
        ("XML other than test sets", '<?xml version="1.0"?>\n<resources><string name="a">x</string></resources>\n'),
        ("PO", '# Words of a program\n#\n\nmsgid ""\nmsgstr ""\n"Language: de\\n"\n'),
        ("PO", 'msgctxt "menu"\nmsgid "Open"\nmsgstr "Öffnen"\n'),
        ("subtitles", "1\r\n00:00:01,000 --> 00:00:02,000\r\nÖffnen Sie\r\n"),
        ("subtitles", "WEBVTT - talk\n\nNOTE a\n\n00:01.000 --> 00:02.000\nÖffnen Sie\n"),
        ("labels of tokens", "he\tc\ngo\ti\n\nhome\tc\n"),
        ("labels of tokens", "He\tPRP\tO\nsaw\tVBD\tO\nRome\tNNP\tB-LOC\n"),
        ("a PDF", "%PDF-1.7\n"),
        ("a packed folder, such as a spreadsheet", "PK\x03\x04xl"),
    ],
)
def test_other_forms_are_refused_by_name(written, form, content):
    lines = written(GERMAN, "lines.txt")
    refused(InputError, f": {form}, not text: write a line per segment", texts, written(content), lines)


@pytest.mark.parametrize(
    "text",
    [
        "{name} has left\n{0} files\n",
        '{"a": 1} is JSON\n',
        "[laughs]\n[1]\n",
        '["Yes," she said\n',
        "Input, output\n",
        "No, no\nYes, yes\n",
        "source,target,target\n",
        "Input, and output, too\nMore of it\n",
        "Well, yes\nOh, no\nYes, we can\n",
        "Die Katze schläft; der Hund bellt\nEs regnet; es schneit\n",
        "a\tb\tc\n",
        "cat\tKatze\ndog\tHund\n",
        "12\n10:30 --> 11:00\n",
        "WEBVTT is a format\n",
        "msgid is a key\n",
        "<x>\n<tmxx>\n",
        "target\nsource\n",
    ],
)
def test_text_that_begins_like_rows_stays_text(written, text):
    assert texts(written(text), written(text, "r.txt"))[0] == text.removesuffix("\n").split("\n")


WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\n\r", exclude_categories=["Cs", "Cc"]), max_size=30)


@given(st.lists(st.lists(WORDS.filter(str.strip), min_size=2, max_size=2), min_size=1, max_size=40))
def test_lines_of_json_are_rows_and_with_a_word_behind_them_text(rows):
    lines = [json.dumps(dict(zip(("source", "target"), row, strict=True))) for row in rows]
    head = "\n".join([*lines, ""]).encode()
    assert form_of(head[:4096], "x.txt") == "JSON"
    assert form_of("\n".join(f"{line} x" for line in [*lines, ""]).encode()[:4096], "x.txt") is None


def test_one_column_of_several_tables_names_systems_by_their_files(written):
    tables = [f"{written(TABLE, name)}:target" for name in ("a.csv", "b.csv")]
    with ParallelFiles.open(
        [*tables, f"{tables[0].removesuffix('target')}source"], [written(TABLE, "r.csv") + ":target"]
    ) as corpus:
        assert corpus.systems == ("a", "b", "source")


def test_columns_are_checked(written):
    file = written(TABLE, "o.csv")
    assert check_files({"o": f"{file}:target"}, [f"{file}:target"], f"{file}:source").segments == 3
