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
.PHONY: help setup build release demo grade feedback report site lab check strength test test-all test-fast test-ordinary test-browser notebooks pictures road fuzz chaos coverage bench wheels clean

help:  ## list what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "  LESSONS=\"02_softmax\" narrows build, release, grade, feedback and check."

setup: $(VENV)/ready  ## make .venv and install everything, at the tested versions

$(VENV)/ready: pyproject.toml grading/pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt torch
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]" -e ./grading
	@touch $@

build: setup  ## source/*.py -> notebooks with solutions, and the examples that `check` runs
	$(BIN)/grading build $(LESSONS)

release: setup  ## notebooks for students, by nbgrader generate_assignment
	$(BIN)/grading release $(LESSONS)

demo: setup  ## hand in a sample class, grade it, write feedback, report
	$(BIN)/grading demo

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

check: setup  ## prove the graders: solutions, stubs, alternatives, mistakes, mutants
	$(BIN)/grading prove $(LESSONS)

strength: setup  ## the proofs, errors and points over a hundred seeds, written to docs/strength.md and docs/mistakes.md
	$(BIN)/grading sync --measure $(LESSONS)

test: setup  ## every test but the longest and those in a browser, of slow ones the first case
	$(BIN)/python -m pytest -n $(TESTERS) -m "not (long or browser)" --first-cases

test-all: setup  ## the whole test suite, every lesson and hostile submission: an hour on two cores
	$(BIN)/python -m pytest -n $(TESTERS)

test-fast: setup  ## what answers in about a minute, while one works
	$(BIN)/python -m pytest -n 2 -m "not (slow or long or browser)"

test-ordinary: setup  ## the sandbox and the hostile submissions as an ordinary user, when you are root
	$(BIN)/python -m tests.support.unprivileged $(BIN)/python -m pytest -p no:cacheprovider tests/sandbox tests/nbgrader_plugins/test_hostile.py

notebooks: setup  ## every lesson in a real kernel from its first cell to its last, solved and untouched, and the site of them
	$(BIN)/python -m pytest -n 2 tests/test_notebooks.py tests/site

test-browser: setup  ## in Chromium: the formgrader and the feedback pages, of slow tests the first case
	$(BIN)/python -m pytest -m "not long" --first-cases tests/browser

pictures: setup  ## what students and teachers see, for the README, into docs/images
	$(BIN)/python -m tests.browser.screenshots docs/images

road: setup  ## all lessons from their link, in an environment like Colab's, or SHAPE=lowest: of the lowest versions declared
	$(BIN)/python -m tests.support.install_walk $(SHAPE) build/$(SHAPE) $(LESSONS)

fuzz: setup  ## hostile inputs at random, FUZZ=100 times as many as in the tests, each within a bound (an hour or more)
	FUZZ=$(FUZZ) $(BIN)/python -m pytest tests/fuzz tests/lms/test_archives.py

chaos: setup  ## kill graders, and parts of a cluster, at random moments, ROUNDS=20 times: no grade may be false, lost or made twice
	$(BIN)/python -m tests.support.kill_graders $(ROUNDS)

coverage: setup  ## branches of judge and plugins that the quick tests take; fails where they have become fewer
	$(BIN)/python -m pytest -n $(TESTERS) -m "not long" --first-cases --cov --cov-fail-under=85 tests/judge tests/judge tests/nbgrader_plugins tests/course tests/fuzz

bench: setup  ## what grading costs, side by side with others, written to docs/performance.md
	$(BIN)/python -m benchmarks

wheels: setup  ## what is published: a student's wheel and a teacher's, into dist/
	$(BIN)/python -m build --wheel --no-isolation --outdir dist .
	$(BIN)/python -m build --wheel --no-isolation --outdir dist ./grading

clean:  ## delete what was built and the sample class; never what students handed in
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	rm -rf submitted/sample-* autograded/sample-* feedback/sample-*
	find . -name __pycache__ -not -path "./$(VENV)/*" -prune -exec rm -rf {} +
