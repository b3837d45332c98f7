"""Known mistakes in `tiled_attention`."""

from ...shared.families import arguments, gradients, masks, numbers, results, scores, shapes
from ...shared.repeating import keeps_its_last_result
from ..common import BLOCKED, SCALE
from .bases import NOTHING_YET, QUERIES_IN_TILES, TWO_PASSES, right, whole
from .contract import tiled_attention

EVERYWHERE = ("the same", "with a mask")  # what an answer loses whose every result is wrong
PASS = "4. All keys, a tile at a time"
MEMORY = "5. What memory it takes"
ONE_PASS = "one pass"
MERGING = "3. Two parts into one"

whole.mistake("makes_all_scores_at_once", loses=ONE_PASS).patch("""
- output = lse = None
- for start in range(0, key.shape[-2], tile):
-     part = slice(start, start + tile)
-     blocked = None if mask is None else mask.expand(*query.shape[:-1], key.shape[-2])[..., part]
-     found = attend(query, key[..., part, :], value[..., part, :], blocked)
-     output, lse = found if start == 0 else join(output, lse, *found)
- return output, lse
+ return attend(query, key, value, mask)
""").feedback(
    "You have all T × S scores in memory at once: `tile` is not used, or the tiles are joined again. Compute the "
    "scores of one tile, and keep only an output and a log-sum-exp of it before you go on to the next.",
    see=MEMORY,
)
whole.mistake(
    "makes_the_mask_of_fractions",
    {
        "mask.expand(*query.shape[:-1], key.shape[-2])[..., part]": "torch.zeros(*query.shape[:-1], key.shape[-2], "
        "dtype=query.dtype, device=query.device).masked_fill(mask, -torch.inf)[..., part].isneginf()"
    },
    loses=ONE_PASS,
).feedback(
    "You turn the mask into T × S numbers, 0 and −∞, as large as all scores. Leave it boolean, and cut it with the "
    "keys.",
    see=MEMORY,
)
right.mistake("cuts_scores_that_are_all_there", loses=ONE_PASS).patch("""
- scores = query @ key[..., part, :].mT * scale
+ scores = (query @ key.mT * scale)[..., part]
""").feedback(
    "You compute all scores at once and then read them in tiles, so T × S of them are in memory. Cut the *keys*, "
    "before the product.",
    see=MEMORY,
)
whole.mistake(
    "always_takes_64", {"shape[-2], tile": "shape[-2], 64", "start + tile": "start + 64"}, loses=ONE_PASS
).feedback("You always use a tile of 64 keys, whatever `tile` is.", see=MEMORY)
whole.mistake(
    "takes_all_keys_by_default",
    {"tile=64): ".strip(): "tile=None):\n    tile = key.shape[-2] if tile is None else tile"},
    loses=ONE_PASS,
).feedback("You take all keys at once when no tile is given. The default is a tile of 64.", see=MEMORY)
whole.mistake("takes_tile_for_a_number_of_tiles", loses=ONE_PASS).patch("""
- output = lse = None
+ output, lse, tile = None, None, -(-key.shape[-2] // tile)
""").feedback(
    "You use `tile` as the number of parts (`chunk`). It is the number of keys in one part (`split`).", see=MEMORY
)
tiled_attention.mistake("tiles_the_queries", loses=ONE_PASS).full_code(QUERIES_IN_TILES).feedback(
    "You cut the queries into tiles, and each tile sees all keys at once: `tile × S` scores, which grow with S. Cut "
    "the keys.",
    see=MEMORY,
)
whole.mistake("collects_the_results_of_all_tiles", loses=ONE_PASS).patch("""
- output = lse = None
+ outputs, sums = [], []
@@
- output, lse = found if start == 0 else join(output, lse, *found)
+ outputs.append(found[0])
+ sums.append(found[1])
@@
- return output, lse
+ lse = log_of_sum(torch.stack(sums, -1))
+ shares = (torch.stack(sums) - lse.nan_to_num(neginf=0.0)).exp()
+ return (shares[..., None] * torch.stack(outputs)).sum(0), lse
""").feedback(
    "You keep the results of all tiles and then stack them, which takes more memory the more keys there are. "
    "Computing the scores tile by tile is right: merge each result with what you have before you go on.",
    see=MEMORY,
)
tiled_attention.mistake("goes_over_the_keys_twice", loses=ONE_PASS).full_code(TWO_PASSES).feedback(
    "You go over the keys twice, once for the sums and once for the output. One pass is enough if what you summed "
    "before shrinks whenever a larger score comes along.",
    see=PASS,
)
right.mistake("does_not_shrink_the_output", {"output * shrink": "output"}, loses=EVERYWHERE).feedback(
    "You do not shrink the output so far when a larger score comes along. It was computed with another maximum, and "
    "has to shrink like the sum.",
    see=PASS,
)
right.mistake("does_not_shrink_the_sum", {"total * shrink": "total"}, loses=EVERYWHERE).feedback(
    "You do not shrink the sum so far when a larger score comes along. It was computed with another maximum, and has "
    "to shrink like the output.",
    see=PASS,
)
right.mistake("does_not_shrink", {"output * shrink": "output", "total * shrink": "total"}, loses=EVERYWHERE).feedback(
    "You do not bring the sum and the output so far to the new maximum. Each tile subtracts a different one.",
    see=PASS,
)
right.mistake("shrinks_the_wrong_way", {"highest - level": "level - highest"}, loses=EVERYWHERE).feedback(
    "You let what was summed before grow where it should shrink: the factor is exp(old maximum − new maximum).",
    see=PASS,
)
right.mistake("each_tile_has_its_own_maximum", loses="tiles and rows").patch("""
- new = torch.maximum(highest, scores.amax(-1, keepdim=True)).detach()
+ new = scores.amax(-1, keepdim=True).detach()
""").feedback(
    "You use the maximum of the last tile instead of the maximum so far. A tile with low scores then blows up what "
    "was summed before: take the larger of the old one and the new.",
    see=PASS,
)
right.mistake(
    "divides_in_every_tile", {"@ value": "/ parts.sum(-1, keepdim=True).clamp_min(1e-30) @ value"}, loses=EVERYWHERE
).feedback(
    "You divide each tile's output by its own sum before you add it. Divide once, at the end, by the sum of all.",
    see=PASS,
)
right.mistake("does_not_divide", {"output / total": "output"}, loses=EVERYWHERE).feedback(
    "You do not divide the output by the sum of the exponentials.", see=PASS
)
whole.mistake("adds_the_tiles", loses=EVERYWHERE).patch("""
- output, lse = found if start == 0 else join(output, lse, *found)
+ output, lse = found if start == 0 else (output + found[0], join(output, lse, *found)[1])
""").feedback("You add up the outputs of the tiles. Each has its share of the weight: merge them.", see=MERGING)
whole.mistake(
    "takes_the_mean_of_tiles",
    {
        "found if start == 0 else join(output, lse, *found)": "found if start == 0 else ((output * start + found[0] "
        "* tile) / (start + tile), join(output, lse, *found)[1])"
    },
    loses=EVERYWHERE,
).feedback("You take the mean of the tiles' outputs. Each has its share of the weight: merge them.", see=MERGING)
whole.mistake(
    "keeps_the_last_tile", {"found if start == 0 else join(output, lse, *found)": "found"}, loses=EVERYWHERE
).feedback("You return the result of the last tile: every tile replaces those before it.", see=PASS)
whole.mistake(
    "forgets_the_rest", {"key.shape[-2], tile": "max(1, key.shape[-2] // tile) * tile, tile"}, loses=EVERYWHERE
).feedback("You leave out the last keys where `tile` does not divide S.", see=PASS)
whole.mistake("cuts_a_key_too_far_or_too_near", {"start + tile": "start + tile + MORE"}, loses=EVERYWHERE).for_each(
    MORE=(1, -1)
).feedback(
    "Your slices are off by one: neighbouring tiles share a key, or a key between them is left out. `start : start + "
    "tile` are `tile` keys, and the end of one tile is the start of the next.",
    see=PASS,
)
whole.mistake("wants_a_tile_that_divides", loses=EVERYWHERE).patch("""
+ key, value = key.unflatten(-2, (-1, min(tile, key.shape[-2]))).flatten(-3, -2), value
  output = lse = None
""").feedback(
    "You cut the keys into tiles by a reshape, which fails where `tile` does not divide S. The last tile may be "
    "shorter.",
    see=PASS,
)
whole.mistake(arguments.valid_refused("refuses_a_tile_that_does_not_divide"), loses=EVERYWHERE).patch("""
- if tile < 1:
+ if tile < 1 or key.shape[-2] % tile:
""").feedback(
    "You refuse a tile that does not divide S, but it is allowed. The last tile is then shorter, as is a slice that "
    "goes past the end.",
    see=PASS,
)
whole.mistake(
    "shifts_the_last_tile_back", {"start, start": "max(0, min(start, key.shape[-2] - tile)), start"}, loses=EVERYWHERE
).feedback(
    "You begin the last tile earlier where `tile` does not divide S, so some keys are read again and count twice. "
    "The last tile may be shorter.",
    see=PASS,
)
whole.mistake("does_not_cut_the_mask", {"[..., part]\n": "\n"}, loses="with a mask").feedback(
    "You do not cut the mask with the keys. Each tile needs its own columns of the mask (the last dimension).",
    see=PASS,
)
whole.mistake(
    "gives_every_tile_the_first_mask",
    {"key.shape[-2])[..., part]": "key.shape[-2])[..., : part.stop - part.start][..., : key[..., part, :].shape[-2]]"},
    loses="with a mask",
).feedback("You give every tile the mask's first columns. A tile's columns are those of its keys.", see=PASS)
whole.mistake(
    "wants_a_whole_mask",
    {"mask.expand(*query.shape[:-1], key.shape[-2])[..., part]": "PIECE"},
    loses="with a mask",
).for_each(PIECE=("mask[..., :, part]", "mask[..., part]")).feedback(
    "You cut the mask as it is, but one that broadcasts, with a last dimension of 1, say, cannot be cut. `expand` it "
    "first: that makes a view and no new numbers.",
    see=PASS,
)
whole.mistake(masks.ignored, {"None if mask is None else mask": "None if True else mask"}, loses="with a mask")
whole.mistake(masks.inverted, {"masked_fill(mask, -torch.inf)": "masked_fill(~mask, -torch.inf)"}, loses="with a mask")
right.mistake(
    "begins_with_a_maximum_of_0",
    {"full_like(query[..., :1], -torch.inf)": "zeros_like(query[..., :1])", "total.masked_fill(empty, 1.0)": "TOTAL"},
    loses="tiles and rows",
).for_each(TOTAL=("total.masked_fill(empty, 1.0)", "total")).feedback(
    "You start the maximum from 0, so every exponential is rounded to 0 where all scores are far below. Start from −∞.",
    see=PASS,
)
right.mistake(
    "tiles_of_nothing_are_nan",
    {"level = new.masked_fill(new.isneginf(), 0.0)": "level = new", "empty = total == 0": "empty = EMPTY"},
    loses="tiles and rows",
).for_each(EMPTY=("total == 0", "highest.isneginf()")).feedback(
    "Your row is NaN as soon as a query sees nothing of one tile. The maximum is then still −∞, and −∞ − (−∞) is NaN.",
    see=BLOCKED,
)
right.mistake(
    "rows_of_nothing_are_nan", {"    total = total.masked_fill(empty, 1.0)\n": ""}, loses="tiles and rows"
).feedback(
    "You divide 0 by 0 in a row that sees nothing, which gives NaN. Divide by 1 there, and let its log-sum-exp be −∞.",
    see=BLOCKED,
)
right.mistake(
    "a_row_of_nothing_is_finite", {"lse.masked_fill(empty, -torch.inf)": "lse"}, loses="tiles and rows"
).feedback("You return a finite log-sum-exp for a row that sees nothing; it must be −∞.", see=BLOCKED)
right.mistake("a_row_of_nothing_is_plus_infinity", {"empty, -torch": "empty, torch"}, loses="tiles and rows").feedback(
    "You return +∞ as the log-sum-exp of a row that sees nothing. It is the logarithm of an empty sum, which is −∞. "
    "With +∞, that part would get everything in a merge.",
    see=BLOCKED,
)
tiled_attention.mistake("subtracts_no_maximum", loses="tiles and rows").full_code("""
def tiled_attention(query, key, value, mask=None, tile=64):
    if tile < 1:
        raise ValueError(f"tile is {tile}, and must be at least 1")
    S, scale = key.shape[-2], key.shape[-1] ** -0.5
    mask = mask if mask is None else mask.expand(*query.shape[:-1], S)
    total, output = 0.0, 0.0
    for start in range(0, S, tile):
        part = slice(start, start + tile)
        parts = torch.exp(query @ key[..., part, :].mT * scale)
        if mask is not None:
            parts = parts.masked_fill(mask[..., part], 0.0)
        total = total + parts.sum(-1, keepdim=True)
        output = output + parts @ value[..., part, :]
    empty = total == 0
    total = total.masked_fill(empty, 1.0)
    return output / total, total.log().masked_fill(empty, -torch.inf).squeeze(-1)
""").feedback(
    "You sum the exponentials as they are, without subtracting a maximum. On paper that is right, but they overflow "
    "from 88.7 on.",
    see="1. One number for a whole row",
)
right.mistake("returns_the_maximum", {"lse.masked_fill(empty": "highest.masked_fill(empty"}, loses=EVERYWHERE).feedback(
    "You return the largest score as the second result, not the log-sum-exp.", see="1. One number for a whole row"
)
right.mistake(
    "returns_the_logarithm_of_the_shifted_sum", {"highest.masked_fill(empty, 0.0) + total": "total"}, loses=EVERYWHERE
).feedback("Your log-sum-exp lacks the maximum that was subtracted before `exp`.", see="1. One number for a whole row")
right.mistake(scores.unscaled(see=SCALE), {".mT * scale": ".mT"}, loses=EVERYWHERE)
right.mistake(results.output_alone(other="log-sum-exp"), loses=EVERYWHERE).patch("""
- return output / total, lse.masked_fill(empty, -torch.inf).squeeze(-1)
+ return output / total
""")
right.mistake(shapes.dimension_kept, {".squeeze(-1)": ""}, loses=EVERYWHERE)
whole.mistake(arguments.unchecked("takes_any_tile"), loses="bad tiles").patch("""
+ tile = max(1, tile)
  if tile < 1:
""").feedback("You accept a tile below 1. Raise a ValueError that names `tile` and its value.")
whole.mistake(arguments.unchecked("does_not_look_at_tile"), loses="bad tiles").patch("""
- if tile < 1:
-     raise ValueError(f"tile is {tile}, and must be at least 1")
- output = lse = None
+ output, lse = EMPTY
""").for_each(EMPTY=("None, None", *NOTHING_YET)).feedback(
    "You do not refuse a tile below 1 yourself. `range` raises an error for a step of 0, and gives nothing at all "
    "for a negative one. Raise a ValueError that names `tile` and its value."
)
whole.mistake(arguments.error_without_name(), loses="bad tiles")
whole.mistake(arguments.valid_refused("refuses_one"), {"if tile < 1:": "if tile <= 1:"}, loses="bad tiles").feedback(
    "You refuse a tile of one key, but it is allowed: it is the smallest there is. Refuse what is *less* than 1."
)
whole.mistake(
    arguments.unchecked("looks_for_zero_alone"),
    {"if tile < 1:": "if tile == 0:", "output = lse = None\n": "output, lse = EMPTY\n"},
    loses="bad tiles",
).for_each(EMPTY=("None, None", *NOTHING_YET)).feedback(
    "You refuse a tile of 0 but not a negative one, for which `range` gives no tile at all. Refuse whatever is less "
    "than 1."
)
whole.mistake(
    arguments.unchecked("looks_for_negative_ones_alone"), {"if tile < 1:": "if tile < 0:"}, loses="bad tiles"
).feedback(
    "You refuse a negative tile but not a tile of 0. It is left to `range`, whose error does not name `tile`. Refuse "
    "whatever is less than 1."
)
whole.mistake(
    arguments.valid_refused("refuses_large_tiles"), {"tile < 1": "not 1 <= tile <= key.shape[-2]"}, loses="bad tiles"
).feedback("You refuse a tile larger than the number of keys, but it is allowed: it holds all of them.")
whole.mistake("raises_another_error", loses="bad tiles").patch("""
- raise ValueError(f"tile is {tile}, and must be at least 1")
+ assert tile >= 1, tile
""").feedback(
    "You raise an error other than a ValueError. An `assert` raises an AssertionError, and raises nothing where "
    "asserts are switched off."
)
right.mistake(gradients.cut, {"output / total, lse": "(output / total).detach(), LSE"}, loses="gradients").for_each(
    LSE=("lse", "lse.detach()")
)
right.mistake(gradients.treated_as_constant(what="the earlier tiles", of="the scores"), loses="gradients").patch("""
- output = output * shrink + parts @ value[..., part, :]
+ output = (output.detach() if start else output) * shrink + parts @ value[..., part, :]
""")
right.mistake(numbers.result_float32(of="the arguments"), loses="gradients")
right.mistake(
    numbers.default_device(where="the query", what="the sums", how="`zeros_like`, `new_zeros`"),
    {"torch.zeros_like(query[..., :1])": "torch.zeros(*query.shape[:-1], 1)"},
    loses="gradients",
)
right.mistake(arguments.argument_changed(what="the query"), loses="gradients").patch("""
+ with torch.no_grad():
+     query *= scale
+ scale = 1.0
  highest = torch.full_like(query[..., :1], -torch.inf)
""")
whole.mistake(
    shapes.squeezed,
    {"    return output, lse\n\n\ndef attend": "    return output.squeeze(0), lse\n\n\ndef attend"},
    loses="with a mask",
).feedback(
    "You use `squeeze(0)`, which removes the first dimension where it is 1. A batch of one sentence then loses its "
    "batch dimension: keep it."
)
keeps_its_last_result(whole, loses="the same")
