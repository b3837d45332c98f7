"""Move a course to a new version of its lessons in mid-term.

The lessons are merged, and the outcome is tried on a copy of the course, in which everything with a grade is graded
again, to show the changes. Only then does the course itself change. Its earlier state is kept beside it.

Does not cover: how lessons merge (`authoring.merge_course`), undoing a migration (`undo_migration`).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

from rich.console import Console

from ..authoring.lesson_cells import read_cells
from ..authoring.lesson_pieces import SHARED
from ..authoring.merge_course import CourseMerge, merge_course
from ..course_dir.fingerprints import fingerprint_file
from ..course_dir.lesson_base import keep_base, kept_base, read_lessons, write_lessons
from ..course_dir.lessons import list_lessons
from ..course_dir.scaffold import unpacked_course
from ..errors import GradingError, StepFailed
from ..gradebook.lock import exclusive
from .kept_migration import (
    BEGUN,
    DONE,
    HOW_TO_GO_ON,
    NEXT_BASE,
    KeptMigration,
    demand_finished,
    keep_before,
    kept_migrations,
)
from .nbgrader_api import hand_ins, is_registered
from .recalculate import GradeChange, recalculate
from .release import release_lessons
from .trial_course import clear_trials, failed_builds, trial_course, trial_lessons


@dataclass(frozen=True)
class Migration:
    """Changes of a new version.

    merge       the merged lessons
    based       whether the lessons that the course began with are known
    moves_base  whether the next migration will compare with other lessons
    unfit       lessons that stay as they are because the two sides' changes do not work together
    release     lessons to release again
    found       changes of grades
    kept        the copy of the course before; None if nothing was changed
    written     number of grades written
    """

    merge: CourseMerge
    based: bool
    moves_base: bool = False
    unfit: list[str] = field(default_factory=list)
    release: list[str] = field(default_factory=list)
    found: list[GradeChange] = field(default_factory=list)
    kept: KeptMigration | None = None
    written: int = 0

    @property
    def changes(self) -> bool:
        """Whether there is anything to do: files to write, or a new base to keep."""
        return bool(self.merge.files) or self.moves_base

    @property
    def needs_a_person(self) -> bool:
        """Whether the teacher has to decide something."""
        conflicts = any(merge.conflicts for merge in self.merge.merges.values())
        return conflicts or bool(self.unfit) or any(change.failed for change in self.found)


def migrate(
    root: Path,
    new: Path,
    agreed: Callable[[Migration], bool],
    console: Console,
    *,
    base: Path | None = None,
    workers: int = 1,
) -> Migration:
    """Move the course in `root` to the lessons of the course in `new`.

    new     a course directory, or a zip of one
    agreed  called with the planned changes; returns whether to make them
    base    the lessons that the course began with (default: the base that it keeps, or one that is recognised)

    Raises StepFailed if that is impossible, and whatever `recalculate` raises; the course is then unchanged.
    """
    demand_finished(root)
    clear_trials(root)
    merge, based = _merge(root, new, base)
    tried = _without_new_exercises(root, merge)
    merge = _without_unfit(root, tried, console)
    stayed = {name for name, one in tried.merges.items() if one.stays}
    unfit = [name for name, one in merge.merges.items() if one.stays and name not in stayed]
    plan = Migration(merge, based, kept_base(root) != merge.next_base, unfit)
    if plan.changes:
        plan = _try(root, plan, console, workers)
    if not agreed(plan) or not plan.changes:
        return plan
    regraded = [(change.student, change.lesson) for change in plan.found if not change.failed]
    with exclusive(root):
        if read_lessons(root) != merge.ours:
            raise StepFailed(
                "nothing was migrated, because lessons were changed at the same time. Run the same command again"
            )
        lessons = (plan.release, list(merge.new))
        kept = keep_before(root, merge.ours, merge.theirs, merge.next_base, merge.files, lessons, regraded)
        try:
            kept, written = finish(root, kept, console, workers=workers)
        except GradingError as error:
            raise StepFailed(f"{error}\nThe migration is not finished. {HOW_TO_GO_ON}") from error
    return replace(plan, kept=kept, written=written)


def finish(root: Path, kept: KeptMigration, console: Console, *, workers: int = 1) -> tuple[KeptMigration, int]:
    """Do, or finish, the part of a migration that changes the course.

    Returns the number of grades written.
    """
    with exclusive(root):
        write_lessons(root, kept.files)
        keep_base(root, read_lessons(kept.folder / NEXT_BASE))
        _release(root, kept.release, console)
        written = _regrade(root, lambda _: True, workers)
        return kept.moved_to(DONE), written


def resume(root: Path, console: Console, *, workers: int = 1) -> tuple[KeptMigration, int]:
    """Finish an interrupted migration. Raises StepFailed if there is none."""
    begun = [kept for kept in kept_migrations(root) if kept.state == BEGUN]
    if not begun:
        raise StepFailed("no migration was interrupted: there is nothing to finish")
    return finish(root, begun[-1], console, workers=workers)


def _merge(root: Path, new: Path, base: Path | None) -> tuple[CourseMerge, bool]:
    """Merge the lessons; also return whether the base is known.

    Raises StepFailed, CourseError.
    """
    if new.resolve() == root.resolve():
        raise StepFailed(
            f"{new} is this course. Name the directory or the zip of the new version, with its source/ "
            "and grader_tests/"
        )
    ours = read_lessons(root)
    with unpacked_course(new) as folder, unpacked_course(base) if base else nullcontext() as began:
        theirs = read_lessons(folder or new)
        known = read_lessons(began) if began else kept_base(root)
    return merge_course(known or {}, ours, theirs), bool(known)


def _without_new_exercises(root: Path, merge: CourseMerge) -> CourseMerge:
    """Leave a lesson as it is if students handed it in and its exercises would change.

    nbgrader refuses to release such a lesson.
    """
    why = {}
    for name in merge.changed:
        text = f"source/{name}.py"
        before, after = ({c.grade_id for c in read_cells(tree[text])} - {""} for tree in (merge.ours, merge.outcome))
        if before != after and (number := len(hand_ins(root, name))):
            names = [f"adds {', '.join(sorted(after - before))}"] if after - before else []
            names += [f"removes {', '.join(sorted(before - after))}"] if before - after else []
            people = "1 student has" if number == 1 else f"{number} students have"
            why[name] = f"{people} handed it in, so nbgrader refuses the new version, which {' and '.join(names)}"
    return merge.kept(why)


def _without_unfit(root: Path, merge: CourseMerge, console: Console) -> CourseMerge:
    """Leave a lesson as it is if its merge does not build or fails its proof.

    If the merged shared code breaks the build of a lesson that does not change, the shared code stays as it is.
    """
    while merge.files:
        others = [name for name in list_lessons(root) if name not in merge.changed] if merge.shared_changes else []
        with trial_lessons(root, merge.outcome) as course:
            failed = failed_builds(course, [*merge.changed, *merge.new, *others])
            if set(failed) & set(others):
                with trial_lessons(root, merge.ours) as course_of_before:
                    before = failed_builds(course_of_before, set(failed) & set(others))
                failed = {name: why for name, why in failed.items() if name not in before}
            why = {name: f"it could not be built after the merge: {fault}" for name, fault in failed.items()}
            why = why or _failed_proofs(root, course, merge, console)
        if not why:
            return merge
        broken = sorted(set(why) & set(others))
        merge = merge.kept({SHARED: f"{broken[0]} depends on it: {why[broken[0]]}"} if broken else why)
    return merge


def _failed_proofs(root: Path, course: Path, merge: CourseMerge, console: Console) -> dict[str, str]:
    """Prove the exercises that mix both sides' changes; returns problems by lesson."""
    common = {piece.outcome for piece in merge.merges[SHARED].pieces} if merge.shared_changes else set()
    mixed = {(name, one) for name, lesson in merge.merges.items() for one in lesson.mixed(common)}
    if not mixed:
        return {}
    from ..proof.runner import not_proved, prove  # imports torch

    failed, wanted = {}, [one for one in not_proved(course, sorted({name for name, _ in mixed})) if one in mixed]
    if wanted:
        names = ", ".join(exercise for _, exercise in wanted)
        console.print(f"Merged from your changes and the new ones: {names}. Proving first.")
    for found in prove(course, wanted):
        if found.problems:
            first = found.problems[0]
            failed[found.lesson] = f"{found.exercise} fails its proof after the merge ({first.file}: {first.fault})"
    fingerprint_file(root).add(fingerprint_file(course).read())
    return failed


def _try(root: Path, plan: Migration, console: Console, workers: int) -> Migration:
    """Release and grade in a copy of the course, and add the changes to the plan."""
    merge = plan.merge
    release = [name for name in merge.changed if is_registered(root, name)]
    if not _released(root):
        return plan
    if merge.shared_changes:  # the check data of any lesson may contain it
        release = _released(root)
    found: list[GradeChange] = []

    def collect(changes: list[GradeChange]) -> bool:
        found.extend(changes)
        return False

    console.print("Trying it on a copy of the course.")
    with trial_course(root) as trial:
        write_lessons(trial, merge.files)
        _release(trial, release, Console(quiet=True))
        _regrade(trial, collect, workers)
    return replace(plan, release=release, found=found)


def _release(root: Path, names: list[str], console: Console) -> None:
    """Release lessons again, so that notebooks, gradebook and graders agree."""
    if names:  # an empty list would mean all lessons
        release_lessons(root, names, console, again=True)


def _regrade(root: Path, agreed: Callable[[list[GradeChange]], bool], workers: int) -> int:
    """Regrade all released lessons; without any, no sandbox is needed."""
    released = _released(root)
    return recalculate(root, released, agreed, workers=workers) if released else 0


def _released(root: Path) -> list[str]:
    return [name for name in list_lessons(root) if is_registered(root, name)]
