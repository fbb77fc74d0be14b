import base64
import hashlib
import json
import re
import zlib
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared_data import shared

import softbleu
from softbleu.analysis.directions import DirectionTable
from softbleu.cli.app import run
from softbleu.corpora import Segments
from softbleu.corpora.checks import Oddities, Oddity
from softbleu.corpora.detectors import DETECTORS
from softbleu.errors import one_line
from softbleu.metrics.reading import read_metric
from softbleu.report import Layout
from softbleu.report.curve_page import make_curve_page, write_curve_page
from softbleu.report.html import directions_page, escape_json, pack, static_page, write_html, write_odd_segments
from softbleu.report.pages import make_comparison_page, make_page
from softbleu.results.fractions import compare_fractions
from softbleu.results.significance import SignificanceSettings

HOSTILE = "</script><script>alert(1)</script><!-- {{data}} \"double\" 'single' & \u2028 \u202e back \u202c \x00"
VECTORS = {"cat": [1.0, 0.2], "dog": [0.9, 0.3], "mat": [0.0, 1.0]}


class Elements(HTMLParser):
    """What a browser would see: elements, policies, and the text of scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.policies: list[str] = []
        self.raw: list[tuple[str, str]] = []
        self.feed(page)
        hashes = (hashlib.sha256(text.encode()).digest() for _, text in self.raw)
        self.digests = [f"'sha256-{base64.b64encode(each).decode()}'" for each in hashes]

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        self.policies += [value for _, value in attrs if value and "default-src" in value]

    def handle_data(self, data):
        if self.names and self.names[-1] in ("script", "style") and data.strip():
            self.raw.append((self.names[-1], data))


def page_of(candidates, references, **settings) -> str:
    page = make_page(Segments.of(candidates, references), read_metric(**settings))
    return "".join(write_html(page, Layout()))


def test_a_page_of_odd_lines_has_them_as_text_alone() -> None:
    def checked(system: str, line: str) -> Elements:
        odd = Oddities(2, (system, "B"), [Oddity(system, 1, "chatter", line, line), Oddity("B", 2, "empty", "", "")])
        return Elements("".join(write_odd_segments(odd, Layout())))

    plain, hostile = checked("A", "Sure!"), checked(HOSTILE, HOSTILE)
    assert plain.names == hostile.names
    assert plain.names.count("details") == 2
    ((policy,), (style,)) = plain.policies, plain.digests
    assert f"default-src 'none'; style-src {style}" in policy


def test_a_page_of_unfinished_outputs_has_curves_tests_and_places_where_outputs_part_as_text_alone() -> None:
    def made(system: str, lines: list[str]) -> str:
        corpus = Segments.of({"A": ["a cat sat here", "it is"], system: lines}, ["a cat sat there", "it is"])
        tests = compare_fractions(corpus, "chrf", significance=SignificanceSettings(samples=20, trials=20))
        page = make_curve_page(corpus, tests, read_metric("bleu").tokenizer)
        return "".join(write_curve_page(page, Layout()))

    plain, hostile = made("B", ["a cat lay", "it is"]), made(HOSTILE, [HOSTILE, "it is"])
    assert {*Elements(plain).names} == {*Elements(hostile).names}  # Axes may have other ticks
    assert Elements(plain).names.count("svg") == 1
    assert '<p id="verdict">No system can be told apart from A before the outputs are whole.</p>' in plain
    ((policy,), (style,)) = Elements(plain).policies, Elements(plain).digests
    assert f"default-src 'none'; style-src {style}" in policy
    assert "<p>1 of 2 outputs are the same.</p>" in plain
    assert '<td class="number">2</td><td class="number">4</td><td dir="auto">sat here</td>' in plain


def data_of(html: str):
    return json.loads(Elements(html).raw[1][1])


def unpacked(packed):
    raw, found, place = zlib.decompress(base64.b64decode(packed["data"])), {}, 0
    for name, width, count in packed["columns"]:
        found[name] = np.frombuffer(raw, f"<u{width}", count, place).tolist()
        place += width * count
    assert place == len(raw)
    return found


def soft_page() -> str:
    systems, references = {"A": ["a dog", "mat"], "B": ["cat", ""]}, [["a cat", "a mat"], ["the mat"]]
    return page_of(systems, references, matcher="vleu", threshold=0.8, vectors=VECTORS)


def test_the_policy_names_what_may_run():
    seen = Elements(soft_page())
    assert [kind for kind, _ in seen.raw] == ["style", *["script"] * 7]
    style, _, *scripts = seen.digests
    allowed = f"default-src 'none'; script-src {' '.join(scripts)}; style-src {style}"
    assert seen.policies == [f"{allowed}; base-uri 'none'; form-action 'none'"]


def test_hostile_text_is_data():
    html = page_of({HOSTILE: [HOSTILE]}, [[HOSTILE]], tokenize="none")
    assert Elements(html).names == Elements(page_of({"A": ["a"]}, [["b"]])).names
    data = data_of(html)
    assert data["systems"][0]["name"] == one_line(HOSTILE)
    assert set(HOSTILE.split()) == set(data["words"])
    assert "\u2028" not in html


@given(st.recursive(st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8))
def test_escaped_json_is_the_same_json(value):
    text = escape_json(json.dumps(value, ensure_ascii=False))
    assert json.loads(text) == value
    assert not re.search("[<>&\u2028\u2029]", text)


@given(st.dictionaries(st.text(min_size=1), st.lists(st.integers(0, (1 << 32) - 1))))
def test_packed_columns_come_back(columns):
    packed = "".join(pack({name: np.array(column, np.int64) for name, column in columns.items()}))
    assert not re.search("[<>&\u2028\u2029]", packed)
    assert unpacked(json.loads(packed)) == columns


def test_text_and_matches_are_in_the_data():
    data = data_of(soft := soft_page())
    columns = unpacked(data["packed"])
    bounds = np.cumsum([0, *columns["lengths"]])
    words = [data["words"][code] for code in columns["words"]]
    lines = [" ".join(words[start:stop]) for start, stop in pairwise(bounds)]
    assert lines == ["a dog", "mat", "cat", "", "a cat", "a mat", "the mat"]
    assert columns["references"] == [2, 1]
    # Row 0 has "a", exactly, and "dog", which meets "cat" until the threshold is as high.
    assert columns["counts"][:4] == [2, 1, 0, 0]
    assert columns["start"][:2] == [0, 1]
    assert columns["mass"][0] == 1_000_000
    assert (columns["partner"][1], columns["partner_order"][1]) == (1, 1)
    assert 0.95 < columns["mass"][1] / 1e6 < 1
    assert columns["end"][1] in (99, 100)
    assert data["thresholds"][data["run"]] == "0.80"
    assert data["version"] == softbleu.__version__
    assert "threshold:0.8" in data["signature"]
    assert data["segment_signature"] != data["signature"]
    assert soft == soft_page()
    for tokenize, glue in (("char", ""), ("char+space", ""), ("13a", " ")):
        assert data_of(page_of({"A": ["a b"]}, [["a c"]], tokenize=tokenize))["glue"] == glue


NOTES = {
    "bleu": "",
    "gleu": "Matches are against all references together; scores are computed by the metric's own rules.",
    "chrf": "",
}


@pytest.mark.parametrize("metric", [*NOTES, "softbleu(order=1)"])
def test_data_of_a_page_has_the_marks_of_a_metric(metric):
    corpus = Segments.of({"A": ["a dog", "mat"], "B": ["cat", ""]}, ["a cat", "the mat"], ["cat", "mats"])
    measure = read_metric(metric, **({"vectors": VECTORS} if metric not in NOTES else {}))
    page = make_comparison_page(corpus, [measure, read_metric("chrf")])
    data = data_of("".join(write_html(page, Layout())))
    assert data["slider"] == NOTES.get(metric, NOTES["chrf"])
    columns = unpacked(data["packed"])
    for name, shown, fields in (
        ("mark", page.marks, ("side", "start", "length", "kind", "link", "label", "share")),
        ("heat", page.similarities, ("heights", "widths", "names", "values")),
    ):
        assert (data[f"{name}s" if name == "mark" else name] is None) == (shown is None)
        for field in fields if shown else ():
            assert columns[f"{name}_{field}"] == getattr(shown, field).tolist()
    assert (page.marks is not None) == (metric not in ("bleu", "chrf"))
    assert (page.similarities is not None) == (metric not in NOTES)
    assert [table["title"] for table in data["tables"]] == [table.title for table in page.tables]
    assert all(len(row) == len(table["columns"]) for table in data["tables"] for row in table["rows"])


@pytest.mark.slow
def test_a_page_of_three_thousand_segments_is_small():
    paths = [shared("data", "morgan2014", name) for name in ("umd.2922.txt", "reference.en")]
    candidates, references = (path.read_text(encoding="utf-8").splitlines() for path in paths)
    assert len(page_of(candidates, references, matcher="vleu", threshold=0.8)) < 10_000_000


def test_pages_without_a_slider_explain_their_columns() -> None:
    odd = Oddities(2, ("A",), [Oddity("A", 1, "refusal", "", "I'm sorry"), Oddity("A", 2, "empty", "", "")])
    page = "".join(write_odd_segments(odd, Layout()))
    assert all(f"<dt>{name}</dt><dd>{DETECTORS[name].meaning}</dd>" in page for name in ("empty", "refusal"))
    assert page.count("<dt>") == 3
    texts = {"A": ["a b c"], "B": ["a b x"]}
    scored = {result.name: result for result in softbleu.score(texts, ["a b c"], metrics="chrf")}
    table = DirectionTable(("en-cs", "en-de"), {"chrF": {"en-cs": scored, "en-de": scored}})
    explained = re.findall("<dt>(.*?)</dt>", "".join(directions_page(table, Layout(), {})))
    assert explained == ["metric, direction", "macro", "bold", "–"]


def test_a_page_is_whole_without_a_number_or_it_is_none(tmp_path, capsys):
    log, reference = tmp_path / "log.jsonl", tmp_path / "reference.txt"
    log.write_text('{"index": 0, "prediction": "", "delays": [], "elapsed": [], "source_length": 9}\n')
    reference.write_text("a cat\n")
    assert run(["score", "--log", str(log), "-r", str(reference), "-m", "al", "-f", "html"]) == 0
    page = capsys.readouterr().out
    assert '"score": null' in page
    assert page.endswith("</html>\n")

    def content():
        yield "<p>"
        raise ValueError("late")

    # The error comes before the first piece.
    with pytest.raises(ValueError, match="late"):
        static_page("title", "summary", content())
