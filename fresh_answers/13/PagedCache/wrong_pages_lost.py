# pages are taken one by one until none is left, and a MemoryError comes after some were given to the text
import torch


class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        if min(n_pages, page_size, n_kv_heads, d_head) < 1:
            sizes = dict(n_pages=n_pages, page_size=page_size, n_kv_heads=n_kv_heads, d_head=d_head)
            name = min(sizes, key=sizes.get)
            raise ValueError(f"{name} = {sizes[name]}")
        self.keys = torch.empty(n_pages, page_size, n_kv_heads, d_head, dtype=torch.float32)
        self.values = torch.empty_like(self.keys)
        self._free = list(range(n_pages))
        self._owners = {}
        self._tables, self._lengths = {}, {}
        self._next = 0

    @property
    def n_free(self):
        return len(self._free)

    def new(self):
        text, self._next = self._next, self._next + 1
        self._tables[text], self._lengths[text] = [], 0
        return text

    def fork(self, text):
        pages, length = list(self._tables[text]), self._lengths[text]
        child = self.new()
        self._tables[child], self._lengths[child] = pages, length
        for page in pages:
            self._owners[page].add(child)
        return child

    def _leave(self, text, page):
        self._owners[page].discard(text)
        if not self._owners[page]:
            self._free.append(page)

    def free(self, text):
        for page in self._tables.pop(text):
            self._leave(text, page)
        del self._lengths[text]

    def table(self, text):
        return self._tables[text][:]

    def read(self, text):
        pages = torch.tensor(self._tables[text], dtype=torch.long)
        n = self._lengths[text]
        return self.keys[pages].flatten(0, 1)[:n], self.values[pages].flatten(0, 1)[:n]

    def _take(self, text):
        if not self._free:
            raise MemoryError("no page is free")
        page = self._free.pop(0)
        self._owners[page] = {text}
        return page

    def append(self, text, key, value):
        pages = self._tables[text]
        size = self.keys.shape[1]
        if key.ndim != 3 or key.shape[0] < 1 or key.shape[1:] != self.keys.shape[2:]:
            raise ValueError(f"key: {tuple(key.shape)}")
        if value.shape != key.shape:
            raise ValueError(f"value: {tuple(value.shape)}, with key {tuple(key.shape)}")
        start = self._lengths[text]
        if start % size and len(self._owners[pages[-1]]) > 1:
            old, copy = pages[-1], self._take(text)
            self.keys[copy] = self.keys[old]
            self.values[copy] = self.values[old]
            self._leave(text, old)
            pages[-1] = copy
        while len(pages) * size < start + key.shape[0]:
            pages.append(self._take(text))
        where = torch.arange(start, start + key.shape[0])
        at = torch.tensor(pages)[where // size], where % size
        self.keys[at] = key.detach().float()
        self.values[at] = value.detach().float()
        self._lengths[text] = start + key.shape[0]
