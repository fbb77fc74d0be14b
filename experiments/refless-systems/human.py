"""Put the names of the systems beside SEEDA's scores by people, for refless-systems.toml.

python experiments/refless-systems/human.py
"""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).resolve().parent
SEEDA = HERE.parents[2] / "shared" / "data" / "seeda"


def main() -> None:
    """Write human/*.tsv; the scores are in the alphabetical order of the systems."""
    systems = sorted(path.stem for path in (SEEDA / "systems").iterdir())
    (HERE / "human").mkdir(exist_ok=True)
    for path in sorted((SEEDA / "human").glob("*.txt")):
        scores = path.read_text(encoding="utf-8").split()
        lines = [f"{system}\t{score}\n" for system, score in zip(systems, scores, strict=True)]
        (HERE / "human" / f"{path.stem}.tsv").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
