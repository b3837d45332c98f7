"""A stand-in for a Canvas server with one course: the parts of its HTTP API that the client uses.

Lists come in pages of two with Canvas's `Link` header; grades are written by a job that is asked about; a token is held
to be the right one.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

TOKEN = "a-token-of-the-tests"
PAGE = 2


@dataclass
class FakeCanvas:
    """One course, number 7. scores: by user; excused: users; posted: bodies of what was sent; takes_off: what Canvas's
    own late policy takes off each score; asked: how often the job was asked about."""

    users: list[dict[str, Any]]
    assignments: list[dict[str, Any]]
    url: str = ""
    scores: dict[int, float] = field(default_factory=dict)
    excused: set[int] = field(default_factory=set)
    posted: list[dict[str, str]] = field(default_factory=list)
    takes_off: float = 0.0
    asked: int = 0

    def answer(self, path: str) -> Any:
        """The response for a path below /api/v1, or None."""
        if path == "/courses/7":
            return {"id": 7, "name": "Attention"}
        if path == "/courses/7/search_users":
            return self.users
        if path == "/courses/7/assignments":
            return [{"course_id": 7, **one} for one in self.assignments]
        if found := re.fullmatch(r"/courses/7/assignments/(\d+)", path):
            return next(({"course_id": 7, **one} for one in self.assignments if one["id"] == int(found[1])), None)
        if re.fullmatch(r"/courses/7/assignments/\d+/submissions", path):
            return [
                {"id": 1000 + one["id"], "user_id": one["id"], "score": self.scores.get(one["id"])}
                | {"excused": one["id"] in self.excused}
                for one in self.users
            ]
        if path == "/progress/5":
            self.asked += 1
            return {
                "id": 5,
                "tag": "submissions_update",
                "workflow_state": "completed" if self.asked > 1 else "running",
            }
        return None

    def post(self, path: str, body: str) -> Any:
        if not re.fullmatch(r"/courses/7/assignments/\d+/submissions/update_grades", path):
            return None
        self.posted.append(dict(parse_qsl(body)))
        for name, value in self.posted[-1].items():
            found = re.fullmatch(r"grade_data\[(\d+)\]\[(posted_grade|excuse)\]", name)
            assert found, name
            if found[2] == "excuse":
                self.excused.add(int(found[1]))
            else:
                self.scores[int(found[1])] = float(value) - self.takes_off
        return {"id": 5, "tag": "submissions_update", "workflow_state": "queued"}


@contextmanager
def canvas(users: list[dict[str, Any]], assignments: list[dict[str, Any]]) -> Iterator[FakeCanvas]:
    """Serve this course; the address is its `url`."""
    fake = FakeCanvas(users, assignments)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._give(fake.answer(urlsplit(self.path).path.removeprefix("/api/v1")))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self._give(fake.post(urlsplit(self.path).path.removeprefix("/api/v1"), body))

        def _give(self, found: Any) -> None:
            status, links = 200, ""
            if self.headers["Authorization"] != f"Bearer {TOKEN}":
                status, found = 401, {"errors": [{"message": "Invalid access token."}]}
            elif found is None:
                status, found = 404, {"errors": [{"message": "The specified resource does not exist."}]}
            elif isinstance(found, list):
                address = urlsplit(self.path)
                page = int(parse_qs(address.query).get("page", ["1"])[0])
                if page * PAGE < len(found):
                    links = f'<{fake.url}{address.path}?page={page + 1}>; rel="next"'
                found = found[(page - 1) * PAGE : page * PAGE]
            data = json.dumps(found).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            if links:
                self.send_header("Link", links)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Log nothing, so that the output of tests stays readable."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    fake.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
