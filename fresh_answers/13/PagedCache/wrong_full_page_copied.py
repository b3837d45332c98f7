# a shared last page that is full is copied, too, though the new positions fall on a page of their own
import torch


class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        for name, number in list(locals().items()):
            if name != "self" and number < 1:
                raise ValueError(f"{name} must be at least 1, got {number}")
        self.keys = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.values = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.page_size = page_size
        self.users = [0] * n_pages
        self.texts = {}
        self.count = 0

    @property
    def n_free(self):
        return self.users.count(0)

    def new(self):
        self.count += 1
        self.texts[self.count] = ([], 0)
        return self.count

    def fork(self, text):
        table, length = self.texts[text]
        self.count += 1
        self.texts[self.count] = (list(table), length)
        for page in table:
            self.users[page] += 1
        return self.count

    def free(self, text):
        for page in self.texts.pop(text)[0]:
            self.users[page] -= 1

    def table(self, text):
        return list(self.texts[text][0])

    def read(self, text):
        table, length = self.texts[text]
        return tuple(pool[table].flatten(0, 1)[:length].clone() for pool in (self.keys, self.values))

    @torch.no_grad()
    def append(self, text, key, value):
        table, length = self.texts[text]
        wanted = tuple(self.keys.shape[2:])
        for name, tensor in (("key", key), ("value", value)):
            if tensor.dim() != 3 or tuple(tensor.shape[1:]) != wanted or len(tensor) < 1:
                raise ValueError(f"{name} has shape {tuple(tensor.shape)}")
        if len(key) != len(value):
            raise ValueError(f"key has {len(key)} positions and value {len(value)}: {tuple(key.shape)}")
        shared = bool(table) and self.users[table[-1]] > 1
        needed = -(-(length + len(key)) // self.page_size) - len(table)
        free = [page for page, n in enumerate(self.users) if n == 0]
        if needed + shared > len(free):
            raise MemoryError(f"{needed + shared} pages needed, {len(free)} free")
        table = list(table)
        if shared:
            page = free.pop()
            self.keys[page], self.values[page] = self.keys[table[-1]], self.values[table[-1]]
            self.users[table[-1]] -= 1
            self.users[page] = 1
            table[-1] = page
        for _ in range(needed):
            page = free.pop()
            self.users[page] = 1
            table.append(page)
        for i in range(len(key)):
            page, row = divmod(length + i, self.page_size)
            self.keys[table[page], row] = key[i]
            self.values[table[page], row] = value[i]
        self.texts[text] = (table, length + len(key))
