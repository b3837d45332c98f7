"""The level `contained`, tried from inside real kernels and judges in an imitation of Docker's default settings.

`test_in_a_container` runs the other tests of this file there, with and without Landlock; elsewhere they are skipped.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import nbformat
import psutil
import pytest

from grading.coordinator.demo_class import correct_answers, hand_in, write_answers
from grading.course import Course
from grading.errors import KernelDied
from grading.exercises.lesson import load_lesson
from grading.judge import start_judge
from grading.judge.job import AnswerRequest, Job
from grading.plugins.platforms.grade_file import grade_file
from grading.sandbox import SandboxUnavailable
from grading.sandbox.contained import remove_tree
from grading.sandbox.doctor import doctor
from grading.sandbox.host_check import strongest
from grading.sandbox.launch import server
from grading.sandbox.policy import CONTAINED, FULL
from grading.sandbox.processes import is_alive, owned_by
from grading.sandbox.seccomp_landlock import landlock_version

from ..support.canaries import SECRETS, Canaries, register, with_secret
from ..support.corpus import Submission, cases
from ..support.course_builder import released_notebook, write_grader_tests
from ..support.docker_default import INSIDE
from ..support.repository import of_this_week
from ..support.two_exercise_course import DOUBLE, GRADER_TESTS, HALVE, LESSON, submit_file, with_answers
from .conftest import LONG, SECRET, TRY, Box

ROOT = Path(__file__).parents[2]
LEVEL = strongest(contained=True)
KINDS = ("break", "escape", "exhaust", "forge", "peek")
LIMITS = """
c.ExecutePreprocessor.timeout = 4
c.JudgedExecute.limits = {"memory": 1536 * 2**20, "disk": 64 * 2**20, "processes": 64}
"""
CORPUS_LESSON, HONEST = "02_softmax", "honest"
inside = pytest.mark.skipif(INSIDE not in os.environ, reason="test_in_a_container runs it")
outside = pytest.mark.skipif(
    LEVEL != FULL or os.geteuid() != 0 or "overlay" not in Path("/proc/filesystems").read_text(),
    reason="only root can imitate a container, with overlay file systems",
)
with_landlock = pytest.mark.skipif(not landlock_version(), reason="this system has no Landlock, the second barrier")


@pytest.mark.full("makes a container like Docker's, and runs this file in it")
@outside
@pytest.mark.parametrize("options", of_this_week([[], ["--without-landlock"]], 2), ids=" ".join)
def test_in_a_container(request: pytest.FixtureRequest, options: list[str]) -> None:
    command = [sys.executable, "-m", "tests.support.docker_default", *options, sys.executable, "-m", "pytest"]
    command += ["-p", "no:cacheprovider", "-n0", "-q", "-m", request.config.option.markexpr, __file__]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout[-5000:] + ran.stderr[-2000:]
    assert " passed" in ran.stdout and "failed" not in ran.stdout


@pytest.fixture
def start(start: Callable[..., Box]) -> Callable[..., Box]:
    """As everywhere, at the level `contained`."""
    return partial(start, level=CONTAINED)


def wait_until(true: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + LONG
    while not true() and time.monotonic() < deadline:
        time.sleep(0.05)
    return true()


def user_of(box: Box) -> int:
    return int(box.value("import os; value = os.getuid()"))


def processes_of(user: int) -> list[int]:
    return [pid for pid in owned_by({user})[user] if is_alive(pid)]


def channel(box: Box, number: int) -> str:
    """The path of a socket of the kernel's."""
    return f"{box.provisioner.connection_info['ip']}-{number}"


def left_by(user: int) -> list[str]:
    places = (Path("/tmp"), Path("/var/tmp"), Path("/dev/shm"))
    return [str(path) for place in places for path in place.iterdir() if path.lstat().st_uid == user]


# What is asked of the machine and of file permissions


@inside
def test_it_is_never_used_without_being_asked_for(tmp_path: Path) -> None:
    assert strongest() == "none"
    with pytest.raises(SandboxUnavailable, match="Missing: processes"):
        start_judge.server_for(Job(AnswerRequest(""), tmp_path))


@inside
def test_doctor_names_the_level_and_why() -> None:
    told = doctor()
    assert "Level: contained, and only where you ask for it" in told
    assert "Missing: processes" in told
    assert ("There is no Landlock here" in told) is (not landlock_version())


@inside
def test_an_open_path_is_refused_and_named_with_a_remedy() -> None:
    folder = tempfile.mkdtemp()
    os.chmod(folder, 0o711)
    Path(folder, "results").mkdir(mode=0o700)
    Path(folder, "seed").write_text("1")
    try:
        with pytest.raises(SandboxUnavailable) as refused:
            server((folder,), level=CONTAINED)
        assert str(refused.value) == (
            f"Student code could read or change {folder}/seed.\nRun `chmod o= {folder}/seed`."
        )
        os.chmod(f"{folder}/seed", 0o600)
        os.chmod(f"{folder}/results", 0o722)
        with pytest.raises(SandboxUnavailable, match=f"could read or change {folder}/results"):
            server((folder,), level=CONTAINED)
    finally:
        shutil.rmtree(folder)


# What a kernel reaches


@inside
def test_it_is_another_user_without_privileges(start: Callable[..., Box]) -> None:
    box = start()
    lines = box.value("value = open('/proc/self/status').read().splitlines()")
    status = dict(line.split(":\t", 1) for line in lines)
    assert {status[f"Cap{kind}"].strip("0") for kind in ("Inh", "Prm", "Eff", "Bnd", "Amb")} == {""}
    assert (status["NoNewPrivs"], status["Seccomp"], status["Groups"].split()) == ("1", "2", [])
    assert set(status["Uid"].split()) == set(status["Gid"].split()) != {"0"}
    assert user_of(start()) != user_of(box)
    tried = box.value(
        f"{TRY}\nvalue = [trying(lambda: os.setuid(0)), trying(lambda: os.chroot('/tmp')), calling(157, 36, 0),\n"
        "         trying(lambda: socket.socket(socket.AF_INET)), trying(lambda: os.mknod('d', 0o60600, 2048))]"
    )
    assert tried[:3] == ["PermissionError", "PermissionError", "Operation not permitted"]
    assert not any(what.startswith("worked") for what in tried)


@inside
def test_what_is_private_cannot_be_opened(start: Callable[..., Box], canary_file: str) -> None:
    other = start()
    running = server(level=CONTAINED)
    parts = ("", "/environ", "/mem", "/maps", "/fd", "/root", "/cwd", "/fd/0", "/root/etc", "/cwd/x")[1:]
    above = [os.getpid(), os.getppid(), running.process.pid, *(p.pid for p in family(running.process.pid))]
    paths = [f"/proc/{pid}{part}" for pid in above for part in parts]
    paths += [str(ROOT / name) for name in ("", "grading", "grader_tests", "source/02_softmax.py", "tests", ".git")]
    paths += [os.path.expanduser("~"), os.path.expanduser("~/x"), canary_file, running.directory]
    paths += [os.path.dirname(channel(other, 1)), channel(other, 1)]
    paths += [f"{running.directory}/user-{user_of(other)}/work", f"{running.directory}/server"]
    opened = (
        f"{TRY}\nown = {{f'/proc/{{os.getpid()}}{{part}}' for part in {parts}}}\n"
        "def reach(path): return os.listdir(path) if os.path.isdir(path) else open(path, 'rb').read(1)\n"
        f"value = [p for p in {paths} if p not in own and trying(lambda: reach(p)).startswith('worked')]"
    )
    assert start().value(opened) == []


def family(pid: int) -> list[psutil.Process]:
    return psutil.Process(pid).children(recursive=True)


@inside
def test_what_shows_it_would_be_found(start: Callable[..., Box]) -> None:
    """So that the test above is not green because nothing can be opened at all."""
    assert start().value(f"{TRY}\nvalue = trying(lambda: os.listdir({str(ROOT / 'course')!r}))").startswith("worked")


@inside
def test_environment_memory_and_modules_hold_no_secret(start: Callable[..., Box]) -> None:
    box = start()
    found = box.value(
        "import os, re, sys\nvalue = [os.environ.get('ATTENTION_CANARY')] * ('ATTENTION_CANARY' in os.environ)\n"
        "secret = re.compile(b'[c]anary-[0-9a-f]{16}')\n"
        "with open('/proc/self/maps') as maps, open('/proc/self/mem', 'rb', 0) as memory:\n"
        "    for line in maps:\n"
        "        spot, rights, *_ = line.split()\n"
        "        if rights.startswith('rw') and '[v' not in line:\n"
        "            first, last = (int(end, 16) for end in spot.split('-'))\n"
        "            memory.seek(first)\n"
        "            while first < last and (held := memory.read(min(last - first, 2**24))):\n"
        "                value += [line for _ in secret.findall(held)]\n"
        "                first += len(held)\n"
        "value += [n for n in sys.modules if n.split('.')[0] in ('grading', 'sandbox', 'grader_tests')]\n"
    )
    assert found == []
    assert SECRET not in box.text("print(dict(os.environ))")
    assert "Error" in box.text("import grading.sandbox")


@inside
def test_it_writes_only_in_its_own_directories(start: Callable[..., Box]) -> None:
    box = start()
    own = box.value("import os, tempfile; value = [os.getcwd(), tempfile.gettempdir(), os.path.expanduser('~')]")
    assert own == [own[0], own[1], own[1]] and own[0] != own[1]
    for place in (*own, "/dev/shm"):
        assert box.value(f"open({place!r} + '/mine', 'w').write('x'); value = open({place!r} + '/mine').read()") == "x"
    places = ["/", "/usr", "/etc", "/dev", str(ROOT), str(ROOT / "course"), sys.prefix, os.path.dirname(own[0]) + "/.."]
    tried = box.value(f"{TRY}\nvalue = [trying(lambda: open(p + '/mine', 'w')) for p in {places}]")
    assert not any(what.startswith("worked") for what in tried)
    assert box.value(f"{TRY}\nvalue = trying(lambda: os.rename(os.path.dirname(os.getcwd()), '/tmp/moved'))") in (
        "PermissionError",
        "OSError",
    )


@inside
@with_landlock
def test_landlock_forbids_what_permissions_allow(start: Callable[..., Box]) -> None:
    tried = start().value(
        f"{TRY}\nvalue = [trying(lambda: open(p)) for p in ('/etc/passwd', '/dev/zero')]\n"
        "value += [trying(lambda: open('/tmp/mine', 'w')), trying(lambda: os.listdir('/tmp'))]"
    )
    assert tried == ["PermissionError"] * 4


@inside
def test_nothing_else_can_be_signalled_or_connected_to(start: Callable[..., Box]) -> None:
    other, running = start(), server(level=CONTAINED)
    pids = [1, os.getpid(), running.process.pid, *(p.pid for p in family(running.process.pid)), other.provisioner.pid]
    channels = [channel(other, number) for number in range(1, 6)]
    channels += [f"{running.directory}/user-{user_of(other)}/tmp/.prints"]
    tried = start().value(
        f"{TRY}\nvalue = [trying(lambda: os.kill(p, 0)) for p in {pids} if p != os.getpid()]\n"
        f"value += [trying(lambda: socket.socket(socket.AF_UNIX).connect(p)) for p in {channels}]"
    )
    assert set(tried) == {"PermissionError"}
    with socket.create_server(("127.0.0.1", 0)) as tcp:
        port = tcp.getsockname()[1]
        tried = start().value(f"{TRY}\nvalue = trying(lambda: socket.create_connection(('127.0.0.1', {port}), 2))")
    assert not tried.startswith("worked")


# What is left of it

#: Each leaves processes that do not want to end, in other sessions, and files.
DAEMONS = """
import os, signal, time
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(number, signal.SIG_IGN)
        if os.fork() == 0:
            signal.alarm(600)
            while True: time.sleep(1)
        os._exit(0)
"""
BOMB = """
import os, time
if os.fork() == 0:
    os.setsid()
    end = time.monotonic() + 600
    while time.monotonic() < end:
        try:
            if os.fork(): os._exit(0)
            os.fork()
        except OSError: pass
"""
KILLER = """
import os, signal, time
if os.fork() == 0:
    os.setsid()
    end = time.monotonic() + 600
    while time.monotonic() < end:
        try: os.kill(-1, signal.SIGKILL)
        except OSError: pass
time.sleep(0.2)
"""


@inside
@pytest.mark.quick_cases("bomb")
@pytest.mark.parametrize("hostile", [DAEMONS, BOMB, KILLER], ids=["daemons", "bomb", "killer"])
def test_every_process_ends_with_the_kernel(start: Callable[..., Box], hostile: str) -> None:
    box = start(processes=64)
    user = user_of(box)
    try:
        box.run(hostile)
    except KernelDied:
        assert hostile is KILLER
    else:
        assert hostile is KILLER or wait_until(lambda: len(processes_of(user)) > 1)
    box.session.stop()
    assert processes_of(user) == []


@inside
def test_every_file_goes_with_the_kernel(start: Callable[..., Box], canary_file: str) -> None:
    box, running = start(), server(level=CONTAINED)
    user = user_of(box)
    box.run(
        f"{TRY}\n"
        "for place in ('.', '/tmp', '/var/tmp', '/dev/shm'):\n"
        "    trying(lambda: open(place + '/left-for-the-next', 'w').write('x'))\n"
        f"    trying(lambda: os.symlink({canary_file!r}, place + '/link-left'))\n"
        "    trying(lambda: os.makedirs(place + '/folder-left/below', 0o000))\n"
        "os.makedirs('deep'); os.chdir('deep')\n"
        "for _ in range(1500): os.mkdir('d'); os.chdir('d')\n"
        "os.chdir(os.path.expanduser('~')); os.rename('../work', '../moved')\n"
        f"os.symlink({os.path.dirname(canary_file)!r}, '../work')"
    )
    assert left_by(user)
    box.session.stop()
    assert wait_until(lambda: not left_by(user))
    assert wait_until(lambda: not [name for name in os.listdir(running.directory) if name.startswith("user-")])
    assert Path(canary_file).read_text() == SECRET


def test_a_tree_is_removed_however_deep_and_no_link_is_followed(tmp_path: Path) -> None:
    (outside_it := tmp_path / "kept").mkdir()
    (outside_it / "file").write_text("x")
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "link").symlink_to(outside_it)
    here = os.getcwd()
    os.chdir(tree)
    try:
        for _ in range(3000):
            os.mkdir("d")
            os.chdir("d")
        os.symlink(outside_it, "link")
    finally:
        os.chdir(here)
    remove_tree(str(tree))
    assert not tree.exists()
    assert (outside_it / "file").read_text() == "x"


@inside
def test_a_server_that_was_killed_leaves_nothing(start: Callable[..., Box]) -> None:
    start = partial(start, ahead=("calendar",))
    box, running = start(), server(ahead=("calendar",), level=CONTAINED)
    user = user_of(box)
    box.run(DAEMONS)
    inner = next(p for p in psutil.Process(running.process.pid).children())
    inner.kill()
    assert wait_until(lambda: not processes_of(user))
    assert wait_until(lambda: not os.path.exists(running.directory))


# What it may use


@inside
@pytest.mark.quick_cases("processor*")
@pytest.mark.parametrize(
    ("limits", "code", "why"),
    [
        (
            {"cpu_seconds": 4},
            "import os, time\nfor _ in range(3):\n    if os.fork() == 0:\n        os.setsid()\n"
            "        if os.fork(): os._exit(0)\n        while True: pass\ntime.sleep(600)",
            "the kernel used up its processor time (4 seconds)",
        ),
        (
            {"memory": 256 * 2**20},
            "import os, time\nfor _ in range(4):\n    if os.fork() == 0:\n        if os.fork(): os._exit(0)\n"
            "        held = bytearray(os.urandom(4096)) * (120 * 256)\n        time.sleep(600)\ntime.sleep(600)",
            "the kernel ran out of memory (256 MiB for all its processes)",
        ),
        (
            {"disk": 4 * 2**20},
            "import time\nfor n in range(8): open(f'{n}', 'wb').write(bytes(2**20))\ntime.sleep(600)",
            "the kernel used more than 4 MiB or 4096 files in its directories",
        ),
        (
            {"files": 100},
            "import time\nfor n in range(200): open(f'{n}', 'wb')\ntime.sleep(600)",
            "the kernel used more than 128 MiB or 100 files in its directories",
        ),
    ],
    ids=["processor time of orphans", "memory of orphans", "disk", "files"],
)
def test_limits_hold_for_all_its_processes(
    start: Callable[..., Box], limits: dict[str, int], code: str, why: str
) -> None:
    with pytest.raises(KernelDied) as died:
        start(**limits).run(code)
    assert str(died.value) == why


# What a judge reaches

JUDGE = """
from grading.exercises.exercise import call, exercise

halve = exercise("halve", see="Halving")


@halve.oracle
def halved(x):
    return x / 2


def found(seen, exact):
    import os, signal, socket, subprocess

    def reached(what, act):
        try:
            act()
        except (OSError, RuntimeError):
            return ""
        return what

    acts = {{
        "another user": lambda: os.setuid(0),
        "the result": lambda: open({result!r}, "w"),
        "the graders, to write": lambda: open({root!r} + "/grader_tests/found", "w"),
        "the coordinator's environment": lambda: open("/proc/{pid}/environ", "rb").read(),
        "the coordinator's memory": lambda: open("/proc/{pid}/mem", "rb"),
        "the coordinator": lambda: os.kill({pid}, 0),
        "the seed": lambda: open({root!r} + "/.grading-seed"),
        "the network": lambda: socket.create_connection(("127.0.0.1", {port}), timeout=2),
    }}
    acts["the gradebook"] = lambda: open({root!r} + "/gradebook.db", "rb")
    if {landlock}:
        acts["a submission"] = lambda: os.listdir({root!r} + "/submitted/ada")
    wrong = [reached(*act) for act in acts.items()]
    if os.getuid() == 0 or os.getgroups() != [0]:
        wrong.append(f"the user {{os.getuid()}} in {{os.getgroups()}}")
    if os.fork() == 0:
        os.setsid()
        signal.alarm(600)
        while True:
            signal.pause()
    return ", ".join(filter(None, wrong)) or None


@halve.criterion("values", points=5)
def _(draw):
    yield call(draw.normal(2, 3)).check_with(found)
"""


def close_secrets(root: Path) -> None:
    for name in start_judge.SECRETS:
        for path in root.glob(name):
            path.chmod(0o600)


@pytest.fixture
def open_course(two_exercise_course: Path) -> Iterator[Path]:
    """A copy of a course as an image has it: root's group may read it, and nobody else."""
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    os.chmod(folder, 0o750)
    root = Path(shutil.copytree(two_exercise_course, folder / "course"))
    close_secrets(root)
    yield root
    start_judge.close()
    shutil.rmtree(folder)


@inside
def test_a_judge_reaches_no_result_no_secret_and_leaves_nothing(
    open_course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = Path(tempfile.mkdtemp())
    temporary.chmod(0o711)
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    (seed,) = open_course.glob(".grading-seed")
    seed.chmod(0o640)
    with pytest.raises(SandboxUnavailable, match=f"chmod go= {seed}"):
        grade_file(Course(open_course), open_course / "nbgrader_config.py", LESSON, contained=True)
    close_secrets(open_course)
    results = Path(tempfile.mkdtemp())
    result = results / "results.json"
    result.write_text("mine")
    with socket.create_server(("127.0.0.1", 0)) as tcp:
        about = {"root": str(open_course), "result": str(result), "pid": os.getpid(), "port": tcp.getsockname()[1]}
        body = JUDGE.format(**about, landlock=bool(landlock_version()))
        shutil.rmtree(open_course / "grader_tests" / LESSON)
        write_grader_tests(open_course / "grader_tests" / LESSON, {**GRADER_TESTS, "halve": (body,)})
        answers = with_answers(released_notebook(open_course, LESSON), double=DOUBLE, halve=HALVE)
        file = submit_file(open_course, "ada", answers)
        graded = grade_file(Course(open_course), file, LESSON, page=True, contained=True, results=[result])
    verdicts = {verdict.exercise: verdict for verdict in graded.verdicts}
    assert [criterion.finding for criterion in verdicts["halve"].criteria] == [""]
    assert graded.earned == 8
    assert (graded.level, graded.sandboxed) == (CONTAINED, True)
    assert "halve" in graded.page
    assert result.read_text() == "mine"
    start_judge.close()
    of_students = [p for p in psutil.process_iter() if p.uids().real >= 60000]
    assert [p.name() for p in of_students if p.status() != psutil.STATUS_ZOMBIE] == []  # process 1 collects the dead
    shutil.rmtree(results)
    assert list(temporary.iterdir()) == []
    temporary.rmdir()


# The corpus that tests/nbgrader_plugins/test_hostile.py hands in at the full level, a quarter of it each week
QUICK = ("escape-network", "exhaust-daemon", "forge-answer-claims-a-score", "peek-grader-tests")
CORPUS = cases(*KINDS)
OF_THIS_WEEK = of_this_week(CORPUS, 4, always=[case for case in CORPUS if case.name in QUICK])


@dataclass(frozen=True)
class Found:
    """What was found of a submission: points, statuses, the level, secrets that the page adds, canaries touched."""

    earned: dict[str, float]
    status: dict[str, str]
    level: str
    told: list[str]
    sang: list[str]


@pytest.fixture(scope="module")
def graded_by_itself(released_course: Callable[[str], Path]) -> Iterator[Callable[[Submission], Found]]:
    """Grades a submission at the level `contained`, in a copy of this repository's course, beside an honest one."""
    made = released_course(CORPUS_LESSON)
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    os.chmod(folder, 0o750)
    root = Path(shutil.copytree(made, folder / "course"))
    release = nbformat.read(root / "release" / CORPUS_LESSON / f"{CORPUS_LESSON}.ipynb", as_version=4)
    answers = correct_answers(load_lesson(ROOT / "grader_tests" / CORPUS_LESSON), 1)
    hand_in(root, CORPUS_LESSON, HONEST, with_secret(write_answers(release, answers)))
    register(root, HONEST)
    close_secrets(root)
    config = root / "nbgrader_config.py"
    config.write_text(config.read_text() + LIMITS)
    with Canaries() as canaries, pytest.MonkeyPatch.context() as patch:
        for name, value in canaries.environment.items():
            patch.setenv(name, value)

        def grade(case: Submission) -> Found:
            canaries.lay()
            file = root / "submitted" / case.hand_in(root, canaries) / CORPUS_LESSON / f"{CORPUS_LESSON}.ipynb"
            graded = grade_file(Course(root), file, CORPUS_LESSON, page=True, contained=True)
            written = file.read_text(errors="replace")
            verdicts = {verdict.exercise: verdict for verdict in graded.verdicts}
            return Found(
                {name: verdict.earned for name, verdict in verdicts.items()},
                {name: verdict.status for name, verdict in verdicts.items()},
                graded.level,
                [secret for secret in SECRETS if graded.page.count(secret) > written.count(secret)],
                canaries.sang(),
            )

        yield grade
    start_judge.close()
    shutil.rmtree(folder)


@inside
@pytest.mark.quick_cases(*QUICK)
@pytest.mark.parametrize("case", OF_THIS_WEEK, ids=lambda case: case.name)
def test_a_hostile_submission_gets_what_its_tensors_earn(
    graded_by_itself: Callable[[Submission], Found], case: Submission
) -> None:
    found = graded_by_itself(case)
    assert (case.misjudged(found.earned), found.level, found.told, found.sang) == ({}, CONTAINED, [], [])
    assert {name: found.status[name] for name in case.status} == case.status
