"""Known mistakes in `PagedCache`."""

from ...shared.families import arguments, gradients
from .contract import paged_cache

READ, POOL, FORK, FREE, ERRORS, RANDOM, FORM = (
    "what is appended",
    "one pool",
    "fork shares",
    "free pages",
    "errors",
    "any sequence",
    "float32",
)

right = paged_cache.reference_answer("""
class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        if n_pages < 1:
            raise ValueError(f"n_pages is {n_pages}, and must be at least 1")
        if page_size < 1:
            raise ValueError(f"page_size is {page_size}, and must be at least 1")
        if n_kv_heads < 1:
            raise ValueError(f"n_kv_heads is {n_kv_heads}, and must be at least 1")
        if d_head < 1:
            raise ValueError(f"d_head is {d_head}, and must be at least 1")
        self.page_size = page_size
        self.keys = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.values = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.tables, self.lengths = {}, {}
        self.made = 0
        self.users = [0] * n_pages
        self.unused = list(range(n_pages))

    @property
    def n_free(self):
        return len(self.unused)

    def take(self):
        page = self.unused.pop()
        self.users[page] = 1
        return page

    def drop(self, page):
        self.users[page] -= 1
        if self.users[page] == 0:
            self.unused.append(page)

    def new(self):
        text = self.made
        self.made += 1
        self.tables[text] = []
        self.lengths[text] = 0
        return text

    def check(self, key, value):
        G, K = self.keys.shape[2:]
        if key.ndim != 3 or key.shape[1:] != (G, K) or len(key) < 1:
            raise ValueError(f"key has shape {tuple(key.shape)}, expected (T, {G}, {K})")
        if value.ndim != 3 or value.shape[1:] != (G, K) or len(value) < 1:
            raise ValueError(f"value has shape {tuple(value.shape)}, expected (T, {G}, {K})")
        if len(key) != len(value):
            raise ValueError(f"key has shape {tuple(key.shape)}, but value {tuple(value.shape)}")

    def append(self, text, key, value):
        table, length = self.tables[text], self.lengths[text]
        self.check(key, value)
        T, row = len(key), length % self.page_size
        copied = row > 0 and self.users[table[-1]] > 1
        pages = math.ceil((length + T) / self.page_size)
        if pages - len(table) + copied > self.n_free:
            raise MemoryError("too few pages are free")
        if copied:
            shared, table[-1] = table[-1], self.take()
            self.keys[table[-1]] = self.keys[shared]
            self.values[table[-1]] = self.values[shared]
            self.drop(shared)
        while len(table) < pages:
            table.append(self.take())
        for i in range(T):
            page, row = table[(length + i) // self.page_size], (length + i) % self.page_size
            self.keys[page, row] = key[i].detach()
            self.values[page, row] = value[i].detach()
        self.lengths[text] = length + T

    def read(self, text):
        table, length = self.tables[text], self.lengths[text]
        pages = torch.tensor(table, dtype=torch.int64)
        keys = self.keys[pages].flatten(0, 1)[:length]
        values = self.values[pages].flatten(0, 1)[:length]
        return keys, values

    def fork(self, text):
        table, length = self.tables[text], self.lengths[text]
        twin = self.new()
        self.tables[twin], self.lengths[twin] = list(table), length
        for page in table:
            self.users[page] += 1
        return twin

    def free(self, text):
        for page in self.tables.pop(text):
            self.drop(page)
        del self.lengths[text]

    def table(self, text):
        return list(self.tables[text])
""")

# Writing and reading
right.mistake("begins_a_page_for_every_append", loses=(READ, POOL)).patch("""
- pages = math.ceil((length + T) / self.page_size)
+ length = len(table) * self.page_size
+ pages = math.ceil((length + T) / self.page_size)
""").feedback(
    "You begin a new page with every append. The next position follows the last one, on the same page while it has "
    "room."
)
right.mistake(
    "overwrites_from_the_beginning",
    {
        "row = table[(length + i) // "
        "self.page_size], (length + i) % self.page_size": "row = table[i // self.page_size], i % self.page_size"
    },
    loses=(READ, POOL),
).feedback("You write every append from position 0. The new positions follow those that the text has.")
right.mistake(
    "row_from_the_append", {"], (length + i) % self.page_size": "], i % self.page_size"}, loses=(READ, POOL)
).feedback(
    "You count the row from the beginning of the append. The row of a position is the position modulo `page_size`."
)
right.mistake(
    "always_the_last_page",
    {"page, row = table[(length + i) // self.page_size]": "page, row = table[-1]"},
    loses=(READ, POOL),
).feedback("You write all new positions to the last page. Each goes to the page of its own position.")
right.mistake("one_page_at_most", {"while len(table) < pages:": "if len(table) < pages:"}, loses=(READ, POOL)).feedback(
    "You take one new page at most, but an append may need several."
)
right.mistake(
    "a_page_too_many",
    {"math.ceil((length + T) / self.page_size)": "(length + T) // self.page_size + 1"},
    loses=(POOL, FORK),
).feedback(
    "You take a page that is not needed yet where the positions fill a page exactly. Round up only what is left over."
)
right.mistake(
    "a_page_too_few",
    {"math.ceil((length + T) / self.page_size)": "max(1, (length + T) // self.page_size)"},
    loses=(READ, POOL),
).feedback("You round the number of pages down, so that the last positions have none. Round up.")
right.mistake(
    "forgets_the_length", {"self.lengths[text] = length + T": "self.lengths[text] = T"}, loses=(READ, POOL)
).feedback("You set the length to that of the last append. Add to it what the text had.")
right.mistake(
    "reads_whole_pages",
    {
        "self.keys[pages].flatten(0, 1)[:length]": "self.keys[pages].flatten(0, 1)",
        "self.values[pages].flatten(0, 1)[:length]": "self.values[pages].flatten(0, 1)",
    },
    loses=READ,
).feedback("You read whole pages, with rows that nothing was written to. A text ends at its length.")
right.mistake(
    "reads_in_the_order_of_the_pool",
    {"torch.tensor(table, dtype=torch.int64)": "torch.tensor(sorted(table), dtype=torch.int64)"},
    loses=(READ, POOL),
).feedback("You read the pages in the order of their numbers. The order of the text is that of its block table.")
right.mistake("reads_the_next_pages_of_the_pool", loses=READ).patch("""
- page = self.unused.pop()
+ page = self.unused.pop(0)
@@
- table, length = self.tables[text], self.lengths[text]
- pages = torch.tensor(table, dtype=torch.int64)
- keys = self.keys[pages].flatten(0, 1)[:length]
- values = self.values[pages].flatten(0, 1)[:length]
+ length = self.lengths[text]
+ first = (self.tables[text] or [0])[0] * self.page_size
+ keys = self.keys.flatten(0, 1)[first : first + length].clone()
+ values = self.values.flatten(0, 1)[first : first + length].clone()
""").feedback(
    "You read the pages that follow the first one in the pool. A text's pages may be anywhere: read those in its block "
    "table, in order."
)
right.mistake(
    "keys_for_values", {"self.values[page, row] = value[i]": "self.values[page, row] = key[i]"}, loses=(READ, POOL)
).feedback("You store the keys twice, the second time as values.")
right.mistake("exchanges_keys_and_values", {"return keys, values": "return values, keys"}, loses=READ).feedback(
    "You return the values first. The order is (keys, values)."
)
right.mistake(
    "stacks_keys_and_values", {"return keys, values": "return torch.stack([keys, values], 1)"}, loses=READ
).feedback("You put keys and values into one tensor. Return two: (keys, values).")
right.mistake(
    "pages_stay_apart",
    {
        "self.keys[pages].flatten(0, 1)[:length]": "self.keys[pages]",
        "self.values[pages].flatten(0, 1)[:length]": "self.values[pages]",
    },
    loses=READ,
).feedback("You return the pages, (pages, page_size, G, K). Join them, and cut at the length: (S, G, K).")
right.mistake(
    "cannot_read_an_empty_text",
    {"pages = torch.tensor(table, dtype=torch.int64)": "pages = torch.stack([torch.tensor(page) for page in table])"},
    loses=READ,
).feedback("Your `read` fails for a text without positions. It has keys and values (0, G, K).")
right.mistake(
    "an_index_of_floats", {"torch.tensor(table, dtype=torch.int64)": "torch.tensor(table)"}, loses=READ
).feedback(
    "Your `read` fails for a text without positions: `torch.tensor([])` is a float tensor, which cannot be an index."
)

# The pool and what is returned
right.mistake("a_new_pool_for_every_append", loses=POOL).patch("""
+ self.keys, self.values = self.keys.clone(), self.values.clone()
  for i in range(T):
""").feedback("You make a new pool in `append`. The pool is made once; write into it.")
right.mistake("pages_grow_with_the_need", loses=POOL).patch("""
- self.keys = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
- self.values = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
+ self.keys = torch.zeros(1, page_size, n_kv_heads, d_head)
+ self.values = torch.zeros(1, page_size, n_kv_heads, d_head)
@@
  page = self.unused.pop()
+ lacking = page + 1 - len(self.keys)
+ if lacking > 0:
+     self.keys = torch.cat([self.keys, self.keys.new_zeros(lacking, *self.keys.shape[1:])])
+     self.values = torch.cat([self.values, self.values.new_zeros(lacking, *self.values.shape[1:])])
""").feedback("Your pool grows as needed. It has all `n_pages` pages from the beginning, and stays the same storage.")
right.mistake("heads_before_rows", loses=POOL).patch("""
- self.keys = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
- self.values = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
+ self.keys = torch.zeros(n_pages, n_kv_heads, page_size, d_head)
+ self.values = torch.zeros(n_pages, n_kv_heads, page_size, d_head)
@@
- G, K = self.keys.shape[2:]
+ G, K = self.keys.shape[1], self.keys.shape[3]
@@
- self.keys[page, row] = key[i].detach()
- self.values[page, row] = value[i].detach()
+ self.keys[page, :, row] = key[i].detach()
+ self.values[page, :, row] = value[i].detach()
@@
- keys = self.keys[pages].flatten(0, 1)[:length]
- values = self.values[pages].flatten(0, 1)[:length]
+ keys = self.keys[pages].transpose(1, 2).flatten(0, 1)[:length]
+ values = self.values[pages].transpose(1, 2).flatten(0, 1)[:length]
""").feedback("Your pool has the heads before the rows. Its shape is (n_pages, page_size, G, K).")
right.mistake(
    "views_instead_of_copies",
    {
        "keys = self.keys[pages].flatten(0, 1)[:length]": "keys = self.keys[table[0]][:length] if len(table) == 1 "
        "else self.keys[pages].flatten(0, 1)[:length]",
        "values = self.values[pages].flatten(0, 1)[:length]": "values = self.values[table[0]][:length] if len(table) "
        "== 1 else self.values[pages].flatten(0, 1)[:length]",
    },
    loses=POOL,
).feedback("You return a view of the pool, which changes when the page is used again. Return copies.")
right.mistake("table_itself", {"return list(self.tables[text])": "return self.tables[text]"}, loses=POOL).feedback(
    "You return the block table itself, so that a caller who writes into it changes the cache. Return a copy."
)
right.mistake("table_itself_until_the_next_append", loses=POOL).patch("""
- page = self.unused.pop()
+ page = self.unused.pop(WHICH)
@@
- table, length = self.tables[text], self.lengths[text]
- self.check(key, value)
+ table, length = list(self.tables[text]), self.lengths[text]
+ self.check(key, value)
@@
- self.lengths[text] = length + T
+ self.tables[text], self.lengths[text] = table, length + T
@@
- return list(self.tables[text])
+ return self.tables[text]
""").for_each(WHICH=(0, -1)).feedback(
    "You return the block table itself, so that a caller who writes into it changes the cache. Return a copy."
)
right.mistake(
    "n_free_stays",
    {
        "    @property\n    def "
        "n_free(self):\n        return len(self.unused)\n": "    def count(self):\n        return len(self.unused)\n",
        "self.unused = list(range(n_pages))": "self.unused = list(range(n_pages))\n        self.n_free = n_pages",
        "copied > self.n_free": "copied > len(self.unused)",
    },
    loses=POOL,
).feedback(
    "Your `n_free` stays what it was at the beginning. Make it a property that counts, or change it with the pages."
)
right.mistake(
    "n_free_is_a_method", {"    @property\n": "", "copied > self.n_free": "copied > self.n_free()"}, loses=POOL
).feedback("Your `n_free` is a method. It is an attribute or a property: `cache.n_free`, without parentheses.")
right.mistake(
    "n_free_counts_used_pages",
    {
        "return len(self.unused)": "return len(self.users) - len(self.unused)",
        "copied > self.n_free": "copied > len(self.unused)",
    },
    loses=POOL,
).feedback("Your `n_free` is the number of pages in use. It is the number of free ones.")
right.mistake(
    "n_free_counts_positions",
    {
        "return len(self.unused)": "return len(self.unused) * self.page_size",
        "copied > self.n_free": "copied > len(self.unused)",
    },
    loses=POOL,
).feedback("Your `n_free` counts positions. It is the number of free *pages*.")
right.mistake("new_takes_a_page", loses=POOL).patch("""
- self.tables[text] = []
+ self.tables[text] = [self.take()]
@@
- twin = self.new()
+ twin = self.made
+ self.made += 1
""").feedback("You give a new text a page at once. It has none until something is appended.")

# Sharing
right.mistake("fork_copies_the_pages", loses=FORK).patch("""
- self.tables[twin], self.lengths[twin] = list(table), length
- for page in table:
-     self.users[page] += 1
+ self.tables[twin], self.lengths[twin] = [self.take() for _ in table], length
+ for page, copy in zip(table, self.tables[twin]):
+     self.keys[copy], self.values[copy] = self.keys[page], self.values[page]
""").feedback(
    "Your `fork` copies the pages. It should copy nothing: the new text has the same pages, and counts as one more "
    "reader of each."
)
right.mistake("fork_copies_the_last_page", loses=FORK).patch("""
- self.tables[twin], self.lengths[twin] = list(table), length
- for page in table:
-     self.users[page] += 1
+ self.tables[twin], self.lengths[twin] = list(table), length
+ for page in table:
+     self.users[page] += 1
+ if length % self.page_size:
+     copy = self.take()
+     self.keys[copy], self.values[copy] = self.keys[table[-1]], self.values[table[-1]]
+     self.drop(table[-1])
+     self.tables[twin][-1] = copy
""").feedback(
    "Your `fork` copies the last page at once. It is copied only when one of the texts writes to it, which may never "
    "happen."
)
right.mistake(
    "writes_to_shared_pages", {"copied = row > 0 and self.users[table[-1]] > 1": "copied = False"}, loses=FORK
).feedback("You write to a page that another text has too, so that its positions change. Copy the page first.")
right.mistake(
    "copies_the_page_always", {"copied = row > 0 and self.users[table[-1]] > 1": "copied = row > 0"}, loses=(POOL, FORK)
).feedback("You copy the last page although no other text has it. Look at how many texts have the page.")
right.mistake(
    "copies_at_a_pages_end",
    {"copied = row > 0 and self.users[table[-1]] > 1": "copied = len(table) > 0 and self.users[table[-1]] > 1"},
    loses=FORK,
).feedback(
    "You copy a shared page that is full. The new position falls on the next page, so nothing needs to be copied."
)
right.mistake("copies_all_shared_pages", loses=FORK).patch("""
- copied = row > 0 and self.users[table[-1]] > 1
+ copied = sum(self.users[page] > 1 for page in table) if row else 0
@@
- if copied:
-     shared, table[-1] = table[-1], self.take()
-     self.keys[table[-1]] = self.keys[shared]
-     self.values[table[-1]] = self.values[shared]
-     self.drop(shared)
+ for n, shared in enumerate(table if copied else []):
+     if self.users[shared] > 1:
+         table[n] = self.take()
+         self.keys[table[n]], self.values[table[n]] = self.keys[shared], self.values[shared]
+         self.drop(shared)
""").feedback(
    "You copy all pages that are shared. Only the one that is written to needs a copy; the others stay shared."
)
right.mistake(
    "an_empty_page_for_the_copy",
    {
        "            self.keys[table[-1]] = self.keys[shared]\n            self.values[table[-1]] = "
        "self.values[shared]\n": ""
    },
    loses=FORK,
).feedback("You take a page for the copy, but copy nothing to it. The rows that the text has must be on it.")
right.mistake(
    "copies_the_keys_only", {"            self.values[table[-1]] = self.values[shared]\n": ""}, loses=FORK
).feedback("You copy the keys of a shared page, but not its values.")
right.mistake("other_texts_get_the_copy", loses=FORK).patch("""
- shared, table[-1] = table[-1], self.take()
- self.keys[table[-1]] = self.keys[shared]
- self.values[table[-1]] = self.values[shared]
- self.drop(shared)
+ shared, copy = table[-1], self.take()
+ self.keys[copy], self.values[copy] = self.keys[shared], self.values[shared]
+ for other in self.tables:
+     if other != text and shared in self.tables[other]:
+         self.tables[other][-1] = copy
+ self.users[copy], self.users[shared] = self.users[shared] - 1, 1
""").feedback(
    "You give the copy to the other texts, and write to the shared page. The text that writes should use the copy."
)
right.mistake("the_copy_stays_tied", loses=FORK).patch("""
- self.keys[table[-1]] = self.keys[shared]
+ self.tied = {**getattr(self, "tied", {}), table[-1]: shared}
+ self.keys[table[-1]] = self.keys[shared]
@@
- self.keys[page, row] = key[i].detach()
- self.values[page, row] = value[i].detach()
+ for there in {page, getattr(self, "tied", {}).get(page, page)}:
+     self.keys[there, row] = key[i].detach()
+     self.values[there, row] = value[i].detach()
""").feedback(
    "A text that appends to its copy of a page also changes the page that it was copied from. Copy the numbers: a "
    "list, a view or a slice of the same tensor still leads to the old ones."
)
right.mistake("does_not_let_go_of_the_shared_page", {"            self.drop(shared)\n": ""}, loses=FORK).feedback(
    "You still count the text as a reader of the page that it has just left. The page is then never free again, and "
    "copied once too often."
)
right.mistake(
    "frees_the_shared_page",
    {
        "            self.drop(shared)\n": "            self.users[shared] = 0\n            self.unused.insert(0, "
        "shared)\n"
    },
    loses=FORK,
).feedback("You free the shared page when one text leaves it, although others still read it.")
right.mistake("fork_does_not_count", loses=(FORK, FREE)).patch("""
- for page in table:
-     self.users[page] += 1
""").feedback(
    "You do not count the new text as a reader of its pages. They then look like pages of one text, and are written to "
    "and freed too early."
)
right.mistake(
    "fork_counts_the_last_page_only",
    {
        "for page in table:\n            self.users[page] += 1": "for page in table[-1:]:\n            "
        "self.users[page] += 1"
    },
    loses=FREE,
).feedback("You count the new text as a reader of the last page only. It reads all pages of the table.")
right.mistake(
    "one_table_for_both",
    {"self.tables[twin], self.lengths[twin] = list(table)": "self.tables[twin], self.lengths[twin] = table"},
    loses=FORK,
).feedback(
    "Both texts have one and the same list as their table, so that an append to one changes the other. Copy the list."
)
right.mistake("fork_forgets_the_length", {"= list(table), length": "= list(table), 0"}, loses=FORK).feedback(
    "Your fork has the pages, but not the length of its original."
)
right.mistake("fork_returns_its_original", {"        return twin": "        return text"}, loses=FORK).feedback(
    "Your `fork` returns the id of the original. Return that of the new text."
)
right.mistake("fork_returns_nothing", {"        return twin\n": "        self.twin = twin\n"}, loses=FORK).feedback(
    "Your `fork` returns nothing. Return the id of the new text."
)
right.mistake(
    "fork_of_full_pages",
    {
        "= list(table), length": "= table[: length // self.page_size], length // self.page_size * self.page_size",
        "for page in table:\n            self.users[page] += 1": "for page in self.tables[twin]:\n            "
        "self.users[page] += 1",
    },
    loses=FORK,
).feedback(
    "You share only the pages that are full. The fork has all positions of its original, those on the last page too."
)
right.mistake("once_shared_always_shared", loses=FORK).patch("""
- self.users = [0] * n_pages
+ self.users = [0] * n_pages
+ self.shared = set()
@@
- self.users[page] = 1
+ self.users[page] = 1
+ self.shared.discard(page)
@@
- copied = row > 0 and self.users[table[-1]] > 1
+ copied = row > 0 and table[-1] in self.shared
@@
- for page in table:
-     self.users[page] += 1
+ for page in table:
+     self.users[page] += 1
+     self.shared.add(page)
""").feedback(
    "You remember that a page was shared, and copy it although no other text has it any more. Count the texts that "
    "have it now."
)
right.mistake("only_forks_copy", loses=FORK).patch("""
- self.users = [0] * n_pages
+ self.users = [0] * n_pages
+ self.forks = set()
@@
- copied = row > 0 and self.users[table[-1]] > 1
+ copied = row > 0 and self.users[table[-1]] > 1 and text in self.forks
@@
- self.tables[twin], self.lengths[twin] = list(table), length
+ self.tables[twin], self.lengths[twin] = list(table), length
+ self.forks.add(twin)
""").feedback(
    "You copy a shared page for forks only, so that the original writes to the page that its forks read. Copy a shared "
    "page before any text writes to it."
)

# Freeing
right.mistake(
    "frees_nothing",
    {"            self.drop(page)\n        del": "            self.users[page] -= 1\n        del"},
    loses=FREE,
).feedback("Your `free` does not make the pages free again, so that the pool runs out of them.")
right.mistake("frees_shared_pages", loses=FREE).patch("""
- for page in self.tables.pop(text):
-     self.drop(page)
+ for page in self.tables.pop(text):
+     self.users[page] = 0
+     self.unused.append(page)
""").feedback("Your `free` frees pages that other texts still have. A page is free when its last text is gone.")
right.mistake(
    "frees_the_last_page_only",
    {"for page in self.tables.pop(text):": "for page in self.tables.pop(text)[-1:]:"},
    loses=FREE,
).feedback("Your `free` gives up one page only. It must give up all pages of the text.")
right.mistake(
    "freed_text_stays",
    {
        "for page in self.tables.pop(text):": "for page in self.tables[text]:",
        "        del self.lengths[text]\n": "        self.tables[text], self.lengths[text] = [], 0\n",
    },
    loses=ERRORS,
).feedback("You empty a freed text instead of forgetting it. Its id must raise KeyError from then on.")
right.mistake("ids_used_again", {"text = self.made\n": "text = NEXT\n"}, loses=FREE).for_each(
    NEXT=(
        "next(n for n in range(10**6) if n not in self.tables)",
        "next(n for n in range(len(self.tables), 10**6) if n not in self.tables)",
    )
).feedback("You give the id of a text that is gone to a new one. An id is never used twice.")
right.mistake("ids_by_counting_texts", {"text = self.made\n": "text = len(self.tables)\n"}, loses=FREE).feedback(
    "You take the number of texts as the next id. After one was freed, this is the id of a text that still exists."
)

# Errors
right.mistake(
    "no_memory_error", {'            raise MemoryError("too few pages are free")': "            pass"}, loses=ERRORS
).feedback(
    "You do not check whether enough pages are free before you take them. Raise MemoryError, and change nothing."
)
right.mistake("another_error_for_too_few_pages", {"raise MemoryError(": "raise KIND("}, loses=ERRORS).for_each(
    KIND=("RuntimeError", "ValueError")
).feedback("You raise another error than MemoryError where too few pages are free.")
right.mistake(
    "returns_if_pages_are_lacking",
    {'            raise MemoryError("too few pages are free")': "            return"},
    loses=ERRORS,
).feedback("You return without an error where too few pages are free. Raise MemoryError.")
right.mistake(
    "the_copy_is_not_counted", {"len(table) + copied > self.n_free": "len(table) > self.n_free"}, loses=ERRORS
).feedback("You forget the page for the copy when you check whether enough are free.")
right.mistake(
    "only_the_copy_is_counted",
    {"pages - len(table) + copied > self.n_free": "max(pages - len(table), copied) > self.n_free"},
    loses=ERRORS,
).feedback("You check the copy and the new pages separately. Together they may need more pages than are free.")
right.mistake("pages_are_lost_in_an_error", loses=ERRORS).patch("""
- if pages - len(table) + copied > self.n_free:
-     raise MemoryError("too few pages are free")
+ if copied and not self.unused:
+     raise MemoryError("too few pages are free")
@@
- table.append(self.take())
+ if not self.unused:
+     raise MemoryError("too few pages are free")
+ table.append(self.take())
""").feedback(
    "You take pages one by one until none is left, and then raise the error: the text keeps them. First check "
    "whether enough are free."
)
right.mistake("writes_until_pages_are_lacking", loses=ERRORS).patch("""
- if pages - len(table) + copied > self.n_free:
-     raise MemoryError("too few pages are free")
+ if copied and not self.unused:
+     raise MemoryError("too few pages are free")
@@
- while len(table) < pages:
-     table.append(self.take())
  for i in range(T):
+     if (length + i) // self.page_size == len(table):
+         if not self.unused:
+             raise MemoryError("too few pages are free")
+         table.append(self.take())
@@
- self.lengths[text] = length + T
+     self.lengths[text] = length + i + 1
""").feedback(
    "You write position by position until no page is left, and then raise the error: a part is already written. "
    "First check whether enough pages are free."
)
right.mistake("refuses_a_full_pool", {"copied > self.n_free": "copied >= self.n_free"}, loses=(FORK, FREE)).feedback(
    "You refuse to use the last free page."
)
right.mistake("checks_the_shapes_too_late", loses=ERRORS).patch("""
- self.check(key, value)
  T, row = len(key), length % self.page_size
@@
- self.lengths[text] = length + T
+ self.lengths[text] = length + T
+ self.check(key, value)
""").feedback("You check the shapes after you have written. Check everything before you change anything.")
right.mistake("does_not_check_the_shapes", loses=ERRORS).patch("""
- self.check(key, value)
""").feedback(
    "You do not check the shapes of `key` and `value`. An assignment broadcasts a wrong shape, or fails halfway."
)
right.mistake("checks_the_key_only", loses=ERRORS).patch("""
- if value.ndim != 3 or value.shape[1:] != (G, K) or len(value) < 1:
-     raise ValueError(f"value has shape {tuple(value.shape)}, expected (T, {G}, {K})")
- if len(key) != len(value):
-     raise ValueError(f"key has shape {tuple(key.shape)}, but value {tuple(value.shape)}")
""").feedback("You check the shape of `key`, but not that of `value`.")
right.mistake("any_number_of_positions", loses=ERRORS).patch("""
- if len(key) != len(value):
-     raise ValueError(f"key has shape {tuple(key.shape)}, but value {tuple(value.shape)}")
""").feedback("You do not notice that `key` and `value` have different numbers of positions.")
right.mistake(
    "takes_no_positions", {"(G, K) or len(key) < 1": "(G, K)", "(G, K) or len(value) < 1": "(G, K)"}, loses=ERRORS
).feedback("You accept keys and values of no position at all. T must be at least 1.")
right.mistake(
    "unknown_texts_are_made",
    {
        "        table, length = self.tables[text], "
        "self.lengths[text]\n        self.check(key, value)\n": "        self.check(key, value)\n        table, "
        "length = "
        "self.tables.setdefault(text, []), self.lengths.setdefault(text, 0)\n"
    },
    loses=ERRORS,
).feedback("You create a text if its id is unknown. Raise KeyError.")
right.mistake(
    "empty_for_unknown_texts",
    {
        "        table, length = "
        "self.tables[text], self.lengths[text]\n        pages = torch": "        table, length = self.tables.get(text, "
        "[]), self.lengths.get(text, 0)\n        pages = torch",
        "return list(self.tables[text])": "return list(self.tables.get(text, []))",
    },
    loses=ERRORS,
).feedback("You return an empty result for a text that does not exist. Raise KeyError.")
right.mistake(
    "frees_unknown_texts",
    {"self.tables.pop(text):": "self.tables.pop(text, []):", "del self.lengths[text]": "self.lengths.pop(text, None)"},
    loses=ERRORS,
).feedback("Your `free` accepts a text that does not exist, or that is gone already. Raise KeyError.")
right.mistake("another_error_for_unknown_texts", loses=ERRORS).patch("""
- return list(self.tables[text])
+ if text not in self.tables:
+     raise ValueError(f"no text {text}")
+ return list(self.tables[text])
@@
  def free(self, text):
+     if text not in self.tables:
+         raise ValueError(f"no text {text}")
""").feedback("You raise another error than KeyError for a text that does not exist.")
right.mistake("texts_in_a_list", loses=ERRORS).patch("""
- self.tables, self.lengths = {}, {}
+ self.tables, self.lengths = [], []
@@
- self.tables[text] = []
- self.lengths[text] = 0
+ self.tables.append([])
+ self.lengths.append(0)
@@
- for page in self.tables.pop(text):
-     self.drop(page)
- del self.lengths[text]
+ for page in self.tables[text]:
+     self.drop(page)
+ self.tables[text] = self.lengths[text] = None
""").feedback(
    "You keep the texts in a list, so that an unknown id raises IndexError, and −1 is the last text. Use a dict."
)
right.mistake(
    arguments.not_refused("Your constructor takes any numbers. All four must be at least 1.", "n_pages < 1")(
        "any_number_of_pages"
    ),
    loses=ERRORS,
)
right.mistake(
    arguments.not_refused("Your constructor takes any size of page.", "page_size < 1")("any_page_size"), loses=ERRORS
)
right.mistake(
    arguments.not_refused("Your constructor takes any number of heads.", "n_kv_heads < 1")("any_number_of_heads"),
    loses=ERRORS,
)
right.mistake(
    arguments.not_refused("Your constructor takes any width of a head.", "d_head < 1")("any_width"), loses=ERRORS
)
right.mistake("checks_no_size", loses=ERRORS).patch("""
- if n_pages < 1:
-     raise ValueError(f"n_pages is {n_pages}, and must be at least 1")
- if page_size < 1:
-     raise ValueError(f"page_size is {page_size}, and must be at least 1")
- if n_kv_heads < 1:
-     raise ValueError(f"n_kv_heads is {n_kv_heads}, and must be at least 1")
- if d_head < 1:
-     raise ValueError(f"d_head is {d_head}, and must be at least 1")
""").feedback("Your constructor takes any numbers. All four must be at least 1.")
right.mistake(arguments.error_without_name(), loses=ERRORS)
right.mistake(arguments.asserts(), loses=ERRORS)
right.mistake(arguments.wrong_error("TypeError"), loses=ERRORS)

# Form
right.mistake(
    gradients.cut("keeps_gradients"), {"key[i].detach()": "key[i]", "value[i].detach()": "value[i]"}, loses=FORM
).feedback(
    "`read` gives tensors that still have a gradient, through everything that was ever appended. Store `key.detach()`."
)
right.mistake(
    "pool_in_another_dtype",
    {
        "self.keys = torch.zeros(n_pages, page_size, n_kv_heads, d_head)": "self.keys = torch.zeros(n_pages, "
        "page_size, n_kv_heads, d_head, dtype=KIND)",
        "self.values = torch.zeros(n_pages, page_size, n_kv_heads, d_head)": "self.values = torch.zeros(n_pages, "
        "page_size, n_kv_heads, d_head, dtype=KIND)",
    },
    loses=FORM,
).for_each(KIND=("torch.float64", "torch.float16")).feedback("Your pool is not float32.")
right.mistake(
    "tables_of_tensors",
    {"return list(self.tables[text])": "return [torch.tensor(page) for page in self.tables[text]]"},
    loses=FORM,
).feedback("Your table holds tensors. It is a list of plain whole numbers.")
right.mistake(
    "table_as_a_tensor",
    {"return list(self.tables[text])": "return torch.tensor(self.tables[text])"},
    loses=(POOL, FORM),
).feedback("Your table is a tensor. It is a list of plain whole numbers.")
right.mistake("ids_of_text", {"text = self.made\n": 'text = f"text {self.made}"\n'}, loses=FORM).feedback(
    "Your ids are strings. An id is a plain whole number."
)
