# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Lesson 0: A warm-up with tensors
#
# **Attention** is the part of a language model that lets each word gather information from the other words. You will build it, one
# function at a time. **How do you write an answer and get help, and which parts of PyTorch do you need?**
#
# **You will build** `twice`, `centre`, `Line` and `gradient_step`, one step of training.
#
# **You need** basic Python: functions, lists and `import`. It helps to have seen a class.
#
# **Time:**
#
# Run the cells in order, with Shift+Enter. If you see a `NameError`, run the first cell again.

# %%
import math

import torch
import torch.nn.functional as F
from course import begin, check, figures, hint, predict, progress, sliders, solution
from torch import nn

begin("00_start")

# %% [markdown]
# ## The short way, if you know PyTorch
#
# Do the four exercises that have points: about 5 minutes. A failed check names the section to read.
#
# ## 1. How a lesson works
#
# A **tensor** is a grid of numbers with any number of dimensions. Its `shape` lists the size of each dimension, and its `dtype`
# is the type of its entries. Operations work on all entries at once.

# %% tags=["code"]
x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
print("shape:", tuple(x.shape))
print("plus 10:", (x + 10).tolist())
print("dtype:", x.dtype)  # 32 bits per number by default

# %% [markdown]
# Dimensions are counted from 0, or from the end: `dim=-1` is the last. A tensor of shape `()` holds a single number, and
# `(..., 3)` stands for any shape that ends in 3.

# %% tags=["picture"]
# @title Three shapes and their dimensions
figures.show(figures.tensors.shapes())

# %% [markdown]
# `torch.tensor(…)` makes a tensor, and `torch.Tensor` is its type. Write `1.0` rather than `1`: `mean` fails on integers.
#
# ### Exercise: `twice(x)`
#
# *Difficulty ★☆☆, importance ●○○, about 2 minutes.*
#
# Double every number of `x`. Leave `x` itself unchanged: the caller may still need it.
#
# Worked example: `twice(torch.tensor([1, -2, 0.5]))` is `[2, -4, 1]`.
#
# The next two cells hold your answer and its check. Try a wrong answer first, such as `return x + 2`: `check` names the mistakes
# that it recognises. It runs a few examples, then *practice cases*: the graded cases with different numbers.


# %% nbgrader={"grade": false, "grade_id": "twice", "locked": false, "schema_version": 3, "solution": true, "task": false}
def twice(x: torch.Tensor) -> torch.Tensor:
    """Every number of x, doubled.

    x: any shape
    returns: the same shape and dtype
    """
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_twice", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(twice)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(twice)
### END HIDDEN TESTS

# %% [markdown]
# Later cells use your function once it passes, and the course's until then, which a line below the cell says. So you can skip an
# exercise and come back.

# %% tags=["code"]
print(twice(torch.tensor([0.5, 21.0])).tolist())

# %% [markdown]
# A report that fails ends with the call of a hint, such as `hint(twice)`. It gives a question, then the idea, then an outline of the
# code, and repeats what you had. Once you pass, or after three tries and three hints, `solution(twice)` shows correct answers, if your
# course provides them. `progress()` checks all exercises, and the next lesson remembers the result.
#
# Only exercises earn points. In a *prediction*, replace the `...` with your guess before you run the cell.
#
# ## 2. Shapes that stretch
#
# PyTorch combines different shapes by **broadcasting**. It lines them up *from the right*. A dimension that has size 1, or is
# missing on the left, is *stretched*: its entries are repeated until it fits.
#
# ### Predict: a column plus a row
#
# `column` is `(3, 1)`, `row` is `(4,)`. What shape does their sum have?

# %%
column, row = torch.tensor([[0.0], [10.0], [20.0]]), torch.tensor([1.0, 2.0, 3.0, 4.0])
# A shape, such as (2, 5)
predict("the shape of the sum", ..., (column + row).shape)

# %% tags=["picture"]
# @title How the column and the row stretch
figures.show(figures.broadcast(column, row), caption="a is the column, b the row.")

# %% [markdown]
# ### Exercise: a table of gaps (extra)
#
# *Difficulty ★☆☆, importance ●○○, about 3 minutes.* Tools: `-` and `None`.
#
# An exercise without points is for practice. **In sections 2 to 4, each takes one line with the tools that it names:**
# no loop, and no function that does the whole task. In an index, `:` keeps a dimension and `None` inserts one of size
# 1: if `a` is `(3,)`, `a[:, None]` is a column, `(3, 1)`.
#
# Return the table with `b[n] - a[m]` in row m, column n.
#
# Worked example (tensors are shown as lists): `a = [0, 10]` and `b = [1, 2, 3]` make `[[1, 2, 3], [-9, -8, -7]]`.


# %%
def gaps(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """b[n] - a[m] for every m and n. a: (M,); b: (N,); returns: (M, N)"""
    raise NotImplementedError  # replace this line with your code


# %%
check(gaps)  # stuck? hint(gaps)

# %% [markdown]
# ### Exercise: a chessboard (extra)
#
# *Difficulty ★☆☆, importance ●○○, about 2 minutes.* Tools: `torch.arange`, `None`, `+`, and `% 2`, the remainder after
# division by 2.
#
# Return a table in which 0 and 1 alternate, with 0 at the top left. `torch.arange(4)` is `[0, 1, 2, 3]`.
#
# Worked example: `chessboard(2, 3)` is `[[0, 1, 0], [1, 0, 1]]`.


# %%
def chessboard(rows: int, columns: int) -> torch.Tensor:
    """0 and 1, alternating. returns: (rows, columns)"""
    raise NotImplementedError  # replace this line with your code


# %%
check(chessboard)

# %% [markdown]
# ### Exercise: a staircase (extra)
#
# *Difficulty ★☆☆, importance ●○○, about 2 minutes.* Tools: `torch.arange`, `None`, `<=`, which compares entry by entry.
#
# Return a table that is True where the column number is at most the row number, and False elsewhere. In lesson 5, this pattern
# hides from each word the words after it.
#
# Worked example: `staircase(2)` is `[[True, False], [True, True]]`.


# %%
def staircase(n: int) -> torch.Tensor:
    """True on the diagonal and below. returns: (n, n), bool"""
    raise NotImplementedError  # replace this line with your code


# %%
check(staircase)

# %% tags=["picture"]
# @title Three tables, each made by stretching a column and a row
figures.show(
    figures.tensors.stretched(gaps, chessboard, staircase),
)

# %% [markdown]
# ## 3. One number per row
#
# `x.mean(dim=-1)` takes the mean of each row. The last dimension disappears: if `x` is `(4, 3)`, the means are `(4,)`.
#
# ### Predict: rows minus their means
#
# `x` is `(4, 3)`. What is `x - x.mean(dim=-1)`?

# %%
x = torch.arange(12.0).reshape(4, 3)
# "each row minus its mean", "each column minus a number" or "an error"
predict("x minus its means", ...)

# %% tags=["picture"]
# @title Without keepdim, and with it
try:
    x - x.mean(dim=-1)
except RuntimeError as error:
    print("Without keepdim:", error)
print("With keepdim:   ", tuple((x - x.mean(dim=-1, keepdim=True)).shape))

# %% [markdown]
# `keepdim=True` keeps the dimension, with size 1: the means are a column, `(4, 1)`, and stretch along the rows.
#
# ### Exercise: `centre(x)`
#
# *Difficulty ★☆☆, importance ●●○, about 3 minutes.*
#
# Subtract each row's mean from that row, and leave `x` unchanged. Rows run along the last dimension. Any number of dimensions may
# come before it.
#
# Worked example: the rows `(1, 3)` and `(10, 30)` have means 2 and 20, so they become `(-1, 1)` and `(-10, 10)`.


# %% nbgrader={"grade": false, "grade_id": "centre", "locked": false, "schema_version": 3, "solution": true, "task": false}
def centre(x: torch.Tensor) -> torch.Tensor:
    """Each row minus its own mean.

    x: (..., D)
    returns: (..., D), the same dtype
    """
    ### BEGIN SOLUTION
    return x - x.mean(dim=-1, keepdim=True)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_centre", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check(centre)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(centre)
### END HIDDEN TESTS

# %% tags=["picture"]
# @title Three rows before and after
figures.show(figures.tensors.centred(centre))

# %% [markdown]
# ### Is it a bug? A mean without `keepdim`
#
# #### Predict: right or wrong?
#
# Somebody forgets `keepdim`. Because `square` is `(3, 3)`, there is no error. Is `square - square.mean(dim=-1)` each row minus its
# mean?

# %%
square = torch.tensor([[1.0, 2.0, 6.0], [0.0, 0.0, 3.0], [-4.0, 4.0, 6.0]])
# "right" or "wrong"
predict("centring a square without keepdim", ...)

# %% tags=["picture"]
print("means afterwards, without keepdim:", (square - square.mean(dim=-1)).mean(dim=-1))
print("means afterwards, with keepdim:   ", (square - square.mean(dim=-1, keepdim=True)).mean(dim=-1))

# %% tags=["picture"]
# @title Without keepdim, and with it: what is subtracted from what
figures.show(figures.tensors.without_mean(square, keepdim=False))
figures.show(figures.tensors.without_mean(square, keepdim=True))

# %% [markdown]
# The first *column* loses the mean of the first *row*, and so on. This mistake is common and silent. Test with sizes that are all
# different, as `check` does.
#
# ## 4. Mixing and picking rows
#
# If `A` is `(T, S)` and `B` is `(S, D)`, their **matrix product** `A @ B` is `(T, D)`. A row of `A` has one weight for each row of
# `B`: multiply each row of `B` by its weight, then add them up.

# %% tags=["picture"]
# @title A matrix product mixes rows
figures.show(figures.tensors.mixed_rows())

# %% [markdown]
# If `w` is a list, `(S,)`, then `A @ w` has one number per row of `A`: the entries of the row times those of `w`, added up.
#
# ### Predict: a matrix times a list (extra)
#
# `x` is `(5, 3)`, `w` is `(3,)`. What is the shape of `x @ w`?

# %%
# A shape, such as (2, 5)
predict("the shape of a matrix times a list", ..., (torch.ones(5, 3) @ torch.ones(3)).shape)

# %% [markdown]
# ### Exercise: shares of a whole (extra)
#
# *Difficulty ★☆☆, importance ●○○, about 2 minutes.* Tools: `/`, and `.sum`, which takes `dim` and `keepdim` as `.mean`
# does.
#
# All numbers of `x` are positive. Divide each row by its sum.
#
# Worked example: `[[1, 3], [2, 2]]` becomes `[[0.25, 0.75], [0.5, 0.5]]`.


# %%
def shares(x: torch.Tensor) -> torch.Tensor:
    """Each row divided by its sum. x: (..., D); returns: (..., D)"""
    raise NotImplementedError  # replace this line with your code


# %%
check(shares)

# %% [markdown]
# ### Exercise: means so far (extra)
#
# *Difficulty ★★☆, importance ●○○, about 3 minutes.* Tools: your `staircase` and `shares`, `len`, `.float()`, `@`.
#
# Row t of the result is the mean of rows 0 to t of `x`. Attention also mixes rows, but its shares depend on the words.
#
# Worked example: `[[2], [4], [9]]` becomes `[[2], [3], [5]]`.


# %%
def running_means(x: torch.Tensor) -> torch.Tensor:
    """Row t is the mean of rows 0 to t. x: (T, D); returns: (T, D)"""
    raise NotImplementedError  # replace this line with your code


# %%
check(running_means)

# %% tags=["picture"]
# @title The shares, the rows, and what they mix to
mixed = figures.tensors.means_so_far(shares(staircase(4).float()), running_means)
figures.show(mixed)

# %% [markdown]
# ### Exercise: one-hot rows (extra)
#
# *Difficulty ★☆☆, importance ●○○, about 2 minutes.* Tools: `torch.arange`, `None`, `==`, `.float()`.
#
# Row t of the result has a 1 in column `ids[t]` and 0 elsewhere. Multiplied with a table, it selects rows.
#
# Worked example: `one_hot([2, 0], 3)` is `[[0, 0, 1], [1, 0, 0]]`.


# %%
def one_hot(ids: torch.Tensor, n: int) -> torch.Tensor:
    """1.0 in column ids[t] of row t, 0.0 elsewhere. ids: (T,), int64; returns: (T, n)"""
    raise NotImplementedError  # replace this line with your code


# %%
check(one_hot)

# %% [markdown]
# ### Exercise: one entry per row (extra)
#
# *Difficulty ★☆☆, importance ●○○, about 2 minutes.* Tools: `torch.arange`, `len`, two lists in an index:
# `x[[0, 1], [2, 0]]` is `x[0, 2]` and `x[1, 0]`.
#
# From each row t of `x`, return the entry in column `columns[t]`.
#
# Worked example: `chosen([[1, 2, 3], [4, 5, 6]], [2, 0])` is `[3, 4]`.


# %%
def chosen(x: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
    """Entry columns[t] of each row t. x: (T, N); columns: (T,), int64; returns: (T,)"""
    raise NotImplementedError  # replace this line with your code


# %%
check(chosen)

# %% [markdown]
# ### Exercise: neighbours swap places (extra)
#
# *Difficulty ★★☆, importance ●○○, about 3 minutes.* Tools: `.reshape(-1, 2)`, which makes rows of two, `.flip(dim)`,
# which reverses a dimension, `.reshape(-1)`, which makes a list.
#
# Swap the two entries of each pair in `x`, a list of even length.
#
# Worked example: `[1, 2, 3, 4]` becomes `[2, 1, 4, 3]`.


# %%
def swap_neighbours(x: torch.Tensor) -> torch.Tensor:
    """The entries of each pair, swapped. x: (D,), D even; returns: (D,)"""
    raise NotImplementedError  # replace this line with your code


# %%
check(swap_neighbours)

# %% [markdown]
# ## 5. Gradients
#
# A network learns by changing its numbers a little, in the direction that helps. The **gradient** of a result $y$ with respect
# to a number $w$ says how fast $y$ grows with $w$. For $y = w^2$ it is the slope $2w$. For a tensor, it has one slope per entry.
# Move the point:


# %% tags=["picture"]
# @title A slider: the slope of a curve, found by autograd
sliders.slider(figures.tensors.slope)

# %% [markdown]
# PyTorch's **autograd** records what you compute from a tensor with `requires_grad=True`. `backward()`, called on the *one* number
# at the end, puts the gradient into `.grad`, in the tensor's shape.

# %% tags=["code"]
w = torch.tensor([1.0, -2.0, 0.5], requires_grad=True)
y = (w**2).sum()
y.backward()
print("gradient:", w.grad.tolist())

# %% [markdown]
# ### Predict: `backward()` again
#
# The next cell computes the same sum twice and calls `backward()` each time. How large is `w.grad` now?

# %% tags=["picture"]
w = torch.tensor([1.0, -2.0, 0.5], requires_grad=True)
for _ in range(2):
    (w**2).sum().backward()

# %%
# "the same as before", "twice as large" or "zero"
predict("the gradient after two calls of backward", ..., w.grad)

# %% [markdown]
# Gradients are **added up**, so clear the old ones before the next step. Autograd loses track with `.item()`, `.detach()`, `.data`,
# NumPy, or `torch.tensor(…)` of a tensor. Avoid these in your answers: `check` tests gradients, too.
#
# One good use is `x.detach().clone().requires_grad_()`, a copy with a gradient of its own: the caller's `x` stays untouched.
#
# ### Exercise: slopes by autograd (extra)
#
# *Difficulty ★★☆, importance ●○○, about 4 minutes.* It takes three lines.
#
# Let autograd find the gradient of $\sum x^3$, the sum of the cubes of `x`. Leave `x`, its `.grad` and its `requires_grad`
# unchanged.
#
# Worked example: `slopes(torch.tensor([1.0, -2.0]))` is `[3, 12]`, because the slope of $x^3$ is $3x^2$. (`check` accepts this
# formula, too.)


# %%
def slopes(x: torch.Tensor) -> torch.Tensor:
    """The gradient of the sum of the cubes of x. x: any shape; returns: the same shape"""
    raise NotImplementedError  # replace this line with your code


# %%
check(slopes)

# %% [markdown]
# ## 6. A module
#
# **Parameters** are the numbers that training may change; `nn.Parameter` makes one from a tensor. A **module** holds parameters and
# computes with them. Write it as a subclass of `nn.Module`: `__init__` makes the parameters and registers them by assigning them
# to `self`. Calling the module runs `forward`.


# %% tags=["code"]
class Shift(nn.Module):
    def __init__(self):
        super().__init__()  # always first: it prepares the module for parameters
        self.amount = nn.Parameter(torch.tensor(3.0))
        self.unit = torch.tensor(2.0)

    def forward(self, x):
        return x + self.amount * self.unit


shift = Shift()
print("shift of [1, 2]:", shift(torch.tensor([1.0, 2.0])).tolist())

# %% [markdown]
# ### Predict: what training may change
#
# `Shift` assigns an `nn.Parameter` and a plain tensor to `self`. How many parameters does it have?

# %%
# A number
predict("the number of parameters", ..., len(list(shift.parameters())))

# %% [markdown]
# ### Exercise: `Line()`
#
# *Difficulty ★★☆, importance ●●○, about 4 minutes.*
#
# Write a module that computes $\text{slope} \cdot x + \text{offset}$ for `x` of any shape. Its two parameters, `slope` and
# `offset`, have shape `()` and start at 0.
#
# Worked example: with slope 2 and offset 1, `[0, 1, 3]` becomes `[1, 3, 7]`.


# %% nbgrader={"grade": false, "grade_id": "Line", "locked": false, "schema_version": 3, "solution": true, "task": false}
class Line(nn.Module):
    """slope * x + offset, with two parameters of shape () that start at 0."""

    def __init__(self) -> None:
        ### BEGIN SOLUTION
        super().__init__()
        self.slope = nn.Parameter(torch.tensor(0.0))
        self.offset = nn.Parameter(torch.tensor(0.0))
        ### END SOLUTION

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """x: any shape. Returns the same shape."""
        ### BEGIN SOLUTION
        return self.slope * x + self.offset
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_Line", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check(Line)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(Line)
### END HIDDEN TESTS

# %% [markdown]
# ## 7. One step of training
#
# Training needs examples: $\mathbf{x}$, `(B, D)`, holds $B$ of them, and $\mathbf{y}$, `(B,)`, the correct answers. A model predicts
# with weights $\mathbf{w}$, `(D,)`:
#
# $$ \hat{\mathbf{y}} = \mathbf{x} \, \mathbf{w}, \qquad L = \frac{1}{B} \sum_{b=0}^{B-1} (\hat y_b - y_b)^2, \qquad
# \mathbf{w} \leftarrow \mathbf{w} - \eta \, \frac{\partial L}{\partial \mathbf{w}} . $$
#
# Here $\hat{\mathbf{y}}$ ("y hat") are the predictions, $\leftarrow$ means *becomes*, and $\partial L / \partial \mathbf{w}$ is the
# gradient of section 5. The **loss** $L$, here the mean squared error, says how wrong the predictions are. Its gradient points
# uphill, so a step goes the opposite way, by the gradient times the **learning rate** $\eta$ ("eta"). Training repeats this step.
#
# ### Exercise: the loss (extra)
#
# *Difficulty ★☆☆, importance ●○○, about 2 minutes.* Tools: `-`, `.square()`, `.mean()`.
#
# Return the loss $L$.
#
# Worked example: predictions `[1, 2]` for `[4, 2]` have the errors −3 and 0, so the loss is $(9 + 0) / 2 = 4.5$.


# %%
def mean_squared_error(predictions: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The mean of the squared errors. predictions, y: (B,); returns: ()"""
    raise NotImplementedError  # replace this line with your code


# %%
check(mean_squared_error)

# %% [markdown]
# ### Exercise: `gradient_step(weights, x, y, rate)`
#
# *Difficulty ★★☆, importance ●●●, about 5 minutes.*
#
# Return the weights after one step of training. The predictions are `x @ weights`, and autograd finds the gradient. All arguments
# and their gradients stay unchanged.
#
# Worked example: `weights = [0, 0]`, `x = [[1, 0], [1, 2]]`, `y = [2, 4]`. Both predictions are 0, the errors −2 and −4, the loss
# $(4 + 16) / 2 = 10$. By the chain rule, its gradient is $\frac{2}{2}(-2 \cdot [1, 0] - 4 \cdot [1, 2]) = [-6, -8]$. With the rate
# 0.5, the new weights are `[3, 4]`.


# %% nbgrader={"grade": false, "grade_id": "gradient_step", "locked": false, "schema_version": 3, "solution": true, "task": false}
def gradient_step(weights: torch.Tensor, x: torch.Tensor, y: torch.Tensor, rate: float) -> torch.Tensor:
    """The weights after one step down the gradient of the mean squared error of x @ weights against y.

    weights: (D,); x: (B, D); y: (B,)
    returns: (D,)
    """
    ### BEGIN SOLUTION
    w = weights.detach().clone().requires_grad_()  # a copy, whose gradient is nobody else's
    loss = (x @ w - y).square().mean()
    loss.backward()
    return w.detach() - rate * w.grad
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_gradient_step", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false}
check(gradient_step)
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(gradient_step)
### END HIDDEN TESTS

# %% tags=["code"]
generator = torch.Generator().manual_seed(0)
t = torch.rand(40, generator=generator) * 2 - 1
wanted = 2 * t - 1 + 0.2 * torch.randn(40, generator=generator)
examples = torch.stack([t, torch.ones(40)], dim=-1)  # (40, 2)

# %% tags=["picture"]
# @title Forty points near a line
figures.show(figures.tensors.points(t, wanted))

# %% [markdown]
# ### Predict: three learning rates
#
# The points scatter around the line $y = 2t - 1$. Each example is $(t, 1)$, so `x @ w` is slope · t + offset · 1. We take 30 steps
# with each of the rates 0.01, 0.3 and 1.1. What happens to the loss at 1.1?

# %%
# "it falls fastest", "it falls, then jumps up and down" or "it grows"
predict("the loss with the rate 1.1", ...)

# %% tags=["picture"]
# @title Thirty steps with each of three learning rates
figures.show(figures.tensors.three_rates(gradient_step, examples, wanted))

# %% tags=["picture"]
# @title Why a large rate fails: four steps on a parabola
figures.show(figures.tensors.overshooting())

# %% [markdown]
# ## Your experiment (extra)
#
# *Difficulty ★★☆, importance ●○○, about 4 minutes.*
#
# **What is the largest rate, to two decimals, at which the loss still falls?** Write a loop that prints the loss after 100 steps for
# several rates between 0.3 and 1.1. The loss before the first step is 2.69.


# %%
def loss_after(rate, steps=100):
    weights = torch.zeros(2)
    for _ in range(steps):
        weights = gradient_step(weights, examples, wanted, rate)
    return (examples @ weights - wanted).square().mean().item()


print(loss_after(0.3))  # write your experiment here

finding = ...  # the largest rate at which the loss still falls
check("experiment", finding)

# %% [markdown]
# ## 8. Optimizers
#
# An **optimizer** takes the step for all parameters of a module. Every training loop has the four lines of the one below. `SGD`,
# stochastic gradient descent, takes the same step as yours.


# %% tags=["code"]
torch.manual_seed(0)
line = Line()
optimizer = torch.optim.SGD(line.parameters(), lr=0.3)
for _ in range(30):
    optimizer.zero_grad()  # gradients are added up, so clear the old ones first
    loss = (line(t) - wanted).square().mean()
    loss.backward()  # a gradient for every parameter
    optimizer.step()  # every parameter moves a little downhill
print(f"loss {loss.item():.3f}")
print("parameters:", [round(value.item(), 2) for value in line.parameters()])

# %% tags=["picture"]
# @title The points and the fitted line
figures.show(figures.tensors.fitted(t, wanted, line))

# %% [markdown]
# ## Summary
#
# 1. Shapes line up from the right, and size 1 stretches: `keepdim=True` keeps it.
# 2. Square tensors hide mistakes: test with sizes that are all different.
# 3. `A @ B` mixes the rows of `B`.
# 4. `backward()` adds gradients to `.grad`. Autograd loses track when you leave tensors.
# 5. A module holds parameters. A step moves them against the gradient, times the learning rate. If the loss grows, the rate is too
#    high.
#
# **To read on:** PyTorch on [broadcasting](https://docs.pytorch.org/docs/stable/notes/broadcasting.html),
# [autograd](https://docs.pytorch.org/docs/stable/notes/autograd.html),
# [modules](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html).
#
# In lesson 1 you compare two vectors with one number.

# %%
progress()
