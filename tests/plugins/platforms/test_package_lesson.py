"""`grading package` makes what a platform needs to grade a lesson, and the platform's script gives the same result."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest
from nbgrader.coursedir import CourseDirectory

from course.lessons_folder import assistant_files
from grading.cli import main
from grading.course import Course
from grading.errors import NotHandedIn
from grading.plugins.platforms.grade_file import grade_file
from grading.plugins.platforms.package_lesson import lesson_files, package_lesson, pins
from grading.plugins.platforms.packages import PACKAGES
from grading.plugins.platforms.result_forms import FORMS
from grading.plugins.platforms.verbs import PLATFORMS
from grading.submitted.submitted_dir import choose_file

from ...support.course_builder import TINY_LESSONS, build_course

LESSON, OTHER = TINY_LESSONS
ANSWERS = {"quillwort": {}, "xylander": {"double": "def double(x):\n    return x * x"}}
# A platform's folders: where it unpacks the package, where a submission is, what it runs, where it reads the result
HARNESSES = {
    "gradescope": ("/autograder/source", "/autograder/submission", "run_autograder", "/autograder/results"),
    "prairielearn": ("/grade", "/grade/student", "tests/run.sh", "/grade/results"),
}
as_root = pytest.mark.skipif(
    os.name != "posix" or os.geteuid() != 0, reason="the platforms' folders are below the root"
)


@pytest.fixture(scope="module")
def course(build_course_once: Callable[..., Path]) -> Path:
    def build(root: Path) -> None:
        build_course(root, release=[LESSON], submissions=ANSWERS, grade=True)

    return build_course_once("package", build)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheels")
    for name in ("attention-course", "attention-course-teach"):
        (folder / f"{name.replace('-', '_')}-{version(name)}-py3-none-any.whl").write_bytes(name.encode())
    return folder


def test_the_command_offers_every_platform():
    assert list(PLATFORMS) == list(PACKAGES)
    assert [platform for platform in PLATFORMS if not PACKAGES[platform].public] == list(HARNESSES)


@pytest.mark.parametrize("platform", HARNESSES)
def test_a_package_has_the_lesson_the_seed_and_no_student(course, wheels, tmp_path, platform):
    files = PACKAGES[platform].files(lesson_files(Course(course), LESSON, wheels))
    assert PACKAGES[platform].runs <= files.keys()
    text = b"\n".join(files.values())
    assert b"quillwort" not in text and b"xylander" not in text
    (gradebook,) = (content for path, content in files.items() if path.endswith("course/gradebook.db"))
    (tmp_path / "gradebook.db").write_bytes(gradebook)
    with sqlite3.connect(tmp_path / "gradebook.db") as rows:
        assert rows.execute("select name from assignment").fetchall() == [(LESSON,)]
        assert rows.execute("select count(*) from student").fetchone() == (0,)
    (seed,) = (content for path, content in files.items() if path.endswith("course/.grading-seed"))
    assert seed.strip() == (course / ".grading-seed").read_bytes().strip()
    assert not any(OTHER in path for path in files)
    (constraints,) = (content for path, content in files.items() if path.endswith("constraints.txt"))
    assert f"torch=={version('torch').partition('+')[0]}\n".encode() in constraints
    for path in PACKAGES[platform].runs:
        subprocess.run(["bash", "-n"], input=files[path], check=True)


def test_students_get_the_rules_for_assistants_unless_the_release_has_its_own(course, wheels):
    own = course / "release" / LESSON / "TUTOR.md"
    own.write_text("mine")
    try:
        student = lesson_files(Course(course), LESSON, wheels).student
    finally:
        own.unlink()
    assert student["AGENTS.md"] == assistant_files()["AGENTS.md"]
    assert student["TUTOR.md"] == b"mine"


def test_a_zip_has_the_same_bytes_each_time_and_keeps_what_can_be_run(course, wheels, tmp_path):
    one, other = tmp_path / "one.zip", tmp_path / "new" / "other.zip"
    for target in (one, other):
        package_lesson(Course(course), LESSON, "gradescope", wheels, target)
    assert one.read_bytes() == other.read_bytes()
    with zipfile.ZipFile(one) as archive:
        runs = {entry.filename for entry in archive.infolist() if entry.external_attr >> 16 & 0o111}
    assert runs == PACKAGES["gradescope"].runs


def test_what_is_missing_is_named_and_nothing_is_written(course, wheels, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(course)
    target = tmp_path / "made.zip"
    command = ["package", LESSON, "--for", "gradescope", "--wheels", str(wheels), "--output", str(target)]
    for changed, message in (
        ({LESSON: OTHER}, f"run `grading release {OTHER}`"),
        ({str(wheels): str(tmp_path)}, "no file attention_course-"),
        ({str(target): str(wheels)}, "delete it, or pass another --output"),
    ):
        assert main.main([changed.get(word, word) for word in command]) == 2
        assert message in capsys.readouterr().err
        assert not target.exists()
    assert main.main(command) == 0
    assert "made.zip: " in capsys.readouterr().out


@pytest.mark.full
@as_root
@pytest.mark.parametrize("within", ["", f"{sys.executable} -m tests.support.docker_default"], ids=["root", "Docker"])
@pytest.mark.parametrize("platform", HARNESSES)
def test_in_the_platforms_folders_the_result_is_that_of_grade_file(course, wheels, tmp_path, platform, within):
    unpacked, submission, entry, results = HARNESSES[platform]
    made = tmp_path / "made"
    if PACKAGES[platform].zipped:
        package_lesson(Course(course), LESSON, platform, wheels, tmp_path / "made.zip")
        subprocess.run([sys.executable, "-m", "zipfile", "-e", str(tmp_path / "made.zip"), str(made)], check=True)
    else:
        package_lesson(Course(course), LESSON, platform, wheels, made)
    handed_in = course / "submitted" / "xylander" / LESSON / f"{LESSON}.ipynb"
    top = Path(unpacked).parts[1]
    script = f"""
    set -e
    mkdir -p /{top}  # below the root, as on the platform; in a mount namespace, so that nothing stays of it
    mount -t tmpfs platform /{top}
    mkdir -p {unpacked} {submission} /grade/data
    cp -r {made}/. {unpacked}
    cp {handed_in} "{submission}/my answers.ipynb"
    {within} bash {unpacked}/{entry}
    cat {results}/results.json
    """
    environment = {**os.environ, "ATTENTION_ENVIRONMENT": sys.prefix}
    ran = subprocess.run(["unshare", "--mount", "bash", "-c", script], env=environment, capture_output=True, text=True)
    for left in {f"/{top}", "/grade"}:
        if os.path.isdir(left) and not os.listdir(left):
            os.rmdir(left)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout[ran.stdout.index("{") :])
    wanted = json.loads(
        FORMS[platform].write(grade_file(Course(course), handed_in, LESSON, page=platform == "gradescope"))
    )
    for one in (found, wanted):
        one.pop("execution_time", None)
    assert found == wanted


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (["02_softmax.ipynb", "utils.py"], "02_softmax.ipynb"),
        (["answers.ipynb", "utils.py", "notes.txt"], "answers.ipynb"),
        (["Copy of 02_softmax.ipynb", "01_dot_products.ipynb"], "Copy of 02_softmax.ipynb"),
        (["deep/02_softmax.ipynb", "02_softmax.ipynb"], "02_softmax.ipynb"),
        (["02_softmax.py"], "02_softmax.py"),
        ([".ipynb_checkpoints/.02_softmax.ipynb", "notes.txt"], "No 02_softmax.ipynb was handed in, but "),
        (["a.ipynb", "b.ipynb"], "It is not clear which file counts: a.ipynb and b.ipynb."),
    ],
)
def test_the_file_that_counts_in_a_folder(tmp_path, names, chosen):
    folder = tmp_path / "handed-in"
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    course = CourseDirectory(root=str(tmp_path))
    if " was " in chosen or " which " in chosen:
        with pytest.raises(NotHandedIn, match=f"^{chosen}"):
            choose_file(folder, course, "02_softmax")
    else:
        assert choose_file(folder, course, "02_softmax") == folder / chosen


def test_pins_are_the_installed_versions_of_all_that_the_grader_needs():
    found = pins()
    assert {"torch", "nbgrader", "numpy", "markupsafe"} <= found.keys()
    assert "attention-course" not in found and "pytest" not in found
    assert all("+" not in pinned for pinned in found.values())


@as_root
@pytest.mark.full("installs torch and all that the grader needs")
def test_the_set_up_script_makes_an_environment_that_grades(course, tmp_path):
    root = Path(__file__).parents[3]
    for source in (root, root / "grading"):
        build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path / "dist")]
        subprocess.run([*build, str(source)], check=True, capture_output=True)
    package_lesson(Course(course), LESSON, "prairielearn", tmp_path / "dist", tmp_path / "made")
    # The place of torch's builds is left to pip's own settings, which CI has
    environment = {**os.environ, "ATTENTION_ENVIRONMENT": str(tmp_path / "opt"), "TORCH_INDEX": ""}
    environment.pop("PYTHONPATH", None)
    subprocess.run(["bash", str(tmp_path / "made/image/set_up.sh")], env=environment, check=True)
    handed_in, result = course / "submitted" / "quillwort" / LESSON, tmp_path / "results" / "results.json"
    subprocess.run(["bash", str(tmp_path / "made/tests/grade.sh"), handed_in, result], env=environment, check=True)
    assert json.loads(result.read_text())["score"] == 1.0
