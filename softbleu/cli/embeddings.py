"""`softbleu embeddings`: vectors converted, trained, listed and described, and words that are like one another."""

from softbleu.cli.command import Given, command
from softbleu.cli.options import MATCHING, declared_options

OUTCOMES = ("duplicates", "zero_rows", "damaged_rows", "unusable_words", "passed_over")
_IDLE = ("normalize", "layers", "exact_words", "context")  # Settings of vectors that a pair of words does without
_LISTED = ("name", "kind", "language", "state", "licence", "words", "dimension", "download_megabytes")


@command(
    "embeddings convert",
    "source_file target dtype layers aligned limit vocabulary set_name set_source licence keep_lengths force "
    "format=text",
)
def convert(given: Given) -> None:
    """Convert vectors, or a model for vectors in context, into a store that later runs open in milliseconds.

    A file is read in one pass and the store put in its place at the end, complete or not at all.
    """
    from softbleu.corpora import read_words
    from softbleu.embeddings.convert import convert_vectors
    from softbleu.encoders.base import parse_layers
    from softbleu.encoders.convert import convert_encoder, is_model
    from softbleu.errors import InputError
    from softbleu.io.files import check_apart

    output = given.open_output()
    check_apart(given.target, given.files("vocabulary", "aligned"))
    of_model = is_model(given.source_file)
    # Options of one kind alone.
    alone = ("aligned", "limit", "vocabulary", "keep_lengths") if of_model else ("layers",)
    strange = [name for name in alone if given.get(name) not in (None, False)]
    if strange:
        kind = "encoders" if of_model else "word vectors"
        raise InputError(f"--{strange[0].replace('_', '-')} means nothing for {kind}: leave it out")
    store = given.values("dtype name source force") | {"licence": given.licence or "not stated"}
    facts = {"store": given.target, "dtype": given.dtype}
    if of_model:
        layers = None if given.layers is None else parse_layers(given.layers)
        encoder = convert_encoder(given.source_file, given.target, layers=layers, **store)
        depths = [("kept", encoder.architecture.depth), ("left out", encoder.left_out)]
        output.write_table(("what", "layers"), depths, facts | {"recommended": ",".join(map(str, encoder.layers))})
        return
    words = None if given.vocabulary is None else read_words(given.vocabulary)
    how = {"normalize": not given.keep_lengths, "vocabulary": words, "limit": given.limit}
    how["aligned"] = given.files("aligned")
    with given.progress("converting", many=1 << 26) as progress:
        done = convert_vectors(given.source_file, given.target, progress=progress, **store, **how)
    counts = {"kept": done.words, **{kind: getattr(done, kind) for kind in OUTCOMES}}
    rows = [(kind.replace("_", " "), count, done.examples.get(kind)) for kind, count in counts.items()]
    output.write_table(("what", "words", "first"), rows, facts)


@command("embeddings info", "vectors verify table_format output")
def info(given: Given) -> None:
    """Describe a set of vectors: size, source, licence, content hash, similarity of random words."""
    from softbleu.embeddings import open_vectors
    from softbleu.embeddings.catalogue import describe_encoder, describe_vectors
    from softbleu.encoders import is_encoder, open_encoder

    output = given.open_output([given.vectors])
    if is_encoder(given.vectors):
        facts = describe_encoder(open_encoder(given.vectors), verify=given.verify)
    else:
        facts = describe_vectors(open_vectors(given.vectors), verify=given.verify)
    output.write_table((), (), facts, digits=6)


@command(
    "embeddings similarity",
    "one other table_format output",
    own_settings=lambda: declared_options("embeddings.choice:VectorChoice", MATCHING, _IDLE),
)
def similarity(given: Given) -> None:
    """Compare two words as the matchers do, and with random pairs of words of the same set."""
    from dataclasses import asdict

    from softbleu.embeddings import open_vectors
    from softbleu.embeddings.choice import VectorChoice
    from softbleu.engine.prepare import compare_words

    output = given.open_output([given.vectors])
    choice = given.declared(VectorChoice)
    source = open_vectors(choice.vectors)
    pair = asdict(compare_words(source, given.one, given.other, choice.measure, choice.vector_case))
    output.write_table(list(pair), [list(pair.values())], {"vectors": source.name}, digits=4)


@command(
    "embeddings neighbours", "words vectors count threshold limit vector_case encoding table_format digits=4 output"
)
def neighbours(given: Given) -> None:
    """Show the words nearest to a word, by the cosine of their vectors."""
    from softbleu.cli.output import STDOUT
    from softbleu.corpora import read_words
    from softbleu.embeddings import open_vectors
    from softbleu.embeddings.choice import VectorChoice
    from softbleu.embeddings.neighbours import nearest_words

    output = given.open_output([given.vectors])
    asked = given.words if given.words and given.words != [STDOUT] else read_words(STDOUT, given.encoding)
    choice = given.declared(VectorChoice)
    rows = nearest_words(
        open_vectors(choice.vectors),
        asked,
        given.count,
        case=choice.vector_case,
        **given.values("threshold limit"),
    )
    output.write_table(["query", "rank", "word", "similarity"], rows, digits=given.digits)


@command(
    "embeddings train",
    "corpus output_folder tokenize lowercase encoding dtype set_name set_source licence force format=text",
    own_settings=lambda: declared_options("embeddings.convert:TrainingSettings", "Training"),
)
def train(given: Given) -> None:
    """Train word vectors on text of your own by gensim.

    The text is read once, and its tokens are kept in a temporary file for the epochs; memory holds the vocabulary.
    """
    from dataclasses import asdict
    from pathlib import Path

    from softbleu.corpora.files import open_text
    from softbleu.embeddings.convert import TrainingSettings, train_vectors
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


@command("embeddings list", "name table_format output")
def list_sets(given: Given) -> None:
    """List known sets of word vectors, and encoders: bundled, or for download."""
    from dataclasses import asdict

    from softbleu.embeddings.catalogue import find_entry, read_catalogue

    output = given.open_output()
    if given.name is None:
        rows = [[getattr(entry, field) for field in _LISTED] for entry in read_catalogue()]
        output.write_table((*_LISTED[:-1], "download_MB"), rows, digits=0)
        return
    entry = find_entry(given.name)
    known = {field: value for field, value in asdict(entry).items() if field != "get" and value is not None}
    steps = {f"step_{number}": command for number, command in enumerate(entry.get, start=1)}
    output.write_table((), (), {**known, "state": entry.state, **steps}, digits=0)
