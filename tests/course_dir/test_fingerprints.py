"""What is built anew, and what stands: by content, which a fresh clone has as whoever built it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from grading.authoring.build import EXPORTED, EXPORTERS, export, exported
from grading.course_dir.fingerprints import Ledger, digest, sources

from ..support.course_builder import TINY_LESSONS, build_course
from ..support.repository import LESSONS, ROOT

ONE, TWO = TINY_LESSONS
LOADED = """
import sys
from pathlib import Path
from grading.authoring.check_data import export_lesson
export_lesson(Path(sys.argv[1]))
print(*(m.__file__ for n, m in sys.modules.items() if n.partition(".")[0] in ("course", "grading")), sep="\\n")
"""


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_committed_examples_are_made_of_what_is_committed(lesson):
    known = Ledger(ROOT / "grader_tests" / EXPORTED).read()
    assert known.get(lesson) == exported(ROOT / "grader_tests" / lesson, ROOT / "course" / "examples"), "`make build`"


@pytest.mark.full("builds check data five times")
def test_examples_are_made_again_when_what_they_are_made_of_changed_or_they_did(tmp_path):
    tests, folder = build_course(tmp_path / "course") / "grader_tests" / ONE, tmp_path / "examples"
    assert export(tests, folder)
    file = folder / f"{ONE}.examples"
    made = file.read_bytes()
    assert not export(tests, folder)

    file.write_bytes(b"of somebody's hand")
    assert export(tests, folder)
    assert file.read_bytes() == made

    contract = tests / "double" / "contract.py"
    contract.write_text(contract.read_text() + "\n# said more clearly\n")
    before = exported(tests, folder)
    assert not export(tests, folder)  # it is made again, and is what it was
    assert Ledger(tests.parent / EXPORTED).read()[ONE] == exported(tests, folder) == before


@pytest.mark.slow
def test_all_that_examples_are_made_by_is_looked_at(tmp_path):
    tests = build_course(tmp_path / "course") / "grader_tests" / ONE
    done = subprocess.run([sys.executable, "-c", LOADED, str(tests)], capture_output=True, text=True, check=True)
    loaded = {Path(line) for line in done.stdout.split("\n") if line}
    packages = {path for path in loaded if path.name in ("__init__.py", "old_names.py")}
    assert len(loaded) > 20
    assert loaded - packages <= set(sources(*EXPORTERS))


def test_what_a_file_is_called_and_holds_counts_and_when_it_was_written_does_not(tmp_path):
    one, other = tmp_path / "one.py", tmp_path / "other.py"
    one.write_text("x = 1\n")
    before = digest([one])
    one.touch()
    assert digest([one]) == before != digest([one], "in another version")
    one.rename(other)
    assert digest([other]) != before
    other.write_text("x = 2\n")
    assert digest([other.rename(one)]) != before


@pytest.mark.parametrize("damaged", ["", "[1]", '{"a": '])
def test_a_ledger_that_cannot_be_read_holds_nothing_and_is_written_anew(tmp_path, damaged):
    ledger = Ledger(tmp_path / "ledger.json")
    ledger.path.write_text(damaged)
    assert ledger.read() == {}
    ledger.add({TWO: "2"})
    ledger.add({ONE: "1"})
    assert ledger.read() == {ONE: "1", TWO: "2"}
