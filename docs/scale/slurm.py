"""Grade with workers that are SLURM jobs: `python slurm.py JOBS [LESSON ...]`, in the course's directory.

Run it on a login node, in an environment that the nodes see too, with the wheels as in docs/scale.md and dask-jobqueue.
It starts a scheduler here, asks SLURM for the jobs, grades, and ends them. Certificates are those of
Dask's own configuration (docs/scale.md).
"""

from __future__ import annotations

import subprocess
import sys

from dask_jobqueue import SLURMCluster
from distributed.security import Security

CORES, MEMORY = 8, "24GB"  # of a job: a core for each submission at a time, and 3 GB for each core


def workers(**options: object) -> SLURMCluster:
    """The cluster, without jobs yet; `options` of SLURMCluster stand over these."""
    about = {
        "cores": CORES,
        "processes": 1,  # a process has one server of judges, which its threads share
        "memory": MEMORY,
        "walltime": "04:00:00",
        "worker_extra_args": ["--lifetime", "230m"],  # it leaves before SLURM ends it, and gives back what it has
        "local_directory": "/tmp",  # of a node's own, where what it is sent lies for as long as it works
        "job_name": "grading",
        "protocol": "tls://",
        "security": Security(),  # the certificates of Dask's configuration
    }
    return SLURMCluster(**{**about, **options})


def main(jobs: int, arguments: list[str]) -> int:
    with workers() as cluster:
        cluster.scale(jobs=jobs)
        return subprocess.run(["grading", "grade", "--scheduler", cluster.scheduler_address, *arguments]).returncode


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
