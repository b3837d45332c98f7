"""The level `contained`: student code as another user, in a container where nobody may make namespaces.

Covers: a user and a directory of its own for each kernel and judge (`Box`), the end of all processes of that user, what
it has left, the watch over its files, which paths Landlock shows it, and a check, made before anything is graded, that
file permissions keep it from the rest. Does not cover: the order of confinement (`kernel_process`, `confinement`).

The directory of a server, in which boxes are, belongs to root and can be entered but not listed: a kernel cannot rename
its box or put another in its place. Nothing here follows a link.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import linux, processes
from .policy import SandboxUnavailable

_PATIENCE = 10.0  # seconds for the killed processes of a user to be gone, which takes milliseconds
_NAME = "user-"  # how the directory of a box is called, before the number
_OPEN_TO_ALL = ("/tmp", "/var/tmp", "/dev/shm", "/run/lock")


@dataclass(frozen=True)
class Box:
    """A user that nobody is, and the directory where it may write."""

    user: int
    path: str

    @property
    def work(self) -> str:
        return f"{self.path}/work"

    @property
    def temporary(self) -> str:
        return f"{self.path}/tmp"


def make_box(directory: str) -> Box:
    """A new box in the directory of a server. Raises OSError."""
    user = free_user()
    box = Box(user, f"{directory}/{_NAME}{user}")
    for path in (box.path, box.work, box.temporary):
        os.mkdir(path, 0o700)
        os.chown(path, box.user, box.user)
    return box


def free_user() -> int:
    """A number of a user that has no process. Raises OSError if there is none to spare."""
    import pwd  # not on Windows, where this module can be imported

    for _ in range(100):
        user = linux.spare_user()
        if user is None:
            break
        with suppress(KeyError):  # nobody has this number
            pwd.getpwuid(user)
            continue
        if not processes.owned_by({user})[user]:
            return user
    raise OSError("there is no user to spare: the number of another user can be taken only by root")


def end_box(box: Box) -> None:
    """End all processes of the box's user, then remove all that it left. Raises OSError if one does not end."""
    end_user(box.user)
    remove_files(box)


def remove_files(box: Box) -> None:
    """Remove all that the user of a box has left, once it has no process any more."""
    remove_tree(box.path)
    for place in _OPEN_TO_ALL:
        with suppress(OSError), os.scandir(place) as entries:
            for entry in entries:
                with suppress(OSError):
                    if entry.stat(follow_symlinks=False).st_uid == box.user:
                        remove_tree(entry.path)


def end_boxes(directory: str) -> None:
    """End all boxes that a server has left in its directory, which only root could fill."""
    names = [name for name in os.listdir(directory) if name.startswith(_NAME)]
    left = [Box(int(name.removeprefix(_NAME)), f"{directory}/{name}") for name in names]
    for box in left:
        end_user(box.user)
    for box in left:
        end_box(box)


def end_user(user: int) -> None:
    """Kill all processes of a user. Raises OSError if they do not end.

    One `kill(-1)` reaches all at once: Linux starts no process for a parent that has been killed.
    """
    patience = time.monotonic() + _PATIENCE
    while True:
        _kill_all(user)
        owned = processes.owned_by({user})[user]
        for pid in owned:  # orphans come to this process
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        left = [pid for pid in owned if processes.is_alive(pid)]
        if not left:
            return
        if time.monotonic() > patience:
            raise OSError(f"{len(left)} processes of user {user} do not end")
        time.sleep(0.002)


def _kill_all(user: int) -> None:
    """Kill all processes of a user from one that they cannot kill: only its effective user is theirs."""
    if user < linux.LAST_TAKEN:
        raise ValueError(f"user {user} may be somebody else")
    other = free_user()
    pid = os.fork()
    if pid == 0:
        try:
            os.setgroups([])
            os.setresgid(other, other, other)
            os.setresuid(other, user, other)
            os.kill(-1, signal.SIGKILL)
        finally:
            os._exit(0)
    os.waitpid(pid, 0)


def remove_tree(path: str) -> None:
    """Remove a file or a directory, however deep, of a user that has no process any more. Errors are ignored."""
    with suppress(OSError):
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            os.unlink(path)
            return
        top = _open_directory(path)
        try:
            _empty(top)
        finally:
            os.close(top)
        os.rmdir(path)


def _open_directory(path: str, parent: int | None = None) -> int:
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)


def _empty(top: int) -> None:
    """Empty an open directory. What is in directories below moves up first, so that no depth is too much."""
    while names := os.listdir(top):
        for name in names:
            if not stat.S_ISDIR(os.lstat(name, dir_fd=top).st_mode):
                os.unlink(name, dir_fd=top)
                continue
            inside = _open_directory(name, top)
            try:
                for below in os.listdir(inside):
                    if stat.S_ISDIR(os.lstat(below, dir_fd=inside).st_mode):
                        os.rename(below, secrets.token_hex(16), src_dir_fd=inside, dst_dir_fd=top)
                    else:
                        os.unlink(below, dir_fd=inside)
            finally:
                os.close(inside)
            os.rmdir(name, dir_fd=top)


def overfull(path: str, size: int, files: int) -> bool:
    """Whether more than `size` bytes or `files` files are below a directory, or some too deep to be counted."""
    folders, count = [path], 0
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    with suppress(FileNotFoundError):
                        found = entry.stat(follow_symlinks=False)
                        size, count = size - found.st_blocks * 512, count + 1
                        if stat.S_ISDIR(found.st_mode):
                            folders.append(entry.path)
                    if size < 0 or count > files:
                        return True
        except (FileNotFoundError, NotADirectoryError):
            pass  # removed in the meantime
        except OSError:
            return True
    return False


def keep_temporary_files_in(path: str) -> None:
    """Have this process and its children keep temporary files and settings in `path`, not in HOME as it was."""
    before = os.environ["HOME"]
    for name, value in os.environ.items():
        if value == before or value.startswith(f"{before}/"):
            os.environ[name] = path + value.removeprefix(before)
    tempfile.tempdir = None


def landlock_paths(shown: Iterable[str], private: Iterable[str]) -> tuple[list[str], list[str]]:
    """Paths to show whole, and directories of which only names are shown, so that nothing `private` is.

    Landlock cannot except something below a path that is shown, so everything beside it is shown singly.
    """
    whole, names, private = [], [], set(private)

    def show(path: str) -> None:
        if path in private:
            return
        if not any(_is_below(hidden, path) for hidden in private):
            whole.append(path)
        else:
            names.append(path)
            for entry in os.scandir(path):
                if not entry.is_symlink():  # what it leads to is shown by its own name, if at all
                    show(entry.path)

    for path in sorted(set(map(os.path.realpath, shown))):
        show(path)
    return whole, names


@dataclass(frozen=True)
class ContainedView:
    """What a kernel sees at the level `contained`.

    directory         of the server; each kernel's box is in it
    library           where the package `course` is alone
    readable, listed  paths that Landlock shows whole, or by their names only
    """

    directory: str
    library: str
    readable: list[str]
    listed: list[str]

    @classmethod
    def of(cls, arranged: dict[str, Any], directory: str) -> ContainedView:
        """Prepare the directory of a server for the arranged files, and use it for this process's own."""
        library, own = f"{directory}/library", f"{directory}/server"
        os.mkdir(library, 0o755)
        os.mkdir(own, 0o700)
        keep_temporary_files_in(own)
        shown = [*arranged["shown"], library, "/proc"]
        if arranged["course"]:
            os.symlink(arranged["course"], f"{library}/course")
            shown.append(arranged["course"])
        return cls(directory, library, *landlock_paths(shown, arranged["private"]))


def _is_below(path: str, other: str) -> bool:
    return path.startswith(other.rstrip("/") + "/")


# The check of file permissions


_SCRIPT = "import sys; sys.path.append({here!r}); from sandbox import contained; contained.main()"


def demand_privacy(arranged: dict[str, Any], for_judges: Iterable[str] = (), for_nobody: Iterable[str] = ()) -> None:
    """Raise SandboxUnavailable if file permissions let kernels at what is private, or keep judges from their files.

    arranged    the files, from `filesystem.plan`
    for_judges  paths that judges must be able to read, and no kernel
    for_nobody  paths that judges may not read either
    """
    shown = [*arranged["shown"], *([arranged["course"]] if arranged["course"] else [])]
    request = {"private": arranged["private"], "shown": shown, "for_judges": list(for_judges)}
    request["for_nobody"] = list(for_nobody)
    script = _SCRIPT.format(here=str(Path(__file__).parents[1]))
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script],
        env={},
        cwd="/",
        input=json.dumps(request),
        capture_output=True,
        text=True,
    )
    if ran.returncode != 0:
        raise SandboxUnavailable("File permissions could not be checked.", ran.stderr.strip())
    if found := json.loads(ran.stdout):
        commands = "; ".join(command for _, command in found if command)
        raise SandboxUnavailable(" ".join(what for what, _ in found), f"Run `{commands}`." if commands else "")


def main() -> None:
    """Check what the request on standard input names; print what is wrong, with remedies, as JSON."""
    request = json.load(sys.stdin)
    user = free_user()
    shown = set(request["shown"]) | set(map(os.path.realpath, request["shown"]))
    os.setresgid(user, user, user)
    os.setgroups([])
    found = [what for path in request["private"] for what in _open_to(user, path, shown)]
    found += [what for path in request["shown"] for what in _shut_to(user, path, "Student code, another user,", "o")]
    os.setgroups([0])
    found += [what for path in request["for_judges"] for what in _shut_to(user, path, "A judge, in root's group,", "g")]
    for path in sorted({*request["private"], *request["for_judges"]}):
        with _as(user):
            may_write = os.access(path, os.W_OK)
        if may_write:
            found.append((f"A judge, in root's group, could change {path}.", f"chmod g-w {path}"))
    for path in request["for_nobody"]:
        with _as(user):
            may_read = os.access(path, os.R_OK)
        if may_read:
            found.append((f"A judge, in root's group, could read {path}.", f"chmod go= {path}"))
    print(json.dumps(found))


def _open_to(user: int, path: str, shown: set[str]) -> Iterator[tuple[str, str]]:
    """The topmost paths from `path` on that a user may read or change, none of them shown, each with a remedy."""
    if path in shown or not os.path.exists(path) or os.path.islink(path):
        return
    leads_to_shown = any(_is_below(other, path) for other in shown)
    with _as(user):
        is_open = os.access(path, os.R_OK) or os.access(path, os.W_OK)
        may_enter = os.path.isdir(path) and os.access(path, os.X_OK)
    if is_open and os.stat(path).st_mode & stat.S_ISVTX:
        yield f"Student code could read and write in {path}, as everybody may: use another folder.", ""
    elif is_open:
        yield f"Student code could read or change {path}.", f"chmod o={'x' * leads_to_shown} {path}"
    if may_enter and (leads_to_shown or not is_open):
        for name in os.listdir(path):
            yield from _open_to(user, os.path.join(path, name), shown)


def _shut_to(user: int, path: str, who: str, letter: str) -> Iterator[tuple[str, str]]:
    """Why a user may not read a path, with a remedy by chmod's `letter`, if so."""
    with _as(user):
        above = next((folder for folder in reversed(Path(path).parents) if not os.access(folder, os.X_OK)), None)
        may_read = os.access(path, os.R_OK)
    if not may_read:
        remedy = f"chmod {letter}+x {above}" if above else f"chmod -R {letter}+rX {path}"
        yield f"{who} could not read {path}.", remedy


@contextmanager
def _as(user: int) -> Iterator[None]:
    """Have the rights of a user, and of no capability."""
    os.setresuid(user, user, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)
