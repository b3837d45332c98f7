"""The mutants that may survive, each with the reason in words: those as right as what they were made of, and those that
differ from it only where no kernel grades.

grader_tests/NN_lesson/<exercise>/equivalent.toml groups them by reason:

    [[equivalent]]
    why = "A product of two numbers has no order."
    mutants = [
        'solution 1a2b3c4d, line 3: return a * b -> return b * a',
    ]

A mutant is named by what it was made of, the hash of that text, and the edit: where the text changes, the reason has
to be thought of again.
"""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from ..errors import EquivalentsFileError

FILE = "equivalent.toml"
UNKNOWN = ""  # the reason of a survivor that nobody has looked at


def read_equivalents(folder: Path) -> dict[str, str]:
    """Mutant -> why it is right, of one exercise; empty where there is no list. Raises EquivalentsFileError."""
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


def written(mutants: Iterable[str], reasons: Mapping[str, str]) -> str:
    """The list as text: mutants by their reasons, and those without any first, for a person to think of one.

    reasons  mutant -> why; where a mutant's base was changed since, what was said of the same edit is offered again
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
    """A text as TOML: as it is in single quotes, or with escapes, which are those of JSON."""
    plain = "'" not in text and text.isprintable() and '"' in text
    return f"'{text}'" if plain else json.dumps(text, ensure_ascii=False)


def _edit(mutant: str) -> str:
    """The change and its answer, whatever else was changed there: neither the base's hash nor the line."""
    base, _, edit = mutant.partition(", line ")
    return f"{base.split()[0]} {edit.partition(': ')[2]}"
