"""Known mistakes in `head_contributions`."""

from ...shared.families import numbers
from .contract import head_contributions

EVERYWHERE = ("a number for each head", "every text and token")

right = head_contributions.reference_answer("""
def head_contributions(head_outputs, W_o, direction):
    B, H, T, K = head_outputs.shape
    wanted = (direction @ W_o).reshape(H, 1, K)
    return (head_outputs * wanted).sum(dim=-1)
""")

right.mistake("turned", {"direction @ W_o": "W_o @ direction"}, loses=EVERYWHERE).feedback(
    "The matrix is turned. `nn.Linear` stores (out, in): the heads come in along the *columns* of W_o."
)
right.mistake("heads_in_turns", {"reshape(H, 1, K)": "reshape(K, H).T.reshape(H, 1, K)"}, loses=EVERYWHERE).feedback(
    "The columns of W_o are dealt out to the heads in turns. Merged, all numbers of head 0 come first, then those of "
    "head 1."
)
right.mistake("without_W_o", {"(direction @ W_o)": "direction"}, loses=EVERYWHERE).feedback(
    "The outputs are compared with the direction as they are. They reach the residual stream through `W_o` only."
)
right.mistake("all_heads_together", {".sum(dim=-1)": ".sum(dim=(1, 3))"}, loses=EVERYWHERE).feedback(
    "This is what all heads add together. Keep a number for each, (B, H, T): they sum to this one."
)
right.mistake("means", {".sum(dim=-1)": ".mean(dim=-1)"}, loses=EVERYWHERE).feedback(
    "A mean in place of a sum: then the heads' numbers do not add up to what the layer adds."
)
right.mistake("a_cosine", {"* wanted)": "* (wanted / direction.norm()))"}, loses=EVERYWHERE).feedback(
    "The direction is brought to length 1. Its length counts: the result is a part of the difference of two logits."
)
right.mistake("no_sign", {".sum(dim=-1)": ".sum(dim=-1).abs()"}, loses=EVERYWHERE).feedback(
    "The signs are lost. A head may speak *against* the token, and its number is negative then."
)
right.mistake("heads_read_as_tokens", loses="every text and token").full_code("""
def head_contributions(head_outputs, W_o, direction):
    B, H, T, K = head_outputs.shape
    merged = head_outputs.reshape(B, T, H * K)
    return (merged * (direction @ W_o)).reshape(B, T, H, K).sum(-1).transpose(1, 2)
""").feedback("Merged by a reshape alone, which mixes heads and tokens: `transpose(1, 2)` has to come first.")
right.mistake("tokens_before_heads", {".sum(dim=-1)": ".sum(dim=-1).transpose(1, 2)"}, loses=EVERYWHERE).feedback(
    "The right numbers with tokens before heads: the result is (B, H, T)."
)
right.mistake("the_same_for_each_head", {"reshape(H, 1, K)": "reshape(H, 1, K)[:1]"}, loses=EVERYWHERE).feedback(
    "Every head goes through the columns of head 0. Each has columns of its own."
)
right.mistake(numbers.always_float32, {".sum(dim=-1)": ".sum(dim=-1).float()"}, loses="float64")
