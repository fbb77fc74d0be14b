# What a developer does often; `just` lists it.

default:
    @just --list

# The first tier of tests
test:
    pytest -q

# The second tier: sites, installations, browsers, kills, whole corpora
slow:
    pytest -q --all -m slow --dist=loadgroup

# Whole corpora alone (needs ../shared)
real:
    pytest -q tests/real --all --dist=loadgroup

# The published figures, made again (all of them, or those named) and noted in tests/real/headlines.record.tsv
headlines *names:
    PYTHONPATH=tests python tests/real/headlines.py {{names}}

# The heads of the trained metric, made again of all their judgements (minutes)
heads:
    SOFTBLEU_HEADS=1 pytest -q --all tests/test_trained.py -k recipe

# Damage never tried before, so many times; kills at every step; every way of running
damage times="100":
    SOFTBLEU_CAMPAIGN={{times}} pytest -q tests/adversarial --all

# Honest and hostile cases of every class: what must come out does; writes the table of docs/reference/reliability.md
campaign *options:
    PYTHONPATH=tests python tests/adversarial/campaign.py --page {{options}}

# Inputs made by coverage, for so many minutes of CPU time (needs atheris; SOFTBLEU_FUZZ is the folder of those kept)
fuzz minutes="30" *which:
    PYTHONPATH=tests python tests/adversarial/fuzz.py {{minutes}} {{which}}

# Metrics that threads and processes share, for so many minutes: the same digits, flat memory
soak minutes="60":
    python tests/adversarial/soak.py {{minutes}}

# The guide's way from an agent to a log, by the command of SimulEval, whose own pins cannot be installed here (needs uv)
simuleval:
    uv venv --quiet --allow-existing build/simuleval
    uv pip install --quiet --python build/simuleval --no-deps simuleval==1.1.4
    uv pip install --quiet --python build/simuleval pandas pytest pyyaml requests sacrebleu soundfile textgrid tornado tqdm
    PATH="$PATH:$PWD/build/simuleval/bin" pytest -q --all -n0 tests/cli/test_simultaneous.py -k simuleval_writes

# The versions that the gate installs, anew (needs uv)
lock:
    #!/usr/bin/env bash
    set -euo pipefail
    pinned=$(uv pip compile pyproject.toml --quiet --extra test --group dev --universal --python-version 3.11 --no-header --no-annotate)
    { head -n 1 .ci/lock.txt; echo "$pinned"; } > .ci/lock.new
    mv .ci/lock.new .ci/lock.txt

# The list of the core's dependencies, made of pyproject.toml
core:
    python .ci/core.py > core.txt

# What a release uploads, checked by programs of others (needs the group `release`, uv and npm)
release-check:
    python .ci/release_check.py

# Whether faults are known of them (needs pip-audit, and pypi.org itself)
audit:
    pip-audit --requirement .ci/lock.txt --no-deps --disable-pip

# Style, prose, types and the import contract
lint:
    ruff check .
    ruff format --check .
    python docs/prose.py
    mypy
    lint-imports

# Lines of code by layer, beside those of the last release
size:
    python benchmarks/size.py

# The page of all options
options:
    python docs/reference/make_cli.py

# The site, in build/site
site:
    mkdocs build --strict

# The pictures of README and guides, made again (needs chromium)
pictures:
    python docs/pictures.py

# Screenshots of every kind of page, wide and narrow, light and dark, to look at (needs chromium)
screenshots folder="build/screenshots":
    python docs/pictures.py --all {{folder}}

# This project and its peers: measures and writes the table of docs/reference/performance.md
bench *options:
    python benchmarks/table.py {{options}}

# The gate, as on a new machine
ci:
    .ci/run
