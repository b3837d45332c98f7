"""`logit_lens`: what each layer would predict if it were the last."""

import torch

from grading.exercises.exercise import EXERCISE, Script, exercise, helper, method, non_contiguous, ref, sample_model

from ..common import LENS

logit_lens = exercise(
    "logit_lens",
    see=LENS,
    hints=(
        "What does the model itself do to what comes out of its last layer? Do the same to each layer.",
        "`norm` is a module that works on the last dimension, whatever comes before it: it can have all "
        "layers at once. "
        "Then each vector of D numbers is dotted with each row of `unembedding`.",
        "`norm(…) @ …`: the second factor has the shape (D, N). No softmax.",
    ),
)


@logit_lens.oracle
def logit_lens_oracle(hidden, norm, unembedding):
    return torch.einsum("lbtd,nd->lbtn", torch.stack([norm(layer) for layer in hidden]), unembedding)


def layer_norm(draw, width, eps=1e-5, dtype=torch.float32):
    numbers = {"weight": draw.normal(width, dtype=dtype), "bias": draw.normal(width, dtype=dtype)}
    return sample_model("layer_norm", numbers, width=width, eps=eps)


def seen(draw, *shape, n_tokens=7, dtype=torch.float32, norm=None, turn=lambda t: t):
    """A call on hidden states (L, B, T, D), with a norm (a layer norm if None)."""
    hidden, unembedding = (
        turn(draw.normal(*shape, scale=2.0, dtype=dtype)),
        turn(draw.normal(n_tokens, shape[-1], dtype=dtype)),
    )
    s = Script(hidden=hidden, norm=norm or layer_norm(draw, shape[-1], dtype=dtype), unembedding=unembedding)
    s.call(EXERCISE, s.hidden, s.norm, s.unembedding, name="result")
    told = f"hidden {shape}, unembedding {(n_tokens, shape[-1])}"
    return s.case(ref("result")).label(told)


def mode_of_the_norm(draw):
    s = Script(hidden=draw.normal(2, 3, 4, 5), norm=layer_norm(draw, 5), unembedding=draw.normal(7, 5))
    s.call(method(s.norm, "train"))
    s.call(EXERCISE, s.hidden, s.norm, s.unembedding)
    s.call(helper("modes_of"), s.norm)
    return s.case().label("whether the norm is in training mode after the call, as it was before")


def small():
    numbers = {"weight": torch.tensor([1.0, 2.0]), "bias": torch.tensor([0.0, 0.5])}
    s = Script(
        hidden=torch.tensor([[[[1.0, 3.0]]], [[[4.0, 2.0]]]]),
        norm=sample_model("layer_norm", numbers, width=2),
        unembedding=torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, -1.0]]),
    )
    s.call(EXERCISE, s.hidden, s.norm, s.unembedding, name="result")
    return s.case(ref("result"))


@logit_lens.example("two layers, one token of two numbers, a vocabulary of three", check_types=True)
def _():
    yield small().label("hidden (2, 1, 1, 2), unembedding (3, 2)")


@logit_lens.example("the same with gradients; nothing is to be changed")
def _():
    yield small().with_gradients().does_not_mutate().label("hidden (2, 1, 1, 2), unembedding (3, 2), with gradients")


@logit_lens.criterion("logits for every layer, text, position and token", points=1)
def _(draw):
    yield seen(draw, 3, 2, 5, 4)
    yield seen(draw, 2, 3, 4, 6, n_tokens=9)
    yield seen(draw, 4, 4, 4, 4, n_tokens=4)


@logit_lens.criterion("a single layer, text or position", points=0.25)
def _(draw):
    yield seen(draw, 1, 3, 2, 6, n_tokens=9)
    yield seen(draw, 5, 1, 4, 8, n_tokens=3)
    yield seen(draw, 3, 2, 1, 4, n_tokens=5)


@logit_lens.criterion("whatever module the norm is", points=0.25)
def _(draw):
    yield seen(draw, 3, 2, 4, 5, norm=sample_model("Scaled", {"weight": draw.normal(5)}, width=5))
    yield seen(draw, 2, 3, 4, 6, norm=layer_norm(draw, 6, eps=2.0))


@logit_lens.criterion("gradients", points=0.25)
def _(draw):
    yield seen(draw, 3, 2, 5, 4).with_gradients()
    yield seen(draw, 2, 3, 4, 6, n_tokens=5).with_gradients()


@logit_lens.criterion("float64, any layout and device, arguments left alone", points=0.25, check_types=True)
def _(draw):
    yield seen(draw, 3, 2, 5, 4, dtype=torch.float64)
    yield seen(draw, 2, 3, 4, 6, turn=non_contiguous)
    yield seen(draw, 2, 3, 4, 5).does_not_mutate()
    yield seen(draw, 3, 2, 4, 5).device_only()
    yield mode_of_the_norm(draw)
