"""Known mistakes in `causal_tiled_attention`."""

from ...shared.families import arguments, gradients, numbers, results, scores, shapes
from ...shared.repeating import keeps_its_last_result
from ..common import SCALE
from .contract import causal_tiled_attention

VALUES, BLOCKS, FORM = "the same", "blocks of at most", "gradients"
WRONG = (VALUES, BLOCKS, FORM)  # what an answer loses whose every result is wrong
PASS = "4. All keys, a tile at a time"
MEMORY = "5. What memory it takes"
MERGING = "3. Two parts into one"

# With a function for each step
right = causal_tiled_attention.reference_answer("""
def attend(query, key, value, mask):
    scores = query @ key.mT * query.shape[-1] ** -0.5
    if mask is not None:
        scores = scores.masked_fill(mask, -torch.inf)
    top = scores.amax(-1, keepdim=True).detach()
    parts = torch.exp(scores - top)
    total = parts.sum(-1, keepdim=True)
    return parts @ value / total, (top + total.log()).squeeze(-1)


def join(output, lse, other_output, other_lse):
    share = torch.sigmoid(lse - other_lse)[..., None]
    top = torch.maximum(lse, other_lse).detach()
    both = (lse - top).exp() + (other_lse - top).exp()
    return share * output + (1 - share) * other_output, top + both.log()


def causal_tiled_attention(query, key, value, tile=64):
    if tile < 1:
        raise ValueError(f"tile is {tile}, and must be at least 1")
    T = query.shape[-2]
    position = torch.arange(T, device=query.device)
    outputs, lses = [], []
    for first in range(0, T, tile):
        rows = slice(first, min(first + tile, T))
        output = lse = None
        for start in range(0, first + 1, tile):
            columns = slice(start, min(start + tile, T))
            mask = position[columns] > position[rows, None] if start == first else None
            found = attend(query[..., rows, :], key[..., columns, :], value[..., columns, :], mask)
            output, lse = found if output is None else join(output, lse, *found)
        outputs.append(output)
        lses.append(lse)
    return torch.cat(outputs, dim=-2), torch.cat(lses, dim=-1)
""")

# With a running maximum, sum and output
running = causal_tiled_attention.alternative("maximum_sum_and_output")

# Which blocks

right.mistake("visits_all_blocks", loses=BLOCKS).patch("""
- for start in range(0, first + 1, tile):
+ for start in [first, *(other for other in range(0, T, tile) if other != first)]:
@@
- mask = position[columns] > position[rows, None] if start == first else None
+ mask = position[columns] > position[rows, None]
@@
- output, lse = found if output is None else join(output, lse, *found)
+ if output is None:
+     output, lse = found
+ elif start < first:
+     output, lse = join(output, lse, *found)
""").feedback(
    "You compute the blocks above the diagonal, too, although no query sees a key in them. The keys of a tile of "
    "queries end with the queries' own tile: let the inner loop end there."
)
right.mistake("visits_one_block_too_many", loses=BLOCKS).patch("""
- found = attend(query[..., rows, :], key[..., columns, :], value[..., columns, :], mask)
+ if start == first and first + tile < T:
+     after = slice(first + tile, min(first + 2 * tile, T))
+     attend(query[..., rows, :], key[..., after, :], value[..., after, :], None)
+ found = attend(query[..., rows, :], key[..., columns, :], value[..., columns, :], mask)
""").feedback(
    "You compute one block above the diagonal in each row of blocks. The last block that is needed is the one on the "
    "diagonal."
)
right.mistake(
    "stops_before_the_diagonal", {"range(0, first + 1, tile)": "range(0, max(1, first), tile)"}, loses=WRONG
).feedback(
    "You stop before the block on the diagonal, so a query does not see itself and its neighbours. The inner loop "
    "has to include the tile of the queries."
)
right.mistake("sees_all_keys", {"range(0, first + 1, tile)": "range(0, T, tile)"}, loses=WRONG).feedback(
    "You let each query see the keys after its own tile. Blocks above the diagonal are blocked throughout: skip them."
)
right.mistake(
    "sees_its_own_block_alone", {"range(0, first + 1, tile)": "range(first, first + 1)"}, loses=WRONG
).feedback("You let each query see only the keys of its own tile. The keys of all earlier tiles come before it, too.")
right.mistake(
    "leaves_out_the_first_keys",
    {"range(0, first + 1, tile)": "range(first % (2 * tile), first + 1, tile)"},
    loses=WRONG,
).feedback(
    "You begin the inner loop after the first tile of keys for some queries. Every query sees the keys from 0 on."
)

# The mask

right.mistake("masks_nothing", {"if start == first else None": "if False else None"}, loses=WRONG).feedback(
    "You do not mask the block on the diagonal, so queries see keys that come after them in their own tile."
)
right.mistake(
    "masks_every_block_alike",
    {"position[columns] > position[rows, None] if start == first else None": "MASK"},
    loses=WRONG,
).for_each(
    MASK=(
        "torch.ones(rows.stop - first, columns.stop - start, dtype=torch.bool, device=query.device).triu(1)",
        "(position[columns] - start) > (position[rows, None] - first)",
    )
).feedback(
    "You give every block the mask of the diagonal. No key of an earlier tile is blocked: compare positions in "
    "the whole text."
)
right.mistake(
    "blocks_itself_too", {"position[columns] > position": "position[columns] >= position"}, loses=WRONG
).feedback("You block each query's own key, too. Query i sees the keys 0 to i, its own among them.")
right.mistake(
    "sees_one_ahead",
    {"position[columns] > position[rows, None]": "position[columns] > position[rows, None] + 1"},
    loses=WRONG,
).feedback("You let each query see the key after its own, if it is in the same tile. Query i sees the keys 0 to i.")
right.mistake("masks_the_past", {"position[columns] > position": "position[columns] < position"}, loses=WRONG).feedback(
    "You block the keys before a query instead of those after it, or swap queries and keys. The mask's rows are the "
    "queries, its columns the keys."
)
# Memory

right.mistake("tiles_the_queries_alone", loses=BLOCKS).patch("""
- for start in range(0, first + 1, tile):
-     columns = slice(start, min(start + tile, T))
-     mask = position[columns] > position[rows, None] if start == first else None
+ for start in (0,):
+     columns = slice(0, rows.stop)
+     mask = position[columns] > position[rows, None]
""").feedback(
    "You cut only the queries into tiles: each tile reads all of its keys at once, and the scores grow with T. Cut the "
    "keys, too.",
    see=MEMORY,
)
right.mistake("tiles_the_keys_alone", loses=(VALUES, BLOCKS)).patch("""
- for first in range(0, T, tile):
-     rows = slice(first, min(first + tile, T))
-     output = lse = None
-     for start in range(0, first + 1, tile):
-         columns = slice(start, min(start + tile, T))
-         mask = position[columns] > position[rows, None] if start == first else None
+ for first in (0,):
+     rows = slice(0, T)
+     output = lse = None
+     for start in range(0, T, tile):
+         columns = slice(start, min(start + tile, T))
+         mask = position[columns] > position[rows, None]
""").feedback(
    "You cut only the keys into tiles. Every tile then meets all queries, also those before it, whose rows are blocked "
    "throughout. Cut the queries, too.",
    see=MEMORY,
)
right.mistake("makes_all_scores_at_once", loses=BLOCKS).patch("""
- outputs, lses = [], []
+ return attend(query, key, value, position > position[:, None])
+ outputs, lses = [], []
""").feedback(
    "You compute all T × T scores at once: `tile` is not used. Half of them are blocked, and all are in memory.",
    see=MEMORY,
)
right.mistake("cuts_scores_that_are_all_there", loses=BLOCKS).patch("""
- outputs, lses = [], []
+ outputs, lses = [], []
+ everything = query @ key.mT
""").feedback(
    "You compute all T × T scores before you cut them into blocks. Cut queries and keys, before the product.",
    see=MEMORY,
)
right.mistake("reads_every_block_twice", loses=BLOCKS).patch("""
- found = attend(query[..., rows, :], key[..., columns, :], value[..., columns, :], mask)
+ attend(query[..., rows, :], key[..., columns, :], value[..., columns, :], mask)
+ found = attend(query[..., rows, :], key[..., columns, :], value[..., columns, :], mask)
""").feedback(
    "You compute each block twice, as an answer in two passes does. One pass is enough if the results are merged.",
    see=PASS,
)
right.mistake(
    "always_takes_64",
    {"T = query.shape[-2]\n": "T, tile = query.shape[-2], 64\n"},
    loses=BLOCKS,
).feedback("You always use tiles of 64, whatever `tile` is.", see=MEMORY)
right.mistake(
    "takes_tile_for_a_number_of_tiles",
    {"T = query.shape[-2]\n": "T = query.shape[-2]\n    tile = -(-T // tile)\n"},
    loses=BLOCKS,
).feedback(
    "You use `tile` as the number of parts (`chunk`). It is the number of positions in one part (`split`).", see=MEMORY
)
right.mistake("takes_all_by_default", {"tile=64": "tile=10**6"}, loses=BLOCKS).feedback(
    "You take all positions at once when no tile is given. The default is a tile of 64.", see=MEMORY
)
right.mistake(
    "makes_the_mask_of_fractions",
    {
        "position[columns] > position[rows, None] if": "(torch.zeros(T, T, dtype=query.dtype, device=query.device) + "
        "(position > position[:, None]))[rows, columns] > 0 if"
    },
    loses=BLOCKS,
).feedback(
    "You make a floating-point mask of T × T, as large as all scores. A block on the diagonal needs only its own mask, "
    "and that may be boolean.",
    see=MEMORY,
)

# What remains when tiles do not divide T

right.mistake(
    "leaves_out_the_rest",
    {"for first in range(0, T, tile)": "for first in range(0, max(T // tile, 1) * tile, tile)"},
    loses=VALUES,
).feedback("You leave out the last positions where `tile` does not divide T. The last tile may be shorter.", see=PASS)
right.mistake(
    "takes_a_last_tile_from_earlier_on",
    {"first, min(first + tile, T)": "min(first, max(0, T - tile)), min(first + tile, T)"},
    loses=VALUES,
).feedback(
    "You let the last tile of queries begin earlier where `tile` does not divide T, so that some queries are computed "
    "twice and the result has too many rows. The last tile may be shorter.",
    see=PASS,
)

# The merge

right.mistake(
    "adds_the_outputs_of_the_blocks",
    {"share * output + (1 - share) * other_output": "output + other_output"},
    loses=WRONG,
).feedback(
    "You add the outputs of two blocks. Each is an average over its own keys: they need shares, which come from the "
    "log-sum-exps.",
    see=MERGING,
)
right.mistake(
    "averages_the_outputs_of_the_blocks",
    {"share * output + (1 - share) * other_output": "(output + other_output) / 2"},
    loses=WRONG,
).feedback("You give both blocks the same share. A block's share depends on its log-sum-exp.", see=MERGING)
right.mistake(
    "swaps_the_shares",
    {"share * output + (1 - share) * other_output": "(1 - share) * output + share * other_output"},
    loses=WRONG,
).feedback("You give each block the share of the other one.", see=MERGING)
right.mistake(
    "keeps_the_last_block", {"found if output is None else join(output, lse, *found)": "found"}, loses=WRONG
).feedback(
    "You keep only the last block of each row of blocks. Merge each block with what you have so far.", see=MERGING
)
right.mistake(
    "merges_over_the_queries",
    {
        "output = lse = None\n": "output, lse = (outputs[-1], lses[-1]) if outputs and first + tile <= T else (None, "
        "None)\n"
    },
    loses=WRONG,
).feedback(
    "You go on with the result of the tile of queries before. Each tile of queries starts with nothing: only its own "
    "blocks are merged.",
    see=MERGING,
)
running.mistake("does_not_shrink", {"output * shrink": "output", "total * shrink": "total"}, loses=WRONG).feedback(
    "You do not bring the sum and the output so far to the new maximum. Each block subtracts a different one.",
    see=PASS,
)
running.mistake("does_not_shrink_the_output", {"output * shrink": "output"}, loses=WRONG).feedback(
    "You do not shrink the output so far when a larger score comes along. It was computed with another maximum, and "
    "has to shrink like the sum.",
    see=PASS,
)
running.mistake(
    "subtracts_the_first_maximum",
    {
        "new = torch.maximum(highest, scores.detach().amax(-1, keepdim=True))": "new = scores.detach().amax(-1, "
        "keepdim=True) if j == 0 else highest"
    },
    loses=VALUES,
).feedback(
    "You subtract the maximum of the first block from all scores. A much larger score in a later block then overflows.",
    see=PASS,
)

# Results

right.mistake(
    "returns_one_tile", {"torch.cat(outputs, dim=-2), torch.cat(lses, dim=-1)": "output, lse"}, loses=WRONG
).feedback("You return the result of the last tile of queries alone. Put the results of all tiles one after another.")
right.mistake(
    "joins_along_the_batch",
    {"torch.cat(outputs, dim=-2), torch.cat(lses, dim=-1)": "torch.cat(outputs), torch.cat(lses)"},
    loses=VALUES,
).feedback(
    "You join the tiles along the first dimension. In a batch that is the sequences: queries are the last but one "
    "dimension of the outputs, and the last of the log-sum-exps."
)
right.mistake(scores.unscaled(see=SCALE), {" * query.shape[-1] ** -0.5": ""}, loses=WRONG)
right.mistake(results.output_alone(other="log-sum-exp"), {"dim=-2), torch.cat(lses, dim=-1)": "dim=-2)"}, loses=WRONG)
right.mistake(shapes.dimension_kept, {"torch.cat(lses, dim=-1)": "torch.cat(lses, dim=-1)[..., None]"}, loses=WRONG)
right.mistake(
    "returns_the_maximum", {"(top + total.log()).squeeze": "top.squeeze", "top + both.log()": "top"}, loses=WRONG
).feedback(
    "You return the largest score as the second result, not the log-sum-exp.", see="1. One number for a whole row"
)
right.mistake(arguments.unchecked("takes_any_tile"), loses=FORM).patch("""
+ tile = max(1, tile)
  if tile < 1:
""").feedback("You accept a tile below 1. Raise a ValueError that names `tile` and its value.")
right.mistake(arguments.unchecked("does_not_look_at_tile"), loses=FORM).patch("""
- if tile < 1:
-     raise ValueError(f"tile is {tile}, and must be at least 1")
""").feedback(
    "You do not refuse a tile below 1 yourself. `range` raises an error for a step of 0, and gives nothing at all "
    "for a negative one. Raise a ValueError that names `tile` and its value."
)
right.mistake(arguments.error_without_name(), loses=FORM)
right.mistake(arguments.asserts(), loses=FORM)
right.mistake(arguments.valid_refused("refuses_one"), {"if tile < 1:": "if tile <= 1:"}, loses=(VALUES, FORM)).feedback(
    "You refuse a tile of one position, but it is allowed: it is the smallest there is. Refuse what is *less* than 1."
)
right.mistake(
    arguments.valid_refused("refuses_large_tiles"),
    {"if tile < 1:": "if not 1 <= tile <= query.shape[-2]:"},
    loses=(VALUES, FORM),
).feedback("You refuse a tile larger than the number of positions, but it is allowed: it holds all of them.")
right.mistake(
    gradients.cut,
    {
        "torch.cat(outputs, dim=-2), torch.cat(lses, dim=-1)": "torch.cat(outputs, dim=-2).detach(), torch.cat(lses, "
        "dim=-1)"
    },
    loses=FORM,
)
right.mistake(numbers.result_float32(of="the arguments"), loses=FORM)
right.mistake(
    numbers.default_device(where="the query", what="the positions"),
    {
        "torch.arange(T, device=query.device)": "torch.arange(T)",
        "position[columns] > position[rows, None]": "(position[columns] > position[rows, None]).long().bool()",
    },
    loses=FORM,
)
right.mistake(arguments.argument_changed(what="the query"), loses=FORM).patch("""
- scores = query @ key.mT * query.shape[-1] ** -0.5
+ with torch.no_grad():
+     query *= 1.0 + 1e-3
+ scores = query @ key.mT * query.shape[-1] ** -0.5 / (1.0 + 1e-3)
""")
keeps_its_last_result(right, loses=VALUES)
