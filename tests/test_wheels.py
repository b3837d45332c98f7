"""What is published, installed as people install it: a student's road and a teacher's, far from any checkout.

An environment here holds our wheels, put there by pip, and exactly the packages that the wheels' metadata demands,
linked from the environment of the tests: what is imported and not declared is not there.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from .support.course_builder import build_course
from .support.installed import described, install, runner
from .support.repository import LESSONS, ROOT

LESSON = "02_softmax"
EXTENSION = ("package.json", "install.json", "static/buttons.js")  # of JupyterLab and Notebook
PROVISIONERS = """
from jupyter_client.provisioning import KernelProvisionerFactory
print(*KernelProvisionerFactory.instance().get_provisioner_entries())
"""
RIGHT = """
def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
"""
LEARNS = f"""
import torch
import course
course.begin("02_softmax")
course.check(softmax)
{RIGHT}
print("right:", float(course.check(softmax)))
def softmax(x, dim=-1):
    e = (x - x.amax(0, keepdim=True)).exp()
    return e / e.sum(0, keepdim=True)
print("wrong:", float(course.check(softmax)))
course.figures
print("from", course.__file__)
"""


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def test_each_wheel_holds_its_package_and_nothing_else(wheels):
    data = f"attention_course_teach-{described(wheels['grading']).version}.data"
    server = f"{data}/data/etc/jupyter/jupyter_server_config.d/attention-grading.json"  # the panel in the formgrader
    buttons = f"attention_course-{described(wheels['course']).version}.data"
    for package, wheel in wheels.items():
        assert {name.split("/")[0] for name in names(wheel)} - {data, buttons} == {package}
    extension = {f"{buttons}/data/share/jupyter/labextensions/attention-course/{file}" for file in EXTENSION}
    assert {name for name in names(wheels["course"]) if name.startswith(buttons)} == extension
    shipped = {
        "text/river_town.toml",
        "models/harbour.safetensors",
        "models/small_lm.safetensors",
        "models/attention_only.safetensors",
    }
    assert {"course/notebook/check.py", *(f"course/{file}" for file in shipped)} <= names(wheels["course"])
    assert {f"course/examples/{lesson}.examples" for lesson in LESSONS} <= names(wheels["course"])
    assert "course/examples/02_softmax/softmax.practice" in names(wheels["course"])
    notebooks = {f"course/lessons/{path.stem}/{path.name}" for path in (ROOT / "release").glob("*/*.ipynb")}
    assert {name for name in names(wheels["course"]) if name.startswith("course/lessons/")} == notebooks
    solutions = {f"course/solutions/{lesson}.solutions" for lesson in LESSONS}
    assert {name for name in names(wheels["course"]) if name.endswith(".solutions")} == solutions
    assert wheels["course"].stat().st_size < 10 * 2**20
    engine = {path for path in (ROOT / "grading").rglob("*.py") if path.name != "hatch_build.py"}
    templates = {path for folder in (ROOT / "grading").rglob("templates") for path in folder.rglob("*.*")}
    others = {
        "grading/templates/nbgrader_config.py",  # of a course
        "grading/plugins/site/site.css",
        "grading/tokens.css",
        "grading/page.css",
    }
    others |= {"grading/templates/fingerprints.json"}  # of the check data in the student's package, and of proofs
    others |= {f"grading/plugins/review/static/review.{kind}" for kind in ("css", "js")}
    others |= {str(p.relative_to(ROOT)) for p in (ROOT / "grading/plugins/site/katex_files").rglob("*") if p.is_file()}
    assert names(wheels["grading"]) == {str(p.relative_to(ROOT)) for p in engine | templates} | {server} | others


def test_both_have_one_version_one_licence_and_the_students_has_one_command(wheels):
    student, teacher = described(wheels["course"]), described(wheels["grading"])
    assert student.version == teacher.version
    assert f"attention-course=={student.version}" in (teacher.requires or [])
    assert [str(entry.name) for entry in student.entry_points] == ["attention"]
    assert {entry.name for entry in teacher.entry_points} == {"grading", "attention-sandbox"}
    texts = {str(found.read_text("licenses/LICENSE")) for found in (student, teacher)}
    assert texts == {(ROOT / "LICENSE").read_text()}


@pytest.mark.full
def test_source_archives_hold_the_packages_and_build_the_same_wheels_anywhere(wheels, tmp_path):
    (tmp_path / "nbgrader_config.py").write_text("# of another course, beside the unpacked archive")
    held = {}
    for package, project in {"course": ROOT, "grading": ROOT / "grading"}.items():
        archives, unpacked, built = (tmp_path / f"{package} {step}" for step in ("archive", "unpacked", "wheel"))
        build = [sys.executable, "-m", "build", "--no-isolation", "--outdir"]
        subprocess.run([*build, str(archives), "--sdist", str(project)], check=True, capture_output=True)
        (archive,) = archives.iterdir()
        with tarfile.open(archive) as packed:
            assert all(member.isfile() or member.isdir() for member in packed)
            packed.extractall(unpacked, filter="data")
        (folder,) = unpacked.iterdir()
        shutil.move(folder, tmp_path / package)
        held[package] = {str(path.relative_to(tmp_path / package)) for path in (tmp_path / package).rglob("*.*")}
        subprocess.run([*build, str(built), "--wheel", str(tmp_path / package)], check=True, capture_output=True)
        (wheel,) = built.iterdir()
        assert wheel.name == wheels[package].name
        assert wheel.read_bytes() == wheels[package].read_bytes()
    assert {name.split("/")[0] for name in held["course"]} <= {
        "course", "release", "solutions", "grading", "README.md", "CHANGELOG.md", "pyproject.toml", ".gitignore",
    }  # fmt: skip
    assert {name for name in held["course"] if name.startswith("grading/")} == {"grading/pyproject.toml"}
    assert not {name for name in held["grading"] if name.startswith(("tests/", "source/", "grader_tests/"))}


def test_all_that_is_demanded_has_a_tested_version(wheels):
    ours = {canonicalize_name(described(wheel).name): described(wheel) for wheel in wheels.values()}
    pinned = {canonicalize_name(line.split("==")[0]) for line in (ROOT / "constraints.txt").read_text().splitlines()}
    wanted = {canonicalize_name(Requirement(line).name) for found in ours.values() for line in found.requires or []}
    assert wanted - set(ours) <= pinned


@pytest.mark.full("installs both wheels into a new environment")
def test_a_student_has_the_course_and_nothing_of_the_engine(wheels, tmp_path):
    python = install(tmp_path / "environment", "attention-course", wheels)
    run = runner(python, tmp_path / "home")
    told = run(tmp_path, "python", "-c", LEARNS)
    lines = dict(line.split(": ") for line in told.splitlines() if line.startswith(("right:", "wrong:")))
    assert 0.0 <= float(lines["wrong"]) < float(lines["right"])
    for status in ("○ softmax: not started", "☑ softmax", "◐ softmax"):
        assert status in told
    assert str(tmp_path / "environment") in told.splitlines()[-1]
    assert not (python.parent / "grading").exists()
    (tmp_path / "my_answers.py").write_text(RIGHT)
    assert run(tmp_path, "attention", "check", "my_answers.py").startswith("☑ softmax")
    notebooks = {path.name for path in (ROOT / "release").glob("*/*.ipynb")}
    told = run(tmp_path, "attention", "start", status=2)  # JupyterLab is not in the environment
    assert told.startswith(f"{len(notebooks)} notebooks added to attention-lessons: 00_start.ipynb, ")
    there = {path.name for path in (tmp_path / "attention-lessons").iterdir()}
    assert there == {*notebooks, "AGENTS.md", "TUTOR.md"}
    missing = (
        "import importlib.util as u\nprint([u.find_spec(name) for name in ('grading', 'grader_tests', 'nbgrader')])"
    )
    assert run(tmp_path, "python", "-c", missing).strip() == "[None, None, None]"
    entries = "from importlib.metadata import entry_points\nprint(*entry_points().names)"
    assert "attention-sandbox" not in run(tmp_path, "python", "-c", entries).split()


@pytest.mark.full("installs both wheels into a new environment")
def test_a_teacher_grades_in_a_course_directory_that_is_no_checkout(wheels, tmp_path):
    run = runner(install(tmp_path / "environment", "attention-course-teach", wheels), tmp_path / "home")
    assert "attention-sandbox" in run(tmp_path, "python", "-c", PROVISIONERS).split()
    course = tmp_path / "autumn"
    build_course(course, LESSONS)
    notebooks = {name: course / name / LESSON / f"{LESSON}.ipynb" for name in ("source", "release")}

    def hand_in(student: str, notebook: Path) -> Path:
        folder = course / "submitted" / student / LESSON
        folder.mkdir(parents=True)
        shutil.copy(notebook, folder)
        return folder

    run(course / "source", "grading", "release", LESSON)
    below = hand_in("ada", notebooks["source"])  # the solutions
    run(below, "grading", "grade", LESSON)
    hand_in("bob", notebooks["release"])
    run(course, "nbgrader", "autograde", LESSON)  # nbgrader itself reads the configuration where it is called
    run(below, "grading", "feedback", LESSON)
    points = [line.split() for line in run(below, "grading", "report", "--students").splitlines() if "/20" in line]
    assert points == [["ada", "20/20"], ["bob", "0/20"]]
    page = (course / "feedback" / "ada" / LESSON / f"{LESSON}.html").read_text(encoding="utf-8")
    assert "Graded without the sandbox" not in page
    assert not (course / "course").exists()  # what `check` reads is the installed package's
