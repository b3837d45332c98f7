"""Plug-ins, for everything optional: each adds verbs, settings and more to the core, which imports none of them.

To add one, for example for your LMS: make a package whose `__init__.py` has a `PLUGIN`, as `grading/plugins/canvas/`
has, and add its name to `PLUGINS` below. If the package is not in this repository, name it in the environment variable
GRADING_PLUGINS instead, with spaces between several. Every command imports the module with the `PLUGIN`, so it must
import nothing slow. A plug-in may import everything of the core; `grading.cli.arguments` has what verbs share.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import Any, NamedTuple

PLUGINS = tuple(
    f"grading.plugins.{name}"
    for name in ("site", "lms", "canvas", "hub", "platforms", "review", "people", "migrate", "cluster")
)


class Verb(NamedTuple):
    """A verb of `grading`.

    summary  one imperative line
    module   module of the plug-in whose `add_commands` declares its arguments
    before   the verb that follows it in `grading --help all` (default: it is the last of its group)
    term     whether `grading --help` lists it, with the others that a teacher needs in every term
    """

    name: str
    summary: str
    module: str = "verbs"
    before: str = ""
    term: bool = False


class Plugin(NamedTuple):
    """The additions of a plug-in.

    verbs     by their group in `grading --help all`
    settings  name of the module with its keys of course.toml: classes that derive from `CourseFile` and `LessonEntry`
    workers   "module:function" that opens workers at an address, for `--scheduler` (`coordinator.executors.Workers`)
    web_site  "module:function" that writes the lessons as a web site, for `grading publish --site`
    """

    verbs: Mapping[str, tuple[Verb, ...]] = MappingProxyType({})
    settings: str = ""
    workers: str = ""
    web_site: str = ""


@cache
def load_plugins() -> dict[str, Plugin]:
    """The plug-ins by the name of their package."""
    names = [*PLUGINS, *os.environ.get("GRADING_PLUGINS", "").split()]
    return {name: import_module(name).PLUGIN for name in names}


def find_function(part: str) -> Callable[..., Any]:
    """The function that a plug-in brings for a part of `Plugin`, such as "workers"."""
    module, _, name = next(filter(None, (getattr(plugin, part) for plugin in load_plugins().values()))).partition(":")
    return getattr(import_module(module), name)  # type: ignore[no-any-return]
