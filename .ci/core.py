"""Print core.txt: what softbleu needs but the packages that the extras `train` and `neighbours` name."""

import tomllib
from pathlib import Path


def main() -> None:
    """Print the requirements of the core, a line each."""
    path = Path(__file__).resolve().parents[1] / "pyproject.toml"
    project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    left_out = {needed for extra in ("train", "neighbours") for needed in project["optional-dependencies"][extra]}
    print("# softbleu's core without gensim and FAISS: pip install -r core.txt, then pip install --no-deps softbleu")
    print(*(needed for needed in project["dependencies"] if needed not in left_out), sep="\n")


if __name__ == "__main__":
    main()
