# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Lesson 7: Rotary positions

# %%
import torch
from torch import nn
from course import begin, check, figures, hint, interactive, progress, use

# %% [markdown]
# ## 1. Attention does not see the order

# %% [markdown]
# ## 2. Turn a vector by its position

# %% [markdown]
# ## 3. Many clocks

# %% [markdown]
# ## Exercise 3: `apply_rope`

# %% [markdown]
# ## 5. Only the gap counts

# %% [markdown]
# ## 6. Two layouts in memory

# %% [markdown]
# ## 7. Self-attention that sees the order

# %% nbgrader={"grade": false, "grade_id": "is_order_blind", "locked": false, "schema_version": 3, "solution": true, "task": false}
def is_order_blind(attention, x: torch.Tensor, permutation: torch.Tensor) -> bool:
    ### BEGIN SOLUTION
    moved, kept = attention(x[permutation]), attention(x)[permutation]  # both (T, D)
    return bool((moved - kept).abs().max() < 1e-4)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check_is_order_blind", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(is_order_blind)
### BEGIN HIDDEN TESTS
from grading.judge import grade
grade(is_order_blind)
### END HIDDEN TESTS

# %% nbgrader={"grade": false, "grade_id": "rope_frequencies", "locked": false, "schema_version": 3, "solution": true, "task": false}
def rope_frequencies(dim: int, base: float = 10000.0) -> torch.Tensor:
    ### BEGIN SOLUTION
    if dim % 2:
        raise ValueError(f"dim is {dim}, and must be even")
    return base ** (-torch.arange(0, dim, 2, dtype=torch.float32) / dim)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check_rope_frequencies", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(rope_frequencies)
### BEGIN HIDDEN TESTS
from grading.judge import grade
grade(rope_frequencies)
### END HIDDEN TESTS

# %% nbgrader={"grade": false, "grade_id": "apply_rope", "locked": false, "schema_version": 3, "solution": true, "task": false}
def apply_rope(x: torch.Tensor, positions: torch.Tensor, base: float = 10000.0) -> torch.Tensor:
    ### BEGIN SOLUTION
    angles = positions[:, None] * rope_frequencies(x.shape[-1], base).to(x.device)  # (T, dim // 2)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    x0, x1 = x[..., 0::2], x[..., 1::2]  # (..., T, dim // 2)
    return torch.stack([x0 * cos - x1 * sin, x0 * sin + x1 * cos], dim=-1).flatten(-2)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check_apply_rope", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false}
check(apply_rope)
### BEGIN HIDDEN TESTS
from grading.judge import grade
grade(apply_rope)
### END HIDDEN TESTS

# %% nbgrader={"grade": false, "grade_id": "to_half_split", "locked": false, "schema_version": 3, "solution": true, "task": false}
def to_half_split(x: torch.Tensor) -> torch.Tensor:
    ### BEGIN SOLUTION
    return torch.cat([x[..., 0::2], x[..., 1::2]], dim=-1)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check_to_half_split", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(to_half_split)
### BEGIN HIDDEN TESTS
from grading.judge import grade
grade(to_half_split)
### END HIDDEN TESTS

# %% nbgrader={"grade": false, "grade_id": "RotarySelfAttention", "locked": false, "schema_version": 3, "solution": true, "task": false}
class RotarySelfAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, base: float = 10000.0):
        super().__init__()
        ### BEGIN SOLUTION
        self.n_heads, self.base = n_heads, base
        self.W_qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        ### END SOLUTION

    def forward(self, x, positions=None, mask=None):
        ### BEGIN SOLUTION
        if positions is None:
            positions = torch.arange(x.shape[1], device=x.device)
        q, k, v = (
            part.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)  # (B, H, T, K)
            for part in self.W_qkv(x).chunk(3, dim=-1)
        )
        q, k = apply_rope(q, positions, self.base), apply_rope(k, positions, self.base)
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5  # (B, H, T, T)
        if mask is None:
            weights = torch.softmax(scores, dim=-1)
        else:
            lowest = torch.finfo(scores.dtype).min
            weights = torch.softmax(scores.masked_fill(mask, lowest), dim=-1).masked_fill(mask, 0.0)
        return self.W_o((weights @ v).transpose(1, 2).flatten(2)), weights
        ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check_RotarySelfAttention", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false}
check(RotarySelfAttention)
### BEGIN HIDDEN TESTS
from grading.judge import grade
grade(RotarySelfAttention)
### END HIDDEN TESTS

