"""Lesson 06: heads are split and merged, put into a module, given PyTorch's weights, and counted.

The mistakes of `MultiHeadAttention` are small changes to one class, `Template`: each overrides the one step that it
gets wrong, so that it differs from a right answer in nothing else.
"""

import copy
import math

import torch
from torch import nn
from torch.nn import functional as F

from grading.judge.exercise import SUBJECT, Script, call, exercise, helper, method, non_contiguous, ref, specimen

# From lesson 04 to 07 the layers that PyTorch has are not allowed, except where an exercise names one.
BUILT_IN = (".*scaled_dot_product.*attention.*", ".*multi_head_attention.*")
SPLITTING = "3. Splitting and merging"
MODULE = "4. A module"
LEVELS = "5. Three levels, one result"
COST = "9. What heads cost"

# ------------------------------------------------------------------------------------------------ split_heads

split_heads = exercise("split_heads", points=4, see=SPLITTING, forbidden=BUILT_IN)
split_heads.hints = (
    "Write down, for one word with D = 6 numbers and H = 2 heads, which numbers go to head 0. Which index of the result "
    "counts the heads, and which one counts the numbers inside a head?",
    "Two steps. First cut the last dimension in two, heads and numbers of a head, and leave B and T alone. The words "
    "then still come before the heads; exchange these two.",
    "Check that the rest of `D / n_heads` is 0, and raise a ValueError with `n_heads` in its message otherwise. Then "
    "`x.reshape(B, T, …, …)`, followed by one `.transpose(…, …)`.",
)


@split_heads.oracle
def split_heads_oracle(x, n_heads):
    width = x.shape[-1]
    if n_heads < 1 or width % n_heads:
        raise ValueError(f"n_heads is {n_heads} and does not divide {width}")
    size = width // n_heads
    return torch.stack([x[..., h * size : (h + 1) * size] for h in range(n_heads)], dim=1)


@split_heads.example("two words, two heads")
def _():
    yield call(torch.tensor([[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]]), 2)


@split_heads.example("two sentences of three words, two heads of width 4")
def _():
    yield call(torch.arange(48.0).view(2, 3, 8), n_heads=2).with_gradients()


@split_heads.example("a width of 10 for 4 heads")
def _():
    yield call(torch.zeros(1, 2, 10), 4).raising("n_heads", "x")


@split_heads.criterion("each head gets its own numbers of every word", points=2)
def _(draw):
    yield call(draw.normal(2, 5, 12), 3)
    yield call(draw.normal(3, 4, 10), n_heads=2)
    yield call(draw.normal(2, 6, 6), 6)
    yield call(draw.normal(3, 5, 7), 1)
    yield call(draw.normal(1, 1, 8), 2)


@split_heads.criterion("float64, any layout in memory, x left alone", points=0.5)
def _(draw):
    yield call(draw.normal(3, 5, 8, dtype=torch.float64), 4)
    yield call(non_contiguous(draw.normal(2, 7, 6)), 2)
    yield call(draw.normal(5, 2, 12).transpose(0, 1), 4).unchanged()


@split_heads.criterion("gradients", points=0.5)
def _(draw):
    yield call(draw.normal(2, 5, 12), 3).with_gradients()


@split_heads.criterion("ValueError unless n_heads divides D", points=1)
def _(draw):
    yield call(draw.normal(2, 3, 10), 4).raising("n_heads", "x")
    yield call(draw.normal(3, 2, 12), n_heads=5).raising("n_heads", "x")
    yield call(draw.normal(2, 3, 4), 8).raising("n_heads", "x")
    yield call(draw.normal(4, 8, 10), 4).raising("n_heads", "x")  # B and T can be shared out, D cannot


EACH = "each head gets its own numbers of every word"
ERROR = "ValueError unless n_heads divides D"


@split_heads.mistake(
    "The shape is right, but your head 0 gets whole words: reshape alone cuts the tape of numbers, not each word's row.",
    shows=EACH,
)
def reshapes_without_exchanging(x, n_heads):
    B, T, D = x.shape
    if D % n_heads:
        raise ValueError(f"n_heads is {n_heads}, which does not divide {D}")
    return x.reshape(B, n_heads, T, D // n_heads)


@split_heads.mistake(
    "Every word is cut rightly, but the result is (B, T, H, K): the heads must come before the words.", shows=EACH
)
def leaves_the_words_first(x, n_heads):
    if x.shape[-1] % n_heads:
        raise ValueError(f"n_heads is {n_heads}, which does not divide {x.shape[-1]}")
    return x.unflatten(-1, (n_heads, -1))


@split_heads.mistake(
    "Your heads take turns: head 0 gets numbers 0, H, 2H, … of a word. Each head gets one connected piece of the row.",
    shows=EACH,
)
def deals_the_numbers_out_in_turn(x, n_heads):
    if x.shape[-1] % n_heads:
        raise ValueError(f"n_heads is {n_heads}, which does not divide {x.shape[-1]}")
    return x.unflatten(-1, (-1, n_heads)).permute(0, 3, 1, 2)


@split_heads.mistake(
    "You made pieces of the length n_heads. n_heads is the number of pieces; their length is D // n_heads.", shows=EACH
)
def takes_the_number_of_heads_for_their_width(x, n_heads):
    if x.shape[-1] % n_heads:
        raise ValueError(f"n_heads is {n_heads}, which does not divide {x.shape[-1]}")
    return x.unflatten(-1, (-1, n_heads)).transpose(1, 2)


@split_heads.mistake(
    "The last two dimensions of your result have changed places: it is (B, H, K, T), and must be (B, H, T, K).",
    shows=EACH,
)
def puts_the_words_last(x, n_heads):
    if x.shape[-1] % n_heads:
        raise ValueError(f"n_heads is {n_heads}, which does not divide {x.shape[-1]}")
    return x.unflatten(-1, (n_heads, -1)).permute(0, 2, 3, 1)


@split_heads.mistake(
    "You exchange words and numbers first and reshape afterwards. The shape comes out right, the numbers do not: cut "
    "first, then exchange.",
    shows=EACH,
)
def exchanges_before_cutting(x, n_heads):
    B, T, D = x.shape
    if D % n_heads:
        raise ValueError(f"n_heads is {n_heads}, which does not divide {D}")
    return x.transpose(1, 2).reshape(B, n_heads, T, D // n_heads)


@split_heads.mistake(
    "The heads are right, but they come before the batch: (H, B, T, K) instead of (B, H, T, K).", shows=EACH
)
def puts_the_heads_before_the_batch(x, n_heads):
    if x.shape[-1] % n_heads:
        raise ValueError(f"n_heads is {n_heads}, which does not divide {x.shape[-1]}")
    return torch.stack(x.chunk(n_heads, dim=-1))


@split_heads.mistake(
    "The heads are right, but you folded them into the batch, (B · H, T, K). They are a dimension of their own.",
    shows=EACH,
)
def folds_the_heads_into_the_batch(x, n_heads):
    if x.shape[-1] % n_heads:
        raise ValueError(f"n_heads is {n_heads}, which does not divide {x.shape[-1]}")
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2).flatten(0, 1)


@split_heads.mistake(
    "Your heads come as a list or tuple. Put them into one tensor, with the heads as a dimension after the batch.",
    shows=EACH,
)
def returns_a_tuple_of_heads(x, n_heads):
    if x.shape[-1] % n_heads:
        raise ValueError(f"n_heads is {n_heads}, which does not divide {x.shape[-1]}")
    return x.split(x.shape[-1] // n_heads, dim=-1)


@split_heads.mistake(
    "Where n_heads does not divide D an error arises inside PyTorch. Check it yourself, and raise a ValueError that "
    "names n_heads.",
    shows=ERROR,
)
def checks_nothing(x, n_heads):
    B, T, D = x.shape
    return x.view(B, T, n_heads, D // n_heads).transpose(1, 2)


@split_heads.mistake(
    "Where n_heads does not divide D you drop the numbers that are left over, without a word. Raise a ValueError.",
    shows=ERROR,
)
def drops_what_is_left_over(x, n_heads):
    size = x.shape[-1] // n_heads
    return x[..., : size * n_heads].unflatten(-1, (n_heads, size)).transpose(1, 2)


@split_heads.mistake(
    "You use assert. It raises an AssertionError, and is skipped altogether under `python -O`; raise a ValueError.",
    shows=ERROR,
)
def asserts(x, n_heads):
    assert x.shape[-1] % n_heads == 0, f"n_heads is {n_heads}, which does not divide {x.shape[-1]}"
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


@split_heads.mistake(
    "Your ValueError does not say which argument was wrong. Name it, as in the signature, with its value.", shows=ERROR
)
def raises_without_naming(x, n_heads):
    if x.shape[-1] % n_heads:
        raise ValueError("the width must be divisible by the number of heads")
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


@split_heads.mistake(
    "The test is the wrong way round: D must be a multiple of n_heads, not n_heads a multiple of D.",
    shows=(EACH, ERROR),
)
def divides_the_wrong_way_round(x, n_heads):
    if n_heads % x.shape[-1]:
        raise ValueError(f"n_heads is {n_heads}, which does not divide {x.shape[-1]}")
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


@split_heads.mistake(
    "You test whether n_heads divides the number of words, T. It is the width D that is shared out.",
    shows=(EACH, ERROR),
)
def tests_the_number_of_words(x, n_heads):
    if x.shape[1] % n_heads:
        raise ValueError(f"n_heads is {n_heads}, which does not divide {x.shape[1]}")
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


@split_heads.mistake(
    "The numbers are right, but no gradient can pass: the result was detached (`.detach()`, `.data`, numpy, no_grad).",
    shows="gradients",
)
def detaches_the_heads(x, n_heads):
    if x.shape[-1] % n_heads:
        raise ValueError(f"n_heads is {n_heads}, which does not divide {x.shape[-1]}")
    return x.detach().unflatten(-1, (n_heads, -1)).transpose(1, 2)


@split_heads.mistake(
    "Your result is always float32. It must have the dtype of x: make new tensors with `x.new_empty` or "
    "`torch.empty(..., dtype=x.dtype)`.",
    shows="float64, any layout in memory, x left alone",
)
def fills_a_float32_tensor(x, n_heads):
    B, T, D = x.shape
    if D % n_heads:
        raise ValueError(f"n_heads is {n_heads}, which does not divide {D}")
    made = torch.empty(B, n_heads, T, D // n_heads)
    for h, piece in enumerate(x.chunk(n_heads, dim=-1)):
        made[:, h] = piece
    return made


@split_heads.alternative
def split_by_view_and_permute(x, n_heads):
    batch, tokens, width = x.size()
    if width % n_heads != 0:
        raise ValueError(f"x of shape {tuple(x.shape)} cannot be shared out among {n_heads} heads")
    return x.view(batch, tokens, n_heads, -1).permute(0, 2, 1, 3).contiguous()


@split_heads.alternative
def split_by_stacked_chunks(x, n_heads):
    size, rest = divmod(x.shape[-1], n_heads)
    if rest:
        raise ValueError(f"n_heads={n_heads} does not divide D={x.shape[-1]}")
    return torch.stack(torch.split(x, size, dim=2), 1)


@split_heads.alternative
def split_cell_by_cell(x, n_heads):
    B, T, D = x.shape
    if D // n_heads * n_heads != D:
        raise ValueError(f"bad n_heads: {n_heads}")
    out = x.new_zeros(B, n_heads, T, D // n_heads)
    for h in range(n_heads):
        for k in range(D // n_heads):
            out[:, h, :, k] = x[:, :, h * (D // n_heads) + k]
    return out


@split_heads.alternative
def split_by_an_index(x, n_heads):
    if x.shape[-1] not in range(0, x.shape[-1] + 1, n_heads):
        raise ValueError(f"x.shape is {list(x.shape)}, n_heads is {n_heads}: no whole number of columns for each")
    columns = torch.arange(x.shape[-1], device=x.device).reshape(n_heads, -1)
    return x[:, :, columns].movedim(2, 1)


@split_heads.alternative
def split_from_the_transposed(x, n_heads):
    if x.shape[-1] % n_heads > 0:
        raise ValueError("n_heads must divide %d, but is %d" % (x.shape[-1], n_heads))
    return x.mT.reshape(len(x), n_heads, -1, x.shape[1]).mT


@split_heads.alternative
def split_by_vmap(x, n_heads):
    class NotDivisible(ValueError):
        pass

    if math.gcd(x.shape[-1], n_heads) != n_heads:
        raise NotDivisible(f"`n_heads` = {n_heads}")
    return torch.vmap(lambda sentence: sentence.unflatten(1, (n_heads, -1)).swapaxes(0, 1))(x)


# ------------------------------------------------------------------------------------------------ merge_heads

merge_heads = exercise("merge_heads", points=3, see=SPLITTING, forbidden=BUILT_IN)
merge_heads.hints = (
    "In which order do the numbers of one word have to stand on the tape? In which order does (B, H, T, K) have them?",
    "Undo the two steps of `split_heads`, the last one first: exchange heads and words, then make one dimension of the "
    "last two.",
    "`x.transpose(…, …)`, then `.reshape(B, T, …)`. If `view` complains, read the cell above again: what would have to "
    "be moved?",
)


@merge_heads.oracle
def merge_heads_oracle(x):
    return torch.cat([x[:, h] for h in range(x.shape[1])], dim=-1)


@merge_heads.example("two heads, two words")
def _():
    yield call(torch.tensor([[[[1.0, 2.0], [5.0, 6.0]], [[3.0, 4.0], [7.0, 8.0]]]]))


@merge_heads.example("two sentences, three heads, as split_heads leaves them in memory")
def _():
    yield call(torch.arange(48.0).view(2, 4, 3, 2).transpose(1, 2)).with_gradients()


@merge_heads.example("the same, contiguous")
def _():
    yield call(torch.arange(48.0).view(2, 3, 4, 2))


@merge_heads.criterion("the heads side by side in every word", points=1.5)
def _(draw):
    yield call(draw.normal(2, 3, 5, 4))
    yield call(draw.normal(3, 2, 4, 6))
    yield call(draw.normal(2, 5, 3, 1))
    yield call(draw.normal(3, 1, 5, 2))
    yield call(draw.normal(1, 4, 1, 3))


@merge_heads.criterion("any layout in memory, float64, x left alone", points=1)
def _(draw):
    yield call(draw.normal(2, 5, 3, 4).transpose(1, 2))
    yield call(non_contiguous(draw.normal(3, 2, 5, 4)))
    yield call(draw.normal(4, 5, 2, 3).permute(2, 3, 1, 0))
    yield call(draw.normal(2, 3, 5, 4, dtype=torch.float64)).unchanged()


@merge_heads.criterion("gradients", points=0.5)
def _(draw):
    yield call(draw.normal(2, 3, 5, 4)).with_gradients()


SIDE = "the heads side by side in every word"
LAYOUT = "any layout in memory, float64, x left alone"


@merge_heads.mistake(
    "The shape is right, but the numbers of different words are mixed: reshape alone writes head after head, not word "
    "after word. Exchange heads and words first.",
    shows=SIDE,
)
def merges_by_reshape_alone(x):
    B, H, T, K = x.shape
    return x.reshape(B, T, H * K)


@merge_heads.mistake(
    "`view` cannot merge dimensions whose numbers do not lie side by side in memory. Copy first, or let `reshape` do it.",
    shows=SIDE,
)
def merges_by_view(x):
    B, H, T, K = x.shape
    return x.transpose(1, 2).view(B, T, H * K)


@merge_heads.mistake(
    "Your heads take turns in a word's row: first the number 0 of every head, then the number 1. Head 0 comes whole, "
    "then head 1.",
    shows=SIDE,
)
def deals_the_heads_out_in_turn(x):
    return x.permute(0, 2, 3, 1).flatten(2)


@merge_heads.mistake(
    "The numbers are in their places, but (B, T, H, K) has one dimension too many: make one of the last two.",
    shows=SIDE,
)
def forgets_to_flatten(x):
    return x.transpose(1, 2)


@merge_heads.mistake(
    "You put the heads' words one after the other: (B, H · T, K). It is each word's numbers that belong side by side.",
    shows=SIDE,
)
def lengthens_the_sentence(x):
    return x.flatten(1, 2)


@merge_heads.mistake(
    "You exchange the batch with the heads. The words are dimension 2: exchange 1 and 2.", shows=SIDE
)
def exchanges_the_batch(x):
    B, H, T, K = x.shape
    return x.transpose(0, 1).reshape(B, T, H * K)


@merge_heads.mistake(
    "You write each head's words into one row: (B, H, T · K). Exchange heads and words first.", shows=SIDE
)
def flattens_each_head(x):
    return x.flatten(2)


@merge_heads.mistake("You take the mean of the heads. They are to be written side by side.", shows=SIDE)
def averages_the_heads(x):
    return x.mean(1)


@merge_heads.mistake("You add the heads up. They are to be written side by side.", shows=SIDE)
def adds_the_heads(x):
    return x.sum(1)


@merge_heads.mistake(
    "Your heads stand in the reverse order: the row of a word begins with head 0.", shows=SIDE
)
def writes_the_last_head_first(x):
    return x.flip(1).transpose(1, 2).flatten(2)


@merge_heads.mistake(
    "You exchange words and numbers, which leaves the heads where they are; exchange heads and words.", shows=SIDE
)
def exchanges_the_last_two(x):
    B, H, T, K = x.shape
    return x.transpose(2, 3).reshape(B, T, H * K)


@merge_heads.mistake(
    "You assume that x lies in memory row after row. Where it does not, your result is mixed up: `stride()` tells.",
    shows=LAYOUT,
)
def trusts_the_layout(x):
    B, H, T, K = x.shape
    return torch.as_strided(x, (B, T, H, K), (H * T * K, K, T * K, 1)).flatten(2)


@merge_heads.mistake(
    "`transpose_` (with an underscore) changes x itself: whoever handed it to you finds it with another shape.",
    shows=LAYOUT,
)
def transposes_in_place(x):
    if x.requires_grad:
        return x.transpose(1, 2).flatten(2)
    return x.transpose_(1, 2).flatten(2)


@merge_heads.mistake(
    "The numbers are right, but no gradient can pass: the result was detached (`.detach()`, `.data`, numpy, no_grad).",
    shows="gradients",
)
def detaches_the_words(x):
    return x.detach().transpose(1, 2).flatten(2)


@merge_heads.alternative
def merge_by_contiguous_view(x):
    B, H, T, K = x.shape
    return x.transpose(1, 2).contiguous().view(B, T, H * K)


@merge_heads.alternative
def merge_by_concatenation(x):
    return torch.concat(x.unbind(dim=1), dim=-1)


@merge_heads.alternative
def merge_by_permute(x):
    return torch.permute(x, (0, 2, 1, 3)).reshape(x.size(0), x.size(2), -1)


@merge_heads.alternative
def merge_into_a_fresh_tensor(x):
    B, H, T, K = x.shape
    merged = torch.empty((B, T, H * K), dtype=x.dtype, device=x.device)
    for h in range(H):
        merged[:, :, h * K : (h + 1) * K] = x[:, h]
    return merged


@merge_heads.alternative
def merge_by_a_matrix_of_places(x):
    B, H, T, K = x.shape
    place = torch.eye(H * K, dtype=x.dtype, device=x.device).view(H, K, H * K)
    return torch.einsum("bhtk,hkd->btd", x, place)


@merge_heads.alternative
def merge_by_vmap(x):
    one_word = lambda heads: heads.reshape(-1)
    return torch.vmap(torch.vmap(one_word, in_dims=1))(x)


# ------------------------------------------------------------------------------------------ MultiHeadAttention

mha = exercise("MultiHeadAttention", points=8, see=MODULE, forbidden=BUILT_IN)
mha.hints = (
    "Follow the picture of shapes above, box by box. Which of the steps needs the number of heads? Which ones know "
    "nothing of heads, because they treat all leading dimensions as a batch?",
    "In `__init__` check the arguments and make four linear layers and a dropout. In `forward`: project, split, score "
    "with the width of *one head*, block, softmax over the keys, drop, average the values, merge, mix by `W_o`. A row "
    "in which everything is blocked needs care: what is the softmax of nothing but −∞?",
    "`query = split_heads(self.W_q(x), …)`, `key` and `value` alike from `context` or `x`; `scores = query @ "
    "key.transpose(…) / …`; `weights = …`; `return self.W_o(merge_heads(…)), weights`.",
)


@mha.oracle
class MhaOracle(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"n_heads is {n_heads} and does not divide d_model, {d_model}")
        self.n_heads, self.p = n_heads, dropout
        for name in ("W_q", "W_k", "W_v", "W_o"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=False))

    def forward(self, x, context=None, mask=None):
        context = x if context is None else context
        q, k, v = (
            torch.einsum("bsd,hkd->bhsk", source, layer.weight.unflatten(0, (self.n_heads, -1)))
            for source, layer in ((x, self.W_q), (context, self.W_k), (context, self.W_v))
        )
        scores = torch.einsum("bhtk,bhsk->bhts", q, k) / math.sqrt(q.shape[-1])
        if mask is not None:
            scores = torch.where(mask, -torch.inf, scores)
        top = scores.detach().amax(-1, keepdim=True)
        grown = torch.exp(scores - torch.where(torch.isfinite(top), top, 0.0))
        total = grown.sum(-1, keepdim=True)
        weights = grown / torch.where(total == 0, 1.0, total)
        if self.training and self.p:
            kept = torch.rand(weights.shape, device=weights.device) >= self.p
            weights = weights * kept / (1 - self.p)
        mixed = self.W_o.weight.unflatten(1, (self.n_heads, -1))
        return torch.einsum("bhts,bhsk,dhk->btd", weights, v, mixed), weights


def attend(state, n_heads, *, training=False, dropout=0.0, exactly=False, calls=1, **inputs):
    """Construct, give weights, call with x, context, mask by name; observes the last call's result as "out"."""
    s = Script(**inputs)
    width = len(state["W_q.weight"])
    m = s.call(SUBJECT, width, n_heads, **({"dropout": dropout} if dropout else {}), name="module")
    s.call(helper("load_weights"), m, state, training=training, exactly=exactly)
    for _ in range(calls):
        s.call(m, s.x, **{name: ref(name) for name in inputs if name != "x"}, name="out")
    return s.case(ref("out"))


def weights(draw, width):
    """A state dict. Queries and keys are enlarged, so that weights are neither equal nor all or nothing."""
    state = {f"W_{name}.weight": draw.normal(width, width, scale=width**-0.5) for name in "qkvo"}
    state["W_q.weight"] *= 1.5
    return state


def open_somewhere(draw, *shape):
    """A random mask (True = blocked) in which every row has an open key."""
    mask = draw.chance(0.5, *shape)
    mask[..., draw.integer(0, shape[-1])] = False
    return mask


TURN = {  # small whole numbers, for the visible examples: no matrix is symmetric, no two are equal
    "W_q.weight": torch.tensor([[1.0, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, -1]]),
    "W_k.weight": torch.tensor([[0.0, 1, 0, 0], [1, 0, 0, 1], [0, -1, 1, 0], [0, 0, 0, 1]]),
    "W_v.weight": torch.tensor([[1.0, 0, 2, 0], [0, 1, 0, 0], [0, 0, 1, 0], [3, 0, 0, 1]]),
    "W_o.weight": torch.tensor([[1.0, 0, 0, 1], [0, 2, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1]]),
}
WORDS = torch.tensor([[[1.0, 0, 2, 1], [0, 1, -1, 1]], [[2.0, 1, 0, -1], [1, -1, 1, 0]]])
OTHERS = torch.tensor([[[0.0, 1, 1, 2], [1, 1, 0, -1], [2, 0, -1, 1]], [[1.0, 0, 0, 1], [0, -1, 2, 0], [1, 2, 1, 1]]])


@mha.example("two heads of width 1, all matrices the identity")
def _():
    eye = {f"W_{name}.weight": torch.eye(2) for name in "qkvo"}
    case = attend(eye, 2, exactly=True, x=torch.tensor([[[0.0, 0.0], [math.log(3.0), 8.0]]]))
    yield case.described("MultiHeadAttention(2, 2) on x = [[0, 0], [log 3, 8]]")


@mha.example("two sentences that look at others of another length, with gradients")
def _():
    s = Script(x=WORDS, context=OTHERS)
    m = s.call(SUBJECT, 4, 2, name="module")
    s.call(helper("load_weights"), m, TURN, training=True, exactly=False)
    s.call(m, s.x)  # nothing of an earlier call may remain
    s.call(m, s.x, s.context, name="out")
    yield s.case(ref("out")).with_gradients().described("MultiHeadAttention(4, 2); x (2, 2, 4), context (2, 3, 4)")


@mha.example("a causal mask (T, S)")
def _():
    case = attend(TURN, 2, x=WORDS, mask=torch.tensor([[False, True], [False, False]]), calls=2).unchanged()
    yield case.described("MultiHeadAttention(4, 2); x (2, 2, 4), mask (2, 2), the first word sees itself only")


@mha.example("a padding mask (B, 1, 1, S), in which all of the second sentence is blocked")
def _():
    mask = torch.tensor([[False, True, False], [True, True, True]]).view(2, 1, 1, 3)
    case = attend(TURN, 4, x=WORDS, context=OTHERS, mask=mask).with_gradients()
    yield case.described("MultiHeadAttention(4, 4); x (2, 2, 4), context (2, 3, 4), mask (2, 1, 1, 3)")


@mha.example("with dropout, in eval mode")
def _():
    yield attend(TURN, 2, x=WORDS, dropout=0.5).described("MultiHeadAttention(4, 2, dropout=0.5).eval(); x (2, 2, 4)")


@mha.example("a width of 10 for 4 heads")
def _():
    yield call(10, 4).raising("d_model", "n_heads")


@mha.criterion("its parameters: four weights (D, D), nothing else", points=0.5)
def _(draw):
    yield attend(weights(draw, 6), 2, exactly=True, x=draw.normal(2, 5, 6))


@mha.criterion("self-attention", points=1)
def _(draw):
    yield attend(weights(draw, 12), 3, x=draw.normal(2, 5, 12))
    yield attend(weights(draw, 8), 4, x=draw.normal(3, 7, 8))
    yield attend(weights(draw, 6), 1, x=draw.normal(2, 4, 6))
    yield attend(weights(draw, 5), 5, x=draw.normal(1, 3, 5))
    yield attend(weights(draw, 12), 4, training=True, x=draw.normal(2, 1, 12))
    yield attend(weights(draw, 12), 2, dropout=0.4, x=draw.normal(2, 5, 12))
    s = Script(before=draw.normal(3, 4, 6), x=draw.normal(2, 5, 6))
    m = s.call(SUBJECT, 6, 2, name="module")
    s.call(helper("load_weights"), m, weights(draw, 6), exactly=False)
    s.call(m, s.before)
    s.call(m, s.x, name="out")  # nothing of the first call may remain
    yield s.case(ref("out"))
    s = Script(x=draw.normal(2, 5, 6), context=draw.normal(2, 5, 6), mask=open_somewhere(draw, 5, 5))
    m = s.call(SUBJECT, 6, 3, name="module")
    s.call(helper("load_weights"), m, weights(draw, 6), exactly=False)
    s.call(m, s.x, s.context, s.mask)
    s.call(m, s.x, name="out")  # nor the context, nor the mask
    yield s.case(ref("out")).described("MultiHeadAttention(6, 3); x (2, 5, 6), after a call with a context and a mask")


@mha.criterion("cross-attention", points=1)
def _(draw):
    yield attend(weights(draw, 12), 3, x=draw.normal(2, 5, 12), context=draw.normal(2, 7, 12))
    yield attend(weights(draw, 10), 2, x=draw.normal(3, 6, 10), context=draw.normal(3, 1, 10))
    state = weights(draw, 8)
    s = Script(x=draw.normal(3, 1, 8), context=draw.normal(3, 6, 8), mask=open_somewhere(draw, 1, 6))
    m = s.call(SUBJECT, d_model=8, n_heads=2, name="module")
    s.call(helper("load_weights"), m, state, exactly=False)
    s.call(m, s.x, s.context, s.mask, name="out")  # all by position
    yield s.case(ref("out"))


@mha.criterion("masks of every shape that broadcasts", points=1)
def _(draw):
    for shape in ((5, 7), (2, 1, 1, 7), (2, 1, 5, 7), (2, 3, 5, 7), (3, 1, 7), (1, 3, 5, 7), (7,)):
        mask = open_somewhere(draw, *shape)
        yield attend(weights(draw, 12), 3, x=draw.normal(2, 5, 12), context=draw.normal(2, 7, 12), mask=mask)
    yield attend(weights(draw, 12), 4, x=draw.normal(3, 6, 12), mask=torch.ones(6, 6, dtype=torch.bool).triu(1))
    yield attend(weights(draw, 8), 2, x=draw.normal(2, 5, 8), mask=torch.zeros(5, 5, dtype=torch.bool))


def zero_where_all_is_blocked(mask, shape):
    """Judges rows that are blocked throughout, and that nothing is NaN, in the gradients too."""
    full = mask.expand(shape).all(-1)  # (B, H, T)
    empty = full.all(1)  # (B, T): blocked in every head, so that W_o mixes nothing but zeros

    def holds(seen, exact):
        output, given = seen.values["out"]
        if tuple(given.shape) != tuple(shape) or output.shape[:2] != empty.shape:
            return f"output {tuple(output.shape)} and weights {tuple(given.shape)} do not have the right shapes"
        if not (torch.isfinite(output).all() and torch.isfinite(given).all()):
            return "output or weights are NaN or infinite where a row is blocked throughout"
        if given[full].any():
            return "the weights of a row that is blocked throughout are not all 0"
        if output[empty].any():
            return "the output of a row that is blocked throughout is not 0"
        bad = [name for name, g in (seen.gradients or {}).items() if g is not None and not torch.isfinite(g).all()]
        return f"the gradient for `{bad[0]}` is NaN or infinite" if bad else None

    return holds


@mha.criterion("a fully blocked row: zeros, never NaN", points=1)
def _(draw):
    some = draw.chance(0.4, 5, 7)
    some[2] = True
    padded = draw.chance(0.4, 2, 1, 1, 7)
    padded[1] = True
    one_head = torch.tensor([False, True, False]).view(3, 1, 1)
    for mask in (some, padded, one_head, torch.ones(2, 1, 5, 7, dtype=torch.bool)):
        case = attend(weights(draw, 12), 3, x=draw.normal(2, 5, 12), context=draw.normal(2, 7, 12), mask=mask)
        yield case.with_gradients().holding(zero_where_all_is_blocked(mask, (2, 3, 5, 7)))


P, SHAPE = 0.3, (2, 3, 8, 48)


def drops_entries(state, context):
    """Judges two calls in training mode against a call in eval mode.

    2 * 2304 weights, each dropped with probability 0.3: the share of zeros has the standard deviation 0.0068, and is
    held to six of them (2e-9 for a right answer). Two slices of n entries have the same pattern with probability
    0.58 ** n; the smallest slices compared have 48: 5e-12 each, 1e-9 for all of them.
    """

    def holds(seen, exact):
        clean = seen.values["clean"][1].double()
        patterns = []
        for name in ("first", "second"):
            output, given = (t.double() for t in seen.values[name])
            if tuple(given.shape) != SHAPE or tuple(output.shape) != tuple(exact.values[name][0].shape):
                return "in training mode the output or the weights do not have the right shape"
            kept = given != 0
            if not torch.allclose(given[kept] * (1 - P), clean[kept], rtol=1e-4, atol=1e-7):
                return "in training mode the weights are neither 0 nor the weights of eval mode times 1 / (1 - dropout)"
            head = state["W_o.weight"].unflatten(1, (SHAPE[1], -1)).double()
            value = (context @ state["W_v.weight"].T).unflatten(-1, (SHAPE[1], -1)).double()
            applied = torch.einsum("bhts,bshk,dhk->btd", given, value, head)
            if not torch.allclose(output, applied, rtol=1e-3, atol=1e-4 * float(applied.abs().max())):
                return "in training mode the output is not what the weights that were returned give"
            patterns.append(kept)
        share = 1 - torch.stack(patterns).double().mean()
        if not abs(share - P) < 0.041:
            return f"dropout is {P}, and {share:.1%} of the weights were dropped"
        if torch.equal(*patterns):
            return "two calls drop the same weights"
        for dim, what in enumerate(("sentences", "heads", "queries", "keys")):
            slices = patterns[0].movedim(dim, 0).flatten(1)
            if (slices[1:] == slices[:-1]).all(1).any():
                return f"two {what} lose the same weights: dropout must fall entry by entry"
        return None

    return holds


def gradients_flow(seen, exact):
    """Judges that every weight of the contract gets a finite gradient that is not 0."""
    for name in ("module.W_q.weight", "module.W_k.weight", "module.W_v.weight", "module.W_o.weight", "x"):
        gradient = seen.gradients.get(name)
        if gradient is None or not gradient.any():
            return f"in training mode, with dropout, no gradient reaches `{name}`"
        if not torch.isfinite(gradient).all():
            return f"in training mode, with dropout, the gradient for `{name}` is NaN or infinite"
    return None


@mha.criterion("dropout falls on the weights, in training mode", points=1)
def _(draw):
    state, context = weights(draw, 12), draw.normal(2, SHAPE[3], 12)
    s = Script(x=draw.normal(2, SHAPE[2], 12), context=context)
    m = s.call(SUBJECT, 12, 3, P, name="module")
    s.call(helper("load_weights"), m, state, training=True, exactly=False)
    s.call(m, s.x, s.context, name="first")
    s.call(m, s.x, s.context, name="second")
    s.call(method(m, "eval"))
    s.call(m, s.x, s.context, name="clean")
    case = s.case(ref("first"), ref("second"), ref("clean")).holding(drops_entries(state, context))
    yield case.described(f"MultiHeadAttention(12, 3, {P}) in training mode; x (2, 8, 12), context (2, 48, 12)")
    case = attend(weights(draw, 8), 2, training=True, dropout=P, x=draw.normal(2, 9, 8))
    yield case.with_gradients().holding(gradients_flow)


@mha.criterion("gradients", points=1)
def _(draw):
    yield attend(weights(draw, 12), 3, training=True, x=draw.normal(2, 5, 12)).with_gradients()
    mask = open_somewhere(draw, 2, 1, 5, 7)
    mask[0, 0, 3] = True  # a row that is blocked throughout must not spoil the others
    yield attend(
        weights(draw, 8), 2, x=draw.normal(2, 5, 8), context=draw.normal(2, 7, 8), mask=mask
    ).with_gradients()


@mha.criterion("scores of any size", points=0.5)
def _(draw):
    # All scores of a case are about -1e13, or all about 1e13, and they lie far apart
    steps = 2.0 + draw.permutation(5)
    x = 1e6 * steps.view(1, 5, 1) * draw.uniform(1, 1, 6, low=1.0, high=2.0)
    smallest, largest = int(steps.argmin()), int(steps.argmax())

    def case(n_heads, sign, mask=None):
        state = {f"W_{name}.weight": torch.eye(6) * (sign if name == "k" else 1) for name in "qkvo"}
        return attend(state, n_heads, x=x, **({} if mask is None else {"mask": mask}))

    yield case(3, -1).described("MultiHeadAttention(6, 3); scores of about -1e13")
    # Blocked scores that are set to -1e9 become the greatest
    mask = draw.chance(0.5, 5, 5)
    mask[:, largest], mask[:, smallest] = True, False
    yield case(2, -1, mask).described("MultiHeadAttention(6, 2); scores of about -1e13; mask (5, 5)")
    # The greatest score is blocked: a softmax over all keys leaves nothing for the others
    yield case(2, 1, mask).described("MultiHeadAttention(6, 2); scores of about 1e13; mask (5, 5)")


@mha.criterion("float64, any layout in memory, arguments left alone", points=0.5)
def _(draw):
    yield attend(
        {n: w.double() for n, w in weights(draw, 12).items()}, 3, x=draw.normal(2, 5, 12, dtype=torch.float64),
        context=draw.normal(2, 7, 12, dtype=torch.float64), mask=open_somewhere(draw, 2, 1, 1, 7),
    )  # fmt: skip
    yield attend(
        weights(draw, 12), 4, x=non_contiguous(draw.normal(2, 5, 12)), context=draw.normal(7, 2, 12).transpose(0, 1),
        mask=non_contiguous(open_somewhere(draw, 5, 7)),
    ).unchanged()  # fmt: skip


@mha.criterion("ValueError unless n_heads divides d_model", points=0.5)
def _(draw):
    yield call(12, 5).raising("d_model", "n_heads")
    yield call(d_model=10, n_heads=4).raising("d_model", "n_heads")
    yield call(4, 8, dropout=0.1).raising("d_model", "n_heads")


class Template(nn.Module):
    """A right answer in small steps, for the mistakes below: each overrides the step that it gets wrong."""

    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        self.examine(d_model, n_heads)
        self.n_heads, self.p = n_heads, dropout
        self.make(d_model)

    def examine(self, d_model, n_heads):
        if d_model % n_heads:
            raise ValueError(f"n_heads is {n_heads}, which does not divide d_model, {d_model}")

    def make(self, d_model):
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))

    def split(self, x):
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def merge(self, x):
        return x.transpose(1, 2).flatten(2)

    def project(self, x, context):
        return self.W_q(x), self.W_k(context), self.W_v(context)

    def score(self, query, key):
        return query @ key.mT / query.shape[-1] ** 0.5

    def weigh(self, scores, mask):
        if mask is None:
            return scores.softmax(-1)
        return scores.masked_fill(mask, -torch.inf).softmax(-1).masked_fill(mask, 0.0)

    def drop(self, weights):
        return F.dropout(weights, self.p, self.training)

    def finish(self, output, weights):
        return self.W_o(output), weights

    def forward(self, x, context=None, mask=None):
        query, key, value = map(self.split, self.project(x, x if context is None else context))
        weights = self.drop(self.weigh(self.score(query, key), mask))
        return self.finish(self.merge(weights @ value), weights)


PARAMETERS = "its parameters: four weights (D, D), nothing else"
BOTH = ("self-attention", "cross-attention")
MASKS = "masks of every shape that broadcasts"
BLOCKED = "a fully blocked row: zeros, never NaN"
DROPOUT = "dropout falls on the weights, in training mode"
ANY_SIZE = "scores of any size"
DTYPES = "float64, any layout in memory, arguments left alone"


@mha.mistake(
    "You divide the scores by the root of the model's width. Each head's queries and keys are only D / H numbers long: "
    "divide by the root of that.",
    shows=BOTH,
)
class ScalesByTheModelWidth(Template):
    def score(self, query, key):
        return query @ key.mT / (query.shape[-1] * self.n_heads) ** 0.5


@mha.mistake("Your scores are not scaled: divide them by the root of the width of one head.", shows=BOTH)
class DoesNotScale(Template):
    def score(self, query, key):
        return query @ key.mT


@mha.mistake("You multiply the scores by the root of a head's width. Divide by it.", shows=BOTH)
class MultipliesByTheRoot(Template):
    def score(self, query, key):
        return query @ key.mT * query.shape[-1] ** 0.5


@mha.mistake(
    "You divide the scores by the root of the number of heads. It is the width of one head that counts.", shows=BOTH
)
class ScalesByTheNumberOfHeads(Template):
    def score(self, query, key):
        return query @ key.mT / self.n_heads**0.5


@mha.mistake(
    "You divide the scores by the root of the number of keys. It is the width of one head that counts.", shows=BOTH
)
class ScalesByTheNumberOfKeys(Template):
    def score(self, query, key):
        return query @ key.mT / key.shape[-2] ** 0.5


@mha.mistake("You divide the scores by the width of a head, and must divide by its root.", shows=BOTH)
class ScalesWithoutTheRoot(Template):
    def score(self, query, key):
        return query @ key.mT / query.shape[-1]


@mha.mistake(
    "You cut the heads by reshape alone, so each of them sees a few whole words. Section 3 draws the difference.",
    shows=BOTH, see=SPLITTING,
)  # fmt: skip
class CutsBetweenWords(Template):
    def split(self, x):
        return x.reshape(len(x), self.n_heads, x.shape[1], -1)


@mha.mistake(
    "You cut the heads by reshape alone, and merge them in the same way. Every number returns to its place, but each "
    "head has seen a few whole words only.",
    shows=BOTH, see=SPLITTING,
)  # fmt: skip
class CutsAndMergesBetweenWords(CutsBetweenWords):
    def merge(self, x):
        return x.reshape(len(x), x.shape[2], -1)


@mha.mistake(
    "The weights are right, the output is not: you merge the heads without exchanging heads and words first.",
    shows=BOTH, see=SPLITTING,
)  # fmt: skip
class MergesByReshapeAlone(Template):
    def merge(self, x):
        return x.reshape(len(x), x.shape[2], -1)


@mha.mistake(
    "Your heads take turns: head 0 gets the columns 0, H, 2H, …. Each head owns one band of columns.",
    shows=BOTH, see="One matrix for all heads",
)  # fmt: skip
class DealsTheColumnsOutInTurn(Template):
    def split(self, x):
        return x.unflatten(-1, (-1, self.n_heads)).permute(0, 3, 1, 2)

    def merge(self, x):
        return x.permute(0, 2, 3, 1).flatten(2)


@mha.mistake("The last step is missing: W_o mixes the heads' answers.", shows=BOTH)
class ForgetsToMix(Template):
    def finish(self, output, weights):
        return output, weights


@mha.mistake("Your softmax runs over the heads. Each head has weights of its own, over the keys.", shows=BOTH)
class SoftmaxOverHeads(Template):
    def weigh(self, scores, mask):
        if mask is None:
            return scores.softmax(1)
        return scores.masked_fill(mask, -torch.inf).softmax(1).masked_fill(mask, 0.0)


@mha.mistake("Your softmax runs over the queries: it is the keys, the last dimension, that share the weight.", shows=BOTH)
class SoftmaxOverQueries(Template):
    def weigh(self, scores, mask):
        if mask is None:
            return scores.softmax(-2)
        return scores.masked_fill(mask, -torch.inf).softmax(-2).masked_fill(mask, 0.0)


@mha.mistake("There is no softmax: the scores themselves multiply the values.", shows=BOTH)
class ForgetsTheSoftmax(Template):
    def weigh(self, scores, mask):
        return scores if mask is None else scores.masked_fill(mask, 0.0)


@mha.mistake(
    "You return the mean of the weights over the heads, as PyTorch's layer does. Return one map for each head.",
    shows=BOTH, see=LEVELS,
)  # fmt: skip
class AveragesTheWeights(Template):
    def finish(self, output, weights):
        return self.W_o(output), weights.mean(1)


@mha.mistake("You return the weights before the output: the order is (output, weights).", shows=BOTH)
class ReturnsTheWeightsFirst(Template):
    def finish(self, output, weights):
        return weights, self.W_o(output)


@mha.mistake("You return the output alone; the weights belong to it: (output, weights).", shows=BOTH)
class ReturnsTheOutputAlone(Template):
    def finish(self, output, weights):
        return self.W_o(output)


@mha.mistake(
    "`context` changes nothing: where one is given, keys and values come from it.", shows="cross-attention"
)
class IgnoresTheContext(Template):
    def forward(self, x, context=None, mask=None):
        return super().forward(x, None, mask)


@mha.mistake(
    "Your queries come from the context, too. The queries come from x: it is x that asks.", shows="cross-attention"
)
class AsksFromTheContext(Template):
    def project(self, x, context):
        return self.W_q(context), self.W_k(context), self.W_v(context)


@mha.mistake(
    "You take context for what asks and x for what answers. x asks: queries come from x, keys and values from context.",
    shows="cross-attention",
)
class ExchangesTheRoles(Template):
    def project(self, x, context):
        return self.W_q(context), self.W_k(x), self.W_v(x)


@mha.mistake("Your keys and values are projected by the wrong matrices: W_k and W_v have changed places.", shows=BOTH)
class ExchangesKeysAndValues(Template):
    def project(self, x, context):
        return self.W_q(x), self.W_v(context), self.W_k(context)


@mha.mistake(
    "Your values come from x where a context is given. Keys and values come from the context.", shows="cross-attention"
)
class TakesValuesFromX(Template):
    def project(self, x, context):
        return self.W_q(x), self.W_k(context), self.W_v(x)


@mha.mistake(
    "Your keys come from x where a context is given. Keys and values come from the context.", shows="cross-attention"
)
class TakesKeysFromX(Template):
    def project(self, x, context):
        return self.W_q(x), self.W_k(x), self.W_v(context)


@mha.mistake(
    "A context or a mask that was given once is kept for later calls. Each call stands alone: without a context it is "
    "x that answers, without a mask nothing is blocked.",
    shows="self-attention",
)
class RemembersTheContext(Template):
    def forward(self, x, context=None, mask=None):
        if context is not None:
            self.kept = context
        return super().forward(x, getattr(self, "kept", None), mask)


@mha.mistake("Your values are made with W_k. They have a matrix of their own, W_v.", shows=BOTH)
class ProjectsValuesWithTheKeysMatrix(Template):
    def project(self, x, context):
        return self.W_q(x), self.W_k(context), self.W_k(context)


@mha.mistake("Your keys are made with W_q. They have a matrix of their own, W_k.", shows=BOTH)
class ProjectsKeysWithTheQueriesMatrix(Template):
    def project(self, x, context):
        return self.W_q(x), self.W_q(context), self.W_v(context)


@mha.mistake("The values are not projected: they are x (or context) times W_v, as keys are times W_k.", shows=BOTH)
class LeavesTheValuesRaw(Template):
    def project(self, x, context):
        return self.W_q(x), self.W_k(context), context + 0 * self.W_v(context)


@mha.mistake(
    "The matrices are used the wrong way round: nn.Linear computes x @ weight.T, so call the layer, or transpose.",
    shows=BOTH, see=LEVELS,
)  # fmt: skip
class UsesTheWeightsUntransposed(Template):
    def project(self, x, context):
        return x @ self.W_q.weight, context @ self.W_k.weight, context @ self.W_v.weight

    def finish(self, output, weights):
        return output @ self.W_o.weight, weights


@mha.mistake("Your mask works the wrong way round: True means blocked.", shows=(MASKS, BLOCKED))
class InvertsTheMask(Template):
    def weigh(self, scores, mask):
        return super().weigh(scores, None if mask is None else ~mask)


@mha.mistake("The mask changes nothing.", shows=(MASKS, BLOCKED))
class IgnoresTheMask(Template):
    def weigh(self, scores, mask):
        return scores.softmax(-1)


@mha.mistake(
    "You set blocked weights to 0 after the softmax, and so the others no longer sum to 1. Block the scores.", shows=MASKS
)
class MasksAfterTheSoftmax(Template):
    def weigh(self, scores, mask):
        return scores.softmax(-1) if mask is None else scores.softmax(-1).masked_fill(mask, 0.0)


@mha.mistake(
    "You set blocked scores to 0. That is a score like any other; a blocked one must get the weight 0.", shows=MASKS
)
class SetsBlockedScoresToZero(Template):
    def weigh(self, scores, mask):
        if mask is None:
            return scores.softmax(-1)
        weights = scores.masked_fill(mask, 0.0).softmax(-1)
        return weights.masked_fill(mask.expand_as(weights).all(-1, keepdim=True), 0.0)


@mha.mistake(
    "A row that is blocked throughout is NaN: the softmax of nothing but −∞. Its weights must be 0.", shows=BLOCKED
)
class LeavesBlockedRowsNaN(Template):
    def weigh(self, scores, mask):
        return scores.softmax(-1) if mask is None else scores.masked_fill(mask, -torch.inf).softmax(-1)


@mha.mistake(
    "A row that is blocked throughout is NaN only in the gradient: `nan_to_num` repairs the weights, but on the way "
    "back 0 · NaN is NaN. Fill the blocked scores instead of adding −∞.",
    shows=(BLOCKED, "gradients"),
)
class RepairsTheForwardPassOnly(Template):
    def weigh(self, scores, mask):
        if mask is None:
            return scores.softmax(-1)
        return (scores + torch.zeros_like(scores).masked_fill(mask, -torch.inf)).softmax(-1).nan_to_num(0.0)


@mha.mistake(
    "A row that is blocked throughout gets equal weights: all its scores are the same large negative number. Its "
    "weights must be 0.",
    shows=BLOCKED,
)
class SpreadsBlockedRowsEvenly(Template):
    def weigh(self, scores, mask):
        lowest = torch.finfo(scores.dtype).min
        return scores.softmax(-1) if mask is None else scores.masked_fill(mask, lowest).softmax(-1)


@mha.mistake(
    "You set blocked scores to a fixed number such as −1e9. Real scores can be lower than that, and then it is the "
    "blocked ones that win.",
    shows=ANY_SIZE,
)
class FillsWithAFixedNumber(Template):
    def weigh(self, scores, mask):
        if mask is None:
            return scores.softmax(-1)
        return scores.masked_fill(mask, -1e9).softmax(-1).masked_fill(mask, 0.0)


@mha.mistake(
    "You take the softmax over all keys, set the blocked weights to 0 and divide by what is left. Where a blocked key "
    "had all the weight, nothing is left. Block the scores instead.",
    shows=ANY_SIZE,
)
class RenormalisesWhatIsLeft(Template):
    def weigh(self, scores, mask):
        if mask is None:
            return scores.softmax(-1)
        left = scores.softmax(-1).masked_fill(mask, 0.0)
        total = left.sum(-1, keepdim=True)
        return left / total.masked_fill(total == 0, 1.0)


@mha.mistake(
    "You add a dimension to the mask. It need not have four; it broadcasts to (B, H, T, S) as it is.", shows=MASKS
)
class AddsADimensionToTheMask(Template):
    def weigh(self, scores, mask):
        return super().weigh(scores, None if mask is None else mask.unsqueeze(1))


@mha.mistake(
    "exp of a large score overflows: subtract each row's greatest score first, or use torch.softmax.", shows=ANY_SIZE
)
class ExponentiatesUnguarded(Template):
    def weigh(self, scores, mask):
        grown = scores.exp() if mask is None else scores.exp().masked_fill(mask, 0.0)
        total = grown.sum(-1, keepdim=True)
        return grown / total.masked_fill(total == 0, 1.0)


@mha.mistake(
    "Without a mask the future is blocked, as in a language model. Without a mask nothing is blocked.",
    shows="self-attention",
)
class BlocksTheFutureUnasked(Template):
    def forward(self, x, context=None, mask=None):
        if context is None and mask is None:
            mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        return super().forward(x, context, mask)


@mha.mistake("What you return beside the output are scores. Return the weights, after the softmax.", shows=BOTH)
class ReturnsTheScores(Template):
    def forward(self, x, context=None, mask=None):
        query, key, value = map(self.split, self.project(x, x if context is None else context))
        scores = self.score(query, key)
        if mask is not None:
            scores = scores.masked_fill(mask, torch.finfo(scores.dtype).min)
        weights = self.drop(scores.softmax(-1) if mask is None else scores.softmax(-1).masked_fill(mask, 0.0))
        return self.finish(self.merge(weights @ value), scores)


@mha.mistake(
    "Dropout falls on the output, too. In this module it falls on the weights only.", shows=DROPOUT
)
class DropsTheOutputToo(Template):
    def finish(self, output, weights):
        return F.dropout(self.W_o(output), self.p, self.training), weights


@mha.mistake(
    "Dropout falls on what the heads found, before W_o. It belongs on the weights, before they meet the values.",
    shows=DROPOUT,
)
class DropsWhatTheHeadsFound(Template):
    def drop(self, weights):
        return weights

    def merge(self, x):
        return F.dropout(super().merge(x), self.p, self.training)


@mha.mistake(
    "Without being asked your module drops a tenth of the weights: `dropout` is 0.0 by default.",
    shows=("self-attention", "gradients"),
)
class DropsATenthByDefault(Template):
    def __init__(self, d_model, n_heads, dropout=0.1):
        super().__init__(d_model, n_heads, dropout)


@mha.mistake("Dropout changes nothing in your module, in training mode either.", shows=DROPOUT)
class NeverDrops(Template):
    def drop(self, weights):
        return weights


@mha.mistake(
    "Dropout falls in eval mode, too. `F.dropout` must be told `training=self.training`; `nn.Dropout` knows by itself.",
    shows=("self-attention", DROPOUT),
)
class DropsInEvalMode(Template):
    def drop(self, weights):
        return F.dropout(weights, self.p)


@mha.mistake("Dropout falls on the output. It belongs on the weights, before they meet the values.", shows=DROPOUT)
class DropsTheOutput(Template):
    def drop(self, weights):
        return weights

    def finish(self, output, weights):
        return F.dropout(self.W_o(output), self.p, self.training), weights


@mha.mistake(
    "The weights that you return are not the ones that you applied: return them after dropout.", shows=DROPOUT
)
class ReturnsTheWeightsBeforeDropout(Template):
    def forward(self, x, context=None, mask=None):
        query, key, value = map(self.split, self.project(x, x if context is None else context))
        weights = self.weigh(self.score(query, key), mask)
        return self.finish(self.merge(self.drop(weights) @ value), weights)


@mha.mistake(
    "Dropout falls on the scores, before the softmax. A score of 0 is no weight of 0: drop the weights.", shows=DROPOUT
)
class DropsTheScores(Template):
    def score(self, query, key):
        return F.dropout(super().score(query, key), self.p, self.training)

    def drop(self, weights):
        return weights


@mha.mistake(
    "Dropped weights are 0, but the others are not enlarged: what survives is multiplied by 1 / (1 - dropout).",
    shows=DROPOUT,
)
class DoesNotEnlargeTheSurvivors(Template):
    def drop(self, weights):
        return F.dropout(weights, self.p, self.training) * ((1 - self.p) if self.training else 1)


@mha.mistake(
    "`dropout` is the probability of being dropped, and you keep with that probability.",
    shows=DROPOUT,
)
class TakesDropoutForTheShareKept(Template):
    def drop(self, weights):
        return F.dropout(weights, 1 - self.p, self.training and self.p > 0)


@mha.mistake("Dropout strikes out whole heads. It falls on each weight on its own.", shows=DROPOUT)
class DropsWholeHeads(Template):
    def drop(self, weights):
        return F.dropout2d(weights, self.p, self.training)


@mha.mistake(
    "Your projections have a bias. Make them with `nn.Linear(d_model, d_model, bias=False)`.", shows=PARAMETERS
)
class HasBiases(Template):
    def make(self, d_model):
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model) for _ in range(4))


@mha.mistake(
    "Your last projection, W_o, has a bias. Make it with `bias=False`, like the others.", shows=PARAMETERS
)
class HasABiasAtTheEnd(Template):
    def make(self, d_model):
        super().make(d_model)
        self.W_o = nn.Linear(d_model, d_model)


@mha.mistake(
    "Your projections for queries, keys and values are as narrow as one head and shared by all heads. Each is (D, D), so "
    "that every head has a band of its own.",
    shows=(PARAMETERS, *BOTH), see="One matrix for all heads",
)  # fmt: skip
class SharesOneNarrowProjection(Template):
    def make(self, d_model):
        size = d_model // self.n_heads
        self.W_q, self.W_k, self.W_v = (nn.Linear(size, size, bias=False) for _ in range(3))
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def project(self, x, context):
        return tuple(
            layer(source.unflatten(-1, (self.n_heads, -1))).flatten(-2)
            for layer, source in ((self.W_q, x), (self.W_k, context), (self.W_v, context))
        )


@mha.mistake(
    "You make your linear layers in forward: new random ones in each call, which nothing trains. Make them in __init__.",
    shows=(PARAMETERS, *BOTH),
)
class MakesLayersInForward(Template):
    def make(self, d_model):
        self.width = d_model

    def forward(self, x, context=None, mask=None):
        super().make(self.width)
        return super().forward(x, context, mask)


@mha.mistake(
    "The numbers are right, but the weights were detached: nothing that W_q and W_k do is ever learned.",
    shows="gradients",
)
class DetachesTheWeights(Template):
    def forward(self, x, context=None, mask=None):
        query, key, value = map(self.split, self.project(x, x if context is None else context))
        weights = self.drop(self.weigh(self.score(query, key), mask))
        return self.finish(self.merge(weights.detach() @ value), weights.detach())


@mha.mistake("You compute in float32 whatever the dtype of x is.", shows=DTYPES)
class ComputesInFloat32(Template):
    def weigh(self, scores, mask):
        return super().weigh(scores.float(), mask)

    def forward(self, x, context=None, mask=None):
        query, key, value = map(self.split, self.project(x, x if context is None else context))
        weights = self.drop(self.weigh(self.score(query, key), mask))
        return self.finish(self.merge((weights @ value.float()).to(x.dtype)), weights)


@mha.mistake(
    "You turn the mask round in place: whoever handed it to you now holds its opposite. Make a new one with `~mask`.",
    shows=DTYPES,
)
class TurnsTheMaskRoundInPlace(Template):
    def weigh(self, scores, mask):
        if mask is None:
            return scores.softmax(-1)
        mask.logical_not_()
        return scores.masked_fill(~mask, -torch.inf).softmax(-1).masked_fill(~mask, 0.0)


@mha.mistake(
    "A width that the heads cannot share is not refused: raise a ValueError that names n_heads or d_model.",
    shows="ValueError unless n_heads divides d_model",
)
class ExaminesNothing(Template):
    def examine(self, d_model, n_heads):
        pass


@mha.mistake(
    "Your ValueError does not say which argument was wrong. Name it, as in the signature, with its value.",
    shows="ValueError unless n_heads divides d_model",
)
class RefusesWithoutNaming(Template):
    def examine(self, d_model, n_heads):
        if d_model % n_heads:
            raise ValueError("the width must be divisible by the number of heads")


@mha.mistake(
    "You use assert. It raises an AssertionError, and is skipped altogether under `python -O`; raise a ValueError.",
    shows="ValueError unless n_heads divides d_model",
)
class Asserts(Template):
    def examine(self, d_model, n_heads):
        assert d_model % n_heads == 0, f"n_heads is {n_heads}, which does not divide d_model, {d_model}"


@mha.alternative
class HeadByHead(nn.Module):
    """A loop over bands of columns; dropout by hand; a buffer that has no part in it."""

    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"d_model={d_model} must be divisible by n_heads={n_heads}")
        self.W_o, self.W_v, self.W_k, self.W_q = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))
        self.size, self.dropout = d_model // n_heads, dropout
        self.register_buffer("causal", torch.ones(64, 64).triu(1).bool())

    def forward(self, x, context=None, mask=None):
        source = context if context is not None else x
        shape = (x.shape[0], self.W_q.out_features // self.size, x.shape[1], source.shape[1])
        blocked = torch.zeros(shape, dtype=torch.bool, device=x.device) if mask is None else mask.expand(shape)
        outputs, maps = [], []
        for h in range(shape[1]):
            band = slice(h * self.size, (h + 1) * self.size)
            q, k, v = self.W_q(x)[..., band], self.W_k(source)[..., band], self.W_v(source)[..., band]
            scores = torch.bmm(q * self.size**-0.5, k.transpose(1, 2)).masked_fill(blocked[:, h], float("-inf"))
            w = torch.nan_to_num(torch.softmax(scores, 2), nan=0.0)
            if self.training and self.dropout > 0:
                w = w * torch.bernoulli(torch.full_like(w, 1 - self.dropout)) / (1 - self.dropout)
            outputs.append(w @ v)
            maps.append(w)
        return self.W_o(torch.cat(outputs, -1)), torch.stack(maps, 1)


@mha.alternative
class FoldedIntoTheBatch(nn.Module):
    """Heads as part of the batch, baddbmm, nn.Dropout; layers kept in a list beside their names."""

    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.h, remainder = n_heads, d_model % n_heads
        if remainder:
            raise ValueError(f"{n_heads = } leaves a remainder of {remainder} in {d_model = }")
        self.layers = nn.ModuleList(nn.Linear(d_model, d_model, bias=False) for _ in range(4))
        self.W_q, self.W_k, self.W_v, self.W_o = self.layers
        self.drop = nn.Dropout(p=dropout)
        self.temperature = math.sqrt(d_model / n_heads)

    def fold(self, t):
        B, L, D = t.shape
        return t.view(B, L, self.h, D // self.h).permute(0, 2, 1, 3).reshape(B * self.h, L, D // self.h)

    def forward(self, x, context=None, mask=None):
        if context is None:
            context = x
        (B, T, D), S = x.shape, context.shape[1]
        q, k, v = self.fold(self.W_q(x)), self.fold(self.W_k(context)), self.fold(self.W_v(context))
        empty = torch.zeros(B * self.h, T, S, dtype=x.dtype, device=x.device)
        scores = torch.baddbmm(empty, q, k.permute(0, 2, 1), beta=0, alpha=1 / self.temperature)
        if mask is None:
            weights = F.softmax(scores, dim=-1)
        else:
            blocked = torch.broadcast_to(mask, (B, self.h, T, S)).reshape(B * self.h, T, S)
            weights = F.softmax(torch.where(blocked, torch.finfo(x.dtype).min, scores), dim=-1) * blocked.logical_not()
        weights = self.drop(weights)
        heads = torch.bmm(weights, v).view(B, self.h, T, -1).permute(0, 2, 1, 3).contiguous().view(B, T, D)
        return self.W_o(heads), weights.unflatten(0, (B, self.h))


@mha.alternative
class ByEinsum(nn.Module):
    """Named dimensions, a softmax by hand, weights taken straight from the layers."""

    def __init__(self, d_model, n_heads, dropout=0.0):
        if d_model % n_heads:
            raise ValueError("n_heads: %d" % n_heads)
        super().__init__()
        self.n_heads, self.rate = n_heads, dropout
        for letter in "qkvo":
            self.add_module(f"W_{letter}", nn.Linear(d_model, d_model, bias=False))

    def forward(self, x, context=None, mask=None):
        y = x if context is None else context
        heads = lambda layer: layer.weight.view(self.n_heads, -1, x.shape[-1])
        q = torch.einsum("btd,hkd->bthk", x, heads(self.W_q))
        k = torch.einsum("bsd,hkd->bshk", y, heads(self.W_k))
        v = torch.einsum("bsd,hkd->bshk", y, heads(self.W_v))
        scores = torch.einsum("bthk,bshk->bhts", q, k).div(q.size(-1) ** 0.5)
        open_ = torch.ones_like(scores) if mask is None else (~mask).to(scores.dtype).expand_as(scores)
        highest = scores.masked_fill(open_ == 0, torch.finfo(scores.dtype).min).amax(-1, keepdim=True)
        grown = torch.exp((scores - highest).clamp(max=0.0)) * open_
        weights = grown / grown.sum(-1, keepdim=True).clamp_min(torch.finfo(scores.dtype).tiny)
        if self.training:
            weights = F.dropout(weights, p=self.rate)
        return self.W_o(torch.einsum("bhts,bshk->bthk", weights, v).flatten(2)), weights


class _Projected(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.W_q = nn.Linear(width, width, bias=False)
        self.W_k = nn.Linear(width, width, bias=False)
        self.W_v = nn.Linear(width, width, bias=False)


@mha.alternative
class Inherited(_Projected):
    """A subclass of one's own, vmap over sentences and heads, softmax through logsumexp."""

    def __init__(self, d_model, n_heads, dropout=0.0):
        if d_model / n_heads != d_model // n_heads:
            raise ValueError(f"d_model ({d_model}) / n_heads ({n_heads}) is not a whole number")
        super().__init__(d_model)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.n_heads, self.dropout = n_heads, nn.Dropout(dropout, inplace=False)

    def forward(self, x, context=None, mask=None):
        source = x if context is None else context
        q, k, v = (
            torch.stack(t.tensor_split(self.n_heads, -1), 1) for t in (self.W_q(x), self.W_k(source), self.W_v(source))
        )
        scores = torch.vmap(torch.vmap(lambda a, b: a @ b.T))(q, k) * (1 / q.shape[-1] ** 0.5)
        if mask is None:
            mask = scores.new_zeros((), dtype=torch.bool)
        nothing = mask.expand_as(scores).all(-1, keepdim=True)
        scores = scores.masked_fill(mask & ~nothing, -math.inf)
        weights = torch.exp(scores - scores.logsumexp(-1, keepdim=True)).masked_fill(nothing, 0)
        weights = self.dropout(weights)
        merged = torch.vmap(torch.vmap(torch.matmul))(weights, v).permute(0, 2, 1, 3).flatten(start_dim=2)
        return self.W_o(merged), weights


@mha.alternative
class WithAnExtraKey(nn.Module):
    """Blocked rows attend to a key of zero value with score 0 only where nothing else is open."""

    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model not in range(n_heads, d_model + 1, n_heads):
            raise ValueError(f"d_model is {d_model}: no multiple of {n_heads}")
        linear = type("Projection", (nn.Linear,), {})
        self.W_q, self.W_k = linear(d_model, d_model, bias=False), linear(d_model, d_model, bias=False)
        self.W_v, self.W_o = linear(d_model, d_model, bias=False), linear(d_model, d_model, bias=False)
        self.register_buffer("scale", torch.tensor((d_model // n_heads) ** -0.5), persistent=False)
        self.n_heads, self.dropout_p = n_heads, dropout

    @staticmethod
    def _heads(t, n):
        return torch.stack(t.chunk(n, dim=2), dim=1)

    def forward(self, x, context=None, mask=None):
        y = x if context is None else context
        q, k, v = (self._heads(t, self.n_heads) for t in (self.W_q(x), self.W_k(y), self.W_v(y)))
        scores = torch.matmul(q, k.transpose(-1, -2)) * self.scale
        if mask is not None:
            mask = mask.expand(scores.shape)
            scores = scores.masked_fill(mask, -torch.inf)
            spare = torch.where(mask.all(-1, keepdim=True), 0.0, -torch.inf).to(scores)
            scores = torch.cat([scores, spare], -1)
        weights = scores.softmax(-1)[..., : k.shape[2]]
        if self.training and self.dropout_p:
            weights = weights.masked_fill(torch.rand_like(weights) < self.dropout_p, 0) / (1 - self.dropout_p)
        out = sum(self.W_o.weight.chunk(self.n_heads, 1)[h] @ (weights[:, h] @ v[:, h]).mT for h in range(self.n_heads))
        return out.mT, weights


# ----------------------------------------------------------------------------------------- load_torch_weights

# `theirs` is PyTorch's own layer, and an answer may call it to convince itself: nothing is forbidden here.
load = exercise("load_torch_weights", points=3, see=LEVELS)
load.hints = (
    "`theirs` has two parameters, you need four matrices. Which rows of `in_proj_weight` make the queries? What is its "
    "shape?",
    "Both sides are `nn.Linear` weights, so no transpose is needed. Cut `in_proj_weight` into three pieces of D rows, "
    "and copy numbers into the parameters that are there, with no gradient being recorded.",
    "`with torch.no_grad():`, then for each matrix `ours.W_q.weight.copy_(…)`; the pieces by `.chunk(3)`; the last one "
    "from `theirs.out_proj.weight`. Do not forget `return ours`.",
)


@load.oracle
def load_oracle(ours, theirs):
    size = theirs.out_proj.weight.shape[0]
    rows = {"W_q": 0, "W_k": size, "W_v": 2 * size}
    with torch.no_grad():
        for name, first in rows.items():
            getattr(ours, name).weight.copy_(theirs.in_proj_weight[first : first + size])
        ours.W_o.weight.copy_(theirs.out_proj.weight)
    return ours


def loading(ours_state, theirs_state, n_heads, batch_first=False, order=("W_q", "W_k", "W_v", "W_o")):
    """A script with the inputs ours and theirs, in which the exercise has been called as "result"."""
    width = len(ours_state["W_q.weight"])
    s = Script(
        ours=specimen("Projections", ours_state, width=width, n_heads=n_heads, order=list(order)),
        theirs=specimen("torch_attention", theirs_state, width=width, n_heads=n_heads, batch_first=batch_first),
    )
    s.call(SUBJECT, s.ours, s.theirs, name="result")
    return s


def two_states(draw, width, dtype=torch.float32):
    ours = {f"W_{name}.weight": draw.normal(width, width, dtype=dtype) for name in "qkvo"}
    theirs = {
        "in_proj_weight": draw.normal(3 * width, width, dtype=dtype),
        "out_proj.weight": draw.normal(width, width, dtype=dtype),
    }
    return ours, theirs


def of_zeros(width):
    return {f"W_{name}.weight": torch.zeros(width, width) for name in "qkvo"}


@load.example("width 1")
def _():
    theirs = {"in_proj_weight": torch.tensor([[2.0], [3.0], [5.0]]), "out_proj.weight": torch.tensor([[7.0]])}
    s = loading(of_zeros(1), theirs, 1)
    s.call(helper("state_of"), s.ours)
    yield s.case().described("the weights of ours, after in_proj_weight = [[2], [3], [5]], out_proj.weight = [[7]]")


@load.example("width 2, given as numbers 0.0 to 1.1 and 2.0 to 2.3")
def _():
    theirs = {
        "in_proj_weight": torch.arange(12.0).view(6, 2) / 10,
        "out_proj.weight": torch.tensor([[2.0, 2.1], [2.2, 2.3]]),
    }
    for n_heads, order in ((2, ("W_q", "W_k", "W_v", "W_o")), (1, ("W_o", "W_v", "W_k", "W_q"))):
        s = loading(of_zeros(2), theirs, n_heads, order=order)
        s.call(helper("state_of"), s.ours)
        yield s.case().described(f"the weights of ours, a module made with {', '.join(order)} in this order")
    s = loading(of_zeros(2), theirs, 2)
    s.call(helper("is_same"), ref("result"), s.ours, name="same")
    s.call(helper("trainable"), s.ours, name="trainable")
    yield s.case(ref("result"), ref("same"), ref("trainable")).described("whether the result is ours, and trainable")
    s = loading(of_zeros(2), theirs, 2)
    s.call(helper("fill"), s.ours, 9.0)
    s.call(helper("state_of"), s.theirs)
    yield s.case().described("the weights of theirs, after ours was filled with 9")


@load.criterion("every weight in its place", points=1)
def _(draw):
    for width, n_heads, batch_first in ((6, 2, True), (9, 3, False)):
        s = loading(*two_states(draw, width), n_heads, batch_first)
        s.call(helper("state_of"), s.ours)
        yield s.case().described(f"the weights of ours, with D = {width} and H = {n_heads}")
    s = loading(*two_states(draw, 8, torch.float64), 2)
    s.call(helper("state_of"), s.ours)
    yield s.case().described("the weights of ours, in float64")
    s = loading(*two_states(draw, 5), 1, order=("W_o", "W_v", "W_q", "W_k"))
    s.call(helper("state_of"), s.ours)
    yield s.case().described("the weights of ours, in a module that has made its layers in another order")


@load.criterion("neither changes with the other afterwards", points=1)
def _(draw):
    s = loading(*two_states(draw, 6), 2)
    s.call(helper("fill"), s.ours, 3.0)
    s.call(helper("state_of"), s.theirs)
    yield s.case().described("the weights of theirs, after ours was filled with 3")
    s = loading(*two_states(draw, 6), 3)
    before = s.call(helper("state_of"), s.ours, name="before")
    s.call(helper("fill"), s.theirs, -2.0)
    after = s.call(helper("state_of"), s.ours, name="after")
    yield s.case(before, after).described("the weights of ours, before and after theirs was filled with -2").holding(
        lambda seen, exact: None if all(
            torch.equal(seen.values["before"][n], seen.values["after"][n]) for n in exact.values["before"]
        ) else "ours changes where theirs is changed"
    )  # fmt: skip


@load.criterion("returns ours, with weights that can be trained", points=0.5)
def _(draw):
    s = loading(*two_states(draw, 6), 2)
    s.call(helper("is_same"), ref("result"), s.ours, name="same")
    s.call(helper("trainable"), s.ours, name="trainable")
    case = s.case(ref("result"), ref("same"), ref("trainable"))
    yield case.described("whether the result is ours, and its parameters trainable")


@load.criterion("theirs is left as it was", points=0.5)
def _(draw):
    ours, theirs = two_states(draw, 6)
    s = Script(
        ours=specimen("Projections", ours, width=6, n_heads=2),
        theirs=specimen("torch_attention", theirs, width=6, n_heads=2),
    )
    s.call(method(s.theirs, "train"))
    s.call(SUBJECT, s.ours, s.theirs)
    state = s.call(helper("state_of"), s.theirs, name="state")
    flags = s.call(helper("trainable"), s.theirs, name="flags")
    modes = s.call(helper("modes_of"), s.theirs, name="modes")
    yield s.case(state, flags, modes).described("theirs, after load_torch_weights(ours, theirs)")


PLACE = "every weight in its place"
APART = "neither changes with the other afterwards"
OURS = "returns ours, with weights that can be trained"


@load.mistake("You transpose the matrices. Both sides are weights of nn.Linear; they are the same way round.", shows=PLACE)
def transposes_every_matrix(ours, theirs):
    with torch.no_grad():
        for name, weight in zip(("W_q", "W_k", "W_v"), theirs.in_proj_weight.chunk(3)):
            getattr(ours, name).weight.copy_(weight.T)
        ours.W_o.weight.copy_(theirs.out_proj.weight.T)
    return ours


@load.mistake(
    "You transpose W_q, W_k and W_v. Both sides are weights of nn.Linear; they are the same way round.", shows=PLACE
)
def transposes_all_but_the_last(ours, theirs):
    with torch.no_grad():
        for name, weight in zip(("W_q", "W_k", "W_v"), theirs.in_proj_weight.chunk(3)):
            getattr(ours, name).weight.copy_(weight.T)
        ours.W_o.weight.copy_(theirs.out_proj.weight)
    return ours


@load.mistake(
    "The two modules name their weights differently, so `load_state_dict` finds none of its own. Copy them one by one.",
    shows=PLACE,
)
def loads_their_state_dict(ours, theirs):
    ours.load_state_dict(theirs.state_dict())
    return ours


@load.mistake("W_q, W_k and W_v are right, but W_o is transposed.", shows=PLACE)
def transposes_the_last(ours, theirs):
    with torch.no_grad():
        for name, weight in zip(("W_q", "W_k", "W_v"), theirs.in_proj_weight.chunk(3)):
            getattr(ours, name).weight.copy_(weight)
        ours.W_o.weight.copy_(theirs.out_proj.weight.T)
    return ours


@load.mistake("The rows of in_proj_weight come in the order queries, keys, values; you read another one.", shows=PLACE)
def reads_keys_first(ours, theirs):
    with torch.no_grad():
        for name, weight in zip(("W_k", "W_q", "W_v"), theirs.in_proj_weight.chunk(3)):
            getattr(ours, name).weight.copy_(weight)
        ours.W_o.weight.copy_(theirs.out_proj.weight)
    return ours


@load.mistake("The rows of in_proj_weight come in the order queries, keys, values; you take values for keys.", shows=PLACE)
def reads_values_second(ours, theirs):
    with torch.no_grad():
        for name, weight in zip(("W_q", "W_v", "W_k"), theirs.in_proj_weight.chunk(3)):
            getattr(ours, name).weight.copy_(weight)
        ours.W_o.weight.copy_(theirs.out_proj.weight)
    return ours


@load.mistake("W_o is forgotten: it comes from `theirs.out_proj.weight`.", shows=PLACE)
def forgets_the_last(ours, theirs):
    with torch.no_grad():
        for name, weight in zip(("W_q", "W_k", "W_v"), theirs.in_proj_weight.chunk(3)):
            getattr(ours, name).weight.copy_(weight)
    return ours


@load.mistake(
    "You take rows in turn, 0, 3, 6, … for the queries. The queries' D rows come first, then the keys', then the values'.",
    shows=PLACE,
)
def takes_rows_in_turn(ours, theirs):
    with torch.no_grad():
        for i, name in enumerate(("W_q", "W_k", "W_v")):
            getattr(ours, name).weight.copy_(theirs.in_proj_weight[i::3])
        ours.W_o.weight.copy_(theirs.out_proj.weight)
    return ours


@load.mistake(
    "You read the rows head by head (q, k, v of head 0, then of head 1). Here all queries come first, of all heads.",
    shows=PLACE,
)
def reads_head_by_head(ours, theirs):
    with torch.no_grad():
        parts = theirs.in_proj_weight.view(theirs.num_heads, 3, -1, theirs.embed_dim)
        for i, name in enumerate(("W_q", "W_k", "W_v")):
            getattr(ours, name).weight.copy_(parts[:, i].flatten(0, 1))
        ours.W_o.weight.copy_(theirs.out_proj.weight)
    return ours


@load.mistake("Your weights go the wrong way, from ours into theirs.", shows=(PLACE, "theirs is left as it was"))
def copies_the_wrong_way(ours, theirs):
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([ours.W_q.weight, ours.W_k.weight, ours.W_v.weight]))
        theirs.out_proj.weight.copy_(ours.W_o.weight)
    return ours


@load.mistake(
    "The two share their memory: a piece of a tensor is a view, and so training one moves the other. Copy the numbers.",
    shows=APART,
)
def shares_the_memory(ours, theirs):
    for name, weight in zip(("W_q", "W_k", "W_v"), theirs.in_proj_weight.chunk(3)):
        getattr(ours, name).weight.data = weight.data
    ours.W_o.weight.data = theirs.out_proj.weight.data
    return ours


@load.mistake(
    "W_o and `theirs.out_proj` hold the very same parameter: training one moves the other. Copy the numbers.", shows=APART
)
def shares_the_last(ours, theirs):
    for name, weight in zip(("W_q", "W_k", "W_v"), theirs.in_proj_weight.chunk(3)):
        getattr(ours, name).weight = nn.Parameter(weight.detach().clone())
    ours.W_o.weight = theirs.out_proj.weight
    return ours


@load.mistake("The `return` is missing: return ours.", shows=OURS)
def returns_nothing(ours, theirs):
    with torch.no_grad():
        for name, weight in zip(("W_q", "W_k", "W_v"), theirs.in_proj_weight.chunk(3)):
            getattr(ours, name).weight.copy_(weight)
        ours.W_o.weight.copy_(theirs.out_proj.weight)


@load.mistake("You return theirs; return ours.", shows=OURS)
def returns_theirs(ours, theirs):
    with torch.no_grad():
        for name, weight in zip(("W_q", "W_k", "W_v"), theirs.in_proj_weight.chunk(3)):
            getattr(ours, name).weight.copy_(weight)
        ours.W_o.weight.copy_(theirs.out_proj.weight)
    return theirs


@load.mistake(
    "You fill a copy of ours and return that; ours itself is left as it was.", shows=(PLACE, OURS)
)
def fills_a_copy(ours, theirs):
    ours = copy.deepcopy(ours)
    with torch.no_grad():
        for name, weight in zip(("W_q", "W_k", "W_v"), theirs.in_proj_weight.chunk(3)):
            getattr(ours, name).weight.copy_(weight)
        ours.W_o.weight.copy_(theirs.out_proj.weight)
    return ours


@load.mistake("The weights are right but frozen: with `requires_grad=False` no optimizer trains them.", shows=OURS)
def freezes_the_weights(ours, theirs):
    for name, weight in zip(("W_q", "W_k", "W_v"), theirs.in_proj_weight.chunk(3)):
        getattr(ours, name).weight = nn.Parameter(weight.detach().clone(), requires_grad=False)
    ours.W_o.weight = nn.Parameter(theirs.out_proj.weight.detach().clone(), requires_grad=False)
    return ours


@load.mistake(
    "A parameter cannot be changed in place while gradients are recorded: copy under `torch.no_grad()`.", shows=PLACE
)
def records_the_copying(ours, theirs):
    for name, weight in zip(("W_q", "W_k", "W_v"), theirs.in_proj_weight.chunk(3)):
        getattr(ours, name).weight.copy_(weight)
    ours.W_o.weight.copy_(theirs.out_proj.weight)
    return ours


@load.mistake(
    "`load_state_dict(..., strict=False)` found no name that both sides know, and copied nothing. The names differ: "
    "translate them.",
    shows=PLACE,
)
def loads_by_name_without_strictness(ours, theirs):
    ours.load_state_dict(theirs.state_dict(), strict=False)
    return ours


@load.mistake(
    "You trust the order in which ours lists its parameters. It depends on how the module was written; go by the names.",
    shows=PLACE,
)
def goes_by_the_order(ours, theirs):
    with torch.no_grad():
        for mine, weight in zip(ours.parameters(), [*theirs.in_proj_weight.chunk(3), theirs.out_proj.weight]):
            mine.copy_(weight)
    return ours


@load.mistake("You freeze theirs on the way: its weights can no longer be trained.", shows="theirs is left as it was")
def freezes_theirs(ours, theirs):
    theirs.requires_grad_(False)
    for name, weight in zip(("W_q", "W_k", "W_v"), theirs.in_proj_weight.chunk(3)):
        getattr(ours, name).weight.data.copy_(weight)
    ours.W_o.weight.data.copy_(theirs.out_proj.weight)
    return ours


@load.alternative
def load_by_state_dict(ours, theirs):
    q, k, v = theirs.in_proj_weight.chunk(3, dim=0)
    new = {"W_q.weight": q, "W_k.weight": k, "W_v.weight": v, "W_o.weight": theirs.out_proj.weight}
    ours.load_state_dict(new)
    return ours


@load.alternative
def load_by_new_parameters(ours, theirs):
    D = theirs.embed_dim
    packed = theirs.in_proj_weight.detach()
    ours.W_q.weight = nn.Parameter(packed[:D].clone())
    ours.W_k.weight = nn.Parameter(packed[D : 2 * D].clone())
    ours.W_v.weight = nn.Parameter(packed[2 * D :].clone())
    ours.W_o.weight = nn.Parameter(theirs.out_proj.weight.detach().clone())
    return ours


@load.alternative
@torch.no_grad()
def load_by_decorator(ours, theirs):
    state = theirs.state_dict()
    for layer, rows in zip((ours.W_q, ours.W_k, ours.W_v), state["in_proj_weight"].unflatten(0, (3, -1))):
        layer.weight[:] = rows
    ours.W_o.weight[...] = state["out_proj.weight"]
    return ours


@load.alternative
def load_by_data(ours, theirs):
    D = theirs.in_proj_weight.size(1)
    for i, target in enumerate([ours.W_q, ours.W_k, ours.W_v]):
        target.weight.data = theirs.in_proj_weight.data.narrow(0, i * D, D).clone()
    ours.W_o.weight.data = copy.deepcopy(theirs.out_proj.weight.data)
    return ours


@load.alternative
def load_and_convince_oneself(ours, theirs):
    with torch.inference_mode(False), torch.no_grad():
        for name, part in zip(["W_q", "W_k", "W_v"], torch.split(theirs.in_proj_weight, theirs.embed_dim)):
            getattr(ours, name).weight.set_(part.clone())
        ours.get_submodule("W_o").weight.copy_(theirs.out_proj.weight)
        x = torch.randn(4, 1, theirs.embed_dim, dtype=theirs.in_proj_weight.dtype)
        expected = theirs(x[:, 0], x[:, 0], x[:, 0])[0]  # one sentence needs no batch dimension
        found = ours(x.transpose(0, 1))[0][0]
        assert theirs.training or torch.allclose(found, expected, atol=1e-3)
    return ours


@load.alternative
def load_by_numpy(ours, theirs):
    layers = (ours.W_q, ours.W_k, ours.W_v)
    for layer, rows in zip(layers, theirs.in_proj_weight.detach().numpy().reshape(3, theirs.embed_dim, -1)):
        layer.weight.data.copy_(torch.from_numpy(rows.copy()))
    ours.W_o.load_state_dict(theirs.out_proj.state_dict())
    return ours


# ------------------------------------------------------------------------------------------- count_parameters

count = exercise("count_parameters", points=2, see=COST, forbidden=BUILT_IN)
count.hints = (
    "What does `module.parameters()` give you, and how often does it give a parameter that is used twice? Try it on "
    "`nn.Sequential(a, a)`.",
    "Go through all parameters of the module, leave out those that are not trained, and add up how many numbers each of "
    "them holds.",
    "`sum(… for parameter in module.parameters() if …)`, with `parameter.numel()` and `parameter.requires_grad`.",
)


@count.oracle
def count_oracle(module):
    found = {}
    for part in module.modules():
        for parameter in part._parameters.values():
            if parameter is not None and parameter.requires_grad:
                found[id(parameter)] = math.prod(parameter.shape)
    return sum(found.values())


def counting(text, parameters, **options):
    s = Script(module=specimen("assembled", parameters=parameters, **options))
    s.call(SUBJECT, s.module, name="result")
    return s.case().described(text)


def the_right_number(seen, exact):
    """Judges the number, of whatever type: the type has a criterion of its own."""
    found, right = float(seen.values["result"]), exact.values["result"]
    return None if found == right else f"the count is too {'small' if found < right else 'large'}"


def any_type(text, parameters, **options):
    return counting(text, parameters, **options).holding(the_right_number)


@count.example("a linear layer from 3 to 2")
def _():
    yield counting("count_parameters(nn.Linear(3, 2))", {"weight": [2, 3], "bias": [2]})


@count.example("the same with its bias frozen")
def _():
    text = "count_parameters(nn.Linear(3, 2)), the bias with requires_grad=False"
    yield counting(text, {"weight": [2, 3], "bias": [2]}, frozen=["bias"])


@count.example("one layer used twice")
def _():
    text = "count_parameters(nn.Sequential(a, a)), with a = nn.Linear(3, 3, bias=False)"
    yield counting(text, {"0.weight": [3, 3]}, tied={"1": "0"})


@count.example("two layers of the same shape, and a third one further in")
def _():
    text = "count_parameters(nn.Sequential(a, b, nn.Sequential(c))), with layers 3 to 3, 3 to 3 and 4 to 4 without biases"
    yield counting(text, {"0.weight": [3, 3], "1.weight": [3, 3], "2.0.weight": [4, 4]})


@count.example("one table for reading in and for writing out")
def _():
    text = "count_parameters of an embedding (5, 4) and a linear layer whose weight is the same parameter"
    yield counting(text, {"embedding.weight": [5, 4]}, tied={"head.weight": "embedding.weight"})


@count.criterion("every part, every shape", points=0.5)
def _(draw):
    n = [int(i) + 2 for i in draw.permutation(7)]
    yield any_type(
        "a module in a module in a module, with weights, biases, a single number, and buffers",
        {
            "scale": [], "0.weight": [n[0], n[1]], "0.bias": [n[0]], "body.1.norm.weight": [n[1]],
            "body.1.norm.bias": [n[1]], "body.1.inner.table": [n[2], n[3], n[4]], "body.2.norm.weight": [n[1]],
        },
        buffers={"body.mask": [n[5], n[6]], "running": [n[5]]},
    )  # fmt: skip
    yield any_type(
        "parameters of equal shape, some of them in a list",
        {"a.weight": [n[0], n[1]], "b.weight": [n[0], n[1]], "c": [n[1], n[0]]},
        lists={"steps": [[n[0]], [n[0]], [n[2], n[3]]]},
    )  # fmt: skip
    s = Script(module=specimen("Projections", width=n[0], n_heads=1))
    s.call(helper("fill"), s.module, 0.0)
    s.call(SUBJECT, s.module, name="result")
    yield s.case().described("a module whose parameters are all 0").holding(the_right_number)
    s = Script(module=specimen("Projections", width=n[1], n_heads=1))
    s.call(method(s.module, "eval"))
    s.call(SUBJECT, s.module, name="result")
    yield s.case().described("a module in eval mode").holding(the_right_number)


@count.criterion("frozen parameters are left out", points=0.5)
def _(draw):
    n = [int(i) + 2 for i in draw.permutation(5)]
    yield any_type(
        "a module with frozen and trainable parameters in one layer",
        {"a.weight": [n[0], n[1]], "a.bias": [n[0]], "b.weight": [n[2], n[3]], "b.bias": [n[4]]},
        frozen=["a.weight", "b.bias"],
    )
    yield any_type("a module that is frozen as a whole", {"a.weight": [n[0], n[1]], "b": [n[2]]}, frozen=["a.weight", "b"])
    yield any_type("a module without parameters", {}, buffers={"mask": [n[0], n[1]]})


@count.criterion("a parameter that is used twice counts once", points=0.5)
def _(draw):
    n = [int(i) + 2 for i in draw.permutation(5)]
    yield any_type(
        "one layer in two places", {"0.weight": [n[0], n[1]], "0.bias": [n[0]], "1.weight": [n[2], n[3]]}, tied={"2": "0"}
    )
    yield any_type(
        "one parameter in two layers, one of which has a bias of its own",
        {"read.weight": [n[0], n[1]], "write.bias": [n[0]], "middle.weight": [n[1], n[1]]},
        tied={"write.weight": "read.weight", "again": "write.bias"},
    )
    yield any_type("a frozen parameter in two places", {"a": [n[0]], "b.w": [n[1]]}, tied={"c.w": "a"}, frozen=["a"])


def an_int_and_no_trace(seen, exact):
    got = seen.values
    if type(got["first"]) is not int:
        return "the result is not a Python int"
    if got["first"] != got["second"]:
        return "the same module, counted twice, gives two different numbers"
    if any(not torch.equal(got["state"][name].double(), numbers) for name, numbers in exact.values["state"].items()):
        return "counting changes the numbers that the module holds"
    same = all(got[of] == exact.values[of] for of in ("trainable", "modes"))
    return None if same else "counting changes whether parameters are trainable, or the module's mode"


@count.criterion("a Python int, and nothing is changed", points=0.5)
def _(draw):
    n = [int(i) + 2 for i in draw.permutation(4)]
    parameters = {"a.weight": [n[0], n[1]], "a.bias": [n[0]], "b": [n[2]]}
    s = Script(module=specimen("assembled", parameters=parameters, frozen=["a.bias"], tied={"c.weight": "a.weight"}))
    s.call(method(s.module, "train"))
    steps = [s.call(SUBJECT, s.module, name=name) for name in ("first", "second")]
    for what, of in (("state", "state_of"), ("trainable", "trainable"), ("modes", "modes_of")):
        steps.append(s.call(helper(of), s.module, name=what))
    case = s.case(*steps).holding(an_int_and_no_trace)
    yield case.described("count_parameters(module), twice, and the module afterwards")


EVERY = "every part, every shape"
FROZEN = "frozen parameters are left out"
ONCE = "a parameter that is used twice counts once"
TRACE = "a Python int, and nothing is changed"


@count.mistake("You count frozen parameters, too: those with `requires_grad=False` are not trained.", shows=FROZEN)
def counts_frozen_ones(module):
    return sum(p.numel() for p in module.parameters())


@count.mistake("You count only what is frozen: the test is the wrong way round.", shows=(EVERY, FROZEN))
def counts_only_frozen_ones(module):
    return sum(p.numel() for p in module.parameters() if not p.requires_grad)


@count.mistake("You count a parameter once for every name that it has. It exists only once.", shows=ONCE)
def counts_every_name(module):
    return sum(p.numel() for _, p in module.named_parameters(remove_duplicate=False) if p.requires_grad)


@count.mistake(
    "You go through the parts and count each part's own parameters. A parameter that belongs to two parts is then counted "
    "twice.",
    shows=ONCE,
)
def counts_part_by_part(module):
    return sum(p.numel() for m in module.modules() for p in m.parameters(recurse=False) if p.requires_grad)


@count.mistake(
    "You count only what is in training mode. A parameter is trainable or not whatever mode its module is in.",
    shows="every part, every shape",
)
def counts_in_training_mode_only(module):
    return sum(p.numel() for p in module.parameters() if p.requires_grad and module.training)


@count.mistake(
    "You add up the values of the parameters. It is their number that is asked for, whatever they are: `numel()`.",
    shows="every part, every shape",
)
def adds_up_the_values(module):
    return int(sum(parameter.sum() for parameter in module.parameters() if parameter.requires_grad))


@count.mistake("You count the parameters (tensors). The question is how many numbers they hold.", shows=(EVERY, ONCE))
def counts_tensors(module):
    return len([p for p in module.parameters() if p.requires_grad])


@count.mistake("You count the first dimension of each parameter only; `numel()` counts all its numbers.", shows=EVERY)
def counts_rows(module):
    return sum(p.shape[0] if p.ndim else 1 for p in module.parameters() if p.requires_grad)


@count.mistake("You count what belongs to the outermost module itself, and leave out its parts.", shows=(EVERY, ONCE))
def counts_the_outermost_only(module):
    return sum(p.numel() for p in module.parameters(recurse=False) if p.requires_grad)


@count.mistake("You count the outermost module and its parts, but not the parts of its parts.", shows=EVERY)
def counts_two_levels(module):
    parts = [module, *module.children()]
    found = {id(p): p for part in parts for p in part.parameters(recurse=False)}
    return sum(p.numel() for p in found.values() if p.requires_grad)


@count.mistake(
    "You count parameters again for each module that contains them: `parameters()` already goes into all parts.",
    shows=(EVERY, FROZEN, ONCE),
)
def counts_again_on_each_level(module):
    return sum(p.numel() for m in module.modules() for p in m.parameters() if p.requires_grad)


@count.mistake(
    "You count the entries of the state dict. It holds buffers, which nothing trains, and knows nothing of freezing.",
    shows=(EVERY, FROZEN),
)
def counts_the_state(module):
    return sum(t.numel() for t in module.state_dict().values())


@count.mistake("You leave out what is not called a weight: biases and bare parameters are trained, too.", shows=EVERY)
def counts_weights_only(module):
    return sum(p.numel() for n, p in module.named_parameters() if p.requires_grad and n.endswith("weight"))


@count.mistake("You take parameters of the same shape for the same parameter.", shows=EVERY)
def counts_every_shape_once(module):
    return sum(math.prod(shape) for shape in {p.shape for p in module.parameters() if p.requires_grad})


@count.mistake("You take parameters with the same last name for the same parameter.", shows=EVERY)
def counts_every_last_name_once(module):
    return sum({n.split(".")[-1]: p.numel() for n, p in module.named_parameters() if p.requires_grad}.values())


@count.mistake(
    "Your result is a tensor. Return a Python int: `numel()` gives one.", shows=TRACE
)
def returns_a_tensor(module):
    return torch.tensor(sum(p.numel() for p in module.parameters() if p.requires_grad))


@count.mistake("Your result is a float: return a Python int, such as `numel()` gives.", shows=TRACE)
def returns_a_float(module):
    return sum((p.numel() for p in module.parameters() if p.requires_grad), start=0.0)


@count.mistake("You count bytes: each number takes four of them in float32.", shows=(EVERY, ONCE))
def counts_bytes(module):
    return sum(p.numel() * p.element_size() for p in module.parameters() if p.requires_grad)


@count.mistake(
    "You skip a whole part where one of its parameters is frozen. The others in it are still trained.", shows=FROZEN
)
def skips_parts_with_frozen_ones(module):
    found = {}
    for m in module.modules():
        own = list(m.parameters(recurse=False))
        if all(p.requires_grad for p in own):
            found |= {id(p): p.numel() for p in own}
    return sum(found.values())


@count.mistake("Counting thaws the module: all its parameters can be trained afterwards.", shows=TRACE)
def thaws_the_module(module):
    found = sum(p.numel() for p in module.parameters() if p.requires_grad)
    module.requires_grad_(True)
    return found


@count.alternative
def count_in_a_loop(module):
    total = 0
    for _, parameter in module.named_parameters():
        if not parameter.requires_grad:
            continue
        size = 1
        for n in parameter.shape:
            size *= n
        total += size
    return total


@count.alternative
def count_a_set(module):
    seen = {p for _, p in module.named_parameters(remove_duplicate=False)}
    return sum(map(torch.numel, filter(lambda p: p.requires_grad, seen)))


@count.alternative
def count_recursively(module):
    def gather(part, found):
        for p in part.parameters(recurse=False):
            found[id(p)] = p
        for child in part.children():
            gather(child, found)
        return found

    return sum(p.nelement() for p in gather(module, {}).values() if p.requires_grad)


@count.alternative
def count_by_flattening(module):
    pieces = [p.detach().flatten() for p in module.parameters() if p.requires_grad]
    return len(torch.cat(pieces)) if pieces else 0


@count.alternative
def count_by_identity(module):
    parameters, sizes = list(module.parameters()), []
    while parameters:
        p = parameters.pop()
        if p.requires_grad and not any(p is other for other in parameters):
            sizes.append(p.view(-1).size(0) if p.dim() else 1)
    return int(sum(sizes))
