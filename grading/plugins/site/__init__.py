"""The lessons as a web site: `make site`, `grading site` (docs/course.md)."""

from __future__ import annotations

from grading.plugin import Plugin, Verb

PLUGIN = Plugin(
    verbs={
        "Release": (Verb("site", "Write the released lessons as a web site."),),
    },
    web_site=f"{__name__}.build:build_site",
)
