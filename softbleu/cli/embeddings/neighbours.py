"""`softbleu embeddings neighbours`: the words nearest to a word."""

from softbleu.cli.command import Given, command


@command("words vectors count threshold limit vector_case encoding table_format digits=4 output")
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
