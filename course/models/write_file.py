"""Replace a file completely or not at all, also for concurrent readers and writers."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO

PRIVATE = 0o600  # only its owner can read it


@contextmanager
def open_replacement(path: Path, mode: int | None = None) -> Iterator[BinaryIO]:
    """Open a new file beside `path`, which replaces it at the end; on an error, it is deleted.

    mode  its permissions (default: those of the file that it replaces, or what the umask leaves)

    Raises OSError.
    """
    new = path.with_name(f".{path.name}.{secrets.token_hex(4)}.new")
    try:
        if mode is None and not path.is_symlink() and path.is_file():
            mode = path.stat().st_mode & 0o777
        with open(new, "xb", opener=partial(os.open, mode=0o666 if mode is None else PRIVATE)) as file:
            if mode is not None:
                new.chmod(mode)
            yield file
        os.replace(new, path)
    except BaseException:
        with suppress(OSError):
            new.unlink()
        raise


def write_file(path: Path, content: bytes | str | None, mode: int | None = None) -> None:
    """Write bytes, or a text as UTF-8, as `open_replacement` does, and make the folder; None deletes the file."""
    if content is None:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with open_replacement(path, mode) as file:
        file.write(content.encode() if isinstance(content, str) else content)
