"""Words that we and other programs cut into another segment, in recordings whose segments are known.

python experiments/simultaneous/cuts.py FOLDER

Recordings are outputs of systems for talks and documents, joined, each word with a time after its segment began.
Every other one is made worse: lines left out, of other texts, in loops or cut short; full stops and capitals lost;
laughter in brackets. The first run writes them as cases.json into the folder. With OmniSTEval or mweralign installed,
and run by its name (cuts.py FOLDER omnisteval), the script writes their cuts. Without a name it counts them and ours
in cuts.csv: per cent of words in another segment than they were said in, and the mean distance of a recording's YAAL
and LAAL, in milliseconds, from the figures of the known segments.
"""

from __future__ import annotations

import csv
import json
import random
import sys
from collections import defaultdict
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

Case = dict[str, Any]
HERE = Path(__file__).resolve().parent
DATA = HERE.parents[2] / "shared" / "data"
LINES = 40  # Of a recording, where documents are not named
SETS = {  # File, reference, recordings, language
    "ted-en-de": ("mqm-ted-en-de/judged.tsv", "ref", 20, "de"),
    "ted-zh-en": ("mqm-ted-zh-en/judged.tsv", "ref_a", 20, "en"),
    "wmt23-en-de": ("second/wmt23-en-de-esa.tsv", "reference", 6, "de"),
    "chat24-en-fr": ("second/chat24-en-fr.tsv", "reference", 6, "fr"),
    "wmt20-en-cs": ("second/wmt20-en-cs.tsv", "reference", 6, "cs"),
    "bio-en-fr": ("second/bio-en-fr.tsv", "reference", 6, "fr"),
}


def worse(draw: random.Random, lines: list[str], others: list[str]) -> list[list[str]]:
    """Words of outputs that leave out, repeat and invent, and of which some ends of sentences are lost."""
    made = []
    for line in lines:
        words, kind = line.split(), draw.random()
        if kind < 0.06:
            words = []
        elif kind < 0.14:
            words = draw.choice(others).split()
        elif kind < 0.18 and len(words) > 4:
            place = draw.randint(1, len(words) - 3)
            words = words[:place] + words[place : place + 3] * draw.randint(3, 8)
        elif kind < 0.24:
            words = ["(Applause)", *words] if draw.random() < 0.3 else [*words, "(Laughter)"]
        elif kind < 0.34:
            words = words[: max(1, 2 * len(words) // 3)]
        made.append(words)
    for one, other in pairwise(made):
        if one and other and draw.random() < 0.3:
            one[-1] = one[-1].rstrip(".!?") + ","
            other[0] = other[0][:1].lower() + other[0][1:]
    return made


def make_cases() -> list[Case]:
    """Make the recordings of all sets."""
    draw, cases = random.Random(83), []
    csv.field_size_limit(1 << 30)
    for name, (file, reference, count, language) in SETS.items():
        with (DATA / file).open(encoding="utf-8") as stream:
            rows = [*csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)]
        texts: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
        for row in rows:
            document = row.get("document") or str(int(row["segment"]) // LINES)
            texts[row["system"], document].append((row["candidate"], row[reference]))
        every = [row["candidate"] for row in rows]
        for number, key in enumerate(draw.sample(sorted(key for key in texts if len(texts[key]) > 9), count)):
            lines, references = (list(each) for each in zip(*texts[key][: 2 * LINES], strict=True))
            said = worse(draw, lines, every) if number % 2 else [line.split() for line in lines]
            cases.append({"set": name, "worse": number % 2, "language": language, "references": references})
            cases[-1] |= timed(draw, said, references)
    return cases


def timed(draw: random.Random, said: list[list[str]], references: list[str]) -> Case:
    """Time words 1 to 4 seconds after they were said, in segments of .4 seconds a word of the reference."""
    clock, spans, words, times, segments = 0.0, [], [], [], []
    for number, (line, reference) in enumerate(zip(said, references, strict=True)):
        length = 0.4 * max(2, len(reference.split()))
        spans.append((clock, length))
        for place, word in enumerate(line, start=1):
            times.append(1000 * (clock + length * place / len(line) + draw.choice([1, 2, 2.5, 4])))
            words.append(word)
            segments.append(number)
        clock += length + draw.choice([0, 0.4])
    return {"spans": spans, "words": words, "times": [*accumulate(times, max)], "segments": segments}


def by_omnisteval(case: Case) -> list[int]:
    """Segments of words by OmniSTEval; -1 of a word that it drops."""
    from omnisteval.alignment import Word, align_sequences, process_alignment
    from omnisteval.tokenization import tokenize_words

    said = [Word(word, emission_cu=place) for place, word in enumerate(case["words"])]
    texts = enumerate(case["references"])
    references = [Word(word, seq_id=number) for number, text in texts for word in text.lower().split()]
    (references,), (said,) = (tokenize_words([words], case["language"]) for words in (references, said))
    found = [-1] * len(case["words"])
    for word in process_alignment(*align_sequences(references, said, False), False):
        if word.main:
            found[word.emission_cu] = word.seq_id
    return found


def by_mweralign(case: Case) -> list[int]:
    """Segments of words by mwerSegmenter, as simulstream calls it."""
    from mweralign import mweralign

    lines = mweralign.align_texts("\n".join(case["references"]), " ".join(case["words"])).split("\n")
    return [number for number, line in enumerate(lines) for _ in line.split()]


def by_us(case: Case, *, speech: bool) -> list[int]:
    """Segments of words by `cut_recordings`, or by `resegment`, which knows no times."""
    import numpy as np

    from softbleu.corpora.logs import Emission, Log
    from softbleu.corpora.recordings import SpokenSegment, cut_recordings
    from softbleu.corpora.resegment import resegment

    references = [[text] for text in case["references"]]
    if not speech:
        texts = resegment([" ".join(case["words"])], references).texts
    else:
        whole = Emission(" ".join(case["words"]), np.array(case["times"]), source="talk.wav")
        spans = [SpokenSegment("talk", 1000 * offset, 1000 * length) for offset, length in case["spans"]]
        texts = [part.text for part in cut_recordings(Log("talk", [whole]), spans, references).emissions]
    owners = [number for number, text in enumerate(texts) for _ in "".join(text.split())]
    return [owners[end - 1] for end in accumulate(map(len, case["words"]))]


def latencies(case: Case, segments: list[int]) -> tuple[float, float]:
    """YAAL and LAAL of a recording whose words are in these segments."""
    import numpy as np

    from softbleu.metrics.latency import length_adaptive_average_lagging, yet_another_average_lagging

    end, found = 1000 * sum(case["spans"][-1]), []
    for number, ((offset, length), text) in enumerate(zip(case["spans"], case["references"], strict=True)):
        delays = [time for time, place in zip(case["times"], segments, strict=True) if place == number]
        if delays:
            given = np.array(delays) - 1000 * offset, 1000 * length, len(text.split())
            found.append(
                (yet_another_average_lagging(*given, end - 1000 * offset), length_adaptive_average_lagging(*given))
            )
    yaal, laal = np.nanmean(found, axis=0).tolist()
    return yaal, laal


def count(folder: Path, cases: list[Case]) -> None:
    """Write cuts.csv."""
    programs = {
        "softbleu, recordings": [by_us(case, speech=True) for case in cases],
        "softbleu, text": [by_us(case, speech=False) for case in cases],
    }
    programs |= {
        file.stem: json.loads(file.read_text()) for file in sorted(folder.glob("*.json")) if file.stem != "cases"
    }
    with (HERE / "cuts.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["set", "outputs", "program", "recordings", "words", "wrong", "yaal", "laal"])
        for chosen, worsened in [(name, kind) for name in [*SETS, "all"] for kind in (0, 1)]:
            some = [k for k, case in enumerate(cases) if chosen in (case["set"], "all") and case["worse"] == worsened]
            known = {k: latencies(cases[k], cases[k]["segments"]) for k in some}
            words = sum(len(cases[k]["words"]) for k in some)
            for program, cuts in programs.items():
                wrong = sum(a != b for k in some for a, b in zip(cuts[k], cases[k]["segments"], strict=True))
                found = {k: latencies(cases[k], cuts[k]) for k in some}
                far = [sum(abs(known[k][at] - found[k][at]) for k in some) / len(some) for at in (0, 1)]
                row = [chosen, "made worse" if worsened else "as they are", program, len(some), words]
                writer.writerow([*row, f"{100 * wrong / words:.2f}", *(f"{each:.0f}" for each in far)])


def main(folder: Path, program: str = "") -> None:
    """Make recordings, cut them by another program, or count all cuts."""
    place = folder / "cases.json"
    if not place.exists():
        place.write_text(json.dumps(make_cases()), encoding="utf-8")
    cases: list[Case] = json.loads(place.read_text(encoding="utf-8"))
    if not program:
        return count(folder, cases)
    cut = {"omnisteval": by_omnisteval, "mweralign": by_mweralign}[program]
    return (folder / f"{program}.json").write_text(json.dumps([cut(case) for case in cases])) and None


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
