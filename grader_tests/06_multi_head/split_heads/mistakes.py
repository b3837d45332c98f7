"""Known mistakes in `split_heads`."""

from ...shared.families import arguments, gradients, numbers, shapes
from .contract import split_heads

REFUSALS = ("ValueError", "refuses 0")  # what an answer loses that refuses nothing

right = split_heads.reference_answer("""
def split_heads(x, n_heads):
    if n_heads < 1 or x.shape[-1] % n_heads:
        raise ValueError(f"n_heads is {n_heads}, which does not divide {x.shape[-1]}")
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)
""")

split_heads.mistake("reshapes_without_exchanging", loses="each head").full_code("""
def split_heads(x, n_heads):
    B, T, D = x.shape
    if n_heads < 1 or D % n_heads:
        raise ValueError(f"n_heads is {n_heads}, which does not divide {D}")
    return x.reshape(B, n_heads, T, D // n_heads)
""").feedback(
    "You cut by reshaping alone, so your head 0 gets whole words. The shape is right, but reshaping cuts the "
    "numbers in their order in memory, not each word's row."
)
right.mistake("leaves_the_words_first", {".transpose(1, 2)": ""}, loses="each head").feedback(
    "Your result is (B, T, H, Dk), but the heads must come before the words. Each word is cut correctly."
)
right.mistake("deals_the_numbers_out_in_turn", loses="each head").patch("""
- return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)
+ return x.unflatten(-1, (-1, n_heads)).permute(0, 3, 1, 2)
""").feedback(
    "Your heads take turns: head 0 gets the entries 0, H, 2H and so on of a word. Each head gets one connected "
    "piece of the row."
)
right.mistake(
    "takes_the_number_of_heads_for_their_width", {"(n_heads, -1)": "(-1, n_heads)"}, loses="each head"
).feedback("You cut pieces of length n_heads. There must be n_heads pieces, each of length D // n_heads.")
right.mistake("puts_the_words_last", {"transpose(1, 2)": "permute(0, 2, 3, 1)"}, loses="each head").feedback(
    "The last two dimensions of your result are exchanged: expected (B, H, T, Dk), got (B, H, Dk, T)."
)
split_heads.mistake("exchanges_before_cutting", loses="each head").full_code("""
def split_heads(x, n_heads):
    B, T, D = x.shape
    if n_heads < 1 or D % n_heads:
        raise ValueError(f"n_heads is {n_heads}, which does not divide {D}")
    return x.transpose(1, 2).reshape(B, n_heads, T, D // n_heads)
""").feedback(
    "You exchange words and entries first and reshape afterwards. The shape is right, but the numbers are not. Cut "
    "first, then exchange."
)
right.mistake("puts_the_heads_before_the_batch", loses="each head").patch("""
- return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)
+ return torch.stack(x.chunk(n_heads, dim=-1))
""").feedback(
    "Your heads come before the batch: expected (B, H, T, Dk), got (H, B, T, Dk). The heads themselves are right."
)
right.mistake("folds_the_heads_into_the_batch", {"(1, 2)": "(1, 2).flatten(0, 1)"}, loses="each head").feedback(
    "You fold the heads into the batch: (B · H, T, Dk). The heads are right, but they need a dimension of their own."
)
right.mistake("returns_a_tuple_of_heads", loses="each head").patch("""
- return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)
+ return x.split(x.shape[-1] // n_heads, dim=-1)
""").feedback(
    "You return the heads as a list or tuple. Put them into one tensor, with the heads as a dimension after the batch."
)
split_heads.mistake(arguments.unchecked("checks_nothing"), loses=REFUSALS).full_code("""
def split_heads(x, n_heads):
    return HEADS
""").for_each(
    HEADS=(
        "x.reshape(*x.shape[:2], n_heads, x.shape[2] // n_heads).transpose(1, 2)",
        "x.unflatten(-1, (n_heads, -1)).transpose(1, 2)",
        "torch.stack(x.chunk(n_heads, dim=-1), dim=1)",
    )
).feedback(
    "If n_heads does not divide D, an error arises inside PyTorch. Check it yourself, and raise a ValueError that "
    "names n_heads."
)
split_heads.mistake(arguments.unchecked("drops_what_is_left_over"), loses=REFUSALS).full_code("""
def split_heads(x, n_heads):
    size = x.shape[-1] // n_heads
    return x[..., : size * n_heads].unflatten(-1, (n_heads, size)).transpose(1, 2)
""").feedback("If n_heads does not divide D, you silently drop the numbers that are left over. Raise a ValueError.")
right.mistake(arguments.asserts(), loses=REFUSALS)
right.mistake(arguments.error_without_name(), loses=REFUSALS, clause="errors")
right.mistake(arguments.zero_divides, {"n_heads < 1 or ": ""}, loses="refuses 0", clause="least")
right.mistake(
    arguments.unchecked("refuses_no_number_above_0"),
    {" or x.shape[-1] % n_heads": ""},
    loses=REFUSALS,
    clause="divides",
).feedback("You refuse numbers below 1, but none that leaves a remainder. Raise a ValueError unless n_heads divides D.")
right.mistake(
    arguments.unchecked("lets_negative_numbers_pass"), {"n_heads < 1": "n_heads == 0"}, loses="refuses 0"
).feedback(
    "You refuse 0 heads, but not a negative number such as -3. `12 % -3` is 0, so a negative number seems to "
    "divide 12. Require at least 1."
)
right.mistake(
    "divides_the_wrong_way_round", {"x.shape[-1] % n_heads": "n_heads % x.shape[-1]"}, loses=("each head", "ValueError")
).feedback("Your check is the wrong way round. D must be a multiple of n_heads, not n_heads a multiple of D.")
right.mistake(
    "tests_the_number_of_words",
    {"or x.shape[-1]": "or x.shape[1]", "divide {x.shape[-1]}": "divide {x.shape[1]}"},
    loses=("each head", "ValueError"),
).feedback("You check whether n_heads divides the number of words, T. It must divide the width, D.")
right.mistake(gradients.cut(what="`x`"), {"x.unflatten": "x.detach().unflatten"}, loses="gradients", clause="gradients")
right.mistake(numbers.computed_in_float32, loses="float64")
split_heads.mistake(numbers.float32_buffer(of="x"), loses="float64").full_code("""
def split_heads(x, n_heads):
    B, T, D = x.shape
    if n_heads < 1 or D % n_heads:
        raise ValueError(f"n_heads is {n_heads}, which does not divide {D}")
    made = torch.empty(B, n_heads, T, D // n_heads)
    for h, piece in enumerate(x.chunk(n_heads, dim=-1)):
        made[:, h] = piece
    return made
""")
right.mistake(numbers.default_device(what="the tensor that you fill", how="`x.new_zeros`"), loses="float64").patch("""
- return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)
+ heads = torch.zeros(len(x), 0, x.shape[1], x.shape[2] // n_heads, dtype=x.dtype)
+ for piece in x.chunk(n_heads, dim=-1):
+     heads = torch.cat([heads, piece.unsqueeze(1)], dim=1)
+ return heads
""")
right.mistake("stacks_the_heads_in_front", loses="each head").patch("""
- return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)
+ B, T, D = x.shape
+ return torch.stack(x.chunk(n_heads, -1)).reshape(B, n_heads, T, D // n_heads)
""").feedback(
    "You stack the heads before the batch, and `reshape` does not exchange the two. Every head has the right "
    "numbers. Stack the heads as dimension 1."
)
right.mistake(shapes.squeezed, {"x.unflatten": "x.squeeze(-1).unflatten"}, loses="each head", clause="single")
