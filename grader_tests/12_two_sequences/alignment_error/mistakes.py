"""Known mistakes in `alignment_error`."""

from ...shared.families import numbers, results
from .contract import alignment_error

VALUES = "the share"
EVERYWHERE = (VALUES, "targets without")  # what an answer loses whose every result is wrong

right = alignment_error.reference_answer("""
def alignment_error(weights, alignment):
    has_source = alignment >= 0
    looks_at = weights.argmax(-1)
    wrong = looks_at != alignment
    counted = has_source.sum()
    if counted == 0:
        return weights.new_zeros(())
    return (wrong & has_source).sum().to(weights.dtype) / counted
""")

right.mistake("counts_what_is_right", {"looks_at != alignment": "looks_at == alignment"}, loses=EVERYWHERE).feedback(
    "You return the share that is right. The error is the share that is wrong."
)
right.mistake("counts_the_wrong_ones", {" / counted": ""}, loses=EVERYWHERE).feedback(
    "You return a number of targets. The error is a share: divide by the number of targets that have a source."
)
right.mistake("divides_by_all_targets", {"/ counted": "/ len(alignment)"}, loses="targets without").feedback(
    "You divide by the number of all targets. Targets without a source count neither as wrong nor in the divisor."
)
right.mistake("takes_no_source_for_wrong", loses="targets without").patch("""
- return (wrong & has_source).sum().to(weights.dtype) / counted
+ return wrong.to(weights.dtype).mean()
""").feedback(
    "You count a target without a source, −1, as wrong. There is no position that it should look at: leave it out."
)
right.mistake("counts_no_source_above_alone", {"(wrong & has_source)": "wrong"}, loses="targets without").feedback(
    "You count targets without a source as wrong, but leave them out of the divisor. The share can then exceed 1."
)
right.mistake("takes_minus_one_for_the_last", loses="targets without").patch("""
- wrong = looks_at != alignment
+ wrong = looks_at != alignment % weights.shape[1]
+ has_source = alignment == alignment
""").feedback(
    "You take −1 as the last source position, as Python's indexing does. Here it means that there is no source."
)
right.mistake("takes_minus_one_for_the_first", loses="targets without").patch("""
- wrong = looks_at != alignment
+ wrong = looks_at != alignment.clamp(min=0)
+ has_source = alignment == alignment
""").feedback(
    "You treat −1 as position 0, for example with `clamp`. It means that there is no source: such a target does not "
    "count."
)
right.mistake("counts_in_percent", {") / counted": ") * 100 / counted"}, loses=EVERYWHERE).feedback(
    "You return a percentage. A share is between 0 and 1."
)
right.mistake(
    "divides_in_whole_numbers", {".to(weights.dtype) / counted": " // counted + 0 * weights[0, 0]"}, loses=VALUES
).feedback("You divide as integers (`//`, or ints), which leaves 0 or 1. Convert to the dtype of the weights first.")
right.mistake("leaves_out_the_first_source", {"alignment >= 0": "alignment > 0"}, loses=EVERYWHERE).feedback(
    "You leave out the targets whose source is position 0. Only −1 means that there is no source."
)
right.mistake("looks_along_the_targets", loses=EVERYWHERE).patch("""
- looks_at = weights.argmax(-1)
+ looks_at = torch.nn.functional.pad(weights.argmax(0), (0, len(weights)))[: len(weights)]
""").feedback(
    "You take the largest weight of each column, which is the target that looks there most. Each target has a row: "
    "`argmax(-1)`."
)
right.mistake("takes_the_least_weight", {"argmax": "argmin"}, loses=VALUES).feedback(
    "You look for the smallest weight. A target looks where its weight is largest."
)
right.mistake("measures_the_missing_weight", loses=EVERYWHERE).patch("""
- return (wrong & has_source).sum().to(weights.dtype) / counted
+ there = weights.gather(1, alignment.clamp(min=0)[:, None])[:, 0]
+ return ((1 - there) * has_source).sum() / counted
""").feedback(
    "You add up the weight at the wrong positions. Only *where* the largest weight is counts, not how large it is."
)
right.mistake("asks_for_more_than_half", loses=VALUES).patch("""
- return (wrong & has_source).sum().to(weights.dtype) / counted
+ there = weights.gather(1, alignment.clamp(min=0)[:, None])[:, 0]
+ return ((there <= 0.5) & has_source).sum().to(weights.dtype) / counted
""").feedback(
    "You require more than half of the weight at the right position. The largest weight of a row can be far less "
    "than half."
)
right.mistake("measures_how_far_off", loses=VALUES).patch("""
- return (wrong & has_source).sum().to(weights.dtype) / counted
+ far = (looks_at - alignment).abs()
+ return (far * has_source).sum().to(weights.dtype) / counted
""").feedback(
    "You average how many positions each target is off. Every wrong target counts the same, whether it is off by "
    "one position or by ten."
)
right.mistake("compares_with_the_diagonal", loses=VALUES).patch("""
- wrong = looks_at != alignment
+ wrong = looks_at != torch.arange(len(alignment), device=alignment.device)
""").feedback(
    "You compare with the target's own position, as if word t always came from word t. `alignment` gives its true "
    "source."
)
right.mistake("divides_by_the_source_positions", {"/ counted": "/ weights.shape[1]"}, loses=EVERYWHERE).feedback(
    "You divide by the number of source positions. Count the targets that have a source."
)
right.mistake("gives_nan_where_none_counts", loses="targets without").patch("""
- if counted == 0:
-     return weights.new_zeros(())
""").feedback("You divide 0 by 0 if no target has a source, which gives NaN. The error is then 0.")
right.mistake("gives_one_where_none_counts", {"new_zeros": "new_ones"}, loses="targets without").feedback(
    "You return 1 if no target has a source. Nothing is wrong then: the error is 0."
)
right.mistake(
    "returns_a_vector", {"new_zeros(())": "new_zeros(1)", "(weights.dtype)": "(weights.dtype)[None]"}, loses=EVERYWHERE
).feedback("Your result has the shape (1,). It should be a single number, a tensor without dimensions.")
right.mistake(
    results.python_number,
    {"/ counted": "/ counted.item()", ".to(weights.dtype)": ".item()", "weights.new_zeros(())": "ZERO"},
    loses="the dtype",
).for_each(ZERO=("weights.new_zeros(())", "0.0"))
right.mistake(
    numbers.always_float32(of="the weights"),
    {"to(weights.dtype)": "float()", "weights.new_zeros(())": "ZERO"},
    loses="the dtype",
).for_each(ZERO=("weights.new_zeros(())", "torch.zeros(())"))
right.mistake(numbers.always_float64(of="the weights"), {"to(weights.dtype)": "double()"}, loses="the dtype")
right.mistake("gives_another_kind_of_zero", {"weights.new_zeros(())": "ZERO"}, loses="the dtype").for_each(
    ZERO=("torch.zeros(())", "0.0", "0")
).feedback(
    "Your 0 has the wrong type, dtype or device if no target has a source. Like every other result, it is a tensor "
    "without dimensions, with the dtype and device of the weights."
)
right.mistake("takes_one_place_for_all", {"weights.argmax(-1)": "weights.argmax()"}, loses=VALUES).feedback(
    "You look for the largest of all weights. Each target has its own row: `argmax(-1)`."
)
right.mistake("asks_for_a_gradient", {"/ counted": "/ counted + 0 * weights.sum()"}, loses="the dtype").feedback(
    "Your result requires a gradient if the weights do. A count of misses has no gradient: it does not change when "
    "the weights change a little."
)
right.mistake(
    "marks_in_place", {"looks_at != alignment": "looks_at != alignment.clamp_(min=0)"}, loses="the dtype"
).feedback(
    "You write into `alignment` and overwrite its −1 entries. The next user of the tensor needs them: make a new one."
)
right.mistake(numbers.default_device(where="`weights`"), loses="the dtype").patch("""
- wrong = looks_at != alignment
+ wrong = (looks_at != alignment) & torch.ones(len(alignment), dtype=torch.bool)
""")
right.mistake("counts_every_target", loses="targets without").patch("""
- if counted == 0:
-     return weights.new_zeros(())
- return (wrong & has_source).sum().to(weights.dtype) / counted
+ return wrong.to(weights.dtype).mean()
""").feedback(
    "You count every target. A target without a source, −1, has no position to look at: leave it out, and return 0 "
    "if no target has a source."
)
