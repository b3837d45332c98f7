# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Lesson 0: A warm-up with tensors
#
# In this course you build attention, one function at a time, and check each function as you write it. **How do you write an
# answer and get help? And what do you need to know about PyTorch?** Find out with puzzles of one line each.
#
# **You will build** `twice`, `centre`, `Line` and `gradient_step`, all that one step of training needs.
#
# **You need** a little Python: functions, lists, `import`, a class seen once.
#
# **Time:** about 25 minutes, plus 12 for the six puzzles marked *extra* and the experiment; 5 if you know PyTorch.
#
# Run the cells in order, with Shift+Enter. `NameError`? Run the notebook's first cell.

# %%
import math

import torch
import torch.nn.functional as F
from course import begin, check, figures, hint, predict, progress, sliders, use
from torch import nn

begin("00_start")

# %% [markdown]
# ## The short way, if you know PyTorch
#
# Search for the four headings that begin with **Exercise**. Answer each, run its `check`, and run `progress()` at the end. If a
# check fails, it names the section to read.
#
# ## 1. How a lesson works
#
# A **tensor** is a grid of numbers with any number of dimensions. Its `shape` lists their sizes, its `dtype` is the type of its
# numbers. Operations work on all of them at once.

# %%
x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
print("shape:", tuple(x.shape))
print("plus 10:", (x + 10).tolist())
print("dtype:", x.dtype)  # 32 bits per number, unless you ask for others

# %% [markdown]
# The shape `(2, 3)` is two rows of three numbers, `(5,)` a list of five, `()` a single number that is still a tensor, and
# `(..., 3)` any shape that ends in 3. Dimensions are counted from 0, or from the end: `dim=-1` is the last.
#
# ### Exercise 1: `twice(x)`
#
# *Difficulty ★☆☆ · about 2 minutes*
#
# Double every number of `x`, which has any shape. The result has the same shape and dtype. Do not change `x` itself: it
# belongs to the caller.
#
# Worked example: `twice(torch.tensor([1, -2, 0.5]))` is `[2, -4, 1]`.
#
# The next three cells are for hints, your answer and its check. First try something wrong, such as `return x + 2`, and read the
# report. `check` runs a few examples, then *practice cases*: what the grade asks, with other numbers. It names the mistakes
# that it recognises.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(twice)


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
check(twice)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(twice)
### END HIDDEN TESTS

# %% [markdown]
# From here on, pictures and later cells use your function once it passes, and a ready-made one until then. They say which, so
# you can skip an exercise and come back.

# %%
double = use(twice, lambda x: x + x)
print(double(torch.tensor([0.5, 21.0])).tolist(), "by", double.whose)

# %% [markdown]
# `hint(…)` gives a question, then the idea, then the shape of the code, never the answer. `progress()`, at the end, checks all
# exercises again; the next lesson remembers what passed. When you have passed, or tried honestly and used all hints,
# `solution(…)` shows other right answers with their pros and cons, if your course publishes them.
#
# Two things earn no points. In a *prediction*, replace the dots by a guess before you see the result. A *step* is a small task,
# here mostly a puzzle, with `check` and `hint`.
#
# ## 2. Shapes that stretch
#
# PyTorch combines different shapes by **broadcasting**: it lines them up *from the right* and stretches each dimension that
# has size 1, or is missing on the left, to fit.
#
# ### Predict: a column plus a row
#
# `column` is `(3, 1)`, `row` is `(4,)`. What shape does their sum have?

# %% tags=["demo"]
column, row = torch.tensor([[0.0], [10.0], [20.0]]), torch.tensor([1.0, 2.0, 3.0, 4.0])
# A shape, such as (2, 5)
predict("the shape of the sum", ..., (column + row).shape)

# %% tags=["demo"]
# @title How the column and the row stretch
figures.show(figures.broadcast(column, row), caption="a is the column, b the row. Nothing is copied in memory.")

# %% [markdown]
# **Solve each puzzle in one line, without a loop, with the tools it names.** `torch.arange(4)` is `[0, 1, 2, 3]`. `None` in an index
# inserts a dimension of size 1: if `a` is `(3,)`, `a[:, None]` is a column, `(3, 1)`.
#
# ### Step: a table of gaps
#
# *★☆☆ · about 1 minute · tools: `-`, `None` in an index*
#
# `a` is `(M,)`, `b` is `(N,)`. Return `(M, N)`, with `b[n] - a[m]` in row m, column n. In lesson 7 such a table says how far apart
# words are.
#
# Worked example: `gaps([0, 10], [1, 2, 3])`, all of them tensors, is `[[1, 2, 3], [-9, -8, -7]]`.


# %%
def gaps(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """b[n] - a[m] for every m and n. a: (M,); b: (N,); returns: (M, N)"""
    raise NotImplementedError  # replace this line by yours


# %% tags=["demo"]
check(gaps)  # stuck? hint(gaps)

# %% [markdown]
# ### Step: a chessboard (extra)
#
# *★☆☆ · about 1 minute · tools: `torch.arange`, `None` in an index, `+`, and `% 2`, the remainder after division by 2*
#
# Return `(rows, columns)`: 0 and 1 in turn along rows and columns, 0 at the top left.
#
# Worked example: `chessboard(2, 3)` is `[[0, 1, 0], [1, 0, 1]]`.


# %%
def chessboard(rows: int, columns: int) -> torch.Tensor:
    """0 and 1 in turn. returns: (rows, columns)"""
    raise NotImplementedError  # replace this line by yours


# %% tags=["demo"]
check(chessboard)

# %% [markdown]
# ### Step: a staircase (extra)
#
# *★☆☆ · about 1 minute · tools: `torch.arange`, `None` in an index, `<=`, which compares entry by entry*
#
# Return `(n, n)`: True where the column is at most the row, else False. In lesson 5 a word sees itself and the words before it in this
# pattern.
#
# Worked example: `staircase(2)` is `[[True, False], [True, True]]`.


# %%
def staircase(n: int) -> torch.Tensor:
    """True on the diagonal and below. returns: (n, n), bool"""
    raise NotImplementedError  # replace this line by yours


# %% tags=["demo"]
check(staircase)

# %% tags=["demo"]
# @title Three tables, each made by stretching a column and a row
drawn_gaps, drawn_board, drawn_stairs = use(gaps), use(chessboard), use(staircase)
tables = {
    "gaps": drawn_gaps(torch.arange(6.0), torch.arange(6.0)),
    "chessboard": drawn_board(6, 6),
    "staircase": drawn_stairs(6),
}
fig, axes = figures.row(3, width=2.9, height=2.7)
for ax, (title, values) in zip(axes, tables.items()):
    figures.heat_map(values.float(), ax=ax, kind="scores" if title == "gaps" else "weights", title=title, numbers=True)
figures.show(
    fig,
    alt="Three tables of six rows and columns. The gaps are 0 on the diagonal, grow to 5 at the top right and fall to minus 5 "
    "at the bottom left. The chessboard has 0 and 1 in turn. The staircase is 1 on the diagonal and below it, else 0.",
    caption=f"By {drawn_gaps.whose}; {drawn_board.whose}; {drawn_stairs.whose}.",
)

# %% [markdown]
# ## 3. One number per row
#
# `x.sum(dim=-1)` adds up each row, and `x.mean(dim=-1)` takes its mean.
#
# ### Predict: the means of rows
#
# `x` is `(4, 3)`. What is the shape of `x.mean(dim=-1)`?

# %% tags=["demo"]
x = torch.arange(12.0).reshape(4, 3)
# A shape, such as (2, 5)
predict("the shape of the means", ..., x.mean(dim=-1).shape)

# %% [markdown]
# ### Predict: rows minus their means
#
# `x` is `(4, 3)`. What is `x - x.mean(dim=-1)`?

# %% tags=["demo"]
# "each row minus its mean", "each column minus a number" or "an error"
predict("x minus its means", ...)

# %% tags=["demo"]
# @title Without keepdim, and with it
try:
    x - x.mean(dim=-1)
except RuntimeError as error:
    print("Without keepdim:", error)
print("With keepdim:   ", tuple((x - x.mean(dim=-1, keepdim=True)).shape))

# %% [markdown]
# `keepdim=True` keeps the dimension, with size 1: the means are a column, `(4, 1)`, and stretch along the rows.
#
# ### Step: shares of a whole
#
# *★☆☆ · about 1 minute · tools: `/`, `.sum` with `dim` and `keepdim`*
#
# `x` is `(..., D)`, all numbers positive. Divide each row by its sum. Attention mixes words in such shares.
#
# Worked example: `[[1, 3], [2, 2]]` becomes `[[0.25, 0.75], [0.5, 0.5]]`.


# %%
def shares(x: torch.Tensor) -> torch.Tensor:
    """Each row divided by its sum. x: (..., D); returns: (..., D)"""
    raise NotImplementedError  # replace this line by yours


# %% tags=["demo"]
check(shares)

# %% [markdown]
# ### Exercise 2: `centre(x)`
#
# *Difficulty ★☆☆ · about 1 minute*
#
# Subtract each row's mean from that row. `x` is `(..., D)`: rows run along the last dimension, after any number of others. The
# result keeps shape and dtype, gradients flow through it (section 5), and `x` does not change.
#
# Worked example: the rows `(1, 3)` and `(10, 30)`, of mean 2 and 20, become `(-1, 1)` and `(-10, 10)`.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(centre)


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
check(centre)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(centre)
### END HIDDEN TESTS

# %% tags=["demo"]
# @title Three rows before and after
middle = use(centre, lambda x: x - x.mean(dim=-1, keepdim=True))
rows = torch.tensor([[1.0, 2.0, 6.0, 3.0], [-4.0, -2.0, -3.0, -3.0], [5.0, 5.0, 5.0, 5.0]])
fig, axes = figures.row(2, width=3.6, height=2.4)
figures.heat_map(rows, ax=axes[0], kind="scores", title="x", limit=6)
figures.heat_map(middle(rows), ax=axes[1], kind="scores", title="centred", limit=6)
figures.show(
    fig,
    alt="Two heat maps of three rows. Before, the rows have the means 3, minus 3 and 5. Afterwards each has the mean 0, and the "
    "last row, of four equal numbers, is 0 throughout.",
    caption=f"By {middle.whose}. The level of each row is gone, its ups and downs are left.",
)

# %% [markdown]
# ### Is it a bug? It runs, so it is right
#
# Somebody forgets `keepdim`, tries three rows of three numbers, and gets no error. *It runs, so it is right.* Is it?
#
# #### Predict: right or wrong?
#
# `square` is `(3, 3)`. Is `square - square.mean(dim=-1)` each row minus its mean?

# %% tags=["demo"]
square = torch.tensor([[1.0, 2.0, 6.0], [0.0, 0.0, 3.0], [-4.0, 4.0, 9.0]])
# "right" or "wrong"
predict("centring a square without keepdim", ...)

# %% tags=["demo"]
print("means afterwards, without keepdim:", (square - square.mean(dim=-1)).mean(dim=-1))
print("means afterwards, with keepdim:   ", (square - square.mean(dim=-1, keepdim=True)).mean(dim=-1))

# %% tags=["demo"]
# @title What was subtracted from what
figures.show(
    figures.broadcast(square, square.mean(dim=-1), "−"),
    caption="a is the square, b its means: a row, which stretches downwards.",
)

# %% [markdown]
# The means `(3,)` are read as a *row*: the first *column* loses the mean of the first row, and so on. This is the commonest
# silent mistake in the course, so `check` tries sizes that all differ. Do so, too.
#
# ## 4. Picking and mixing rows
#
# A `(T, S)` matrix `A` times a `(S, D)` matrix `B` is a `(T, D)` matrix, the **matrix product** `A @ B`. Its row t adds up the
# rows of `B`, each times an entry of row t of `A`. With a list `w`, `(S,)`, `A @ w` has one number per row of `A`: its entries
# times those of `w`, added up.
#
# ### Predict: a matrix times a list
#
# `x` is `(5, 3)`, `w` is `(3,)`. What is the shape of `x @ w`?

# %% tags=["demo"]
# A shape, such as (2, 5)
predict("the shape of a matrix times a list", ..., (torch.ones(5, 3) @ torch.ones(3)).shape)

# %% [markdown]
# ### Step: means so far (extra)
#
# *★★☆ · about 2 minutes · tools: your `staircase` and `shares`, `len`, `.float()`, `@`*
#
# `x` is `(T, D)`. Return `(T, D)`: row t is the mean of rows 0 to t. Attention works like this, with shares that depend on the
# words.
#
# Worked example: `[[2], [4], [9]]` becomes `[[2], [3], [5]]`.


# %%
def running_means(x: torch.Tensor) -> torch.Tensor:
    """Row t is the mean of rows 0 to t. x: (T, D); returns: (T, D)"""
    raise NotImplementedError  # replace this line by yours


# %% tags=["demo"]
check(running_means)

# %% tags=["demo"]
# @title The shares, the rows, and what they mix to
so_far = use(running_means)
rows = torch.tensor([[2.0, 0.0], [4.0, 8.0], [9.0, 1.0], [1.0, 3.0]])
fig, axes = figures.row(3, width=2.9, height=2.7)
figures.heat_map(use(shares)(use(staircase)(4).float()), ax=axes[0], title="shares")
figures.heat_map(rows, ax=axes[1], kind="amounts", title="x", limit=10)
figures.heat_map(so_far(rows), ax=axes[2], kind="amounts", title="means so far", limit=10)
figures.show(
    fig,
    alt="Three tables. The shares: 1 in row 0, twice a half in row 1, three times a third in row 2, four times a quarter in row "
    "3, and 0 elsewhere. The four rows of x. Their means so far: (2, 0), (3, 4), (5, 3), (4, 3).",
    caption=f"The first table times the second is the third, here by {so_far.whose}.",
)

# %% [markdown]
# ### Step: one-hot rows (extra)
#
# *★☆☆ · about 1 minute · tools: `torch.arange`, `None` in an index, `==`, `.float()`*
#
# `ids` is `(T,)`, whole numbers below `n`. Return `(T, n)`: row t is 1 in column `ids[t]`, else 0. Times a table, it picks rows
# (lesson 3).
#
# Worked example: `one_hot([2, 0], 3)` is `[[0, 0, 1], [1, 0, 0]]`.


# %%
def one_hot(ids: torch.Tensor, n: int) -> torch.Tensor:
    """1.0 in column ids[t] of row t, else 0.0. ids: (T,), int64; returns: (T, n)"""
    raise NotImplementedError  # replace this line by yours


# %% tags=["demo"]
check(one_hot)

# %% [markdown]
# ### Step: one entry per row (extra)
#
# *★☆☆ · about 1 minute · tools: `torch.arange`, `len`, two lists in an index: `x[[0, 1], [2, 0]]` is `x[0, 2]` and `x[1, 0]`*
#
# `x` is `(T, N)`, `columns` is `(T,)`. Return `(T,)`: the entry of each row t in column `columns[t]`. The loss of lesson 8 picks
# the right word's score like this.
#
# Worked example: from `[[1, 2, 3], [4, 5, 6]]` the columns `[2, 0]` choose `[3, 4]`.


# %%
def chosen(x: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
    """Entry columns[t] of each row t. x: (T, N); columns: (T,), int64; returns: (T,)"""
    raise NotImplementedError  # replace this line by yours


# %% tags=["demo"]
check(chosen)

# %% [markdown]
# ### Step: neighbours swap places (extra)
#
# *★★☆ · about 1 minute · tools: `.reshape(-1, 2)`, which cuts a list into rows of two, `.reshape(-1)`, which joins them again,
# `.flip(dim)`, which reverses along a dimension*
#
# `x` is `(D,)`, D even. Swap the two entries of each pair. Lesson 7 rotates such pairs.
#
# Worked example: `[1, 2, 3, 4]` becomes `[2, 1, 4, 3]`.


# %%
def swap_neighbours(x: torch.Tensor) -> torch.Tensor:
    """The entries of each pair, swapped. x: (D,), D even; returns: (D,)"""
    raise NotImplementedError  # replace this line by yours


# %% tags=["demo"]
check(swap_neighbours)

# %% [markdown]
# ## 5. Gradients
#
# A network learns by changing its numbers a little, in the direction that helps. The **gradient** of a result $y$ with respect
# to a number $w$ is how fast $y$ grows with $w$. For $y = w^2$ it is the slope $2w$. Move the point, or look at the strip:


# %% tags=["demo"]
# @title A slider: the slope of a curve, found by autograd
def draw(w):
    at = torch.tensor(float(w), requires_grad=True)
    (at**2).backward()
    slope = at.grad.item()
    curve = torch.linspace(-3, 3, 61)
    near = torch.tensor([w - 0.8, w + 0.8])
    ax = figures.curves(
        None,
        {"$y = w^2$": (curve, curve**2), "slope": (near, w**2 + slope * (near - w))},
        names="none",
        limits=(-2, 9.5),
        xlabel="w",
        ylabel="y",
        title=f"w = {w:g}: slope {slope:g}",
        ax=figures.row(1, width=3.0, height=2.7)[1][0],
    )
    return figures.with_alt_text(ax, f"A parabola, and at w = {w:g} a short line along it, with the slope {slope:g}.")


sliders.slider(draw, w=(-2.0, 2.0, 0.5), start={"w": 1.0}, strip=[-1.5, 0.0, 1.0])

# %% [markdown]
# PyTorch's **autograd** records what you compute from a tensor with `requires_grad=True`. `backward()`, called on the *one*
# number that comes out, puts the gradient into `.grad`, in the tensor's shape.

# %%
w = torch.tensor([1.0, -2.0, 0.5], requires_grad=True)
y = (w**2).sum()
y.backward()
print("gradient:", w.grad.tolist())

# %% [markdown]
# ### Predict: `backward()` again
#
# `w` gets the gradient of the same sum twice, and nothing is cleared in between. How large is `w.grad` then?

# %% tags=["demo"]
w = torch.tensor([1.0, -2.0, 0.5], requires_grad=True)
for _ in range(2):
    (w**2).sum().backward()

# %% tags=["demo"]
# "the same as before", "twice as large" or "zero"
predict("the gradient after two calls of backward", ..., w.grad)

# %% [markdown]
# Gradients are **added up**, so clear the old ones before the next step. Autograd loses track when you leave tensors:
# `.item()`, `.detach()`, `.data`, NumPy, `torch.tensor(…)` of a tensor. So answers stay tensors, and `check` looks at gradients.
#
# To leave no trace in the caller's `x`, let autograd watch a copy: `x.detach().clone().requires_grad_()`.
#
# ### Step: slopes by autograd
#
# *★★☆ · about 2 minutes · three lines*
#
# `x` has any shape. Return the gradient of $\sum x^3$, the sum of its cubes, found by autograd. Leave `x`, its `.grad` and its
# `requires_grad` unchanged.
#
# Worked example: `slopes(torch.tensor([1.0, -2.0]))` is `[3, 12]`, since the slope of $x^3$ is $3x^2$.


# %%
def slopes(x: torch.Tensor) -> torch.Tensor:
    """The gradient of the sum of the cubes of x. x: any shape; returns: the same shape"""
    raise NotImplementedError  # replace this line by yours


# %% tags=["demo"]
check(slopes)

# %% [markdown]
# ## 6. A module
#
# **Parameters** are the numbers that training may change. A **module** holds parameters and computes with them. Its class is
# derived from `nn.Module`. `__init__` makes the parameters and registers them by assigning to `self`. Calling the module runs
# `forward`.


# %%
class Shift(nn.Module):
    def __init__(self):
        super().__init__()  # always first: it makes the place where parameters are kept
        self.amount = nn.Parameter(torch.tensor(3.0))
        self.unit = torch.tensor(2.0)

    def forward(self, x):
        return x + self.amount * self.unit


shift = Shift()
print("of [1, 2]:", shift(torch.tensor([1.0, 2.0])).tolist())

# %% [markdown]
# ### Predict: what training may change
#
# `Shift` assigns an `nn.Parameter` and a plain tensor to `self`. How many parameters does it have?

# %% tags=["demo"]
# A number
predict("the number of parameters", ..., len(list(shift.parameters())))

# %% [markdown]
# ### Exercise 3: `Line()`
#
# *Difficulty ★★☆ · about 3 minutes*
#
# Write a module that computes $\text{slope} \cdot x + \text{offset}$ for `x` of any shape. Its two parameters, `slope` and
# `offset`, have shape `()` and are 0 at first.
#
# Worked example: with slope 2 and offset 1, `[0, 1, 3]` becomes `[1, 3, 7]`.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(Line)


# %% nbgrader={"grade": false, "grade_id": "Line", "locked": false, "schema_version": 3, "solution": true, "task": false}
class Line(nn.Module):
    """slope * x + offset, with two parameters of shape (), 0 at first."""

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
check(Line)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(Line)
### END HIDDEN TESTS

# %% [markdown]
# ## 7. One step of training
#
# Training needs examples: $\mathbf{x}$, `(B, D)`, holds $B$ of them, and $\mathbf{y}$, `(B,)`, the answer wanted for each. A model
# predicts with weights $\mathbf{w}$, `(D,)`:
#
# $$ \hat{\mathbf{y}} = \mathbf{x} \, \mathbf{w}, \qquad L = \frac{1}{B} \sum_{b=0}^{B-1} (\hat y_b - y_b)^2, \qquad
# \mathbf{w} \leftarrow \mathbf{w} - \eta \, \frac{\partial L}{\partial \mathbf{w}} . $$
#
# The **loss** $L$ is one number that says how wrong the predictions are: here the mean of their squared errors. It grows along
# its gradient, so a step goes the other way, by the gradient times the **learning rate** $\eta$. That is all of training:
# predict, measure, go downhill, again.
#
# ### Step: the loss
#
# *★☆☆ · about 1 minute*
#
# `predictions` and `y` are `(B,)`. Return the loss $L$, of shape `()`.
#
# Worked example: predictions `[1, 2]` for `[4, 2]` have the errors −3 and 0, so the loss is $(9 + 0) / 2 = 4.5$.


# %%
def mean_squared_error(predictions: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The mean of the squared errors. predictions, y: (B,); returns: ()"""
    raise NotImplementedError  # replace this line by yours


# %% tags=["demo"]
check(mean_squared_error)

# %% [markdown]
# ### Exercise 4: `gradient_step(weights, x, y, rate)`
#
# *Difficulty ★★☆ · about 3 minutes*
#
# Write one such step. `weights` is `(D,)`, `x` is `(B, D)`, `y` is `(B,)`, `rate` a plain number; predictions are `x @ weights`.
# Return the weights after the step. All arguments and their gradients stay unchanged.
#
# Worked example: `weights = [0, 0]`, `x = [[1, 0], [1, 2]]`, `y = [2, 4]`. Both predictions are 0, the errors −2 and −4, the loss
# $(4 + 16) / 2 = 10$. Its gradient is $\frac{2}{2}(-2 \cdot [1, 0] - 4 \cdot [1, 2]) = [-6, -8]$. With the rate 0.5 the new weights
# are `[3, 4]`.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(gradient_step)


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
check(gradient_step)  # NameError? Run the notebook's first cell
### BEGIN HIDDEN TESTS
from grading.judge import grade

grade(gradient_step)
### END HIDDEN TESTS

# %%
generator = torch.Generator().manual_seed(0)
t = torch.rand(40, generator=generator) * 2 - 1
wanted = 2 * t - 1 + 0.2 * torch.randn(40, generator=generator)
examples = torch.stack([t, torch.ones(40)], dim=-1)  # (40, 2)

# %% [markdown]
# ### Predict: three learning rates
#
# The forty points scatter around the line $y = 2t - 1$. Each example is $(t, 1)$, so the weights are a slope and an offset. We
# take 30 steps with the rates 0.01, 0.3 and 1.1. What does the loss do with 1.1?

# %% tags=["demo"]
# "it falls fastest", "it falls, then jumps up and down" or "it grows"
predict("the loss with the rate 1.1", ...)


# %% tags=["demo"]
# @title Thirty steps with each of three learning rates
def by_formula(weights, x, y, rate):
    """Stand-in: the same step, its gradient written out."""
    return weights - rate * 2 * (x @ weights - y) @ x / len(y)


step = use(gradient_step, by_formula)
runs, found = {}, {}
for rate in (0.01, 0.3, 1.1):
    weights, runs[f"rate {rate}"] = torch.zeros(2), []
    for _ in range(30):
        runs[f"rate {rate}"].append((examples @ weights - wanted).square().mean().item())
        weights = step(weights, examples, wanted, rate)
    found[rate] = weights
figures.show(
    figures.curves(range(30), runs, log=True, xlabel="step", ylabel="loss", names="legend"),
    alt="Three loss curves over 30 steps on a logarithmic scale. With rate 0.01 the loss falls slowly, with 0.3 it falls to the "
    "level of the noise within a dozen steps, with 1.1 it grows without end.",
    caption=f"By {step.whose}. After 30 steps with rate 0.3: slope {found[0.3][0]:.2f}, offset {found[0.3][1]:.2f}.",
)

# %% [markdown]
# With 0.01 the loss is far from done after 30 steps, with 0.3 it is down after a dozen. A loss that grows is the first sign of a
# rate that is too high.
#
# ## Your experiment
#
# *About 3 minutes*
#
# **What is the largest rate, to two decimals, with which the loss falls?** Compute the loss after 100 steps for several rates
# between 0.3 and 1.1, and compare it with the 2.69 before the first step. A loop helps.


# %% tags=["demo"]
def loss_after(rate, steps=100):
    weights = torch.zeros(2)
    for _ in range(steps):
        weights = step(weights, examples, wanted, rate)
    return (examples @ weights - wanted).square().mean().item()


print(loss_after(0.3))  # write your experiment here

finding = ...  # the largest rate with which the loss falls
check("experiment", finding)

# %% [markdown]
# ## 8. An optimizer takes the step
#
# An **optimizer** takes the step for all parameters of a module. The five lines of this loop are in every training loop, here
# and elsewhere. `SGD` is your step. **Adam**, in later lessons, gives each parameter its own step size, based on how large its
# recent gradients were.


# %%
class ReadyLine(nn.Module):
    """Stand-in for your Line, until it passes: a layer of PyTorch with one input and one output."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(1, 1)

    def forward(self, x):
        return self.layer(x[..., None])[..., 0]


make = use(Line, ReadyLine)
torch.manual_seed(0)
line = make()
optimizer = torch.optim.SGD(line.parameters(), lr=0.3)
for _ in range(30):
    optimizer.zero_grad()  # gradients are added up, so clear the old ones first
    loss = (line(t) - wanted).square().mean()
    loss.backward()  # a gradient for every parameter
    optimizer.step()  # every parameter moves a little downhill
print(f"loss {loss.item():.3f} by {make.whose}")
print("parameters:", [round(value.item(), 2) for value in line.parameters()])

# %% tags=["demo"]
# @title The points, and the line that was learnt
across = torch.linspace(-1, 1, 21)
ax = figures.curves(
    None, {"learnt": (across, line(across).detach())}, names="none", xlabel="t", ylabel="y", title="30 steps of SGD"
)
ax.plot(t.tolist(), wanted.tolist(), "x", markersize=5, color="0.45")
figures.show(
    ax,
    alt="Forty crosses scattered around a rising straight line, which runs through the middle of them from about minus 3 to 1.",
    caption=f"The line is that of {make.whose}.",
)

# %% [markdown]
# ## Summary
#
# 1. Write, run, `check`; ask for a `hint` when stuck; guess at *Predict*.
# 2. Shapes line up from the right, and size 1 stretches: `keepdim=True` keeps it.
# 3. Squares hide mistakes: try sizes that all differ.
# 4. `backward()` adds gradients to `.grad`; autograd loses track when you leave tensors.
# 5. A module holds parameters; a step moves them against the gradient, scaled by the learning rate.
#
# $$ \mathbf{w} \leftarrow \mathbf{w} - \eta \, \frac{\partial L}{\partial \mathbf{w}} $$
#
# **To read on:** PyTorch on [broadcasting](https://docs.pytorch.org/docs/stable/notes/broadcasting.html),
# [autograd](https://docs.pytorch.org/docs/stable/notes/autograd.html),
# [modules](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html).
#
# In lesson 1 you compare vectors: one number that says how alike two of them are.

# %% tags=["demo"]
progress()
