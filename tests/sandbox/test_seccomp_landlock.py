"""What the filter of system calls answers, on both architectures: its program is run here, call by call."""

from __future__ import annotations

import errno
import re
import struct
import subprocess
from pathlib import Path

import pytest

from grading.sandbox.seccomp_landlock import program
from grading.sandbox.syscalls import ALLOWED, ARCHITECTURES, FIRST_SHARED

ALLOW, KILL = 0x7FFF0000, 0x80000000
NAMES = {"x86_64": 0, "aarch64": 1}
on_both = pytest.mark.parametrize("machine", NAMES)

#: What a kernel has no use for, by what it would open.
UNNEEDED = {
    "io_setup": (206, 0),  # the machine's requests, of which there are 65536
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "perf_event_open": (298, 241),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "open_by_handle_at": (304, 265),
    "kexec_load": (246, 104),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "unshare": (272, 97),
    "mount": (165, 40),
    "memfd_create": (319, 279),
    "shmget": (29, 194),
    "mq_open": (240, 180),
    "vmsplice": (278, 75),
    "remap_file_pages": (216, 234),
    "personality": (135, 92),
}
#: The same of those that libraries do without where there is no such call.
NEW = {
    "io_uring_setup": 425,
    "open_tree": 428,
    "clone3": 435,
    "openat2": 437,
    "landlock_create_ruleset": 444,
    "memfd_secret": 447,
    "futex_waitv": 449,
    "one that nobody has yet": 999,
    "one of x32": 0x40000000 | 39,
}


def answer(
    machine: str, number: int, *arguments: int, counted: tuple[bool, bool] = (False, False), abi: int | None = None
) -> int:
    """What seccomp would do: ALLOW, KILL, or an error number (0: the call seems to work, and is not made)."""
    abi = ARCHITECTURES[machine][1] if abi is None else abi
    words = struct.pack("=IIQ6Q", number, abi, 0, *(*arguments, 0, 0, 0, 0, 0, 0)[:6])
    lines = list(struct.iter_unpack("HBBI", program(*counted, machine)))
    at, held = 0, 0
    while True:
        code, if_true, if_false, value = lines[at]
        at += 1
        if code == 0x20:
            held = struct.unpack_from("=I", words, value)[0]
        elif code == 0x06:
            return value if value in (ALLOW, KILL) else value & 0xFFFF
        else:
            true = {0x15: held == value, 0x35: held >= value, 0x45: bool(held & value)}[code]
            at += if_true if true else if_false


@on_both
def test_all_that_is_not_on_the_list_is_refused(machine: str) -> None:
    allowed = {numbers[NAMES[machine]] for numbers in ALLOWED.values()}
    for number in range(600):
        if number not in allowed:
            refused = errno.EPERM if number < FIRST_SHARED else errno.ENOSYS
            assert answer(machine, number) == refused, number


@on_both
def test_unneeded_calls_are_refused(machine: str) -> None:
    for name, numbers in UNNEEDED.items():
        assert answer(machine, numbers[NAMES[machine]]) == errno.EPERM, name
    for name, number in NEW.items():
        assert answer(machine, number) == errno.ENOSYS, name


@on_both
def test_what_is_on_the_list_is_allowed(machine: str) -> None:
    for name, numbers in ALLOWED.items():
        if (number := numbers[NAMES[machine]]) is not None and not name.startswith("socket"):
            assert answer(machine, number) == ALLOW, name


@on_both
def test_other_architectures_calls_end_the_process(machine: str) -> None:
    i386, arm, riscv = 0x40000003, 0x40000028, 0xC00000F3
    for abi in (i386, arm, riscv):
        assert answer(machine, 39, abi=abi) == KILL


@on_both
def test_some_calls_are_allowed_with_some_arguments(machine: str) -> None:
    def asked(name: str, *arguments: int, counted: tuple[bool, bool] = (False, False)) -> int:
        number = ALLOWED[name][NAMES[machine]]
        assert number is not None
        return answer(machine, number, *arguments, counted=counted)

    unix, inet, netlink = 1, 2, 16
    assert [asked("socket", family) for family in (unix, inet, netlink)] == [ALLOW, errno.EOPNOTSUPP, errno.EOPNOTSUPP]
    assert asked("socketpair", inet) == errno.EOPNOTSUPP
    terminal, interfaces = 0x5401, 0x8912
    assert [asked("ioctl", 0, what) for what in (terminal, interfaces, 0x89FF, 0x8A00)] == [
        ALLOW,
        errno.EPERM,
        errno.EPERM,
        ALLOW,
    ]
    thread, new_user = 0x3D0F00, 0x10000011
    assert [asked("clone", flags) for flags in (thread, new_user)] == [ALLOW, errno.EPERM]
    private, shared, anonymous, huge, counted = 0x02, 0x01, 0x20, 0x40000, (True, True)
    assert asked("mmap", 0, 4096, 3, private | anonymous) == ALLOW
    assert asked("mmap", 0, 4096, 3, shared) == ALLOW  # a file's
    assert asked("mmap", 0, 4096, 3, shared | anonymous) == errno.ENOMEM
    assert asked("mmap", 0, 4096, 3, shared | anonymous, counted=counted) == ALLOW
    assert asked("mmap", 0, 4096, 3, private | anonymous | huge, counted=counted) == errno.ENOMEM
    child_ended, interrupted = 17, 2
    for action in (0x7F0000000000, 0x1000):
        assert asked("rt_sigaction", child_ended, action) == 0
        assert asked("rt_sigaction", child_ended, action, counted=counted) == ALLOW
        assert asked("rt_sigaction", interrupted, action) == ALLOW
    assert asked("rt_sigaction", child_ended, 0) == ALLOW  # a question


def test_a_filter_is_written_for_known_architectures_only() -> None:
    with pytest.raises(OSError, match="no seccomp filter is written for riscv64"):
        program(False, False, "riscv64")


# A 64-bit architecture without any old way is described by the second; arm64 takes from it what these macros choose.
HEADERS = {
    "x86_64": ("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", ""),
    "aarch64": (
        "/usr/include/asm-generic/unistd.h",
        "#define __ARCH_WANT_RENAMEAT\n#define __ARCH_WANT_NEW_STAT\n#define __ARCH_WANT_SET_GET_RLIMIT\n",
    ),
}


@on_both
def test_the_numbers_are_those_of_the_systems_headers(machine: str) -> None:
    header, chosen = HEADERS[machine]
    if not Path(header).exists():
        pytest.skip(f"{header} is not installed")
    source = f"{chosen}#define __BITS_PER_LONG 64\n#define __SYSCALL(number, function)\n#include <{header}>\n"
    try:
        told = subprocess.run(["cc", "-E", "-dM", "-"], input=source, capture_output=True, text=True, check=True).stdout
    except FileNotFoundError:
        pytest.skip("there is no C preprocessor")
    said = dict(re.findall(r"#define __NR(\w+) (?:__NR)?(\w+)", told))

    def number(name: str) -> int | None:
        while (found := said.get(name)) and not found.isdigit():
            name = found
        return int(found) if found else None

    newer = {"fchmodat2"}  # than some systems' headers
    ours = {name: numbers[NAMES[machine]] for name, numbers in ALLOWED.items() if name not in newer}
    assert ours == {name: number(f"_{name}") for name in ours}
