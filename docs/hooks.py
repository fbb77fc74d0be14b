"""What the site has beyond docs/: files of the repository that its pages link to, and notebooks, run as it is built.

Links are written for readers of the repository; here they find their pages in the site.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from nbconvert import MarkdownExporter
from nbconvert.preprocessors import ExecutePreprocessor

DOCS = Path(__file__).resolve().parent
BESIDE = (
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "embeddings/*/card.md",
    "experiments/*.md",
    "experiments/*/*.md",
    "experiments/*/*.svg",
    "heads/*/card.md",
    "integrations/README.md",
    "integrations/evaluate/softbleu/README.md",
    "language/*/card.md",
)
"""What the site shows of the repository beside docs/, at the same paths."""

AS_KEPT = "SOFTBLEU_NOTEBOOKS_AS_KEPT"
"""Where this is set, notebooks become pages without being run, which takes most of the time."""
_HOME = re.compile(r'(<a\b[^>]*\bhref=")(\.|\.\.(?:/\.\.)*)/?"')
_LINK = re.compile(r"(?<=\]\()(?!\w+:|#|/)([^)\s#]+)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add them."""
    for pattern in BESIDE:
        for path in sorted(DOCS.parent.glob(pattern)):
            uri = path.relative_to(DOCS.parent).as_posix()
            files.append(File.generated(config, uri, abs_src_path=str(path)))
    for path in sorted((DOCS / "notebooks").glob("*.ipynb")):
        for name, content in run_notebook(path):
            files.append(File.generated(config, f"notebooks/{name}", content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead links from where a file lies in the repository to where it lies in the site."""
    uri = page.file.src_uri
    folder = posixpath.dirname(uri if any(map(Path(uri).match, BESIDE)) else f"docs/{uri}")

    def in_site(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(folder, link[0])).removeprefix("docs/")
        target = re.sub(r"\.ipynb$", ".md", target)
        return posixpath.relpath(target, posixpath.dirname(uri) or ".")

    return _LINK.sub(in_site, markdown)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Lead links to the folder of the home page to its file: not every reader has a server that does."""
    return _HOME.sub(lambda link: f'{link[1]}{posixpath.join(link[2], "index.html")}"', output)


def run_notebook(path: Path) -> Iterator[tuple[str, str | bytes]]:
    """Run it, unless it is wanted as it is kept, and make a page of it; its pictures come first.

    Raises
    ------
    CellExecutionError
        A cell fails.
    """
    notebook = nbformat.read(path, as_version=4)
    if os.environ.get(AS_KEPT) is None:
        runner = ExecutePreprocessor(timeout=120, extra_arguments=["--log-level=ERROR"])
        runner.preprocess(notebook, {"metadata": {"path": str(path.parent)}})
    page, resources = MarkdownExporter().from_notebook_node(notebook, {"unique_key": path.stem})
    yield from resources["outputs"].items()
    yield f"{path.stem}.md", page
