"""Downloads from learning platforms, as bytes: archives of notebooks under the names that platforms give them."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import warnings
import zipfile
from collections.abc import Iterable
from typing import Any

from .two_exercise_course import LESSON

Files = dict[str, bytes] | Iterable[tuple[str, bytes]]  # name -> content; pairs if a name occurs twice


def notebook(text: str) -> bytes:
    """A notebook with one raw cell."""
    return json.dumps({"cells": [{"cell_type": "raw", "source": text}], "nbformat": 4}).encode()


def zipped(files: Files, compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip archive; a name with a slash at its end is a folder."""
    made = io.BytesIO()
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(made, "w") as archive:  # about repeated names
        for name, content in files.items() if isinstance(files, dict) else files:
            archive.writestr(zipfile.ZipInfo(name), content, compression)  # dated 1980: reproducible bytes
    return made.getvalue()


def tarred(files: Files, members: Iterable[tarfile.TarInfo] = (), gzipped: bool = True, **how: Any) -> bytes:
    """A tar archive of the files, followed by members without content."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", **how) as archive:
        for name, content in files.items() if isinstance(files, dict) else files:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        for member in members:
            archive.addfile(member)
    return gzip.compress(made.getvalue(), mtime=0) if gzipped else made.getvalue()


def moodle(name: str, number: int, file: str = f"{LESSON}.ipynb") -> str:
    """The path of a submission in a Moodle download."""
    return f"{name}_{number}_assignsubmission_file_/{file}"
