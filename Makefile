# Every target makes its own virtual environment; nothing is needed but Python, pip and make.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
# Small solves are fastest with one BLAS thread; parallel work happens above them.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1
export MKL_NUM_THREADS ?= 1

.PHONY: demo test lint types test-slow docs clean

demo: $(VENV)/.demo
	$(BIN)/s2mam demo

test: $(VENV)/.test lint types
	$(BIN)/python -m pytest -n 2

test-slow: $(VENV)/.test
	$(BIN)/python -m pytest -n 2 -m slow

docs: $(VENV)/.docs
	$(BIN)/sphinx-build -W -b html docs docs/_build/html

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.test
	$(BIN)/mypy

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet -e '.[plot]'
	@touch $@

$(VENV)/.test: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet -e '.[test]'
	@touch $@ $(VENV)/.demo

$(VENV)/.docs: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet -e '.[docs]'
	@touch $@

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache
