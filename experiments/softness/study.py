"""Make the whole study: tables, answers, what became of predictions, pages, the paper's tables; and say what it took.

python experiments/softness/study.py              from the data to the pages
python experiments/softness/study.py --data FOLDER

Scores and tables are kept in build/, so that a second run only reads them.
"""

import argparse
import resource
import subprocess
import sys
from pathlib import Path

from sets import DATA, HERE, report

PARTS = ("make", "questions", "languages", "predict", "page")


def main() -> None:
    """Run the parts, one after another; the first that fails ends it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    data = ["--data", str(parser.parse_args().data)]
    spent = 0.0
    for part in PARTS:
        done = subprocess.run([sys.executable, HERE / f"{part}.py", *data[: 2 * (part != "page")]], check=False)
        if done.returncode:
            sys.exit(f"{part}.py ended with exit code {done.returncode}")
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        report(f"{part}.py: {used.ru_utime + used.ru_stime - spent:.0f} s of CPU time")
        spent = used.ru_utime + used.ru_stime
    report(f"all: {spent / 60:.1f} CPU-min, peak {used.ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
