"""Known mistakes in `write_rolling`."""

from .contract import write_rolling

right = write_rolling.alternative("by_index")
row_by_row = write_rolling.alternative("row_by_row")

right.mistake(
    "in_order",
    {"kept[..., rows, :] = new": "kept.copy_(torch.cat([kept[..., new.shape[-2] :, :], new], dim=-2))"},
).feedback("You move all rows up, so every token copies the whole buffer. Write each position to row p % window.")
right.mistake("in_a_copy", {"kept[..., rows, :] = new": "kept = kept.clone()\n    kept[..., rows, :] = new"}).feedback(
    "You write into a copy, and `kept` stays as it was. Write in place."
)
right.mistake(
    "clamps",
    {
        " % kept.shape[-2]": "",
        "rows = ": "rows = (",
        "device=kept.device)": "device=kept.device)).clamp(max=kept.shape[-2] - 1)",
    },
).feedback("You write everything after the window to the last row. The rows are used again from row 0 on: p % window.")
right.mistake("divides", {"% kept": "// kept"}).feedback(
    "You use the quotient of position and window. The row is the remainder: `%`, not `//`."
)
right.mistake(
    "one_row_more",
    {"arange(start, start +": "arange(start + 1, start + 1 +"},
).feedback("You write one row too late. Positions and rows count from 0, so position 0 goes to row 0.")
right.mistake("forgets_the_start", {"start, start + new.shape[-2]": "new.shape[-2]"}).feedback(
    "You count positions from 0 in every call. The first new position is `start`."
)
right.mistake(
    "remainder_of_the_start_only",
    {
        "rows = ": "start = start % kept.shape[-2]\n    rows = ",
        "device=kept.device) % kept.shape[-2]": "device=kept.device).clamp(max=kept.shape[-2] - 1)",
    },
).feedback(
    "You take the remainder of the first position only. Rows that go over the edge begin again at row 0, so take "
    "it for each."
)
right.mistake("returns_the_new", {"return kept": "return new"}).feedback(
    "You return the new rows alone. Return the whole buffer, `kept`."
)
row_by_row.mistake("one_row_only", {"range(new.shape[-2])": "range(1)"}).feedback(
    "You write only the first of the new rows. A prefill brings several at once."
)
right.mistake("by_the_number_of_new_rows", {"% kept.shape[-2]": "% new.shape[-2]"}).feedback(
    "You divide by the number of new rows. The buffer has `kept.shape[-2]` rows, which is the window."
)
right.mistake("width_for_window", {"% kept.shape[-2]": "% kept.shape[-1] % kept.shape[-2]"}).feedback(
    "You divide by the width K. The window is the number of rows, `kept.shape[-2]`."
)
