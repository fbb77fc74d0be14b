"""Write cli.md: all commands and options, from their own help.

python docs/reference/make_cli.py
"""

from __future__ import annotations

import html
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
COMMAND = [sys.executable, "-m", "typer", "softbleu.cli.app", "utils", "docs"]


def make_page() -> str:
    """Let typer write the page, then make Markdown of what its terminal markup was."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "cli.md"
        options = ["--name", "softbleu", "--title", "All options", "--output", str(made)]
        subprocess.run([*COMMAND, *options], check=True, capture_output=True)
        page = html.unescape(made.read_text(encoding="utf-8"))
    # Examples: a line that says what, and the command under it.
    page = re.sub(r"^# (.*)\n\[bold\](.*)\[/bold\]$", r"\1:\n\n    \2", page, flags=re.MULTILINE)
    page = re.sub(r'<span style="font-weight: bold">(.*?)</span>', r"`\1`", page, flags=re.DOTALL)
    page = re.sub(r"\[bold\](.*?)\[/bold\]", r"`\1`", page, flags=re.DOTALL)
    return re.sub(r"[ \t]+$", "", page, flags=re.MULTILINE)


if __name__ == "__main__":
    (HERE / "cli.md").write_text(make_page(), encoding="utf-8")
