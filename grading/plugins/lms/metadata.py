"""Read platforms' own files: Gradescope's table, Blackboard's texts.

A student cannot create files with these paths in a download: `submission_metadata.yml` is next to the folders
`submission_123`, and a student's file would continue `…_jsmith_attempt_<date>.txt` with its own name. The files also
contain text by students, as values, which is not used.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import yaml

from grading.errors import ArchiveError
from grading.submitted.archives import Budget, Entry, copy

from .platforms import BLACKBOARD, ParsedName, Submitter

METADATA = "submission_metadata.yml"
MAX_METADATA = 2**25  # bytes, with the output of an autograder
MAX_ABOUT = 2**18  # bytes, with a student's text from the form
BLACKBOARD_NAME = re.compile(r"Name: *(?P<name>[^\n]*?) *\((?P<user>[^()\s]+)\) *\r?\n")

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def gradescope(entry: Entry) -> dict[str, list[ParsedName]]:
    """Map each folder to its submitters, several for a group. Raises ArchiveError."""
    text = _read(entry, MAX_METADATA)
    try:
        data = yaml.load(text, _Loader)
    except Exception as error:  # the library raises various ones
        raise ArchiveError(f"{METADATA} could not be read ({type(error).__name__})") from error
    if not isinstance(data, dict):
        raise ArchiveError(f"{METADATA} lists no submissions")
    return {str(folder): list(_submitters(about)) for folder, about in data.items() if isinstance(about, dict)}


def _submitters(about: dict[str, Any]) -> Iterator[ParsedName]:
    when = about.get(":created_at")
    when = when.replace(tzinfo=when.tzinfo or UTC) if isinstance(when, datetime) else None
    people = about.get(":submitters")
    for who in people if isinstance(people, list) else []:
        if isinstance(who, dict):
            name, sid, email = (str(who.get(key) or "").strip() for key in (":name", ":sid", ":email"))
            yield ParsedName(Submitter("gradescope", name or email or sid, sid or email, email), when=when)


def blackboard_head(name: str) -> str:
    """The part before Blackboard's mark, if this is its text about an attempt.

    Otherwise "".
    """
    match = BLACKBOARD.fullmatch(name)
    return match["name"] if match and match["about"] else ""


def blackboard(entry: Entry, head: str) -> Submitter | None:
    """The submitter named in Blackboard's text.

    `head`: assignment and user name, the start of the file's name.
    """
    try:
        text = _read(entry, MAX_ABOUT).decode("utf-8-sig", errors="replace")
    except ArchiveError:
        return None
    match = BLACKBOARD_NAME.match(text)
    if match is None or not head.endswith("_" + match["user"]):
        return None
    return Submitter("blackboard", match["name"], match["user"])


def _read(entry: Entry, most: int) -> bytes:
    """The entry's bytes.

    Raises ArchiveError if reading them exceeds a budget of 2 * `most` bytes.
    """
    into = io.BytesIO()
    copy(entry, into, Budget(max_bytes=2 * most))
    return into.getvalue()
