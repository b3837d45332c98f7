"""What the cases of attention modules with several heads are made of, and how some are judged."""

import torch

from grading.exercises.exercise import EXERCISE, Script, helper, ref

# Small whole numbers, for the visible examples: no matrix is symmetric, no two are equal
W_Q = torch.tensor([[1.0, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, -1]])
W_K = torch.tensor([[0.0, 1, 0, 0], [1, 0, 0, 1], [0, -1, 1, 0], [0, 0, 0, 1]])
W_V = torch.tensor([[1.0, 0, 2, 0], [0, 1, 0, 0], [0, 0, 1, 0], [3, 0, 0, 1]])
W_O = torch.tensor([[1.0, 0, 0, 1], [0, 2, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1]])
# How long five tokens of one direction are. The shortest comes last, where a mask that nobody asked for hides it from
# the others, and keys of width 2 that are reshaped where they should be transposed never make it the one to look at
APART = torch.tensor([4.0, 3.0, 6.0, 5.0, 2.0])


def attend(state, n_heads, *, options=None, training=False, exactly=False, calls=1, **inputs):
    """Construct with `options`, give weights, call with x and the other inputs by name; observes the last "out"."""
    s = Script(**inputs)
    m = s.call(EXERCISE, len(state["W_o.weight"]), n_heads, **(options or {}), name="module")
    s.call(helper("load_weights"), m, state, training=training, exactly=exactly)
    for _ in range(calls):
        s.call(m, s.x, **{name: ref(name) for name in inputs if name != "x"}, name="out")
    return s.case(ref("out"))


def open_somewhere(draw, *shape):
    """A random mask (True = blocked) in which every row has an open key and, where there are two, one is blocked."""
    mask, opened = draw.chance(0.5, *shape), draw.integer(0, shape[-1])
    mask[..., opened] = False
    if shape[-1] > 1 and not mask.any():
        mask[..., opened - 1] = True
    return mask
