"""Results of runs, as Python calls: scores, intervals and comparisons, explanations, pairs of texts, differences."""
