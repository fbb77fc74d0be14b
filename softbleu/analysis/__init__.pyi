"""Names of the package, and the modules that have them: a module is loaded when a name of it is first used."""

from .buckets import bucket_scores as bucket_scores
from .buckets import compare_buckets as compare_buckets
from .corrections import correction_kinds as correction_kinds
from .credit import credit_of_corpus as credit_of_corpus
from .credit import soft_credit as soft_credit
from .kind_differences import compare_corrections as compare_corrections
from .lines import choose_lines as choose_lines
from .ngrams import ngram_differences as ngram_differences
