"""The `grading` command: a whole class at once, and the proofs that nbgrader's own commands do not give."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from . import changes, course

if TYPE_CHECKING:
    from ..proof.runner import Found

ANYWHERE = ("doctor", "init")  # what asks about the machine, and what makes a course
UNSANDBOXED = (
    "`grading grade --unsandboxed` grades without the sandbox. Student code can then do all that you can, and every "
    "grade is marked so."
)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="grading", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)

    def verb(name: str, about: str, act: course.Act | None = None) -> argparse.ArgumentParser:
        made = verbs.add_parser(name, help=about, description=about)
        made.set_defaults(act=act or globals().get(f"_{name}"))  # or `desk` says it
        if name not in ANYWHERE:
            made.add_argument(
                "--course", type=Path, metavar="DIR", help="the course's directory, where you are in another one"
            )
        return made

    for name, about in (
        ("build", "build the assignments and the visible examples from their texts"),
        ("release", "build, then generate the student notebooks by nbgrader"),
        ("grade", "autograde all that was handed in"),
        ("regrade", "compute grades again, by the seed recorded with each, and say whether they are the same"),
        ("feedback", "write feedback for all that is graded"),
        ("check", "prove the graders: solutions, stubs, alternatives, mistakes, mutants"),
        (
            "strength",
            "prove the graders, measure them over many seeds, and write docs/strength.md",
        ),
    ):
        verb(name, about).add_argument("lessons", nargs="*", metavar="LESSON", help="all, where none is named")
    collect = verb(
        "collect", "sort what a learning platform lets you download into submitted/: each student's, and when"
    )
    collect.add_argument("archives", nargs="+", type=Path, metavar="ARCHIVE", help="zips or folders, as downloaded")
    collect.add_argument("--lesson", default="", help="whose hand-ins they are; where it is not given, file names tell")
    verb("demo", "release, hand in a sample class, grade it, write feedback, report")
    verb("report", "the class: what waits for a person, the most frequent mistakes, how each lesson went")
    verb("fill", "fill a lesson's column in the gradebook file that your LMS exports, for it to import again")
    course.declare(verb)
    site = verb("site", "the released lessons as a web site, untouched and with every picture drawn; replaces DIR")
    site.add_argument("dir", nargs="?", type=Path, default=Path("site"), metavar="DIR", help="site by default")
    verb("doctor", "what this machine grants to the sandbox; exit status 1 where it is too little")

    grade, regrade = verbs.choices["grade"], verbs.choices["regrade"]
    grade.add_argument("--again", action="store_true", help="grade also what is graded already")
    for one in (grade, regrade):
        one.add_argument(
            "--unsandboxed",
            action="store_true",
            help="run student code in ordinary kernels, which can do all that you can; every grade is marked so",
        )
        one.add_argument("--students", nargs="+", metavar="STUDENT", help="grade these only")
    where = grade.add_mutually_exclusive_group()
    where.add_argument("--scheduler", metavar="ADDRESS", default="", help="of a Dask cluster, which then grades")
    for place, what in (
        (where, "submissions"),
        (regrade, "submissions"),
        (verbs.choices["feedback"], "pages"),
        (verbs.choices["release"], "lessons built"),
        (site, "lessons executed"),
    ):
        place.add_argument("--workers", type=_positive, default=0, help=f"{what} at a time; one a processor by default")
    regrade.add_argument("--seed", default="", metavar="NAME", help="another seed than the recorded one, by its name")
    grade.add_argument("--dry-run", action="store_true", help="say what would be graded, and why, and do nothing")
    grade.add_argument(
        "--json", action="store_true", help="print what becomes of each as a line of JSON, and the rest to stderr"
    )
    report = verbs.choices["report"]
    report.add_argument("--students", action="store_true", help="show everyone's points, too")
    report.add_argument("--html", metavar="FILE", help="write it all as one page that opens anywhere")
    report.add_argument("--csv", metavar="DIR", help="write the page's tables as CSV files into a directory")
    report.add_argument("--anonymous", action="store_true", help="numbers in place of names")
    filled = verbs.choices["fill"]
    filled.add_argument("file", metavar="FILE", help="what Canvas's or Moodle's gradebook exports, as CSV")
    filled.add_argument("lesson", metavar="LESSON")
    filled.add_argument("--column", default="", help="the column to fill, where the lesson's name does not tell it")
    filled.add_argument("--by", default="", help="the column with ids, where it is not told by whose they are")
    filled.add_argument("--out", default="", metavar="FILE", help="what to write; FILE-filled.csv by default")
    check = verbs.choices["check"]
    check.add_argument("--exercise", default="", help="only this one")
    check.add_argument("--no-mutants", action="store_true")
    check.add_argument(
        "--survivors", action="store_true", help="only print mutants that lose nothing, as equivalent.toml has them"
    )
    check.add_argument("--again", action="store_true", help="prove also what is proved as it is")
    check.add_argument("-v", "--verbose", action="store_true", help="show the report of every known mistake")

    verbs.choices["strength"].add_argument("--exercise", default="", help="only this one")
    verbs.choices["strength"].add_argument(
        "--seeds", type=int, default=100, help="fresh seeds to measure with (default 100; 0: proofs only)"
    )

    changes.declare(verb, verbs.choices["regrade"])
    options = parser.parse_args(arguments)
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch is imported: all that it computes here is small
    from ..course_dir.paths import CourseError, course_root, list_lessons, open_course
    from ..import_blocks import block_slow_imports

    block_slow_imports()
    from ..coordinator.classroom import CannotWrite
    from ..coordinator.executors import ClusterLost
    from ..coordinator.nbgrader_api import GradingError
    from ..gradebook.lock import AtWork
    from ..lms.identities import WhoseError
    from ..sandbox import SandboxUnavailable

    try:
        for name in ("SIGTERM", "SIGHUP"):  # a machine that is shut down, a closed terminal
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:  # as `nohup` has it
                signal.signal(number, _interrupted)
        if options.verb not in ANYWHERE:
            options.root = open_course(options.course) if options.course else course_root()
        if hasattr(options, "lessons"):
            options.lessons = list_lessons(options.root, options.lessons)
        return int(options.act(options))
    except SandboxUnavailable as error:
        print(f"grading: nothing was graded. {error}\n{UNSANDBOXED}", file=sys.stderr)
    except (CourseError, GradingError, AtWork, CannotWrite, ClusterLost, WhoseError, FileNotFoundError) as error:
        print(f"grading: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        _say_last("grading: stopped. What was done is kept; run the same command again to go on.")
        return 130
    return 1


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def _say_last(text: str) -> None:
    with suppress(OSError):  # the terminal may be gone
        print(text, file=sys.stderr)


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is no number of workers")
    return int(text)


def _build(options: argparse.Namespace) -> int:
    from ..authoring.build import build_lesson
    from ..proof import mistakes_page

    for name in options.lessons:
        print(f"{name}: {'built' if build_lesson(options.root, name) else 'up to date'}", flush=True)
    if mistakes_page.write(options.root):
        print("docs/mistakes.md: written")
    return 0


def _release(options: argparse.Namespace) -> int:
    from rich.console import Console

    from ..coordinator.classroom import release_lessons
    from ..proof.runner import check, unproved

    if left := unproved(options.root, options.lessons):
        print(f"Not proved as they are now: {', '.join(left)}. Proving them first.", flush=True)
        if any(one.problems for one in check(options.root, left, again=False)):
            print(
                "grading: nothing was released. Mend what is told above; `grading check` tells it again.",
                file=sys.stderr,
            )
            return 1
    release_lessons(options.root, options.lessons, Console(), workers=options.workers)
    return 0


def _grade(options: argparse.Namespace) -> int:
    from rich.console import Console

    from ..coordinator.classroom import grade_class

    outcome = grade_class(
        options.root,
        options.lessons,
        Console(stderr=options.json),
        students=options.students,
        again=options.again,
        unsandboxed=options.unsandboxed,
        workers=options.workers,
        scheduler=options.scheduler,
        dry=options.dry_run,
        tell=lambda record: print(json.dumps(record), flush=True) if options.json else None,
    )
    return min(1, len(outcome.failed))


def _collect(options: argparse.Namespace) -> int:
    from rich.console import Console

    from ..coordinator.collect import collect
    from ..course_dir.paths import list_lessons

    lesson = list_lessons(options.root, [options.lesson])[0] if options.lesson else ""
    return int(any(one.failed for one in collect(options.root, options.archives, lesson, Console())))


def _feedback(options: argparse.Namespace) -> int:
    from rich.console import Console

    from ..coordinator.classroom import write_feedback

    return min(1, write_feedback(options.root, options.lessons, Console(), workers=options.workers))


def _demo(options: argparse.Namespace) -> int:
    from rich.console import Console

    from ..class_report import console
    from ..class_report.mistake_texts import MistakeTexts
    from ..coordinator.class_data import load_class
    from ..coordinator.classroom import demonstrate

    failed = demonstrate(options.root, Console())
    console.show_class(load_class(options.root), MistakeTexts(options.root), Console(), students=True)
    print("Look next at feedback/sample-fatou/02_softmax/02_softmax.html, and at docs/teachers.md.")
    return min(1, failed)


def _report(options: argparse.Namespace) -> int:
    from pathlib import Path

    from rich.console import Console

    from ..class_report import console, csv_tables, html_page
    from ..class_report.mistake_texts import MistakeTexts
    from ..coordinator.class_data import load_class
    from ..course_dir.seeds import course_seed

    course, graders = load_class(options.root), MistakeTexts(options.root)
    if options.anonymous:
        course = course.anonymous(course_seed(options.root))
    if options.html:
        Path(options.html).write_text(html_page.class_page(course, options.root.name, graders), encoding="utf-8")
        print(f"{options.html}: written")
    if options.csv:
        for file in csv_tables.write(course, graders, Path(options.csv)):
            print(f"{file}: written")
    if not options.html and not options.csv:
        console.show_class(course, graders, Console(), students=options.students)
    return 0


def _site(options: argparse.Namespace) -> int:
    from rich.console import Console

    from ..coordinator.classroom import cores
    from ..site.build import build_site

    build_site(options.root, options.dir, Console(), workers=options.workers or cores())
    return 0


def _fill(options: argparse.Namespace) -> int:
    from pathlib import Path

    from ..coordinator.class_data import load_class, load_roster
    from ..lms.gradebook_csv import ExportError, fill_column, summary_lines

    given, lesson = Path(options.file), options.lesson
    course = load_class(options.root)
    graded, waiting = course.whole(lesson), [s.student for s in course.submissions if s.lesson == lesson and s.open]
    if not graded:
        print(f"grading: nothing was written. {lesson} has no grades that are whole yet", file=sys.stderr)
        return 1
    points = {one.student: one.points for one in graded}
    try:
        done = fill_column(
            given.read_bytes(),
            lesson,
            load_roster(options.root),
            points,
            graded[0].most,
            options.column,
            options.by,
            excused=[student for student, name in course.excused if name == lesson],
        )
    except ExportError as error:
        print(f"grading: nothing was written. {given}: {error}", file=sys.stderr)
        return 1
    print("\n".join(summary_lines(done)))
    if waiting:
        print(f"left as they are, since an exercise needs a person: {', '.join(sorted(waiting))}")
    out = Path(options.out) if options.out else given.with_name(f"{given.stem}-filled.csv")
    out.write_bytes(done.text.encode("utf-8-sig" if given.read_bytes()[:3] == b"\xef\xbb\xbf" else "utf-8"))
    print(f"{out}: written, to be imported into your LMS")
    return 0


def _doctor(options: argparse.Namespace) -> int:
    from ..sandbox import SandboxUnavailable, require
    from ..sandbox.doctor import doctor

    print(doctor())
    try:
        require()
    except SandboxUnavailable:
        return 1
    return 0


def _check(options: argparse.Namespace) -> int:
    from ..proof.runner import check, survivors

    if options.survivors:
        survivors(options.root, options.lessons, options.exercise)
        return 0
    mutate, verbose = not options.no_mutants, options.verbose
    again = options.again or verbose or bool(options.exercise)  # whoever names one, or wants its reports, means it
    return _told(check(options.root, options.lessons, options.exercise, mutate=mutate, verbose=verbose, again=again))


def _strength(options: argparse.Namespace) -> int:
    from ..proof.write_reports import publish

    return _told(publish(options.root, options.lessons, options.exercise, seeds=options.seeds))


def _told(found: list[Found]) -> int:
    """Say how many problems there are; the exit status."""
    problems = sum(len(one.problems) for one in found)
    print(f"{problems} problem{'s' * (problems != 1)}" if problems else "all proved", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
