"""Text as tokens: tokenizers, the tables of words they make, and Unicode normalisation."""
