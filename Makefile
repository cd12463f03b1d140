# Everything happens in .venv; nothing is installed globally.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: train test lint slow bench docs clean

train: $(VENV)/installed
	rm -rf runs/first
	$(BIN)/ckgnn train ckgcn --dataset debian-topics --split public --control --compare gcn --out runs/first

test: $(VENV)/installed-dev
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m "not slow and not network"

slow: $(VENV)/installed-dev
	$(BIN)/python -m pytest -m "slow or network"

bench: $(VENV)/installed
	$(BIN)/ckgnn bench --out runs/bench.json

docs: $(VENV)/installed-dev
	$(BIN)/python -m sphinx -W --keep-going -n -q -d docs/_build/doctrees docs docs/_build/html

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

$(VENV)/installed: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("ckgnn needs Python 3.10 or newer; name one with: make PYTHON=python3.11 ...") if sys.version_info < (3, 10) else None'
	test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

$(VENV)/installed-dev: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) runs build dist docs/_build *.egg-info src/*.egg-info
