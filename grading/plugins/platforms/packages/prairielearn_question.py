"""PrairieLearn's question with an external grader: https://prairielearn.readthedocs.io/en/latest/externalGrading (read
2026-11-27).

PrairieLearn copies the question's `tests` folder to /grade/tests and what a student uploaded to /grade/student, and
starts the question's image with `entrypoint`, as root and without a network. Students see neither `tests` nor the
image. So the image has the grader alone, and the lesson changes with the question.
"""

from __future__ import annotations

import json
import uuid
from typing import Any

from .package import LessonFiles, Package, grading_files, set_up_files, text

TIMEOUT = 600  # seconds, the longest that PrairieLearn allows; a notebook is limited to less
NAMESPACE = uuid.UUID("6f0f6c6e-0b0a-4c4e-9a6c-3f2b1c6d7e58")  # of the questions' ids, which stay as they are


def _files(lesson: LessonFiles) -> dict[str, bytes]:
    # From what the image is built, and so a new image for new versions only
    image = {f"image/{path}": content for path, content in set_up_files(lesson).items()}
    tests = {f"tests/{path}": content for path, content in grading_files(lesson, "prairielearn").items()}
    return {
        "info.json": json.dumps(_info(lesson), indent=2).encode() + b"\n",
        "question.html": text("question.html", lesson=lesson.lesson, files=sorted(lesson.student)),
        **{f"clientFilesQuestion/{path}": content for path, content in lesson.student.items()},
        "tests/run.sh": text("prairielearn_run.sh"),
        **tests,
        "image/Dockerfile": text("prairielearn_dockerfile", python=lesson.python),
        **image,
    }


def _info(lesson: LessonFiles) -> dict[str, Any]:
    return {
        "uuid": str(uuid.uuid5(NAMESPACE, lesson.lesson)),
        "title": lesson.title,
        "topic": "Attention",
        "type": "v3",
        "singleVariant": True,
        "gradingMethod": "External",
        "externalGradingOptions": {
            "enabled": True,
            "image": IMAGE,
            "entrypoint": "/grade/tests/run.sh",
            "timeout": TIMEOUT,
        },
    }


IMAGE = "YOUR-NAME/attention-grader"  # the teacher writes the name under which the image was pushed
RUN = frozenset({"tests/run.sh", "tests/grade.sh", "image/set_up.sh"})
PACKAGE = Package(False, _files, RUN)
