"""Record what SimulEval 1.1.4, OmniSTEval 0.1.10 and simulstream 1.0.0 make of logs that are made up.

Run with these installed (without their dependencies, which are heavy, and with textgrid, PyYAML, sacrebleu, requests,
tornado, tqdm, pandas): ``PYTHONPATH=tests python tests/golden/make_latency.py`` writes ``latency.json`` beside this
script. It has the mean of each latency and, of every tenth segment, the latency of the segment; and the words of the
recordings of a simulstream log with their delays, and their normalized erasure. SimulEval takes the logs that it
writes for those of speech; ATD of text is that of its instances of text.
"""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import yaml
from made_up_logs import recordings, speech_log, streamed, text_log, write_log
from omnisteval.io import load_resegmentation_inputs, load_shortform_instances
from omnisteval.resegment import resegment
from omnisteval.scoring import (
    ALScorer,
    APScorer,
    DALScorer,
    LAALScorer,
    YAALScorer,
    evaluate_instances,
)
from simuleval.evaluator.instance import LogInstance, TextInputInstance
from simuleval.evaluator.scorers.latency_scorer import LATENCY_SCORERS_DICT
from simulstream.metrics.readers import LogReader
from simulstream.metrics.stats import NormalizedErasure

HERE = Path(__file__).resolve().parent
EVERY = 10
OWN = {"al": ALScorer, "laal": LAALScorer, "ap": APScorer, "dal": DALScorer, "yaal": YAALScorer}


class TextInstance(TextInputInstance):
    """An instance of text, made of an entry of a log."""

    source_length = 0

    def __init__(self, entry: dict[str, Any]) -> None:
        vars(self).update(entry, metrics={})


def by_simuleval(entries: list[dict[str, Any]], computation_aware: bool) -> dict[str, Any]:
    """Means and latencies of segments by SimulEval."""
    made: dict[str, Any] = {}
    for name in ("AL", "LAAL", "AP", "DAL", "StartOffset", "EndOffset"):
        instances = {number: LogInstance(json.dumps(entry)) for number, entry in enumerate(entries)}
        mean = LATENCY_SCORERS_DICT[name](computation_aware=computation_aware)(instances)
        made[name.lower()] = {
            "mean": mean,
            "segments": [instances[number].metrics.get(name) for number in range(0, len(entries), EVERY)],
        }
    instance = TextInstance if isinstance(entries[0]["source"], str) else lambda entry: LogInstance(json.dumps(entry))
    scorer = LATENCY_SCORERS_DICT["ATD"](computation_aware=computation_aware)
    alone = [scorer({0: instance(entry)}) if entry["delays"] else None for entry in entries]
    made["atd"] = {
        "mean": scorer({number: instance(entry) for number, entry in enumerate(entries)}),
        "segments": alone[::EVERY],
    }
    return made


def by_omnisteval(instances: Any, computation_aware: bool, is_longform: bool) -> dict[str, Any]:
    """Means by OmniSTEval, and latencies of segments, each of which is a corpus of its own."""
    made: dict[str, Any] = {}
    for name, scorer in OWN.items():
        more = {"is_longform": is_longform} if name == "yaal" else {}
        score = scorer(computation_aware=computation_aware, **more)
        alone = [score([instance]) for instance in instances[::EVERY]]
        made[name] = {"mean": score(instances), "segments": [None if one != one else one for one in alone]}
    return made


def main() -> None:
    """Write the values of all programs."""
    made: dict[str, Any] = {}
    with TemporaryDirectory() as folder:
        for kind, entries in (("text", text_log()), ("speech", speech_log())):
            place = write_log(entries, Path(folder, f"{kind}.log"))
            instances = load_shortform_instances(str(place), None, "delays", "elapsed")
            awareness = [False, True] if kind == "speech" else [False]
            made[kind] = {
                "simuleval": {str(aware): by_simuleval(entries, aware) for aware in awareness},
                "omnisteval": {str(aware): by_omnisteval(instances, aware, False) for aware in awareness},
            }
            scores = evaluate_instances(instances, is_longform=False, compute_quality=False)[0]
            made[kind]["degeneracy"] = {name: scores[name] for name in ("swf", "efsw", "dsptv", "degenerate_policy")}
        log, segments, references = recordings()
        place = write_log(log, Path(folder, "long.log"))
        Path(folder, "segments.yaml").write_text(yaml.safe_dump(segments), encoding="utf-8")
        Path(folder, "references.txt").write_text("\n".join(references) + "\n", encoding="utf-8")
        inputs = load_resegmentation_inputs(
            str(Path(folder, "segments.yaml")), None, str(Path(folder, "references.txt")), str(place)
        )
        instances, dicts = resegment(*inputs, lang=None)
        made["recordings"] = {
            "resegmented": dicts,
            "omnisteval": {str(aware): by_omnisteval(instances, aware, True) for aware in (False, True)},
        }
        place = write_log(streamed(), Path(folder, "streamed.jsonl"))
        config = SimpleNamespace(detokenizer_type="simuleval", latency_unit="spm")
        made["streamed"], made["erasure"] = {}, {}
        for unit in ("word", "char"):
            reader = LogReader(config, str(place), unit)
            made["erasure"][unit] = NormalizedErasure().compute(reader)
            outputs = reader.final_outputs_and_latencies()
            made["streamed"][unit] = {
                name: {
                    "text": output.final_text,
                    "delays": output.ideal_delays,
                    "elapsed": output.computational_aware_delays,
                }
                for name, output in outputs.items()
            }
    (HERE / "latency.json").write_text(json.dumps(made, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
