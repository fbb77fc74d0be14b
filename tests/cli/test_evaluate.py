"""`softbleu embeddings evaluate` and `list`."""

from __future__ import annotations

import gzip
import json

from softbleu.embeddings.catalogue import read_catalogue


def test_default_vectors(command):
    done = command("embeddings", "evaluate")
    assert (done.code, done.err) == (0, "")
    rows = {line.split()[0]: line.split()[-3:] for line in done.out.splitlines() if "spearman" in line}
    assert rows == {"WordSim-353": ["0.6548", "353", "353"], "SimLex-999": ["0.3375", "996", "999"]}


def test_coverage_of_texts(command, files):
    packed = files.write("packed.gz", gzip.compress(b"The SMALL, dog\n"))
    found = command(
        "embeddings", "evaluate", "--vectors", files.vectors, "--corpus", files.candidate, "--corpus", packed,
        "--tokenize", "13a", "-f", "json",
    )  # fmt: skip
    assert (found.code, found.err) == (0, "")
    records = json.loads(found.out)
    assert (records["vectors"], records["dimension"]) == ("vectors.txt", 3)
    rows = {(row["of"], row["measure"]): row for row in records["rows"]}
    tokens, words = rows[str(files.candidate), "tokens"], rows[str(files.candidate), "words"]
    # the cat sat on a mat / a small dog barked loudly / rain fell all night
    assert (tokens["found"], tokens["all"], tokens["value"]) == (5, 15, 5 / 15)
    assert (words["found"], words["all"]) == (4, 14)
    assert tokens["without_a_vector"] == "cat 1, sat 1, on 1, mat 1, barked 1"
    assert rows[str(packed), "tokens"]["without_a_vector"] == ", 1"
    assert rows["SimLex-999", "spearman"]["value"] is None


def test_how_words_are_looked_up(command, files):
    text = files.write("text.txt", ["The Dog"])
    for options, covered in (
        ([], 2),
        (["--vector-case", "exact"], 0),
        (["--vector-case", "exact", "--lowercase"], 2),
    ):
        done = command(
            "embeddings", "evaluate", "--vectors", files.vectors, "--corpus", text, "-f", "jsonl", *options
        )
        rows = [json.loads(line) for line in done.out.splitlines()]
        assert [row["found"] for row in rows if row["measure"] == "tokens"] == [covered]


def test_how_many_missing_words_are_shown(command, files):
    arguments = ("embeddings", "evaluate", "--vectors", files.vectors, "--corpus", files.candidate, "-f", "jsonl")
    for number in (0, 2):
        rows = [json.loads(line) for line in command(*arguments, "--missing", number).out.splitlines()]
        shown = [row["without_a_vector"] for row in rows if row["measure"] == "tokens"]
        assert shown == [["cat 1, sat 1"] if number else [None]][0]


def test_the_list_of_sets(command):
    rows = {row["name"]: row for row in json.loads(command("embeddings", "list", "-f", "json").out)["rows"]}
    assert rows.keys() >= {entry.name for entry in read_catalogue()}
    assert rows["glove-6b-100d"]["state"] == "bundled"
    assert rows["glove-840b-300d"] == {
        **{"name": "glove-840b-300d", "kind": "words", "language": "en", "state": "download", "licence": "PDDL-1.0"},
        **{"words": 2_200_000, "dimension": 300, "download_MB": 2030},
    }
    assert rows["googlenews-vectors-negative300"]["download_MB"] is None


def test_a_set_of_the_list(command):
    for entry in read_catalogue():
        found = json.loads(command("embeddings", "list", entry.name, "-f", "json").out)
        assert [found[f"step_{number}"] for number in range(1, len(entry.get) + 1)] == list(entry.get)
        assert "note" not in found or found["note"] == entry.note
