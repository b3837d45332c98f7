"""The review page's server, for this machine and for holders of the token only.

The page sends the token in a header, which no page of another origin can do. A cookie would also go to other servers on
this machine. The server refuses requests under other host names (DNS rebinding). It sends student text as JSON, and the
page shows it as text.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets
import socket
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy.exc import OperationalError
from tornado import web
from tornado.netutil import bind_sockets

from grading.errors import Conflict, GradingError
from grading.local_server import HOST, LocalHandler, LocalServer
from grading.safe_html import STYLE, page_templates

from .desk import Data, ReviewDesk
from .render import render_answer

FOLDER = Path(__file__).parent
STATIC = {"review.js": "text/javascript", "review.css": "text/css", "page.css": "text/css"}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
MOST_SENT = 1_000_000  # bytes in a request


class ReviewServer:
    """Serves one lesson. `address`: the URL to open in a browser."""

    def __init__(self, desk: ReviewDesk, by: str, port: int = 0, *, names: bool = True, first: str = "") -> None:
        """Open the port. Raises OSError if it is taken.

        by     name of the person who grades
        port   0 for any free one
        names  whether students' names are visible at first
        first  key of the question to open
        """
        self.desk, self.by, self.names, self.first = desk, by, names, first
        self._html: dict[str, str] = {}  # by the answer's text
        self._renderer = ThreadPoolExecutor(1)
        self.token = secrets.token_urlsafe(24)
        sockets = bind_sockets(port, HOST, family=socket.AF_INET)
        self.port = int(sockets[0].getsockname()[1])
        handlers: list[Any] = [
            (r"/", _Page, {"server": self}),
            (r"/static/([a-z.]+)", _Static, {"server": self}),
            (r"/api/([a-z]+)", _Api, {"server": self}),
        ]
        app = web.Application(handlers, default_handler_class=_Nothing, log_function=lambda _: None)
        self._server = LocalServer(app, max_body_size=MOST_SENT)
        self._server.add_sockets(sockets)

    @property
    def address(self) -> str:
        return f"http://{HOST}:{self.port}/?token={self.token}"

    @property
    def hosts(self) -> set[str]:
        return {f"{HOST}:{self.port}", f"localhost:{self.port}"}

    async def html(self, of: tuple[Path, str] | None) -> str:
        """Have a judge render an answer; "" if it is not to be rendered.

        Renders one answer at a time, while the server answers other requests.
        """
        if of is None:
            return ""
        if of[1] not in self._html:
            make = partial(render_answer, self.desk.course.root, *of)
            html = await asyncio.get_running_loop().run_in_executor(self._renderer, make)
            if len(html) > MOST_SENT:  # it has large pictures
                return html
            self._html[of[1]] = html
        return self._html[of[1]]

    def stop(self) -> None:
        self._server.stop()


class _Nothing(web.RequestHandler):
    def prepare(self) -> None:
        self.set_status(404)
        self.finish()


class _Handler(LocalHandler):
    policy = POLICY

    def initialize(self, server: ReviewServer) -> None:
        self.server = server

    def prepare(self) -> None:
        """Refuse requests for another host name, and requests from other origins."""
        origin = self.request.headers.get("Origin")
        ours = {f"http://{host}" for host in self.server.hosts}
        if self.request.host not in self.server.hosts or (origin is not None and origin not in ours):
            raise web.HTTPError(403)

    def log_exception(self, *about: Any) -> None:
        if not isinstance(about[1], web.HTTPError):  # the browser's console shows HTTPErrors anyway
            super().log_exception(*about)


class _Page(_Handler):
    def get(self) -> None:
        """Send the page; it contains no data of the course."""
        self.finish(page_templates(FOLDER / "templates").get_template("review.html.j2").render())


class _Static(_Handler):
    def get(self, name: str) -> None:
        if name not in STATIC:
            raise web.HTTPError(404)
        self.set_header("Content-Type", f"{STATIC[name]}; charset=utf-8")
        self.finish(STYLE if name == "page.css" else (FOLDER / "static" / name).read_bytes())


class _Api(_Handler):
    """Answers each request for an action of the desk with JSON."""

    def prepare(self) -> None:
        super().prepare()
        sent = self.request.headers.get("Authorization", "")
        if not hmac.compare_digest(sent.encode(), f"token {self.server.token}".encode()):
            raise web.HTTPError(403, reason="The token is wrong")

    async def get(self, what: str) -> None:
        desk, key = self.server.desk, self.get_query_argument("key", "")
        page = self.get_query_argument("page", "")
        match what:
            case "overview":
                about = {"by": self.server.by, "names": self.server.names, "first": self.server.first}
                self._answer(lambda: {**desk.overview(), **about})
            case "question":
                self._answer(lambda: desk.question(key, names=self.get_query_argument("names", "") == "1"))
            case "answer":
                self._answer(lambda: desk.answer(key, self.get_query_argument("id", "")))
            case "html":
                asked: list[tuple[Path, str] | None] = []
                self._answer(lambda: asked.append(desk.to_render(key, self.get_query_argument("id", ""))), last=False)
                if asked:
                    self.finish({"html": await self.server.html(asked[0])})
            case "bank":
                self._answer(lambda: {"comments": desk.bank(key)})
            case "steps":
                self._answer(lambda: {"steps": desk.steps(page)})
            case _:
                raise web.HTTPError(404)

    def post(self, what: str) -> None:
        desk, by = self.server.desk, self.server.by
        try:
            sent = json.loads(self.request.body)
            key, page = str(sent.get("key", "")), str(sent["page"])[:64]
            match what:
                case "grade":
                    self._answer(lambda: desk.grade(by, page, key, dict(sent["seen"]), dict(sent["wanted"])))
                case "alone":
                    self._answer(lambda: desk.take_out(by, page, key, dict(sent["seen"]), bool(sent["alone"])))
                case "rubric":
                    rubric = (str(sent["stamp"]), list(sent["items"]), bool(sent["from_full"]))
                    self._answer(lambda: desk.change_rubric(by, page, key, *rubric, sent.get("expected")))
                case "update":
                    self._answer(lambda: desk.bring_up_to_date(by, page, key))
                case "keep":
                    self._answer(lambda: desk.keep_comment(by, page, key, str(sent["text"]), bool(sent["here"])))
                case "drop":
                    self._answer(lambda: desk.drop_comment(by, page, str(sent["text"]), str(sent["question"])))
                case "undo":
                    number = sent.get("step")
                    self._answer(lambda: desk.undo(by, page, None if number is None else int(number)))
                case _:
                    raise web.HTTPError(404)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise web.HTTPError(400, reason="The request is not valid") from None

    def _answer(self, asked: Any, *, last: bool = True) -> None:
        """Finish the request with the result, or with the error.

        `last`: False leaves the result to the caller to finish.
        """
        found: Data = {}
        try:
            found = asked() or {}
            if not last:
                return
        except Conflict as conflict:
            self.set_status(409)
            found = {"message": str(conflict.args[0]), "answers": list(conflict.args[1])}
        except GradingError as error:
            self.set_status(400)
            found = {"message": str(error)}
        except OperationalError:  # SQLite waits five seconds for another writer
            self.set_status(503)
            found = {"message": "the gradebook is being written to, or cannot be reached: nothing was saved; try again"}
        self.finish(found)
