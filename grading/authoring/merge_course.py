"""Merge all lessons of a new version into a course.

The result has the files that change, and the base of the next merge. Works on texts by path. Does not cover: merging
one lesson (`merge_lessons`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from .lesson_pieces import SHARED, TESTS, Tree
from .merge_lessons import LessonMerge, lessons_of, merge_lesson, part_of


@dataclass(frozen=True)
class CourseMerge:
    """A course merged with a new version.

    merges   each lesson that both have, and `shared`, by name
    new      lessons that the new version adds
    own      lessons that only the course has
    dropped  lessons that the course began with but the new version no longer has; they stay
    removed  lessons that the teacher removed; they stay removed
    """

    base: Tree
    ours: Tree
    theirs: Tree
    merges: Mapping[str, LessonMerge]
    new: tuple[str, ...]
    own: tuple[str, ...]
    dropped: tuple[str, ...]
    removed: tuple[str, ...]

    @property
    def changed(self) -> list[str]:
        """The lessons whose own files change."""
        return [name for name, merge in self.merges.items() if merge.files and name != SHARED]

    @property
    def shared_changes(self) -> bool:
        return SHARED in self.merges and bool(self.merges[SHARED].files)

    @property
    def files(self) -> dict[str, str | None]:
        """The files to write: the new text by path, None for a file to delete."""
        added = {path: text for name in self.new for path, text in part_of(self.theirs, name).items()}
        return {**added, **{path: text for merge in self.merges.values() for path, text in merge.files.items()}}

    @property
    def next_base(self) -> dict[str, str]:
        """The base of the next merge.

        It has the new version of merged lessons, and the old base of lessons that stay as they are.
        """
        stays = {name for name, merge in self.merges.items() if merge.stays}
        merged = {*self.merges, *self.new, *self.removed} - stays
        found = [part_of(self.theirs, name) for name in merged] + [part_of(self.base, name) for name in stays]
        return {path: text for part in found for path, text in part.items()}

    def kept(self, why: Mapping[str, str]) -> CourseMerge:
        """The same merge, except that these lessons, or `shared`, stay as they are.

        `why`: the reason by name. Leaves out new lessons that are named.
        """
        merges = {**self.merges, **{name: LessonMerge(name) for name in self.new if name in why}}
        merges = {name: merge.kept(why[name]) if name in why else merge for name, merge in merges.items()}
        return replace(self, merges=merges, new=tuple(name for name in self.new if name not in why))

    @property
    def outcome(self) -> dict[str, str]:
        """The lessons of the course after the merge."""
        return {path: text for path, text in {**self.ours, **self.files}.items() if text is not None}


def merge_course(base: Tree, ours: Tree, theirs: Tree) -> CourseMerge:
    """Merge every lesson.

    `base`: empty if the lessons that the course began with are unknown.
    """
    began, mine, other = lessons_of(base), lessons_of(ours), lessons_of(theirs)
    names = sorted(mine & other)
    names += [SHARED] if any(path.startswith(f"{TESTS}/{SHARED}/") for path in theirs) else []
    return CourseMerge(
        base,
        ours,
        theirs,
        {name: merge_lesson(name, *(part_of(tree, name) for tree in (base, ours, theirs))) for name in names},
        tuple(sorted(other - mine - began)),
        tuple(sorted(mine - other - began)),
        tuple(sorted((mine & began) - other)),
        tuple(sorted((began & other) - mine)),
    )
