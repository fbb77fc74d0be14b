"""The commands: their names, their places and a line about each."""

from __future__ import annotations

from importlib import import_module

from softbleu.cli.command import Command, Options

PROGRAM = "softbleu"
GROUPS = {  # Groups of commands, and the help of each
    PROGRAM: "",
    "corpora": "Generate artificial corpora; write sample files; install test sets.",
    "embeddings": "Convert, describe, search and train word vectors.",
    "experiments": "Run experiments; separate deserved from spurious credit.",
    "networks": "Make and show reference networks: many references in one.",
}
PANELS = {  # Where the help of the program has its commands, in its order
    "Score": ("score", "compare", "directions", "matrix", "select", "metrics", "matchers", "tokenizers"),
    "Understand": ("explain", "spans", "diff", "edits"),
    "Check": ("check", "align"),
    "Research": ("sweep", "metaeval", "embeddings", "networks", "corpora", "experiments"),
}
# Commands in the order of the help: module and function, and a line of help. This is where a command has its name.
COMMANDS = {
    "score": ("score:score", "Score translations or corrections: BLEU, chrF, TER, GLEU, M2."),
    "compare": ("compare:compare", "Compare systems: scores with intervals, ranks, tests."),
    "directions": ("directions:directions", "Score many language pairs at once, with averages."),
    "explain": ("explain:explain", "Show what a metric matched: n-grams, words, edits, paths."),
    "spans": ("spans:spans", "List words that a metric matches with no reference, as spans."),
    "sweep": ("sweep:sweep", "Score a grid of metrics, matchers, thresholds and settings."),
    "metaeval": ("metaeval:metaeval", "Measure how well metrics agree with human judgements."),
    "matrix": ("matrix:matrix", "Score every candidate with every reference or other candidate."),
    "select": ("select:select", "Choose among several outputs of each segment: MBR, oracle."),
    "diff": ("diff:diff", "Show the differences between two runs of 'softbleu score'."),
    "edits": ("edits:edits", "Find the edits from a source to corrected texts; write .m2."),
    "check": ("check:check", "Find bad outputs: empty lines, refusals, wrong language."),
    "align": ("align:align", "Cut an output with other line breaks into segments."),
    "metrics": ("metrics:metrics", "List the metrics."),
    "matchers": ("metrics:matchers", "List the matchers."),
    "tokenizers": ("metrics:tokenizers", "List the tokenizers."),
    "corpora generate": ("corpora:generate_text", "Generate sentences, or aligned pairs, from a grammar."),
    "corpora install": ("corpora:install_texts", "Install a published test set, so that -r takes its name."),
    "corpora sample": ("corpora:write_sample", "Write sample files to try commands on."),
    "embeddings convert": ("embeddings:convert", "Convert vectors, or a model for vectors in context, into a store."),
    "embeddings info": ("embeddings:info", "Describe a set of vectors: size, source, licence, hash, similarities."),
    "embeddings similarity": ("embeddings:similarity", "Compare two words as the matchers do."),
    "embeddings neighbours": ("embeddings:neighbours", "Show the words nearest to a word."),
    "embeddings install": ("embeddings:install", "Keep a store under a name, by which --vectors finds it."),
    "embeddings train": ("embeddings:train", "Train word vectors on text of your own."),
    "embeddings list": ("embeddings:list_sets", "List known sets of word vectors, and encoders."),
    "experiments run": ("experiments:run_experiment", "Run an experiment: table, picture and manifest."),
    "experiments spurious": ("experiments:spurious", "Separate deserved from spurious credit of matchers."),
    "networks make": ("networks:make_networks", "Make networks of references by rules, or convert them."),
    "networks show": ("networks:show_network", "Draw a network, or show its path closest to a candidate."),
}
REMOVED_COMMANDS = {  # Commands that version 0.4 removed, and their successors
    "train": "python heads/recipe/train.py trains heads, in a checkout",
    "embeddings evaluate": "gensim does its work: KeyedVectors.evaluate_word_pairs",
    "corpora challenge": "experiments/challenges/challenges.py has its rules, in a checkout",
    "experiments fetch": "experiments/fetch.py fetches the data of the studies, in a checkout",
    "networks info": "",
    "networks sample": "",
}


def find_command(name: str) -> Command[Options]:
    """Import the module of a command, and return the command."""
    module, _, function = COMMANDS[name][0].partition(":")
    found: Command[Options] = getattr(import_module(f"softbleu.cli.{module}"), function)
    return found
