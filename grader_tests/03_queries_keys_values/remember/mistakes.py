"""Known mistakes in `remember`."""

from ...shared.families import arguments, numbers, shapes
from .contract import remember

ALL = ("one key", "many memories")

right = remember.reference_answer("""
def remember(memory, key, value):
    fetched = (key[..., None, :] @ memory)[..., 0, :]
    missing = value - fetched
    along = key / key.square().sum(-1, keepdim=True)
    return memory + along[..., :, None] * missing[..., None, :]
""")

right.mistake("only_adds", {"value - fetched": "value"}, loses=ALL).feedback(
    "You add the new value to what the key already fetches, so it fetches the sum of both. Write only what is missing."
)
right.mistake("not_divided", {"key / key.square().sum(-1, keepdim=True)": "key"}, loses=ALL).feedback(
    "You do not divide by the key's squared length, so the result is right only for keys of length 1. A key of "
    "length 2 fetches 4 times what was written: its length counts once in writing and once in reading."
)
right.mistake(
    "divided_by_the_length", {"key.square().sum(-1, keepdim=True)": "key.norm(dim=-1, keepdim=True)"}, loses=ALL
).feedback(
    "You divide by the length of the key instead of its square. The length counts twice, in writing and in reading."
)
right.mistake("divided_by_all_squares", {"sum(-1, keepdim=True)": "sum()"}, loses="many memories").feedback(
    "You divide each key by the squares of all keys of the batch. Divide each key by its own."
)
right.mistake("the_wrong_sign", {"value - fetched": "fetched - value"}, loses=ALL).feedback(
    "Your change has the wrong sign. What is missing is the value minus what the key fetches."
)
right.mistake("the_change_alone", {"return memory + along": "return along"}, loses=ALL).feedback(
    "You return only the change. Return the memory with the change."
)
right.mistake("forgets_everything_else", {"value - fetched": "value", "memory + along": "along"}, loses=ALL).feedback(
    "You return a new memory with only this value, so everything written before is lost. Queries perpendicular to "
    "the key must fetch the same as before."
)
right.mistake("fetches_with_the_scaled_key", loses=ALL).patch("""
- fetched = (key[..., None, :] @ memory)[..., 0, :]
+ along = key / key.square().sum(-1, keepdim=True)
+ fetched = (along[..., None, :] @ memory)[..., 0, :]
@@
- along = key / key.square().sum(-1, keepdim=True)
""").feedback(
    "You fetch with the divided key. The key fetches `key @ memory`, with the original key; the divided key is for "
    "writing."
)
right.mistake("half_a_step", {"value - fetched": "0.5 * (value - fetched)"}, loses=ALL).feedback(
    "You write only half of what is missing. Some models do write a share (beta) of it; here the key must fetch "
    "the value exactly."
)
right.mistake(arguments.argument_changed(what="the memory"), loses="the old memory").patch("""
- return memory + along[..., :, None] * missing[..., None, :]
+ return memory.detach().add_(along[..., :, None] * missing[..., None, :])
""")
right.mistake(numbers.always_float64(of="the arguments"), {"return memory": "return memory.double()"}, loses="float32")
right.mistake(shapes.result_squeezed, loses="one key")
