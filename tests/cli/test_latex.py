"""`compare -f latex`: one table of systems × metrics, which LaTeX takes as it is."""

from __future__ import annotations

import shutil
import subprocess

import pytest


@pytest.fixture
def given(files):
    reference = [f"these are the words of line {number} here" for number in range(60)]
    systems = [
        files.write("left.txt", reference),
        files.write("bad_50%.txt", ["nothing"] * 60),
        files.write("twin.txt", [*reference[:59], "these are the words of line 59 there"]),
    ]
    return ["compare", "-c", *systems, "-r", files.write("long.txt", reference), "-m", "bleu", "ter"]


def test_one_table_of_systems_and_metrics(command, given):
    lines = command(*given, "-f", "latex", "--samples", 2000).out.splitlines()
    assert lines[0] == "% * p < 0.05 against left; p corrected after Holm for 2 tests"
    assert [line.split(":")[0] for line in lines[1:3]] == ["% signature", "% signature"]
    cells = [[cell.strip() for cell in line.removesuffix(r" \\").split("&")] for line in lines if "&" in line]
    assert cells[0] == ["system", "BLEU", "TER"]
    assert cells[1] == ["left", r"\textbf{100.00}", r"\textbf{0.00}"]
    assert [row[0] for row in cells[2:]] == ["twin", r"bad\_50\%"]
    assert all(number.endswith("*") for number in cells[3][1:])


@pytest.mark.slow
@pytest.mark.parametrize("more", [[], ["--all-pairs"]])
def test_pdflatex_compiles_it(command, given, more, tmp_path):
    if shutil.which("pdflatex") is None:
        pytest.skip("needs pdflatex (Debian: texlive-latex-base, texlive-latex-recommended)")
    table = command(*given, "-f", "latex", "--samples", 200, *more).out
    text = f"\\documentclass{{article}}\n\\usepackage{{booktabs}}\n\\begin{{document}}\n{table}\\end{{document}}\n"
    (tmp_path / "table.tex").write_text(text, encoding="utf-8")
    arguments = ["pdflatex", "-interaction=batchmode", "-halt-on-error", "table.tex"]
    done = subprocess.run(arguments, cwd=tmp_path, capture_output=True, check=False)
    log = (tmp_path / "table.log").read_text(encoding="utf-8", errors="replace")
    assert done.returncode == 0, log[-2000:]
    assert "Overfull" not in log
