"""Pages of `softbleu score` and `compare`, and their one table that LaTeX takes as it is."""

import json
import re
import shutil
import subprocess

import pytest

import softbleu.analysis.pages
from softbleu.report.records import p_text


@pytest.fixture
def arguments(files):
    texts = ("score", "-c", files.candidate, "-r", files.reference)
    return (*texts, "--matcher", "vleu", "-t", 0.8, "--vectors", files.vectors, "--format", "html")


def data_of(html):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', html)[1])


def test_a_page_of_a_run(command, arguments, files):
    shown = command(*arguments)
    assert shown.out.startswith("<!doctype html>")
    assert shown.out.endswith("</html>\n")
    scored, plain = json.loads(command(*arguments[:-1], "json").out), data_of(shown.out)
    assert plain["signature"] == scored["signature"]
    assert plain["systems"][0]["score"] == scored["systems"][0]["score"]
    assert plain["metric"]["effective"] is False
    data = data_of(command(*arguments, "--digits", 5, "--level", "segment").out)
    assert (data["digits"], data["metric"]["effective"]) == (5, True)
    given = ["-" if argument == files.candidate else argument for argument in arguments]
    piped = command(*given, stdin=files.candidate.read_bytes())
    assert piped.code == 0, piped.err
    assert data_of(piped.out)["systems"][0]["score"] == plain["systems"][0]["score"]


def test_a_page_of_several_metrics(command, arguments):
    data, (bleu, chrf) = (
        data_of(command(*arguments, "-m", "bleu", "chrf").out),
        json.loads(command(*arguments[:-2], "-m", "bleu", "chrf", "-f", "json").out)["systems"],
    )
    assert (data["label"], list(data["parts"]), data["systems"][0]["score"]) == ("VLEU", ["chrf"], bleu["score"])
    assert data["tables"][0]["rows"] == [[bleu["name"], f"{bleu['score']:.2f}", f"{chrf['score']:.2f}"]]


def test_a_large_corpus_is_shown_in_part(command, arguments, monkeypatch):
    monkeypatch.setattr(softbleu.analysis.pages, "ROWS", 2)
    done = command(*arguments)
    note = "softbleu: note: the page shows the first 2 of 3 segments; its scores are of all\n"
    assert (done.code, done.err) == (0, note)
    data, whole = data_of(done.out), json.loads(command(*arguments[:-1], "json").out)
    assert (data["shown"], data["segments"]) == (2, 3)
    assert data["systems"][0]["score"] == whole["systems"][0]["score"]
    assert command(*arguments, "--quiet").err == ""


def test_a_page_of_a_comparison(command, files):
    texts = ("-c", files.candidate, files.second, "-r", files.reference)
    done = command("compare", *texts, "-m", "bleu", "chrf", "-f", "html", "--title", "One <b> & other")
    assert (done.code, done.err) == (0, "")
    data = data_of(done.out)
    assert (data["title"], data["pair"], list(data["parts"])) == ("One <b> & other", [0, 1], ["chrf"])
    found = json.loads(command("compare", *texts, "-f", "json").out)["systems"]
    assert [system["score"] for system in data["systems"]] == [system["score"] for system in found]
    row = dict(zip(data["tables"][0]["columns"], data["tables"][0]["rows"][0], strict=True))
    beside = found[1]["beside"]
    assert row["difference"] == f"{beside['difference']:.2f}"
    assert row["interval"] == " to ".join(f"{end:.2f}" for end in beside["interval"])
    assert row["p_value"] == p_text(beside["p_value"])


@pytest.fixture
def given(files):
    reference = [f"these are the words of line {number} here" for number in range(60)]
    systems = {
        "left": reference,
        "bad_50%": ["nothing"] * 60,
        "twin": [*reference[:59], f"{reference[59][:-4]}there"],
    }
    systems = [files.write(f"{name}.txt", lines) for name, lines in systems.items()]
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
