"""Record logs that the command of SimulEval 1.1.4 writes with a toy agent of speech, and what it prints of them.

Run with SimulEval installed (without its dependencies, some of which are old, and with textgrid, PyYAML, sacrebleu,
tornado, tqdm, pandas, soundfile, sentencepiece): ``python tests/golden/make_simuleval.py`` writes ``simuleval.json``
and ``simuleval.model``, a sentencepiece model of a few words, beside this script.
"""

import json
import random
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import sentencepiece
import soundfile

HERE = Path(__file__).resolve().parent
NAMES = "AL", "LAAL", "AP", "DAL", "ATD", "StartOffset", "EndOffset"
TEXT = "it rained all day and we stayed at home while the cat slept on the mat"
UNITS = {
    "word": TEXT.split(),
    "char": [*"整天下雨我们留在家里猫睡在垫子上"],
    "spm": ["\u2581it", "\u2581ra", "ined", "\u2581all", "\u2581d", "ay", "\u2581and", "\u2581we"],
}
AGENT = '''
from simuleval.agents import SpeechToTextAgent
from simuleval.agents.actions import ReadAction, WriteAction
from simuleval.utils import entrypoint

UNITS = {units}

@entrypoint
class Toy(SpeechToTextAgent):
    """Gives a unit for each 400 ms of speech, and two more at the end."""

    def policy(self):
        done, ended = len(self.states.target), self.states.source_finished
        due = len(self.states.source) // 6400 + 2 * ended
        if due <= done and not ended:
            return ReadAction()
        return WriteAction("{blank}".join(UNITS[number % len(UNITS)] for number in range(done, due)), finished=ended)
'''


def main() -> None:
    """Run the command for words, characters and subwords, with and without the length of references."""
    draw, made = random.Random(83), {}
    with TemporaryDirectory() as folder:
        place = Path(folder)
        lines = [" ".join(draw.choices(TEXT.split(), k=12)) for _ in range(200)]
        (place / "corpus.txt").write_text("\n".join(lines), encoding="utf-8")
        sentencepiece.SentencePieceTrainer.train(
            input=str(place / "corpus.txt"),
            model_prefix=str(HERE / "simuleval"),
            vocab_size=40,
            hard_vocab_limit=False,
            normalization_rule_name="identity",
        )
        (HERE / "simuleval.vocab").unlink()
        for number in range(4):
            noise = np.random.default_rng(number).normal(0, 0.1, draw.randint(16_000, 96_000)).astype("float32")
            soundfile.write(place / f"{number}.wav", noise, 16_000)
        (place / "source.txt").write_text("".join(f"{place / f'{number}.wav'}\n" for number in range(4)))
        for unit, units in UNITS.items():
            blank = "" if unit == "char" else " "
            (place / "agent.py").write_text(AGENT.format(units=units, blank=blank), encoding="utf-8")
            words = UNITS["char"] if unit == "char" else UNITS["word"]
            references = [blank.join(draw.choices(words, k=draw.randint(3, 14))) for _ in range(4)]
            (place / "target.txt").write_text("\n".join(references) + "\n", encoding="utf-8")
            made[unit] = {}
            for more in ([], ["--computation-aware"], ["--no-use-ref-len"]):
                command = [Path(sys.executable).with_name("simuleval"), "--agent", "agent.py", "--output", "out"]
                files = ["--source", "source.txt", "--target", "target.txt", "--source-segment-size", "320"]
                model = ["--eval-latency-spm-model", HERE / "simuleval.model"] if unit == "spm" else []
                how = ["--eval-latency-unit", unit, *model, "--latency-metrics", *NAMES, "--quality-metrics", "BLEU"]
                subprocess.run([*command, *files, *how, *more], cwd=place, check=True)
                names, values = (place / "out/scores.tsv").read_text(encoding="utf-8").splitlines()
                printed = dict(zip(names.split("\t"), map(float, values.split("\t")), strict=True))
                log = [json.loads(line) for line in (place / "out/instances.log").read_text().splitlines()]
                made[unit][" ".join(more)] = {
                    "printed": {name: printed[name] for name in NAMES},
                    "log": [entry | {"source": [Path(entry["source"][0]).name]} for entry in log],
                }
    text = json.dumps(made, ensure_ascii=False, separators=(",", ":"))
    (HERE / "simuleval.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
