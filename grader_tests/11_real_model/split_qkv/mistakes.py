"""Known mistakes in `split_qkv`."""

from ...shared.families import calls, numbers
from .contract import split_qkv

ALL = ("three pairs", "copies")

right = split_qkv.alternative("split_by_chunks")

right.mistake("leaves_them_in_out", {"w.T.clone()": "w.clone()"}, loses=ALL).feedback(
    "You return the matrices as the checkpoint stores them, (in, out), but `nn.Linear` stores (out, in). The shape "
    "is the same both ways, but the entries are in the wrong order."
)
right.mistake(
    numbers.default_device(
        "fills_tensors_on_the_default_device", what="the copies", where="the checkpoint", how="`clone()` does"
    ),
    {"w.T.clone()": "torch.empty(w.T.shape, dtype=w.dtype).copy_(w.T)"},
    loses="float64",
)
right.mistake("keeps_views", {"(w.T.clone(), b.clone())": "(w.T, b)"}, loses="copies").feedback(
    "Your result shares its memory with the checkpoint. A slice of a tensor and a transposed tensor are both views."
)
right.mistake("keeps_views_of_the_weight", {"w.T.clone()": "w.T"}, loses="copies").feedback(
    "Your matrices share their memory with the checkpoint. A transposed tensor is a view: copy the numbers."
)
right.mistake("keeps_views_of_the_bias", {"b.clone()": "b"}, loses="copies").feedback(
    "Your biases share their memory with the checkpoint. A slice of a tensor is a view: copy the numbers."
)
right.mistake("copies_where_it_must", {"w.T.clone()": "w.T.contiguous()"}, loses="copies").feedback(
    "`contiguous()` copies only a tensor that is not contiguous already. If the transposed piece is contiguous as "
    "it is, you keep a view of the checkpoint; `clone()` always copies."
)
right.mistake(
    "leaves_one_unturned",
    {
        "(w.T.clone(), b.clone()) for w, b": "(w.T.clone() if i != LEFT else w.clone(), b.clone()) for i, (w, b)",
        "zip(weight.chunk(3, dim=1), bias.chunk(3))": "enumerate(zip(weight.chunk(3, dim=1), bias.chunk(3)))",
    },
    loses=ALL,
).for_each(LEFT=(0, 1, 2)).feedback(
    "You leave one of the three matrices untransposed. The other two are (out, in), as they should be."
)
right.mistake("chunks_the_first_dimension", {", dim=1": ""}, loses="three").feedback(
    "`chunk(3)` cuts the first dimension, which holds the inputs. The `3 * D` results are side by side in the columns."
)
right.mistake("keys_first", loses=ALL).patch("""
- return tuple((w.T.clone(), b.clone()) for w, b in zip(weight.chunk(3, dim=1), bias.chunk(3)))
+ q, k, v = ((w.T.clone(), b.clone()) for w, b in zip(weight.chunk(3, dim=1), bias.chunk(3)))
+ return k, q, v
""").feedback("You return the keys first. The order is queries, keys, values.")
right.mistake("values_second", loses=ALL).patch("""
- return tuple((w.T.clone(), b.clone()) for w, b in zip(weight.chunk(3, dim=1), bias.chunk(3)))
+ q, k, v = ((w.T.clone(), b.clone()) for w, b in zip(weight.chunk(3, dim=1), bias.chunk(3)))
+ return q, v, k
""").feedback("You return the values second. The order is queries, keys, values.")
right.mistake("every_third_column", loses=ALL).patch("""
- return tuple((w.T.clone(), b.clone()) for w, b in zip(weight.chunk(3, dim=1), bias.chunk(3)))
+ return tuple((weight[:, i::3].T.clone(), bias[i::3].clone()) for i in range(3))
""").feedback(
    "You take every third column. The D columns of the queries come first, then those of the keys, then those of "
    "the values."
)
right.mistake("every_third_of_the_bias", loses=ALL).patch("""
- return tuple((w.T.clone(), b.clone()) for w, b in zip(weight.chunk(3, dim=1), bias.chunk(3)))
+ return tuple((w.T.clone(), bias[i::3].clone()) for i, w in enumerate(weight.chunk(3, dim=1)))
""").feedback(
    "You take every third entry of the bias, but its three pieces of D entries follow one another. The matrices are "
    "right."
)
right.mistake("views_the_columns_as_rows", loses=ALL).patch("""
- return tuple((w.T.clone(), b.clone()) for w, b in zip(weight.chunk(3, dim=1), bias.chunk(3)))
+ W = weight.reshape(3, weight.shape[0], -1)
+ return tuple((w.T.clone(), b.clone()) for w, b in zip(W, bias.chunk(3)))
""").feedback(
    "`reshape(3, D, D)` cuts the rows, and each row holds a piece of all three matrices. Cut the columns instead."
)
right.mistake("reshapes_the_rows_unturned", loses=ALL).patch("""
- return tuple((w.T.clone(), b.clone()) for w, b in zip(weight.chunk(3, dim=1), bias.chunk(3)))
+ W = weight.reshape(3, weight.shape[0], -1)
+ return tuple((w.clone(), b.clone()) for w, b in zip(W, bias.chunk(3)))
""").feedback(
    "`reshape(3, D, D)` cuts the rows, and each row holds a piece of all three matrices. Also, you transpose "
    "nothing to (out, in)."
)
right.mistake("the_last_thrice", loses=ALL).patch("""
- return tuple((w.T.clone(), b.clone()) for w, b in zip(weight.chunk(3, dim=1), bias.chunk(3)))
+ W, c, pairs = torch.empty_like(weight[:, : len(weight)]), torch.empty_like(bias[: len(weight)]), []
+ for w, b in zip(weight.detach().chunk(3, dim=1), bias.detach().chunk(3)):
+     pairs.append((W.copy_(w.T), c.copy_(b)))
+ return tuple(pairs)
""").feedback(
    "All three of your pairs are those of the values. You write each pair into the same tensors as the one before."
)
right.mistake("in_reverse", loses=ALL).patch("""
- return tuple((w.T.clone(), b.clone()) for w, b in zip(weight.chunk(3, dim=1), bias.chunk(3)))
+ q, k, v = ((w.T.clone(), b.clone()) for w, b in zip(weight.chunk(3, dim=1), bias.chunk(3)))
+ return v, k, q
""").feedback("You return the values first. The order is queries, keys, values.")
right.mistake("biases_first", {"(w.T.clone(), b.clone())": "(b.clone(), w.T.clone())"}, loses=ALL).feedback(
    "You put the bias first in each pair. The exercise asks for pairs of a weight and its bias."
)
right.mistake("zero_biases", {"b.clone()": "torch.zeros_like(b)"}, loses=ALL).feedback(
    "Your biases are zero. GPT-2's projections have biases of their own: the three pieces of `bias`."
)
right.mistake("columns_of_biases", {"b.clone()": "b.clone().unsqueeze(1)"}, loses=ALL).feedback(
    "You return each bias as a column, (D, 1). `nn.Linear` has a vector, (D,)."
)
right.mistake("six_in_a_row", loses=ALL).patch("""
- return tuple((w.T.clone(), b.clone()) for w, b in zip(weight.chunk(3, dim=1), bias.chunk(3)))
+ return tuple(one.clone() for w, b in zip(weight.chunk(3, dim=1), bias.chunk(3)) for one in (w.T, b))
""").feedback("You return six separate tensors. The exercise asks for three pairs, each a weight with its bias.")
right.mistake("weights_then_biases", loses=ALL).patch("""
- return tuple((w.T.clone(), b.clone()) for w, b in zip(weight.chunk(3, dim=1), bias.chunk(3)))
+ return tuple(w.T.clone() for w in weight.chunk(3, dim=1)), tuple(b.clone() for b in bias.chunk(3))
""").feedback(
    "You return the three weights and then the three biases. The exercise asks for three pairs, each a weight with "
    "its bias."
)
right.mistake(
    "one_bias_for_all", {"(w.T.clone(), b.clone())": "(w.T.clone(), bias[:len(weight)].clone())"}, loses=ALL
).feedback("You give all three pairs the bias of the queries. Each third of `bias` belongs to a different pair.")
right.mistake("the_whole_bias", {"(w.T.clone(), b.clone())": "(w.T.clone(), bias.clone())"}, loses=ALL).feedback(
    "You put the whole bias, `3 * D` entries, into each pair. Each third of it belongs to a different pair."
)
right.mistake("no_bias", {"(w.T.clone(), b.clone())": "w.T.clone()"}, loses=ALL).feedback(
    "You leave out the biases. GPT-2's projections have them: return pairs."
)
right.mistake(numbers.result_float32(of="the checkpoint"), loses="float64")
right.mistake(
    numbers.always_float32("halves_the_weights_precision"), {"w.T.clone()": "w.T.float().clone()"}, loses="float64"
).feedback("Your matrices are always float32. They must have the dtype of the checkpoint.")
right.mistake(
    numbers.always_float32("halves_the_biases_precision"), {"b.clone()": "b.float().clone()"}, loses="float64"
).feedback("Your biases are always float32. They must have the dtype of the checkpoint.")
right.mistake("turns_the_checkpoint", loses="float64").patch("""
- return tuple((w.T.clone(), b.clone()) for w, b in zip(weight.chunk(3, dim=1), bias.chunk(3)))
+ pairs = tuple((w.T.clone(), b.clone()) for w, b in zip(weight.chunk(3, dim=1), bias.chunk(3)))
+ weight.zero_()
+ return pairs
""").feedback("Your function changes the tensors of the checkpoint. Leave them as they are.")
split_qkv.mistake(calls.result_remembered("remembers_tensors"), loses="copies").full_code("""
from functools import lru_cache


@lru_cache
def split_qkv(weight, bias):
    return tuple((w.T.clone(), b.clone()) for w, b in zip(weight.chunk(3, dim=1), bias.chunk(3)))
""").feedback(
    "Your function returns an earlier result when it gets the same tensors again. Their numbers may have changed "
    "since: split what they hold now."
)
right.mistake("splits_rows_in_sizes_of_d", {"weight.chunk(3, dim=1)": "weight.T.chunk(3, dim=1)"}, loses=ALL).feedback(
    "You transpose first and then cut the second dimension. After `.T` the outputs are along the first dimension: "
    "cut the outputs into three."
)
