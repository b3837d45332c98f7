"""Known mistakes in `rows_to_halves`."""

from .contract import rows_to_halves

right = rows_to_halves.alternative("head_by_head")

right.mistake("takes_all_rows_for_one_head", {"(n_heads, -1)": "(1, -1)"}).feedback(
    "You reorder all rows at once, so heads are mixed. Reorder inside each head."
)
right.mistake("reorders_the_columns").patch("""
- return torch.cat([heads[:, 0::2], heads[:, 1::2]], dim=1).flatten(0, 1)
+ return torch.cat([W[:, 0::2], W[:, 1::2]], dim=1)
""").feedback("You reorder the columns, which are the entries of the input. The *rows* make the output.")
right.mistake("leaves_the_heads_apart", {".flatten(0, 1)": ""}).feedback(
    "You return `(H, K, D)`. Join the heads again: `flatten(0, 1)`."
)
right.mistake(
    "goes_back",
    {"torch.cat([heads[:, 0::2], heads[:, 1::2]], dim=1)": "torch.stack(heads.chunk(2, dim=1), dim=2).flatten(1, 2)"},
).feedback("You go the other way, from halves to neighbours.")
right.mistake(
    "second_members_first", {"[heads[:, 0::2], heads[:, 1::2]]": "[heads[:, 1::2], heads[:, 0::2]]"}
).feedback("You put the second members first. First come rows 0, 2, 4, … of the head.")
right.mistake(
    "cuts_the_rows_into_the_wrong_heads",
    {"W.unflatten(0, (n_heads, -1))": "W.unflatten(0, (-1, n_heads)).transpose(0, 1)"},
).feedback(
    "You give every n_heads-th row to a head. A head's rows are next to each other: `unflatten(0, (n_heads, -1))`."
)
right.mistake("changes_nothing", {"[heads[:, 0::2], heads[:, 1::2]]": "[heads]"}).feedback(
    "The rows are in their old order. In each head, put the even ones first."
)
