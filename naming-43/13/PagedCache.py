# %% wrong: no_copy_on_write | A text writes into a page that it shares with another text; nothing is copied first.
import heapq
import itertools


class PageAllocator:
    def __init__(self, n):
        self.heap = list(range(n))
        self.refs = {}

    def __len__(self):
        return len(self.heap)

    def alloc(self):
        page = heapq.heappop(self.heap)
        self.refs[page] = 1
        return page

    def share(self, page):
        self.refs[page] += 1

    def release(self, page):
        self.refs[page] -= 1
        if not self.refs[page]:
            del self.refs[page]
            heapq.heappush(self.heap, page)


class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        if n_pages < 1: raise ValueError(f"n_pages={n_pages} < 1")
        if page_size < 1: raise ValueError(f"page_size={page_size} < 1")
        if n_kv_heads < 1: raise ValueError(f"n_kv_heads={n_kv_heads} < 1")
        if d_head < 1: raise ValueError(f"d_head={d_head} < 1")
        self.P, self.G, self.K = page_size, n_kv_heads, d_head
        self.keys = torch.zeros((n_pages, page_size, n_kv_heads, d_head), dtype=torch.float32)
        self.values = torch.zeros_like(self.keys)
        self.pages = PageAllocator(n_pages)
        self.ids = itertools.count()
        self.seqs = {}          # id -> [block table, length]

    @property
    def n_free(self):
        return len(self.pages)

    def new(self):
        sid = next(self.ids)
        self.seqs[sid] = [[], 0]
        return sid

    def fork(self, text):
        block_table, length = self.seqs[text]
        sid = next(self.ids)
        self.seqs[sid] = [block_table[:], length]
        for page in block_table:
            self.pages.share(page)
        return sid

    def free(self, text):
        block_table, _ = self.seqs.pop(text)
        for page in block_table:
            self.pages.release(page)

    def table(self, text):
        return self.seqs[text][0][:]

    def _slots(self, block_table, start, stop):
        return torch.tensor([block_table[p // self.P] * self.P + p % self.P for p in range(start, stop)], dtype=torch.long)

    def append(self, text, key, value):
        seq = self.seqs[text]
        for name, x in {"key": key, "value": value}.items():
            if x.ndim != 3 or x.shape[0] < 1 or x.shape[1] != self.G or x.shape[2] != self.K:
                raise ValueError(f"wrong shape of {name}: {tuple(x.shape)}")
        if key.shape[0] != value.shape[0]:
            raise ValueError(f"key and value differ in length: {key.shape[0]}, {value.shape[0]}")
        block_table, length = seq
        T = key.shape[0]
        need = math.ceil((length + T) / self.P) - len(block_table)
        if need > self.n_free:
            raise MemoryError(f"needs {need} pages, has {self.n_free}")
        block_table.extend(self.pages.alloc() for _ in range(need))
        slots = self._slots(block_table, length, length + T)
        self.keys.view(-1, self.G, self.K)[slots] = key.detach().to(self.keys)
        self.values.view(-1, self.G, self.K)[slots] = value.detach().to(self.values)
        seq[1] = length + T

    def read(self, text):
        block_table, length = self.seqs[text]
        slots = self._slots(block_table, 0, length)
        return self.keys.view(-1, self.G, self.K)[slots], self.values.view(-1, self.G, self.K)[slots]
# %% wrong: only_keys_copied | Copy on write copies the page of keys and forgets the page of values.
class _Text:
    def __init__(self, pages=(), length=0):
        self.pages = list(pages)
        self.length = length


class PagedCache:
    """Which pages are used is counted anew from the block tables each time."""

    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        if min(n_pages, page_size, n_kv_heads, d_head) < 1:
            raise ValueError(f"n_pages={n_pages}, page_size={page_size}, n_kv_heads={n_kv_heads}, d_head={d_head}: all must be >= 1")
        shape = (n_pages, page_size, n_kv_heads, d_head)
        self.keys = torch.empty(shape, dtype=torch.float32)
        self.values = torch.empty(shape, dtype=torch.float32)
        self._texts = {}
        self._count = 0

    def _uses(self, page):
        return sum(t.pages.count(page) for t in self._texts.values())

    def _free(self):
        used = {p for t in self._texts.values() for p in t.pages}
        return [p for p in range(len(self.keys)) if p not in used]

    @property
    def n_free(self):
        return len(self._free())

    def _get(self, text):
        if text not in self._texts:
            raise KeyError(f"no text {text}")
        return self._texts[text]

    def _add(self, t):
        self._count += 1
        self._texts[self._count] = t
        return self._count

    def new(self):
        return self._add(_Text())

    def fork(self, text):
        t = self._get(text)
        return self._add(_Text(t.pages, t.length))

    def free(self, text):
        self._get(text)
        del self._texts[text]

    def table(self, text):
        return self._get(text).pages.copy()

    def _check(self, key, value):
        G, K = self.keys.shape[2:]
        for name, x in (("key", key), ("value", value)):
            if x.dim() != 3 or tuple(x.shape[1:]) != (G, K) or len(x) == 0:
                raise ValueError(f"{name} must have shape (T, {G}, {K}), has {tuple(x.shape)}")
        if len(key) != len(value):
            raise ValueError(f"key has {len(key)} positions, value {len(value)}")

    @torch.no_grad()
    def append(self, text, key, value):
        t = self._get(text)
        self._check(key, value)
        size = self.keys.shape[1]
        row = t.length % size
        pages = list(t.pages)
        total = (t.length + len(key) + size - 1) // size
        shared = row > 0 and self._uses(pages[-1]) > 1
        free = self._free()
        if len(free) < total - len(pages) + int(shared):
            raise MemoryError("not enough free pages")
        if shared:
            page = free.pop(0)
            self.keys[page, :row] = self.keys[pages[-1], :row]
            pages[-1] = page
        while len(pages) < total:
            pages.append(free.pop(0))
        done, pos = 0, t.length
        while done < len(key):
            page, row = pages[pos // size], pos % size
            n = min(size - row, len(key) - done)
            self.keys[page, row:row + n] = key[done:done + n]
            self.values[page, row:row + n] = value[done:done + n]
            done, pos = done + n, pos + n
        t.pages, t.length = pages, pos

    def read(self, text):
        t = self._get(text)
        G, K = self.keys.shape[2:]
        keys, values = self.keys.new_empty(t.length, G, K), self.values.new_empty(t.length, G, K)
        size = self.keys.shape[1]
        for n, page in enumerate(t.pages):
            a, b = n * size, min((n + 1) * size, t.length)
            keys[a:b] = self.keys[page, :b - a]
            values[a:b] = self.values[page, :b - a]
        return keys, values
# %% wrong: full_page_copied | The last page is copied whenever it is shared, even if it is full and nothing is written to it.
class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        for name, n in (("n_pages", n_pages), ("page_size", page_size), ("n_kv_heads", n_kv_heads), ("d_head", d_head)):
            if n < 1:
                raise ValueError(f"{name} must be at least 1, got {n}")
        self.page_size = page_size
        self.keys = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.values = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.free_pages = list(range(n_pages))
        self.users = [0] * n_pages
        self.tables = {}
        self.lengths = {}
        self.next_id = 0

    @property
    def n_free(self):
        return len(self.free_pages)

    def new(self):
        text = self.next_id
        self.next_id += 1
        self.tables[text] = []
        self.lengths[text] = 0
        return text

    def _take(self):
        page = self.free_pages.pop()
        self.users[page] = 1
        return page

    def append(self, text, key, value):
        table = self.tables[text]
        if key.ndim != 3 or key.shape[0] < 1 or key.shape[1:] != self.keys.shape[2:]:
            raise ValueError(f"key has the shape {tuple(key.shape)}")
        if value.shape != key.shape:
            raise ValueError(f"value has the shape {tuple(value.shape)}, key {tuple(key.shape)}")
        start, P = self.lengths[text], self.page_size
        end = start + key.shape[0]
        new_pages = -(-end // P) - len(table)
        copy = len(table) > 0 and self.users[table[-1]] > 1
        if new_pages + copy > len(self.free_pages):
            raise MemoryError(f"{new_pages + copy} pages needed, {len(self.free_pages)} free")
        if copy:
            old = table[-1]
            page = self._take()
            self.keys[page] = self.keys[old]
            self.values[page] = self.values[old]
            self.users[old] -= 1
            table[-1] = page
        for _ in range(new_pages):
            table.append(self._take())
        for i in range(key.shape[0]):
            page, row = table[(start + i) // P], (start + i) % P
            self.keys[page, row] = key[i].detach()
            self.values[page, row] = value[i].detach()
        self.lengths[text] = end

    def read(self, text):
        table, S = self.tables[text], self.lengths[text]
        keys = self.keys[table].flatten(0, 1)[:S].clone()
        values = self.values[table].flatten(0, 1)[:S].clone()
        return keys, values

    def fork(self, text):
        table = self.tables[text]
        copy = self.new()
        self.tables[copy] = list(table)
        self.lengths[copy] = self.lengths[text]
        for page in table:
            self.users[page] += 1
        return copy

    def free(self, text):
        table = self.tables.pop(text)
        del self.lengths[text]
        for page in table:
            self.users[page] -= 1
            if self.users[page] == 0:
                self.free_pages.append(page)

    def table(self, text):
        return list(self.tables[text])
# %% wrong: shared_for_ever | A page once shared stays marked as shared, so its last text copies it although no other text has it any more.
class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        sizes = dict(n_pages=n_pages, page_size=page_size, n_kv_heads=n_kv_heads, d_head=d_head)
        for name in sizes:
            if sizes[name] < 1:
                raise ValueError("%s = %d, but must be >= 1" % (name, sizes[name]))
        self.sizes = sizes
        self.keys = torch.zeros(*sizes.values())
        self.values = torch.zeros(*sizes.values())
        self.owners = [set() for _ in range(n_pages)]   # the texts that have each page
        self.n_free = n_pages
        self.shared = [False] * n_pages
        self.blocks = {}
        self.length = {}
        self.made = 0

    def new(self):
        self.made += 1
        self.blocks[self.made], self.length[self.made] = [], 0
        return self.made

    def grab(self, text):
        for page, who in enumerate(self.owners):
            if not who:
                who.add(text)
                self.shared[page] = False
                self.n_free -= 1
                return page

    def drop(self, text, page):
        self.owners[page].discard(text)
        if not self.owners[page]:
            self.n_free += 1

    def append(self, text, key, value):
        if text not in self.blocks:
            raise KeyError(text)
        want = (self.sizes["n_kv_heads"], self.sizes["d_head"])
        if not (key.ndim == 3 and tuple(key.shape[1:]) == want and key.shape[0] >= 1):
            raise ValueError(f"key: {tuple(key.shape)}")
        if not (value.ndim == 3 and tuple(value.shape[1:]) == want and value.shape[0] == key.shape[0]):
            raise ValueError(f"value: {tuple(value.shape)}")
        size, block = self.sizes["page_size"], self.blocks[text]
        first = self.length[text]
        last = first + key.shape[0] - 1
        extra = last // size + 1 - len(block)
        index = first // size
        must_copy = index < len(block) and self.shared[block[index]]
        if extra + must_copy > self.n_free:
            raise MemoryError(f"{self.n_free} free pages are too few")
        if must_copy:
            mine = self.grab(text)
            theirs = block[index]
            for pool in (self.keys, self.values):
                pool[mine] = pool[theirs]
            self.drop(text, theirs)
            block[index] = mine
        for _ in range(extra):
            block.append(self.grab(text))
        with torch.no_grad():
            for t, (k, v) in enumerate(zip(key, value), start=first):
                self.keys[block[t // size]][t % size] = k
                self.values[block[t // size]][t % size] = v
        self.length[text] = last + 1

    def read(self, text):
        block, S = self.blocks[text], self.length[text]
        size = self.sizes["page_size"]
        if S == 0:
            nothing = self.keys[0, :0]
            return nothing.clone(), nothing.clone()
        out = []
        for pool in (self.keys, self.values):
            out.append(torch.cat([pool[p] for p in block])[:S])
        return tuple(out)

    def fork(self, text):
        block, S = self.blocks[text], self.length[text]
        other = self.new()
        self.blocks[other], self.length[other] = block.copy(), S
        for page in block:
            self.owners[page].add(other)
            self.shared[page] = True
        return other

    def free(self, text):
        for page in self.blocks[text]:
            self.drop(text, page)
        del self.blocks[text], self.length[text]

    def table(self, text):
        return [page for page in self.blocks[text]]
# %% wrong: free_takes_shared_pages | free gives back all pages of the text, also those that another text still has.
class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        for name, n in (("n_pages", n_pages), ("page_size", page_size), ("n_kv_heads", n_kv_heads), ("d_head", d_head)):
            if n < 1:
                raise ValueError(f"{name} must be at least 1, got {n}")
        self.page_size = page_size
        self.keys = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.values = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.free_pages = list(range(n_pages))
        self.users = [0] * n_pages
        self.tables = {}
        self.lengths = {}
        self.next_id = 0

    @property
    def n_free(self):
        return len(self.free_pages)

    def new(self):
        text = self.next_id
        self.next_id += 1
        self.tables[text] = []
        self.lengths[text] = 0
        return text

    def _take(self):
        page = self.free_pages.pop()
        self.users[page] = 1
        return page

    def append(self, text, key, value):
        table = self.tables[text]
        if key.ndim != 3 or key.shape[0] < 1 or key.shape[1:] != self.keys.shape[2:]:
            raise ValueError(f"key has the shape {tuple(key.shape)}")
        if value.shape != key.shape:
            raise ValueError(f"value has the shape {tuple(value.shape)}, key {tuple(key.shape)}")
        start, P = self.lengths[text], self.page_size
        end = start + key.shape[0]
        new_pages = -(-end // P) - len(table)
        copy = start % P != 0 and self.users[table[-1]] > 1
        if new_pages + copy > len(self.free_pages):
            raise MemoryError(f"{new_pages + copy} pages needed, {len(self.free_pages)} free")
        if copy:
            old = table[-1]
            page = self._take()
            self.keys[page] = self.keys[old]
            self.values[page] = self.values[old]
            self.users[old] -= 1
            table[-1] = page
        for _ in range(new_pages):
            table.append(self._take())
        for i in range(key.shape[0]):
            page, row = table[(start + i) // P], (start + i) % P
            self.keys[page, row] = key[i].detach()
            self.values[page, row] = value[i].detach()
        self.lengths[text] = end

    def read(self, text):
        table, S = self.tables[text], self.lengths[text]
        keys = self.keys[table].flatten(0, 1)[:S].clone()
        values = self.values[table].flatten(0, 1)[:S].clone()
        return keys, values

    def fork(self, text):
        table = self.tables[text]
        copy = self.new()
        self.tables[copy] = list(table)
        self.lengths[copy] = self.lengths[text]
        for page in table:
            self.users[page] += 1
        return copy

    def free(self, text):
        table = self.tables.pop(text)
        del self.lengths[text]
        for page in table:
            self.users[page] = 0
            if page not in self.free_pages:
                self.free_pages.append(page)

    def table(self, text):
        return list(self.tables[text])
# %% wrong: old_page_not_released | After a copy on write the reference count of the old page is not lowered, so the page never becomes free.
class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        args = {"n_pages": n_pages, "page_size": page_size, "n_kv_heads": n_kv_heads, "d_head": d_head}
        bad = {k: v for k, v in args.items() if v < 1}
        if bad:
            raise ValueError(f"must be at least 1: {bad}")
        pool = torch.zeros(2, n_pages, page_size, n_kv_heads, d_head)
        self.keys, self.values = pool[0], pool[1]
        self._pool = pool
        self._ref = torch.zeros(n_pages, dtype=torch.long)
        self._state = {}
        self._last = -1

    n_free = property(lambda self: int((self._ref == 0).sum()))

    def new(self):
        return self._register([], 0)

    def _register(self, pages, length):
        self._last += 1
        self._state[self._last] = (tuple(pages), length)
        for p in pages:
            self._ref[p] += 1
        return self._last

    def fork(self, text):
        return self._register(*self._state[text])

    def free(self, text):
        pages, _ = self._state.pop(text)
        for p in pages:
            self._ref[p] -= 1

    def table(self, text):
        return list(self._state[text][0])

    def append(self, text, key, value):
        pages, length = self._state[text]
        G, K = self.keys.shape[-2:]
        T = key.shape[0] if key.ndim else 0
        if T < 1 or key.shape != (T, G, K):
            raise ValueError(f"key should be (T, {G}, {K}) but is {tuple(key.shape)}")
        if value.shape != (T, G, K):
            raise ValueError(f"value should be ({T}, {G}, {K}) but is {tuple(value.shape)}")
        P = self.keys.shape[1]
        whole, rest = divmod(length, P)
        keep = list(pages)
        tail = []
        if rest and self._ref[keep[-1]] > 1:
            tail = [keep.pop()]
        missing = (length + T + P - 1) // P - len(keep)
        free = torch.nonzero(self._ref == 0).flatten().tolist()
        if missing > len(free):
            raise MemoryError(f"{missing} free pages are needed, there are {len(free)}")
        fresh = free[:missing]
        if tail:
            self._pool[:, fresh[0]] = self._pool[:, tail[0]]
        for p in fresh:
            self._ref[p] = 1
        pages = keep + fresh
        where = torch.arange(length, length + T)
        index = torch.tensor(pages)[where // P]
        self.keys[index, where % P] = key.detach().to(torch.float32)
        self.values[index, where % P] = value.detach().to(torch.float32)
        self._state[text] = (tuple(pages), length + T)

    def read(self, text):
        pages, length = self._state[text]
        where = torch.arange(length)
        index = torch.tensor(pages, dtype=torch.long)[where // self.keys.shape[1]]
        return self.keys[index, where % self.keys.shape[1]], self.values[index, where % self.keys.shape[1]]
# %% wrong: read_gives_views | read gives a view of the pool where the text has one page, and not a copy.
class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        sizes = dict(n_pages=n_pages, page_size=page_size, n_kv_heads=n_kv_heads, d_head=d_head)
        for name in sizes:
            if sizes[name] < 1:
                raise ValueError("%s = %d, but must be >= 1" % (name, sizes[name]))
        self.sizes = sizes
        self.keys = torch.zeros(*sizes.values())
        self.values = torch.zeros(*sizes.values())
        self.owners = [set() for _ in range(n_pages)]   # the texts that have each page
        self.n_free = n_pages
        self.blocks = {}
        self.length = {}
        self.made = 0

    def new(self):
        self.made += 1
        self.blocks[self.made], self.length[self.made] = [], 0
        return self.made

    def grab(self, text):
        for page, who in enumerate(self.owners):
            if not who:
                who.add(text)
                self.n_free -= 1
                return page

    def drop(self, text, page):
        self.owners[page].discard(text)
        if not self.owners[page]:
            self.n_free += 1

    def append(self, text, key, value):
        if text not in self.blocks:
            raise KeyError(text)
        want = (self.sizes["n_kv_heads"], self.sizes["d_head"])
        if not (key.ndim == 3 and tuple(key.shape[1:]) == want and key.shape[0] >= 1):
            raise ValueError(f"key: {tuple(key.shape)}")
        if not (value.ndim == 3 and tuple(value.shape[1:]) == want and value.shape[0] == key.shape[0]):
            raise ValueError(f"value: {tuple(value.shape)}")
        size, block = self.sizes["page_size"], self.blocks[text]
        first = self.length[text]
        last = first + key.shape[0] - 1
        extra = last // size + 1 - len(block)
        index = first // size
        must_copy = index < len(block) and len(self.owners[block[index]]) > 1
        if extra + must_copy > self.n_free:
            raise MemoryError(f"{self.n_free} free pages are too few")
        if must_copy:
            mine = self.grab(text)
            theirs = block[index]
            for pool in (self.keys, self.values):
                pool[mine] = pool[theirs]
            self.drop(text, theirs)
            block[index] = mine
        for _ in range(extra):
            block.append(self.grab(text))
        with torch.no_grad():
            for t, (k, v) in enumerate(zip(key, value), start=first):
                self.keys[block[t // size]][t % size] = k
                self.values[block[t // size]][t % size] = v
        self.length[text] = last + 1

    def read(self, text):
        block, S = self.blocks[text], self.length[text]
        size = self.sizes["page_size"]
        if S == 0:
            return self.keys[0, :0].clone(), self.values[0, :0].clone()
        if len(block) == 1:
            return self.keys[block[0], :S], self.values[block[0], :S]
        out = []
        for pool in (self.keys, self.values):
            out.append(torch.cat([pool[p] for p in block])[:S])
        return tuple(out)

    def fork(self, text):
        block, S = self.blocks[text], self.length[text]
        other = self.new()
        self.blocks[other], self.length[other] = block.copy(), S
        for page in block:
            self.owners[page].add(other)
        return other

    def free(self, text):
        for page in self.blocks[text]:
            self.drop(text, page)
        del self.blocks[text], self.length[text]

    def table(self, text):
        return [page for page in self.blocks[text]]
# %% wrong: fork_shares_the_list | fork hands on the same Python list as block table, so appending to one text changes the table of the other.
import heapq
import itertools


class PageAllocator:
    def __init__(self, n):
        self.heap = list(range(n))
        self.refs = {}

    def __len__(self):
        return len(self.heap)

    def alloc(self):
        page = heapq.heappop(self.heap)
        self.refs[page] = 1
        return page

    def share(self, page):
        self.refs[page] += 1

    def release(self, page):
        self.refs[page] -= 1
        if not self.refs[page]:
            del self.refs[page]
            heapq.heappush(self.heap, page)


class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        if n_pages < 1: raise ValueError(f"n_pages={n_pages} < 1")
        if page_size < 1: raise ValueError(f"page_size={page_size} < 1")
        if n_kv_heads < 1: raise ValueError(f"n_kv_heads={n_kv_heads} < 1")
        if d_head < 1: raise ValueError(f"d_head={d_head} < 1")
        self.P, self.G, self.K = page_size, n_kv_heads, d_head
        self.keys = torch.zeros((n_pages, page_size, n_kv_heads, d_head), dtype=torch.float32)
        self.values = torch.zeros_like(self.keys)
        self.pages = PageAllocator(n_pages)
        self.ids = itertools.count()
        self.seqs = {}          # id -> [block table, length]

    @property
    def n_free(self):
        return len(self.pages)

    def new(self):
        sid = next(self.ids)
        self.seqs[sid] = [[], 0]
        return sid

    def fork(self, text):
        block_table, length = self.seqs[text]
        sid = next(self.ids)
        self.seqs[sid] = [block_table, length]
        for page in block_table:
            self.pages.share(page)
        return sid

    def free(self, text):
        block_table, _ = self.seqs.pop(text)
        for page in block_table:
            self.pages.release(page)

    def table(self, text):
        return self.seqs[text][0][:]

    def _slots(self, block_table, start, stop):
        return torch.tensor([block_table[p // self.P] * self.P + p % self.P for p in range(start, stop)], dtype=torch.long)

    def append(self, text, key, value):
        seq = self.seqs[text]
        for name, x in {"key": key, "value": value}.items():
            if x.ndim != 3 or x.shape[0] < 1 or x.shape[1] != self.G or x.shape[2] != self.K:
                raise ValueError(f"wrong shape of {name}: {tuple(x.shape)}")
        if key.shape[0] != value.shape[0]:
            raise ValueError(f"key and value differ in length: {key.shape[0]}, {value.shape[0]}")
        block_table, length = seq
        T = key.shape[0]
        fill = length % self.P
        cow = bool(fill) and self.pages.refs[block_table[-1]] > 1
        need = math.ceil((length + T) / self.P) - len(block_table)
        if need + cow > self.n_free:
            raise MemoryError(f"needs {need + cow} pages, has {self.n_free}")
        if cow:
            src, dst = block_table[-1], self.pages.alloc()
            self.keys[dst].copy_(self.keys[src])
            self.values[dst].copy_(self.values[src])
            self.pages.release(src)
            block_table[-1] = dst
        block_table.extend(self.pages.alloc() for _ in range(need))
        slots = self._slots(block_table, length, length + T)
        self.keys.view(-1, self.G, self.K)[slots] = key.detach().to(self.keys)
        self.values.view(-1, self.G, self.K)[slots] = value.detach().to(self.values)
        seq[1] = length + T

    def read(self, text):
        block_table, length = self.seqs[text]
        slots = self._slots(block_table, 0, length)
        return self.keys.view(-1, self.G, self.K)[slots], self.values.view(-1, self.G, self.K)[slots]
# %% wrong: table_gives_own_list | table returns the cache's own list and not a copy, so a caller who changes it changes the cache.
class _Text:
    def __init__(self, pages=(), length=0):
        self.pages = list(pages)
        self.length = length


class PagedCache:
    """Which pages are used is counted anew from the block tables each time."""

    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        if min(n_pages, page_size, n_kv_heads, d_head) < 1:
            raise ValueError(f"n_pages={n_pages}, page_size={page_size}, n_kv_heads={n_kv_heads}, d_head={d_head}: all must be >= 1")
        shape = (n_pages, page_size, n_kv_heads, d_head)
        self.keys = torch.empty(shape, dtype=torch.float32)
        self.values = torch.empty(shape, dtype=torch.float32)
        self._texts = {}
        self._count = 0

    def _uses(self, page):
        return sum(t.pages.count(page) for t in self._texts.values())

    def _free(self):
        used = {p for t in self._texts.values() for p in t.pages}
        return [p for p in range(len(self.keys)) if p not in used]

    @property
    def n_free(self):
        return len(self._free())

    def _get(self, text):
        if text not in self._texts:
            raise KeyError(f"no text {text}")
        return self._texts[text]

    def _add(self, t):
        self._count += 1
        self._texts[self._count] = t
        return self._count

    def new(self):
        return self._add(_Text())

    def fork(self, text):
        t = self._get(text)
        return self._add(_Text(t.pages, t.length))

    def free(self, text):
        self._get(text)
        del self._texts[text]

    def table(self, text):
        return self._get(text).pages

    def _check(self, key, value):
        G, K = self.keys.shape[2:]
        for name, x in (("key", key), ("value", value)):
            if x.dim() != 3 or tuple(x.shape[1:]) != (G, K) or len(x) == 0:
                raise ValueError(f"{name} must have shape (T, {G}, {K}), has {tuple(x.shape)}")
        if len(key) != len(value):
            raise ValueError(f"key has {len(key)} positions, value {len(value)}")

    @torch.no_grad()
    def append(self, text, key, value):
        t = self._get(text)
        self._check(key, value)
        size = self.keys.shape[1]
        row = t.length % size
        pages = list(t.pages)
        total = (t.length + len(key) + size - 1) // size
        shared = row > 0 and self._uses(pages[-1]) > 1
        free = self._free()
        if len(free) < total - len(pages) + int(shared):
            raise MemoryError("not enough free pages")
        if shared:
            page = free.pop(0)
            self.keys[page, :row] = self.keys[pages[-1], :row]
            self.values[page, :row] = self.values[pages[-1], :row]
            pages[-1] = page
        while len(pages) < total:
            pages.append(free.pop(0))
        done, pos = 0, t.length
        while done < len(key):
            page, row = pages[pos // size], pos % size
            n = min(size - row, len(key) - done)
            self.keys[page, row:row + n] = key[done:done + n]
            self.values[page, row:row + n] = value[done:done + n]
            done, pos = done + n, pos + n
        t.pages[:], t.length = pages, pos

    def read(self, text):
        t = self._get(text)
        G, K = self.keys.shape[2:]
        keys, values = self.keys.new_empty(t.length, G, K), self.values.new_empty(t.length, G, K)
        size = self.keys.shape[1]
        for n, page in enumerate(t.pages):
            a, b = n * size, min((n + 1) * size, t.length)
            keys[a:b] = self.keys[page, :b - a]
            values[a:b] = self.values[page, :b - a]
        return keys, values
# %% wrong: pages_taken_before_error | Pages are taken one by one until none is left; when MemoryError comes, those already taken stay with the text.
class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        for name, n in (("n_pages", n_pages), ("page_size", page_size), ("n_kv_heads", n_kv_heads), ("d_head", d_head)):
            if n < 1:
                raise ValueError(f"{name} must be at least 1, got {n}")
        self.page_size = page_size
        self.keys = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.values = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.free_pages = list(range(n_pages))
        self.users = [0] * n_pages
        self.tables = {}
        self.lengths = {}
        self.next_id = 0

    @property
    def n_free(self):
        return len(self.free_pages)

    def new(self):
        text = self.next_id
        self.next_id += 1
        self.tables[text] = []
        self.lengths[text] = 0
        return text

    def _take(self):
        if not self.free_pages:
            raise MemoryError("no free page")
        page = self.free_pages.pop()
        self.users[page] = 1
        return page

    def append(self, text, key, value):
        table = self.tables[text]
        if key.ndim != 3 or key.shape[0] < 1 or key.shape[1:] != self.keys.shape[2:]:
            raise ValueError(f"key has the shape {tuple(key.shape)}")
        if value.shape != key.shape:
            raise ValueError(f"value has the shape {tuple(value.shape)}, key {tuple(key.shape)}")
        start, P = self.lengths[text], self.page_size
        end = start + key.shape[0]
        new_pages = -(-end // P) - len(table)
        copy = start % P != 0 and self.users[table[-1]] > 1
        if copy:
            old = table[-1]
            page = self._take()
            self.keys[page] = self.keys[old]
            self.values[page] = self.values[old]
            self.users[old] -= 1
            table[-1] = page
        for _ in range(new_pages):
            table.append(self._take())
        for i in range(key.shape[0]):
            page, row = table[(start + i) // P], (start + i) % P
            self.keys[page, row] = key[i].detach()
            self.values[page, row] = value[i].detach()
        self.lengths[text] = end

    def read(self, text):
        table, S = self.tables[text], self.lengths[text]
        keys = self.keys[table].flatten(0, 1)[:S].clone()
        values = self.values[table].flatten(0, 1)[:S].clone()
        return keys, values

    def fork(self, text):
        table = self.tables[text]
        copy = self.new()
        self.tables[copy] = list(table)
        self.lengths[copy] = self.lengths[text]
        for page in table:
            self.users[page] += 1
        return copy

    def free(self, text):
        table = self.tables.pop(text)
        del self.lengths[text]
        for page in table:
            self.users[page] -= 1
            if self.users[page] == 0:
                self.free_pages.append(page)

    def table(self, text):
        return list(self.tables[text])
# %% wrong: copy_not_counted | The page for the copy on write is not counted when the free pages are checked, so the pool runs out in the middle.
import heapq
import itertools


class PageAllocator:
    def __init__(self, n):
        self.heap = list(range(n))
        self.refs = {}

    def __len__(self):
        return len(self.heap)

    def alloc(self):
        page = heapq.heappop(self.heap)
        self.refs[page] = 1
        return page

    def share(self, page):
        self.refs[page] += 1

    def release(self, page):
        self.refs[page] -= 1
        if not self.refs[page]:
            del self.refs[page]
            heapq.heappush(self.heap, page)


class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        if n_pages < 1: raise ValueError(f"n_pages={n_pages} < 1")
        if page_size < 1: raise ValueError(f"page_size={page_size} < 1")
        if n_kv_heads < 1: raise ValueError(f"n_kv_heads={n_kv_heads} < 1")
        if d_head < 1: raise ValueError(f"d_head={d_head} < 1")
        self.P, self.G, self.K = page_size, n_kv_heads, d_head
        self.keys = torch.zeros((n_pages, page_size, n_kv_heads, d_head), dtype=torch.float32)
        self.values = torch.zeros_like(self.keys)
        self.pages = PageAllocator(n_pages)
        self.ids = itertools.count()
        self.seqs = {}          # id -> [block table, length]

    @property
    def n_free(self):
        return len(self.pages)

    def new(self):
        sid = next(self.ids)
        self.seqs[sid] = [[], 0]
        return sid

    def fork(self, text):
        block_table, length = self.seqs[text]
        sid = next(self.ids)
        self.seqs[sid] = [block_table[:], length]
        for page in block_table:
            self.pages.share(page)
        return sid

    def free(self, text):
        block_table, _ = self.seqs.pop(text)
        for page in block_table:
            self.pages.release(page)

    def table(self, text):
        return self.seqs[text][0][:]

    def _slots(self, block_table, start, stop):
        return torch.tensor([block_table[p // self.P] * self.P + p % self.P for p in range(start, stop)], dtype=torch.long)

    def append(self, text, key, value):
        seq = self.seqs[text]
        for name, x in {"key": key, "value": value}.items():
            if x.ndim != 3 or x.shape[0] < 1 or x.shape[1] != self.G or x.shape[2] != self.K:
                raise ValueError(f"wrong shape of {name}: {tuple(x.shape)}")
        if key.shape[0] != value.shape[0]:
            raise ValueError(f"key and value differ in length: {key.shape[0]}, {value.shape[0]}")
        block_table, length = seq
        T = key.shape[0]
        fill = length % self.P
        cow = bool(fill) and self.pages.refs[block_table[-1]] > 1
        need = math.ceil((length + T) / self.P) - len(block_table)
        if need > self.n_free:
            raise MemoryError(f"needs {need} pages, has {self.n_free}")
        if cow:
            src, dst = block_table[-1], self.pages.alloc()
            self.keys[dst].copy_(self.keys[src])
            self.values[dst].copy_(self.values[src])
            self.pages.release(src)
            block_table[-1] = dst
        block_table.extend(self.pages.alloc() for _ in range(need))
        slots = self._slots(block_table, length, length + T)
        self.keys.view(-1, self.G, self.K)[slots] = key.detach().to(self.keys)
        self.values.view(-1, self.G, self.K)[slots] = value.detach().to(self.values)
        seq[1] = length + T

    def read(self, text):
        block_table, length = self.seqs[text]
        slots = self._slots(block_table, 0, length)
        return self.keys.view(-1, self.G, self.K)[slots], self.values.view(-1, self.G, self.K)[slots]
# %% wrong: ids_reused | The id of a new text is the number of living texts, so an id comes again after free (and may hit a living text).
class _Text:
    def __init__(self, pages=(), length=0):
        self.pages = list(pages)
        self.length = length


class PagedCache:
    """Which pages are used is counted anew from the block tables each time."""

    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        if min(n_pages, page_size, n_kv_heads, d_head) < 1:
            raise ValueError(f"n_pages={n_pages}, page_size={page_size}, n_kv_heads={n_kv_heads}, d_head={d_head}: all must be >= 1")
        shape = (n_pages, page_size, n_kv_heads, d_head)
        self.keys = torch.empty(shape, dtype=torch.float32)
        self.values = torch.empty(shape, dtype=torch.float32)
        self._texts = {}

    def _uses(self, page):
        return sum(t.pages.count(page) for t in self._texts.values())

    def _free(self):
        used = {p for t in self._texts.values() for p in t.pages}
        return [p for p in range(len(self.keys)) if p not in used]

    @property
    def n_free(self):
        return len(self._free())

    def _get(self, text):
        if text not in self._texts:
            raise KeyError(f"no text {text}")
        return self._texts[text]

    def _add(self, t):
        text = len(self._texts)
        self._texts[text] = t
        return text

    def new(self):
        return self._add(_Text())

    def fork(self, text):
        t = self._get(text)
        return self._add(_Text(t.pages, t.length))

    def free(self, text):
        self._get(text)
        del self._texts[text]

    def table(self, text):
        return self._get(text).pages.copy()

    def _check(self, key, value):
        G, K = self.keys.shape[2:]
        for name, x in (("key", key), ("value", value)):
            if x.dim() != 3 or tuple(x.shape[1:]) != (G, K) or len(x) == 0:
                raise ValueError(f"{name} must have shape (T, {G}, {K}), has {tuple(x.shape)}")
        if len(key) != len(value):
            raise ValueError(f"key has {len(key)} positions, value {len(value)}")

    @torch.no_grad()
    def append(self, text, key, value):
        t = self._get(text)
        self._check(key, value)
        size = self.keys.shape[1]
        row = t.length % size
        pages = list(t.pages)
        total = (t.length + len(key) + size - 1) // size
        shared = row > 0 and self._uses(pages[-1]) > 1
        free = self._free()
        if len(free) < total - len(pages) + int(shared):
            raise MemoryError("not enough free pages")
        if shared:
            page = free.pop(0)
            self.keys[page, :row] = self.keys[pages[-1], :row]
            self.values[page, :row] = self.values[pages[-1], :row]
            pages[-1] = page
        while len(pages) < total:
            pages.append(free.pop(0))
        done, pos = 0, t.length
        while done < len(key):
            page, row = pages[pos // size], pos % size
            n = min(size - row, len(key) - done)
            self.keys[page, row:row + n] = key[done:done + n]
            self.values[page, row:row + n] = value[done:done + n]
            done, pos = done + n, pos + n
        t.pages, t.length = pages, pos

    def read(self, text):
        t = self._get(text)
        G, K = self.keys.shape[2:]
        keys, values = self.keys.new_empty(t.length, G, K), self.values.new_empty(t.length, G, K)
        size = self.keys.shape[1]
        for n, page in enumerate(t.pages):
            a, b = n * size, min((n + 1) * size, t.length)
            keys[a:b] = self.keys[page, :b - a]
            values[a:b] = self.values[page, :b - a]
        return keys, values
# %% wrong: page_too_many | The number of pages is S // page_size + 1, one too many where the text ends with a full page.
class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        for name, n in (("n_pages", n_pages), ("page_size", page_size), ("n_kv_heads", n_kv_heads), ("d_head", d_head)):
            if n < 1:
                raise ValueError(f"{name} must be at least 1, got {n}")
        self.page_size = page_size
        self.keys = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.values = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.free_pages = list(range(n_pages))
        self.users = [0] * n_pages
        self.tables = {}
        self.lengths = {}
        self.next_id = 0

    @property
    def n_free(self):
        return len(self.free_pages)

    def new(self):
        text = self.next_id
        self.next_id += 1
        self.tables[text] = []
        self.lengths[text] = 0
        return text

    def _take(self):
        page = self.free_pages.pop()
        self.users[page] = 1
        return page

    def append(self, text, key, value):
        table = self.tables[text]
        if key.ndim != 3 or key.shape[0] < 1 or key.shape[1:] != self.keys.shape[2:]:
            raise ValueError(f"key has the shape {tuple(key.shape)}")
        if value.shape != key.shape:
            raise ValueError(f"value has the shape {tuple(value.shape)}, key {tuple(key.shape)}")
        start, P = self.lengths[text], self.page_size
        end = start + key.shape[0]
        new_pages = max(0, end // P + 1 - len(table))
        copy = len(table) > start // P and self.users[table[start // P]] > 1
        if new_pages + copy > len(self.free_pages):
            raise MemoryError(f"{new_pages + copy} pages needed, {len(self.free_pages)} free")
        if copy:
            old = table[start // P]
            page = self._take()
            self.keys[page] = self.keys[old]
            self.values[page] = self.values[old]
            self.users[old] -= 1
            table[start // P] = page
        for _ in range(new_pages):
            table.append(self._take())
        for i in range(key.shape[0]):
            page, row = table[(start + i) // P], (start + i) % P
            self.keys[page, row] = key[i].detach()
            self.values[page, row] = value[i].detach()
        self.lengths[text] = end

    def read(self, text):
        table, S = self.tables[text], self.lengths[text]
        keys = self.keys[table].flatten(0, 1)[:S].clone()
        values = self.values[table].flatten(0, 1)[:S].clone()
        return keys, values

    def fork(self, text):
        table = self.tables[text]
        copy = self.new()
        self.tables[copy] = list(table)
        self.lengths[copy] = self.lengths[text]
        for page in table:
            self.users[page] += 1
        return copy

    def free(self, text):
        table = self.tables.pop(text)
        del self.lengths[text]
        for page in table:
            self.users[page] -= 1
            if self.users[page] == 0:
                self.free_pages.append(page)

    def table(self, text):
        return list(self.tables[text])
# %% wrong: gradient_kept | Keys and values are written without detach, so the pool becomes part of the graph of the first text that needs a gradient.
class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        args = {"n_pages": n_pages, "page_size": page_size, "n_kv_heads": n_kv_heads, "d_head": d_head}
        bad = {k: v for k, v in args.items() if v < 1}
        if bad:
            raise ValueError(f"must be at least 1: {bad}")
        pool = torch.zeros(2, n_pages, page_size, n_kv_heads, d_head)
        self.keys, self.values = pool[0], pool[1]
        self._pool = pool
        self._ref = torch.zeros(n_pages, dtype=torch.long)
        self._state = {}
        self._last = -1

    n_free = property(lambda self: int((self._ref == 0).sum()))

    def new(self):
        return self._register([], 0)

    def _register(self, pages, length):
        self._last += 1
        self._state[self._last] = (tuple(pages), length)
        for p in pages:
            self._ref[p] += 1
        return self._last

    def fork(self, text):
        return self._register(*self._state[text])

    def free(self, text):
        pages, _ = self._state.pop(text)
        for p in pages:
            self._ref[p] -= 1

    def table(self, text):
        return list(self._state[text][0])

    def append(self, text, key, value):
        pages, length = self._state[text]
        G, K = self.keys.shape[-2:]
        T = key.shape[0] if key.ndim else 0
        if T < 1 or key.shape != (T, G, K):
            raise ValueError(f"key should be (T, {G}, {K}) but is {tuple(key.shape)}")
        if value.shape != (T, G, K):
            raise ValueError(f"value should be ({T}, {G}, {K}) but is {tuple(value.shape)}")
        P = self.keys.shape[1]
        whole, rest = divmod(length, P)
        keep = list(pages)
        tail = []
        if rest and self._ref[keep[-1]] > 1:
            tail = [keep.pop()]
        missing = (length + T + P - 1) // P - len(keep)
        free = torch.nonzero(self._ref == 0).flatten().tolist()
        if missing > len(free):
            raise MemoryError(f"{missing} free pages are needed, there are {len(free)}")
        fresh = free[:missing]
        if tail:
            self._pool[:, fresh[0]] = self._pool[:, tail[0]]
            self._ref[tail[0]] -= 1
        for p in fresh:
            self._ref[p] = 1
        pages = keep + fresh
        where = torch.arange(length, length + T)
        index = torch.tensor(pages)[where // P]
        self.keys[index, where % P] = key.to(torch.float32)
        self.values[index, where % P] = value.to(torch.float32)
        self._state[text] = (tuple(pages), length + T)

    def read(self, text):
        pages, length = self._state[text]
        where = torch.arange(length)
        index = torch.tensor(pages, dtype=torch.long)[where // self.keys.shape[1]]
        return self.keys[index, where % self.keys.shape[1]], self.values[index, where % self.keys.shape[1]]
# %% wrong: value_not_checked | Only key is checked; a value with another number of positions or heads is broadcast or fails halfway.
import heapq
import itertools


class PageAllocator:
    def __init__(self, n):
        self.heap = list(range(n))
        self.refs = {}

    def __len__(self):
        return len(self.heap)

    def alloc(self):
        page = heapq.heappop(self.heap)
        self.refs[page] = 1
        return page

    def share(self, page):
        self.refs[page] += 1

    def release(self, page):
        self.refs[page] -= 1
        if not self.refs[page]:
            del self.refs[page]
            heapq.heappush(self.heap, page)


class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        if n_pages < 1: raise ValueError(f"n_pages={n_pages} < 1")
        if page_size < 1: raise ValueError(f"page_size={page_size} < 1")
        if n_kv_heads < 1: raise ValueError(f"n_kv_heads={n_kv_heads} < 1")
        if d_head < 1: raise ValueError(f"d_head={d_head} < 1")
        self.P, self.G, self.K = page_size, n_kv_heads, d_head
        self.keys = torch.zeros((n_pages, page_size, n_kv_heads, d_head), dtype=torch.float32)
        self.values = torch.zeros_like(self.keys)
        self.pages = PageAllocator(n_pages)
        self.ids = itertools.count()
        self.seqs = {}          # id -> [block table, length]

    @property
    def n_free(self):
        return len(self.pages)

    def new(self):
        sid = next(self.ids)
        self.seqs[sid] = [[], 0]
        return sid

    def fork(self, text):
        block_table, length = self.seqs[text]
        sid = next(self.ids)
        self.seqs[sid] = [block_table[:], length]
        for page in block_table:
            self.pages.share(page)
        return sid

    def free(self, text):
        block_table, _ = self.seqs.pop(text)
        for page in block_table:
            self.pages.release(page)

    def table(self, text):
        return self.seqs[text][0][:]

    def _slots(self, block_table, start, stop):
        return torch.tensor([block_table[p // self.P] * self.P + p % self.P for p in range(start, stop)], dtype=torch.long)

    def append(self, text, key, value):
        seq = self.seqs[text]
        for name, x in {"key": key}.items():
            if x.ndim != 3 or x.shape[0] < 1 or x.shape[1] != self.G or x.shape[2] != self.K:
                raise ValueError(f"wrong shape of {name}: {tuple(x.shape)}")
        block_table, length = seq
        T = key.shape[0]
        fill = length % self.P
        cow = bool(fill) and self.pages.refs[block_table[-1]] > 1
        need = math.ceil((length + T) / self.P) - len(block_table)
        if need + cow > self.n_free:
            raise MemoryError(f"needs {need + cow} pages, has {self.n_free}")
        if cow:
            src, dst = block_table[-1], self.pages.alloc()
            self.keys[dst].copy_(self.keys[src])
            self.values[dst].copy_(self.values[src])
            self.pages.release(src)
            block_table[-1] = dst
        block_table.extend(self.pages.alloc() for _ in range(need))
        slots = self._slots(block_table, length, length + T)
        self.keys.view(-1, self.G, self.K)[slots] = key.detach().to(self.keys)
        self.values.view(-1, self.G, self.K)[slots] = value.detach().to(self.values)
        seq[1] = length + T

    def read(self, text):
        block_table, length = self.seqs[text]
        slots = self._slots(block_table, 0, length)
        return self.keys.view(-1, self.G, self.K)[slots], self.values.view(-1, self.G, self.K)[slots]
# %% right: reference_counts
class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        for name, n in (("n_pages", n_pages), ("page_size", page_size), ("n_kv_heads", n_kv_heads), ("d_head", d_head)):
            if n < 1:
                raise ValueError(f"{name} must be at least 1, got {n}")
        self.page_size = page_size
        self.keys = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.values = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.free_pages = list(range(n_pages))
        self.users = [0] * n_pages
        self.tables = {}
        self.lengths = {}
        self.next_id = 0

    @property
    def n_free(self):
        return len(self.free_pages)

    def new(self):
        text = self.next_id
        self.next_id += 1
        self.tables[text] = []
        self.lengths[text] = 0
        return text

    def _take(self):
        page = self.free_pages.pop()
        self.users[page] = 1
        return page

    def append(self, text, key, value):
        table = self.tables[text]
        if key.ndim != 3 or key.shape[0] < 1 or key.shape[1:] != self.keys.shape[2:]:
            raise ValueError(f"key has the shape {tuple(key.shape)}")
        if value.shape != key.shape:
            raise ValueError(f"value has the shape {tuple(value.shape)}, key {tuple(key.shape)}")
        start, P = self.lengths[text], self.page_size
        end = start + key.shape[0]
        new_pages = -(-end // P) - len(table)
        copy = start % P != 0 and self.users[table[-1]] > 1
        if new_pages + copy > len(self.free_pages):
            raise MemoryError(f"{new_pages + copy} pages needed, {len(self.free_pages)} free")
        if copy:
            old = table[-1]
            page = self._take()
            self.keys[page] = self.keys[old]
            self.values[page] = self.values[old]
            self.users[old] -= 1
            table[-1] = page
        for _ in range(new_pages):
            table.append(self._take())
        for i in range(key.shape[0]):
            page, row = table[(start + i) // P], (start + i) % P
            self.keys[page, row] = key[i].detach()
            self.values[page, row] = value[i].detach()
        self.lengths[text] = end

    def read(self, text):
        table, S = self.tables[text], self.lengths[text]
        keys = self.keys[table].flatten(0, 1)[:S].clone()
        values = self.values[table].flatten(0, 1)[:S].clone()
        return keys, values

    def fork(self, text):
        table = self.tables[text]
        copy = self.new()
        self.tables[copy] = list(table)
        self.lengths[copy] = self.lengths[text]
        for page in table:
            self.users[page] += 1
        return copy

    def free(self, text):
        table = self.tables.pop(text)
        del self.lengths[text]
        for page in table:
            self.users[page] -= 1
            if self.users[page] == 0:
                self.free_pages.append(page)

    def table(self, text):
        return list(self.tables[text])
# %% right: counted_from_tables
class _Text:
    def __init__(self, pages=(), length=0):
        self.pages = list(pages)
        self.length = length


class PagedCache:
    """Which pages are used is counted anew from the block tables each time."""

    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        if min(n_pages, page_size, n_kv_heads, d_head) < 1:
            raise ValueError(f"n_pages={n_pages}, page_size={page_size}, n_kv_heads={n_kv_heads}, d_head={d_head}: all must be >= 1")
        shape = (n_pages, page_size, n_kv_heads, d_head)
        self.keys = torch.empty(shape, dtype=torch.float32)
        self.values = torch.empty(shape, dtype=torch.float32)
        self._texts = {}
        self._count = 0

    def _uses(self, page):
        return sum(t.pages.count(page) for t in self._texts.values())

    def _free(self):
        used = {p for t in self._texts.values() for p in t.pages}
        return [p for p in range(len(self.keys)) if p not in used]

    @property
    def n_free(self):
        return len(self._free())

    def _get(self, text):
        if text not in self._texts:
            raise KeyError(f"no text {text}")
        return self._texts[text]

    def _add(self, t):
        self._count += 1
        self._texts[self._count] = t
        return self._count

    def new(self):
        return self._add(_Text())

    def fork(self, text):
        t = self._get(text)
        return self._add(_Text(t.pages, t.length))

    def free(self, text):
        self._get(text)
        del self._texts[text]

    def table(self, text):
        return self._get(text).pages.copy()

    def _check(self, key, value):
        G, K = self.keys.shape[2:]
        for name, x in (("key", key), ("value", value)):
            if x.dim() != 3 or tuple(x.shape[1:]) != (G, K) or len(x) == 0:
                raise ValueError(f"{name} must have shape (T, {G}, {K}), has {tuple(x.shape)}")
        if len(key) != len(value):
            raise ValueError(f"key has {len(key)} positions, value {len(value)}")

    @torch.no_grad()
    def append(self, text, key, value):
        t = self._get(text)
        self._check(key, value)
        size = self.keys.shape[1]
        row = t.length % size
        pages = list(t.pages)
        total = (t.length + len(key) + size - 1) // size
        shared = row > 0 and self._uses(pages[-1]) > 1
        free = self._free()
        if len(free) < total - len(pages) + int(shared):
            raise MemoryError("not enough free pages")
        if shared:
            page = free.pop(0)
            self.keys[page, :row] = self.keys[pages[-1], :row]
            self.values[page, :row] = self.values[pages[-1], :row]
            pages[-1] = page
        while len(pages) < total:
            pages.append(free.pop(0))
        done, pos = 0, t.length
        while done < len(key):
            page, row = pages[pos // size], pos % size
            n = min(size - row, len(key) - done)
            self.keys[page, row:row + n] = key[done:done + n]
            self.values[page, row:row + n] = value[done:done + n]
            done, pos = done + n, pos + n
        t.pages, t.length = pages, pos

    def read(self, text):
        t = self._get(text)
        G, K = self.keys.shape[2:]
        keys, values = self.keys.new_empty(t.length, G, K), self.values.new_empty(t.length, G, K)
        size = self.keys.shape[1]
        for n, page in enumerate(t.pages):
            a, b = n * size, min((n + 1) * size, t.length)
            keys[a:b] = self.keys[page, :b - a]
            values[a:b] = self.values[page, :b - a]
        return keys, values
# %% right: allocator_and_slots
import heapq
import itertools


class PageAllocator:
    def __init__(self, n):
        self.heap = list(range(n))
        self.refs = {}

    def __len__(self):
        return len(self.heap)

    def alloc(self):
        page = heapq.heappop(self.heap)
        self.refs[page] = 1
        return page

    def share(self, page):
        self.refs[page] += 1

    def release(self, page):
        self.refs[page] -= 1
        if not self.refs[page]:
            del self.refs[page]
            heapq.heappush(self.heap, page)


class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        if n_pages < 1: raise ValueError(f"n_pages={n_pages} < 1")
        if page_size < 1: raise ValueError(f"page_size={page_size} < 1")
        if n_kv_heads < 1: raise ValueError(f"n_kv_heads={n_kv_heads} < 1")
        if d_head < 1: raise ValueError(f"d_head={d_head} < 1")
        self.P, self.G, self.K = page_size, n_kv_heads, d_head
        self.keys = torch.zeros((n_pages, page_size, n_kv_heads, d_head), dtype=torch.float32)
        self.values = torch.zeros_like(self.keys)
        self.pages = PageAllocator(n_pages)
        self.ids = itertools.count()
        self.seqs = {}          # id -> [block table, length]

    @property
    def n_free(self):
        return len(self.pages)

    def new(self):
        sid = next(self.ids)
        self.seqs[sid] = [[], 0]
        return sid

    def fork(self, text):
        block_table, length = self.seqs[text]
        sid = next(self.ids)
        self.seqs[sid] = [block_table[:], length]
        for page in block_table:
            self.pages.share(page)
        return sid

    def free(self, text):
        block_table, _ = self.seqs.pop(text)
        for page in block_table:
            self.pages.release(page)

    def table(self, text):
        return self.seqs[text][0][:]

    def _slots(self, block_table, start, stop):
        return torch.tensor([block_table[p // self.P] * self.P + p % self.P for p in range(start, stop)], dtype=torch.long)

    def append(self, text, key, value):
        seq = self.seqs[text]
        for name, x in {"key": key, "value": value}.items():
            if x.ndim != 3 or x.shape[0] < 1 or x.shape[1] != self.G or x.shape[2] != self.K:
                raise ValueError(f"wrong shape of {name}: {tuple(x.shape)}")
        if key.shape[0] != value.shape[0]:
            raise ValueError(f"key and value differ in length: {key.shape[0]}, {value.shape[0]}")
        block_table, length = seq
        T = key.shape[0]
        fill = length % self.P
        cow = bool(fill) and self.pages.refs[block_table[-1]] > 1
        need = math.ceil((length + T) / self.P) - len(block_table)
        if need + cow > self.n_free:
            raise MemoryError(f"needs {need + cow} pages, has {self.n_free}")
        if cow:
            src, dst = block_table[-1], self.pages.alloc()
            self.keys[dst].copy_(self.keys[src])
            self.values[dst].copy_(self.values[src])
            self.pages.release(src)
            block_table[-1] = dst
        block_table.extend(self.pages.alloc() for _ in range(need))
        slots = self._slots(block_table, length, length + T)
        self.keys.view(-1, self.G, self.K)[slots] = key.detach().to(self.keys)
        self.values.view(-1, self.G, self.K)[slots] = value.detach().to(self.values)
        seq[1] = length + T

    def read(self, text):
        block_table, length = self.seqs[text]
        slots = self._slots(block_table, 0, length)
        return self.keys.view(-1, self.G, self.K)[slots], self.values.view(-1, self.G, self.K)[slots]
# %% right: owner_sets
class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        sizes = dict(n_pages=n_pages, page_size=page_size, n_kv_heads=n_kv_heads, d_head=d_head)
        for name in sizes:
            if sizes[name] < 1:
                raise ValueError("%s = %d, but must be >= 1" % (name, sizes[name]))
        self.sizes = sizes
        self.keys = torch.zeros(*sizes.values())
        self.values = torch.zeros(*sizes.values())
        self.owners = [set() for _ in range(n_pages)]   # the texts that have each page
        self.n_free = n_pages
        self.blocks = {}
        self.length = {}
        self.made = 0

    def new(self):
        self.made += 1
        self.blocks[self.made], self.length[self.made] = [], 0
        return self.made

    def grab(self, text):
        for page, who in enumerate(self.owners):
            if not who:
                who.add(text)
                self.n_free -= 1
                return page

    def drop(self, text, page):
        self.owners[page].discard(text)
        if not self.owners[page]:
            self.n_free += 1

    def append(self, text, key, value):
        if text not in self.blocks:
            raise KeyError(text)
        want = (self.sizes["n_kv_heads"], self.sizes["d_head"])
        if not (key.ndim == 3 and tuple(key.shape[1:]) == want and key.shape[0] >= 1):
            raise ValueError(f"key: {tuple(key.shape)}")
        if not (value.ndim == 3 and tuple(value.shape[1:]) == want and value.shape[0] == key.shape[0]):
            raise ValueError(f"value: {tuple(value.shape)}")
        size, block = self.sizes["page_size"], self.blocks[text]
        first = self.length[text]
        last = first + key.shape[0] - 1
        extra = last // size + 1 - len(block)
        index = first // size
        must_copy = index < len(block) and len(self.owners[block[index]]) > 1
        if extra + must_copy > self.n_free:
            raise MemoryError(f"{self.n_free} free pages are too few")
        if must_copy:
            mine = self.grab(text)
            theirs = block[index]
            for pool in (self.keys, self.values):
                pool[mine] = pool[theirs]
            self.drop(text, theirs)
            block[index] = mine
        for _ in range(extra):
            block.append(self.grab(text))
        with torch.no_grad():
            for t, (k, v) in enumerate(zip(key, value), start=first):
                self.keys[block[t // size]][t % size] = k
                self.values[block[t // size]][t % size] = v
        self.length[text] = last + 1

    def read(self, text):
        block, S = self.blocks[text], self.length[text]
        size = self.sizes["page_size"]
        if S == 0:
            nothing = self.keys[0, :0]
            return nothing.clone(), nothing.clone()
        out = []
        for pool in (self.keys, self.values):
            out.append(torch.cat([pool[p] for p in block])[:S])
        return tuple(out)

    def fork(self, text):
        block, S = self.blocks[text], self.length[text]
        other = self.new()
        self.blocks[other], self.length[other] = block.copy(), S
        for page in block:
            self.owners[page].add(other)
        return other

    def free(self, text):
        for page in self.blocks[text]:
            self.drop(text, page)
        del self.blocks[text], self.length[text]

    def table(self, text):
        return [page for page in self.blocks[text]]
# %% right: one_pool_immutable_state
class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        args = {"n_pages": n_pages, "page_size": page_size, "n_kv_heads": n_kv_heads, "d_head": d_head}
        bad = {k: v for k, v in args.items() if v < 1}
        if bad:
            raise ValueError(f"must be at least 1: {bad}")
        pool = torch.zeros(2, n_pages, page_size, n_kv_heads, d_head)
        self.keys, self.values = pool[0], pool[1]
        self._pool = pool
        self._ref = torch.zeros(n_pages, dtype=torch.long)
        self._state = {}
        self._last = -1

    n_free = property(lambda self: int((self._ref == 0).sum()))

    def new(self):
        return self._register([], 0)

    def _register(self, pages, length):
        self._last += 1
        self._state[self._last] = (tuple(pages), length)
        for p in pages:
            self._ref[p] += 1
        return self._last

    def fork(self, text):
        return self._register(*self._state[text])

    def free(self, text):
        pages, _ = self._state.pop(text)
        for p in pages:
            self._ref[p] -= 1

    def table(self, text):
        return list(self._state[text][0])

    def append(self, text, key, value):
        pages, length = self._state[text]
        G, K = self.keys.shape[-2:]
        T = key.shape[0] if key.ndim else 0
        if T < 1 or key.shape != (T, G, K):
            raise ValueError(f"key should be (T, {G}, {K}) but is {tuple(key.shape)}")
        if value.shape != (T, G, K):
            raise ValueError(f"value should be ({T}, {G}, {K}) but is {tuple(value.shape)}")
        P = self.keys.shape[1]
        whole, rest = divmod(length, P)
        keep = list(pages)
        tail = []
        if rest and self._ref[keep[-1]] > 1:
            tail = [keep.pop()]
        missing = (length + T + P - 1) // P - len(keep)
        free = torch.nonzero(self._ref == 0).flatten().tolist()
        if missing > len(free):
            raise MemoryError(f"{missing} free pages are needed, there are {len(free)}")
        fresh = free[:missing]
        if tail:
            self._pool[:, fresh[0]] = self._pool[:, tail[0]]
            self._ref[tail[0]] -= 1
        for p in fresh:
            self._ref[p] = 1
        pages = keep + fresh
        where = torch.arange(length, length + T)
        index = torch.tensor(pages)[where // P]
        self.keys[index, where % P] = key.detach().to(torch.float32)
        self.values[index, where % P] = value.detach().to(torch.float32)
        self._state[text] = (tuple(pages), length + T)

    def read(self, text):
        pages, length = self._state[text]
        where = torch.arange(length)
        index = torch.tensor(pages, dtype=torch.long)[where // self.keys.shape[1]]
        return self.keys[index, where % self.keys.shape[1]], self.values[index, where % self.keys.shape[1]]
