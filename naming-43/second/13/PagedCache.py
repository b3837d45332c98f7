# %% wrong: writes_into_shared_page | There is no copy on write: a fork appends into the page that its parent uses too.
class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        for name, value in (("n_pages", n_pages), ("page_size", page_size), ("n_kv_heads", n_kv_heads), ("d_head", d_head)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")
        self.keys = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.values = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.page_size = page_size
        self.users = [0] * n_pages
        self.free_pages = list(range(n_pages))
        self.tables, self.lengths = {}, {}
        self.next_id = 0

    @property
    def n_free(self):
        return len(self.free_pages)

    def _take(self):
        page = self.free_pages.pop()
        self.users[page] = 1
        return page

    def _release(self, page):
        self.users[page] -= 1
        if self.users[page] == 0:
            self.free_pages.append(page)

    def new(self):
        text = self.next_id
        self.next_id += 1
        self.tables[text], self.lengths[text] = [], 0
        return text

    def append(self, text, key, value):
        table, start = self.tables[text], self.lengths[text]
        shape = tuple(self.keys.shape[2:])
        for name, x in (("key", key), ("value", value)):
            if x.dim() != 3 or tuple(x.shape[1:]) != shape or x.shape[0] < 1:
                raise ValueError(f"{name} has shape {tuple(x.shape)}, expected (T, {shape[0]}, {shape[1]})")
        if key.shape[0] != value.shape[0]:
            raise ValueError(f"key has shape {tuple(key.shape)}, value {tuple(value.shape)}")
        T, P = key.shape[0], self.page_size
        copy = False
        extra = -(-(start + T) // P) - len(table)
        if extra + copy > len(self.free_pages):
            raise MemoryError(f"{extra + copy} pages needed, {len(self.free_pages)} free")
        if copy:
            old, new = table[-1], self._take()
            self.keys[new] = self.keys[old]
            self.values[new] = self.values[old]
            self._release(old)
            table[-1] = new
        for _ in range(extra):
            table.append(self._take())
        key, value = key.detach(), value.detach()
        for t in range(T):
            page, row = table[(start + t) // P], (start + t) % P
            self.keys[page, row] = key[t]
            self.values[page, row] = value[t]
        self.lengths[text] = start + T

    def read(self, text):
        table, S = self.tables[text], self.lengths[text]
        return self.keys[table].flatten(0, 1)[:S].clone(), self.values[table].flatten(0, 1)[:S].clone()

    def fork(self, text):
        table, length = self.tables[text], self.lengths[text]
        child = self.new()
        self.tables[child], self.lengths[child] = list(table), length
        for page in table:
            self.users[page] += 1
        return child

    def free(self, text):
        table = self.tables.pop(text)
        del self.lengths[text]
        for page in table:
            self._release(page)

    def table(self, text):
        return list(self.tables[text])

# %% wrong: copies_full_page | The last page is copied whenever it is shared, also when it is full and nothing is written to it.
class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        for name, value in (("n_pages", n_pages), ("page_size", page_size), ("n_kv_heads", n_kv_heads), ("d_head", d_head)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")
        self.keys = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.values = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.page_size = page_size
        self.users = [0] * n_pages
        self.free_pages = list(range(n_pages))
        self.tables, self.lengths = {}, {}
        self.next_id = 0

    @property
    def n_free(self):
        return len(self.free_pages)

    def _take(self):
        page = self.free_pages.pop()
        self.users[page] = 1
        return page

    def _release(self, page):
        self.users[page] -= 1
        if self.users[page] == 0:
            self.free_pages.append(page)

    def new(self):
        text = self.next_id
        self.next_id += 1
        self.tables[text], self.lengths[text] = [], 0
        return text

    def append(self, text, key, value):
        table, start = self.tables[text], self.lengths[text]
        shape = tuple(self.keys.shape[2:])
        for name, x in (("key", key), ("value", value)):
            if x.dim() != 3 or tuple(x.shape[1:]) != shape or x.shape[0] < 1:
                raise ValueError(f"{name} has shape {tuple(x.shape)}, expected (T, {shape[0]}, {shape[1]})")
        if key.shape[0] != value.shape[0]:
            raise ValueError(f"key has shape {tuple(key.shape)}, value {tuple(value.shape)}")
        T, P = key.shape[0], self.page_size
        copy = len(table) > 0 and self.users[table[-1]] > 1
        extra = -(-(start + T) // P) - len(table)
        if extra + copy > len(self.free_pages):
            raise MemoryError(f"{extra + copy} pages needed, {len(self.free_pages)} free")
        if copy:
            old, new = table[-1], self._take()
            self.keys[new] = self.keys[old]
            self.values[new] = self.values[old]
            self._release(old)
            table[-1] = new
        for _ in range(extra):
            table.append(self._take())
        key, value = key.detach(), value.detach()
        for t in range(T):
            page, row = table[(start + t) // P], (start + t) % P
            self.keys[page, row] = key[t]
            self.values[page, row] = value[t]
        self.lengths[text] = start + T

    def read(self, text):
        table, S = self.tables[text], self.lengths[text]
        return self.keys[table].flatten(0, 1)[:S].clone(), self.values[table].flatten(0, 1)[:S].clone()

    def fork(self, text):
        table, length = self.tables[text], self.lengths[text]
        child = self.new()
        self.tables[child], self.lengths[child] = list(table), length
        for page in table:
            self.users[page] += 1
        return child

    def free(self, text):
        table = self.tables.pop(text)
        del self.lengths[text]
        for page in table:
            self._release(page)

    def table(self, text):
        return list(self.tables[text])

# %% wrong: fork_shares_list | A fork holds the very list of its parent's block table, so pages appended to one appear in the other.
class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        for name, value in (("n_pages", n_pages), ("page_size", page_size), ("n_kv_heads", n_kv_heads), ("d_head", d_head)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")
        self.keys = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.values = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.page_size = page_size
        self.users = [0] * n_pages
        self.free_pages = list(range(n_pages))
        self.tables, self.lengths = {}, {}
        self.next_id = 0

    @property
    def n_free(self):
        return len(self.free_pages)

    def _take(self):
        page = self.free_pages.pop()
        self.users[page] = 1
        return page

    def _release(self, page):
        self.users[page] -= 1
        if self.users[page] == 0:
            self.free_pages.append(page)

    def new(self):
        text = self.next_id
        self.next_id += 1
        self.tables[text], self.lengths[text] = [], 0
        return text

    def append(self, text, key, value):
        table, start = self.tables[text], self.lengths[text]
        shape = tuple(self.keys.shape[2:])
        for name, x in (("key", key), ("value", value)):
            if x.dim() != 3 or tuple(x.shape[1:]) != shape or x.shape[0] < 1:
                raise ValueError(f"{name} has shape {tuple(x.shape)}, expected (T, {shape[0]}, {shape[1]})")
        if key.shape[0] != value.shape[0]:
            raise ValueError(f"key has shape {tuple(key.shape)}, value {tuple(value.shape)}")
        T, P = key.shape[0], self.page_size
        copy = start % P != 0 and self.users[table[-1]] > 1
        extra = -(-(start + T) // P) - len(table)
        if extra + copy > len(self.free_pages):
            raise MemoryError(f"{extra + copy} pages needed, {len(self.free_pages)} free")
        if copy:
            old, new = table[-1], self._take()
            self.keys[new] = self.keys[old]
            self.values[new] = self.values[old]
            self._release(old)
            table[-1] = new
        for _ in range(extra):
            table.append(self._take())
        key, value = key.detach(), value.detach()
        for t in range(T):
            page, row = table[(start + t) // P], (start + t) % P
            self.keys[page, row] = key[t]
            self.values[page, row] = value[t]
        self.lengths[text] = start + T

    def read(self, text):
        table, S = self.tables[text], self.lengths[text]
        return self.keys[table].flatten(0, 1)[:S].clone(), self.values[table].flatten(0, 1)[:S].clone()

    def fork(self, text):
        table, length = self.tables[text], self.lengths[text]
        child = self.new()
        self.tables[child], self.lengths[child] = table, length
        for page in table:
            self.users[page] += 1
        return child

    def free(self, text):
        table = self.tables.pop(text)
        del self.lengths[text]
        for page in table:
            self._release(page)

    def table(self, text):
        return list(self.tables[text])

# %% wrong: ids_by_count | The id is the number of living texts, so ids are given again after a text is gone.
class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        for name, value in (("n_pages", n_pages), ("page_size", page_size), ("n_kv_heads", n_kv_heads), ("d_head", d_head)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")
        self.keys = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.values = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.page_size = page_size
        self.users = [0] * n_pages
        self.free_pages = list(range(n_pages))
        self.tables, self.lengths = {}, {}
        self.next_id = 0

    @property
    def n_free(self):
        return len(self.free_pages)

    def _take(self):
        page = self.free_pages.pop()
        self.users[page] = 1
        return page

    def _release(self, page):
        self.users[page] -= 1
        if self.users[page] == 0:
            self.free_pages.append(page)

    def new(self):
        text = len(self.tables)
        while text in self.tables:
            text += 1
        self.tables[text], self.lengths[text] = [], 0
        return text

    def append(self, text, key, value):
        table, start = self.tables[text], self.lengths[text]
        shape = tuple(self.keys.shape[2:])
        for name, x in (("key", key), ("value", value)):
            if x.dim() != 3 or tuple(x.shape[1:]) != shape or x.shape[0] < 1:
                raise ValueError(f"{name} has shape {tuple(x.shape)}, expected (T, {shape[0]}, {shape[1]})")
        if key.shape[0] != value.shape[0]:
            raise ValueError(f"key has shape {tuple(key.shape)}, value {tuple(value.shape)}")
        T, P = key.shape[0], self.page_size
        copy = start % P != 0 and self.users[table[-1]] > 1
        extra = -(-(start + T) // P) - len(table)
        if extra + copy > len(self.free_pages):
            raise MemoryError(f"{extra + copy} pages needed, {len(self.free_pages)} free")
        if copy:
            old, new = table[-1], self._take()
            self.keys[new] = self.keys[old]
            self.values[new] = self.values[old]
            self._release(old)
            table[-1] = new
        for _ in range(extra):
            table.append(self._take())
        key, value = key.detach(), value.detach()
        for t in range(T):
            page, row = table[(start + t) // P], (start + t) % P
            self.keys[page, row] = key[t]
            self.values[page, row] = value[t]
        self.lengths[text] = start + T

    def read(self, text):
        table, S = self.tables[text], self.lengths[text]
        return self.keys[table].flatten(0, 1)[:S].clone(), self.values[table].flatten(0, 1)[:S].clone()

    def fork(self, text):
        table, length = self.tables[text], self.lengths[text]
        child = self.new()
        self.tables[child], self.lengths[child] = list(table), length
        for page in table:
            self.users[page] += 1
        return child

    def free(self, text):
        table = self.tables.pop(text)
        del self.lengths[text]
        for page in table:
            self._release(page)

    def table(self, text):
        return list(self.tables[text])

# %% wrong: copy_not_counted | The page for the copy is not counted when free pages are checked.
class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        for name, value in (("n_pages", n_pages), ("page_size", page_size), ("n_kv_heads", n_kv_heads), ("d_head", d_head)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")
        self.keys = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.values = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.page_size = page_size
        self.users = [0] * n_pages
        self.free_pages = list(range(n_pages))
        self.tables, self.lengths = {}, {}
        self.next_id = 0

    @property
    def n_free(self):
        return len(self.free_pages)

    def _take(self):
        page = self.free_pages.pop()
        self.users[page] = 1
        return page

    def _release(self, page):
        self.users[page] -= 1
        if self.users[page] == 0:
            self.free_pages.append(page)

    def new(self):
        text = self.next_id
        self.next_id += 1
        self.tables[text], self.lengths[text] = [], 0
        return text

    def append(self, text, key, value):
        table, start = self.tables[text], self.lengths[text]
        shape = tuple(self.keys.shape[2:])
        for name, x in (("key", key), ("value", value)):
            if x.dim() != 3 or tuple(x.shape[1:]) != shape or x.shape[0] < 1:
                raise ValueError(f"{name} has shape {tuple(x.shape)}, expected (T, {shape[0]}, {shape[1]})")
        if key.shape[0] != value.shape[0]:
            raise ValueError(f"key has shape {tuple(key.shape)}, value {tuple(value.shape)}")
        T, P = key.shape[0], self.page_size
        copy = start % P != 0 and self.users[table[-1]] > 1
        extra = -(-(start + T) // P) - len(table)
        if extra > len(self.free_pages):
            raise MemoryError(f"{extra + copy} pages needed, {len(self.free_pages)} free")
        if copy:
            old, new = table[-1], self._take()
            self.keys[new] = self.keys[old]
            self.values[new] = self.values[old]
            self._release(old)
            table[-1] = new
        for _ in range(extra):
            table.append(self._take())
        key, value = key.detach(), value.detach()
        for t in range(T):
            page, row = table[(start + t) // P], (start + t) % P
            self.keys[page, row] = key[t]
            self.values[page, row] = value[t]
        self.lengths[text] = start + T

    def read(self, text):
        table, S = self.tables[text], self.lengths[text]
        return self.keys[table].flatten(0, 1)[:S].clone(), self.values[table].flatten(0, 1)[:S].clone()

    def fork(self, text):
        table, length = self.tables[text], self.lengths[text]
        child = self.new()
        self.tables[child], self.lengths[child] = list(table), length
        for page in table:
            self.users[page] += 1
        return child

    def free(self, text):
        table = self.tables.pop(text)
        del self.lengths[text]
        for page in table:
            self._release(page)

    def table(self, text):
        return list(self.tables[text])

# %% wrong: keeps_pages_on_error | Pages are taken one by one before memory runs out, and stay with the text after the error.
class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        if min(n_pages, page_size, n_kv_heads, d_head) < 1:
            raise ValueError(f"bad size: n_pages={n_pages}, page_size={page_size}, n_kv_heads={n_kv_heads}, d_head={d_head}")
        self.size = page_size
        self.keys = torch.empty((n_pages, page_size, n_kv_heads, d_head), dtype=torch.float32)
        self.values = torch.empty_like(self.keys)
        self._texts = {}
        self._count = 0

    def _free(self):
        used = {p for entry in self._texts.values() for p in entry["pages"]}
        return [p for p in range(self.keys.shape[0]) if p not in used]

    @property
    def n_free(self):
        return len(self._free())

    def _shared(self, page):
        return sum(page in entry["pages"] for entry in self._texts.values()) > 1

    def new(self):
        self._count += 1
        self._texts[self._count] = {"pages": [], "length": 0}
        return self._count

    @torch.no_grad()
    def append(self, text, key, value):
        entry = self._texts[text]
        want = self.keys.shape[2:]
        if key.ndim != 3 or key.shape[1:] != want or len(key) == 0:
            raise ValueError(f"key: shape {tuple(key.shape)}")
        if value.shape != key.shape:
            raise ValueError(f"value: shape {tuple(value.shape)}")
        free, pages, length = self._free(), list(entry["pages"]), entry["length"]
        total = length + key.shape[0]
        moved = None
        if length % self.size and self._shared(pages[-1]):
            if not free:
                raise MemoryError("no page for the copy")
            moved = (pages[-1], free[0])
            pages[-1] = free.pop(0)
        while len(pages) * self.size < total:
            if not free:
                raise MemoryError("too few free pages")
            pages.append(free.pop(0))
            entry["pages"] = list(pages)
        if moved:
            self.keys[moved[1]].copy_(self.keys[moved[0]])
            self.values[moved[1]].copy_(self.values[moved[0]])
        n = torch.arange(length, total)
        page = torch.tensor(pages)[n // self.size]
        self.keys[page, n % self.size] = key.float()
        self.values[page, n % self.size] = value.float()
        entry["pages"], entry["length"] = pages, total

    def read(self, text):
        entry = self._texts[text]
        n = torch.arange(entry["length"])
        page = torch.tensor(entry["pages"], dtype=torch.long)[n // self.size]
        return self.keys[page, n % self.size], self.values[page, n % self.size]

    def fork(self, text):
        entry = self._texts[text]
        child = self.new()
        self._texts[child].update(pages=entry["pages"][:], length=entry["length"])
        return child

    def free(self, text):
        del self._texts[text]

    def table(self, text):
        return self._texts[text]["pages"].copy()

# %% wrong: free_ignores_sharing | Freeing a text frees all its pages, also those that a fork still uses.
class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        for name, value in (("n_pages", n_pages), ("page_size", page_size), ("n_kv_heads", n_kv_heads), ("d_head", d_head)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")
        self.keys = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.values = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.page_size = page_size
        self.users = [0] * n_pages
        self.free_pages = list(range(n_pages))
        self.tables, self.lengths = {}, {}
        self.next_id = 0

    @property
    def n_free(self):
        return len(self.free_pages)

    def _take(self):
        page = self.free_pages.pop()
        self.users[page] = 1
        return page

    def _release(self, page):
        self.users[page] -= 1
        if self.users[page] == 0:
            self.free_pages.append(page)

    def new(self):
        text = self.next_id
        self.next_id += 1
        self.tables[text], self.lengths[text] = [], 0
        return text

    def append(self, text, key, value):
        table, start = self.tables[text], self.lengths[text]
        shape = tuple(self.keys.shape[2:])
        for name, x in (("key", key), ("value", value)):
            if x.dim() != 3 or tuple(x.shape[1:]) != shape or x.shape[0] < 1:
                raise ValueError(f"{name} has shape {tuple(x.shape)}, expected (T, {shape[0]}, {shape[1]})")
        if key.shape[0] != value.shape[0]:
            raise ValueError(f"key has shape {tuple(key.shape)}, value {tuple(value.shape)}")
        T, P = key.shape[0], self.page_size
        copy = start % P != 0 and self.users[table[-1]] > 1
        extra = -(-(start + T) // P) - len(table)
        if extra + copy > len(self.free_pages):
            raise MemoryError(f"{extra + copy} pages needed, {len(self.free_pages)} free")
        if copy:
            old, new = table[-1], self._take()
            self.keys[new] = self.keys[old]
            self.values[new] = self.values[old]
            self._release(old)
            table[-1] = new
        for _ in range(extra):
            table.append(self._take())
        key, value = key.detach(), value.detach()
        for t in range(T):
            page, row = table[(start + t) // P], (start + t) % P
            self.keys[page, row] = key[t]
            self.values[page, row] = value[t]
        self.lengths[text] = start + T

    def read(self, text):
        table, S = self.tables[text], self.lengths[text]
        return self.keys[table].flatten(0, 1)[:S].clone(), self.values[table].flatten(0, 1)[:S].clone()

    def fork(self, text):
        table, length = self.tables[text], self.lengths[text]
        child = self.new()
        self.tables[child], self.lengths[child] = list(table), length
        for page in table:
            self.users[page] += 1
        return child

    def free(self, text):
        table = self.tables.pop(text)
        del self.lengths[text]
        for page in table:
            self.users[page] = 0
            if page not in self.free_pages:
                self.free_pages.append(page)

    def table(self, text):
        return list(self.tables[text])

# %% wrong: first_page_at_new | A new text gets its first page at once, before anything is written.
class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        for name, value in (("n_pages", n_pages), ("page_size", page_size), ("n_kv_heads", n_kv_heads), ("d_head", d_head)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")
        self.keys = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.values = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.page_size = page_size
        self.users = [0] * n_pages
        self.free_pages = list(range(n_pages))
        self.tables, self.lengths = {}, {}
        self.next_id = 0

    @property
    def n_free(self):
        return len(self.free_pages)

    def _take(self):
        page = self.free_pages.pop()
        self.users[page] = 1
        return page

    def _release(self, page):
        self.users[page] -= 1
        if self.users[page] == 0:
            self.free_pages.append(page)

    def new(self):
        text = self.next_id
        self.next_id += 1
        self.tables[text], self.lengths[text] = [self._take()] if self.free_pages else [], 0
        return text

    def append(self, text, key, value):
        table, start = self.tables[text], self.lengths[text]
        shape = tuple(self.keys.shape[2:])
        for name, x in (("key", key), ("value", value)):
            if x.dim() != 3 or tuple(x.shape[1:]) != shape or x.shape[0] < 1:
                raise ValueError(f"{name} has shape {tuple(x.shape)}, expected (T, {shape[0]}, {shape[1]})")
        if key.shape[0] != value.shape[0]:
            raise ValueError(f"key has shape {tuple(key.shape)}, value {tuple(value.shape)}")
        T, P = key.shape[0], self.page_size
        copy = start % P != 0 and self.users[table[-1]] > 1
        extra = -(-(start + T) // P) - len(table)
        if extra + copy > len(self.free_pages):
            raise MemoryError(f"{extra + copy} pages needed, {len(self.free_pages)} free")
        if copy:
            old, new = table[-1], self._take()
            self.keys[new] = self.keys[old]
            self.values[new] = self.values[old]
            self._release(old)
            table[-1] = new
        for _ in range(extra):
            table.append(self._take())
        key, value = key.detach(), value.detach()
        for t in range(T):
            page, row = table[(start + t) // P], (start + t) % P
            self.keys[page, row] = key[t]
            self.values[page, row] = value[t]
        self.lengths[text] = start + T

    def read(self, text):
        table, S = self.tables[text], self.lengths[text]
        return self.keys[table].flatten(0, 1)[:S].clone(), self.values[table].flatten(0, 1)[:S].clone()

    def fork(self, text):
        table, length = self.tables[text], self.lengths[text]
        child = self.next_id
        self.next_id += 1
        self.tables[child], self.lengths[child] = list(table), length
        for page in table:
            self.users[page] += 1
        return child

    def free(self, text):
        table = self.tables.pop(text)
        del self.lengths[text]
        for page in table:
            self._release(page)

    def table(self, text):
        return list(self.tables[text])

# %% wrong: table_not_copied | table() hands out the cache's own list, which the caller can change.
class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        if min(n_pages, page_size, n_kv_heads, d_head) < 1:
            raise ValueError(f"bad size: n_pages={n_pages}, page_size={page_size}, n_kv_heads={n_kv_heads}, d_head={d_head}")
        self.size = page_size
        self.keys = torch.empty((n_pages, page_size, n_kv_heads, d_head), dtype=torch.float32)
        self.values = torch.empty_like(self.keys)
        self._texts = {}
        self._count = 0

    def _free(self):
        used = {p for entry in self._texts.values() for p in entry["pages"]}
        return [p for p in range(self.keys.shape[0]) if p not in used]

    @property
    def n_free(self):
        return len(self._free())

    def _shared(self, page):
        return sum(page in entry["pages"] for entry in self._texts.values()) > 1

    def new(self):
        self._count += 1
        self._texts[self._count] = {"pages": [], "length": 0}
        return self._count

    @torch.no_grad()
    def append(self, text, key, value):
        entry = self._texts[text]
        want = self.keys.shape[2:]
        if key.ndim != 3 or key.shape[1:] != want or len(key) == 0:
            raise ValueError(f"key: shape {tuple(key.shape)}")
        if value.shape != key.shape:
            raise ValueError(f"value: shape {tuple(value.shape)}")
        free, pages, length = self._free(), list(entry["pages"]), entry["length"]
        total = length + key.shape[0]
        moved = None
        if length % self.size and self._shared(pages[-1]):
            if not free:
                raise MemoryError("no page for the copy")
            moved = (pages[-1], free[0])
            pages[-1] = free.pop(0)
        while len(pages) * self.size < total:
            if not free:
                raise MemoryError("too few free pages")
            pages.append(free.pop(0))
        if moved:
            self.keys[moved[1]].copy_(self.keys[moved[0]])
            self.values[moved[1]].copy_(self.values[moved[0]])
        n = torch.arange(length, total)
        page = torch.tensor(pages)[n // self.size]
        self.keys[page, n % self.size] = key.float()
        self.values[page, n % self.size] = value.float()
        entry["pages"], entry["length"] = pages, total

    def read(self, text):
        entry = self._texts[text]
        n = torch.arange(entry["length"])
        page = torch.tensor(entry["pages"], dtype=torch.long)[n // self.size]
        return self.keys[page, n % self.size], self.values[page, n % self.size]

    def fork(self, text):
        entry = self._texts[text]
        child = self.new()
        self._texts[child].update(pages=entry["pages"][:], length=entry["length"])
        return child

    def free(self, text):
        del self._texts[text]

    def table(self, text):
        return self._texts[text]["pages"]

# %% wrong: values_not_copied | On a copy only the keys of the page are copied; the values of its earlier rows are lost.
class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        for name, value in (("n_pages", n_pages), ("page_size", page_size), ("n_kv_heads", n_kv_heads), ("d_head", d_head)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")
        self.keys = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.values = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.page_size = page_size
        self.users = [0] * n_pages
        self.free_pages = list(range(n_pages))
        self.tables, self.lengths = {}, {}
        self.next_id = 0

    @property
    def n_free(self):
        return len(self.free_pages)

    def _take(self):
        page = self.free_pages.pop()
        self.users[page] = 1
        return page

    def _release(self, page):
        self.users[page] -= 1
        if self.users[page] == 0:
            self.free_pages.append(page)

    def new(self):
        text = self.next_id
        self.next_id += 1
        self.tables[text], self.lengths[text] = [], 0
        return text

    def append(self, text, key, value):
        table, start = self.tables[text], self.lengths[text]
        shape = tuple(self.keys.shape[2:])
        for name, x in (("key", key), ("value", value)):
            if x.dim() != 3 or tuple(x.shape[1:]) != shape or x.shape[0] < 1:
                raise ValueError(f"{name} has shape {tuple(x.shape)}, expected (T, {shape[0]}, {shape[1]})")
        if key.shape[0] != value.shape[0]:
            raise ValueError(f"key has shape {tuple(key.shape)}, value {tuple(value.shape)}")
        T, P = key.shape[0], self.page_size
        copy = start % P != 0 and self.users[table[-1]] > 1
        extra = -(-(start + T) // P) - len(table)
        if extra + copy > len(self.free_pages):
            raise MemoryError(f"{extra + copy} pages needed, {len(self.free_pages)} free")
        if copy:
            old, new = table[-1], self._take()
            self.keys[new] = self.keys[old]
            self._release(old)
            table[-1] = new
        for _ in range(extra):
            table.append(self._take())
        key, value = key.detach(), value.detach()
        for t in range(T):
            page, row = table[(start + t) // P], (start + t) % P
            self.keys[page, row] = key[t]
            self.values[page, row] = value[t]
        self.lengths[text] = start + T

    def read(self, text):
        table, S = self.tables[text], self.lengths[text]
        return self.keys[table].flatten(0, 1)[:S].clone(), self.values[table].flatten(0, 1)[:S].clone()

    def fork(self, text):
        table, length = self.tables[text], self.lengths[text]
        child = self.new()
        self.tables[child], self.lengths[child] = list(table), length
        for page in table:
            self.users[page] += 1
        return child

    def free(self, text):
        table = self.tables.pop(text)
        del self.lengths[text]
        for page in table:
            self._release(page)

    def table(self, text):
        return list(self.tables[text])

# %% wrong: old_page_not_released | After a copy the old page still counts this text as a user, and never becomes free.
class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        for name, value in (("n_pages", n_pages), ("page_size", page_size), ("n_kv_heads", n_kv_heads), ("d_head", d_head)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")
        self.keys = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.values = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.page_size = page_size
        self.users = [0] * n_pages
        self.free_pages = list(range(n_pages))
        self.tables, self.lengths = {}, {}
        self.next_id = 0

    @property
    def n_free(self):
        return len(self.free_pages)

    def _take(self):
        page = self.free_pages.pop()
        self.users[page] = 1
        return page

    def _release(self, page):
        self.users[page] -= 1
        if self.users[page] == 0:
            self.free_pages.append(page)

    def new(self):
        text = self.next_id
        self.next_id += 1
        self.tables[text], self.lengths[text] = [], 0
        return text

    def append(self, text, key, value):
        table, start = self.tables[text], self.lengths[text]
        shape = tuple(self.keys.shape[2:])
        for name, x in (("key", key), ("value", value)):
            if x.dim() != 3 or tuple(x.shape[1:]) != shape or x.shape[0] < 1:
                raise ValueError(f"{name} has shape {tuple(x.shape)}, expected (T, {shape[0]}, {shape[1]})")
        if key.shape[0] != value.shape[0]:
            raise ValueError(f"key has shape {tuple(key.shape)}, value {tuple(value.shape)}")
        T, P = key.shape[0], self.page_size
        copy = start % P != 0 and self.users[table[-1]] > 1
        extra = -(-(start + T) // P) - len(table)
        if extra + copy > len(self.free_pages):
            raise MemoryError(f"{extra + copy} pages needed, {len(self.free_pages)} free")
        if copy:
            old, new = table[-1], self._take()
            self.keys[new] = self.keys[old]
            self.values[new] = self.values[old]
            table[-1] = new
        for _ in range(extra):
            table.append(self._take())
        key, value = key.detach(), value.detach()
        for t in range(T):
            page, row = table[(start + t) // P], (start + t) % P
            self.keys[page, row] = key[t]
            self.values[page, row] = value[t]
        self.lengths[text] = start + T

    def read(self, text):
        table, S = self.tables[text], self.lengths[text]
        return self.keys[table].flatten(0, 1)[:S].clone(), self.values[table].flatten(0, 1)[:S].clone()

    def fork(self, text):
        table, length = self.tables[text], self.lengths[text]
        child = self.new()
        self.tables[child], self.lengths[child] = list(table), length
        for page in table:
            self.users[page] += 1
        return child

    def free(self, text):
        table = self.tables.pop(text)
        del self.lengths[text]
        for page in table:
            self._release(page)

    def table(self, text):
        return list(self.tables[text])

# %% wrong: fork_copies | A fork copies all pages at once instead of sharing them.
class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        if min(n_pages, page_size, n_kv_heads, d_head) < 1:
            raise ValueError(f"bad size: n_pages={n_pages}, page_size={page_size}, n_kv_heads={n_kv_heads}, d_head={d_head}")
        self.size = page_size
        self.keys = torch.empty((n_pages, page_size, n_kv_heads, d_head), dtype=torch.float32)
        self.values = torch.empty_like(self.keys)
        self._texts = {}
        self._count = 0

    def _free(self):
        used = {p for entry in self._texts.values() for p in entry["pages"]}
        return [p for p in range(self.keys.shape[0]) if p not in used]

    @property
    def n_free(self):
        return len(self._free())

    def _shared(self, page):
        return sum(page in entry["pages"] for entry in self._texts.values()) > 1

    def new(self):
        self._count += 1
        self._texts[self._count] = {"pages": [], "length": 0}
        return self._count

    @torch.no_grad()
    def append(self, text, key, value):
        entry = self._texts[text]
        want = self.keys.shape[2:]
        if key.ndim != 3 or key.shape[1:] != want or len(key) == 0:
            raise ValueError(f"key: shape {tuple(key.shape)}")
        if value.shape != key.shape:
            raise ValueError(f"value: shape {tuple(value.shape)}")
        free, pages, length = self._free(), list(entry["pages"]), entry["length"]
        total = length + key.shape[0]
        moved = None
        if length % self.size and self._shared(pages[-1]):
            if not free:
                raise MemoryError("no page for the copy")
            moved = (pages[-1], free[0])
            pages[-1] = free.pop(0)
        while len(pages) * self.size < total:
            if not free:
                raise MemoryError("too few free pages")
            pages.append(free.pop(0))
        if moved:
            self.keys[moved[1]].copy_(self.keys[moved[0]])
            self.values[moved[1]].copy_(self.values[moved[0]])
        n = torch.arange(length, total)
        page = torch.tensor(pages)[n // self.size]
        self.keys[page, n % self.size] = key.float()
        self.values[page, n % self.size] = value.float()
        entry["pages"], entry["length"] = pages, total

    def read(self, text):
        entry = self._texts[text]
        n = torch.arange(entry["length"])
        page = torch.tensor(entry["pages"], dtype=torch.long)[n // self.size]
        return self.keys[page, n % self.size], self.values[page, n % self.size]

    def fork(self, text):
        entry = self._texts[text]
        child = self.new()
        if entry["length"]:
            self.append(child, *self.read(text))
        return child

    def free(self, text):
        del self._texts[text]

    def table(self, text):
        return self._texts[text]["pages"].copy()

# %% wrong: read_is_view | Texts of a single page are read as a slice of the pool, which later writes change.
class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        for name, value in (("n_pages", n_pages), ("page_size", page_size), ("n_kv_heads", n_kv_heads), ("d_head", d_head)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")
        self.keys = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.values = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.page_size = page_size
        self.users = [0] * n_pages
        self.free_pages = list(range(n_pages))
        self.tables, self.lengths = {}, {}
        self.next_id = 0

    @property
    def n_free(self):
        return len(self.free_pages)

    def _take(self):
        page = self.free_pages.pop()
        self.users[page] = 1
        return page

    def _release(self, page):
        self.users[page] -= 1
        if self.users[page] == 0:
            self.free_pages.append(page)

    def new(self):
        text = self.next_id
        self.next_id += 1
        self.tables[text], self.lengths[text] = [], 0
        return text

    def append(self, text, key, value):
        table, start = self.tables[text], self.lengths[text]
        shape = tuple(self.keys.shape[2:])
        for name, x in (("key", key), ("value", value)):
            if x.dim() != 3 or tuple(x.shape[1:]) != shape or x.shape[0] < 1:
                raise ValueError(f"{name} has shape {tuple(x.shape)}, expected (T, {shape[0]}, {shape[1]})")
        if key.shape[0] != value.shape[0]:
            raise ValueError(f"key has shape {tuple(key.shape)}, value {tuple(value.shape)}")
        T, P = key.shape[0], self.page_size
        copy = start % P != 0 and self.users[table[-1]] > 1
        extra = -(-(start + T) // P) - len(table)
        if extra + copy > len(self.free_pages):
            raise MemoryError(f"{extra + copy} pages needed, {len(self.free_pages)} free")
        if copy:
            old, new = table[-1], self._take()
            self.keys[new] = self.keys[old]
            self.values[new] = self.values[old]
            self._release(old)
            table[-1] = new
        for _ in range(extra):
            table.append(self._take())
        key, value = key.detach(), value.detach()
        for t in range(T):
            page, row = table[(start + t) // P], (start + t) % P
            self.keys[page, row] = key[t]
            self.values[page, row] = value[t]
        self.lengths[text] = start + T

    def read(self, text):
        table, S = self.tables[text], self.lengths[text]
        if len(table) == 1:
            return self.keys[table[0], :S], self.values[table[0], :S]
        return self.keys[table].flatten(0, 1)[:S].clone(), self.values[table].flatten(0, 1)[:S].clone()

    def fork(self, text):
        table, length = self.tables[text], self.lengths[text]
        child = self.new()
        self.tables[child], self.lengths[child] = list(table), length
        for page in table:
            self.users[page] += 1
        return child

    def free(self, text):
        table = self.tables.pop(text)
        del self.lengths[text]
        for page in table:
            self._release(page)

    def table(self, text):
        return list(self.tables[text])

# %% wrong: pages_assumed_neighbours | Reading takes the pages that follow the first one in the pool, as if a text's pages lay side by side.
class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        for name, value in (("n_pages", n_pages), ("page_size", page_size), ("n_kv_heads", n_kv_heads), ("d_head", d_head)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")
        self.keys = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.values = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.page_size = page_size
        self.users = [0] * n_pages
        self.free_pages = list(range(n_pages))
        self.tables, self.lengths = {}, {}
        self.next_id = 0

    @property
    def n_free(self):
        return len(self.free_pages)

    def _take(self):
        page = self.free_pages.pop(0)
        self.users[page] = 1
        return page

    def _release(self, page):
        self.users[page] -= 1
        if self.users[page] == 0:
            self.free_pages.append(page)

    def new(self):
        text = self.next_id
        self.next_id += 1
        self.tables[text], self.lengths[text] = [], 0
        return text

    def append(self, text, key, value):
        table, start = self.tables[text], self.lengths[text]
        shape = tuple(self.keys.shape[2:])
        for name, x in (("key", key), ("value", value)):
            if x.dim() != 3 or tuple(x.shape[1:]) != shape or x.shape[0] < 1:
                raise ValueError(f"{name} has shape {tuple(x.shape)}, expected (T, {shape[0]}, {shape[1]})")
        if key.shape[0] != value.shape[0]:
            raise ValueError(f"key has shape {tuple(key.shape)}, value {tuple(value.shape)}")
        T, P = key.shape[0], self.page_size
        copy = start % P != 0 and self.users[table[-1]] > 1
        extra = -(-(start + T) // P) - len(table)
        if extra + copy > len(self.free_pages):
            raise MemoryError(f"{extra + copy} pages needed, {len(self.free_pages)} free")
        if copy:
            old, new = table[-1], self._take()
            self.keys[new] = self.keys[old]
            self.values[new] = self.values[old]
            self._release(old)
            table[-1] = new
        for _ in range(extra):
            table.append(self._take())
        key, value = key.detach(), value.detach()
        for t in range(T):
            page, row = table[(start + t) // P], (start + t) % P
            self.keys[page, row] = key[t]
            self.values[page, row] = value[t]
        self.lengths[text] = start + T

    def read(self, text):
        table, S = self.tables[text], self.lengths[text]
        first = table[0] if table else 0
        table = list(range(first, min(first + len(table), len(self.users))))
        return self.keys[table].flatten(0, 1)[:S].clone(), self.values[table].flatten(0, 1)[:S].clone()

    def fork(self, text):
        table, length = self.tables[text], self.lengths[text]
        child = self.new()
        self.tables[child], self.lengths[child] = list(table), length
        for page in table:
            self.users[page] += 1
        return child

    def free(self, text):
        table = self.tables.pop(text)
        del self.lengths[text]
        for page in table:
            self._release(page)

    def table(self, text):
        return list(self.tables[text])

# %% wrong: new_pool_each_write | append builds a new pool tensor with index_put instead of writing into the one that was made.
class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        if min(n_pages, page_size, n_kv_heads, d_head) < 1:
            raise ValueError(f"bad size: n_pages={n_pages}, page_size={page_size}, n_kv_heads={n_kv_heads}, d_head={d_head}")
        self.size = page_size
        self.keys = torch.empty((n_pages, page_size, n_kv_heads, d_head), dtype=torch.float32)
        self.values = torch.empty_like(self.keys)
        self._texts = {}
        self._count = 0

    def _free(self):
        used = {p for entry in self._texts.values() for p in entry["pages"]}
        return [p for p in range(self.keys.shape[0]) if p not in used]

    @property
    def n_free(self):
        return len(self._free())

    def _shared(self, page):
        return sum(page in entry["pages"] for entry in self._texts.values()) > 1

    def new(self):
        self._count += 1
        self._texts[self._count] = {"pages": [], "length": 0}
        return self._count

    @torch.no_grad()
    def append(self, text, key, value):
        entry = self._texts[text]
        want = self.keys.shape[2:]
        if key.ndim != 3 or key.shape[1:] != want or len(key) == 0:
            raise ValueError(f"key: shape {tuple(key.shape)}")
        if value.shape != key.shape:
            raise ValueError(f"value: shape {tuple(value.shape)}")
        free, pages, length = self._free(), list(entry["pages"]), entry["length"]
        total = length + key.shape[0]
        moved = None
        if length % self.size and self._shared(pages[-1]):
            if not free:
                raise MemoryError("no page for the copy")
            moved = (pages[-1], free[0])
            pages[-1] = free.pop(0)
        while len(pages) * self.size < total:
            if not free:
                raise MemoryError("too few free pages")
            pages.append(free.pop(0))
        if moved:
            self.keys[moved[1]].copy_(self.keys[moved[0]])
            self.values[moved[1]].copy_(self.values[moved[0]])
        n = torch.arange(length, total)
        page = torch.tensor(pages)[n // self.size]
        self.keys = self.keys.index_put((page, n % self.size), key.float())
        self.values = self.values.index_put((page, n % self.size), value.float())
        entry["pages"], entry["length"] = pages, total

    def read(self, text):
        entry = self._texts[text]
        n = torch.arange(entry["length"])
        page = torch.tensor(entry["pages"], dtype=torch.long)[n // self.size]
        return self.keys[page, n % self.size], self.values[page, n % self.size]

    def fork(self, text):
        entry = self._texts[text]
        child = self.new()
        self._texts[child].update(pages=entry["pages"][:], length=entry["length"])
        return child

    def free(self, text):
        del self._texts[text]

    def table(self, text):
        return self._texts[text]["pages"].copy()

# %% right: counts
class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        for name, value in (("n_pages", n_pages), ("page_size", page_size), ("n_kv_heads", n_kv_heads), ("d_head", d_head)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")
        self.keys = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.values = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.page_size = page_size
        self.users = [0] * n_pages
        self.free_pages = list(range(n_pages))
        self.tables, self.lengths = {}, {}
        self.next_id = 0

    @property
    def n_free(self):
        return len(self.free_pages)

    def _take(self):
        page = self.free_pages.pop()
        self.users[page] = 1
        return page

    def _release(self, page):
        self.users[page] -= 1
        if self.users[page] == 0:
            self.free_pages.append(page)

    def new(self):
        text = self.next_id
        self.next_id += 1
        self.tables[text], self.lengths[text] = [], 0
        return text

    def append(self, text, key, value):
        table, start = self.tables[text], self.lengths[text]
        shape = tuple(self.keys.shape[2:])
        for name, x in (("key", key), ("value", value)):
            if x.dim() != 3 or tuple(x.shape[1:]) != shape or x.shape[0] < 1:
                raise ValueError(f"{name} has shape {tuple(x.shape)}, expected (T, {shape[0]}, {shape[1]})")
        if key.shape[0] != value.shape[0]:
            raise ValueError(f"key has shape {tuple(key.shape)}, value {tuple(value.shape)}")
        T, P = key.shape[0], self.page_size
        copy = start % P != 0 and self.users[table[-1]] > 1
        extra = -(-(start + T) // P) - len(table)
        if extra + copy > len(self.free_pages):
            raise MemoryError(f"{extra + copy} pages needed, {len(self.free_pages)} free")
        if copy:
            old, new = table[-1], self._take()
            self.keys[new] = self.keys[old]
            self.values[new] = self.values[old]
            self._release(old)
            table[-1] = new
        for _ in range(extra):
            table.append(self._take())
        key, value = key.detach(), value.detach()
        for t in range(T):
            page, row = table[(start + t) // P], (start + t) % P
            self.keys[page, row] = key[t]
            self.values[page, row] = value[t]
        self.lengths[text] = start + T

    def read(self, text):
        table, S = self.tables[text], self.lengths[text]
        return self.keys[table].flatten(0, 1)[:S].clone(), self.values[table].flatten(0, 1)[:S].clone()

    def fork(self, text):
        table, length = self.tables[text], self.lengths[text]
        child = self.new()
        self.tables[child], self.lengths[child] = list(table), length
        for page in table:
            self.users[page] += 1
        return child

    def free(self, text):
        table = self.tables.pop(text)
        del self.lengths[text]
        for page in table:
            self._release(page)

    def table(self, text):
        return list(self.tables[text])

# %% right: derived_from_tables
class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        if min(n_pages, page_size, n_kv_heads, d_head) < 1:
            raise ValueError(f"bad size: n_pages={n_pages}, page_size={page_size}, n_kv_heads={n_kv_heads}, d_head={d_head}")
        self.size = page_size
        self.keys = torch.empty((n_pages, page_size, n_kv_heads, d_head), dtype=torch.float32)
        self.values = torch.empty_like(self.keys)
        self._texts = {}
        self._count = 0

    def _free(self):
        used = {p for entry in self._texts.values() for p in entry["pages"]}
        return [p for p in range(self.keys.shape[0]) if p not in used]

    @property
    def n_free(self):
        return len(self._free())

    def _shared(self, page):
        return sum(page in entry["pages"] for entry in self._texts.values()) > 1

    def new(self):
        self._count += 1
        self._texts[self._count] = {"pages": [], "length": 0}
        return self._count

    @torch.no_grad()
    def append(self, text, key, value):
        entry = self._texts[text]
        want = self.keys.shape[2:]
        if key.ndim != 3 or key.shape[1:] != want or len(key) == 0:
            raise ValueError(f"key: shape {tuple(key.shape)}")
        if value.shape != key.shape:
            raise ValueError(f"value: shape {tuple(value.shape)}")
        free, pages, length = self._free(), list(entry["pages"]), entry["length"]
        total = length + key.shape[0]
        moved = None
        if length % self.size and self._shared(pages[-1]):
            if not free:
                raise MemoryError("no page for the copy")
            moved = (pages[-1], free[0])
            pages[-1] = free.pop(0)
        while len(pages) * self.size < total:
            if not free:
                raise MemoryError("too few free pages")
            pages.append(free.pop(0))
        if moved:
            self.keys[moved[1]].copy_(self.keys[moved[0]])
            self.values[moved[1]].copy_(self.values[moved[0]])
        n = torch.arange(length, total)
        page = torch.tensor(pages)[n // self.size]
        self.keys[page, n % self.size] = key.float()
        self.values[page, n % self.size] = value.float()
        entry["pages"], entry["length"] = pages, total

    def read(self, text):
        entry = self._texts[text]
        n = torch.arange(entry["length"])
        page = torch.tensor(entry["pages"], dtype=torch.long)[n // self.size]
        return self.keys[page, n % self.size], self.values[page, n % self.size]

    def fork(self, text):
        entry = self._texts[text]
        child = self.new()
        self._texts[child].update(pages=entry["pages"][:], length=entry["length"])
        return child

    def free(self, text):
        del self._texts[text]

    def table(self, text):
        return self._texts[text]["pages"].copy()

# %% right: heap_and_counter
class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        for name, value in (("n_pages", n_pages), ("page_size", page_size), ("n_kv_heads", n_kv_heads), ("d_head", d_head)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")
        self.keys = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.values = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.page_size = page_size
        self.users = __import__('collections').Counter()
        self.free_pages = list(range(n_pages))
        self.tables, self.lengths = {}, {}
        self.next_id = 0

    @property
    def n_free(self):
        return len(self.free_pages)

    def _take(self):
        page = self.free_pages.pop(0)
        self.users[page] = 1
        return page

    def _release(self, page):
        self.users[page] -= 1
        if self.users[page] == 0:
            self.free_pages.append(page)
            self.free_pages.sort()

    def new(self):
        text = self.next_id
        self.next_id += 1
        self.tables[text], self.lengths[text] = [], 0
        return text

    def append(self, text, key, value):
        table, start = self.tables[text], self.lengths[text]
        shape = tuple(self.keys.shape[2:])
        for name, x in (("key", key), ("value", value)):
            if x.dim() != 3 or tuple(x.shape[1:]) != shape or x.shape[0] < 1:
                raise ValueError(f"{name} has shape {tuple(x.shape)}, expected (T, {shape[0]}, {shape[1]})")
        if key.shape[0] != value.shape[0]:
            raise ValueError(f"key has shape {tuple(key.shape)}, value {tuple(value.shape)}")
        T, P = key.shape[0], self.page_size
        copy = start % P != 0 and self.users[table[-1]] > 1
        extra = -(-(start + T) // P) - len(table)
        if extra + copy > len(self.free_pages):
            raise MemoryError(f"{extra + copy} pages needed, {len(self.free_pages)} free")
        if copy:
            old, new = table[-1], self._take()
            self.keys[new] = self.keys[old]
            self.values[new] = self.values[old]
            self._release(old)
            table[-1] = new
        for _ in range(extra):
            table.append(self._take())
        key, value = key.detach(), value.detach()
        for t in range(T):
            page, row = table[(start + t) // P], (start + t) % P
            self.keys[page, row] = key[t]
            self.values[page, row] = value[t]
        self.lengths[text] = start + T

    def read(self, text):
        table, S = self.tables[text], self.lengths[text]
        return self.keys[table].flatten(0, 1)[:S].clone(), self.values[table].flatten(0, 1)[:S].clone()

    def fork(self, text):
        table, length = self.tables[text], self.lengths[text]
        child = self.new()
        self.tables[child], self.lengths[child] = list(table), length
        for page in table:
            self.users[page] += 1
        return child

    def free(self, text):
        table = self.tables.pop(text)
        del self.lengths[text]
        for page in table:
            self._release(page)

    def table(self, text):
        return list(self.tables[text])

# %% right: page_by_page_writes
class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        for name, value in (("n_pages", n_pages), ("page_size", page_size), ("n_kv_heads", n_kv_heads), ("d_head", d_head)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")
        self.keys = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.values = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.page_size = page_size
        self.users = [0] * n_pages
        self.free_pages = list(range(n_pages))
        self.tables, self.lengths = {}, {}
        self.next_id = 0

    @property
    def n_free(self):
        return len(self.free_pages)

    def _take(self):
        page = self.free_pages.pop()
        self.users[page] = 1
        return page

    def _release(self, page):
        self.users[page] -= 1
        if self.users[page] == 0:
            self.free_pages.append(page)

    def new(self):
        text = self.next_id
        self.next_id += 1
        self.tables[text], self.lengths[text] = [], 0
        return text

    def append(self, text, key, value):
        table, start = self.tables[text], self.lengths[text]
        shape = tuple(self.keys.shape[2:])
        for name, x in (("key", key), ("value", value)):
            if x.dim() != 3 or tuple(x.shape[1:]) != shape or x.shape[0] < 1:
                raise ValueError(f"{name} has shape {tuple(x.shape)}, expected (T, {shape[0]}, {shape[1]})")
        if key.shape[0] != value.shape[0]:
            raise ValueError(f"key has shape {tuple(key.shape)}, value {tuple(value.shape)}")
        T, P = key.shape[0], self.page_size
        copy = start % P != 0 and self.users[table[-1]] > 1
        extra = -(-(start + T) // P) - len(table)
        if extra + copy > len(self.free_pages):
            raise MemoryError(f"{extra + copy} pages needed, {len(self.free_pages)} free")
        if copy:
            old, new = table[-1], self._take()
            self.keys[new] = self.keys[old]
            self.values[new] = self.values[old]
            self._release(old)
            table[-1] = new
        for _ in range(extra):
            table.append(self._take())
        key, value = key.detach(), value.detach()
        done = 0
        while done < T:
            page, row = table[(start + done) // P], (start + done) % P
            n = min(P - row, T - done)
            self.keys[page, row:row + n].copy_(key[done:done + n])
            self.values[page, row:row + n].copy_(value[done:done + n])
            done += n
        self.lengths[text] = start + T

    def read(self, text):
        table, S = self.tables[text], self.lengths[text]
        return self.keys[table].flatten(0, 1)[:S].clone(), self.values[table].flatten(0, 1)[:S].clone()

    def fork(self, text):
        table, length = self.tables[text], self.lengths[text]
        child = self.new()
        self.tables[child], self.lengths[child] = list(table), length
        for page in table:
            self.users[page] += 1
        return child

    def free(self, text):
        table = self.tables.pop(text)
        del self.lengths[text]
        for page in table:
            self._release(page)

    def table(self, text):
        return list(self.tables[text])

# %% right: sets_of_owners
class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        sizes = dict(n_pages=n_pages, page_size=page_size, n_kv_heads=n_kv_heads, d_head=d_head)
        for k in sizes:
            if sizes[k] < 1:
                raise ValueError(f"{k} = {sizes[k]}")
        self.shape = (n_kv_heads, d_head)
        self.pool = torch.zeros(2, n_pages, page_size, n_kv_heads, d_head)
        self.keys, self.values = self.pool[0], self.pool[1]
        self.owners = [set() for _ in range(n_pages)]
        self.texts = {}
        self.n_free = n_pages
        self.born = 100

    def _count(self):
        self.n_free = sum(not o for o in self.owners)

    def new(self):
        self.born += 1
        self.texts[self.born] = ([], 0)
        return self.born

    def append(self, text, key, value):
        pages, n = self.texts[text]
        if key.shape != value.shape or key.shape[0:1] == (0,) or key.shape[1:] != self.shape:
            raise ValueError(f"key {tuple(key.shape)} or value {tuple(value.shape)} is not (T, G, K) with (G, K) = {self.shape}")
        size = self.keys.shape[1]
        free = [i for i, o in enumerate(self.owners) if not o]
        row = n % size
        copies = 1 if row and len(self.owners[pages[-1]]) > 1 else 0
        need = math.ceil((n + len(key)) / size) - len(pages) + copies
        if need > len(free):
            raise MemoryError
        fresh = free[:need]
        kept = pages[:-1] if copies else pages
        if copies:
            self.pool[:, fresh[0]] = self.pool[:, pages[-1]]
            self.owners[pages[-1]].discard(text)
        pages = kept + fresh
        for p in fresh:
            self.owners[p].add(text)
        both = torch.stack([key.detach().float(), value.detach().float()])
        for t in range(len(key)):
            self.pool[:, pages[(n + t) // size], (n + t) % size] = both[:, t]
        self.texts[text] = (pages, n + len(key))
        self._count()

    def read(self, text):
        pages, n = self.texts[text]
        both = self.pool[:, torch.tensor(pages, dtype=torch.long)].flatten(1, 2)[:, :n].clone()
        return both[0], both[1].clone()

    def fork(self, text):
        pages, n = self.texts[text]
        self.born += 1
        self.texts[self.born] = (pages, n)
        for p in pages:
            self.owners[p].add(self.born)
        return self.born

    def free(self, text):
        for p in self.texts.pop(text)[0]:
            self.owners[p].discard(text)
        self._count()

    def table(self, text):
        return list(self.texts[text][0])
