"""Known mistakes in `write_to_cache`."""

from .contract import write_to_cache

right = write_to_cache.alternative("by_slices")

right.mistake("returns_all_room", {"return kept[..., :stop, :]": "return kept"}).feedback(
    "You return all rows, also those that are not filled. Return only the first start + T rows."
)
right.mistake("returns_the_new_rows", {"[..., :stop, :]": "[..., start:stop, :]"}).feedback(
    "You return the new rows alone. The new queries need all rows so far."
)
right.mistake("returns_the_old_rows", {"[..., :stop, :]": "[..., :start, :]"}).feedback(
    "You return only the rows before the new ones. A new query also sees its own key."
)
right.mistake(
    "writes_into_a_copy",
    {"kept[..., start:stop, :] = new\n": "kept = kept.clone()\n    kept[..., start:stop, :] = new\n"},
).feedback(
    "Your rows are in a new tensor, and `kept` stays as it was. Write into `kept` itself; `torch.cat` and "
    "`clone` copy it."
)
right.mistake("returns_a_copy", {"return kept[..., :stop, :]": "return kept[..., :stop, :].clone()"}).feedback(
    "You return a copy of the rows. A slice is enough: it is a view, and copies nothing."
)
right.mistake("writes_at_the_beginning", {"kept[..., start:stop, :]": "kept[..., : new.shape[-2], :]"}).feedback(
    "You write over the first rows. The new rows come after the `start` rows that are filled."
)
right.mistake(
    "one_row_late",
    {"[..., start:stop, :] = new": "[..., start + 1 : stop + 1, :] = new[..., : kept.shape[-2] - start - 1, :]"},
).feedback("You write one row too late. Rows count from 0, so the next free row has the number `start`.")
right.mistake("one_row_only", {"[..., start:stop, :] = new": "[..., start, :] = new[..., 0, :]"}).feedback(
    "You write only one row. A prefill brings several at once."
)
right.mistake("adds", {"] = new": "] += new"}).feedback(
    "You add the new rows to what is there. The memory may hold anything; replace it."
)
right.mistake(
    "along_the_first_dimension",
    {"kept[..., start:stop, :] = new": "kept[start:stop] = new", "kept[..., :stop, :]": "kept[:stop]"},
).feedback("You count rows along the first dimension. In `(..., length, K)` they are the second to last.")
