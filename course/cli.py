"""The `attention` command: the lessons' notebooks in a folder, and answers that are written in a file.

attention start                          a folder with the notebooks, opened in JupyterLab
attention check 02_softmax.ipynb         every exercise of a notebook
attention check my_answers.py            every exercise that the file answers
attention check my_answers.py softmax    one of them
attention watch my_answers.py            the same on each save
attention progress                       progress on the answers in this folder and on the course
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import nullcontext, redirect_stdout
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

from .answer_file import NOTEBOOK, UnusableFile, run_file
from .lessons_folder import NEW_FOLDER, UnusableFolder, default_folder, fill_folder
from .notebook import catalog, check, hand_in, progress
from .notebook.saved_notebook import SavedNotebook, read
from .notebook.session import current
from .outline import counts
from .report import Report, display

POLL = 0.2  # seconds between two looks at a watched file


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, 1 if an answer fails, 2 if nothing could be checked or opened."""
    parser = argparse.ArgumentParser(
        prog="attention",
        description="Open the lessons, and check answers in a file or notebook.",
        epilog="`attention VERB --help` lists a verb's options. Exit status: 0 all passed, 1 not all, 2 not checked.",
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    start = _add_verb(verbs, "start", "Make a folder with the lessons and open it in JupyterLab.", "start my-lessons")
    start.add_argument(
        "folder",
        type=Path,
        nargs="?",
        metavar="FOLDER",
        help=f"folder for the notebooks; those that it has are kept (default: this folder if it has notebooks of the "
        f"lessons, otherwise {NEW_FOLDER})",
    )
    start.add_argument("--no-browser", action="store_true", help="start JupyterLab without opening a browser")
    start.usage = "attention start [-h] [--no-browser] [FOLDER] [-- JUPYTERLAB_OPTION ...]"
    check = _add_verb(verbs, "check", "Check the answers in a file.", "check my_answers.py softmax")
    watch = _add_verb(verbs, "watch", "Check the answers in a file on each save.", "watch my_answers.py softmax")
    for verb in (check, watch):
        verb.add_argument("file", type=Path, metavar="FILE", help="Python file or notebook with the answers")
        verb.add_argument(
            "exercises", nargs="*", metavar="EXERCISE", help="exercises to check (default: all that the file answers)"
        )
    shown = check.add_mutually_exclusive_group()
    shown.add_argument("--all", action="store_true", help="show all failing cases, and the points for each requirement")
    shown.add_argument("--json", action="store_true", help="print one line of JSON per exercise (docs/json.md)")
    progress = _add_verb(verbs, "progress", "Show your progress in each exercise.", "progress my_answers.py")
    progress.add_argument(
        "file", type=Path, nargs="*", metavar="FILE", help="files with answers (default: all Python files here)"
    )
    for verb in (check, watch, progress):
        verb.add_argument(
            "--lesson",
            default="",
            metavar="NAME",
            help="lesson of the exercises, such as 02_softmax (default: detected from the file)",
        )
    given = list(sys.argv[1:] if arguments is None else arguments)
    end = given.index("--") if given[:1] == ["start"] and "--" in given else len(given)
    options = parser.parse_args(given[:end])
    options.for_lab = given[end + 1 :]
    try:
        return {"start": _start, "check": _check, "watch": _watch, "progress": _progress}[options.verb](options)
    except (UnusableFile, UnusableFolder) as error:
        print(error, file=sys.stderr)
        return 2


def _add_verb(verbs: Any, name: str, summary: str, example: str) -> argparse.ArgumentParser:
    """Add a verb. summary: one imperative sentence; example: a command, without `attention`."""
    epilog = f"example: attention {example}"
    parser: argparse.ArgumentParser = verbs.add_parser(name, help=summary, description=summary, epilog=epilog)
    return parser


def _start(options: argparse.Namespace) -> int:
    filled = fill_folder(options.folder or default_folder())
    print(filled.to_text(), flush=True)
    if find_spec("jupyterlab") is None:
        again = shlex.join(["attention", "start", str(filled.path)])
        raise UnusableFolder(
            f"JupyterLab is not installed. Run `pip install jupyterlab`, then `{again}` again. "
            "Or open the folder in another editor for notebooks, such as VS Code."
        )
    environment = {**os.environ, **_writable_places(filled.path.resolve() / ".jupyter")}
    print("Starting JupyterLab. To stop it, press Ctrl-C here.", flush=True)
    # -P: a file of the learner's such as random.py must not replace a module that JupyterLab imports
    command = [sys.executable, "-P", "-m", "jupyterlab", str(filled.path.resolve())]
    for_lab = [*(["--no-browser"] if options.no_browser else []), *options.for_lab]
    with subprocess.Popen([*command, *for_lab], cwd=filled.path, env=environment) as lab:
        while True:
            try:
                code = lab.wait()
                break
            except KeyboardInterrupt:  # JupyterLab gets it as well, and asks whether to stop
                continue
    if code and hasattr(os, "geteuid") and os.geteuid() == 0 and "--allow-root" not in for_lab:
        again = shlex.join(["attention", "start", str(filled.path), "--", *for_lab, "--allow-root"])
        print(f"If JupyterLab refuses to run as root, type: {again}", file=sys.stderr)
    return code


def _writable_places(instead: Path) -> dict[str, str]:
    """The environment variables with which JupyterLab uses `instead` where it could not write, as in some homes."""
    from jupyter_core import paths  # it comes with JupyterLab

    places = {
        "JUPYTER_CONFIG_DIR": paths.jupyter_config_dir(),
        "JUPYTER_DATA_DIR": paths.jupyter_data_dir(),
        "JUPYTER_RUNTIME_DIR": paths.jupyter_runtime_dir(),
    }
    shut = [name for name, place in places.items() if not _is_writable(Path(place))]
    if shut:
        print(f"JupyterLab cannot write in {places[shut[0]]}, so it keeps its settings in {instead}.")
    return dict.fromkeys(shut, str(instead))


def _is_writable(folder: Path) -> bool:
    """Whether this user can write in a folder, or make it."""
    nearest = next(place for place in (folder, *folder.parents) if place.exists())
    return nearest.is_dir() and os.access(nearest, os.W_OK)


def _check(options: argparse.Namespace) -> int:
    # What the file itself prints must not be among the records
    with redirect_stdout(sys.stderr) if options.json else nullcontext():
        names, whole = run_file(options.file)
    lesson = _start_lesson(options.file, names, options.lesson)
    known = catalog.tasks_of(lesson)
    if unknown := [name for name in options.exercises if name not in known]:
        raise UnusableFile(f"{lesson} has no exercise {', '.join(unknown)}. Its exercises are {', '.join(known)}.")
    if absent := [name for name in options.exercises if name not in names]:
        raise UnusableFile(f"{options.file} does not define {', '.join(absent)}.")
    wanted = options.exercises or [name for name in known if name in names]
    reports = [_shown(check.safe_report(current(), names[name]), options) for name in wanted]
    if not options.json and not options.all and any(report.folded for report in reports):
        print(f"All cases and requirements: attention check --all {shlex.quote(str(options.file))}")
    return 0 if whole and all(report.status == "passes" for report in reports) else 1


def _watch(options: argparse.Namespace) -> int:
    """Run `attention check` on each save, each time in a new process, until Ctrl-C.

    A save ends a check that is still running, such as one of an answer that never returns.
    """
    if not options.file.is_file():
        raise UnusableFile(f"There is no file {options.file}. Save your answers there first.")
    arguments = ["check", str(options.file), *options.exercises, "--lesson", options.lesson]
    print(f"{options.file} is checked on each save. Press Ctrl-C to stop.", flush=True)
    # A fork has imported torch already. It is safe on Linux, where this process has no threads; on macOS it may crash
    get_context = multiprocessing.get_context
    context = get_context("fork") if sys.platform == "linux" else get_context("spawn")
    checked, running = None, None
    try:
        while True:
            found = _state(options.file)
            if found not in (None, checked):
                if running is not None:
                    running.terminate()
                    running.join()
                checked = found
                print(f"\n{time.strftime('%H:%M:%S')} {options.file}", flush=True)
                running = context.Process(target=_check_in_child, args=(arguments,))
                running.start()
            time.sleep(POLL)
    except KeyboardInterrupt:
        if running is not None:
            running.terminate()
        return 0


def _check_in_child(arguments: Sequence[str]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends it without a traceback
    main(arguments)


def _state(path: Path) -> tuple[int, int] | None:
    """The time of the last change and the size of a file; None while an editor replaces it."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _shown(report: Report, options: argparse.Namespace) -> Report:
    if options.json:
        print(json.dumps({"record": "report", **report.to_json()}, ensure_ascii=False))
    else:
        display(report, options.all)
    return report


def _progress(options: argparse.Namespace) -> int:
    files = options.file or [path for path in sorted(Path().glob("*.py")) if _has_answers(path)]
    session = current()
    remembered = session.store.path
    if not files and not (remembered and session.store.lessons):
        raise UnusableFile(
            "No Python file in this folder answers an exercise. Name a file: attention progress my_answers.py"
        )
    done = bool(files) or not any(line.next for line in progress.saved_lessons(session) if counts(line.lesson))
    for path in files:
        names, complete = run_file(path)
        _start_lesson(path, names, options.lesson)
        print(f"{path}:")
        report = progress.lesson_report(current())
        display(report)
        done = done and complete and report.status == "passes"
    if remembered:
        print(progress.course_so_far(current()))
    return 0 if done else 1


def _has_answers(path: Path) -> bool:
    """Whether a file defines a function or class with the name of an exercise."""
    text = path.read_text(encoding="utf-8", errors="replace")
    known = {name for lesson in catalog.lessons() for name in catalog.exercises_of(lesson)}
    return any(f"\ndef {name}(" in f"\n{text}" or f"\nclass {name}(" in f"\n{text}" for name in known)


def _start_lesson(path: Path, names: dict[str, Any], named: str) -> str:
    """Start the lesson that a file answers and return its name. Raises UnusableFile.

    It is the lesson given as `named`, else the one that the file begins, else the one with most of its exercises.
    """
    answered = {lesson: sum(name in names for name in catalog.exercises_of(lesson)) for lesson in catalog.lessons()}
    if named and named not in answered:
        raise UnusableFile(f"There is no lesson {named!r}. The lessons are {', '.join(answered)}.")
    session = current()
    lesson = named or session.lesson or max(answered, key=lambda name: answered[name])
    if not answered[lesson]:
        raise UnusableFile(
            f"{path} defines no function or class with the name of an exercise{' of ' + lesson if named else ''}."
        )
    session.lesson, session.names = lesson, names
    if path.suffix == NOTEBOOK:  # its cells ran from top to bottom, so the last version of an answer is checked
        notebook = SavedNotebook(path.name, read(path))
        for sentence in filter(None, chain.from_iterable(hand_in.version_sentences(notebook, lesson))):
            print(f"{path}: {sentence}", file=sys.stderr)
    return lesson
