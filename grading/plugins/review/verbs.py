"""The verb review: grade by hand in a local page."""

from __future__ import annotations

import argparse

from grading.cli.arguments import Commands
from grading.safe_text import say


def add_commands(commands: Commands) -> None:
    review = commands.add("review", _review, example="review 02_softmax --anonymous")
    review.add_argument("lesson", metavar="LESSON", help="lesson or nbgrader assignment")
    review.add_argument(
        "question", nargs="?", default="", metavar="QUESTION", help="question to open (default: the first)"
    )
    review.add_argument("--anonymous", action="store_true", help="answers without names, until you ask for one")
    review.add_argument(
        "--as", dest="by", default="", metavar="NAME", help="name that other graders see (default: your user name)"
    )
    review.add_argument("--port", type=int, default=0, metavar="N", help="port on this machine (default: a free one)")
    review.add_argument("--no-browser", action="store_true", help="only the address, without opening a browser")


def _review(options: argparse.Namespace) -> int:
    from .review_course import review

    return review(
        options.course,
        options.lesson,
        options.question,
        by=options.by,
        port=options.port,
        names=not options.anonymous,
        browser=not options.no_browser,
        tell=lambda text: say(text, flush=True),
    )
