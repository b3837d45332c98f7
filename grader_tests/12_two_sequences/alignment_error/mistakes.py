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
    "This is the share that is right. The error is the share that is wrong."
)
right.mistake("counts_the_wrong_ones", {" / counted": ""}, loses=EVERYWHERE).feedback(
    "You return a number of targets. The error is a share: divide by how many have a source."
)
right.mistake("divides_by_all_targets", {"/ counted": "/ len(alignment)"}, loses="targets without").feedback(
    "You divide by the number of all targets. Those without a source are not counted above, and not below."
)
right.mistake("takes_no_source_for_wrong", loses="targets without").patch("""
- return (wrong & has_source).sum().to(weights.dtype) / counted
+ return wrong.to(weights.dtype).mean()
""").feedback("A target without a source, -1, counts as wrong. There is no place that it should look at: leave it out.")
right.mistake("counts_no_source_above_alone", {"(wrong & has_source)": "wrong"}, loses="targets without").feedback(
    "You divide by those that have a source, but count the others among the wrong ones, so that the share can exceed 1."
)
right.mistake("takes_minus_one_for_the_last", loses="targets without").patch("""
- wrong = looks_at != alignment
+ wrong = looks_at != alignment % weights.shape[1]
+ has_source = alignment == alignment
""").feedback("You take -1 for the last source position, as Python's indexing does. Here it says that there is none.")
right.mistake("takes_minus_one_for_the_first", loses="targets without").patch("""
- wrong = looks_at != alignment
+ wrong = looks_at != alignment.clamp(min=0)
+ has_source = alignment == alignment
""").feedback("You take -1 for position 0 (`clamp`). It says that there is no source: such a target does not count.")
right.mistake("counts_in_percent", {") / counted": ") * 100 / counted"}, loses=EVERYWHERE).feedback(
    "You return percent. A share lies between 0 and 1."
)
right.mistake(
    "divides_in_whole_numbers", {".to(weights.dtype) / counted": " // counted + 0 * weights[0, 0]"}, loses=VALUES
).feedback("You divide in whole numbers (`//`, or ints), which leaves 0 or 1. Convert to the dtype of weights first.")
right.mistake("leaves_out_the_first_source", {"alignment >= 0": "alignment > 0"}, loses=EVERYWHERE).feedback(
    "Targets whose source is position 0 are left out. Only -1 means that there is none."
)
right.mistake("looks_along_the_targets", loses=EVERYWHERE).patch("""
- looks_at = weights.argmax(-1)
+ looks_at = torch.nn.functional.pad(weights.argmax(0), (0, len(weights)))[: len(weights)]
""").feedback(
    "You take the greatest weight of each column: which target looks there most. Each target has a row: argmax(-1)."
)
right.mistake("takes_the_least_weight", {"argmax": "argmin"}, loses=VALUES).feedback(
    "You look where the weight is least. A target looks where it is greatest."
)
right.mistake("measures_the_missing_weight", loses=EVERYWHERE).patch("""
- return (wrong & has_source).sum().to(weights.dtype) / counted
+ there = weights.gather(1, alignment.clamp(min=0)[:, None])[:, 0]
+ return ((1 - there) * has_source).sum() / counted
""").feedback(
    "You add up the weight that lies elsewhere. Only *where* the greatest lies is asked, not how great it is."
)
right.mistake("asks_for_more_than_half", loses=VALUES).patch("""
- return (wrong & has_source).sum().to(weights.dtype) / counted
+ there = weights.gather(1, alignment.clamp(min=0)[:, None])[:, 0]
+ return ((there <= 0.5) & has_source).sum().to(weights.dtype) / counted
""").feedback("You ask whether more than half of the weight lies there. The greatest weight of a row can be far less.")
right.mistake("measures_how_far_off", loses=VALUES).patch("""
- return (wrong & has_source).sum().to(weights.dtype) / counted
+ far = (looks_at - alignment).abs()
+ return (far * has_source).sum().to(weights.dtype) / counted
""").feedback("You average how many places each target is off. A miss is a miss, by one place or by ten.")
right.mistake("compares_with_the_diagonal", loses=VALUES).patch("""
- wrong = looks_at != alignment
+ wrong = looks_at != torch.arange(len(alignment), device=alignment.device)
""").feedback(
    "You compare with the target's own number, as if word t always came from word t. `alignment` says where it comes "
    "from."
)
right.mistake("divides_by_the_source_positions", {"/ counted": "/ weights.shape[1]"}, loses=EVERYWHERE).feedback(
    "You divide by the number of source positions. Count the targets that have a source."
)
right.mistake("gives_nan_where_none_counts", loses="targets without").patch("""
- if counted == 0:
-     return weights.new_zeros(())
""").feedback("Where no target has a source you divide 0 by 0, which is NaN. The error is then 0.")
right.mistake("gives_one_where_none_counts", {"new_zeros": "new_ones"}, loses="targets without").feedback(
    "Where no target has a source you return 1. Nothing is wrong then: 0."
)
right.mistake(
    "returns_a_vector", {"new_zeros(())": "new_zeros(1)", "(weights.dtype)": "(weights.dtype)[None]"}, loses=EVERYWHERE
).feedback("Your result has the shape (1,). It is a single number, a tensor of no dimension.")
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
    "Where no target has a source your 0 is of another kind than your other results: it is a tensor of no dimension, "
    "too, with dtype and device of the weights."
)
right.mistake("takes_one_place_for_all", {"weights.argmax(-1)": "weights.argmax()"}, loses=VALUES).feedback(
    "You look for the greatest of all weights. Each target has a row of its own: argmax(-1)."
)
right.mistake("asks_for_a_gradient", {"/ counted": "/ counted + 0 * weights.sum()"}, loses="the dtype").feedback(
    "Your result requires a gradient where the weights do. A count of misses has none: it does not change when the "
    "weights change a little."
)
right.mistake(
    "marks_in_place", {"looks_at != alignment": "looks_at != alignment.clamp_(min=0)"}, loses="the dtype"
).feedback("You write into `alignment`: after the call its -1 are gone, for whoever uses it next. Make a new tensor.")
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
    "You count every target. One without a source, -1, has no position to look at: leave it out, and return 0 where no "
    "target has a source."
)
