"""Run the review page of a lesson until Ctrl-C."""

from __future__ import annotations

import asyncio
import getpass
import logging
import os
import sys
import tempfile
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from difflib import get_close_matches
from pathlib import Path

from grading.course import Course
from grading.errors import StepFailed
from grading.safe_text import make_safe, plural

from .desk import ReviewDesk
from .web_server import ReviewServer

OPENED = ".grading-review-"  # prefix of the file that a browser opens


def review(
    course: Course,
    lesson: str,
    question: str,
    *,
    by: str,
    port: int,
    names: bool,
    browser: bool,
    tell: Callable[[str], None],
) -> int:
    """Serve the page until Ctrl-C; returns 1 if answers still need a person, else 0.

    question  the question to open first; "" for the lesson's first
    by        name of the person who grades; "" for this user's name
    names     whether students' names are visible at first

    Raises StepFailed.
    """
    course.lessons([lesson])
    if not course.is_registered(lesson):
        raise StepFailed(
            f"{lesson} is not released, so no student can have submitted it: run `grading release {lesson}` first"
        )
    with course.gradebook() as gradebook:
        desk = ReviewDesk(course, lesson, gradebook)
        first = _question(desk, question)
        make_safe(logging.getLogger("tornado.application"))  # a traceback may quote an answer
        begun = desk.count_steps()
        try:
            asyncio.run(_serve(desk, by or _user_name(), port, names, first, browser, tell))
        except KeyboardInterrupt:
            tell(f"\n{_farewell(desk, begun)}")
        return int(any(row["done"] < row["total"] for row in desk.overview()["questions"]))


async def _serve(
    desk: ReviewDesk, by: str, port: int, names: bool, first: str, browser: bool, tell: Callable[[str], None]
) -> None:
    try:
        server = ReviewServer(desk, by, port, names=names, first=first)
    except OSError as error:
        raise StepFailed(
            f"port {port} cannot be used: {error.strerror}. Leave out --port to use a free one."
        ) from error
    tell(f"Grade {desk.lesson} at {server.address}")
    tell("Keep the address to yourself: anyone who has it can grade. Each grade is saved at once; stop with Ctrl-C.")
    with _opened(desk.course, server.address) if browser and _has_display() else nullcontext():
        await asyncio.Event().wait()


@contextmanager
def _opened(course: Course, address: str) -> Iterator[None]:
    """Open an address in a browser, which gets it from a file in the course that only this account can read.

    Every account of the machine can read the arguments of a program. Browsers that are confined, such as a snap, see
    the user's folders but not /tmp.
    """
    descriptor, name = tempfile.mkstemp(prefix=OPENED, suffix=".html", dir=course.root)
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(f'<meta http-equiv="refresh" content="0; url={address}">')
        with suppress(webbrowser.Error):
            webbrowser.open(Path(name).as_uri())
        yield
    finally:
        os.unlink(name)


def _question(desk: ReviewDesk, named: str) -> str:
    """The key of the question to open.

    Raises StepFailed for an unknown name, or if the lesson has nothing to grade by hand.
    """
    if not desk.questions:
        raise StepFailed(f"{desk.lesson} has no question for a person to grade, and no exercise that needs a person")
    if not named:
        return next(iter(desk.questions))
    names = {question.cells.name: key for key, question in desk.questions.items()} | {k: k for k in desk.questions}
    names |= {question.answer: key for key, question in desk.questions.items()}
    if named in names:
        return names[named]
    near = get_close_matches(named, names, 1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(q.answer for q in desk.questions.values())}"
    raise StepFailed(f"{desk.lesson} has no question {named}; {hint}")


def _farewell(desk: ReviewDesk, begun: int) -> str:
    done = desk.count_steps() - begun
    rows = desk.overview()["questions"]
    waiting = sum(row["total"] - row["done"] for row in rows)
    saved = f"{plural(done, 'step')} of grading saved" if done else "Nothing was changed"
    if not waiting:
        return f"{saved}. Every answer of {desk.lesson} is graded."
    noun = "answer waits" if waiting == 1 else "answers wait"
    return f"{saved}. {waiting} {noun} for a person. Run `grading review {desk.lesson}` to continue."


def _has_display() -> bool:
    """Whether a browser can open a window; a text browser would take the terminal."""
    return sys.platform in ("darwin", "win32") or any(os.environ.get(n) for n in ("DISPLAY", "WAYLAND_DISPLAY"))


def _user_name() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # the user has no name
        return "somebody"
