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
    "You use `W_o` the wrong way round. `nn.Linear` stores (out, in): the heads enter along the *columns* of `W_o`."
)
right.mistake("heads_in_turns", {"reshape(H, 1, K)": "reshape(K, H).T.reshape(H, 1, K)"}, loses=EVERYWHERE).feedback(
    "You give the columns of `W_o` to the heads in turn. In the merged vector all entries of head 0 come first, "
    "then those of head 1."
)
right.mistake("without_W_o", {"(direction @ W_o)": "direction"}, loses=EVERYWHERE).feedback(
    "You multiply the heads' outputs by the direction without `W_o`. They reach the residual stream only through `W_o`."
)
right.mistake("all_heads_together", {".sum(dim=-1)": ".sum(dim=(1, 3))"}, loses=EVERYWHERE).feedback(
    "You return what all heads add together. Keep one number for each head, (B, H, T): together they sum to your "
    "result."
)
right.mistake("means", {".sum(dim=-1)": ".mean(dim=-1)"}, loses=EVERYWHERE).feedback(
    "You take a mean instead of a sum. The heads' numbers then no longer add up to what the layer adds."
)
right.mistake("a_cosine", {"* wanted)": "* (wanted / direction.norm()))"}, loses=EVERYWHERE).feedback(
    "You scale the direction to length 1. Its length counts: the result is a part of the difference of two logits."
)
right.mistake("no_sign", {".sum(dim=-1)": ".sum(dim=-1).abs()"}, loses=EVERYWHERE).feedback(
    "Your result has lost its signs. A head may work *against* the token, and then its number is negative."
)
right.mistake("heads_read_as_tokens", loses="every text and token").full_code("""
def head_contributions(head_outputs, W_o, direction):
    B, H, T, K = head_outputs.shape
    merged = head_outputs.reshape(B, T, H * K)
    return (merged * (direction @ W_o)).reshape(B, T, H, K).sum(-1).transpose(1, 2)
""").feedback("You merge with `reshape` alone, which mixes heads and tokens. `transpose(1, 2)` has to come first.")
right.mistake("tokens_before_heads", {".sum(dim=-1)": ".sum(dim=-1).transpose(1, 2)"}, loses=EVERYWHERE).feedback(
    "You return the right numbers with tokens before heads. The result is (B, H, T)."
)
right.mistake("the_same_for_each_head", {"reshape(H, 1, K)": "reshape(H, 1, K)[:1]"}, loses=EVERYWHERE).feedback(
    "You send every head through the columns of head 0. Each head has its own columns."
)
right.mistake(numbers.always_float32, {".sum(dim=-1)": ".sum(dim=-1).float()"}, loses="float64")
