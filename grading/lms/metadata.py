"""What platforms write beside submissions to say whose they are: Gradescope's table, Blackboard's texts.

Both are the platform's own files, at places in a download where no student's file lies: `submission_metadata.yml`
beside the folders `submission_123`, and `…_jsmith_attempt_<date>.txt`, after which a student's file would go on with
its name. What a student wrote is in them too, as values, of which nothing is used.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import yaml

from ..errors import ArchiveError
from .archives import Budget, Entry, copy
from .platforms import BLACKBOARD, ParsedName, Submitter

METADATA = "submission_metadata.yml"
MAX_METADATA = 2**25  # bytes: what an autograder printed is in it
MAX_ABOUT = 2**18  # bytes, with what a student wrote into the form
BLACKBOARD_NAME = re.compile(r"Name: *(?P<name>[^\n]*?) *\((?P<user>[^()\s]+)\) *\r?\n")

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def gradescope(entry: Entry) -> dict[str, list[ParsedName]]:
    """Folder -> who handed it in, several where a group did. Raises ArchiveError."""
    text = _read(entry, MAX_METADATA)
    try:
        said = yaml.load(text, _Loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ArchiveError(f"{METADATA} could not be read ({type(error).__name__})") from error
    if not isinstance(said, dict):
        raise ArchiveError(f"{METADATA} tells of no submissions")
    return {str(folder): list(_submitters(about)) for folder, about in said.items() if isinstance(about, dict)}


def _submitters(about: dict[str, Any]) -> Iterator[ParsedName]:
    when = about.get(":created_at")
    when = when.replace(tzinfo=when.tzinfo or UTC) if isinstance(when, datetime) else None
    people = about.get(":submitters")
    for one in people if isinstance(people, list) else []:
        if isinstance(one, dict):
            name, sid, email = (str(one.get(key) or "").strip() for key in (":name", ":sid", ":email"))
            yield ParsedName(Submitter("gradescope", name or email or sid, sid or email, email), when=when)


def about(name: str) -> str:
    """What a file's name says before Blackboard's mark, if it is Blackboard's text about an attempt; else ""."""
    told = BLACKBOARD.fullmatch(name)
    return told["name"] if told and told["about"] else ""


def blackboard(entry: Entry, head: str) -> Submitter | None:
    """Whom the text beside a file whose name begins with `head`, an assignment and a user name, names."""
    try:
        text = _read(entry, MAX_ABOUT).decode("utf-8-sig", errors="replace")
    except ArchiveError:
        return None
    told = BLACKBOARD_NAME.match(text)
    if told is None or not head.endswith("_" + told["user"]):
        return None
    return Submitter("blackboard", told["name"], told["user"])


def _read(entry: Entry, most: int) -> bytes:
    """The entry's bytes. Raises ArchiveError where they are more than `most`."""
    into = io.BytesIO()
    copy(entry, into, Budget(max_bytes=2 * most))
    return into.getvalue()
