"""Right answers to `PagedCache` in other styles."""

import math

import torch
from torch import nn


# %% CountingTexts
class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        if n_pages < 1:
            raise ValueError(f"n_pages must be at least 1, not {n_pages}")
        if page_size < 1:
            raise ValueError(f"page_size must be at least 1, not {page_size}")
        if n_kv_heads < 1:
            raise ValueError(f"n_kv_heads must be at least 1, not {n_kv_heads}")
        if d_head < 1:
            raise ValueError(f"d_head must be at least 1, not {d_head}")
        self.page_size = page_size
        self.keys = torch.empty(n_pages, page_size, n_kv_heads, d_head)
        self.values = torch.empty(n_pages, page_size, n_kv_heads, d_head)
        self.count = [0] * n_pages
        self.texts = {}
        self.next_id = 0

    @property
    def n_free(self):
        return self.count.count(0)

    def take(self):
        page = self.count.index(0)
        self.count[page] = 1
        return page

    def new(self):
        self.next_id += 1
        self.texts[self.next_id] = ([], 0)
        return self.next_id

    def append(self, text, key, value):
        table, length = self.texts[text]
        wanted = tuple(self.keys.shape[2:])
        for name, x in [("key", key), ("value", value)]:
            if x.dim() != 3 or tuple(x.shape[1:]) != wanted or x.shape[0] == 0:
                raise ValueError(f"{name} has shape {tuple(x.shape)}, expected (T, {wanted[0]}, {wanted[1]})")
        if key.shape[0] != value.shape[0]:
            raise ValueError(f"key has shape {tuple(key.shape)}, but value has {tuple(value.shape)}")
        row = length % self.page_size
        copy = row != 0 and self.count[table[-1]] > 1
        pages = -(-(length + len(key)) // self.page_size)
        if pages - len(table) + copy > self.n_free:
            raise MemoryError("not enough free pages")
        table = list(table)
        if copy:
            shared, page = table[-1], self.take()
            self.keys[page] = self.keys[shared]
            self.values[page] = self.values[shared]
            self.count[shared] -= 1
            table[-1] = page
        while len(table) < pages:
            table.append(self.take())
        for i in range(len(key)):
            page, row = table[(length + i) // self.page_size], (length + i) % self.page_size
            self.keys[page, row] = key[i].detach()
            self.values[page, row] = value[i].detach()
        self.texts[text] = (table, length + len(key))

    def read(self, text):
        table, length = self.texts[text]
        keys = [self.keys[table[i // self.page_size], i % self.page_size] for i in range(length)]
        values = [self.values[table[i // self.page_size], i % self.page_size] for i in range(length)]
        if length == 0:
            return self.keys.new_empty(0, *self.keys.shape[2:]), self.values.new_empty(0, *self.keys.shape[2:])
        return torch.stack(keys), torch.stack(values)

    def fork(self, text):
        table, length = self.texts[text]
        for page in table:
            self.count[page] += 1
        twin = self.new()
        self.texts[twin] = (list(table), length)
        return twin

    def free(self, text):
        table, _ = self.texts.pop(text)
        for page in table:
            self.count[page] -= 1

    def table(self, text):
        return list(self.texts[text][0])


# %% SetsOfReaders
class PagedCache:
    def __init__(self, n_pages: int, page_size: int, n_kv_heads: int, d_head: int) -> None:
        for name in ("n_pages", "page_size", "n_kv_heads", "d_head"):
            if locals()[name] <= 0:
                raise ValueError(f"{name} = {locals()[name]}")
        self.keys, self.values = torch.zeros(2, n_pages, page_size, n_kv_heads, d_head).unbind(0)
        self._readers = {page: set() for page in range(n_pages)}
        self._tables, self._lengths, self._ids = {}, {}, 0

    @property
    def n_free(self) -> int:
        return sum(not readers for readers in self._readers.values())

    def new(self) -> int:
        text = self._ids
        self._ids += 1
        self._tables[text], self._lengths[text] = [], 0
        return text

    def append(self, text: int, key: torch.Tensor, value: torch.Tensor) -> None:
        table, length = self._tables[text], self._lengths[text]
        T, size = key.shape[0] if key.ndim else 0, self.keys.shape[1]
        if key.ndim != 3 or key.shape[1:] != self.keys.shape[2:] or T < 1:
            raise ValueError(f"wrong key: {list(key.shape)}")
        if value.shape != key.shape:
            raise ValueError(f"wrong value: {list(value.shape)}; the key is {list(key.shape)}")
        free = [page for page, readers in self._readers.items() if not readers]
        shared = table[-1] if length % size and len(self._readers[table[-1]]) > 1 else None
        kept = table[:-1] if shared is not None else table[:]
        fresh = math.ceil((length + T) / size) - len(kept)
        if fresh > len(free):
            raise MemoryError(f"{fresh} pages wanted, {len(free)} free")
        table = kept + free[:fresh]
        for page in free[:fresh]:
            self._readers[page].add(text)
        if shared is not None:
            self.keys[table[len(kept)]].copy_(self.keys[shared])
            self.values[table[len(kept)]].copy_(self.values[shared])
            self._readers[shared].discard(text)
        with torch.no_grad():
            flat = torch.tensor([table[p // size] * size + p % size for p in range(length, length + T)])
            self.keys.view(-1, *key.shape[1:]).index_copy_(0, flat, key.to(self.keys.dtype))
            self.values.view(-1, *key.shape[1:]).index_copy_(0, flat, value.to(self.values.dtype))
        self._tables[text], self._lengths[text] = table, length + T

    def read(self, text: int):
        table = torch.tensor(self._tables[text], dtype=torch.long)
        length = self._lengths[text]
        return self.keys[table].flatten(0, 1)[:length], self.values[table].flatten(0, 1)[:length]

    def fork(self, text: int) -> int:
        table, length = self._tables[text], self._lengths[text]
        twin = self.new()
        self._tables[twin], self._lengths[twin] = table.copy(), length
        for page in table:
            self._readers[page].add(twin)
        return twin

    def free(self, text: int) -> None:
        for page in self._tables[text]:
            self._readers[page].remove(text)
        del self._tables[text], self._lengths[text]

    def table(self, text: int) -> list:
        return self._tables[text][:]


# %% AQueueOfFreePages
from collections import Counter, deque


class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        sizes = dict(n_pages=n_pages, page_size=page_size, n_kv_heads=n_kv_heads, d_head=d_head)
        for name, size in sizes.items():
            if not size >= 1:
                raise ValueError(f"{name} is {size}")
        self.page_size, self.shape = page_size, (n_kv_heads, d_head)
        self.keys = torch.full((n_pages, page_size, n_kv_heads, d_head), float("nan"))
        self.values = torch.full_like(self.keys, float("nan"))
        self.queue, self.n_free = deque(range(n_pages)), n_pages
        self.shared = Counter()
        self.text_pages, self.text_length = {}, {}
        self.last = 100

    def pop(self):
        page = self.queue.popleft()
        self.n_free -= 1
        self.shared[page] = 1
        return page

    def new(self):
        self.last += 1
        self.text_pages[self.last] = []
        self.text_length[self.last] = 0
        return self.last

    def append(self, text, key, value):
        if text not in self.text_pages:
            raise KeyError(text)
        if key.ndim != 3 or tuple(key.shape[1:]) != self.shape or len(key) < 1:
            raise ValueError(f"key: {tuple(key.shape)}")
        if value.ndim != 3 or tuple(value.shape[1:]) != self.shape or len(value) != len(key):
            raise ValueError(f"value: {tuple(value.shape)}")
        pages, length = self.text_pages[text], self.text_length[text]
        room = len(pages) * self.page_size - length
        copying = room > 0 and self.shared[pages[-1]] > 1
        missing = max(0, math.ceil((len(key) - room) / self.page_size))
        if missing + copying > self.n_free:
            raise MemoryError(f"no room for {len(key)} positions")
        if copying:
            old, pages[-1] = pages[-1], self.pop()
            used = self.page_size - room
            for pool in (self.keys, self.values):
                pool[pages[-1], :used] = pool[old, :used]
            self.shared[old] -= 1
        pages.extend(self.pop() for _ in range(missing))
        done = 0
        while done < len(key):
            page, row = divmod(length + done, self.page_size)
            n = min(self.page_size - row, len(key) - done)
            for pool, rows in ((self.keys, key), (self.values, value)):
                pool[pages[page], row : row + n] = rows.detach()[done : done + n]
            done += n
        self.text_length[text] = length + len(key)

    def gather(self, pool, text):
        parts, left = [pool[:0, 0]], self.text_length[text]
        for page in self.text_pages[text]:
            parts.append(pool[page, : min(left, self.page_size)])
            left -= len(parts[-1])
        return torch.cat(parts)

    def read(self, text):
        return self.gather(self.keys, text), self.gather(self.values, text)

    def fork(self, text):
        pages = self.text_pages[text]
        self.shared.update(pages)
        self.text_pages[twin := self.new()] = pages.copy()
        self.text_length[twin] = self.text_length[text]
        return twin

    def free(self, text):
        for page in self.text_pages.pop(text):
            self.shared[page] -= 1
            if self.shared[page] == 0:
                self.queue.append(page)
                self.n_free += 1
        del self.text_length[text]

    def table(self, text):
        return [*self.text_pages[text]]


# %% OwnersFoundBySearching
class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        arguments = {"n_pages": n_pages, "page_size": page_size, "n_kv_heads": n_kv_heads, "d_head": d_head}
        wrong = [f"{name} is {number}" for name, number in arguments.items() if number < 1]
        if wrong:
            raise ValueError(", ".join(wrong))
        self.keys = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.values = self.keys.clone()
        self.tables = {}
        self.lengths = {}
        self.made = 0

    def used(self):
        return {page for table in self.tables.values() for page in table}

    @property
    def n_free(self):
        return self.keys.shape[0] - len(self.used())

    def new(self):
        self.made = self.made + 1
        self.tables[self.made] = []
        self.lengths[self.made] = 0
        return self.made

    def check(self, name, x):
        G, K = self.keys.shape[2:]
        if x.ndim != 3 or x.shape[1] != G or x.shape[2] != K or x.shape[0] < 1:
            raise ValueError(f"{name} must be (T, {G}, {K}), but has shape {tuple(x.shape)}")

    def append(self, text, key, value):
        old_table, old_length = self.tables[text], self.lengths[text]
        self.check("key", key)
        self.check("value", value)
        if len(key) != len(value):
            raise ValueError(f"key and value do not fit: {tuple(key.shape)}, {tuple(value.shape)}")
        size = self.keys.shape[1]
        before = self.read(text)
        idle = sorted(set(range(len(self.keys))) - self.used())
        whole = old_length // size
        table = old_table[:whole]  # full pages stay
        if old_length % size:
            last = old_table[-1]
            if sum(last in other for other in self.tables.values()) == 1:
                table.append(last)
        while len(table) * size < old_length + len(key):
            if not idle:
                raise MemoryError
            table.append(idle.pop())
        start = whole * size
        for pool, kept, added in zip((self.keys, self.values), before, (key, value)):
            rows = torch.cat([kept[start:], added.detach().to(kept)])
            for i, row in enumerate(rows):
                pool[table[(start + i) // size], (start + i) % size] = row
        self.tables[text], self.lengths[text] = table, old_length + len(key)

    def read(self, text):
        places = [page * self.keys.shape[1] + row for page in self.tables[text] for row in range(self.keys.shape[1])]
        places = torch.tensor(places[: self.lengths[text]], dtype=torch.int64)
        return tuple(pool.flatten(0, 1).index_select(0, places) for pool in (self.keys, self.values))

    def fork(self, text):
        table, length = self.tables[text], self.lengths[text]
        other = self.new()
        self.tables[other], self.lengths[other] = table[:], length
        return other

    def free(self, text):
        self.tables.pop(text)
        self.lengths.pop(text)

    def table(self, text):
        return self.tables[text].copy()


# %% TextsAsObjects
class Text:
    def __init__(self, pages, length):
        self.pages, self.length = pages, length


class PagedCache(nn.Module):
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        super().__init__()
        if n_pages < 1 or page_size < 1 or n_kv_heads < 1 or d_head < 1:
            raise ValueError(f"{n_pages=}, {page_size=}, {n_kv_heads=}, {d_head=} must all be at least 1")
        self.register_buffer("keys", torch.zeros(n_pages, page_size, n_kv_heads, d_head))
        self.register_buffer("values", torch.zeros(n_pages, page_size, n_kv_heads, d_head))
        self.users = torch.zeros(n_pages, dtype=torch.int64)
        self.texts, self.number = {}, iter(range(10**9))

    @property
    def n_free(self):
        return int((self.users == 0).sum())

    def new(self):
        text = next(self.number)
        self.texts[text] = Text([], 0)
        return text

    @torch.no_grad()
    def append(self, text, key, value):
        it = self.texts[text]
        G, K = self.keys.shape[-2:]
        if key.ndim != 3 or key.shape[1:] != (G, K) or not len(key):
            raise ValueError(f"the shape of key is {tuple(key.shape)}")
        if value.ndim != 3 or value.shape[1:] != (G, K) or not len(value):
            raise ValueError(f"the shape of value is {tuple(value.shape)}")
        if len(key) - len(value):
            raise ValueError(f"key {tuple(key.shape)}, value {tuple(value.shape)}")
        size = self.keys.shape[1]
        end = it.length + len(key)
        split = it.length % size > 0 and self.users[it.pages[-1]] > 1
        needed = (end + size - 1) // size - len(it.pages) + int(split)
        found = (self.users == 0).nonzero().flatten()[:needed].tolist()
        if len(found) < needed:
            raise MemoryError(f"{needed} > {len(found)}")
        self.users[found] += 1
        if split:
            old = it.pages.pop()
            self.users[old] -= 1
            self.keys[found[0]], self.values[found[0]] = self.keys[old], self.values[old]
        it.pages += found
        positions = range(it.length, end)
        pages, rows = [it.pages[p // size] for p in positions], [p % size for p in positions]
        self.keys[pages, rows] = key.to(self.keys)
        self.values[pages, rows] = value.to(self.values)
        it.length = end

    def read(self, text):
        it = self.texts[text]
        pages = torch.tensor(it.pages, dtype=torch.int64)
        return tuple(pool[pages].flatten(0, 1).narrow(0, 0, it.length) for pool in (self.keys, self.values))

    def fork(self, text):
        it = self.texts[text]
        other = self.new()
        self.texts[other] = Text(it.pages.copy(), it.length)
        self.users[it.pages] += 1
        return other

    def free(self, text):
        self.users[self.texts.pop(text).pages] -= 1

    def table(self, text):
        return self.texts[text].pages.copy()


# %% PositionsWithTheirPlaces
class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        if min(n_pages, page_size, n_kv_heads, d_head) < 1:
            raise ValueError(f"n_pages {n_pages}, page_size {page_size}, n_kv_heads {n_kv_heads}, d_head {d_head}")
        self.keys = torch.zeros((n_pages, page_size, n_kv_heads, d_head))
        self.values = torch.zeros((n_pages, page_size, n_kv_heads, d_head))
        self.size = page_size
        self.books = {}
        self.issued = []

    @property
    def n_free(self):
        return len(self._free())

    def _free(self):
        taken = set()
        for book in self.books.values():
            taken.update(page for page, _ in book)
        return [page for page in reversed(range(self.keys.size(0))) if page not in taken]

    def new(self):
        self.issued.append(len(self.issued))
        self.books[self.issued[-1]] = []
        return self.issued[-1]

    def append(self, text, key, value):
        book = list(self.books[text])
        for name, x in dict(key=key, value=value).items():
            if x.ndim != 3 or x.size(0) == 0 or x.shape[1:] != self.keys.shape[2:] or x.size(0) != key.size(0):
                raise ValueError(f"unexpected shape of {name}: {tuple(x.shape)}")
        free, to_copy = self._free(), None
        if len(book) % self.size:
            page = book[-1][0]
            if any((page, 0) in other for t, other in self.books.items() if t != text):
                if not free:
                    raise MemoryError("no free page to copy to")
                to_copy = page, free.pop()
                book = [(to_copy[1] if p == page else p, r) for p, r in book]
        for _ in key:
            row = len(book) % self.size
            if row == 0 and not free:
                raise MemoryError("no free page")
            book.append((free.pop() if row == 0 else book[-1][0], row))
        start = len(self.books[text])
        with torch.no_grad():
            if to_copy:
                self.keys[to_copy[1]] = self.keys[to_copy[0]]
                self.values[to_copy[1]] = self.values[to_copy[0]]
            for i, place in enumerate(book[start:]):
                self.keys[place], self.values[place] = key[i], value[i]
        self.books[text] = book

    def read(self, text):
        book = self.books[text]
        pages = torch.tensor([page for page, _ in book], dtype=torch.int64)
        rows = torch.tensor([row for _, row in book], dtype=torch.int64)
        return self.keys[pages, rows], self.values[pages, rows]

    def fork(self, text):
        book = tuple(self.books[text])
        twin = self.new()
        self.books[twin] = list(book)
        return twin

    def free(self, text):
        self.books.pop(text)

    def table(self, text):
        return [page for page, row in self.books[text] if row == 0]
