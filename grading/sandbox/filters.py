"""What a confined process may ask of the kernel: a seccomp filter and a Landlock rule set.

Both are irrevocable, are inherited by every thread and process started afterwards, and need no
privilege. They are a second lock behind the namespaces: the file tree (`tree`) decides what can be
seen; these decide what can be done even if something there had been forgotten.

Seccomp here denies a list, and every call that is newer than the list. An allow-list would be
stricter and would break with each new torch or libc; what the denied calls could reach is already
out of reach through the namespaces.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Iterable

from . import linux

# name: (x86-64, arm64). None: the architecture never had it.
_DENIED: dict[str, tuple[int | None, int | None]] = {
    # Memory that no limit counts, and what outlives the process that made it.
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mq_open": (240, 180),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    # Other processes' memory and descriptors.
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    # Namespaces, mounts, roots, files by handle.
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    # The machine.
    "bpf": (321, 280),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "syslog": (103, 116),
    "vhangup": (153, 58),
    "personality": (135, 92),
    "iopl": (172, None),
    "ioperm": (173, None),
    "modify_ldt": (154, None),
    "uselib": (134, None),
}
# Answered "no such call", so that libraries use the older way: clone3 hides its flags from a filter,
# and io_uring would do the denied things where no filter sees them.
_ABSENT = {
    "clone3": (435, 435),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
}
_SOCKETS = {"socket": (41, 198), "socketpair": (53, 199)}
_UNIX = 1  # the only family: such sockets reach no further than the file tree and the namespace
# A kernel's channels were made by the grading process, and asking them (SIOCGIFCONF, …) would tell about
# that one's network, not about the kernel's own empty one.
_IOCTL_CALL = (16, 29)
_ABOUT_NETWORKS = (0x8900, 0x8A00)
_CLONE = (56, 220)
_NEW_NAMESPACES = 0x7E020000  # every CLONE_NEW... flag that clone takes
_NEWEST = 462  # mseal, Linux 6.10: the newest call that was looked at when this list was written
_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}

_LOAD, _EQUAL, _GREATER_EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_OFFSET_NUMBER, _OFFSET_ARCHITECTURE, _OFFSET_FIRST_ARGUMENT, _OFFSET_SECOND_ARGUMENT = 0, 4, 16, 24


def _program() -> bytes:
    """The filter in classic BPF: lines of (code u16, jump if true u8, jump if false u8, value u32)."""
    if platform.machine() not in _ARCHITECTURES:
        raise OSError(errno.ENOSYS, f"no seccomp filter is written for {platform.machine()}")
    column, architecture = _ARCHITECTURES[platform.machine()]
    code: list[tuple[int, int, int, int]] = []

    def when(test: int, value: int, result: int) -> None:
        code.append((test, 0, 1, value))
        code.append((_RETURN, 0, 0, result))

    code.append((_LOAD, 0, 0, _OFFSET_ARCHITECTURE))
    code.append((_EQUAL, 1, 0, architecture))
    code.append((_RETURN, 0, 0, _KILL))  # 32-bit calls have other numbers
    code.append((_LOAD, 0, 0, _OFFSET_NUMBER))
    when(_GREATER_EQUAL, _NEWEST + 1, _ERRNO | errno.ENOSYS)  # x32's numbers among them
    for absent in _ABSENT.values():
        when(_EQUAL, absent[column], _ERRNO | errno.ENOSYS)
    for denied in _DENIED.values():
        if (number := denied[column]) is not None:
            when(_EQUAL, number, _ERRNO | errno.EPERM)
    for making in _SOCKETS.values():
        code.append((_EQUAL, 0, 4, making[column]))
        code.append((_LOAD, 0, 0, _OFFSET_FIRST_ARGUMENT))
        code.append((_EQUAL, 1, 0, _UNIX))
        # This error and few others make ZeroMQ give up instead of aborting the process.
        code.append((_RETURN, 0, 0, _ERRNO | errno.EOPNOTSUPP))
        code.append((_RETURN, 0, 0, _ALLOW))
    code.append((_EQUAL, 0, 5, _IOCTL_CALL[column]))
    code.append((_LOAD, 0, 0, _OFFSET_SECOND_ARGUMENT))
    code.append((_GREATER_EQUAL, 0, 2, _ABOUT_NETWORKS[0]))
    code.append((_GREATER_EQUAL, 1, 0, _ABOUT_NETWORKS[1]))
    code.append((_RETURN, 0, 0, _ERRNO | errno.EPERM))
    code.append((_RETURN, 0, 0, _ALLOW))
    code.append((_EQUAL, 0, 3, _CLONE[column]))
    code.append((_LOAD, 0, 0, _OFFSET_FIRST_ARGUMENT))
    when(_ANY_BIT, _NEW_NAMESPACES, _ERRNO | errno.EPERM)
    code.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("HBBI", *line) for line in code)


def install_seccomp() -> None:
    """Filter the system calls of this process from here on. Needs no_new_privs."""
    program = ctypes.create_string_buffer(_program(), len(_program()))

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("lines", ctypes.c_void_p)]

    request = Program(len(program) // 8, ctypes.addressof(program))
    set_seccomp, mode_filter = 22, 2
    linux.prctl(set_seccomp, mode_filter, ctypes.addressof(request))


# linux/landlock.h. The bits of file access that each version of the interface knows.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ALL_FILE_ACCESS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIRECTORY, _IOCTL = 1, 2, 4, 8, 1 << 15
_READ = _EXECUTE | _READ_FILE | _READ_DIRECTORY
_FILES_ONLY = _EXECUTE | _WRITE_FILE | _READ_FILE | 1 << 14 | _IOCTL


def landlock_version() -> int:
    """The version of the interface that the running system offers; 0 for none."""
    try:
        return linux.syscall(_CREATE_RULESET, 0, 0, 1, what="landlock_create_ruleset")
    except (OSError, AssertionError):
        return 0


def install_landlock(writable: Iterable[str], devices: Iterable[str]) -> None:
    """Read what is below the present root, write below `writable` only, use `devices`.

    Where the system is new enough also: no TCP, no abstract sockets and no signals out of here.
    Does nothing on a system without Landlock. Needs no_new_privs.
    """
    version = landlock_version()
    if not version:
        return
    everything = (1 << _ALL_FILE_ACCESS[min(version, 5)]) - 1
    fields = [everything, 3 if version >= 4 else 0, 3 if version >= 6 else 0]  # files, TCP, scopes
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    attributes = struct.pack("QQQ", *fields)
    rules = linux.syscall(_CREATE_RULESET, attributes, size, 0, what="landlock_create_ruleset")
    try:
        for path, access in (
            ("/", _READ),
            *((p, everything) for p in writable),
            *((p, _READ_FILE | _WRITE_FILE | _IOCTL) for p in devices),
        ):
            beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
            try:
                if not os.path.isdir(path):
                    access &= _FILES_ONLY
                rule = struct.pack("=Qi", access & everything, beneath)
                linux.syscall(_ADD_RULE, rules, 1, rule, 0, what="landlock_add_rule")
            finally:
                os.close(beneath)
        linux.syscall(_RESTRICT_SELF, rules, 0, what="landlock_restrict_self")
    finally:
        os.close(rules)
