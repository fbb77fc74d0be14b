# What a developer does often; `just` lists it.

default:
    @just --list

# All tests
test:
    pytest -q

# Every reader on files damaged in ways never tried before, so many times
campaign times="100":
    SOFTBLEU_CAMPAIGN={{times}} pytest -q tests/adversarial

# Style, types and the import contract
lint:
    ruff check .
    ruff format --check .
    mypy
    lint-imports

# The page of all options
options:
    python docs/reference/make_cli.py

# The site, in build/site
site:
    mkdocs build --strict

# This project beside its peers
bench:
    python benchmarks/run.py

# The gate, as on a new machine
ci:
    .ci/run
