"""Write the result of one graded file as a platform reads it: one module for each form.

`FORMS` has them by the names that `grading grade-file --as` takes. docs/platforms.md says where each form is published.
"""

from __future__ import annotations

from . import classroom50, gradescope, junit, plain_json, prairielearn
from .file_result import FileResult, ResultForm

__all__ = ["FORMS", "FileResult", "ResultForm"]

FORMS: dict[str, ResultForm] = {
    "json": plain_json.FORM,
    "gradescope": gradescope.FORM,
    "prairielearn": prairielearn.FORM,
    "classroom50": classroom50.FORM,
    "junit": junit.FORM,
}
