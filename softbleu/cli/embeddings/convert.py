"""`softbleu embeddings convert`: any vectors, or the model of an encoder, in; a store out."""

from softbleu.cli.command import Given, command

OUTCOMES = ("duplicates", "zero_rows", "damaged_rows", "unusable_words", "passed_over")


@command(
    "source_file target dtype layers aligned limit vocabulary set_name set_source licence keep_lengths force "
    "format=text"
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
