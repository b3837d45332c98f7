"""Verbs of `grading` that make a course what it is: init, new-lesson, publish. What they do is in their own modules."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

Act = Callable[[argparse.Namespace], int]


class Verb(Protocol):
    """Declares a verb by its name, what it is about, and what does it."""

    def __call__(self, name: str, about: str, act: Act | None = None) -> argparse.ArgumentParser: ...


def declare(verb: Verb) -> None:
    init = verb("init", "make a course's directory: its settings, its lessons, a secret seed", _init)
    init.add_argument("directory", type=Path, metavar="DIR")
    init.add_argument(
        "--lessons",
        dest="begun_with",
        type=Path,
        metavar="FROM",
        help="a course whose lessons to begin with: its directory, or a zip such as GitHub makes of a repository's tag",
    )
    init.add_argument(
        "--exchange", metavar="DIR", help="nbgrader's exchange, where students fetch and hand in; '' for none"
    )
    new = verb("new-lesson", "write a lesson that passes `grading check`, with one exercise to replace", _new_lesson)
    new.add_argument("name", metavar="NAME", help="two digits and a word or more: 13_positions")
    publish = verb(
        "publish", "write the students' repository of what is released: notebooks, package, page, licence", _publish
    )
    publish.add_argument("directory", type=Path, metavar="DIR")
    publish.add_argument(
        "--repository",
        metavar="URL",
        help="where students find DIR, https://github.com/OWNER/NAME[/tree/BRANCH]; c.Delivery.repository by default",
    )
    publish.add_argument(
        "--with-solutions",
        action="store_true",
        help="add the solutions of all lessons, which `solution(…)` shows; those of c.Delivery.solutions by default",
    )
    publish.add_argument(
        "--site",
        action="store_true",
        help="the lessons as a web site, too, in DIR/docs; once there it is kept up to date",
    )


def _init(options: argparse.Namespace) -> int:
    from ..course_dir.scaffold import EXCHANGE, init_course

    exchange = options.exchange
    if exchange is None and sys.stdin.isatty():
        print("nbgrader's exchange is a folder that all students can read and write, as a JupyterHub has it.")
        exchange = input(f"Its directory (such as {EXCHANGE}; nothing for none): ").strip()
    for line in init_course(options.directory, options.begun_with, exchange or ""):
        print(line)
    return 0


def _new_lesson(options: argparse.Namespace) -> int:
    from ..course_dir.scaffold import new_lesson

    for path in new_lesson(options.root, options.name):
        print(f"{path.relative_to(options.root)}: written")
    print(f"Now `grading check {options.name}` proves it. docs/authors.md tells how a lesson is written.")
    return 0


def _publish(options: argparse.Namespace) -> int:
    from ..authoring.student_install import delivery, origin
    from ..authoring.student_repo import SITE, has_site, publish, released, stale_releases
    from ..course_dir.paths import CourseError
    from ..proof.runner import unproved

    names = released(options.root)
    if changed := sorted({*unproved(options.root, names), *stale_releases(options.root, names)}):
        told = f"{', '.join(changed)} changed since it was proved and released. Run `grading release`."
        raise CourseError(f"nothing was published: {told}")
    settings = delivery(options.root)
    if options.repository is not None:
        settings.repository = options.repository
    if options.with_solutions:
        settings.solutions = ["*"]
    done = publish(options.root, options.directory, origin(settings), settings.solutions)
    for name in done.written:
        print(f"{options.directory / name}: written")
    print(f"{len(done.written)} written, {len(done.same)} as before")
    if done.left:
        print(f"also there, and left as they are: {', '.join(done.left)}")
    if options.site or has_site(options.directory):
        from rich.console import Console

        from ..coordinator.classroom import cores
        from ..site.build import build_site

        build_site(options.root, options.directory / SITE, Console(), workers=cores(), named=names)
    return 0
