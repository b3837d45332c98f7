# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Lesson 0: How a lesson works
#
# In lessons 1 to 8 you build attention, function by function, and every function is checked the moment you have
# written it. **How do you write an answer, ask for help, and see where you stand? And what do you need to know of
# PyTorch before you begin?** This short lesson answers both, on exercises that are easy on purpose.
#
# **You will build** three small functions and a module: `twice`, `centre`, `Line` and `gradient_step`. Together they are
# what all training is made of: shapes, gradients, parameters, a step downhill.
#
# **You need** a little Python: functions, lists, `import`. A class that you have seen once is enough.
#
# **Time:** about 20 minutes
#
# Run the cells from top to bottom, with Shift+Enter. If a cell says `NameError`, run the notebook's first cell.

# %%
import math

import torch
import torch.nn.functional as F
from course import begin, check, figures, hint, progress, sliders, use
from torch import nn

begin("00_start")

# %% [markdown]
# ## 1. How a lesson works
#
# A **tensor** is numbers in rows and columns, as many dimensions as you like, and its `shape` says how many numbers lie
# along each. Operations work on all of them at once.

# %%
x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
print("shape:", tuple(x.shape))
print("plus 10:", (x + 10).tolist())
print("dtype:", x.dtype)  # 32 bits a number, unless you ask for others

# %% [markdown]
# Shapes are the language of these lessons: `(2, 3)` is two rows of three numbers, `(5,)` is a list of five, `()` is a
# single number that is still a tensor, and `(..., 3)` is anything whose last dimension has the size 3. Dimensions are
# counted from 0, or from the end: `dim=-1` is the last one, whatever stands before it.
#
# ### Exercise 1: `twice(x)`
#
# *Difficulty ★☆☆ · about 2 minutes*
#
# Now your first answer. Every exercise has three cells: one for **hints**, one for your **answer**, and one that
# **checks** it. Write a function that returns every number of `x`, doubled.
#
# - `x` has any shape; the result has the same shape and the same dtype.
# - `x` itself is not changed: what was handed to a function still belongs to whoever called it.
#
# On paper: `twice(torch.tensor([1, -2, 0.5]))` is `[2, -4, 1]`.
#
# Try things out before you are sure. Put in something wrong first, `return x + 2` say, run both cells, and read what
# `check` tells you: it runs a few examples, which it shows, and then *practice cases*, which are what the grade asks, with
# other numbers. Where it knows your mistake, it names it.

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
# From here on your function is *used*. Pictures and later cells take it once it passes, and a ready-made one until then;
# they always say which. So you can leave an exercise out, read on, and come back.

# %%
double = use(twice, lambda x: x + x)
print(double(torch.tensor([0.5, 21.0])).tolist(), "by", double.whose)

# %% [markdown]
# Three more things. `progress()`, at the end of every lesson, checks all its exercises again and says where you stand; what
# you have passed is remembered for the next lesson. `hint(…)` gives a question first, then the idea, then the shape of the
# code, and never the answer. And when you have passed, or have tried honestly and used all hints, `solution(…)` shows
# other right answers and what each is good for, if your course publishes them.
#
# ## 2. Shapes that stretch
#
# Tensors of different shapes can be added, too. PyTorch lines their shapes up *from the right*, and a dimension of size 1,
# or one that is missing on the left, is stretched to fit. This is **broadcasting**.

# %% tags=["demo"]
# @title A column and a row, and what their sum is
column, row = torch.tensor([[0.0], [10.0], [20.0]]), torch.tensor([[1.0, 2.0, 3.0, 4.0]])
fig, axes = figures.row(3, width=2.9, height=2.4)
for ax, (title, values) in zip(axes, {"(3, 1)": column, "(1, 4)": row, "their sum: (3, 4)": column + row}.items()):
    figures.heat_map(values, ax=ax, kind="scores", title=title, limit=30)
figures.show(
    fig,
    alt="A column of 0, 10 and 20, a row of 1 to 4, and their sum: three rows of four numbers, 1 to 4, 11 to 14, 21 to 24.",
    caption="The column is stretched to four columns, the row to three rows. Nothing is copied in memory.",
)

# %% [markdown]
# ### Predict first
#
# `x` has the shape `(4, 3)`, four rows of three numbers. `x.mean(dim=-1)` is the mean of each row. What is its shape, and what
# happens in `x - x.mean(dim=-1)`?
#
# <details><summary>Answer</summary>
#
# The means have the shape `(4,)`: the dimension over which they were taken is gone. Lined up from the right, that 4 meets the
# 3 of `(4, 3)`, neither of them is 1, and PyTorch raises an error. With `keepdim=True` the means are `(4, 1)`, a column,
# and it is stretched along each row, as it should be.
#
# </details>

# %% tags=["demo"]
# @title What comes of it, as it stands and with a column of means
x = torch.arange(12.0).reshape(4, 3)
try:
    x - x.mean(dim=-1)
except RuntimeError as error:
    print("Without keepdim:", error)
print("With keepdim:   ", tuple((x - x.mean(dim=-1, keepdim=True)).shape))

# %% [markdown]
# ### Exercise 2: `centre(x)`
#
# *Difficulty ★☆☆ · about 3 minutes*
#
# Take its own mean away from every row.
#
# - `x` is `(..., D)`; the rows run along the last dimension, and there may be any number of dimensions before it, or none.
# - The result has the shape and dtype of `x`, gradients flow through it, and `x` is not changed.
#
# On paper: the rows `(1, 3)` and `(10, 30)` have the means 2 and 20; what is left is `(-1, 1)` and `(-10, 10)`.

# %%
# Stuck? Uncomment the line below and run it; run it again for the next hint. NameError? Run the notebook's first cell.
# hint(centre)


# %% nbgrader={"grade": false, "grade_id": "centre", "locked": false, "schema_version": 3, "solution": true, "task": false}
def centre(x: torch.Tensor) -> torch.Tensor:
    """Every row less its own mean.

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
# Somebody writes `x - x.mean(dim=-1)`, without `keepdim`, tries it on three rows of three numbers, and gets no error. *It
# runs, so it is right.* Decide first; then run the next cell, which looks at the means of the rows afterwards.

# %%
square = torch.tensor([[1.0, 2.0, 6.0], [0.0, 0.0, 3.0], [-4.0, 4.0, 9.0]])
print("rows afterwards, without keepdim:", (square - square.mean(dim=-1)).mean(dim=-1).tolist())
print("rows afterwards, with keepdim:   ", (square - square.mean(dim=-1, keepdim=True)).mean(dim=-1).tolist())

# %% [markdown]
# <details><summary>Answer</summary>
#
# It is a bug. The means `(3,)` are read as a *row* and stretched downwards: the first *column* loses the mean of the first
# row, and so on. Where there are as many rows as columns nothing complains. It is the commonest silent mistake in this
# course, and the reason why `check` tries tensors whose dimensions all have different sizes. Do so, too.
#
# </details>
#
# ## 3. Gradients
#
# A network learns by changing its numbers a little in the direction that helps. For that it needs **gradients**: how fast
# a result $y$ grows when a number $w$ does. For $y = w^2$ that is the slope $2w$ of the curve. Move the point:


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
# Where there are sliders, a strip of pictures stands above them, so that nothing is lost without a kernel.
#
# PyTorch finds the slope by **autograd**: mark a tensor with `requires_grad=True`, compute as always, call `backward()` on the
# *one* number that came out, and the gradient lies in `.grad`, in the shape of the tensor.

# %%
w = torch.tensor([1.0, -2.0, 0.5], requires_grad=True)
y = (w**2).sum()
y.backward()
print("gradient:", w.grad.tolist())
(w**2).sum().backward()
print("after another backward:", w.grad.tolist(), "- it is *added* to what lies there")

# %% [markdown]
# Two things to keep. Gradients are **added up**, so the old ones have to be cleared before the next step. And the trail
# breaks where numbers leave the tensor: `.item()`, `.detach()`, `.data`, NumPy and `torch.tensor(…)` of a tensor all cut it.
# That is why answers in this course stay tensors, and why `check` asks for gradients.
#
# ## 4. A module
#
# Numbers that training may change are **parameters**. A **module** is a class that holds them, derived from `nn.Module`: in
# `__init__` it makes its parameters and registers them by assigning them to `self`; in `forward` it computes with them.
# Calling the module calls `forward`. Here is one with a single parameter:


# %%
class Shift(nn.Module):
    def __init__(self):
        super().__init__()  # always first: it makes the place where parameters are kept
        self.amount = nn.Parameter(torch.tensor(3.0))

    def forward(self, x):
        return x + self.amount


shift = Shift()
print("of [1, 2]:", shift(torch.tensor([1.0, 2.0])).tolist())
print("parameters:", {name: value.item() for name, value in shift.named_parameters()})

# %% [markdown]
# ### Exercise 3: `Line()`
#
# *Difficulty ★★☆ · about 4 minutes*
#
# Write a module that computes $\text{slope} \cdot x + \text{offset}$.
#
# - `Line()` has two parameters named `slope` and `offset`, each of shape `()` and 0 at first.
# - `forward(x)` takes a tensor of any shape and returns one of the same shape.
#
# On paper: with slope 2 and offset 1, `[0, 1, 3]` becomes `[1, 3, 7]`.

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
# ## 5. One step of training
#
# Now all of it together. There are examples: inputs $\mathbf{x}$, here a table of shape `(B, D)`, $B$ examples of $D$ numbers
# each, and for each the answer that is wanted, $\mathbf{y}$, of shape `(B,)`. A model predicts with weights $\mathbf{w}$, of
# shape `(D,)`:
#
# $$ \hat{\mathbf{y}} = \mathbf{x} \, \mathbf{w}, \qquad L = \frac{1}{B} \sum_{b=1}^{B} (\hat y_b - y_b)^2, \qquad
# \mathbf{w} \leftarrow \mathbf{w} - \eta \, \frac{\partial L}{\partial \mathbf{w}} . $$
#
# The **loss** $L$ is the mean of the squared errors, one number. Its gradient says which way it grows, so a step goes the
# other way, as far as the **learning rate** $\eta$ says. That is all that training is: predict, measure, go downhill, again.
#
# ### Exercise 4: `gradient_step(weights, x, y, rate)`
#
# *Difficulty ★★☆ · about 5 minutes*
#
# Write one such step.
#
# - `weights` is `(D,)`, `x` is `(B, D)`, `y` is `(B,)`, `rate` a plain number. Predictions are `x @ weights`, of shape `(B,)`.
# - Return the weights after the step, `(D,)`. All arguments stay as they were, and so do their gradients.
#
# On paper: `weights = [0, 0]`, `x = [[1, 0], [1, 2]]`, `y = [2, 4]`. Both predictions are 0, the errors are −2 and −4, the loss is
# $(4 + 16) / 2 = 10$. Its gradient is $\frac{2}{2}(-2 \cdot [1, 0] - 4 \cdot [1, 2]) = [-6, -8]$, and with the rate 0.5 the new
# weights are `[3, 4]`.

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
# ### Predict first
#
# The forty points lie around the line $y = 2t - 1$, and each example is $(t, 1)$, so the two weights are a slope and an offset.
# We take 30 steps with each of three learning rates: 0.01, 0.3 and 1.1. What will the three loss curves look like?
#
# <details><summary>Answer</summary>
#
# With 0.01 the loss falls slowly and is far from done after 30 steps. With 0.3 it is down after a dozen. With 1.1 every step
# goes too far, lands higher up on the other side than it came from, and the loss *grows*, faster and faster. A loss that grows
# is the first sign of a learning rate that is too high.
#
# </details>


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
# In practice nobody writes the step out: an **optimizer** holds the parameters of a module and takes it. These five lines stand
# in every training loop of this course, and of the world. `SGD` is your step; **Adam**, which you will meet soon, gives every
# parameter a rate of its own, by how large its gradients have been lately.


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
    optimizer.zero_grad()  # gradients are added up, so the old ones go first
    loss = (line(t) - wanted).square().mean()
    loss.backward()  # a gradient for every parameter
    optimizer.step()  # every parameter a little downhill
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
# 1. Write, run, `check`; ask for a `hint` when you are stuck; guess where it says *Predict first*.
# 2. Shapes are lined up from the right, and a size of 1 stretches. `keepdim=True` keeps a dimension for that.
# 3. Squares hide mistakes: try shapes whose sizes all differ.
# 4. `backward()` adds gradients to `.grad`; what leaves the tensors gets none.
# 5. A module holds parameters; a step moves them against the gradient, as far as the learning rate says.
#
# $$ \mathbf{w} \leftarrow \mathbf{w} - \eta \, \frac{\partial L}{\partial \mathbf{w}} $$
#
# **To read on:** [broadcasting](https://docs.pytorch.org/docs/stable/notes/broadcasting.html) and
# [autograd](https://docs.pytorch.org/docs/stable/notes/autograd.html) in PyTorch's own words ·
# [torch.nn.Module](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html).
#
# In lesson 1 you compare vectors: one number that says how alike two of them are.

# %% tags=["demo"]
progress()
