"""Sequences of operations on a `PagedCache`.

Ids of texts and numbers of pages may be chosen freely. So tables are observed with their pages renumbered in the order
in which they first appear, and the pool through the tables.
"""

import math

import torch

from grading.exercises.exercise import EXERCISE, Script, helper, method, ref

G, K = 2, 3


class Session:
    """A script of operations on one cache, which keeps account of pages to know which of them are possible.

    Texts have the names "a", "b", … . `draw` may be None: numbers are then whole and count up.
    """

    def __init__(self, draw, n_pages, page_size, g=G, k=K):
        self.draw, self.n_pages, self.page_size, self.sizes = draw, n_pages, page_size, (g, k)
        self.s, self.told, self.seen = Script(), [f"PagedCache({n_pages}, {page_size}, {g}, {k})"], []
        self.kinds = {}  # by observed step: its kind, what it is about, the operation before it
        self.cache = self.s.call(EXERCISE, n_pages, page_size, g, k, name="cache")
        self.ids, self.pages, self.lengths = {}, {}, {}  # by text; a page is an object of its own
        self.count = 0
        # The storage must stay the same from the beginning
        self.pools = [self.s.call(helper("attribute"), self.cache, name, name=name) for name in ("keys", "values")]

    def _observe(self, node, kind, about=""):
        self.seen.append(node)
        self.kinds[node.fields["name"]] = [kind, about, self.told[-1] if len(self.told) > 1 else ""]

    def _text(self, node):
        name = "abcdefghijklmnopqrstuvwxyz"[len(self.ids)]
        self.ids[name] = node
        return name

    def new(self):
        name = self._text(self.s.call(method(self.cache, "new"), name=f"id_{len(self.ids)}"))
        self.pages[name], self.lengths[name] = [], 0
        self.told.append(f"{name} = new()")
        return name

    def rows(self, T):
        """(key, value) for T positions."""
        shape = (T, *self.sizes)
        if self.draw is not None:
            return self.draw.normal(*shape), self.draw.normal(*shape)
        size = math.prod(shape)
        key = torch.arange(self.count, self.count + size, dtype=torch.float32).reshape(shape)
        self.count += size
        return key, -key

    def needed(self, text, T):
        """(whether a page is copied, how many pages are taken)."""
        row = self.lengths[text] % self.page_size
        others = [page for other, pages in self.pages.items() if other != text for page in pages]
        copied = row > 0 and any(page is self.pages[text][-1] for page in others)
        return copied, math.ceil((self.lengths[text] + T) / self.page_size) - len(self.pages[text]) + copied

    @property
    def n_free(self):
        return self.n_pages - len({id(page) for pages in self.pages.values() for page in pages})

    def append(self, text, T):
        copied, taken = self.needed(text, T)
        assert taken <= self.n_free, "not possible"
        if copied:
            self.pages[text][-1] = object()
        self.pages[text] += [object() for _ in range(taken - copied)]
        self.lengths[text] += T
        self.s.call(method(self.cache, "append"), self.ids[text], *self.rows(T))
        self.told.append(f"append({text}, {T} positions)")

    def fork(self, text):
        name = self._text(self.s.call(method(self.cache, "fork"), self.ids[text], name=f"id_{len(self.ids)}"))
        self.pages[name], self.lengths[name] = list(self.pages[text]), self.lengths[text]
        self.told.append(f"{name} = fork({text})")
        return name

    def free(self, text):
        del self.pages[text], self.lengths[text]
        self.s.call(method(self.cache, "free"), self.ids[text])
        self.told.append(f"free({text})")

    def fails(self, name, text, *args, words=()):
        """An operation that must raise; `text` may be any id. See the helper `refusal` for `words`."""
        node = self.ids.get(text, text) if isinstance(text, str) else text
        made = self.s.call(
            helper("refusal"), [list(some) for some in words], method(self.cache, name), node, *args,
            name=f"refused_{len(self.seen)}",
        )  # fmt: skip
        shapes = [str(tuple(value.shape)) for value in args]
        self._observe(made, "refused", f"{name}({', '.join([str(text), *shapes])})")
        self.told.append(f"{name}({', '.join([str(text), *shapes])}) fails")

    def lacks_room(self, text, T):
        """An append for which too few pages are free."""
        assert self.needed(text, T)[1] > self.n_free, "possible"
        self.fails("append", text, *self.rows(T))

    def read(self, *texts):
        """Observe what these texts read; default: all there are."""
        for text in texts or self.pages:
            made = self.s.call(method(self.cache, "read"), self.ids[text], name=f"read_{text}_{len(self.seen)}")
            self._observe(made, "read", text)

    def n_free_now(self):
        made = self.s.call(helper("attribute"), self.cache, "n_free", name=f"n_free_{len(self.seen)}")
        self._observe(made, "free")

    def shapes(self):
        """Observe the shapes of the pool."""
        for pool, name in zip(self.pools, ("keys", "values"), strict=True):
            self._observe(self.s.call(helper("attribute"), pool, "shape", name=f"shape_of_{name}"), "shape", name)

    def snapshot(self, *texts):
        """The names of these texts and their tables, to observe by `tables`; default: all there are."""
        names = list(texts or self.pages)
        return ", ".join(names), [self.s.call(method(self.cache, "table"), self.ids[text]) for text in names]

    def tables(self, *snapshots):
        """Observe snapshots together, by default one of now.

        No page may be freed and taken again between the first and the last: it might be another one as well.
        """
        found = snapshots or (self.snapshot(),)
        made = self.s.call(helper("renumbered"), [tables for _, tables in found], name=f"tables_{len(self.seen)}")
        about = [names for names, _ in found]
        self._observe(made, "tables", "; then of ".join(names or "no text" for names in about))

    def distinct_ids(self):
        """Observe the ids of all texts that there ever were, renumbered."""
        made = self.s.call(helper("renumbered"), [*self.ids.values()], name=f"ids_{len(self.seen)}")
        self._observe(made, "ids")

    def stored(self, text):
        """Observe a text's positions in the pool as it was made, through the text's table."""
        assert self.lengths[text]
        table = self.s.call(method(self.cache, "table"), self.ids[text])
        for pool, what in zip(self.pools, ("keys", "values"), strict=True):
            pages = self.s.call(method(pool, "__getitem__"), table)
            rows = self.s.call(method(pages, "flatten"), 0, 1)
            name = f"{what}_of_{text}_{len(self.seen)}"
            made = self.s.call(method(rows, "narrow"), 0, 0, self.lengths[text], name=name)
            self._observe(made, "stored", f"{what} of {text}")

    def everything(self):
        """Observe all texts, tables and the number of free pages."""
        self.read()
        self.tables()
        self.n_free_now()

    def case(self, label="", types=False):
        """The case. With `types`, results are compared with their types, else as they are in words."""
        made = self.s.case(*self.seen).label(label or "; ".join(self.told))
        return made if types else made.check_with("like_a_right_cache", told=self.kinds)


def at_random(draw, n_pages, page_size, operations):
    """A session of random operations, some of which fail, and what is seen on the way."""
    play = Session(draw, n_pages, page_size)
    play.new()
    for _ in range(operations):
        play_one(draw, play)
        if draw.integer(0, 4) == 0 and play.pages:
            play.read(pick(draw, play))
            play.tables()
            play.n_free_now()
    play.distinct_ids()
    if play.pages:
        play.everything()
    return play


def pick(draw, play):
    return list(play.pages)[draw.integer(0, len(play.pages))]


def play_one(draw, play):
    """One random operation: mostly append and fork, seldom free, with at most five texts at once."""
    kind = draw.integer(0, 10)
    if not play.pages or (kind == 0 and len(play.pages) < 5 and len(play.ids) < 20):
        play.new()
        return
    text = pick(draw, play)
    if kind <= 2 and len(play.pages) < 5 and len(play.ids) < 20:
        play.fork(text)
    elif kind == 3 and len(play.pages) > 1:
        play.free(text)
    elif kind == 4:
        gone = [name for name in play.ids if name not in play.pages]
        if gone:
            play.fails("read", gone[draw.integer(0, len(gone))])
    else:
        T = draw.integer(1, 2 * play.page_size + 1)
        if play.needed(text, T)[1] > play.n_free:
            play.lacks_room(text, T)
            play.free(text)
        else:
            play.append(text, T)


def remembered(draw):
    """A read whose result must stay although its page is used again, and one that is written into."""
    play = Session(draw, 1, 3)
    play.append(play.new(), 2)
    play.read("a")
    play.free("a")
    play.append(play.new(), 3)
    play.read("b")
    found = play.s.call(method(play.cache, "read"), play.ids["b"], name="found")
    for i in (0, 1):
        play.s.call(method(ref(found.name, i), "fill_"), 7.0)
    play.read("b")
    return play


def table_written_into(draw):
    """A table into which the caller writes: the cache has its own."""
    play = Session(draw, 4, 2)
    play.append(play.new(), 3)
    table = play.s.call(method(play.cache, "table"), play.ids["a"], name="table_of_caller")
    play.s.call(method(table, "append"), 0)
    play.append("a", 2)
    play.everything()
    return play
