"""Known mistakes in `twice`."""

from ...shared.families import arguments, gradients, numbers, results, shapes
from ...shared.repeating import keeps_its_last_result
from .contract import twice

right = twice.reference_answer("""
def twice(x):
    return 2 * x
""")

right.mistake("squares", {"2 * x": "x * x"}, loses="every number").feedback(
    "You square each number: 3 becomes 9. Twice a number is the number times 2."
)
right.mistake("adds_two", {"2 * x": "x + 2"}, loses="every number").feedback(
    "You add 2 to each number. Twice a number is the number times 2."
)
right.mistake("halves", {"2 * x": "x / 2"}, loses="every number").feedback(
    "You halve each number instead of doubling it."
)
right.mistake("leaves_it", {"2 * x": "1 * x"}, loses="every number").feedback("You return every number unchanged.")
right.mistake(results.nothing_returned, {"return 2 * x": "print(2 * x)"}, loses="every number")
right.mistake("says_it_twice", {"2 * x": "TWO"}, loses="every number").for_each(
    TWO=("torch.cat([x.reshape(-1), x.reshape(-1)])", "torch.cat([x, x])", "torch.cat([x, x], dim=-1)", "x.repeat(2)")
).feedback("You join `x` to a copy of itself. Double each of its numbers instead.")
right.mistake("doubles_the_sum", {"return 2 * x": "return 2 * x.sum()"}, loses="every number").feedback(
    "You add up the numbers first. A sum is one number, but the result has the shape of `x`."
)
twice.mistake("the_first_only", loses="every number").full_code("""
def twice(x):
    return torch.cat([2 * x.flatten()[:1], x.flatten()[1:]]).reshape(x.shape)
""").feedback("You double only the first number. An operation on the whole tensor needs no index.")
right.mistake(arguments.argument_changed(what="`x`"), {"2 * x": "x.detach().mul_(2)"}, loses=("x itself", "gradients"))
right.mistake(gradients.cut(what="`x`"), {"2 * x": "2 * x.detach()"}, loses="gradients", clause="gradients")
right.mistake(numbers.always_float32(of="`x`"), {"2 * x": "(2 * x).float()"}, loses="float64", clause="dtype")
keeps_its_last_result(right, loses="every number")
right.mistake(numbers.float32_on_the_way, {"2 * x": "(2 * x).float().to(x.dtype)"}, loses="float64")
right.mistake(shapes.result_squeezed, loses="of any shape", clause="shape")
right.mistake("stacks_two_copies", {"2 * x": "torch.stack([x, x])"}, loses="every number").feedback(
    "You stack two copies of `x`, which adds a dimension. Add them instead: `x + x`."
)
twice.mistake("returns_inside_the_loop", loses="every number").full_code("""
def twice(x):
    out = torch.zeros_like(x)
    for i in range(len(x)):
        out[i] = 2 * x[i]
        return out
""").feedback(
    "You return inside the loop, so only the first number or row is doubled. Double the whole tensor at once."
)
twice.mistake("doubles_lists", loses="of any shape").full_code("""
def twice(x):
    return torch.tensor([2 * row for row in x.tolist()])
""").feedback(
    "You double Python lists, but `2 * [1, 2]` is `[1, 2, 1, 2]`. Compute with the tensor itself, which keeps its "
    "gradient."
)
right.mistake("another_factor", {"2 * x": "FACTOR * x"}, loses="every number").for_each(
    FACTOR=(3, 4, -2, 1.5)
).feedback("You multiply each number by a factor other than 2.")
right.mistake("doubles_some_only", {"2 * x": "torch.where(x > 0, 2 * x, OTHER)"}, loses="of any shape").for_each(
    OTHER=("x", "0 * x")
).feedback("You double only the positive numbers. Double the negative ones too.")
right.mistake("flattens", {"2 * x": "2 * x.flatten()"}, loses="of any shape").feedback(
    "You flatten `x`. The numbers are right, but the result must have the shape of `x`."
)
right.mistake("raises_two_to_x", {"2 * x": "2**x"}, loses="every number").feedback(
    "You compute `2 ** x`, 2 to the power of `x`. Twice a number is the number times 2."
)
right.mistake("rounds", {"2 * x": "WHOLE"}, loses="every number").for_each(
    WHOLE=("(2 * x).round()", "2 * x.int()", "2 * x.long()", "(2 * x).int()")
).feedback("You turn fractions into whole numbers, with `int`, `long` or `round`.")
right.mistake("multiplies_by_the_length", {"2 * x": "len(x) * x"}, loses="every number").feedback(
    "You multiply by the number of entries or rows of `x`. Multiply by 2."
)
