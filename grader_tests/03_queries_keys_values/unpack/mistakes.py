"""Known mistakes in `unpack`."""

from .contract import unpack

right = unpack.alternative("by_chunks")

right.mistake("does_not_transpose", {"return W_q.T, W_k.T, W_v.T": "return W_q, W_k, W_v"}).feedback(
    "You return the matrices as they are stored, (out, in). Transpose each one."
)
right.mistake("transposes_the_query_matrix_only", {"W_k.T, W_v.T": "W_k, W_v"}).feedback(
    "You transpose only the matrix of the queries. All three are stored as (out, in)."
)
right.mistake("begins_with_the_keys", {"W_q, W_k, W_v = packed": "W_k, W_q, W_v = packed"}).feedback(
    "You swapped the matrices of queries and keys. The queries' rows are on top, then the keys', then the values'."
)
right.mistake("swaps_keys_and_values", {"W_q, W_k, W_v = packed": "W_q, W_v, W_k = packed"}).feedback(
    "You swapped the matrices of keys and values. The queries' rows are on top, then the keys', then the values'."
)
right.mistake("takes_every_third_row", {"packed.chunk(3)": "(packed[n::3] for n in range(3))"}).feedback(
    "You give every third row to one matrix. Each matrix has D rows in one block: cut the tensor into three blocks."
)
right.mistake("returns_one_tensor", {"return W_q.T, W_k.T, W_v.T": "return packed.T"}).feedback(
    "You return one transposed tensor. Cut it into three matrices, each (D, D)."
)
unpack.mistake("reads_rows_as_columns").full_code("""
def unpack(packed):
    D = packed.shape[1]
    return packed.reshape(D, 3 * D).chunk(3, dim=1)
""").feedback("You reshape the tensor to (D, 3 * D), which mixes its rows. A transpose is `packed.T`.")
