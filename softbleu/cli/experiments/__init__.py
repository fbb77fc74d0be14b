"""`softbleu experiments`: a command a file; each does its work by one call to the library."""

from softbleu.cli.experiments.run import run_experiment
from softbleu.cli.experiments.spurious import spurious
from softbleu.cli.groups import make_group

experiments_app = make_group(
    "experiments",
    "Experiments: from a file that defines them, and which credit is spurious.",
    run_experiment,
    spurious,
)
