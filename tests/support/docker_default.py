"""Run a command as root in an imitation of a container with Docker's default settings.

    python -m tests.support.docker_default [--without-landlock] COMMAND …

The command is root with Docker's default capabilities, under a filter that refuses the calls which Docker's manual
lists as blocked by the default profile (https://docs.docker.com/engine/security/seccomp/, "Significant syscalls blocked
by the default profile", as in docker/docs at 2c92482e, read 2026-11-27), and clone3, which Docker refuses with ENOSYS
because a filter cannot see its flags. Docker allows ptrace since Linux 4.8, and some values of `personality`; both are
left out. The real profile is a list of what is allowed, so it refuses more. It allows Landlock; --without-landlock
imitates a system that has none.

The command has its own processes, mounts and home. The checkout is as an image for grading has it: others than root can
enter it but not list it, and read only the package `course`. Changes to it vanish. Python's settings are closed, and
/sys/fs/cgroup is read-only. It is no container otherwise: it sees the rest of the machine's files.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from grading.sandbox import linux

ROOT = Path(__file__).parents[2]
INSIDE = "IMITATED_CONTAINER"  # the environment variable by which the command knows
# The list under "Runtime privilege and Linux capabilities" in Docker's manual; numbers of linux/capability.h
CAPABILITIES = {
    "CHOWN": 0,
    "DAC_OVERRIDE": 1,
    "FOWNER": 3,
    "FSETID": 4,
    "KILL": 5,
    "SETGID": 6,
    "SETUID": 7,
    "SETPCAP": 8,
    "NET_BIND_SERVICE": 10,
    "NET_RAW": 13,
    "SYS_CHROOT": 18,
    "MKNOD": 27,
    "AUDIT_WRITE": 29,
    "SETFCAP": 31,
}
# On x86-64 and on arm64 (None: not there), from asm/unistd_64.h and asm-generic/unistd.h
REFUSED: dict[str, tuple[int | None, int | None]] = {
    "_sysctl": (156, None),
    "acct": (163, 89),
    "add_key": (248, 217),
    "bpf": (321, 280),
    "clock_adjtime": (305, 266),
    "clock_settime": (227, 112),
    "create_module": (174, None),
    "delete_module": (176, 106),
    "finit_module": (313, 273),
    "get_kernel_syms": (177, None),
    "get_mempolicy": (239, 236),
    "init_module": (175, 105),
    "ioperm": (173, None),
    "iopl": (172, None),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "lookup_dcookie": (212, 18),
    "mbind": (237, 235),
    "mount": (165, 40),
    "move_pages": (279, 239),
    "name_to_handle_at": (303, 264),
    "nfsservctl": (180, 42),
    "open_by_handle_at": (304, 265),
    "perf_event_open": (298, 241),
    "pivot_root": (155, 41),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "query_module": (178, None),
    "quotactl": (179, 60),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "set_mempolicy": (238, 237),
    "setns": (308, 268),
    "settimeofday": (164, 170),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "sysfs": (139, None),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "uselib": (134, None),
    "userfaultfd": (323, 282),
    "ustat": (136, None),
    # newer ways to mount, which the profile does not allow either
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsmount": (432, 432),
    "open_tree": (428, 428),
    "mount_setattr": (442, 442),
}
CLONE, CLONE3, NEW_NAMESPACES = (56, 220), 435, 0x7E020000
LANDLOCK = (444, 445, 446)
_CAPBSET_DROP, _SET_SECCOMP, _FILTER = 24, 22, 2


def main(command: list[str]) -> int:
    """Run the command; returns its exit status."""
    landlock = command[:1] != ["--without-landlock"]
    command = command if landlock else command[1:]
    with tempfile.TemporaryDirectory(prefix="image-") as layers:
        linux.unshare(linux.NEWNS | linux.NEWPID)  # processes: for the next child
        linux.mount(None, "/", None, linux.REC | linux.PRIVATE)
        _build_image(layers)
        pid = os.fork()
        if pid == 0:
            try:
                linux.mount("proc", "/proc", "proc", linux.NOSUID | linux.NODEV | linux.NOEXEC)
                become_container(landlock)
                own = {"HOME": f"{layers}/home", INSIDE: "1"}
                os._exit(subprocess.run(command, env={**os.environ, **own}).returncode)
            finally:
                os._exit(125)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        linux.unmount(str(ROOT))
        linux.unmount(layers)
        return status


def _build_image(layers: str) -> None:
    """Close the checkout to others but for the package `course`, in a layer over it."""
    linux.mount("layers", layers, "tmpfs", linux.NOSUID, "mode=700")
    for name in ("changed", "work", "home"):
        os.mkdir(f"{layers}/{name}")
    options = f"lowerdir={ROOT},upperdir={layers}/changed,workdir={layers}/work"
    linux.mount("image", str(ROOT), "overlay", 0, options)
    os.chdir(ROOT)
    os.chmod(ROOT, 0o711)
    os.makedirs(".hypothesis", exist_ok=True)  # hypothesis makes it when tests run
    for path in ROOT.iterdir():
        holds_python = Path(sys.prefix).is_relative_to(path)
        if path.name != "course" and not path.is_symlink() and not holds_python:
            os.chmod(path, path.stat().st_mode & 0o770)
    _make_reachable(sys.base_prefix)
    settings = Path(sys.prefix, "etc", "jupyter")
    if settings.is_dir():
        linux.mount("settings", str(settings), "tmpfs", linux.NOSUID, "mode=700")
    if os.path.isdir("/sys/fs/cgroup"):
        linux.bind("/sys/fs/cgroup", "/sys/fs/cgroup")
        linux.restrict_mount("/sys/fs/cgroup")


def _make_reachable(python: str) -> None:
    """Let others enter the directories above Python, and see nothing there but the way to it."""
    for above in sorted(map(str, Path(python).parents), key=len):
        if not os.stat(above).st_mode & 1:
            held = os.open(python, os.O_PATH)
            linux.mount("passable", above, "tmpfs", 0, "mode=711")
            before = os.umask(0o066)
            os.makedirs(python)
            os.umask(before)
            linux.bind(f"/proc/self/fd/{held}", python)
            os.close(held)
            return


def become_container(landlock: bool = True) -> None:
    """Give up what a process in a container with Docker's default settings does not have."""
    text = _filter(landlock)
    lines = ctypes.create_string_buffer(text, len(text))
    program = struct.pack("HxxxxxxP", len(text) // 8, ctypes.addressof(lines))
    held = ctypes.create_string_buffer(program, len(program))
    linux.prctl(_SET_SECCOMP, _FILTER, ctypes.addressof(held))  # as in Docker, without no_new_privs
    for capability in range(64):
        if capability not in CAPABILITIES.values():
            try:
                linux.prctl(_CAPBSET_DROP, capability)  # the command, once started, has what is left
            except OSError:
                break


def _filter(landlock: bool) -> bytes:
    """The filter as classic BPF: what is not refused is allowed."""
    column = ("x86_64", "aarch64").index(platform.machine())
    load, equal, any_bit, back = 0x20, 0x15, 0x45, 0x06
    allow, refuse = 0x7FFF0000, 0x00050000
    code = [(load, 0, 0, 0)]
    refused = [(numbers[column], errno.EPERM) for numbers in REFUSED.values()]
    refused += [(CLONE3, errno.ENOSYS), *((number, errno.ENOSYS) for number in (() if landlock else LANDLOCK))]
    for number, error in refused:
        if number is not None:
            code += [(equal, 0, 1, number), (back, 0, 0, refuse | error)]
    code += [(equal, 0, 3, CLONE[column]), (load, 0, 0, 16), (any_bit, 0, 1, NEW_NAMESPACES)]
    code += [(back, 0, 0, refuse | errno.EPERM), (back, 0, 0, allow)]
    return b"".join(struct.pack("HBBI", *line) for line in code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
