"""What the cases of `TransformerBlock` are made of, and how some are judged."""

import torch
from torch.nn import functional as F

from grading.judge.exercise import SUBJECT, Script, helper, ref

from ...shared.chance import dropped_otherwise, too_many_or_few


def block_weights(draw, D, dtype=torch.float32):
    """A state dict under the contract's names; queries and keys enlarged, so that weights are far from equal."""
    state = draw.state(
        dtype=dtype,
        norm_1__weight=(D,),
        norm_1__bias=(D,),
        norm_2__weight=(D,),
        norm_2__bias=(D,),
        attention__in_proj_weight=(3 * D, D),
        attention__out_proj__weight=(D, D),
        mlp__0__weight=(4 * D, D),
        mlp__0__bias=(4 * D,),
        mlp__2__weight=(D, 4 * D),
        mlp__2__bias=(D,),
    )
    state["attention.in_proj_weight"][: 2 * D] *= 1.5
    for norm in ("norm_1", "norm_2"):
        state[f"{norm}.weight"] += 1.0
    return state


def through_block(state, n_heads, *, dropout=0.0, training=False, **inputs):
    """Construct, give weights, call with x and, where it is given, the mask; observes "out"."""
    s = Script(**inputs)
    chosen = {"dropout": dropout} if dropout else {}
    m = s.call(SUBJECT, len(state["norm_1.weight"]), n_heads, **chosen, name="module")
    s.call(helper("load_weights"), m, state, training=training, exactly=False)
    s.call(m, s.x, *([s.mask] if "mask" in inputs else []), name="out")
    return s.case(ref("out"))


def causal(T):
    return torch.ones(T, T, dtype=torch.bool).triu(1)


def small_block():
    """Whole numbers and halves, for the visible examples."""
    even = torch.arange(64.0)
    return {
        "norm_1.weight": torch.tensor([1.0, 2.0]),
        "norm_1.bias": torch.tensor([0.5, 0.0]),
        "norm_2.weight": torch.tensor([2.0, 1.0]),
        "norm_2.bias": torch.tensor([0.0, -0.5]),
        "attention.in_proj_weight": torch.tensor([[1.0, 0], [0, 1], [0, 1], [1, 0], [1, 1], [0, 2]]),
        "attention.out_proj.weight": torch.tensor([[1.0, 0.5], [0, 1]]),
        "mlp.0.weight": (even[:16] % 5 - 2).view(8, 2),
        "mlp.0.bias": even[:8] % 3 - 1,
        "mlp.2.weight": (even[:16] % 7 - 3).view(2, 8) / 2,
        "mlp.2.bias": torch.tensor([0.5, -1.0]),
    }


KINDS = {
    "norm_1": "LayerNorm",
    "norm_2": "LayerNorm",
    "attention": "MultiheadAttention",
    "mlp": "Sequential",
    "first": "Linear",
    "second": "GELU",
    "third": "Linear",
}


def of_these_kinds(seen, exact):
    for name, kind in KINDS.items():
        if kind not in seen.values[f"kind of {name}"]:
            return f"the part `{name}` is no nn.{kind}"
    if seen.values["heads"] != 4 or seen.values["first axis"] is not True:
        return "`attention` does not have the heads asked for, or not batch_first=True"
    if not abs(seen.values["dropout"] - 0.2) < 1e-9:
        return "`attention` does not have the dropout asked for"
    before, after = seen.values["before"], seen.values["after"]
    if not before or not all(torch.equal(numbers, after[name]) for name, numbers in before.items()):
        return "two blocks share parameters: each is made with its own"
    return None


SIZES = 8, 12, 32, 2  # batch, words, width, heads


def drops_weights(x, p):
    """Reads the attention weights off the result and judges which of them were dropped.

    Queries and keys are 0, so every weight is 1 / T; values are the normalised words, output projections the identity,
    and the mlp gives 0. What was added to x is then, head by head, the weights times a matrix with independent rows,
    and an inverse gives the weights back. 2304 weights a call: their number is judged by `within_chance`, and two
    calls agree throughout with a probability below 1e-400.
    """
    B, T, D, H = SIZES
    values = F.layer_norm(x, (D,)).unflatten(-1, (H, -1)).transpose(1, 2)  # (B, H, T, K)

    def judge(seen, exact):
        patterns = []
        for name in ("first", "second"):
            out = seen.values[name]
            if tuple(out.shape) != (B, T, D) or not out.isfinite().all():
                return "in training mode the result is not of shape (B, T, D), or not finite"
            added = (out - x).unflatten(-1, (H, -1)).transpose(1, 2)
            weights = added @ torch.linalg.pinv(values)
            if not torch.allclose(weights @ values, added, atol=1e-8):
                return "in training mode something else is dropped than attention weights"
            dropped, kept = weights.abs() < 1e-8, (weights - 1 / T / (1 - p)).abs() < 1e-8
            if not (dropped | kept).all():
                text = "in training mode a weight is neither 0 nor what it was times 1 / (1 - dropout)"
                return dropped_otherwise(text, weights.where(~dropped, 0.0), torch.full_like(weights, 1 / T), p)
            if wrong := too_many_or_few(dropped, p):
                return wrong
            patterns.append(dropped)
        return "two calls drop the same weights" if torch.equal(*patterns) else None

    return judge
