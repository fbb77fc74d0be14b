"""`softbleu language`: a command a file; each does its work by one call to the library."""

from softbleu.cli.groups import make_group
from softbleu.cli.language.train import train_language

language_app = make_group("language", "Language models: train your own.", train_language)
