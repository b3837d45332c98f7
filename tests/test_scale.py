"""The files of docs/scale/, as far as they can be tried without a cluster of one's own."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import dask.config
import kubernetes_validate
import pytest
import yaml

from grading.course import Course

from .support.class_helpers import start_command
from .support.course_builder import TINY_LESSONS, build_course
from .support.dask_cluster import BIN, certificates
from .support.repository import ROOT
from .support.slurm_cluster import daemons

FILES = ROOT / "docs" / "scale"
VERSION = re.search(r'attention-course==([^"]+)"', (ROOT / "grading" / "pyproject.toml").read_text())


def manifest() -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((FILES / "kubernetes.yaml").read_text()))


def pods() -> dict[str, dict[str, Any]]:
    """name -> the pod's specification, of each deployment."""
    return {
        one["metadata"]["name"]: one["spec"]["template"]["spec"] for one in manifest() if one["kind"] == "Deployment"
    }


@pytest.mark.parametrize("version", ["1.31", "1.35"])
def test_kubernetes_knows_every_object_and_every_word_of_it(version):
    for one in manifest():
        kubernetes_validate.validate(one, version, strict=True)


def test_what_the_manifest_names_is_in_it():
    by_kind = {(one["kind"], one["metadata"]["name"]): one for one in manifest()}
    configuration = by_kind["ConfigMap", "dask"]["data"]
    for name, pod in pods().items():
        (container,) = pod["containers"]
        assert {m["name"] for m in container["volumeMounts"]} == {v["name"] for v in pod["volumes"]}
        assert [source["configMapRef"]["name"] for source in container["envFrom"]] == ["dask"]
        labels = by_kind["Deployment", name]["spec"]["template"]["metadata"]["labels"]
        assert labels == by_kind["Deployment", name]["spec"]["selector"]["matchLabels"]
        assert VERSION and container["image"].endswith(f":{VERSION[1]}")
    (port,) = by_kind["Service", "scheduler"]["spec"]["ports"]
    assert f"tls://scheduler:{port['port']}" in pods()["worker"]["containers"][0]["args"]
    assert str(port["port"]) in pods()["scheduler"]["containers"][0]["args"]
    files = {Path(value) for name, value in configuration.items() if "TLS" in name}
    assert {str(file.parent) for file in files} == {"/certificates"}
    commands = (FILES / "kubernetes.yaml").read_text()
    assert all(f"--from-file={file.name}" in commands for file in files)


def test_the_commands_in_the_manifest_are_dasks(tmp_path):
    for name, pod in pods().items():
        command, *arguments = pod["containers"][0]["args"]
        options = [word for word in arguments if word.startswith("--")]
        told = subprocess.run(
            [BIN / command, arguments[0], "--help"], capture_output=True, text=True, cwd=tmp_path
        ).stdout
        assert arguments[0] == name and options
        assert all(re.search(rf"{re.escape(option)}\b", told.replace("--dashboard / ", "")) for option in options), told


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("slurm", FILES / "slurm.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_hours_that_are_told_are_those_of_the_formula():
    told = (ROOT / "docs" / "scale.md").read_text()
    measured = [float(seconds) for seconds in re.findall(r"^\| \d\d_\w+ \| ([\d.]+) \|$", told, re.M)]
    assert len(measured) == 3
    *others, training = measured
    seconds = (7 * max(others) + training) / 8
    threads_hours, writing = 80_000 * seconds / 3600 / 0.9, 80_000 * 0.04 / 3600
    rows = re.findall(r"^\| (\d+) \| ([\d.]+) \| \w", told, re.M)
    assert len(rows) == 4
    for threads, hours in rows:
        assert float(hours) == round(max(threads_hours / int(threads), writing), 1)
    assert f"= {seconds:.2f} seconds" in told and f"{threads_hours:.0f} thread hours" in told
    assert f"that is {0.05 * threads_hours:.1f}" in told


@pytest.mark.full("starts a SLURM cluster or a job for one")
def test_the_job_that_slurm_is_given_is_a_worker_that_grades(sandboxed, tmp_path, monkeypatch):
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl to make certificates")
    course = build_course(tmp_path / "course", release=TINY_LESSONS[:1], submissions={"ada": {}})
    given = certificates(tmp_path / "certificates")
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    known = {name.removeprefix("DASK_").lower().replace("__", "."): value for name, value in given.items()}
    here = {"local_directory": str(tmp_path), "scheduler_options": {"host": "127.0.0.1", "dashboard_address": ":0"}}
    with dask.config.set(known), script().workers(**here) as cluster:
        given_to_slurm = cluster.job_script()
        assert {"#SBATCH -n 1", "#SBATCH --cpus-per-task=8", "#SBATCH -t 04:00:00"} <= set(given_to_slurm.splitlines())
        file, log = tmp_path / "job.sh", tmp_path / "job.log"
        file.write_text(given_to_slurm)
        with log.open("w") as told:
            job = subprocess.Popen(["bash", file], cwd=tmp_path, stdout=told, stderr=told, start_new_session=True)
        try:
            process = start_command(course, "grade", "--scheduler", cluster.scheduler_address)
            while process.poll() is None:
                assert job.poll() is None, log.read_text()
                time.sleep(0.1)
        finally:
            os.killpg(job.pid, signal.SIGTERM)
            job.wait()
    said, _ = process.communicate()
    assert process.returncode == 0, said
    assert Course(course).scores() == {("ada", TINY_LESSONS[0]): (5, 5)}


@pytest.mark.full("starts a SLURM cluster or a job for one")
def test_jobs_of_slurm_grade_a_class_and_one_that_is_lost_loses_nobody(sandboxed, tmp_path):
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl to make certificates")
    students = [f"student-{number}" for number in range(8)]
    slow = "import time\ntime.sleep(5)\ndef double(x):\n    return 2 * x"
    submissions = {student: {"double": slow} for student in students}
    course = build_course(tmp_path / "course", release=TINY_LESSONS[:1], submissions=submissions)
    with daemons() as slurm:
        environ = slurm.environ | certificates(tmp_path / "certificates")
        environ["PATH"] = f"{BIN}{os.pathsep}{environ['PATH']}"
        log = tmp_path / "grading.log"
        with log.open("w") as told:
            command = [sys.executable, FILES / "slurm.py", "2", TINY_LESSONS[0]]
            process = subprocess.Popen(command, cwd=course, env=environ, stdout=told, stderr=told)
        while sorted(slurm.jobs().values()) != ["RUNNING", "RUNNING"] or not Course(course).scores():
            assert process.poll() is None and slurm.alive, log.read_text() + slurm.said()
            time.sleep(0.5)
        lost = min(slurm.jobs())
        assert len(Course(course).scores()) < len(students)  # it is lost while there is work for it
        slurm.run_command("scancel", lost)
        assert process.wait() == 0, log.read_text() + slurm.said()
        while slurm.jobs():  # they are ended; it takes SLURM a moment
            assert slurm.alive, slurm.said()
            time.sleep(0.5)
    assert Course(course).scores() == {(student, TINY_LESSONS[0]): (5, 5) for student in students}
