"""Names of the package, and the modules that have them: a module is loaded when a name of it is first used."""

from .credit import credit_of_corpus as credit_of_corpus
from .credit import soft_credit as soft_credit
from .differences import bucket_scores as bucket_scores
from .differences import choose_lines as choose_lines
from .differences import correction_kinds as correction_kinds
from .differences import ngram_differences as ngram_differences
