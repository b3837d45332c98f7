"""Known mistakes in `qk_circuit`."""

from ...shared.families import arguments, gradients, numbers, shapes
from .contract import qk_circuit

right = qk_circuit.alternative("circuit_by_slices")
ERRORS = "ValueError"
VALUES = ("the matrix", "gradients")

right.mistake("turns_the_keys", {"W_q[rows].T @ W_k[rows]": "W_q[rows] @ W_k[rows].T"}, loses=VALUES).feedback(
    "Your result is (K, K): it belongs between two vectors of a head. The exercise asks for the matrix between two "
    "vectors of the model, (D, D). Look at which side of each weight holds the inputs."
)
right.mistake("keys_before_queries", {"W_q[rows].T @ W_k[rows]": "W_k[rows].T @ W_q[rows]"}, loses=VALUES).feedback(
    "You return the transpose of the right matrix. The query's vector is on the left: `x_q @ M @ x_k`."
)
right.mistake("takes_columns", {"W_q[rows].T @ W_k[rows]": "W_q[:, rows] @ W_k[:, rows].T"}, loses=VALUES).feedback(
    "You take the head's columns instead of its rows. `nn.Linear` has one row per result, so a head owns rows."
)
right.mistake(
    "takes_columns_turned_over", {"W_q[rows].T @ W_k[rows]": "W_k[:, rows] @ W_q[:, rows].T"}, loses=VALUES
).feedback(
    "You take the head's columns instead of its rows, and put the keys first. A head owns rows, and the query is on "
    "the left."
)
right.mistake(
    "takes_columns_of_both", {"W_q[rows].T @ W_k[rows]": "W_q[:, rows].T @ W_k[:, rows]"}, loses=VALUES
).feedback(
    "You take the head's columns and multiply them over the width of the model. A head owns rows of an `nn.Linear` "
    "weight."
)
right.mistake("scales", {"W_q[rows].T @ W_k[rows]": "W_q[rows].T @ W_k[rows] / K**0.5"}, loses=VALUES).feedback(
    "You divide by the square root of K. The exercise asks for the matrix of the unscaled score."
)
right.mistake(
    "scales_by_the_width", {"W_q[rows].T @ W_k[rows]": "W_q[rows].T @ W_k[rows] / D**0.5"}, loses=VALUES
).feedback("You divide by the square root of D. The exercise asks for the matrix of the unscaled score.")
right.mistake(
    shapes.squeezed, {"return W_q[rows].T @ W_k[rows]": "return (W_q[rows].T @ W_k[rows]).squeeze()"}, loses=VALUES[:1]
).feedback("`squeeze()` turns the matrix into a single number when the width is 1. The result is (D, D) for every D.")
right.mistake("all_heads", {"W_q[rows].T @ W_k[rows]": "W_q.T @ W_k"}, loses=VALUES).feedback(
    "You return the sum over all heads. Take the rows of one head."
)
right.mistake("all_heads_unturned", {"W_q[rows].T @ W_k[rows]": "WHOLE"}, loses=VALUES).for_each(
    WHOLE=("W_q @ W_k.T", "W_q @ W_k")
).feedback(
    "You multiply the whole weights and use neither `head` nor the rows of a head. The transposition is wrong, too."
)
right.mistake("turns_neither", {"W_q[rows].T": "W_q[rows]"}, loses=VALUES).feedback(
    "You multiply two pieces of shape (K, D), which do not fit. They meet in the K entries of the head: transpose "
    "the queries' piece."
)
right.mistake("queries_of_the_head_only", {"W_k[rows]": "W_k"}, loses=VALUES).feedback(
    "You cut only the queries to the rows of the head, and keep all rows of the keys."
)
right.mistake("multiplies_without_turning", {"W_q[rows].T @ W_k[rows]": "(W_q @ W_k.T)[rows]"}, loses=VALUES).feedback(
    "`W_q @ W_k.T` sums over the inputs of the two weights. Queries and keys meet in the entries of a head."
)
right.mistake(
    "as_if_stored_in_out", {"W_q[rows].T @ W_k[rows]": "W_q.T[:, rows].mT.mT @ W_k.T[rows]"}, loses=VALUES
).feedback("You take columns of `W_k`. Both weights are stored as in `nn.Linear`: a head owns rows of each.")
right.mistake(
    "every_hth_row", {"slice(head * K, (head + 1) * K)": "slice(head, None, n_heads)"}, loses=VALUES
).feedback("You take every H-th row: head, head + H, and so on. A head owns K neighbouring rows.")
right.mistake(
    "pieces_of_the_length_n_heads", {"K, (head + 1) * K": "n_heads, (head + 1) * n_heads"}, loses=VALUES
).feedback("Your pieces have `n_heads` rows. `n_heads` is the number of pieces; their length is K = D / n_heads.")
right.mistake("starts_at_the_head", {"head * K, (head + 1) * K": "START, START + K"}, loses=VALUES).for_each(
    START=("head", "head * n_heads")
).feedback("Your rows begin at `head` or at `head * n_heads`. Head h begins after the K rows of each head before it.")
right.mistake(
    "one_head_too_far", {"slice(head * K, (head + 1) * K)": "slice((head - 1) * K, head * K)"}, loses=VALUES
).feedback("You count heads from 1. The first one is head 0.")
right.mistake("all_rows_from_there_on", {"(head + 1) * K)": "None)"}, loses=VALUES).feedback(
    "Your slice has no end: you take the rows of this head and of all heads after it."
)
right.mistake("all_rows_up_to_there", {"slice(head * K,": "slice(0,"}, loses=VALUES).feedback(
    "Your slice begins at row 0: you take the rows of this head and of all heads before it."
)
right.mistake("one_row", {"slice(head * K, (head + 1) * K)": "slice(head, head + 1)"}, loses=VALUES).feedback(
    "You take a single row, number `head`. Head h owns K rows, starting at `h * K`."
)
right.mistake("always_the_first_head", {"slice(head * K, (head + 1) * K)": "slice(0, K)"}, loses=VALUES).feedback(
    "You take the rows of the first head, whatever `head` is."
)
right.mistake(
    "loses_the_last_row", {"slice(head * K, (head + 1) * K)": "slice(head * K, (head + 1) * K - 1)"}, loses=VALUES
).feedback("You take one row too few. A slice ends before its second number, which should be `(head + 1) * K`.")
right.mistake("columns_of_one", {"W_q[rows].T @ W_k[rows]": "W_q[:, rows] @ W_k[rows]"}, loses=VALUES).feedback(
    "You take columns of `W_q`. `nn.Linear` has one row per result, so a head owns rows of both weights; transpose "
    "those of the queries."
)
right.mistake("of_every_head", loses=VALUES).patch("""
- return W_q[rows].T @ W_k[rows]
+ return W_q.unflatten(0, (n_heads, K)).mT @ W_k.unflatten(0, (n_heads, K))
""").feedback("You return the matrices of all heads, (H, D, D). The exercise asks for the matrix of one head.")
right.mistake("elementwise", {"W_q[rows].T @ W_k[rows]": "W_q * W_k"}, loses=VALUES).feedback(
    "You multiply the two weights entry by entry. A dot product of two projected vectors needs a matrix product."
)
right.mistake("of_the_queries_twice", {"W_k[rows]": "W_q[rows]"}, loses=VALUES).feedback(
    "You multiply queries by queries and never use `W_k`."
)
right.mistake("of_the_keys_twice", {"W_q[rows]": "W_k[rows]"}, loses=VALUES).feedback(
    "You multiply keys by keys and never use `W_q`."
)
right.mistake(
    "softmax_of_it", {"return W_q[rows].T @ W_k[rows]": "return (W_q[rows].T @ W_k[rows]).softmax(-1)"}, loses=VALUES
).feedback("You apply softmax to the matrix. It produces scores; the softmax comes later, over the keys.")
right.mistake(
    arguments.not_refused(
        "You accept a number of heads that does not divide D. Raise a ValueError that names `n_heads`.", "D %"
    )("takes_the_heads_as_they_come"),
    loses=ERRORS,
)
right.mistake(
    arguments.not_refused(
        "You accept a head that does not exist: slices beyond the end are empty. Raise a ValueError.", "head <"
    )("takes_any_head"),
    loses=ERRORS,
)
right.mistake(
    arguments.unchecked("counts_from_the_end"), {"0 <= head < n_heads": "-n_heads <= head < n_heads"}, loses=ERRORS
).feedback("You accept a negative head. The exercise counts heads from 0.")
right.mistake(arguments.unchecked("wraps_round"), loses=ERRORS).patch("""
- if not 0 <= head < n_heads:
-     raise ValueError(f"head is {head}, and must be from 0 to {n_heads - 1}")
+ head %= n_heads
""").feedback(
    "You silently use another head in place of one that does not exist. Raise a ValueError that names `head`."
)
right.mistake(
    arguments.unchecked("one_head_too_many"), {"0 <= head < n_heads": "0 <= head <= n_heads"}, loses=ERRORS
).feedback("You accept `head == n_heads`. With H heads the last one is H − 1.")
right.mistake(
    arguments.valid_refused("refuses_head_0"), {"not 0 <= head": "not 0 < head"}, loses=(*VALUES[:1], ERRORS)
).feedback("You refuse head 0. It is the first head.")
right.mistake(
    arguments.valid_refused("refuses_a_single_head"), {"n_heads < 1": "n_heads <= 1"}, loses=VALUES[0]
).feedback("You refuse a single head. It is valid: its matrix is that of the whole weights.")
right.mistake(arguments.valid_refused("refuses_the_last_head"), loses=(VALUES[0], ERRORS)).patch("""
- if not 0 <= head < n_heads:
+ if not 0 <= head < n_heads - 1:
""").feedback("You refuse the last head, n_heads − 1.")
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
""").feedback("Your function changes `W_k`. Leave it as it is.")
