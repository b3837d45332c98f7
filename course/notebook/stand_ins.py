"""Stand-ins: what the lesson's own cells have under the names of exercises and steps.

A cell is *given* if it came with the lesson; its literals may differ. While it runs, the names of the lesson's
exercises and steps, and of those of earlier lessons that its given cells use, are bound to stand-ins. The first call of
a stand-in in a cell tries the learner's function on its visible examples. If they pass, the stand-in calls that
function, and otherwise the package's right one. After the cell the learner's own bindings are back, and a line below it
names the course's functions that it used.

Everywhere else a stand-in is the learner's own function: in other cells, in `check`, and where an answer is graded. So
nobody gains by keeping one. Those who run a given cell inside an answer call a function of the package, which is
recognised (`course.harness.forbidden_calls`).

Does not cover: who says which cells are given (`grading/authoring/given_cells.py`), the right functions
(`course.models.right_functions`).
"""

from __future__ import annotations

import ast
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

from ..harness import time_limits
from ..harness.forbidden_calls import is_watching
from ..harness.sentences import listed
from ..report import GREY
from ..report_html import inline_markdown
from . import catalog
from .check_run import passes_examples
from .follow_through import globals_used, replaced, right_function_for
from .prior_answers import find_prior_answer
from .saved_notebook import parse

if TYPE_CHECKING:
    from .session import Session

CALL = 60.0  # seconds of processor time per call, which may train a model (see `TrainingProgress`)
STYLE = f"margin:2px 0;font-size:85%;color:{GREY}"


class StandIn:
    """The learner's function if it passes, else the course's; in a subclass's bases, the class that it stands for."""

    def __init__(self, name: str, group: StandIns) -> None:
        self.__name__ = self.__qualname__ = name
        self._group = group

    @property
    def passes(self) -> bool:
        """Whether it calls the learner's function."""
        return self._group.chosen(self.__name__) is not None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._group.call(self.__name__, args, kwargs)

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        return getattr(self._group.function(self.__name__), attribute)

    def __mro_entries__(self, _: tuple[Any, ...]) -> tuple[Any, ...]:
        return (self._group.function(self.__name__),)

    def __repr__(self) -> str:
        return f"<{self.__name__}, yours once it passes>"


class StandIns:
    """The stand-ins of a session's lesson.

    right  right functions of the lesson's own; the package has those of its lessons
    """

    def __init__(self, session: Session, right: Mapping[str, Callable[..., Any]] | None = None) -> None:
        lesson = session.lesson
        given = catalog.given_of(lesson) if lesson else {}
        self.session, self._bound = session, False
        self._cells = frozenset(given.get("cells", ()))
        self._lessons = dict.fromkeys(session.tasks, lesson) | given.get("earlier", {})
        self._made = {name: StandIn(name, self) for name in self._lessons}
        self._own: dict[str, Any] = {}  # the learner's bindings of these names while a given cell runs
        self._chosen: dict[str, Any] = {}  # what was tried in this cell: the learner's function, or None
        self._used: dict[str, str] = {}  # the course's functions that this cell used -> what the learner's raised
        self._right: dict[str, Any] = dict(right or {})

    @property
    def is_open(self) -> bool:
        """Whether a given cell runs, or a slider draws as in one; never in a call that is watched for what it uses."""
        return self._bound and not is_watching()

    def enter_cell(self, text: str) -> None:
        """Bind the stand-ins if a cell with this text is given, and try those that it uses."""
        if cell_hash(text) in self._cells and self._open():
            self.try_used(text)

    def try_used(self, text: str) -> None:
        """Try the stand-ins that this code names, and those that the named functions use.

        Tried later, perhaps by a function that measures what it calls, they would be measured as well.
        """
        names, used = {**self.session.names, **self._own}, set(re.findall(r"\w+", text))
        used |= globals_used([names[name] for name in used if name in names], names)
        for name in self._made:
            if name in used:
                self.chosen(name)

    def leave_cell(self) -> str:
        """Put the learner's own bindings back; the line below the cell, "" for none."""
        if not self._bound:
            return ""
        self._close()
        return self.credit()

    @contextmanager
    def given(self) -> Iterator[None]:
        """Run this block as a given cell, unless it is in one."""
        if self._bound or not self._open():
            yield
            return
        try:
            yield
        finally:
            self._close()

    @contextmanager
    def closed(self) -> Iterator[None]:
        """Give this block the learner's own bindings."""
        if not self.is_open:
            yield
            return
        names = self.session.names
        bound = [name for name, made in self._made.items() if names.get(name) is made]
        for name in bound:
            del names[name]
        self._bound = False
        try:
            with replaced(names, {name: self._own[name] for name in bound if name in self._own}):
                yield
        finally:
            names.update((name, self._made[name]) for name in bound)
            self._bound = True

    def stand_in(self, name: str, lesson: str) -> StandIn:
        """The stand-in of an exercise, also of an earlier lesson."""
        if name not in self._made:
            self._lessons[name], self._made[name] = lesson, StandIn(name, self)
        return self._made[name]

    def own(self, f: Any) -> Any:
        """The learner's own function, if `f` is a stand-in for it; else `f`."""
        return self._own_function(f.__name__) if isinstance(f, StandIn) else f

    def chosen(self, name: str) -> Any:
        """The learner's function if it passes here, else None."""
        if not self.is_open:
            return self._own_function(name)
        if name not in self._chosen:
            with self.closed():
                self._chosen[name] = self._passing(name)
        return self._chosen[name]

    def function(self, name: str) -> Any:
        """The function that a stand-in stands for: the learner's, or the course's."""
        mine = self.chosen(name)
        return self._course_function(name) if mine is None else mine

    def call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call what a stand-in stands for; the course's also where the learner's raises or returns None."""
        mine, gradients = self.chosen(name), torch.is_grad_enabled()
        if mine is None:
            return self._course_function(name)(*args, **kwargs)
        if not self.is_open or self._right_function(name) is None:
            return mine(*args, **kwargs)
        try:
            with time_limits.limit(CALL):
                result = mine(*args, **kwargs)
            if result is not None:  # None if a `return` was forgotten
                return result
            raised = "returned None"
        except time_limits.CallTimeout:
            self.session.hung.known[name], raised = mine, "did not end"
        except Exception as error:
            raised = f"raised {type(error).__name__}"
        finally:
            torch.set_grad_enabled(gradients)  # an answer may have turned them off for good
        self._chosen[name] = None
        return self._course_function(name, raised)(*args, **kwargs)

    def credit(self) -> str:
        """The sentences on the course's functions that the cell used; "" for none."""
        waiting = [name for name, raised in self._used.items() if not raised]
        said = [
            f"With the course's `{name}`, because yours {raised} here." for name, raised in self._used.items() if raised
        ]
        if waiting:
            passes = "pass" if len(waiting) > 1 else "passes"
            said.insert(0, f"With the course's {listed(waiting)}, until yours {passes}.")
        return " ".join(said)

    def _open(self) -> bool:
        """Bind the stand-ins; not in a call that is watched for forbidden functions. Returns whether it did."""
        if is_watching():
            return False
        names = self.session.names
        self._own = {name: names[name] for name in self._made if name in names}
        self._chosen, self._used = {}, {}
        names.update(self._made)
        self._bound = True
        return True

    def _close(self) -> None:
        """Put the learner's own bindings back, but for names that the cell itself has bound."""
        self._bound, names = False, self.session.names
        for name, made in self._made.items():
            if names.get(name) is made:
                del names[name]
                names.update({name: self._own[name]} if name in self._own else {})
        self._own = {}

    def _own_function(self, name: str) -> Any:
        own = (self._own if self._bound else self.session.names).get(name)
        return placeholder(name) if own is None or isinstance(own, StandIn) else own

    def _passing(self, name: str) -> Any:
        lesson, f = self._lessons[name], self._own_function(name)
        if lesson != self.session.lesson:
            return find_prior_answer(self.session, lesson, name)
        try:
            return f if f not in self.session.hung and passes_examples(self.session, f, name) else None
        except Exception:
            return None

    def _right_function(self, name: str) -> Any:
        if name not in self._right:
            lesson = self._lessons[name]
            data = (catalog.known_exercises(lesson) | catalog.tasks_of(lesson))[name]
            self._right[name] = right_function_for(lesson, name, data)
        return self._right[name]

    def _course_function(self, name: str, raised: str = "") -> Any:
        right = self._right_function(name)
        if right is None:
            return self._own_function(name)
        self._used.setdefault(name, raised)
        return right


def placeholder(name: str) -> Callable[..., Any]:
    """A function for an exercise that is not written yet."""

    def missing(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{name} is not written yet")

    missing.__name__ = missing.__qualname__ = name
    return missing


def as_in_this_cell(draw: Callable[..., str]) -> Callable[..., str]:
    """`draw`, which returns HTML, for calls after this cell: with stand-ins and their line, if the cell is given."""
    from .session import current  # which imports this module

    stand_ins = current().stand_ins
    if not stand_ins.is_open:
        return draw

    def drawn(*args: Any) -> str:
        with stand_ins.given():
            html = draw(*args)
        return html + credit_html(stand_ins.credit())

    return drawn


def credit_html(said: str) -> str:
    """The line below a cell or a slider's picture, as HTML."""
    return f'<p style="{STYLE}">{inline_markdown(said)}</p>' if said else ""


def cell_hash(text: str) -> str:
    """A hash of a cell's code without its literals; "" if it has none, or cannot be read."""
    tree = parse(text)
    return f"{zlib.crc32(repr(_form(tree)).encode()):08x}" if tree is not None and tree.body else ""


def _form(value: Any) -> Any:
    """A syntax tree as nested tuples without literals, and without what depends on the version of Python."""
    if isinstance(value, list):
        return tuple(map(_form, value))
    if not isinstance(value, ast.AST):
        return value
    if isinstance(value, ast.JoinedStr):  # where its constant parts begin and end depends on the version
        value = ast.Tuple([part for part in value.values if isinstance(part, ast.FormattedValue)], ast.Load())
    if _is_literal(value):
        return ""
    fields = ((name, field) for name, field in ast.iter_fields(value) if field not in (None, []) and name != "ctx")
    return (type(value).__name__, *((name, _form(field)) for name, field in fields))


def _is_literal(node: ast.AST) -> bool:
    """Whether a node is a constant, or made of constants: a learner may change it."""
    if isinstance(node, ast.Tuple | ast.List | ast.Set | ast.UnaryOp | ast.BinOp | ast.Dict):
        parts = [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
        return all(map(_is_literal, parts)) and not (isinstance(node, ast.Dict) and None in node.keys)
    return isinstance(node, ast.Constant)
