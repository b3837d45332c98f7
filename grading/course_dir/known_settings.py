"""Find settings that no class has, with the name that may be meant.

traitlets only warns of them, and only once their class is used.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Iterable, Mapping
from copy import deepcopy
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any

from traitlets import Container, Dict, HasTraits, TraitError, TraitType
from traitlets.config import Config, Configurable
from traitlets.config.loader import LazyConfigValue
from traitlets.utils.importstring import import_item

from grading.errors import ConfigFileError, SettingError

from .paths import CONFIG

MODULES = (  # with the classes that a course's configuration may name without importing them
    *(f"nbgrader.{name}" for name in ("apps", "auth", "plugins")),
    "grading.authoring.student_install",
    *(f"grading.nbgrader_plugins.{name}" for name in ("execute", "feedback_exporter", "late_policy")),
    *(f"grading.nbgrader_plugins.{name}" for name in ("release_exporter", "submission_exporter", "csv_exporters")),
    "grading.plugins.lms.zip_collect",
)
SETTING = re.compile(r"\s*c\.(\w+)\.(\w+)\s*=")


def demand_known_settings(config: Config, root: Path) -> None:
    """Raise ConfigFileError for each setting that no class has, with its line in nbgrader_config.py."""
    if not (problems := unknown_settings(config)):
        return
    found = []
    for number, line in enumerate((root / CONFIG).read_text(encoding="utf-8").splitlines(), 1):
        if (setting := SETTING.match(line)) and setting[1] in config:
            own = Config({setting[1]: {setting[2]: config[setting[1]].get(setting[2])}})
            found += [f"{CONFIG}:{number}: {problem}" for problem in unknown_settings(own)]
    raise ConfigFileError("\n".join(found or [f"{CONFIG}: {problem}" for problem in problems]))


def unknown_settings(config: Config) -> list[str]:
    """Say what is wrong with each unknown name in a configuration, one line per name."""
    if not _unknown(config):
        return []
    _import_named(config)  # slow, as it may import torch, and needed only for classes that a course adds
    return _unknown(config)


def _unknown(config: Config) -> list[str]:
    classes = _classes()
    lines = []
    for section, settings in config.items():
        if section not in classes:
            names = ", ".join(f"{section}.{name}" for name in settings)
            lines.append(f"no class {section}{_meant(section, classes)} ({names})")
            continue
        known = _settings_of(classes[section])
        lines += [
            f"{section} has no setting {name}{_meant(name, known, f'{section}.')}"
            for name in settings
            if name not in known
        ]
    return lines


def parse_settings(texts: Iterable[tuple[str, str, str]]) -> Config:
    """Parse (class, setting, value) from a command line. Raises SettingError.

    A list is written as in Python, or as its items one after the other.
    """
    values: dict[tuple[str, str], list[str]] = {}
    for section, name, value in texts:
        values.setdefault((section, name), []).append(value)
    config = Config()
    for section, name in values:
        config[section][name] = ""
    if unknown := unknown_settings(config):
        raise SettingError(f"nothing was done: {'; '.join(unknown)}")
    classes = _classes()
    for (section, name), given in values.items():
        trait = _settings_of(classes[section])[name]
        try:
            config[section][name] = _value(trait, given)
        except (TraitError, ValueError, SyntaxError) as error:
            raise SettingError(f"--{section}.{name}={given[-1]}: expected {trait.info()}") from error
    return config


def _value(trait: TraitType[Any, Any], given: list[str]) -> Any:
    """Parse the value of one setting. Raises TraitError, ValueError, SyntaxError."""
    value: Any
    if not isinstance(trait, (Container, Dict)):
        value = trait.from_string(given[-1])
    elif len(given) == 1 and given[0][:1] in ("[", "(", "{"):
        value = literal_eval(given[0])
    else:
        value = given
    return trait._validate(HasTraits(), value)


def _classes() -> dict[str, list[type[Configurable]]]:
    """Loaded configurable classes by name."""
    for module in MODULES:
        import_module(module)
    found: dict[str, list[type[Configurable]]] = {}
    for cls in _with_subclasses([Configurable]):
        found.setdefault(cls.__name__, []).append(cls)
    return found


def _settings_of(classes: Iterable[type[Configurable]]) -> dict[str, TraitType[Any, Any]]:
    """The settings of classes and of their subclasses, which read them too."""
    every = [cls.class_traits(config=True) for cls in _with_subclasses(classes)]
    return {name: trait for traits in reversed(every) for name, trait in traits.items()}  # their own come first


def _with_subclasses(classes: Iterable[type[Configurable]]) -> list[type[Configurable]]:
    """These classes, followed by their subclasses, each once."""
    found = dict.fromkeys(classes)
    waiting = list(found)
    while waiting:
        new = [cls for cls in waiting.pop().__subclasses__() if cls not in found]
        found.update(dict.fromkeys(new))
        waiting += new
    return list(found)


def _import_named(value: Any) -> None:
    """Import the classes that a configuration names, so that their settings are known."""
    if isinstance(value, Mapping):
        for item in value.values():
            _import_named(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _import_named(item)
    elif isinstance(value, LazyConfigValue):
        _import_named(deepcopy(value).get_value([]))  # what is added to a list; a lazy value keeps its first answer
    elif isinstance(value, str) and value.replace(".", "").isidentifier() and "." in value.strip("."):
        try:
            import_item(value)
        except Exception:  # a module may raise anything; its user will report it
            return


def _meant(name: str, known: Iterable[str], before: str = "") -> str:
    names = {one.lower(): one for one in known}
    near = get_close_matches(name.lower(), names, 1)
    return f"; did you mean {before}{names[near[0]]}?" if near else ""
