"""`softbleu embeddings neighbours`: the words nearest to a word."""

from softbleu.cli.command import Given, command
from softbleu.cli.embeddings.common import DIGITS, VECTOR_OPTIONS, open_chosen


@command(
    f"words vectors count threshold limit vector_case encoding table_format digits={DIGITS} output",
    f"""
  words WORD…: Words to look up; - or none: read them from standard input, one a line.
{VECTOR_OPTIONS.strip()}
  --count -k N: Neighbours of each word (default: 10, or all above the threshold).
  --threshold -t X: Only neighbours with a greater similarity.
""",
)
def neighbours(given: Given) -> None:
    """Show the words nearest to a word, by the cosine of their vectors."""
    from softbleu.cli.output import STDOUT
    from softbleu.corpora import read_words
    from softbleu.embeddings.neighbours import nearest_words

    output = given.open_output([given.vectors])
    asked = given.words if given.words and given.words != [STDOUT] else read_words(STDOUT, given.encoding)
    source, case = open_chosen(given)
    rows = nearest_words(source, asked, given.count, case=case, **given.values("threshold limit"))
    output.write_table(["query", "rank", "word", "similarity"], rows, digits=given.digits)
