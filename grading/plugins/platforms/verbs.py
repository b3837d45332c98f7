"""The verbs grade-file and package, for platforms that grade each submission when it is handed in."""

from __future__ import annotations

import argparse
from pathlib import Path

from grading.cli.arguments import DONE, NEEDS_A_PERSON, Commands, add_lesson, add_unsandboxed
from grading.safe_text import plural, say

PLATFORMS = ("gradescope", "prairielearn", "classroom50")  # `lms.packages`, which is slow to import
FORMS = ("json", "gradescope", "prairielearn", "classroom50", "junit")  # `lms.result_forms`, which is slow to import


def add_commands(commands: Commands) -> None:
    verb = commands.add(
        "grade-file",
        _grade_file,
        example="grade-file 02_softmax.ipynb 02_softmax --as gradescope --output results.json",
    )
    verb.add_argument("file", type=Path, metavar="FILE", help="notebook or Python file with the answers, or its folder")
    add_lesson(verb, "lesson of the file")
    verb.add_argument("--as", dest="form", choices=FORMS, default="json", help="form of the result (default: json)")
    verb.add_argument("--output", type=Path, metavar="FILE", help="file for the result (default: standard output)")
    verb.add_argument("--html", type=Path, metavar="FILE", help="feedback page to write (default: none)")
    wall = verb.add_mutually_exclusive_group()
    wall.add_argument(
        "--contained",
        action="store_true",
        help="as root in a container that grants no full sandbox, the level `contained` (default: refuse)",
    )
    add_unsandboxed(wall)
    verb = commands.add("package", _package, example="package 02_softmax --for gradescope")
    add_lesson(verb, "lesson to package")
    verb.add_argument("--for", dest="platform", choices=PLATFORMS, required=True, help="platform that will grade")
    verb.add_argument(
        "--wheels",
        type=Path,
        default=Path("dist"),
        metavar="DIR",
        help="folder with the wheels of both packages (default: dist)",
    )
    verb.add_argument("--output", type=Path, metavar="PATH", help="zip or folder to write (default: LESSON-PLATFORM)")


def _grade_file(options: argparse.Namespace) -> int:
    from .grade_file import grade_file
    from .result_forms import FORMS

    result = grade_file(
        options.course,
        options.file,
        options.lesson,
        page=options.html is not None,
        contained=options.contained,
        results=[path for path in (options.output, options.html) if path],
    )
    text = FORMS[options.form].write(result)
    if options.html:
        _write(options.html, result.page)
    if options.output:
        _write(options.output, text + "\n")
        say(f"{result.summary} {options.output}: written")
    else:
        say(text)
    return NEEDS_A_PERSON if result.open or result.unreadable else DONE


def _package(options: argparse.Namespace) -> int:
    from .package_lesson import package_lesson
    from .packages import PACKAGES

    package = PACKAGES[options.platform]
    ending = ".zip" if package.zipped else ""
    target = options.output or Path(f"{options.lesson}-{options.platform}{ending}")
    count = package_lesson(options.course, options.lesson, options.platform, options.wheels, target)
    holds = "neither tests nor the secret seed" if package.public else "the tests and the secret seed"
    say(f"{target}: {plural(count, 'file')} for {options.platform}. It holds {holds}.")
    return DONE


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
