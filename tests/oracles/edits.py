"""Alignment of a source and its correction, by recursion: each cost as its definition says, all ways tried."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache

Step = tuple[str, int, int, int, int]


def cheapest_steps(
    source: Sequence[str], output: Sequence[str], substitution: Callable[[str, str], float]
) -> list[Step]:
    """Steps of the cheapest alignment but equal words: order (T) before substitution, insertion and deletion."""

    @cache
    def way(i: int, j: int) -> tuple[float, str, int, int]:
        """Cost of the first i and j words, and the last step: its kind and how many words of each it takes."""
        if not i or not j:
            return float(i + j), "I" if j else "D", int(j == 0), int(j > 0)
        if source[i - 1] == output[j - 1]:
            return way(i - 1, j - 1)[0], "M", 1, 1
        ways = []
        for n in range(2, min(i, j) + 1):
            if way(i - n + 1, j - n + 1)[0] == way(i - n, j - n)[0]:
                break
            one, other = (Counter(word.lower() for word in words) for words in (source[i - n : i], output[j - n : j]))
            if one == other:
                ways.append((way(i - n, j - n)[0] + n - 1, "T", n, n))
                break
        ways.append((way(i - 1, j - 1)[0] + substitution(source[i - 1], output[j - 1]), "S", 1, 1))
        ways.append((way(i, j - 1)[0] + 1, "I", 0, 1))
        ways.append((way(i - 1, j)[0] + 1, "D", 1, 0))
        return min(ways, key=lambda each: each[0])

    steps: list[Step] = []
    i, j = len(source), len(output)
    while i or j:
        _, kind, rows, columns = way(i, j)
        if kind != "M":
            steps.append((kind, i - rows, i, j - columns, j))
        i, j = i - rows, j - columns
    return steps[::-1]
