"""Screenshots of pages in headless Chromium: those of README and guides, or of every page to look at.

``python docs/pictures.py`` remakes the pictures in docs/pictures, of the bundled sample and of made-up corpora.
``python docs/pictures.py --all FOLDER`` draws every kind of page in four ways (1280 and 390 pixels, light and dark).
Needs chromium and chromedriver on the path, and the packages of the extra ``test``.
"""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

from softbleu.cli.app import run

HERE = Path(__file__).resolve().parent
PICTURES = HERE / "pictures"
COLOURS = 160  # Of a picture's palette, which keeps files small
SCALE = 1.5
Size = tuple[int, int]

WHO = (
    ("The old man", "The elderly man", "An old man"),
    ("The mayor of the town", "The mayor of the city", "The mayor of the town"),
    ("Our neighbour", "Our neighbour", "The neighbour of us"),
    ("The young teacher", "The young teacher", "The teacher young"),
    ("Her brother", "Her brother", "Her brother"),
    ("The new director", "The new manager", "The new director"),
)
DID = (
    ("bought a car on Monday.", "purchased a car on Monday.", "has bought the car Monday."),
    ("sold the house last year.", "sold the house last year.", "last year has the house sold."),
    ("arrived two hours late.", "arrived too late by two hours.", "arrived two hours late."),
    ("lost the keys in the park.", "lost the keys in the park.", "lost in the park the key."),
    ("knows the answer to this question.", "knows the reply to that question.", "knows the answer to this question."),
    ("did not say a word.", "did not say a word.", "said not one word."),
    ("wants to travel to Spain in March.", "wants to go to Spain in March.", "will travel in March to Spain."),
    ("paid the bill and left.", "paid the bill and left.", "has paid the invoice and went."),
)
"""Parts of sentences: of a reference, and of outputs of two systems."""
SENTENCES = [tuple(map(" ".join, zip(who, did, strict=True))) for did, who in product(DID, WHO)]
CORRECTIONS = (
    ("He eat a apple .", "He eats an apple .", "He eats a apple .", "He ate an apple ."),
    (
        "She go to school today .",
        "She goes to school today .",
        "She went to school .",
        "She goes to school .",
    ),
    ("There is many reason .", "There are many reasons .", "There are many reason .", "There are many reasons ."),
)
"""Sources, references, and outputs of two systems."""


def write_texts(folder: Path) -> None:
    """Write the made-up corpora, a file per text."""
    for name, lines in zip(("reference.txt", "A.txt", "B.txt"), zip(*SENTENCES, strict=True), strict=True):
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    texts = zip(*CORRECTIONS, strict=True)
    for name, lines in zip(("source.txt", "corrected.txt", "C.txt", "D.txt"), texts, strict=True):
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    spans = "system\tsegment\tstart\tend\tseverity\nA\t1\t4\t11\tminor\nB\t1\t0\t2\tmajor\n"
    (folder / "spans.tsv").write_text(spans, encoding="utf-8")


PAIR = "-c A.txt B.txt -r reference.txt"
EDITED = "-c C.txt D.txt -s source.txt -r corrected.txt"
PAGES = {
    "slider": "score --matcher vleu --threshold 0.8",
    "comparison": f"compare {PAIR} -m bleu chrf ter",
    "soft-comparison": f"compare {PAIR} -m vleu bleu --threshold 0.6",
    "softbleu": f"compare {PAIR} -m softbleu",
    "ter": f"score {PAIR} -m ter",
    "spans": f"compare {PAIR} -m chrf --spans spans.tsv",
    "gleu": f"compare {EDITED} -m gleu",
    "errant": f"compare {EDITED} -m errant",
    "check": f"check {PAIR}",
    "unfinished": f"score {PAIR} -m chrf --level prefix",
}
"""Commands that write a page, by name."""
SHOWN: dict[str, tuple[str, Size]] = {
    "slider": ("", (1000, 1000)),
    "comparison": ("", (1000, 980)),
    "gleu": ("#segments-title", (1000, 520)),
}
"""Pictures that README and guides have: the state of the page, or the title at its top, and the size."""


@contextmanager
def browser() -> Iterator[Any]:
    """Start a browser without a window."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    for argument in ("headless=new", "no-sandbox", "disable-gpu", "hide-scrollbars", "disable-dev-shm-usage"):
        options.add_argument(f"--{argument}")
    chrome = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    yield chrome
    chrome.quit()


def picture(chrome: Any, page: Path, size: Size, *, dark: bool = False, scale: float = 1.0, at: str = "") -> bytes:
    """Draw a page as PNG."""
    width, height = size
    screen = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": width < 600}
    chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    chrome.get(page.as_uri() + at)
    ready = "return !document.getElementById('data') || document.documentElement.dataset.ready === 'yes'"
    while not chrome.execute_script(ready):
        time.sleep(0.05)
    shot: bytes = chrome.get_screenshot_as_png()
    return shot


def small(png: bytes) -> bytes:
    """Reduce a picture to few colours."""
    from PIL import Image

    made = io.BytesIO()
    Image.open(io.BytesIO(png)).convert("RGB").quantize(COLOURS).save(made, "PNG", optimize=True)
    return made.getvalue()


def make_pages(folder: Path, names: Iterator[str] | list[str]) -> dict[str, Path]:
    """Write pages by name."""
    import os

    write_texts(folder)
    os.chdir(folder)
    made = {}
    for name in names:
        made[name] = folder / f"{name}.html"
        code = run([*PAGES[name].split(), "--quiet", "-f", "html", "-o", str(made[name])])
        if code not in (0, 1):  # `check` ends with 1 where it finds something
            raise SystemExit(f"{name}: the command ended with {code}")
    return made


def main(arguments: list[str]) -> None:
    """Draw the pictures."""
    every = Path(arguments[1]).resolve() if arguments[:1] == ["--all"] else None
    with tempfile.TemporaryDirectory() as folder, browser() as chrome:
        pages = make_pages(Path(folder), list(PAGES if every else SHOWN))
        if every is None:
            PICTURES.mkdir(exist_ok=True)
            for name, (at, size) in SHOWN.items():
                drawn = picture(chrome, pages[name], size, scale=SCALE, at=at)
                (PICTURES / f"{name}.png").write_bytes(small(drawn))
            return
        every.mkdir(parents=True, exist_ok=True)
        for (name, page), size, dark in product(pages.items(), ((1280, 900), (390, 844)), (False, True)):
            drawn = picture(chrome, page, size, dark=dark)
            (every / f"{name}-{size[0]}-{'dark' if dark else 'light'}.png").write_bytes(drawn)


if __name__ == "__main__":
    main(sys.argv[1:])
