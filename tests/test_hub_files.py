"""The files of docs/hub/: systemd and traitlets read them, and `grading` knows the commands in them."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from traitlets.config.loader import PyFileConfigLoader

from grading.cli.main import make_parser
from grading.plugins.hub.watch_page import page_address

from .support.repository import ROOT

FILES = ROOT / "docs" / "hub"
UNIT = "grading-watch.service"


def test_the_units_command_is_one_of_gradings():
    command = re.search(r"^ExecStart=\S+/grading (.*)$", (FILES / UNIT).read_text(), re.MULTILINE)
    assert command
    options = make_parser().parse_args(command[1].split())
    assert (options.verb, options.page) == ("watch", 8090)


def test_systemd_accepts_the_unit(tmp_path):
    if not (analyze := shutil.which("systemd-analyze")):
        pytest.skip("there is no systemd-analyze")
    there = (FILES / UNIT).read_text().replace("/opt/course/bin/grading", sys.executable)  # it must exist
    (tmp_path / UNIT).write_text(there)
    found = subprocess.run([analyze, "verify", "--man=no", tmp_path / UNIT], capture_output=True, text=True)
    ours = [line for line in (found.stdout + found.stderr).splitlines() if UNIT in line]
    assert not ours, ours


def test_the_hubs_service_is_a_command_of_ours_with_a_page_on_this_machine(monkeypatch):
    (service,) = PyFileConfigLoader("jupyterhub_config.py", path=str(FILES)).load_config().JupyterHub.services
    program, *arguments = service["command"]
    options = make_parser().parse_args(arguments)
    assert (Path(program).name, options.verb) == ("grading", "watch")
    monkeypatch.setenv("JUPYTERHUB_SERVICE_URL", service["url"])
    monkeypatch.setenv("JUPYTERHUB_SERVICE_PREFIX", f"/services/{service['name']}/")
    assert str(page_address(options.page)) == f"{service['url']}/services/{service['name']}/"
    assert f"/services/{service['name']}/" in (ROOT / "docs" / "hub.md").read_text()
