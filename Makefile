# Two commands matter: `make demo` and `make test`. Each sets everything up first.
# Needs Python 3.11 or newer, a C++ compiler and Git. VENV=… puts the environment elsewhere;
# what is slow to build or fetch is kept in the user's cache folder (VAULT_KG_CACHE=… changes that).

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
JOBS ?= 2

.PHONY: help setup model demo test check docs bench clean

help:  ## show this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: $(BIN)/.ready  ## make the environment: packages, llama.cpp, the embedding model

$(BIN)/.ready: pyproject.toml requirements.lock scripts/build_llama.py vault_kg/index/stamps.c
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; give one with PYTHON=…")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing packages"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	@$(BIN)/python scripts/build_llama.py --jobs $(JOBS)
	@$(BIN)/vault-kg models fetch
	@touch $@

demo: setup  ## show the main job on a copy of the sample vault
	@$(BIN)/python scripts/demo.py

test: setup check  ## check the code and run every test
	@$(BIN)/python -m pytest -n $(JOBS) --dist loadscope

check: setup  ## formatting, lint and types
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy

docs: setup  ## write the generated pages of docs/reference
	@$(BIN)/python scripts/reference.py

bench: setup  ## run the benchmarks that need no data of others
	@for b in startup commit embedding; do $(BIN)/python benchmarks/$$b.py; done

clean:  ## remove the environment and what tests and demo left
	rm -rf $(VENV) vault_kg/index/_stamps.* state/demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
