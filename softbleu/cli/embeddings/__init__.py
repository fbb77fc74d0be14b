"""`softbleu embeddings`: a command a file; each does its work by one call to the library."""

from softbleu.cli.embeddings.convert import convert
from softbleu.cli.embeddings.evaluate import evaluate
from softbleu.cli.embeddings.expand import expand
from softbleu.cli.embeddings.graph import graph
from softbleu.cli.embeddings.index import index
from softbleu.cli.embeddings.info import info
from softbleu.cli.embeddings.list_sets import list_sets
from softbleu.cli.embeddings.neighbours import neighbours
from softbleu.cli.embeddings.similarity import similarity
from softbleu.cli.embeddings.train import train
from softbleu.cli.groups import make_group

embeddings_app = make_group(
    "embeddings",
    "Word vectors: convert them, look into them, find neighbours, train your own.",
    *(convert, info, similarity, expand, neighbours, index, graph, train, evaluate, list_sets),
)
