"""`softbleu embeddings evaluate`: how good vectors are."""

from softbleu.cli.command import Given, command
from softbleu.cli.embeddings.common import open_chosen


@command(
    "vectors vector_case corpus encoding tokenize lowercase missing table_format output",
    """
Input
  --corpus FILE…: Texts whose coverage is measured, plain or packed (.gz, .bz2).
Output
  --missing N =5: Number of words, or pairs, without a vector to show (default: =).
""",
)
def evaluate(given: Given) -> None:
    """Measure how well cosines agree with human judgements, and how much of a text has a vector.

    The judgements are WordSim-353 and SimLex-999; the correlation is Spearman's, over the pairs with both words.
    """
    from softbleu.embeddings.evaluation import evaluate_vectors
    from softbleu.errors import InputError
    from softbleu.io.streams import TextCorpus
    from softbleu.report.tables import evaluation_records

    if given.missing < 0:
        raise InputError(f"--missing must be at least 0, not {given.missing}")
    names = given.files("corpus")
    output = given.open_output([*names, given.vectors])
    source, case = open_chosen(given)
    split = given.tokenizer().splitter
    texts = {name: TextCorpus([name], split, given.encoding) for name in names}
    output.write(evaluation_records(evaluate_vectors(source, texts, case), given.missing))
