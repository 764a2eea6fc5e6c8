# Two commands do all the set-up: `make demo` and `make test`. The rest is for those who work on the project.
PYTHON ?= python3
BIN := .venv/bin
SOURCES := ape eval prompts serve tests benchmarks

.PHONY: demo test check bench lint types clean

demo: .venv/base
	$(BIN)/ape demo

test: .venv/dev
	$(BIN)/python -m pytest -n 2 --dist worksteal

check: lint types test

lint: .venv/dev
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)

types: .venv/dev
	$(BIN)/mypy

bench: .venv/dev
	$(BIN)/python -m benchmarks

# The constraints are the versions that the tests last passed with; without them a fresh machine would test
# whatever was released this morning.
.venv/base: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[hub]'
	touch $@

.venv/dev: .venv/base
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

clean:
	rm -rf .venv out
