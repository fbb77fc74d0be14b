"""Logs of simultaneous translation that are made up by a seeded generator, with odd segments among ordinary ones."""

import json
import random
from pathlib import Path
from typing import Any

WORDS = (
    "the",
    "a",
    "cat",
    "dog",
    "sat",
    "slept",
    "on",
    "under",
    "mat",
    "roof",
    "and",
    "then",
    "it",
    "rained",
    "all",
    "day",
)
WORDS += ("while", "we", "stayed", "home")
SEGMENTS = 200


def text_log() -> list[dict[str, Any]]:
    """Segments of text, as SimulEval logs them: delays are words of the source, no time is taken."""
    draw = random.Random(64)
    return [_text_segment(draw, index) for index in range(SEGMENTS)]


def _text_segment(draw: random.Random, index: int) -> dict[str, Any]:
    source = draw.choices(WORDS, k=draw.randint(1, 30))
    reference = draw.choices(WORDS, k=draw.randint(1, 30))
    prediction = draw.choices(WORDS, k=draw.randint(1, 35))
    wait = draw.randint(1, 6)
    delays = [min(wait + place, len(source)) for place in range(len(prediction))]
    if index % 20 == 3:  # All words at the end
        delays = [len(source)] * len(prediction)
    elif index % 20 == 7:  # Words in bursts
        delays = sorted(draw.randint(1, len(source)) for _ in prediction)
    elif index % 20 == 11:
        prediction, delays = [], []
    return {
        "index": index,
        "prediction": " ".join(prediction),
        "delays": delays,
        "elapsed": [0] * len(delays),
        "prediction_length": len(prediction),
        "reference": " ".join(reference),
        "source": " ".join(source),
        "source_length": len(source),
    }


def speech_log() -> list[dict[str, Any]]:
    """Segments of speech, as SimulEval logs them: milliseconds, with and without the time of computing."""
    draw = random.Random(65)
    return [_speech_segment(draw, index) for index in range(SEGMENTS)]


def _speech_segment(draw: random.Random, index: int) -> dict[str, Any]:
    length = draw.randint(16_000, 320_000) / 16  # Samples at 16 kHz
    reference = draw.choices(WORDS, k=draw.randint(1, 40))
    prediction = draw.choices(WORDS, k=draw.randint(1, 45))
    step, wait = draw.choice([320.0, 640.0, 960.0]), draw.randint(1, 8)
    delays = [min((wait + place * draw.choice([1, 1, 1.5]) // 1) * step, length) for place in range(len(prediction))]
    if index % 20 == 3:  # All words at the end
        delays = [length] * len(prediction)
    elif index % 20 == 7:  # One early word, the others at the end
        delays = [step, *[length] * (len(prediction) - 1)]
    elif index % 20 == 11:
        prediction, delays = [], []
    elif index % 20 == 15:  # Words after the end, as of a system that waits for silence
        delays = [delay + length / 2 for delay in delays]
    delays.sort()
    elapsed, spent = [], 0.0
    for delay in delays:
        spent += draw.random() * 90
        elapsed.append(delay + spent)
    return {
        "index": index,
        "prediction": " ".join(prediction),
        "delays": delays,
        "elapsed": elapsed,
        "prediction_length": len(prediction),
        "reference": " ".join(reference),
        "source": [f"recording_{index}.wav", "samplerate: 16000 Hz"],
        "source_length": length,
    }


def write_log(entries: list[dict[str, Any]], place: Path) -> Path:
    """Write a log with one entry per line."""
    place.write_text("".join(f"{json.dumps(entry)}\n" for entry in entries), encoding="utf-8")
    return place


def recordings() -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[str]]:
    """Make a log of two recordings, the segments in them, and their references."""
    draw = random.Random(66)
    log, segments, references = [], [], []
    for name in ("talk_1", "talk_2"):
        clock, words, delays = 2.0, [], []
        for _ in range(15):
            reference = draw.choices(WORDS, k=draw.randint(4, 15))
            duration = round(0.4 * len(reference), 2)
            said = [word if draw.random() < 0.8 else draw.choice(WORDS) for word in reference]
            said = said[: len(said) - draw.randint(0, 2)]
            spoken = [clock + duration * (place + 1) / len(said) for place in range(len(said))]
            words += [*said[:-1], f"{said[-1]}."]
            delays += [1000 * (time + draw.choice([0.5, 1.0, 2.0])) for time in spoken]
            references.append(" ".join(reference) + ".")
            segments.append({"wav": f"{name}.wav", "offset": round(clock, 2), "duration": duration})
            clock += duration + draw.choice([0.0, 0.5])
        end = 1000 * (clock + 1)
        delays = [min(delay, end) for delay in sorted(delays)]
        elapsed = [delay + 40 * place**0.5 for place, delay in enumerate(delays, start=1)]
        log.append(
            {
                "index": len(log),
                "prediction": " ".join(words),
                "delays": delays,
                "elapsed": elapsed,
                "reference": "",
                "source": [f"{name}.wav"],
                "source_length": end,
            }
        )
    return log, segments, references


def streamed() -> list[dict[str, Any]]:
    """Make a log of simulstream with two recordings, in pieces of SentencePiece, of which some are taken back."""
    draw = random.Random(67)
    lines: list[dict[str, Any]] = [{"model_loading_time": 4.5}]
    for number, name in enumerate(("talk_1", "talk_2")):
        lines.append({"id": number, "metadata": {"wav_name": f"wavs/{name}.wav"}})
        tokens: list[str] = []
        for step in range(1, 41):
            back = draw.choice([0, 0, 0, 1, 2, 3]) if len(tokens) > 3 else 0
            deleted = tokens[len(tokens) - back :]
            given = [
                piece
                for word in draw.choices(WORDS, k=draw.choice([0, 1, 2]))
                for piece in ([f"\u2581{word[:2]}", word[2:]] if len(word) > 3 else [f"\u2581{word}"])
            ]
            if deleted and not deleted[0].startswith("\u2581") and draw.random() < 0.5:
                given = ["ly", *given]
            tokens = tokens[: len(tokens) - back] + given
            lines.append(
                {
                    "id": number,
                    "total_audio_processed": step * 0.5,
                    "computation_time": draw.random() * 0.2,
                    "generated_tokens": given,
                    "deleted_tokens": deleted,
                }
            )
    return lines
