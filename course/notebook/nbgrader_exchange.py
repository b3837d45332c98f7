"""Submit a notebook to nbgrader's exchange, on a hub that has one.

The settings and the step are nbgrader's own, as for `nbgrader submit`. nbgrader is imported only where it has settings,
because that takes seconds. Does not cover: an exchange that is a service, and fetching feedback.
"""

from __future__ import annotations

import glob
import logging
import os
import shutil
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..which_counts import rank

SETTINGS = ("nbgrader_config", "jupyter_config")  # the files that nbgrader reads, as .py or .json
MAX_NAMED = 5  # files of a submission that is too large
SILENT = logging.Logger("exchange", logging.CRITICAL + 1)  # noqa: LOG001  # discards messages: `NotSubmitted` has the reason


AGAIN = "Run `course.hand_in()` again, or press *Submit* in *Assignments*."


class NotSubmitted(Exception):
    """nbgrader did not finish the submission; the message is its reason. remedy: "" if the learner can do nothing."""

    def __init__(self, reason: str, remedy: str = "") -> None:
        super().__init__(reason)
        self.remedy = remedy


@dataclass(frozen=True)
class Submission:
    """A finished submission: the course, and the time as nbgrader writes it."""

    course: str
    at: str


def submit(notebook: Path, lesson: str, without: str) -> Submission | None:
    """Submit a saved notebook, with the files beside it if it is in the lesson's folder.

    without  name of files and folders beside the notebook that are not submitted

    Returns None if nbgrader is not set up here, or has not released this lesson. Raises NotSubmitted.
    """
    notebook = notebook.absolute()
    folder = notebook.parent.parent if notebook.parent.name == lesson else notebook.parent
    try:
        if not _has_settings(folder):
            return None
        return _submit(notebook, lesson, without, _settings(folder))
    except NotSubmitted:
        raise
    except (Exception, SystemExit) as error:  # nbgrader ends the program if a setting is not valid
        reason = str(error) if isinstance(error, Exception) else "a setting of nbgrader is not valid"
        passes = isinstance(error, OSError) and not isinstance(error, PermissionError)  # such as a full disk
        raise NotSubmitted(" ".join(reason.split()) or type(error).__name__, AGAIN if passes else "") from error


def _has_settings(folder: Path) -> bool:
    """Whether nbgrader is installed and has a file with settings, in `folder` or where Jupyter looks."""
    if find_spec("nbgrader") is None:
        return False
    from jupyter_core.paths import jupyter_config_path

    places = [folder, *map(Path, jupyter_config_path())]
    return any((place / f"{name}.{kind}").is_file() for place in places for name in SETTINGS for kind in ("py", "json"))


def _settings(folder: Path) -> Any:
    """nbgrader's settings, as its commands read them in `folder`."""
    from nbgrader.apps import NbGrader
    from traitlets.config import Application

    app = NbGrader(log=SILENT, raise_config_file_errors=True)
    app.load_cwd_config = False
    app.load_config_file()
    Application.load_config_file(app, app.config_file_name, path=str(folder))
    return app.config


def _submit(notebook: Path, lesson: str, without: str, config: Any) -> Submission | None:
    from nbgrader.auth import Authenticator
    from nbgrader.coursedir import CourseDirectory
    from nbgrader.exchange import ExchangeFactory
    from nbgrader.exchange.default import ExchangeSubmit

    directory = CourseDirectory(config=config, log=SILENT)
    factory = ExchangeFactory(config=config, log=SILENT)
    step = factory.Submit(coursedir=directory, authenticator=Authenticator(config=config), config=config)
    if not isinstance(step, ExchangeSubmit):
        return None
    if step.path_includes_course and notebook.parent.name == lesson:
        directory.course_id = _course_of(notebook.parent.parent.name, directory.course_id, Path(step.root), lesson)
    if not directory.course_id or not Path(step.root, directory.course_id, "outbound", lesson).is_dir():
        return None
    directory.assignment_id, directory.ignore = lesson, [*directory.ignore, without, "*.whl"]  # the fetched package
    fetched = Path(directory.course_id if step.path_includes_course else "", lesson, f"{lesson}.ipynb")
    with TemporaryDirectory(prefix="hand-in-") as copy:
        step.assignment_dir = copy  # nbgrader would count what is not submitted, such as checkpoints
        _copy(notebook, Path(copy) / fetched, directory.ignore, 1000 * directory.max_dir_size)
        step.start()
    return Submission(str(directory.course_id), str(step.timestamp))


def _course_of(folder: str, set_: str, exchange: Path, lesson: str) -> str:
    """The course of a notebook in the folder of a course. set_: the course in the settings, "" for none.

    Any other folder says nothing. Raises NotSubmitted if it is one without the lesson.
    """
    if set_ in ("", folder) or not (exchange / folder).is_dir():
        return set_ or folder
    if not (exchange / folder / "outbound" / lesson).is_dir():
        raise NotSubmitted(
            f"the notebook is in the folder of the course {folder}, which has not released {lesson}; the settings name "
            f"the course {set_}",
            f"Move the folder {lesson} into a folder {set_}, open the notebook there, and run `course.hand_in()`.",
        )
    return folder


def _other_notebooks(notebook: Path, lesson: str) -> list[str]:
    """The other notebooks beside it with the lesson's name, one of which might count instead."""
    names = sorted(path.name for path in notebook.parent.glob("*.ipynb") if path.name != notebook.name)
    return [name for name in names if (found := rank((name,), [lesson])) and found[1].by_name]


def _copy(notebook: Path, to: Path, ignore: list[str], most: int) -> None:
    """Copy a notebook to where nbgrader expects it, and what is beside it if that is the lesson's folder.

    most  bytes that nbgrader takes in all

    Raises NotSubmitted if there are more, or a file cannot be read.
    """
    others = [notebook.name, to.name, *_other_notebooks(notebook, to.stem)]
    left_out, sizes = shutil.ignore_patterns(*ignore, *map(glob.escape, others)), {notebook: _size(notebook)}
    whole = notebook.parent.name == to.parent.name
    for place, folders, files in os.walk(notebook.parent) if whole else []:
        folders[:] = set(folders) - left_out(place, folders)
        sizes |= {path: _size(path) for path in (Path(place, name) for name in set(files) - left_out(place, files))}
    if sum(sizes.values()) > most:
        raise _too_large(notebook, sizes, most)
    if whole:
        try:
            shutil.copytree(notebook.parent, to.parent, ignore=left_out)
        except shutil.Error as error:  # all files are tried, and it has those that failed
            raise _unreadable(notebook.parent, [Path(source) for source, *_ in error.args[0]]) from error
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(notebook, to)


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _unreadable(folder: Path, paths: list[Path]) -> NotSubmitted:
    """The error for what a submission cannot have: what this account cannot read, a link to nothing, a pipe."""
    names = [f"`{path.relative_to(folder).as_posix()}`" for path in paths]
    named = ", ".join([*names[:MAX_NAMED], *([f"{len(names) - MAX_NAMED} more"] if len(names) > MAX_NAMED else [])])
    return NotSubmitted(
        "a file beside the notebook cannot be read",
        f"Move {named} out of the folder {folder.name}, and run `course.hand_in()` again.",
    )


def _too_large(notebook: Path, sizes: dict[Path, int], most: int) -> NotSubmitted:
    """The error for a submission that is too large, with the files to take away, the largest first."""
    over, remedies = sum(sizes.values()) - most, list[str]()
    for path, size in sorted(sizes.items(), key=lambda item: item[1], reverse=True):
        if over > 0 and path == notebook:
            remedies.append(f"clear the outputs of {path.name} ({size / 1e6:.0f} MB) and save it")
        elif over > 0:
            where = path.relative_to(notebook.parent).as_posix()
            remedies.append(f"move {where} ({size / 1e6:.0f} MB) out of the folder {notebook.parent.name}")
        over -= size
    whole = f"{sum(sizes.values()) / 1e6:.0f} MB, and the course takes at most {most / 1e6:.0f} MB"
    todo = f"First {', and '.join(remedies[:MAX_NAMED])}. Then run `course.hand_in()` again."
    return NotSubmitted(f"Directory size is too big: {whole}", todo)
