"""Examples that the help shows. Tests run them all."""

from __future__ import annotations

from collections.abc import Mapping

SCORE = {
    "Try it on the bundled sample corpus": "softbleu score --matcher vleu --threshold 0.8",
    "BLEU of a system, as sacrebleu computes it": "softbleu score -c system.txt -r reference.txt --tokenize 13a",
    "Two systems against two references, for a paper": (
        "softbleu score -c a.txt -c b.txt -r ref1.txt -r ref2.txt --format latex"
    ),
    "A score for each segment, from a pipe": (
        "cat system.txt | softbleu score -c - -r reference.txt --level segment --format tsv"
    ),
    "Vectors of your own, and numbers for a program": (
        "softbleu score -c system.txt -r reference.txt --matcher xleu --vectors vectors.txt --format json"
    ),
    "GLEU of corrected text": (
        "softbleu score --metric gleu --source source.txt -c system.txt -r ref1.txt -r ref2.txt"
    ),
    "As in the tables of Morgan (2014)": "softbleu score --pairs corpus.txt --matcher vleu --preset morgan2014",
}
COMPARE = {
    "Which system is better than the first?": "softbleu compare -c a.txt -c b.txt -r reference.txt",
    "Softly, against a named baseline, for a paper": (
        "softbleu compare -c a.txt -c b.txt -r reference.txt --matcher vleu -t 0.8 --baseline b --format latex"
    ),
    "Corrected text": "softbleu compare --metric gleu --source source.txt -c a.txt -c b.txt -r reference.txt",
}
EXPLAIN = {
    "The first segments of the sample corpus": "softbleu explain --matcher vleu --threshold 0.8",
    "Chosen segments of your own": (
        "softbleu explain -c system.txt -r reference.txt --matcher vleu -t 0.8 -s 2 -s 5-7"
    ),
    "For a program": "softbleu explain -c system.txt -r reference.txt --matcher sleu --format jsonl",
}

CONVERT = {
    "Once; from then on every run opens it in milliseconds": (
        "softbleu embeddings convert vectors.txt my-vectors --licence PDDL"
    ),
    "The 100 most frequent words, a byte a value": (
        "softbleu embeddings convert vectors.txt small-vectors --limit 100 --dtype int8"
    ),
    "Use it": "softbleu score -c system.txt -r reference.txt --matcher vleu --vectors my-vectors",
}


def as_epilog(examples: Mapping[str, str]) -> str:
    """Write examples as the help shows them below the options."""
    lines = (f"# {what}\n[bold]{command}[/bold]" for what, command in examples.items())
    return "\n\n".join(("Examples:", *lines))
