"""`simple_attention`: each word averages all words by the softmax of their dot products."""

import torch

from grading.exercises.exercise import call, exercise, non_contiguous

from ...shared.repeating import after

simple_attention = exercise(
    "simple_attention",
    result_names=("context", "weights"),
    see="2. One word attends to all words",
    hints=(
        "The step computed one row of scores: one word against every word. Which product of matrices computes all "
        "rows at once? Write down its shape.",
        "Two products, with a softmax between them. The second product averages the words with the weights. Along "
        "which dimension must the weights sum to 1?",
        "`scores = x @ (x with its last two dimensions swapped)`, `weights = softmax of scores along the last "
        "dimension`, `context = weights @ ...`. `x.mT` swaps the last two dimensions, also in a batch; `x.T` does "
        "not. Return the context first.",
    ),
)


@simple_attention.oracle
def simple_attention_oracle(x):
    scores = torch.einsum("...td,...sd->...ts", x, x)
    weights = torch.softmax(scores, -1)
    return torch.einsum("...ts,...sd->...td", weights, x), weights


simple_attention.example("the worked example", call(torch.tensor([[1.0, 0.0], [0.0, 1.0]])).does_not_mutate())
simple_attention.example(
    "three words of two numbers, and the gradient",
    call(torch.tensor([[1.0, 0.5], [-1.0, 2.0], [0.0, -1.0]])).with_gradients(),
)
simple_attention.example(
    "float32 in, float32 out; float64 in, float64 out",
    call(torch.tensor([[1.0, 0.5], [0.0, -1.0]])),
    call(torch.tensor([[0.1, 0.5], [0.3, -1.0]], dtype=torch.float64)),
    check_types=True,
)
simple_attention.example("two sentences at once", call(torch.tensor([[[1.0], [2.0], [0.0]], [[-1.0], [0.5], [0.0]]])))


@simple_attention.criterion("one sentence", points=1)
def _(draw):
    yield call(draw.normal(6, 3))
    yield call(draw.normal(3, 7))
    yield call(draw.normal(2, 2))
    yield call(draw.normal(1, 5)).label("a sentence of one word")
    # More words than fit into a block of 32 or a short list of the best
    yield call(draw.normal(39, 3))
    yield after([draw.normal(4, 3)], [draw.normal(4, 3)])


@simple_attention.criterion("batches", points=1)
def _(draw):
    yield call(draw.normal(2, 5, 3))
    yield call(draw.normal(5, 3, 4))
    yield call(draw.normal(2, 3, 6, 4))
    yield call(draw.normal(3, 1, 4))
    yield call(draw.normal(2, 3, 1))
    yield call(draw.normal(1, 4, 2))


@simple_attention.criterion("large scores", points=0.5)
def _(draw):
    yield call(draw.normal(5, 3, scale=20.0))
    # Words of very different lengths: the rows' maxima are hundreds apart
    for _ in "ab":
        yield call(draw.normal(6, 4) * torch.tensor([0.1, 40.0, 1.0, 15.0, 5.0, 0.0])[:, None])
    # A word's own score is far from its largest
    yield call(draw.uniform(4, 3, low=0.5, high=1.5) * torch.tensor([1.0, 300.0, 20.0, 5.0])[:, None])


@simple_attention.criterion("gradients", points=0.5)
def _(draw):
    yield call(draw.normal(5, 3)).with_gradients()
    yield call(draw.normal(4, 6)).with_gradients()
    # Two opposite words, whose scores are too far apart for an exponential, and others between them
    far = draw.uniform(1, 3, low=3.85, high=3.9)
    yield call(torch.cat([draw.normal(3, 3, scale=0.3), far, -far])).with_gradients()


@simple_attention.criterion("float64 stays float64, float32 float32, on any device", points=0.5, check_types=True)
def _(draw):
    yield call(draw.normal(5, 3))
    yield call(draw.normal(5, 3)).device_only()
    yield call(draw.normal(5, 3, dtype=torch.float64))
    # Digits that float32 would round away, but that a guard such as `+ 1e-8` to the sum of a row leaves
    yield call(draw.normal(4, 3, dtype=torch.float64)).tolerance(1e-8, 1e-8)


@simple_attention.criterion("its argument, contiguous or not, stays as it was", points=0.5)
def _(draw):
    yield call(draw.normal(4, 3)).does_not_mutate()
    yield call(draw.normal(5, 2)).does_not_mutate()
    yield call(non_contiguous(draw.normal(6, 4))).does_not_mutate()
    # Leading dimensions in another order in memory, which `view` cannot merge
    yield call(draw.normal(3, 2, 4, 5).transpose(0, 1)).does_not_mutate()
