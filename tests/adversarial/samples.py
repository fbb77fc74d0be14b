"""Small valid files of every kind that softbleu reads, the commands that read them, and how these should end."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from cli.conftest import Run
from gensim.models import KeyedVectors
from made_up_llama import write_llama
from meteor_data import write_meteor_data

from softbleu.embeddings.convert import convert_vectors
from softbleu.embeddings.neighbours import index_store
from softbleu.encoders.convert import convert_encoder
from softbleu.language.values import VALUES
from softbleu.metrics.heads import FEATURES, TrainedHead

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

TEXTS = {
    "c.txt": "the cat sat on a mat\na small dog barks\n",
    "d.txt": "the cat sits on mat\nthe dog barks loud\n",
    "r.txt": "a cat sat on a mat\nthe little dog barked\n",
    "long.txt": "the cat sat on a mat\na small dog barks\n" * 600,
    "r2.txt": "one cat sat on one mat\na dog was barking\n",
    "s.txt": "the cat sit on a mat\na small dog bark\n",
    "gold.m2": "S the cat sit on a mat\nA 2 3|||Vform|||sits||sat|||REQUIRED|||-NONE-|||0\n"
    "A 1 2|||N|||dog|||REQUIRED|||-NONE-|||1\n\nS a small dog bark\n"
    "A 3 4|||Vform|||barks|||REQUIRED|||-NONE-|||0\n\n",
    "one.m2": "S the cat sit on a mat\nA 2 3|||Vform|||sits|||REQUIRED|||-NONE-|||0\n\nS a small dog bark\n",
    "v.txt": "the 3 4 1\nno 0 1 1\ncat 1 1 1\ndog 1 2 1\nbarks 1 2 2\nbarked 1 2 2.1\n"
    "a 1 0 0\nsmall 1 2 0\nlittle 1 2 .1\n",
    "pairs.tsv": "candidate\treference\nthe cat sat\ta cat sat\na dog\tthe dog\n",
    "pairs.txt": "the cat sat ||| a cat sat\na dog ||| the dog\n",
    "pairs.jsonl": '{"candidate": "the cat sat", "references": ["a cat sat", "a cat"], "source": "the cat sit"}\n'
    * 2,
    "g.cfg": "S -> N V [.6] | 'who' V [.4]\nN -> 'ann' [.5] | 'bob' [.5]\nV -> 'runs' [.5] | 'sleeps' [.5]\n",
    "nbest.jsonl": '{"candidates": ["the cat sat", "a cat sat"], "references": ["a cat"]}\n["it", "it is"]\n',
    "run.json": '{"schema": 1, "signature": "metric:bleu|order:4|version:0.1", "systems": [\n'
    '{"name": "c", "score": 20.5, "segments": [\n{"segment": 1, "score": 3.5}\n]}\n]}\n',
    "words.txt": "cat\ndog\n",
    "data.toml": '[c]\ntitle = "t"\nsource = "s"\nlicence = "CC0-1.0"\n[c.files]\n"a/*.txt" = "b/*.en"\n',
    "data.sha256": f"{'0' * 64}  c/a/b.txt\n{'1' * 64}  c/d.txt\n",
    "sweep.toml": 'kind = "sweep"\n[corpus]\ncandidates = ["c.txt"]\nreferences = ["r.txt"]\n[settings]\n'
    'vectors = "./v.txt"\n[sweep]\nmatchers = ["vleu"]\nthresholds = [0.5]\n',
    "ranks.csv": "srcIndex,judgeId,system1Id,system1rank,system2Id,system2rank\n"
    + "".join(f"{i},j{i % 2},A,{1 + i % 2},B,{2 - i % 2}\n" for i in range(1, 9)),
    "human.tsv": "system\tscore\nA\t0.5\nB\t0.2\nC\t0.4\nD\t0.1\n",
    "metric.json": json.dumps({"systems": [{"name": name, "score": n} for n, name in enumerate("DBCA")]}),
    "metric.tsv": "system\tscore\nA\t0.4\nB\t0.3\nC\t0.5\nD\t0.2\n",
    "da.tsv": "LP\tsource\ttranslation\treference\tHUMAN_score\n"
    + "".join(
        f"x-y\ts\tit is {word}\tit 's all right\t{n}\n" for n, word in enumerate(["right", "wrong", "it", "x"])
    ),
    "ranks.xml": "<appraise-results>\n"
    + "".join(
        f'<ranking-item src-id="{i}" user="j"><translation system="A" rank="{1 + i % 2}"/>'
        f'<translation system="B" rank="{2 - i % 2}"/></ranking-item>\n'
        for i in range(3)
    )
    + "</appraise-results>\n",
    "run.jsonl": "".join(f'{{"system": "c", "metric": "bleu", "segment": {n}, "score": {n}.5}}\n' for n in (1, 2)),
    "labels.txt": "short\nlong\n",
    "brackets.txt": "[the|a] cat (sat|was sitting) on []one mat\na (small|little) dog barks\n",
    "net.jsonl": '[[["the"],["a",1,0.1,"synonym"]],[["cat"],["cat",2,0.2,"paraphrase"]],[["sat"]]]\n[[["dog"]]]\n',
    "net.att": "0 1 the\n1 2 cat\n1 2 dog 0.5\n2\n\n0 1 a\n1 2 dog\n2 0.5\n",
    "m.arpa": "\\data\\\nngram 1=5\nngram 2=2\n\n\\1-grams:\n-99 <s> -0.3\n-1 </s>\n-1 <unk>\n-0.7 the -0.2\n"
    "-0.9 cat\n\n\\2-grams:\n-0.3 <s> the\n-0.4 the cat\n\n\\end\\\n",
    "judged.tsv": "score\tcandidate\treference\n"
    + "".join(f"{-number}\tthe cat{' no' * number}\tthe cat {number}\n" for number in range(1, 9)),
    "head.json": json.dumps(TrainedHead("h", "", "./v.txt", prices=((1.0, 2.0, 3.0),) * len(FEATURES)).content({})),
    "weights.json": json.dumps({"constant": -1, "coefficients": dict.fromkeys(VALUES, 0.5), "fluency": [0, 1]}),
    "aligned.jsonl": '{"candidate": "the cat sat", "reference": "a cat sat", '
    '"alignment": [[0, 0], [1, 1], [2, 2]], "label": "paraphrase"}\n',
}


def make(folder: Path) -> None:
    """Write all samples."""
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    (folder / "c.txt.gz").write_bytes(gzip.compress(TEXTS["c.txt"].encode(), mtime=0))
    table = [line.split() for line in TEXTS["v.txt"].splitlines()]
    vectors = KeyedVectors(3)
    vectors.add_vectors([row[0] for row in table], np.array([row[1:] for row in table], np.float32))
    vectors.save_word2vec_format(str(folder / "v.bin"), binary=True)
    convert_vectors(str(folder / "v.txt"), str(folder / "st"))
    index_store(folder / "st", "hnsw")
    write_llama(folder / "tiny.gguf")
    write_meteor_data(folder / "met")
    convert_encoder(GOLDEN / "encoders" / "bert", folder / "enc")


def mishandled(done: Run) -> str | None:
    """What is wrong with the way in which a command ended: it gives its result, or one line."""
    if done.code not in (0, 2):
        return f"exit code {done.code}"
    if "Traceback" in done.err:
        return "a traceback"
    if CONTROL.search(done.err):
        return "a control character"
    if done.code == 2 and not (done.err.startswith("softbleu: error: ") and done.err.count("\n") == 1):
        return "not one line"
    return "output before an error" if done.code == 2 and done.out else None


def copy(samples: Path, folder: Path) -> None:
    """The samples once more, in a folder of their own."""
    shutil.copytree(samples, folder, dirs_exist_ok=True)


@dataclass(frozen=True)
class Reader:
    """A command, and the file that it is to find damaged."""

    damaged: str
    """Its name, or a pattern."""
    arguments: tuple[str, ...]
    output: str | None = None
    """What it writes."""

    def __str__(self) -> str:
        return f"{self.damaged} {' '.join(self.arguments)}"


def _reader(damaged: str, command: str, output: str | None = None) -> Reader:
    return Reader(damaged, tuple(command.split()) + (() if output is None else ("-o", output)), output)


SCORE = "score -c c.txt -r r.txt r2.txt"
SOFT = "score -c c.txt -r r.txt --matcher vleu -t 0.5 --vectors"
ENCODER = "score -c c.txt -r r.txt -m bertscore --vectors enc"
METEOR = f"{SCORE} -m meteor --meteor-data met"
REFLESS = "score -c c.txt -s s.txt -m refless --coefficients weights.json"
MAKE = "networks make -r"
READERS = [
    *(_reader(name, f"{SCORE} -m bleu chrf ter") for name in ("c.txt", "r2.txt")),
    _reader("c.txt", f"{SCORE} --tokenize 13a --lowercase --level segment -f json", "o.json"),
    _reader("c.txt", "score -c c.txt -r r.txt -m softbleu --vectors v.txt"),
    _reader("c.txt", "compare -c c.txt d.txt -r r.txt r2.txt --samples 20 -f latex"),
    _reader("r.txt", "explain -c c.txt -r r.txt -n 2 --matcher vleu --vectors v.txt"),
    _reader("c.txt", "score -c c.txt -r r.txt --matcher vleu --vectors v.txt -f html", "o.html"),
    _reader("c.txt.gz", "score -c c.txt.gz -r r.txt"),
    _reader("s.txt", "score -c c.txt -r r.txt r2.txt -s s.txt -m gleu"),
    _reader("s.txt", "score -c c.txt -s s.txt -m refless"),
    _reader("s.txt", "edits s.txt c.txt"),
    _reader("gold.m2", "score -c c.txt --gold gold.m2 -m m2 imeasure"),
    _reader("gold.m2", "score -c c.txt --gold gold.m2 -m m2 --level segment -f jsonl", "o.jsonl"),
    _reader("one.m2", "score -c one.m2 -r r.txt -s s.txt -m cleme"),
    _reader("pairs.tsv", "score --pairs pairs.tsv"),
    _reader("pairs.txt", "score --pairs pairs.txt"),
    _reader("pairs.jsonl", "score --pairs pairs.jsonl -f tsv", "o.tsv"),
    _reader("v.txt", f"{SOFT} v.txt"),
    _reader("v.bin", f"{SOFT} v.bin"),
    Reader("v.txt", ("embeddings", "convert", "v.txt", "new"), "new"),
    _reader("v.txt", "embeddings neighbours cat --vectors v.txt"),
    *(_reader(f"st/{name}", f"{SOFT} st") for name in ("meta.json", "vectors.npy", "vocab.txt")),
    _reader("st/meta.json", "embeddings info st"),
    *(_reader(f"enc/{name}", ENCODER) for name in ("meta.json", "weights.safetensors", "tokenizer.json")),
    _reader("words.txt", "embeddings graph --vocabulary words.txt -t 0.5 --vectors v.txt"),
    _reader("r.txt", "embeddings expand -r r.txt --vectors v.txt --budget 2 -f jsonl"),
    _reader("c.txt", "embeddings train c.txt --dimension 4 --epochs 1 --min-count 1 -o trained"),
    _reader("g.cfg", "corpora generate --grammar g.cfg --count 4"),
    _reader("g.cfg", "corpora generate --grammar g.cfg --pairing paraphrase --count 2 -f jsonl", "o.jsonl"),
    _reader("sweep.toml", "experiments run sweep.toml -o out --no-picture"),
    *(_reader(name, "experiments fetch --list data.toml -d .") for name in ("data.toml", "data.sha256")),
    _reader("sweep.toml", "sweep -c c.txt -r r.txt --matcher vleu --vectors v.txt -t 0.5,0.7"),
    _reader("aligned.jsonl", "experiments spurious --pairs aligned.jsonl --matcher sleu --vectors v.txt -t 0.5"),
    _reader("ranks.csv", "metaeval --rankings ranks.csv --runs 2 --samples 20"),
    _reader("human.tsv", "metaeval --human human.tsv --scores metric.tsv --samples 20"),
    _reader("metric.tsv", "metaeval --human human.tsv --scores metric.tsv --samples 20 -f json"),
    _reader("metric.json", "metaeval --human human.tsv --scores metric.json --samples 20"),
    _reader("da.tsv", "metaeval --da da.tsv -m bleu --samples 20"),
    _reader("da.tsv", "metaeval --da da.tsv -m bleu --samples 20 --table accuracy"),
    _reader("judged.tsv", "train --judgements judged.tsv --vectors v.txt --samples 20", "o.json"),
    _reader("head.json", "score -c c.txt -r r.txt -m trained --head head.json"),
    _reader("nbest.jsonl", "select --lists nbest.jsonl -m chrf", "o.jsonl"),
    _reader("nbest.jsonl", "matrix --lists nbest.jsonl"),
    _reader("run.json", "diff run.json run.json"),
    _reader("run.jsonl", "diff run.jsonl run.json"),
    _reader("ranks.xml", "metaeval --rankings ranks.xml --runs 2 --samples 20"),
    _reader("labels.txt", "compare -c c.txt d.txt -r r.txt --by labels.txt"),
    _reader("c.txt", "language train c.txt -n 2", "o.arpa"),
    *(_reader(name, f"{REFLESS} --language-model m.arpa") for name in ("m.arpa", "weights.json")),
    _reader("tiny.gguf", f"{REFLESS} --language-model tiny.gguf"),
    *(_reader(f"met/synonym/english.{name}", METEOR) for name in ("synsets", "exceptions")),
    _reader("met/data/paraphrase-en.gz", METEOR),
    _reader("met/synonym/english.synsets", f"{MAKE} r.txt --meteor-data met", "o.jsonl"),
    *(_reader("net.jsonl", f"score -c c.txt -r net.jsonl --notation network -m {x}") for x in ("hyter", "netbleu")),
    _reader("net.att", "networks info net.att --notation att"),
    _reader("brackets.txt", f"{MAKE} brackets.txt --notation brackets", "o.jsonl"),
    _reader("net.jsonl", "explain -m hyter --notation network -c c.txt -r net.jsonl"),
    _reader("net.jsonl", "networks info net.jsonl -f json"),
    _reader("net.jsonl", "networks sample net.jsonl --count 3", "o.txt"),
    _reader("net.att", "networks show net.att --notation att --beside c.txt"),
    _reader("g.cfg", "networks make --grammar g.cfg --count 2", "o.jsonl"),
    _reader("st/*.faiss", "embeddings neighbours cat --vectors st --index hnsw"),
]
