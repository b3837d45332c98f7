"""Mutants that may survive, each with its reason.

Either a mutant is as correct as its base, or it differs only where no kernel grades.
grader_tests/NN_lesson/<exercise>/equivalent.toml groups them by reason:

    [[equivalent]]
    why = "A product of two numbers has no order."
    mutants = [
        'solution 1a2b3c4d, line 3: return a * b -> return b * a',
    ]

A mutant's name consists of its base, the hash of the base's text, and the edit. So if the text changes, an author has
to reconsider the reason.
"""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from ..errors import EquivalentsFileError

FILE = "equivalent.toml"
UNKNOWN = ""  # the reason of a survivor that no author has looked at


def read_equivalents(folder: Path) -> dict[str, str]:
    """Mutant -> reason, of one exercise; empty without a list.

    Raises EquivalentsFileError.
    """
    path = folder / FILE
    if not path.exists():
        return {}
    try:
        groups = tomllib.loads(path.read_text(encoding="utf-8"))["equivalent"]
        reasons = [(group["why"].strip(), group["mutants"]) for group in groups]
    except (tomllib.TOMLDecodeError, KeyError, TypeError, AttributeError) as error:
        raise EquivalentsFileError(f"{path}: expected a list of groups with `why` and `mutants`: {error}") from None
    count = Counter(mutant for _, mutants in reasons for mutant in mutants)
    if twice := [mutant for mutant, times in count.items() if times > 1]:
        raise EquivalentsFileError(f"{path} names a mutant twice: {twice[0]}")
    return {mutant: why for why, mutants in reasons for mutant in mutants}


def to_toml(mutants: Iterable[str], reasons: Mapping[str, str]) -> str:
    """The list as text: mutants by reason, those without a reason first.

    reasons  mutant -> why; if a mutant's base has changed since, the old reason of the same edit is suggested
    """
    edits = {_edit(mutant): why for mutant, why in reasons.items()}
    groups: dict[str, list[str]] = {}
    for mutant in mutants:
        groups.setdefault(reasons.get(mutant) or edits.get(_edit(mutant), UNKNOWN), []).append(mutant)
    return "\n".join(_group(why, groups[why]) for why in sorted(groups, key=lambda why: (why != UNKNOWN, groups[why])))


def _group(why: str, mutants: list[str]) -> str:
    lines = [f"    {_quoted(mutant)}," for mutant in sorted(mutants)]
    return "\n".join(["[[equivalent]]", f"why = {_quoted(why)}", "mutants = [", *lines, "]", ""])


def _quoted(text: str) -> str:
    """A text as a TOML string: unchanged in single quotes, or with JSON's escapes."""
    plain = "'" not in text and text.isprintable() and '"' in text
    return f"'{text}'" if plain else json.dumps(text, ensure_ascii=False)


def _edit(mutant: str) -> str:
    """The change and its answer, whatever else was changed there: neither the base's hash nor the line."""
    base, _, edit = mutant.partition(", line ")
    return f"{base.split()[0]} {edit.partition(': ')[2]}"
