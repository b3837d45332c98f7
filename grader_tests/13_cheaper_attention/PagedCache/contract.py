"""`PagedCache`: keys and values of several texts in one pool of pages, some of which they share."""

import torch

from grading.exercises.exercise import EXERCISE, Script, call, exercise, method, non_contiguous

from .cases import G, K, Session, at_random, remembered, table_written_into

paged_cache = exercise(
    "PagedCache",
    see="Exercise: `PagedCache(n_pages, page_size, n_kv_heads, d_head)`",
    hints=(
        "Three numbers describe where position p of a text is: which ones? What must be known of a page to decide "
        "whether it is free, and whether another text has it?",
        "Keep for each text its list of pages and its length, and for each page the number of texts that have it. "
        "`fork` copies the list and counts up, `free` counts down, and a page with the count 0 is free. In `append`, "
        "look at everything that can fail before you change anything.",
        "`append` has four parts, in this order. Check the shapes. Find out whether the last page must be copied: is "
        "the next position on it, and does another text have it? Count the pages that are needed, the copy included, "
        "and raise MemoryError if too few are free. Then copy, take the pages, and write each position to its page.",
    ),
)


@paged_cache.oracle
class PagedOracle:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        for name, number in (
            ("n_pages", n_pages), ("page_size", page_size), ("n_kv_heads", n_kv_heads), ("d_head", d_head),
        ):  # fmt: skip
            if number < 1:
                raise ValueError(f"{name} is {number}, and must be at least 1")
        self.keys = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.values = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self._places = {}  # by text: the (page, row) of every position
        self._made = 0

    def _pages(self, text):
        return list(dict.fromkeys(page for page, _ in self._places[text]))

    def _idle(self):
        used = {page for places in self._places.values() for page, _ in places}
        return [page for page in range(len(self.keys)) if page not in used]

    @property
    def n_free(self):
        return len(self._idle())

    def new(self):
        self._made += 1
        self._places[self._made] = []
        return self._made

    def append(self, text, key, value):
        places = self._places[text]
        for name, part in (("key", key), ("value", value)):
            if part.ndim != 3 or part.shape[1:] != self.keys.shape[2:] or len(part) < 1:
                raise ValueError(f"{name} has shape {tuple(part.shape)}, which is not (T, G, K)")
        if len(key) != len(value):
            raise ValueError(f"key has shape {tuple(key.shape)} and value {tuple(value.shape)}")
        size, idle = self.keys.shape[1], self._idle()
        new, moved = list(places), {}
        if len(places) % size:
            last = places[-1][0]
            if any((last, 0) in other for name, other in self._places.items() if name != text):
                if not idle:
                    raise MemoryError("no page for a copy")
                moved = {last: idle.pop(0)}
                new = [(moved.get(page, page), row) for page, row in places]
        for _ in range(len(key)):
            if len(new) % size:
                new.append((new[-1][0], new[-1][1] + 1))
            elif idle:
                new.append((idle.pop(0), 0))
            else:
                raise MemoryError("no page for a new position")
        for last, copy in moved.items():
            for pool in (self.keys, self.values):
                pool[copy] = pool[last]
        for (page, row), k, v in zip(new[len(places) :], key.detach(), value.detach()):
            self.keys[page, row], self.values[page, row] = k, v
        self._places[text] = new

    def read(self, text):
        places = self._places[text]
        empty = self.keys.new_zeros(0, *self.keys.shape[2:])
        if not places:
            return empty, empty.clone()
        return tuple(torch.stack([pool[place] for place in places]) for pool in (self.keys, self.values))

    def fork(self, text):
        places = list(self._places[text])
        name = self.new()
        self._places[name] = places
        return name

    def free(self, text):
        del self._places[text]

    def table(self, text):
        return self._pages(text)


@paged_cache.example("three positions and two more, on pages of two")
def _():
    play = Session(None, 4, 2, 1, 2)
    play.append(play.new(), 3)
    play.append("a", 2)
    play.everything()
    play.stored("a")
    yield play.case()


@paged_cache.example("two texts share a page, until one of them writes to it")
def _():
    play = Session(None, 4, 2, 1, 2)
    play.append(play.new(), 3)
    play.fork("a")
    play.n_free_now()
    before = play.snapshot()
    play.append("b", 1)
    play.tables(before, play.snapshot())
    play.n_free_now()
    play.read()
    yield play.case()


@paged_cache.example("a text is freed, and its page used again")
def _():
    play = Session(None, 2, 2, 1, 2)
    play.append(play.new(), 2)
    play.fork("a")
    play.free("a")
    play.n_free_now()
    play.free("b")
    play.n_free_now()
    play.append(play.new(), 4)
    play.everything()
    play.distinct_ids()
    yield play.case()


@paged_cache.example("too few pages, and a text that is gone: nothing changes")
def _():
    play = Session(None, 2, 2, 1, 2)
    play.append(play.new(), 3)
    play.lacks_room("a", 3)
    play.everything()
    play.new()
    play.free("b")
    play.fails("read", "b")
    play.everything()
    yield play.case()


paged_cache.example("pages of no position", call(4, 0, 1, 2).raises("page_size"))


@paged_cache.example("plain numbers, and float32", check_types=True)
def _():
    play = Session(None, 3, 2, 1, 2)
    play.append(play.new(), 3)
    play.read("a")
    play.n_free_now()
    play.distinct_ids()
    yield play.case(types=True)


@paged_cache.criterion("what is appended is read", points=0.5)
def _(draw):
    for page_size, lengths in ((4, (3, 1, 4, 2)), (3, (7, 5)), (1, (2, 3)), (8, (1, 1, 1)), (5, (5, 5, 1))):
        play = Session(draw, 16, page_size)
        play.new()
        for T in lengths:
            play.append("a", T)
            play.read("a")
        yield play.case()
    play = Session(draw, 6, 3, 1, 4)
    play.new()
    play.read("a")
    play.append("a", 2)
    play.append(play.new(), 4)
    play.new()
    play.append("a", 5)
    play.append("b", 1)
    play.read()
    yield play.case()


@paged_cache.criterion("one pool, made once, in which the tables say where everything is", points=0.75)
def _(draw):
    for n_pages, page_size, lengths in ((5, 3, (2, 5, 1)), (7, 2, (1, 1, 6)), (4, 4, (4, 4)), (3, 1, (2, 1))):
        play = Session(draw, n_pages, page_size)
        play.shapes()
        play.n_free_now()
        play.new()
        play.tables()
        snapshots = []
        for T in lengths:
            play.append("a", T)
            snapshots.append(play.snapshot())
            play.n_free_now()
            play.stored("a")
        play.tables(*snapshots)
        yield play.case()
    play = Session(draw, 8, 3)
    play.append(play.new(), 4)
    play.append(play.new(), 2)
    play.append("a", 3)
    play.append("b", 2)
    play.stored("a")
    play.stored("b")
    play.everything()
    yield play.case()
    yield remembered(draw).case()
    yield table_written_into(draw).case()


@paged_cache.criterion("fork shares pages, and append copies a shared page first", points=1.25)
def _(draw):
    for page_size, before, by, T in ((4, 6, "b", 1), (4, 6, "a", 3), (3, 5, "b", 8), (2, 1, "a", 1)):
        play = Session(draw, 9, page_size)
        play.append(play.new(), before)
        play.fork("a")
        first = play.snapshot()
        play.n_free_now()
        play.read("b")
        play.append(by, T)
        second = play.snapshot()
        play.n_free_now()
        play.append("b" if by == "a" else "a", 2)  # it has the page to itself now: nothing is copied
        play.tables(first, second, play.snapshot())
        play.n_free_now()
        play.read()
        play.stored("a")
        play.stored("b")
        yield play.case()
    # At the end of a page a new one is taken, and nothing copied
    play = Session(draw, 6, 2)
    play.append(play.new(), 4)
    play.fork("a")
    first = play.snapshot()
    play.append("b", 1)
    play.append("a", 1)
    play.tables(first, play.snapshot())
    play.n_free_now()
    play.read()
    yield play.case()
    # Three texts: the second to write copies, too; the last does not
    play = Session(draw, 8, 4)
    play.append(play.new(), 2)
    play.fork("a")
    play.fork("b")
    snapshots = [play.snapshot()]
    for text in ("b", "c", "a"):
        play.append(text, 1)
        snapshots.append(play.snapshot())
        play.n_free_now()
    play.tables(*snapshots)
    play.read()
    yield play.case()
    # Both go on in turns, each in rows of its own page that the other has written in its own
    play = Session(draw, 8, 5)
    play.append(play.new(), 1)
    play.fork("a")
    for text, T in (("a", 1), ("b", 3), ("a", 1)):
        play.append(text, T)
    play.read()
    yield play.case()
    # The other text is gone, so the page is shared no longer
    play = Session(draw, 5, 4)
    play.append(play.new(), 3)
    play.fork("a")
    first = play.snapshot("b")
    play.free("a")
    play.append("b", 1)
    play.tables(first, play.snapshot("b"))
    play.everything()
    yield play.case()
    # A fork of nothing, and a fork that goes on beside its original
    play = Session(draw, 7, 3)
    play.fork(play.new())
    play.append("b", 2)
    play.append("a", 4)
    play.fork("b")
    play.append("c", 4)
    play.distinct_ids()
    play.everything()
    yield play.case()
    # Just enough pages for a copy, and for one new page beside it
    play = Session(draw, 4, 2)
    play.append(play.new(), 3)
    play.fork("a")
    play.append("b", 2)
    play.everything()
    yield play.case()


@paged_cache.criterion("free pages are used again, shared ones are not free", points=0.5)
def _(draw):
    play = Session(draw, 3, 2)
    play.append(play.new(), 6)
    play.n_free_now()
    play.free("a")
    play.n_free_now()
    play.append(play.new(), 5)
    play.everything()
    play.distinct_ids()
    yield play.case()
    play = Session(draw, 5, 2)
    play.append(play.new(), 5)
    play.fork("a")
    play.append("b", 2)
    play.free("a")
    play.n_free_now()
    play.append(play.new(), 2)
    play.everything()
    play.free("b")
    play.n_free_now()
    play.append("c", 6)
    play.everything()
    yield play.case()
    play = Session(draw, 4, 3)
    play.append(play.new(), 4)
    play.fork("a")
    play.fork("a")
    for text in ("b", "a", "c"):
        play.free(text)
        play.n_free_now()
    play.free(play.new())
    play.append(play.new(), 12)
    play.everything()
    play.distinct_ids()
    yield play.case()


@paged_cache.criterion("errors, after which everything is as before", points=1)
def _(draw):
    # Too few pages: for new positions, for a copy, and for a copy and a new page
    play = Session(draw, 3, 2)
    play.append(play.new(), 3)
    play.lacks_room("a", 4)
    play.everything()
    play.append("a", 3)
    play.lacks_room("a", 1)
    play.everything()
    yield play.case()
    play = Session(draw, 3, 3)
    play.append(play.new(), 8)
    play.fork("a")
    play.lacks_room("b", 1)
    play.everything()
    play.free("a")
    play.append("b", 1)
    play.everything()
    yield play.case()
    play = Session(draw, 3, 2)
    play.append(play.new(), 3)
    play.fork("a")
    play.lacks_room("b", 2)
    play.everything()
    play.append("b", 1)
    play.everything()
    yield play.case()
    # Texts that do not exist, or no longer
    play = Session(draw, 4, 2)
    play.append(play.new(), 3)
    play.append(play.new(), 1)
    play.free("a")
    for name in ("read", "fork", "free", "table"):
        play.fails(name, "a")
        play.fails(name, 987)
        play.fails(name, -1)
    play.fails("append", "a", *play.rows(1))
    play.fails("append", 987, *play.rows(2))
    play.append("b", 2)
    play.everything()
    yield play.case()
    # Wrong shapes
    play = Session(draw, 60, 2)  # broken appends must not exhaust it
    play.append(play.new(), 1)
    right = draw.normal(2, G, K)
    for shape in ((2, K, G), (G, K), (2, G, K + 1), (1, 2, G, K), (0, G, K), (2, 1, K)):
        wrong = draw.normal(*shape)
        play.fails("append", "a", wrong, right, words=[["key"], [list(shape)]])
        play.fails("append", "a", right, wrong, words=[["value"], [list(shape)]])
    nothing = draw.normal(0, G, K)
    play.fails("append", "a", nothing, nothing, words=[["key", "value"], [[0, G, K]]])
    for T in (1, 3):
        wrong = draw.normal(T, G, K)
        # Both shapes are right but for T: the two numbers of positions say it as well as a shape
        words = [["key", "value"], [[2, G, K], [T, G, K], [2], [T]]]
        play.fails("append", "a", right, wrong, words=words)
        play.fails("append", "a", wrong, right, words=words)
    play.append("a", 2)
    play.everything()
    yield play.case("appends with wrong shapes, and then a right one")
    for i, name in enumerate(("n_pages", "page_size", "n_kv_heads", "d_head")):
        for number in (0, -2):
            yield call(*[number if j == i else 3 + j for j in range(4)]).raises(name)
    yield call(n_pages=1, page_size=1, n_kv_heads=1, d_head=1).does_not_raise()


@paged_cache.criterion("any sequence of operations", points=0.5)
def _(draw):
    for n_pages, page_size, operations in ((8, 3, 20), (12, 2, 30), (6, 4, 25), (20, 1, 20), (10, 5, 30)):
        label = f"PagedCache({n_pages}, {page_size}, {G}, {K}): {operations} random operations"
        yield at_random(draw, n_pages, page_size, operations).case(label).timeout(10)


@paged_cache.criterion("float32, whole numbers, no gradient, arguments left alone", points=0.5, check_types=True)
def _(draw):
    play = Session(draw, 4, 2)
    play.append(play.new(), 3)
    play.fork("a")
    play.append("b", 2)
    play.distinct_ids()
    play.everything()
    yield play.case(types=True)
    for dtype in (torch.float32, torch.float64):
        s = Script(key=draw.normal(3, G, K, dtype=dtype), value=draw.normal(3, G, K, dtype=dtype))
        cache = s.call(EXERCISE, 3, 2, G, K, name="cache")
        text = s.call(method(cache, "new"), name="text")
        s.call(method(cache, "append"), text, s.key, s.value)
        s.call(method(cache, "read"), text, name="read")
        case = s.case().label(f"key and value {str(dtype).removeprefix('torch.')}")
        yield case.with_gradients() if dtype == torch.float32 else case.does_not_mutate()
    s = Script(key=non_contiguous(draw.normal(3, G, K)), value=non_contiguous(draw.normal(3, G, K)))
    cache = s.call(EXERCISE, 5, 2, G, K, name="cache")
    text = s.call(method(cache, "new"), name="text")
    s.call(method(cache, "append"), text, s.key, s.value)
    s.call(method(cache, "fork"), text)
    s.call(method(cache, "append"), text, s.key, s.value)
    s.call(method(s.key, "fill_"), 0.0)
    s.call(method(cache, "read"), text, name="read")
    yield s.case().may_mutate("key").label("key and value are kept although the caller changes them afterwards")
