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
    "You add the new value to what the key fetches already, and afterwards it fetches the sum of both. Write only what "
    "is missing."
)
right.mistake("not_divided", {"key / key.square().sum(-1, keepdim=True)": "key"}, loses=ALL).feedback(
    "Right for keys of length 1 only. A key of length 2 fetches 4 times what was written: once its length counts as it "
    "is written, and once as it is read."
)
right.mistake(
    "divided_by_the_length", {"key.square().sum(-1, keepdim=True)": "key.norm(dim=-1, keepdim=True)"}, loses=ALL
).feedback("You divide by the length of the key. It counts twice, in writing and in reading: divide by its square.")
right.mistake("divided_by_all_squares", {"sum(-1, keepdim=True)": "sum()"}, loses="many memories").feedback(
    "Each key is divided by the squares of all keys of the batch. It needs its own."
)
right.mistake("the_wrong_sign", {"value - fetched": "fetched - value"}, loses=ALL).feedback(
    "The change has the wrong sign: what is missing is the value minus what is fetched."
)
right.mistake("the_change_alone", {"return memory + along": "return along"}, loses=ALL).feedback(
    "You return the change. The memory with the change is asked for."
)
right.mistake("forgets_everything_else", {"value - fetched": "value", "memory + along": "along"}, loses=ALL).feedback(
    "A new memory with this one value in it: all that was written before is gone. Queries perpendicular to the key "
    "have to fetch what they fetched."
)
right.mistake("fetches_with_the_scaled_key", loses=ALL).patch("""
- fetched = (key[..., None, :] @ memory)[..., 0, :]
+ along = key / key.square().sum(-1, keepdim=True)
+ fetched = (along[..., None, :] @ memory)[..., 0, :]
@@
- along = key / key.square().sum(-1, keepdim=True)
""").feedback("What the key fetches is `key @ memory`, with the key as it is. The divided key is for writing.")
right.mistake("half_a_step", {"value - fetched": "0.5 * (value - fetched)"}, loses=ALL).feedback(
    "Only half of what is missing is written. Some models do write a share (beta) of it; here the key is to fetch the "
    "value exactly."
)
right.mistake(arguments.argument_changed(what="the memory"), loses="the old memory").patch("""
- return memory + along[..., :, None] * missing[..., None, :]
+ return memory.detach().add_(along[..., :, None] * missing[..., None, :])
""")
right.mistake(numbers.always_float64(of="the arguments"), {"return memory": "return memory.double()"}, loses="float32")
right.mistake(shapes.result_squeezed, loses="one key")
