"""Which of the machine's files a kernel is shown, and which are hidden from it, tried from inside a real kernel."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from grading.sandbox import SandboxUnavailable
from grading.sandbox.filesystem import plan

from .conftest import DENIED, LONG, SECRET, TRY, Box

ROOT = Path(__file__).parents[2]


def test_files_handed_in_shadow_nothing(start: Callable[..., Box], tmp_path: Path) -> None:
    handed_in = tmp_path / "handed in"
    (handed_in / "numpy").mkdir(parents=True)
    shadows = [
        "torch.py",
        "course.py",
        "sitecustomize.py",
        "usercustomize.py",
        "conftest.py",
        "random.py",
        "colorsys.py",
        "numpy/__init__.py",
        "ipykernel_launcher.py",
        "startup.ipy",
        "ipython_config.py",
        "matplotlibrc",
    ]
    for name in shadows:
        (handed_in / name).write_text("open('/tmp/ran', 'w').write('x')\nraise SystemExit\n")
    box = start(release=handed_in)
    modules = "colorsys", "course", "numpy", "random", "torch"
    files = box.value(f"import importlib\nvalue = [importlib.import_module(name).__file__ for name in {modules}]")
    files += box.value("import sys; value = [getattr(m, '__file__', None) or '' for m in list(sys.modules.values())]")
    assert [path for path in files if path.startswith(("/sandbox/work", "."))] == []
    assert box.value("import os; value = os.path.exists('/tmp/ran')") is False
    assert box.value("import sys; value = sys.path[-1]") == ""
    assert set(shadows) <= set(box.value("import glob; value = glob.glob('**', recursive=True)"))


def test_files_are_copies_and_links_are_left_out(start: Callable[..., Box], tmp_path: Path, canary_file: str) -> None:
    files = tmp_path / "release"
    (files / "data").mkdir(parents=True)
    (files / "data" / "words.txt").write_text("one two")
    (files / "link.txt").symlink_to(canary_file)
    (files / "folder").symlink_to(Path(canary_file).parent)
    os.mkfifo(files / "pipe")
    box = start(release=files)
    assert box.value("import glob; value = sorted(glob.glob('**', recursive=True))") == ["data", "data/words.txt"]
    box.run("open('data/words.txt', 'w').write('changed'); open('new.txt', 'w')")
    assert (files / "data" / "words.txt").read_text() == "one two"
    assert sorted(p.name for p in files.iterdir()) == ["data", "folder", "link.txt", "pipe"]
    assert Path(canary_file).read_text() == SECRET


@pytest.mark.skipif(not os.access(sys.prefix, os.W_OK), reason="only who installed Python can put a directory below it")
def test_a_directory_below_something_shown_can_be_hidden(start: Callable[..., Box]) -> None:
    with tempfile.TemporaryDirectory(dir=sys.prefix, prefix="of-a-test-") as folder:
        os.chmod(folder, 0o755)
        (Path(folder) / "submitted.txt").write_text("a neighbour's work")
        listed = f"import os; value = os.listdir({folder!r})"
        assert start().value(listed) == ["submitted.txt"]
        box = start(hidden=[folder])
        assert box.value(listed) == []
        assert box.value(f"{TRY}\nvalue = trying(lambda: open({folder!r} + '/mine', 'w'))") in DENIED
        assert box.value(f"{TRY}\nvalue = trying(lambda: os.listdir('/sandbox/kept'))") in DENIED
    with pytest.raises(SandboxUnavailable, match="virtual environment in its own directory"):
        plan((sys.prefix,))


@pytest.mark.skipif(not os.access(sys.prefix, os.W_OK), reason="only who installed Python can put a file below it")
def test_a_servers_settings_and_tokens_are_hidden(start: Callable[..., Box]) -> None:
    folder = Path(sys.prefix, "etc", "jupyter")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder, prefix="of-a-test-", suffix=".json") as token:
        os.chmod(token.name, 0o644)
        assert start().value(f"import os; value = os.path.exists({token.name!r})") is False


def test_what_is_shown_by_two_names_is_hidden_by_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "moved").symlink_to(Path(sys.prefix).parent)
    renamed = tmp_path / "moved" / Path(sys.prefix).name
    monkeypatch.setattr(sys, "prefix", str(renamed))
    hidden = renamed.resolve() / "bin"
    assert {str(hidden), str(renamed / "bin")} <= set(plan((str(hidden),))["hidden"])


def test_the_solutions_of_an_open_release_are_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        package = Path(folder) / "course"
        (package / "solutions").mkdir(parents=True)
        (package / "__init__.py").touch()
        found = SimpleNamespace(submodule_search_locations=[str(package)])
        monkeypatch.setattr("importlib.util.find_spec", lambda _: found)
        monkeypatch.setattr(sys, "prefix", folder)
        assert str(package / "solutions") in plan()["hidden"]


def test_an_environment_in_tmp_is_shown_in_the_kernels_own_tmp() -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--symlinks", folder], check=True)
        libraries = next(Path(folder).glob("lib/python3*/site-packages"))
        libraries.rmdir()
        libraries.symlink_to(Path(pytest.__file__).parents[1])
        script = (
            "from grading.sandbox import Policy\nfrom grading.sandbox.launch import server\n"
            "import time, zmq\nfrom jupyter_client.blocking.client import BlockingKernelClient\n"
            "kernel = server().launch(Policy(), 'key', 'hmac-sha256')\n"
            "client = BlockingKernelClient(transport='ipc', ip=f'{kernel.directory}/k', shell_port=1, iopub_port=2,\n"
            "                              stdin_port=3, hb_port=4, control_port=5)\n"
            f"client.session.key = b'key'\nclient.start_channels()\nclient.wait_for_ready({LONG})\n"
            'client.execute_interactive(\'import os, sys, torch; open("/tmp/mine", "w");\'\n'
            f"    'print(os.listdir(\"/tmp\"), sys.executable, os.path.exists(sys.executable))', timeout={LONG})\n"
            "client.stop_channels(); kernel.close()\n"
        )

        def run() -> subprocess.CompletedProcess[str]:
            program = [f"{folder}/bin/python", "-c", script]
            return subprocess.run(program, cwd=ROOT, capture_output=True, text=True, timeout=2 * LONG)

        if os.geteuid() == 0:  # the directory is its owner's alone, and kernels have a user of their own
            assert f"Run `chmod -R o+rX {folder}`" in run().stderr
        os.chmod(folder, 0o755)
        ran = run()
        assert ran.returncode == 0, ran.stderr
        shown, rest = ran.stdout.split("] ")
        assert {"'mine'", repr(Path(folder).name)} <= set(shown.strip("[").split(", "))
        assert rest.split() == [f"{folder}/bin/python", "True"]
