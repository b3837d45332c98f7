"""The students' repository: its contents, and publishing it again."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from email import message_from_bytes
from pathlib import Path

import nbformat
import pytest

from course.lessons_folder import assistant_files
from course.notebook.catalog import SOLUTIONS
from grading.authoring.student_install import SET_UP, Delivery, origin
from grading.authoring.student_repo import make_wheel, publish, released, stale_releases
from grading.errors import CourseError

from ..support.course_builder import build_and_release, build_course
from ..support.repository import LESSONS, ROOT

LESSON = LESSONS[0]
GITHUB = "https://github.com/you/attention"


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def wheel_name(tmp_path_factory: pytest.TempPathFactory) -> str:
    return make_wheel(tmp_path_factory.mktemp("wheel"), {}, {}).name


def test_it_has_notebooks_wheel_page_licence_and_rules_and_publishing_again_changes_nothing(
    released_course, tmp_path, wheel_name
):
    root, into = released_course(LESSON), tmp_path / "students"
    for expected in ("written", "same"):
        done = publish(root, into, origin(Delivery()))
        released = {path.stem + ".ipynb" for path in (root / "release").glob("*/*.ipynb")}
        pages = {"README.md", "LICENSE", "AGENTS.md", "TUTOR.md"}
        assert set(getattr(done, expected)) == set(contents(into)) == {*released, wheel_name, *pages}
        assert done.left == []
    assert "colab.research" not in (into / "README.md").read_text()


def test_the_wheel_has_the_notebooks_that_are_published_and_no_others(released_course, tmp_path):
    publish(released_course(LESSON), tmp_path, origin(Delivery(repository=GITHUB)))
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        held = {name: packed.read(name) for name in packed.namelist() if name.startswith("course/lessons/")}
    published = {f"course/lessons/{path.stem}/{path.name}": path.read_bytes() for path in tmp_path.glob("*.ipynb")}
    assert held == published != {}


def test_with_the_repositorys_address_cells_and_badges_use_it(released_course, tmp_path, wheel_name):
    publish(released_course(LESSON), tmp_path, origin(Delivery(repository=f"{GITHUB}/tree/autumn")))
    notebook = nbformat.read(tmp_path / f"{LESSON}.ipynb", as_version=4)
    (cell,) = (cell for cell in notebook.cells if cell["id"] == SET_UP)
    assert f'"{GITHUB}/raw/autumn/{wheel_name}"' in cell.source
    link = f"https://colab.research.google.com/github/you/attention/blob/autumn/{LESSON}.ipynb"
    assert link in notebook.cells[0].source
    assert link in (tmp_path / "README.md").read_text()


def test_with_a_hubs_address_the_page_links_each_lesson_there(released_course, tmp_path):
    delivery = Delivery(repository=f"{GITHUB}/tree/autumn", hub="https://hub.example.edu/jupyter/")
    publish(released_course(LESSON), tmp_path, origin(delivery))
    link = "https://hub.example.edu/jupyter/hub/user-redirect/git-pull?repo=https%3A%2F%2Fgithub.com%2Fyou%2Fattention"
    link += f"&branch=autumn&urlpath=lab%2Ftree%2Fattention%2F{LESSON}.ipynb"
    page = (tmp_path / "README.md").read_text()
    assert f"[open]({link}) |\n" in page
    assert "your own folder `attention`" in page
    publish(released_course(LESSON), tmp_path, origin(Delivery(repository=GITHUB)))
    assert "hub" not in (tmp_path / "README.md").read_text().replace("github", "")
    with pytest.raises(CourseError, match="expected the address of a JupyterHub"):
        origin(Delivery(hub="our hub"))


def test_a_package_from_elsewhere_is_not_shipped(released_course, tmp_path):
    package = "https://example.org/attention_course-{version}-py3-none-any.whl"
    publish(released_course(LESSON), tmp_path, origin(Delivery(package=package)))
    assert not list(tmp_path.glob("*.whl"))
    assert 'pip install "https://example.org/attention_course-' in (tmp_path / "README.md").read_text()


def test_other_files_in_the_folder_are_kept_and_reported(released_course, tmp_path):
    for name in ("README.md", "TUTOR.md"):
        (tmp_path / name).write_text("My own words.\n")
    (tmp_path / "attention_course-0.0.1-py3-none-any.whl").write_text("last week's")
    done = publish(released_course(LESSON), tmp_path, origin(Delivery()))
    assert done.left == ["README.md", "TUTOR.md", "attention_course-0.0.1-py3-none-any.whl"]
    assert {(tmp_path / name).read_text() for name in ("README.md", "TUTOR.md")} == {"My own words.\n"}
    assert (tmp_path / "AGENTS.md").read_bytes() == assistant_files()["AGENTS.md"]


def test_publishing_into_a_course_directory_is_refused(released_course, tmp_path):
    root = released_course(LESSON)
    before = (root / "nbgrader_config.py").read_bytes()
    for place in (root, root / "source" / "students"):
        with pytest.raises(CourseError, match="Publish into another folder"):
            publish(root, place, origin(Delivery()))
    assert (root / "nbgrader_config.py").read_bytes() == before
    with pytest.raises(CourseError, match="run `grading release` first"):
        publish(tmp_path, tmp_path / "students", origin(Delivery()))


def test_the_wheel_equals_hatchlings_with_a_teachers_examples(wheels, tmp_path):
    made = []
    examples = {"09_mine.examples": b"mine", "09_mine/twice.practice": b"mine"}
    notebooks = {path.stem: path.read_bytes() for path in (ROOT / "release").glob("*/*.ipynb")}
    for number in range(2):
        (tmp_path / str(number)).mkdir()
        made.append(make_wheel(tmp_path / str(number), examples, notebooks))
    assert made[0].read_bytes() == made[1].read_bytes()
    with zipfile.ZipFile(made[0]) as ours, zipfile.ZipFile(wheels["course"]) as theirs:
        added = set(ours.namelist()) - set(theirs.namelist())
        assert added == {"course/examples/09_mine.examples", "course/examples/09_mine/twice.practice"}
        assert not any(name.endswith(SOLUTIONS) for name in ours.namelist())
        others = ("/RECORD", "/WHEEL", "/METADATA", SOLUTIONS)
        same = [name for name in theirs.namelist() if not name.endswith(others)]
        assert all(ours.read(name) == theirs.read(name) for name in same)
        (metadata,) = (name for name in theirs.namelist() if name.endswith("/METADATA"))
        # the README in it is the set-up's and may have changed since then
        one, other = (message_from_bytes(wheel.read(metadata)).items() for wheel in (ours, theirs))
        assert one == other
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target"]
    subprocess.run([*pip, str(tmp_path / "installed"), str(made[0])], check=True, capture_output=True)
    installed = tmp_path / "installed" / "course"
    assert (installed / "report.py").read_bytes() == (ROOT / "course" / "report.py").read_bytes()


def test_solutions_are_published_on_request_and_added_by_publishing_again(released_course, tmp_path):
    root, into, file = released_course(LESSON), tmp_path / "students", f"{LESSON}.solutions"
    where = origin(Delivery())
    publish(root, into, where)
    assert not [name for name in contents(into) if name.endswith(".solutions")]
    done = publish(root, into, where, solved=[LESSON])
    assert file in done.written
    (wheel,) = into.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        assert packed.read(f"course/examples/{file}") == (into / file).read_bytes()
        assert [name for name in packed.namelist() if name.endswith(".solutions")] == [f"course/examples/{file}"]
    publish(root, into, where, solved=["*"])
    assert {f"{name}.solutions" for name in released(root)} <= set(contents(into))
    assert publish(root, into, where, solved=["*"]).written == []
    with pytest.raises(CourseError, match="99_none is not released"):
        publish(root, into, where, solved=["99_none"])


def test_a_courses_changes_are_in_the_published_package(tmp_path):
    root = build_course(tmp_path / "course", ["02_softmax"])
    (root / "course.toml").write_text('[[lesson]]\nname = "02_softmax"\nexercises.softmax.points = 9\n')
    build_and_release(root, "02_softmax")
    publish(root, tmp_path / "students", origin(Delivery()))
    (wheel,) = (tmp_path / "students").glob("*.whl")
    ask = "from course.notebook.catalog import *; print(lessons(), exercises_of('02_softmax')['softmax']['points'])"
    shutil.unpack_archive(wheel, tmp_path / "installed", "zip")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "installed")}
    done = subprocess.run([sys.executable, "-c", ask], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.stdout == "['02_softmax'] 9.0\n", done.stderr
    assert stale_releases(root, ["02_softmax"]) == []
    (root / "course.toml").write_text('[[lesson]]\nname = "02_softmax"\nexercises.softmax.points = 10\n')
    assert stale_releases(root, ["02_softmax"]) == ["02_softmax"]
