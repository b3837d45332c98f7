"""The source of the package: the setting, the first cell, and its messages."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import zipfile
from base64 import b64encode
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import requires, version
from pathlib import Path
from threading import Thread

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from grading.authoring.student_install import (
    SET_UP,
    Delivery,
    PackageSource,
    delivery,
    first_cell,
    insert_setup_cell,
    origin,
)
from grading.errors import CourseError

from ..support.repository import ROOT

NOW = version("attention-course")
WHEEL = f"attention_course-{NOW}-py3-none-any.whl"
GITHUB = "https://github.com/you/attention"


def lesson(*code: str) -> NotebookNode:
    cells = [new_markdown_cell("# A title\n\nWords.", id="title"), *(new_code_cell(text) for text in code)]
    return new_notebook(cells=cells)


@pytest.mark.parametrize(
    ("package", "asked"),
    [
        ("", WHEEL),
        (f"https://example.org/v{{version}}/{WHEEL}", f"https://example.org/v{NOW}/{WHEEL}"),
    ],
)
def test_one_setting_decides_where_the_package_comes_from(package, asked):
    assert origin(Delivery(package=package)) == PackageSource(NOW, asked)


A_WHEEL = ": expected the URL of a wheel, attention_course-….whl, got "


@pytest.mark.parametrize(
    ("package", "told"),
    [
        ("attention-course", A_WHEEL),
        ("attention-course>=0.1", A_WHEEL),
        ('https://example.org/"x"/attention_course-1-py3-none-any.whl', A_WHEEL),
        ("attention-course=={version}", A_WHEEL),  # by name, from an index where somebody else may have taken it
        (
            "https://example.org/attention_course-99.0-py3-none-any.whl",
            " is 'https://example.org/attention_course-99.0-py3-none-any.whl', but version {0} is installed here. "
            "Name its wheel, attention_course-{0}-py3-none-any.whl, or write {version} instead of the number",
        ),
    ],
)
def test_an_invalid_setting_is_refused_with_the_remedy(package, told):
    text = f"nbgrader_config.py: c.Delivery.package{told}".replace("{0}", NOW)
    with pytest.raises(CourseError, match=f"^{re.escape(text)}"):
        origin(Delivery(package=package))


def test_the_setting_is_read_from_the_courses_own_file(tmp_path):
    text = (ROOT / "nbgrader_config.py").read_text() + f"\nc.Delivery.repository = '{GITHUB}/tree/autumn'\n"
    (tmp_path / "nbgrader_config.py").write_text(text)
    where = origin(delivery(tmp_path))
    assert (where.name, where.branch) == ("you/attention", "autumn")
    with pytest.raises(CourseError, match="expected https://github"):
        origin(Delivery(repository="https://example.org/you/attention"))


def test_the_cell_is_inserted_once_before_the_first_use_and_the_badge_under_the_title():
    made, where = lesson("1 + 1", "from course import begin"), PackageSource(NOW, WHEEL, "you/attention")
    for _ in range(2):
        insert_setup_cell(made, "09_x.ipynb", where)
        assert [cell["id"] == SET_UP for cell in made.cells] == [False, False, True, False]
        link = "https://colab.research.google.com/github/you/attention/blob/main/09_x.ipynb"
        assert made.cells[0].source.count(link) == made.cells[0].source.count("![") == 1
        assert made.cells[0].source.startswith("# A title\n\n[![")
        assert made.cells[0].source.endswith("\n\nWords.")
    assert made.metadata.colab == {"provenance": [], "toc_visible": True}
    elsewhere = PackageSource(NOW, f"https://example.org/{WHEEL}")
    insert_setup_cell(made, "09_x.ipynb", elsewhere)
    assert [cell.source for cell in made.cells if cell["id"] == SET_UP] == [first_cell(elsewhere)]


def test_a_lesson_that_does_not_use_the_package_is_unchanged():
    made = lesson("1 + 1", "# of course")
    insert_setup_cell(made, "09_x.ipynb", PackageSource(NOW, WHEEL, "you/attention"))
    assert made == lesson("1 + 1", "# of course") or [c.source for c in made.cells[1:]] == ["1 + 1", "# of course"]


READY = (0, "True False")  # the package is there, and the cell leaves no name
THEN = ". Then run this cell again. More help: docs/troubleshooting.md"


def run_first(python: Path | str, where: Path, cell: str, before: str = "") -> tuple[int, str]:
    """Run a first cell as a script; returns its exit status and its last words.

    A message of a failure must be in docs/troubleshooting.md, which it names.
    """
    script = f"{before}\n{cell}\nprint('course' in __import__('sys').modules, 'set_up' in dir())"
    done = subprocess.run([str(python), "-c", script], cwd=where, capture_output=True, text=True)
    said = (done.stdout + done.stderr).strip().splitlines()[-1]
    if done.returncode:
        assert said.endswith(THEN), said
        assert is_explained(said), said
    return done.returncode, said.removesuffix(THEN)


def is_explained(message: str) -> bool:
    """Whether words of a message are in a row of the page that explains the first cell's messages."""
    page = (ROOT / "docs" / "troubleshooting.md").read_text().partition("## Commands")[0].replace("\\", "")
    rows = [row.split("|")[1] for row in page.splitlines() if row.startswith("| *")]
    words = [words for row in rows for words in re.findall(r"\*(.+?)\*(?:,| $)", row)]
    return any(all(part in message for part in re.split("`?…`?", words)) for words in words)


def test_if_the_package_is_installed_the_cell_changes_nothing(tmp_path):
    cell = first_cell(PackageSource(NOW, "https://127.0.0.1:9/nowhere.whl"))
    assert run_first(sys.executable, tmp_path, cell) == READY


def test_an_imported_package_of_another_version_is_reported_and_not_replaced(tmp_path):
    cell = first_cell(PackageSource("99.0", "https://127.0.0.1:9/nowhere.whl"))
    done = subprocess.run(
        [sys.executable, "-c", f"import course\n{cell}"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == (
        f"This notebook needs version 99.0 of the course, but {NOW} is running: restart the kernel.\n"
    )
    assert is_explained(done.stdout)


def test_after_a_restart_the_cell_replaces_a_package_of_another_version(bare, tmp_path):
    new, before = first_cell(PackageSource("99.0", WHEEL.replace(NOW, "99.0"))), target(tmp_path)
    installed = f"{before}\nos.environ['PYTHONPATH'] += os.pathsep + sys.path[-1]"
    small_wheel(tmp_path)
    small_wheel(tmp_path, number="99.0")
    assert run_first(bare, tmp_path, first_cell(PackageSource(NOW, WHEEL)), before) == READY
    assert run_first(bare, tmp_path, new, f"{installed}\nimport course") == READY  # it says so, as above
    assert run_first(bare, tmp_path, f"{new}\nassert __import__('course').__version__ == '99.0'", installed) == READY


def test_another_module_called_course_is_named_and_renamed(tmp_path):
    (tmp_path / "course.py").write_text("")
    status, told = run_first(sys.executable, tmp_path, first_cell(PackageSource(NOW, WHEEL)))
    assert status == 1
    assert (
        f"from 'course' ({tmp_path / 'course.py'}). Rename the file or folder of yours that is called `course`" in told
    )
    (tmp_path / "course.py").rename(tmp_path / "mine.py")
    assert run_first(sys.executable, tmp_path, first_cell(PackageSource(NOW, WHEEL))) == READY


def test_the_cell_is_short_and_keeps_each_package_that_the_course_needs():
    cell = first_cell(PackageSource(NOW, WHEEL))
    assert sum(1 for line in cell.splitlines() if line.strip()) <= 60  # VS Code shows it
    needed = {re.split(r"[^\w.-]", line)[0] for line in requires("attention-course") or [] if "extra ==" not in line}
    assert needed == set(re.findall('"([a-z]+)"', cell.partition("kept = ")[2].partition("\n")[0]))


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with only pip."""
    folder = tmp_path_factory.mktemp("bare") / "environment"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    return folder / "bin" / "python"


def test_without_pytorch_the_cell_says_where_to_get_it_and_downloads_nothing(bare, tmp_path):
    status, told = run_first(bare, tmp_path, first_cell(PackageSource(NOW, WHEEL)))
    assert status == 1
    assert told.endswith("(the CPU version is enough)")
    assert "PyTorch is not installed here." in told
    small_wheel(tmp_path)
    assert run_first(bare, tmp_path, first_cell(PackageSource(NOW, WHEEL)), target(tmp_path)) == READY


def known_package(folder: Path, name: str, number: str) -> None:
    """The files of an installed package that pip and the cell look at."""
    about = folder / f"{name}-{number}.dist-info"
    about.mkdir(parents=True, exist_ok=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {number}\n")


def small_wheel(folder: Path, more: str = "", number: str = NOW) -> None:
    """A wheel with the course's name and only a version, beside the notebook. more: lines of its metadata."""
    about = f"attention_course-{number}.dist-info"
    files = {
        "course/__init__.py": f"__version__ = {number!r}\n",
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: attention-course\nVersion: {number}\n{more}\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{about}/RECORD": "",
    }
    with zipfile.ZipFile(folder / WHEEL.replace(NOW, number), "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)


def with_torch(folder: Path, more: str = "", number: str = "2.13.0") -> str:
    """Code before the cell that makes PyTorch look installed to the cell and pip."""
    known_package(folder / "site", "torch", number)
    return f"import os, sys; sys.path.append({str(folder / 'site')!r}); os.environ['PIP_RETRIES'] = '0'; {more}"


def test_a_wheel_that_is_missing_is_asked_for(bare, tmp_path):
    cell = first_cell(PackageSource(NOW, WHEEL))
    status, said = run_first(bare, tmp_path, cell, target(tmp_path))
    assert status == 1 and "Traceback" not in said
    told = f"needs the file {WHEEL}. Get it from where you got the notebook, and put it into {tmp_path}"
    assert said.endswith(told)
    small_wheel(tmp_path)
    assert run_first(bare, tmp_path, cell, target(tmp_path)) == READY


@pytest.mark.full
def test_on_a_hub_with_an_empty_home_the_package_is_usable_at_once(tmp_path):
    """pip creates the user's package folder, which this process's path did not have."""
    small_wheel(tmp_path)
    for name in ("torch", "numpy"):
        known_package(tmp_path / "site", name, "1.0")
    home = tmp_path / "home"
    home.mkdir()
    settings = {"HOME": str(home), "PIP_USER": "1", "PIP_BREAK_SYSTEM_PACKAGES": "1", "PIP_NO_INDEX": "1"}
    done = subprocess.run(
        [
            str(Path(sys.base_prefix, "bin/python3")),  # in a virtual environment, pip does not use the user's folder
            "-c",
            f"{first_cell(PackageSource(NOW, WHEEL))}\nimport course\nprint(course.__version__, course.__file__)",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(tmp_path / "site"), **settings},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith(f"{NOW} {home}")


def test_an_environment_without_pip_gives_instructions_without_pip(tmp_path):
    folder = tmp_path / "my environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    small_wheel(tmp_path)
    cell = first_cell(PackageSource(NOW, WHEEL))
    status, said = run_first(folder / "bin/python", tmp_path, cell, with_torch(tmp_path))
    assert status == 1
    assert "internet" not in said
    (command,) = re.findall("In a cell above, run `(.*?)`", said)
    assert run_first(folder / "bin/python", tmp_path, f"{command}\n{cell}", target(tmp_path)) == READY


def test_a_system_python_is_left_alone_and_an_environment_recommended(tmp_path):
    python = Path("/usr/bin/python3")
    stdlib = "import sysconfig; print(sysconfig.get_path('stdlib'))"
    found = python.is_file() and subprocess.run([python, "-c", stdlib], capture_output=True, text=True).stdout.strip()
    if not found or not Path(found, "EXTERNALLY-MANAGED").is_file():
        pytest.skip("no Python here belongs to the system")
    small_wheel(tmp_path)
    status, said = run_first(python, tmp_path, first_cell(PackageSource(NOW, WHEEL)), with_torch(tmp_path))
    assert status == 1
    assert "externally-managed-environment. Make your own environment" in said or "No module named pip" in said


@pytest.mark.full("builds a wheel and makes an environment, for twenty seconds")
def test_an_unsupported_python_is_named(bare, tmp_path):
    small_wheel(tmp_path, "Requires-Python: >=3.99")
    status, said = run_first(bare, tmp_path, first_cell(PackageSource(NOW, WHEEL)), with_torch(tmp_path))
    assert status == 1
    assert re.search(r"requires a different Python: 3\.\d+\.\d+ not in '>=3\.99'\. Make your own environment", said)


def test_a_damaged_wheel_gives_the_advice_to_get_it_again(bare, tmp_path):
    (tmp_path / WHEEL).write_bytes(b"not a wheel")
    cell = first_cell(PackageSource(NOW, WHEEL))
    status, said = run_first(bare, tmp_path, cell, target(tmp_path))
    assert status == 1
    assert "is damaged: get it again" in said
    small_wheel(tmp_path)
    assert run_first(bare, tmp_path, cell, target(tmp_path)) == READY


def test_other_versions_than_the_installed_ones_can_be_in_an_environment_of_ones_own(bare, tmp_path):
    small_wheel(tmp_path, "Requires-Dist: torch<2")
    cell = first_cell(PackageSource(NOW, WHEEL))
    status, said = run_first(bare, tmp_path, cell, target(tmp_path))
    assert status == 1
    assert "have conflicting dependencies. Make your own environment (`python3 -m venv attention`)" in said
    own = tmp_path / "own"
    own.mkdir()
    small_wheel(own, "Requires-Dist: torch<2")
    assert run_first(bare, own, cell, target(own, number="1.13.0")) == READY


def test_a_package_that_this_process_does_not_find_is_found_after_a_restart(bare, tmp_path):
    small_wheel(tmp_path)
    cell = first_cell(PackageSource(NOW, WHEEL))
    status, said = run_first(bare, tmp_path, cell, target(tmp_path, "sys.path.pop()"))
    assert status == 1
    assert said.endswith(", and restart the kernel") and "No module named 'course'" in said
    assert run_first(bare, tmp_path, cell, target(tmp_path)) == READY


ON_A_SMALL_DISK = """
mkdir installed && mount -t tmpfs -o size=40k none installed || exit 77
case $1 in full) head -c 32k /dev/zero > installed/mine;; *) mount -o remount,ro installed;; esac
"$2" cell.py
case $1 in
full) rm installed/mine && "$2" cell.py && find installed -name RECORD | grep .;;
*) "$3" -m venv attention && attention/bin/pip install --no-index -q "$4" && attention/bin/python cell.py;;
esac
"""


@pytest.mark.quick_cases("full*")
@pytest.mark.parametrize(
    ("state", "told"),
    [
        ("full", f"Free some disk space{THEN}"),
        ("read-only", ". Make your own environment (`python3 -m venv attention`) with torch, jupyterlab and file://"),
    ],
)
def test_where_nothing_can_be_written_a_remedy_works(bare, tmp_path, state, told):
    small_wheel(tmp_path)
    (tmp_path / "cell.py").write_text(f"{target(tmp_path)}\n{first_cell(PackageSource(NOW, WHEEL))}\nprint('ready')")
    arguments = [state, str(bare), sys.executable, str(tmp_path / WHEEL)]
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", ON_A_SMALL_DISK, "sh", *arguments], cwd=tmp_path, capture_output=True, text=True
    )
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip("this machine mounts no small disk")
    assert (done.returncode, told in done.stderr, done.stdout.count("ready")) == (0, True, 1), done.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            "ERROR: Could not install packages due to an OSError: [Errno 13] Permission denied: '/x'",
            "Make your own environment",
        ),
        (
            "ERROR: Could not install packages due to an OSError: [Errno 122] Disk quota exceeded",
            "Free some disk space",
        ),
        (
            "ERROR: HTTP error 404 while getting x\nERROR: 404 Client Error: Not Found for url: x",
            "The address, a proxy or this computer's clock is wrong",
        ),
        ("ERROR: something new", "something new. Show your teacher what `%pip install"),
        ("", "pip ended with 1. Show your teacher what"),
    ],
)
def test_each_other_message_from_pip_has_its_remedy(tmp_path, words, told):
    """A fake pip fails with this message, since no test can cause it everywhere."""
    small_wheel(tmp_path)
    (tmp_path / "pip.py").write_text(f"import sys\nsys.stderr.write({words!r})\nsys.exit(1)\n")
    cell = first_cell(PackageSource("99.0", f"https://example.org/{WHEEL}"))
    before = f"import sys; sys.modules.pop('course', None); {with_torch(tmp_path)}"
    status, said = run_first(sys.executable, tmp_path, cell, before)
    assert status == 1
    assert told in said


@pytest.mark.parametrize("name", [f"{WHEEL[:-4]} (1).whl", f"Copy of {WHEEL}", f"{WHEEL}.zip"])
def test_a_wheel_under_another_name_is_named_and_installed_once_it_is_renamed(bare, tmp_path, name):
    small_wheel(tmp_path)
    downloaded = (tmp_path / WHEEL).rename(tmp_path / name)
    before = target(tmp_path)
    status, said = run_first(bare, tmp_path, first_cell(PackageSource(NOW, WHEEL)), before)
    assert status == 1
    assert said.endswith(f"and {downloaded} is there. Rename that file to {WHEEL}")
    downloaded.rename(tmp_path / WHEEL)
    assert run_first(bare, tmp_path, first_cell(PackageSource(NOW, WHEEL)), before) == READY


def target(folder: Path, more: str = "", **torch: str) -> str:
    """`with_torch`, which pip sees too; pip installs into a folder of this test's, and asks no index."""
    place, site = folder / "installed", f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
    settings = {"PYTHONPATH": str(folder / "site"), "PIP_PREFIX": str(place), "PIP_NO_INDEX": "1"}
    more = f"sys.path.append({str(place / site)!r}); os.environ.update({settings!r}); {more}"
    return with_torch(folder, more, **torch)


@pytest.mark.quick_cases("semi;colon")
@pytest.mark.parametrize("name", ["semi;colon", "ein Ordner (2)", "léçon 二", "50% #1"])
def test_the_wheel_is_installed_from_a_folder_with_any_name(bare, tmp_path, name):
    folder = tmp_path / name
    folder.mkdir()
    small_wheel(folder)
    cell = first_cell(PackageSource(NOW, WHEEL))
    settings = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    script = f"{target(tmp_path)}\n{cell}\nimport course; print(course.__version__)"
    file = tmp_path / "cell.py"
    file.write_text(script, encoding="utf-8")
    done = subprocess.run([str(bare), str(file)], cwd=folder, capture_output=True, text=True, env=settings)
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, [NOW]), done.stderr


class Proxy(BaseHTTPRequestHandler):
    """A proxy that asks for a name and password, and then answers with the file `wheel`."""

    wheel = Path()

    def do_GET(self) -> None:
        let_in = self.headers["Proxy-Authorization"] == f"Basic {b64encode(b'me:secret').decode()}"
        self.send_response(200 if let_in else 407)
        self.end_headers()
        if let_in:
            self.wfile.write(self.wheel.read_bytes())

    def log_message(self, *_: object) -> None:
        pass


def test_a_proxy_that_asks_for_a_password_is_named_and_the_remedy_works(bare, tmp_path, monkeypatch):
    small_wheel(tmp_path)
    monkeypatch.setattr(Proxy, "wheel", tmp_path / WHEEL)
    with ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        at = f"127.0.0.1:{server.server_port}"
        cell = first_cell(PackageSource(NOW, f"http://course.invalid/{WHEEL}"))
        status, said = run_first(bare, tmp_path, cell, target(tmp_path, f"os.environ['HTTP_PROXY'] = 'http://{at}'"))
        assert status == 1
        assert "407" in said and "run `%env https_proxy=http://NAME:PASSWORD@ADDRESS:PORT` with yours" in said
        set_ = f"os.environ['HTTP_PROXY'] = 'http://{at}'; os.environ['http_proxy'] = 'http://me:secret@{at}'"
        assert run_first(bare, tmp_path, cell, target(tmp_path, set_)) == READY
        server.shutdown()


def test_a_network_that_does_not_answer_ends_soon_and_in_words(bare, tmp_path):
    small_wheel(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        cell = first_cell(PackageSource(NOW, f"http://127.0.0.1:{port}/{WHEEL}"))
        before = target(tmp_path, "os.environ['PIP_DEFAULT_TIMEOUT'] = '0.5'; os.environ['PIP_RETRIES'] = '1'")
        status, said = run_first(bare, tmp_path, cell, before)
    assert status == 1
    assert "Retry(" not in said
    assert "timed out" in said and said.endswith("Check that you are online")
    status, said = run_first(bare, tmp_path, cell, target(tmp_path))  # now it is refused
    assert status == 1 and "Traceback" not in said
    assert said.endswith("Check that you are online")
    handler = partial(SimpleHTTPRequestHandler, directory=tmp_path)
    with ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        assert run_first(bare, tmp_path, cell, target(tmp_path)) == READY
        server.shutdown()


def test_an_exception_of_pips_own_is_shown_and_not_taken_for_another(tmp_path):
    small_wheel(tmp_path)
    (tmp_path / "pip.py").write_text(
        "import os, sys\n"
        "limits = os.environ['PIP_DEFAULT_TIMEOUT'], os.environ['PIP_RETRIES']\n"
        "trace = 'ERROR: Exception:\\nTraceback (most recent call last):\\n  File pip/network/connection.py\\n'\n"
        "sys.stderr.write(f'{trace}KeyError: {limits}')\n"
        "sys.exit(2)\n"
    )
    before = with_torch(
        tmp_path,
        "del os.environ['PIP_RETRIES']; os.environ.pop('PIP_DEFAULT_TIMEOUT', ''); sys.modules.pop('course', None)",
    )
    status, said = run_first(sys.executable, tmp_path, first_cell(PackageSource("99.0", WHEEL)), before)
    assert status == 1
    assert "Not ready: KeyError: ('10', '1'). Show your teacher what `%pip install" in said
