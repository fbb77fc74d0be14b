"""`softbleu corpora`: a command a file; each does its work by one call to the library."""

from softbleu.cli.corpora.generate import generate_text
from softbleu.cli.groups import make_group

corpora_app = make_group("corpora", "Corpora: generate artificial ones from grammars.", generate_text)
