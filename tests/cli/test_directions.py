"""Systems in several directions: the layouts of folders, macro averages, pages."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import softbleu
from softbleu.corpora.directions import read_directions
from softbleu.meta.pooling import pooled_table

TEXTS = {"A": "a cat sat\nit rains\n", "B": "a dog sat\nit rains\n", "C": "a dog\nno\n"}
REFERENCE = "a cat sat\nit rains\n"
TOML = """
[directions.en-zh]
candidates = ["en-zh/system-outputs/*"]
references = ["en-zh/reference-A.zh"]
scores = ["judge.tsv"]
[directions.en-cs]
candidates = ["C=en-cs/system-outputs/C.cs", "en-cs/system-outputs/A.cs"]
references = ["en-cs/reference-A.cs"]
scores = ["judge.tsv"]
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two directions as folders of their own, and the same as mt-metrics-eval has them; one system has one only."""
    files = {"all.toml": TOML, "judge.tsv": "lp\tsystem\tsegment\tscore\n"}
    for pair, names in (("en-cs", "ABC"), ("en-zh", "AB")):
        code = pair[-2:]
        files |= {f"wmt/{pair}/system-outputs/{name}.{code}": TEXTS[name] for name in names}
        files |= {f"mtme/system-outputs/{pair}/{name}.txt": TEXTS[name] for name in names}
        files |= {f"wmt/{pair}/reference-A.{code}": REFERENCE, f"mtme/references/{pair}.refA.txt": REFERENCE}
        for name in names:
            files["judge.tsv"] += f"{pair}\t{name}\t1\t{ord(name)}\n{pair}\t{name}\t2\t{len(pair)}\n"
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (tmp_path / "wmt" / "all.toml").write_text(TOML.replace("judge.tsv", "../judge.tsv"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", ["wmt", "mtme", "wmt/all.toml"])
def test_directions_are_found(place: Path, name: str) -> None:
    found = read_directions([name])
    assert {one.name: [sorted(one.candidates), len(one.references), one.language] for one in found} == {
        "en-cs": [["A", "C"] if "toml" in name else ["A", "B", "C"], 1, "cs"],
        "en-zh": [["A", "B"], 1, "zh"],
    }


def test_scores_are_those_of_single_runs(place: Path, command: Any) -> None:
    outside = ("--scores", "judge.tsv", "--lower", "judge")
    made = command("directions", "--folders", "wmt", "-m", "bleu", "chrf", *outside, "-f", "json")
    rows = {(row["system"], row["metric"], row["direction"]): row["score"] for row in json.loads(made.out)["rows"]}
    texts = {name: text.splitlines() for name, text in TEXTS.items()}
    for name in "AB":
        result = softbleu.score(texts[name], REFERENCE.splitlines(), metric="chrf")
        assert rows[name, "chrF", "en-zh"] == rows[name, "chrF", "en-cs"] == result.score
    assert rows["A", "judge", "en-cs"] == (65 + 5) / 2
    zh = softbleu.score(texts["B"], REFERENCE.splitlines(), metric="bleu", language="zh").score
    assert rows["B", "BLEU", "en-zh"] == zh
    # C has no output in en-zh: the average is over the direction that all have.
    assert rows["C", "chrF", "macro"] == rows["C", "chrF", "en-cs"]
    # Metrics of one name are called by their settings.
    two = json.loads(command("directions", "--folders", "wmt", "-m", "bleu", "bleu(order=2)", "-f", "json").out)[
        "rows"
    ]
    second = softbleu.score(texts["B"], REFERENCE.splitlines(), metric="bleu(order=2)", language="zh").score
    assert {row["metric"]: row["score"] for row in two if (row["system"], row["direction"]) == ("B", "en-zh")} == {
        "bleu": zh,
        "bleu(order=2)": second,
    }
    text = command("directions", "--folders", "wmt", "-m", "chrf").out
    assert "macro, chrF: mean over en-cs" in text
    assert [line.split()[0] for line in text.splitlines()[2:5]] == ["A", "B", "C"]


def test_agreement_is_pooled(place: Path, command: Any) -> None:
    """Each direction has the estimates of a run of its own."""
    scores = {"en-cs": {"A": (90, 95), "B": (70, 91), "C": (10, 5)}, "en-zh": {"A": (80, 60), "B": (20, 70)}}
    for pair, systems in scores.items():
        rows = [f"{name}\t{n}\t{score}" for name, pair in systems.items() for n, score in enumerate(pair, 1)]
        Path(f"esa.{pair}.tsv").write_text("\n".join(["system\tsegment\tesa", *rows]) + "\n")
    how: dict[str, Any] = {"metrics": ["chrf", "bleu"], "samples": 60}
    options = ("--folders", "wmt", "--da", "esa.{direction}.tsv", "-m", *how["metrics"], "--samples", 60)
    for question in ("outputs", "differences"):
        done = command("metaeval", *options, "--table", question, "-f", "json")
        alone = {}
        for pair in scores:
            texts = {
                "candidates": [f"wmt/{pair}/system-outputs"],
                "references": [*map(str, Path("wmt", pair).glob("r*"))],
            }
            judged = {"assessments": f"esa.{pair}.tsv", "language": pair[-2:]}
            alone[pair] = softbleu.metaeval(question, **texts, **judged, **how).table
        expected = pooled_table(question, alone).records()
        for row in expected:
            del row["question"]
        assert json.loads(done.out)["rows"] == expected
        assert [*expected[0]][-6:] == ["mean", "low", "high", "between", "new_low", "new_high"]
        assert any(row["mean"] is not None for row in expected)
    assert expected[0]["metric"] == "bleu − chrf"
    assert "bleu, chrf lack C" not in done.err


def test_cells_lead_to_pages(place: Path, command: Any) -> None:
    done = command("directions", "--folders", "wmt", "-m", "chrf", "bleu", "-o", "page.html", "--title", "A & B")
    assert (done.code, done.out) == (0, "")
    page = Path("page.html").read_text(encoding="utf-8")
    assert set(re.findall(r'href="([^"]+)"', page)) == {"page.en-cs.html", "page.en-zh.html"}
    assert "<title>A &amp; B</title>" in page
    assert page.count("<tr>") == 4
    assert all(Path(f"page.{pair}.html").stat().st_size > 40_000 for pair in ("en-cs", "en-zh"))
    alone = command("directions", "--folders", "wmt/all.toml", "-m", "chrf", "--no-pages", "-f", "html").out
    assert ("href=" in alone, "judge en-zh" in alone) == (False, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none"], "no such folder, and no TOML: none"),
        (["mtme/references"], "mtme/references: no directions: a folder has system-outputs"),
        (["wmt", "mtme"], "mtme: a second direction 'en-cs'"),
        (["wmt", "-f", "html"], "name a file with --output"),
        (["wmt", "--scores", "{direction}.tsv"], "no such file: en-cs.tsv"),
        (["wmt", "--scores", "judge.tsv", "--lower", "x"], "en-cs: there are no scores called 'x'"),
        (["wmt", "-m", "bleurt"], "unknown metric 'bleurt'"),
        (["wmt", "-f", "yaml"], "unknown format 'yaml'"),
        (["bad.toml"], "bad.toml, [directions.en-cs]: unknown key 'candidate'"),
        (["odd.toml"], "odd.toml, [directions.en-cs]: 'references' must be a list of text"),
        (["far.toml"], "far.toml, [directions.en-cs]: no file matches 'x*'"),
        (["metaeval", "wmt/en-cs", "--da", "judge.tsv"], "two directions or more, here is en-cs only"),
        (["metaeval", "wmt", "--da", "judge.tsv", "-c", "x"], "--candidate is of one direction"),
        (["metaeval", "wmt", "--da", "judge.tsv", "--table", "williams"], "several directions 'williams'"),
        (["metaeval", "wmt", "-m", "chrf", "--da", "{direction}.x"], "no such file: en-cs.x"),
        (["metaeval", "wmt", "-m", "chrf", "--da", "judge.tsv", "--samples", "0"], "ask for --samples"),
    ],
)
def test_refused(place: Path, command: Any, arguments: list[str], said: str) -> None:
    Path("bad.toml").write_text('[directions.en-cs]\ncandidate = ["a"]\n')
    Path("odd.toml").write_text('[directions.en-cs]\nreferences = "a"\n')
    Path("far.toml").write_text('[directions.en-cs]\ncandidates = ["x*"]\n')
    name = arguments.pop(0) if arguments[0] == "metaeval" else "directions"
    done = command(name, "--folders", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.splitlines()[-1].startswith("softbleu: error: ")
    assert said in done.err
