"""Text as tokens: tokenizers, lines of token ids, parts of words, and Unicode normalisation."""
