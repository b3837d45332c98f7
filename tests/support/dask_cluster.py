"""A Dask cluster on loopback, started by its commands: `dask scheduler` and `dask worker`, each a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

BIN = Path(sys.executable).parent
PATIENCE = 300.0  # seconds to wait, on a busy machine, for something that takes two on a quiet one


class DaskCluster:
    """The processes of one cluster; a context manager.

    folder   for logs, and for files that the processes write
    hidden   a folder that workers must not see, if this user may hide one
    environ  Dask's settings
    """

    def __init__(self, folder: Path, hidden: Path | None = None, environ: Mapping[str, str] | None = None) -> None:
        self.folder, self.hidden = folder, hidden
        self.environ = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", **(environ or {})}
        self.workers: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> DaskCluster:
        self.folder.mkdir(parents=True, exist_ok=True)
        file = self.folder / "scheduler.json"
        self.scheduler = self._start("scheduler", "--scheduler-file", str(file), protocol=self.protocol)
        self.address: str = self._waited(lambda: json.loads(file.read_text())["address"], self.scheduler)
        return self

    @property
    def protocol(self) -> str:
        return "tls" if "DASK_DISTRIBUTED__COMM__TLS__CA_FILE" in self.environ else "tcp"

    def __exit__(self, *_: object) -> None:
        for process in (*self.workers, self.scheduler):
            family = [psutil.Process(process.pid)] if process.poll() is None else []
            for one in [*family, *(below for parent in family for below in parent.children(recursive=True))]:
                with suppress(psutil.NoSuchProcess):
                    one.kill()
            process.wait()

    @property
    def broken(self) -> bool:
        """Whether the scheduler or a nanny has ended."""
        return any(process.poll() is not None for process in (*self.workers, self.scheduler))

    def add_worker(self, threads: int = 2) -> None:
        """Start one worker, with a nanny that replaces a lost worker. Does not wait for it."""
        place = self.folder / f"worker-{len(self.workers)}"
        options = ["--nworkers", "1", "--nthreads", str(threads), "--local-directory", str(place)]
        self.workers.append(self._start("worker", self.address, *options, hiding=True))

    def worker_process(self, number: int = 0) -> psutil.Process:
        """The process of a worker, a child of its nanny."""

        def found() -> psutil.Process:
            nanny = psutil.Process(self.workers[number].pid)
            named = [one for one in nanny.children(recursive=True) if "spawn_main" in " ".join(one.cmdline())]
            return named[0]

        return self._waited(found, self.workers[number])

    def _start(self, verb: str, *options: str, protocol: str = "", hiding: bool = False) -> subprocess.Popen[bytes]:
        command = [str(BIN / "dask"), verb, *options, "--no-dashboard", "--host", "127.0.0.1"]
        if protocol:
            command += ["--protocol", protocol, "--port", "0"]
        if hiding and self.hidden is not None and os.geteuid() == 0:
            hide = 'mount -t tmpfs none "$0" && exec "$@"'
            command = ["unshare", "--mount", "sh", "-c", hide, str(self.hidden), *command]
        with (self.folder / f"{verb}.log").open("ab") as log:
            return subprocess.Popen(command, cwd=self.folder, env=self.environ, stdout=log, stderr=log)

    def _waited(self, ask: Any, process: subprocess.Popen[bytes]) -> Any:
        """Call `ask` until it does not raise, or the process ends: a starting process cannot answer yet."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                return ask()
            except (OSError, ValueError, KeyError, IndexError, psutil.Error):
                assert process.poll() is None, self.said()
                assert time.monotonic() < until, self.said()
                time.sleep(0.1)

    def said(self) -> str:
        """The logs of all processes."""
        return "\n".join(f"{path.name}:\n{path.read_text()}" for path in sorted(self.folder.glob("*.log")))


def certificates(folder: Path) -> dict[str, str]:
    """Make an authority and a certificate with openssl; returns Dask's settings for them, as environment variables."""
    folder.mkdir(parents=True)
    authority = ["-x509", "-keyout", "ca-key.pem", "-out", "ca.pem", "-subj", "/CN=class"]
    openssl = ["openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    own = ["-x509", "-CA", "ca.pem", "-CAkey", "ca-key.pem", "-keyout", "key.pem", "-out", "cert.pem"]
    own += ["-subj", "/CN=grader", "-addext", "basicConstraints=critical,CA:FALSE"]
    for arguments in (authority, own):
        subprocess.run([*openssl, *arguments], cwd=folder, check=True, capture_output=True)
    name = "DASK_DISTRIBUTED__COMM__TLS__{}".format
    made = {name("CA_FILE"): str(folder / "ca.pem")}
    for part in ("SCHEDULER", "WORKER", "CLIENT"):
        made[name(f"{part}__CERT")] = str(folder / "cert.pem")
        made[name(f"{part}__KEY")] = str(folder / "key.pem")
    return made
