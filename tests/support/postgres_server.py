"""A PostgreSQL server for tests, in its own directory, reached through a socket there and not over a network."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

SETTINGS = {"listen_addresses": "", "fsync": "off"}


class Server:
    """url(name) makes an empty database; stop() and start() act as an administrator, kill() as a crash."""

    def __init__(self, place: Path, bin: Path) -> None:
        self.place, self.bin = place, bin
        self.data = place / "data"
        self._run("initdb", "--username=teacher", "--auth=trust", "--no-sync", f"--pgdata={self.data}")
        self.start()

    def start(self) -> None:
        options = " ".join(f"-c {name}={value!r}" for name, value in SETTINGS.items())
        log = f"--log={self.place / 'log'}"
        self._run("pg_ctl", "start", "--wait", f"--pgdata={self.data}", log, f"--options={options} -k {self.place}")

    def kill(self) -> None:
        self._run("pg_ctl", "stop", "--wait", "--mode=immediate", f"--pgdata={self.data}")

    def url(self, name: str) -> str:
        self._run("createdb", f"--host={self.place}", "--username=teacher", name)
        return f"postgresql+psycopg://teacher@/{name}?host={self.place}"

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self.bin / program), *arguments]
        user = "postgres" if os.geteuid() == 0 else None  # it does not run as root
        with tempfile.TemporaryFile("w+") as said:  # no pipe, which the server would keep open
            done = subprocess.run(command, user=user, cwd=self.place, stdout=said, stderr=said)
            said.seek(0)
            assert done.returncode == 0, said.read()


@contextmanager
def server() -> Iterator[Server]:
    """Run a server; skip the test, with the reason, if PostgreSQL is not installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb")) or [Path(shutil.which("initdb") or "")]
    if not found[-1].is_file():
        pytest.skip("there is no PostgreSQL server here (Debian: apt-get install postgresql)")
    with tempfile.TemporaryDirectory(prefix="pg-") as place:  # short, as a socket's path must be
        if os.geteuid() == 0:
            shutil.chown(place, "postgres")
        made = Server(Path(place), found[-1].parent)
        try:
            yield made
        finally:
            made.kill()
