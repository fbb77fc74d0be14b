"""Train a tiny model by fastText itself, and record the vectors that it gives.

Run with fasttext-community 0.11.9 installed: ``python tests/golden/make_fasttext.py``. Beside this script it writes
``fasttext.bin``, and ``fasttext.json`` with vectors, of length 1, of the words that the model lists and of others.
"""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import fasttext

HERE = Path(__file__).resolve().parent
LINES = ["kočka sedí na rohožce", "pes štěká celou noc", "die Häuser sind alt", "猫 坐在 垫子 上"]
OTHERS = ["kočky", "Haus", "x", "PES", "猫猫", "celouceloucelou"]


def main() -> None:
    """Write both."""
    with TemporaryDirectory() as folder:
        text = Path(folder, "text.txt")
        text.write_text("\n".join(LINES * 500) + "\n", encoding="utf-8")
        small = {"dim": 4, "minCount": 1, "bucket": 40, "minn": 2, "maxn": 4, "thread": 1, "verbose": 0}
        model = fasttext.train_unsupervised(str(text), **small)
    model.save_model(str(HERE / "fasttext.bin"))
    vectors = {word: model.get_word_vector(word).tolist() for word in (*model.words, *OTHERS)}
    kept = {"listed": len(model.words), "vectors": vectors}
    (HERE / "fasttext.json").write_text(json.dumps(kept, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
