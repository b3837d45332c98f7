"""What the cases of `RotarySelfAttention` are made of, and how some are judged."""

import torch

from grading.judge.exercise import SUBJECT, Script, helper, ref


def attend(state, n_heads, *, base=None, training=False, exactly=False, **inputs):
    """Construct, give weights, call with x, positions, mask by name; observes the result as "out"."""
    s = Script(**inputs)
    width = len(state["W_o.weight"])
    m = s.call(SUBJECT, width, n_heads, **({} if base is None else {"base": base}), name="module")
    s.call(helper("load_weights"), m, state, training=training, exactly=exactly)
    s.call(m, s.x, **{n: ref(n) for n in inputs if n != "x"}, name="out")
    return s.case(ref("out"))


def weights(draw, width):
    """A state dict. Queries and keys are enlarged, so that weights are neither equal nor all or nothing."""
    state = draw.state(W_qkv__weight=(3 * width, width), W_o__weight=(width, width))
    state["W_qkv.weight"][: 2 * width] *= 1.3
    return state


def open_somewhere(draw, *shape):
    """A random mask (True = blocked) in which every row has an open key."""
    mask = draw.chance(0.5, *shape)
    mask[..., draw.integer(0, shape[-1])] = False
    return mask


def far_apart(draw, T):
    """T positions in disorder, with gaps of up to twelve between neighbours: not 0 … T-1, nor that shifted."""
    return (torch.arange(T) * 2 + draw.integers(0, 10, T).cumsum(0))[draw.permutation(T)]


def plain_weights():
    """Small whole numbers for the visible examples: no matrix is symmetric, no two are equal."""
    q = torch.tensor([[1.0, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, -1]])
    k = torch.tensor([[0.0, 1, 0, 0], [1, 0, 0, 1], [0, -1, 1, 0], [0, 0, 0, 1]])
    v = torch.tensor([[1.0, 0, 2, 0], [0, 1, 0, 0], [0, 0, 1, 0], [3, 0, 0, 1]])
    o = torch.tensor([[1.0, 0, 0, 1], [0, 2, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1]])
    return {"W_qkv.weight": torch.cat([q, k, v]), "W_o.weight": o}


def zero_where_all_is_blocked(mask, shape):
    """Judges rows that are blocked throughout, and that nothing is NaN, in the gradients too."""
    full = mask.expand(shape).all(-1)  # (B, H, T)
    empty = full.all(1)  # (B, T): blocked in every head, so that W_o mixes nothing but zeros

    def holds(seen, exact):
        output, given = seen.values["out"]
        if tuple(given.shape) != tuple(shape) or output.shape[:2] != empty.shape:
            return f"output {tuple(output.shape)} and weights {tuple(given.shape)} do not have the right shapes"
        if not (torch.isfinite(output).all() and torch.isfinite(given).all()):
            return "output or weights are NaN or infinite where a row is blocked throughout"
        if given[full].any():
            return "the weights of a row that is blocked throughout are not all 0"
        if output[empty].any():
            return "the output of a row that is blocked throughout is not 0"
        bad = [name for name, g in (seen.gradients or {}).items() if g is not None and not torch.isfinite(g).all()]
        return f"the gradient for `{bad[0]}` is NaN or infinite" if bad else None

    return holds
