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
    "M2 of corrected text, against gold edits": "softbleu score --metric m2 --gold gold.m2 -c system.txt",
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
CORPORA_GENERATE = {
    "The 504 pairs of Morgan (2014)": "softbleu corpora generate --grammar morgan2014 --pairing halves",
    "All sentences of a grammar of your own": "softbleu corpora generate --grammar my.cfg --all -o sentences.txt",
    "Paraphrases with gold alignments and labels, a tenth of their words dropped": (
        "softbleu corpora generate -g alternations --pairing paraphrase --count 1000 --noise drop=0.1 -f jsonl"
    ),
    "Generated pairs, scored": (
        "softbleu corpora generate -g modifiers --pairing paraphrase --count 100 | softbleu score --pairs -"
    ),
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

INFO = {
    "The bundled set": "softbleu embeddings info",
    "Is a store whole and unchanged?": "softbleu embeddings info my-vectors --verify",
}
SIMILARITY = {
    "Two words": "softbleu embeddings similarity car truck",
    "With what all words have in common removed": (
        "softbleu embeddings similarity car truck --vectors-postprocess mean,pc:2 --format json"
    ),
}
EXPAND = {
    "Four more references of each segment": (
        "softbleu embeddings expand -r reference.txt --output-prefix more --threshold 0.7"
    ),
    "Score with them": "softbleu score -c system.txt -r reference.txt -r more.1 -r more.2 -r more.3 -r more.4",
    "Content words only, one at a time, with probabilities, for a program": (
        "softbleu embeddings expand -r reference.txt --content-words --max-replacements 1 --format jsonl"
    ),
}
NEIGHBOURS = {
    "The ten words nearest to each": "softbleu embeddings neighbours cat dog",
    "All that are alike enough among the 20,000 most frequent words": (
        "softbleu embeddings neighbours cat --threshold 0.7 --limit 20000"
    ),
    "Words from a pipe, numbers for a program": (
        "cat words.txt | softbleu embeddings neighbours - --count 3 --format jsonl"
    ),
}
INDEX = {
    "Once": "softbleu embeddings index my-vectors --kind hnsw",
    "Use it": "softbleu embeddings neighbours cat --vectors my-vectors --index hnsw",
    "Smaller, for a large set": "softbleu embeddings index my-vectors --kind ivfpq",
}
GRAPH = {
    "Pairs of words that may stand for one another": (
        "softbleu embeddings graph --vocabulary words.txt --threshold 0.7"
    ),
    "Among frequent words, to a file": (
        "softbleu embeddings graph --vocabulary words.txt --threshold 0.6 --limit 20000 --output pairs.tsv"
    ),
    "From a pipe": "cat words.txt | softbleu embeddings graph --vocabulary - --threshold 0.8 --format jsonl",
}
TRAIN = {
    "On text of your own": "softbleu embeddings train corpus.txt --output my-vectors --tokenize 13a --lowercase",
    "Rare words too, from their letters": (
        "softbleu embeddings train corpus.txt --output letters --algorithm fasttext --min-count 2 --bucket 100000"
    ),
    "Use it": "softbleu score -c system.txt -r reference.txt --matcher vleu --vectors my-vectors",
}
EVALUATE = {
    "The default vectors": "softbleu embeddings evaluate",
    "How much of a text they know": "softbleu embeddings evaluate --corpus reference.txt --tokenize 13a",
    "Vectors of your own, for a paper": "softbleu embeddings evaluate --vectors my-vectors --format latex",
}
LIST = {
    "What there is": "softbleu embeddings list",
    "How to get one": "softbleu embeddings list glove-840b-300d",
    "For a program": "softbleu embeddings list --format json",
}

SWEEP = {
    "The sample corpus at 20 thresholds": "softbleu sweep --matcher vleu",
    "As a table for a program": (
        "softbleu sweep -c a.txt -c b.txt -r reference.txt -m sleu -m vleu -t 0.5:0.9:0.1 -o scores.csv"
    ),
}
SPURIOUS = {
    "How much of the credit is spurious, and how much with two remedies?": (
        "softbleu experiments spurious --remedy plain --remedy aligned --remedy function-words"
    ),
    "By order, of pairs with other alignments": (
        "softbleu experiments spurious --pairs pairs.jsonl --matcher vleu --table orders"
    ),
    "Text without alignments: what is matched most, and the worst matches": (
        "softbleu experiments spurious -c system.txt -r reference.txt --matcher sleu --table offenders"
    ),
}

RUN = {
    "What a file defines: table, picture and manifest go beside it": "softbleu experiments run my-sweep.toml",
    "Somewhere else, without a picture": (
        "softbleu experiments run my-sweep.toml --output-folder results --no-picture --format json"
    ),
}

METAEVAL = {
    "Systems as people rank them, with clusters": "softbleu metaeval --rankings rankings.csv",
    "Does a metric agree about systems, and about pairs of outputs?": (
        "softbleu metaeval --rankings rankings.csv -c a.txt -c b.txt -c c.txt -r reference.txt "
        "--metric bleu --table preferences"
    ),
    "Two metrics from files, which is better? For a paper": (
        "softbleu metaeval --human human.tsv --scores one.tsv --scores two.tsv --table williams --format latex"
    ),
    "Single outputs, scored on the spot": (
        "softbleu metaeval --da assessed.tsv --unescape --metric 'vleu(threshold=0.8)'"
    ),
}


def as_epilog(examples: Mapping[str, str]) -> str:
    """Write examples as the help shows them below the options."""
    lines = (f"# {what}\n[bold]{command}[/bold]" for what, command in examples.items())
    return "\n\n".join(("Examples:", *lines))
