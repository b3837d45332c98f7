"""Right answers to `HeadLayers` in other styles."""

from torch import nn


# %% LayersInALoop
class HeadLayers(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if n_heads < 1 or d_model % n_heads != 0:
            raise ValueError(f"d_model={d_model} must be divisible by n_heads={n_heads}")
        for role in "qkvo":
            self.add_module(f"W_{role}", nn.Linear(d_model, d_model, bias=False))
        self.dropout = nn.Dropout(p=dropout)


# %% LayersByOneLine
class HeadLayers(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        if n_heads not in range(1, d_model + 1) or d_model not in range(n_heads, d_model + 1, n_heads):
            raise ValueError(f"n_heads: {n_heads}")
        nn.Module.__init__(self)
        self.n_heads, self.d_k = n_heads, d_model // n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))
        self.dropout = nn.Dropout(dropout)


# %% LayersInAList
class HeadLayers(nn.Module):
    """The layers are in a list, beside their names."""

    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        heads, remainder = n_heads, d_model % n_heads if n_heads > 0 else d_model
        if remainder:
            raise ValueError(f"{heads} heads leave a remainder of {remainder} in {d_model = }")
        self.layers = nn.ModuleList(nn.Linear(d_model, d_model, bias=False) for _ in range(4))
        self.W_q, self.W_k, self.W_v, self.W_o = self.layers
        self.dropout = nn.Dropout(dropout)


# %% LayersInherited
class _Projections(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.W_q = nn.Linear(width, width, bias=False)
        self.W_k = nn.Linear(width, width, bias=False)
        self.W_v = nn.Linear(width, width, bias=False)
        self.W_o = nn.Linear(width, width, bias=False)


class HeadLayers(_Projections):
    def __init__(self, d_model, n_heads, dropout=0.0):
        if not n_heads > 0 or d_model / n_heads != d_model // n_heads:
            raise ValueError(f"d_model ({d_model}) / n_heads ({n_heads}) is not a whole number")
        super().__init__(d_model)
        self.dropout = nn.Dropout(dropout, inplace=False)
