"""Known mistakes in `append_to_cache`."""

from ...shared.families import arguments, gradients, numbers, shapes
from .contract import append_to_cache

AFTER = "new ones"  # what an answer loses that joins wrongly

right = append_to_cache.reference_answer("""
def append_to_cache(cache, key, value):
    if cache is None:
        return key, value
    keys, values = cache
    for name, old, more in (("key", keys, key), ("value", values, value)):
        if old.shape[:2] != more.shape[:2] or old.shape[-1] != more.shape[-1]:
            raise ValueError(f"{name} is {tuple(more.shape)}, which does not follow {tuple(old.shape)}")
    return torch.cat([keys, key], dim=-2), torch.cat([values, value], dim=-2)
""")

right.mistake(
    "new_ones_first", {"[keys, key]": "[key, keys]", "[values, value]": "[value, values]"}, loses=AFTER
).feedback("You put the new keys and values first. A cache is in the order of the sentence: new ones come last.")
right.mistake(
    shapes.squeezed,
    {"        return key, value": "        return tuple(part.squeeze(1) for part in (key, value))"},
    loses="nothing",
).feedback(
    "You use `squeeze(1)`, which removes the dimension of the heads when there is one head. A cache always has four "
    "dimensions."
)
right.mistake(
    numbers.default_device(what="the longer tensor", where="the cache", how="`torch.cat` does"),
    {
        "torch.cat([keys, key], dim=-2)": "torch.empty(*key.shape[:2], keys.shape[2] + key.shape[2], key.shape[3], "
        "dtype=key.dtype).copy_(torch.cat([keys, key], dim=-2))"
    },
    loses="float64",
)
right.mistake("forgets_what_was_kept", loses=AFTER).patch("""
- return torch.cat([keys, key], dim=-2), torch.cat([values, value], dim=-2)
+ return key, value
""").feedback("You lose what was kept: your result holds only the new keys and values.")
right.mistake("keeps_nothing_new", loses=AFTER).patch("""
- return torch.cat([keys, key], dim=-2), torch.cat([values, value], dim=-2)
+ return keys, values
""").feedback("You return the cache as it was, without the new keys and values.")
right.mistake("joins_along_the_width", loses=AFTER).patch("""
- return torch.cat([keys, key], dim=-2), torch.cat([values, value], dim=-2)
+ wide = keys, key[..., :1, :].expand_as(keys), values, value[..., :1, :].expand_as(values)
+ return torch.cat(wide[:2], dim=-1), torch.cat(wide[2:], dim=-1)
""").feedback("You join positions along the width of a head. The dimension that grows is the last but one.")
right.mistake("values_before_keys", loses=AFTER).patch("""
- return torch.cat([keys, key], dim=-2), torch.cat([values, value], dim=-2)
+ return torch.cat([values, value], dim=-2), torch.cat([keys, key], dim=-2)
""").feedback("You have swapped keys and values. The pair is (keys, values).")
right.mistake("exchanges_them_at_the_start", {"return key, value": "return value, key"}, loses="nothing").feedback(
    "You return (values, keys) when there is no cache. The pair is always (keys, values)."
)
right.mistake("keys_only", {", torch.cat([values, value], dim=-2)": ", values"}, loses=AFTER).feedback(
    "You do not append the new values. Keys and values are kept together, one of each for every position."
)
right.mistake(
    "values_from_the_keys", {"torch.cat([values, value], dim=-2)": "torch.cat([keys, key], dim=-2)"}, loses=AFTER
).feedback("You return the keys twice. The second of the two results should be the values.")
right.mistake("forgets_the_first_ones", {"return key, value": "return FIRST"}, loses="nothing").for_each(
    FIRST=("None", "key[:, :, :0], value[:, :, :0]")
).feedback(
    "You lose the new keys and values when there is no cache. The first ones are kept as well: they are the cache then."
)
right.mistake("keeps_one_new_one", loses=AFTER).patch("""
- return torch.cat([keys, key], dim=-2), torch.cat([values, value], dim=-2)
+ return torch.cat([keys, key[:, :, PLACE]], dim=-2), torch.cat([values, value[:, :, PLACE]], dim=-2)
""").for_each(PLACE=("-1:", ":1")).feedback(
    "You keep only one of the new positions. Several may come at once, such as a whole prompt, and all of them are "
    "kept."
)
right.mistake("needs_a_cache", loses="nothing").patch("""
- if cache is None:
-     return key, value
""").feedback("Your function fails with `cache=None`. Before the first token nothing is kept.")
right.mistake(
    arguments.not_refused(
        "You do not compare the shapes, so the error comes from inside PyTorch. Raise a ValueError that names the "
        "argument and its shape."
    ),
    loses="ValueError",
)
right.mistake("looks_at_keys_only", {', ("value", values, value))': ",)"}, loses="ValueError").feedback(
    "You compare only the keys with what is kept. Values can have the wrong width, too."
)
right.mistake("looks_at_values_only", loses="ValueError").patch("""
- for name, old, more in (("key", keys, key), ("value", values, value)):
+ for name, old, more in (("value", values, value),):
""").feedback("You compare only the values with what is kept. Keys can have the wrong width, too.")
right.mistake("compares_no_widths", {" or old.shape[-1] != more.shape[-1]": ""}, loses="ValueError").feedback(
    "You do not compare the widths. New keys must be as wide as those that are kept, and new values as wide as theirs."
)
right.mistake("compares_widths_only", {"old.shape[:2] != more.shape[:2] or ": ""}, loses="ValueError").feedback(
    "You compare only the widths. The batch size and the number of heads must agree as well."
)
right.mistake(
    "compares_no_batch", {"old.shape[:2] != more.shape[:2]": "old.shape[1] != more.shape[1]"}, loses="Value"
).feedback("You do not compare the batch sizes: new tokens of two sequences cannot follow those of three.")
right.mistake(
    "compares_no_heads", {"old.shape[:2] != more.shape[:2]": "old.shape[0] != more.shape[0]"}, loses="Value"
).feedback("You do not compare the number of heads with that of what is kept.")
right.mistake(
    arguments.unchecked("compares_both_at_once"), {" or old.shape": " and old.shape"}, loses="ValueError"
).feedback("You raise an error only where batch or heads differ *and* the width differs, too. Either is enough.")
right.mistake("compares_how_many_numbers", loses="ValueError").patch("""
- if old.shape[:2] != more.shape[:2] or old.shape[-1] != more.shape[-1]:
+ if old[:, :, 0].numel() != more[:, :, 0].numel():
""").feedback("You compare only how many numbers there are. Two sequences of three heads cannot follow three of two.")
right.mistake(
    arguments.error_without_name()("an_error_that_does_not_say_what"),
    {'f"{name} is {tuple(more.shape)}, which does not follow {tuple(old.shape)}"': "MESSAGE"},
    loses="ValueError",
).for_each(MESSAGE=("name", '"shapes differ"')).feedback(
    "Your error message lacks the wrong argument (`key` or `value`) or its shape. It must name both."
)
right.mistake(arguments.valid_refused("refuses_other_widths"), loses=(AFTER, "ValueError")).patch("""
- if old.shape[:2] != more.shape[:2] or old.shape[-1] != more.shape[-1]:
+ if old.shape[:2] != more.shape[:2] or WIDTHS:
""").for_each(WIDTHS=("more.shape[-1] != keys.shape[-1]", "key.shape[-1] != value.shape[-1]")).feedback(
    "You refuse values that are not as wide as the keys. Values have their own width: compare values with values."
)
right.mistake("joins_another_dimension", loses=AFTER).patch("""
- return torch.cat([keys, key], dim=-2), torch.cat([values, value], dim=-2)
+ return torch.cat([keys, key], dim=DIM), torch.cat([values, value], dim=DIM)
""").for_each(DIM=(0, 1, -1)).feedback(
    "You join old and new along the wrong dimension: the batch, the heads or the width. Positions are the last but one."
)
right.mistake(
    arguments.valid_refused("refuses_other_lengths"),
    {"old.shape[:2] != more.shape[:2] or old.shape[-1] != more.shape[-1]": "old.shape != more.shape"},
    loses=(AFTER, "ValueError"),
).feedback("You refuse new positions unless there are as many as are kept. Any number is allowed: usually it is one.")
right.mistake(arguments.asserts(), loses="ValueError")
right.mistake(
    arguments.wrong_error("TypeError")("raises_another_error"), {"raise ValueError": "raise ERROR"}, loses="ValueError"
).for_each(ERROR=("TypeError", "RuntimeError")).feedback(
    "You raise the wrong error. Tensors that do not fit have the right type but a wrong shape: raise a ValueError."
)
right.mistake(
    gradients.cut("cuts_gradients_off"),
    {"(cache, key, value):": "(cache, key, value):\n    cut = torch.Tensor.detach\n    CUT"},
    loses="gradients",
).for_each(
    CUT=(
        "key, value, cache = cut(key), cut(value), cache and (cut(cache[0]), cut(cache[1]))",
        "key, value, cache = (key, value, cache) if cache is None else (cut(key), cut(value), tuple(map(cut, cache)))",
        "key, value = (key, value) if cache else (cut(key), cut(value))",
        "key, value = (cut(key), cut(value)) if cache else (key, value)",
        "key, value = cut(key), cut(value)",
        "value, cache = cut(value), cache and (cache[0], cut(cache[1]))",
        "value, cache = (value, cache) if cache is None else (cut(value), (cache[0], cut(cache[1])))",
    )
)
right.mistake(gradients.cut("detached", what="the kept keys and values"), loses="gradients").patch("""
- return torch.cat([keys, key], dim=-2), torch.cat([values, value], dim=-2)
+ return torch.cat([keys.detach(), key], dim=-2), torch.cat([values.detach(), value], dim=-2)
""")
right.mistake(
    numbers.always_float32(of="the keys and values"),
    {
        "(cache, key, value):": "(cache, key, value):\n    if ALWAYS:\n        key, value = key.float(), value.float()",
        "keys, values = cache": "keys, values = cache[0].float(), cache[1].float()\n    key, value = key.float(), "
        "value.float()",
    },
    loses="float64",
).for_each(ALWAYS=(False, True))
right.mistake("drops_the_oldest", loses=AFTER).patch("""
- return torch.cat([keys, key], dim=-2), torch.cat([values, value], dim=-2)
+ S = keys.shape[-2]
+ return torch.cat([keys, key], dim=-2)[..., -S:, :], torch.cat([values, value], dim=-2)[..., -S:, :]
""").feedback("You drop an old position for every new one, so the cache does not grow. Here all of them are kept.")
right.mistake("joins_heads", loses=AFTER).patch("""
- return torch.cat([keys, key], dim=-2), torch.cat([values, value], dim=-2)
+ grow = lambda old, more: torch.cat([old.transpose(1, 2), more.transpose(1, 2)], dim=1)
+ return grow(keys, key), grow(values, value)
""").feedback("You have swapped the dimensions of heads and positions in the result. It should be (B, H, S + T, K).")
append_to_cache.mistake(arguments.argument_changed("writes_into_what_is_shared"), loses=AFTER).full_code("""
def append_to_cache(cache, key, value):
    grown = []
    for name, old, more in zip(("key", "value"), cache or (key[:, :, :0], value[:, :, :0]), (key, value)):
        if old.shape[:2] != more.shape[:2] or old.shape[-1] != more.shape[-1]:
            raise ValueError(f"{name} is {tuple(more.shape)}, which does not follow {tuple(old.shape)}")
        S, T = old.shape[-2], more.shape[-2]
        room = getattr(old, "room", None)
        if room is None or room.shape[-2] < S + T:
            room = torch.cat([old, more, torch.zeros_like(more), torch.zeros_like(more)], -2)
        room[..., S : S + T, :] = more
        grown.append(room[..., : S + T, :])
        grown[-1].room = room
    return tuple(grown)
""").feedback(
    "You write new keys and values into memory that earlier results share. When two answers continue from one cache, "
    "the second overwrites the first."
)
right.mistake(numbers.computed_in_float32, loses="float64")
