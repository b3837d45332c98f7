"""The lessons as a web site: `make site`, `grading site`."""

from __future__ import annotations

from grading.plugin import Plugin, Verb

PLUGIN = Plugin(
    verbs=(Verb("site", "Write the released lessons as a web site.", "grading.plugins.site.verbs", "Release"),),
    web_site="grading.plugins.site.build:build_site",
)
