"""What GitHub is asked to run: permissions, pinned actions, and the steps that build the packages for an index."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from email import message_from_bytes
from pathlib import Path
from typing import Any

import pytest
import yaml

from .support.repository import ROOT

FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
WORKFLOWS = {path.stem: yaml.safe_load(path.read_text()) for path in FILES}
STEPS = [
    (name, job, step)
    for name, workflow in WORKFLOWS.items()
    for job, content in workflow["jobs"].items()
    for step in content["steps"]
]
VERSION = re.search(r'attention-course==([^"]+)"', (ROOT / "grading" / "pyproject.toml").read_text())
PUBLISH: dict[str, Any] = WORKFLOWS["publish"]["jobs"]


def test_an_action_is_pinned_by_its_commit_with_the_version_beside_it():
    """Whoever takes over an action can move its tags, but not a commit."""
    lines = [line for path in FILES for line in path.read_text().splitlines() if re.match(r"[\s-]*uses:", line)]
    assert len(lines) == sum("uses" in step for _, _, step in STEPS) > 0
    pinned = re.compile(r"[\s-]*uses: ([\w-]+/[\w./-]+@[0-9a-f]{40})  # (v\d+\.\d+\.\d+)")
    assert [line for line in lines if not pinned.fullmatch(line)] == []
    versions = {found.groups() for found in map(pinned.fullmatch, lines) if found}
    assert len(versions) == len({action.split("@")[0] for action, _ in versions})  # one of each


def test_every_step_does_one_thing_and_every_target_of_make_is_one():
    assert all(("run" in step) != ("uses" in step) for _, _, step in STEPS)
    targets = set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.M))
    used = {target for _, _, step in STEPS for target in re.findall(r"\bmake ([a-z-]+)", step.get("run", ""))}
    assert used and used <= targets


def test_a_workflow_may_read_and_only_jobs_that_publish_may_write():
    may_write = {
        (name, job): {
            right for right, value in content.get("permissions", workflow["permissions"]).items() if value == "write"
        }
        for name, workflow in WORKFLOWS.items()
        for job, content in workflow["jobs"].items()
    }
    assert {where: rights for where, rights in may_write.items() if rights} == {
        ("publish", "index"): {"id-token"},
        ("publish", "release"): {"contents"},
        ("site", "site"): {"pages", "id-token"},
    }


def test_the_job_with_the_right_to_publish_runs_nothing_of_the_repository():
    uses = [step.get("uses", "").split("@")[0] for step in PUBLISH["index"]["steps"]]
    assert uses == ["actions/download-artifact", "pypa/gh-action-pypi-publish"]
    *_, upload = PUBLISH["index"]["steps"]
    assert upload["with"] == {"attestations": True}  # and no password


def test_packages_are_built_once_and_published_as_they_are():
    built = [job for job, content in PUBLISH.items() if "-m build" in str(content["steps"])]
    assert built == ["build"]
    uploaded = {step["with"]["name"] for step in PUBLISH["build"]["steps"] if "upload-artifact" in step.get("uses", "")}
    for job in ("index", "release"):
        fetched = {s["with"]["name"] for s in PUBLISH[job]["steps"] if "download-artifact" in s.get("uses", "")}
        assert PUBLISH[job]["needs"] == "build"
        assert "packages" in fetched and fetched <= uploaded


def build_steps() -> list[str]:
    """The commands of the job `build`, without those that install packages."""
    return [step["run"] for step in PUBLISH["build"]["steps"] if "run" in step and not step["run"].startswith("pip ")]


@pytest.mark.full
def test_the_steps_make_packages_that_an_index_takes_with_links_to_the_repository(tmp_path):
    assert VERSION
    copy = tmp_path / "copy"
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in listed.rstrip("\0").split("\0"):
        if name.startswith(("course/", "grading/", "release/", "tools/", "grader_tests/finger")) or "/" not in name:
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
    changes = (
        (copy / "CHANGELOG.md")
        .read_text()
        .replace(f"## [{VERSION[1]}] - unreleased", f"## [{VERSION[1]}] - 2026-12-01")
    )
    (copy / "CHANGELOG.md").write_text(changes)
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_REPOSITORY": "you/attention",
        "GITHUB_REF_NAME": f"v{VERSION[1]}",
    }
    steps = build_steps()
    assert len(steps) == 4
    for step in steps:
        done = subprocess.run(["bash", "-e", "-c", step], cwd=copy, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    assert (copy / "notes.md").read_text().startswith(f"## [{VERSION[1]}] - 2026-12-01\n")
    made = sorted((copy / "dist").iterdir())
    assert [path.name.removesuffix(".tar.gz").removesuffix("-py3-none-any.whl") for path in made] == [
        *[f"attention_course-{VERSION[1]}"] * 2,
        *[f"attention_course_teach-{VERSION[1]}"] * 2,
    ]
    for wheel in (copy / "dist").glob("*.whl"):
        with zipfile.ZipFile(wheel) as packed:
            (name,) = (name for name in packed.namelist() if name.endswith(".dist-info/METADATA"))
            metadata = message_from_bytes(packed.read(name))
        links = dict(link.split(", ") for link in metadata.get_all("Project-URL", []))
        assert links["Homepage"] == "https://github.com/you/attention"
        files = [link.partition(f"/v{VERSION[1]}/")[2] for link in (links["Documentation"], links["Changelog"])]
        assert all(file and (ROOT / file).is_file() for file in files)
        assert all(
            metadata.get_all(field) for field in ("Keywords", "Classifier", "License-Expression", "License-File")
        )
        targets = re.findall(r"\]\(([^)\s]+)\)", str(metadata.get_payload()))
        assert all(target.startswith("https://") for target in targets)
        ours = [
            t.partition(f"/v{VERSION[1]}/")[2] for t in targets if t.startswith("https://github.com/you/attention/")
        ]
        assert all((ROOT / file.partition("#")[0]).is_file() for file in ours)
        assert ours or "teach" in wheel.name
