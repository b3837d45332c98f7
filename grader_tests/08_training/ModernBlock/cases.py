"""Building blocks of the test cases of `ModernBlock`."""

import torch

from grading.exercises.exercise import EXERCISE, Script, helper, method, ref


def block_weights(draw, D, hidden, dtype=torch.float32):
    """A state dict whose enlarged queries and keys make weights far from equal, and whose gains differ."""
    state = {f"gain_{i}": draw.uniform(D, low=0.5, high=2.0, dtype=dtype) for i in (1, 2)}
    state |= draw.state(
        dtype=dtype,
        W_q__weight=(D, D),
        W_k__weight=(D, D),
        W_v__weight=(D, D),
        W_o__weight=(D, D),
        W_gate__weight=(hidden, D),
        W_up__weight=(hidden, D),
        W_down__weight=(D, hidden),
    )
    for name in ("W_q.weight", "W_k.weight", "W_gate.weight"):
        state[name] *= 1.5
    return state


def sizes(state):
    """Width and hidden size of a block with these weights."""
    return state["W_up.weight"].shape[::-1]


def block(s, state, n_heads, *, training=False, **options):
    """A step that makes a block and gives it weights."""
    m = s.call(EXERCISE, *_arguments(state, n_heads), **options, name="module")
    s.call(helper("load_weights"), m, state, training=training, exactly=False)
    return m


def _arguments(state, n_heads):
    width, hidden = sizes(state)
    return width, n_heads, hidden


def whole(state, n_heads, x, *, training=False, before=None, **options):
    """A block, called with x, perhaps after another call: all of its result."""
    s = Script(**({"x": x} if before is None else {"before": before, "x": x}))
    m = block(s, state, n_heads, training=training, **options)
    if before is not None:
        s.call(m, s.before)
    s.call(m, s.x, name="out")
    return rounded(s.case(ref("out"))) if options.get("rotates", True) else s.case(ref("out"))


def last(state, n_heads, x, **options):
    """A block, called with x: its result at the last position, which attends to all others, mask or not."""
    s = Script(x=x)
    out = s.call(block(s, state, n_heads, **options), s.x, name="whole")
    s.call(method(out, "narrow"), 1, x.shape[1] - 1, 1, name="last")
    return rounded(s.case(ref("last"))) if options.get("rotates", True) else s.case(ref("last"))


def rounded(case):
    """Allow angles in float32: at positions to 40 they are off by up to 4e-6, and scores by a few times that."""
    return case.tolerance(1e-4, 5e-5)


def small_block():
    """Weights of whole numbers and halves, for the visible examples: width 2, hidden size 3."""
    return {
        "gain_1": torch.tensor([1.0, 2.0]),
        "gain_2": torch.tensor([2.0, 1.0]),
        "W_q.weight": torch.tensor([[1.0, 0.0], [0.0, 1.0]]),
        "W_k.weight": torch.tensor([[0.0, 1.0], [1.0, 0.0]]),
        "W_v.weight": torch.tensor([[1.0, 1.0], [0.0, 2.0]]),
        "W_o.weight": torch.tensor([[1.0, 0.5], [0.0, 1.0]]),
        "W_gate.weight": torch.tensor([[1.0, 0.0], [-1.0, 1.0], [0.5, 2.0]]),
        "W_up.weight": torch.tensor([[0.0, 1.0], [1.0, 0.0], [1.0, -1.0]]),
        "W_down.weight": torch.tensor([[1.0, 0.0, 2.0], [0.0, -1.0, 0.5]]),
    }
