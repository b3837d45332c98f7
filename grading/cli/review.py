"""The verb review: grade by hand in a local page."""

from __future__ import annotations

import argparse

from grading.safe_text import say

from ..errors import UsageError
from .arguments import Commands


def add_commands(commands: Commands) -> None:
    review = commands.add("review", "Grade answers by hand in a local page, question by question.", _review)
    review.add_argument("lesson", nargs="?", default="", metavar="LESSON", help="lesson or nbgrader assignment")
    review.add_argument("question", nargs="?", default="", metavar="QUESTION", help="question to open (default: first)")
    review.add_argument("--lesson", dest="by_option", default="", metavar="LESSON", help="the same as LESSON")
    review.add_argument("--anonymous", action="store_true", help="hide who wrote an answer until you ask")
    review.add_argument("--as", dest="by", default="", metavar="NAME", help="your name, for others who grade too")
    review.add_argument("--port", type=int, default=0, metavar="N", help="port on this machine (default: a free one)")
    review.add_argument("--no-browser", action="store_true", help="print the address and open no browser")


def _review(options: argparse.Namespace) -> int:
    from ..coordinator.review_course import review

    lesson, question = options.lesson, options.question
    if options.by_option:
        lesson, question = options.by_option, options.lesson
    if not lesson:
        raise UsageError("name the lesson, by LESSON or --lesson")
    return review(
        options.root,
        lesson,
        question,
        by=options.by,
        port=options.port,
        names=not options.anonymous,
        browser=not options.no_browser,
        tell=lambda text: say(text, flush=True),
    )
