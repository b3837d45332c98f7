"""Known mistakes in `qk_circuit`."""

from ...shared.families import arguments, gradients, numbers, shapes
from .contract import qk_circuit

right = qk_circuit.alternative("circuit_by_slices")
ERRORS = "ValueError"
VALUES = ("the matrix", "gradients")

right.mistake("turns_the_keys", {"W_q[rows].T @ W_k[rows]": "W_q[rows] @ W_k[rows].T"}, loses=VALUES).feedback(
    "Your result is (K, K): it stands between two vectors of a head. Asked is what stands between two of the model, "
    "(D, D): which side of each weight are the inputs?"
)
right.mistake("keys_before_queries", {"W_q[rows].T @ W_k[rows]": "W_k[rows].T @ W_q[rows]"}, loses=VALUES).feedback(
    "This is the right matrix turned over: the query's vector stands on the left, `x_q @ M @ x_k`."
)
right.mistake("takes_columns", {"W_q[rows].T @ W_k[rows]": "W_q[:, rows] @ W_k[:, rows].T"}, loses=VALUES).feedback(
    "You take the head's columns. `nn.Linear` has a row for each result: a head owns rows."
)
right.mistake(
    "takes_columns_turned_over", {"W_q[rows].T @ W_k[rows]": "W_k[:, rows] @ W_q[:, rows].T"}, loses=VALUES
).feedback("You take the head's columns, and the keys' side first. A head owns rows, and the query stands on the left.")
right.mistake(
    "takes_columns_of_both", {"W_q[rows].T @ W_k[rows]": "W_q[:, rows].T @ W_k[:, rows]"}, loses=VALUES
).feedback(
    "You take the head's columns, and multiply them over the model's width. A head owns rows of `nn.Linear`'s weight."
)
right.mistake("scales", {"W_q[rows].T @ W_k[rows]": "W_q[rows].T @ W_k[rows] / K**0.5"}, loses=VALUES).feedback(
    "You divide by the root of K. Asked is the matrix of the unscaled score."
)
right.mistake(
    "scales_by_the_width", {"W_q[rows].T @ W_k[rows]": "W_q[rows].T @ W_k[rows] / D**0.5"}, loses=VALUES
).feedback("You divide by the root of D. Asked is the matrix of the unscaled score.")
right.mistake(
    shapes.squeezed, {"return W_q[rows].T @ W_k[rows]": "return (W_q[rows].T @ W_k[rows]).squeeze()"}, loses=VALUES[:1]
).feedback("`squeeze()` makes a number of the matrix where the width is 1. It is (D, D) for any D.")
right.mistake("all_heads", {"W_q[rows].T @ W_k[rows]": "W_q.T @ W_k"}, loses=VALUES).feedback(
    "This is the sum over all heads. Take the rows of one."
)
right.mistake("all_heads_unturned", {"W_q[rows].T @ W_k[rows]": "WHOLE"}, loses=VALUES).for_each(
    WHOLE=("W_q @ W_k.T", "W_q @ W_k")
).feedback(
    "Neither `head` nor the rows of a head are used: this is a product of the whole weights, and not even turned right."
)
right.mistake("turns_neither", {"W_q[rows].T": "W_q[rows]"}, loses=VALUES).feedback(
    "Two pieces of shape (K, D) cannot be multiplied as they are. They meet in the K numbers of the head: turn the "
    "queries' piece."
)
right.mistake("queries_of_the_head_only", {"W_k[rows]": "W_k"}, loses=VALUES).feedback(
    "Only the queries are cut to the head's rows; the keys have all of theirs."
)
right.mistake("multiplies_without_turning", {"W_q[rows].T @ W_k[rows]": "(W_q @ W_k.T)[rows]"}, loses=VALUES).feedback(
    "`W_q @ W_k.T` joins the two weights at their inputs. They meet in the numbers of a head."
)
right.mistake(
    "as_if_stored_in_out", {"W_q[rows].T @ W_k[rows]": "W_q.T[:, rows].mT.mT @ W_k.T[rows]"}, loses=VALUES
).feedback("Of the keys you take columns. Both weights are as nn.Linear has them: a head owns rows of each.")
right.mistake(
    "every_hth_row", {"slice(head * K, (head + 1) * K)": "slice(head, None, n_heads)"}, loses=VALUES
).feedback("You take rows in turn: head, head + H, … A head owns K neighbouring rows.")
right.mistake(
    "pieces_of_the_length_n_heads", {"K, (head + 1) * K": "n_heads, (head + 1) * n_heads"}, loses=VALUES
).feedback("Your pieces have n_heads rows. n_heads is the number of pieces; their length is K = D / n_heads.")
right.mistake("starts_at_the_head", {"head * K, (head + 1) * K": "START, START + K"}, loses=VALUES).for_each(
    START=("head", "head * n_heads")
).feedback("Your rows begin at `head`, or at `head * n_heads`. Head h begins after the K rows of each head before it.")
right.mistake(
    "one_head_too_far", {"slice(head * K, (head + 1) * K)": "slice((head - 1) * K, head * K)"}, loses=VALUES
).feedback("You count heads from 1: the first one is head 0.")
right.mistake("all_rows_from_there_on", {"(head + 1) * K)": "None)"}, loses=VALUES).feedback(
    "The piece has no end: you take the rows of this head and of all that come after it."
)
right.mistake("all_rows_up_to_there", {"slice(head * K,": "slice(0,"}, loses=VALUES).feedback(
    "The piece begins at row 0: you take the rows of this head and of all that come before it."
)
right.mistake("one_row", {"slice(head * K, (head + 1) * K)": "slice(head, head + 1)"}, loses=VALUES).feedback(
    "You take one row, number `head`. Head h owns K rows, from `h * K` on."
)
right.mistake("always_the_first_head", {"slice(head * K, (head + 1) * K)": "slice(0, K)"}, loses=VALUES).feedback(
    "Whatever `head` is, you take the rows of the first head."
)
right.mistake(
    "loses_the_last_row", {"slice(head * K, (head + 1) * K)": "slice(head * K, (head + 1) * K - 1)"}, loses=VALUES
).feedback("You take one row too few. A slice ends before its second number: `(head + 1) * K`.")
right.mistake("columns_of_one", {"W_q[rows].T @ W_k[rows]": "W_q[:, rows] @ W_k[rows]"}, loses=VALUES).feedback(
    "You take columns of W_q. `nn.Linear` has a row for each result: a head owns rows, of both; turn the queries'."
)
right.mistake("of_every_head", loses=VALUES).patch("""
- return W_q[rows].T @ W_k[rows]
+ return W_q.unflatten(0, (n_heads, K)).mT @ W_k.unflatten(0, (n_heads, K))
""").feedback("You return the matrices of all heads, (H, D, D). Asked is one head's.")
right.mistake("elementwise", {"W_q[rows].T @ W_k[rows]": "W_q * W_k"}, loses=VALUES).feedback(
    "You multiply number by number. A dot product of two projected vectors needs a matrix product."
)
right.mistake("of_the_queries_twice", {"W_k[rows]": "W_q[rows]"}, loses=VALUES).feedback(
    "Queries meet queries here: W_k is not used."
)
right.mistake("of_the_keys_twice", {"W_q[rows]": "W_k[rows]"}, loses=VALUES).feedback(
    "Keys meet keys here: W_q is not used."
)
right.mistake(
    "softmax_of_it", {"return W_q[rows].T @ W_k[rows]": "return (W_q[rows].T @ W_k[rows]).softmax(-1)"}, loses=VALUES
).feedback("There is a softmax on the result. The matrix makes scores; the softmax comes later, over keys.")
right.mistake(
    arguments.not_refused(
        "You accept a number of heads that does not divide D. Raise a ValueError that names n_heads.", "D %"
    )("takes_the_heads_as_they_come"),
    loses=ERRORS,
)
right.mistake(
    arguments.not_refused(
        "You accept the number of a head that does not exist, whose slices are empty. Raise a ValueError.", "head <"
    )("takes_any_head"),
    loses=ERRORS,
)
right.mistake(
    arguments.unchecked("counts_from_the_end"), {"0 <= head < n_heads": "-n_heads <= head < n_heads"}, loses=ERRORS
).feedback("A negative head is not refused. The contract counts from 0.")
right.mistake(arguments.unchecked("wraps_round"), loses=ERRORS).patch("""
- if not 0 <= head < n_heads:
-     raise ValueError(f"head is {head}, and must be from 0 to {n_heads - 1}")
+ head %= n_heads
""").feedback("A head that there is not is taken for another one, without a word. Raise a ValueError that names it.")
right.mistake(
    arguments.unchecked("one_head_too_many"), {"0 <= head < n_heads": "0 <= head <= n_heads"}, loses=ERRORS
).feedback("`head == n_heads` is not refused. With H heads the last one is H − 1.")
right.mistake(
    arguments.valid_refused("refuses_head_0"), {"not 0 <= head": "not 0 < head"}, loses=(*VALUES[:1], ERRORS)
).feedback("Head 0 is refused. It is the first one.")
right.mistake(
    arguments.valid_refused("refuses_a_single_head"), {"n_heads < 1": "n_heads <= 1"}, loses=VALUES[0]
).feedback("A single head is refused. It is legal: its matrix is that of the whole weights.")
right.mistake(arguments.valid_refused("refuses_the_last_head"), loses=(VALUES[0], ERRORS)).patch("""
- if not 0 <= head < n_heads:
+ if not 0 <= head < n_heads - 1:
""").feedback("The last head, n_heads − 1, is refused.")
right.mistake(arguments.asserts("head <")("asserts_it"), loses=ERRORS)
right.mistake(arguments.wrong_error("IndexError", "head <"), loses=ERRORS)
right.mistake(arguments.error_without_name("head <")("does_not_name_it"), loses=ERRORS)
right.mistake(arguments.zero_divides, {"n_heads < 1 or ": ""}, loses=ERRORS)
right.mistake(arguments.asserts("D %")("asserts_the_number_of_heads"), loses=ERRORS)
right.mistake(arguments.error_without_name("D %")("does_not_name_the_number_of_heads"), loses=ERRORS)
right.mistake(
    gradients.cut("detaches_the_queries", what="`W_q`"), {"W_q[rows]": "W_q.detach()[rows]"}, loses="gradients"
)
right.mistake(gradients.cut("detaches_the_keys", what="`W_k`"), {"W_k[rows]": "W_k.detach()[rows]"}, loses="gradients")
right.mistake(
    gradients.cut("detached"), {"W_q[rows].T @ W_k[rows]": "(W_q[rows].T @ W_k[rows]).detach()"}, loses="gradients"
)
right.mistake(numbers.result_float32, loses="float64")
right.mistake(numbers.default_device(where="the weights", how="`device=W_q.device`"), loses="float64").patch("""
- return W_q[rows].T @ W_k[rows]
+ M = torch.zeros(D, D, dtype=W_q.dtype)
+ return M + W_q[rows].T @ W_k[rows]
""")
right.mistake("turns_the_weight_itself", loses="float64").patch("""
- return W_q[rows].T @ W_k[rows]
+ M = W_q[rows].T @ W_k[rows]
+ W_k.data.zero_()
+ return M
""").feedback("W_k is changed by the call.")
