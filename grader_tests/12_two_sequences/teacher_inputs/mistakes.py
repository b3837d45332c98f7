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
    "Your result is one longer than the targets. The last of them is never read: nothing is predicted after it."
)
right.mistake("drops_the_first_target", {"[:, :-1]": "[:, 1:]"}, loses="begin, then").feedback(
    "You drop the first target and keep the last, so that from the second place on the decoder reads the very word "
    "that it has to say."
)
right.mistake("puts_begin_last", {"[first, targets[:, :-1]]": "[targets[:, 1:], first]"}, loses="begin, then").feedback(
    "You shift to the left, and `begin` comes last. The decoder begins with it: what it reads lies one place *behind*."
)
right.mistake("wraps_the_last_round", loses=EVERYWHERE).patch("""
- first = targets.new_full((len(targets), 1), begin)
- return torch.cat([first, targets[:, :-1]], dim=1)
+ return targets.roll(1, dims=1)
""").feedback("The last target comes round to the front. What stands there is `begin`, which you never use.")
right.mistake("does_not_shift", loses=EVERYWHERE).patch("""
- first = targets.new_full((len(targets), 1), begin)
- return torch.cat([first, targets[:, :-1]], dim=1)
+ return targets
""").feedback("You hand back the targets: the decoder would read at each place the word that it has to predict there.")
right.mistake("begins_with_zero", {", 1), begin": ", 1), 0"}, loses=EVERYWHERE).feedback(
    "The first column is always 0. It is `begin`, whichever number that is."
)
right.mistake("begins_with_one", {", 1), begin": ", 1), 1"}, loses=EVERYWHERE).feedback(
    "The first column is always 1. It is `begin`, whichever number that is."
)
right.mistake("shifts_the_sentences", loses="begin, then").patch("""
- first = targets.new_full((len(targets), 1), begin)
- return torch.cat([first, targets[:, :-1]], dim=1)
+ first = targets.new_full((1, targets.shape[1]), begin)
+ return torch.cat([first, targets[:-1]], dim=0)
""").feedback("You shift along the batch: every sentence is replaced by the one before it. Shift along dimension 1.")
right.mistake("shifts_by_two", loses="begin, then").patch("""
- return torch.cat([first, targets[:, :-1]], dim=1)
+ return torch.cat([first, first, targets], dim=1)[:, : targets.shape[1]]
""").feedback("`begin` stands twice at the front, and so everything is one place too late.")
right.mistake(
    "removes_one_from_the_end_alone", {"[first, targets[:, :-1]]": "[targets[:, :-1]]"}, loses=EVERYWHERE
).feedback("You take the last target off, and put nothing at the front: the result begins with `begin`.")
right.mistake("leaves_a_place_free_for_the_end", {"[:, :-1]": "[:, :-2]"}, loses="begin, then").feedback(
    "You take two targets off the end. Only the last one is never read; the result has the shape of the targets."
)
right.mistake("drops_the_batch", {"dim=1)": "dim=1)[0]"}, loses=EVERYWHERE).feedback(
    "You return the first sentence alone. The result has a row for each sentence of the batch."
)
right.mistake("makes_floats", loses="int64").patch("""
- first = targets.new_full((len(targets), 1), begin)
+ first = torch.full((len(targets), 1), float(begin))
""").feedback("The numbers are right, but they are floating-point. Ids are int64: an embedding takes nothing else.")
right.mistake("makes_int32", {"dim=1)": "dim=1).int()"}, loses="int64").feedback(
    "The ids are right, as int32. They are int64, like targets."
)
right.mistake(
    numbers.float32_on_the_way("passes_through_float32"), {"dim=1)": "dim=1).float().long()"}, loses="int64"
).feedback("On the way the ids are float32, which does not tell large whole numbers apart. Keep them int64 throughout.")
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
        what="a tensor of lists",
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
    "Only the first sentence begins with `begin`; what stands at the front of the others came round from the end. "
    "Write into the whole column, `[:, 0]`."
)
right.mistake("writes_over_the_first_target", loses=EVERYWHERE).patch("""
- first = targets.new_full((len(targets), 1), begin)
- return torch.cat([first, targets[:, :-1]], dim=1)
+ targets[:, 0] = begin
+ return targets
""").feedback(
    "You write `begin` over the first target, in the caller's own tensor, and leave the others where they were. Make a "
    "new tensor, in which every target comes one position later."
)
