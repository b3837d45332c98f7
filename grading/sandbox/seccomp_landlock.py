"""Limits on the system calls of a confined process: a seccomp filter and Landlock.

Both are irrevocable, apply to every thread and process started later, and need no privilege. They are a second barrier
behind the namespaces: the file tree (`filesystem`) decides what is visible; these decide what may be done, even if
something there was forgotten.

Seccomp allows a list (`syscalls`), some of it only with certain arguments. The rest is refused: with "operation not
permitted", or, if the call is so new that libraries have an alternative, with "no such call". The latter include
clone3, which hides its flags from a filter, and io_uring, which would do what is refused where no filter sees it.
32-bit calls end the process, because their numbers mean something else.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Iterable
from typing import NamedTuple

from . import linux
from .syscalls import ALLOWED, ARCHITECTURES, FIRST_SHARED

# linux/bpf_common.h, linux/seccomp.h
_LOAD, _EQUAL, _GREATER_EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_NUMBER, _ARCHITECTURE = 0, 4
_LOW = [16, 24, 32, 40, 48, 56]  # offset of each argument's lower half
_HIGH = [place + 4 for place in _LOW]

_UNIX = 1  # the only allowed family: such sockets reach no further than the file tree and the namespace
_ABOUT_NETWORKS = 0x8900, 0x8A00
_SAME_MEMORY, _PARENT_WAITS = 0x100, 0x4000  # CLONE_VM, CLONE_VFORK
_NEW_NAMESPACES = 0x7E020000  # every CLONE_NEW... flag that clone takes
_SHARED, _ANONYMOUS, _HUGE_PAGES = 0x01, 0x20, 0x40000  # MAP_...
_CHILD_ENDED = 17  # SIGCHLD


class _Is(NamedTuple):
    """A condition: `test` with `value` gives `so` for the argument word at `place`."""

    place: int
    test: int
    value: int
    so: bool = True


_Rule = tuple[str, int, tuple[_Is, ...]]
"""A call, its error if all conditions hold (0: it appears to work), and the conditions."""

_RULES: list[_Rule] = [
    # ZeroMQ gives up on this error; on most others it aborts the process.
    ("socket", errno.EOPNOTSUPP, (_Is(_LOW[0], _EQUAL, _UNIX, False),)),
    ("socketpair", errno.EOPNOTSUPP, (_Is(_LOW[0], _EQUAL, _UNIX, False),)),
    # The grading process made a kernel's channels: asking them (SIOCGIFCONF, …) would show its network, not the
    # kernel's empty one.
    (
        "ioctl",
        errno.EPERM,
        (_Is(_LOW[1], _GREATER_EQUAL, _ABOUT_NETWORKS[0]), _Is(_LOW[1], _GREATER_EQUAL, _ABOUT_NETWORKS[1], False)),
    ),
    ("clone", errno.EPERM, (_Is(_LOW[0], _ANY_BIT, _NEW_NAMESPACES),)),
    # Waiting for a child that shares memory can be distinguished from waiting for a disk (`processes.want_to_run`).
    ("clone", errno.EPERM, (_Is(_LOW[0], _ANY_BIT, _PARENT_WAITS), _Is(_LOW[0], _ANY_BIT, _SAME_MEMORY, False))),
    ("mmap", errno.ENOMEM, (_Is(_LOW[3], _ANY_BIT, _HUGE_PAGES),)),  # huge pages are scarce, and no limit counts them
]
#: Shared memory without a file stays allocated when no process maps it: after MADV_DONTNEED, or when all but a page is
#: unmapped. (No kernel has the other ways to get it: memfd_create, shmget and /dev/zero.)
_IF_MEMORY_IS_NOT_COUNTED: list[_Rule] = [
    ("mmap", errno.ENOMEM, (_Is(_LOW[3], _ANY_BIT, _ANONYMOUS), _Is(_LOW[3], _ANY_BIT, _SHARED))),
]
#: If a parent ignores the end of its children, their CPU time is added nowhere. Not an error, because libraries that
#: want a handler (torch's data loaders) work without one; only the default action is ever in force.
_IF_TIME_IS_NOT_COUNTED: list[_Rule] = [
    ("rt_sigaction", 0, (_Is(_LOW[0], _EQUAL, _CHILD_ENDED), _Is(half[1], _EQUAL, 0, False))) for half in (_LOW, _HIGH)
]
#: The level `contained` has no process namespace, so orphans must stay below their kernel.
_IF_CONTAINED: list[_Rule] = [("prctl", errno.EPERM, (_Is(_LOW[0], _EQUAL, linux.SET_CHILD_SUBREAPER),))]


def program(memory_counted: bool, time_counted: bool, machine: str, contained: bool = False) -> bytes:
    """The filter as classic BPF for `machine`, a name as in uname(2).

    Lines of (code u16, jump if true u8, jump if false u8, value u32). Raises OSError for an unknown machine.
    """
    if machine not in ARCHITECTURES:
        raise OSError(errno.ENOSYS, f"no seccomp filter is written for {machine}")
    column, architecture = ARCHITECTURES[machine]
    code = [(_LOAD, 0, 0, _ARCHITECTURE), (_EQUAL, 1, 0, architecture), (_RETURN, 0, 0, _KILL)]
    rules = list(_RULES)
    rules += [] if memory_counted else _IF_MEMORY_IS_NOT_COUNTED
    rules += [] if time_counted else _IF_TIME_IS_NOT_COUNTED
    rules += _IF_CONTAINED if contained else []
    for name, error, conditions in rules:
        number = ALLOWED[name][column]
        assert number is not None, name  # each of these exists on both
        code += [(_LOAD, 0, 0, _NUMBER), (_EQUAL, 0, 2 * len(conditions) + 1, number)]
        for left, (place, test, value, so) in zip(range(len(conditions) - 1, -1, -1), conditions, strict=True):
            past = 2 * left + 1  # over the other conditions and the return
            code += [(_LOAD, 0, 0, place), (test, 0 if so else past, past if so else 0, value)]
        code.append((_RETURN, 0, 0, _ERRNO | error))
    code.append((_LOAD, 0, 0, _NUMBER))
    for numbers in ALLOWED.values():
        if (number := numbers[column]) is not None:
            code += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ALLOW)]
    code += [(_GREATER_EQUAL, 0, 1, FIRST_SHARED), (_RETURN, 0, 0, _ERRNO | errno.ENOSYS)]  # includes x32's numbers
    code.append((_RETURN, 0, 0, _ERRNO | errno.EPERM))
    return b"".join(struct.pack("HBBI", *line) for line in code)


def install_seccomp(memory_counted: bool = False, time_counted: bool = False, contained: bool = False) -> None:
    """Filter the system calls of this process from here on; needs no_new_privs.

    `memory_counted` and `time_counted`: whether a control group counts these for all processes; if not, calls that
    could use them uncounted are refused too. `contained`: whether this is the level without namespaces.
    """
    text = program(memory_counted, time_counted, platform.machine(), contained)
    lines = ctypes.create_string_buffer(text, len(text))

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("lines", ctypes.c_void_p)]

    request = Program(len(text) // 8, ctypes.addressof(lines))
    set_seccomp, mode_filter = 22, 2
    linux.prctl(set_seccomp, mode_filter, ctypes.addressof(request))


# linux/landlock.h. The bits of file access in each version of the interface.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ALL_FILE_ACCESS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIRECTORY, _IOCTL = 1, 2, 4, 8, 1 << 15
_READ = _EXECUTE | _READ_FILE | _READ_DIRECTORY
_FILES_ONLY = _EXECUTE | _WRITE_FILE | _READ_FILE | 1 << 14 | _IOCTL


def landlock_version() -> int:
    """The version of the interface that this system offers; 0 for none."""
    try:
        return linux.syscall(_CREATE_RULESET, 0, 0, 1, what="landlock_create_ruleset")
    except (OSError, AssertionError):
        return 0


def install_landlock(
    writable: Iterable[str], devices: Iterable[str], readable: Iterable[str] = ("/",), listed: Iterable[str] = ()
) -> None:
    """Allow reading below `readable`, writing below `writable`, using `devices`, and names of files below `listed`.

    On newer systems also: no TCP, no abstract sockets and no signals to the outside. Does nothing on a system without
    Landlock. Needs no_new_privs.
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
            *((p, _READ) for p in readable),
            *((p, _READ_DIRECTORY) for p in listed),
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
