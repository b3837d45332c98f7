"""JUnit XML, as CI servers read it: a test suite per exercise, a test case per criterion.

The form has no standard; these elements and attributes are those that CI servers have in common. Points are
properties of the suites.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from xml.etree import ElementTree as ET

from grading.points import points_text

from .file_result import FileResult, ResultForm, ResultRow

NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write(result: FileResult) -> str:
    """Answers that a person grades are skipped; a file that cannot be read is an error."""
    root = ET.Element("testsuites", name=result.lesson)
    if result.unreadable:
        suite = _suite(root, result.lesson, [], result)
        case = ET.SubElement(suite, "testcase", classname=result.lesson, name="the file can be read")
        ET.SubElement(case, "error", message=_clean(result.unreadable))
        suite.set("tests", "1")
        suite.set("errors", "1")
    else:
        for exercise, rows in groupby(result.rows(), key=lambda row: row.exercise):
            _suite(root, exercise, list(rows), result)
    ET.indent(root, " ")
    return ET.tostring(root, encoding="unicode", xml_declaration=True)


def _suite(root: ET.Element, name: str, rows: Sequence[ResultRow], result: FileResult) -> ET.Element:
    states = [row.status for row in rows]
    counts = {"tests": len(rows), "failures": states.count("failed"), "errors": 0, "skipped": states.count("open")}
    suite = ET.SubElement(root, "testsuite", {"name": name, **{key: str(count) for key, count in counts.items()}})
    properties = ET.SubElement(suite, "properties")
    for key, value in (("points", sum(row.earned for row in rows)), ("most", sum(row.points for row in rows))):
        ET.SubElement(properties, "property", name=key, value=points_text(value))
    for row in rows:
        case = ET.SubElement(suite, "testcase", classname=f"{result.lesson}.{name}", name=row.name or "the answer")
        if row.status != "passed":
            tag = "skipped" if row.status == "open" else "failure"
            ET.SubElement(case, tag, message=_clean(row.headline)).text = _clean(row.text)
    return suite


def _clean(text: str) -> str:
    return NOT_IN_XML.sub("\ufffd", text)


FORM = ResultForm("junit.xml", write)
