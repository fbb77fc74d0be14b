"""Latencies word by word, as their papers write them."""

from collections.abc import Sequence


def lagging(delays: Sequence[float], source: float, length: float) -> float:
    """AL with this length of the ideal translation."""
    if delays[0] > source:
        return delays[0]
    total, count = 0.0, 0
    for place, delay in enumerate(delays):
        total += delay - place * source / length
        count += 1
        if delay >= source:
            break
    return total / count


def atd(delays: Sequence[float], computing: Sequence[float], size: float, spoken: float) -> float:
    """ATD: source tokens have a size, and words of the output take a time."""
    chunks: list[list[float]] = []
    for delay in delays:
        if chunks and chunks[-1][0] == delay:
            chunks[-1].append(delay)
        else:
            chunks.append([delay])
    heard, read, words, clock, total = [0.0], 0.0, 0, 0.0, 0.0
    for chunk in chunks:
        ahead = max(0, words - (len(heard) - 1))
        while read < chunk[0]:
            read = min(read + size, chunk[0])
            heard.append(read)
        for delay in chunk:
            words += 1
            clock = max(clock, delay) + spoken + computing[words - 1]
            total += clock - heard[min(words - ahead, len(heard) - 1)]
    return total / len(delays)


def al(delays: Sequence[float], source: float, reference: int) -> float:
    return lagging(delays, source, reference)


def laal(delays: Sequence[float], source: float, reference: int) -> float:
    return lagging(delays, source, max(reference, len(delays)))


def ap(delays: Sequence[float], source: float, reference: int) -> float:
    return sum(delays) / (source * reference)


def dal(delays: Sequence[float], source: float, reference: int) -> float:
    step, total, before = source / len(delays), 0.0, 0.0
    for place, delay in enumerate(delays):
        before = delay if place == 0 else max(delay, before + step)
        total += before - place * step
    return total / len(delays)


def yaal(delays: Sequence[float], source: float, reference: int, end: float | None = None) -> float | None:
    total, count = 0.0, 0
    for place, delay in enumerate(delays):
        if delay >= (source if end is None else end):
            break
        total += delay - place * source / max(reference, len(delays))
        count += 1
    return total / count if count else None
