# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Warm-up: Tensors
#
# Attention is arithmetic on tables of numbers. **Which parts of PyTorch does it need, and how does a model learn with them?** This
# notebook is optional: take it before lesson 0 if PyTorch is new to you, or later, when a line puzzles you.
#
# **You will build** `twice`, `centre`, `Line` and `gradient_step`, one step of training.
#
# **You need** basic Python: functions, lists, `import`, and a glimpse of classes.
#
# **Time:**
#
# Run the cells in order, with Shift+Enter.

# %%
import math

import torch
import torch.nn.functional as F
from course import begin, check, figures, hint, predict, progress, sliders, solution
from torch import nn

begin("90_tensors")

# %% [markdown]
# ## 1. Tensors
#
# A **tensor** is a grid of numbers with any number of dimensions. Its `shape` lists the size of each dimension, and its `dtype` is
# the type of its entries. Operations work on all entries at once.

# %% tags=["code"]
x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
print("shape:", tuple(x.shape), "dtype:", x.dtype)  # 32 bits per number by default
print("plus 10:", (x + 10).tolist())

# %% [markdown]
# Dimensions count from 0, or from the end: `dim=-1` is the last. The shape `()` is that of a single number, and `(..., 3)` stands
# for any shape that ends in 3.

# %% tags=["picture"]
# @title Three shapes and their dimensions
figures.show(figures.tensors.shapes())

# %% [markdown]
# ### Exercise: `twice(x)`
#
# *Difficulty ★☆☆, importance ●○○, about 2 minutes.*
#
# Double every number of `x`.
#
# Worked example: `twice(torch.tensor([1, -2, 0.5]))` is `[2, -4, 1]`.
#
# Write your answer into the next cell, then run it and the check. Try a wrong one first, such as `return x + 2`: `check` knows many
# mistakes by name. If you are stuck, `hint(twice)` helps in three stages.


# %% nbgrader={"grade": false, "grade_id": "twice", "locked": false, "schema_version": 3, "solution": true, "task": false}
def twice(x: torch.Tensor) -> torch.Tensor:
    """Return every number of x, doubled, as a new tensor: x itself stays unchanged.

    x: any shape, float32 or float64
    returns: the same shape and dtype, computed from x by PyTorch (section 5 says why)
    """
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "check_twice", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(twice)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(twice)
### END HIDDEN TESTS

# %% [markdown]
# You can skip an exercise: later cells use the course's function until yours passes.
#
# ## 2. Shapes that stretch
#
# PyTorch combines different shapes by **broadcasting**: it lines them up *from the right*, and *stretches* a dimension that has
# size 1, or is missing on the left. So a column, `(3, 1)`, plus a row, `(4,)`, is a table, `(3, 4)`:

# %% tags=["picture"]
# @title How a column and a row stretch
column, row = torch.tensor([[0.0], [10.0], [20.0]]), torch.tensor([1.0, 2.0, 3.0, 4.0])
figures.show(figures.broadcast(column, row), caption="a is the column, b the row.")

# %% [markdown]
# ### Exercise: a staircase
#
# *Difficulty ★☆☆, importance ●●○, about 2 minutes.* Tools: `torch.arange`, `None` and `<=`.
#
# An exercise without points takes one line with its tools: no loop, and no function for the whole task. In an index, `:` keeps a
# dimension and `None` inserts one of size 1: if `a` is `(3,)`, `a[:, None]` is a column.
#
# Return a table that is True where the column's number is at most the row's. `torch.arange(3)` is `[0, 1, 2]`. (In lesson 5 this
# pattern hides later words.)
#
# Worked example: `staircase(2)` is `[[True, False], [True, True]]`.


# %%
def staircase(n: int) -> torch.Tensor:
    """Return True on the diagonal and below it. returns: (n, n), bool"""
    raise NotImplementedError  # replace this line with your code


# %%
check(staircase)

# %% [markdown]
# ## 3. One number per row
#
# If `x` is `(4, 3)`, `x.mean(dim=-1)` has the mean of each row, and its shape is `(4,)`. So `x - x.mean(dim=-1)` is an error,
# because 4 meets 3. With `keepdim=True` the means stay a column, `(4, 1)`, which stretches along the rows.
#
# ### Exercise: `centre(x)`
#
# *Difficulty ★☆☆, importance ●●○, about 3 minutes.*
#
# Subtract from each row its mean. Rows run along the last dimension.
#
# Worked example: the rows `(1, 3)` and `(10, 30)` have the means 2 and 20, so they become `(-1, 1)` and `(-10, 10)`.


# %% nbgrader={"grade": false, "grade_id": "centre", "locked": false, "schema_version": 3, "solution": true, "task": false}
def centre(x: torch.Tensor) -> torch.Tensor:
    """Return each row minus its own mean, as a new tensor: x itself stays unchanged.

    x: (..., D), float32 or float64; any dimensions may come before the rows, or none
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
# ### Predict: a mean without `keepdim`
#
# `square` is `(3, 3)`, so there is no error. Is `square - square.mean(dim=-1)` each row minus its mean? Put your guess in place of
# the dots before you run the cell.

# %%
square = torch.tensor([[1.0, 2.0, 6.0], [0.0, 0.0, 3.0], [-4.0, 4.0, 6.0]])
# "right" or "wrong"
predict("centring a square without keepdim", ...)

# %% tags=["picture"]
# @title Without keepdim, and with it: what is subtracted from what
figures.show(figures.tensors.without_mean(square, keepdim=False))
figures.show(figures.tensors.without_mean(square, keepdim=True))

# %% [markdown]
# The first *column* loses the mean of the first *row*, and so on. Test with sizes that are all different, as `check` does.
#
# ### Exercise: shares of a whole
#
# *Difficulty ★☆☆, importance ●●○, about 2 minutes.* Tools: `/`, and `.sum`, which takes `dim` and `keepdim` as `.mean` does.
#
# Divide each row of positive numbers by its sum. (Softmax, in lesson 2, ends in this way.)
#
# Worked example: `[[1, 3], [2, 2]]` becomes `[[0.25, 0.75], [0.5, 0.5]]`.


# %%
def shares(x: torch.Tensor) -> torch.Tensor:
    """Return each row divided by its sum. x: (..., D); returns: (..., D)"""
    raise NotImplementedError  # replace this line with your code


# %%
check(shares)

# %% [markdown]
# ## 4. Mixing rows
#
# If `A` is `(T, S)` and `X` is `(S, D)`, their **matrix product** `A @ X` is `(T, D)`. A row of `A` has one weight for each row of
# `X`: multiply each row of `X` by its weight, then add them up.

# %% tags=["picture"]
# @title A matrix product mixes rows
figures.show(figures.tensors.mixed_rows())

# %% [markdown]
# Attention mixes rows in this way, with weights that depend on the words. If `w` is `(S,)`, then `A @ w` has one number per row of
# `A`: its entries times those of `w`, added up.
#
# ### Exercise: means so far
#
# *Difficulty ★★☆, importance ●●○, about 3 minutes.* Tools: your `staircase` and `shares`, `len`, `.float()` and `@`.
#
# Row i of the result is the mean of rows 0 to i of `x`: every word attends equally to itself and to all words before it.
#
# Worked example: `[[2], [4], [9]]` becomes `[[2], [3], [5]]`.


# %%
def running_means(x: torch.Tensor) -> torch.Tensor:
    """Return the means of rows 0 to i, for every i. x: (T, D); returns: (T, D)"""
    raise NotImplementedError  # replace this line with your code


# %%
check(running_means)

# %% tags=["picture"]
# @title The shares, the rows, and what they mix to
mixed = figures.tensors.means_so_far(shares(staircase(4).float()), running_means)
figures.show(mixed)

# %% [markdown]
# ## 5. Gradients
#
# A network learns by changing its numbers a little, in the direction that helps. The **gradient** of a result $y$ with respect to a
# number $w$ says how fast $y$ grows with $w$: for $y = w^2$ it is the slope $2w$. A tensor gets one slope per entry. Move the point:


# %% tags=["picture"]
# @title A slider: the slope of a curve, found by autograd
sliders.slider(figures.tensors.slope)

# %% [markdown]
# PyTorch's **autograd** records what you compute from a tensor with `requires_grad=True`. `backward()`, called on the *one* number
# at the end, puts the gradient into `.grad`, in the tensor's shape.

# %% tags=["code"]
w = torch.tensor([1.0, -2.0, 0.5], requires_grad=True)
(w**2).sum().backward()
print("gradient:", w.grad.tolist())

# %% [markdown]
# ### Predict: `backward()` again
#
# The next cell clears `.grad` and calls `backward()` twice. How large is `w.grad` now?

# %%
w.grad = None
for _ in range(2):
    (w**2).sum().backward()
# "the same as before", "twice as large" or "zero"
predict("the gradient after two calls of backward", ..., w.grad)

# %% [markdown]
# Gradients are **added up**, so clear the old ones before the next step. Autograd loses track if you use `.item()`, `.detach()` or
# `.data`, convert to NumPy, or wrap a tensor in `torch.tensor(…)`. Avoid these: `check` tests gradients, too. One good use
# is `x.detach().clone().requires_grad_()`, a copy with a gradient of its own.
#
# ## 6. A module
#
# A **module** computes with **parameters**, the numbers that training may change. Write it as a subclass of `nn.Module`, which
# registers each `nn.Parameter` that `__init__` assigns to `self`. Calling the module runs `forward`.


# %% tags=["code"]
class Shift(nn.Module):
    def __init__(self):
        super().__init__()  # always first: it prepares the module for parameters
        self.amount = nn.Parameter(torch.tensor(3.0))  # a plain tensor would not be trained

    def forward(self, x):
        return x + self.amount


print("shift of [1, 2]:", Shift()(torch.tensor([1.0, 2.0])).tolist())

# %% [markdown]
# ### Exercise: `Line()`
#
# *Difficulty ★★☆, importance ●●○, about 4 minutes.*
#
# Write a module that computes $\text{slope} \cdot x + \text{offset}$, with two parameters that start at 0.
#
# Worked example: with slope 2 and offset 1, `[0, 1, 3]` becomes `[1, 3, 7]`.


# %% nbgrader={"grade": false, "grade_id": "Line", "locked": false, "schema_version": 3, "solution": true, "task": false}
class Line(nn.Module):
    """slope * x + offset, with two parameters, slope and offset, which have shape () and start at 0."""

    def __init__(self) -> None:
        ### BEGIN SOLUTION
        super().__init__()
        self.slope = nn.Parameter(torch.tensor(0.0))
        self.offset = nn.Parameter(torch.tensor(0.0))
        ### END SOLUTION

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """x: any shape. Returns the same shape and dtype; gradients reach x and both parameters."""
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
# The rows of $\mathbf{X}$, `(B, D)`, are $B$ examples, and $\mathbf{y}$, `(B,)`, has the correct answers. With weights
# $\mathbf{w}$, `(D,)`, a model predicts $\hat{\mathbf{y}}$ ("y hat"). The **loss** $L$, here the mean squared error, says how wrong
# that is:
#
# $$ \hat{\mathbf{y}} = \mathbf{X} \, \mathbf{w}, \qquad L = \frac{1}{B} \sum_{b=0}^{B-1} (\hat y_b - y_b)^2, \qquad
# \mathbf{w} \leftarrow \mathbf{w} - \eta \, \frac{\partial L}{\partial \mathbf{w}} . $$
#
# Here $\leftarrow$ means *becomes*. The gradient $\partial L / \partial \mathbf{w}$ points uphill, so a step goes the opposite way,
# by the gradient times the **learning rate** $\eta$ ("eta").
#
# ### Exercise: `gradient_step(weights, x, y, rate)`
#
# *Difficulty ★★☆, importance ●●●, about 5 minutes.*
#
# Return the weights after one step. Autograd finds the gradient.
#
# Worked example: `weights = [0, 0]`, `x = [[1, 0], [1, 2]]`, `y = [2, 4]`. Both predictions are 0, the errors −2 and −4, the loss
# $(4 + 16) / 2 = 10$. Its gradient is $\frac{2}{2}(-2 \cdot [1, 0] - 4 \cdot [1, 2]) = [-6, -8]$. With the rate 0.5, the new
# weights are `[3, 4]`.


# %% nbgrader={"grade": false, "grade_id": "gradient_step", "locked": false, "schema_version": 3, "solution": true, "task": false}
def gradient_step(weights: torch.Tensor, x: torch.Tensor, y: torch.Tensor, rate: float) -> torch.Tensor:
    """Return the weights after one step down the gradient of the mean squared error of x @ weights against y.

    weights: (D,); x: (B, D); y: (B,), for any B and D; all arguments and their gradients stay unchanged
    returns: (D,), the same dtype
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
examples = torch.stack([t, torch.ones(40)], dim=-1)  # (40, 2): slope and offset are the weights

# %% tags=["picture"]
# @title Forty points near a line
figures.show(figures.tensors.points(t, wanted))

# %% [markdown]
# ### Predict: three learning rates
#
# In 30 steps at the rate 0.3 the loss of these points falls from 2.69 to 0.03. What does it do at 1.1?

# %%
# "it falls faster", "it swings but stays small" or "it grows without end"
predict("the loss with the rate 1.1", ...)

# %% tags=["picture"]
# @title Thirty steps with each of three learning rates
figures.show(figures.tensors.three_rates(gradient_step, examples, wanted))

# %% tags=["picture"]
# @title Why a large rate fails: four steps on a parabola
figures.show(figures.tensors.overshooting())

# %% [markdown]
# ## 8. Optimizers
#
# An **optimizer** takes this step for all parameters of a module. `SGD`, stochastic gradient descent, takes the same step as yours.
# Every training loop contains the four commented lines below.


# %% tags=["code"]
line = Line()
optimizer = torch.optim.SGD(line.parameters(), lr=0.3)
for _ in range(30):
    optimizer.zero_grad()  # gradients are added up, so clear the old ones first
    loss = (line(t) - wanted).square().mean()  # how wrong the predictions are
    loss.backward()  # a gradient for every parameter
    optimizer.step()  # every parameter moves a little downhill
print(f"loss {loss.item():.3f}, slope {line.slope.item():.2f}, offset {line.offset.item():.2f}")

# %% tags=["picture"]
# @title The points and the fitted line
figures.show(figures.tensors.fitted(t, wanted, line))

# %% [markdown]
# ## Your experiment (extra)
#
# *Difficulty ★★☆, importance ●○○, about 4 minutes.*
#
# **What is the largest rate, to two decimals, at which the loss after 100 steps is below 2.69, where it started?** Write a loop
# that prints this loss for several rates between 0.3 and 1.1.


# %%
def loss_after(rate, steps=100):
    weights = torch.zeros(2)
    for _ in range(steps):
        weights = gradient_step(weights, examples, wanted, rate)
    return (examples @ weights - wanted).square().mean().item()


print(round(loss_after(0.3), 3))  # write your experiment here

finding = ...  # the largest rate after which the loss is below 2.69
check("experiment", finding)

# %% [markdown]
# ## 9. Three more puzzles (extra)
#
# ### Exercise: a table of gaps
#
# *Difficulty ★☆☆, importance ●○○, about 3 minutes.* Tools: `-` and `None`.
#
# Return the table with `b[j] - a[i]` in row i, column j.
#
# Worked example: `a = [0, 10]` and `b = [1, 2, 3]` make `[[1, 2, 3], [-9, -8, -7]]`.


# %%
def gaps(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return b[j] - a[i] for every i and j. a: (T,); b: (S,); returns: (T, S)"""
    raise NotImplementedError  # replace this line with your code


# %%
check(gaps)

# %% tags=["picture"]
# @title Two tables, each made by stretching a column and a row
figures.show(figures.tensors.stretched(gaps, staircase))

# %% [markdown]
# ### Exercise: one entry per row
#
# *Difficulty ★☆☆, importance ●○○, about 2 minutes.* Tools: `torch.arange`, `len`, and two lists in an index: `x[[0, 1], [2, 0]]` is
# `x[0, 2]` and `x[1, 0]`.
#
# From each row i of `x`, return the entry in column `columns[i]`. A language model's loss picks the right word's score in this way.
#
# Worked example: `chosen([[1, 2, 3], [4, 5, 6]], [2, 0])` is `[3, 4]`.


# %%
def chosen(x: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
    """Return entry columns[i] of each row i. x: (T, N); columns: (T,), int64; returns: (T,)"""
    raise NotImplementedError  # replace this line with your code


# %%
check(chosen)

# %% [markdown]
# ### Exercise: slopes by autograd
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
    """Return the gradient of the sum of the cubes of x. x: any shape; returns: the same shape"""
    raise NotImplementedError  # replace this line with your code


# %%
check(slopes)

# %% [markdown]
# ## Summary
#
# 1. Shapes line up from the right, and size 1 stretches.
# 2. `keepdim=True` keeps that size; a square tensor hides that it is missing.
# 3. `A @ X` mixes the rows of `X`.
# 4. `backward()` adds gradients to `.grad`.
# 5. A step goes against the gradient, times the learning rate.
#
# **To read on:** PyTorch on [broadcasting](https://docs.pytorch.org/docs/stable/notes/broadcasting.html),
# [autograd](https://docs.pytorch.org/docs/stable/notes/autograd.html),
# [modules](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html).
#
# Next is lesson 0: attention.

# %%
progress()
