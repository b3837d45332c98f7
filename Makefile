# Every verb of the project. `make help` lists them.

PYTHON ?= python3
LESSONS ?=
FUZZ ?= 100
ROUNDS ?= 20
TESTERS ?= 3
SHAPE ?= colab
VENV := .venv
BIN := $(VENV)/bin
# Where `nbgrader db` makes a gradebook, it calls `alembic` by name
export PATH := $(abspath $(BIN)):$(PATH)
# What was compiled once is kept, whatever the environment says: the tests start hundreds of processes
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help setup build release demo grade feedback report site lab prove check sync measure test test-all test-fast test-browser test-notebooks test-unprivileged test-install test-faults fuzz coverage screenshots bench wheels clean

help:  ## list what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-17s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "  LESSONS=\"02_softmax\" narrows build, release, demo, grade, feedback, prove, sync and measure."

setup: $(VENV)/ready  ## make .venv and install everything, at the tested versions

$(VENV)/ready: pyproject.toml grading/pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt torch
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]" -e ./grading
	@touch $@

build: setup  ## source/*.py -> notebooks with solutions, and the check data
	$(BIN)/grading build $(LESSONS)

release: setup  ## notebooks for students, by nbgrader generate_assignment
	$(BIN)/grading release $(LESSONS)

demo: setup  ## grade a sample class in one lesson and name the pages to open; LESSONS=all: in all lessons
	$(BIN)/grading demo $(if $(filter all,$(LESSONS)),--all,$(LESSONS))

grade: setup  ## autograde what was handed in (submitted/), with progress
	$(BIN)/grading grade $(LESSONS)

feedback: setup  ## feedback/<student>/<lesson>/<lesson>.html, by nbgrader generate_feedback
	$(BIN)/grading feedback $(LESSONS)

report: setup  ## students, lessons, points, and the most frequent mistakes
	$(BIN)/grading report

site: setup  ## the released lessons as a web site, into site/
	$(BIN)/grading site

lab: setup  ## JupyterLab, with the release open
	$(BIN)/jupyter lab release

prove: setup  ## prove the graders: solutions, stubs, alternatives, mistakes, mutants
	$(BIN)/grading prove $(LESSONS)

check: prove  ## the old name of `prove`

sync: setup  ## make again what is derived from source/ and grader_tests/ and is out of date
	$(BIN)/grading sync $(LESSONS)

measure: setup  ## measure the graders over a hundred seeds: errors, named mistakes, margins
	$(BIN)/grading sync --measure $(LESSONS)

test: setup  ## the tests of a change: about five minutes on two cores (CONTRIBUTING.md says what it leaves out)
	$(BIN)/python -m pytest -n $(TESTERS) -m "not (full or browser)"

test-all: setup  ## every test, in a browser too: an hour on two cores
	$(BIN)/python -m pytest -n $(TESTERS)

test-fast: setup  ## the tests that take about a minute together, while you work
	$(BIN)/python -m pytest -n 2 -m "not (slow or full or browser)"

test-browser: setup  ## the formgrader, the feedback and the site in Chromium
	$(BIN)/python -m pytest -m "not full" tests/browser

test-notebooks: setup  ## every lesson in a real kernel from top to bottom, solved and untouched, and the site of them
	$(BIN)/python -m pytest -n 2 tests/test_notebooks.py tests/site

test-unprivileged: setup  ## as root: the sandbox and the hostile submissions, run as an ordinary user
	$(BIN)/python -m tests.support.unprivileged $(BIN)/python -m pytest -p no:cacheprovider tests/sandbox tests/nbgrader_plugins/test_hostile.py

test-install: setup  ## every lesson from its link in a new environment like Colab's; SHAPE=lowest: the lowest versions
	$(BIN)/python -m tests.support.install_walk $(SHAPE) build/$(SHAPE) $(LESSONS)

test-faults: setup  ## kill graders and parts of a cluster at random, ROUNDS=20 times, and check every grade
	$(BIN)/python -m tests.support.kill_graders $(ROUNDS)

fuzz: setup  ## FUZZ=100 times as many random inputs as in the tests, within bounds of time and memory (an hour or more)
	FUZZ=$(FUZZ) $(BIN)/python -m pytest tests/fuzz tests/lms/test_archives.py

coverage: setup  ## branches of the judge and the plugins that `make test` takes; fails if they become fewer
	$(BIN)/python -m pytest -n $(TESTERS) -m "not full" --cov --cov-fail-under=85 tests/grader tests/judge tests/notebooks tests/nbgrader_plugins tests/course tests/fuzz

screenshots: setup  ## pictures for the README, of what students and teachers see, into docs/images
	$(BIN)/python -m tests.browser.screenshots docs/images

bench: setup  ## what grading costs, side by side with others, written to docs/performance.md
	$(BIN)/python -m benchmarks

wheels: setup  ## what is published: a student's wheel and a teacher's, into dist/
	$(BIN)/python -m build --wheel --no-isolation --outdir dist .
	$(BIN)/python -m build --wheel --no-isolation --outdir dist ./grading

clean:  ## delete what was built and the sample class; never what students handed in
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	rm -rf submitted/sample-* autograded/sample-* feedback/sample-*
	find . -name __pycache__ -not -path "./$(VENV)/*" -prune -exec rm -rf {} +
