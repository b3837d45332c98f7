"""Building blocks of test cases for attention modules with several heads."""

import torch

from grading.exercises.exercise import EXERCISE, Script, helper, ref

# Small whole numbers, for the visible examples: no matrix is symmetric, no two are equal
W_Q = torch.tensor([[1.0, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, -1]])
W_K = torch.tensor([[0.0, 1, 0, 0], [1, 0, 0, 1], [0, -1, 1, 0], [0, 0, 0, 1]])
W_V = torch.tensor([[1.0, 0, 2, 0], [0, 1, 0, 0], [0, 0, 1, 0], [3, 0, 0, 1]])
W_O = torch.tensor([[1.0, 0, 0, 1], [0, 2, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1]])
# Lengths of five tokens with the same direction. The shortest is last: an unwanted causal mask hides it from the
# others, and keys of width 2 that are reshaped instead of transposed never give it the greatest weight
APART = torch.tensor([4.0, 3.0, 6.0, 5.0, 2.0])


def attend(state, n_heads, *, options=None, training=False, exactly=False, calls=1, **inputs):
    """A case that makes a module, loads its weights and calls it with x and `inputs`.

    The last result is observed as "out".
    """
    s = Script(**inputs)
    m = s.call(EXERCISE, len(state["W_o.weight"]), n_heads, **(options or {}), name="module")
    s.call(helper("load_weights"), m, state, training=training, exactly=exactly)
    for _ in range(calls):
        s.call(m, s.x, **{name: ref(name) for name in inputs if name != "x"}, name="out")
    return s.case(ref("out"))


def open_somewhere(draw, *shape):
    """A random mask (True = blocked) with an open key in every row.

    If there are two keys or more, something is blocked.
    """
    mask, opened = draw.chance(0.5, *shape), draw.integer(0, shape[-1])
    mask[..., opened] = False
    if shape[-1] > 1 and not mask.any():
        mask[..., opened - 1] = True
    return mask
