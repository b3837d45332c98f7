"""Each promise of docs/security.md about what student code can see and touch, tried from inside a real kernel."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from grading.sandbox.filesystem import plan
from grading.sandbox.launch import ENVIRONMENT, server_of
from grading.sandbox.seccomp_landlock import landlock_version
from grading.sandbox.server_process import ForkedServer
from grading.sandbox.syscalls import ALLOWED

from .conftest import DENIED, SECRET, TRY, Box, leads_to_python

pytestmark = pytest.mark.quick_cases("forked*")

ROOT = Path(__file__).parents[2]

#: As the server of judges begins, up to where it would read what students wrote
ANCESTOR = """
import sys; sys.path.append({here!r}); from sandbox import bootstrap; sys.path.pop()
control, *_, kernels = bootstrap.begin({descriptor})
import grading.judge.server, socket
socket.send_fds(control, [str(kernels.pid).encode()], [kernels.control.fileno()])
kernels.control.close()
control.recv(1)
"""


@pytest.fixture(scope="module", params=["forked", "started"])
def ahead(request: pytest.FixtureRequest) -> Iterator[tuple[str, ...]]:
    """What makes this module's fork server one of its own, which was forked as judges' is, or started as any other."""
    ahead = (f"kernels_of_one_that_was_{request.param}",)
    with ExitStack() as stack:
        if request.param == "forked":
            ours, theirs = map(stack.enter_context, socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET))
            code = ANCESTOR.format(here=str(ROOT / "grading"), descriptor=theirs.fileno())
            command = [sys.executable, "-I", "-S", "-c", code]
            ancestor = subprocess.Popen(command, env=ENVIRONMENT, pass_fds=[theirs.fileno()])
            stack.callback(ancestor.wait)
            stack.callback(ours.close)
            theirs.close()
            ours.send(json.dumps({"tree": None, "directory": "", "kernels": plan()["python_path"]}).encode())
            assert json.loads(ours.recv(2**16)) == {"ready": True}
            ours.send(json.dumps({"path": sys.path, "environment": {"SECRET": SECRET}, "files": None}).encode())
            pid, (control,), _, _ = socket.recv_fds(ours, 100, 1)
            forked = ForkedServer(int(pid), socket.socket(fileno=control))
            running = server_of(plan(), ahead, forked)
            stack.callback(running.close)
            assert running.process is forked
        yield ahead


@pytest.fixture
def start(ahead: tuple[str, ...], start: Callable[..., Box]) -> Callable[..., Box]:
    """As everywhere, on this module's fork server."""
    return partial(start, ahead=ahead)


@pytest.mark.quick_cases("forked-*", "started-/etc/passwd")
@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "/etc/hostname",
        "/root",
        "/home",
        "/var",
        "/run",
        "/sys/fs",
        "/sys/class",
        "/proc/1/root/etc/passwd",
        str(ROOT / "grading"),
        str(ROOT / "pyproject.toml"),
        str(ROOT / "source"),
        str(ROOT / "grader_tests"),
        str(ROOT / "tests"),
        str(ROOT / "gradebook.db"),
        str(ROOT / "submitted"),
        str(ROOT / ".git"),
        __file__,
    ],
)
def test_files_of_the_host_are_not_there(box: Box, path: str) -> None:
    listed = "sorted(os.listdir(p)) if os.path.isdir(p) else os.path.exists(p)"
    inside = box.value(f"import os; p = {path!r}; value = {listed}")
    if isinstance(inside, list):  # Python may lie below somebody's home; then the way there is shown, and no more
        inside = [name for name in inside if not leads_to_python(f"{path}/{name}")]
    assert not inside


def test_nothing_of_the_course_but_the_package_course_can_be_found(box: Box) -> None:
    found = box.value(
        "import os\nvalue = []\n"
        "for folder, folders, files in os.walk('/'):\n"
        "    value += [os.path.join(folder, f) for f in folders + files\n"
        "              if f in ('grader_tests', 'grading', 'gradebook.db', 'nbgrader_config.py', 'course')\n"
        "              or f.startswith(('submitted', 'attention-canary', '01_dot_products', '02_softmax'))]\n"
        "    folders[:] = [f for f in folders if folder != '/' or f not in ('proc', 'sys')]\n"
        "    folders[:] = [f for f in folders if not f.startswith('of-a-test-')]\n"  # which may run beside this one
        "    if folder.endswith('site-packages'): folders.clear()\n"  # what others wrote
    )
    found.remove("/sandbox/library/course")
    elsewhere = [path for path in found if not path.startswith("/sandbox/library/course/examples/")]
    elsewhere = [path for path in elsewhere if not leads_to_python(path)]  # by the name of a directory above it
    assert {os.path.realpath(path) for path in elsewhere} <= {os.path.realpath(f"{sys.prefix}/bin/grading")}


def test_the_environment_and_the_memory_hold_no_secret(box: Box) -> None:
    assert box.value("import os; value = os.environ.get('ATTENTION_CANARY')") is None
    found = box.value(
        "import re\nvalue = []\n"
        "secret = re.compile(b'[c]anary-[0-9a-f]{16}')\n"  # so written, it does not find itself
        "for path in ('/proc/self/environ', '/proc/self/cmdline'):\n"
        "    value += secret.findall(open(path, 'rb').read())\n"
        "with open('/proc/self/maps') as maps, open('/proc/self/mem', 'rb', 0) as memory:\n"
        "    for line in maps:\n"
        "        spot, rights, *_ = line.split()\n"
        "        if rights.startswith('rw') and '[v' not in line:\n"
        "            first, last = (int(end, 16) for end in spot.split('-'))\n"
        "            memory.seek(first)\n"
        "            while first < last and (held := memory.read(min(last - first, 2**24))):\n"
        "                value += [line for _ in secret.findall(held)]\n"
        "                first += len(held)\n"
    )
    assert found == []
    assert box.value("value = len(secret.findall(b'canary-' + b'0' * 16))") == 1  # it would have found one


def test_the_environment_is_the_explicit_one(box: Box) -> None:
    lines = box.value("value = open('/proc/1/environ').read().split('\\0')")
    assert dict(line.split("=", 1) for line in lines if line) == ENVIRONMENT


def test_no_descriptor_is_inherited_but_the_channels(box: Box, canary_file: str) -> None:
    held = box.value(
        "import os, socket\nvalue = []\n"
        "for fd in os.listdir('/proc/self/fd'):\n"
        "    try: target = os.readlink(f'/proc/self/fd/{fd}')\n"
        "    except OSError: continue\n"  # the listing itself
        "    if target.startswith('socket:'):\n"
        "        with socket.socket(fileno=os.dup(int(fd))) as s:\n"
        "            target = 'listening' if s.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) else s.type.name\n"
        "    value.append(target)\n"
    )
    assert held.count("listening") == 6  # the five channels, and its own for what forked processes print
    for target in set(held):
        assert target in ("listening", "SOCK_STREAM", "/dev/null") or target.startswith(("pipe:", "anon_inode:")), held


def test_modules_hold_nothing_of_grading(box: Box) -> None:
    assert (
        box.value(
            "import gc, sys\n"
            "functions = [f for f in gc.get_objects() if callable(f)]\n"
            "names = set(sys.modules) | {getattr(f, '__module__', None) or '' for f in functions}\n"
            "value = sorted(str(n) for n in names if str(n).split('.')[0] in ('grading', 'grader_tests', 'nbgrader'))"
        )
        == []
    )
    assert box.value("import sys; value = [n for n in sys.modules if n.split('.')[0] == 'sandbox']") == []
    for name in ("grading", "grader_tests", "nbgrader_config"):
        assert "ModuleNotFoundError" in box.text(f"import {name}")


def test_no_network_not_even_loopback(box: Box, tmp_path: Path) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
        socket.socket(socket.AF_UNIX) as abstract,
        socket.socket(socket.AF_UNIX) as path,
    ):
        name = f"\0{SECRET}"
        abstract.bind(name)
        path.bind(str(tmp_path / "s"))
        udp.bind(("127.0.0.1", 0))
        for listener in (tcp, abstract, path):
            listener.listen()
            listener.setblocking(False)
        udp.setblocking(False)
        tried = box.value(
            f"{TRY}\n"
            f"value = [trying(lambda: socket.create_connection(('127.0.0.1', {tcp.getsockname()[1]}), 2)),\n"
            f"         trying(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM)"
            f".sendto(b'x', ('127.0.0.1', {udp.getsockname()[1]}))),\n"
            f"         trying(lambda: socket.socket(socket.AF_UNIX).connect({name!r})),\n"
            f"         trying(lambda: socket.socket(socket.AF_UNIX).connect({str(tmp_path / 's')!r})),\n"
            "         trying(lambda: socket.socket(socket.AF_INET6)),\n"
            "         trying(lambda: socket.socket(socket.AF_NETLINK)),\n"
            "         trying(lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW)),\n"
            "         trying(lambda: __import__('urllib.request').request.urlopen('http://127.0.0.1', timeout=2))]"
        )
        assert [what for what in tried if what.startswith("worked")] == []
        for listener in (tcp, abstract, path):
            with pytest.raises(BlockingIOError):
                listener.accept()
        with pytest.raises(BlockingIOError):
            udp.recv(1)


def test_every_kind_of_namespace_is_the_kernels_own(box: Box) -> None:
    """Behind what the filter refuses stands a second lock, which nothing else here would miss."""
    kinds = ("cgroup", "ipc", "mnt", "net", "pid", "uts")
    inside = box.value(f"import os; value = {{kind: os.readlink(f'/proc/self/ns/{{kind}}') for kind in {kinds}}}")
    assert [kind for kind in kinds if inside[kind] == os.readlink(f"/proc/self/ns/{kind}")] == []


def test_the_channels_tell_nothing_about_the_hosts_network(box: Box) -> None:
    asked = box.value(
        f"{TRY}\nimport fcntl\nvalue = []\n"
        "for fd in map(int, os.listdir('/proc/self/fd')):\n"
        "    try: is_socket = os.readlink(f'/proc/self/fd/{fd}').startswith('socket:')\n"
        "    except OSError: continue\n"
        "    if is_socket:\n"
        "        value.append(trying(lambda: fcntl.ioctl(fd, 0x8933, b'lo'.ljust(40, b'\\0'))))\n"  # SIOCGIFINDEX
    )
    assert set(asked) == {"PermissionError"}


def test_other_processes_cannot_be_seen_or_touched(box: Box) -> None:
    seen = box.value("import os; value = sorted(int(n) for n in os.listdir('/proc') if n.isdigit())")
    assert seen == [1]
    tried = box.value(f"{TRY}\nvalue = [trying(lambda: os.kill({os.getpid()}, 0)), os.getppid()]")
    assert tried == ["ProcessLookupError", 0]


def test_every_call_that_is_not_on_the_list_is_refused(box: Box) -> None:
    column = 0 if os.uname().machine == "x86_64" else 1
    unfiltered = {335, 336} if column == 0 else set()  # probes' own returns: Linux lets nobody filter these two
    refused = sorted(set(range(600)) - {numbers[column] for numbers in ALLOWED.values()} - unfiltered)
    x32 = [0x40000000 | number for number in (0, 1, 39, 101, 165)] if column == 0 else []
    tried = box.value(f"{TRY}\nvalue = {{n: calling(n, 0, 0, 0, 0, 0) for n in {refused + x32}}}")
    denied = "Operation not permitted", "Function not implemented"
    assert {number: came for number, came in tried.items() if came not in denied} == {}
    new_user = f"{ALLOWED['clone'][column]}, 0x10000011, 0, 0, 0, 0"
    assert box.value(f"{TRY}\nvalue = calling({new_user})") == denied[0]


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="other machines have no such way to 32-bit calls")
def test_calls_of_i386_end_the_process(box: Box) -> None:
    code = (
        "import ctypes, mmap, os\n"
        "page = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=7)\n"
        "page.write(bytes.fromhex('b814000000cd80c3'))\n"  # mov eax, 20 (getpid); int 0x80; ret
        "call = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))\n"
        "if (pid := os.fork()) == 0:\n    call(); os._exit(0)\n"
        "value = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])"
    )
    assert -box.value(code) in (signal.SIGSYS, signal.SIGSEGV)  # refused; or no such calls in this system at all


def test_ways_out_are_shut(box: Box) -> None:
    tried = box.value(
        f"{TRY}\nvalue = [trying(lambda: os.mknod('/tmp/disk', 0o60600, os.makedev(8, 0))),\n"
        "         trying(lambda: os.chroot('/tmp')), trying(lambda: os.setuid(0)),\n"
        "         trying(lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)))]"
    )
    assert [what for what in tried if what.startswith("worked")] == []


def test_it_has_no_privilege_and_no_way_to_one(box: Box) -> None:
    lines = box.value("value = open('/proc/self/status').read().splitlines()")
    status = dict(line.split(":\t", 1) for line in lines)
    assert {status[f"Cap{kind}"].strip("0") for kind in ("Inh", "Prm", "Eff", "Bnd", "Amb")} == {""}
    assert status["NoNewPrivs"].strip() == "1"
    assert status["Seccomp"].strip() == "2"
    uids = set(status["Uid"].split())
    assert len(uids) == 1
    if os.geteuid() == 0:
        assert "0" not in uids
        assert status["Groups"].split() == []


@pytest.mark.parametrize(
    "place",
    [
        "/",
        "/usr",
        "/etc",
        "/dev",
        "/proc",
        "/sandbox",
        "/sandbox/library/course",
        sys.prefix,
        os.path.dirname(os.__file__),
    ],
)
def test_nothing_shown_can_be_written(box: Box, place: str) -> None:
    assert box.value(f"{TRY}\nvalue = trying(lambda: open({place!r} + '/mine', 'w'))") in DENIED


@pytest.mark.skipif(not landlock_version(), reason="this system has no Landlock, the second lock")
def test_landlock_forbids_writes_that_the_file_tree_would_allow(box: Box) -> None:
    assert box.value(f"{TRY}\nvalue = trying(lambda: open('/proc/self/comm', 'w').write('mine'))") == "PermissionError"


def test_its_own_places_can_be_written(box: Box) -> None:
    for place in (".", "/tmp", "/dev/shm"):
        written = f"open({place!r} + '/mine', 'w').write('kept')"
        assert box.value(f"{written}; value = open({place!r} + '/mine').read()") == "kept"
    assert box.value("import tempfile; value = tempfile.gettempdir()") == "/tmp"


def test_devices_are_the_harmless_ones(box: Box) -> None:
    there = ["full", "null", "ptmx", "pts", "random", "shm", "urandom"]
    assert sorted(box.value("import os; value = os.listdir('/dev')")) == there
    assert box.value("import os; value = os.listdir('/dev/pts')") == ["ptmx"]


def test_kernels_do_not_see_each_other(start: Callable[..., Box]) -> None:
    one, other = start(), start()
    one.run("for place in ('/tmp', '.', '/dev/shm'): open(f'{place}/from-one', 'w').write('x')")
    assert other.value("import os; value = os.listdir('.')") == []
    assert "from-one" not in other.value("import os; value = os.listdir('/tmp') + os.listdir('/dev/shm')")
    assert other.value("import os; value = [n for n in os.listdir('/proc') if n.isdigit()]") == ["1"]
    if os.geteuid() == 0:
        assert one.value("import os; value = os.getuid()") != other.value("import os; value = os.getuid()")


def test_kernels_differ_in_random_state_and_share_nothing_writable(start: Callable[..., Box]) -> None:
    draw = (
        "import os, random, numpy, torch, secrets, uuid\n"
        "value = [random.random(), float(numpy.random.rand()), float(torch.rand(())), os.urandom(8).hex(),\n"
        "         float(numpy.random.default_rng().random()), secrets.token_hex(8), str(uuid.uuid4())]"
    )
    one, other = start().value(draw), start().value(draw)
    assert all(mine != theirs for mine, theirs in zip(one, other, strict=True))
    mapped = start().value("value = [line.split()[1] for line in open('/proc/self/maps')]")
    assert [rights for rights in mapped if rights.endswith("s") and "w" in rights] == []
