"""`softbleu language train`: text in, an n-gram model in ARPA form out."""

from softbleu.cli.command import Given, command


@command(
    "corpus output order least_word least_ngram tokenize lowercase encoding format=text",
    """
  corpus TEXT... !: Text files, a segment per line, plain or packed (.gz, .bz2).
Model
  --output -o FILE !: Where to write the model, in ARPA form; packed, if the name ends in .gz.
  --order -n N =3: Words of the longest n-grams, 1 to 5 (default: =).
  --least-word N =1: Least count of a word; rarer ones become <unk> (default: =).
  --least-ngram N =1: Least count of an n-gram of two words or more (default: =).
""",
)
def train_language(given: Given) -> None:
    """Train an n-gram language model on text of your own, by modified Kneser-Ney smoothing (Chen & Goodman 1998)."""
    from softbleu.io.files import check_apart
    from softbleu.io.streams import TextCorpus
    from softbleu.language import train_ngrams, write_arpa

    output = given.open_output()
    check_apart(given.output, given.corpus)
    texts = TextCorpus(given.corpus, given.tokenizer().splitter, given.encoding)
    least = given.values("least_word least_ngram")
    with given.progress("training", many=1_000_000) as progress:
        model = train_ngrams(texts, given.order, progress=progress, **least)
    write_arpa(model, given.output)
    rows = [(n, len(table.keys)) for n, table in enumerate(model.tables, start=1)]
    output.write_table(("order", "ngrams"), rows, {"model": given.output})
