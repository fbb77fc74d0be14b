"""Scores and judgements in formats of other programs that no table can say, a module per program."""
