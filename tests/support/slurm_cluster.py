"""A SLURM cluster for one test: daemons on loopback, with this machine as the only node."""

from __future__ import annotations

import getpass
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from .dask_cluster import PATIENCE

PROGRAMS = ("munged", "slurmctld", "slurmd", "squeue")
NODE = "CPUs=16 RealMemory=64000"  # what jobs may ask for, whatever this machine has
CONFIGURATION = """
ClusterName=course
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
AuthType=auth/munge
AuthInfo=socket={place}/munge.socket
StateSaveLocation={place}/state
SlurmdSpoolDir={place}/spool
SlurmctldPidFile={place}/slurmctld.pid
SlurmdPidFile={place}/slurmd.pid
SlurmctldLogFile={place}/slurmctld.log
SlurmdLogFile={place}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
NodeName={host} NodeAddr=127.0.0.1 {node} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


class Daemons:
    """environ: the environment in which SLURM's commands talk to this cluster."""

    def __init__(self, place: Path, path: str) -> None:
        self.place = place
        configuration = place / "slurm.conf"
        self.environ = {**os.environ, "PATH": path, "SLURM_CONF": str(configuration)}
        for name in ("state", "spool"):
            (place / name).mkdir()
        key = place / "munge.key"
        key.touch(0o600)
        key.write_bytes(secrets.token_bytes(1024))
        configuration.write_text(
            CONFIGURATION.format(
                place=place, host=socket.gethostname(), user=getpass.getuser(), ports=_free_ports(2), node=NODE
            )
        )
        own = [f"--{name}-file={place}/munge.{name}" for name in ("key", "log", "pid", "seed")]
        commands = [
            ["munged", "--foreground", "--force", f"--socket={place}/munge.socket", *own],
            ["slurmctld", "-D"],
            ["slurmd", "-D"],
        ]
        self.running: list[subprocess.Popen[bytes]] = []
        for command in commands:
            with (place / f"{command[0]}.out").open("wb") as said:
                self.running.append(subprocess.Popen(command, env=self.environ, stdout=said, stderr=said))
        until = time.monotonic() + PATIENCE
        while "idle" not in self.run_command("sinfo", "--noheader", "--format=%T"):
            assert time.monotonic() < until and self.alive, self.said()
            time.sleep(0.2)

    @property
    def alive(self) -> bool:
        return all(one.poll() is None for one in self.running)

    def run_command(self, command: str, *arguments: str) -> str:
        """The output of a SLURM command, empty while no daemon answers."""
        return subprocess.run([command, *arguments], env=self.environ, capture_output=True, text=True).stdout

    def jobs(self) -> dict[str, str]:
        """number -> state, for jobs that wait or run."""
        lines = self.run_command("squeue", "--noheader", "--format=%i %T").splitlines()
        return dict(tuple(line.split()) for line in lines)  # type: ignore[misc]

    def said(self) -> str:
        """The logs of the daemons."""
        return "\n".join(
            f"{p.name}:\n{p.read_text()}" for p in sorted([*self.place.glob("*.out"), *self.place.glob("*.log")])
        )

    def end(self) -> None:
        self.run_command("scancel", "--user", getpass.getuser())
        for one in reversed(self.running):
            one.terminate()
            one.wait()


@contextmanager
def daemons() -> Iterator[Daemons]:
    """Run SLURM; skip the test, with the reason, if its programs are missing."""
    path = f"{os.environ['PATH']}{os.pathsep}/usr/sbin"  # where Debian has daemons
    if not all(shutil.which(program, path=path) for program in PROGRAMS):
        pytest.skip("there is no SLURM here (Debian: apt-get install slurm-wlm)")
    with tempfile.TemporaryDirectory(prefix="slurm-") as place:  # short, as a socket's path must be
        made = Daemons(Path(place), path)
        try:
            yield made
        finally:
            made.end()


def _free_ports(count: int) -> list[int]:
    found = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in found]
    for one in found:
        one.close()
    return ports
