"""The system calls that a kernel may make, with their numbers; no others.

The list was made from the observed calls of Python, torch, ipykernel, ZeroMQ, matplotlib and the programs that a
notebook starts (`!ls`, `%%bash`), and from what the C library calls in their place on other systems.
`seccomp_landlock` decides how a call is refused, and which of these are refused with some arguments. A call that you
add here needs a test that shows what it opens.
"""

from __future__ import annotations

# By purpose: each call with its numbers on x86-64 and on arm64 ("-": it does not exist there), from
# asm/unistd_64.h and asm-generic/unistd.h.
_GROUPS = {
    "files and directories": """
    open 2/-, creat 85/-, openat 257/56, close 3/57, close_range 436/436, read 0/63, write 1/64, readv 19/65,
    writev 20/66, pread64 17/67, pwrite64 18/68, preadv 295/69, pwritev 296/70, preadv2 327/286, pwritev2 328/287,
    lseek 8/62, sendfile 40/71, copy_file_range 326/285, dup 32/23, dup2 33/-, dup3 292/24, fcntl 72/25,
    flock 73/32, fsync 74/82, fdatasync 75/83, truncate 76/45, ftruncate 77/46, fallocate 285/47, fadvise64 221/223,
    stat 4/-, fstat 5/80, lstat 6/-, newfstatat 262/79, statx 332/291, access 21/-, faccessat 269/48,
    faccessat2 439/439, statfs 137/43, fstatfs 138/44, getdents 78/-, getdents64 217/61, getcwd 79/17, chdir 80/49,
    fchdir 81/50, mkdir 83/-, mkdirat 258/34, rmdir 84/-, rename 82/-, renameat 264/38, renameat2 316/276,
    link 86/-, linkat 265/37, unlink 87/-, unlinkat 263/35, symlink 88/-, symlinkat 266/36, readlink 89/-,
    readlinkat 267/78, mknod 133/-, mknodat 259/33, chmod 90/-, fchmod 91/52, fchmodat 268/53, fchmodat2 452/452,
    chown 92/-, fchown 93/55, lchown 94/-, fchownat 260/54, umask 95/166, utime 132/-, utimes 235/-,
    futimesat 261/-, utimensat 280/88, getxattr 191/8, lgetxattr 192/9, fgetxattr 193/10, listxattr 194/11,
    llistxattr 195/12, flistxattr 196/13, ioctl 16/29
    """,
    "waiting for descriptors, and pipes": """
    pipe 22/-, pipe2 293/59, poll 7/-, ppoll 271/73, select 23/-, pselect6 270/72, epoll_create 213/-,
    epoll_create1 291/20, epoll_ctl 233/21, epoll_wait 232/-, epoll_pwait 281/22, epoll_pwait2 441/441,
    eventfd 284/-, eventfd2 290/19
    """,
    "sockets, of which only Unix ones can be made": """
    socket 41/198, socketpair 53/199, bind 49/200, listen 50/201, accept 43/202, accept4 288/242, connect 42/203,
    shutdown 48/210, sendto 44/206, recvfrom 45/207, sendmsg 46/211, recvmsg 47/212, sendmmsg 307/269,
    recvmmsg 299/243, getsockname 51/204, getpeername 52/205, setsockopt 54/208, getsockopt 55/209
    """,
    "memory, and where in the machine it lies": """
    brk 12/214, mmap 9/222, munmap 11/215, mremap 25/216, mprotect 10/226, msync 26/227, madvise 28/233,
    membarrier 324/283, get_mempolicy 239/236, set_mempolicy 238/237, mbind 237/235
    """,
    "processes and threads": """
    clone 56/220, fork 57/-, vfork 58/-, execve 59/221, exit 60/93, exit_group 231/94, wait4 61/260, waitid 247/95,
    kill 62/129, tkill 200/130, tgkill 234/131, pidfd_open 434/434, pidfd_send_signal 424/424, getpid 39/172,
    getppid 110/173, gettid 186/178, getpgrp 111/-, getpgid 121/155, setpgid 109/154, getsid 124/156,
    setsid 112/157, getuid 102/174, geteuid 107/175, getgid 104/176, getegid 108/177, getresuid 118/148,
    getresgid 120/150, getgroups 115/158, capget 125/90, set_tid_address 218/96, set_robust_list 273/99,
    get_robust_list 274/100, rseq 334/293, futex 202/98, prctl 157/167, arch_prctl 158/-
    """,
    "what they may use of the machine, and what they have used": """
    sched_yield 24/124, sched_getaffinity 204/123, sched_setaffinity 203/122, sched_getscheduler 145/120,
    sched_setscheduler 144/119, sched_getparam 143/121,
    sched_getattr 315/275, sched_get_priority_max 146/125, sched_get_priority_min 147/126,
    getpriority 140/141, setpriority 141/140, getcpu 309/168, getrlimit 97/163, setrlimit 160/164,
    prlimit64 302/261, getrusage 98/165, times 100/153, sysinfo 99/179, uname 63/160, getrandom 318/278
    """,
    "signals and clocks": """
    rt_sigaction 13/134, rt_sigprocmask 14/135, rt_sigreturn 15/139, rt_sigpending 127/136, rt_sigtimedwait 128/137,
    rt_sigsuspend 130/133, sigaltstack 131/132, restart_syscall 219/128, pause 34/-, nanosleep 35/101,
    clock_nanosleep 230/115, clock_gettime 228/113, clock_getres 229/114, gettimeofday 96/169, time 201/-,
    alarm 37/-, getitimer 36/102, setitimer 38/103, timer_create 222/107, timer_settime 223/110,
    timer_gettime 224/108, timer_getoverrun 225/109, timer_delete 226/111
    """,
}
ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""By machine name as in uname(2): the column in the table, and AUDIT_ARCH of linux/audit.h."""

FIRST_SHARED = 424
"""From this number on (Linux 5.1), calls have one number on all architectures, and an older alternative."""

ALLOWED: dict[str, tuple[int | None, int | None]] = {}
"""Each call with its numbers on x86-64 and on arm64; None where it does not exist."""
for _group in _GROUPS.values():
    for _entry in _group.split(","):
        _name, _numbers = _entry.split()
        _x86, _arm = (None if number == "-" else int(number) for number in _numbers.split("/"))
        ALLOWED[_name] = (_x86, _arm)
