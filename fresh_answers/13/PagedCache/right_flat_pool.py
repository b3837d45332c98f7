# a flat view of the pool, tables as tuples, users counted when they are asked for
from itertools import chain, count

import torch


class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        bad = [(n, v) for n, v in locals().items() if n != "self" and v < 1]
        if bad:
            raise ValueError("at least 1 is needed: " + ", ".join(f"{n} = {v}" for n, v in bad))
        self.keys, self.values = (torch.zeros(n_pages, page_size, n_kv_heads, d_head) for _ in "kv")
        self._rows = [pool.view(n_pages * page_size, n_kv_heads, d_head) for pool in (self.keys, self.values)]
        self._size, self._pages = page_size, range(n_pages)
        self._texts = {}
        self._ids = count(1)

    def _free_pages(self):
        used = set(chain.from_iterable(table for table, _ in self._texts.values()))
        return [page for page in self._pages if page not in used]

    @property
    def n_free(self):
        return len(self._free_pages())

    def _enter(self, table, length):
        text = next(self._ids)
        self._texts[text] = table, length
        return text

    def new(self):
        return self._enter((), 0)

    def fork(self, text):
        return self._enter(*self._texts[text])

    def free(self, text):
        self._texts.pop(text)

    def table(self, text):
        return [*self._texts[text][0]]

    def _places(self, table, start, stop):
        return torch.tensor([table[i // self._size] * self._size + i % self._size for i in range(start, stop)], dtype=torch.int64)

    def read(self, text):
        table, length = self._texts[text]
        places = self._places(table, 0, length)
        return tuple(rows.index_select(0, places) for rows in self._rows)

    def append(self, text, key, value):
        table, length = self._texts[text]
        inner = tuple(self.keys.shape[2:])
        for name, x in dict(key=key, value=value).items():
            if x.ndim != 3 or tuple(x.shape[1:]) != inner or x.shape[0] == 0 or x.shape[0] != key.shape[0]:
                raise ValueError(f"{name} of shape {tuple(x.shape)} cannot be appended")
        stop = length + key.shape[0]
        full = length // self._size
        kept, rest = table[:full], table[full:]
        shared = any(set(rest) & set(other) for name, (other, _) in self._texts.items() if name != text)
        own = kept if shared else table
        needed = -(-stop // self._size) - len(own)
        free = self._free_pages()
        if needed > len(free):
            raise MemoryError(f"{needed} pages wanted, {len(free)} free")
        new_table = own + tuple(free[:needed])
        with torch.no_grad():
            if shared:
                old = self._places(table, full * self._size, length)
                here = self._places(new_table, full * self._size, length)
                for rows in self._rows:
                    rows[here] = rows[old]
            here = self._places(new_table, length, stop)
            for rows, x in zip(self._rows, (key, value)):
                rows[here] = x.detach().to(rows.dtype)
        self._texts[text] = new_table, stop
