# Every target makes its own virtual environment; nothing is needed but Python, pip and make.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
TORCH = 2.13.0
# Small solves are fastest with one BLAS thread; parallel work happens above them.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1
export MKL_NUM_THREADS ?= 1

.PHONY: demo test test-torch lint types test-slow docs clean

demo: $(VENV)/.demo
	$(BIN)/s2mam demo

test: $(VENV)/.test lint types
	$(BIN)/python -m pytest -n 2

# The networks of the baselines; torch is large, so that only these tests bring it.
test-torch: $(VENV)/.torch
	$(BIN)/python -m pytest -n 2 -m 'torch and not slow'

test-slow: $(VENV)/.test
	$(BIN)/python -m pytest -n 2 -m slow

docs: $(VENV)/.docs
	$(BIN)/sphinx-build -W -E -a -b html docs docs/_build/html

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

$(VENV)/.torch: $(VENV)/.test
	$(BIN)/python -m pip install --quiet torch==$(TORCH)
	@touch $@

$(VENV)/.docs: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet -e '.[docs]'
	@touch $@

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache

# ------------------------------------------------------------------------- what users rely on
MINIMUM = build/venv-minimum
FAST = tests/bases tests/bilevel tests/graphs tests/intake tests/losses tests/masks tests/persistence \
	tests/properties tests/solvers tests/estimators tests/model_selection tests/trust tests/cli

NEWEST = build/venv-newest

.PHONY: test-minimum test-newest test-install golden

test-minimum:
	test -x $(MINIMUM)/bin/python || $(PYTHON) -m venv $(MINIMUM)
	$(PYTHON) tests/trust/minimum_versions.py > build/minimum.txt
	$(MINIMUM)/bin/python -m pip install --quiet -c build/minimum.txt -e '.[plot,table,images,progress,files,report]' \
		pytest hypothesis polars cvxpy cloudpickle
	$(MINIMUM)/bin/python -m pip check
	failed=; for folder in $(FAST); do \
		$(MINIMUM)/bin/python -m pytest -q -p no:cacheprovider $$folder || failed="$$failed $$folder"; \
	done; test -z "$$failed" || { echo "failed:$$failed"; exit 1; }

# With another Python: make test-newest PYTHON=python3.13
test-newest:
	test -x $(NEWEST)/bin/python || $(PYTHON) -m venv $(NEWEST)
	$(NEWEST)/bin/python -m pip install --quiet --upgrade --upgrade-strategy eager \
		-e '.[plot,table,images,progress,files,report]' pytest hypothesis polars cvxpy cloudpickle
	$(NEWEST)/bin/python -m pip check
	failed=; for folder in $(FAST); do \
		$(NEWEST)/bin/python -m pytest -q -p no:cacheprovider $$folder || failed="$$failed $$folder"; \
	done; test -z "$$failed" || { echo "failed:$$failed"; exit 1; }

test-install:
	$(PYTHON) tests/trust/install_check.py build/install

golden: $(VENV)/.test
	$(BIN)/python tests/trust/golden_models.py
