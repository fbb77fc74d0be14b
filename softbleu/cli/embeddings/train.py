"""`softbleu embeddings train`: text in, a store of word vectors out."""

from softbleu.cli.command import Given, command
from softbleu.cli.options import declared_options


@command(
    "corpus output_folder tokenize lowercase encoding dtype set_name set_source licence force format=text",
    own_settings=lambda: declared_options("embeddings.training:TrainingSettings", "Training"),
)
def train(given: Given) -> None:
    """Train word vectors on text of your own by gensim.

    The text is read once, and its tokens are kept in a temporary file for the epochs; memory holds the vocabulary.
    """
    from dataclasses import asdict
    from pathlib import Path

    from softbleu.corpora.files import open_text
    from softbleu.embeddings.training import TrainingSettings, train_vectors
    from softbleu.io.files import check_apart, hash_files

    output = given.open_output()
    check_apart(given.output_folder, given.corpus)
    settings, tokenizer = given.declared(TrainingSettings), given.tokenizer()
    lines = (line for name in given.corpus for line in open_text(name, given.encoding))
    hashes = {name: hash_files(Path(name)) for name in given.corpus if Path(name).is_file()}
    facts = {"corpus": hashes, "tokenizer": tokenizer.name, "lowercase": tokenizer.lowercase}
    with given.progress("training", many=2) as progress:
        trained = train_vectors(
            map(tokenizer.splitter, lines),
            given.output_folder,
            settings,
            source=given.source or ", ".join(given.corpus),
            facts=facts,
            progress=progress,
            licence=given.licence or "not stated",
            **given.values("dtype name force"),
        )
    output.write_table(("what", "count"), list(asdict(trained).items()), {"store": given.output_folder})
