"""`softbleu embeddings train`: text in, a store of word vectors out."""

from softbleu.cli.command import Given, command
from softbleu.cli.embeddings.common import DIGITS, STORE_OPTIONS, store_settings


@command(
    "corpus output tokenize lowercase encoding dtype name source licence force format=text",
    f"""
  corpus CORPUS... !: Text files, a segment per line, plain or packed (.gz, .bz2).
{STORE_OPTIONS.strip()}
  --output -o DIR !: Folder for the store.
""",
    settings_of="embeddings.training:TrainingSettings",
    panel="Training",
)
def train(given: Given) -> None:
    """Train word vectors on text of your own, and measure them.

    The text is read anew for each epoch, never held in memory. The folder gets the vectors, and card.md, which says
    what they are made of and how well they agree with human judgements.
    """
    from softbleu.embeddings.training import TrainingSettings, train_vectors
    from softbleu.io.streams import TextCorpus

    output = given.open_output()
    settings = given.declared(TrainingSettings)
    tokenizer = given.tokenizer()
    with given.progress("training", many=1_000_000) as progress:
        training = train_vectors(
            TextCorpus(given.corpus, tokenizer.splitter, given.encoding),
            given.output,
            settings,
            progress=progress,
            tokenization={"tokenizer": tokenizer.name, "lowercase": tokenizer.lowercase},
            card={"trained on": given.source or ", ".join(given.corpus), "licence": given.licence or "not stated"},
            **store_settings(given),
        )
    measured, notes = (training.evaluation.agreements, training.evaluation.notes) if training.evaluation else ({}, [])
    rows = [(key, f.spearman, f.pairs, len(f.missing)) for key, f in measured.items()]
    facts = {"store": given.output, **training.counts(), "sha256": training.fingerprint}
    output.write_table(("judgements", "spearman", "pairs", "missing_pairs"), rows, facts, digits=DIGITS, notes=notes)
