"""Names from version 0.1, which its notebooks use; importable until version 0.3.

`from course import growing` and `from course.growing import grown` return the objects under their names of today.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

#: Attributes of `course.figures`: old name -> name
FIGURES = {"described": "with_alt_text"}
#: Modules: old name -> new name
MOVED = {
    "course.figures.growing": "course.figures.staged_model",
    "course.figures.heads": "course.figures.multi_head",
    "course.figures.opened": "course.figures.inspection",
    "course.figures.rotation": "course.figures.rope",
    "course.following": "course.notebook.progress_bars",
    "course.gpt": "course.models.gpt",
    "course.growing": "course.notebook.staged_model",
    "course.hub": "course.models.pretrained",
    "course.interactive": "course.widgets.sliders",
    "course.protocol.making": "course.harness.allocation_probe",
    "course.specimens": "course.sample_models",
    "course.tales": "course.models.story_corpus",
}
#: Names inside those modules: old module -> old name -> name in the new module
RENAMED = {
    "course.figures.growing": {"so_far": "built_so_far"},
    "course.figures.opened": {"looking": "attention_maps"},
    "course.following": {"following": "TrainingProgress"},
    "course.gpt": {
        "Letters": "CharTokenizer",
        "as_stored": "model_over_checkpoint",
        "shipped": "load_bundled_model",
    },
    "course.growing": {
        "grown": "current_model",
        "refitted": "with_new_attention",
    },
    "course.hub": {"BytePairs": "BytePairTokenizer", "Published": "PretrainedModel"},
    "course.protocol.making": {"Making": "AllocationProbe"},
    "course.tales": {"tales": "generate_stories"},
}


class RenamedModule(ModuleType):
    """A module under its old name, which looks up every attribute in today's module."""

    def __init__(self, name: str, now: str, renamed: Mapping[str, str]) -> None:
        super().__init__(name, f"Now `{now}`.")
        self._now, self._renamed = now, renamed

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(import_module(self._now), self._renamed.get(name, name))


class OldNames(MetaPathFinder, Loader):
    """Finds modules by a table such as `MOVED`, if no file has the name.
    moved    old module -> module
    renamed  old module -> old name in it -> name
    """

    def __init__(self, moved: Mapping[str, str], renamed: Mapping[str, Mapping[str, str]]) -> None:
        self.moved, self.renamed = moved, renamed
        self.packages = {name.rpartition(".")[0] for name in moved}

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if fullname in self.moved or fullname in self.packages:
            return ModuleSpec(fullname, self, is_package=fullname in self.packages)
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        now = self.moved.get(spec.name)
        return RenamedModule(spec.name, now, self.renamed.get(spec.name, {})) if now else None

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: a `RenamedModule` looks names up when they are used."""


def install() -> None:
    """Make the old names importable, once."""
    sys.meta_path.append(OldNames(MOVED, RENAMED))
