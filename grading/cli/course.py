"""Verbs about the whole course: init, settings, doctor, publish."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from grading.safe_text import plural, say

from .arguments import DONE, NEEDS_A_PERSON, Commands, add_json, emit


def add_commands(commands: Commands) -> None:
    init = commands.add("init", _init, in_course=False, example="init my-course --lessons attention-0.2.0.zip")
    init.add_argument("directory", type=Path, metavar="DIR", help="course directory to make")
    init.add_argument(
        "--upgrade", action="store_true", help="only a course.toml for the existing course in DIR, which has none"
    )
    lessons = init.add_mutually_exclusive_group()
    lessons.add_argument(
        "--lessons",
        dest="begun_with",
        type=Path,
        metavar="FROM",
        help="course whose lessons to copy: a directory, or a zip that GitHub made from a tag (default: none)",
    )
    lessons.add_argument(
        "--from",
        dest="previous",
        type=Path,
        metavar="COURSE",
        help="course of the last term: its lessons and settings are copied, its students are not (default: none)",
    )
    init.add_argument(
        "--exchange",
        metavar="DIR",
        help="directory of nbgrader's exchange, where students fetch and submit; '' for none (default: asks you)",
    )
    settings = commands.add("settings", _settings, example="settings")
    add_json(settings, "lesson and setting")
    doctor = commands.add("doctor", _doctor, in_course=False, example="doctor")
    add_json(doctor, "requirement")
    publish = commands.add(
        "publish",
        _publish,
        example="publish ../attention-autumn --repository https://github.com/you/attention-autumn",
        for_others=True,
    )
    publish.add_argument("directory", type=Path, metavar="DIR", help="folder of the repository")
    publish.add_argument(
        "--repository",
        metavar="URL",
        help="address of DIR: https://github.com/OWNER/NAME[/tree/BRANCH] (default: repository in course.toml)",
    )
    publish.add_argument(
        "--with-solutions",
        action="store_true",
        help="all solutions, which `solution(…)` shows to students (default: those that course.toml lists)",
    )
    add_json(publish, "file written")
    publish.add_argument(
        "--site", action="store_true", help="also a web site of the lessons, in DIR/docs (default: if there is one)"
    )


def _init(options: argparse.Namespace) -> int:
    from ..course_dir.next_term import begin_next_term
    from ..course_dir.scaffold import EXCHANGE, init_course

    if options.upgrade:
        return _upgrade(options.directory)
    if options.previous:
        say("\n".join(begin_next_term(options.directory, options.previous, options.exchange or "")))
        return _build_lessons(options.directory)
    exchange = options.exchange
    if exchange is None and sys.stdin.isatty():
        say("nbgrader's exchange is a folder that all students can read and write, for example on a JupyterHub.")
        exchange = input(f"Directory of the exchange (such as {EXCHANGE}; leave empty for none): ").strip()
    for line in init_course(options.directory, options.begun_with, exchange or ""):
        say(line)
    return _build_lessons(options.directory)


def _build_lessons(root: Path) -> int:
    """Build the notebooks of a new course, so that nbgrader's own commands find them."""
    from ..course_dir.lessons import list_lessons

    if lessons := list_lessons(root):
        from ..authoring.build import build_lesson  # imports torch
        from ..errors import CourseError

        say(f"Building {plural(len(lessons), 'lesson')} in source/.", flush=True)
        for name in lessons:
            try:
                build_lesson(root.resolve(), name)
            except CourseError as error:
                say(f"{name} could not be built: {error}", file=sys.stderr)
    return DONE


def _upgrade(directory: Path) -> int:
    from ..coordinator.due_dates import due_dates
    from ..course import Course
    from ..course_dir.course_template import upgrade_course
    from ..course_dir.paths import open_course

    course = Course(open_course(directory))
    for line in upgrade_course(course.root, due_dates(course), course.config.CourseDirectory.get("course_id", "")):
        say(line)
    return 0


def _settings(options: argparse.Namespace) -> int:
    from grading.safe_console import SafeConsole

    from ..coordinator.settings_table import lesson_settings, show_settings, with_defaults
    from ..course_dir.course_config import settings_in_force

    options.course.config  # noqa: B018  # raises ConfigFileError for an unknown setting
    found = with_defaults(settings_in_force(options.root))
    for lesson in lesson_settings(options.course):
        emit(options, "lesson", **asdict(lesson))
    for setting in found:
        emit(options, "setting", **asdict(setting))
    if not options.json:
        show_settings(options.course, found, SafeConsole())
    return DONE


def _doctor(options: argparse.Namespace) -> int:
    from ..sandbox import SandboxUnavailable, grants, require
    from ..sandbox.doctor import doctor

    say(doctor())
    for advice in _about_course():
        say(f"\n{advice}")
    for grant in grants():
        emit(options, "requirement", **grant._asdict())
    try:
        require()
    except SandboxUnavailable:
        return NEEDS_A_PERSON
    return DONE


def _about_course() -> Iterator[str]:
    """Advice for the course around this directory, if there is one."""
    from ..course_dir.course_folder import exposure
    from ..course_dir.paths import course_root
    from ..errors import NoCourseError
    from ..notebooks.python_version import python_versions

    try:
        root = course_root()
    except NoCourseError:
        return
    if problem := exposure(root):
        yield f"Warning: {problem}"
    here = sys.version_info[:2]
    if not (newer := {v: n for v, n in python_versions(root / "submitted").items() if v > here}):
        return
    grader, students = (".".join(map(str, version)) for version in (here, max(newer)))
    yield (
        f"Students use Python {students} ({plural(sum(newer.values()), 'notebook')} in submitted/). The grader runs "
        f"Python {grader}, which may not read all of their code. Grade with Python {students} or newer."
    )


def _publish(options: argparse.Namespace) -> int:
    from ..authoring.student_repo import has_site
    from ..extras import demand_extra

    if options.site or has_site(options.directory):
        demand_extra("site", "The web site")
    from ..authoring.student_install import delivery, origin
    from ..authoring.student_repo import SITE, publish, released, stale_releases
    from ..errors import CourseError
    from ..proof.runner import unproved

    names = released(options.root)
    if changed := sorted({*unproved(options.root, names), *stale_releases(options.root, names)}):
        raise CourseError(
            f"nothing was published: {', '.join(changed)} changed after the last proof and release. "
            "Run `grading release`, then publish again."
        )
    settings = delivery(options.root)
    if options.repository is not None:
        settings.repository = options.repository
    if options.with_solutions:
        settings.solutions = ["*"]
    source = origin(settings)
    done = publish(options.root, options.directory, source, settings.solutions)
    for name in done.written:
        say(f"{options.directory / name}: written")
        emit(options, "file", path=str(options.directory / name))
    say(f"{plural(len(done.written), 'file')} written, {len(done.same)} unchanged")
    if done.left:
        say(f"other files in {options.directory}, left unchanged: {', '.join(done.left)}")
    if options.site or has_site(options.directory):
        from grading.safe_console import SafeConsole

        from ..cpu_count import cpu_count
        from ..plugin import find_function

        site, build_site = options.directory / SITE, find_function("web_site")
        build_site(options.course, site, SafeConsole(), workers=cpu_count(), named=names, source=source)
    return DONE
