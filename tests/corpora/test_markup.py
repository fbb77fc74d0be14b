"""Test sets with markup: what lines come out, how files are paired, which texts are chosen, and what is refused."""

import gzip
import io
from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusing import refused
from sacrebleu.dataset.fake_sgml import FakeSGMLDataset
from sacrebleu.dataset.wmt_xml import WMTXMLDataset

from softbleu.corpora import ParallelFiles, name_systems
from softbleu.corpora.files import open_text
from softbleu.corpora.markup import begins_markup, parse_markup
from softbleu.errors import InputError

SGML = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE mteval SYSTEM "ftp://host/mteval-xml-v1.3.dtd">
<!-- made by https://host/x -->
<mteval>
<refset setid="t" srclang="any" trglang="en" refid="r1">
<doc docid="d1" genre="news" origlang="cs">
<hl>
<seg id="1">AT&amp;T &quot;rose&quot; to 5 &lt; 6</seg>
</hl>
<p>
<seg id="2"> A <unk> &copy=1 <b.
  It   fell. </seg>
</p>
</doc>
<doc docid="d2"><p><seg id="1">Rain</seg></p></doc>
</refset>
</mteval>
"""
LINES = ['AT&T "rose" to 5 < 6', "A <unk> &copy=1 <b. It fell.", "Rain"]
LOOSE = """<REFSET setid=t srclang=any>
<DOC docid=d2 sysid=ref><SEG id=1>Rain</SEG></DOC>
<DOC docid=d1 sysid=ref><seg id=2>Two</seg>
<seg id=1>One</seg></DOC>
</REFSET>
"""
XML = """<?xml version='1.0' encoding='utf-8'?>
<dataset id="newstest2021"><collection id="general">
<doc origlang="en" id="d1" domain="news">
<src lang="en"><p><seg id="1">One &lt;x&gt;</seg></p><p><seg id="2">Two</seg></p></src>
<ref lang="cs" translator="A"><p><seg id="1">Jedna &amp; dvě</seg><seg id="2">Dvě</seg></p></ref>
<ref lang="cs" translator="B"><p><seg id="1">Jeden</seg></p></ref>
<hyp lang="cs" system="X"><p><seg id="1">Jedna</seg><seg id="2">Dva</seg></p></hyp>
<hyp lang="cs" system="Y->Z"><p><seg id="1"/><seg id="2">Dvě  ženy</seg></p></hyp>
</doc>
<doc origlang="en" id="t1" testsuite="t"><src lang="en"><seg id="1">Left out</seg></src></doc>
<doc origlang="en" id="d3">
<src lang="en"><p><seg id="1">Three</seg><seg id="2">Four</seg></p></src>
<ref lang="cs" translator="A"><p><seg id="1">Tři</seg></p></ref>
<hyp lang="cs" system="X"><p><seg id="1">Tři</seg><seg id="2">Čtyři</seg></p></hyp>
<hyp lang="cs" system="Y->Z"><p><seg id="1">3</seg><seg id="2">4</seg></p></hyp>
</doc></collection></dataset>
"""


def of_set(tag, texts, **attributes):
    """SGML of a set with one document."""
    given = "".join(f' {key}="{value}"' for key, value in attributes.items())
    segments = "".join(f'<seg id="{number}">{escape(text)}</seg>\n' for number, text in enumerate(texts, start=1))
    return f'<{tag} setid="t"{given}>\n<doc docid="d">\n{segments}</doc>\n</{tag}>\n'


def texts_of(corpus):
    """Lines of all systems, references and the source."""
    files = (*corpus.candidates, *corpus.references, *([] if corpus.source is None else [corpus.source]))
    return [list(file.all_lines()) for file in files]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize(
    ("text", "encoding", "lines"),
    [
        (SGML, "utf-8", LINES),
        ("\ufeff" + SGML, "utf-8", LINES),
        (SGML, "utf-16", LINES),
        (LOOSE, "utf-8", ["Rain", "Two", "One"]),
    ],
)
def test_lines_of_sgml_are_its_segments(text, encoding, lines, pack, written):
    name = written(pack(text.encode(encoding)), "r.sgm")
    assert list(open_text(name, encoding)) == lines
    with ParallelFiles.open([name], [name], encoding=encoding) as corpus:
        assert texts_of(corpus) == [lines, lines]


def test_text_with_tags_in_it_stays_text(written):
    for lines in (
        ["The <seg> tag", "x"],
        ['<seg id="1">a</seg>', "b"],
        ["<doc> is a tag", "a"],
        ["<dataset>", "<b>"],
    ):
        assert list(open_text(written(lines, "a.sgm"))) == lines


def test_files_are_paired_by_document_and_segment(written):
    source = "<srcset setid=t><doc docid=d1><seg id=1>a</seg><seg id=2>b</seg></doc>\n"
    source += "<doc docid=d2><seg id=1>c</seg></doc></srcset>"
    names = written(LOOSE.replace("REFSET", "TSTSET"), "h.sgm"), written(SGML, "r.sgm"), written(source, "s.sgm")
    with ParallelFiles.open(names[:1], names[1:2], names[2]) as corpus:
        assert texts_of(corpus) == [["One", "Two", "Rain"], LINES, ["a", "b", "c"]]
        assert corpus.documents.names == ("d1", "d2")
        assert corpus.documents.numbers.tolist() == [0, 0, 1]
    with ParallelFiles.open([written("1\n2\n3\n", "plain.txt")], names[1:2]) as corpus:
        assert texts_of(corpus) == [["1", "2", "3"], LINES]


def test_all_systems_and_references_are_taken_unless_one_is_named(written):
    systems = of_set("tstset", ["a1"], sysid="A") + of_set("TSTSET", ["b1"], sysid="B.2")
    references = of_set("refset", ["r1"], refid="r") + of_set("refset", ["r2"]) + of_set("refset", ["r3"])
    systems, references = (
        written(f"<mteval>{text}</mteval>", name) for text, name in ((systems, "h.sgm"), (references, "r.sgm"))
    )
    for candidates, of, names, texts in (
        ([systems], [references], ("A", "B.2"), [["a1"], ["b1"], ["r1"], ["r2"], ["r3"]]),
        ([f"{systems}:B.2"], [f"{references}:r"], ("B.2",), [["b1"], ["r1"]]),
        ([f"mine={systems}:A"], [f"{references}:2", f"{references}:r"], ("mine",), [["a1"], ["r3"], ["r1"]]),
    ):
        with ParallelFiles.open(candidates, of) as corpus:
            assert (corpus.systems, texts_of(corpus)) == (names, texts)
    by_document = LOOSE.replace(
        "</REFSET>", LOOSE.split(">", 1)[1].replace("sysid=ref", "sysid=two").replace("Two", "2")
    )
    with ParallelFiles.open([written(["a", "b", "c"], "c.txt")], [written(by_document, "old.sgm")]) as corpus:
        assert texts_of(corpus)[1:] == [["Rain", "Two", "One"], ["Rain", "2", "One"]]


def test_xml_has_the_lines_that_sacrebleu_extracts(written, tmp_path):
    found = WMTXMLDataset._unwrap_wmt21_or_later(io.BytesIO(XML.encode()))
    expected = [[WMTXMLDataset._clean(text) for text in found[key]] for key in ("X", "Y->Z", "ref:A", "ref:B", "src")]
    name = written(XML, "wmt.xml")
    with ParallelFiles.open([name], [name], name) as corpus:
        assert corpus.systems == ("X", "Y->Z")
        assert texts_of(corpus) == expected
        assert corpus.blank == 2
    with ParallelFiles.open([f"{name}:X"], [f"{name}:B"]) as corpus:
        assert texts_of(corpus) == [["Jedna"], ["Jeden"]]
    source, target = tmp_path / "in.sgm", tmp_path / "out.txt"
    source.write_text(text := of_set("refset", ["One  two ", "", "tři čtyři"]))
    FakeSGMLDataset._convert_format(FakeSGMLDataset.__new__(FakeSGMLDataset), str(source), str(target))
    assert list(parse_markup(text.splitlines(), "x").choose(None, None).values()) == target.read_text().splitlines()


@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("<>&;!-/'\" "), max_size=12),
        min_size=1,
    )
)
def test_any_text_comes_back(texts):
    for made in (of_set("refset", texts), of_set("refset", texts).replace("&quot;", '"').replace("&#x27;", "'")):
        found = parse_markup(made.split("\n"), "x").choose("reference", None)
        assert list(found.values()) == [" ".join(text.split()) for text in texts]
    assert begins_markup(made.encode())


@pytest.mark.parametrize(
    ("candidate", "reference", "said"),
    [
        (
            of_set("tstset", ["a", "b"]),
            of_set("refset", ["a"]),
            "r.sgm: no segment 2 of document 'd', which .*h.sgm has",
        ),
        (
            of_set("tstset", ["a"]),
            of_set("refset", ["a", "b"]),
            "h.sgm: no segment 2 of document 'd', which .*r.sgm has",
        ),
        (
            of_set("tstset", ["a"]).replace('id="d"', 'id="e"'),
            of_set("refset", ["a"]),
            "h.sgm: no segment 1 of document 'd'",
        ),
        (
            of_set("tstset", ["a", "b"]).replace('"2"', '"1"'),
            "x\n",
            "h.sgm, line 4: a second segment 1 of document 'd'",
        ),
        (of_set("tstset", ["a", "b"])[:-20], "x\n", "h.sgm, line 4: a segment or comment without its end"),
        (of_set("tstset", ["a", "b"]).replace("a</seg>", "a"), "x\n", "h.sgm, line 3: <seg> without </seg>"),
        (of_set("tstset", []), "x\n", "h.sgm: markup without a segment"),
        ("<doc docid=d>\n<seg id=1>a</seg></doc>", "x\n", "h.sgm, line 2: <seg> outside of"),
        (of_set("tstset", ["a"]) + "<!-- " * 20000, "x\n", "h.sgm, line 6: a segment or comment without its end"),
    ],
)
def test_segments_without_a_partner_are_refused(candidate, reference, said, written):
    names = written(candidate, "h.sgm"), written(reference, "r.sgm")
    refused(InputError, said, ParallelFiles.open, names[:1], names[1:])


def test_choices_that_do_not_exist_are_refused_with_those_that_do(written):
    name = written(XML, "wmt.xml")
    for candidates, references, said in (
        (
            [f"{name}:Q"],
            [name],
            "no text 'Q': choose one of source, reference A, reference B, candidate X, candidate Y",
        ),
        ([f"mine={name}"], [name], "wmt.xml has several systems: name one by mine="),
        (["nothing.xml:A"], [name], "no such file: nothing.xml:A"),
    ):
        refused(InputError, said, ParallelFiles.open, candidates, references)
    refused(InputError, "wmt.xml: several texts: choose one of", lambda: list(open_text(name)))
    assert name_systems([f"{name}:X"]) == {"X": f"{name}:X"}


def test_entities_that_a_file_defines_are_not_expanded(written):
    bomb = '<!DOCTYPE t [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>\n' + of_set("refset", ["x"]).replace(
        "x</", "&b;&b;</"
    )
    assert list(open_text(written(bomb, "r.sgm"))) == ["&b;&b;"]
