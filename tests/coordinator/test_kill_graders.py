"""A few rounds of `make test-faults`: killed graders leave every grade right."""

from __future__ import annotations

import random
import shutil

import pytest

from ..support import kill_graders
from ..support.dask_cluster import DaskCluster


@pytest.fixture(scope="module")
def ready(sandboxed, tmp_path_factory):
    root = tmp_path_factory.mktemp("chaos") / "course"
    kill_graders.make_class(root)
    return root


@pytest.mark.full("grades a class twice on a Dask cluster")
def test_no_grade_is_false_whatever_part_of_a_cluster_is_killed(ready, tmp_path):
    root = shutil.copytree(ready, tmp_path / "course")
    with DaskCluster(tmp_path / "cluster") as cluster:
        for _ in range(2):  # the second one continues when the first one's nanny is killed
            cluster.add_worker(threads=1)
        kill_graders.one_round(root, random.Random(random.random()), longest=20.0, cluster=cluster)


@pytest.mark.full("kills and grades again, as make test-faults does many times")
@pytest.mark.parametrize("number", range(2))
def test_no_grade_is_false_whatever_is_killed_and_the_next_run_finishes(ready, tmp_path, number):
    root = shutil.copytree(ready, tmp_path / "course")
    kill_graders.one_round(
        root, random.Random(f"{random.random()} {number}"), longest=15.0
    )  # from the seed of this test run


@pytest.mark.full("kills and watches again, as make test-faults does many times")
@pytest.mark.parametrize("number", range(2))
def test_a_killed_watch_loses_no_submission_and_the_next_one_releases_all_feedback(sandboxed, tmp_path, number):
    kill_graders.make_hub(tmp_path)
    kill_graders.watched_round(tmp_path, random.Random(f"{random.random()} {number}"), longest=30.0)
