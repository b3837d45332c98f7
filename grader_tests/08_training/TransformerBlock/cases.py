"""Building blocks of the test cases of `TransformerBlock`."""

import torch

from grading.exercises.exercise import EXERCISE, Script, helper, method, ref, sample_model

PARTS = ("W_q", "W_k", "W_v", "W_o")  # of the attention that a block is given


def block_weights(draw, D, hidden, dtype=torch.float32):
    """A state dict whose enlarged queries and keys make weights far from equal, and whose gains differ."""
    state = {f"gain_{i}": draw.uniform(D, low=0.5, high=2.0, dtype=dtype) for i in (1, 2)}
    state |= draw.state(
        dtype=dtype,
        **{f"attention__{name}__weight": (D, D) for name in PARTS},
        W_gate__weight=(hidden, D),
        W_up__weight=(hidden, D),
        W_down__weight=(D, hidden),
    )
    for name in ("attention.W_q.weight", "attention.W_k.weight", "W_gate.weight"):
        state[name] *= 1.5
    return state


def long_rows(draw, *shape):
    """Random rows, none of them so short that another small number under the root of a norm shows."""
    x = draw.normal(*shape)
    return x + 2.0 * x.sign()


def attention(state, n_heads):
    """The attention of a block with these weights: PyTorch's, with layers W_q, W_k, W_v and W_o."""
    own = {f"{name}.weight": state[f"attention.{name}.weight"].float() for name in PARTS}
    return sample_model("Projections", own, width=len(state["gain_1"]), n_heads=n_heads)


def block(s, state, n_heads, *, training=False, name="module"):
    """A step that makes a block and gives it weights."""
    s.inputs[f"attention of {name}"] = attention(state, n_heads)
    hidden, D = state["W_up.weight"].shape
    m = s.call(EXERCISE, ref(f"attention of {name}"), D, hidden, name=name)
    s.call(helper("load_weights"), m, state, training=training, exactly=False)
    return m


def through_block(state, n_heads, *, training=False, **inputs):
    """A block made, given weights, and called with x and the mask, if any: "out"."""
    s = Script(**inputs)
    m = block(s, state, n_heads, training=training)
    s.call(m, s.x, *([s.mask] if "mask" in inputs else []), name="out")
    hidden, D = state["W_up.weight"].shape
    masked = f", mask {tuple(inputs['mask'].shape)}" if "mask" in inputs else ""
    text = f"TransformerBlock(attention, {D}, {hidden}), {n_heads} head{'s' * (n_heads > 1)}"
    return s.case(ref("out")).label(f"{text}; x {tuple(inputs['x'].shape)}{masked}")


def after_another(state, n_heads, before, x, before_mask=None, mask=None):
    """A block called with one x and mask, and then with another: the second result."""
    masks = {"earlier": before_mask, "mask": mask}
    s = Script(before=before, x=x, **{name: given for name, given in masks.items() if given is not None})
    m = block(s, state, n_heads)
    s.call(m, s.before, *([s.earlier] if before_mask is not None else []))
    s.call(m, s.x, *([s.mask] if mask is not None else []), name="out")
    how = f"mask {tuple(mask.shape)}" if mask is not None else "no mask"
    return s.case(ref("out")).label(f"x {tuple(x.shape)}, {how}, after a call with x {tuple(before.shape)}")


def causal(T):
    return torch.ones(T, T, dtype=torch.bool).triu(1)


def scattered(draw, T):
    """A random mask that blocks some words from themselves, but no row fully."""
    mask = draw.chance(0.5, T, T)
    mask[range(T), range(-1, T - 1)] = False
    mask[0, 0] = True
    return mask


def small_block():
    """Weights of whole numbers and halves, for the visible examples: width 2, hidden size 3."""
    return {
        "gain_1": torch.tensor([1.0, 2.0]),
        "gain_2": torch.tensor([2.0, 1.0]),
        "attention.W_q.weight": torch.tensor([[1.0, 0.0], [0.0, 1.0]]),
        "attention.W_k.weight": torch.tensor([[0.0, 1.0], [1.0, 0.0]]),
        "attention.W_v.weight": torch.tensor([[1.0, 1.0], [0.0, 2.0]]),
        "attention.W_o.weight": torch.tensor([[1.0, 0.5], [0.0, 1.0]]),
        "W_gate.weight": torch.tensor([[1.0, 0.0], [-1.0, 1.0], [0.5, 2.0]]),
        "W_up.weight": torch.tensor([[0.0, 1.0], [1.0, 0.0], [1.0, -1.0]]),
        "W_down.weight": torch.tensor([[1.0, 0.0, 2.0], [0.0, -1.0, 0.5]]),
    }


def worked_example():
    """Attention that returns its input at a single position, and W_down all 0: (1, 7) becomes (1.2, 8.4)."""
    identities = {f"attention.{name}.weight": torch.eye(2) for name in PARTS}
    gains = {"gain_1": torch.ones(2), "gain_2": torch.ones(2)}
    return small_block() | identities | gains | {"W_down.weight": torch.zeros(2, 3)}


def observed(state, n_heads):
    """All parameters of a block, after another block got its own weights."""
    s = Script()
    m = block(s, state, n_heads)
    block(s, {name: weight + 1.0 for name, weight in state.items()}, n_heads, name="other")
    s.call(helper("state_of"), m, name="found")
    for name in state:
        s.call(method(ref("found"), "__getitem__"), name, name=name)
    return s.case(*map(ref, state)).label("the parameters of a block, after another one got its own")
