"""Other accounts of the machine cannot open a course, and can read what is released to them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from grading.cli import main
from grading.course_dir.course_folder import exposure, make_course_directory
from grading.errors import CourseError

from ..support.course_builder import TINY_LESSONS, add_config, build_course, solved_notebook
from ..support.exchange import Exchange

ONE, _ = TINY_LESSONS
NOBODY = 65534
UMASK = 0o002  # the usual one where each account has a group of its own


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that other accounts can enter, which those of pytest are not."""
    place = Path(tempfile.mkdtemp(prefix="open $to (all) "))
    place.chmod(0o755)
    before = os.umask(UMASK)
    yield place
    os.umask(before)
    shutil.rmtree(place)


def readable(place: Path) -> set[str]:
    """The names below a folder that another account can read."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another account")
    find = ["find", str(place), "-readable", "-printf", "%f\n"]
    found = subprocess.run(
        find, user=NOBODY, group=NOBODY, extra_groups=[], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    return set(found.stdout.splitlines())


@pytest.mark.parametrize("there", [False, True], ids=["new", "there"])
@pytest.mark.parametrize("how", ["init", "next term", "restored"])
def test_others_can_open_nothing_of_a_course_whatever_the_umask(tmp_path, shared, how, there):
    root, old = shared / "course", build_course(tmp_path / "old", release=[ONE] if how == "restored" else False)
    if there:
        root.mkdir(0o777)
    if how == "restored":
        assert main.main(["backup", "--course", str(old), "--to", str(tmp_path / "backup")]) == 0
        assert main.main(["restore-backup", str(tmp_path / "backup"), str(root)]) == 0
    else:
        assert (
            main.main(["init", str(root), "--lessons" if how == "init" else "--from", str(old), "--exchange", ""]) == 0
        )
    assert root.stat().st_mode & 0o077 == 0
    assert not exposure(root)
    assert readable(shared) == {shared.name}


def test_a_folder_of_a_group_stays_the_groups_and_what_commands_write_in_it_too(shared):
    root = shared / "course"
    root.mkdir()
    root.chmod(0o2775)
    assert main.main(["init", str(root), "--lessons", str(build_course(shared / "old")), "--exchange", ""]) == 0
    assert root.stat().st_mode & 0o7777 == 0o2770 and not exposure(root)
    os.umask(0o022)
    assert main.main(["grade", "--course", str(root)]) == 0
    assert (root / ".grading-lock").stat().st_mode & 0o777 == 0o660  # another member has to lock it too
    assert os.umask(0o022) == 0o022


def test_a_folder_where_everybody_writes_becomes_no_course(shared):
    shared.chmod(0o1777)
    with pytest.raises(CourseError, match="Choose one in it"):
        make_course_directory(shared)
    assert shared.stat().st_mode & 0o1777 == 0o1777


def test_an_open_course_is_reported_and_the_named_command_closes_it(shared, capsys, monkeypatch):
    root = build_course(shared / "the course's")
    monkeypatch.chdir(root)
    for mode, verb in ((0o755, ["doctor"]), (0o711, ["grade", "--dry-run"])):  # 0711: others pass to a .venv in it
        root.chmod(mode)
        main.main(verb)
        command = re.search(r"Run `(chmod o= [^`]+)`", "".join(capsys.readouterr()))
        assert command
        subprocess.run(command[1], shell=True, check=True)
        assert not exposure(root)
        assert not readable(root) & {"source", f"{ONE}.py", "grader_tests", "contract.py"}
    main.main(["grade", "--dry-run"])
    assert "chmod" not in "".join(capsys.readouterr())


def test_watch_refuses_an_open_course_and_its_students_read_their_feedback(shared, capsys, monkeypatch, sandboxed):
    root = build_course(shared / "course", release=[ONE])
    exchange = Exchange(root, shared).open([ONE], check_owner=True)
    exchange.submit("ada", ONE, solved_notebook(root, ONE))
    monkeypatch.chdir(root)
    assert main.main(["watch", "--once"]) == 2
    command = re.search(r"nothing is graded: .* Run `(chmod o= [^`]+)`", capsys.readouterr().err)
    assert command
    subprocess.run(command[1], shell=True, check=True)
    add_config(root, "c.ExchangeCollect.check_owner = False")  # all accounts of this test are one
    assert main.main(["watch", "--once"]) == 0
    assert "warning" not in capsys.readouterr().out
    (page,) = exchange.feedback.glob("*.html")
    assert page.stat().st_mode & 0o444 == 0o444
    assert {f"{ONE}.ipynb"} <= readable(exchange.shared / exchange.course / "outbound")
    root.chmod(0o755)
    assert main.main(["watch", "--once"]) == 0
    assert "warning: other accounts of this machine can open" in capsys.readouterr().out
