"""Lesson 02: softmax, its logarithm, its temperature, and the entropy of what comes out.

Scores far from zero that lie close together stay below a few hundred, or get a wider tolerance:
`x - (m + log(sum))` is a legal order of operations, and rounds to the precision of the scores
themselves. Mutants of the solutions that survive `grading check` are equivalent: any number above
0 may stand in for a weight of 0 inside the logarithm, since 0 is multiplied by it.
"""

import math

import torch
import torch.nn.functional as F

from grading.judge.exercise import SUBJECT, Script, call, exercise, method, non_contiguous

NOT_ALLOWED = (
    "(log|safe|masked)?softmax(2d)?",
    "softmin",
    "logsumexp",
    "logcumsumexp",
    "(linear)?cross_entropy(_loss)?",
    "distributions",
)
INF = math.inf


def levels(*values):
    """A column of numbers, one for each row: scores of rows that lie far apart."""
    return torch.tensor(values).unsqueeze(-1)


def with_gaps(x, *places):
    """`x` with -inf at these places, which are indices into its last dimension, one tuple a row."""
    for row, gaps in zip(x.view(-1, x.shape[-1]), places, strict=True):
        row[list(gaps)] = -INF
    return x


def exact_zeros(seen, exact):
    """Where the exact weight is 0, the weight must be 0 and not merely small."""
    found, right = seen.values["result"], exact.values["result"]
    if found.shape != right.shape:
        return f"the result has shape {tuple(found.shape)}, and must have {tuple(right.shape)}"
    hidden = right == 0
    wrong = hidden & ~(found == 0)
    if wrong.any():
        return (
            f"{int(wrong.sum())} of the {int(hidden.sum())} weights that belong to a score of "
            "-inf are not exactly 0"
        )
    return None


def changes_nothing(seen, exact):
    """Only whether arguments were changed: what came out is judged elsewhere."""
    if seen.changed:
        return f"the call changed its argument `{next(iter(seen.changed))}` in place"
    return None


# ------------------------------------------------------------------------------------------ softmax

softmax = exercise(
    "softmax", points=7, see="Exercise 1: `softmax(x, dim=-1)`", forbidden=NOT_ALLOWED
)
softmax.hints = (
    "Take `[0, ln 2, ln 5]` and a pencil. What do you do with each score by itself, and what with "
    "all of them together? Then do the same with `[1000, 1001, 1002]`: which step goes wrong, and "
    "what could you have subtracted beforehand, without changing any weight?",
    "Three steps: subtract from each list its own largest score, exponentiate, divide by the sum "
    "of that list. Both the largest and the sum are taken along `dim`, and both have to line up "
    "with the list again: that is what `keepdim=True` is for. `x.amax(dim, keepdim=True)` gives "
    "the largest.",
    "The shape of the code: `exponentials = torch.exp(x - <largest along dim, kept>)`, then "
    "`return exponentials / <their sum along dim, kept>`. A score of -inf needs no line of its "
    "own.",
)


@softmax.oracle
def softmax_oracle(x, dim=-1):
    return torch.softmax(x, dim)


@softmax.example("the one on paper")
def _():
    yield call(torch.tensor([1.0, 2.0, 5.0]).log())


@softmax.example("two rows, along the last dimension")
def _():
    yield call(torch.tensor([[2.0, 0.0, -1.0, 1.0], [0.5, -3.0, 0.5, 2.0]]))


@softmax.example("the same two rows, along the first dimension")
def _():
    yield call(torch.tensor([[2.0, 0.0, -1.0, 1.0], [0.5, -3.0, 0.5, 2.0]]), dim=0)


@softmax.example("the middle one of three dimensions")
def _():
    x = [[[1.0, 0.0], [2.0, -1.0], [0.0, 0.5]], [[0.0, 3.0], [-2.0, 1.0], [1.0, 1.0]]]
    yield call(torch.tensor(x), dim=1)


@softmax.example("one row far above zero, one far below")
def _():
    yield call(torch.tensor([[400.0, 401.0, 402.0], [-402.0, -402.0, -401.0]]))


@softmax.example("a score of -inf")
def _():
    yield call(torch.tensor([0.0, -INF, 1.0]))


@softmax.example("float64 in, float64 out")
def _():
    yield call(torch.tensor([0.1, 0.2, -0.4], dtype=torch.float64))


@softmax.example("gradients flow back")
def _():
    yield call(torch.tensor([[1.0, -2.0, 0.5], [0.0, 3.0, 1.0]])).with_gradients()


WEIGHTS, DIMENSION = "positive weights that sum to 1", "along any dimension"
HUGE, HIDDEN = "scores of any size", "scores of minus infinity"
DOUBLE, GRADIENTS, PURE = "float64 stays float64", "gradients", "arguments stay as they were"
FAR = "gradients at large scores, and beside minus infinity"


@softmax.criterion(WEIGHTS, points=1.5)
def _(draw):
    yield call(draw.normal(7, scale=2.0))
    yield call(draw.normal(4, 6, scale=2.0))
    yield call(draw.normal(2, 3, 5))
    yield call(draw.uniform(5, low=-6.0, high=-1.0)).described("five negative scores")
    yield call(torch.full((3, 5), draw.number(-2.0, 2.0))).described("rows of equal scores")
    yield call(draw.normal(2, 300))
    yield call(torch.full((2, 300), draw.number(-2.0, 2.0))).described("300 equal scores")
    yield call(draw.normal(4, 1)).described("lists of one score each")
    yield call(non_contiguous(draw.normal(4, 5)))
    yield call(non_contiguous(draw.normal(2, 4, 3)))
    yield call(non_contiguous(draw.normal(6)))


@softmax.criterion(DIMENSION, points=1.5)
def _(draw):
    yield call(draw.normal(3, 5, 4), dim=1)
    yield call(draw.normal(3, 5), dim=0)
    yield call(draw.normal(3, 5), -2)
    yield call(draw.normal(2, 3, 4, 5), dim=-4)
    yield call(draw.normal(4, 2, 5, 3), dim=-2)
    yield call(draw.normal(2, 3, 4, 5), 2)
    yield call(draw.normal(2, 3, 4), dim=-1)
    yield call(draw.normal(6), 0)
    yield call(draw.normal(3, 1, 4), dim=1)
    yield call(draw.normal(2, 5, 1), dim=1)
    yield call(non_contiguous(draw.normal(4, 6)), dim=0)
    # Each column has a level of its own, so that a maximum of the rows does not help
    yield call(draw.normal(4, 3) + levels(20.0, -20.0, 0.0).T, dim=0)


@softmax.criterion(HUGE, points=1.5)
def _(draw):
    yield call(400.0 + draw.normal(5))
    yield call(draw.normal(3, 5) - 400.0)
    yield call(draw.normal(4, 5) + levels(400.0, -400.0, 0.0, 200.0))
    yield call(draw.normal(3, 5, scale=1e4))
    yield call(draw.normal(3, 5, scale=1e30))
    yield call(torch.tensor([[3e38, -3e38, 1.0], [-3e38, -2e38, -3e38]]))
    # A long list, whose largest score may stand anywhere
    wide = draw.normal(3, 40)
    wide[torch.arange(3), draw.integers(0, 40, 3)] += 200.0
    yield call(wide)
    # Half a unit in the last place of 10,000 is 0.0005, and this much may go into an exponent
    yield call(torch.tensor([[1e4, 1e4, 0.0, -1e4], [-3e4, 7.0, -1e4, 7.0]])).within(2e-3, 1e-5)
    yield call(2000.0 + draw.normal(2, 5, dtype=torch.float64))
    yield call(torch.tensor([[-INF, -1e30, -2e30], [-1e37, -INF, -2e37], [-INF, 1e30, -INF]]))


@softmax.criterion(HIDDEN, points=0.5)
def _(draw):
    one = with_gaps(draw.normal(4, 6), (2,), (0, 5), (0, 1, 2, 4, 5), (1, 3))
    yield call(one)
    yield call(one).holding(exact_zeros)
    low = with_gaps(draw.normal(3, 4) + levels(-40.0, -20.0, 30.0), (1,), (0,), (3,))
    yield call(low)
    yield call(low).holding(exact_zeros)


@softmax.criterion(DOUBLE, points=0.5)
def _(draw):
    yield call(draw.normal(3, 5, dtype=torch.float64))
    # The differences are smaller than what float32 keeps of numbers around a hundred
    yield call(100.0 + draw.normal(4, 6, scale=0.5, dtype=torch.float64))


@softmax.criterion(GRADIENTS, points=0.5)
def _(draw):
    yield call(draw.normal(7)).with_gradients()
    yield call(draw.normal(3, 5)).with_gradients()
    yield call(draw.normal(2, 4, 3, dtype=torch.float64), dim=1).with_gradients()


@softmax.criterion(FAR, points=0.5)
def _(draw):
    yield call(draw.normal(2, 5) + levels(300.0, -300.0)).with_gradients()
    x = with_gaps(draw.normal(3, 6), (2,), (5,), (1, 4))
    yield call(x).with_gradients().described("the gradient beside scores of -inf")


@softmax.criterion(PURE, points=0.5)
def _(draw):
    yield call(draw.normal(3, 5)).unchanged()
    yield call(with_gaps(draw.normal(2, 5) + levels(300.0, 0.0), (2,), (4,))).holding(
        changes_nothing
    )


@softmax.mistake(
    "Large scores give `nan` or `inf`: in float32 `exp` overflows from 88.7 on, and rounds to 0 "
    "below −104. Subtract the largest score of each list before you exponentiate.",
    shows=HUGE,
    see="3. A thousand is too much",
)
def subtracts_no_maximum(x, dim=-1):
    exponentials = torch.exp(x)
    return exponentials / exponentials.sum(dim, keepdim=True)


@softmax.mistake(
    "You subtract *one* maximum, that of the whole tensor. In a list far below it every "
    "exponential is rounded to 0, and 0 / 0 is `nan`: each list needs its own maximum.",
    shows=HUGE,
    see="10. Seen in the wild",
)
def one_maximum_for_the_whole_tensor(x, dim=-1):
    exponentials = torch.exp(x - x.max())
    return exponentials / exponentials.sum(dim, keepdim=True)


@softmax.mistake(
    "What you subtract is never below 0. A list of very negative scores is then not shifted at "
    "all, all its exponentials are rounded to 0, and 0 / 0 is `nan`.",
    shows=HUGE,
    see="10. Seen in the wild",
)
def subtracts_nothing_below_zero(x, dim=-1):
    exponentials = torch.exp(x - x.amax(dim, keepdim=True).clamp(min=0))
    return exponentials / exponentials.sum(dim, keepdim=True)


@softmax.mistake(
    "You subtract the mean of each list. One score that stands out lies far above the mean, and "
    "its exponential still overflows.",
    shows=HUGE,
    see="3. A thousand is too much",
)
def subtracts_the_mean(x, dim=-1):
    exponentials = torch.exp(x - x.mean(dim, keepdim=True))
    return exponentials / exponentials.sum(dim, keepdim=True)


@softmax.mistake(
    "You subtract the *smallest* score, which makes all exponents positive, and large ones larger "
    "still. The largest score should become 0.",
    shows=(HUGE, HIDDEN, FAR),
    see="3. A thousand is too much",
)
def subtracts_the_minimum(x, dim=-1):
    exponentials = torch.exp(x - x.amin(dim, keepdim=True))
    return exponentials / exponentials.sum(dim, keepdim=True)


@softmax.mistake(
    "You cut large scores off. That keeps `exp` finite, but scores beyond the limit all become "
    "equal, and their differences are what counts.",
    shows=HUGE,
    see="3. A thousand is too much",
)
def cuts_large_scores_off(x, dim=-1):
    exponentials = torch.exp(x.clamp(-80, 80))
    exponentials = torch.where(x.isneginf(), 0.0, exponentials)
    return exponentials / exponentials.sum(dim, keepdim=True)


@softmax.mistake(
    "float64 only moves the cliff: its `exp` overflows at 709.8. Subtract the largest score "
    "instead; then no format overflows.",
    shows=HUGE,
    see="3. A thousand is too much",
)
def trusts_in_float64(x, dim=-1):
    exponentials = torch.exp(x.double())
    return (exponentials / exponentials.sum(dim, keepdim=True)).to(x.dtype)


@softmax.mistake(
    "You replace the `nan` of large scores by 0 afterwards. The overflow is covered up, and the "
    "word with the highest score, which should get most, gets nothing.",
    shows=HUGE,
    see="3. A thousand is too much",
)
def covers_the_overflow_up(x, dim=-1):
    exponentials = torch.exp(x)
    return torch.nan_to_num(exponentials / exponentials.sum(dim, keepdim=True))


@softmax.mistake(
    "You normalise along the first dimension, whatever `dim` is: look at which way your sums of 1 "
    "run.",
    shows=(WEIGHTS, DIMENSION),
    see="4. Which dimension?",
)
def normalises_the_first_dimension(x, dim=-1):
    exponentials = torch.exp(x - x.amax(0, keepdim=True))
    return exponentials / exponentials.sum(0, keepdim=True)


@softmax.mistake(
    "`dim` is ignored: your sums of 1 always run along the last dimension.",
    shows=DIMENSION,
    see="4. Which dimension?",
)
def ignores_the_dimension(x, dim=-1):
    exponentials = torch.exp(x - x.amax(-1, keepdim=True))
    return exponentials / exponentials.sum(-1, keepdim=True)


@softmax.mistake(
    "The sum runs along `dim`, the maximum always along the last dimension. Both belong to the "
    "same list: a number that is subtracted changes no weight only if it is the same for the "
    "whole list.",
    shows=DIMENSION,
    see="4. Which dimension?",
)
def takes_the_maximum_along_the_last_dimension(x, dim=-1):
    exponentials = torch.exp(x - x.amax(-1, keepdim=True))
    return exponentials / exponentials.sum(dim, keepdim=True)


@softmax.mistake(
    "The maximum is taken along `dim`, the sum always along the last dimension. Both belong to the "
    "same list.",
    shows=DIMENSION,
    see="4. Which dimension?",
)
def takes_the_sum_along_the_last_dimension(x, dim=-1):
    exponentials = torch.exp(x - x.amax(dim, keepdim=True))
    return exponentials / exponentials.sum(-1, keepdim=True)


@softmax.mistake(
    "You divide by the sum of *everything*: all the weights together make 1. Each list along `dim` "
    "should make 1 by itself.",
    shows=(WEIGHTS, DIMENSION),
    see="4. Which dimension?",
)
def divides_by_the_sum_of_everything(x, dim=-1):
    exponentials = torch.exp(x - x.amax(dim, keepdim=True))
    return exponentials / exponentials.sum()


@softmax.mistake(
    "A maximum or a sum that has lost its dimension does not line up with the lists that it came "
    "from: `(4, 6)` and `(4,)` do not fit. Keep the dimension with `keepdim=True`.",
    shows=(WEIGHTS, DIMENSION),
    see="4. Which dimension?",
)
def forgets_keepdim(x, dim=-1):
    exponentials = torch.exp(x - x.amax(dim, keepdim=True))
    return exponentials / exponentials.sum(dim)


@softmax.mistake(
    "You return the exponentials of the scores, which are positive but do not add up to 1: divide "
    "by their sum.",
    shows=(WEIGHTS, DIMENSION),
    see="2. Exponentiate, then divide",
)
def returns_the_exponentials(x, dim=-1):
    return torch.exp(x)


@softmax.mistake(
    "Your highest score gets the weight 1, and the others come on top of it: you divide by the "
    "largest exponential, or (after the shift, when it is 1) by nothing. Divide by the sum.",
    shows=(WEIGHTS, DIMENSION),
    see="2. Exponentiate, then divide",
)
def does_not_divide(x, dim=-1):
    return torch.exp(x - x.amax(dim, keepdim=True))


@softmax.mistake(
    "You divide by the mean of the exponentials, so your weights add up to their number, not to 1.",
    shows=(WEIGHTS, DIMENSION),
    see="2. Exponentiate, then divide",
)
def divides_by_the_mean(x, dim=-1):
    exponentials = torch.exp(x - x.amax(dim, keepdim=True))
    return exponentials / exponentials.mean(dim, keepdim=True)


@softmax.mistake(
    "You divide the scores themselves by their sum. Negative scores get negative shares so: "
    "exponentiate first.",
    shows=(WEIGHTS, DIMENSION),
    see="1. Six scores, one unit of attention",
)
def divides_the_scores_by_their_sum(x, dim=-1):
    return x / x.sum(dim, keepdim=True)


@softmax.mistake(
    "The order is upside down: your highest score gets the smallest weight. A sign is wrong in the "
    "exponent.",
    shows=(WEIGHTS, DIMENSION),
    see="2. Exponentiate, then divide",
)
def turns_the_order_upside_down(x, dim=-1):
    exponentials = torch.exp(x.amin(dim, keepdim=True) - x)
    return exponentials / exponentials.sum(dim, keepdim=True)


@softmax.mistake(
    "You take powers of 2. The base is e: `torch.exp`.",
    shows=(WEIGHTS, DIMENSION),
    see="2. Exponentiate, then divide",
)
def takes_powers_of_two(x, dim=-1):
    powers = torch.exp2(x - x.amax(dim, keepdim=True))
    return powers / powers.sum(dim, keepdim=True)


@softmax.mistake(
    "You give each score a weight of its own, between 0 and 1 (a sigmoid). The weights of a list "
    "have to share one unit.",
    shows=(WEIGHTS, DIMENSION),
    see="2. Exponentiate, then divide",
)
def gives_each_score_a_sigmoid(x, dim=-1):
    return torch.sigmoid(x)


@softmax.mistake(
    "These are the logarithms of the weights. That is the next exercise; here the weights "
    "themselves are asked for.",
    shows=(WEIGHTS, DIMENSION),
)
def returns_logarithms(x, dim=-1):
    shifted = x - x.amax(dim, keepdim=True)
    return shifted - shifted.exp().sum(dim, keepdim=True).log()


@softmax.mistake(
    "`squeeze` removes dimensions of size 1 that belong to `x`. The result has the shape of `x`.",
    shows=DIMENSION,
)
def squeezes_the_weights(x, dim=-1):
    exponentials = torch.exp(x - x.amax(dim, keepdim=True))
    return (exponentials / exponentials.sum(dim, keepdim=True)).squeeze()


@softmax.mistake(
    "You move `dim` to the end to work there, and do not move it back.",
    shows=DIMENSION,
)
def does_not_move_the_dimension_back(x, dim=-1):
    x = x.movedim(dim, -1)
    exponentials = torch.exp(x - x.amax(-1, keepdim=True))
    return exponentials / exponentials.sum(-1, keepdim=True)


@softmax.mistake(
    "A score of −∞ becomes a score of 0 on the way, which is no small one: its weight should be 0. "
    "No line is needed for it, `exp` does the right thing.",
    shows=HIDDEN,
    see="3. A thousand is too much",
)
def takes_minus_infinity_for_zero(x, dim=-1):
    x = torch.where(x.isneginf(), 0.0, x)
    exponentials = torch.exp(x - x.amax(dim, keepdim=True))
    return exponentials / exponentials.sum(dim, keepdim=True)


@softmax.mistake(
    "You put a large negative number in the place of −∞. Beside scores that are lower still it "
    "wins: −1e9 is a score like any other, −∞ is not.",
    shows=HUGE,
    see="3. A thousand is too much",
)
def puts_a_number_for_minus_infinity(x, dim=-1):
    x = torch.where(x.isneginf(), -1e9, x)
    exponentials = torch.exp(x - x.amax(dim, keepdim=True))
    return exponentials / exponentials.sum(dim, keepdim=True)


@softmax.mistake(
    "A score of −∞ gets a weight too, if a small one: you add a constant to the exponentials, or cut "
    "them off below. The weight should be 0 exactly, and the sum needs no help: it holds an "
    "exponential of 1.",
    shows=HIDDEN,
    see="3. A thousand is too much",
)
def adds_a_constant_to_the_exponentials(x, dim=-1):
    exponentials = torch.exp(x - x.amax(dim, keepdim=True)) + 1e-6
    return exponentials / exponentials.sum(dim, keepdim=True)


@softmax.mistake(
    "Float64 scores must give float64 weights: keep the dtype of `x`, and convert nothing to "
    "float32.",
    shows=DOUBLE,
)
def always_answers_in_float32(x, dim=-1):
    x = x.float()
    exponentials = torch.exp(x - x.amax(dim, keepdim=True))
    return exponentials / exponentials.sum(dim, keepdim=True)


@softmax.mistake(
    "The weights are right, but no gradient flows: somewhere you leave the tensors (`.item()`, "
    "`.detach()`, `.data`, `.numpy()`, `torch.tensor(...)`, `no_grad`).",
    shows=GRADIENTS,
    see="5. What comes back through it",
)
def leaves_the_tensors(x, dim=-1):
    return torch.softmax(x.detach(), dim)


@softmax.mistake(
    "The weights are right, the gradient is not: you take the sum for a constant (`detach`, "
    "`no_grad`, `.item()`), but it changes with the scores. That is how one word's gain becomes "
    "another's loss.",
    shows=GRADIENTS,
    see="5. What comes back through it",
)
def takes_the_sum_for_a_constant(x, dim=-1):
    exponentials = torch.exp(x - x.amax(dim, keepdim=True).detach())
    return exponentials / exponentials.sum(dim, keepdim=True).detach()


@softmax.mistake(
    "Your function changes its argument: `x -= …`, `x[…] = …` and methods that end in `_`, like "
    "`exp_`, write into the tensor that the caller still needs. Make a new tensor.",
    shows=PURE,
)
def works_in_place(x, dim=-1):
    x -= x.amax(dim, keepdim=True)
    exponentials = torch.exp(x)
    return exponentials / exponentials.sum(dim, keepdim=True)


@softmax.mistake(
    "Without a `dim` you work along dimension 1. The default should be the last one, `dim=-1`, "
    "which a plain list has, too.",
    shows=(WEIGHTS, HUGE),
)
def takes_dimension_1_by_default(x, dim=1):
    exponentials = torch.exp(x - x.amax(dim, keepdim=True))
    return exponentials / exponentials.sum(dim, keepdim=True)


@softmax.mistake(
    "You subtract the largest *magnitude*. In a list of negative scores that lies on the wrong "
    "side of all of them, and every exponential becomes 0: subtract the largest score itself.",
    shows=HUGE,
    see="3. A thousand is too much",
)
def subtracts_the_largest_magnitude(x, dim=-1):
    exponentials = torch.exp(x - x.abs().amax(dim, keepdim=True))
    return exponentials / exponentials.sum(dim, keepdim=True)


@softmax.mistake(
    "Float32 scores must give float32 weights: keep the dtype of `x`. (To compute in float64 is "
    "fine, if you convert back.)",
    shows=(WEIGHTS, DIMENSION, HUGE),
)
def always_answers_in_float64(x, dim=-1):
    return torch.softmax(x.double(), dim)


@softmax.mistake(
    "The weights have the right dtype, but they were computed in float32 and converted afterwards: "
    "the digits that float64 has more are lost by then.",
    shows=(DOUBLE, HUGE),
)
def computes_the_weights_in_float32(x, dim=-1):
    return torch.softmax(x.float(), dim).to(x.dtype)


@softmax.mistake(
    "The values are right, the gradients are not: you take the sum for a constant (`detach`, "
    "`no_grad`, `.item()`), yet it changes with the scores. Only the maximum may be one.",
    shows=(GRADIENTS, FAR),
)
def takes_the_sum_but_not_the_maximum_for_a_constant(x, dim=-1):
    exponentials = torch.exp(x - x.amax(dim, keepdim=True))
    return exponentials / exponentials.sum(dim, keepdim=True).detach()


@softmax.alternative
def moving_the_dimension_to_the_end(x, dim=-1):
    y = x.movedim(dim, -1)
    e = (y - y.max(-1, keepdim=True).values).exp()
    return (e / e.sum(-1, keepdim=True)).movedim(-1, dim)


@softmax.alternative
def by_the_logarithm_of_the_sum(x, dim=-1):
    largest = torch.amax(x, dim=dim, keepdim=True).detach()
    total = largest + torch.log(torch.sum(torch.exp(x - largest), dim=dim, keepdim=True))
    return torch.exp(x - total)


@softmax.alternative
def list_by_list(x, dim=-1):
    def weights(scores):
        largest = max(scores.tolist())
        powers = [torch.exp(score - largest) for score in scores]
        total = sum(powers)
        return torch.stack([power / total for power in powers])

    moved = x.transpose(dim, -1)
    lists = moved.reshape(-1, moved.shape[-1])
    return torch.stack([weights(row) for row in lists]).reshape(moved.shape).transpose(dim, -1)


@softmax.alternative
def by_normalize(x, dim=-1):
    return F.normalize((x - x.amax(dim, True)).exp(), p=1.0, dim=dim)


@softmax.alternative
def with_a_gradient_of_its_own(x, dim=-1):
    class Weights(torch.autograd.Function):
        @staticmethod
        def forward(ctx, scores):
            powers = (scores - scores.amax(dim, keepdim=True)).exp_()
            powers /= powers.sum(dim, keepdim=True)
            ctx.save_for_backward(powers)
            return powers

        @staticmethod
        def backward(ctx, grad):
            (p,) = ctx.saved_tensors
            return p * (grad - (grad * p).sum(dim, keepdim=True))

    return Weights.apply(x)


@softmax.alternative
def in_one_pass(x, dim=-1):
    # The sum so far is scaled down whenever a larger score comes along
    scores = x.unbind(dim)
    largest = torch.full_like(scores[0], torch.finfo(x.dtype).min)
    total = torch.zeros_like(largest)
    for score in scores:
        new = torch.maximum(largest, score)
        total = total * (largest - new).exp() + (score - new).exp()
        largest = new
    return torch.stack([(score - largest).exp() / total for score in scores], dim=dim)


@softmax.alternative
def by_vmap(x, dim=-1):
    def weights(scores):
        powers = torch.exp(scores - torch.max(scores))
        return powers / torch.sum(powers)

    flat = x.movedim(dim, -1).flatten(0, -2) if x.ndim > 1 else x.unsqueeze(0)
    found = torch.vmap(weights)(flat)
    return found.view(x.movedim(dim, -1).shape).movedim(-1, dim)


@softmax.alternative
def by_folding_pairs(x, dim=-1):
    import functools

    total = functools.reduce(torch.logaddexp, x.unbind(dim)).unsqueeze(dim)
    return (x - total).exp()


@softmax.alternative
def in_base_two(x, dim=-1):
    exponent = (x - x.max(dim=dim, keepdim=True)[0]) * math.log2(math.e)
    powers = torch.pow(2.0, exponent)
    return powers * powers.sum(dim=dim, keepdim=True).reciprocal()


@softmax.alternative
def in_float64_and_back(x, dim=-1):
    wide = x.to(torch.float64)
    top = wide.sort(dim=dim, descending=True).values.narrow(dim, 0, 1)
    powers = torch.exp(wide - top)
    last = powers.cumsum(dim).index_select(dim, torch.tensor([x.size(dim) - 1], device=x.device))
    return powers.div(last).to(x)


# -------------------------------------------------------------------------------------- log_softmax

log_softmax = exercise(
    "log_softmax", points=5, see="Exercise 2: `log_softmax(x, dim=-1)`", forbidden=NOT_ALLOWED
)
log_softmax.hints = (
    "Take the formula of softmax and apply the logarithm *on paper*, before a computer rounds "
    "anything. What is the logarithm of a fraction? What is the logarithm of an exponential?",
    "Nothing that was exponentiated may meet a logarithm, but the sum, which is never less than 1 "
    "once the largest score is 0. So: shift each list by its maximum, keep the shifted scores, and "
    "subtract from them the logarithm of one sum.",
    "The shape of the code: `shifted = x - <largest along dim, kept>`, then `return shifted - "
    "<logarithm of the sum along dim, kept, of the exponentials of shifted>`.",
)


@log_softmax.oracle
def log_softmax_oracle(x, dim=-1):
    return torch.log_softmax(x, dim)


@log_softmax.example("the one on paper")
def _():
    yield call(torch.tensor([1.0, 2.0, 5.0]).log())


@log_softmax.example("two rows, along the last dimension")
def _():
    yield call(torch.tensor([[2.0, 0.0, -1.0, 1.0], [0.5, -3.0, 0.5, 2.0]]))


@log_softmax.example("the same two rows, along the first dimension")
def _():
    yield call(torch.tensor([[2.0, 0.0, -1.0, 1.0], [0.5, -3.0, 0.5, 2.0]]), dim=0)


@log_softmax.example("120 behind the best")
def _():
    yield call(torch.tensor([0.0, -120.0]))


@log_softmax.example("one row far above zero, one far below")
def _():
    yield call(torch.tensor([[400.0, 401.0, 402.0], [-402.0, -402.0, -401.0]]))


@log_softmax.example("a score of -inf")
def _():
    yield call(torch.tensor([0.0, -INF, 1.0]))


@log_softmax.example("float64 in, float64 out")
def _():
    yield call(torch.tensor([0.1, 0.2, -0.4], dtype=torch.float64))


@log_softmax.example("gradients flow back")
def _():
    yield call(torch.tensor([[1.0, -2.0, 0.5], [0.0, 3.0, -120.0]])).with_gradients()


LOGARITHMS, GAPS = "the logarithms of the weights", "scores and gaps of any size"


@log_softmax.criterion(LOGARITHMS, points=1)
def _(draw):
    yield call(draw.normal(7, scale=2.0))
    yield call(draw.normal(4, 6, scale=2.0))
    yield call(draw.normal(2, 3, 5))
    yield call(draw.uniform(5, low=-6.0, high=-1.0)).described("five negative scores")
    yield call(torch.full((3, 5), draw.number(-2.0, 2.0))).described("rows of equal scores")
    yield call(draw.normal(2, 300))
    yield call(torch.full((2, 300), draw.number(-2.0, 2.0))).described("300 equal scores")
    yield call(draw.normal(4, 1)).described("lists of one score each")
    yield call(non_contiguous(draw.normal(4, 5)))
    yield call(non_contiguous(draw.normal(2, 4, 3)))


@log_softmax.criterion(DIMENSION, points=1)
def _(draw):
    yield call(draw.normal(3, 5, 4), dim=1)
    yield call(draw.normal(3, 5), dim=0)
    yield call(draw.normal(3, 5), -2)
    yield call(draw.normal(2, 3, 4, 5), dim=-4)
    yield call(draw.normal(4, 2, 5, 3), dim=-2)
    yield call(draw.normal(2, 3, 4, 5), 2)
    yield call(draw.normal(2, 3, 4), dim=-1)
    yield call(draw.normal(6), 0)
    yield call(draw.normal(3, 1, 4), dim=1)
    yield call(draw.normal(2, 5, 1), dim=1)
    yield call(non_contiguous(draw.normal(4, 6)), dim=0)
    yield call(draw.normal(4, 3) + levels(20.0, -20.0, 0.0).T, dim=0)


@log_softmax.criterion(GAPS, points=1)
def _(draw):
    yield call(400.0 + draw.normal(5))
    yield call(draw.normal(3, 5) - 400.0)
    yield call(draw.normal(4, 5) + levels(400.0, -400.0, 0.0, 200.0))
    gaps = torch.tensor([[0.0, -120.0, -90.0, -20.0], [3.0, 2.0, -300.0, -1e4]])
    yield call(gaps + draw.uniform(2, 4))
    yield call(draw.normal(3, 5, scale=1e4))
    yield call(draw.normal(3, 5, scale=1e30))
    yield call(torch.tensor([[1.5e38, -1.5e38, 1.0], [-3e38, -2e38, -3e38]]))
    # A long list, whose largest score may stand anywhere
    wide = draw.normal(3, 40)
    wide[torch.arange(3), draw.integers(0, 40, 3)] += 200.0
    yield call(wide)
    # Half a unit in the last place of 10,000 is 0.0005
    yield call(torch.tensor([[1e4, 1e4, 9990.0, 1e4], [-1e4, -9991.0, -1e4, -9990.0]])).within(
        2e-3, 1e-5
    )
    yield call(2000.0 + draw.normal(2, 5, scale=100.0, dtype=torch.float64))


@log_softmax.criterion(HIDDEN, points=0.5)
def _(draw):
    yield call(with_gaps(draw.normal(4, 6), (2,), (0, 5), (0, 1, 2, 4, 5), (1, 3)))
    yield call(with_gaps(draw.normal(3, 4) + levels(-40.0, -20.0, 30.0), (1,), (0,), (3,)))


@log_softmax.criterion(DOUBLE, points=0.5)
def _(draw):
    yield call(draw.normal(3, 5, dtype=torch.float64))
    yield call(100.0 + draw.normal(4, 6, scale=0.5, dtype=torch.float64))


@log_softmax.criterion(GRADIENTS, points=0.5)
def _(draw):
    yield call(draw.normal(3, 5)).with_gradients()
    yield call(draw.normal(2, 4, 3, dtype=torch.float64), dim=1).with_gradients()
    yield call(draw.normal(2, 5) + levels(300.0, -300.0)).with_gradients()
    far = torch.tensor([[0.0, -120.0, 1.0, -300.0], [-150.0, 0.5, 0.0, -22.0]])
    yield call(far + draw.uniform(2, 4)).with_gradients()
    # A result of -inf has no slope, so only those of the finite ones are asked for
    x = with_gaps(draw.normal(3, 6), (2,), (5,), (1, 4))
    s = Script(x=x, hidden=x.isneginf())
    out = s.call(SUBJECT, s.x)
    s.call(method(out, "masked_fill"), s.hidden, 0.0)
    yield s.case().with_gradients().described("the gradient beside scores of -inf")


@log_softmax.criterion(PURE, points=0.5)
def _(draw):
    yield call(draw.normal(3, 5)).unchanged()
    yield call(with_gaps(draw.normal(2, 5) + levels(300.0, 0.0), (2,), (4,))).holding(
        changes_nothing
    )


@log_softmax.mistake(
    "You take the logarithm of a softmax. A weight that was rounded to 0 gives −∞ for a score that "
    "is merely far behind, and `nan` in the gradient. Take the logarithm on paper first.",
    shows=(GAPS, GRADIENTS),
    see="6. The logarithm of a weight",
)
def takes_the_logarithm_of_softmax(x, dim=-1):
    exponentials = torch.exp(x - x.amax(dim, keepdim=True))
    return torch.log(exponentials / exponentials.sum(dim, keepdim=True))


@log_softmax.mistake(
    "You add a tiny number before the logarithm. The infinity is gone, but every weight below that "
    "number now has the same logarithm and no gradient, and a score of −∞ does not give −∞.",
    shows=(GAPS, HIDDEN, GRADIENTS),
    see="6. The logarithm of a weight",
)
def adds_a_tiny_number(x, dim=-1):
    exponentials = torch.exp(x - x.amax(dim, keepdim=True))
    return torch.log(exponentials / exponentials.sum(dim, keepdim=True) + 1e-9)


@log_softmax.mistake(
    "You cut small weights off before the logarithm. Every weight below that limit now has the "
    "same logarithm and no gradient, and a score of −∞ does not give −∞.",
    shows=(GAPS, HIDDEN, GRADIENTS),
    see="6. The logarithm of a weight",
)
def cuts_small_weights_off(x, dim=-1):
    exponentials = torch.exp(x - x.amax(dim, keepdim=True))
    return torch.log((exponentials / exponentials.sum(dim, keepdim=True)).clamp(min=1e-12))


@log_softmax.mistake(
    "The logarithm of the sum is right on paper, but the exponentials in it overflow from 88.7 on, "
    "and are all rounded to 0 below −104. Subtract the largest score first here too.",
    shows=GAPS,
    see="3. A thousand is too much",
)
def subtracts_no_maximum_from_scores(x, dim=-1):
    return x - torch.log(torch.exp(x).sum(dim, keepdim=True))


@log_softmax.mistake(
    "You subtract *one* maximum, that of the whole tensor. In a list far below it every "
    "exponential is rounded to 0, and the logarithm of their sum is −∞: each list needs its own.",
    shows=GAPS,
    see="10. Seen in the wild",
)
def one_maximum_for_all_lists(x, dim=-1):
    shifted = x - x.max()
    return shifted - shifted.exp().sum(dim, keepdim=True).log()


@log_softmax.mistake(
    "The sum is that of the shifted scores, but you subtract its logarithm from the scores "
    "themselves: the maximum has to go from both.",
    shows=(LOGARITHMS, GAPS),
    see="6. The logarithm of a weight",
)
def shifts_in_one_place_only(x, dim=-1):
    shifted = x - x.amax(dim, keepdim=True)
    return x - shifted.exp().sum(dim, keepdim=True).log()


@log_softmax.mistake(
    "You shift the scores, and that is all: the logarithm of the sum has yet to be subtracted.",
    shows=(LOGARITHMS, DIMENSION),
    see="6. The logarithm of a weight",
)
def shifts_only(x, dim=-1):
    return x - x.amax(dim, keepdim=True)


@log_softmax.mistake(
    "You subtract the sum itself. A division becomes the subtraction of a *logarithm*.",
    shows=(LOGARITHMS, DIMENSION),
    see="6. The logarithm of a weight",
)
def subtracts_the_sum_itself(x, dim=-1):
    shifted = x - x.amax(dim, keepdim=True)
    return shifted - shifted.exp().sum(dim, keepdim=True)


@log_softmax.mistake(
    "You add the logarithm of the sum. A division becomes a *subtraction*; logarithms of weights "
    "are never positive.",
    shows=(LOGARITHMS, DIMENSION),
    see="6. The logarithm of a weight",
)
def adds_the_logarithm(x, dim=-1):
    shifted = x - x.amax(dim, keepdim=True)
    return shifted + shifted.exp().sum(dim, keepdim=True).log()


@log_softmax.mistake(
    "You divide by the logarithm of the sum. A division becomes a *subtraction* of logarithms.",
    shows=(LOGARITHMS, DIMENSION),
    see="6. The logarithm of a weight",
)
def divides_by_the_logarithm(x, dim=-1):
    shifted = x - x.amax(dim, keepdim=True)
    return shifted / shifted.exp().sum(dim, keepdim=True).log()


@log_softmax.mistake(
    "You return the weights. Asked for are their logarithms.",
    shows=(LOGARITHMS, DIMENSION),
    see="6. The logarithm of a weight",
)
def returns_the_weights(x, dim=-1):
    return torch.softmax(x, dim)


@log_softmax.mistake(
    "The sign is turned round: that is the loss, minus the logarithm. Logarithms of weights are "
    "never positive.",
    shows=(LOGARITHMS, DIMENSION),
    see="6. The logarithm of a weight",
)
def returns_the_loss(x, dim=-1):
    return -torch.log_softmax(x, dim)


@log_softmax.mistake(
    "You take logarithms to the base 2. Asked for is the natural logarithm, `torch.log`.",
    shows=(LOGARITHMS, DIMENSION),
)
def takes_base_two(x, dim=-1):
    return torch.log_softmax(x, dim) / math.log(2)


@log_softmax.mistake(
    "You take logarithms to the base 10. Asked for is the natural logarithm, `torch.log`.",
    shows=(LOGARITHMS, DIMENSION),
)
def takes_base_ten(x, dim=-1):
    return torch.log_softmax(x, dim) / math.log(10)


@log_softmax.mistake(
    "`dim` is ignored: your lists always run along the last dimension.",
    shows=DIMENSION,
    see="4. Which dimension?",
)
def ignores_dim(x, dim=-1):
    return torch.log_softmax(x, -1)


@log_softmax.mistake(
    "You normalise along the first dimension, whatever `dim` is.",
    shows=(LOGARITHMS, DIMENSION),
    see="4. Which dimension?",
)
def works_along_the_first_dimension(x, dim=-1):
    return torch.log_softmax(x, 0)


@log_softmax.mistake(
    "The sum runs over *everything*, so that all the weights together make 1. Each list along "
    "`dim` should make 1 by itself.",
    shows=(LOGARITHMS, DIMENSION),
    see="4. Which dimension?",
)
def sums_over_everything(x, dim=-1):
    shifted = x - x.amax(dim, keepdim=True)
    return shifted - shifted.exp().sum().log()


@log_softmax.mistake(
    "A maximum or a sum that has lost its dimension does not line up with the lists that it came "
    "from: `(4, 6)` and `(4,)` do not fit. Keep the dimension with `keepdim=True`.",
    shows=(LOGARITHMS, DIMENSION),
    see="4. Which dimension?",
)
def loses_the_dimension(x, dim=-1):
    shifted = x - x.amax(dim, keepdim=True)
    return shifted - shifted.exp().sum(dim).log()


@log_softmax.mistake(
    "A score of −∞ should give −∞, and gives a large negative number: `nan_to_num` or a clamp "
    "hides what was meant.",
    shows=HIDDEN,
    see="3. A thousand is too much",
)
def makes_minus_infinity_finite(x, dim=-1):
    return torch.log_softmax(x, dim).nan_to_num()


@log_softmax.mistake(
    "A score of −∞ becomes a score of 0 on the way, which is no small one. No line is needed for "
    "it: `exp` makes 0 of it, and the subtraction leaves it at −∞.",
    shows=HIDDEN,
    see="3. A thousand is too much",
)
def minus_infinity_becomes_zero(x, dim=-1):
    return torch.log_softmax(torch.where(x.isneginf(), 0.0, x), dim)


@log_softmax.mistake(
    "A list with a score of −∞ becomes `nan`: somewhere −∞ is multiplied by 0, or subtracted from "
    "itself.",
    shows=HIDDEN,
    see="3. A thousand is too much",
)
def minus_infinity_spoils_the_list(x, dim=-1):
    shifted = x - x.amax(dim, keepdim=True)
    powers = shifted.exp()
    # The sum of p ln p is no part of this, but it is what spoils a list where people write it
    return shifted - powers.sum(dim, keepdim=True).log() + 0 * (powers * shifted).sum(dim, True)


@log_softmax.mistake(
    "Float64 scores must give a float64 result: keep the dtype of `x`, and convert nothing to "
    "float32.",
    shows=DOUBLE,
)
def computes_in_float32(x, dim=-1):
    return torch.log_softmax(x.float(), dim)


@log_softmax.mistake(
    "The values are right, but no gradient flows: somewhere you leave the tensors (`.item()`, "
    "`.detach()`, `.data`, `.numpy()`, `torch.tensor(...)`, `no_grad`).",
    shows=GRADIENTS,
)
def lets_no_gradient_through(x, dim=-1):
    return torch.log_softmax(x, dim).detach()


@log_softmax.mistake(
    "The values are right, the gradient is not: you take the logarithm of the sum for a constant "
    "(`detach`, `no_grad`, `.item()`), but it changes with the scores.",
    shows=GRADIENTS,
)
def takes_the_logarithm_for_a_constant(x, dim=-1):
    shifted = x - x.amax(dim, keepdim=True).detach()
    return shifted - shifted.detach().exp().sum(dim, keepdim=True).log()


@log_softmax.mistake(
    "Your function changes its argument: `x -= …`, `x[…] = …` and methods that end in `_` write "
    "into the tensor that the caller still needs. Make a new tensor.",
    shows=PURE,
)
def shifts_in_place(x, dim=-1):
    x -= x.amax(dim, keepdim=True)
    return x - x.exp().sum(dim, keepdim=True).log()


@log_softmax.mistake(
    "Without a `dim` you work along dimension 1. The default should be the last one, `dim=-1`, "
    "which a plain list has, too.",
    shows=(LOGARITHMS, GAPS),
)
def works_along_dimension_1_by_default(x, dim=1):
    shifted = x - x.amax(dim, keepdim=True)
    return shifted - shifted.exp().sum(dim, keepdim=True).log()


@log_softmax.mistake(
    "A bracket turns a sign round: the logarithm of the sum is `m + log(...)`, and all of it is "
    "subtracted, the maximum too.",
    shows=(LOGARITHMS, GAPS),
    see="6. The logarithm of a weight",
)
def adds_the_maximum_back(x, dim=-1):
    largest = x.amax(dim, keepdim=True)
    return x - ((x - largest).exp().sum(dim, keepdim=True).log() - largest)


@log_softmax.mistake(
    "You take the mean of the exponentials where their *sum* is asked for: everything is too large "
    "by the logarithm of their number.",
    shows=(LOGARITHMS, DIMENSION),
)
def takes_the_mean_of_the_exponentials(x, dim=-1):
    shifted = x - x.amax(dim, keepdim=True)
    return shifted - shifted.exp().mean(dim, keepdim=True).log()


@log_softmax.mistake(
    "You take the logarithm of a softmax, in float64. That only moves the point at which a weight "
    "is rounded to 0, from a gap of about 100 to one of about 750. Take the logarithm on paper "
    "first.",
    shows=GAPS,
    see="6. The logarithm of a weight",
)
def takes_the_logarithm_of_a_float64_softmax(x, dim=-1):
    return torch.softmax(x.double(), dim).log().to(x.dtype)


@log_softmax.mistake(
    "You keep weights from becoming 0 by the smallest number that the dtype has, and then take the "
    "logarithm. Every score that is far behind now gets the same one, a score of −∞ too. Take the "
    "logarithm on paper first.",
    shows=(GAPS, HIDDEN),
    see="6. The logarithm of a weight",
)
def stops_at_the_smallest_number(x, dim=-1):
    return torch.softmax(x, dim).clamp_min(torch.finfo(x.dtype).tiny).log()


@log_softmax.mistake(
    "Float32 scores must give a float32 result: keep the dtype of `x`. (To compute in float64 is "
    "fine, if you convert back.)",
    shows=(LOGARITHMS, DIMENSION, GAPS),
)
def answers_in_float64(x, dim=-1):
    return torch.log_softmax(x.double(), dim)


@log_softmax.mistake(
    "The result has the right dtype, but it was computed in float32 and converted afterwards: the "
    "digits that float64 has more are lost by then.",
    shows=(DOUBLE, GAPS),
)
def computes_in_float32_and_converts(x, dim=-1):
    return torch.log_softmax(x.float(), dim).to(x.dtype)


@log_softmax.mistake(
    "The values are right, the gradients are not: you take the logarithm of the sum for a constant "
    "(`detach`, `no_grad`, `.item()`), yet it changes with the scores. Only the maximum may be one.",
    shows=GRADIENTS,
)
def takes_the_logarithm_but_not_the_maximum_for_a_constant(x, dim=-1):
    shifted = x - x.amax(dim, keepdim=True)
    return shifted - shifted.exp().sum(dim, keepdim=True).log().detach()


@log_softmax.alternative
def by_one_subtraction(x, dim=-1):
    largest = x.amax(dim, keepdim=True)
    return x - (largest + (x - largest).exp().sum(dim, keepdim=True).log())


@log_softmax.alternative
def with_the_dimension_at_the_end(x, dim=-1):
    y = x.movedim(dim, -1)
    y = y - y.max(dim=-1).values[..., None]
    return (y - y.exp().sum(dim=-1)[..., None].log()).movedim(-1, dim)


@log_softmax.alternative
def by_logaddexp(x, dim=-1):
    scores = list(x.unbind(dim))
    total = scores[0]
    for score in scores[1:]:
        total = torch.logaddexp(total, score)
    return torch.stack([score - total for score in scores], dim)


@log_softmax.alternative
def by_a_function_of_its_own(x, dim=-1):
    class LogWeights(torch.autograd.Function):
        @staticmethod
        def forward(ctx, scores, dim):
            shifted = scores - scores.amax(dim, keepdim=True)
            found = shifted - shifted.exp().sum(dim, keepdim=True).log()
            ctx.save_for_backward(found)
            ctx.dim = dim
            return found

        @staticmethod
        def backward(ctx, grad):
            (found,) = ctx.saved_tensors
            return grad - found.exp() * grad.sum(ctx.dim, keepdim=True), None

    return LogWeights.apply(x, dim)


@log_softmax.alternative
def by_log1p_of_the_others(x, dim=-1):
    # The largest exponential is 1; the logarithm of 1 plus the rest keeps small rests
    top, place = x.max(dim, keepdim=True)
    rest = (x - top).exp().scatter(dim, place, 0.0).sum(dim, keepdim=True)
    return (x - top) - torch.log1p(rest)


@log_softmax.alternative
def row_by_row(x, dim=-1):
    def one(scores):
        shifted = scores - scores.max()
        return shifted - torch.log(torch.exp(shifted).sum())

    if x.ndim == 1:
        return one(x)
    dim = dim % x.ndim
    found = [row_by_row(part, dim - 1 if dim else -1) for part in x.unbind(0)] if dim else None
    if found is not None:
        return torch.stack(found)
    return row_by_row(x.movedim(0, -1), -1).movedim(-1, 0)


@log_softmax.alternative
def in_place_on_a_copy(x, dim=-1):
    y = x.clone()
    y.sub_(torch.max(x, dim, keepdim=True)[0])
    total = torch.sum(torch.exp(y), dim, keepdim=True)
    return y.sub_(torch.log(total))


# ------------------------------------------------------------------------- softmax_with_temperature

softmax_with_temperature = exercise(
    "softmax_with_temperature",
    points=4,
    see="Exercise 3: `softmax_with_temperature(x, temperature, dim=-1)`",
    forbidden=NOT_ALLOWED,
)
softmax_with_temperature.hints = (
    "Where does the temperature stand in the formula: beside the scores, or beside the weights? "
    "And which answer does `nan > 0` give, which does `nan <= 0`?",
    "Divide the scores first; what comes then, you have already written. Check the temperature "
    "before that, and ask the question so that `nan` fails it: `not temperature > 0` is true for "
    "`nan`, `temperature <= 0` is not.",
    "The shape of the code: `if not <temperature is above 0>: raise ValueError(f'temperature is "
    "{temperature}; …')`, then `return softmax(<the scores divided>, dim)`.",
)


@softmax_with_temperature.oracle
def softmax_with_temperature_oracle(x, temperature, dim=-1):
    if not temperature > 0:
        raise ValueError(f"temperature is {temperature}; it must be greater than 0")
    return torch.softmax(x / temperature, dim)


@softmax_with_temperature.example("the one on paper")
def _():
    yield call(torch.tensor([0.0, math.log(3.0)]), 0.5)


@softmax_with_temperature.example("hot: nearly equal shares")
def _():
    yield call(torch.tensor([-1.0, 2.0, 0.5, 3.0]), temperature=10.0)


@softmax_with_temperature.example("a temperature of 1 is plain softmax")
def _():
    yield call(torch.tensor([[2.0, 0.0, -1.0, 1.0], [0.5, -3.0, 0.5, 2.0]]), 1.0)


@softmax_with_temperature.example("along the first dimension")
def _():
    yield call(torch.tensor([[2.0, 0.0, -1.0, 1.0], [0.5, -3.0, 0.5, 2.0]]), 2.0, dim=0)


@softmax_with_temperature.example("very cold")
def _():
    yield call(torch.tensor([[1.0, 2.0, 3.0], [0.5, 0.5, -INF]]), 0.001)


@softmax_with_temperature.example("float64 in, float64 out")
def _():
    yield call(torch.tensor([0.1, 0.2, -0.4], dtype=torch.float64), 0.5)


@softmax_with_temperature.example("gradients flow back")
def _():
    yield call(torch.tensor([[1.0, -2.0, 0.5], [0.0, 3.0, 1.0]]), 2.0).with_gradients()


@softmax_with_temperature.example("0 is refused")
def _():
    yield call(torch.tensor([1.0, 2.0]), 0.0).raising("temperature")


@softmax_with_temperature.example("a negative temperature is refused")
def _():
    yield call(torch.tensor([1.0, 2.0]), -2.0).raising("temperature")


@softmax_with_temperature.example("nan is refused")
def _():
    yield call(torch.tensor([1.0, 2.0]), math.nan).raising("temperature")


DIVIDES, EXTREMES = "divides the scores", "hot, cold, and scores of any size"
BELOW, NAN = "refuses 0 and below", "refuses nan"


@softmax_with_temperature.criterion(DIVIDES, points=0.5)
def _(draw):
    yield call(draw.normal(6), 0.5)
    yield call(draw.normal(3, 5, scale=2.0), 2.5)
    yield call(draw.normal(2, 3, 4), temperature=draw.number(0.2, 0.9))
    yield call(draw.normal(2, 3, 4), temperature=draw.number(1.5, 9.0))
    yield call(draw.normal(4, 3), 1.0)
    yield call(draw.normal(3, 4), 3).described("a whole number as temperature")
    yield call(non_contiguous(draw.normal(4, 5)), 0.7)
    yield call(non_contiguous(draw.normal(2, 4, 3)), 1.3)


@softmax_with_temperature.criterion(DIMENSION, points=0.5)
def _(draw):
    yield call(draw.normal(3, 5, 4), 0.7, dim=1)
    yield call(draw.normal(3, 5), 2.0, 0)
    yield call(draw.normal(2, 3, 4, 5), 0.4, -3)
    yield call(draw.normal(4, 2, 5, 3), 1.6, -2)
    yield call(draw.normal(3, 1, 4), 1.7, 1)
    yield call(draw.normal(4, 3) + levels(10.0, -10.0, 0.0).T, temperature=0.5, dim=0)


@softmax_with_temperature.criterion(EXTREMES, points=0.5)
def _(draw):
    yield call(draw.normal(3, 5, scale=3.0), 1e-3)
    yield call(torch.tensor([[2.0, 2.0, -1.0, 1.0], [-0.5, -1.0, -0.5, -2.0]]), 1e-6)
    # A logarithm of a weight that is divided by 0.001 brings its rounding along, a thousandfold
    yield call(torch.tensor([1.0, 2.0, 5.0]).log() * 1e-3, 1e-3).within(5e-4, 1e-5)
    yield call(draw.normal(3, 5), 1e6)
    yield call(draw.normal(4), math.inf).described("a temperature without bound")
    # The weights at temperature 1 are 0 here, but at this temperature they are not
    yield call(draw.normal(2, 5) + torch.tensor([0.0, -300.0, 100.0, -150.0, 0.0]), 100.0)
    yield call(draw.normal(3, 5) + levels(300.0, -300.0, 0.0), 0.75)
    yield call(draw.normal(3, 5, scale=1e30), 1e4)
    yield call(draw.normal(3, 5, scale=1e30), 1e-5)
    one = with_gaps(draw.normal(3, 5), (2,), (0, 4), (0, 1, 2, 4))
    for temperature in (0.3, 4.0):
        yield call(one, temperature)
        yield call(one, temperature).holding(exact_zeros)


@softmax_with_temperature.criterion(BELOW, points=0.5)
def _(draw):
    for wrong in (0.0, -0.5, -2.0, 0, -3, -INF):
        yield call(draw.normal(3, 4), wrong).raising("temperature")


@softmax_with_temperature.criterion(NAN, points=0.5)
def _(draw):
    yield call(draw.normal(3, 4), math.nan).raising("temperature")


@softmax_with_temperature.criterion(DOUBLE, points=0.5)
def _(draw):
    # Powers of 2, so that a temperature that was made a float32 tensor is as good as any
    yield call(draw.normal(3, 5, dtype=torch.float64), 0.5)
    yield call(100.0 + draw.normal(4, 6, scale=0.5, dtype=torch.float64), 2.0)


@softmax_with_temperature.criterion(GRADIENTS, points=0.5)
def _(draw):
    yield call(draw.normal(3, 5), 0.5).with_gradients()
    yield call(draw.normal(2, 4, 3), 3.0).with_gradients()
    yield call(draw.normal(2, 4, 3, dtype=torch.float64), 0.25, dim=1).with_gradients()
    yield call(with_gaps(draw.normal(2, 5), (2,), (4,)), 0.5).with_gradients()


@softmax_with_temperature.criterion(PURE, points=0.5)
def _(draw):
    yield call(draw.normal(3, 5), 0.5).unchanged()
    yield call(with_gaps(draw.normal(2, 5), (2,), (4,)), 2.0).holding(changes_nothing)


@softmax_with_temperature.mistake(
    "You multiply by the temperature, so that cold is hot and hot is cold. It *divides* the scores.",
    shows=DIVIDES,
    see="7. Temperature",
)
def multiplies_by_the_temperature(x, temperature, dim=-1):
    if not temperature > 0:
        raise ValueError(f"temperature is {temperature}; it must be greater than 0")
    scores = x * temperature
    exponentials = torch.exp(scores - scores.amax(dim, keepdim=True))
    return exponentials / exponentials.sum(dim, keepdim=True)


@softmax_with_temperature.mistake(
    "You divide by the temperature after softmax, so that the weights no longer add up to 1. It "
    "divides the *scores*, before.",
    shows=DIVIDES,
    see="7. Temperature",
)
def divides_the_weights(x, temperature, dim=-1):
    if not temperature > 0:
        raise ValueError(f"temperature is {temperature}; it must be greater than 0")
    exponentials = torch.exp(x - x.amax(dim, keepdim=True))
    return exponentials / exponentials.sum(dim, keepdim=True) / temperature


@softmax_with_temperature.mistake(
    "`temperature <= 0` is false for `nan`, so `nan` passes, and makes every weight `nan`. Ask the "
    "other way round, for what is allowed.",
    shows=NAN,
    see="Exercise 3: `softmax_with_temperature(x, temperature, dim=-1)`",
)
def lets_nan_pass(x, temperature, dim=-1):
    if temperature <= 0:
        raise ValueError(f"temperature is {temperature}; it must be greater than 0")
    scores = x / temperature
    exponentials = torch.exp(scores - scores.amax(dim, keepdim=True))
    return exponentials / exponentials.sum(dim, keepdim=True)


@softmax_with_temperature.mistake(
    "The temperature is not checked: 0, a negative number and `nan` should raise a ValueError.",
    shows=(BELOW, NAN),
)
def checks_nothing(x, temperature, dim=-1):
    return torch.softmax(x / temperature, dim)


@softmax_with_temperature.mistake(
    "0 passes your check: a division by zero gives `nan`. The temperature must be *greater* than 0.",
    shows=(BELOW, NAN),
)
def lets_zero_pass(x, temperature, dim=-1):
    if temperature < 0:
        raise ValueError(f"temperature is {temperature}; it must be greater than 0")
    return torch.softmax(x / temperature, dim)


@softmax_with_temperature.mistake(
    "You refuse 0 only. With a negative temperature the lowest score wins, which nobody can want: "
    "refuse it as well, and `nan` too.",
    shows=(BELOW, NAN),
)
def refuses_zero_only(x, temperature, dim=-1):
    if temperature == 0:
        raise ValueError(f"temperature is {temperature}; it must be greater than 0")
    return torch.softmax(x / temperature, dim)


@softmax_with_temperature.mistake(
    "You answer where you should refuse: a temperature of 0 or below is silently replaced by a "
    "small one. Raise a ValueError, so that the caller learns of it.",
    shows=BELOW,
)
def replaces_a_bad_temperature(x, temperature, dim=-1):
    if temperature != temperature:
        raise ValueError(f"temperature is {temperature}; it must be greater than 0")
    return torch.softmax(x / max(temperature, 1e-6), dim)


@softmax_with_temperature.mistake(
    "At temperature 0 you give everything to the highest score. Generation does that in lesson 08; "
    "here 0 is refused like all that is not greater than 0.",
    shows=BELOW,
)
def takes_zero_for_the_limit(x, temperature, dim=-1):
    if temperature == 0:
        return torch.zeros_like(x).scatter(dim, x.argmax(dim, keepdim=True), 1.0)
    if not temperature > 0:
        raise ValueError(f"temperature is {temperature}; it must be greater than 0")
    return torch.softmax(x / temperature, dim)


@softmax_with_temperature.mistake(
    "You refuse the right temperatures with the wrong kind of error: an `assert` raises "
    "AssertionError, and it is skipped altogether under `python -O`. Say `raise ValueError(...)`.",
    shows=(BELOW, NAN),
)
def asserts_the_temperature(x, temperature, dim=-1):
    assert temperature > 0
    return torch.softmax(x / temperature, dim)


@softmax_with_temperature.mistake(
    "You refuse the right temperatures, but the message does not say enough: it must name "
    "`temperature` and the value that it had.",
    shows=(BELOW, NAN),
)
def names_no_value(x, temperature, dim=-1):
    if not temperature > 0:
        raise ValueError("temperature must be positive")
    return torch.softmax(x / temperature, dim)


@softmax_with_temperature.mistake(
    "You refuse temperatures above 1. They are legal: they even the weights out.",
    shows=(DIVIDES, EXTREMES),
)
def refuses_what_is_hot(x, temperature, dim=-1):
    if not 0 < temperature <= 1:
        raise ValueError(f"temperature is {temperature}; it must be greater than 0")
    return torch.softmax(x / temperature, dim)


@softmax_with_temperature.mistake(
    "You insist on a `float`. A whole number like 3 is a temperature too.",
    shows=DIVIDES,
)
def insists_on_a_float(x, temperature, dim=-1):
    if not isinstance(temperature, float) or not temperature > 0:
        raise ValueError(f"temperature is {temperature}; it must be greater than 0")
    return torch.softmax(x / temperature, dim)


@softmax_with_temperature.mistake(
    "The temperature changes nothing: this is plain softmax. (If you divide the exponentials by "
    "it, or subtract it from the scores, it drops out again: it divides the *scores*.)",
    shows=DIVIDES,
    see="7. Temperature",
)
def ignores_the_temperature(x, temperature, dim=-1):
    if not temperature > 0:
        raise ValueError(f"temperature is {temperature}; it must be greater than 0")
    return torch.softmax(x, dim)


@softmax_with_temperature.mistake(
    "You divide twice: the scores, which is right, and then the weights once more, which no longer "
    "add up to 1.",
    shows=DIVIDES,
    see="7. Temperature",
)
def divides_twice(x, temperature, dim=-1):
    if not temperature > 0:
        raise ValueError(f"temperature is {temperature}; it must be greater than 0")
    return torch.softmax(x / temperature, dim) / temperature


@softmax_with_temperature.mistake(
    "You divide by the square root of the temperature. It divides the scores as it is.",
    shows=DIVIDES,
    see="7. Temperature",
)
def divides_by_the_square_root(x, temperature, dim=-1):
    if not temperature > 0:
        raise ValueError(f"temperature is {temperature}; it must be greater than 0")
    return torch.softmax(x / math.sqrt(temperature), dim)


@softmax_with_temperature.mistake(
    "You raise the weights to the power 1 / T. On paper that is the same, but weights that were "
    "rounded to 0 stay 0, however hot it is. Divide the scores.",
    shows=EXTREMES,
    see="7. Temperature",
)
def raises_weights_to_a_power(x, temperature, dim=-1):
    if not temperature > 0:
        raise ValueError(f"temperature is {temperature}; it must be greater than 0")
    powers = torch.softmax(x, dim) ** (1 / temperature)
    return powers / powers.sum(dim, keepdim=True)


@softmax_with_temperature.mistake(
    "Divided by a small temperature, scores are large, and `exp` overflows: subtract the largest "
    "*after* the division, or use your softmax.",
    shows=EXTREMES,
    see="3. A thousand is too much",
)
def overflows_when_cold(x, temperature, dim=-1):
    if not temperature > 0:
        raise ValueError(f"temperature is {temperature}; it must be greater than 0")
    exponentials = torch.exp(x / temperature)
    return exponentials / exponentials.sum(dim, keepdim=True)


@softmax_with_temperature.mistake(
    "You subtract the largest of the scores *before* the division from the scores *after* it: "
    "divided by a small temperature they are much larger. Both must be divided.",
    shows=EXTREMES,
    see="3. A thousand is too much",
)
def subtracts_the_undivided_maximum(x, temperature, dim=-1):
    if not temperature > 0:
        raise ValueError(f"temperature is {temperature}; it must be greater than 0")
    exponentials = torch.exp(x / temperature - x.amax(dim, keepdim=True))
    return exponentials / exponentials.sum(dim, keepdim=True)


@softmax_with_temperature.mistake(
    "You add a small constant to the temperature. When it is cold that is a large part of it; and "
    "what should be refused is no longer 0.",
    shows=EXTREMES,
)
def adds_a_constant_to_the_temperature(x, temperature, dim=-1):
    if not temperature > 0:
        raise ValueError(f"temperature is {temperature}; it must be greater than 0")
    return torch.softmax(x / (temperature + 1e-6), dim)


@softmax_with_temperature.mistake(
    "`dim` is ignored: your lists always run along the last dimension. Hand `dim` on.",
    shows=DIMENSION,
    see="4. Which dimension?",
)
def does_not_hand_dim_on(x, temperature, dim=-1):
    if not temperature > 0:
        raise ValueError(f"temperature is {temperature}; it must be greater than 0")
    return torch.softmax(x / temperature, -1)


@softmax_with_temperature.mistake(
    "You return the logarithms of the weights. Asked for are the weights.",
    shows=DIVIDES,
)
def returns_the_logarithms(x, temperature, dim=-1):
    if not temperature > 0:
        raise ValueError(f"temperature is {temperature}; it must be greater than 0")
    return torch.log_softmax(x / temperature, dim)


@softmax_with_temperature.mistake(
    "Float64 scores must give float64 weights: keep the dtype of `x`.",
    shows=DOUBLE,
)
def weighs_in_float32(x, temperature, dim=-1):
    if not temperature > 0:
        raise ValueError(f"temperature is {temperature}; it must be greater than 0")
    return torch.softmax(x.float() / temperature, dim)


@softmax_with_temperature.mistake(
    "The weights are right, but no gradient flows: somewhere you leave the tensors (`.item()`, "
    "`.detach()`, `.data`, `.numpy()`, `torch.tensor(...)`, `no_grad`).",
    shows=GRADIENTS,
)
def detaches_the_scores(x, temperature, dim=-1):
    if not temperature > 0:
        raise ValueError(f"temperature is {temperature}; it must be greater than 0")
    return torch.softmax(x.detach() / temperature, dim)


@softmax_with_temperature.mistake(
    "Your function changes its argument: `x /= temperature` writes into the tensor that the caller "
    "still needs. Make a new tensor.",
    shows=PURE,
)
def divides_in_place(x, temperature, dim=-1):
    if not temperature > 0:
        raise ValueError(f"temperature is {temperature}; it must be greater than 0")
    x /= temperature
    return torch.softmax(x, dim)


@softmax_with_temperature.mistake(
    "You take softmax twice: once of the scores, and again of the weights that it gave. The "
    "temperature divides the *scores*.",
    shows=DIVIDES,
    see="7. Temperature",
)
def takes_softmax_twice(x, temperature, dim=-1):
    if not temperature > 0:
        raise ValueError(f"temperature is {temperature}; it must be greater than 0")
    return torch.softmax(torch.softmax(x, dim) / temperature, dim)


@softmax_with_temperature.mistake(
    "Raising the weights to the power 1 / temperature is half of it: they no longer add up to 1. "
    "Divide the *scores* before softmax, and nothing is left to be mended.",
    shows=DIVIDES,
    see="7. Temperature",
)
def raises_to_a_power_and_stops(x, temperature, dim=-1):
    if not temperature > 0:
        raise ValueError(f"temperature is {temperature}; it must be greater than 0")
    return torch.softmax(x, dim) ** (1 / temperature)


@softmax_with_temperature.mistake(
    "You subtract one maximum for the whole tensor. Where another list lies far below it, all of "
    "that list's exponentials become 0: each list needs its own.",
    shows=EXTREMES,
    see="3. A thousand is too much",
)
def takes_one_maximum_for_all_lists(x, temperature, dim=-1):
    if not temperature > 0:
        raise ValueError(f"temperature is {temperature}; it must be greater than 0")
    exponentials = torch.exp((x - x.amax()) / temperature)
    return exponentials / exponentials.sum(dim, keepdim=True)


@softmax_with_temperature.mistake(
    "Without a `dim` you work along the first dimension. The default should be the last, `dim=-1`.",
    shows=(DIVIDES, EXTREMES),
)
def works_along_dimension_0_by_default(x, temperature, dim=0):
    if not temperature > 0:
        raise ValueError(f"temperature is {temperature}; it must be greater than 0")
    return torch.softmax(x / temperature, dim)


@softmax_with_temperature.mistake(
    "Float32 scores must give float32 weights: keep the dtype of `x`. (To compute in float64 is "
    "fine, if you convert back.)",
    shows=(DIVIDES, DIMENSION),
)
def weighs_in_float64(x, temperature, dim=-1):
    if not temperature > 0:
        raise ValueError(f"temperature is {temperature}; it must be greater than 0")
    return torch.softmax(x.double() / temperature, dim)


@softmax_with_temperature.mistake(
    "A temperature of 0 is refused, as it should be, but a small one is replaced by a larger: "
    "close to 0 the weights still depend on it.",
    shows=EXTREMES,
    see="7. Temperature",
)
def keeps_the_temperature_from_zero(x, temperature, dim=-1):
    if not temperature > 0:
        raise ValueError(f"temperature is {temperature}; it must be greater than 0")
    return torch.softmax(x / max(temperature, 0.01), dim)


@softmax_with_temperature.mistake(
    "You refuse the right things with the wrong kind of error. The type is right, its value is not: "
    "that is a ValueError, not a TypeError.",
    shows=(BELOW, NAN),
)
def raises_a_type_error(x, temperature, dim=-1):
    if not temperature > 0:
        raise TypeError(f"temperature is {temperature}; it must be greater than 0")
    return torch.softmax(x / temperature, dim)


@softmax_with_temperature.mistake(
    "You refuse the right things with the wrong kind of error: a ValueError says that an argument "
    "was wrong, a RuntimeError only that something went wrong.",
    shows=(BELOW, NAN),
)
def raises_a_runtime_error(x, temperature, dim=-1):
    if not temperature > 0:
        raise RuntimeError(f"temperature is {temperature}; it must be greater than 0")
    return torch.softmax(x / temperature, dim)


@softmax_with_temperature.mistake(
    "0 and `nan` are refused, as they should be. But temperatures below 0 pass, and turn the order "
    "of the scores round.",
    shows=BELOW,
    see="7. Temperature",
)
def lets_the_negative_pass(x, temperature, dim=-1):
    if temperature == 0 or math.isnan(temperature):
        raise ValueError(f"temperature is {temperature}; it must be greater than 0")
    return torch.softmax(x / temperature, dim)


@softmax_with_temperature.mistake(
    "You divide by the *square* of the temperature.",
    shows=DIVIDES,
    see="7. Temperature",
)
def divides_by_the_square(x, temperature, dim=-1):
    if not temperature > 0:
        raise ValueError(f"temperature is {temperature}; it must be greater than 0")
    return torch.softmax(x / temperature / temperature, dim)


@softmax_with_temperature.alternative
def with_the_inverse(x, temperature, dim=-1):
    if temperature > 0:
        scores = x * (1.0 / temperature)
        powers = (scores - scores.amax(dim, keepdim=True)).exp()
        return powers / powers.sum(dim, keepdim=True)
    raise ValueError(f"`temperature` must be > 0, got {temperature!r}")


@softmax_with_temperature.alternative
def by_shifting_first(x, temperature, dim=-1):
    if math.isnan(temperature) or temperature <= 0:
        raise ValueError("expected a positive temperature, not " + str(temperature))
    shifted = (x - x.max(dim, keepdim=True).values) / temperature
    return shifted.exp() / shifted.exp().sum(dim, keepdim=True)


@softmax_with_temperature.alternative
def through_logarithms(x, temperature, dim=-1):
    # Late, as in the lesson: the logarithms of the weights differ from the scores by one number
    if not temperature > 0:
        raise ValueError(f"temperature={temperature:g} is not positive")
    shifted = x - x.amax(dim, keepdim=True)
    logarithms = shifted - shifted.exp().sum(dim, keepdim=True).log()
    late = logarithms / temperature
    powers = torch.exp(late - late.amax(dim, keepdim=True))
    return powers / powers.sum(dim, keepdim=True)


@softmax_with_temperature.alternative
def with_an_error_of_its_own(x, temperature, dim=-1):
    class BadTemperature(ValueError):
        pass

    def weights(scores):
        powers = F.normalize((scores - scores.amax(-1, keepdim=True)).exp(), p=1, dim=-1)
        return powers

    match temperature:
        case t if t > 0:
            return weights(x.transpose(dim, -1).div(t)).transpose(dim, -1)
        case t:
            raise BadTemperature(f"The temperature ({t}) has to be above zero.")


@softmax_with_temperature.alternative
def by_a_power_of_exponentials(x, temperature, dim=-1):
    try:
        if not temperature > 0:
            raise ArithmeticError
    except ArithmeticError as error:
        raise ValueError(f"temperature: {temperature} is not allowed") from error
    base = math.exp(1 / temperature) if temperature > 0.01 else None
    gaps = x - x.amax(dim=dim, keepdim=True)
    powers = torch.exp(gaps / temperature) if base is None else torch.pow(base, gaps)
    return powers / powers.sum(dim=dim, keepdim=True)


@softmax_with_temperature.alternative
def beginning_a_sentence_with_the_name(x, temperature, dim=-1):
    if math.isnan(temperature) or temperature <= 0:
        raise ValueError(f"Temperature must be positive, got {temperature}")
    powers = torch.exp2((x - x.amax(dim, keepdim=True)) / temperature * math.log2(math.e))
    return powers / powers.sum(dim, keepdim=True)


# ------------------------------------------------------------------------------------------ entropy

entropy = exercise(
    "entropy", points=4, see="Exercise 4: `entropy(p, dim=-1)`", forbidden=NOT_ALLOWED
)
entropy.hints = (
    "For one weight: what is its surprise, and how much does it count in the average? For a weight "
    "of 0: what does your formula compute, and what should it be?",
    "Multiply each weight by minus its logarithm, and sum along `dim`. A weight of 0 should never "
    "reach the logarithm: put some other number in its place first. Since 0 is multiplied by that "
    "number's logarithm, any number above 0 will do.",
    "The shape of the code: `safe = torch.where(<p is above 0>, p, <something harmless>)`, then "
    "`return -(p * <logarithm of safe>).sum(<along dim>)`.",
)


@entropy.oracle
def entropy_oracle(p, dim=-1):
    # The derivative of its terms is infinite at 0, so that what does not exist is not judged
    return torch.special.entr(p).sum(dim)


def along(dim, p):
    """Weights with the sum 1 along `dim` instead of the last dimension."""
    return p.movedim(-1, dim).contiguous()


def with_zeros(p, *places):
    """`p`, with some weights of each row (of the last dimension) 0 and the rest scaled up to 1."""
    for row, gone in zip(p.view(-1, p.shape[-1]), places, strict=True):
        row[list(gone)] = 0.0
    return p / p.sum(-1, keepdim=True)


@entropy.example("the one on paper")
def _():
    yield call(torch.tensor([0.5, 0.25, 0.25]))


@entropy.example("two words, equal shares, and two weights of 0")
def _():
    yield call(torch.tensor([0.5, 0.5, 0.0, 0.0]))


@entropy.example("three lists at once")
def _():
    yield call(torch.tensor([[0.1, 0.2, 0.3, 0.4], [0.25, 0.25, 0.25, 0.25], [0.0, 1.0, 0.0, 0.0]]))


@entropy.example("along the first dimension")
def _():
    yield call(torch.tensor([[0.1, 0.5, 1.0], [0.9, 0.5, 0.0]]), dim=0)


@entropy.example("float64 in, float64 out")
def _():
    yield call(torch.tensor([0.2, 0.3, 0.5], dtype=torch.float64))


@entropy.example("gradients flow back")
def _():
    yield call(torch.tensor([[0.2, 0.3, 0.5], [0.6, 0.4, 0.0]])).with_gradients()


AVERAGE, ZEROS = "the average surprise", "weights of 0"
TINY = "gradients at tiny weights, and beside weights of 0"


@entropy.criterion(AVERAGE, points=1)
def _(draw):
    yield call(draw.distribution(7))
    yield call(draw.distribution(4, 6))
    yield call(draw.distribution(2, 3, 5))
    yield call(torch.full((3, 4), 0.25)).described("equal shares")
    yield call(torch.tensor([[0.97, 0.02, 0.01], [0.01, 0.98, 0.01]]))
    yield call(draw.distribution(2, 400))
    yield call(torch.ones(3, 1)).described("lists of one weight each")
    yield call(non_contiguous(draw.distribution(4, 5)))
    yield call(non_contiguous(draw.distribution(2, 4, 3)))
    yield call(non_contiguous(draw.distribution(6)))


@entropy.criterion(DIMENSION, points=0.5)
def _(draw):
    yield call(along(1, draw.distribution(3, 4, 5)), dim=1)
    yield call(along(0, draw.distribution(3, 5)), dim=0)
    yield call(along(-2, draw.distribution(3, 5)), -2)
    yield call(along(-4, draw.distribution(2, 3, 4, 5)), dim=-4)
    yield call(along(-2, draw.distribution(4, 2, 5, 3)), dim=-2)
    yield call(along(2, draw.distribution(2, 3, 4, 5)), 2)
    yield call(draw.distribution(3, 1, 4), dim=-1)
    yield call(along(1, draw.distribution(1, 3, 4)), dim=1)
    yield call(draw.distribution(6), 0)


@entropy.criterion(ZEROS, points=0.5)
def _(draw):
    yield call(with_zeros(draw.distribution(6), (1, 4)))
    yield call(with_zeros(draw.distribution(4, 5), (0,), (), (1, 2, 4), (0, 1, 2, 4)))
    yield call(torch.tensor([0.0, 1.0, 0.0]))
    zeros = with_zeros(draw.distribution(2, 2, 5), (0,), (), (1, 4), (2,))
    yield call(zeros.double())


@entropy.criterion(DOUBLE, points=0.5)
def _(draw):
    yield call(draw.distribution(3, 5, dtype=torch.float64))
    even = torch.full((2, 7), 1 / 7, dtype=torch.float64)
    tilt = draw.uniform(2, 7, low=-1e-5, high=1e-5, dtype=torch.float64)
    yield call(even + tilt - tilt.mean(-1, keepdim=True))
    # What float32 would round away
    yield call(draw.distribution(4, 6, dtype=torch.float64)).within(1e-10, 1e-11)


@entropy.criterion(GRADIENTS, points=0.5)
def _(draw):
    yield call(draw.distribution(6)).with_gradients()
    yield call(draw.distribution(3, 5)).with_gradients()
    yield call(along(1, draw.distribution(2, 3, 4, dtype=torch.float64)), dim=1).with_gradients()


@entropy.criterion(TINY, points=0.5)
def _(draw):
    # A guard below all of these, like 1e-12, is not held against anybody
    tiny = draw.uniform(3, 4, low=4e-11, high=6e-11)
    p = torch.cat([tiny, draw.distribution(3, 3)], dim=-1)[:, [4, 0, 1, 5, 2, 6, 3]]
    yield call(p).with_gradients()
    yield call(torch.tensor([[1e-6, 0.4, 0.6 - 1e-6], [1e-4, 1e-5, 0.99989]])).with_gradients()
    yield call(with_zeros(draw.distribution(3, 5), (0,), (), (1, 4))).with_gradients()


@entropy.criterion(PURE, points=0.5)
def _(draw):
    yield call(draw.distribution(3, 5)).unchanged()
    yield call(with_zeros(draw.distribution(3, 5), (0,), (), (1, 4))).holding(changes_nothing)


@entropy.mistake(
    "A weight of 0 gives `nan`: `0 * log(0)` is 0 times −∞ for a computer. Its contribution is 0.",
    shows=ZEROS,
    see="8. Entropy: how many words is it looking at?",
)
def multiplies_zero_by_infinity(p, dim=-1):
    return -(p * torch.log(p)).sum(dim)


@entropy.mistake(
    "The sign is wrong: logarithms of weights are never positive, so entropy, which is never "
    "negative, has a minus in front.",
    shows=AVERAGE,
    see="8. Entropy: how many words is it looking at?",
)
def forgets_the_minus(p, dim=-1):
    return (p * torch.log(torch.where(p > 0, p, 1.0))).sum(dim)


@entropy.mistake(
    "You measure in bits: `log2`. Asked for are nats, the natural logarithm, `torch.log`.",
    shows=AVERAGE,
    see="8. Entropy: how many words is it looking at?",
)
def measures_in_bits(p, dim=-1):
    return -(p * torch.log2(torch.where(p > 0, p, 1.0))).sum(dim)


@entropy.mistake(
    "You take the logarithm to the base 10. Asked for is the natural logarithm, `torch.log`.",
    shows=AVERAGE,
    see="8. Entropy: how many words is it looking at?",
)
def takes_logarithms_to_the_base_ten(p, dim=-1):
    return -(p * torch.log10(torch.where(p > 0, p, 1.0))).sum(dim)


@entropy.mistake(
    "You divide by the number of weights (a mean where a sum is meant). The weights themselves are "
    "the shares of this average: only add up.",
    shows=AVERAGE,
    see="8. Entropy: how many words is it looking at?",
)
def takes_the_mean(p, dim=-1):
    return -(p * torch.log(torch.where(p > 0, p, 1.0))).mean(dim)


@entropy.mistake(
    "You add the surprises up without weighting them: each counts as often as it happens, so it is "
    "multiplied by its weight.",
    shows=AVERAGE,
    see="8. Entropy: how many words is it looking at?",
)
def adds_the_surprises(p, dim=-1):
    return -torch.log(torch.where(p > 0, p, 1.0)).sum(dim)


@entropy.mistake(
    "You return the contributions, weight by weight, and not their sum.",
    shows=(AVERAGE, DIMENSION),
)
def returns_the_contributions(p, dim=-1):
    return -p * torch.log(torch.where(p > 0, p, 1.0))


@entropy.mistake(
    "One number comes out for the whole tensor: sum along `dim` only, one entropy for each list.",
    shows=(AVERAGE, DIMENSION),
    see="4. Which dimension?",
)
def adds_up_everything(p, dim=-1):
    return -(p * torch.log(torch.where(p > 0, p, 1.0))).sum()


@entropy.mistake(
    "You average over the lists of the batch. Each list has an entropy of its own.",
    shows=(AVERAGE, DIMENSION),
)
def averages_over_the_batch(p, dim=-1):
    return -(p * torch.log(torch.where(p > 0, p, 1.0))).sum(dim).mean()


@entropy.mistake(
    "`dim` is ignored: your sums always run along the last dimension.",
    shows=DIMENSION,
    see="4. Which dimension?",
)
def ignores_which_dimension(p, dim=-1):
    return -(p * torch.log(torch.where(p > 0, p, 1.0))).sum(-1)


@entropy.mistake(
    "You sum along the first dimension, whatever `dim` is.",
    shows=(AVERAGE, DIMENSION),
    see="4. Which dimension?",
)
def sums_along_the_first_dimension(p, dim=-1):
    return -(p * torch.log(torch.where(p > 0, p, 1.0))).sum(0)


@entropy.mistake(
    "The result still has the dimension, with size 1. Here `dim` should be gone: no `keepdim`.",
    shows=(AVERAGE, DIMENSION),
)
def keeps_the_dimension(p, dim=-1):
    return -(p * torch.log(torch.where(p > 0, p, 1.0))).sum(dim, keepdim=True)


@entropy.mistake(
    "`squeeze()` without a dimension removes *every* dimension of size 1, also those that belong "
    "to the batch.",
    shows=DIMENSION,
)
def squeezes_the_entropy(p, dim=-1):
    return -(p * torch.log(torch.where(p > 0, p, 1.0))).sum(dim, keepdim=True).squeeze()


@entropy.mistake(
    "You return e to the power H, the number of words that share the attention. Asked for is H itself.",
    shows=AVERAGE,
    see="8. Entropy: how many words is it looking at?",
)
def returns_the_number_of_words(p, dim=-1):
    return torch.special.entr(p).sum(dim).exp()


@entropy.mistake(
    "You divide by ln(n), so that the greatest entropy is 1. Asked for are nats, in which the "
    "greatest is ln(n).",
    shows=AVERAGE,
    see="8. Entropy: how many words is it looking at?",
)
def divides_by_the_greatest(p, dim=-1):
    return torch.special.entr(p).sum(dim) / math.log(max(p.shape[dim], 2))


@entropy.mistake(
    "You take `p` for scores and send it through softmax first. These are weights already: they "
    "sum to 1 along `dim`.",
    shows=AVERAGE,
)
def takes_weights_for_scores(p, dim=-1):
    weights = torch.softmax(p, dim)
    return -(weights * weights.log()).sum(dim)


@entropy.mistake(
    "One weight of 0 makes its whole list `nan`, and you put 0 in its place: the entropy of (½, ½, "
    "0) is ln 2, not 0. Mend the *contribution* of a zero, before the sum.",
    shows=ZEROS,
    see="8. Entropy: how many words is it looking at?",
)
def one_zero_hides_the_list(p, dim=-1):
    return torch.nan_to_num(-(p * torch.log(p)).sum(dim))


@entropy.mistake(
    "A small constant inside the logarithm keeps it finite, and bends it: for weights that are "
    "smaller than the constant the gradient is wrong. Treat exactly 0 on its own instead.",
    shows=TINY,
    see="10. Seen in the wild",
)
def adds_a_constant_inside(p, dim=-1):
    return -(p * torch.log(p + 1e-8)).sum(dim)


@entropy.mistake(
    "Weights are cut off at a small number before the logarithm: below it the gradient is wrong. "
    "Treat exactly 0 on its own instead.",
    shows=TINY,
    see="10. Seen in the wild",
)
def cuts_weights_off(p, dim=-1):
    return -(p * torch.log(p.clamp(min=1e-8))).sum(dim)


@entropy.mistake(
    "Float64 weights must give a float64 result: keep the dtype of `p`.",
    shows=DOUBLE,
)
def adds_up_in_float32(p, dim=-1):
    return torch.special.entr(p.float()).sum(dim)


@entropy.mistake(
    "The values are right, but no gradient flows: somewhere you leave the tensors (`.item()`, "
    "`.detach()`, `.data`, `.numpy()`, `torch.tensor(...)`, `no_grad`).",
    shows=GRADIENTS,
)
def leaves_the_graph(p, dim=-1):
    return torch.special.entr(p.detach()).sum(dim)


@entropy.mistake(
    "The values are right, the gradient is not: you take the surprise for a constant (`detach`, "
    "`no_grad`), but it changes with the weight.",
    shows=GRADIENTS,
)
def takes_the_surprise_for_a_constant(p, dim=-1):
    return -(p * torch.log(torch.where(p > 0, p, 1.0)).detach()).sum(dim)


@entropy.mistake(
    "Your function changes its argument: `p[p == 0] = …` and methods that end in `_`, like "
    "`clamp_`, write into the tensor that the caller still needs. Make a new tensor.",
    shows=PURE,
)
def mends_zeros_in_place(p, dim=-1):
    p.data[p.data == 0] = 1.0
    return -(p * torch.log(p)).sum(dim)


@entropy.mistake(
    "Without a `dim` you work along dimension 1. The default should be the last one, `dim=-1`, "
    "which a plain list has, too.",
    shows=AVERAGE,
)
def sums_along_dimension_1_by_default(p, dim=1):
    return torch.special.entr(p).sum(dim)


@entropy.mistake(
    "Float32 weights must give a float32 result: keep the dtype of `p`. (To compute in float64 is "
    "fine, if you convert back.)",
    shows=(AVERAGE, DIMENSION),
)
def adds_up_in_float64(p, dim=-1):
    return torch.special.entr(p.double()).sum(dim)


@entropy.mistake(
    "The values are right, the gradients are not: you take the weight before the logarithm for a "
    "constant. Both change with `p`.",
    shows=(GRADIENTS, TINY),
)
def takes_the_weight_for_a_constant(p, dim=-1):
    return -(p.detach() * torch.log(torch.where(p > 0, p, 1.0))).sum(dim)


@entropy.mistake(
    "You add the entropy of each weight's complement, `(1 - p) * log(1 - p)`. That is for a single "
    "yes-or-no question; here the other weights already stand for the complement.",
    shows=(AVERAGE, DIMENSION),
)
def adds_the_complements(p, dim=-1):
    return (torch.special.entr(p) + torch.special.entr(1 - p)).sum(dim)


@entropy.mistake(
    "You take the largest of the contributions where their sum is asked for.",
    shows=(AVERAGE, DIMENSION),
)
def takes_the_largest_contribution(p, dim=-1):
    return torch.special.entr(p).amax(dim)


@entropy.mistake(
    "You return 1 minus the sum of squares, another measure of how spread out weights are. "
    "Entropy is the average of −log p.",
    shows=(AVERAGE, DIMENSION),
)
def adds_up_squares(p, dim=-1):
    return 1 - p.square().sum(dim)


@entropy.mistake(
    "The result has the right dtype, but it was computed in float32 and converted afterwards: the "
    "digits that float64 has more are lost by then.",
    shows=DOUBLE,
)
def adds_up_in_float32_and_converts(p, dim=-1):
    return torch.special.entr(p.float()).sum(dim).to(p.dtype)


@entropy.mistake(
    "The values are right, the gradients are not: you divide by the sum first. It is 1, but it "
    "changes with each weight, and the gradient sees that. Take `p` as it is.",
    shows=GRADIENTS,
)
def normalises_before(p, dim=-1):
    return torch.special.entr(p / p.sum(dim, keepdim=True)).sum(dim)


@entropy.alternative
def by_entr(p, dim=-1):
    return torch.special.entr(p).sum(dim=dim)


@entropy.alternative
def by_xlogy(p, dim=-1):
    return -torch.xlogy(p, p).sum(dim)


@entropy.alternative
def by_replacing_nan(p, dim=-1):
    return -torch.nan_to_num(p * p.log(), nan=0.0).sum(dim)


@entropy.alternative
def by_nansum(p, dim=-1):
    return torch.nansum(p * torch.log(torch.reciprocal(p)), dim)


@entropy.alternative
def by_a_loop_over_the_weights(p, dim=-1):
    total = 0
    for weight in p.unbind(dim):
        some = weight > 0
        total = total - torch.where(some, weight * torch.where(some, weight, 1).log(), 0)
    return total


@entropy.alternative
def by_einsum(p, dim=-1):
    flat = p.movedim(dim, -1)
    surprise = flat.masked_fill(flat == 0, 1.0).log().neg()
    return torch.einsum("...n,...n->...", flat, surprise)


@entropy.alternative
def in_bits_and_back(p, dim=-1):
    tiny = torch.finfo(p.dtype).tiny
    return torch.sum(p * p.clamp(min=tiny).log2(), dim) * -math.log(2)


@entropy.alternative
def list_by_list_without_the_zeros(p, dim=-1):
    moved = p.movedim(dim, -1)
    found = []
    for row in moved.reshape(-1, moved.shape[-1]):
        some = row[row > 0]
        found.append(-torch.dot(some, some.log()))
    return torch.stack(found).reshape(moved.shape[:-1])
