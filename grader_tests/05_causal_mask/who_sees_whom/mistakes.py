"""Known mistakes in `who_sees_whom`."""

from ...shared.families import masks
from .contract import who_sees_whom

right = who_sees_whom.alternative("by_the_jacobian")

right.mistake(masks.inverted(see="5. Two opposite conventions"), {"influence < 1e-5": "influence >= 1e-5"})
right.mistake("exchanges_rows_and_columns", {"influence < 1e-5": "influence.mT < 1e-5"}).feedback(
    "You have swapped rows and columns. Row i is output i, column j is input j."
)
right.mistake("forgets_the_sign", {".abs()": ""}).feedback(
    "You miss negative influence: an output may move down. Take magnitudes first."
)
right.mistake("adds_up_the_entries", {".abs().amax(dim=(1, 3))": ".sum(dim=(1, 3)).abs()"}).feedback(
    "You add up entries before you look at their size, so opposite changes cancel. Take the largest magnitude."
)
right.mistake("watches_one_entry", {".abs().amax(dim=(1, 3))": "[:, 0, :, 0].abs()"}).feedback(
    "You look at only one entry of each token. The influence may go through any entry."
)
right.mistake("looks_at_the_future_only", {"influence < 1e-5": "influence.triu(1) < 1e-5"}).feedback(
    "You look only at later inputs. Check every pair, including earlier inputs and the output's own."
)
who_sees_whom.mistake("assumes_a_causal_mask").full_code("""
def who_sees_whom(attention, x):
    return torch.ones(len(x), len(x), dtype=torch.bool).triu(1)
""").feedback("You return the causal mask without calling `attention`. Measure what the function does.")
right.mistake("returns_the_influence", {"influence < 1e-5": "influence"}).feedback(
    "You return how much each input moves each output. Compare this with a small number to get True and False."
)
