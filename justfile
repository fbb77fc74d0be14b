# What a developer does often; `just` lists it.

default:
    @just --list

# All tests
test:
    pytest -q

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
