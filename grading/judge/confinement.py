"""What a judge is left with once it reads what a student wrote.

`tree_for` is what the warm process sees, and so every judge: the system, Python, its packages, `course`, `grading`,
and of the course's directory the graders, the lessons and their releases; no gradebook, no submission, no home. Each
judge gets a /tmp of its own on top (`own_places`), and gives up the rest (`give_up`): its privileges and, as root, its
user; memory and processor time; every network; every descriptor but those it works with. All is done by the means that
confine kernels (`grading.sandbox`). A judge shares its process namespace with its own kernel, whose clock it reads in
/proc.
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
from grading.sandbox.policy import Policy

SPARE = (
    5  # seconds of processor time beyond the limit: whoever watches the judge says why it ended, the system does not
)
COUNTS = "/sys/fs/cgroup"  # where kernels are counted, by the fork server that stands in this tree too


def of_the_course(root: Path) -> list[Path]:
    """What judges see of the course's directory, as far as it is there."""
    return [root / name for name in ("grader_tests", "source", "release") if (root / name).is_dir()]


def tree_for(root: Path, kernels: dict[str, Any]) -> dict[str, Any]:
    """What judges of the course in `root` see, as `tree.plan` has it: what their kernels do, and what is ours."""
    packages = [str(Path(package.__file__ or "").resolve().parent) for package in (course, grading)]
    ours = [*packages, *map(str, of_the_course(root))]
    return {
        **kernels,
        "shown": [*kernels["shown"], *(path for path in ours if path not in kernels["shown"])],
        "hidden": [path for path in kernels["hidden"] if path not in ours],
        "course": None,  # it is shown where it lies
        "as_it_is": [*filesystem.nvidia_devices(), *([COUNTS] if os.path.isdir(COUNTS) else [])],
    }


def mount_private_tmp(policy: Policy) -> None:
    """Namespaces of this judge's own, and an empty /tmp that ends with it."""
    linux.unshare(linux.APART)
    options = f"mode=1777,size={policy.disk},nr_inodes={policy.files}"
    linux.mount("judge", filesystem.TEMPORARY, "tmpfs", linux.NOSUID | linux.NODEV, options)
    filesystem.restore_shadowed_mounts()


def drop_rights(policy: Policy, keep: Iterable[int]) -> None:
    """Leave this process what `policy` grants, and the descriptors to `keep`. Raises OSError at the first refusal."""
    user = linux.spare_user()
    kernel_process.close_all_but(keep)
    if user is None:
        linux.reclaim_proc()
        linux.own_user_namespace()
    kernel_process.limit(replace(policy, cpu_seconds=policy.cpu_seconds + SPARE))
    kernel_process.limit_memory(policy)
    linux.drop_privileges(user)
    seccomp_landlock.install_landlock((filesystem.TEMPORARY,), filesystem.DEVICES)
    seccomp_landlock.install_seccomp()
