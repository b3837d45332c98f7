"""Parse the names that platforms give to submitted files.

    Canvas       smithjane_LATE_12345_678_02_softmax-1.ipynb; anonymous: anon_x7Kd2_678_…, LATE_anon_x7Kd2_678_…
    Moodle       Jane Smith_1234_assignsubmission_file_/02_softmax.ipynb, or without the slash; Group A-Jane Smith_…
    Brightspace  397063-2557369 - Jane Smith - Sep 24, 2026 926 PM/02_softmax.ipynb, or ` - ` for the slash
    Blackboard   02 Softmax_jsmith_attempt_2026-11-20-23-59-00_02_softmax.ipynb, and a text beside it

Canvas's and Moodle's follow their source (lib/content_zipper.rb, mod/assign); the others follow downloads. `downloads`
handles the folders of Gradescope and GitHub Classroom. A name with two readings is not parsed: Canvas lets people
choose their names, so somebody called `smithjane_12345` could hand in as number 12345.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime

from course.which_counts import ENDINGS
from grading.submitted.file_names import printable

# Moodle removes underscores from people's names, so the first ones are Moodle's own
MOODLE = re.compile(
    r"(?P<name>[^_/\\]+)_(?P<number>[0-9]{1,20})_assignsubmission_(?:file|onlinetext)_?(?P<own>.*)", re.S
)
NUMBER = "[1-9][0-9]{0,19}"  # a database id; not the `02` in a lesson's name
CANVAS = re.compile(
    rf"(?P<name>.*?)_(?:(?P<late>late)_)?(?P<number>{NUMBER})_(?P<order>{NUMBER})_(?P<own>.+)", re.I | re.S
)
CANVAS_NUMBERS = re.compile(rf"(?=_{NUMBER}_{NUMBER}_)")
ANONYMOUS = re.compile(rf"(?P<late>LATE_)?anon_(?P<number>[0-9A-Za-z]{{4,20}})_(?P<order>{NUMBER})_(?P<own>.+)", re.S)
BRIGHTSPACE_TIME = re.compile(
    r" - (?P<day>(?:[^\W\d_]+\.? [0-9]{1,2}|[0-9]{1,2}\.? [^\W\d_]+\.?),? [0-9]{4}),? "
    r"(?P<time>[0-9]{3,4})(?: (?P<half>[AP]M))?"
)
BRIGHTSPACE = re.compile(
    rf"(?P<number>[0-9]{{1,20}})-[0-9]{{1,20}} - (?P<name>.+?){BRIGHTSPACE_TIME.pattern}(?: - (?P<own>.+))?", re.S
)
BLACKBOARD = re.compile(
    r"(?P<name>.+?)_attempt_(?P<when>[0-9]{4}(?:-[0-9]{2}){5})(?:_(?P<own>.+)|(?P<about>\.txt))", re.S
)
LASTING = ("canvas", "blackboard", "gradescope", "github")  # their ids are the same in all lessons
RENUMBERED = ("moodle", "brightspace")  # a person has another number in each lesson
GATHERED = ("folder", "file")  # not from a platform: a teacher gathered these
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")
LOOSE = (*(ending for ending in ENDINGS if ending != ".md"), *ARCHIVES)  # what a file outside any folder may be


@dataclass(frozen=True)
class Submitter:
    """The person or group that an outermost name refers to.

    platform  the source of the name: "canvas", "anonymous", "moodle", "brightspace", "blackboard", "gradescope",
              "github"; "folder" if a teacher named it; "file" if anybody may have
    number    the platform's id, which distinguishes people with the same name; "" if there is none
    """

    platform: str
    name: str
    number: str = ""
    email: str = field(default="", compare=False)

    @property
    def channel(self) -> str:
        """The account that files came from; one for everything that a teacher gathered."""
        if self.platform in GATHERED:
            return self.platform
        return f"{self.platform} {self.name if self.platform in RENUMBERED else self.number or self.name}"

    def __str__(self) -> str:
        return printable(self.name) + (f" ({printable(self.number)})" if self.number else "")


@dataclass(frozen=True)
class ParsedName:
    """A parsed outermost name.

    own         the part that the owner chose
    order       higher for the owner's later files
    when, late  time of submission, without a time zone if the platform writes local times; whether it is marked late
    """

    owner: Submitter
    own: str = ""
    order: int = 0
    when: datetime | None = None
    late: bool = False


def outermost(name: str, folder: bool) -> ParsedName | None:
    """Parse a name at the top of a download; None if it cannot be a submission."""
    if parsed := by_platform(name):
        return parsed
    if folder:
        return ParsedName(Submitter("folder", name))
    return ParsedName(Submitter("file", name), name) if name.lower().endswith(LOOSE) else None


def by_platform(name: str) -> ParsedName | None:
    """Parse a platform's name; None if it is not one or is ambiguous.

    In Moodle's and Blackboard's names a person's text follows the platform's, so the first reading is right. In
    Canvas's and Brightspace's names, a name that a person may have chosen comes first.
    """
    moodle, brightspace, blackboard = (shape.fullmatch(name) for shape in (MOODLE, BRIGHTSPACE, BLACKBOARD))
    canvas, anonymous = CANVAS.fullmatch(name), ANONYMOUS.fullmatch(name)
    readings = len(CANVAS_NUMBERS.findall(name)) + (len(BRIGHTSPACE_TIME.findall(name)) if brightspace else 0)
    if readings + sum(map(bool, (moodle, blackboard, anonymous))) != 1:
        return None
    if moodle:
        return ParsedName(Submitter("moodle", moodle["name"], moodle["number"]), moodle["own"])
    if brightspace:
        owner = Submitter("brightspace", brightspace["name"], brightspace["number"])
        return ParsedName(owner, brightspace["own"] or "", when=_brightspace_time(brightspace))
    if blackboard:
        when = _parse_time(blackboard["when"], "%Y-%m-%d-%H-%M-%S")
        return ParsedName(Submitter("blackboard", blackboard["name"]), blackboard["own"] or "", when=when)
    match = anonymous or canvas
    if match is None:
        return None
    owner = (
        Submitter("anonymous", "anon", match["number"])
        if anonymous
        else Submitter("canvas", match["name"], match["number"])
    )
    return ParsedName(owner, match["own"], int(match["order"]), late=bool(match["late"]))


def _brightspace_time(match: re.Match[str]) -> datetime | None:
    """Parse Brightspace's time, which has no colon, such as `926 PM` or `2126`."""
    text = f"{re.sub('[.,]', '', match['day'])} {match['time'].zfill(4)} {match['half'] or ''}".strip()
    clock = "%I%M %p" if match["half"] else "%H%M"
    orders = ("%b %d %Y", "%B %d %Y", "%d %b %Y", "%d %B %Y")
    return next(filter(None, (_parse_time(text, f"{order} {clock}") for order in orders)), None)


def _parse_time(text: str, form: str) -> datetime | None:
    try:
        return datetime.strptime(text, form)  # noqa: DTZ007 - `Owners` adds the time zone
    except ValueError:
        return None
