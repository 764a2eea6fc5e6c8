# `make demo` and `make test` do all the set-up they need; the other targets are for work on the project.
PYTHON ?= python3
BIN := .venv/bin
VLLM := .venv-vllm
SOURCES := ape eval finetune prompts serve tests benchmarks docs
# The markers of tests/needs.py.
HEAVY := model or browser or postgresql or torch or ray or subprocess or vllm or slow

# Many tests start processes of `ape`, and each would compile all of it again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo quick test test-vllm chaos check lint types docs bench bench-vllm clean

demo: .venv/base
	$(BIN)/ape demo

# Everything that needs neither a model, a browser, PostgreSQL, torch, Ray nor processes of its own.
quick: .venv/dev
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not ($(HEAVY))"

test: .venv/dev
	$(BIN)/python -m pytest -n 2 --dist worksteal

# Tests on a real vLLM, which pins many of its dependencies and so gets an environment of its own (3.5 GB).
test-vllm: .venv/dev $(VLLM)/models/SHA256SUMS
	APE_VLLM_PYTHON=$(CURDIR)/$(VLLM)/bin/python APE_TEST_VLLM_MODELS=$(CURDIR)/$(VLLM)/models \
	  $(BIN)/python -m pytest tests/vllm

# Half an hour of kills, full disks, database restarts, jumps of the clock, broken books and attacks on the service, with figures.
chaos: .venv/dev
	$(BIN)/python -m tests.chaos

check: lint types test

lint: .venv/dev
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)

types: .venv/dev
	$(BIN)/mypy

# The documentation site, in site/; needs no network.
docs: .venv/dev
	$(BIN)/python -m mkdocs build --quiet --strict

bench: .venv/dev
	$(BIN)/python -m benchmarks

# About twenty minutes on a quiet machine.
bench-vllm: .venv/dev $(VLLM)/models/SHA256SUMS
	APE_VLLM_PYTHON=$(CURDIR)/$(VLLM)/bin/python APE_TEST_VLLM_MODELS=$(CURDIR)/$(VLLM)/models \
	  $(BIN)/python -m benchmarks --only v

# The constraints are the versions that the tests last passed with; without them a fresh machine would test
# whatever was released this morning.
.venv/base: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[all]'
	touch $@

.venv/dev: .venv/base
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

# vLLM brings builds of these three that break `import transformers` next to its CPU build of torch; nothing here
# needs them.
$(VLLM)/ready: tests/vllm/requirements.txt
	$(PYTHON) -m venv $(VLLM)
	$(VLLM)/bin/python -m pip install --quiet --requirement $<
	$(VLLM)/bin/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec
	touch $@

# SHA256SUMS is written last, so an interrupted build is repeated. OMP_WAIT_POLICY=PASSIVE: threads that spin while they
# wait took three times as long on a busy machine.
$(VLLM)/models/SHA256SUMS: tests/vllm/build.py prompts/sep.py $(VLLM)/ready | .venv/base
	gguf=$$($(BIN)/ape models pull) && \
	  OMP_WAIT_POLICY=PASSIVE HF_HUB_OFFLINE=1 $(VLLM)/bin/python -m tests.vllm.build "$$gguf" $(VLLM)/models

clean:
	rm -rf .venv $(VLLM) out site
