"""System calls that Python's standard library lacks, raising readable OSErrors.

Covers: namespaces, mounts, pivot_root, capabilities, keyrings and prctl. Does not cover: the seccomp filter and
Landlock (`seccomp_landlock`), and the order of the calls (`filesystem`, `kernel_process`). Everything goes through
libc's `syscall` by ctypes, so nothing has to be compiled or installed.
"""

from __future__ import annotations

import ctypes
import os
import platform
import secrets
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

NEWNS, NEWCGROUP, NEWUTS, NEWIPC = 0x00020000, 0x02000000, 0x04000000, 0x08000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000
#: All namespaces but those of users and processes, which must be entered in a certain order.
NAMESPACES = NEWNS | NEWCGROUP | NEWUTS | NEWIPC | NEWNET

RDONLY, NOSUID, NODEV, NOEXEC, BIND, REC, PRIVATE = 1, 2, 4, 8, 4096, 16384, 1 << 18
_DETACH = 2

# asm/unistd_64.h (x86-64) and asm-generic/unistd.h (arm64); newer calls share one number.
_X86 = {"pivot_root": 155, "capset": 126, "keyctl": 250}
_ARM = {"pivot_root": 41, "capset": 91, "keyctl": 219}
_NUMBERS = {"x86_64": _X86, "aarch64": _ARM}.get(platform.machine(), {})
_NUMBERS = _NUMBERS | {"mount_setattr": 442}

# No system assigns numbers from 2**30 on; a container of 65536 users seldom uses any above 60000.
_FIRST_SPARE, _SPARE, LAST_TAKEN = 2**30, 2**29, 60000

_SET_PDEATHSIG, _SET_DUMPABLE, _SET_NAME, _CAPBSET_DROP, _SET_NO_NEW_PRIVS = 1, 4, 15, 24, 38
SET_CHILD_SUBREAPER = 36

_libc = ctypes.CDLL(None, use_errno=True) if os.name == "posix" else None


def syscall(number: int, *arguments: Any, what: str) -> int:
    """Call the kernel by number; errors name the call as `what`."""
    words = [ctypes.c_ulong(a & 2**64 - 1) if isinstance(a, int) else a for a in arguments]
    assert _libc is not None
    return _check(_libc.syscall(ctypes.c_long(number), *words), what)


def _check(result: int, what: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def _call(name: str, *arguments: Any) -> int:
    if name not in _NUMBERS:
        raise OSError(f"{name}: its number on {platform.machine()} is not known")
    return syscall(_NUMBERS[name], *arguments, what=name)


def unshare(flags: int) -> None:
    """Enter new namespaces of the kinds `flags` (processes: the next children do)."""
    assert _libc is not None
    _check(_libc.unshare(ctypes.c_int(flags)), "unshare")


def setns(descriptor: int, kind: int) -> None:
    """Enter the namespace of `descriptor` (processes: the next children do)."""
    assert _libc is not None
    _check(_libc.setns(ctypes.c_int(descriptor), ctypes.c_int(kind)), "setns")


def own_user_namespace() -> None:
    """Enter a new user namespace with the current user alone.

    The caller then has every capability over the namespaces that it creates from here on, and none over those it came
    from.
    """
    user, group = os.geteuid(), os.getegid()
    unshare(NEWUSER)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w") as stream:
            stream.write(text)


def mount(source: str | None, target: str, kind: str | None = None, flags: int = 0, options: str | None = None) -> None:
    """Call mount(2)."""
    assert _libc is not None
    source_, target_, kind_, options_ = (
        None if text is None else os.fsencode(text) for text in (source, target, kind, options)
    )
    _check(_libc.mount(source_, target_, kind_, ctypes.c_ulong(flags), options_), f"mount {kind or source} on {target}")


def bind(source: str, target: str) -> None:
    """Make `source`, with all mounts below it, visible at `target`."""
    mount(source, target, None, BIND | REC)


def unmount(target: str) -> None:
    """Detach the topmost mount at `target`, busy or not."""
    assert _libc is not None
    _check(_libc.umount2(os.fsencode(target), ctypes.c_int(_DETACH)), f"unmount {target}")


def restrict_mount(target: str, attributes: int = RDONLY | NOSUID | NODEV, recursive: bool = True) -> None:
    """Add mount attributes (which only restrict) to `target` and below (Linux 5.12)."""

    class Attributes(ctypes.Structure):
        _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "userns")]

    request = Attributes(set=attributes)
    at_fdcwd, at_recursive = -100, 0x8000
    _call(
        "mount_setattr",
        at_fdcwd,
        os.fsencode(target),
        at_recursive if recursive else 0,
        ctypes.byref(request),
        ctypes.sizeof(request),
    )


def change_root(directory: str) -> None:
    """Make the mount point `directory` the root, and detach the old root."""
    os.chdir(directory)
    _call("pivot_root", b".", b".")  # the old root is now mounted over the new one: see pivot_root(2)
    unmount(".")
    os.chdir("/")


def fresh_keyring() -> None:
    """Join a new, empty session keyring instead of the inherited one."""
    with suppress(OSError):  # without keyrings, there is none to inherit
        _call("keyctl", 1, 0)


def prctl(option: int, *arguments: int) -> int:
    assert _libc is not None
    padded = [ctypes.c_ulong(a) for a in (*arguments, 0, 0, 0, 0)[:4]]
    return _check(_libc.prctl(ctypes.c_int(option), *padded), f"prctl({option})")


def name_process(name: str) -> None:
    """Set the name that `ps` and `top` show for this process, 15 bytes at most."""
    held = ctypes.create_string_buffer(name.encode())
    prctl(_SET_NAME, ctypes.addressof(held))


def die_with_parent(signal: int) -> None:
    """Send this process `signal` when its parent ends.

    Credentials must not change afterwards.
    """
    prctl(_SET_PDEATHSIG, signal)


def adopt_orphans() -> None:
    """Become the parent of every process below this one whose parent ends."""
    prctl(SET_CHILD_SUBREAPER, 1)


def drop_privileges(user: int | None = None, groups: Sequence[int] = ()) -> None:
    """Give up every capability for good, for this process and all it starts.

    With `user`, also become that user and the group of the same number, in no other groups but `groups`.
    """
    for capability in range(64):
        try:
            prctl(_CAPBSET_DROP, capability)
        except OSError:
            break  # beyond the last one of this kernel
    if user is not None:
        os.setgroups(groups)
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # _LINUX_CAPABILITY_VERSION_3, this thread
    _call("capset", ctypes.byref(header), ctypes.byref((ctypes.c_uint32 * 6)()))
    no_new_privileges()
    reclaim_proc()


def no_new_privileges() -> None:
    """Stop set-user-ID programs from gaining rights; seccomp requires this."""
    prctl(_SET_NO_NEW_PRIVS, 1)


def reclaim_proc() -> None:
    """Give /proc/self back to this process: a change of user makes it root's."""
    prctl(_SET_DUMPABLE, 1)


def spare_user() -> int | None:
    """An unused user number for root to become; None if there is none.

    In a container, root may have only a few numbers, or just its own.
    """
    if os.geteuid() != 0:
        return None
    with open("/proc/self/uid_map") as stream:
        ranges = [(int(first), int(count)) for first, _, count in map(str.split, stream)]
    first, count = max(ranges, key=lambda found: found[1])
    if first + count > _FIRST_SPARE + _SPARE:
        return _FIRST_SPARE + secrets.randbelow(_SPARE)
    if count > LAST_TAKEN + 1000:
        return first + LAST_TAKEN + secrets.randbelow(count - LAST_TAKEN)
    return None
