# The tasks of the project; `make help` lists them.

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
.PHONY: help setup build release demo grade feedback report site lab prove sync measure test test-all test-browser test-notebooks test-unprivileged test-install test-gpu test-faults fuzz coverage screenshots bench wheels clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-17s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "  LESSONS=\"02_softmax\" narrows build, release, demo, grade, feedback, prove, sync, measure and test-gpu."

setup: $(VENV)/ready  ## create .venv and install the tested versions

$(VENV)/ready: pyproject.toml grading/pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt torch
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]" -e ./grading
	@touch $@

build: setup  ## build notebooks with solutions and check data from source/
	$(BIN)/grading build $(LESSONS)

release: setup  ## make the student notebooks, with nbgrader generate_assignment
	$(BIN)/grading release $(LESSONS)

demo: setup  ## grade a sample class in one lesson (LESSONS=all: in all) and name the pages to open
	$(BIN)/grading demo $(if $(filter all,$(LESSONS)),--all,$(LESSONS))

grade: setup  ## grade new submissions in submitted/
	$(BIN)/grading grade $(LESSONS)

feedback: setup  ## write feedback pages, with nbgrader generate_feedback
	$(BIN)/grading feedback $(LESSONS)

report: setup  ## show points, open grades and the most frequent mistakes
	$(BIN)/grading report

site: setup  ## write the released lessons as a web site, into site/
	$(BIN)/grading site

lab: setup  ## open the released notebooks in JupyterLab
	$(BIN)/jupyter lab release

prove: setup  ## prove the graders: solutions, stubs, alternatives, mistakes, mutants
	$(BIN)/grading prove $(LESSONS)

sync: setup  ## update everything derived from source/ and grader_tests/ that is out of date
	$(BIN)/grading sync $(LESSONS)

measure: setup  ## measure the graders over a hundred seeds: errors, named mistakes, margins
	$(BIN)/grading sync $(LESSONS)
	$(BIN)/python -m benchmarks.strength $(LESSONS)

test: setup  ## run the tests for a change
	$(BIN)/python -m pytest -n $(TESTERS) --shares -m "not (full or browser or lesson)"

test-all: setup  ## run every test, also in a browser: about an hour on two cores
	$(BIN)/python -m pytest -n $(TESTERS)

test-browser: setup  ## test the formgrader, the pages and the site in Chromium
	$(BIN)/python -m pytest -m "browser and not full"

test-notebooks: setup  ## run every lesson in a real kernel, once solved and once untouched
	$(BIN)/python -m pytest -n 2 -m "lesson and not full"

test-unprivileged: setup  ## as root: test the sandbox and hostile submissions as an ordinary user
	$(BIN)/python -m tests.support.unprivileged $(BIN)/python -m pytest -p no:cacheprovider tests/sandbox tests/nbgrader_plugins/test_hostile.py

test-install: setup  ## run every lesson from its link in a new environment like Colab's (SHAPE=lowest: with the lowest versions)
	$(BIN)/python -m tests.support.install_walk $(SHAPE) build/$(SHAPE) $(LESSONS)

test-gpu: setup  ## on an NVIDIA GPU, in eight minutes: judge every exercise, run lessons 08 and 10
	$(BIN)/python -m tests.support.gpu $(LESSONS)

test-faults: setup  ## kill graders and cluster processes at random, ROUNDS=20 times, and check every grade
	$(BIN)/python -m tests.support.kill_graders $(ROUNDS)

fuzz: setup  ## try FUZZ=100 times as many random inputs as the tests do (an hour or more)
	FUZZ=$(FUZZ) $(BIN)/python -m pytest tests/fuzz tests/submitted/test_archives.py

coverage: setup  ## measure branch coverage of the judge and the plugins; fails if it shrinks
	$(BIN)/python -m pytest -n $(TESTERS) -m "not full" --cov --cov-fail-under=85 tests/grader tests/judge tests/notebooks tests/nbgrader_plugins tests/course tests/fuzz

screenshots: setup  ## make the pictures of README and docs, in docs/images
	$(BIN)/python -m tests.browser.screenshots docs/images

bench: setup  ## measure the cost of grading beside other graders, and write docs/performance.md
	$(BIN)/python -m benchmarks

wheels: setup  ## build the wheels for students and teachers, in dist/
	$(BIN)/python -m build --wheel --no-isolation --outdir dist .
	$(BIN)/python -m build --wheel --no-isolation --outdir dist ./grading

clean:  ## delete built files and the sample class, never submissions
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	rm -rf submitted/sample-* autograded/sample-* feedback/sample-*
	find . -name __pycache__ -not -path "./$(VENV)/*" -prune -exec rm -rf {} +
