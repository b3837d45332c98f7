"""Canaries: things that hostile submissions look for, and checks whether one was found.

They are a listener on loopback, a file in /tmp, a file in a home directory, an environment variable, a line in another
student's notebook and a name in the gradebook. The port and the file differ each time, so that several sets can exist
at once; tests/submissions calls them CANARY_PORT and CANARY_FILE, which are replaced when a submission is handed in.
"""

from __future__ import annotations

import copy
import socket
import tempfile
import threading
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell
from nbgrader.api import Gradebook

SECRET = "canary-7f3a"
AT_HOME = "attention-canary.txt"
SECRETS = (SECRET, "@softmax.mistake", "BEGIN HIDDEN", "BEGIN SOLUTION")


class Canaries:
    """A set of canaries; a context manager."""

    def __enter__(self) -> Canaries:
        self._server = socket.create_server(("127.0.0.1", 0))
        self._home = tempfile.TemporaryDirectory(prefix="canary-home-")
        self._folder = tempfile.TemporaryDirectory(prefix="attention-canary-", dir="/tmp")
        self._files = (Path(self._folder.name, "file.txt"), Path(self._home.name, AT_HOME))
        self._heard = 0
        self.lay()
        threading.Thread(target=self._listen, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.close()
        self._home.cleanup()
        self._folder.cleanup()

    @property
    def port(self) -> int:
        """The listener's port on 127.0.0.1."""
        return int(self._server.getsockname()[1])

    def tell(self, folder: Path) -> None:
        """Write this port and this file's path into the files of a submission."""
        places = {b"CANARY_PORT": str(self.port).encode(), b"CANARY_FILE": bytes(self._files[0])}
        for path in folder.rglob("*"):
            if path.is_file() and not path.is_symlink():
                text = told = path.read_bytes()
                for name, place in places.items():
                    told = told.replace(name, place)
                if told != text:
                    path.write_bytes(told)

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables for the process that grades."""
        return {"ATTENTION_CANARY": SECRET, "HOME": self._home.name}

    def lay(self) -> None:
        """Restore all canaries, and forget past connections."""
        self._heard = 0
        for path in self._files:
            path.unlink(missing_ok=True)
            path.write_text(SECRET)

    def sang(self) -> list[str]:
        """Canaries that were touched since `lay`."""
        found = ["listener"] if self._heard else []
        return found + [str(path) for path in self._files if not path.is_file() or path.read_text() != SECRET]

    def _listen(self) -> None:
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            self._heard += 1
            connection.close()


def with_secret(notebook: NotebookNode) -> NotebookNode:
    """A copy of an honest student's notebook, with a secret line."""
    made = copy.deepcopy(notebook)
    made.cells.append(new_markdown_cell(f"A note to myself: {SECRET}"))
    return made


def register(root: Path, student: str) -> None:
    """Add an honest student to the gradebook, with a secret last name."""
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as gradebook:
        gradebook.update_or_create_student(student, last_name=SECRET)


def told(notebook: NotebookNode) -> list[str]:
    """Secrets in the outputs of a graded notebook."""
    shown = " ".join(str(cell.get("outputs", "")) for cell in notebook.cells)
    return [secret for secret in SECRETS if secret in shown]


PAGE_SCRIPT = """
window.sang = 1; document.title = 'sang'; console.log('sang');
(async () => {
  const headers = {'X-XSRFToken': document.cookie.match(/_xsrf=([^;]+)/)[1], 'Content-Type': 'application/json'};
  const file = JSON.stringify({type: 'file', format: 'text', content: 'sang'});
  fetch('/api/contents/sang.txt', {method: 'PUT', headers, body: file});
  const id = window.submission_id || parent.submission_id;
  for (const grade of await (await fetch('/formgrader/api/grades?submission_id=' + id)).json())
    fetch('/formgrader/api/grade/' + grade.id, {method: 'PUT', headers, body: JSON.stringify({manual_score: 5})});
})()
"""


def page_script() -> str:
    """JavaScript without quotes or spaces, which runs wherever a page runs any script.

    On the teacher's server it gives points through the formgrader and writes a file through the contents API.
    """
    return f"eval(String.fromCharCode({','.join(str(ord(letter)) for letter in ' '.join(PAGE_SCRIPT.split()))}))"
