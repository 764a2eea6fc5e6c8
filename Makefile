# Two commands do all the set-up: `make demo` and `make test`. The rest is for those who work on the project.
PYTHON ?= python3
BIN := .venv/bin
VLLM := .venv-vllm
SOURCES := ape eval finetune prompts serve tests benchmarks

.PHONY: demo test test-vllm check bench bench-vllm lint types clean

demo: .venv/base
	$(BIN)/ape demo

test: .venv/dev
	$(BIN)/python -m pytest -n 2 --dist worksteal

# On a real vLLM, which pins half of what is in an environment and so has one of its own (3.5 GB).
test-vllm: .venv/dev $(VLLM)/models/SHA256SUMS
	APE_VLLM_PYTHON=$(CURDIR)/$(VLLM)/bin/python APE_TEST_VLLM_MODELS=$(CURDIR)/$(VLLM)/models \
	  $(BIN)/python -m pytest tests/vllm

check: lint types test

lint: .venv/dev
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)

types: .venv/dev
	$(BIN)/mypy

bench: .venv/dev
	$(BIN)/python -m benchmarks

# Some twenty minutes on a quiet machine.
bench-vllm: .venv/dev $(VLLM)/models/SHA256SUMS
	APE_VLLM_PYTHON=$(CURDIR)/$(VLLM)/bin/python APE_TEST_VLLM_MODELS=$(CURDIR)/$(VLLM)/models \
	  $(BIN)/python -m benchmarks --only v

# The constraints are the versions that the tests last passed with; without them a fresh machine would test
# whatever was released this morning.
.venv/base: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[hub]'
	touch $@

.venv/dev: .venv/base
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

# Nothing here hears or sees; but vLLM brings builds of these three that break `import transformers` beside its own
# torch for the CPU.
$(VLLM)/ready: tests/vllm/requirements.txt
	$(PYTHON) -m venv $(VLLM)
	$(VLLM)/bin/python -m pip install --quiet --requirement $<
	$(VLLM)/bin/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec
	touch $@

# Written last of all, so it is not there after a build that was broken off. Passive, since threads that spin while they
# wait took three times as long beside busy neighbours.
$(VLLM)/models/SHA256SUMS: tests/vllm/build.py prompts/sep.py $(VLLM)/ready | .venv/base
	gguf=$$($(BIN)/ape models pull) && \
	  OMP_WAIT_POLICY=PASSIVE HF_HUB_OFFLINE=1 $(VLLM)/bin/python -m tests.vllm.build "$$gguf" $(VLLM)/models

clean:
	rm -rf .venv $(VLLM) out
