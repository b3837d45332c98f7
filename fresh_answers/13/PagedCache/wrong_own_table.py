# table gives the list that the cache itself goes on using, not a copy
from collections import Counter

import torch


class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        for name, number in zip(
            ("n_pages", "page_size", "n_kv_heads", "d_head"), (n_pages, page_size, n_kv_heads, d_head)
        ):
            if not number >= 1:
                raise ValueError(f"{name}: {number}")
        pool = torch.zeros(2, n_pages, page_size, n_kv_heads, d_head)
        self.keys, self.values = pool
        self.n_free = n_pages
        self._counter = Counter()
        self._text = {}
        self._ids = iter(range(10**9))

    def new(self):
        number = next(self._ids)
        self._text[number] = {"pages": [], "length": 0}
        return number

    def fork(self, text):
        parent = self._text[text]
        number = self.new()
        self._text[number] = {"pages": parent["pages"][:], "length": parent["length"]}
        self._counter.update(parent["pages"])
        return number

    def free(self, text):
        for page in self._text.pop(text)["pages"]:
            self._counter[page] -= 1
            self.n_free += self._counter[page] == 0

    def table(self, text):
        return self._text[text]["pages"]

    def read(self, text):
        entry = self._text[text]
        keys = [self.keys[page] for page in entry["pages"]]
        values = [self.values[page] for page in entry["pages"]]
        if not keys:
            return self.keys.new_zeros(0, *self.keys.shape[2:]), self.values.new_zeros(0, *self.values.shape[2:])
        return torch.cat(keys)[: entry["length"]], torch.cat(values)[: entry["length"]]

    def _page(self):
        page = next(p for p in range(len(self.keys)) if not self._counter[p])
        self._counter[page] = 1
        self.n_free -= 1
        return page

    def append(self, text, key, value):
        entry = self._text[text]
        key, value = key.detach(), value.detach()
        inner = self.keys.shape[2:]
        if key.dim() != 3 or key.shape[1:] != inner or not len(key):
            raise ValueError(f"key does not fit: {tuple(key.shape)}")
        if value.dim() != 3 or value.shape[1:] != inner or len(value) != len(key):
            raise ValueError(f"value does not fit: {tuple(value.shape)}")
        size = self.keys.shape[1]
        pages, length = entry["pages"], entry["length"]
        room = len(pages) * size - length
        copy = room > 0 and self._counter[pages[-1]] > 1
        needed = max(0, -(-(len(key) - room) // size)) + int(copy)
        if needed > self.n_free:
            raise MemoryError(f"{needed} pages are needed")
        if copy:
            old, page = pages[-1], self._page()
            self.keys[page].copy_(self.keys[old])
            self.values[page].copy_(self.values[old])
            self._counter[old] -= 1
            pages[-1] = page
            needed -= 1
        pages += [self._page() for _ in range(needed)]
        done = 0
        while done < len(key):
            page, row = divmod(length + done, size)
            n = min(size - row, len(key) - done)
            self.keys[pages[page], row : row + n] = key[done : done + n]
            self.values[pages[page], row : row + n] = value[done : done + n]
            done += n
        entry["length"] = length + len(key)
