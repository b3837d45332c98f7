"""Draw the five steps from a lesson to a student's result on each platform: docs/images/platform-NAME.svg.

    python tools/draw_platform_steps.py

The ground is white, so that the pictures are legible in light and dark. Look at them after each change.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path

IMAGES = Path(__file__).parents[1] / "docs" / "images"
WIDTH, GAP, HEIGHT, MARGIN, TOP = 206, 22, 236, 12, 40
INK, SOFT = "#1c2230", "#4a5261"
COLOURS = {"you": "#1a4f8b", "platform": "#7a4a10", "container": "#8b1a3f", "student": "#16603f"}


@dataclass(frozen=True)
class Step:
    """A step: who does it (a key of COLOURS), where, its title, and lines; a line with ` before it is code."""

    who: str
    where: str
    title: str
    lines: tuple[str, ...]


IN_CONTAINER = (
    "as root: the tests, the seed",
    "and the result",
    "",
    "as another user: the",
    "student's code, which can",
    "read none of these and has",
    "no network",
)
PLATFORMS = {
    "gradescope": (
        Step(
            "you",
            "your machine",
            "Make the package",
            ("`grading package", "`  02_softmax", "`  --for gradescope", "", "makes", "`02_softmax-gradescope.zip"),
        ),
        Step(
            "platform",
            "Gradescope, teacher",
            "Upload it, once",
            (
                "Configure Autograder:",
                "the zip",
                "",
                "setup.sh installs torch, the",
                "grader and their pinned",
                "versions",
            ),
        ),
        Step(
            "platform",
            "Gradescope, student",
            "Hand in",
            (
                "one notebook, placed in",
                "`/autograder/submission",
                "",
                "Each submission gets a",
                "container of its own.",
            ),
        ),
        Step("container", "the container", "Grade", ("`run_autograder", *IN_CONTAINER)),
        Step(
            "student",
            "what the student sees",
            "The result",
            (
                "`results.json",
                "a test per requirement, with",
                "points, the mistake by its",
                "name and what to look at;",
                "hidden cases stay hidden.",
                "What a person grades has",
                "no status yet.",
            ),
        ),
    ),
    "prairielearn": (
        Step(
            "you",
            "your machine",
            "Make the package",
            (
                "`grading package",
                "`  02_softmax",
                "`  --for prairielearn",
                "",
                "makes the folder",
                "`02_softmax-prairielearn",
            ),
        ),
        Step(
            "you",
            "a machine with Docker",
            "Build the image, once",
            ("from the folder `image`:", "`docker build, docker push", "", "Its name goes into", "`info.json"),
        ),
        Step(
            "platform",
            "PrairieLearn, teacher",
            "Add the question",
            ("The folder goes into the", "course's `questions`.", "", "Sync the course, and load", "the image."),
        ),
        Step("container", "the container", "Grade", ("`tests/run.sh", *IN_CONTAINER)),
        Step(
            "student",
            "what the student sees",
            "The result",
            (
                "`results.json",
                "the score, and a test per",
                "requirement with points and",
                "the mistake by its name.",
                "A file that cannot be read",
                "is not gradable, and costs",
                "no attempt.",
            ),
        ),
    ),
    "classroom50": (
        Step(
            "you",
            "your machine",
            "Make the package",
            (
                "`grading package",
                "`  02_softmax",
                "`  --for classroom50",
                "",
                "It has no seed, no hidden",
                "test and no solution.",
            ),
        ),
        Step(
            "platform",
            "your organization",
            "Place its parts",
            (
                "`template",
                "the assignment's template",
                "`autograder",
                "into the repository",
                "classroom50: students can",
                "read it.",
            ),
        ),
        Step(
            "container",
            "the student's repository",
            "Check each push",
            (
                "`autograder.py",
                "runs `attention check` on",
                "practice cases from a",
                "public seed. Student code",
                "runs as the same user, and",
                "could write its own result.",
            ),
        ),
        Step(
            "student",
            "what the student sees",
            "A provisional result",
            (
                "`result.json",
                "the points, and the mistake",
                "by its name.",
                "It is called provisional.",
            ),
        ),
        Step(
            "you",
            "your machine",
            "The official grade",
            (
                "`gh teacher download",
                "`grading collect",
                "`grading grade",
                "",
                "with your secret seed, in",
                "your sandbox",
            ),
        ),
    ),
}


def draw(name: str, steps: tuple[Step, ...]) -> str:
    """The picture of one platform."""
    width = 2 * MARGIN + len(steps) * WIDTH + (len(steps) - 1) * GAP
    label = f"{name}: " + "; ".join(f"{number}. {step.title}" for number, step in enumerate(steps, 1))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT}" role="img" aria-label="{label}">',
        f"<style>text{{font:13px 'DejaVu Sans',Verdana,sans-serif;fill:{INK}}}.code{{font-family:'DejaVu Sans Mono',"
        "Menlo,Consolas,monospace;font-size:12px}.title{font-weight:bold;font-size:15px}"
        f".where{{font-size:12px;fill:{SOFT}}}.number{{fill:#fff;font-weight:bold}}</style>",
        f'<rect width="{width}" height="{HEIGHT}" fill="#ffffff"/>',
    ]
    for index, step in enumerate(steps):
        parts += _draw_step(index, step)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _draw_step(index: int, step: Step) -> list[str]:
    left, colour = MARGIN + index * (WIDTH + GAP), COLOURS[step.who]
    middle = HEIGHT / 2
    parts = [
        f'<rect x="{left}" y="{MARGIN}" width="{WIDTH}" height="{HEIGHT - 2 * MARGIN}" rx="8" fill="#f7f8fa"'
        f' stroke="{colour}" stroke-width="1.5"/>',
        f'<circle cx="{left + 22}" cy="{MARGIN + 22}" r="12" fill="{colour}"/>',
        f'<text class="number" x="{left + 22}" y="{MARGIN + 27}" text-anchor="middle">{index + 1}</text>',
        f'<text class="where" x="{left + 42}" y="{MARGIN + 26}">{escape(step.where)}</text>',
        f'<text class="title" x="{left + 14}" y="{MARGIN + TOP + 16}">{escape(step.title)}</text>',
    ]
    if index:
        start, end = left - GAP + 3, left - 4
        arrow = f"M{start} {middle}H{end - 1}M{end - 8} {middle - 5}L{end} {middle}L{end - 8} {middle + 5}"
        parts.append(f'<path d="{arrow}" fill="none" stroke="{SOFT}" stroke-width="2"/>')
    for number, line in enumerate(step.lines):
        code = line.startswith("`")
        text = escape(line.removeprefix("`") if code else line.replace("`", "")).replace("  ", "\u00a0\u00a0")
        name = ' class="code"' if code else ""
        parts.append(f'<text{name} x="{left + 14}" y="{MARGIN + TOP + 40 + 17 * number}">{text}</text>')
    return parts


if __name__ == "__main__":
    for platform, drawn in PLATFORMS.items():
        (IMAGES / f"platform-{platform}.svg").write_text(draw(platform, drawn), encoding="utf-8")
