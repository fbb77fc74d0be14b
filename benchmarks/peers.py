"""Peers that have no command of their own: read two files, print a corpus BLEU."""

from __future__ import annotations

import sys
from pathlib import Path


def main(peer: str, candidate: str, reference: str, tokenize: str = "13a") -> None:
    candidates = Path(candidate).read_text(encoding="utf-8").split("\n")[:-1]
    references = Path(reference).read_text(encoding="utf-8").split("\n")[:-1]
    if peer == "bleuscore":
        from bleuscore import compute  # splits as sacrebleu's 13a, always

        print(compute([[line] for line in references], candidates, max_order=4)["bleu"])
    else:
        import sacrebleu_mojo

        print(sacrebleu_mojo.corpus_bleu(candidates, [references], tokenize=tokenize).score)


if __name__ == "__main__":
    main(*sys.argv[1:])
