"""The limits of a judge once it reads a submission.

`tree_for` lists the files that the warm process, and so every judge, can see: the system, Python, its packages,
`course`, `grading`, and from the course directory the graders, the lessons and their releases; no gradebook, no
submission, no home. Each judge adds a private /tmp (`mount_private_tmp`) and then gives up its other rights
(`drop_rights`): its privileges and, as root, its user; memory and CPU time beyond its limits; every network; every
descriptor that it does not need. It uses the mechanisms that confine kernels (`grading.sandbox`). A judge shares its
process namespace with its kernel, whose CPU time it reads in /proc.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import course
import grading
from grading.sandbox import filesystem, kernel_process, linux, seccomp_landlock
from grading.sandbox.contained import Box, landlock_paths
from grading.sandbox.policy import Policy

SPARE = 5  # seconds of CPU time beyond the limit, so that the server ends the judge, and gives the reason
COUNTS = "/sys/fs/cgroup"  # where the kernels' fork server, which is in this tree too, counts what they use


def course_folders(root: Path) -> list[Path]:
    """The folders of the course directory that judges see, if they exist."""
    return [root / name for name in ("grader_tests", "source", "release") if (root / name).is_dir()]


def tree_for(root: Path, kernels: dict[str, Any]) -> dict[str, Any]:
    """Paths that judges see, as in `filesystem.plan`: their kernels' files plus ours."""
    packages = [str(Path(package.__file__ or "").resolve().parent) for package in (course, grading)]
    ours = [*packages, *map(str, course_folders(root))]
    return {
        **kernels,
        "shown": [*kernels["shown"], *(path for path in ours if path not in kernels["shown"])],
        "hidden": [path for path in kernels["hidden"] if path not in ours],
        "course": None,  # it is shown at its own path
        "for_judges": [path for path in ours if path not in kernels["shown"]],
        "as_it_is": [*filesystem.nvidia_devices(), *([COUNTS] if os.path.isdir(COUNTS) else [])],
    }


def mount_private_tmp(policy: Policy) -> None:
    """Enter new namespaces and mount an empty /tmp that ends with them."""
    linux.unshare(linux.NAMESPACES)
    options = f"mode=1777,size={policy.disk},nr_inodes={policy.files}"
    linux.mount("judge", filesystem.TEMPORARY, "tmpfs", linux.NOSUID | linux.NODEV, options)
    filesystem.restore_shadowed_mounts()


def show_to_kernel(place: Path) -> None:
    """Let the kernel's user read the course's files below `place`, which only this judge can reach by name."""
    for folder, _, names in os.walk(place):
        for path in (folder, *(os.path.join(folder, name) for name in names)):
            os.chmod(path, os.stat(path).st_mode | (0o555 if path == folder else 0o444))


def drop_rights_as_user(policy: Policy, keep: Iterable[int], box: Box, arranged: dict[str, Any]) -> None:
    """As `drop_rights`, where there are no namespaces: as the user of `box`, in root's group, which reads graders."""
    readable, listed = landlock_paths([*arranged["shown"], "/proc"], arranged["hidden"])
    kernel_process.close_all_but(keep)
    linux.adopt_orphans()
    kernel_process.limit(replace(policy, cpu_seconds=policy.cpu_seconds + SPARE))
    kernel_process.limit_memory(policy)
    linux.drop_privileges(box.user, groups=[0])
    devices = [path for path in filesystem.DEVICES if os.path.exists(path)]
    seccomp_landlock.install_landlock((box.path,), devices, readable, listed)
    seccomp_landlock.install_seccomp(contained=True)


def drop_rights(policy: Policy, keep: Iterable[int]) -> None:
    """Keep only what `policy` grants and the descriptors `keep`. Raises OSError."""
    user = linux.spare_user()
    kernel_process.close_all_but(keep)
    if user is None:
        linux.reclaim_proc()
        linux.own_user_namespace()
    kernel_process.limit(replace(policy, cpu_seconds=policy.cpu_seconds + SPARE))
    kernel_process.limit_memory(policy)
    linux.drop_privileges(user, groups=[0] if user else [])  # a course that others may not read belongs to root's group
    seccomp_landlock.install_landlock((filesystem.TEMPORARY,), filesystem.DEVICES)
    seccomp_landlock.install_seccomp()
