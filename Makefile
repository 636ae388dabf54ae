.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.stamp

.PHONY: help demo test lint types floors unit bench live clean

help: ## list the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

demo: $(STAMP) ## make the environment and print the report of the bundled sample cluster
	@$(BIN)/ksolver analyze --demo

test: lint types floors unit ## lint, types, import floors, tests (no server needed)

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

floors: $(STAMP)
	$(BIN)/lint-imports

unit: $(STAMP)
	$(BIN)/python -m pytest -n 2 --dist worksteal -m 'not live'

live: $(STAMP) ## tests against real servers that they start themselves (slow ones: pytest -m 'live and slow')
	$(BIN)/python -m pytest -m 'live and not slow' tests/live

bench: $(STAMP) ## measure the solver and its rivals on this machine
	$(BIN)/python -m tests.bench

clean: ## remove the environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build
