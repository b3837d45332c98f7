"""A page with the state of `grading watch`: on this machine, or as a service behind JupyterHub's proxy.

Everyone who can reach it may read it, so it has numbers and names of lessons only: the texts of errors are in
`grading watch --status`.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from socket import create_server
from threading import Thread
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from tornado import web
from tornado.httpserver import HTTPServer

from ..course_dir.course_time import local
from ..errors import StepFailed
from ..safe_html import HEADERS, STYLE, page_templates

HOST = "127.0.0.1"
LOCAL = (HOST, "localhost")
TEMPLATES = Path(__file__).parents[1] / "templates"
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
def serve_page(address: PageAddress | None, state: Callable[[], dict[str, Any]]) -> Iterator[PageAddress | None]:
    """Serve the page from a thread within the block; yields its address.

    state  called for each request, with the fields of WatchState

    Raises StepFailed if the port is taken.
    """
    if address is None:
        yield None
        return
    try:
        listening = create_server((HOST, address.port))
    except OSError as error:
        raise StepFailed(f"port {address.port} cannot be used for the page: {error.strerror}. Choose another") from None
    listening.setblocking(False)
    found = PageAddress(int(listening.getsockname()[1]), address.prefix, address.behind_hub)
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        about = {"state": state, "address": found}
        names = [("", _Page), (r"(state\.json|health)", _Json), (r"((?:page|watch)\.css|watch\.js)", _Static)]
        app = web.Application(
            [(re.escape(found.prefix) + name, handler, about) for name, handler in names], log_function=lambda _: None
        )
        server = HTTPServer(app, max_body_size=SIZE)
        server.add_socket(listening)
        await stopped.wait()
        server.stop()
        await server.close_all_connections()

    stopped = asyncio.Event()
    thread = Thread(target=lambda: loop.run_until_complete(serve()), name="page", daemon=True)
    thread.start()
    try:
        yield found
    finally:
        loop.call_soon_threadsafe(stopped.set)
        thread.join()
        loop.close()


class _Handler(web.RequestHandler):
    def initialize(self, state: Callable[[], dict[str, Any]], address: PageAddress) -> None:
        self.state, self.address = state, address

    def set_default_headers(self) -> None:
        self.set_header("Content-Security-Policy", POLICY)
        for name, value in HEADERS.items():
            self.set_header(name, value)
        self.clear_header("Server")

    def prepare(self) -> None:
        """Without a hub, refuse other host names: a page elsewhere could claim one (DNS rebinding)."""
        if not self.address.behind_hub and self.request.host not in [f"{name}:{self.address.port}" for name in LOCAL]:
            raise web.HTTPError(403)

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        self.finish({"message": self._reason})


class _Page(_Handler):
    def get(self) -> None:
        template = page_templates(TEMPLATES).get_template("watch.html.j2")
        state = public(self.state())
        self.finish(template.render(state=state, when=in_zone(state["timezone"])))


class _Json(_Handler):
    def get(self, name: str) -> None:
        """Send the state, or only whether it is healthy, with status 503 if it is not."""
        state = public(self.state())
        if name == "health":
            self.set_status(200 if state["healthy"] else 503)
            state = {"healthy": state["healthy"]}
        self.finish(state)


class _Static(_Handler):
    def get(self, name: str) -> None:
        self.set_header("Content-Type", f"text/{'css' if name.endswith('css') else 'javascript'}; charset=utf-8")
        self.finish(STYLE if name == "page.css" else (TEMPLATES / name).read_bytes())
