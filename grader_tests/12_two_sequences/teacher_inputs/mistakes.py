"""Known mistakes in `teacher_inputs`."""

from ...shared.families import numbers
from .contract import teacher_inputs

EVERYWHERE = ("begin, then", "one target")  # what an answer loses whose every result is wrong

right = teacher_inputs.reference_answer("""
def teacher_inputs(targets, begin):
    first = targets.new_full((len(targets), 1), begin)
    return torch.cat([first, targets[:, :-1]], dim=1)
""")

right.mistake("keeps_the_last_target", {"[:, :-1]": ""}, loses=EVERYWHERE).feedback(
    "Your result is one longer than the targets. The last target is never read, because nothing is predicted after it."
)
right.mistake("drops_the_first_target", {"[:, :-1]": "[:, 1:]"}, loses="begin, then").feedback(
    "You drop the first target and keep the last. From the second position on, the decoder then reads the very word "
    "that it has to predict."
)
right.mistake("puts_begin_last", {"[first, targets[:, :-1]]": "[targets[:, 1:], first]"}, loses="begin, then").feedback(
    "You shift to the left and put `begin` last. The decoder begins with it: its inputs are the targets one "
    "position *later*."
)
right.mistake("wraps_the_last_round", loses=EVERYWHERE).patch("""
- first = targets.new_full((len(targets), 1), begin)
- return torch.cat([first, targets[:, :-1]], dim=1)
+ return targets.roll(1, dims=1)
""").feedback(
    "You let the last target wrap around to the front. That position belongs to `begin`, which you never use."
)
right.mistake("does_not_shift", loses=EVERYWHERE).patch("""
- first = targets.new_full((len(targets), 1), begin)
- return torch.cat([first, targets[:, :-1]], dim=1)
+ return targets
""").feedback(
    "You return the targets unchanged. The decoder would read at each position the word that it has to predict there."
)
right.mistake("begins_with_zero", {", 1), begin": ", 1), 0"}, loses=EVERYWHERE).feedback(
    "Your first column is always 0. It should hold `begin`, whatever its value."
)
right.mistake("begins_with_one", {", 1), begin": ", 1), 1"}, loses=EVERYWHERE).feedback(
    "Your first column is always 1. It should hold `begin`, whatever its value."
)
right.mistake("shifts_the_sentences", loses="begin, then").patch("""
- first = targets.new_full((len(targets), 1), begin)
- return torch.cat([first, targets[:, :-1]], dim=1)
+ first = targets.new_full((1, targets.shape[1]), begin)
+ return torch.cat([first, targets[:-1]], dim=0)
""").feedback("You shift along the batch, so every sentence is replaced by the one before it. Shift along dimension 1.")
right.mistake("shifts_by_two", loses="begin, then").patch("""
- return torch.cat([first, targets[:, :-1]], dim=1)
+ return torch.cat([first, first, targets], dim=1)[:, : targets.shape[1]]
""").feedback("You put `begin` at the front twice, so everything else is one position too late.")
right.mistake(
    "removes_one_from_the_end_alone", {"[first, targets[:, :-1]]": "[targets[:, :-1]]"}, loses=EVERYWHERE
).feedback("You remove the last target but put nothing at the front. The result should start with `begin`.")
right.mistake("leaves_a_place_free_for_the_end", {"[:, :-1]": "[:, :-2]"}, loses="begin, then").feedback(
    "You remove two targets from the end. Only the last one is never read; the result has the shape of the targets."
)
right.mistake("drops_the_batch", {"dim=1)": "dim=1)[0]"}, loses=EVERYWHERE).feedback(
    "You return only the first sentence. The result has one row per sentence of the batch."
)
right.mistake("makes_floats", loses="int64").patch("""
- first = targets.new_full((len(targets), 1), begin)
+ first = torch.full((len(targets), 1), float(begin))
""").feedback("Your numbers are right, but they are floating-point. Ids are int64: an embedding needs integers.")
right.mistake("makes_int32", {"dim=1)": "dim=1).int()"}, loses="int64").feedback(
    "You return the right ids as int32. They should be int64, like the targets."
)
right.mistake(
    numbers.float32_on_the_way("passes_through_float32"), {"dim=1)": "dim=1).float().long()"}, loses="int64"
).feedback(
    "You convert the ids to float32 on the way, which cannot tell large integers apart. Keep them int64 throughout."
)
right.mistake("shifts_in_place", loses="int64").patch("""
- first = targets.new_full((len(targets), 1), begin)
- return torch.cat([first, targets[:, :-1]], dim=1)
+ targets[:, 1:] = targets[:, :-1].clone()
+ targets[:, 0] = begin
+ return targets
""").feedback("You write into `targets`. The loss still needs them as they were: make a new tensor.")
right.mistake(
    numbers.default_device(
        "makes_begin_elsewhere", where="`targets`", what="the column of `begin`", how="`targets.new_full`"
    ),
    {"targets.new_full((len(targets), 1), begin)": "torch.full((len(targets), 1), begin)"},
    loses="int64",
)
right.mistake(
    numbers.default_device(
        "makes_a_tensor_of_lists_elsewhere",
        where="`targets`",
        what="a tensor",
        how="pass `device=`, or stay with tensors",
    ),
    loses="int64",
).patch("""
- first = targets.new_full((len(targets), 1), begin)
- return torch.cat([first, targets[:, :-1]], dim=1)
+ return torch.tensor([[begin, *row[:-1]] for row in targets.tolist()])
""")
right.mistake("begins_the_first_sentence_alone", loses=EVERYWHERE).patch("""
- first = targets.new_full((len(targets), 1), begin)
- return torch.cat([first, targets[:, :-1]], dim=1)
+ shifted = targets.ROLL
+ shifted[0, 0] = begin
+ return shifted
""").for_each(ROLL=("roll(1, dims=1)", "roll(1)")).feedback(
    "You put `begin` only in front of the first sentence. The others start with a target that wrapped around from "
    "the end. Write into the whole column, `[:, 0]`."
)
right.mistake("writes_over_the_first_target", loses=EVERYWHERE).patch("""
- first = targets.new_full((len(targets), 1), begin)
- return torch.cat([first, targets[:, :-1]], dim=1)
+ targets[:, 0] = begin
+ return targets
""").feedback(
    "You overwrite the first target with `begin`, in the caller's own tensor, and leave the others where they were. "
    "Make a new tensor in which every target is one position later."
)
