"""The site of docs/ is built as the gate builds it, and what it promises is there."""

import html
import inspect
import io
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

import softbleu

# One worker builds it, and no other waits for that.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("site")]

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


class Links(HTMLParser):
    """What a page needs to be shown, and where its links lead."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.assets: list[str] = []
        self.targets: list[str] = []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        target = dict(attrs).get("href" if tag in ("a", "link") else "src")
        if target and tag in ("a", "link", "script", "img", "iframe"):
            (self.targets if tag == "a" else self.assets).append(target)


def build(folder: Path) -> None:
    """Build the site, and with it run the notebooks."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def site(build_once: Any) -> Path:
    for needed in ("material", "mkdocstrings_handlers.python", "nbconvert", "ipykernel"):
        pytest.importorskip(needed, reason="needs the extra softbleu[docs]")
    return Path(build_once("site", build))


@pytest.fixture(scope="module")
def links(site: Path) -> dict[Path, Links]:
    found = {page: Links(page) for page in site.rglob("*.html")}
    assert len(found) > 20
    return found


def test_assets_of_pages_are_local_and_complete(site: Path, links: dict[Path, Links]) -> None:
    assert all(any(asset.endswith(".js") for asset in each.assets) for each in links.values())
    foreign = [asset for each in links.values() for asset in each.assets if re.match(r"(?:\w+:)?//", asset)]
    for path in (*site.rglob("*.css"), *links):
        foreign += re.findall(r"@import[^;]*|url\([\"']?(?:https?:)?//[^)]*", path.read_text(encoding="utf-8"))
    assert not foreign
    local = [
        (page, unquote(urlsplit(target).path))
        for page, each in links.items()
        if page.name != "404.html"  # its links begin at the site's root, wherever that will be
        for target in (*each.assets, *each.targets)
        if not urlsplit(target).scheme and urlsplit(target).path
    ]
    assert not [(page.name, target) for page, target in local if not (page.parent / target).is_file()]
    reached = {(page.parent / target).resolve() for page, target in local}
    assert reached >= {page.resolve() for page in links if page.name != "404.html"}
    assert "morgan2014-wmt13-thresholds.svg" in {path.name for path in reached}


def test_every_public_name_is_described_by_docstrings_that_are_understood(site: Path) -> None:
    page = (site / "reference" / "api.html").read_text(encoding="utf-8")
    for name in set(softbleu.__all__) - {"__version__"}:
        _, found, rest = page.partition(f'id="softbleu.{name}"')
        assert found, f"docs/reference/api.md lacks {name}"
        text = html.unescape(re.sub(r"<[^>]+>", "", rest.partition('id="softbleu.')[0]))
        summary = (inspect.getdoc(getattr(softbleu, name)) or "").split("\n\n")[0]
        assert summary
        assert "".join(summary.replace("`", "").split()) in "".join(text.split()), name
    assert "softbleu.__version__" in page
    # Parameters have a text of their own, examples are shown as code, settings by their defaults.
    items = re.findall(r'<li class="doc-section-item field-body">(.*?)</li>', page, re.DOTALL)
    assert len(items) > 100
    assert not [item for item in items if not re.search(r'"doc-md-description">\s*<p>\w*\W*\w', item)]
    assert "<blockquote>" not in page
    # But for the function of that name itself.
    assert "setting(" not in re.sub(r"<[^>]+>", "", page).replace("setting(\n    default: object", "")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_pages_and_kept_without_output(site: Path, path: Path) -> None:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code), (
        f"run: jupyter nbconvert --clear-output --inplace {path.relative_to(ROOT)}"
    )
    page = (site / "notebooks" / f"{path.stem}.html").read_text(encoding="utf-8")
    assert page.count('class="highlight"') >= len(code)


@pytest.mark.parametrize(
    "path", [path for path in NOTEBOOKS if "SHARED" in path.read_text()], ids=lambda path: path.stem
)
def test_notebooks_run_where_there_is_no_shared_data(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("IPython", reason="needs the extra softbleu[docs]")
    pyplot = pytest.importorskip("matplotlib.pyplot", reason="needs the extra softbleu[plots]")
    pictures: list[bytes] = []

    def show() -> None:
        drawn = io.BytesIO()
        pyplot.savefig(drawn)
        pictures.append(drawn.getvalue())
        pyplot.close()

    monkeypatch.setenv("SOFTBLEU_SHARED", str(tmp_path / "nowhere"))
    monkeypatch.setattr("IPython.display.SVG", pictures.append)
    monkeypatch.setattr(pyplot, "show", show)
    names: dict[str, Any] = {}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
    assert capsys.readouterr().out.startswith("no shared data here: ")
    assert pictures
    assert all(pictures)
