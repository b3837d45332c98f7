"""A page with the state of `grading watch`: on this machine, or as a service behind JupyterHub's proxy.

Everyone who can reach it may read it, so it has numbers and names of lessons only: the texts of errors are in
`grading watch --status`. A process of its own serves it from the file that `watch_state` writes, so that no connection
takes descriptors or time from the one that grades.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from socket import create_server, socket
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from tornado import web

from grading.course_dir.course_time import local
from grading.errors import StepFailed
from grading.local_server import HOST, LocalHandler, LocalServer
from grading.safe_html import STYLE, page_templates

from .watch_state import last_state

LOCAL = (HOST, "localhost")
TEMPLATES = Path(__file__).parent / "templates"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
SIZE = 10_000  # bytes in a request, which has no body
PRIVATE = ("pid", "host")


@dataclass(frozen=True)
class PageAddress:
    """Where to serve the page. behind_hub: whether JupyterHub's proxy sends the requests."""

    port: int
    prefix: str = "/"
    behind_hub: bool = False

    def __str__(self) -> str:
        return f"http://{HOST}:{self.port}{self.prefix}"


def page_address(port: int | None) -> PageAddress | None:
    """The address for this port, or else the one that JupyterHub gives a service with a `url`; None without either.

    Raises StepFailed if the hub's is not an address on this machine.
    """
    if port is not None:
        return PageAddress(port)
    if not (given := os.environ.get("JUPYTERHUB_SERVICE_URL", "")):
        return None
    try:
        parts = urlsplit(given)
        if parts.scheme == "http" and parts.hostname in LOCAL and parts.port:
            prefix = os.environ.get("JUPYTERHUB_SERVICE_PREFIX", "/")
            return PageAddress(parts.port, f"/{prefix.strip('/')}/".replace("//", "/"), behind_hub=True)
    except ValueError:
        pass
    raise StepFailed(
        f"the page is served on this machine only, and JUPYTERHUB_SERVICE_URL is {given}. "
        f"Set the service's url to http://{HOST}:PORT in jupyterhub_config.py"
    )


def public(state: dict[str, Any]) -> dict[str, Any]:
    """The state without what is not for everyone, and whether all is well."""
    shown = {name: value for name, value in state.items() if name not in PRIVATE}
    errors = [{name: error[name] for name in ("submissions", "again_at")} for error in state["errors"]]
    return {"healthy": not errors and state["doing"] != "stopped", **shown, "errors": errors}


def in_zone(name: str) -> Callable[[str], str]:
    """A function that shows a time of the state in this time zone."""
    return lambda time: f"{local(datetime.fromisoformat(time), ZoneInfo(name)):%Y-%m-%d %H:%M:%S %Z}"


@contextmanager
def serve_page(address: PageAddress | None, root: Path) -> Iterator[PageAddress | None]:
    """Serve the page of a course from a process that ends with this block; yields its address.

    Raises StepFailed if the port is taken.
    """
    if address is None:
        yield None
        return
    try:
        listening = create_server((HOST, address.port))
    except OSError as error:
        raise StepFailed(f"port {address.port} cannot be used for the page: {error.strerror}. Choose another") from None
    with listening:
        found = PageAddress(int(listening.getsockname()[1]), address.prefix, address.behind_hub)
        # -P: a file in the course must not replace a module
        command = [sys.executable, "-P", "-m", __name__, str(root), str(listening.fileno()), found.prefix]
        server = subprocess.Popen(
            [*command, *(["behind-hub"] if found.behind_hub else [])],
            stdin=subprocess.PIPE,
            pass_fds=[listening.fileno()],
            start_new_session=True,  # Ctrl-C is for this process
        )
    with server:
        try:
            yield found
        finally:
            server.terminate()


async def _serve(root: Path, listening: socket, address: PageAddress) -> None:
    """Answer requests until the process that watches ends, and with it standard input."""
    about = {"root": root, "address": address}
    names = [("", _Page), (r"(state\.json|health)", _Json), (r"((?:page|watch)\.css|watch\.js)", _Static)]
    handlers: list[Any] = [(re.escape(address.prefix) + name, handler, about) for name, handler in names]
    server = LocalServer(web.Application(handlers, log_function=lambda _: None), max_body_size=SIZE)
    server.add_socket(listening)
    await asyncio.to_thread(sys.stdin.buffer.read)


def main(root: str, descriptor: str, prefix: str, *behind_hub: str) -> None:
    """Serve the page from the socket with this descriptor."""
    os.nice(10)
    listening = socket(fileno=int(descriptor))
    listening.setblocking(False)
    address = PageAddress(int(listening.getsockname()[1]), prefix, bool(behind_hub))
    asyncio.run(_serve(Path(root), listening, address))


class _Handler(LocalHandler):
    policy = POLICY

    def initialize(self, root: Path, address: PageAddress) -> None:
        self.root, self.address = root, address

    @property
    def state(self) -> dict[str, Any]:
        if not (state := last_state(self.root)):  # somebody has deleted the file
            raise web.HTTPError(503)
        return public(state)

    def prepare(self) -> None:
        """Without a hub, refuse other host names: a page elsewhere could claim one (DNS rebinding)."""
        if not self.address.behind_hub and self.request.host not in [f"{name}:{self.address.port}" for name in LOCAL]:
            raise web.HTTPError(403)


class _Page(_Handler):
    def get(self) -> None:
        template = page_templates(TEMPLATES).get_template("watch.html.j2")
        when = in_zone(self.state["timezone"])
        self.finish(template.render(state=self.state, when=when))


class _Json(_Handler):
    def get(self, name: str) -> None:
        """Send the state, or only whether it is healthy, with status 503 if it is not."""
        state = self.state
        if name == "health":
            self.set_status(200 if state["healthy"] else 503)
            state = {"healthy": state["healthy"]}
        self.finish(state)


class _Static(_Handler):
    def get(self, name: str) -> None:
        self.set_header("Content-Type", f"text/{'css' if name.endswith('css') else 'javascript'}; charset=utf-8")
        self.finish(STYLE if name == "page.css" else (TEMPLATES / name).read_bytes())


if __name__ == "__main__":
    main(*sys.argv[1:])
