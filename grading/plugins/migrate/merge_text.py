"""Merge three versions of a text by line, with `git merge-file`.

The base is the version that both sides changed; "ours" is the teacher's, "theirs" the new one. Knows nothing about
lessons (`merge_lessons`).
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from grading.errors import StepFailed

SIZE = 60  # characters of a conflict marker, so that no line of a lesson looks like one
MARKERS = re.compile(rf"^<{{{SIZE}}}.*\n((?s:.*?))^={{{SIZE}}}\s*?\n((?s:.*?))^>{{{SIZE}}}.*\n", re.MULTILINE)


class Clash(NamedTuple):
    """Lines that both sides changed differently: where they are in the text with ours kept, and with theirs kept."""

    ours: slice
    theirs: slice


class MergedText(NamedTuple):
    """A merged text. In `text`, ours is kept where both sides clash; in `other`, theirs."""

    text: str
    other: str
    clashes: Sequence[Clash] = ()


def merge_text(path: str, base: str, ours: str, theirs: str) -> MergedText:
    """Merge the three versions of the file at `path`. Raises StepFailed if git is missing or refuses."""
    command = ["git", "-c", "merge.conflictStyle=merge", "merge-file", "-p", f"--marker-size={SIZE}"]
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("ours", ours), ("base", base), ("theirs", theirs)):
            (Path(folder) / name).write_bytes(text.encode("utf-8", "surrogateescape"))
        try:
            done = subprocess.run([*command, "ours", "base", "theirs"], cwd=folder, capture_output=True)
        except FileNotFoundError as error:
            raise StepFailed(
                "nothing was changed: the command git was not found, and `grading migrate` merges lessons with it. "
                "Install git, and run the same command again"
            ) from error
    if not 0 <= done.returncode < 128:  # else the number of clashes
        reason = done.stderr.decode(errors="replace").strip()
        raise StepFailed(f"nothing was changed: git cannot merge your {path} with the new one: {reason}")
    parts = MARKERS.split(done.stdout.decode("utf-8", "surrogateescape"))
    text, other, clashes = parts[0], parts[0], list[Clash]()
    for mine, new, common in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        clashes.append(Clash(slice(len(text), len(text) + len(mine)), slice(len(other), len(other) + len(new))))
        text, other = f"{text}{mine}{common}", f"{other}{new}{common}"
    return MergedText(text, other, clashes)
