"""Run a command as the user `nobody`, so that root can test what an ordinary user gets.

    python -m tests.support.unprivileged python -m pytest -p no:cacheprovider tests/sandbox

For an ordinary user the plain test run tests the same.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from grading.sandbox import linux

ROOT = Path(__file__).parents[2]
NOBODY = 65534


def become_ordinary() -> None:
    """Give up root for good, if this process has it.

    If the interpreter or the checkout is below a directory that others cannot enter, such as root's home, a mount
    namespace makes it reachable.
    """
    if os.geteuid() != 0:
        return
    linux.unshare(linux.NEWNS)
    linux.mount(None, "/", None, linux.REC | linux.PRIVATE)
    needed = {sys.base_prefix, sys.prefix, str(ROOT)}
    shut = {str(above) for path in needed for above in Path(path).parents if not above.stat().st_mode & 1}
    held = {path: os.open(path, os.O_PATH) for path in needed if shut & {*map(str, Path(path).parents)}}
    for above in sorted(shut):
        if os.path.exists(above):  # not if it was below another
            linux.mount("passable", above, "tmpfs", 0, "mode=755")
    for path in sorted(held):
        os.makedirs(path, exist_ok=True)
        linux.mount(f"/proc/self/fd/{held[path]}", path, None, linux.BIND | linux.REC)
        os.close(held[path])
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    linux.reclaim_proc()


def main(command: list[str]) -> int:
    """Run `command` as an ordinary user, with its own home and temporary folder; returns the exit status."""
    place = tempfile.mkdtemp(prefix="ordinary-", dir="/tmp")
    os.chown(place, NOBODY if os.geteuid() == 0 else -1, -1)
    own = dict.fromkeys(("HOME", "TMPDIR", "XDG_CACHE_HOME"), place)
    if os.geteuid() == 0:
        own |= dict.fromkeys(("USER", "LOGNAME"), "nobody")
    environment = {**os.environ, **own, "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        return subprocess.run(command, env=environment, preexec_fn=become_ordinary).returncode
    finally:
        shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
