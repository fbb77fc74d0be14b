"""`softbleu embeddings`: vectors converted, trained, listed and described, and similar words."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

from softbleu.cli.command import command, setting
from softbleu.cli.inputs import TextOptions
from softbleu.cli.options import Common
from softbleu.cli.output import STDOUT
from softbleu.cli.parts import MATCHING, options_for
from softbleu.corpora import read_words
from softbleu.corpora.files import open_text
from softbleu.embeddings.catalogue import describe_catalogue, describe_set
from softbleu.embeddings.choice import VectorChoice
from softbleu.embeddings.convert import TrainingSettings, convert_to_store, train_vectors
from softbleu.embeddings.installed import install_store
from softbleu.embeddings.learning import PASSES, SEED
from softbleu.embeddings.neighbours import nearest_words
from softbleu.embeddings.vectors import StoreType
from softbleu.engine.prepare import compare_words
from softbleu.errors import InputError, Parameter
from softbleu.formats import TABLE_WRITERS
from softbleu.io.files import check_apart, hash_files, write_output
from softbleu.meta.mapping import learn_map

MAP = "Map of vectors"
_IDLE = ("normalize", "layers", "exact_words", "context")  # Settings of vectors without effect on a pair of words


class Store(TextOptions, panel="Store"):
    """A store of vectors to be written.

    Attributes
    ----------
    dtype
        Keep values as float32, float16 or int8: 4, 2 or 1 bytes each
    set_name
        Name of the set
    set_source
        Where the set comes from
    licence
        Licence of the set
    force
        Replace a store that is there already
    format
        Output format: {names}
    """

    dtype: StoreType = setting("float16", common=True)
    set_name: str | None = setting(None, name="name", metavar="NAME", unset="as the folder")
    set_source: str | None = setting(None, name="source", unset="the file names")
    licence: str = setting("not stated", metavar="TEXT", common=True)
    force: bool = setting(False, common=True)
    format: str | None = setting("text", flags=("-f",), complete=lambda: TABLE_WRITERS, panel="Output")


class ConvertOptions(Store):
    """Options of `embeddings convert`.

    Attributes
    ----------
    source_file
        word2vec (binary or text), GloVe or fastText .vec, also packed (.gz, .bz2, .xz, .zst); fastText .bin; or the
        folder of a model (BERT, DistilBERT, RoBERTa, MPNet), which becomes an encoder
    target
        Folder for the store; it must not exist yet
    layers
        Layers to average, such as 4,6; higher ones are not stored
    aligned
        The set of another language in the same space (MUSE, aligned fastText), which comes behind IN; of equal words
        the first counts
    limit
        Only the first N words (of each set)
    vocabulary
        Only the words of this file, one per line, in the same spelling
    keep_lengths
        Keep the vectors' lengths
    """

    source_file: str = setting(argument=True, metavar="IN", file="read")
    target: str = setting(argument=True, metavar="OUT", file="written")
    layers: str | None = setting(None, metavar="LIST", unset="at 3/4 of all, all kept", panel="Encoders", common=True)
    aligned: str | None = setting(None, file="read", panel="Vectors")
    limit: int | None = setting(None, panel="Vectors", common=True)
    vocabulary: str | None = setting(None, file="read", panel="Vectors")
    keep_lengths: bool = setting(False, unset="unit vectors", panel="Vectors")


@command
def convert(options: ConvertOptions) -> None:
    """Convert vectors, or a model for vectors in context, into a store that later runs open in milliseconds.

    A file is read in one pass and the store put in its place at the end, complete or not at all.
    """
    output = options.open_output()
    check_apart(options.target, [file for file in (options.vocabulary, options.aligned) if file])
    vocabulary = None if options.vocabulary is None else read_words(options.vocabulary)
    with options.progress("converting", many=1 << 26) as progress:
        table = convert_to_store(
            options.source_file,
            options.target,
            layers=options.layers,
            aligned=options.aligned,
            limit=options.limit,
            vocabulary=vocabulary,
            keep_lengths=options.keep_lengths,
            source=options.set_source,
            progress=progress,
            dtype=options.dtype,
            name=options.set_name,
            licence=options.licence,
            force=options.force,
        )
    output.write(table)


class InfoOptions(Common, shared="output format"):
    """Options of `embeddings info`.

    Attributes
    ----------
    vectors
        A store, a vector file, a bundled or installed set, or an encoder
    verify
        Read the whole store, and check that it is complete and unchanged
    """

    vectors: str = setting("glove-6b-100d", argument=True, metavar="PATH|NAME", file="read")
    verify: bool = setting(False)


@command
def info(options: InfoOptions) -> None:
    """Describe a set of vectors: size, source, licence, content hash, similarity of random words."""
    options.open_output().write(describe_set(options.vectors, verify=options.verify))


class SimilarityOptions(Common, shared="output format"):
    """Options of `embeddings similarity`.

    Attributes
    ----------
    one
        A word
    other
        Another
    """

    one: str = setting(argument=True, metavar="A")
    other: str = setting(argument=True, metavar="B")
    more = options_for(VectorChoice, MATCHING, without=_IDLE)


@command
def similarity(options: SimilarityOptions) -> None:
    """Compare two words as the matchers do, and with random pairs of words of the same set."""
    choice = options.declared(VectorChoice)
    output = options.open_output(also=[str(choice.vectors)])
    source = choice.source
    pair = asdict(compare_words(source, options.one, options.other, choice.measure, choice.vector_case))
    output.write_table(list(pair), [list(pair.values())], {"vectors": source.name}, digits=4)


class NeighboursOptions(Common, shared="encoding output format"):
    """Options of `embeddings neighbours`.

    Attributes
    ----------
    words
        Words to look up; - or none: read them from standard input, one a line
    count
        Neighbours of each word
    threshold
        Only neighbours with a greater similarity
    limit
        Look only through the first, most frequent, words of the set
    digits
        Decimals in text, markdown and latex; other formats have all digits
    """

    words: tuple[str, ...] = setting((), argument=True, metavar="WORD")
    count: int | None = setting(None, flags=("-k",), unset="10, or all above the threshold", panel=MATCHING)
    threshold: float | None = setting(None, flags=("-t",), panel=MATCHING)
    limit: int | None = setting(None, unset="all", panel=MATCHING)
    digits: int = setting(4)
    more = options_for(VectorChoice, MATCHING, "vectors", "vector_case", "map")


@command
def neighbours(options: NeighboursOptions) -> None:
    """Show the words nearest to a word, by the cosine of their vectors."""
    choice = options.declared(VectorChoice)
    output = options.open_output(also=[str(choice.vectors)])
    typed = options.words and options.words != (STDOUT,)
    rows = nearest_words(
        choice.source,
        options.words if typed else read_words(STDOUT, options.encoding),
        options.count,
        case=choice.vector_case,
        threshold=options.threshold,
        limit=options.limit,
    )
    output.write_table(["query", "rank", "word", "similarity"], rows, digits=options.digits)


class TrainOptions(Store, shared="encoding tokenize lowercase"):
    """Options of `embeddings train`.

    Attributes
    ----------
    corpus
        Text files, a segment per line; .gz, .bz2, .xz and .zst are recognised, - is standard input; with --map
        tables of judged outputs with the columns candidate, reference and a score, a file a set
    output_folder
        Folder for the store; with --map the file of the map
    map_of
        Learn a map of these vectors from judgements, in the place of vectors from text: an encoder or a set
    layers
        With --map: layers of the encoder to average, such as 9
    column
        With --map: column of the human scores
    """

    corpus: tuple[str, ...] = setting(argument=True, metavar="CORPUS", file="read")
    output_folder: str = setting(flags=("--output", "-o"), metavar="PATH", file="written", panel="Store", common=True)
    map_of: str | None = setting(None, name="map", metavar="VECTORS", panel=MAP)
    layers: str | None = setting(None, metavar="LIST", unset="the encoder's recommendation", panel=MAP)
    column: str | None = setting(None, unset="the first of human_score, score, human, z, mqm, ...", panel=MAP)
    more = options_for(TrainingSettings, "Training")


@command
def train(options: TrainOptions) -> None:
    """Train word vectors on text of your own by gensim, or with --map a map of vectors on human judgements.

    Text is read once, and its tokens are kept in a temporary file for the epochs; memory holds the vocabulary. A map
    is learned by gradient descent (3 passes) on nine tenths of the segments; the table has Pearson's r with judges on
    the rest, by the map and without it. Metrics take the file as --map.
    """
    if options.map_of is not None:
        _learn_map(options, options.map_of)
        return
    for name, value in (("layers", options.layers), ("column", options.column)):
        if value is not None:
            raise InputError(Parameter(name), " is for a map of vectors: name these with ", Parameter("map"))
    output = options.open_output()
    check_apart(options.output_folder, options.corpus)
    settings, tokenizer = options.declared(TrainingSettings), options.tokenizer()
    lines = (line for name in options.corpus for line in open_text(name, options.encoding))
    hashes = {name: hash_files(Path(name)) for name in options.corpus if Path(name).is_file()}
    facts = {"corpus": hashes, "tokenizer": tokenizer.name, "lowercase": tokenizer.lowercase}
    with options.progress("training", many=2) as progress:
        trained = train_vectors(
            map(tokenizer.splitter, lines),
            options.output_folder,
            settings,
            source=options.set_source or ", ".join(options.corpus),
            facts=facts,
            progress=progress,
            dtype=options.dtype,
            name=options.set_name,
            licence=options.licence,
            force=options.force,
        )
    output.write_table(("what", "count"), list(asdict(trained).items()), {"store": options.output_folder})


def _learn_map(options: TrainOptions, vectors: str) -> None:
    """Learn a map of vectors from judged outputs, and write its file."""
    output = options.open_output()
    check_apart(options.output_folder, options.corpus)
    target = Path(options.output_folder)
    if target.is_dir() or (target.exists() and not options.force):
        raise InputError(f"{target}: exists already; replace a file with ", Parameter("force", True))
    settings, named = options.declared(TrainingSettings), {option.setting.name for option, _ in options.chosen}
    if not named <= {"epochs", "seed"}:
        raise InputError("a map is learned by passes over judgements: of the training settings give epochs and seed")
    with options.progress("encoding", many=2) as progress:
        learned = learn_map(
            options.corpus,
            vectors,
            layers=options.layers,
            tokenizer=options.tokenizer(),
            column=options.column,
            passes=settings.epochs if "epochs" in named else PASSES,
            seed=settings.seed if "seed" in named else SEED,
            licence=options.licence,
            encoding=options.encoding,
            progress=progress,
        )
    write_output(target, learned.map.content())
    output.write(replace(learned.table, facts={**learned.table.facts, "map": options.output_folder}))


class InstallOptions(Common, shared="output format"):
    """Options of `embeddings install`.

    Attributes
    ----------
    store
        A store that `embeddings convert` or `embeddings train` wrote
    installed_name
        Name by which --vectors finds it
    language
        The only language that it is for
    force
        Replace a store of this name
    """

    store: str = setting(argument=True, metavar="STORE", file="read")
    installed_name: str | None = setting(None, name="name", metavar="NAME", unset="as the folder")
    language: str | None = setting(None, metavar="CODE", unset="any, or as the store says")
    force: bool = setting(False, common=True)


@command
def install(options: InstallOptions) -> None:
    """Keep a copy of a store in the folder of your stores, where --vectors finds it by its name."""
    output = options.open_output()
    place = install_store(options.store, options.installed_name, language=options.language, force=options.force)
    output.write_table((), (), {"name": place.name, "store": str(place)})


class ListOptions(Common, shared="output format"):
    """Options of `embeddings list`.

    Attributes
    ----------
    wanted
        Only this set, and how to get it
    """

    wanted: str | None = setting(None, argument=True, metavar="[NAME]")


@command
def list_sets(options: ListOptions) -> None:
    """List known sets of word vectors, and encoders: bundled, installed, of an extra, or for download."""
    options.open_output().write(describe_catalogue(options.wanted))
