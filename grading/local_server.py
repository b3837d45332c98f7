"""The parts that the servers of our pages share: bounds on connections, and headers.

They listen on this machine only, where every account can connect. So a server keeps `MOST` connections, closes the one
that was opened first to make room for another, and gives each some seconds for a request. None can use up the
descriptors of a process, or keep others from being answered.
"""

from __future__ import annotations

import logging
from typing import Any

from tornado import web
from tornado.httpserver import HTTPServer
from tornado.iostream import IOStream

from .safe_html import HEADERS

HOST = "127.0.0.1"
MOST = 64  # connections
PATIENCE = 20.0  # seconds for a request to arrive


class LocalServer(HTTPServer):
    """tornado's server with bounds."""

    def initialize(self, *arguments: Any, **options: Any) -> None:
        logging.getLogger("tornado.general").disabled = True  # it has a line for each malformed request
        options |= {"idle_connection_timeout": PATIENCE, "body_timeout": PATIENCE}
        super().initialize(*arguments, **options)
        self._streams: list[IOStream] = []

    def handle_stream(self, stream: IOStream, address: tuple[Any, ...]) -> None:
        self._streams = [*(other for other in self._streams if not other.closed()), stream]
        if len(self._streams) > MOST:
            self._streams.pop(0).close()
        super().handle_stream(stream, address)


class LocalHandler(web.RequestHandler):
    """A handler that sends our headers, and of an error only its name."""

    policy: str  # for Content-Security-Policy

    def set_default_headers(self) -> None:
        self.set_header("Content-Security-Policy", self.policy)
        for name, value in HEADERS.items():
            self.set_header(name, value)
        self.clear_header("Server")

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        self.finish({"message": self._reason})
