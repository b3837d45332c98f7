"""Move a course to a new version of its lessons in mid-term, or back to those of before.

The lessons are merged, and the outcome is tried on a copy of the course, in which everything with a grade is graded
again, to show the changes. Only then does the course itself change. Its earlier lessons are kept beside it.

Does not cover: how lessons merge (`authoring.merge_course`), the backup (`kept_migration`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from grading.coordinator.recalculate import GradeChange, recalculate
from grading.coordinator.release import release_lessons
from grading.coordinator.trial_course import clear_trials, failed_builds, trial_course, trial_lessons
from grading.course import Course
from grading.course_dir.fingerprints import fingerprint_file
from grading.course_dir.lesson_base import keep_base, kept_base, read_lessons, write_lessons
from grading.course_dir.scaffold import unpacked_course
from grading.errors import GradingError, StepFailed
from grading.gradebook.lock import exclusive

from .kept_migration import BEGUN, DONE, UNDONE, KeptMigration, keep_after, keep_before, kept_migrations
from .lesson_cells import read_cells
from .merge_course import CourseMerge, merge_course
from .merge_lessons import SHARED, LessonMerge, lesson_of, lessons_of


@dataclass(frozen=True)
class Migration:
    """Changes of a new version, or of undoing one.

    merge    the merged lessons
    based    whether the lessons that the course began with are known
    changes  whether there is anything to do: files to write, or a new base to keep
    release  lessons to release again
    found    changes of grades
    backup   the folder with the old lessons; "" if there is none
    made     whether the changes were made
    written  number of grades written
    """

    merge: CourseMerge
    based: bool = True
    changes: bool = True
    release: Sequence[str] = ()
    found: Sequence[GradeChange] = ()
    backup: str = ""
    made: bool = False
    written: int = 0

    @property
    def needs_a_person(self) -> bool:
        """Whether the teacher has to decide something."""
        return any(merge.decide for merge in self.merge.merges.values()) or any(one.failed for one in self.found)


Agreed = Callable[[Migration], bool]  # called with the planned changes; returns whether to make them


def migrate(
    course: Course, new: Path, agreed: Agreed, console: Console, *, base: Path | None = None, workers: int = 1
) -> Migration:
    """Move the course to the lessons of the course in `new`.

    new   a course directory, or a zip of one
    base  the lessons that the course began with (default: the base that it keeps)

    Raises StepFailed if that is impossible, and whatever `recalculate` raises; the course is then unchanged.
    """
    if any(kept.state == BEGUN for kept in kept_migrations(course)):
        raise StepFailed(
            "a migration, or undoing one, was interrupted. Run `grading migrate --undo` to restore the old lessons"
        )
    clear_trials(course)
    merge, based = _merge(course, new, base)
    merge = _without_unproved(course, _without_unfit(course, _without_refused(course, merge)), console)
    plan = Migration(merge, based, bool(merge.files) or kept_base(course.root) != merge.next_base)
    plan = _try(course, plan, console, workers) if plan.changes else plan
    if not agreed(plan) or not plan.changes:
        return plan
    return _make(course, plan, lambda: keep_before(course, merge), DONE, console, workers)


def undo(course: Course, agreed: Agreed, console: Console, *, workers: int = 1) -> Migration:
    """Undo the last migration, also one that was interrupted.

    A lesson stays as it is if it was handed in with other exercises since then, or is new and was released. Raises
    StepFailed if there is no migration, and whatever `recalculate` raises.
    """
    clear_trials(course)
    found = [kept for kept in kept_migrations(course) if kept.state != UNDONE]
    if not found:
        raise StepFailed("there is no migration to undo: no folder before-migrating-…/ has a record of one")
    kept, before = found[-1], read_lessons(found[-1].folder)
    files: dict[str, dict[str, str | None]] = {}
    for path in kept.files:
        files.setdefault(lesson_of(path), {})[path] = before.get(path)
    merges = {name: LessonMerge(name, part) for name, part in files.items()}
    merge = CourseMerge(kept_base(course.root) or {}, read_lessons(course.root), kept_base(kept.folder) or {}, merges)
    merge = _without_unfit(course, _without_refused(course, merge))
    plan = _try(course, Migration(merge, backup=kept.folder.name), console, workers)
    return _make(course, plan, lambda: keep_after(kept, merge), UNDONE, console, workers) if agreed(plan) else plan


def _make(
    course: Course, plan: Migration, keep: Callable[[], KeptMigration], state: str, console: Console, workers: int
) -> Migration:
    """Make the changes, after keeping the lessons as they are. `state`: of the backup in the end."""
    with exclusive(course.root):
        if read_lessons(course.root) != plan.merge.ours:
            raise StepFailed("nothing was changed, because lessons were edited at the same time. Run it again")
        kept = keep()
        try:
            write_lessons(course.root, plan.merge.files)
            keep_base(course.root, plan.merge.next_base)
            _release(course, plan.release, console)
            written = _regrade(course, lambda _: True, workers)
        except GradingError as error:
            why = "The course is partly changed: run `grading migrate --undo` to restore its lessons"
            raise StepFailed(f"{error}\n{why}") from error
        kept.move_to(state)
    return replace(plan, backup=kept.folder.name, made=True, written=written)


def _merge(course: Course, new: Path, base: Path | None) -> tuple[CourseMerge, bool]:
    """Merge the lessons; also return whether the base is known.

    Raises StepFailed, CourseError.
    """
    if new.resolve() == course.root.resolve():
        raise StepFailed(
            f"{new} is this course. Name the directory or the zip of the new version, with its source/ "
            "and grader_tests/"
        )
    ours = read_lessons(course.root)
    with unpacked_course(new) as folder, unpacked_course(base) if base else nullcontext() as began:
        theirs = read_lessons(folder or new)
        known = read_lessons(began) if began else kept_base(course.root)
    return merge_course(known or {}, ours, theirs), bool(known)


def _without_refused(course: Course, merge: CourseMerge) -> CourseMerge:
    """Leave a lesson as it is if nbgrader would refuse the change.

    That is one whose exercises change or that goes, after students handed it in, or that goes once it is released.
    """
    why = {}
    for name in merge.merges.keys() & lessons_of(merge.ours):
        text = f"source/{name}.py"
        before, after = (
            {cell.grade_id for cell in read_cells(tree.get(text, ""))} - {""} for tree in (merge.ours, merge.outcome)
        )
        if text not in merge.outcome and course.is_registered(name):
            why[name] = "it has been released since the migration"
        elif before != after and (number := len(course.students_who_handed_in(name))):
            names = [f"adds {', '.join(sorted(after - before))}"] if after - before else []
            names += [f"removes {', '.join(sorted(before - after))}"] if before - after else []
            people = "1 student has" if number == 1 else f"{number} students have"
            why[name] = f"{people} handed it in, so nbgrader refuses a version that {' and '.join(names)}"
    return merge.kept(why)


def _without_unfit(course: Course, merge: CourseMerge) -> CourseMerge:
    """Leave a lesson as it is if what becomes of it does not build.

    If the new shared code breaks the build of a lesson that does not change, the shared code stays as it is.
    """
    while merge.files:
        others = sorted(lessons_of(merge.outcome) - {*merge.changed}) if merge.shared_changes else []
        with trial_lessons(course, merge.outcome) as trial:
            failed = failed_builds(trial, [*merge.changed, *others])
        if broken := sorted(failed.keys() & others):
            with trial_lessons(course, merge.ours) as trial_of_before:
                before = failed_builds(trial_of_before, broken)
            failed = {name: why for name, why in failed.items() if name not in before}
            broken = [name for name in broken if name not in before]
        if not failed:
            break
        why = {name: f"it could not be built then: {fault}" for name, fault in failed.items()}
        merge = merge.kept({SHARED: f"{broken[0]} depends on it: {why[broken[0]]}"} if broken else why, decide=True)
    return merge


def _without_unproved(course: Course, merge: CourseMerge, console: Console) -> CourseMerge:
    """Prove the exercises whose graders mix both sides' changes, and leave a lesson as it is if one fails.

    If only the shared code changes, it stays as it is.
    """
    mixed, why = merge.mixed, dict[str, str]()
    if not mixed:
        return merge
    from grading.proof.runner import not_proved, prove  # imports torch

    with trial_lessons(course, merge.outcome) as trial:
        wanted = [one for one in not_proved(trial.root, sorted({name for name, _ in mixed})) if one in mixed]
        if wanted:
            names = ", ".join(exercise for _, exercise in wanted)
            console.print(f"Merged from your changes and the new ones: {names}. Proving first.")
        for found in prove(trial.root, wanted):
            if found.problems:
                first = found.problems[0]
                kept = found.lesson if merge.merges[found.lesson].files else SHARED
                why[kept] = f"{found.exercise} fails its proof after the merge ({first.file}: {first.fault})"
        fingerprint_file(course.root).add(fingerprint_file(trial.root).read())
    return _without_unproved(course, _without_unfit(course, merge.kept(why, decide=True)), console) if why else merge


def _try(course: Course, plan: Migration, console: Console, workers: int) -> Migration:
    """Release and grade in a copy of the course, and add the changes to the plan."""
    merge, released = plan.merge, _released(course)
    if not released:
        return plan
    # the check data of any lesson may contain what is shared
    release = [name for name in released if name in merge.changed or merge.shared_changes]
    found: list[GradeChange] = []

    def collect(changes: list[GradeChange]) -> bool:
        found.extend(changes)
        return False

    console.print("Trying it on a copy of the course.")
    with trial_course(course) as trial:
        write_lessons(trial.root, merge.files)
        _release(trial, release, Console(quiet=True))
        _regrade(trial, collect, workers)
    return replace(plan, release=release, found=found)


def _release(course: Course, names: Sequence[str], console: Console) -> None:
    """Release lessons again, so that notebooks, gradebook and graders agree."""
    if names:  # an empty list would mean all lessons
        release_lessons(course, names, console, again=True)


def _regrade(course: Course, agreed: Callable[[list[GradeChange]], bool], workers: int) -> int:
    """Regrade all released lessons; without any, no sandbox is needed."""
    released = _released(course)
    return recalculate(course, released, agreed, workers=workers) if released else 0


def _released(course: Course) -> list[str]:
    return [name for name in course.lessons(ordinary=False) if course.is_registered(name)]
