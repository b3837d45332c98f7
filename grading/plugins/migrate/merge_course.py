"""Merge all lessons of a new version into a course.

The result has the files that change, and the base of the next merge. Works on texts by path. Does not cover: merging
one lesson (`merge_lessons`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from .merge_lessons import SHARED, TESTS, LessonMerge, Tree, graded_parts, lessons_of, merge_lesson, part_of, parts_of


@dataclass(frozen=True)
class CourseMerge:
    """A course merged with a new version.

    merges   by name: each lesson that both have, each new one, and `shared`
    new      lessons that the new version adds
    own      lessons that only the course has
    dropped  lessons that the course began with but the new version no longer has; they stay
    removed  lessons that the teacher removed; they stay removed
    """

    base: Tree
    ours: Tree
    theirs: Tree
    merges: Mapping[str, LessonMerge]
    new: Collection[str] = ()
    own: Collection[str] = ()
    dropped: Collection[str] = ()
    removed: Collection[str] = ()

    @property
    def changed(self) -> list[str]:
        """The lessons whose own files change; not those that go."""
        outcome = self.outcome
        return [name for name, merge in self.merges.items() if merge.files and f"source/{name}.py" in outcome]

    @property
    def shared_changes(self) -> bool:
        return SHARED in self.merges and bool(self.merges[SHARED].files)

    @property
    def files(self) -> dict[str, str | None]:
        """The files to write: the new text by path, None for a file to delete."""
        return {path: text for merge in self.merges.values() for path, text in merge.files.items()}

    @property
    def outcome(self) -> dict[str, str]:
        """The lessons of the course after the merge."""
        return {path: text for path, text in {**self.ours, **self.files}.items() if text is not None}

    @property
    def next_base(self) -> dict[str, str]:
        """The base of the next merge: theirs, but the old base of lessons that stay as they are."""
        stays = {name for name, merge in self.merges.items() if merge.stays}
        parts = [part_of(self.theirs, name) for name in {*lessons_of(self.theirs), SHARED} - stays]
        parts += [part_of(self.base, name) for name in stays]
        return {path: text for part in parts for path, text in part.items()}

    @property
    def mixed(self) -> set[tuple[str, str]]:
        """The lessons and exercises whose graders mix both sides' changes, which neither side has proved."""
        return {
            (name, exercise)
            for name in self.merges.keys() - {SHARED, *self.new}
            for exercise in parts_of(name, part_of(self.outcome, name)).keys() - {""}
            if graded_parts(name, self.outcome, exercise)
            not in (graded_parts(name, self.ours, exercise), graded_parts(name, self.theirs, exercise))
        }

    def kept(self, why: Mapping[str, str], *, decide: bool = False) -> CourseMerge:
        """The same merge, except that these lessons, or `shared`, stay as they are.

        `why`: the reason by name. `decide`: whether the teacher has to decide something about them.
        """
        kept = {name: LessonMerge(name, stays=reason, decide=decide) for name, reason in why.items()}
        return replace(self, merges={**self.merges, **kept}, new=[name for name in self.new if name not in why])


def merge_course(base: Tree, ours: Tree, theirs: Tree) -> CourseMerge:
    """Merge every lesson.

    `base`: empty if the lessons that the course began with are unknown.
    """
    began, mine, other = lessons_of(base), lessons_of(ours), lessons_of(theirs)
    both = sorted(mine & other) + [SHARED] * any(path.startswith(f"{TESTS}/{SHARED}/") for path in theirs)
    new = sorted(other - mine - began)
    merges = {name: merge_lesson(name, *(part_of(tree, name) for tree in (base, ours, theirs))) for name in both}
    return CourseMerge(
        base,
        ours,
        theirs,
        {**merges, **{name: LessonMerge(name, part_of(theirs, name)) for name in new}},
        new,
        sorted(mine - other - began),
        sorted((mine & began) - other),
        sorted((began & other) - mine),
    )
