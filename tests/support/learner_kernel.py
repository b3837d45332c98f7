"""A real kernel, for tests of what a learner's notebook does in one."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from jupyter_client.manager import start_new_kernel

KERNEL_START = 1800  # seconds; a busy machine needs more than nbclient's 60


class Kernel:
    """Runs cells in a kernel, and collects what they show."""

    def __init__(self, client: Any, manager: Any) -> None:
        self.client, self.manager = client, manager

    def run(self, code: str) -> SimpleNamespace:
        """Run a cell: `html`, `markdown`, `text` (what was printed), `value` (the repr of the last), `error`,
        `traceback`."""
        shown = SimpleNamespace(html="", markdown="", text="", value=None, error=None, traceback="")

        def collect(message: dict[str, Any]) -> None:
            kind, content = message["header"]["msg_type"], message["content"]
            if kind == "stream":
                shown.text += content["text"]
            elif kind == "error":
                shown.error = f"{content['ename']}: {content['evalue']}"
                shown.traceback = re.sub(r"\x1b\[[\d;]*m", "", "\n".join(content["traceback"]))
            elif kind == "execute_result":
                shown.value = content["data"]["text/plain"]
            elif (
                kind == "display_data" and "display_id" not in content["transient"]
            ):  # a progress bar has an id, and disappears
                shown.html += content["data"].get("text/html", "")
                shown.markdown += content["data"].get("text/markdown", "")

        self.client.execute_interactive(textwrap.dedent(code), output_hook=collect, timeout=None)
        return shown

    def run_given(self, code: str) -> SimpleNamespace:
        """Run code as a cell that came with the lesson, and print the line below it."""
        return self.run(
            "from course.notebook.session import current as _session\nwith _session().stand_ins.given():\n"
            + textwrap.indent(textwrap.dedent(code).strip("\n"), "    ")
            + "\nprint(_session().stand_ins.credit(), end='')"
        )


@contextmanager
def running_kernel(where: Path) -> Iterator[Kernel]:
    """Run a kernel in the folder `where`."""
    manager, client = start_new_kernel(startup_timeout=KERNEL_START, kernel_name="python3", cwd=str(where))
    try:
        yield Kernel(client, manager)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
