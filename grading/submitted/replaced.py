"""Keep files that a newer submission replaces, and restore them.

Each replacement is a folder `hand-ins/replaced/STUDENT/LESSON/TIME/` with the unchanged files. `TIME.json` next to it
says where they came from and which files replaced them.
"""

from __future__ import annotations

import json
import os
import shutil
import stat as stats
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from .evidence import Origin, text_of
from .hand_ins import hand_ins_folder, replaced_folder

STAMP = "timestamp.txt"
UNFINISHED = ".unfinished"  # name of a folder that is not complete yet


@dataclass(frozen=True)
class Replaced:
    """Files that were replaced.

    at       the time of replacement, as a name
    files    their names
    was, by  descriptions of the old and the new origin
    """

    student: str
    lesson: str
    at: str
    folder: Path
    files: tuple[str, ...]
    was: str
    by: str


def keep_files(
    root: Path, student: str, lesson: str, folder: Path, names: Iterable[str], was: Origin | None, by: Origin
) -> None:
    """Copy the named files from the folder before others replace them."""
    made = _begin(root, student, lesson)
    for name in names:
        path = folder / name
        if path.is_symlink() or path.is_file():
            shutil.copy2(path, made / name, follow_symlinks=False)
    _finish(made, was, by)


def keep_folder(root: Path, student: str, lesson: str, folder: Path, was: Origin | None, by: Origin) -> None:
    """Move a student's whole folder to the replaced files, without opening any."""
    made = _begin(root, student, lesson)
    made.rmdir()
    try:
        os.rename(folder, made)
    except OSError:  # submitted/ is on another disk
        shutil.copytree(folder, made, symlinks=True, ignore=_special)
        shutil.rmtree(folder)
    _finish(made, was, by)


def list_replaced(root: Path, student: str = "", lesson: str = "") -> list[Replaced]:
    """Replaced submissions of a student, a lesson or all, newest first."""
    found = []
    for who in [student] if student else _names(replaced_folder(root, "", "")):
        for what in [lesson] if lesson else _names(replaced_folder(root, who, "")):
            about = sorted(replaced_folder(root, who, what).glob("*.json"), key=_age, reverse=True)
            found += [_read(who, what, file) for file in about]
    return found


def remove_oldest(root: Path, student: str, most_bytes: int, most: int, spare: Callable[[Replaced], bool]) -> None:
    """Delete the oldest replaced submissions of a student, as far as all together are larger or more than this.

    spare  whether a submission stays in any case, as the newest one does; asked about each, newest first

    Raises OSError.
    """
    kept = sorted(list_replaced(root, student), key=lambda one: _age(one.folder), reverse=True)
    left = most_bytes
    for number, one in enumerate(kept):
        left -= sum((one.folder / name).lstat().st_size for name in one.files)
        if not spare(one) and number and (left < 0 or number >= most):
            shutil.rmtree(one.folder)
            one.folder.with_name(f"{one.folder.name}.json").unlink(missing_ok=True)


def _age(path: Path) -> tuple[str, int]:
    """The time in a name, and the number that tells names of one second apart."""
    parts = path.stem.split("-")
    return "-".join(parts[:4]), int(parts[4]) if len(parts) > 4 and parts[4].isdecimal() else 1


def bring_back(root: Path, folder: Path, replaced: Replaced, now: Origin | None) -> None:
    """Restore replaced files to submitted/, and keep the current ones.

    From now on the restored files count as put there by hand.
    """
    names = sorted(path.name for path in replaced.folder.iterdir())
    by = Origin("", f"what was replaced at {replaced.at}, brought back")
    keep_files(root, replaced.student, replaced.lesson, folder, [*names, *({STAMP} - set(names))], now, by)
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        source, beside = replaced.folder / name, folder / f".{name}.new"
        if source.is_dir() and not source.is_symlink():
            shutil.copytree(source, folder / name, symlinks=True, dirs_exist_ok=True, ignore=_special)
        else:
            shutil.copy2(source, beside, follow_symlinks=False)
            os.replace(beside, folder / name)
    if STAMP not in names:  # it is the time of the replaced file
        (folder / STAMP).unlink(missing_ok=True)
    shutil.rmtree(replaced.folder)
    replaced.folder.with_name(f"{replaced.folder.name}.json").unlink(missing_ok=True)


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []


def _read(student: str, lesson: str, file: Path) -> Replaced:
    try:
        about = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        about = {}
    folder = file.with_suffix("")
    files = tuple(sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()))
    return Replaced(student, lesson, folder.name, folder, files, str(about.get("was", "")), str(about.get("by", "")))


def _begin(root: Path, student: str, lesson: str) -> Path:
    hand_ins_folder(root)
    made = replaced_folder(root, student, lesson) / UNFINISHED
    shutil.rmtree(made, ignore_errors=True)  # left by a killed process
    made.mkdir(parents=True)
    return made


def _finish(made: Path, was: Origin | None, by: Origin) -> None:
    """Name the folder after the current time; add a number if the name is taken."""
    now = datetime.now(UTC)
    name, count = f"{now:%Y-%m-%d-%H%M%S}", 1
    while (made.parent / name).exists():
        count += 1
        name = f"{now:%Y-%m-%d-%H%M%S}-{count}"
    about = {"was": str(was) if was else "no notebook", "by": str(by), "at": text_of(now)}
    text = json.dumps(about, indent=1, ensure_ascii=False)
    (made.parent / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    os.rename(made, made.parent / name)


def _special(folder: str, names: list[str]) -> list[str]:
    """Names of pipes, sockets and devices, which cannot be copied."""
    kinds = (stats.S_ISREG, stats.S_ISDIR, stats.S_ISLNK)
    return [name for name in names if not any(kind(os.lstat(os.path.join(folder, name)).st_mode) for kind in kinds)]
