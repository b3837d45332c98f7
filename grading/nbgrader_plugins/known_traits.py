"""The settings that a configuration may have: nbgrader's, its plugins' and ours.

traitlets ignores a setting that no class has, so that a misspelt one does nothing. Here it is found, with the name
that may be meant.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

from traitlets import Container, Dict, HasTraits, TraitError, TraitType
from traitlets.config import Config, Configurable
from traitlets.config.loader import LazyConfigValue
from traitlets.utils.importstring import import_item

from grading.errors import ConfigFileError, SettingError

from ..course_dir.course_config import load_config

MODULES = (  # with the classes that a course's configuration may name without importing them
    "nbgrader.apps",
    "nbgrader.auth",
    "nbgrader.plugins",
    "grading.authoring.student_install",
    *(f"grading.nbgrader_plugins.{name}" for name in ("execute", "feedback_exporter", "late_policy")),
    *(f"grading.nbgrader_plugins.{name}" for name in ("release_exporter", "submission_exporter", "csv_exporters")),
    "grading.plugins.lms.zip_collect",
)
SETTING = re.compile(r"\s*c\.(\w+)\.(\w+)\s*=")
Traits = Mapping[str, TraitType[Any, Any]]


def unknown_traits(config: Config) -> list[str]:
    """Say what is wrong with each unknown name in a configuration, one line per name."""
    _import_named(config)
    known = _known()
    lines = []
    for section, settings in config.items():
        if section not in known:
            lines.append(
                f"no class {section}{_meant(section, known)} ({', '.join(f'{section}.{n}' for n in settings)})"
            )
            continue
        lines += [
            f"{section} has no setting {name}{_meant(name, known[section], f'{section}.')}"
            for name in settings
            if name not in known[section]
        ]
    return lines


def demand_known_settings(config_file: Path) -> None:
    """Raise ConfigFileError for each unknown setting in nbgrader_config.py, with its line."""
    _check_settings(config_file, config_file.stat().st_mtime_ns)


@lru_cache(maxsize=8)
def _check_settings(config_file: Path, _: int) -> None:
    config = load_config(config_file.parent)
    if not unknown_traits(config):
        return
    found = []
    for number, line in enumerate(config_file.read_text(encoding="utf-8").splitlines(), 1):
        if setting := SETTING.match(line):
            one = Config({setting[1]: {setting[2]: config[setting[1]].get(setting[2])}})
            found += [f"{config_file.name}:{number}: {problem}" for problem in unknown_traits(one)]
    raise ConfigFileError("\n".join(found or [f"{config_file.name}: {line}" for line in unknown_traits(config)]))


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
    if unknown := unknown_traits(config):
        raise SettingError(f"nothing was done: {'; '.join(unknown)}")
    known = _known()
    for (section, name), given in values.items():
        trait = known[section][name]
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


def _known() -> Mapping[str, Traits]:
    """Loaded configurable classes by name, with their and their subclasses' settings."""
    for module in MODULES:
        import_module(module)
    found: dict[str, dict[str, TraitType[Any, Any]]] = {}
    for cls in _subclasses(Configurable):
        for parent in cls.mro():
            if issubclass(parent, Configurable):
                traits = found.setdefault(parent.__name__, {})
                for name, trait in cls.class_traits(config=True).items():
                    traits.setdefault(name, trait)
    return found


def _subclasses(cls: type[Configurable]) -> Iterator[type[Configurable]]:
    yield cls
    for sub in cls.__subclasses__():
        yield from _subclasses(sub)


def _import_named(value: Any) -> None:
    """Import the classes that a configuration names, so that their settings are known."""
    if isinstance(value, Mapping):
        for item in value.values():
            _import_named(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _import_named(item)
    elif isinstance(value, LazyConfigValue):
        _import_named(value.get_value([]))  # what is added to a list
    elif isinstance(value, str) and value.replace(".", "").isidentifier() and "." in value.strip("."):
        try:
            import_item(value)
        except Exception:  # a module may raise anything; its user will report it
            return


def _meant(name: str, known: Iterable[str], before: str = "") -> str:
    names = {one.lower(): one for one in known}
    near = get_close_matches(name.lower(), names, 1)
    return f"; did you mean {before}{names[near[0]]}?" if near else ""
