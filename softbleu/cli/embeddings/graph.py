"""`softbleu embeddings graph`: all words near those of a vocabulary."""

from softbleu.cli.command import Given, command
from softbleu.cli.embeddings.common import DIGITS, VECTOR_OPTIONS, open_chosen


@command(
    f"vocabulary threshold vectors limit vector_case encoding format=tsv digits={DIGITS} output",
    f"""
Input
  --vocabulary FILE !: The words to find neighbours of, one a line; - is standard input.
{VECTOR_OPTIONS.strip()}
  --threshold -t X !: Pairs must be more similar than this.
""",
)
def graph(given: Given) -> None:
    """Write all pairs of a vocabulary's words and other words more similar than a threshold."""
    from softbleu.cli.errors import say
    from softbleu.corpora import read_words
    from softbleu.embeddings.neighbours import word_graph

    output = given.open_output([given.vocabulary, given.vectors])
    words = read_words(given.vocabulary, given.encoding)
    source, case = open_chosen(given)
    found = word_graph(source, words, given.threshold, limit=given.limit, case=case)
    if found.unknown and not given.quiet:
        say(f"{len(found.unknown):,} of {len(found.unknown) + len(found.words):,} words have no vector")
    rows = [(word, neighbour, similarity) for word, _, neighbour, similarity in found.pairs()]
    output.write_table(["word", "neighbour", "similarity"], rows, digits=given.digits)
