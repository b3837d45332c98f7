"""Known mistakes in `CrossAttention`."""

from ...shared.families import calls, gradients, masks, scores
from ...shared.heads import STEPS, add_mistakes
from .contract import cross_attention

EVERYWHERE = "x asks"  # what an answer loses whose every result is wrong
HEADS = "2. Ask another sentence"

right = cross_attention.reference_answer(
    """
class CrossAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))

    def forward(self, x, source, source_mask=None):
        query, key, value = map(self.split, (self.W_q(x), self.W_k(source), self.W_v(source)))
        mask = None if source_mask is None else source_mask[:, None, None, :]
        weights = self.weigh(self.score(query, key), mask)
        output = self.merge(weights @ value)
        return self.W_o(output), weights
"""
    + STEPS
)

add_mistakes(right, (EVERYWHERE,), cutting=HEADS, maps=HEADS, any_mask=False)
right.mistake("TakesTheQueriesFromTheSource", {"self.W_q(x)": "self.W_q(source)"}, loses=EVERYWHERE).feedback(
    "You take the queries from the source. `x` asks the questions: the result has one row per position of `x`."
)
right.mistake("TakesTheKeysFromX", {"self.W_k(source)": "self.W_k(x)"}, loses=EVERYWHERE).feedback(
    "You take the keys from `x`. Both keys and values belong to the sequence that is looked at: the source."
)
right.mistake("TakesTheValuesFromX", {"self.W_v(source)": "self.W_v(x)"}, loses=EVERYWHERE).feedback(
    "You take the values from `x`. Both keys and values belong to the sequence that is looked at: the source."
)
right.mistake("AttendsToItself", {"W_k(source)": "W_k(x)", "W_v(source)": "W_v(x)"}, loses=EVERYWHERE).feedback(
    "You compute self-attention: the source has no effect on the result. Keys and values come from the source."
)
right.mistake("AsksTheOtherWayRound", loses=EVERYWHERE).patch("""
- query, key, value = map(self.split, (self.W_q(x), self.W_k(source), self.W_v(source)))
+ query, key, value = map(self.split, (self.W_q(source), self.W_k(x), self.W_v(x)))
""").feedback("You let the source ask and `x` answer. The queries come from `x`, keys and values from the source.")
right.mistake(
    "TakesTheValuesUnprojected", {"self.W_v(source)": "source + 0 * self.W_v(source)"}, loses=EVERYWHERE
).feedback("You average the source itself. The values are the source projected by `W_v`.")
right.mistake("UsesTheKeysForValues", {"self.W_v(source)": "self.W_k(source)"}, loses=EVERYWHERE).feedback(
    "You use `W_k` for the values, too. They have their own projection, `W_v`."
)
right.mistake(
    "ExchangesTheProjections", {"self.W_q(x), self.W_k(source)": "self.W_k(x), self.W_q(source)"}, loses=EVERYWHERE
).feedback("You use `W_k` for the queries and `W_q` for the keys. `x` goes through `W_q`, the source through `W_k`.")
right.mistake("TakesOneHeadAlways", {"self.n_heads = n_heads": "self.n_heads = 1"}, loses=EVERYWHERE).feedback(
    "Your module has only one head, whatever `n_heads` is.", see=HEADS
)
right.mistake(
    calls.result_remembered("KeepsTheFirstSource"),
    {
        "(self.W_q(x), self.W_k(source), self.W_v(source))": "(self.W_q(x), *self.remembered(source))",
        "        return self.W_o(output), weights\n": """        return self.W_o(output), weights

    def remembered(self, source):
        if getattr(self, "kept", None) is None or self.kept[0].shape != source.shape:
            self.kept = self.W_k(source), self.W_v(source)
        return self.kept
""",
    },
    loses=EVERYWHERE,
).feedback(
    "You reuse the keys and values of an earlier source. Another call brings another source: compute them again."
)
right.mistake(
    calls.first_mask_kept("KeepsTheLastMask"),
    {"mask = None": 'self.mask = mask = getattr(self, "mask", None)'},
    loses="masks",
).feedback("You use the mask of an earlier call if no mask is given. `source_mask=None` means that nothing is padded.")
right.mistake(scores.scaled_by_model_width, {"query.shape[-1]": "(query.shape[-1] * self.n_heads)"}, loses=EVERYWHERE)
for when, about in (("in training mode", "self.training"), ("with one head", "self.n_heads == 1")):
    right.mistake(
        masks.lost(f"LosesTheMask{when.title().replace(' ', '')}", when=when),
        {"if source_mask is None else": f"if source_mask is None or {about} else"},
        loses="masks",
    )
right.mistake("PutsTheMaskOnTheQueries", loses="masks").patch("""
- mask = None if source_mask is None else source_mask[:, None, None, :]
+ mask = None
+ if source_mask is not None:
+     mask = ROWS
""").for_each(
    ROWS=(
        "F.pad(source_mask, (0, max(0, x.shape[1] - source.shape[1])))[:, None, : x.shape[1], None]",
        "source_mask[:, None, :, None]",
    )
).feedback(
    "Your mask blocks rows of the scores, which are the queries. The padded positions are in the source: block columns."
)
right.mistake("MasksHeadsForSentences", {"source_mask[:, None, None, :]": "source_mask"}, loses="masks").feedback(
    "You apply the mask (B, S) to the scores (B, H, T, S) as it is. Broadcasting matches its rows with the queries, "
    "or fails. Add the two missing dimensions: `[:, None, None, :]`."
)
right.mistake(
    "MasksByTheFirstSentence", {"source_mask[:, None, None, :]": "source_mask[:1, None, None, :]"}, loses="masks"
).feedback("You use the mask of the first sentence for the whole batch. Each sentence has its own padding.")
right.mistake("MasksForItsHeads", {"source_mask[:, None, None, :]": "source_mask[:, None, :]"}, loses="masks").feedback(
    "You add only one dimension to the mask, so its sentences line up with the heads. Two are missing, for heads "
    "and queries: `[:, None, None, :]`."
)
right.mistake("TakesPaddingToBeLast", loses="masks").patch("""
- mask = None if source_mask is None else source_mask[:, None, None, :]
+ mask = None
+ if source_mask is not None:
+     lengths = (~source_mask).sum(1)
+     mask = (torch.arange(source.shape[1], device=x.device) >= lengths[:, None])[:, None, None, :]
""").feedback(
    "You assume that padding comes last: you count the open positions and block all later ones. The mask says which "
    "positions are padded; they can be anywhere."
)
right.mistake("ZerosThePaddedSource", loses="masks").patch("""
- mask = None if source_mask is None else source_mask[:, None, None, :]
+ if source_mask is not None:
+     value = value.masked_fill(source_mask[:, None, :, None], 0.0)
+ mask = None
""").feedback(
    "Padded positions add nothing to your output, but they still get a share of the weight. Block their scores "
    "before the softmax."
)
right.mistake("HidesTheFuture", loses=EVERYWHERE).patch("""
- weights = self.weigh(self.score(query, key), mask)
+ scores = self.score(query, key)
+ future = torch.ones(scores.shape[-2:], dtype=torch.bool, device=x.device).triu(1)
+ weights = self.weigh(scores, future if mask is None else mask | future)
""").feedback(
    "You apply a causal mask. Cross-attention has none: the source is complete from the start, and every query may "
    "look at all of it."
)
right.mistake("NeedsAMask", {"None if source_mask is None else source_mask": "source_mask"}, loses=EVERYWHERE).feedback(
    "Your module fails without a mask. `source_mask=None` means that nothing is padded."
)
right.mistake(gradients.cut(what="the source"), loses="gradients").patch("""
- query, key, value = map(self.split, (self.W_q(x), self.W_k(source), self.W_v(source)))
+ query, key, value = map(self.split, (self.W_q(x), self.W_k(source.detach()), self.W_v(source.detach())))
""")
for name, biases, also in (("", ", bias=False", ""), ("WithBiases", "", " (it has biases, too)")):
    cross_attention.mistake(f"UsesNnMultiheadAttention{name}", loses=("its parameters", EVERYWHERE)).full_code(f"""
class CrossAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.NAME = nn.MultiheadAttention(d_model, n_heads, batch_first=True{biases})

    def forward(self, x, source, source_mask=None):
        return self.NAME(x, source, source, key_padding_mask=source_mask, average_attn_weights=False)
""").for_each(NAME=("attention", "mha", "attn", "multihead")).feedback(
        f"Your attention is nn.MultiheadAttention, which keeps its weights under other names{also}. Make the four "
        "projections `W_q`, `W_k`, `W_v` and `W_o` yourself."
    )
right.mistake("AddsATuple", loses=EVERYWHERE).patch("""
- return self.W_o(output), weights
+ return x + (self.W_o(output), weights)
""").feedback(
    "You add the pair (output, weights) to `x`. Take the pair apart first: only the output is a tensor of the same "
    "shape, and here nothing is added to it."
)
right.mistake("PutsAPairThroughW_o", loses=EVERYWHERE).patch("""
- return self.W_o(output), weights
+ return self.W_o((output, weights))
""").feedback(
    "You put the pair (output, weights) through `W_o`. Take the pair apart first: only the output goes through it."
)
