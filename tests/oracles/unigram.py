"""Pieces of a unigram model, by the definition: the segmentation of the greatest total score."""

from collections.abc import Mapping

UNKNOWN = "<unk>"


def normal(text: str, characters: Mapping[str, str]) -> str:
    """Replace characters one by one, make blanks single, and write them as ▁, one before the text."""
    replaced = "".join(characters.get(character, character) for character in text)
    while "  " in replaced:
        replaced = replaced.replace("  ", " ")
    return (replaced if replaced.startswith(" ") else " " + replaced).replace(" ", "▁")


def best_score(text: str, scores: Mapping[str, float]) -> float:
    """Return the greatest total score; a character that is no piece has the least score of all, less 10."""
    longest, unknown = max(map(len, scores)), min(scores.values()) - 10
    best = [0.0]
    for end in range(1, len(text) + 1):
        found = best[end - 1] + unknown
        for start in range(max(0, end - longest), end):
            piece = text[start:end]
            if piece in scores:
                found = max(found, best[start] + scores[piece])
        best.append(found)
    return best[-1]


def score_of(pieces: list[str], scores: Mapping[str, float], unknown_characters: int) -> float:
    """Return the total score of pieces, of which unknown ones have so many characters together."""
    known = sum(scores[piece] for piece in pieces if piece != UNKNOWN)
    return known + unknown_characters * (min(scores.values()) - 10)
