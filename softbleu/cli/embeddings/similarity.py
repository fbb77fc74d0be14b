"""`softbleu embeddings similarity`: the similarity of two words."""

from softbleu.cli.command import Given, command
from softbleu.cli.options import MATCHING, declared_options

_IDLE = ("normalize", "layers", "exact_words", "context")  # Settings of vectors that a pair of words does without


@command(
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
