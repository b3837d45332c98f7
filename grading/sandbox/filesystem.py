"""The files that student code can see: a tree built once per fork server.

`plan` runs in the grading process and decides, `build` runs in the fork server and mounts. Visible, and read-only: the
system's programs and libraries, the interpreter and its environment, and the package `course`, alone, at a neutral
path. Never visible: the rest of the project around it, even below something visible. The server then detaches the real
root before it imports anything, so a kernel that broke out of everything else would still find no other file.
"""

from __future__ import annotations

import importlib.util
import os
import site
import stat
import sys
import sysconfig
from glob import glob
from pathlib import Path
from typing import Any

from . import linux
from .policy import CONTAINED, FULL, SandboxUnavailable

WORK, LIBRARY, BOX = "/sandbox/work", "/sandbox/library", "/sandbox/box"
TEMPORARY, SHARED = "/tmp", "/dev/shm"
SHADOWED = "/sandbox/kept"
"""Where files below a path that is mounted over, such as an environment in /tmp, stay reachable."""
_shadowed: list[str] = []  # their paths, for processes forked later
WITH_GPU = "/sandbox/gpu"
"""A second /dev that has NVIDIA's devices too, for the kernels that may use them."""
_SYSTEM = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/etc/ld.so.cache",
    "/etc/fonts",
    "/etc/localtime",
    "/etc/alternatives",
    "/sys/devices/system/cpu",
    "/sys/devices/system/node",
)
TERMINALS = "/dev/pts"
DEVICES = ("/dev/null", "/dev/full", "/dev/random", "/dev/urandom")
"""Not /dev/zero: shared mappings of it are memory that no process need show."""


def plan(hidden: tuple[str, ...] = (), level: str = FULL) -> dict[str, Any]:
    """What to show, as plain data: `shown`, `hidden`, `python_path`, `course`, `level`.

    `hidden` adds paths to hide. At the level `contained`, `private` lists all that is hidden, visible otherwise or not.
    Raises SandboxUnavailable if something must be both shown and hidden.
    """
    libraries = [*site.getsitepackages(), *sysconfig.get_paths().values()]
    if site.ENABLE_USER_SITE:
        libraries.append(site.getusersitepackages())
    libraries = [path for path in dict.fromkeys(libraries) if _holds_modules(path)]
    prefixes = (sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix)
    shown = {path for path in (*_SYSTEM, *prefixes, *libraries) if os.path.exists(path)}
    shown |= {os.path.realpath(path) for path in shown}

    spec = importlib.util.find_spec("course")
    if spec is None or not spec.submodule_search_locations:
        raise SandboxUnavailable(
            "The package `course` is not installed.",
            "Run `pip install ./attention_course-*.whl` beside the wheel, or `make setup` in a checkout.",
        )
    course = os.path.realpath(next(iter(spec.submodule_search_locations)))
    here = Path(__file__).resolve()
    settings = (f"{prefix}/etc/jupyter" for prefix in (*prefixes, "/usr", "/usr/local"))  # a server's, with its tokens
    kept_out = {str(here.parents[1]), os.path.realpath(os.path.expanduser("~")), *hidden}
    kept_out |= set(filter(os.path.exists, (*settings, f"{course}/solutions")))  # of an open release
    if str(here.parents[2]) not in libraries:
        kept_out.add(str(here.parents[2]))
    kept_out = {os.path.realpath(path) for path in kept_out}
    for path in shown:  # a path with two visible names must be hidden under both, even if a link becomes a mount
        real = os.path.realpath(path)
        if real != path:
            kept_out |= {path + p.removeprefix(real) for p in kept_out if _is_below(p, real)}
    if clash := sorted(shown & kept_out):
        raise SandboxUnavailable(
            f"Python's own files are in {clash[0]}, which student code must not see.",
            "Install into a virtual environment in its own directory, such as .venv.",
        )

    for path in (*prefixes, *libraries, course, f"{course}/__init__.py"):
        if os.geteuid() == 0 and not os.stat(path).st_mode & stat.S_IROTH:
            raise SandboxUnavailable(
                f"Student code runs as a separate user here, who may not read {path}.",
                f"Run `chmod -R o+rX {path}`, or grade as an ordinary user.",
            )
    return {
        "shown": sorted(path for path in shown if not _is_covered(path, shown, kept_out)),
        "hidden": sorted(path for path in kept_out if any(_is_below(path, s) for s in shown)),
        "python_path": libraries,
        "course": None if os.path.dirname(course) in libraries else course,
        "level": level,
    } | ({"private": sorted(kept_out - {"/"})} if level == CONTAINED else {})


def _holds_modules(path: str) -> bool:
    return os.path.isdir(path) and Path(path).name in ("site-packages", "dist-packages")


def _is_below(path: str, other: str) -> bool:
    return path.startswith(other.rstrip("/") + "/")


def _is_covered(path: str, shown: set[str], kept_out: set[str]) -> bool:
    """Whether `path` is visible through a shown parent, with nothing hidden between."""
    above = [p for p in shown if _is_below(path, p) and not os.path.islink(p)]
    hiding = [p for p in kept_out if _is_below(path, p)]
    return bool(above) and max(map(len, above)) > max(map(len, hiding), default=0)


def build(arranged: dict[str, Any], root: str) -> None:
    """Mount what `plan` arranged at `root`, and make it this process's only tree.

    The caller has its own mount namespace and may mount. Everything but a /tmp for the server itself, and the paths
    under "as_it_is", is read-only afterwards; kernels mount their own directories over the empty ones.
    """
    linux.mount(None, "/", None, linux.REC | linux.PRIVATE)
    linux.mount("sandbox", root, "tmpfs", linux.NOSUID, "mode=755,size=16m")
    # By real names: on its way to a mount point below `root`, an absolute link would lead out of it
    show = {path if os.path.islink(path) else os.path.realpath(path) for path in arranged["shown"]}
    hide = set(map(os.path.realpath, arranged["hidden"]))
    for path in sorted(show | hide, key=lambda path: path.count("/")):
        if path in hide:
            linux.mount("hidden", root + path, "tmpfs", linux.NOSUID, "mode=755,size=1m")
        elif os.path.islink(path):
            os.makedirs(os.path.dirname(root + path), exist_ok=True)
            os.symlink(os.readlink(path), root + path)
        else:
            _show(path, root + path)
    for path in hide:  # now that the mount points below it exist
        linux.restrict_mount(root + path)
    if arranged["course"]:
        _show(arranged["course"], f"{root}{LIBRARY}/course")
    gpu = nvidia_devices()
    remember_shadowed_mounts(arranged)
    for path in _shadowed:
        _show(root + os.path.realpath(path), root + SHADOWED + path)  # with what is hidden below it
    for path in (*DEVICES, *arranged.get("as_it_is", ())):
        _show(path, root + path, device=True)
    for path in (*DEVICES, *gpu) if gpu else ():
        _show(path, root + WITH_GPU + path.removeprefix("/dev"), device=True)
    for path in (WORK, TEMPORARY, BOX, SHADOWED, "/proc"):
        os.makedirs(root + path, exist_ok=True)
    for devices in ("/dev", WITH_GPU) if gpu else ("/dev",):
        for path in (SHARED, TERMINALS):
            os.makedirs(root + path.replace("/dev", devices, 1), exist_ok=True)
        os.symlink("pts/ptmx", f"{root}{devices}/ptmx")
    linux.mount("proc", root + "/proc", "proc", linux.NOSUID | linux.NODEV | linux.NOEXEC)
    linux.change_root(root)
    linux.mount("server", TEMPORARY, "tmpfs", linux.NOSUID | linux.NODEV, "mode=755,size=64m")
    restore_shadowed_mounts()
    linux.restrict_mount("/", recursive=False)


def remember_shadowed_mounts(arranged: dict[str, Any]) -> None:
    """Record the paths that `restore_shadowed_mounts` restores, here and after forks."""
    _shadowed[:] = [path for path in arranged["shown"] if any(_is_below(path, place) for place in (TEMPORARY, SHARED))]


def restore_shadowed_mounts() -> None:
    """Show again what a mount over one of the kernel's directories has covered."""
    for path in _shadowed:
        _make_mount_point(SHADOWED + path, path)
        linux.bind(SHADOWED + path, path)


def _make_mount_point(source: str, target: str) -> None:
    """Create an empty directory or file to mount `source` on."""
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        Path(target).touch()


def _show(source: str, target: str, device: bool = False) -> None:
    _make_mount_point(source, target)
    linux.bind(source, target)
    if not device:
        linux.restrict_mount(target)


def nvidia_devices() -> list[str]:
    """The character devices of NVIDIA's driver, if any."""
    found = glob("/dev/nvidia*") + glob("/dev/nvidia-caps/*")
    return sorted(path for path in found if stat.S_ISCHR(os.stat(path).st_mode))
