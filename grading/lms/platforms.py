"""Whose a file is, and when it was handed in, by the name that a platform gave it.

    Canvas       smithjane_LATE_12345_678_02_softmax-1.ipynb; anonymous: anon_x7Kd2_678_…, LATE_anon_x7Kd2_678_…
    Moodle       Jane Smith_1234_assignsubmission_file_/02_softmax.ipynb, or without the slash; Group A-Jane Smith_…
    Brightspace  397063-2557369 - Jane Smith - Sep 24, 2026 926 PM/02_softmax.ipynb, or ` - ` for the slash
    Blackboard   02 Softmax_jsmith_attempt_2026-11-20-23-59-00_02_softmax.ipynb, and a text beside it

Canvas's are told by its source (lib/content_zipper.rb), and Moodle's (mod/assign); the others are as downloads show
them. Gradescope's and GitHub Classroom's folders have no such names: `downloads` knows them. A name that can be read
in two ways tells nothing here: Canvas lets people choose their names, and who is called `smithjane_12345` would else
hand in as number 12345.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime

from .file_names import printable

# Moodle takes underscores out of people's names, so its own come first
MOODLE = re.compile(
    r"(?P<name>[^_/\\]+)_(?P<number>[0-9]{1,20})_assignsubmission_(?:file|onlinetext)_?(?P<own>.*)", re.S
)
NUMBER = "[1-9][0-9]{0,19}"  # that a database gave; `02` of a lesson's name is none
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
LASTING = ("canvas", "blackboard", "gradescope", "github")  # whose numbers or names stay a person's in all lessons
NOTEBOOKS = (".ipynb", ".ipynb.txt", ".ipynb.json", ".py")  # endings of what may be a notebook
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")


@dataclass(frozen=True)
class Submitter:
    """Whom an outermost name names.

    platform: who gave the name: "canvas", "anonymous", "moodle", "brightspace", "blackboard", "gradescope", "github"; a
        "folder" has its name from a teacher, a "file" from anybody.
    number: what the platform tells people of one name apart by, "" where it does not.
    """

    platform: str
    name: str
    number: str = ""
    email: str = field(default="", compare=False)

    def __str__(self) -> str:
        return printable(self.name) + (f" ({printable(self.number)})" if self.number else "")


@dataclass(frozen=True)
class ParsedName:
    """What an outermost name tells: the owner, which of the owner's files is later, when and how it was handed in, and
    the name that the owner gave."""

    owner: Submitter
    own: str = ""
    order: int = 0
    when: datetime | None = None
    late: bool = False


def outermost(name: str, folder: bool) -> ParsedName | None:
    """What the name of a file or folder at the top of a download tells; None for what is no notebook of anybody's."""
    if told := by_platform(name):
        return told
    if folder:
        return ParsedName(Submitter("folder", name))
    return ParsedName(Submitter("file", name), name) if name.lower().endswith((*NOTEBOOKS, *ARCHIVES)) else None


def by_platform(name: str) -> ParsedName | None:
    """What a name as a platform gives it tells; None where it is no such name, or can be read in two ways.

    What a person wrote stands behind what the platform wrote in Moodle's and Blackboard's names, whose first reading is
    the right one; in Canvas's and Brightspace's a name that a person may have chosen stands before it.
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
        when = _parsed(blackboard["when"], "%Y-%m-%d-%H-%M-%S")
        return ParsedName(Submitter("blackboard", blackboard["name"]), blackboard["own"] or "", when=when)
    told = anonymous or canvas
    if told is None:
        return None
    owner = (
        Submitter("anonymous", "anon", told["number"])
        if anonymous
        else Submitter("canvas", told["name"], told["number"])
    )
    return ParsedName(owner, told["own"], int(told["order"]), late=bool(told["late"]))


def _brightspace_time(told: re.Match[str]) -> datetime | None:
    """Its time is written without a colon, as `926 PM` or `2126`."""
    text = f"{re.sub('[.,]', '', told['day'])} {told['time'].zfill(4)} {told['half'] or ''}".strip()
    clock = "%I%M %p" if told["half"] else "%H%M"
    orders = ("%b %d %Y", "%B %d %Y", "%d %b %Y", "%d %B %Y")
    return next(filter(None, (_parsed(text, f"{order} {clock}") for order in orders)), None)


def _parsed(text: str, form: str) -> datetime | None:
    try:
        return datetime.strptime(text, form).astimezone()  # platforms write the time of the place they serve
    except (ValueError, OverflowError, OSError):
        return None
