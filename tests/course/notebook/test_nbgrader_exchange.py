"""`hand_in()` submits to nbgrader's exchange where there is one; nbgrader's own steps release and fetch the lesson."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import pytest
from nbgrader.exchange.default import ExchangeSubmit

from course import begin, hand_in
from course.notebook.nbgrader_exchange import NotSubmitted, submit
from grading.course_dir.paths import CONFIG

from ...support.exchange import Exchange
from ...support.repository import ROOT

LESSON = "02_softmax"
NOTEBOOK = f"{LESSON}.ipynb"
NBGRADERS = {"timestamp.txt", "submission_secret.txt"}  # what its step adds
WITHOUT = "hand_in"


@pytest.fixture
def exchange(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Exchange:
    """An exchange with the lesson, for which ada's account is set up."""
    course = tmp_path / "course"
    shutil.copytree(ROOT / "release" / LESSON, course / "release" / LESSON)
    shutil.copy(ROOT / CONFIG, course)
    made = Exchange(course, tmp_path).open([LESSON])
    made.set_up("ada", tmp_path / "settings")
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "settings"))
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    return made


@pytest.fixture
def folder(exchange: Exchange) -> Path:
    """The lesson as ada fetched it, with a change that she saved."""
    fetched = exchange.fetch("ada", LESSON)
    save(fetched / NOTEBOOK, "as fetched")
    return fetched


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[[Path], str]:
    """`said(folder)`: what `hand_in()` says there once the lesson has begun."""

    def run(folder: Path) -> str:
        monkeypatch.chdir(folder)
        begin(LESSON)
        capsys.readouterr()
        hand_in()
        return capsys.readouterr().out

    return run


def save(path: Path, mark: str) -> None:
    """Write the released notebook with a mark by which it is recognized."""
    notebook = json.loads((ROOT / "release" / LESSON / NOTEBOOK).read_text(encoding="utf-8"))
    notebook["metadata"]["mark"] = mark
    path.write_text(json.dumps(notebook), encoding="utf-8")


def submitted(exchange: Exchange) -> dict[str, bytes]:
    """The files of the only submission in the exchange, by their path in it."""
    (new,) = exchange.inbound.iterdir()
    assert new.name.startswith(f"ada+{LESSON}+")
    found = {path.relative_to(new).as_posix(): path.read_bytes() for path in new.rglob("*") if path.is_file()}
    return {name: content for name, content in found.items() if name not in NBGRADERS}


def mark(content: bytes) -> str:
    return str(json.loads(content)["metadata"]["mark"])


@pytest.mark.full
def test_it_submits_the_folder_that_was_fetched_and_says_what_happens_next(exchange, folder, said):
    (folder / "helper.py").write_text("x = 1")
    text = said(folder)
    found = submitted(exchange)
    assert mark(found[NOTEBOOK]) == "as fetched"
    fetched = {path.name for path in folder.iterdir() if path.is_file()}
    assert fetched - found.keys() == {path.name for path in folder.glob("*.whl")} != set()
    assert not found.keys() - fetched
    (new,) = exchange.inbound.iterdir()
    at = (new / "timestamp.txt").read_text().partition(".")[0]
    assert f"Submitted to the course course at {at} UTC." in text
    assert "press *Fetch Feedback* in *Assignments*" in text
    assert "If you hand in again, the new submission replaces this one." in text
    assert f"`hand_in/{NOTEBOOK}` is a copy of what you submitted." in text
    assert (folder / "hand_in" / NOTEBOOK).is_file()
    assert text.index("Ready to hand in?") < text.index("Submitted")


def test_a_notebook_with_another_name_is_submitted_under_the_lessons(exchange, folder, said):
    (folder / NOTEBOOK).unlink()
    save(folder / f"{LESSON}-Copy[1].ipynb", "a copy")
    (folder / "helper.py").write_text("x = 1")
    text = said(folder)
    found = submitted(exchange)
    assert mark(found[NOTEBOOK]) == "a copy"
    assert found.keys() == {NOTEBOOK, "helper.py"}
    assert f"`{LESSON}-Copy[1].ipynb` was submitted under the name `{NOTEBOOK}`." in text


def test_the_notebook_that_runs_is_submitted_and_not_the_one_that_was_fetched(exchange, folder, said, monkeypatch):
    save(folder / "mine.ipynb", "mine")
    monkeypatch.setenv("JPY_SESSION_NAME", str(folder / "mine.ipynb"))
    said(folder)
    assert mark(submitted(exchange)[NOTEBOOK]) == "mine"
    assert mark((folder / NOTEBOOK).read_bytes()) == "as fetched"


def test_a_notebook_outside_the_lessons_folder_is_submitted_alone(exchange, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    save(home / NOTEBOOK, "downloaded")
    (home / "private.txt").write_text("mine")
    assert submit(home / NOTEBOOK, LESSON, WITHOUT)
    found = submitted(exchange)
    assert found.keys() == {NOTEBOOK}
    assert mark(found[NOTEBOOK]) == "downloaded"


def test_where_folders_have_the_courses_name_it_names_the_course(exchange, folder, tmp_path):
    settings = tmp_path / "settings" / "nbgrader_config.py"
    lines = [line for line in settings.read_text().splitlines() if "course_id" not in line]
    settings.write_text("\n".join([*lines, "c.Exchange.path_includes_course = True"]))
    assert submit(folder / NOTEBOOK, LESSON, WITHOUT) is None
    shutil.copytree(folder, tmp_path / "ada" / exchange.course / LESSON)
    done = submit(tmp_path / "ada" / exchange.course / LESSON / NOTEBOOK, LESSON, WITHOUT)
    assert done and done.course == exchange.course
    assert mark(submitted(exchange)[NOTEBOOK]) == "as fetched"


@pytest.mark.parametrize(
    "missing", ["nbgrader", "its settings", "the exchange", "the course's id", "the lesson", "nbgrader's own exchange"]
)
def test_without_an_exchange_the_file_is_written_and_nothing_is_said_of_submitting(
    exchange, folder, said, tmp_path, monkeypatch, missing
):
    settings = tmp_path / "settings" / "nbgrader_config.py"
    match missing:
        case "nbgrader":
            monkeypatch.setitem(sys.modules, "nbgrader", None)
        case "its settings":
            settings.unlink()
        case "the exchange":
            settings.write_text(settings.read_text() + "c.Exchange.root = '/nowhere'\n")
        case "the course's id":
            settings.write_text(settings.read_text() + "c.CourseDirectory.course_id = ''\n")
        case "the lesson":
            shutil.rmtree(exchange.shared / exchange.course / "outbound" / LESSON)
        case _:
            settings.write_text(
                settings.read_text() + "c.ExchangeFactory.submit = 'nbgrader.exchange.abc.ExchangeSubmit'"
            )
    text = said(folder)
    assert "ubmitted" not in text
    assert f"`hand_in/{NOTEBOOK}` is the file to hand in." in text
    assert list(exchange.inbound.iterdir()) == []


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("1 / 0", "division by zero"),
        ("c.NbGrader.logfile = 3", "a setting of nbgrader is not valid"),
        ("c.Exchange.root = 3", "`root` trait"),
        ("c.CourseDirectory.student_id = 'a+b'", "no '*' nor '+'; got a+b"),
    ],
)
def test_a_failure_says_why_and_keeps_the_file(exchange, folder, said, tmp_path, line, reason):
    settings = tmp_path / "settings" / "nbgrader_config.py"
    settings.write_text(f"{settings.read_text()}{line}\n")
    text = said(folder)
    assert "Not submitted, or not completely: `" in text
    assert reason.replace("`", "'") in text
    assert "your notebook is saved. Tell your teacher, and send the file below." in text  # another try is of no use
    assert f"`hand_in/{NOTEBOOK}` is the file to hand in." in text
    assert mark((folder / "hand_in" / NOTEBOOK).read_bytes()) == "as fetched"
    with pytest.raises(NotSubmitted):
        submit(folder / NOTEBOOK, LESSON, WITHOUT)


@pytest.mark.parametrize("large", ["log.txt", "data/weights.bin", NOTEBOOK])
def test_a_file_that_is_too_large_is_named_and_the_remedy_works(exchange, folder, said, tmp_path, large):
    """What is not submitted, such as a checkpoint, does not count."""
    settings = tmp_path / "settings" / "nbgrader_config.py"
    settings.write_text(f"{settings.read_text()}c.CourseDirectory.max_dir_size = 3000\n")
    (folder / ".ipynb_checkpoints").mkdir()
    for path in (folder / ".ipynb_checkpoints" / NOTEBOOK, folder / large):
        path.parent.mkdir(exist_ok=True)
        with path.open("ab") as file:
            file.write(b" " * 4_000_000)
    text = said(folder)
    assert "Directory size is too big: 4 MB, and the course takes at most 3 MB`." in text
    assert "Then run `course.hand_in()` again. If that fails too" in text
    assert not list(exchange.inbound.iterdir())
    if large == NOTEBOOK:
        assert f"clear the outputs of {NOTEBOOK} (4 MB) and save it" in text
        save(folder / NOTEBOOK, "cleared")
    else:
        assert f"move {large} (4 MB) out of the folder {LESSON}" in text
        (folder / large).rename(tmp_path / "elsewhere")
    assert "Submitted to the course" in said(folder)
    assert NOTEBOOK in submitted(exchange)


def test_files_that_cannot_be_read_are_named_and_the_remedy_works(exchange, folder, said, tmp_path):
    (folder / "data").mkdir()
    (folder / "data" / "link.csv").symlink_to(tmp_path / "nowhere")
    os.mkfifo(folder / "pipe")
    text = said(folder)
    assert "`a file beside the notebook cannot be read`" in text
    found = re.search(r"Move (.*) out of the folder 02_softmax, and run `course.hand_in\(\)` again\. If that", text)
    assert found
    assert sorted(found[1].split(", ")) == ["`data/link.csv`", "`pipe`"]
    for name in ("data/link.csv", "pipe"):
        (folder / name).rename(tmp_path / Path(name).name)
    assert "Submitted to the course" in said(folder)


def test_what_may_pass_is_tried_again(exchange, folder, said, monkeypatch):
    full = OSError(errno.ENOSPC, "No space left on device")
    with monkeypatch.context() as patch:
        patch.setattr(ExchangeSubmit, "start", Mock(side_effect=full))
        assert "Run `course.hand_in()` again, or press *Submit* in *Assignments*. If that fails" in said(folder)
    assert "Submitted to the course" in said(folder)


@pytest.mark.full
def test_without_settings_nbgrader_is_not_imported(tmp_path):
    save(tmp_path / NOTEBOOK, "anything")
    (tmp_path / "settings").mkdir()
    code = f"import sys, course; course.begin('{LESSON}'); course.hand_in(); print('nbgrader' in sys.modules)"
    environment = os.environ | {"JUPYTER_CONFIG_DIR": str(tmp_path / "settings")}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("is the file to hand in.\nFalse\n")


def test_only_the_open_notebook_of_the_lesson_is_submitted(exchange, folder):
    save(folder / f"{LESSON} (1).ipynb", "downloaded again")
    (folder / "notes.txt").write_text("mine")
    assert submit(folder / NOTEBOOK, LESSON, WITHOUT)
    found = submitted(exchange)
    assert found.keys() == {NOTEBOOK, "notes.txt"}
    assert mark(found[NOTEBOOK]) == "as fetched"


@pytest.fixture
def two_courses(exchange: Exchange, folder: Path, tmp_path: Path) -> Path:
    """The notebook in the folder of a second course, which the settings do not name; both have released the lesson."""
    shutil.copytree(exchange.shared / exchange.course, exchange.shared / "second")
    settings = tmp_path / "settings" / "nbgrader_config.py"
    settings.write_text(f"{settings.read_text()}c.Exchange.path_includes_course = True\n")
    shutil.copytree(folder, tmp_path / "ada" / "second" / LESSON)
    return tmp_path / "ada" / "second" / LESSON


def test_the_folders_course_counts_and_not_the_one_in_the_settings(exchange, two_courses):
    done = submit(two_courses / NOTEBOOK, LESSON, WITHOUT)
    assert done and done.course == "second"
    assert list(exchange.inbound.iterdir()) == []
    assert len(list((exchange.shared / "second" / "inbound").iterdir())) == 1


def test_if_the_folders_course_has_not_the_lesson_both_are_named_and_the_remedy_works(
    exchange, two_courses, said, tmp_path
):
    shutil.rmtree(exchange.shared / "second" / "outbound" / LESSON)
    text = said(two_courses)
    assert "Not submitted, or not completely: `the notebook is in the folder of the course second" in text
    assert f"the settings name the course {exchange.course}`" in text
    assert f"Move the folder {LESSON} into a folder {exchange.course}, open" in text
    moved = tmp_path / "ada" / exchange.course / LESSON
    moved.parent.mkdir()
    two_courses.rename(moved)
    assert f"**Submitted** to the course {exchange.course} at".replace("**", "") in said(moved)
