"""Known mistakes in `merge_heads`."""

from ...shared.families import gradients, numbers, shapes
from .contract import merge_heads

right = merge_heads.alternative("merge_by_contiguous_view")

right.mistake("merges_by_reshape_alone", {"transpose(1, 2).contiguous().view": "reshape"}, loses="the heads").feedback(
    "You merge by reshaping alone, which mixes the numbers of different words. The shape is right, but reshaping "
    "writes head after head, not word after word. Exchange heads and words first."
)
right.mistake("merges_by_view", {"contiguous().": ""}, loses="the heads").feedback(
    "`view` cannot merge dimensions whose numbers are not side by side in memory. Copy first, or let `reshape` do it."
)
merge_heads.mistake("deals_the_heads_out_in_turn", loses="the heads").full_code("""
def merge_heads(x):
    return x.permute(0, 2, 3, 1).flatten(2)
""").feedback(
    "Your heads take turns in a word's row: entry 0 of every head, then entry 1 of every head. Head 0 must come "
    "whole, then head 1."
)
merge_heads.mistake("forgets_to_flatten", loses="the heads").full_code("""
def merge_heads(x):
    return x.transpose(1, 2)
""").feedback(
    "Your result, (B, T, H, Dv), has one dimension too many. The numbers are in the right places. Merge the last "
    "two dimensions into one."
)
merge_heads.mistake("lengthens_the_sentence", loses="the heads").full_code("""
def merge_heads(x):
    return x.flatten(1, 2)
""").feedback(
    "You put the heads' words one after the other: (B, H · T, Dv). Put each word's numbers side by side instead."
)
right.mistake("exchanges_the_batch", {"(1, 2).contiguous().view": "(0, 1).reshape"}, loses="the heads").feedback(
    "You exchange the batch with the heads. The words are dimension 2: exchange dimensions 1 and 2."
)
merge_heads.mistake("takes_the_heads_for_the_batch", loses="the heads").full_code("""
def merge_heads(x):
    B, H, T, K = x.shape
    return x.reshape(H, B, T, K).permute(0, 2, 1, 3).reshape(B, T, H * K)
""").feedback(
    "You treat the first dimension as the heads and the second as the batch: (H, B, T, Dv). Here the batch comes "
    "first, and reshaping does not exchange dimensions."
)
merge_heads.mistake("flattens_each_head", loses="the heads").full_code("""
def merge_heads(x):
    return x.flatten(2)
""").feedback("You write each head's words into one row: (B, H, T · Dv). Exchange heads and words first.")
merge_heads.mistake("averages_the_heads", loses="the heads").full_code("""
def merge_heads(x):
    return x.mean(1)
""").feedback("You take the mean of the heads. Write them side by side.")
merge_heads.mistake("adds_the_heads", loses="the heads").full_code("""
def merge_heads(x):
    return x.sum(1)
""").feedback("You add up the heads. Write them side by side.")
merge_heads.mistake("writes_the_last_head_first", loses="the heads").full_code("""
def merge_heads(x):
    return x.flip(1).transpose(1, 2).flatten(2)
""").feedback("Your heads are in reverse order. The row of a word begins with head 0.")
right.mistake("exchanges_the_last_two", {"(1, 2).contiguous().view": "(2, 3).reshape"}, loses="the heads").feedback(
    "You exchange words and entries, which leaves the heads where they are. Exchange heads and words."
)
right.mistake("trusts_the_layout", loses="any layout", clause="layout").patch("""
- return x.transpose(1, 2).contiguous().view(B, T, H * K)
+ return torch.as_strided(x, (B, T, H, K), (H * T * K, K, T * K, 1)).flatten(2)
""").feedback(
    "You assume that x is stored in memory row after row. If it is not, your result is mixed up. `x.stride()` "
    "shows the layout."
)
merge_heads.mistake("transposes_in_place", loses="any layout", clause="purity").full_code("""
def merge_heads(x):
    if x.requires_grad:
        return x.transpose(1, 2).flatten(2)
    return x.transpose_(1, 2).flatten(2)
""").feedback("`transpose_` (with an underscore) changes x itself. The caller's tensor then has another shape.")
merge_heads.mistake(gradients.cut(what="`x`"), loses="gradients").full_code("""
def merge_heads(x):
    return x.detach().transpose(1, 2).flatten(2)
""")
right.mistake(numbers.computed_in_float32, loses="any layout", clause="dtype")
merge_heads.mistake(numbers.float32_buffer(of="x"), loses="any layout").full_code("""
def merge_heads(x):
    B, H, T, K = x.shape
    made = torch.empty(B, T, H * K)
    for h in range(H):
        made[..., h * K : (h + 1) * K] = x[:, h]
    return made
""")
merge_heads.alternative("merge_by_a_matrix_of_places").mistake(
    numbers.default_device(what="a matrix of positions", how="`device=x.device`"),
    {"dtype, device=x.device": "dtype"},
    loses="any layout",
    clause="device",
)
right.mistake(shapes.squeezed, {"B, T, H * K)": "B, T, H * K).squeeze()"}, loses="the heads", clause="single")
merge_heads.mistake("moves_the_batch_behind_the_words", loses="the heads").full_code("""
def merge_heads(x):
    B, H, T, K = x.shape
    return x.permute(2, 0, 1, 3).reshape(B, T, H * K)
""").feedback(
    "Your heads are side by side, but you exchange words and batch. `reshape` only gives the shape that you ask "
    "for. Exchange heads and words, and leave the batch in front."
)
