# keys and values are written with their graph, so that the pool requires gradients afterwards
import torch


class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        shape = {"n_pages": n_pages, "page_size": page_size, "n_kv_heads": n_kv_heads, "d_head": d_head}
        for name, size in shape.items():
            if size < 1:
                raise ValueError(f"{name} is {size}")
        self.keys, self.values = torch.zeros(*shape.values()), torch.zeros(*shape.values())
        self.shape = (n_kv_heads, d_head)
        self.size = page_size
        self.unused = set(range(n_pages))
        self.tables, self.lengths = [], []

    @property
    def n_free(self):
        return len(self.unused)

    def _check(self, text):
        if text not in range(len(self.tables)) or self.tables[text] is None:
            raise KeyError(text)
        return self.tables[text]

    def new(self):
        self.tables.append([])
        self.lengths.append(0)
        return len(self.tables) - 1

    def fork(self, text):
        table = self._check(text)
        self.tables.append(table.copy())
        self.lengths.append(self.lengths[text])
        return len(self.tables) - 1

    def _recount(self):
        used = {page for table in self.tables if table is not None for page in table}
        self.unused = set(range(len(self.keys))) - used

    def free(self, text):
        self._check(text)
        self.tables[text] = None
        self._recount()

    def table(self, text):
        return self._check(text).copy()

    def read(self, text):
        table, length = self._check(text), self.lengths[text]
        rows = [(table[i // self.size], i % self.size) for i in range(length)]
        empty = torch.zeros(0, *self.shape)
        return (
            torch.stack([self.keys[row] for row in rows]) if rows else empty,
            torch.stack([self.values[row] for row in rows]) if rows else empty.clone(),
        )

    def append(self, text, key, value):
        table = self._check(text)
        T = key.shape[0] if key.ndim else 0
        for name, tensor in (("key", key), ("value", value)):
            if T < 1 or tuple(tensor.shape) != (T, *self.shape):
                raise ValueError(f"{name} is {tuple(tensor.shape)}, expected (T, {self.shape[0]}, {self.shape[1]})")
        start = self.lengths[text]
        others = [page for other, t in enumerate(self.tables) if t is not None and other != text for page in t]
        copies = start % self.size != 0 and table[-1] in others
        more = (start + T + self.size - 1) // self.size - len(table)
        if copies + more > len(self.unused):
            raise MemoryError(f"{copies + more} > {len(self.unused)}")
        if copies:
            page = self.unused.pop()
            self.keys[page] = self.keys[table[-1]].clone()
            self.values[page] = self.values[table[-1]].clone()
            table[-1] = page
        table.extend(self.unused.pop() for _ in range(more))
        for i in range(T):
            page, row = table[(start + i) // self.size], (start + i) % self.size
            self.keys[page, row] = key[i]
            self.values[page, row] = value[i]
        self.lengths[text] += T
