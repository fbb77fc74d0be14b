"""How the words of two n-grams differ, as the guide says it: one question after the other."""

from collections.abc import Callable, Collection

NGram = tuple[str, ...]


def word_kind(
    one: str, other: str, stem: Callable[[str], str], text: Collection[str], function_words: Collection[str]
) -> str:
    """Kind of two words that differ; ``text`` has all words, as they are written."""

    def is_function(word: str) -> bool:
        return word.lower() in function_words or word.lower() == word.upper()

    def is_name(word: str) -> bool:
        capital = word != "" and word[0] != word[0].lower()
        return capital and word.lower() not in text and not is_function(word)

    if set(one + other) & set("0123456789"):
        return "number or name"
    if stem(one.lower()) == stem(other.lower()):
        return "inflection"
    if is_name(one) or is_name(other):
        return "number or name"
    return "function words" if is_function(one) and is_function(other) else "other words"


def kind(
    x: NGram, y: NGram, stem: Callable[[str], str], text: Collection[str], function_words: Collection[str]
) -> str:
    if len(x) != len(y):
        return "length"
    differing = [place for place in range(len(x)) if x[place].lower() != y[place].lower()]
    if not differing:
        return "case"
    if sorted(word.lower() for word in x) == sorted(word.lower() for word in y):
        return "order"
    kinds = [word_kind(x[place], y[place], stem, text, function_words) for place in differing]
    return kinds[0] if all(one == kinds[0] for one in kinds) else "mixed"
