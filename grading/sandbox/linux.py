"""System calls that Python's standard library lacks, each raising OSError with a readable name.

Covers: namespaces, mounts, pivot_root, capabilities, keyrings and prctl. Not here: the seccomp filter
and Landlock (`filters`), and which of these calls are made in which order (`tree`, `child`).
Everything goes through libc's `syscall` by ctypes, so nothing has to be compiled or installed.
"""

from __future__ import annotations

import ctypes
import os
import platform
import secrets
from contextlib import suppress
from typing import Any

NEWNS, NEWCGROUP, NEWUTS, NEWIPC = 0x00020000, 0x02000000, 0x04000000, 0x08000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000
#: Every namespace of its own but the user's and the processes', which need an order of their own.
APART = NEWNS | NEWCGROUP | NEWUTS | NEWIPC | NEWNET

RDONLY, NOSUID, NODEV, NOEXEC, BIND, REC, PRIVATE = 1, 2, 4, 8, 4096, 16384, 1 << 18
_DETACH = 2

# asm/unistd_64.h (x86-64) and asm-generic/unistd.h (arm64); newer calls share one number.
_X86 = {"pivot_root": 155, "capset": 126, "keyctl": 250}
_ARM = {"pivot_root": 41, "capset": 91, "keyctl": 219}
_NUMBERS = {"x86_64": _X86, "aarch64": _ARM}.get(platform.machine(), {})
_NUMBERS = _NUMBERS | {"mount_setattr": 442}

# Numbers from 2**30 are handed out by no system; a container of 65536 users seldom has any above 60000.
_FIRST_SPARE, _SPARE, _LAST_TAKEN = 2**30, 2**29, 60000

_SET_PDEATHSIG, _SET_DUMPABLE, _SET_NAME, _CAPBSET_DROP, _SET_NO_NEW_PRIVS = 1, 4, 15, 24, 38

_libc = ctypes.CDLL(None, use_errno=True) if os.name == "posix" else None


def syscall(number: int, *arguments: Any, what: str) -> int:
    """Call the kernel by number; `what` names the call where it fails."""
    words = [ctypes.c_ulong(a & 2**64 - 1) if isinstance(a, int) else a for a in arguments]
    assert _libc is not None
    return _checked(_libc.syscall(ctypes.c_long(number), *words), what)


def _checked(result: int, what: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def _named(name: str, *arguments: Any) -> int:
    if name not in _NUMBERS:
        raise OSError(f"{name}: its number on {platform.machine()} is not known")
    return syscall(_NUMBERS[name], *arguments, what=name)


def unshare(flags: int) -> None:
    """Leave the namespaces of `flags` for new ones (processes: for the children to come)."""
    assert _libc is not None
    _checked(_libc.unshare(ctypes.c_int(flags)), "unshare")


def setns(descriptor: int, kind: int) -> None:
    """Enter (processes: fork into) the namespace that `descriptor` stands for."""
    assert _libc is not None
    _checked(_libc.setns(ctypes.c_int(descriptor), ctypes.c_int(kind)), "setns")


def own_user_namespace() -> None:
    """Enter a new user namespace in which the only user is the present one.

    The caller then holds every capability over namespaces that it makes from here on, and none over
    those it came from.
    """
    user, group = os.geteuid(), os.getegid()
    unshare(NEWUSER)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w") as stream:
            stream.write(text)


def mount(source: str | None, target: str, kind: str | None = None, flags: int = 0, options: str | None = None) -> None:
    """mount(2). `source` None where the call takes none."""
    assert _libc is not None
    source_, target_, kind_, options_ = (
        None if text is None else os.fsencode(text) for text in (source, target, kind, options)
    )
    _checked(
        _libc.mount(source_, target_, kind_, ctypes.c_ulong(flags), options_), f"mount {kind or source} on {target}"
    )


def bind(source: str, target: str) -> None:
    """Let `target` show `source`, with whatever is mounted below it."""
    mount(source, target, None, BIND | REC)


def unmount(target: str) -> None:
    """Take the topmost mount off `target`, busy or not."""
    assert _libc is not None
    _checked(_libc.umount2(os.fsencode(target), ctypes.c_int(_DETACH)), f"unmount {target}")


def restrict_mount(target: str, attributes: int = RDONLY | NOSUID | NODEV, recursive: bool = True) -> None:
    """Add mount attributes (they only ever tighten) to `target` and all below it (Linux 5.12)."""

    class Attributes(ctypes.Structure):
        _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "userns")]

    request = Attributes(set=attributes)
    at_fdcwd, at_recursive = -100, 0x8000
    _named(
        "mount_setattr",
        at_fdcwd,
        os.fsencode(target),
        at_recursive if recursive else 0,
        ctypes.byref(request),
        ctypes.sizeof(request),
    )


def change_root(directory: str) -> None:
    """Make `directory`, a mount point, the root, and let go of the old root for good."""
    os.chdir(directory)
    _named("pivot_root", b".", b".")  # the old root now lies on top of the new one: see pivot_root(2)
    unmount(".")
    os.chdir("/")


def fresh_keyring() -> None:
    """Join a new, empty session keyring in place of the inherited one."""
    with suppress(OSError):  # a kernel or container without keyrings has none to inherit
        _named("keyctl", 1, 0)


def prctl(option: int, *arguments: int) -> int:
    assert _libc is not None
    padded = [ctypes.c_ulong(a) for a in (*arguments, 0, 0, 0, 0)[:4]]
    return _checked(_libc.prctl(ctypes.c_int(option), *padded), f"prctl({option})")


def name_process(name: str) -> None:
    """What `ps` and `top` show for this process, in place of the program's name: 15 bytes at most."""
    held = ctypes.create_string_buffer(name.encode())
    prctl(_SET_NAME, ctypes.addressof(held))


def die_with_parent(signal: int) -> None:
    """Ask for `signal` when the parent ends. Credentials must not change afterwards."""
    prctl(_SET_PDEATHSIG, signal)


def drop_privileges(user: int | None = None) -> None:
    """Give up every capability, for this process and all that it will start; no way back.

    With `user`, also become that user and its group of the same number, in no other group.
    """
    for capability in range(64):
        try:
            prctl(_CAPBSET_DROP, capability)
        except OSError:
            break  # past the last one that this kernel knows
    if user is not None:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # _LINUX_CAPABILITY_VERSION_3, this thread
    _named("capset", ctypes.byref(header), ctypes.byref((ctypes.c_uint32 * 6)()))
    no_new_privileges()
    reclaim_proc()


def no_new_privileges() -> None:
    """From here on no program that is started gains anything by set-user-ID; seccomp asks for this."""
    prctl(_SET_NO_NEW_PRIVS, 1)


def reclaim_proc() -> None:
    """Give /proc/self back to this process: a change of user makes it root's."""
    prctl(_SET_DUMPABLE, 1)


def spare_user() -> int | None:
    """A user number that nobody has, for root to become; None where there is none to be had.

    Root of a container may own a few numbers only, or no other than its own.
    """
    if os.geteuid() != 0:
        return None
    with open("/proc/self/uid_map") as stream:
        ranges = [(int(first), int(count)) for first, _, count in map(str.split, stream)]
    first, count = max(ranges, key=lambda found: found[1])
    if first + count > _FIRST_SPARE + _SPARE:
        return _FIRST_SPARE + secrets.randbelow(_SPARE)
    if count > _LAST_TAKEN + 1000:
        return first + _LAST_TAKEN + secrets.randbelow(count - _LAST_TAKEN)
    return None
