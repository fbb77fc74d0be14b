"""Figures on which pages stand have a row in ``real/headlines.toml`` that makes them; what they are is said there."""

import re
import tomllib
from pathlib import Path
from runpy import run_path

import pytest
from real.headlines import COLUMNS, read_record
from real.rows import Row, number, read_rows

ROOT = Path(__file__).resolve().parents[1]
ROWS = read_rows("headlines.toml")
CLAIMS = tomllib.loads((ROOT / "experiments" / "softness" / "claims.toml").read_text(encoding="utf-8"))["claim"]
STUDIES = sorted((ROOT / "docs" / "study").glob("*.md"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "guide").glob("*.md")), *STUDIES]
FIGURE = re.compile(r"(?<![\w.])[-−]?\d*\.\d+(?![\w.])")
HEADLINE = re.compile(r"(?<![\w.])\d*\.\d{2,}")


def plain(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_text_stands_in_its_page(row: Row) -> None:
    assert plain(row.text) in plain((ROOT / row.page).read_text(encoding="utf-8"))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_figure_of_a_text_is_made(row: Row) -> None:
    made = {abs(number(figure)) for figure in [*row.expect.values(), *row.not_made]}
    figures = FIGURE.findall(row.text)
    assert figures
    assert [figure for figure in figures if abs(number(figure)) not in made] == []
    assert bool(row.command) == bool(row.expect)
    assert row.command or not row.fast


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_headline_has_a_row(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    places = re.findall(r"\*\*[^*]+\*\*", text)
    if page in STUDIES:
        places += re.findall(r"^## In short\n(.*?)^## ", text, re.MULTILINE | re.DOTALL)
    name = page.relative_to(ROOT).as_posix()
    texts = [plain(row.text) for row in ROWS if row.page == name]
    texts += [plain(claim["text"]) for claim in CLAIMS if claim["page"] == name]
    assert texts or page not in (ROOT / "README.md", *STUDIES)
    for place in map(plain, places):
        if not any(place in each for each in texts):
            spans = [found.span() for each in texts for found in re.finditer(re.escape(each), place)]
            figures = [(found.start(), found.group()) for found in HEADLINE.finditer(place)]
            assert [text for at, text in figures if not any(start <= at < end for start, end in spans)] == []


def test_the_record_knows_every_row() -> None:
    record = read_record()
    assert [line["row"] for line in record] == [row.name for row in ROWS], "run: just headlines"
    assert all(set(line) == set(COLUMNS) for line in record)
    assert not [line["row"] for line in record if line["outcome"] == "differs"]


def test_tables_of_the_papers_are_those_of_their_files() -> None:
    papers = run_path(str(ROOT / "experiments" / "papers" / "make.py"))
    page = papers["PAGE"].read_text(encoding="utf-8")
    assert papers["fill"](page, papers["tables"]()) == page, "run: python experiments/papers/make.py --page"
